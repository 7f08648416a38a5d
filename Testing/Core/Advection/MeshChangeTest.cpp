// SPDX-License-Identifier: BSD-3-Clause
// Paths of particles through intervals in which the mesh changes: exact solutions, brute force, and
// the promise that a path has the same bits for any cut of either mesh.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Advection/Paths.h"
#include "Advection/TracedLines.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Advection/MeshChange.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::testing {
namespace {

constexpr TimeInterval Interval{2, 3.5, 3.5};
double shareAt(double time) {
  return testing::shareAt(Interval, time);
}

/// One of the two meshes of an interval.
struct Field {
  std::unique_ptr<GridDomain> grid;
  std::unique_ptr<MeshDomain> mesh;
  const Domain& domain() const { return grid ? grid->domain : mesh->domain; }
};

Field fieldOf(Transport& transport, GridSetup setup) {
  setup.laterFlow = setup.flow;
  return {makeGridDomain(transport, setup), nullptr};
}

Field fieldOf(Transport& transport, MeshSetup setup) {
  setup.laterFlow = setup.flow;
  return {nullptr, makeMeshDomain(transport, setup)};
}

GridSetup gridOf(std::array<int, 3> points, Flow flow) {
  GridSetup setup;
  setup.points = points;
  setup.lo = {-1, -1, -1};
  setup.hi = {1, 1, 1};
  setup.isDouble = true;
  setup.flow = std::move(flow);
  return setup;
}

MeshSetup meshOf(MeshKind kind, int n, Flow flow, double jitter = 0.25) {
  MeshSetup setup;
  setup.mesh = makeMesh(kind, n, jitter);
  setup.isDouble = true;
  setup.flow = std::move(flow);
  return setup;
}

TraceOptions pathOptions(Integrator integrator) {
  return testing::pathOptions(Interval, integrator);
}

/// This rank's share of particles in [-half, half]^3, not near the axis of the rotation.
std::vector<Seed> particlesOf(int count, int rank, int ranks, double half) {
  return testing::particlesOf(Interval, count, rank, ranks, [half](double random) {
    const double x = 2 * random - 1;
    return std::copysign(0.1, x) + (half - 0.1) * x;
  });
}

/// Collective. The lines of a trace, on all ranks. Each of their points must be recorded in the
/// meshes that it needs, and once in each of these.
std::map<std::int64_t, Line> gather(Transport& transport, const MeshChangeTrace& result,
                                    const TraceOptions& options) {
  struct Recorded {
    TrajectoryPoint point;
    std::int64_t mesh;
  };
  std::vector<Recorded> mine;
  const auto add = [&](const std::vector<std::vector<TrajectoryLog>>& blocks, std::int64_t mesh) {
    for (const auto& logs : blocks)
      for (const TrajectoryLog& log : logs)
        for (std::size_t c = 0; c < log.chunkCount(); ++c)
          for (const TrajectoryPoint& point : log.chunk(c)) mine.push_back({point, mesh});
  };
  add(result.traced.logs, 0);
  add(result.laterLogs, 1);
  std::map<std::int64_t, Line> lines;
  std::map<std::int64_t, std::vector<int>> meshes;
  for (const LineEnd& end : allgatherv(transport, result.traced.ends)) {
    EXPECT_EQ(lines.count(end.line), 0u) << "a line ended twice";
    lines[end.line].reason = end.reason;
    lines[end.line].points.resize(std::size_t(end.points));
    meshes[end.line].resize(std::size_t(end.points), 0);
  }
  for (const auto& [p, mesh] : allgatherv(transport, mine)) {
    const auto i = std::size_t(p.index);
    Line& line = lines.at(p.line);
    EXPECT_LE(i, line.points.size());
    if (i >= line.points.size()) continue;
    int& seen = meshes.at(p.line)[i];
    EXPECT_EQ(seen & (1 << mesh), 0) << "a point recorded twice";
    const std::array<double, 4> here{p.x[0], p.x[1], p.x[2], p.time};
    if (seen != 0) {
      EXPECT_EQ(std::memcmp(&here, &line.points[i], sizeof here), 0);
    }
    seen |= 1 << mesh;
    line.points[i] = here;
  }
  std::int64_t points = 0;
  for (const auto& [number, line] : lines)
    for (std::size_t i = 0; i < line.points.size(); ++i, ++points) {
      const double share = shareThroughChange(*options.rules.interval, line.points[i][3]);
      EXPECT_EQ(meshes.at(number)[i], share == 0   ? 1
                                      : share == 1 ? 2
                                                   : 3)
          << "line " << number << ", point " << i;
    }
  EXPECT_EQ(allreduce(transport, ReduceOp::Sum, result.traced.points), points);
  return lines;
}

std::map<std::int64_t, Line> trace(Transport& transport, const Field& earlier, const Field& later,
                                   Span<const Seed> seeds, const TraceOptions& options) {
  return gather(transport,
                traceThroughChange(transport, earlier.domain(), later.domain(), seeds, options),
                options);
}

/// Collective. The largest distance of the points of paths to exact positions.
double largestError(Transport& transport, const Field& earlier, const Field& later,
                    const TraceOptions& options, const Exact& exact) {
  const auto seeds = [](int rank, int ranks) { return particlesOf(40, rank, ranks, 0.4); };
  return testing::largestError(
      trace(transport, earlier, later, seeds(transport.rank(), transport.size()), options),
      seeds(0, 1), options.rules.interval->stop, exact);
}

/// Fields in pairs of different meshes.
std::vector<std::pair<Field, Field>> pairsOf(const Flow& flow, const Flow& laterFlow) {
  const int pieces = world().size() + 1;
  const auto cut = [&](auto setup) {
    setup.pieces = pieces;
    return fieldOf(world(), std::move(setup));
  };
  std::vector<std::pair<Field, Field>> pairs;
  pairs.emplace_back(cut(meshOf(MeshKind::Tetrahedra, 6, flow)),
                     cut(meshOf(MeshKind::Tetrahedra, 5, laterFlow, 0.1)));
  pairs.emplace_back(cut(meshOf(MeshKind::Hexahedra, 4, flow, 0)),
                     cut(meshOf(MeshKind::Hexahedra, 7, laterFlow, 0)));
  pairs.emplace_back(cut(meshOf(MeshKind::Pyramids, 4, flow, 0)),
                     cut(gridOf({9, 6, 5}, laterFlow)));
  GridSetup larger = gridOf({6, 7, 8}, laterFlow);
  larger.lo = {-1.5, -1, -1};
  larger.hi = {1, 1.25, 1};
  larger.uniform = false;
  pairs.emplace_back(cut(gridOf({9, 8, 5}, flow)), cut(larger));
  return pairs;
}

TEST(MeshChange, DoesNotMatterToUniformAcceleration) {
  const Vector a{0.125, -0.25, 0.0625}, b{-0.25, 0.125, 0.1875};
  const Exact exact = accelerated(Interval, a, b);
  for (const auto& [earlier, later] : pairsOf(constantFlow(a), constantFlow(b)))
    for (const Integrator integrator : Integrators)
      EXPECT_LT(largestError(world(), earlier, later, pathOptions(integrator), exact), 1e-13);
}

TEST(MeshChange, DoesNotMatterToLinearFields) {
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.minimumStep = 1e-3;
  options.rules.maximumError = 1e-10;
  for (const auto& [earlier, later] : pairsOf(rotationAt(0.5), rotationAt(3)))
    EXPECT_LT(largestError(world(), earlier, later, options, rotated(Interval, 0.5, 3)), 1e-8);
}

TEST(MeshChange, KeepsTheOrderOfTheScheme) {
  const auto pairs = pairsOf(rotationAt(0.5), rotationAt(3));
  for (const auto& [integrator, order] :
       {std::make_pair(Integrator::RungeKutta2, 2), {Integrator::RungeKutta4, 4}}) {
    TraceOptions options = pathOptions(integrator);
    options.rules.unit = StepUnit::Length;
    const auto errorWith = [&](double step) {
      options.rules.initialStep = step;
      return largestError(world(), pairs[1].first, pairs[1].second, options,
                          rotated(Interval, 0.5, 3));
    };
    const double coarse = errorWith(0.02), fine = errorWith(0.01);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.5) << coarse << " " << fine;
  }
}

