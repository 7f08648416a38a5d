// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "Tributary/Exchange/ExchangeSetting.h"
#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Iteration/Iteration.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Tuning/SettingsTrial.h"

class vtkFieldData;

namespace tributary {

/// Statistics of one execution of a filter on one rank. All ranks add the same names in the same
/// order.
class RunStatistics {
 public:
  explicit RunStatistics(Transport& transport) : transport_(transport), last_(transport.now()) {}

  /// Adds an integer.
  void count(const char* name, std::int64_t count) { all_.push_back({name, count}); }
  /// Adds a real number.
  void amount(const char* name, double amount) { all_.push_back({name, amount}); }
  /// Local. Adds the seconds since the previous phase, or since the construction. @return the
  /// seconds
  double phase(const char* name);
  /// Adds the statistics of an exchange.
  void add(const ExchangeStatistics& exchange);
  /// Adds the statistics of iterations.
  void add(const IterationStatistics& iterations);
  /// Adds the result of tuning.
  /// @param trials  the number of trials; 0 if a previous choice is used
  void add(const ExchangeSetting& chosen, std::size_t trials);
  /// Adds the expected time of the tuned setting, and its relative error.
  void add(const TimeForecast& expected, double actualSeconds);

  /// Collective. Adds an array for each statistic to the field data, with one tuple per rank, equal
  /// on all ranks.
  /// @param prefix  of the names of the arrays
  void write(const std::string& prefix, vtkFieldData* fieldData) const;

 private:
  struct Statistic {
    std::string name;
    std::variant<std::int64_t, double> value;
  };

  Transport& transport_;
  double last_;
  std::vector<Statistic> all_;
};

}  // namespace tributary
