// SPDX-License-Identifier: BSD-3-Clause
// The promise: a line has the same bits on any number of ranks, pieces and blocks, with any
// schedule, with and without ghost cells, and on any number of threads.

#include "Tributary/Advection/Tracer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/TracedLines.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Transport/Loopback.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {
namespace {

constexpr double Pi = 3.14159265358979323846;

/// This rank's share of `count` seeds spread over a box, some of them outside it.
std::vector<Seed> seedsOf(const GridSetup& s, int count, int rank, int ranks) {
  std::vector<Seed> seeds;
  for (int i = rank; i < count; i += ranks) {
    Seed seed;
    seed.id = i;
    for (std::size_t a = 0; a < 3; ++a) {
      const double u =
          static_cast<double>(mix(std::uint64_t(3 * i) + a) >> 11) / double(1ull << 53);
      seed.x[a] = s.points[a] == 1 ? s.lo[a] : s.lo[a] + (s.hi[a] - s.lo[a]) * (1.04 * u - 0.02);
    }
    if (i % 7 == 0)  // on points of the grid, where cells meet
      for (int a = 0; a < 3; ++a)
        seed.x[a] = gridCoordinate(
            s, a, int(mix(std::uint64_t(i)) >> (8 * a)) % s.points[std::size_t(a)] & 0x7fffffff);
    seeds.push_back(seed);
  }
  return seeds;
}

TraceOptions optionsFor(Integrator integrator) {
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.maximumLength = 12;
  options.rules.maximumSteps = 300;
  options.backward = true;
  return options;
}

std::map<std::int64_t, Line> traceSetup(Transport& transport, const GridSetup& setup,
                                        const TraceOptions& options, int seeds = 60) {
  const auto grid = makeGridDomain(transport, setup);
  return traceLines(transport, grid->domain,
                    seedsOf(setup, seeds, transport.rank(), transport.size()), options);
}

std::map<std::int64_t, Line> reference(GridSetup setup, TraceOptions options, int seeds = 60) {
  setup.pieces = setup.blocksPerPiece = 1;
  setup.ghostLayers = 0;
  options.exchange = {};
  options.parallelFor = serialFor;
  const auto alone = makeLoopbackTransport();
  return traceSetup(*alone, setup, options, seeds);
}

void expectSame(const std::map<std::int64_t, Line>& expected,
                const std::map<std::int64_t, Line>& found, const std::string& what) {
  ASSERT_EQ(expected.size(), found.size()) << what;
  std::size_t different = 0, points = 0;
  for (const auto& [line, e] : expected) {
    different += found.at(line) != e;
    points += e.points.size();
  }
  EXPECT_EQ(different, 0u) << what << ": lines that differ, of " << expected.size();
  EXPECT_GT(points, expected.size()) << what;
}

/// What velocities belong to.
enum class Site { Points, Cells, Faces };

class Promise : public ::testing::TestWithParam<std::tuple<Integrator, bool, bool, Site>> {};

TEST_P(Promise, HoldsForAnyCutAndSchedule) {
  GridSetup setup;
  setup.uniform = std::get<1>(GetParam());
  setup.isDouble = std::get<2>(GetParam());
  setup.cellCentered = std::get<3>(GetParam()) == Site::Cells;
  setup.onFaces = std::get<3>(GetParam()) == Site::Faces;
  setup.firstIndex = -3;
  TraceOptions options = optionsFor(std::get<0>(GetParam()));
  const auto expected = reference(setup, options);
  struct Cut {
    int pieces, blocks, ghosts;
    Schedule schedule;
  };
  const int ranks = world().size();
  for (const Cut& cut :
       {Cut{1, 1, 0, Schedule::Asynchronous}, Cut{ranks, 1, 0, Schedule::Synchronous},
        Cut{ranks + 3, 4, 0, Schedule::Asynchronous}, Cut{2 * ranks, 16, 2, Schedule::Neighborhood},
        Cut{5, 3, 1, Schedule::Asynchronous}}) {
    setup.pieces = cut.pieces;
    setup.blocksPerPiece = cut.blocks;
    setup.ghostLayers = cut.ghosts;
    options.exchange.schedule = cut.schedule;
    options.exchange.arrivals = 0.5;
    expectSame(expected, traceSetup(world(), setup, options),
               std::to_string(cut.pieces) + " pieces of " + std::to_string(cut.blocks) + " blocks");
  }
}

class PromiseUnder : public ::testing::TestWithParam<std::string> {};

TEST_P(PromiseUnder, Detector) {
  GridSetup setup;
  TraceOptions options = optionsFor(Integrator::RungeKutta4);
  const auto expected = reference(setup, options);
  options.exchange.detector = GetParam();
  for (const Schedule schedule : {Schedule::Asynchronous, Schedule::Neighborhood}) {
    options.exchange.schedule = schedule;
    for (const int blocks : {1, 5}) {
      setup.pieces = world().size() + 1;
      setup.blocksPerPiece = blocks;
      expectSame(expected, traceSetup(world(), setup, options), std::to_string(blocks) + " blocks");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, PromiseUnder, ::testing::ValuesIn(detectorNames(WorkModel::AP)),
                         [](const auto& test) {
                           std::string name = test.param;  // GoogleTest allows no hyphens
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::string nameOf(const ::testing::TestParamInfo<Promise::ParamType>& info) {
  const char* integrators[] = {"Rk2", "Rk4", "Rk45"};
  const char* sites[] = {"Points", "Cells", "Faces"};
  return std::string(integrators[int(std::get<0>(info.param))]) +
         (std::get<1>(info.param) ? "Uniform" : "Rectilinear") +
         (std::get<2>(info.param) ? "Double" : "Float") + sites[int(std::get<3>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Fields, Promise,
                         ::testing::Combine(::testing::Values(Integrator::RungeKutta2,
                                                              Integrator::RungeKutta4,
                                                              Integrator::RungeKutta45),
                                            ::testing::Bool(), ::testing::Bool(),
                                            ::testing::Values(Site::Points, Site::Cells)),
                         nameOf);
INSTANTIATE_TEST_SUITE_P(Faces, Promise,
                         ::testing::Combine(::testing::Values(Integrator::RungeKutta45),
                                            ::testing::Bool(), ::testing::Bool(),
                                            ::testing::Values(Site::Faces)),
                         nameOf);

// Components that are linear along their axes have the same values between faces as between points.
TEST(Tracer, FollowsLinearComponentsOfFacesExactly) {
  GridSetup setup;
  setup.isDouble = true;
  setup.onFaces = true;
  setup.points = {{9, 6, 7}};
  const Vector slope{{0.5, -0.3, -0.2}}, start{{0.2, 0.4, -0.1}};
  setup.flow = [=](const Vector& x) {
    Vector v;
    for (std::size_t a = 0; a < 3; ++a) v[a] = start[a] + slope[a] * x[a];
    return v;
  };
  TraceOptions options = optionsFor(Integrator::RungeKutta4);
  options.rules.initialStep = 0.02;
  options.rules.maximumSteps = 200;
  for (const bool uniform : {true, false}) {
    setup.uniform = uniform;
    setup.pieces = world().size() + 1;
    int points = 0;
    for (const auto& [number, line] : traceSetup(world(), setup, options)) {
      if (line.points.empty()) continue;
      const auto& first = line.points.front();
      const auto rest = [&](std::size_t a) { return start[a] / slope[a]; };
      for (std::size_t i = 1; i < line.points.size(); ++i, ++points) {
        const auto& x = line.points[i];
        const double time = std::log((x[0] + rest(0)) / (first[0] + rest(0))) / slope[0];
        for (const std::size_t a : {1, 2})
          EXPECT_NEAR(x[a], (first[a] + rest(a)) * std::exp(slope[a] * time) - rest(a), 1e-8)
              << number;
      }
    }
    EXPECT_GT(points, 1000);
  }
}

// On a flat grid the velocity across the plane belongs to the cell.
TEST(Tracer, FollowsFacesOfAFlatGrid) {
  GridSetup setup;
  setup.onFaces = true;
  setup.points = {{9, 11, 1}};
  setup.hi = {4, 5, 0};
  setup.flow = [](const Vector& x) { return Vector{x[0] - 2, 2.5 - x[1], 3}; };
  TraceOptions options = optionsFor(Integrator::RungeKutta45);
  options.rules.onSurface = true;
  const auto expected = reference(setup, options);
  setup.pieces = world().size() + 1;
  setup.blocksPerPiece = 3;
  expectSame(expected, traceSetup(world(), setup, options), "on all ranks");
  for (const auto& [number, line] : expected)
    for (const auto& x : line.points)
      EXPECT_NEAR((x[0] - 2) * (x[1] - 2.5), (line.points[0][0] - 2) * (line.points[0][1] - 2.5),
                  2e-5)
          << number;
}

TEST(Tracer, IsTheSameOnSeveralThreads) {
  GridSetup setup;
  TraceOptions options = optionsFor(Integrator::RungeKutta45);
  const auto expected = reference(setup, options, 400);
  options.parallelFor = [](std::int64_t n, const auto& body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) threads.emplace_back([&, t] { body(n * t / 3, n * (t + 1) / 3); });
    for (auto& thread : threads) thread.join();
  };
  setup.pieces = world().size() + 1;
  expectSame(expected, traceSetup(world(), setup, options, 400), "3 threads");
}

TEST(Tracer, IsTheSameWhenAxesArePeriodicOrFlat) {
  GridSetup setup;
  TraceOptions options = optionsFor(Integrator::RungeKutta45);
  for (int a = 0; a < 3; ++a) options.rules.period[a] = 2 * Pi;
  options.rules.maximumLength = 40;
  auto expected = reference(setup, options);
  for (const auto& [line, e] : expected)  // nobody leaves a periodic domain
    EXPECT_TRUE(e.reason == Reason::OutOfLength || e.reason == Reason::OutOfSteps);
  setup.pieces = 2 * world().size() + 1;
  setup.blocksPerPiece = 2;
  expectSame(expected, traceSetup(world(), setup, options), "periodic");

  GridSetup plane;
  plane.flow = [](const Vector& x) {
    return Vector{-std::sin(x[0]) * std::cos(x[1]), std::cos(x[0]) * std::sin(x[1]), 0};
  };
  plane.points = {{33, 17, 1}};
  plane.hi[2] = 0;
  options = optionsFor(Integrator::RungeKutta4);
  expected = reference(plane, options);
  plane.pieces = world().size() + 2;
  plane.ghostLayers = 1;
  expectSame(expected, traceSetup(world(), plane, options), "flat");
}

/// End point after exactly the length `s` on a circle.
double errorOnCircle(Integrator integrator, double step) {
  GridSetup setup;
  setup.flow = rotation;
  setup.isDouble = true;
  setup.lo = {-2, -2, -1};
  setup.hi = {2, 2, 1};
  const auto alone = makeLoopbackTransport();
  const auto grid = makeGridDomain(*alone, setup);
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.unit = StepUnit::Length;
  options.rules.initialStep = options.rules.minimumStep = options.rules.maximumStep = step;
  options.rules.maximumLength = 4;
  const std::vector<Seed> seeds{{{1.3, 0, 0.1}, 0}};
  const auto lines = traceLines(*alone, grid->domain, seeds, options);
  const auto& line = lines.at(0);
  EXPECT_EQ(line.reason, Reason::OutOfLength);
  const auto& end = line.points.back();
  const double angle = 4 / 1.3;
  EXPECT_NEAR(end[3], angle, 0.1);  // one turn takes 2 pi
  return std::hypot(end[0] - 1.3 * std::cos(angle), end[1] - 1.3 * std::sin(angle));
}

TEST(Integrators, ConvergeWithTheirOrder) {
  const std::pair<Integrator, int> orders[] = {
      {Integrator::RungeKutta2, 2}, {Integrator::RungeKutta4, 4}, {Integrator::RungeKutta45, 5}};
  for (const auto& [integrator, order] : orders) {
    const double coarse = errorOnCircle(integrator, 0.25), fine = errorOnCircle(integrator, 0.125);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.6) << "errors " << coarse << " and " << fine;
  }
}

TEST(Integrators, KeepTheInvariantOfASaddle) {
  GridSetup setup;
  setup.flow = saddle;
  setup.lo = {-2, -2, -1};
  setup.hi = {2, 2, 1};
  setup.pieces = 3 * world().size();
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options;
  options.backward = true;
  options.rules.maximumError = 1e-9;
  options.rules.maximumStep = 0.05;  // integration time is of first order, as in vtkStreamTracer
  options.rules.initialStep = 0.02;
  std::vector<Seed> seeds;
  if (world().rank() == 0)
    for (int i = 0; i < 20; ++i) seeds.push_back({{0.05 + 0.05 * i, 1.5 - 0.06 * i, 0.2}, i});
  const auto lines = traceLines(world(), grid->domain, seeds, options);
  EXPECT_EQ(lines.size(), 40u);
  for (const auto& [number, line] : lines) {
    EXPECT_EQ(line.reason, Reason::OutOfDomain);
    ASSERT_GT(line.points.size(), 2u);
    const auto& first = line.points.front();
    for (const auto& p : line.points) {
      EXPECT_NEAR(p[0] * p[1], first[0] * first[1], 1e-5);
      // x grows with e^t: also the integration time is right.
      EXPECT_NEAR(p[0], first[0] * std::exp(p[3]), 0.05 * std::abs(p[0]));
    }
  }
}

/// One seed in a uniform flow along x with speed 2 in the box [0, 10] x [0, 1] x [0, 1].
Line alongX(const StepRules& rules, Vector seed = {0.5, 0.5, 0.5}, double speed = 2) {
  GridSetup setup;
  setup.flow = [=](const Vector&) { return Vector{speed, 0, 0}; };
  setup.points = {{11, 2, 2}};
  setup.hi = {10, 1, 1};
  setup.pieces = 5;
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options;
  options.rules = rules;
  std::vector<Seed> seeds;
  if (world().rank() == world().size() - 1) seeds.push_back({{seed[0], seed[1], seed[2]}, 0});
  return traceLines(world(), grid->domain, seeds, options).at(0);
}

StepRules fixedStep(double step) {
  StepRules rules;
  rules.integrator = Integrator::RungeKutta4;
  rules.unit = StepUnit::Length;
  rules.initialStep = step;
  return rules;
}

TEST(Limits, EndALineForTheReasonGiven) {
  StepRules rules = fixedStep(0.25);
  Line line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::OutOfDomain);
  EXPECT_NEAR(line.points.back()[0], 10, 0.25 + 1e-9);

  rules.maximumLength = 3.1;
  line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::OutOfLength);
  EXPECT_NEAR(line.points.back()[0], 3.6, 1e-9);

  rules.maximumTime = 1.2;
  line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::OutOfTime);
  EXPECT_NEAR(line.points.back()[3], 1.2, 1e-9);
  EXPECT_NEAR(line.points.back()[0], 0.5 + 2 * 1.2, 1e-9);

  rules = fixedStep(0.25);
  rules.maximumSteps = 7;  // as vtkStreamTracer: one step more than the limit
  line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::OutOfSteps);
  EXPECT_EQ(line.points.size(), 9u);
  rules.maximumSteps = 0;
  line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::OutOfSteps);
  EXPECT_EQ(line.points.size(), 2u);