TEST(MeshChange, LeadsBackwardToWherePathsBegan) {
  const auto pairs = pairsOf(rotationAt(0.5), rotationAt(3));
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.maximumError = 1e-9;
  options.rules.minimumStep = 1e-4;
  const Seed seed{{0.3, -0.2, 0.1}, world().rank(), Interval.begin};
  for (const auto& [earlier, later] : pairs) {
    options.forward = true;
    options.backward = false;
    options.rules.interval->stop = Interval.end;
    const auto there = trace(world(), earlier, later, {&seed, 1}, options);
    const auto& end = there.at(2 * seed.id).points.back();
    const Seed back{{end[0], end[1], end[2]}, seed.id, end[3]};
    options.forward = false;
    options.backward = true;
    options.rules.interval->stop = Interval.begin;
    const auto returned = trace(world(), earlier, later, {&back, 1}, options);
    const Line& line = returned.at(2 * seed.id + 1);
    ASSERT_EQ(line.reason, Reason::OutOfTime);
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(line.points.back()[a], seed.x[a], 1e-6);
  }
}

/// The velocity in a mesh of tetrahedra, by a test of all of them. @return whether one has the
/// point
bool interpolatedInTetrahedra(const WholeMesh& mesh, const Flow& flow, const Vector& x,
                              Vector& velocity) {
  double best = -1e-9;
  bool found = false;
  for (const auto& cell : mesh.cells) {
    std::array<Vector, 4> p;
    for (std::size_t i = 0; i < 4; ++i) p[i] = mesh.points[std::size_t(cell[i])];
    const auto volume = [](const Vector& a, const Vector& b, const Vector& c, const Vector& d) {
      const auto e = [&](const Vector& q, std::size_t i) { return q[i] - a[i]; };
      return e(b, 0) * (e(c, 1) * e(d, 2) - e(c, 2) * e(d, 1)) -
             e(b, 1) * (e(c, 0) * e(d, 2) - e(c, 2) * e(d, 0)) +
             e(b, 2) * (e(c, 0) * e(d, 1) - e(c, 1) * e(d, 0));
    };
    const double all = volume(p[0], p[1], p[2], p[3]);
    std::array<double, 4> weight;
    for (std::size_t i = 0; i < 4; ++i) {
      std::array<Vector, 4> q = p;
      q[i] = x;
      weight[i] = volume(q[0], q[1], q[2], q[3]) / all;
    }
    const double least = *std::min_element(weight.begin(), weight.end());
    if (least < best) continue;
    best = least;
    found = true;
    velocity = {};
    for (std::size_t i = 0; i < 4; ++i) {
      const Vector v = flow(p[i]);
      for (std::size_t a = 0; a < 3; ++a) velocity[a] += weight[i] * v[a];
    }
  }
  return found;
}

