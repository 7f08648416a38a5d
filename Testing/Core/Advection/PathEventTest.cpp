// SPDX-License-Identifier: BSD-3-Clause
// Crossings of events in unsteady fields, through several intervals: where formulas have them, each
// once, and with the same bits on any number of ranks, pieces and blocks, and with loans.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Advection/Paths.h"
#include "Advection/Surfaces.h"
#include "Advection/TracedCrossings.h"
#include "Support/World.h"
#include "Tributary/Advection/MeshChange.h"
#include "Tributary/Balance/LendingPolicy.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::testing {
namespace {

constexpr double Pi = 3.14159265358979323846;

/// A field between stored times.
struct Intervals {
  std::vector<double> times;
  std::vector<const Domain*> domains;  ///< One less.
};

/// Collective. Traces particles through all intervals: each goes on where it has stopped.
/// @param seeds  of this rank; they begin in the first interval
Traced tracePaths(Transport& transport, const Intervals& field, const std::vector<Seed>& seeds,
                  TraceOptions options) {
  Traced all;
  std::map<std::int64_t, LineProgress> progress;
  for (const Seed& seed : seeds) progress[seed.id].begun = seed.time;
  std::vector<Seed> alive = seeds;
  for (std::size_t i = 0; i < field.domains.size(); ++i) {
    options.rules.interval = TimeInterval{field.times[i], field.times[i + 1], field.times[i + 1]};
    if (i > 0 && options.rules.events.count > 0)
      options.progressOf = [&](const Seed& seed) { return progress.at(seed.id); };
    const TraceResult result = trace(transport, *field.domains[i], alive, options);
    addTrace(transport, result, options, all);
    alive.clear();
    for (const LineEnd& end : allgatherv(transport, result.ends)) {
      const auto mine = progress.find(end.line / 2);
      if (mine == progress.end() || end.reason != Reason::OutOfTime) continue;
      mine->second.length = end.length;
      for (const CrossingPoint& crossing : all.crossings[end.line])
        mine->second.count[crossing.event] = crossing.number;
      // Every other particle searches for its cell.
      const bool isKnown = end.line / 2 % 2 == 0;
      alive.push_back({{end.x[0], end.x[1], end.x[2]},
                       end.line / 2,
                       end.time,
                       isKnown ? end.block : -1,
                       isKnown ? end.cell : -1});
    }
  }
  for (auto at = all.crossings.begin(); at != all.crossings.end();)
    at = at->second.empty() ? all.crossings.erase(at) : std::next(at);
  return all;
}

/// The same, also with loans at random.
Traced traceAllPaths(Transport& transport, const Intervals& field, const std::vector<Seed>& seeds,
                     TraceOptions options) {
  Traced all = tracePaths(transport, field, seeds, options);
  if (calledOncePerRound(options.exchange.schedule) || transport.size() == 1) return all;
  const auto policy = makeRandomPolicy(std::uint64_t(transport.rank()));
  options.lending.emplace();
  options.lending->options.policy = policy.get();
  EXPECT_EQ(differences(all, tracePaths(transport, field, seeds, options)), 0u) << "with loans";
  return all;
}

/// A grid over [-1, 1]^3 with a velocity at each stored time.
struct GridField : Intervals {
  std::vector<std::unique_ptr<GridDomain>> grids;

