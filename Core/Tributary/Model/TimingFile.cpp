// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/TimingFile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <istream>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {

namespace {

constexpr const char* Title = "tributary-timings 3";

/// Iterations of each kind, in sections of this name.
constexpr std::array IterationSections = {std::pair("iterations", &OperationTimes::iterations),
                                          std::pair("interrupted", &OperationTimes::interrupted)};

std::vector<IterationKind> allKinds() {
  std::vector<IterationKind> kinds;
  for (const bool communicating : {true, false})
    for (const bool swap : {false, true})
      for (const bool residual : {false, true})
        for (const bool reported : {false, true})
          kinds.push_back({communicating, swap, residual, reported});
  return kinds;
}

/// Reads a file line by line. Errors name the file and the line.
class Lines {
 public:
  Lines(std::istream& in, const std::string& name) : in_(in), name_(name) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(name_ + ", line " + std::to_string(number_) + ": " + what);
  }
  /// The next line. @param wanted  for the error if there is none
  std::string next(const std::string& wanted) {
    std::string line;
    ++number_;
    if (!std::getline(in_, line)) fail("the file ends where " + wanted + " is expected");
    return line;
  }
  /// Reads a line that must consist of the word `first` and `count` more. @return these
  std::vector<std::string> words(const std::string& first, std::size_t count) {
    std::istringstream line(next("\"" + first + "\""));
    std::vector<std::string> words;
    for (std::string word; line >> word;) words.push_back(word);
    if (words.empty() || words.front() != first)
      fail("expected \"" + first + "\", not \"" + (words.empty() ? "" : words.front()) + "\"");
    if (words.size() != count + 1)
      fail("expected " + std::to_string(count) + (count == 1 ? " value" : " values") + " after \"" +
           first + "\", not " + std::to_string(words.size() - 1));
    words.erase(words.begin());
    return words;
  }
  std::int64_t integer(const std::string& word) const {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size())
      fail("\"" + word + "\" is not an integer");
    return value;
  }
  int small(const std::string& word) const {
    const std::int64_t value = integer(word);
    if (value < 0 || value > 1 << 30) fail(word + " is not in [0, 2^30]");
    return static_cast<int>(value);
  }
  double real(const std::string& word) const {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size())
      fail("\"" + word + "\" is not a number");
    return value;
  }
  double seconds(const std::string& word) const {
    const double value = real(word);
    if (!std::isfinite(value) || value < 0)
      fail("\"" + word + "\" is not a time or ratio; these are finite and not negative");
    return value;
  }
  /// Reads `count` lines with seconds each. Memory grows with the lines read, not with `count`.
  std::vector<double> samples(std::int64_t count, const std::string& of) {
    if (count < 0) fail("the number of samples of " + of + " must not be negative");
    std::vector<double> samples;
    for (std::int64_t i = 0; i < count; ++i)
      samples.push_back(seconds(
          next("sample " + std::to_string(i + 1) + " of " + std::to_string(count) + " of " + of)));
    return samples;
  }

 private:
  std::istream& in_;
  std::string name_;
  int number_ = 0;
};

IterationKind kindOf(const Lines& lines, const std::string& name) {
  for (const IterationKind& kind : allKinds())
    if (nameOf(kind) == name) return kind;
  lines.fail("unknown kind of iterations \"" + name + "\"");
}

HybridSetting readSetting(Lines& lines) {
  HybridSetting setting;
  setting.neighbors = lines.small(lines.words("neighbors", 1)[0]);
  const auto points = lines.words("points", 3);
  for (std::size_t a = 0; a < 3; ++a) setting.points[a] = lines.integer(points[a]);
  const auto subregions = lines.words("subregions", 2);
  for (std::size_t a = 0; a < 2; ++a) setting.subregions[a] = lines.small(subregions[a]);
  setting.threads = lines.small(lines.words("threads", 1)[0]);
  const std::string communicates = lines.words("communicates", 1)[0];
  bool isKnown = false;
  for (const CommunicatingThread choice :
       {CommunicatingThread::First, CommunicatingThread::InTurns,
        CommunicatingThread::MostIterations, CommunicatingThread::Dedicated}) {
    if (nameOf(choice) != communicates) continue;
    setting.communicates = choice;
    isKnown = true;
  }
  if (!isKnown) lines.fail("unknown choice of the communicating thread \"" + communicates + "\"");
  const std::string traffic = lines.words("traffic", 1)[0];
  if (traffic != "master" && traffic != "direct")
    lines.fail("expected traffic \"master\" or \"direct\", not \"" + traffic + "\"");
  setting.master = traffic == "master";
  setting.workShare = lines.real(lines.words("work-share", 1)[0]);
  setting.swapPeriod = lines.small(lines.words("swap-period", 1)[0]);
  setting.residualPeriod = lines.small(lines.words("residual-period", 1)[0]);
  try {
    check(setting);
  } catch (const Error& error) {
    lines.fail(std::string("the setting that ends here is invalid: ") + error.what());
  }
  return setting;
}

}  // namespace