/// The same in a uniform grid.
bool interpolatedInGrid(const GridSetup& s, const Vector& x, Vector& velocity) {
  std::array<int, 3> cell;
  Vector f;
  for (std::size_t a = 0; a < 3; ++a) {
    const double u = (x[a] - s.lo[a]) / (s.hi[a] - s.lo[a]) * (s.points[a] - 1);
    if (!(u >= 0 && u <= s.points[a] - 1)) return false;
    cell[a] = std::min(int(u), s.points[a] - 2);
    f[a] = u - cell[a];
  }
  velocity = {};
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    Vector at;
    for (int a = 0; a < 3; ++a) {
      const auto axis = std::size_t(a);
      const bool high = (corner >> a & 1) != 0;
      weight *= high ? f[axis] : 1 - f[axis];
      at[axis] = gridCoordinate(s, a, cell[axis] + int(high));
    }
    const Vector v = s.flow(at);
    for (std::size_t a = 0; a < 3; ++a) velocity[a] += weight * v[a];
  }
  return true;
}

// The fields are chaotic and not linear. The reference interpolates and integrates in another way,
// in small steps. It has an error from the edges between cells, where the velocity has kinks.
TEST(MeshChange, AgreesWithBruteForceInAChaoticField) {
  MeshSetup before = meshOf(MeshKind::Tetrahedra, 3, abc);
  GridSetup after = gridOf({7, 6, 5}, otherAbc);
  before.pieces = after.pieces = world().size() + 1;
  const Field earlier = fieldOf(world(), before), later = fieldOf(world(), after);
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.maximumError = 1e-9;
  options.rules.minimumStep = 1e-5;
  constexpr int Count = 40;
  const auto paths = trace(world(), earlier, later,
                           particlesOf(Count, world().rank(), world().size(), 0.4), options);
  int compared = 0;
  for (const Seed& seed : particlesOf(Count, 0, 1, 0.4)) {
    if (seed.id % world().size() != world().rank()) continue;
    const Line& path = paths.at(2 * seed.id);
    bool isInside = true;
    const auto velocity = [&](const Vector& x, double time) {
      Vector early{}, late{}, v;
      const double share = shareAt(time);
      isInside = isInside && interpolatedInTetrahedra(before.mesh, before.flow, x, early) &&
                 interpolatedInGrid(after, x, late);
      for (std::size_t a = 0; a < 3; ++a) v[a] = (1 - share) * early[a] + share * late[a];
      return v;
    };
    const auto moved = [](const Vector& x, double h, const Vector& v) -> Vector {
      return {x[0] + h * v[0], x[1] + h * v[1], x[2] + h * v[2]};
    };
    constexpr int Steps = 600;
    const double h = (Interval.end - seed.time) / Steps;
    Vector x{seed.x[0], seed.x[1], seed.x[2]};
    for (int step = 0; step < Steps && h > 0 && isInside; ++step) {
      const double time = seed.time + step * h;
      const Vector v1 = velocity(x, time), v2 = velocity(moved(x, h / 2, v1), time + h / 2);
      const Vector v3 = velocity(moved(x, h / 2, v2), time + h / 2);
      const Vector v4 = velocity(moved(x, h, v3), time + h);
      for (std::size_t a = 0; a < 3; ++a) x[a] += h / 6 * (v1[a] + 2 * v2[a] + 2 * v3[a] + v4[a]);
    }
    EXPECT_EQ(path.reason, isInside ? Reason::OutOfTime : Reason::OutOfDomain) << seed.id;
    if (!isInside || path.reason != Reason::OutOfTime) continue;
    ++compared;
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(path.points.back()[a], x[a], 2e-5);
  }
  EXPECT_GT(allreduce(world(), ReduceOp::Sum, std::int64_t(compared)), 5);
}

