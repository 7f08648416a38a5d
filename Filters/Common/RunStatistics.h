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

/// Numbers about one execution of a filter on one rank: the same names in the same order on all.
class RunStatistics {
 public:
  explicit RunStatistics(Transport& transport) : transport_(transport), last_(transport.now()) {}

  void count(const char* name, std::int64_t count) { all_.push_back({name, count}); }
  void amount(const char* name, double amount) { all_.push_back({name, amount}); }
  /// Local. The seconds since the last phase, or since the beginning, which are returned too.
  double phase(const char* name);
  /// What the exchange counted.
  void add(const ExchangeStatistics& exchange);
  /// What iterations counted.
  void add(const IterationStatistics& iterations);
  /// What was chosen, by so many trials.
  void add(const ExchangeSetting& chosen, std::size_t trials);
  /// What was expected of the choice, and how long it took.
  void add(const TimeForecast& expected, double actualSeconds);

  /// Collective. Adds the statistics of all ranks to the field data, one array per number with one
  /// tuple per rank; every rank gets the same table.
  /// @param prefix  of the arrays' names
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