  GridField(Transport& transport, const std::vector<double>& stored, const std::vector<Flow>& flows,
            GridSetup setup = {}) {
    times = stored;
    setup.lo = {-1, -1, -1};
    setup.hi = {1, 1, 1};
    setup.isDouble = true;
    setup.pieces = std::max(setup.pieces, transport.size());
    for (std::size_t i = 0; i + 1 < flows.size(); ++i) {
      setup.flow = flows[i];
      setup.laterFlow = flows[i + 1];
      grids.push_back(makeGridDomain(transport, setup));
      domains.push_back(&grids.back()->domain);
    }
  }
};

/// This rank's share of seeds.
std::vector<Seed> shareOf(const Transport& transport, const std::vector<Seed>& all) {
  std::vector<Seed> mine;
  for (const Seed& seed : all)
    if (seed.id % transport.size() == transport.rank()) mine.push_back(seed);
  return mine;
}

TraceOptions optionsOf(Integrator integrator) {
  TraceOptions options = pathOptions({}, integrator);
  options.rules.unit = StepUnit::Length;
  options.rules.initialStep = integrator == Integrator::RungeKutta2 ? 5e-3 : 0.01;
  options.rules.maximumSteps = 1 << 20;
  options.rules.minimumStep = 1e-4;
  options.rules.maximumStep = 0.1;
  options.rules.maximumError = 1e-9;
  return options;
}

/// Where a growing function has a value, by halving.
double timeOf(const std::function<double(double)>& value, double wanted, double low, double high) {
  for (int n = 0; n < 80; ++n) {
    const double middle = (low + high) / 2;
    (value(middle) < wanted ? low : high) = middle;
  }
  return high;
}

TEST(PathEvents, OfAnAcceleratedRotationAreWhereTheFormulaHasThem) {
  const std::vector<double> times{2, 3, 4.5, 5}, rates{0.5, 6, 4, 9};
  std::vector<Flow> flows;
  for (const double rate : rates) flows.push_back(rotationAt(rate));
  const GridField field(world(), times, flows);
  const auto angleAt = [&](double time) {
    double angle = 0;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      const double since = std::min(time, times[i + 1]) - times[i];
      if (since <= 0) break;
      angle += rates[i] * since +
               (rates[i + 1] - rates[i]) * since * since / (2 * (times[i + 1] - times[i]));
    }
    return angle;
  };
  std::vector<Seed> seeds;
  for (int i = 0; i < 9; ++i) {
    const double angle = 0.3 + 0.5 * i, radius = 0.2 + 0.05 * i;
    seeds.push_back({{radius * std::cos(angle), radius * std::sin(angle), 0.1 * (i - 6)},
                     i,
                     i % 3 == 0 ? 2 : 2 + 0.08 * i});
  }
  const Vector zero{0, 0, 0}, axis{0, 0, 1}, side{-1, 0, 0};
  for (const Integrator integrator : Integrators) {
    TraceOptions options = optionsOf(integrator);
    add(options.rules, halfPlaneEvent(zero.data(), axis.data(), side.data()));
    add(options.rules, plane({0, 0, 0}, {0, 1, 0}), 0, EventDirection::Positive);
    add(options.rules, timeEvent(1.25));
    add(options.rules, lengthEvent(1));
    const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    ASSERT_EQ(traced.ends.size(), seeds.size());
    const double bound = integrator == Integrator::RungeKutta2 ? 2e-3 : 1e-6;
    for (const Seed& seed : seeds) {
      const double radius = std::hypot(seed.x[0], seed.x[1]);
      const double phase = std::atan2(seed.x[1], seed.x[0]) - angleAt(seed.time);
      std::vector<std::vector<double>> expected(4);
      const auto wanted = [&](double angle) {
        return timeOf([&](double time) { return phase + angleAt(time); }, angle, times.front(),
                      times.back());
      };
      const double from = phase + angleAt(seed.time), to = phase + angleAt(times.back());
      for (double turn = -2 * Pi; turn < to; turn += 2 * Pi) {
        if (turn + Pi > from && turn + Pi < to) expected[0].push_back(wanted(turn + Pi));
        if (turn > from && turn < to) expected[1].push_back(wanted(turn));
      }
      expected[2].push_back(seed.time + 1.25);
      if (radius * (to - from) > 1) expected[3].push_back(wanted(from + 1 / radius));
      std::vector<std::vector<double>> found(4);
      for (const CrossingPoint& crossing : traced.crossings.at(2 * seed.id)) {
        const double time = crossing.point.time;
        found[std::size_t(crossing.event)].push_back(time);
        const double at = phase + angleAt(time);
        EXPECT_NEAR(crossing.point.x[0], radius * std::cos(at), bound);
        EXPECT_NEAR(crossing.point.x[1], radius * std::sin(at), bound);
        // Chords are shorter than arcs, by a share of the square of the angle of a step.
        EXPECT_NEAR(crossing.length, radius * (at - from), 0.05 * radius * (at - from));
      }
      for (std::size_t event = 0; event < 4; ++event) {
        ASSERT_EQ(found[event].size(), expected[event].size())
            << "event " << event << " of particle " << seed.id;
        const double near = event == 3 ? 0.05 : event == 2 ? 1e-14 : bound;
        for (std::size_t i = 0; i < found[event].size(); ++i)
          EXPECT_NEAR(found[event][i], expected[event][i], near)
              << "event " << event << " of particle " << seed.id;
      }
    }
    // The third crossing ends the path, in a later interval.
    options.rules.events.event[0].endsLine = 3;
    const Traced ended = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    for (const auto& [line, crossings] : traced.crossings) {
      const auto third = std::find_if(crossings.begin(), crossings.end(),
                                      [](const auto& c) { return c.event == 0 && c.number == 3; });
      EXPECT_EQ(ended.lines.at(line).reason == Reason::Event, third != crossings.end());
      if (third == crossings.end()) continue;
      EXPECT_EQ(ended.ends.at(line).second, 0);
      EXPECT_EQ(ended.crossings.at(line).size(), std::size_t(third->point.index) + 1);
      EXPECT_EQ(ended.lines.at(line).points.back()[3], third->point.time);
      EXPECT_GT(third->point.time, times[1]);
    }
  }
}

