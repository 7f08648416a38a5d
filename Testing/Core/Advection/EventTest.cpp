// SPDX-License-Identifier: BSD-3-Clause
// Crossings of events: where formulas have them, each once, and with the same bits on any number of
// ranks, pieces and blocks, with any schedule and with loans.

#include "Tributary/Advection/Events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Advection/Surfaces.h"
#include "Advection/TracedCrossings.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::testing {
namespace {

constexpr double Pi = 3.14159265358979323846;

/// Whether a crossing is what is kept of another one.
bool isKept(CrossingContent content, bool isPeriodic, const CrossingPoint& all,
            const CrossingPoint& kept) {
  const bool isPosition = content == CrossingContent::Positions;
  for (int a = 0; a < 3; ++a) {
    const double image = isPosition ? double(static_cast<float>(all.image[a])) : all.image[a];
    const double x = content == CrossingContent::All && isPeriodic ? all.point.x[a] : image;
    if (kept.image[a] != image || kept.point.x[a] != x) return false;
  }
  if (kept.point.line != all.point.line || kept.point.index != all.point.index) return false;
  if (content != CrossingContent::All && kept.point.cell != -1) return false;
  if (isPosition)
    return kept.point.time == 0 && kept.length == 0 && kept.event == 0 && kept.number == 0;
  return kept.point.time == all.point.time && kept.length == all.length &&
         kept.event == all.event && kept.number == all.number && kept.target == all.target;
}

GridSetup gridOf(const Flow& flow, double half = 1) {
  GridSetup setup;
  setup.flow = flow;
  setup.lo = {-half, -half, -half};
  setup.hi = {half, half, half};
  setup.isDouble = true;
  return setup;
}

Traced traceGrid(Transport& transport, GridSetup setup, const std::vector<Vector>& starts,
                 const TraceOptions& options) {
  setup.pieces = std::max(setup.pieces, transport.size());
  const auto grid = makeGridDomain(transport, setup);
  std::vector<Seed> seeds;
  for (std::size_t i = std::size_t(transport.rank()); i < starts.size();
       i += std::size_t(transport.size()))
    seeds.push_back({{starts[i][0], starts[i][1], starts[i][2]}, std::int64_t(i)});
  return traceAll(transport, grid->domain, seeds, options);
}

TraceOptions smallSteps(double step) {
  TraceOptions options;
  options.rules.integrator = Integrator::RungeKutta4;
  options.rules.unit = StepUnit::Length;
  options.rules.initialStep = step;
  options.rules.maximumSteps = 1 << 24;
  return options;
}

double along(double number, std::uint64_t index) {
  return number * (double(mix(index) >> 11) / double(1ull << 53));
}

/// Where a path crosses zeros of a function, by halving between dense samples: times.
std::vector<double> zerosOf(const std::function<double(double)>& value, double end,
                            EventDirection direction) {
  std::vector<double> zeros;
  constexpr int Samples = 5000;
  for (int i = 0; i < Samples; ++i) {
    double low = end * i / Samples, high = end * (i + 1) / Samples;
    const double before = value(low), after = value(high);
    if ((before >= 0) == (after >= 0)) continue;
    if (direction == EventDirection::Positive && before >= 0) continue;
    if (direction == EventDirection::Negative && before < 0) continue;
    for (int n = 0; n < 60; ++n) {
      const double middle = (low + high) / 2;
      ((value(middle) >= 0) == (before >= 0) ? low : high) = middle;
    }
    zeros.push_back(high);
  }
  return zeros;
}

TEST(Events, OnCirclesAreWhereFormulasHaveThem) {
  const Vector center{0.5, 0, 0.1}, lower{-0.3, -0.6, -0.5}, upper{0.6, 0.55, 0.5};
  const Vector tilted{1, 2, 0.5}, axis{0, 0, 2}, side{-1, 1, 0}, zero{0, 0, 0},
      offset{0.05, 0.1, 0};
  const double norm = std::sqrt(1 + 4 + 0.25);
  struct Case {
    Event event;
    std::function<double(const Vector&, double time, double radius)> value;
    bool half = false;
  };
  const std::vector<Case> cases{
      {plane(offset, tilted),
       [&](const Vector& x, double, double) {
         return ((x[0] - 0.05) + 2 * (x[1] - 0.1) + 0.5 * x[2]) / norm;
       }},
      {sphereEvent(center.data(), 0.3),
       [&](const Vector& x, double, double) {
         return std::hypot(x[0] - 0.5, x[1], x[2] - 0.1) - 0.3;
       }},
      {boxEvent(lower.data(), upper.data()),
       [&](const Vector& x, double, double) {
         double most = -1e9;
         for (std::size_t a = 0; a < 3; ++a)
           most = std::max({most, lower[a] - x[a], x[a] - upper[a]});
         return most;
       }},
      {halfPlaneEvent(zero.data(), axis.data(), side.data()),
       [](const Vector& x, double, double) { return -(x[0] + x[1]) / std::sqrt(2.0); }, true},
      {lengthEvent(1.5),
       [](const Vector&, double time, double radius) { return time * radius - 1.5; }},
      {timeEvent(2.25), [](const Vector&, double time, double) { return time - 2.25; }}};
  std::vector<Vector> starts;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const double radius = 0.2 + along(0.7, i), angle = along(2 * Pi, 100 + i);
    starts.push_back(
        {radius * std::cos(angle), radius * std::sin(angle), along(0.8, 200 + i) - 0.4});
  }
  for (const EventDirection direction :
       {EventDirection::Any, EventDirection::Positive, EventDirection::Negative}) {
    TraceOptions options = smallSteps(0.004);
    options.rules.maximumTime = 4 * Pi;
    options.rules.maximumLength = std::numeric_limits<double>::infinity();
    for (const Case& c : cases) add(options.rules, c.event, 0, direction);
    const Traced traced = traceGrid(world(), gridOf(rotation), starts, options);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double radius = std::hypot(starts[i][0], starts[i][1]);
      const double angle = std::atan2(starts[i][1], starts[i][0]);
      const auto at = [&](double time) {
        return Vector{radius * std::cos(angle + time), radius * std::sin(angle + time),
                      starts[i][2]};
      };
      for (std::size_t e = 0; e < cases.size(); ++e) {
        auto zeros = zerosOf([&](double t) { return cases[e].value(at(t), t, radius); },
                             options.rules.maximumTime, direction);
        if (cases[e].half)
          zeros.erase(std::remove_if(zeros.begin(), zeros.end(),
                                     [&](double t) { return at(t)[1] < at(t)[0]; }),
                      zeros.end());
        std::vector<CrossingPoint> found;
        if (traced.crossings.count(std::int64_t(2 * i)))
          for (const CrossingPoint& crossing : traced.crossings.at(std::int64_t(2 * i)))
            if (crossing.event == int(e)) found.push_back(crossing);
        ASSERT_EQ(found.size(), zeros.size()) << "event " << e << " on line " << i;
        expected += zeros.size();
        for (std::size_t n = 0; n < zeros.size(); ++n) {
          EXPECT_NEAR(found[n].point.time, zeros[n], 2e-8) << "event " << e;
          EXPECT_NEAR(found[n].length, zeros[n] * radius, 2e-8) << "event " << e;
          for (std::size_t a = 0; a < 3; ++a)
            EXPECT_NEAR(found[n].point.x[a], at(zeros[n])[a], 2e-8) << "event " << e;
        }
      }
    }
    EXPECT_EQ(traced.count(), expected);
    EXPECT_GT(expected, direction == EventDirection::Any ? 150u : 60u);
  }
}

// The planes cross lines whose points are known exactly: hyperbolas and parabolas.
TEST(Events, AreAsAccurateAsTheIntegrator) {
  const Flow parabolas = [](const Vector& x) { return Vector{1, 2 * x[0], 0}; };
  for (const Integrator integrator :
       {Integrator::RungeKutta2, Integrator::RungeKutta4, Integrator::RungeKutta45}) {
    const bool isLow = integrator == Integrator::RungeKutta2;
    TraceOptions options = smallSteps(isLow ? 0.0005 : 0.01);
    options.rules.integrator = integrator;
    options.rules.minimumStep = 1e-5;
    options.rules.maximumStep = 0.02;
    options.rules.maximumError = 1e-14;
    const double bound = isLow ? 2e-7 : 2e-10;  // of a domain of length 2
    std::vector<Vector> starts;
    for (std::uint64_t i = 0; i < 8; ++i)
      starts.push_back({0.1 + along(0.4, i), 0.3 + along(0.6, 10 + i), along(1, 20 + i) - 0.5});
    TraceOptions once = options;
    add(once.rules, plane({0.8, 0, 0}, {1, 0, 0}), 1);
    Traced traced = traceGrid(world(), gridOf(saddle), starts, once);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto& found = traced.crossings.at(std::int64_t(2 * i));
      ASSERT_EQ(found.size(), 1u);
      EXPECT_NEAR(found[0].point.x[0], 0.8, 1e-14);
      EXPECT_NEAR(found[0].point.x[1], starts[i][0] * starts[i][1] / 0.8, bound);
      const Line& line = traced.lines.at(std::int64_t(2 * i));
      EXPECT_EQ(line.reason, Reason::Event);
      EXPECT_EQ(std::memcmp(line.points.back().data(), found[0].point.x, 3 * sizeof(double)), 0);
      EXPECT_EQ(line.points.back()[3], found[0].point.time);
    }
    once.rules.events = {};
    add(once.rules, plane({0, 0.6, 0}, {0, 1, 0}), 1);
    for (Vector& start : starts) start[1] -= 0.9;
    traced = traceGrid(world(), gridOf(parabolas), starts, once);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double c = starts[i][1] - starts[i][0] * starts[i][0];
      if (c + 0.95 * 0.95 < 0.6) continue;  // it leaves the domain before
      const auto& found = traced.crossings.at(std::int64_t(2 * i));
      EXPECT_NEAR(found[0].point.x[0], std::sqrt(0.6 - c), bound);
    }
  }
}

