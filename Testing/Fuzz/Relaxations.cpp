// SPDX-License-Identifier: BSD-3-Clause
// The messages of the solvers on grids: flow at faces, halos, and the levels of multigrid.
#include <vector>

#include "Harness.h"
#include "Tributary/Relaxation/FaceFlow.h"
#include "Tributary/Relaxation/HarmonicFill.h"

namespace tributary::fuzz {

namespace {

/// A row of four cells or sites, of which each rank has two.
CellRange boxOf(const Transport& transport) {
  CellRange box;
  box.lo = {2 * transport.rank(), 0, 0};
  box.hi = {2 * transport.rank() + 2, 3, 1};
  return box;
}

void flow(Transport& transport) {
  CellGrid grid;
  grid.ends = {std::vector<double>{0, 1, 2, 3, 4}, {0, 1, 2, 3}, {0, 1}};
  CellFlow cells;
  for (std::size_t a = 0; a < 3; ++a) cells.low[a] = cells.high[a] = std::vector<double>(6, 1.0);
  cells.solid = {0, 0, 1, 0, 0, 0};
  (void)flowBetween(transport, grid, {true, false, false}, boxOf(transport), cells);
}

void fill(Transport& transport, FillSmoothness smoothness) {
  const SiteLattice sites = pointSites({std::vector<double>{0, 1, 2, 3}, {0, 1, 2}, {0}});
  const std::vector<std::uint8_t> unknown = {0, 1, 0, 1, 0, 0};
  std::vector<double> values = {0, 0, 2, 0, 4, 5};
  HarmonicFillOptions options;
  options.smoothness = smoothness;
  options.cycleLimit = 3;
  options.iteration.iterationLimit = 5;
  HarmonicFill fill(transport, sites, boxOf(transport), unknown, options);
  (void)fill.fill(values);
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"flow-0", 2, 0, flow},
      {"flow-1", 2, 1, flow},
      {"harmonic", 2, 0, [](Transport& transport) { fill(transport, FillSmoothness::Harmonic); }},
      {"biharmonic", 2, 1,
       [](Transport& transport) { fill(transport, FillSmoothness::Biharmonic); }},
  };
  return all;
}

}  // namespace tributary::fuzz