TEST(PathEvents, OfASaddleThatMovesAreWhereTheFormulaHasThem) {
  const double speed = 0.3;
  const auto saddleAt = [&](double time) -> Flow {
    return [=](const Vector& x) -> Vector { return {x[0] - speed * time, -x[1], 0}; };
  };
  const std::vector<double> times{0, 0.5, 1, 2};
  std::vector<Flow> flows;
  for (const double time : times) flows.push_back(saddleAt(time));
  const GridField field(world(), times, flows);
  std::vector<Seed> seeds;
  for (int i = 0; i < 10; ++i)
    seeds.push_back({{0.3 + 0.012 * i, 0.9 - 0.02 * i, 0.05 * i - 0.3}, i, 0});
  for (const Integrator integrator : {Integrator::RungeKutta4, Integrator::RungeKutta45}) {
    TraceOptions options = optionsOf(integrator);
    add(options.rules, plane({0.35, 0, 0}, {1, 0, 0}));
    add(options.rules, plane({0, 0.4, 0}, {0, -2, 0}), 0, EventDirection::Positive);
    const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    for (const Seed& seed : seeds) {
      const double a = seed.x[0] - speed;  // x = a exp(t) + speed (t + 1)
      const auto placeAt = [&](double time) { return a * std::exp(time) + speed * (time + 1); };
      std::vector<std::pair<double, int>> expected, found;
      if (seed.x[0] < 0.35 && placeAt(2) > 0.35)
        expected.emplace_back(timeOf(placeAt, 0.35, 0, 2), 0);
      expected.emplace_back(std::log(seed.x[1] / 0.4), 1);
      std::sort(expected.begin(), expected.end());
      for (const CrossingPoint& crossing : traced.crossings.at(2 * seed.id))
        if (crossing.number == 1) found.emplace_back(crossing.point.time, crossing.event);
      // One that has left the domain before does not get there.
      while (!expected.empty() &&
             expected.back().first > traced.lines.at(2 * seed.id).points.back()[3])
        expected.pop_back();
      ASSERT_EQ(found.size(), expected.size()) << "particle " << seed.id;
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].second, expected[i].second);
        EXPECT_NEAR(found[i].first, expected[i].first, 1e-6);
      }
    }
  }
}

TEST(PathEvents, AtAStoredTimeAreCountedOnce) {
  const Flow uniform = constantFlow({1, 0, 0});
  const GridField field(world(), {1, 1.5, 2, 2.25}, {uniform, uniform, uniform, uniform});
  TraceOptions options = optionsOf(Integrator::RungeKutta4);
  options.rules.initialStep = 0.125;
  add(options.rules, plane({0, 0, 0}, {1, 0, 0}));
  add(options.rules, plane({0, 0, 0}, {-1, 0, 0}));
  add(options.rules, timeEvent(0.5));
  add(options.rules, lengthEvent(0.5));
  // Particle 0 is at the planes at the first stored time, 1 begins there, and 2 does so at the end
  // of the first interval; 3 is within a rounding error; 4 crosses them at the last time.
  const std::vector<Seed> seeds{{{-0.5, 0.1, 0.1}, 0, 1},
                                {{0, 0.1, 0.1}, 1, 1},
                                {{0, 0.1, 0.1}, 2, 1.5},
                                {{-1e-20, 0.1, 0.1}, 3, 1.5},
                                {{-0.75, 0.2, 0.1}, 4, 1.5}};
  const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
  using List = std::vector<std::pair<std::int32_t, double>>;
  const auto eventsOf = [&](std::int64_t line) {
    List events;
    if (traced.crossings.count(line))
      for (const CrossingPoint& crossing : traced.crossings.at(line))
        events.emplace_back(crossing.event, crossing.point.time);
    std::sort(events.begin(), events.end());
    return events;
  };
  EXPECT_EQ(eventsOf(0), (List{{0, 1.5}, {1, 1.5}, {2, 1.5}, {3, 1.5}}));
  EXPECT_EQ(eventsOf(2), (List{{2, 1.5}, {3, 1.5}}));
  EXPECT_EQ(eventsOf(4), (List{{2, 2}, {3, 2}}));
  EXPECT_EQ(eventsOf(6), (List{{2, 2}, {3, 2}}));
  // Zero is positive, so the second plane is crossed when the particle goes on.
  EXPECT_EQ(eventsOf(8), (List{{0, 2.25}, {2, 2}, {3, 2}}));
}

TEST(PathEvents, OfUniformAccelerationAreExact) {
  // Along a straight line, chords are the length.
  const Vector a{0.125, 0, 0}, b{0.375, 0, 0};
  const GridField field(world(), {0, 2}, {constantFlow(a), constantFlow(b)});
  for (const Integrator integrator : Integrators) {
    TraceOptions options = optionsOf(integrator);
    options.rules.initialStep = 0.1;
    add(options.rules, plane({0.1, 0, 0}, {2, 0, 0}));
    add(options.rules, lengthEvent(0.25));
    const Traced traced =
        traceAllPaths(world(), field,
                      shareOf(world(), {{{-0.1, 0, 0}, 0, 0}, {{-0.2, 0.3, 0}, 1, 0.5}}), options);
    for (const int particle : {0, 1}) {
      const double from = particle == 0 ? -0.1 : -0.2, begin = particle == 0 ? 0 : 0.5;
      const auto placeAt = [&](double time) { return 0.125 * time + 0.0625 * time * time; };
      const auto& found = traced.crossings.at(2 * particle);
      ASSERT_EQ(found.size(), 2u);
      for (const CrossingPoint& crossing : found) {
        const double way = crossing.event == 0 ? 0.1 - from : 0.25;
        EXPECT_NEAR(crossing.point.time, timeOf(placeAt, placeAt(begin) + way, 0, 2), 1e-14);
        EXPECT_NEAR(crossing.length, way, 1e-15);
      }
    }
  }
}