TEST(Events, AtTheEndOfAStepAreCountedOnce) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0, 0}; };
  TraceOptions options = smallSteps(0.125);
  options.backward = true;
  add(options.rules, plane({0, 0, 0}, {1, 0, 0}));
  add(options.rules, plane({0, 0, 0}, {-1, 0, 0}));
  add(options.rules, plane({0.25, 0, 0}, {1, 0, 0}), 0, EventDirection::Positive);
  add(options.rules, plane({0.25, 0, 0}, {1, 0, 0}), 0, EventDirection::Negative);
  // The third seed begins on the first two planes, and the last one within a rounding error.
  const std::vector<Vector> starts{
      {-0.5, 0.1, 0.1}, {0.5, 0.1, 0.1}, {0, 0.1, 0.1}, {-0.5 + 1e-3, 0, 0}, {-1e-20, 0.1, 0.1}};
  const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
  const auto eventsOf = [&](std::int64_t line) {
    std::vector<std::pair<std::int32_t, double>> events;
    if (traced.crossings.count(line))
      for (const CrossingPoint& crossing : traced.crossings.at(line))
        events.emplace_back(crossing.event, crossing.point.x[0]);
    return events;
  };
  using List = std::vector<std::pair<std::int32_t, double>>;
  const List up{{0, 0}, {1, 0}, {2, 0.25}};
  EXPECT_EQ(eventsOf(0), up);
  EXPECT_EQ(eventsOf(1), List{});
  EXPECT_EQ(eventsOf(2), List{});
  EXPECT_EQ(eventsOf(3), (List{{3, 0.25}, {1, 0}, {0, 0}}));
  EXPECT_EQ(eventsOf(4), (List{{2, 0.25}}));
  EXPECT_EQ(eventsOf(5), List{});
  EXPECT_EQ(eventsOf(6).size(), 3u);
  EXPECT_EQ(eventsOf(8), (List{{2, 0.25}}));
  EXPECT_EQ(eventsOf(9), List{});
}

TEST(Events, InOneStepAreOrderedAndEndTheLine) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0, 0}; };
  TraceOptions options = smallSteps(0.4);
  add(options.rules, plane({0.3, 0, 0}, {1, 0, 0}));
  add(options.rules, plane({0.1, 0, 0}, {1, 0, 0}));
  add(options.rules, plane({0.2, 0, 0}, {1, 0, 0}));
  const std::vector<Vector> starts{{0.05, 0.1, 0.1}};
  const auto eventsOf = [&](const TraceOptions& with) {
    const Traced traced = traceGrid(world(), gridOf(uniform), starts, with);
    std::vector<int> events;
    for (const CrossingPoint& crossing : traced.crossings.at(0)) events.push_back(crossing.event);
    return std::make_pair(events, traced.lines.at(0).points.back()[0]);
  };
  EXPECT_EQ(eventsOf(options).first, (std::vector<int>{1, 2, 0}));
  options.rules.events.event[2].endsLine = 1;
  EXPECT_EQ(eventsOf(options).first, (std::vector<int>{1, 2}));
  EXPECT_NEAR(eventsOf(options).second, 0.2, 1e-15);
  // The same plane again: the first event is recorded before the second one ends the line.
  add(options.rules, plane({0.2, 0, 0}, {1, 0, 0}));
  std::swap(options.rules.events.event[2], options.rules.events.event[3]);
  EXPECT_EQ(eventsOf(options).first, (std::vector<int>{1, 2, 3}));
}

TEST(Events, EndALineAtTheCrossingGiven) {
  TraceOptions options = smallSteps(0.02);
  options.backward = true;
  const Vector zero{0, 0, 0}, axis{0, 0, 1}, side{-1, 0, 0};
  add(options.rules, halfPlaneEvent(zero.data(), axis.data(), side.data()), 3);
  add(options.rules, plane({0, 0, 0}, {0, 1, 0}), 0, EventDirection::Positive);
  const Traced traced = traceGrid(world(), gridOf(rotation), {{0.5, 0.1, 0}}, options);
  const double angle = std::atan2(0.1, 0.5);
  for (const int backward : {0, 1}) {
    const Line& line = traced.lines.at(backward);
    EXPECT_EQ(line.reason, Reason::Event);
    EXPECT_EQ(traced.ends.at(backward).second, 0);
    // The plane is crossed upward at the other side forward, and with the half plane backward: the
    // first event hides the last of these.
    EXPECT_EQ(traced.ends.at(backward).first, 5);
    const double time = backward ? -(5 * Pi + angle) : 5 * Pi - angle;
    EXPECT_NEAR(line.points.back()[3], time, 1e-6);
  }
}

// Angle per turn along the axis: a twisted flow in a periodic cylinder.
TEST(Events, GiveTheWindingNumberOfATorus) {
  const double length = 2, q = std::sqrt(2.0) * 1.5;  // turns along the axis per turn about it
  const Flow twisted = [&](const Vector& x) {
    const double w = 2 * Pi / (q * length);
    return Vector{-w * x[1], w * x[0], 1};
  };
  constexpr int Turns = 1000;
  TraceOptions options = smallSteps(0.04);
  options.rules.period[2] = length;
  options.rules.periodicOrigin[2] = -1;
  options.rules.record = false;
  add(options.rules, plane({0, 0, 0.3}, {0, 0, 1}), Turns + 1);
  const auto alone = makeLoopbackTransport();
  const Traced traced = traceGrid(*alone, gridOf(twisted),
                                  {{0.5, 0, 0}, {0.1, -0.7, 0.3}, {0.3, 0.3, -0.9}}, options);
  ASSERT_EQ(traced.crossings.size(), 3u);
  for (const auto& [line, punctures] : traced.crossings) {
    ASSERT_EQ(punctures.size(), std::size_t(Turns + 1)) << "line " << line;
    double angle = 0;
    for (std::size_t n = 1; n < punctures.size(); ++n) {
      const double* const a = punctures[n - 1].image;
      const double* const b = punctures[n].image;
      double turn = std::atan2(b[1], b[0]) - std::atan2(a[1], a[0]);
      if (turn < 0) turn += 2 * Pi;  // less than a turn each, as q > 1
      angle += turn;
    }
    EXPECT_NEAR(Turns * 2 * Pi / angle, q, 1e-6) << "line " << line;
  }
}

TEST(Events, InPeriodicDomainsAreThoseOfTheImages) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0.5, -0.25}; };
  TraceOptions options = smallSteps(0.11);
  options.backward = true;
  options.rules.maximumTime = 40;
  for (int a = 0; a < 3; ++a) {
    options.rules.period[a] = 2;
    options.rules.periodicOrigin[a] = -1;
  }
  add(options.rules, plane({-1, 0, 0}, {1, 0, 0}));  // the side of the box
  add(options.rules, plane({0, 1, 0}, {0, 1, 0}));   // another one
  add(options.rules, plane({0, 0, 0.95}, {0, 0, 1}));
  const std::vector<Vector> starts{{0.3, -0.2, 0.1}, {-0.99, 0.99, -0.6}};
  const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
  const double speed[3] = {1, 0.5, -0.25}, place[3] = {-1, 1, 0.95};
  for (std::int64_t line = 0; line < 4; ++line) {
    const Vector& start = starts[std::size_t(line / 2)];
    std::vector<std::pair<double, int>> expected, found;  // |time|, event
    for (int a = 0; a < 3; ++a)
      for (int n = -40; n <= 40; ++n) {
        const double time = (place[a] + 2 * n - start[std::size_t(a)]) / speed[a];
        if (line % 2 ? time < 0 && time > -40 : time > 0 && time < 40)
          expected.emplace_back(std::fabs(time), a);
      }
    std::sort(expected.begin(), expected.end());
    for (const CrossingPoint& crossing : traced.crossings.at(line))
      found.emplace_back(std::fabs(crossing.point.time), crossing.event);
    ASSERT_EQ(found.size(), expected.size()) << "line " << line;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].first, expected[i].first, 1e-10) << "line " << line;
      EXPECT_EQ(found[i].second, expected[i].second) << "line " << line;
      const CrossingPoint& crossing = traced.crossings.at(line)[i];
      for (int a = 0; a < 3; ++a) {
        const double x = start[std::size_t(a)] + speed[a] * crossing.point.time;
        EXPECT_NEAR(crossing.point.x[a], x, 1e-10) << "line " << line;
        EXPECT_NEAR(std::remainder(crossing.image[a] - x, 2), 0, 1e-10) << "line " << line;
        EXPECT_NEAR(crossing.image[a], a == crossing.event ? place[a] : 0,
                    a == crossing.event ? 1e-10 : 1.2)
            << "line " << line;
      }
    }
  }
}