/// How a mesh is cut: into pieces and these into blocks; with one piece, other ranks have none.
struct Cut {
  int pieces, blocks, laterPieces, laterBlocks;
  Schedule schedule;
};

class MeshChangePromise : public ::testing::TestWithParam<int> {};

TEST_P(MeshChangePromise, HoldsForAnyCut) {
  const int variant = GetParam();
  constexpr std::pair<MeshKind, MeshKind> Kinds[] = {{MeshKind::Tetrahedra, MeshKind::Hexahedra},
                                                     {MeshKind::Mixed, MeshKind::Pyramids},
                                                     {MeshKind::Wedges, MeshKind::Tetrahedra},
                                                     {MeshKind::Hexahedra, MeshKind::Hexahedra}};
  MeshSetup before = meshOf(Kinds[variant].first, 4, abc);
  MeshSetup after = meshOf(Kinds[variant].second, 5, otherAbc);
  GridSetup grid = gridOf({7, 6, 5}, otherAbc);
  grid.hi[0] = 0.75;
  before.isDouble = variant % 2 == 0;
  after.cellCentered = variant == 2;
  const bool toGrid = variant == 3;
  TraceOptions options = pathOptions(Integrators[(variant + 1) % 3]);
  if (variant == 1) options.rules.interval->stop = 3.25;
  const auto alone = makeLoopbackTransport();
  const auto laterField = [&](Transport& transport) {
    return toGrid ? fieldOf(transport, grid) : fieldOf(transport, after);
  };
  const Field wholeBefore = fieldOf(*alone, before), wholeAfter = laterField(*alone);
  const auto seeds = [](Transport& t) { return particlesOf(80, t.rank(), t.size(), 1.03); };
  const auto expected = trace(*alone, wholeBefore, wholeAfter, seeds(*alone), options);
  std::map<Reason, int> reasons;
  for (const auto& [id, line] : expected) ++reasons[line.reason];
  EXPECT_GT(reasons[Reason::OutOfTime], 10);
  EXPECT_GT(reasons[Reason::OutOfDomain], 10);
  const int ranks = world().size();
  for (const Cut& cut :
       {Cut{ranks, 1, ranks + 1, 2, Schedule::Asynchronous},
        Cut{1, 3, 2 * ranks, 1, Schedule::Asynchronous},
        Cut{ranks + 2, 1, 1, 1, Schedule::Synchronous}, Cut{5, 2, 3, 1, Schedule::Neighborhood}}) {
    before.pieces = cut.pieces;
    before.blocksPerPiece = cut.blocks;
    after.pieces = grid.pieces = cut.laterPieces;
    after.blocksPerPiece = grid.blocksPerPiece = cut.laterBlocks;
    grid.ghostLayers = cut.blocks - 1;
    after.pieceOf = [&](std::int64_t cell) {  // neither as before, nor at random
      return int(cell * cut.laterPieces / std::int64_t(after.mesh.cells.size()));
    };
    options.exchange.schedule = cut.schedule;
    options.parallelFor = cut.blocks > 1 ? onThreads(3, 7) : ParallelFor(serialFor);
    const Field earlier = fieldOf(world(), before), later = laterField(world());
    EXPECT_TRUE(trace(world(), earlier, later, seeds(world()), options) == expected)
        << cut.pieces << " and " << cut.laterPieces << " pieces";
  }
}

