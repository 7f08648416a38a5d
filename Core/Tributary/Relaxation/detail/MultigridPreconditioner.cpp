// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/detail/MultigridPreconditioner.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

using Index = std::int64_t;

/// The first site of a run of a color.
Index firstOf(const SiteRun& run, int color) {
  return run.i + ((run.i + run.j + run.k) % 2 == color ? 0 : 1);
}

/// Rows of the finest level, with weights from the stencil.
struct LatticeRows {
  const LatticeStencil& stencil;
  const float* packed;
  float* values;
  Index sy, sz;

  /// A half sweep that starts from 0.
  void smoothFromZero(const SiteRun& run, int color) const {
    const auto row = stencil.row<float>(run.j, run.k);
    float* u = values + run.at - run.i;
    const float* b = packed + run.packed - run.i;
    std::fill(u + run.i, u + run.i + run.length, 0.0f);
    for (Index i = firstOf(run, color); i < run.i + run.length; i += 2) u[i] = b[i] / row.sum(i);
  }
  void smooth(const SiteRun& run, int color) const {
    const auto row = stencil.row<float>(run.j, run.k);
    float* u = values + run.at - run.i;
    const float* b = packed + run.packed - run.i;
    for (Index i = firstOf(run, color); i < run.i + run.length; i += 2)
      u[i] = (b[i] + row.before(i) * u[i - 1] + row.after(i) * u[i + 1] +
              row.across(i, u + i, sy, sz)) /
             row.sum(i);
  }
  /// @param out  by site along x
  void residual(const SiteRun& run, float* out) const {
    const auto row = stencil.row<float>(run.j, run.k);
    const float* u = values + run.at - run.i;
    const float* b = packed + run.packed - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i)
      out[i] = b[i] + row.before(i) * u[i - 1] + row.after(i) * u[i + 1] +
               row.across(i, u + i, sy, sz) - row.sum(i) * u[i];
  }
};

/// Rows of a level with stored weights.
struct StoredRows {
  const float *x, *y, *z, *inverse, *right;
  float* values;
  Index sy, sz;

  float flow(Index p) const {
    return x[p] * values[p - 1] + x[p + 1] * values[p + 1] + y[p] * values[p - sy] +
           y[p + sy] * values[p + sy] + z[p] * values[p - sz] + z[p + sz] * values[p + sz];
  }
  void smoothFromZero(const SiteRun& run, int color) const {
    std::fill(values + run.at, values + run.at + run.length, 0.0f);
    for (Index p = run.at + firstOf(run, color) - run.i; p < run.at + run.length; p += 2)
      values[p] = right[p] * inverse[p];
  }
  void smooth(const SiteRun& run, int color) const {
    for (Index p = run.at + firstOf(run, color) - run.i; p < run.at + run.length; p += 2)
      values[p] = (right[p] + flow(p)) * inverse[p];
  }
  void residual(const SiteRun& run, float* out) const {
    for (Index p = run.at; p < run.at + run.length; ++p)
      out[run.i + p - run.at] = right[p] + flow(p) - values[p] / inverse[p];
  }
};

/// Calls visit(j, k, weight) for the coarse rows that a fine row is interpolated from, in the order
/// of the places of a room. A weight may be 0.
template <class Visit>
void forEachCoarseRow(const MultigridLevel& fine, const SiteRun& run, Visit&& visit) {
  const auto &y = fine.interpolation[1].weights[index(run.j)],
             &z = fine.interpolation[2].weights[index(run.k)];
  visit(y.block, z.block, y.weight * z.weight);
  visit(y.other, z.block, y.otherWeight * z.weight);
  visit(y.block, z.other, y.weight * z.otherWeight);
  visit(y.other, z.other, y.otherWeight * z.otherWeight);
}

}  // namespace

MultigridPreconditioner::MultigridPreconditioner(
    Transport& transport, HaloMessenger& messenger, const SiteLattice& sites,
    const LatticeStencil& stencil, const std::vector<CellRange>& boxes, const SiteHalo& halo,
    const std::vector<SiteRun>& runs, const std::vector<std::uint8_t>& unknown,
    ParallelFor parallelFor)
    : transport_(transport),
      messenger_(messenger),
      parallelFor_(std::move(parallelFor)),
      stencil_(stencil) {
  collectively(transport_, [&] {
    levels_.push_back(makeFinestLevel({sites.along(0), sites.along(1), sites.along(2)},
                                      sites.periodic(), stencil, boxes, halo, runs, unknown));
  });
  halo.exchange(messenger_, levels_.front().toKnown.data());
  const auto isCoarsest = [](const MultigridLevel& level) {
    return *std::max_element(level.sites.begin(), level.sites.end()) == 1;
  };
  while (!isCoarsest(levels_.back())) {
    MultigridLevel coarse = coarsen(transport_, messenger_, stencil_, levels_.back());
    levels_.back().freeSetup();
    collectively(transport_, [&] { levels_.push_back(std::move(coarse)); });
  }
}

/// Updates the sites of a color from those of the other one, and then the halo.
template <class Rows>
void MultigridPreconditioner::halfSweep(const Rows& rows, MultigridLevel& level, int color) {
  parallelFor_(static_cast<Index>(level.runs.size()), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) rows.smooth(level.runs[index(r)], color);
  });
  level.halo.exchange(messenger_, level.correction.data());
}