/// How many positions that a grid's weights give for recorded points are not those of the points.
/// Points of other blocks have ids that a piece does not have, or weights outside of [0, 1].
std::size_t badWeights(const GridDomain& grid, const StepRules& rules, const TraceResult& traced) {
  std::size_t bad = 0;
  for (std::size_t b = 0; b < traced.logs.size(); ++b)
    for (const TrajectoryLog& log : traced.logs[b]) {
      std::vector<TrajectoryPoint> points;
      log.crossings().forEach(
          [&](const CrossingPoint& crossing) { points.push_back(crossing.point); });
      Weights weights;
      grid.domain.blocks[b]->weights(rules, points, weights);
      const StructuredPiece& piece = grid.pieces[b];
      std::int64_t size[3];
      for (std::size_t a = 0; a < 3; ++a)
        size[a] = piece.extent[2 * a + 1] - piece.extent[2 * a] + 1;
      for (std::size_t i = 0; i < points.size(); ++i) {
        double place[3] = {0, 0, 0};
        bool isGood = true;
        for (int c = 0; c < weights.count[i]; ++c) {
          const std::int64_t id = weights.id(i, c);
          const double weight = weights.weight(i, c);
          isGood = isGood && id >= 0 && id < size[0] * size[1] * size[2] && weight > -1e-12 &&
                   weight < 1 + 1e-12;
          const std::int64_t at[3] = {id % size[0], id / size[0] % size[1],
                                      id / (size[0] * size[1])};
          for (std::size_t a = 0; a < 3; ++a)
            place[a] +=
                weight * (piece.origin[a] + piece.spacing[a] * double(piece.extent[2 * a] + at[a]));
        }
        for (int a = 0; a < 3; ++a)
          isGood = isGood &&
                   std::fabs(std::remainder(place[a] - points[i].x[a], rules.period[a])) < 1e-12;
        bad += !isGood;
      }
    }
  return bad;
}

// Lines cross the sides many times, in part at the ends of steps. Rounding then decides which image
// a position is in.
TEST(Events, OnTheSidesOfAPeriodicBoxAreSeenOnce) {
  constexpr double speed[3] = {1, -0.5, 0.25};
  const double norm = std::sqrt(1 + 0.25 + 0.0625);
  GridSetup setup;  // the box [0, 2 pi]^3
  setup.flow = [&](const Vector&) { return Vector{speed[0], speed[1], speed[2]}; };
  setup.isDouble = true;
  setup.pieces = 2 * world().size() + 1;
  TraceOptions options = smallSteps(2 * Pi / 16 * norm);
  options.backward = true;
  options.rules.maximumTime = 2 * Pi * 30.01;
  for (std::size_t a = 0; a < 3; ++a) {
    options.rules.period[a] = setup.hi[a];
    Vector normal{0, 0, 0}, upper{0, 0, 0};
    normal[a] = 1;
    upper[a] = setup.hi[a];
    add(options.rules, plane({0, 0, 0}, normal));
    add(options.rules, plane(upper, normal));
  }
  std::vector<Vector> starts{{0.3, 0.2, 0.1}, {2 * Pi - 0.01, 0.01, 3}};
  for (std::uint64_t i = 0; i < 9; ++i) {
    Vector& start = starts.emplace_back();
    for (std::uint64_t a = 0; a < 3; ++a) start[a] = 2 * Pi / 64 * double(1 + mix(3 * i + a) % 63);
  }
  starts.push_back({Pi, Pi, Pi});
  const auto grid = makeGridDomain(world(), setup);
  std::vector<Seed> seeds;
  for (std::size_t i = std::size_t(world().rank()); i < starts.size();
       i += std::size_t(world().size()))
    seeds.push_back({{starts[i][0], starts[i][1], starts[i][2]}, std::int64_t(i)});
  EXPECT_EQ(badWeights(*grid, options.rules, trace(world(), grid->domain, seeds, options)), 0u);
  const EventList planes = options.rules.events;
  options.rules.events.count = 1;
  for (int e = 0; e < 6; ++e) {
    options.rules.events.event[0] = planes.event[e];
    const Traced traced = traceAll(world(), grid->domain, seeds, options);
    const int a = e / 2;
    for (std::size_t line = 0; line < 2 * starts.size(); ++line) {
      const double start = starts[line / 2][std::size_t(a)];
      std::vector<double> expected, found;
      for (int n = -60; n <= 60; ++n) {
        const double time = (2 * Pi * n - start) / speed[a] * (line % 2 ? -1 : 1);
        if (time > 0 && time < options.rules.maximumTime) expected.push_back(time);
      }
      std::sort(expected.begin(), expected.end());
      for (const CrossingPoint& crossing : traced.crossings.at(std::int64_t(line))) {
        found.push_back(std::fabs(crossing.point.time));
        EXPECT_NEAR(crossing.image[a], e % 2 ? 2 * Pi : 0, 1e-11);
      }
      ASSERT_EQ(found.size(), expected.size()) << "event " << e << " on line " << line;
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-10);
    }
  }
}

TEST(Events, AtALimitOfLinesAreReached) {
  const Flow uniform = [](const Vector&) { return Vector{0.7, 0, 0}; };
  for (std::uint64_t i = 0; i < 40; ++i) {
    TraceOptions options = smallSteps(0.1 + along(0.1, i));
    const double limit = 0.4 + along(0.4, 1000 + i);
    (i % 2 ? options.rules.maximumTime : options.rules.maximumLength) = limit;
    add(options.rules, i % 2 ? timeEvent(limit) : lengthEvent(limit));
    const Traced traced = traceGrid(world(), gridOf(uniform), {{-0.9, 0, 0}}, options);
    EXPECT_EQ(traced.count(), 1u) << "limit " << limit;
    EXPECT_EQ(traced.lines.at(0).reason, i % 2 ? Reason::OutOfTime : Reason::OutOfLength);
  }
}

/// The mesh [-1, 1]^3 in a flow along x, without the cells that begin at a coordinate.
MeshSetup meshWithHole(double x) {
  MeshSetup setup;
  setup.mesh = makeMesh(MeshKind::Voxels, 20);
  WholeMesh& mesh = setup.mesh;
  for (std::size_t c = mesh.cells.size(); c-- > 0;) {
    double low = 2;
    for (const std::int64_t p : mesh.cells[c]) low = std::min(low, mesh.points[std::size_t(p)][0]);
    if (std::fabs(low - x) > 0.05) continue;
    mesh.cells.erase(mesh.cells.begin() + std::ptrdiff_t(c));
    mesh.types.erase(mesh.types.begin() + std::ptrdiff_t(c));
  }
  setup.flow = [](const Vector&) { return Vector{1, 0, 0}; };
  setup.isDouble = true;
  setup.pieces = 3 * world().size();
  return setup;
}

// A step may lead across a hole in which no part of it can end.
TEST(Events, InAHoleAreRecordedAtTheEndOfTheStep) {
  const MeshSetup setup = meshWithHole(-0.7);
  TraceOptions options = smallSteps(0.9);
  options.rules.integrator = Integrator::RungeKutta2;
  add(options.rules, plane({-0.65, 0, 0}, {1, 0, 0}), 1);
  add(options.rules, plane({-0.15, 0, 0}, {1, 0, 0}));
  const auto domain = makeMeshDomain(world(), setup);
  std::vector<Seed> seeds;
  if (world().rank() == 0) seeds.push_back({{-0.95, 0.01, 0.01}, 0});
  for (const bool ends : {true, false}) {
    options.rules.events.event[0].endsLine = ends;
    const Traced traced = traceAll(world(), domain->domain, seeds, options);
    const auto& found = traced.crossings.at(0);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].event, 0) << "after all others of the step";
    for (const CrossingPoint& crossing : found)
      EXPECT_NEAR(crossing.point.x[0], crossing.event == 0 ? -0.05 : -0.15, 1e-12);
    EXPECT_EQ(traced.lines.at(0).reason, ends ? Reason::Event : Reason::OutOfDomain);
  }
  // The crossing that can be reached is found first. It is not lost when a stage of the search for
  // the one before it is in the hole.
  options.rules.events.event[0] = plane({-0.15, 0, 0}, {1, 0, 0});
  options.rules.events.event[1] = plane({-0.35, 0, 0}, {1, 0, 0});
  const Traced traced = traceAll(world(), domain->domain, seeds, options);
  const auto& found = traced.crossings.at(0);
  ASSERT_EQ(found.size(), 2u);
  for (int i : {0, 1}) {
    EXPECT_EQ(found[std::size_t(i)].event, i);
    EXPECT_NEAR(found[std::size_t(i)].point.x[0], i == 0 ? -0.15 : -0.05, 1e-12);
  }
}