INSTANTIATE_TEST_SUITE_P(MeshChange, MeshChangePromise, ::testing::Range(0, 4));

// With the same mesh at both ends, paths are those through a mesh that stays.
TEST(MeshChange, ToTheSameMeshGivesTheSamePaths) {
  MeshSetup setup = meshOf(MeshKind::Tetrahedra, 5, abc), after = setup;
  after.flow = otherAbc;
  setup.pieces = world().size();
  after.pieces = world().size() + 1;
  const Field earlier = fieldOf(world(), setup), later = fieldOf(world(), after);
  setup.laterFlow = otherAbc;
  const auto whole = makeMeshDomain(world(), setup);
  const auto seeds = particlesOf(60, world().rank(), world().size(), 1.03);
  for (const Integrator integrator : Integrators) {
    const TraceOptions options = pathOptions(integrator);
    EXPECT_TRUE(trace(world(), earlier, later, seeds, options) ==
                traceLines(world(), whole->domain, seeds, options));
  }
}

// The later mesh lacks the part beyond x = 0.25.
TEST(MeshChange, EndsParticlesOutsideOfOneMesh) {
  const Flow flow = constantFlow({0.5, 0, 0});
  GridSetup shorter = gridOf({5, 6, 7}, flow);
  shorter.hi[0] = 0.25;
  const Field earlier = fieldOf(world(), gridOf({8, 7, 6}, flow));
  const Field later = fieldOf(world(), shorter);
  for (const Integrator integrator : Integrators) {
    TraceOptions options = pathOptions(integrator);
    const auto lineFrom = [&](double x, double time, double stop) {
      options.rules.interval->stop = stop;
      const Seed seed{{x, 0.1, 0.2}, world().rank(), time};
      return trace(world(), earlier, later, {&seed, 1}, options).at(2 * seed.id);
    };
    const double begin = Interval.begin, end = Interval.end;
    EXPECT_EQ(lineFrom(-0.9, begin, end).reason, Reason::OutOfTime);
    const Line leaves = lineFrom(0, begin, end);  // reaches the face in the middle of the interval
    EXPECT_EQ(leaves.reason, Reason::OutOfDomain);
    EXPECT_GT(leaves.points.size(), 1u);
    EXPECT_LE(leaves.points.back()[0], 0.25 + 1e-12);
    const Line never = lineFrom(0.5, begin, end);  // only the earlier mesh counts here
    EXPECT_EQ(never.reason, Reason::OutOfDomain);
    EXPECT_EQ(never.points.size(), 1u);
    EXPECT_EQ(lineFrom(0.5, begin, begin).reason, Reason::OutOfTime);
    EXPECT_EQ(lineFrom(0.5, begin, begin).points.size(), 1u);
    EXPECT_EQ(lineFrom(0.5, begin + 0.5, end).reason, Reason::NotInitialized);
    EXPECT_EQ(lineFrom(0.5, end, end).reason, Reason::NotInitialized);
    EXPECT_TRUE(lineFrom(0.5, end, end).points.empty());
    EXPECT_EQ(lineFrom(0.1, end, end).reason, Reason::OutOfTime);
  }
}

