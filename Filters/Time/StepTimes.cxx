// SPDX-License-Identifier: BSD-3-Clause
#include "Time/StepTimes.h"

#include <algorithm>

namespace tributary {

std::vector<double> distinctTimes(Span<const double> reported) {
  std::vector<double> times;
  for (const double time : reported)
    if (times.empty() || time > times.back()) times.push_back(time);
  return times;
}

bool isBeginningOf(const std::vector<double>& part, const std::vector<double>& all) {
  return part.size() <= all.size() && std::equal(part.begin(), part.end(), all.begin());
}

}  // namespace tributary