TEST(Events, InAHoleOfAPeriodicDomainAreRecordedAtTheEndOfTheStep) {
  const auto domain = makeMeshDomain(world(), meshWithHole(0.7));
  TraceOptions options = smallSteps(0.9);
  options.rules.integrator = Integrator::RungeKutta2;
  options.rules.maximumLength = 0.9;
  options.rules.period[0] = 2;
  options.rules.periodicOrigin[0] = -1;
  add(options.rules, plane({0.75, 0, 0}, {1, 0, 0}));
  add(options.rules, plane({-0.9, 0, 0}, {1, 0, 0}));
  add(options.rules, plane({1.25, 0, 0}, {1, 0, 0}));  // outside of the box
  std::vector<Seed> seeds;
  if (world().rank() == 0) seeds.push_back({{0.57, 0.01, 0.01}, 0});
  const Traced traced = traceAll(world(), domain->domain, seeds, options);
  const auto& found = traced.crossings.at(0);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].event, 1);
  EXPECT_NEAR(found[0].image[0], -0.9, 1e-12);
  EXPECT_EQ(found[1].event, 0);
  EXPECT_NEAR(found[1].point.x[0], 1.47, 1e-12);
  EXPECT_NEAR(found[1].image[0], -0.53, 1e-12);
}

/// An event at a surface that lives until the end.
Event eventAt(const std::vector<SurfaceTriangle>& triangles) {
  static std::vector<std::unique_ptr<EventSurface>> surfaces;
  return surfaceEvent(*surfaces.emplace_back(std::make_unique<EventSurface>(triangles)));
}

/// The crossings of a line, in their order.
std::vector<CrossingPoint> crossingsOf(const Traced& traced, std::int64_t line) {
  const auto found = traced.crossings.find(line);
  return found == traced.crossings.end() ? std::vector<CrossingPoint>() : found->second;
}

TEST(SurfaceEvents, OnStraightLinesAreThoseOfEachTriangle) {
  const Vector velocity{1, 0.3, -0.2};
  const double speed = std::sqrt(1 + 0.09 + 0.04);
  const Flow uniform = [&](const Vector&) { return velocity; };
  std::vector<Vector> starts;
  for (std::uint64_t i = 0; i < 40; ++i)
    starts.push_back({-0.95, along(1.4, i) - 0.8, along(1.4, 50 + i) - 0.6});
  for (const int parts : {1, 12}) {
    const std::vector<SurfaceTriangle> triangles = sphereMesh({0.1, 0, 0.05}, 0.6, parts);
    for (const EventDirection direction :
         {EventDirection::Any, EventDirection::Positive, EventDirection::Negative}) {
      TraceOptions options = smallSteps(parts == 1 ? 0.37 : 0.05);
      add(options.rules, eventAt(triangles), 0, direction);
      const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
      std::size_t all = 0;
      for (std::size_t i = 0; i < starts.size(); ++i) {
        std::vector<std::pair<double, std::int64_t>> expected;
        for (const SurfaceTriangle& t : triangles) {
          const Vector n = normalOf(t);
          const bool isUp = n[0] * velocity[0] + n[1] * velocity[1] + n[2] * velocity[2] > 0;
          const auto at = crossingOf(t, starts[i], velocity);
          if (at && *at > 0 && *at < 1.9 &&
              (direction == EventDirection::Any || (direction == EventDirection::Positive) == isUp))
            expected.emplace_back(*at, t.label);
        }
        std::sort(expected.begin(), expected.end());
        const auto found = crossingsOf(traced, std::int64_t(2 * i));
        ASSERT_EQ(found.size(), expected.size()) << "line " << i;
        all += found.size();
        for (std::size_t n = 0; n < found.size(); ++n) {
          EXPECT_NEAR(found[n].point.time, expected[n].first, 1e-12);
          EXPECT_NEAR(found[n].length, expected[n].first * speed, 1e-12);
          EXPECT_EQ(found[n].target, expected[n].second);
        }
      }
      EXPECT_GT(all, direction == EventDirection::Any ? 20u : 10u);
    }
  }
}

// Circles and facets: both crossings of a circle and a plane are known.
TEST(SurfaceEvents, OnCirclesAreThoseOfEachTriangle) {
  std::vector<Vector> starts;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const double radius = 0.2 + along(0.7, i), angle = along(2 * Pi, 100 + i);
    starts.push_back(
        {radius * std::cos(angle), radius * std::sin(angle), along(0.8, 200 + i) - 0.4});
  }
  for (const int parts : {2, 10}) {
    const std::vector<SurfaceTriangle> triangles = sphereMesh({0.4, 0.1, 0}, 0.45, parts);
    TraceOptions options = smallSteps(0.01);
    options.rules.maximumTime = 6;
    add(options.rules, eventAt(triangles));
    const Traced traced = traceGrid(world(), gridOf(rotation), starts, options);
    std::size_t all = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double radius = std::hypot(starts[i][0], starts[i][1]);
      const double phase = std::atan2(starts[i][1], starts[i][0]);
      std::vector<double> expected;
      for (const SurfaceTriangle& t : triangles) {
        const Vector n = normalOf(t);
        double height = -n[2] * starts[i][2];
        for (std::size_t a = 0; a < 3; ++a) height += n[a] * t.corner[0][a];
        const double swing = radius * std::hypot(n[0], n[1]), turn = std::atan2(n[1], n[0]);
        if (!(std::fabs(height) < swing)) continue;
        for (const double sign : {-1.0, 1.0}) {
          const double angle = turn + sign * std::acos(height / swing);
          const double time = std::fmod(angle - phase + 8 * Pi, 2 * Pi);
          if (time < 6 &&
              holds(t, {radius * std::cos(angle), radius * std::sin(angle), starts[i][2]}))
            expected.push_back(time);
        }
      }
      std::sort(expected.begin(), expected.end());
      const auto found = crossingsOf(traced, std::int64_t(2 * i));
      ASSERT_EQ(found.size(), expected.size()) << "line " << i << " of " << parts;
      all += found.size();
      for (std::size_t n = 0; n < found.size(); ++n)
        EXPECT_NEAR(found[n].point.time, expected[n], 1e-7) << "line " << i << " of " << parts;
    }
    EXPECT_GT(all, 20u);
  }
}

// A step of a curve is straight for the test, and then the triangle beside may be the one that is
// crossed. Crossings are on the surface all the same.
TEST(SurfaceEvents, OfLongStepsAreOnTheSurface) {
  const std::vector<SurfaceTriangle> triangles = sphereMesh({0, 0, 0}, 0.5, 8);
  std::vector<Vector> starts;
  for (std::uint64_t i = 0; i < 60; ++i)
    starts.push_back({0.1 + along(0.2, i), along(0.3, 70 + i), along(0.3, 150 + i) - 0.15});
  TraceOptions options = smallSteps(0.15);
  options.rules.maximumLength = 2;
  const Flow spiral = [](const Vector& x) {
    return Vector{x[0] - 2 * x[1], 2 * x[0] + x[1], x[2]};
  };
  add(options.rules, eventAt(triangles), 1, EventDirection::Positive);
  const Traced traced = traceGrid(world(), gridOf(spiral), starts, options);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto found = crossingsOf(traced, std::int64_t(2 * i));
    ASSERT_EQ(found.size(), 1u) << "line " << i;
    const double* const x = found[0].point.x;
    const auto isOn = [&](const SurfaceTriangle& t) {
      const EventSurface one({t});
      return std::fabs(one.distance(0, x)) < 1e-14 && holds(t, {x[0], x[1], x[2]});
    };
    EXPECT_TRUE(std::any_of(triangles.begin(), triangles.end(), isOn)) << "line " << i;
    const int octant = int(x[0] < 0) + 2 * int(x[1] < 0) + 4 * int(x[2] < 0);
    EXPECT_EQ(found[0].target, octant) << "line " << i;
    EXPECT_EQ(traced.targets.at(std::int64_t(2 * i)), octant) << "line " << i;
    EXPECT_EQ(traced.lines.at(std::int64_t(2 * i)).reason, Reason::Event);
  }
}