void writeTimings(std::ostream& out, const MeasuredTimes& measured) {
  const HybridSetting& setting = measured.setting;
  out << Title << "\nneighbors " << std::to_string(setting.neighbors) << "\npoints "
      << std::to_string(setting.points[0]) << ' ' << std::to_string(setting.points[1]) << ' '
      << std::to_string(setting.points[2]) << "\nsubregions "
      << std::to_string(setting.subregions[0]) << ' ' << std::to_string(setting.subregions[1])
      << "\nthreads " << std::to_string(setting.threads) << "\ncommunicates "
      << nameOf(setting.communicates) << "\ntraffic " << (setting.master ? "master" : "direct")
      << "\nwork-share " << numberText(setting.workShare) << "\nswap-period "
      << std::to_string(setting.swapPeriod) << "\nresidual-period "
      << std::to_string(setting.residualPeriod) << "\ntiming-seconds "
      << numberText(measured.timingSeconds) << '\n';
  const auto samples = [&](const std::string& what, const std::vector<double>& values) {
    out << what << ' ' << std::to_string(values.size()) << '\n';
    for (const double value : values) out << numberText(value) << '\n';
  };
  for (std::size_t i = 0; i < Operations; ++i)
    if (!measured.times.operations[i].empty())
      samples("operation " + nameOf(static_cast<Operation>(i)), measured.times.operations[i]);
  for (const auto& [section, member] : IterationSections)
    for (const IterationKind& kind : allKinds()) {
      std::vector<double> seconds;
      for (const auto& [other, value] : measured.times.*member)
        if (other == kind) seconds.push_back(value);
      if (!seconds.empty()) samples(std::string(section) + ' ' + nameOf(kind), seconds);
    }
  samples("swap-transfers", measured.swapTransfers);
  samples("report-transfers", measured.reportTransfers);
  samples("paces", measured.paces);
  out << "end\n";
}

MeasuredTimes readTimings(std::istream& in, const std::string& name) {
  Lines lines(in, name);
  if (const std::string line = lines.next("\"" + std::string(Title) + "\""); line != Title)
    lines.fail("a file of timings begins with \"" + std::string(Title) + "\", not \"" +
               line.substr(0, 40) + "\"");
  MeasuredTimes measured;
  measured.setting = readSetting(lines);
  measured.timingSeconds = lines.seconds(lines.words("timing-seconds", 1)[0]);
  const std::string sections =
      "\"operation\", \"iterations\", \"interrupted\" or \"swap-transfers\"";
  for (;;) {
    const std::string line = lines.next(sections);
    std::istringstream words(line);
    std::string section, what, count, more;
    words >> section >> what;
    if (section == "swap-transfers") {
      if (what.empty() || words >> more)
        lines.fail("expected one number after \"" + section + "\"");
      measured.swapTransfers = lines.samples(lines.integer(what), section);
      break;
    }
    if (!(words >> count) || words >> more)
      lines.fail("expected a name and a number after \"" + section + "\"");
    const std::int64_t number = lines.integer(count);
    if (number < 1) lines.fail("a section needs at least one sample");
    if (section == "operation") {
      std::size_t i = 0;
      while (i < Operations && nameOf(static_cast<Operation>(i)) != what) ++i;
      if (i == Operations) lines.fail("unknown operation \"" + what + "\"");
      auto& values = measured.times.operations[i];
      if (!values.empty()) lines.fail(what + " is a duplicate");
      values = lines.samples(number, what);
      continue;
    }
    const auto iterations = std::find_if(IterationSections.begin(), IterationSections.end(),
                                         [&](const auto& known) { return known.first == section; });
    if (iterations == IterationSections.end())
      lines.fail("expected " + sections + ", not \"" + section + "\"");
    auto& values = measured.times.*iterations->second;
    const IterationKind kind = kindOf(lines, what);
    for (const auto& [other, seconds] : values)
      if (other == kind) lines.fail(what + " is a duplicate");
    for (const double value : lines.samples(number, what)) values.emplace_back(kind, value);
  }
  const auto rest = [&](const std::string& section) {
    return lines.samples(lines.integer(lines.words(section, 1)[0]), section);
  };
  measured.reportTransfers = rest("report-transfers");
  measured.paces = rest("paces");
  if (!measured.paces.empty() && measured.paces.size() != computingThreadsOf(measured.setting))
    lines.fail(std::to_string(measured.paces.size()) + " paces given for " +
               std::to_string(computingThreadsOf(measured.setting)) + " computing threads");
  for (const double pace : measured.paces)
    if (pace == 0) lines.fail("a pace must be greater than 0");
  if (lines.next("\"end\"") != "end") lines.fail("expected \"end\"");
  std::string more;
  if (std::getline(in, more)) throw Error(name + ": unexpected content after \"end\"; remove it");
  return measured;
}

void saveTimings(const std::string& path, const MeasuredTimes& measured) {
  std::ofstream file(path);
  writeTimings(file, measured);
  file.close();
  if (!file)
    throw Error("cannot write " + path + "; check the folder, its permissions and the free space");
}

MeasuredTimes loadTimings(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("cannot read " + path + "; check that the file exists and is readable");
  return readTimings(file, path);
}

}  // namespace tributary