  rules = fixedStep(0.25);
  rules.terminalSpeed = 2.5;
  line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::Stagnation);
  EXPECT_EQ(line.points.size(), 1u);
  EXPECT_EQ(alongX(fixedStep(0.25), {0.5, 0.5, 0.5}, 0).reason, Reason::Stagnation);

  line = alongX(fixedStep(0.25), {0.5, 0.5, 1.5});
  EXPECT_EQ(line.reason, Reason::NotInitialized);
  EXPECT_TRUE(line.points.empty());
}

TEST(Limits, AStepThatLeadsToWhereItBeginsEndsTheLine) {
  // The directions of a step of Runge-Kutta 4 across a sink are +, -, +, -, which cancel.
  GridSetup setup;
  setup.flow = [](const Vector& x) { return Vector{0, 0, 1e-4 * (3 - x[2])}; };
  setup.points = {{5, 5, 9}};
  setup.hi = {4, 4, 8};
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options;
  options.rules = fixedStep(0.5);
  std::vector<Seed> seeds;
  if (world().rank() == 0) seeds.push_back({{2.3, 1.6, 0.9}, 0});
  const Line line = traceLines(world(), grid->domain, seeds, options).at(0);
  EXPECT_EQ(line.reason, Reason::Stagnation);
  ASSERT_EQ(line.points.size(), 5u);
  EXPECT_NEAR(line.points.back()[2], 2.9, 1e-12);

  // The rest of the length is less than the rounding error of the position.
  StepRules rules = fixedStep(0.25);
  rules.maximumLength = 2 + 1e-14;
  const Line far = alongX(rules, {7.5, 0.5, 0.5}, 1e-4);
  EXPECT_EQ(far.reason, Reason::OutOfLength);
  EXPECT_NEAR(far.points.back()[0], 9.5, 1e-12);
}