// Lines are aimed at corners and edges, and steps end there.
TEST(SurfaceEvents, AtEdgesAndCornersAreCountedOnce) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0, 0}; };
  for (const int parts : {1, 4})
    for (const double step : {0.125, 0.25, 0.3}) {
      TraceOptions options = smallSteps(step);
      options.backward = true;
      add(options.rules, eventAt(octahedron({0, 0, 0}, 0.5, parts)));
      const std::vector<Vector> starts{{-0.875, 0, 0},     {-0.875, 0.25, 0}, {-0.75, 0.125, 0.125},
                                       {-0.875, 0, -0.25}, {-0.5, 0, 0},      {0, 0, 0}};
      const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
      for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto found = crossingsOf(traced, std::int64_t(2 * i));
        const double half = 0.5 - std::fabs(starts[i][1]) - std::fabs(starts[i][2]);
        // The fifth line begins on the surface, the sixth one inside.
        std::vector<double> expected{half};
        if (i < 4) expected.insert(expected.begin(), -half);
        ASSERT_EQ(found.size(), expected.size()) << "line " << i << ", step " << step;
        for (std::size_t n = 0; n < found.size(); ++n)
          EXPECT_NEAR(found[n].point.x[0], expected[n], 1e-15);
        EXPECT_EQ(crossingsOf(traced, std::int64_t(2 * i + 1)).size(), i == 5 ? 1u : 0u);
      }
    }
}

/// Two triangles across x, which are wider than the domain.
void addSheet(std::vector<SurfaceTriangle>& triangles, double x, std::int64_t label) {
  triangles.push_back(triangle({x, -2, -2}, {x, 2, -2}, {x, 2, 2}, label));
  triangles.push_back(triangle({x, -2, -2}, {x, 2, 2}, {x, -2, 2}, label));
}

// All crossings of a step are found, also between those of other events.
TEST(SurfaceEvents, OfOneStepComeInTheirOrder) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0, 0}; };
  std::vector<SurfaceTriangle> sheets;
  for (const int i : {3, 1, 0, 2}) addSheet(sheets, 0.1 * i, i);
  TraceOptions options = smallSteps(0.9);
  add(options.rules, eventAt(sheets));
  add(options.rules, plane({0.15, 0, 0}, {1, 0, 0}));
  add(options.rules, eventAt(sheets), 3, EventDirection::Positive);
  const std::vector<Vector> starts{{-0.4, 0.1, 0.1}};
  for (const bool ends : {false, true}) {
    options.rules.events.event[2].endsLine = ends ? 3 : 0;
    const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
    std::vector<std::pair<int, std::int64_t>> found;
    for (const CrossingPoint& crossing : crossingsOf(traced, 0)) {
      found.emplace_back(crossing.event, crossing.target);
      const double x = crossing.event == 1 ? 0.15 : 0.1 * double(crossing.target);
      EXPECT_NEAR(crossing.point.x[0], x, 1e-15);
    }
    std::vector<std::pair<int, std::int64_t>> expected{{0, 0}, {2, 0}, {0, 1}, {2, 1}, {1, -1},
                                                       {0, 2}, {2, 2}, {0, 3}, {2, 3}};
    if (ends) expected.resize(7);
    EXPECT_EQ(found, expected);
    EXPECT_EQ(traced.targets.at(0), ends ? 2 : -1);
    EXPECT_EQ(traced.ends.at(0).second, ends ? 2 : -1);
  }
}

TEST(SurfaceEvents, InAHoleAreRecordedAtTheEndOfTheStep) {
  const MeshSetup setup = meshWithHole(-0.7);
  std::vector<SurfaceTriangle> sheets;
  addSheet(sheets, -0.8, 1);
  addSheet(sheets, -0.66, 2);
  addSheet(sheets, -0.64, 3);
  addSheet(sheets, -0.15, 4);
  TraceOptions options = smallSteps(0.9);
  options.rules.integrator = Integrator::RungeKutta2;
  add(options.rules, eventAt(sheets));
  const auto domain = makeMeshDomain(world(), setup);
  std::vector<Seed> seeds;
  if (world().rank() == 0) seeds.push_back({{-0.95, 0.01, 0.01}, 0});
  const auto found = crossingsOf(traceAll(world(), domain->domain, seeds, options), 0);
  ASSERT_EQ(found.size(), 4u);
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(found[n].target, std::int64_t(n + 1));
    EXPECT_NEAR(found[n].point.x[0], n == 0 ? -0.8 : -0.05, 1e-12);
  }
}

// A sphere across the sides of the box, and a sheet on one of them.
TEST(SurfaceEvents, InPeriodicDomainsAreThoseOfTheImages) {
  const Vector velocity{1, -0.5, 0.25};
  GridSetup setup;  // the box [0, 2 pi]^3
  setup.flow = [&](const Vector&) { return velocity; };
  setup.isDouble = true;
  setup.pieces = 2 * world().size() + 1;
  std::vector<SurfaceTriangle> triangles = sphereMesh({3, 3.2, 2.9}, 2, 5);
  const double side = setup.hi[0];
  for (SurfaceTriangle t : {triangle({0, 0, 0}, {0, side, 0}, {0, side, side}, 10),
                            triangle({0, 0, 0}, {0, side, side}, {0, 0, side}, 10)})
    triangles.push_back(t);
  TraceOptions options = smallSteps(0.41);
  options.rules.maximumTime = 50;
  for (std::size_t a = 0; a < 3; ++a) options.rules.period[a] = setup.hi[a];
  add(options.rules, eventAt(triangles));
  const auto grid = makeGridDomain(world(), setup);
  std::vector<Vector> starts;
  std::vector<Seed> seeds;
  for (std::uint64_t i = 0; i < 10; ++i) {
    starts.push_back({along(6, 3 * i) + 0.1, along(6, 3 * i + 1), along(6, 3 * i + 2)});
    if (int(i) % world().size() == world().rank())
      seeds.push_back({{starts[i][0], starts[i][1], starts[i][2]}, std::int64_t(i)});
  }
  const Traced traced = traceAll(world(), grid->domain, seeds, options);
  std::size_t all = 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::vector<std::pair<double, std::int64_t>> expected;
    for (int x = -1; x <= 9; ++x)
      for (int y = -6; y <= 2; ++y)
        for (int z = -1; z <= 4; ++z) {
          const Vector image{starts[i][0] - x * side, starts[i][1] - y * side,
                             starts[i][2] - z * side};
          for (const SurfaceTriangle& t : triangles) {
            const auto at = crossingOf(t, image, velocity);
            if (at && *at > 0 && *at < options.rules.maximumTime)
              expected.emplace_back(*at, t.label);
          }
        }
    std::sort(expected.begin(), expected.end());
    const auto found = crossingsOf(traced, std::int64_t(2 * i));
    ASSERT_EQ(found.size(), expected.size()) << "line " << i;
    all += found.size();
    for (std::size_t n = 0; n < found.size(); ++n) {
      EXPECT_NEAR(found[n].point.time, expected[n].first, 1e-10) << "line " << i;
      EXPECT_EQ(found[n].target, expected[n].second) << "line " << i;
      for (std::size_t a = 0; a < 3; ++a) {
        const double x = starts[i][a] + velocity[a] * found[n].point.time;
        EXPECT_NEAR(std::remainder(found[n].image[a] - x, side), 0, 1e-10);
        EXPECT_TRUE(found[n].image[a] > -1e-9 && found[n].image[a] < side + 1e-9);
      }
    }
  }
  EXPECT_GT(all, 100u);
}

/// Events of all kinds in the box [0, 2 pi]^3.
StepRules busyRules(Integrator integrator, int endsLine) {
  StepRules rules;
  rules.integrator = integrator;
  rules.maximumLength = 12;
  rules.maximumSteps = 300;
  const Vector center{3, 3.2, 2.9}, lower{1, 1, 1}, upper{5, 4.5, 5.5}, axis{0, 0.1, 1},
      side{1, 0.3, 0};
  add(rules, plane({3, 3, 3}, {1, 1, 0.2}));
  add(rules, sphereEvent(center.data(), 1.2), endsLine);
  add(rules, boxEvent(lower.data(), upper.data()), 2 * endsLine, EventDirection::Negative);
  add(rules, halfPlaneEvent(center.data(), axis.data(), side.data()));
  add(rules, lengthEvent(3.5));
  add(rules, plane({3.01, 3, 3}, {1, 1, 0.2}), 0, EventDirection::Positive);
  add(rules, timeEvent(1.25));
  static const Event sphere = eventAt(sphereMesh({3.2, 2.9, 3}, 1.5, 4));
  add(rules, sphere, 2 * endsLine);
  return rules;
}

/// This rank's share of seeds in the box [0, 2 pi]^3.
std::vector<Seed> seedsOf(int count, const Transport& transport) {
  std::vector<Seed> seeds;
  for (int i = transport.rank(); i < count; i += transport.size()) {
    Seed& seed = seeds.emplace_back();
    seed.id = i;
    for (std::uint64_t a = 0; a < 3; ++a) seed.x[a] = along(2 * Pi, 3 * std::uint64_t(i) + a);
  }
  return seeds;
}

