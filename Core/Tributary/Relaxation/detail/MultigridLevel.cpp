// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/detail/MultigridLevel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

/// A level with at most this number of sites is replicated: on it a message costs more than the
/// work.
constexpr std::int64_t ReplicatedSites = 4096;
/// An axis is coarsened if its spacing is at most this factor above the smallest one.
constexpr double SameSpacing = 1.9;

using Index = std::int64_t;

CellRange wholeOf(const std::array<Index, 3>& sites) {
  return {{0, 0, 0}, sites};
}

/// The coarse sites whose first fine site is in a box. The box of a rank without sites lies below 0
/// and is returned unchanged.
CellRange coarseBox(CellRange box, const std::array<Index, 3>& factor) {
  if (box.lo[0] < 0) return box;
  for (std::size_t a = 0; a < 3; ++a)
    if (factor[a] == 2) {
      box.lo[a] = (box.lo[a] + 1) / 2;
      box.hi[a] = (box.hi[a] + 1) / 2;
    }
  return box;
}

/// Semi-coarsening: only axes whose sites are close to each other are coarsened.
std::array<Index, 3> coarseningFactors(const MultigridLevel& level) {
  double shortest = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (level.sites[a] > 1 && (shortest == 0 || level.spacing[a] < shortest))
      shortest = level.spacing[a];
  std::array<Index, 3> factor{};
  for (std::size_t a = 0; a < 3; ++a)
    factor[a] = level.sites[a] > 1 && level.spacing[a] <= SameSpacing * shortest ? 2 : 1;
  return factor;
}

/// The sums over the unknown sites of a block.
struct BlockSums {
  bool anyUnknown = false, allUnknown = true;
  float toKnown = 0;
  std::array<float, 3> before{};  ///< conductances across the block's lower sides
};

/// The conductance of the finest level between a site and the one before along an axis.
float conductanceBefore(const LatticeStencil& stencil, const std::array<Index, 3>& site,
                        std::size_t axis) {
  const auto row = stencil.row<float>(site[1], site[2]);
  if (axis == 0) return row.before(site[0]);
  return axis == 1 ? row.widths[site[0]] * row.y0 : row.widths[site[0]] * row.z0;
}

BlockSums sumBlock(const MultigridLevel& fine, const LatticeStencil& stencil,
                   const std::array<Index, 3>& coarseSite) {
  const SiteRoom& room = fine.halo.room();
  const bool isFinest = fine.before[0].empty();
  std::array<Index, 3> begin, end;
  for (std::size_t a = 0; a < 3; ++a) {
    begin[a] = coarseSite[a] * fine.factor[a];
    end[a] = std::min(begin[a] + fine.factor[a], fine.sites[a]);
  }
  BlockSums sums;
  std::array<Index, 3> i;
  for (i[2] = begin[2]; i[2] < end[2]; ++i[2])
    for (i[1] = begin[1]; i[1] < end[1]; ++i[1])
      for (i[0] = begin[0]; i[0] < end[0]; ++i[0]) {
        const Index place = room.at(i[0], i[1], i[2]);
        if (fine.unknown[index(place)] == 0) {
          sums.allUnknown = false;
          continue;
        }
        sums.anyUnknown = true;
        sums.toKnown += fine.toKnown[index(place)];
        for (std::size_t a = 0; a < 3; ++a) {
          if (i[a] != begin[a] || fine.unknown[index(place - room.step[a])] == 0) continue;
          sums.before[a] +=
              isFinest ? conductanceBefore(stencil, i, a) : fine.before[a][index(place)];
        }
      }
  return sums;
}

