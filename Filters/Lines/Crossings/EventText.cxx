// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Crossings/EventText.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "Common/Require.h"

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

constexpr double Pi = 3.14159265358979323846;

/// What may stand between words and numbers.
const std::string Separators = " \t\n\r,()[]";

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The words and numbers of a text, in small letters.
std::vector<std::string> wordsOf(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char any : text) {
    const char c = small(any);
    const bool isPart = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                        c == '+' || c == '_';
    require(isPart || Separators.find(c) != std::string::npos, "Events", '"' + text + '"',
            "write it with plain letters and digits, \".\", \"-\" and \"+\", and put only "
            "blanks, commas, parentheses and brackets between words and numbers");
    if (isPart)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

/// An event of an array, taken apart: its first word, the name, and what follows it.
struct NamedArray {
  std::string type, name, rest;
};

/// The parts of a text whose first word is followed by the name of an array.
std::optional<NamedArray> namedArrayOf(const std::string& text) {
  NamedArray parts;
  std::size_t at = text.find_first_not_of(Separators);
  const auto take = [&](const std::string& ends) {
    const std::size_t begin = std::min(at, text.size());
    at = std::min(text.find_first_of(ends, begin), text.size());
    return text.substr(begin, at - begin);
  };
  for (const char c : take(Separators)) parts.type += small(c);
  if (parts.type != "isovalue" && parts.type != "label") return {};
  // A name that is not in quotes may have parentheses, but does not begin with one.
  const std::string blanks = " \t\n\r,";
  at = std::min(text.find_first_not_of(Separators, at), text.size());
  const char quote = at < text.size() ? text[at] : ' ';
  if (quote == '"' || quote == '\'') {
    ++at;
    parts.name = take(std::string(1, quote));
    require(at < text.size(), "Events", '"' + text + '"', "put a second ", quote,
            " after the name of the array");
    ++at;
  } else {
    parts.name = take(blanks);
  }
  parts.rest = text.substr(at);
  return parts;
}

std::optional<double> numberOf(const std::string& word) {
  const char* const begin = word.data() + (word[0] == '+' ? 1 : 0);
  const char* const end = word.data() + word.size();
  double number = 0;
  const auto result = std::from_chars(begin, end, number);
  if (result.ec != std::errc() || result.ptr != end) return {};
  return number;
}

/// One text, taken apart.
class EventReader {
 public:
  /// @param arrays  as in parseEvents(); receives one that is not there
  EventReader(const std::string& text, std::vector<EventArray>& arrays)
      : text_(text), arrays_(arrays), array_(namedArrayOf(text)) {
    words_ = wordsOf(array_ ? array_->type + ' ' + array_->rest : text);
  }

  Event read() {
    static const std::map<std::string, Event (EventReader::*)()> types{
        {"plane", &EventReader::plane},    {"box", &EventReader::box},
        {"sphere", &EventReader::sphere},  {"length", &EventReader::length},
        {"time", &EventReader::time},      {"angle", &EventReader::angle},
        {"label", &EventReader::label},    {"isovalue", &EventReader::isovalue},
        {"surface", &EventReader::surface}};
    const auto type = words_.empty() ? types.end() : types.find(words_[0]);
    demand(type != types.end(),
           "use plane, box, sphere, angle, length, time, isovalue, label or surface as the first "
           "word");
    collect();
    Event event;
    try {
      event = (this->*type->second)();
    } catch (const Error& error) {
      throw Error("Events is \"" + text_ + "\": " + error.what());
    }
    for (const auto& [word, numbers] : parts_)
      demand(used_[word], "remove \"", word, "\", which is no part of such an event");
    event.direction = direction_;
    event.endsLine = endsLine_;
    return event;
  }

 private:
  template <class... Cure>
  void demand(bool isGood, const Cure&... cure) const {
    require(isGood, "Events", '"' + text_ + '"', cure...);
  }

  /// Each word with the numbers that follow it.
  void collect() {
    for (std::size_t i = 0; i < words_.size();) {
      const std::string& word = words_[i++];
      demand(!numberOf(word) || word == "nan" || word == "inf", "put a word before ", word);
      demand(given_.insert(word).second, "give \"", word, "\" once");
      std::vector<double> numbers;
      for (; i < words_.size(); ++i) {
        const std::optional<double> number = numberOf(words_[i]);
        if (!number) break;
        numbers.push_back(*number);
      }
      if (word == "record" || word == "direction") {
        demand(numbers.empty(), "remove the numbers after \"", word, '"');
      } else if (word == "any" || word == "positive" || word == "negative") {
        demand(numbers.empty(), "remove the numbers after \"", word, '"');
        demand(given_.count("any") + given_.count("positive") + given_.count("negative") == 1,
               "give one direction");
        direction_ = word == "any"        ? EventDirection::Any
                     : word == "positive" ? EventDirection::Positive
                                          : EventDirection::Negative;
      } else if (word == "end") {
        const double which = numbers.empty() ? 1 : numbers[0];
        demand(numbers.size() <= 1 && which >= 1 && which <= 1e9 && which == std::floor(which),
               "give one whole number after \"end\", the crossing that ends a line, in [1, "
               "1000000000]");
        endsLine_ = static_cast<std::int32_t>(which);
      } else {
        parts_.emplace(word, numbers);
      }
    }
    used_[words_[0]] = true;
  }

  /// The numbers after a word. @param otherwise  those without the word; empty if it must be there
  std::vector<double> numbers(const char* word, std::size_t count,
                              const std::vector<double>& otherwise = {}) {
    const auto found = parts_.find(word);
    if (found == parts_.end() && !otherwise.empty()) return otherwise;
    demand(found != parts_.end() && found->second.size() == count, "give ", count,
           count == 1 ? " number" : " numbers", " after \"", word, '"');
    used_[word] = true;
    return found->second;
  }
  /// For types whose name no number follows.
  void requireNoNumber() {
    demand(parts_[words_[0]].empty(), "put a word between \"", words_[0], "\" and its numbers");
  }

  Event plane() {
    requireNoNumber();
    const auto origin = numbers("origin", 3, {0, 0, 0}), normal = numbers("normal", 3);
    return planeEvent(origin.data(), normal.data());
  }
  Event box() {
    requireNoNumber();
    const auto lower = numbers("lower", 3), upper = numbers("upper", 3);
    return boxEvent(lower.data(), upper.data());
  }
  Event sphere() {
    requireNoNumber();
    const auto center = numbers("center", 3, {0, 0, 0}), radius = numbers("radius", 1);
    return sphereEvent(center.data(), radius[0]);
  }
  Event surface() {
    requireNoNumber();
    Event event;
    event.kind = EventKind::Surface;
    return event;
  }
  Event length() { return lengthEvent(numbers("length", 1)[0]); }
  Event time() { return timeEvent(numbers("time", 1)[0]); }
  Event angle() {
    requireNoNumber();
    const auto origin = numbers("origin", 3, {0, 0, 0}), axis = numbers("axis", 3, {0, 0, 1}),
               from = numbers("from", 3, {1, 0, 0});
    const double degrees = numbers("degrees", 1, {0})[0];
    demand(std::isfinite(degrees), "give a finite number after \"degrees\"");
    // The direction at that angle: beside `from`, in the plane normal to the axis.
    const Event zero = halfPlaneEvent(origin.data(), axis.data(), from.data());
    if (degrees == 0) return zero;
    double direction[3];
    for (int a = 0; a < 3; ++a)
      direction[a] = std::cos(degrees * Pi / 180) * zero.side[a] +
                     std::sin(degrees * Pi / 180) * zero.normal[a];
    return halfPlaneEvent(origin.data(), axis.data(), direction);
  }

  /// The number of the array as a field.
  std::int32_t field(bool isLabel) {
    const std::string& name = array_->name;
    demand(!name.empty(), "give the name of an array after \"", words_[0], '"');
    const auto found = std::find_if(arrays_.begin(), arrays_.end(), [&](const EventArray& array) {
      return array.name == name && array.isLabel == isLabel;
    });
    const auto number = static_cast<std::int32_t>(found - arrays_.begin());
    if (found == arrays_.end()) arrays_.push_back({name, isLabel, text_});
    return number;
  }
  Event isovalue() {
    const std::int32_t number = field(false);
    demand(parts_["isovalue"].size() == 1, "give one number after the name of the array");
    return isovalueEvent(number, parts_["isovalue"][0]);
  }
  Event label() {
    const std::int32_t number = field(true);
    const std::vector<double>& labels = parts_["label"];
    demand(labels.size() <= 1, "give one number or none after the name of the array");
    if (!labels.empty()) return labelEvent(number, labels[0]);
    demand(direction_ == EventDirection::Any,
           "give a number after the name of the array: there is one direction into its region");
    return labelEvent(number);
  }

  const std::string& text_;
  std::vector<EventArray>& arrays_;
  std::optional<NamedArray> array_;
  std::vector<std::string> words_;
  std::set<std::string> given_;
  std::map<std::string, std::vector<double>> parts_;
  std::map<std::string, bool> used_;
  EventDirection direction_ = EventDirection::Any;
  std::int32_t endsLine_ = 0;
};

}  // namespace

EventList parseEvents(const std::vector<std::string>& texts, std::vector<EventArray>& arrays,
                      bool hasSurface) {
  require(texts.size() <= std::size_t(MostEvents), "Events",
          "a list of " + std::to_string(texts.size()), "give at most ", MostEvents);
  EventList events;
  arrays.clear();
  bool namesSurface = false;
  for (const std::string& text : texts) {
    const Event& event = events.event[events.count++] = EventReader(text, arrays).read();
    const bool isSurface = event.kind == EventKind::Surface;
    require(hasSurface || !isSurface, "Events", '"' + text + "\" without Event Surfaces",
            "set Event Surfaces to the surface mesh, or remove the text");
    namesSurface = namesSurface || isSurface;
  }
  if (!hasSurface || namesSurface) return events;
  require(events.count < MostEvents, "Events", "a list of " + std::to_string(events.count),
          "give at most ", MostEvents - 1,
          " beside Event Surfaces, or one that begins with surface");
  Event& ending = events.event[events.count++];
  ending.kind = EventKind::Surface;
  ending.endsLine = 1;
  return events;
}

}  // namespace tributary
