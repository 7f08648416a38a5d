// SPDX-License-Identifier: BSD-3-Clause
// Particles and seeds that another rank sends while lines are traced.
#include <limits>

#include "Harness.h"
#include "SmallFields.h"
#include "Tributary/Advection/Targets/EventSurface.h"
#include "Tributary/Advection/Tracer.h"

namespace tributary::fuzz {

namespace {

/// A field with a slope, and one with a jump and a hole.
class SmallEventFields : public EventFields {
 public:
  void evaluate(const FieldBlock&, const TrajectoryPoint& point, double* values) const override {
    values[0] = point.x[0] + point.x[1];
    values[1] = point.x[2] > 1 ? std::numeric_limits<double>::quiet_NaN() : point.x[0] > 0.2;
  }
};

/// Surfaces beside the border of the two pieces, so that particles pass it while they search for a
/// crossing.
EventList eventsOf(bool isMesh, bool haveFields) {
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
  if (!haveFields) return events;
  events.event[events.count++] = isovalueEvent(0, isMesh ? 0.1 : 4.6);
  events.event[events.count++] = labelEvent(1, 1);
  events.event[events.count++] = labelEvent(1);
  return events;
}

enum class With { Nothing, Events, Fields };

void play(Transport& transport, bool isMesh, Integrator integrator, With with) {
  static const SmallEventFields fields;
  const bool hasEvents = with != With::Nothing;
  static const SmallMesh mesh(
      [](Transport& all) { return testing::makeMeshDomain(all, smallMesh()); });
  static const SmallGrid grid(
      [](Transport& all) { return testing::makeGridDomain(all, smallGrid()); });
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.maximumSteps = 4;
  if (hasEvents) options.rules.events = eventsOf(isMesh, with == With::Fields);
  if (with == With::Fields) options.rules.fields = &fields;
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

/// Lines that go on in the second interval of an unsteady grid, after crossings in the first one.
void playContinued(Transport& transport) {
  static const SmallGrid grid([](Transport& all) {
    testing::GridSetup setup = smallGrid();
    setup.laterFlow = setup.flow;
    return testing::makeGridDomain(all, setup);
  });
  TraceOptions options;
  options.rules.integrator = Integrator::RungeKutta4;
  options.rules.maximumSteps = 4;
  options.rules.interval = TimeInterval{1, 2, 2};
  options.rules.events = eventsOf(false, false);
  options.rules.events.event[options.rules.events.count++] = timeEvent(1.2);
  options.exchange.detector = "tree-counter";
  options.progressOf = [](const tributary::Seed&) {
    LineProgress progress;
    progress.length = 0.5;
    progress.count[0] = 2;
    return progress;
  };
  const std::int64_t first = 2 * transport.rank();
  const std::vector<tributary::Seed> starts{{{4, 0.2, 3.4}, first, 1},
                                            {{4.4, 2.5, 0.1}, first + 1, 1.25}};
  (void)trace(transport, grid.of(transport), starts, options);
}

Scene scene(const std::string& name, int rank, bool isMesh, Integrator integrator,
            With with = With::Nothing) {
  return {name, 2, rank, [=](Transport& transport) { play(transport, isMesh, integrator, with); }};
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      scene("mesh-rk2", 0, true, Integrator::RungeKutta2),
      scene("mesh-rk45", 1, true, Integrator::RungeKutta45),
      scene("grid-rk4", 1, false, Integrator::RungeKutta4),
      scene("grid-rk45", 0, false, Integrator::RungeKutta45),
      scene("mesh-events", 0, true, Integrator::RungeKutta4, With::Events),
      scene("grid-events", 1, false, Integrator::RungeKutta45, With::Events),
      scene("grid-events-rk2", 0, false, Integrator::RungeKutta2, With::Events),
      scene("mesh-fields", 0, true, Integrator::RungeKutta4, With::Fields),
      scene("grid-fields", 1, false, Integrator::RungeKutta45, With::Fields),
      {"grid-continued", 2, 1, playContinued},
  };
  return all;
}

}  // namespace tributary::fuzz
