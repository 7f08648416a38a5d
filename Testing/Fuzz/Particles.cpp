// SPDX-License-Identifier: BSD-3-Clause
// Particles and seeds that another rank sends while lines are traced.
#include <memory>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Harness.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::fuzz {

namespace {

/// The same domain on both ranks of a scene, made once.
struct Fields {
  Fields() {
    meshes.resize(2);
    grids.resize(2);
    VirtualTimeNetworkOptions options;
    options.ranks = 2;
    options.stackBytes = std::size_t(1) << 20;
    makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
      testing::MeshSetup mesh;
      mesh.mesh = testing::makeMesh(testing::MeshKind::Tetrahedra, 1, 0);
      mesh.flow = testing::rotation;
      mesh.pieces = 2;
      meshes[static_cast<std::size_t>(transport.rank())] = testing::makeMeshDomain(transport, mesh);
      testing::GridSetup grid;
      grid.points = {{4, 3, 3}};
      grid.pieces = 2;
      grids[static_cast<std::size_t>(transport.rank())] = testing::makeGridDomain(transport, grid);
    });
  }
  std::vector<std::unique_ptr<testing::MeshDomain>> meshes;
  std::vector<std::unique_ptr<testing::GridDomain>> grids;
};

void play(Transport& transport, bool isMesh, Integrator integrator) {
  static const Fields fields;
  const auto rank = static_cast<std::size_t>(transport.rank());
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.maximumSteps = 4;
  options.exchange.detector = "tree-counter";
  std::vector<tributary::Seed> starts;  // in a cell and on a face between cells
  const auto first = static_cast<std::int64_t>(2 * rank);
  if (isMesh)
    starts = {{{0.3, 0.2, -0.4}, first}, {{-0.5, -0.5, 0.1}, first + 1}};
  else
    starts = {{{0.3, 0.2, 3.4}, first}, {{5.5, 2.5, 0.1}, first + 1}};
  (void)trace(transport, isMesh ? fields.meshes[rank]->domain : fields.grids[rank]->domain, starts,
              options);
}

Scene scene(const std::string& name, int rank, bool isMesh, Integrator integrator) {
  return {name, 2, rank, [=](Transport& transport) { play(transport, isMesh, integrator); }};
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      scene("mesh-rk2", 0, true, Integrator::RungeKutta2),
      scene("mesh-rk45", 1, true, Integrator::RungeKutta45),
      scene("grid-rk4", 1, false, Integrator::RungeKutta4),
      scene("grid-rk45", 0, false, Integrator::RungeKutta45),
  };
  return all;
}

}  // namespace tributary::fuzz
