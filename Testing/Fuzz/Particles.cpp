// SPDX-License-Identifier: BSD-3-Clause
// Particles and seeds that another rank sends while lines are traced.
#include "Harness.h"
#include "SmallFields.h"
#include "Tributary/Advection/Tracer.h"

namespace tributary::fuzz {

namespace {

void play(Transport& transport, bool isMesh, Integrator integrator) {
  static const SmallMesh mesh(
      [](Transport& all) { return testing::makeMeshDomain(all, smallMesh()); });
  static const SmallGrid grid(
      [](Transport& all) { return testing::makeGridDomain(all, smallGrid()); });
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.maximumSteps = 4;
  options.exchange.detector = "tree-counter";
  std::vector<tributary::Seed> starts;  // in a cell and on a face between cells
  const std::int64_t first = 2 * transport.rank();
  if (isMesh)
    starts = {{{0.3, 0.2, -0.4}, first}, {{-0.5, -0.5, 0.1}, first + 1}};
  else
    starts = {{{0.3, 0.2, 3.4}, first}, {{5.5, 2.5, 0.1}, first + 1}};
  (void)trace(transport, isMesh ? mesh.of(transport) : grid.of(transport), starts, options);
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
