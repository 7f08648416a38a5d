#include "Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <ostream>

#include "Tributary/Error.h"

namespace bench {

namespace {

std::string text(const Row& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    const double v = value.get<double>();
    if (std::isnan(v)) return "-";
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, v != 0 && v < 0.01 ? "%.2e" : v < 10 ? "%.3f" : "%.1f", v);
    return buffer;
  }
  return value.is_null() ? "-" : value.dump();
}

}  // namespace

void Report::print(std::ostream& out) const {
  out << "\n" << title_ << "\n";
  const char* separator = "";
  for (const auto& [name, value] : settings_.items()) {
    out << separator << name << " " << text(value);
    separator = ", ";
  }
  out << "\n";
  if (rows_.empty()) return;
  std::vector<std::string> names;
  std::vector<std::size_t> widths;
  for (const auto& [name, value] : rows_.front().items())
    if (!value.is_structured()) {
      names.push_back(name);
      widths.push_back(name.size());
    }
  for (const Row& row : rows_)
    for (std::size_t c = 0; c < names.size(); ++c)
      widths[c] = std::max(widths[c], text(row.at(names[c])).size());
  const auto cell = [&](const std::string& value, std::size_t c) {
    out << (c ? "  " : "") << std::string(widths[c] - value.size(), ' ') << value;
  };
  for (std::size_t c = 0; c < names.size(); ++c) cell(names[c], c);
  out << "\n";
  for (const Row& row : rows_) {
    for (std::size_t c = 0; c < names.size(); ++c) cell(text(row.at(names[c])), c);
    out << "\n";
  }
  out.flush();
}

void Report::save(const std::string& path) const {
  std::ofstream file(path);
  file << Row{{"title", title_}, {"settings", settings_}, {"rows", rows_}}.dump(2) << "\n";
  file.flush();
  if (!file)
    throw tributary::Error("cannot write " + path + ": does its folder exist, is there room?");
}

void Report::saveCsv(const std::string& path) const {
  std::ofstream file(path);
  const auto line = [&](const Row& row, auto&& cell) {
    const char* separator = "";
    for (const auto& [name, value] : row.items()) {
      if (value.is_structured()) continue;
      file << separator << cell(name, value);
      separator = ",";
    }
    file << "\n";
  };
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  if (!rows_.empty())
    line(rows_.front(), [&](const std::string& name, const Row&) { return quoted(name); });
  for (const Row& row : rows_)
    line(row, [&](const std::string&, const Row& value) {
      return value.is_string() ? quoted(value.get<std::string>()) : value.dump();
    });
  file.flush();
  if (!file)
    throw tributary::Error("cannot write " + path + ": does its folder exist, is there room?");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace bench