template <class Trace>
void expectPromise(const std::string& what, Trace&& traceWith) {
  for (const Integrator integrator :
       {Integrator::RungeKutta2, Integrator::RungeKutta4, Integrator::RungeKutta45})
    for (const int endsLine : {0, 3}) {
      if (endsLine != (integrator == Integrator::RungeKutta4 ? 3 : 0) &&
          integrator != Integrator::RungeKutta45)
        continue;
      TraceOptions options;
      options.backward = true;
      options.rules = busyRules(integrator, endsLine);
      const auto alone = makeLoopbackTransport();
      const Traced expected = traceWith(*alone, 1, 1, options);
      EXPECT_GT(expected.count(), 150u) << what;
      const int ranks = world().size();
      struct Cut {
        int pieces, blocks;
        Schedule schedule;
      };
      for (const Cut& cut :
           {Cut{ranks, 1, Schedule::Asynchronous}, Cut{2 * ranks + 1, 5, Schedule::Asynchronous},
            Cut{3, 4, Schedule::Synchronous}}) {
        TraceOptions here = options;
        here.exchange.schedule = cut.schedule;
        EXPECT_EQ(differences(expected, traceWith(world(), cut.pieces, cut.blocks, here)), 0u)
            << what << ", " << cut.pieces << " pieces of " << cut.blocks;
      }
      if (endsLine > 0) continue;
      // Lines are those without events.
      TraceOptions plain = options;
      plain.rules.events = {};
      EXPECT_TRUE(expected.lines == traceWith(*alone, 1, 1, plain).lines) << what;
      // Crossings without lines.
      plain = options;
      plain.rules.record = false;
      const Traced punctures = traceWith(world(), ranks, 2, plain);
      EXPECT_EQ(punctures.count(), expected.count()) << what;
      EXPECT_EQ(punctures.ends, expected.ends) << what;
      // Less of each crossing.
      for (const CrossingContent content : {CrossingContent::Times, CrossingContent::Positions}) {
        plain.rules.crossingContent = content;
        Traced less = traceWith(world(), ranks, 2, plain);
        EXPECT_EQ(less.ends, expected.ends) << what;
        for (const auto& [line, list] : expected.crossings)
          EXPECT_TRUE(std::equal(list.begin(), list.end(), less.crossings[line].begin(),
                                 less.crossings[line].end(),
                                 [&](const CrossingPoint& all, const CrossingPoint& kept) {
                                   return isKept(content, true, all, kept);
                                 }))
              << what << ", line " << line;
      }
    }
}

/// Traces a number of lines through a grid that is cut.
auto throughGrid(bool uniform, int lines) {
  return [=](Transport& transport, int pieces, int blocks, const TraceOptions& options) {
    GridSetup setup;
    setup.uniform = uniform;
    setup.isDouble = uniform;
    setup.pieces = pieces;
    setup.blocksPerPiece = blocks;
    setup.ghostLayers = blocks > 4 ? 1 : 0;
    const auto grid = makeGridDomain(transport, setup);
    return traceAll(transport, grid->domain, seedsOf(lines, transport), options);
  };
}

/// The same through a mesh in the box of the grid.
auto throughMesh(MeshKind kind, int lines) {
  return [=](Transport& transport, int pieces, int blocks, const TraceOptions& options) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 6);
    for (Vector& x : setup.mesh.points)
      for (double& c : x) c = static_cast<float>((c + 1) * Pi);
    setup.flow = abc;
    setup.cellCentered = kind == MeshKind::Mixed;
    setup.pieces = pieces;
    setup.blocksPerPiece = blocks;
    const auto mesh = makeMeshDomain(transport, setup);
    return traceAll(transport, mesh->domain, seedsOf(lines, transport), options);
  };
}

TEST(EventPromise, HoldsForAnyCutOfGrids) {
  for (const bool uniform : {true, false})
    expectPromise(uniform ? "uniform" : "rectilinear", throughGrid(uniform, 60));
}

TEST(EventPromise, HoldsInPeriodicDomains) {
  expectPromise("periodic",
                [&](Transport& transport, int pieces, int blocks, TraceOptions options) {
                  GridSetup setup;
                  setup.pieces = pieces;
                  setup.blocksPerPiece = blocks;
                  EventList& events = options.rules.events;
                  for (int a = 0; a < 3; ++a) {
                    options.rules.period[a] = setup.hi[std::size_t(a)];
                    if (events.count == 0) continue;
                    Vector normal{0, 0, 0};
                    normal[std::size_t(a)] = 1;
                    const int endsLine = events.event[a].endsLine;
                    events.event[a] = plane(a == 1 ? setup.hi : setup.lo, normal);
                    events.event[a].endsLine = endsLine;
                  }
                  const auto grid = makeGridDomain(transport, setup);
                  return traceAll(transport, grid->domain, seedsOf(30, transport), options);
                });
}

TEST(EventPromise, HoldsForAnyCutOfMeshes) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Mixed}) {
    if (kind == MeshKind::Mixed && world().size() > 4 && !thorough()) continue;
    expectPromise("mesh", throughMesh(kind, 60));
  }
}

/// Fields that are functions of the position. Also counts points that are not in the cell that they
/// are said to be in.
class PlaceFields : public EventFields {
 public:
  using Function = std::function<double(const Vector&)>;
  explicit PlaceFields(std::vector<Function> functions) : functions_(std::move(functions)) {}

  void evaluate(const FieldBlock& block, const TrajectoryPoint& point,
                double* values) const override {
    for (std::size_t f = 0; f < functions_.size(); ++f)
      values[f] = functions_[f]({point.x[0], point.x[1], point.x[2]});
    Weights weights;
    block.weights({}, {&point, 1}, weights);
    for (int i = 0; i < weights.count[0]; ++i)
      if (!(std::fabs(weights.weight(0, i) - 0.5) < 0.5 + Gap)) ++misplaced_;
    ++evaluated_;
  }
  /// Collective.
  void expectAllInTheirCells() const {
    EXPECT_EQ(misplaced_, 0);
    EXPECT_GT(allreduce(world(), ReduceOp::Sum, std::int64_t(evaluated_)), 0);
  }

 private:
  static constexpr double Gap = 0.02;  ///< Walks end in cells that a point is a little outside of.
  std::vector<Function> functions_;
  mutable std::atomic<int> misplaced_{0}, evaluated_{0};
};

TEST(FieldEvents, OnCirclesAreWhereFormulasHaveThem) {
  const PlaceFields fields({[](const Vector& x) { return x[0] + 2 * x[1] + 0.5 * x[2]; },
                            [](const Vector& x) { return x[0] * x[0] + 0.3 * x[1]; },
                            [](const Vector& x) { return std::floor(x[0] * 5) + x[1] * 0; }});
  struct Case {
    Event event;
    std::function<double(const Vector&)> value;
  };
  const std::vector<Case> cases{
      {isovalueEvent(0, 0.25), [](const Vector& x) { return x[0] + 2 * x[1] + 0.5 * x[2] - 0.25; }},
      {isovalueEvent(1, 0.1), [](const Vector& x) { return x[0] * x[0] + 0.3 * x[1] - 0.1; }},
      {labelEvent(2, 1), [](const Vector& x) { return x[0] >= 0.2 && x[0] < 0.4 ? 1 : -1; }},
      {labelEvent(2, -1), [](const Vector& x) { return x[0] >= -0.2 && x[0] < 0 ? 1 : -1; }},
      {plane({0.05, 0.1, 0}, {1, 0, 0}), [](const Vector& x) { return x[0] - 0.05; }}};
  std::vector<Vector> starts;
  for (std::uint64_t i = 0; i < 8; ++i) {
    const double radius = 0.25 + along(0.65, i), angle = along(2 * Pi, 100 + i);
    starts.push_back(
        {radius * std::cos(angle), radius * std::sin(angle), along(0.8, 200 + i) - 0.4});
  }
  for (const EventDirection direction :
       {EventDirection::Any, EventDirection::Positive, EventDirection::Negative}) {
    TraceOptions options = smallSteps(0.004);
    options.rules.maximumTime = 2 * Pi;
    options.rules.maximumLength = std::numeric_limits<double>::infinity();
    options.rules.fields = &fields;
    for (const Case& c : cases) add(options.rules, c.event, 0, direction);
    const Traced traced = traceGrid(world(), gridOf(rotation), starts, options);
    std::size_t expected = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const double radius = std::hypot(starts[i][0], starts[i][1]);
      const double angle = std::atan2(starts[i][1], starts[i][0]);
      const auto at = [&](double time) {
        return Vector{radius * std::cos(angle + time), radius * std::sin(angle + time),
                      starts[i][2]};
      };
      for (std::size_t e = 0; e < cases.size(); ++e) {
        const auto zeros = zerosOf([&](double t) { return cases[e].value(at(t)); },
                                   options.rules.maximumTime, direction);
        std::vector<CrossingPoint> found;
        if (traced.crossings.count(std::int64_t(2 * i)))
          for (const CrossingPoint& crossing : traced.crossings.at(std::int64_t(2 * i)))
            if (crossing.event == int(e)) found.push_back(crossing);
        ASSERT_EQ(found.size(), zeros.size()) << "event " << e << " on line " << i;
        expected += zeros.size();
        for (std::size_t n = 0; n < zeros.size(); ++n) {
          EXPECT_NEAR(found[n].point.time, zeros[n], 2e-8) << "event " << e;
          for (std::size_t a = 0; a < 3; ++a)
            EXPECT_NEAR(found[n].point.x[a], at(zeros[n])[a], 2e-8) << "event " << e;
        }
      }
    }
    EXPECT_EQ(traced.count(), expected);
    EXPECT_GT(expected, direction == EventDirection::Any ? 60u : 25u);
  }
  fields.expectAllInTheirCells();
}