TEST(Tracer, LinesStayOnAFlatGridWhenAsked) {
  GridSetup setup;
  setup.points = {{9, 11, 1}};
  setup.hi = {4, 5, 0};
  TraceOptions options = optionsFor(Integrator::RungeKutta45);
  options.rules.maximumLength = 3;
  const auto flow = [](double upward) {
    return [=](const Vector& x) { return Vector{2.5 - x[1], x[0] - 2, upward}; };
  };
  for (const bool uniform : {true, false})
    for (const bool cellCentered : {false, true}) {
      setup.uniform = uniform;
      setup.cellCentered = cellCentered;
      setup.flow = flow(0);
      options.rules.onSurface = false;
      const auto flat = reference(setup, options);
      setup.flow = flow(7);
      for (const auto& [number, line] : reference(setup, options)) {
        EXPECT_LE(line.points.size(), 1u);
        EXPECT_EQ(line.reason, flat.at(number).reason == Reason::NotInitialized
                                   ? Reason::NotInitialized
                                   : Reason::OutOfDomain);
      }
      options.rules.onSurface = true;
      expectSame(flat, reference(setup, options), "on one rank");
      setup.pieces = world().size() + 1;
      setup.blocksPerPiece = 3;
      expectSame(flat, traceSetup(world(), setup, options), "on all ranks");
      setup.pieces = setup.blocksPerPiece = 1;
    }
}