/// Fields that are functions of the position and the time.
class TimedFields : public EventFields {
 public:
  using Function = std::function<double(const Vector&, double)>;
  explicit TimedFields(std::vector<Function> functions) : functions_(std::move(functions)) {}

  void evaluate(const FieldBlock&, const TrajectoryPoint& point, double* values) const override {
    for (std::size_t f = 0; f < functions_.size(); ++f)
      values[f] = functions_[f]({point.x[0], point.x[1], point.x[2]}, point.time);
  }

 private:
  std::vector<Function> functions_;
};

/// The times at which a function that jumps has another value than before.
std::vector<double> jumpsOf(const std::function<double(double)>& value, double begin, double end) {
  constexpr int Samples = 20000;
  std::vector<double> jumps;
  double before = begin;
  for (int n = 1; n <= Samples; ++n) {
    const double now = begin + (end - begin) * n / Samples;
    double low = before, high = now;
    before = now;
    if (value(low) == value(high)) continue;
    for (int i = 0; i < 80; ++i) {
      const double middle = (low + high) / 2;
      (value(middle) == value(low) ? low : high) = middle;
    }
    jumps.push_back(high);
  }
  return jumps;
}

/// The distance from the first time on, with speeds at the times that are linear between them.
double distanceUntil(double time, const std::vector<double>& times,
                     const std::vector<double>& speeds) {
  double distance = 0;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double since = std::min(time, times[i + 1]) - times[i];
    if (since > 0)
      distance += speeds[i] * since +
                  (speeds[i + 1] - speeds[i]) * since * since / (2 * (times[i + 1] - times[i]));
  }
  return distance;
}

// Along a straight line, whose speed is linear in time in each interval.
TEST(PathEvents, OfFieldsThatChangeInTimeAreWhereTheFormulaHasThem) {
  const std::vector<double> times{0, 1, 2.5}, speeds{0.2, 0.4, 0.3};
  std::vector<Flow> flows;
  for (const double speed : speeds) flows.push_back(constantFlow({speed, 0, 0}));
  const GridField field(world(), times, flows);
  const auto wayUntil = [&](double time) { return distanceUntil(time, times, speeds); };
  const std::vector<TimedFields::Function> functions{
      [](const Vector& x, double t) { return x[0] + 0.25 * t; },
      [](const Vector& x, double t) { return x[0] * x[0] - 0.2 * t * x[1]; },
      [](const Vector& x, double t) { return std::floor(4 * x[0] + t); },
      [](const Vector&, double t) { return t < 1 ? 5.0 : 6.0; }};  // at a stored time
  const TimedFields fields(functions);
  struct Case {
    Event event;
    std::function<double(double)> sideOf;  ///< Of a value of the field.
  };
  const std::vector<Case> cases{
      {isovalueEvent(0, 0.3), [](double value) { return value >= 0.3; }},
      {isovalueEvent(1, 0.05), [](double value) { return value >= 0.05; }},
      {labelEvent(2), [](double value) { return value; }},
      {labelEvent(2, 1), [](double value) { return value == 1; }},
      {labelEvent(3, 6), [](double value) { return value == 6; }}};
  std::vector<Seed> seeds;
  for (int i = 0; i < 9; ++i)
    seeds.push_back({{0.09 * i - 0.77, 0.2 * i - 0.75, 0.1}, i, i % 3 == 0 ? 0 : 0.07 * i});
  for (const Integrator integrator : Integrators) {
    TraceOptions options = optionsOf(integrator);
    options.rules.maximumStep = options.rules.initialStep = 0.01;
    options.rules.fields = &fields;
    for (const Case& one : cases) add(options.rules, one.event);
    const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    std::size_t all = 0;
    for (const Seed& seed : seeds)
      for (std::size_t e = 0; e < cases.size(); ++e) {
        const auto sideAt = [&](double time) {
          const Vector x{seed.x[0] + wayUntil(time) - wayUntil(seed.time), seed.x[1], seed.x[2]};
          return cases[e].sideOf(functions[std::size_t(cases[e].event.field)](x, time));
        };
        const std::vector<double> expected = jumpsOf(sideAt, seed.time, times.back());
        std::vector<double> found;
        if (traced.crossings.count(2 * seed.id))
          for (const CrossingPoint& crossing : traced.crossings.at(2 * seed.id))
            if (crossing.event == int(e)) found.push_back(crossing.point.time);
        ASSERT_EQ(found.size(), expected.size()) << "event " << e << ", particle " << seed.id;
        for (std::size_t i = 0; i < found.size(); ++i)
          EXPECT_NEAR(found[i], expected[i], 1e-11) << "event " << e << ", particle " << seed.id;
        all += found.size();
      }
    EXPECT_GT(all, 50u);
  }
}