// Straight lines: positions have no error of the integrator.
TEST(FieldEvents, AreFoundToRounding) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0.25, -0.5}; };
  const double nan = std::nan("");
  const PlaceFields fields(
      {[](const Vector& x) { return x[0] < 0.1 ? x[0] : 0.1 + 50 * (x[0] - 0.1); },
       [](const Vector& x) { return x[0] * x[0]; },
       [](const Vector& x) { return std::floor(4 * x[0]); },
       [&](const Vector& x) { return std::fabs(x[0]) < 0.3 ? nan : x[0]; }});
  TraceOptions options = smallSteps(0.19);
  options.backward = true;
  options.rules.fields = &fields;
  add(options.rules, isovalueEvent(0, 0.6));     // beyond the kink, at x = 0.11
  add(options.rules, isovalueEvent(1, 0.2025));  // -0.45 and 0.45
  add(options.rules, labelEvent(2));             // each multiple of 0.25
  add(options.rules, labelEvent(2, 2), 0, EventDirection::Positive);
  add(options.rules, isovalueEvent(3, 0));  // in a hole of the field
  add(options.rules, isovalueEvent(3, 0.4));
  add(options.rules, plane({0.26, 0, 0}, {1, 0, 0}));
  const std::vector<Vector> starts{{-0.93, -0.31, 0.43}, {0.25, -0.31, 0.43}, {0.83, -0.1, 0.2}};
  const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
  using List = std::vector<std::pair<std::int32_t, double>>;
  const auto eventsOf = [&](std::int64_t line) {
    List events;
    if (traced.crossings.count(line))
      for (const CrossingPoint& crossing : traced.crossings.at(line))
        events.emplace_back(crossing.event, crossing.point.x[0]);
    return events;
  };
  const auto expect = [&](std::int64_t line, const List& expected) {
    const List found = eventsOf(line);
    ASSERT_EQ(found.size(), expected.size()) << "line " << line;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].first, expected[i].first) << "crossing " << i << " of line " << line;
      EXPECT_NEAR(found[i].second, expected[i].second, 1e-14) << "line " << line;
    }
  };
  // At one place, the event that is first in the list comes first.
  expect(0, {{2, -0.75},
             {2, -0.5},
             {1, -0.45},
             {2, -0.25},
             {2, 0},
             {0, 0.11},
             {2, 0.25},
             {6, 0.26},
             {5, 0.4},
             {1, 0.45},
             {2, 0.5},
             {3, 0.5},
             {2, 0.75}});
  expect(1, {});
  // The seed is on a boundary, in the region above. Its first step begins in the hole of a field.
  expect(2, {{6, 0.26}, {1, 0.45}, {2, 0.5}, {3, 0.5}, {2, 0.75}});
  expect(3, {{2, 0.25}, {0, 0.11}, {2, 0}, {2, -0.25}, {1, -0.45}, {2, -0.5}});
  fields.expectAllInTheirCells();
}

// The rounding error of a function may be large beside the step.
TEST(Events, AtOnePlaceComeInTheOrderOfTheList) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0.25, -0.5}; };
  const PlaceFields fields({[](const Vector& x) { return 300 + x[0]; }});
  const Event cases[] = {plane({0.26, 1000, 0}, {1, 0, 0}), isovalueEvent(0, 300.26)};
  std::vector<Vector> starts;
  for (std::uint64_t i = 0; i < 60; ++i)
    starts.push_back({-0.9 + along(0.9, i), along(0.5, 100 + i), along(0.5, 200 + i)});
  for (const Event& event : cases) {
    TraceOptions options = smallSteps(0.19);
    if (isOfField(event.kind)) options.rules.fields = &fields;
    add(options.rules, event);
    add(options.rules, event, 1);
    const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto& found = traced.crossings.at(std::int64_t(2 * i));
      wrong += found.size() != 2 || found[0].event != 0 || found[1].event != 1;
    }
    EXPECT_EQ(wrong, 0u);
  }
}

// As beside land, where files have fill values.
TEST(FieldEvents, BesideVeryLargeValuesAreWhereTheFieldHasThem) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0, 0}; };
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double large : {1e36, infinite}) {
    const PlaceFields fields({[&](const Vector& x) {
      return x[0] < 0.7 ? 15 : std::isfinite(large) ? 15 + large * (x[0] - 0.7) : large;
    }});
    TraceOptions options = smallSteps(0.5);
    options.rules.fields = &fields;
    add(options.rules, isovalueEvent(0, 20));
    const Traced traced = traceGrid(world(), gridOf(uniform), {{{0.4, 0.1, 0.1}}}, options);
    ASSERT_TRUE(traced.crossings.count(0)) << large;
    EXPECT_NEAR(traced.crossings.at(0)[0].point.x[0], 0.7, 1e-12) << large;
  }
}

TEST(FieldEvents, EndALineAtTheCrossingGiven) {
  const Flow uniform = [](const Vector&) { return Vector{1, 0, 0}; };
  const PlaceFields fields({[](const Vector& x) { return std::floor(10 * x[0]); },
                            [](const Vector& x) { return x[0]; }});
  TraceOptions options = smallSteps(0.7);  // several boundaries in one step: the first is found
  options.rules.fields = &fields;
  add(options.rules, labelEvent(0, 2), 1, EventDirection::Negative);
  add(options.rules, plane({0.27, 0, 0}, {1, 0, 0}));
  add(options.rules, isovalueEvent(1, 0.23));
  const std::vector<Vector> starts{{0.21, 0.1, 0.1}};
  const Traced traced = traceGrid(world(), gridOf(uniform), starts, options);
  const auto& found = traced.crossings.at(0);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].event, 2);
  EXPECT_EQ(found[1].event, 1);
  EXPECT_EQ(found[2].event, 0);
  EXPECT_EQ(traced.ends.at(0).second, 0);
  EXPECT_EQ(traced.lines.at(0).reason, Reason::Event);
  EXPECT_NEAR(traced.lines.at(0).points.back()[0], 0.3, 1e-14);
  // A label is recorded where it is the new one.
  EXPECT_GE(std::floor(10 * found[2].point.x[0]), 3);
}

/// Fields in the box [0, 2 pi]^3, one with jumps, one with a hole.
PlaceFields busyFields() {
  return PlaceFields({[](const Vector& x) { return std::sin(x[0]) + 0.5 * x[1]; },
                      [](const Vector& x) {
                        const auto at = int(std::floor(x[0] / 1.3) + std::floor(x[1] / 1.1) +
                                            std::floor(x[2] / 1.7));
                        return double(at % 4);
                      },
                      [](const Vector& x) {
                        return std::hypot(x[0] - 3, x[1] - 3) < 0.5 ? std::nan("") : x[1] - x[2];
                      }});
}

StepRules busyFieldRules(Integrator integrator, int endsLine, const EventFields& fields) {
  StepRules rules;
  rules.integrator = integrator;
  rules.maximumLength = 10;
  rules.maximumSteps = 300;
  rules.fields = &fields;
  add(rules, labelEvent(1));
  add(rules, isovalueEvent(0, 1.5), 2 * endsLine);
  add(rules, plane({3, 3, 3}, {1, 1, 0.2}));
  add(rules, labelEvent(1, 2), endsLine, EventDirection::Positive);
  add(rules, isovalueEvent(2, 0.1));
  add(rules, lengthEvent(3.5));
  return rules;
}

