// SPDX-License-Identifier: BSD-3-Clause
// Particles that other ranks send while the mesh changes between two steps.
#include "Harness.h"
#include "SmallFields.h"
#include "Tributary/Advection/MeshChange.h"

namespace tributary::fuzz {

namespace {

testing::GridSetup laterGrid() {
  testing::GridSetup grid = smallGrid();
  grid.lo = {-1, -1, -1};
  grid.hi = {1, 1, 1};
  grid.laterFlow = grid.flow;
  return grid;
}

testing::MeshSetup steadyMesh() {
  testing::MeshSetup mesh = smallMesh();
  mesh.laterFlow = mesh.flow;
  return mesh;
}

/// @param forward  from the mesh to the grid; otherwise from the grid to the mesh
void play(Transport& transport, bool forward, Integrator integrator) {
  static const SmallMesh mesh(
      [](Transport& all) { return testing::makeMeshDomain(all, steadyMesh()); });
  static const SmallGrid grid(
      [](Transport& all) { return testing::makeGridDomain(all, laterGrid()); });
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.interval = TimeInterval{0, 0.1, 0.1};
  options.rules.maximumSteps = 2;
  options.exchange.detector = "tree-counter";
  const tributary::Seed start{{0.3, 0.2, transport.rank() == 0 ? -0.4 : 0.1}, transport.rank()};
  const Domain& ofMesh = mesh.of(transport);
  const Domain& ofGrid = grid.of(transport);
  (void)traceThroughChange(transport, forward ? ofMesh : ofGrid, forward ? ofGrid : ofMesh,
                           {&start, 1}, options);
}

Scene scene(const std::string& name, int rank, bool forward, Integrator integrator) {
  return {name, RanksOfScenes, rank,
          [=](Transport& transport) { play(transport, forward, integrator); }};
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      scene("to-grid-rk2", 0, true, Integrator::RungeKutta2),
      scene("to-grid-rk4", 1, true, Integrator::RungeKutta4),
      scene("to-mesh-rk4", 1, false, Integrator::RungeKutta4),
      scene("to-mesh-rk2", 0, false, Integrator::RungeKutta2),
  };
  return all;
}

}  // namespace tributary::fuzz
