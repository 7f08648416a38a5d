// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "Tributary/Base/Median.h"

namespace bench {

using Row = nlohmann::ordered_json;

/// Rows of one measurement: a table for people, JSON for programs.
class Report {
 public:
  /// @param settings  what was measured with; goes to JSON, and as one line above the table.
  Report(std::string title, Row settings) : title_(std::move(title)), settings_(settings) {}

  /// A row is an object. Numbers and texts are the table's columns; lists and objects (single
  /// times, counters) go to JSON only. All rows have the same columns.
  void add(Row row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const;
  /// Throws tributary::Error if the file cannot be written.
  void save(const std::string& path) const;
  /// The table's columns with all digits. Throws likewise.
  void saveCsv(const std::string& path) const;

 private:
  std::vector<std::string> columns() const;

  std::string title_;
  Row settings_;
  std::vector<Row> rows_;
};

using tributary::median;

}  // namespace bench
