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

std::optional<std::size_t> timesBefore(const std::vector<double>& known,
                                       const std::vector<double>& reported) {
  const auto first = std::lower_bound(known.begin(), known.end(), reported.front());
  if (first == known.end() || *first != reported.front()) return std::nullopt;
  const auto end = std::mismatch(first, known.end(), reported.begin(), reported.end());
  if (end.first != known.end() && end.second != reported.end()) return std::nullopt;
  return static_cast<std::size_t>(first - known.begin());
}

}  // namespace tributary
