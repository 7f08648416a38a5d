// SPDX-License-Identifier: BSD-3-Clause
// Particles and seeds that another rank sends while lines are traced.
#include "Harness.h"
#include "SmallFields.h"
#include "Tributary/Advection/Targets/EventSurface.h"
#include "Tributary/Advection/Tracer.h"

namespace tributary::fuzz {

namespace {

/// Surfaces beside the border of the two pieces, so that particles pass it while they search for a
/// crossing.
EventList eventsOf(bool isMesh) {
  constexpr double center[3] = {0, 0, 0}, across[3] = {1, -1, 0}, along[3] = {1, 0, 0};
  constexpr double besideBorder[3] = {4.21, 0, 0}, onBorder[3] = {4.1887902047863905, 0, 0};
  EventList events;
  if (isMesh) {
    events.event[events.count++] = planeEvent(center, across);
    events.event[events.count++] = sphereEvent(center, 0.5);
  } else {
    events.event[events.count++] = planeEvent(besideBorder, along);
    events.event[events.count++] = planeEvent(onBorder, along);
  }
  static const EventSurface sheet({{{{4.2, -9, -9}, {4.2, 9, -9}, {4.2, 0, 9}}, 7},
                                   {{{0.1, -9, -9}, {-0.1, 9, -9}, {0, 0, 9}}, 8}});
  events.event[events.count++] = surfaceEvent(sheet);
  events.event[events.count++] = lengthEvent(0.7);
  return events;
}

void play(Transport& transport, bool isMesh, Integrator integrator, bool hasEvents) {
  static const SmallMesh mesh(
      [](Transport& all) { return testing::makeMeshDomain(all, smallMesh()); });
  static const SmallGrid grid(
      [](Transport& all) { return testing::makeGridDomain(all, smallGrid()); });
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.maximumSteps = 4;
  if (hasEvents) options.rules.events = eventsOf(isMesh);
  options.exchange.detector = "tree-counter";
  std::vector<tributary::Seed> starts;  // in a cell and on a face between cells
  const std::int64_t first = 2 * transport.rank();
  if (isMesh)
    starts = {{{0.3, 0.2, -0.4}, first}, {{-0.5, -0.5, 0.1}, first + 1}};
  else if (hasEvents)
    starts = {{{4, 0.2, 3.4}, first}, {{4.4, 2.5, 0.1}, first + 1}};
  else
    starts = {{{0.3, 0.2, 3.4}, first}, {{5.5, 2.5, 0.1}, first + 1}};
  (void)trace(transport, isMesh ? mesh.of(transport) : grid.of(transport), starts, options);
}

Scene scene(const std::string& name, int rank, bool isMesh, Integrator integrator,
            bool hasEvents = false) {
  return {name, 2, rank,
          [=](Transport& transport) { play(transport, isMesh, integrator, hasEvents); }};
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      scene("mesh-rk2", 0, true, Integrator::RungeKutta2),
      scene("mesh-rk45", 1, true, Integrator::RungeKutta45),
      scene("grid-rk4", 1, false, Integrator::RungeKutta4),
      scene("grid-rk45", 0, false, Integrator::RungeKutta45),
      scene("mesh-events", 0, true, Integrator::RungeKutta4, true),
      scene("grid-events", 1, false, Integrator::RungeKutta45, true),
      scene("grid-events-rk2", 0, false, Integrator::RungeKutta2, true),
  };
  return all;
}

}  // namespace tributary::fuzz