TEST(Limits, FiniteNoiseEndsNoLineAsNotFinite) {
  // Speeds from 1e-4 to 20, with directions that change from point to point.
  GridSetup setup;
  setup.flow = [](const Vector& x) {
    Vector v;
    std::uint64_t hash = 0;
    for (const double c : x) hash = mix(hash + static_cast<std::uint64_t>(std::llround(c * 1000)));
    const double speed = hash % 10 == 0 ? 20 : 1e-4;
    for (std::size_t a = 0; a < 3; ++a)
      v[a] = speed * (static_cast<double>(mix(hash + a) >> 11) / double(1ull << 52) - 1);
    return v;
  };
  setup.points = {{17, 17, 17}};
  setup.pieces = world().size();
  for (const bool cellCentered : {false, true}) {
    setup.cellCentered = cellCentered;
    for (const Integrator integrator :
         {Integrator::RungeKutta2, Integrator::RungeKutta4, Integrator::RungeKutta45}) {
      TraceOptions options = optionsFor(integrator);
      options.rules.initialStep = 0.2;
      options.rules.maximumLength = 50;
      options.rules.maximumSteps = 2000;
      int resting = 0;
      for (const auto& [number, line] :
           traceSetup(world(), setup, options, static_cast<int>(someOf(slowed() ? 200 : 500)))) {
        EXPECT_NE(line.reason, Reason::UnexpectedValue) << number;
        resting += line.reason == Reason::Stagnation;
      }
      if (integrator == Integrator::RungeKutta4 && !cellCentered) {
        EXPECT_GT(resting, 0);
      }
    }
  }
}