// Data that are not numbers in one mesh do not matter where the other one alone counts.
TEST(MeshChange, HasTheVelocitiesOfOneMeshAtItsStep) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Field number = fieldOf(world(), gridOf({4, 4, 4}, constantFlow({0.1, 0, 0})));
  const Field none =
      fieldOf(world(), meshOf(MeshKind::Hexahedra, 4, constantFlow({nan, nan, nan})));
  TraceOptions options = pathOptions(Integrator::RungeKutta4);
  const auto reasonAt = [&](const Field& earlier, const Field& later, double time, double stop) {
    options.rules.interval->stop = stop;
    const Seed seed{{0.1, 0.2, 0.3}, world().rank(), time};
    return trace(world(), earlier, later, {&seed, 1}, options).at(2 * seed.id).reason;
  };
  const double begin = Interval.begin, end = Interval.end;
  EXPECT_EQ(reasonAt(number, none, begin, begin), Reason::OutOfTime);
  EXPECT_EQ(reasonAt(none, number, end, end), Reason::OutOfTime);
  EXPECT_EQ(reasonAt(none, number, begin, begin), Reason::UnexpectedValue);
  EXPECT_EQ(reasonAt(number, none, begin, end), Reason::UnexpectedValue);
}

TEST(MeshChange, RecordsEndsAlone) {
  const Field earlier = fieldOf(world(), meshOf(MeshKind::Tetrahedra, 4, abc));
  const Field later = fieldOf(world(), gridOf({6, 6, 6}, otherAbc));
  const auto seeds = particlesOf(60, world().rank(), world().size(), 1.03);
  for (const double stop : {3.25, Interval.end}) {
    TraceOptions options = pathOptions(Integrator::RungeKutta45);
    options.rules.interval->stop = stop;
    const auto lines = trace(world(), earlier, later, seeds, options);
    options.rules.record = false;
    options.recordEnds = true;
    const MeshChangeTrace ends =
        traceThroughChange(world(), earlier.domain(), later.domain(), seeds, options);
    std::map<std::pair<std::int64_t, int>, int> counts;
    std::vector<TrajectoryPoint> mine;
    for (const auto* blocks : {&ends.traced.logs, &ends.laterLogs})
      for (const auto& logs : *blocks)
        for (const TrajectoryLog& log : logs)
          for (std::size_t c = 0; c < log.chunkCount(); ++c)
            mine.insert(mine.end(), log.chunk(c).begin(), log.chunk(c).end());
    for (const TrajectoryPoint& p : allgatherv(world(), mine)) ++counts[{p.line, p.index}];
    int arrived = 0;
    for (const LineEnd& end : allgatherv(world(), ends.traced.ends)) {
      const Line& line = lines.at(end.line);
      EXPECT_EQ(end.reason, line.reason);
      EXPECT_EQ(std::size_t(end.points), line.points.size());
      EXPECT_EQ(end.block, -1);
      if (end.points == 0) continue;
      for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(end.x[a], line.points.back()[a]);
      EXPECT_EQ(end.time, line.points.back()[3]);
      const int wanted = end.reason != Reason::OutOfTime ? 0 : end.time == Interval.end ? 1 : 2;
      if (wanted > 0) {
        EXPECT_EQ((counts[{end.line, end.points - 1}]), wanted);
      }
      arrived += wanted > 0;
    }
    EXPECT_GT(arrived, 10);
  }
}

TEST(MeshChange, RefusesWhatItCannotTrace) {
  const Field field = fieldOf(world(), gridOf({4, 4, 4}, constantFlow({0.1, 0, 0})));
  const auto steady = makeGridDomain(world(), gridOf({3, 3, 3}, constantFlow({0.1, 0, 0})));
  const Seed seed{{0, 0, 0}, world().rank(), Interval.begin};
  TraceOptions options = pathOptions(Integrator::RungeKutta4);
  const auto refusal = [&](const Domain& later) {
    return errorOf([&] {
      static_cast<void>(traceThroughChange(world(), field.domain(), later, {&seed, 1}, options));
    });
  };
  EXPECT_NE(refusal(steady->domain).find("laterVelocity"), std::string::npos);
  options.rules.onSurface = true;
  EXPECT_NE(refusal(field.domain()).find("onSurface"), std::string::npos);
  options.rules.onSurface = false;
  options.rules.interval->stop = 7;
  EXPECT_NE(refusal(field.domain()).find("stop"), std::string::npos);
  options.rules.interval.reset();
  EXPECT_NE(refusal(field.domain()).find("interval"), std::string::npos);
}

}  // namespace
}  // namespace tributary::testing
