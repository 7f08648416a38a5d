// SPDX-License-Identifier: BSD-3-Clause
#include "Support/Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>

#include "Tributary/Base/Error.h"

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

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.flush();
  if (!file)
    throw tributary::Error("cannot write " + path +
                           "; check that the folder exists and the disk is not full");
}

}  // namespace

std::vector<std::string> Report::columns() const {
  std::vector<std::string> names;
  if (rows_.empty()) return names;
  for (const auto& [name, value] : rows_.front().items())
    if (!value.is_structured()) names.push_back(name);
  return names;
}

void Report::print(std::ostream& out) const {
  out << "\n" << title_ << "\n";
  const char* separator = "";
  for (const auto& [name, value] : settings_.items()) {
    out << separator << name << " " << text(value);
    separator = ", ";
  }
  out << "\n";
  if (rows_.empty()) return;
  const std::vector<std::string> names = columns();
  std::vector<std::size_t> widths;
  for (const std::string& name : names) widths.push_back(name.size());
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
  write(path, Row{{"title", title_}, {"settings", settings_}, {"rows", rows_}}.dump(2) + "\n");
}

void Report::saveCsv(const std::string& path) const {
  const std::vector<std::string> names = columns();
  std::string lines;
  for (std::size_t c = 0; c < names.size(); ++c) lines += (c ? "," : "") + names[c];
  lines += "\n";
  for (const Row& row : rows_) {
    for (std::size_t c = 0; c < names.size(); ++c) {
      const Row& value = row.at(names[c]);
      lines += (c ? "," : "") + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    lines += "\n";
  }
  write(path, lines);
}

void Report::publish(const std::string& json, const std::string& csv) const {
  print(std::cout);
  if (!json.empty()) save(json);
  if (!csv.empty()) saveCsv(csv);
}

}  // namespace bench