TEST(Tracer, TakesAsManySeedsAsThereAre) {
  // More than are planted at a time, all of which end in the call in which they begin.
  GridSetup setup;
  setup.pieces = world().size();
  const auto grid = makeGridDomain(world(), setup);
  constexpr std::int64_t Seeds = 10000;
  std::vector<Seed> seeds;
  for (std::int64_t id = world().rank(); id < Seeds; id += world().size()) {
    const double x = 0.1 + 6.0 * static_cast<double>(id) / Seeds;
    seeds.push_back({{x, 3, 3}, id});
  }
  TraceOptions options;
  options.rules.terminalSpeed = 1e6;
  const TraceResult result = trace(world(), grid->domain, {seeds.data(), seeds.size()}, options);
  const auto lines = static_cast<std::int64_t>(result.ends.size());
  EXPECT_EQ(allreduce(world(), ReduceOp::Sum, lines),
            Seeds * (int(options.forward) + int(options.backward)));
}

TEST(Limits, AZeroErrorEstimateTakesTheLargestStep) {
  StepRules rules;
  rules.unit = StepUnit::Length;
  rules.initialStep = 0.1;
  rules.minimumStep = 0.01;
  rules.maximumStep = 0.5;
  const Line line = alongX(rules);
  EXPECT_LT(line.points.size(), 25u);
}