// What changes is the field alone.
TEST(PathEvents, OfFieldsAreCrossedAtRest) {
  const Flow rest = constantFlow({0, 0, 0});
  const GridField field(world(), {0, 1, 3}, {rest, rest, rest});
  const TimedFields fields({[](const Vector&, double t) { return t - 0.25; },
                            [](const Vector&, double t) { return t <= 1 ? t - 1 : 1 - t; },
                            [](const Vector& x, double t) { return std::floor(x[0]) + (t >= 1); }});
  const std::vector<Seed> seeds{{{0.1, 0.1, 0.1}, 0, 0}, {{0.1, 0.2, 0.1}, 1, 0.25}};
  for (const Integrator integrator : Integrators) {
    TraceOptions options = optionsOf(integrator);
    options.rules.fields = &fields;
    add(options.rules, isovalueEvent(0, 0));
    add(options.rules, isovalueEvent(1, 0));
    add(options.rules, labelEvent(2), 1);
    const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    for (const int particle : {0, 1}) {
      std::vector<std::pair<int, double>> found;
      for (const CrossingPoint& crossing : traced.crossings.at(2 * particle))
        found.emplace_back(crossing.event, crossing.point.time);
      // One begins at the isovalue. Zero is positive, so the second field crosses it at the stored
      // time; there the label ends the path.
      std::vector<std::pair<int, double>> expected{{1, 1}, {2, 1}};
      if (particle == 0) expected.insert(expected.begin(), {0, 0.25});
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].first, expected[i].first);
        EXPECT_NEAR(found[i].second, expected[i].second, 1e-14);
      }
      EXPECT_EQ(traced.ends.at(2 * particle).second, 2);
    }
    // Without an end, the second field goes down again behind the stored time.
    options.rules.events.event[2].endsLine = 0;
    const Traced further = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    EXPECT_EQ(further.crossings.at(2).size(), 3u);
    EXPECT_EQ(further.crossings.at(2).back().event, 1);
    EXPECT_NEAR(further.crossings.at(2).back().point.time, 1, 1e-14);
  }
}

TEST(PathEvents, AtSurfacesInUniformAccelerationAreThoseOfEachTriangle) {
  const Vector along{1, -0.5, 0.25};
  const std::vector<double> times{0, 2, 3, 5}, speeds{0.1, 0.3, 0.2, 0.4};
  std::vector<Flow> flows;
  for (const double speed : speeds)
    flows.push_back(constantFlow({speed * along[0], speed * along[1], speed * along[2]}));
  const GridField field(world(), times, flows);
  const auto wayUntil = [&](double time) { return distanceUntil(time, times, speeds); };
  const std::vector<SurfaceTriangle> triangles = sphereMesh({0.05, -0.1, 0}, 0.4, 4);
  const EventSurface surface(triangles);
  std::vector<Seed> seeds;
  for (int i = 0; i < 24; ++i)
    seeds.push_back({{-0.55 + 0.02 * i, 0.3 - 0.03 * (i % 7), 0.04 * (i % 11) - 0.35},
                     i,
                     i % 3 == 0 ? 0 : 0.08 * i});
  for (const Integrator integrator : Integrators) {
    TraceOptions options = optionsOf(integrator);
    options.rules.initialStep = 0.07;
    add(options.rules, surfaceEvent(surface));
    const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    options.rules.events.event[0].endsLine = 1;
    options.rules.events.event[0].direction = EventDirection::Positive;
    const Traced ending = traceAllPaths(world(), field, shareOf(world(), seeds), options);
    std::size_t all = 0;
    for (const Seed& seed : seeds) {
      struct Hit {
        double way;
        std::int64_t label;
        bool isOut;
      };
      const double begun = wayUntil(seed.time), most = wayUntil(times.back()) - begun;
      std::vector<Hit> expected;
      for (const SurfaceTriangle& t : triangles) {
        const std::optional<double> way = crossingOf(t, {seed.x[0], seed.x[1], seed.x[2]}, along);
        if (!way || *way <= 0 || *way > most) continue;
        const Vector normal = normalOf(t);
        expected.push_back(
            {*way, t.label,
             normal[0] * along[0] + normal[1] * along[1] + normal[2] * along[2] > 0});
      }
      std::sort(expected.begin(), expected.end(),
                [](const Hit& a, const Hit& b) { return a.way < b.way; });
      std::vector<CrossingPoint> found;
      if (traced.crossings.count(2 * seed.id)) found = traced.crossings.at(2 * seed.id);
      ASSERT_EQ(found.size(), expected.size()) << "particle " << seed.id;
      for (std::size_t i = 0; i < found.size(); ++i) {
        const double time = timeOf(wayUntil, begun + expected[i].way, seed.time, times.back());
        EXPECT_NEAR(found[i].point.time, time, 1e-11) << "particle " << seed.id;
        EXPECT_EQ(found[i].target, expected[i].label) << "particle " << seed.id;
      }
      all += found.size();
      const bool ends = !expected.empty() && expected.back().isOut;
      EXPECT_EQ(traced.ends.at(2 * seed.id).second, -1) << "particle " << seed.id;
      EXPECT_EQ(ending.ends.at(2 * seed.id).second, ends ? 0 : -1) << "particle " << seed.id;
      EXPECT_EQ(ending.targets.at(2 * seed.id), ends ? expected.back().label : -1);
    }
    EXPECT_GT(all, 25u);
  }
}

