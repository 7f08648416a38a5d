// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/detail/HarmonicStencil.h"

#include "Tributary/Base/Index.h"

namespace tributary::detail {

std::vector<SiteRun> runsOf(const SiteRoom& room, const std::vector<std::uint8_t>& flags) {
  std::vector<SiteRun> runs;
  const CellRange& box = room.box;
  if (box.empty()) return runs;
  std::int64_t packed = 0;
  for (auto k = box.lo[2]; k < box.hi[2]; ++k)
    for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
      const std::int64_t row = room.at(0, j, k);
      for (auto i = box.lo[0]; i < box.hi[0];) {
        if (flags[index(row + i)] == 0) {
          ++i;
          continue;
        }
        const std::int64_t first = i;
        while (i < box.hi[0] && flags[index(row + i)] != 0) ++i;
        runs.push_back({first, j, k, row + first, packed, i - first});
        packed += i - first;
      }
    }
  return runs;
}

LatticeStencil::LatticeStencil(const SiteLattice& sites) {
  double shortest = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& x = sites.places[a];
    if (x.size() < 2) continue;
    spacing_[a] = (x.back() - x.front()) / static_cast<double>(x.size() - 1);
    if (shortest == 0 || spacing_[a] < shortest) shortest = spacing_[a];
  }
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& x = sites.places[a];
    const bool varies = x.size() > 1;
    if (varies) spacing_[a] /= shortest;
    Axis<double>& axis = doubles_[a];
    axis.conductances.assign(x.size() + 1, 0.0);
    for (std::size_t i = 1; i < x.size(); ++i) axis.conductances[i] = shortest / (x[i] - x[i - 1]);
    if (sites.seam[a] > 0)
      axis.conductances.front() = axis.conductances.back() = shortest / sites.seam[a];
    for (const double width : sites.widths[a]) axis.widths.push_back(varies ? width / shortest : 1);
    floats_[a].conductances.assign(axis.conductances.begin(), axis.conductances.end());
    floats_[a].widths.assign(axis.widths.begin(), axis.widths.end());
  }
}

}  // namespace tributary::detail