TEST(Limits, APeriodicAxisHasNoEnd) {
  StepRules rules = fixedStep(0.25);
  rules.period[0] = 10;
  rules.maximumLength = 95;
  const Line line = alongX(rules);
  EXPECT_EQ(line.reason, Reason::OutOfLength);
  EXPECT_NEAR(line.points.back()[0], 95.5, 1e-9);  // unwrapped
}

TEST(BadInput, VelocitiesThatAreNotNumbersEndLines) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    GridSetup setup;
    setup.points = {{17, 9, 9}};
    setup.flow = [=](const Vector& x) { return Vector{x[0] > 4 ? bad : 1.0, 0, 0}; };
    setup.pieces = world().size() + 1;
    for (const Integrator integrator :
         {Integrator::RungeKutta2, Integrator::RungeKutta4, Integrator::RungeKutta45}) {
      const auto lines = traceSetup(world(), setup, optionsFor(integrator));
      int met = 0;
      for (const auto& [number, line] : lines) {
        for (const auto& p : line.points)
          for (const double v : p) EXPECT_TRUE(std::isfinite(v));
        met += line.reason == Reason::UnexpectedValue;
      }
      EXPECT_GT(met, 0);
    }
  }
}

TEST(BadInput, RulesThatNoLineCanFollowAreRefusedOnAllRanks) {
  const auto grid = makeGridDomain(world(), {});
  const auto refused = [&](const std::function<void(TraceOptions&)>& spoil) {
    TraceOptions options;
    if (world().rank() == world().size() - 1) spoil(options);
    return errorOf([&] { static_cast<void>(trace(world(), grid->domain, {}, options)); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refused([](auto& o) { o.rules.initialStep = 0; }), "");
  EXPECT_NE(refused([](auto& o) { o.rules.initialStep = -1; }), "");
  EXPECT_NE(refused([&](auto& o) { o.rules.maximumStep = nan; }), "");
  EXPECT_NE(refused([](auto& o) { o.rules.minimumStep = 1; }), "");
  EXPECT_NE(refused([](auto& o) { o.rules.maximumLength = 0; }), "");
  EXPECT_NE(refused([&](auto& o) { o.rules.maximumTime = nan; }), "");
  EXPECT_NE(refused([](auto& o) { o.rules.maximumSteps = -1; }), "");
  EXPECT_NE(refused([&](auto& o) { o.rules.terminalSpeed = nan; }), "");
  EXPECT_NE(refused([](auto& o) { o.rules.period[1] = -1; }), "");
  EXPECT_NE(refused([](auto& o) { o.forward = false; }), "");
  EXPECT_EQ(refused([](auto&) {}), "");
  TraceOptions options;
  const Seed seed{{1, 1, 1}, world().rank() == 0 ? -1 : 0};
  EXPECT_NE(errorOf([&] {
              static_cast<void>(trace(world(), grid->domain, {&seed, 1}, options));
            }).find("seed id -1 is out of range"),
            std::string::npos);
  options.rules.integrator = static_cast<Integrator>(9);
  EXPECT_NE(errorOf([&] {
              static_cast<void>(trace(world(), grid->domain, {}, options));
            }).find("integrator"),
            std::string::npos);
}

/// Carries the first component of the velocity, and looks for it in copies.
class VelocityCargo : public BlockCargo {
 public:
  std::size_t bytes(const FieldBlock& block) const override {
    return std::size_t(block.copiedPoints()) * 3 * sizeof(double);
  }
  void write(const FieldBlock& block, Writer& message) const override {
    block.writePointData(message, block.velocity().data, 3 * sizeof(double));
  }
  int add() override { return ++pieces_; }
  void read(const FieldBlock& copy, Reader& message) override {
    EXPECT_EQ(copy.piece(), pieces_);
    const auto bytes = std::size_t(copy.copiedPoints()) * 3 * sizeof(double);
    EXPECT_EQ(std::memcmp(message.raw(bytes).data(), copy.velocity().data, bytes), 0);
    ++copies;
  }
  void drop(const FieldBlock&) override { --copies; }

  int copies = 0;

 private:
  int pieces_ = 100;
};

/// Enough that work is left in a block when the answer to an offer arrives.
constexpr int LentSeeds = 240;

/// What all ranks and runs have lent.
struct Lent {
  std::int64_t loans = 0, copies = 0, dropped = 0;
};

/// Traces twice with loans at random and memory for few copies, from one rank's point of view.
void lendWithin(Transport& transport, std::uint64_t seed, const GridSetup& setup,
                TraceOptions options, const std::map<std::int64_t, Line>& expected, Lent& lent) {
  const auto grid = makeGridDomain(transport, setup);
  const auto seeds = seedsOf(setup, LentSeeds, transport.rank(), transport.size());
  std::int64_t largest = 0;
  for (const auto& block : grid->domain.blocks)
    largest =
        std::max(largest, std::int64_t(block->copySize().memory + VelocityCargo().bytes(*block)));
  const std::size_t copies = seed % 4;
  const std::size_t memory = copies * std::size_t(allreduce(transport, ReduceOp::Max, largest));
  const auto policy = makeRandomPolicy(100 * seed + std::uint64_t(transport.rank()));
  VelocityCargo cargo;
  LendingMemory kept;
  options.lending = TraceLending{{memory, policy.get(), {}}, &cargo, &kept, {}};
  for (int again = 0; again < 2; ++again) {
    const TraceResult result = trace(transport, grid->domain, seeds, options);
    expectSame(expected, gatherLines(transport, result), "seed " + std::to_string(seed));
    EXPECT_LE(result.lending.copyMemory, std::int64_t(memory));
    EXPECT_EQ(kept.copies.size(), std::size_t(cargo.copies));
    std::size_t taken = 0;
    for (const auto& [block, copy] : kept.copies)
      taken += copy->copySize().memory + cargo.bytes(*copy);
    EXPECT_LE(taken, memory);
    lent.loans += result.lending.loans;
    lent.copies += result.lending.copies;
    lent.dropped += result.lending.dropped;
  }
}

TEST(Lending, KeepsItsMemoryAndChangesNoLine) {
  if (world().size() > 1) GTEST_SKIP() << "simulates its own ranks";
  GridSetup setup;
  setup.pieces = 12;  // more than there is memory for
  setup.isDouble = true;
  TraceOptions options = optionsFor(Integrator::RungeKutta4);
  for (std::size_t a = 0; a < 3; ++a) {  // no line leaves: work is left when an answer arrives
    options.rules.period[a] = setup.hi[a] - setup.lo[a];
    options.rules.periodicOrigin[a] = setup.lo[a];
  }
  options.rules.maximumLength = 1000;
  options.rules.maximumSteps = 500;
  Lent lent;
  for (const bool onFaces : {false, true}) {
    setup.onFaces = onFaces;
    const auto expected = reference(setup, options, LentSeeds);
    for (std::uint64_t seed = 0; seed < (onFaces ? 4 : 8); ++seed) {
      const auto adversary = makeRandomAdversary(seed);
      makeAdversarialNetwork(3, *adversary)->run([&](Transport& transport) {
        lendWithin(transport, seed, setup, options, expected, lent);
      });
    }
  }
  EXPECT_GT(lent.loans, 50);
  EXPECT_GT(lent.copies, 50);
  EXPECT_GT(lent.dropped, 20);
}

/// Finds all points in its cell 0 and takes no particle any further.
class IdleBlock : public FieldBlock {
 public:
  explicit IdleBlock(BlockId id) : FieldBlock(id, 0) {}
  Box bounds() const override { return {{{0, 0, 0}}, {{1, 1, 1}}}; }
  void advance(const StepRules&, Span<Particle>, std::int64_t, TrajectoryLog&) const override {}
  bool enter(std::int32_t& entered) const override { return entered == 0; }
  std::int32_t leave(std::int32_t left) const override { return left; }
  ArrayView velocity() const override { return {}; }
  void find(Span<CellQuery> queries) const override {
    for (CellQuery& query : queries) {
      query.best.violation = 0;
      query.best.block = id();
      query.best.cell = cell;
    }
  }
  void weights(const StepRules&, Span<const TrajectoryPoint>, Weights&) const override {}
  std::vector<BlockId> neighbors() const override { return {}; }
  std::int32_t cell = 0;
};

TEST(BadInput, BlocksThatBreakTheirWordEndTheTracing) {
  const auto error = [](std::int64_t assigned, std::int32_t cell) {
    std::vector<std::unique_ptr<FieldBlock>> blocks;
    auto block = std::make_unique<IdleBlock>(world().rank());
    block->cell = cell;
    blocks.push_back(std::move(block));
    const Assignment assignment(
        std::vector<std::int64_t>(static_cast<std::size_t>(world().size()), assigned));
    const Domain domain = makeDomain(world(), assignment, std::move(blocks));
    const Seed seed{{0.5, 0.5, 0.5}, world().rank()};
    return errorOf([&] { static_cast<void>(trace(world(), domain, {&seed, 1}, {})); });
  };
  EXPECT_NE(error(2, 0).find("differ from those that its assignment gives"), std::string::npos);
  EXPECT_NE(error(1, 0).find("did not advance a particle"), std::string::npos);
  EXPECT_NE(error(1, 5).find("in a cell that its block does not have"), std::string::npos);
}

/// Makes one step of each particle in a call, and ends it with the fifth.
class OneStepBlock : public IdleBlock {
 public:
  using IdleBlock::IdleBlock;
  Box bounds() const override { return {{{double(id()), 0, 0}}, {{double(id()) + 0.9, 1, 1}}}; }
  void advance(const StepRules&, Span<Particle> particles, std::int64_t extraSteps,
               TrajectoryLog&) const override {
    EXPECT_GE(extraSteps, 1);
    calls.emplace_back();
    for (Particle& p : particles) {
      calls.back().insert(p.line);
      p.stage = 1;
      if (++p.steps < 5) continue;
      p.status = Status::Finished;
      p.reason = Reason::OutOfSteps;
    }
  }
  mutable std::vector<std::set<std::int64_t>> calls;  ///< The lines of each.
};

TEST(Tracer, LetsParticlesThatStayTakeTurns) {
  const int rank = world().rank(), ranks = world().size();
  auto block = std::make_unique<OneStepBlock>(rank);
  const OneStepBlock& mine = *block;
  std::vector<std::unique_ptr<FieldBlock>> blocks;
  blocks.push_back(std::move(block));
  const Assignment assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 1));
  const Domain domain = makeDomain(world(), assignment, std::move(blocks));
  std::vector<Seed> seeds;
  for (int i = 0; i < 100; ++i) seeds.push_back({{rank + 0.5, 0.5, 0.5}, rank * 100 + i});
  TraceOptions options;
  options.backward = true;
  for (const Schedule schedule : {Schedule::Asynchronous, Schedule::Synchronous}) {
    options.exchange.schedule = schedule;
    mine.calls.clear();
    const TraceResult result = trace(world(), domain, seeds, options);
    EXPECT_EQ(result.ends.size(), 200u);
    for (const LineEnd& end : result.ends) {
      EXPECT_EQ(end.points, 6);
      EXPECT_EQ(end.reason, Reason::OutOfSteps);
    }
    std::map<std::int64_t, int> turns;
    for (const auto& call : mine.calls)
      for (const std::int64_t line : call) ++turns[line];
    EXPECT_EQ(turns.size(), 200u);
    for (const auto& [line, count] : turns) EXPECT_EQ(count, 5) << line;
    if (ranks == 1 || schedule != Schedule::Asynchronous) continue;  // all go together
    ASSERT_GE(mine.calls.size(), 2u);
    for (const std::int64_t line : mine.calls[0]) EXPECT_EQ(mine.calls[1].count(line), 0u) << line;
  }
}

