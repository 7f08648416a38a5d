// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/detail/BiharmonicOperator.h"

#include <algorithm>
#include <utility>

#include "Tributary/Base/Index.h"

namespace tributary::detail {
namespace {

using Index = std::int64_t;

}  // namespace

BiharmonicOperator::BiharmonicOperator(const std::array<Index, 3>& sites,
                                       const LatticeStencil& stencil, const SiteHalo& halo,
                                       const std::vector<SiteRun>& runs,
                                       std::vector<std::uint8_t> unknown, ParallelFor parallelFor)
    : sites_(sites),
      stencil_(stencil),
      halo_(halo),
      runs_(runs),
      unknown_(std::move(unknown)),
      parallelFor_(std::move(parallelFor)),
      laplacian_(halo.room().size, 0.0) {
  findRim();
  findDiagonal();
}

/// The weights of a run of known sites, without the axes along which the run is at the border. The
/// caller handles the border along x site by site.
LatticeStencil::Row<double> BiharmonicOperator::rimRow(const SiteRun& run) const {
  auto row = stencil_.row<double>(run.j, run.k);
  if (isBorder(1, run.j)) row.y0 = row.y1 = 0;
  if (isBorder(2, run.k)) row.z0 = row.z1 = 0;
  return row;
}

/// Calls visit(i, weight, place of the neighbor) for the known neighbors at the border of a run's
/// unknown sites whose Laplacian does not contain the unknown site.
template <class Visit>
void BiharmonicOperator::visitSevered(const SiteRun& run, Visit&& visit) const {
  const auto row = stencil_.row<double>(run.j, run.k);
  const auto visitKnown = [&](Index i, double weight, Index offset) {
    const Index neighbor = run.at + i - run.i + offset;
    if (unknown_[index(neighbor)] == 0) visit(i, weight, neighbor);
  };
  const auto isIn = [&](Index i) { return i >= run.i && i < run.i + run.length; };
  if (sites_[0] > 1 && isIn(1)) visitKnown(1, row.before(1), -1);
  if (sites_[0] > 1 && isIn(sites_[0] - 2)) visitKnown(sites_[0] - 2, row.after(sites_[0] - 2), 1);
  const auto lookAlong = [&](std::size_t axis, Index site, double before, double after) {
    const Index step = halo_.room().step[axis];
    for (Index i = run.i; i < run.i + run.length; ++i) {
      if (site == 1) visitKnown(i, row.widths[i] * before, -step);
      if (site == sites_[axis] - 2) visitKnown(i, row.widths[i] * after, step);
    }
  };
  if (sites_[1] > 1) lookAlong(1, run.j, row.y0, row.y1);
  if (sites_[2] > 1) lookAlong(2, run.k, row.z0, row.z1);
}

void BiharmonicOperator::findRim() {
  const SiteRoom& room = halo_.room();
  const CellRange& box = room.box;
  if (box.empty()) return;
  std::vector<std::uint8_t> isRim(room.size, 0);
  for (auto k = box.lo[2]; k < box.hi[2]; ++k)
    for (auto j = box.lo[1]; j < box.hi[1]; ++j) {
      const std::array<Index, 2> across{j, k};
      for (auto i = box.lo[0]; i < box.hi[0]; ++i) {
        const Index place = room.at(i, j, k);
        if (unknown_[index(place)] != 0) continue;
        for (std::size_t a = 0; a < 3; ++a) {
          if (isBorder(a, a == 0 ? i : across[a - 1])) continue;
          if (unknown_[index(place - room.step[a])] != 0 ||
              unknown_[index(place + room.step[a])] != 0)
            isRim[index(place)] = 1;
        }
      }
    }
  rim_ = runsOf(room, isRim);
}

/// Sums, for each unknown site, its squared weights in all Laplacians that contain it, divided by
/// their volumes.
void BiharmonicOperator::findDiagonal() {
  diagonal_.assign(runs_.empty() ? 0 : index(runs_.back().packed + runs_.back().length), 0.0);
  for (const SiteRun& run : runs_) {
    const auto row = stencil_.row<double>(run.j, run.k);
    double* diagonal = diagonal_.data() + run.packed - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i) {
      const double sum = row.sum(i);
      diagonal[i] = sum * sum / row.volume(i);
      const auto add = [&](double weight, Index x, Index y, Index z) {
        if (weight != 0)
          diagonal[i] += weight * weight / stencil_.volume(i + x, run.j + y, run.k + z);
      };
      add(row.before(i), -1, 0, 0);
      add(row.after(i), 1, 0, 0);
      add(row.widths[i] * row.y0, 0, -1, 0);
      add(row.widths[i] * row.y1, 0, 1, 0);
      add(row.widths[i] * row.z0, 0, 0, -1);
      add(row.widths[i] * row.z1, 0, 0, 1);
    }
    const std::array<Index, 3>& step = halo_.room().step;
    visitSevered(run, [&](Index i, double weight, Index neighbor) {
      const Index offset = neighbor - (run.at + i - run.i);
      const auto along = [&](std::size_t a) {
        return offset == step[a] ? 1 : offset == -step[a] ? -1 : 0;
      };
      diagonal[i] -=
          weight * weight / stencil_.volume(i + along(0), run.j + along(1), run.k + along(2));
    });
  }
}

void BiharmonicOperator::apply(HaloMessenger& messenger, const double* values, double* out) {
  const Index sy = halo_.room().step[1], sz = halo_.room().step[2];
  const auto forEach = [&](const std::vector<SiteRun>& runs, auto&& visit) {
    parallelFor_(static_cast<Index>(runs.size()), [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) visit(runs[index(r)]);
    });
  };
  forEach(runs_, [&](const SiteRun& run) {
    const auto row = stencil_.row<double>(run.j, run.k);
    const double* u = values + run.at - run.i;
    double* laplacian = laplacian_.data() + run.at - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i)
      laplacian[i] = row.away(i, u + i, sy, sz) / row.volume(i);
  });
  forEach(rim_, [&](const SiteRun& run) {
    const auto row = rimRow(run);
    const double* u = values + run.at - run.i;
    double* laplacian = laplacian_.data() + run.at - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i) {
      const double flow =
          isBorder(0, i) ? row.awayAcross(i, u + i, sy, sz) : row.away(i, u + i, sy, sz);
      laplacian[i] = flow / row.volume(i);
    }
  });
  halo_.exchange(messenger, laplacian_.data());
  forEach(runs_, [&](const SiteRun& run) {
    const auto row = stencil_.row<double>(run.j, run.k);
    const double* laplacian = laplacian_.data() + run.at - run.i;
    double* o = out + run.packed - run.i;
    for (Index i = run.i; i < run.i + run.length; ++i) o[i] = row.away(i, laplacian + i, sy, sz);
    visitSevered(run, [&](Index i, double weight, Index neighbor) {
      o[i] += weight * laplacian_[index(neighbor)];
    });
  });
}

}  // namespace tributary::detail