/// Restricts the residual of the fine level to the right-hand side of the coarse one.
template <class Rows>
void MultigridPreconditioner::restrictResidual(const Rows& rows, const MultigridLevel& fine,
                                               MultigridLevel& coarse) {
  const bool gathers = coarse.isReplicated && !fine.isReplicated;
  const SiteHalo& halo = gathers ? coarse.part : coarse.halo;
  std::vector<float>& right = gathers ? coarse.partRight : coarse.right;
  const SiteRoom& room = halo.room();
  std::fill(right.begin(), right.end(), 0.0f);
  std::vector<float> residual(index(fine.sites[0]), 0.0f);
  std::vector<float> alongX(index(room.around.along(0)));  // restricted along x only
  const Index first = room.first[0];
  const auto& weights = fine.interpolation[0].weights;
  for (std::size_t r = 0; r + 1 < fine.rows.size(); ++r) {
    std::fill(alongX.begin(), alongX.end(), 0.0f);
    for (std::size_t n = fine.rows[r]; n < fine.rows[r + 1]; ++n) {
      const SiteRun& run = fine.runs[n];
      rows.residual(run, residual.data());
      for (Index i = run.i; i < run.i + run.length; ++i) {
        const auto& w = weights[index(i)];
        alongX[index(w.block - first)] += w.weight * residual[index(i)];
        alongX[index(w.other - first)] += w.otherWeight * residual[index(i)];
      }
    }
    forEachCoarseRow(fine, fine.runs[fine.rows[r]], [&](Index j, Index k, float weight) {
      if (weight == 0) return;
      float* out = right.data() + room.at(first, j, k);
      for (std::size_t i = 0; i < alongX.size(); ++i) out[i] += weight * alongX[i];
    });
  }
  halo.accumulate(messenger_, right.data());
  if (gathers) gatherRestricted(coarse);
}

/// Gathers the right-hand side of a replicated level from the ranks' parts.
void MultigridPreconditioner::gatherRestricted(MultigridLevel& coarse) {
  // In a collector of its own: an earlier error in the messenger would withhold this rank's part.
  ErrorCollector errors;
  std::vector<float> mine;
  errors.attempt([&] {
    coarse.part.visit(coarse.part.room().box, [&](Index at, std::size_t count) {
      const float* const first = coarse.partRight.data() + at;
      mine.insert(mine.end(), first, first + count);
    });
  });
  const std::vector<float> all = allgatherv<float>(
      transport_, mine, errors, [&](int rank) { return coarse.partBoxes[index(rank)].cells(); });
  if (errors.any()) {
    messenger_.errors.note(errors.report());
    return;
  }
  const float* next = all.data();
  for (const CellRange& box : coarse.partBoxes)
    coarse.halo.visit(box, [&](Index at, std::size_t count) {
      std::copy_n(next, count, coarse.right.data() + at);
      next += count;
    });
}

/// Adds the interpolated correction of the coarse level to that of the fine one.
void MultigridPreconditioner::prolongCorrection(const MultigridLevel& coarse,
                                                MultigridLevel& fine) {
  const SiteRoom& from = coarse.halo.room();
  const auto& weights = fine.interpolation[0].weights;
  parallelFor_(static_cast<Index>(fine.rows.size()) - 1, [&](Index begin, Index end) {
    std::vector<float> across(index(from.around.along(0)));  // interpolated along y and z
    for (Index r = begin; r < end; ++r) {
      std::fill(across.begin(), across.end(), 0.0f);
      forEachCoarseRow(fine, fine.runs[fine.rows[index(r)]], [&](Index j, Index k, float weight) {
        if (weight == 0) return;
        const float* in = coarse.correction.data() + from.at(from.first[0], j, k);
        for (std::size_t i = 0; i < across.size(); ++i) across[i] += weight * in[i];
      });
      for (std::size_t n = fine.rows[index(r)]; n < fine.rows[index(r) + 1]; ++n) {
        const SiteRun& part = fine.runs[n];
        float* u = fine.correction.data() + part.at - part.i;
        for (Index i = part.i; i < part.i + part.length; ++i) {
          const auto& w = weights[index(i)];
          u[i] += w.weight * across[index(w.block - from.first[0])] +
                  w.otherWeight * across[index(w.other - from.first[0])];
        }
      }
    }
  });
  fine.halo.exchange(messenger_, fine.correction.data());
}

template <class Rows>
void MultigridPreconditioner::cycleWith(const Rows& rows, std::size_t number) {
  constexpr int Red = 0, Black = 1;
  MultigridLevel& level = levels_[number];
  parallelFor_(static_cast<Index>(level.runs.size()), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) rows.smoothFromZero(level.runs[index(r)], Red);
  });
  if (number + 1 == levels_.size()) return;  // one site
  level.halo.exchange(messenger_, level.correction.data());
  halfSweep(rows, level, Black);
  MultigridLevel& coarse = levels_[number + 1];
  restrictResidual(rows, level, coarse);
  cycle(number + 1);
  prolongCorrection(coarse, level);
  halfSweep(rows, level, Black);
  halfSweep(rows, level, Red);
}

void MultigridPreconditioner::cycle(std::size_t number) {
  MultigridLevel& level = levels_[number];
  const SiteRoom& room = level.halo.room();
  if (number == 0)
    cycleWith(LatticeRows{stencil_, level.right.data(), level.correction.data(), room.step[1],
                          room.step[2]},
              number);
  else
    cycleWith(StoredRows{level.before[0].data(), level.before[1].data(), level.before[2].data(),
                         level.inverseDiagonal.data(), level.right.data(), level.correction.data(),
                         room.step[1], room.step[2]},
              number);
}

void MultigridPreconditioner::apply(Span<const double> residual) {
  std::vector<float>& right = levels_.front().right;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(residual[i]);
  cycle(0);
}

}  // namespace tributary::detail