// Every particle leaves at its first stage, all lanes of a kernel at once while others wait.
TEST(BadInput, StepsBeyondTheDomainEndLines) {
  GridSetup setup;
  for (const bool uniform : {true, false}) {
    setup.uniform = uniform;
    TraceOptions options = optionsFor(Integrator::RungeKutta45);
    options.rules.initialStep = options.rules.maximumStep = 1e30;
    options.rules.maximumError = 1e30;
    options.rules.maximumLength = 1e300;
    const auto expected = reference(setup, options, 300);
    EXPECT_EQ(expected.size(), 600u);
    setup.pieces = world().size();
    EXPECT_TRUE(expected == traceSetup(world(), setup, options, 300));
  }
}

TEST(BadInput, AMonitorThatSaysStopStopsAllRanks) {
  GridSetup setup;
  setup.pieces = world().size();
  setup.blocksPerPiece = 8;  // or one turn is enough
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options = optionsFor(Integrator::RungeKutta4);
  options.rules.maximumLength = 1e9;
  for (double& period : options.rules.period) period = 2 * Pi;
  int turns = 0;
  if (world().rank() == 0) options.monitor = [&](double) { return ++turns < 2; };
  const auto result =
      trace(world(), grid->domain, seedsOf(setup, 30, world().rank(), world().size()), options);
  EXPECT_TRUE(result.aborted);
}

}  // namespace
}  // namespace tributary::testing
