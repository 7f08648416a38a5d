// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathHistory.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "Common/FreshArray.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Shares.h"

namespace tributary {

std::int64_t PathProgress::crossings() const {
  return std::accumulate(std::begin(count), std::end(count), std::int64_t{0});
}

std::size_t PathPoints::memory() const {
  std::size_t bytes = entries.size() * sizeof(PathEntry);
  for (std::size_t f = 0; f < arrays.size(); ++f)
    bytes += index(arrays[f]->GetNumberOfTuples()) * fields[f].bytes;
  return bytes;
}

std::int64_t PathHistory::seedsSoFar() const {
  std::int64_t seeds = 0;
  for (const PathInjection& injection : injections) seeds += injection.seeds;
  return seeds;
}

bool PathHistory::seedsVary() const {
  return std::any_of(injections.begin(), injections.end(), [&](const PathInjection& injection) {
    return injection.seeds != injections.front().seeds;
  });
}

std::int64_t PathHistory::outside(const Transport& transport) const {
  std::int64_t seeds = 0;
  for (const PathInjection& injection : injections)
    seeds += Shares{injection.seeds, transport.size()}.count(transport.rank());
  return seeds - static_cast<std::int64_t>(particles.size());
}

void PathHistory::keepSteps(std::size_t steps) {
  if (steps >= segments.size()) return;
  segments.resize(steps);
  while (!injections.empty() && index(injections.back().step) >= steps) injections.pop_back();
  while (!particles.empty() && index(particles.back().injection) >= injections.size())
    particles.pop_back();
}

void keepLastPoints(PathPoints& segment) {
  std::vector<std::int64_t> last;
  for (PathEntry& entry : segment.entries) {
    const bool isKept =
        entry.points > 0 && (entry.reason == Reason::None || entry.reason == Reason::OutOfTime);
    if (isKept) last.push_back(entry.first + entry.points - 1);
    entry.first = static_cast<std::int64_t>(last.size()) - isKept;
    entry.points = isKept;
  }
  for (std::size_t f = 0; f < segment.arrays.size(); ++f) {
    vtkDataArray* all = segment.arrays[f];
    auto few = freshArrayOf(all->GetDataType(), all->GetName(), all->GetNumberOfComponents(),
                            static_cast<vtkIdType>(last.size()));
    const std::size_t bytes = segment.fields[f].bytes;
    const auto* from = static_cast<const std::byte*>(all->GetVoidPointer(0));
    auto* to = static_cast<std::byte*>(few->GetVoidPointer(0));
    for (const std::int64_t point : last) {
      std::memcpy(to, from + index(point) * bytes, bytes);
      to += bytes;
    }
    segment.arrays[f] = few;
  }
}

}  // namespace tributary