TEST(PathEvents, AtASurfaceAtAStoredTimeAreCountedOnce) {
  const Flow uniform = constantFlow({0.25, 0, 0});
  const GridField field(world(), {0, 1, 2, 3}, {uniform, uniform, uniform, uniform});
  // Two triangles side by side in the plane x = 0. Particle 0 is at their edge at a stored time, 1
  // in the middle of one of them, and 2 begins there.
  const EventSurface surface({triangle({0, -0.5, -0.5}, {0, 0.5, -0.5}, {0, 0.5, 0.5}, 7),
                              triangle({0, -0.5, -0.5}, {0, 0.5, 0.5}, {0, -0.5, 0.5}, 8)});
  const std::vector<Seed> seeds{
      {{-0.25, 0.125, 0.125}, 0, 0}, {{-0.5, 0.25, -0.125}, 1, 0}, {{0, 0.25, -0.125}, 2, 1}};
  TraceOptions options = optionsOf(Integrator::RungeKutta4);
  options.rules.initialStep = 0.0625;
  add(options.rules, surfaceEvent(surface));
  const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
  for (const int particle : {0, 1}) {
    ASSERT_EQ(traced.crossings.at(2 * particle).size(), 1u) << "particle " << particle;
    EXPECT_NEAR(traced.crossings.at(2 * particle)[0].point.time, 1 + particle, 1e-14);
  }
  EXPECT_EQ(traced.crossings.count(4), 0u);
}

TEST(PathEvents, InASteadyFieldAreThoseOfStreamlines) {
  const GridField field(world(), {0, 0.7, 2}, {abc, abc, abc});
  const GridField sameMesh(world(), {0, 1}, {abc, nullptr});
  const std::vector<Seed> seeds = particlesOf({0, 2, 2}, 150, world().rank(), world().size(),
                                              [](double random) { return 1.6 * random - 0.8; });
  std::vector<Seed> starts = seeds;
  for (Seed& seed : starts) seed.time = 0;
  TraceOptions options = optionsOf(Integrator::RungeKutta45);
  add(options.rules, plane({0, 0.1, 0.1}, {1, 1, 0.3}));
  add(options.rules, sphereEvent(Vector{0.1, 0, 0}.data(), 0.5), 3);
  const Traced paths = traceAllPaths(world(), field, starts, options);
  TraceOptions steady = options;
  steady.rules.interval.reset();
  const Traced lines = traceAll(world(), *sameMesh.domains[0], starts, steady);
  EXPECT_GT(paths.count(), 100u);
  for (const auto& [line, crossings] : paths.crossings)
    for (std::size_t i = 0; i < crossings.size(); ++i) {
      const CrossingPoint &one = crossings[i], &other = lines.crossings.at(line).at(i);
      EXPECT_EQ(one.event, other.event);
      for (int a = 0; a < 3; ++a) EXPECT_NEAR(one.point.x[a], other.point.x[a], 1e-5);
    }
}

TEST(PathEvents, InAPeriodicDomainAreCountedOnceATurn) {
  const std::vector<double> times{0, 2.7, 5, 9};  // the first particle is at the side at 2.7
  const double speed[3] = {1, 0.5, -0.25}, place[3] = {-1, 1, 0.95};
  const Flow uniform = constantFlow({speed[0], speed[1], speed[2]});
  const GridField field(world(), times, {uniform, uniform, uniform, uniform});
  TraceOptions options = optionsOf(Integrator::RungeKutta4);
  options.rules.initialStep = 0.11;
  for (int a = 0; a < 3; ++a) {
    options.rules.period[a] = 2;
    options.rules.periodicOrigin[a] = -1;
  }
  add(options.rules, plane({place[0], 0, 0}, {1, 0, 0}));  // a side of the box
  add(options.rules, plane({0, place[1], 0}, {0, 1, 0}));  // another one
  add(options.rules, plane({0, 0, place[2]}, {0, 0, 1}));
  const std::vector<Seed> seeds{{{0.3, -0.2, 0.1}, 0, 0}, {{-0.99, 0.99, -0.6}, 1, 0.5}};
  const Traced traced = traceAllPaths(world(), field, shareOf(world(), seeds), options);
  for (const Seed& seed : seeds) {
    std::vector<std::pair<double, int>> expected, found;
    for (int a = 0; a < 3; ++a)
      for (int turn = -20; turn < 20; ++turn) {
        const double time = seed.time + (place[a] + 2 * turn - seed.x[a]) / speed[a];
        if (time > seed.time && time < times.back()) expected.emplace_back(time, a);
      }
    std::sort(expected.begin(), expected.end());
    for (const CrossingPoint& crossing : traced.crossings.at(2 * seed.id)) {
      found.emplace_back(crossing.point.time, crossing.event);
      EXPECT_NEAR(crossing.image[crossing.event], place[crossing.event], 1e-12);
    }
    ASSERT_EQ(found.size(), expected.size()) << "particle " << seed.id;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].second, expected[i].second);
      EXPECT_NEAR(found[i].first, expected[i].first, 1e-12);
    }
  }
}