/// Local. The next level with its conductances in this rank's box.
MultigridLevel makeCoarseLevel(const MultigridLevel& fine, const LatticeStencil& stencil,
                               int rank) {
  const std::array<Index, 3>& factor = fine.factor;
  MultigridLevel coarse;
  coarse.coarsenings = fine.coarsenings + 1;
  coarse.isReplicated = fine.isReplicated;
  for (std::size_t a = 0; a < 3; ++a) {
    coarse.sites[a] = (fine.sites[a] + factor[a] - 1) / factor[a];
    coarse.spacing[a] = fine.spacing[a] * static_cast<double>(factor[a]);
    // One site is no neighbor of itself.
    coarse.periodic[a] = fine.periodic[a] && coarse.sites[a] > 1;
  }
  for (const CellRange& box : fine.boxes) coarse.boxes.push_back(coarseBox(box, factor));
  coarse.halo =
      SiteHalo(coarse.boxes, fine.isReplicated ? 0 : rank, wholeOf(coarse.sites), coarse.periodic);
  const SiteRoom& room = coarse.halo.room();
  coarse.unknown.assign(room.size, 0);
  for (auto& axis : coarse.before) axis.assign(room.size, 0.0f);
  coarse.toKnown.assign(room.size, 0.0f);
  // A coarse site is farther from known values than its fine sites. The distance of a row of known
  // values, as at the rim of a hole, is half a site, so the factor approaches 2 from level to
  // level.
  const auto width = static_cast<double>(Index(1) << std::min(fine.coarsenings, 40));
  const auto farther = static_cast<float>((width + 1) / (2 * width + 1));
  const CellRange& box = room.box;
  std::array<Index, 3> at;
  for (at[2] = box.lo[2]; at[2] < box.hi[2]; ++at[2])
    for (at[1] = box.lo[1]; at[1] < box.hi[1]; ++at[1])
      for (at[0] = box.lo[0]; at[0] < box.hi[0]; ++at[0]) {
        const BlockSums sums = sumBlock(fine, stencil, at);
        if (!sums.anyUnknown) continue;
        const std::size_t place = index(room.at(at[0], at[1], at[2]));
        coarse.unknown[place] = 1;
        coarse.toKnown[place] = sums.allUnknown ? farther * sums.toKnown : sums.toKnown;
        for (std::size_t a = 0; a < 3; ++a)
          if (coarse.sites[a] > 1)
            coarse.before[a][place] = sums.before[a] / static_cast<float>(factor[a]);
      }
  return coarse;
}

/// Local. The vectors of the cycle, the diagonal and the runs, from conductances that are also
/// known beside the box.
void finishLevel(MultigridLevel& level) {
  const SiteRoom& room = level.halo.room();
  const CellRange& box = room.box;
  level.correction.assign(room.size, 0.0f);
  level.right.assign(room.size, 0.0f);
  level.inverseDiagonal.assign(room.size, 0.0f);
  Index packed = 0;
  for (auto k = box.lo[2]; k < box.hi[2]; ++k)
    for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
      bool continues = false;
      for (auto i = box.lo[0]; i < box.hi[0]; ++i) {
        const Index place = room.at(i, j, k);
        float sum = level.toKnown[index(place)];
        for (std::size_t a = 0; a < 3; ++a)
          sum += level.before[a][index(place)] + level.before[a][index(place + room.step[a])];
        const bool hasEquation = level.unknown[index(place)] != 0 && sum > 0;
        if (hasEquation) {
          level.inverseDiagonal[index(place)] = 1 / sum;
          if (!continues) level.runs.push_back({i, j, k, place, packed, 0});
          ++level.runs.back().length;
          ++packed;
        }
        continues = hasEquation;
      }
    }
  level.findRows();
}

/// Local. An empty replicated level in place of a distributed one.
MultigridLevel makeReplica(const MultigridLevel& level) {
  MultigridLevel whole;
  whole.sites = level.sites;
  whole.spacing = level.spacing;
  whole.periodic = level.periodic;
  whole.coarsenings = level.coarsenings;
  whole.isReplicated = true;
  whole.boxes = {wholeOf(level.sites)};
  whole.halo = SiteHalo(whole.boxes, 0, wholeOf(level.sites), level.periodic);
  whole.partBoxes = level.boxes;
  whole.part = level.halo;
  whole.partRight.assign(level.halo.room().size, 0.0f);
  whole.unknown.assign(whole.halo.room().size, 0);
  whole.toKnown.assign(whole.halo.room().size, 0.0f);
  for (auto& axis : whole.before) axis.assign(whole.halo.room().size, 0.0f);
  return whole;
}

/// Collective. Gathers a distributed level onto each rank.
MultigridLevel replicate(Transport& transport, const MultigridLevel& level) {
  Writer writer;
  MultigridLevel whole;
  std::vector<Index> missing;  // sites by rank
  collectively(transport, [&] {
    whole = makeReplica(level);
    for (const CellRange& box : whole.partBoxes) missing.push_back(box.cells());
    level.halo.visit(level.halo.room().box, [&](Index first, std::size_t count) {
      for (std::size_t i = index(first); i < index(first) + count; ++i)
        writer.value(level.unknown[i])
            .value(level.toKnown[i])
            .value(level.before[0][i])
            .value(level.before[1][i])
            .value(level.before[2][i]);
    });
  });
  allgatherRead(transport, writer.take(), [&](Reader& reader, int rank) {
    if (missing[index(rank)] == 0)
      refuseMessage("too many sites from rank " + std::to_string(rank));
    missing[index(rank)] = 0;
    whole.halo.visit(whole.partBoxes[index(rank)], [&](Index first, std::size_t count) {
      for (std::size_t i = index(first); i < index(first) + count; ++i) {
        whole.unknown[i] = reader.value<std::uint8_t>();
        whole.toKnown[i] = reader.value<float>();
        for (auto& axis : whole.before) axis[i] = reader.value<float>();
      }
    });
  });
  collectively(transport, [&] {
    if (std::any_of(missing.begin(), missing.end(), [](Index sites) { return sites > 0; }))
      refuseMessage("no sites from a rank");
  });
  return whole;
}

}  // namespace

