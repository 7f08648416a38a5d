#pragma once

#include <cstdint>

#include "Tributary/Exchange/Statistics.h"
#include "Tributary/Transport/Transport.h"

class vtkFieldData;

namespace tributary {

/// What one execution of the filter did on one rank.
struct RunStatistics {
  std::int64_t seeds = 0;     ///< Of this rank's source.
  std::int64_t rejected = 0;  ///< Seeds of this rank's share of the output that lie in no cell.
  std::int64_t lines = 0;     ///< Output by this rank.
  std::int64_t points = 0;    ///< Output by this rank.
  std::int64_t recorded = 0;  ///< Points that this rank's blocks evaluated.
  std::int64_t handovers = 0;
  std::int64_t blocks = 0;
  ExchangeStatistics exchange;
  double setupSeconds = 0;  ///< From data sets to the domain.
  double tracingSeconds = 0;
  double assemblySeconds = 0;  ///< From recorded points to poly data.
};

/// Collective. Adds the statistics of all ranks to the field data, one array per number with one
/// tuple per rank; every rank gets the same table.
void addStatistics(Transport& transport, const RunStatistics& mine, vtkFieldData* fieldData);

}  // namespace tributary