TEST(PathEvents, ChangeNoPath) {
  const GridField field(world(), {0, 0.7, 2}, {abc, otherAbc, abc});
  const std::vector<Seed> seeds = particlesOf({0, 0.7, 0.7}, 60, world().rank(), world().size(),
                                              [](double random) { return 1.8 * random - 0.9; });
  const EventSurface surface(sphereMesh({0.1, 0, -0.1}, 0.5, 5));
  const TimedFields fields({[](const Vector& x, double t) { return x[0] + t * x[1]; }});
  for (const Integrator integrator : Integrators) {
    TraceOptions options = optionsOf(integrator);
    std::vector<Seed> first;
    for (const Seed& seed : seeds)
      if (seed.time <= 0.7) first.push_back(seed);
    const Traced without = tracePaths(world(), field, first, options);
    add(options.rules, plane({0, 0.1, 0.1}, {1, 1, 0.3}));
    add(options.rules, timeEvent(0.4));
    add(options.rules, surfaceEvent(surface));
    add(options.rules, isovalueEvent(0, 0.25));
    options.rules.fields = &fields;
    const Traced with = tracePaths(world(), field, first, options);
    EXPECT_TRUE(with.lines == without.lines);
    EXPECT_GT(with.count(), 20u);
  }
}

/// Events of all kinds, some of which end paths.
void addMany(StepRules& rules) {
  const Vector zero{0, 0, 0}, axis{0.2, 0, 1}, side{1, 0.5, 0}, center{0.1, 0, -0.2};
  const Vector lower{-0.4, -0.5, -0.6}, upper{0.5, 0.4, 0.7};
  add(rules, plane({0.05, 0, 0}, {1, 0.7, 0.1}));
  add(rules, sphereEvent(center.data(), 0.6), 3);
  add(rules, boxEvent(lower.data(), upper.data()), 0, EventDirection::Negative);
  add(rules, halfPlaneEvent(zero.data(), axis.data(), side.data()));
  add(rules, lengthEvent(0.9));
  add(rules, timeEvent(0.8));
}

/// Surfaces and fields that change in time, which some paths end at.
struct Targets {
  EventSurface surface{sphereMesh({0.1, 0, -0.1}, 0.5, 5)};
  TimedFields fields{{[](const Vector& x, double t) { return std::sin(2 * x[0] + t) + x[1]; },
                      [](const Vector& x, double t) {
                        return std::floor(3 * x[0]) + 10 * std::floor(2 * x[2] + t / 2);
                      }}};

  void addTo(StepRules& rules) const {
    rules.fields = &fields;
    add(rules, surfaceEvent(surface), 4);
    add(rules, isovalueEvent(0, 0.25));
    add(rules, labelEvent(1));
    add(rules, labelEvent(1, 10), 2, EventDirection::Positive);
    add(rules, surfaceEvent(surface), 0, EventDirection::Negative);
    add(rules, plane({0.05, 0, 0}, {1, 0.7, 0.1}));
  }
};

TEST(PathEventPromise, HoldsForAnyCutOfGrids) {
  const std::vector<double> times{0, 0.6, 1.5};
  const std::vector<Flow> flows{abc, otherAbc, abc};
  const auto alone = makeLoopbackTransport();
  const auto seedsOf = [](const Transport& transport) {
    return particlesOf({0, 0.6, 0.6}, 160, transport.rank(), transport.size(),
                       [](double random) { return 2 * random - 1; });
  };
  const auto inside = [](std::vector<Seed> seeds) {
    for (Seed& seed : seeds) seed.time = std::min(seed.time, 0.6);
    return seeds;
  };
  const Targets targets;
  for (const auto& [integrator, hasTargets] : {std::make_pair(Integrator::RungeKutta2, false),
                                               {Integrator::RungeKutta4, false},
                                               {Integrator::RungeKutta45, false},
                                               {Integrator::RungeKutta4, true},
                                               {Integrator::RungeKutta45, true}}) {
    TraceOptions options = optionsOf(integrator);
    if (hasTargets)
      targets.addTo(options.rules);
    else
      addMany(options.rules);
    const GridField whole(*alone, times, flows);
    const Traced expected = tracePaths(*alone, whole, inside(seedsOf(*alone)), options);
    EXPECT_GT(expected.count(), 150u);
    for (const int variant : {0, 1, 2}) {
      GridSetup setup;
      setup.pieces = world().size() * (variant + 1) - (variant == 1);
      setup.blocksPerPiece = variant == 2 ? 5 : 1;
      setup.ghostLayers = variant == 1 ? 1 : 0;
      options.exchange.schedule = variant == 1 ? Schedule::Synchronous : Schedule::Asynchronous;
      const GridField cut(world(), times, flows, setup);
      const Traced traced = traceAllPaths(world(), cut, inside(seedsOf(world())), options);
      EXPECT_EQ(differences(expected, traced), 0u)
          << "variant " << variant << (hasTargets ? ", targets" : "");
    }
  }
}