AxisInterpolation::AxisInterpolation(Index fineSites, Index coarseSites, Index factor) {
  for (Index i = 0; i < fineSites; ++i) {
    Weight w;
    w.block = w.other = static_cast<std::int32_t>(i / factor);
    const Index other = i / factor + (i % 2 == 1 ? 1 : -1);
    if (factor == 2 && other >= 0 && other < coarseSites) {
      w.other = static_cast<std::int32_t>(other);
      w.weight = 0.75f;
      w.otherWeight = 0.25f;
    }
    weights.push_back(w);
  }
}

void MultigridLevel::findRows() {
  rows.clear();
  for (std::size_t r = 0; r < runs.size(); ++r)
    if (r == 0 || runs[r].j != runs[r - 1].j || runs[r].k != runs[r - 1].k) rows.push_back(r);
  rows.push_back(runs.size());
}

void MultigridLevel::freeSetup() {
  // Assigning {} would keep the memory.
  toKnown = std::vector<float>();
  unknown = std::vector<std::uint8_t>();
}

MultigridLevel makeFinestLevel(const std::array<Index, 3>& sites,
                               const std::array<bool, 3>& periodic, const LatticeStencil& stencil,
                               const std::vector<CellRange>& boxes, const SiteHalo& halo,
                               const std::vector<SiteRun>& runs,
                               const std::vector<std::uint8_t>& unknown) {
  MultigridLevel finest;
  finest.sites = sites;
  finest.periodic = periodic;
  for (std::size_t a = 0; a < 3; ++a) finest.spacing[a] = stencil.spacing(a);
  finest.boxes = boxes;
  finest.isReplicated = boxes.size() == 1;
  finest.halo = halo;
  finest.runs = runs;
  finest.findRows();
  finest.unknown = unknown;
  finest.correction.assign(halo.room().size, 0.0f);
  finest.right.resize(runs.empty() ? 0 : index(runs.back().packed + runs.back().length));
  // The conductances between unknown sites are computed from the stencil where they are needed.
  finest.toKnown.assign(halo.room().size, 0.0f);
  const Index sy = halo.room().step[1], sz = halo.room().step[2];
  for (const SiteRun& run : runs) {
    const auto row = stencil.row<double>(run.j, run.k);
    const std::uint8_t* is = finest.unknown.data() + run.at - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i) {
      const auto known = [&](Index offset) { return is[i + offset] != 0 ? 0.0 : 1.0; };
      const double sum = row.before(i) * known(-1) + row.after(i) * known(1) +
                         row.widths[i] * (row.y0 * known(-sy) + row.y1 * known(sy) +
                                          row.z0 * known(-sz) + row.z1 * known(sz));
      finest.toKnown[index(run.at + i - run.i)] = static_cast<float>(sum);
    }
  }
  return finest;
}

MultigridLevel coarsen(Transport& transport, HaloMessenger& messenger,
                       const LatticeStencil& stencil, MultigridLevel& fine) {
  MultigridLevel coarse;
  collectively(transport, [&] {
    fine.factor = coarseningFactors(fine);
    coarse = makeCoarseLevel(fine, stencil, transport.rank());
  });
  if (!coarse.isReplicated &&
      coarse.sites[0] * coarse.sites[1] * coarse.sites[2] <= ReplicatedSites)
    coarse = replicate(transport, coarse);
  coarse.halo.exchange(messenger, coarse.unknown.data());
  coarse.halo.exchange(messenger, coarse.toKnown.data());
  for (auto& axis : coarse.before) coarse.halo.exchange(messenger, axis.data());
  collectively(transport, [&] {
    finishLevel(coarse);
    for (std::size_t a = 0; a < 3; ++a)
      fine.interpolation[a] = AxisInterpolation(fine.sites[a], coarse.sites[a], fine.factor[a]);
  });
  return coarse;
}

}  // namespace tributary::detail