template <class Trace>
void expectFieldPromise(const std::string& what, Trace&& traceWith) {
  const PlaceFields fields = busyFields();
  for (const Integrator integrator :
       {Integrator::RungeKutta2, Integrator::RungeKutta4, Integrator::RungeKutta45}) {
    TraceOptions options;
    options.backward = true;
    const int endsLine = integrator == Integrator::RungeKutta4 ? 3 : 0;
    options.rules = busyFieldRules(integrator, endsLine, fields);
    const auto alone = makeLoopbackTransport();
    const Traced expected = traceWith(*alone, 1, 1, options);
    EXPECT_GT(expected.count(), 150u) << what;
    const int ranks = world().size();
    EXPECT_EQ(differences(expected, traceWith(world(), ranks, 1, options)), 0u) << what;
    EXPECT_EQ(differences(expected, traceWith(world(), 2 * ranks + 1, 5, options)), 0u) << what;
    if (endsLine > 0) continue;
    TraceOptions plain = options;  // lines are those without events
    plain.rules.events = {};
    plain.rules.fields = nullptr;
    EXPECT_TRUE(expected.lines == traceWith(*alone, 1, 1, plain).lines) << what;
  }
  fields.expectAllInTheirCells();
}

TEST(FieldEventPromise, HoldsForAnyCutOfGrids) {
  for (const bool uniform : {true, false})
    expectFieldPromise(uniform ? "uniform" : "rectilinear", throughGrid(uniform, 40));
}

TEST(FieldEventPromise, HoldsForAnyCutOfMeshes) {
  expectFieldPromise("mesh", throughMesh(MeshKind::Tetrahedra, 40));
}

// A step may lead across a hole in which no part of it can end.
TEST(FieldEvents, InAHoleAreRecordedAtTheEndOfTheStep) {
  const MeshSetup setup = meshWithHole(-0.7);
  const PlaceFields fields(
      {[](const Vector& x) { return x[0]; }, [](const Vector& x) { return x[0] < -0.65 ? 1 : 2; }});
  TraceOptions options = smallSteps(0.9);
  options.rules.integrator = Integrator::RungeKutta2;
  options.rules.fields = &fields;
  add(options.rules, labelEvent(1, 2), 1);
  add(options.rules, isovalueEvent(0, -0.15));
  const auto domain = makeMeshDomain(world(), setup);
  std::vector<Seed> seeds;
  if (world().rank() == 0) seeds.push_back({{-0.95, 0.01, 0.01}, 0});
  const Traced traced = traceAll(world(), domain->domain, seeds, options);
  const auto& found = traced.crossings.at(0);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].event, 1);
  EXPECT_NEAR(found[0].point.x[0], -0.15, 1e-12);
  EXPECT_EQ(found[1].event, 0);
  EXPECT_NEAR(found[1].point.x[0], -0.05, 1e-12);
  EXPECT_EQ(traced.lines.at(0).reason, Reason::Event);
}

/// A crossing with other numbers for each place in a list.
CrossingPoint someCrossing(std::uint64_t i, bool isPeriodic, bool hasTargets) {
  CrossingPoint crossing{};
  crossing.target = hasTargets ? std::int64_t(mix(i + 6) >> 1) : -1;
  for (std::uint64_t a = 0; a < 3; ++a) {
    crossing.image[a] = along(2 * Pi, 3 * i + a);
    crossing.point.x[a] = crossing.image[a] + (isPeriodic ? 2 * Pi * double(mix(i) % 9) : 0);
  }
  crossing.point.time = along(100, i) - 50;
  // Lines that are near one another, with some that are far away.
  crossing.point.line =
      std::int64_t(mix(i) % 4000) + (i % 20000 == 999 ? std::int64_t(1) << 40 : 0);
  crossing.point.index = std::int32_t(mix(i + 7) % (1u << 31));
  crossing.point.cell = std::int32_t(mix(i + 8) % (1u << 31));
  crossing.length = along(1000, i + 9);
  crossing.event = std::int32_t(i % MostEvents);
  crossing.number = std::int32_t(i % 77 + 1);
  return crossing;
}

// The log gives back what it keeps, in order, and becomes empty as it is read.
TEST(CrossingLog, KeepsWhatItIsAskedFor) {
  constexpr std::uint64_t Count = 60000;
  for (const CrossingContent content :
       {CrossingContent::All, CrossingContent::Times, CrossingContent::Positions})
    for (const bool isPeriodic : {false, true}) {
      const bool hasTargets = isPeriodic;
      const auto some = [&](std::uint64_t i) { return someCrossing(i, isPeriodic, hasTargets); };
      StepRules rules;
      rules.crossingContent = content;
      rules.period[1] = isPeriodic ? 2 * Pi : 0;
      if (hasTargets) rules.events.event[rules.events.count++].kind = EventKind::Surface;
      const CrossingFormat format(rules);
      CrossingLog log;
      for (std::uint64_t i = 0; i < Count; ++i) log.append(format, some(i));
      ASSERT_EQ(log.size(), Count);
      std::vector<CrossingPoint> visited, taken;
      log.forEach([&](const CrossingPoint& crossing) { visited.push_back(crossing); });
      std::size_t chunks = 0;
      for (std::size_t left = Count; left > 0; ++chunks) {
        const std::size_t count = log.takeChunk(taken);
        ASSERT_GT(count, 0u);
        left -= count;
        ASSERT_EQ(log.size(), left);
        ASSERT_EQ(taken.size(), Count - left);
      }
      EXPECT_GE(chunks, 2 * (Count / 20000)) << "a chunk for each jump between lines";
      EXPECT_EQ(log.takeChunk(taken), 0u);
      ASSERT_EQ(visited.size(), Count);
      std::size_t wrong = 0;
      for (std::uint64_t i = 0; i < Count; ++i) {
        const CrossingPoint all = some(i);
        wrong += !isKept(content, isPeriodic, all, visited[i]);
        wrong += !isKept(content, isPeriodic, all, taken[i]);
        if (content == CrossingContent::All) wrong += taken[i].point.cell != all.point.cell;
      }
      EXPECT_EQ(wrong, 0u);
      log.append(format, some(1));  // it can be used again
      EXPECT_EQ(log.size(), 1u);
      EXPECT_EQ(log.takeChunk(taken), 1u);
    }
}

TEST(BadEvents, AreRefused) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const Vector zero{0, 0, 0}, one{1, 1, 1}, spoiled{0, nan, 0}, axis{0, 0, 1};
  const auto message = [](auto&& make) { return errorOf([&] { static_cast<void>(make()); }); };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(message([&] { return plane(zero, zero); }), "normal"));
  EXPECT_TRUE(has(message([&] { return plane(spoiled, one); }), "origin"));
  EXPECT_TRUE(has(message([&] { return plane(zero, spoiled); }), "normal"));
  EXPECT_TRUE(has(message([&] { return sphereEvent(zero.data(), 0); }), "radius"));
  EXPECT_TRUE(has(message([&] { return sphereEvent(zero.data(), nan); }), "radius"));
  EXPECT_TRUE(has(message([&] { return boxEvent(one.data(), zero.data()); }), "upper corner"));
  EXPECT_TRUE(has(message([&] { return lengthEvent(-1); }), "length"));
  EXPECT_TRUE(has(message([&] { return timeEvent(infinite); }), "time"));
  EXPECT_TRUE(has(message([&] { return halfPlaneEvent(zero.data(), axis.data(), axis.data()); }),
                  "parallel"));
  TraceOptions options;
  options.rules.events.count = MostEvents + 1;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "at most 8"));
  options.rules.events = {};
  add(options.rules, plane(zero, axis), -1);
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "endsLine"));
  options.rules.events.event[0].endsLine = 0;
  options.rules.events.event[0].origin[1] = nan;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "origin"));
  options.rules.events.event[0].origin[1] = 0;
  EXPECT_EQ(message([&] { return requireValid(options, {}), 0; }), "");
  options.progressOf = [](const Seed&) { return LineProgress(); };
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "progressOf empty"));
  options.progressOf = nullptr;
  options.rules.events.event[0].kind = EventKind::Surface;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "Event::surface"));
  options.rules.events.event[0].kind = EventKind::Plane;
  const PlaceFields fields({});
  options.rules.fields = &fields;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "StepRules::fields"));
  options.rules.events.event[0] = labelEvent(MostEvents - 1);
  EXPECT_EQ(message([&] { return requireValid(options, {}), 0; }), "");
  options.rules.events.event[0].direction = EventDirection::Positive;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "Event::direction"));
  options.rules.events.event[0] = labelEvent(1, 3);
  options.rules.events.event[0].field = -1;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "Event::field"));
  options.rules.events.event[0].field = 0;
  options.rules.fields = nullptr;
  EXPECT_TRUE(has(message([&] { return requireValid(options, {}), 0; }), "StepRules::fields"));
  EXPECT_TRUE(has(message([&] { return isovalueEvent(MostEvents, 1); }), "Event::field"));
  EXPECT_TRUE(has(message([&] { return isovalueEvent(0, nan); }), "value"));
  EXPECT_TRUE(has(message([&] { return labelEvent(0, infinite); }), "label"));
  options.rules.fields = &fields;
  options.rules.interval = TimeInterval{0, 1, 1};
  EXPECT_EQ(message([&] { return requireValid(options, {}), 0; }), "");
}

}  // namespace
}  // namespace tributary::testing