/// A mesh of two intervals, whose points move if `place` is given.
struct MeshField : Intervals {
  std::vector<std::unique_ptr<MeshDomain>> meshes;

  MeshField(Transport& transport, MeshKind kind, const Flow& place, int pieces) {
    times = {0, 0.6, 1.5};
    WholeMesh mesh = makeMesh(kind, 6, kind == MeshKind::Tetrahedra ? 0.25 : 0);
    for (int i = 0; i < 2; ++i) {
      MeshSetup setup;
      setup.mesh = mesh;
      setup.flow = i == 0 ? Flow(abc) : Flow(otherAbc);
      setup.laterFlow = i == 0 ? Flow(otherAbc) : Flow(abc);
      setup.laterPlace = place;
      setup.pieces = pieces;
      setup.blocksPerPiece = pieces > 1 ? 2 : 1;
      meshes.push_back(makeMeshDomain(transport, setup));
      domains.push_back(&meshes.back()->domain);
      if (place)
        for (Vector& point : mesh.points) point = place(point);
    }
  }
};

TEST(PathEventPromise, HoldsForAnyCutOfMeshes) {
  const Targets targets;
  const Flow waves = [](const Vector& x) -> Vector {
    return {x[0] + 0.04 * std::sin(2 * x[1]), x[1] + 0.03 * std::sin(3 * x[2]), x[2]};
  };
  const auto alone = makeLoopbackTransport();
  const auto seedsOf = [](const Transport& transport) {
    std::vector<Seed> seeds = particlesOf({0, 0.6, 0.6}, 120, transport.rank(), transport.size(),
                                          [](double random) { return 1.9 * random - 0.95; });
    for (Seed& seed : seeds) seed.time = std::min(seed.time, 0.6);
    return seeds;
  };
  for (const auto& [kind, place] : {std::make_pair(MeshKind::Tetrahedra, Flow()),
                                    {MeshKind::Mixed, Flow()},
                                    {MeshKind::Tetrahedra, waves},
                                    {MeshKind::Hexahedra, waves}}) {
    const MeshField whole(*alone, kind, place, 1);
    for (const bool hasTargets : {false, true}) {
      TraceOptions options = optionsOf(Integrator::RungeKutta4);
      options.rules.initialStep = 0.08;
      if (hasTargets)
        targets.addTo(options.rules);
      else
        addMany(options.rules);
      const Traced expected = tracePaths(*alone, whole, seedsOf(*alone), options);
      EXPECT_GT(expected.count(), 100u);
      for (const int pieces : {world().size(), 2 * world().size() + 1}) {
        const MeshField cut(world(), kind, place, pieces);
        EXPECT_EQ(differences(expected, traceAllPaths(world(), cut, seedsOf(world()), options)), 0u)
            << "kind " << int(kind) << (place ? ", moving, " : ", ") << pieces << " pieces"
            << (hasTargets ? ", targets" : "");
      }
    }
  }
}

TEST(BadPathEvents, AreRefused) {
  const GridField field(world(), {0, 1}, {abc, otherAbc});
  const GridField steady(world(), {0, 1}, {abc, nullptr});
  TraceOptions options = optionsOf(Integrator::RungeKutta4);
  options.rules.interval = TimeInterval{0, 1, 1};
  add(options.rules, timeEvent(0.4));
  const std::vector<Seed> seeds = shareOf(world(), {{{0, 0, 0}, 0, 0}});
  const auto error = [&](const Domain& domain, const LineProgress& progress) {
    options.progressOf = [&](const Seed&) { return progress; };
    return errorOf([&] { (void)trace(world(), domain, seeds, options); });
  };
  LineProgress progress;
  EXPECT_EQ(error(*field.domains[0], progress), "");
  progress.count[0] = -1;
  EXPECT_NE(error(*field.domains[0], progress).find("TraceOptions::progressOf"), std::string::npos);
  progress.count[0] = 0;
  progress.count[1] = 1;
  EXPECT_NE(error(*field.domains[0], progress).find("TraceOptions::progressOf"), std::string::npos);
  progress.count[1] = 0;
  progress.length = std::nan("");
  EXPECT_NE(error(*field.domains[0], progress).find("TraceOptions::progressOf"), std::string::npos);
  options.rules.interval.reset();
  EXPECT_NE(error(*steady.domains[0], {}).find("progressOf empty"), std::string::npos);
  options.progressOf = nullptr;
  options.rules.interval = TimeInterval{0, 1, 1};
  const auto change = [&] {
    (void)traceThroughChange(world(), *field.domains[0], *field.domains[0], seeds, options);
  };
  EXPECT_NE(errorOf(change).find("the mesh changes"), std::string::npos);
}

}  // namespace
}  // namespace tributary::testing
