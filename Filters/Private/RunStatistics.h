#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Transport/Transport.h"

class vtkFieldData;

namespace tributary {

/// A number about one execution of a filter on one rank.
struct Statistic {
  const char* name;
  std::variant<std::int64_t, double> value;
};

/// What the exchange counted.
std::vector<Statistic> statisticsOf(const ExchangeStatistics& exchange);

/// Collective. Adds the statistics of all ranks to the field data, one array per number with one
/// tuple per rank; every rank gets the same table.
/// @param mine  the same names and types on all ranks
void addStatistics(Transport& transport, const std::vector<Statistic>& mine,
                   vtkFieldData* fieldData);

}  // namespace tributary
