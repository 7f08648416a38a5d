// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "Tributary/Base/Median.h"

namespace bench {

using Row = nlohmann::ordered_json;

/// The rows of a measurement: printed as a table, saved as JSON or CSV.
class Report {
 public:
  /// @param settings  the parameters of the measurement: a line above the table, an object in JSON
  Report(std::string title, Row settings) : title_(std::move(title)), settings_(settings) {}

  /// Adds a row, an object. Numbers and texts become columns of the table; lists and objects
  /// (single times, counters) are written to JSON only. All rows must have the same columns.
  void add(Row row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const;
  /// Throws tributary::Error if the file cannot be written.
  void save(const std::string& path) const;
  /// Writes the columns of the table with all digits. Throws tributary::Error if the file cannot be
  /// written.
  void saveCsv(const std::string& path) const;
  /// Prints the table to the standard output, and saves it to the files whose paths are not empty.
  void publish(const std::string& json, const std::string& csv = {}) const;

 private:
  std::vector<std::string> columns() const;

  std::string title_;
  Row settings_;
  std::vector<Row> rows_;
};

using tributary::median;

}  // namespace bench
