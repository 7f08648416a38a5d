// SPDX-License-Identifier: BSD-3-Clause
// Paths of particles in unsteady fields: exact solutions, the order of convergence, and the promise
// that a path has the same bits for any cut of the field.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Advection/Paths.h"
#include "Advection/TracedLines.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Balance/LendingPolicy.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::testing {
namespace {

constexpr TimeInterval Interval{2, 3.5, 3.25};

TraceOptions pathOptions(Integrator integrator) {
  return testing::pathOptions(Interval, integrator);
}

/// This rank's share of particles in [-1, 1]^3, a few of them outside it.
std::vector<Seed> particlesOf(int count, int rank, int ranks) {
  return testing::particlesOf(Interval, count, rank, ranks,
                              [](double random) { return 2.05 * random - 1.025; });
}

/// Collective. The largest distance of the points of paths to exact positions. All of these paths
/// reach the end of the interval.
double largestError(Transport& transport, const Domain& domain, const TraceOptions& options,
                    const Exact& exact) {
  std::vector<Seed> all = particlesOf(60, 0, 1), mine;
  for (Seed& seed : all)
    for (double& x : seed.x) x = std::copysign(0.1, x) + 0.28 * x;
  for (const Seed& seed : all)
    if (seed.id % transport.size() == transport.rank()) mine.push_back(seed);
  return testing::largestError(traceLines(transport, domain, mine, options), all,
                               options.rules.interval->stop, exact);
}

/// A grid over [-1, 1]^3 that changes from one field to another.
GridSetup gridSetup(Flow flow, Flow laterFlow) {
  GridSetup setup;
  setup.points = {13, 12, 11};
  setup.lo = {-1, -1, -1};
  setup.hi = {1, 1, 1};
  setup.flow = std::move(flow);
  setup.laterFlow = std::move(laterFlow);
  return setup;
}

TEST(Paths, OfUniformAccelerationAreExact) {
  const Vector a{0.125, -0.25, 0.0625}, b{-0.25, 0.125, 0.1875};  // at the beginning, at the end
  GridSetup setup = gridSetup(constantFlow(a), constantFlow(b));
  setup.pieces = world().size() + 1;
  const Exact exact = accelerated(Interval, a, b);
  for (const bool uniform : {true, false}) {
    setup.uniform = uniform;
    const auto grid = makeGridDomain(world(), setup);
    for (const Integrator integrator : Integrators)
      EXPECT_LT(largestError(world(), grid->domain, pathOptions(integrator), exact), 1e-14);
  }
}

TEST(Paths, OfAnAcceleratedRotationConvergeWithTheOrderOfTheScheme) {
  GridSetup setup = gridSetup(rotationAt(0.5), rotationAt(3));
  setup.isDouble = true;
  setup.pieces = world().size() + 1;
  const auto grid = makeGridDomain(world(), setup);
  for (const auto& [integrator, order] :
       {std::make_pair(Integrator::RungeKutta2, 2), {Integrator::RungeKutta4, 4}}) {
    TraceOptions options = pathOptions(integrator);
    options.rules.unit = StepUnit::Length;
    const auto errorWith = [&](double step) {
      options.rules.initialStep = step;
      return largestError(world(), grid->domain, options, rotated(Interval, 0.5, 3));
    };
    const double coarse = errorWith(0.02), fine = errorWith(0.01);
    EXPECT_LT(coarse, order == 2 ? 1e-2 : 1e-4);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.5) << coarse << " " << fine;
  }
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.minimumStep = 1e-4;
  for (const double error : {1e-6, 1e-9}) {
    options.rules.maximumError = error;
    EXPECT_LT(largestError(world(), grid->domain, options, rotated(Interval, 0.5, 3)), 50 * error);
  }
}

TEST(Paths, OfAnAcceleratedRotationAreRightInMeshesOfAllKinds) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Hexahedra, MeshKind::Voxels,
                              MeshKind::Wedges, MeshKind::Pyramids, MeshKind::Mixed}) {
    MeshSetup setup;
    // A plane face between cells is shared exactly.
    setup.mesh = makeMesh(kind, 6, kind == MeshKind::Tetrahedra ? 0.25 : 0);
    setup.flow = rotationAt(0.5);
    setup.laterFlow = rotationAt(3);
    setup.isDouble = true;
    setup.pieces = world().size() + 1;
    const auto mesh = makeMeshDomain(world(), setup);
    TraceOptions options = pathOptions(Integrator::RungeKutta45);
    options.rules.minimumStep = 1e-3;
    options.rules.maximumError = 1e-8;
    EXPECT_LT(largestError(world(), mesh->domain, options, rotated(Interval, 0.5, 3)), 1e-6)
        << "kind " << int(kind);
  }
}

constexpr MeshKind Kinds[] = {MeshKind::Tetrahedra, MeshKind::Hexahedra, MeshKind::Voxels,
                              MeshKind::Wedges,     MeshKind::Pyramids,  MeshKind::Mixed};

/// How far in the interval a time is.
double shareAt(double time) {
  return testing::shareAt(Interval, time);
}

/// A mesh of a kind whose points move. Voxels cannot.
MeshSetup movingSetup(MeshKind kind, Flow laterPlace) {
  MeshSetup setup;
  setup.mesh = makeMesh(kind, 6, kind == MeshKind::Tetrahedra ? 0.25 : 0);
  setup.laterPlace = std::move(laterPlace);
  setup.isDouble = true;
  setup.pieces = world().size() + 1;
  return setup;
}

/// A motion in waves, of 0.1 in each direction.
Vector waves(const Vector& x) {
  return {x[0] + 0.1 * std::sin(3 * x[1] + 1), x[1] + 0.1 * std::sin(4 * x[2]),
          x[2] + 0.1 * std::cos(3 * x[0])};
}

// The interpolation reproduces a constant flow, whatever the mesh does.
TEST(MovingMeshes, DoNotMatterInAUniformFlow) {
  const Vector v{0.25, -0.125, 0.1875};
  const Exact exact = [&](const Seed& seed, double time) -> Vector {
    Vector x;
    for (std::size_t a = 0; a < 3; ++a) x[a] = seed.x[a] + v[a] * (time - seed.time);
    return x;
  };
  for (const MeshKind kind : Kinds) {
    if (kind == MeshKind::Voxels) continue;
    for (const bool cellCentered : {false, true}) {
      MeshSetup setup = movingSetup(kind, waves);
      setup.flow = setup.laterFlow = constantFlow(v);
      setup.cellCentered = cellCentered;
      const auto mesh = makeMeshDomain(world(), setup);
      for (const Integrator integrator : Integrators)
        EXPECT_LT(largestError(world(), mesh->domain, pathOptions(integrator), exact), 1e-13)
            << "kind " << int(kind);
    }
  }
}

// A particle with the velocity of the mesh stays at its place in the cell.
TEST(MovingMeshes, CarryParticlesThatMoveWithThem) {
  const double duration = Interval.end - Interval.begin;
  const auto placeAt = [](const Vector& x, double share) -> Vector {  // a piston that also shears
    return {x[0] * (1 - 0.4 * share), x[1] + 0.25 * share * x[0], x[2] + 0.125 * share};
  };
  const auto originOf = [](const Vector& x, double share) -> Vector {
    const double first = x[0] / (1 - 0.4 * share);
    return {first, x[1] - 0.25 * share * first, x[2] - 0.125 * share};
  };
  const auto velocity = [=](const Vector& origin) {
    Vector v = placeAt(origin, 1);
    for (std::size_t a = 0; a < 3; ++a) v[a] = (v[a] - origin[a]) / duration;
    return v;
  };
  const Exact exact = [=](const Seed& seed, double time) {
    return placeAt(originOf({seed.x[0], seed.x[1], seed.x[2]}, shareAt(seed.time)), shareAt(time));
  };
  for (const MeshKind kind : Kinds) {  // voxels stay parallelepipeds
    MeshSetup setup = movingSetup(kind, [=](const Vector& x) { return placeAt(x, 1); });
    setup.flow = velocity;
    setup.laterFlow = [=](const Vector& x) { return velocity(originOf(x, 1)); };
    const auto mesh = makeMeshDomain(world(), setup);
    for (const Integrator integrator : Integrators)
      EXPECT_LT(largestError(world(), mesh->domain, pathOptions(integrator), exact), 1e-13)
          << "kind " << int(kind);
  }
}

/// A mesh that turns and grows, with rotations about the z axis by 0.5 and then by 3.
struct Turning {
  using Complex = std::complex<double>;
  static constexpr double From = 0.5, To = 3;
  const Complex last = std::polar(1.25, 0.75);

  MeshSetup setup(MeshKind kind) const {
    MeshSetup setup = movingSetup(kind, [last = last](const Vector& x) -> Vector {
      const Complex z = last * Complex(x[0], x[1]);
      return {z.real(), z.imag(), x[2]};
    });
    setup.flow = rotationAt(From);
    setup.laterFlow = rotationAt(To);
    return setup;
  }
  /// A point of the mesh is at (1 + s (last - 1)) z in the plane of complex numbers, and its
  /// velocity is i ((1 - s) From + s To last) z. The quotient is integrated over the time.
  Exact exact() const {
    return [last = last](const Seed& seed, double time) -> Vector {
      const Complex c = last - 1.0, slope = To * last - From;
      const auto integral = [&](double share) {
        return slope / c * share + (From - slope / c) / c * std::log(1.0 + c * share);
      };
      const Complex angle = (Interval.end - Interval.begin) *
                            (integral(shareAt(time)) - integral(shareAt(seed.time)));
      const Complex z = Complex(seed.x[0], seed.x[1]) * std::exp(Complex(0, 1) * angle);
      return {z.real(), z.imag(), seed.x[2]};
    };
  }
};

TEST(MovingMeshes, ThatTurnAndGrowInterpolateLinearFieldsExactly) {
  const Turning turning;
  for (const MeshKind kind : Kinds) {
    if (kind == MeshKind::Voxels) continue;
    const auto mesh = makeMeshDomain(world(), turning.setup(kind));
    TraceOptions options = pathOptions(Integrator::RungeKutta45);
    options.rules.minimumStep = 1e-3;
    options.rules.maximumError = 1e-9;
    EXPECT_LT(largestError(world(), mesh->domain, options, turning.exact()), 1e-7)
        << "kind " << int(kind);
  }
}

TEST(MovingMeshes, KeepTheOrderOfTheScheme) {
  const Turning turning;
  const auto mesh = makeMeshDomain(world(), turning.setup(MeshKind::Hexahedra));
  for (const auto& [integrator, order] :
       {std::make_pair(Integrator::RungeKutta2, 2), {Integrator::RungeKutta4, 4}}) {
    TraceOptions options = pathOptions(integrator);
    options.rules.unit = StepUnit::Length;
    const auto errorWith = [&](double step) {
      options.rules.initialStep = step;
      return largestError(world(), mesh->domain, options, turning.exact());
    };
    const double coarse = errorWith(0.02), fine = errorWith(0.01);
    EXPECT_NEAR(std::log2(coarse / fine), order, 0.5) << coarse << " " << fine;
  }
}

TEST(MovingMeshes, LeadBackwardToWherePathsBegan) {
  const auto mesh = makeMeshDomain(world(), Turning().setup(MeshKind::Tetrahedra));
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.maximumError = 1e-9;
  options.rules.minimumStep = 1e-4;
  const Seed seed{{0.3, -0.2, 0.1}, world().rank(), Interval.begin};
  const auto there = traceLines(world(), mesh->domain, {&seed, 1}, options);
  const auto& end = there.at(2 * seed.id).points.back();
  const Seed back{{end[0], end[1], end[2]}, seed.id, end[3]};
  options.forward = false;
  options.backward = true;
  options.rules.interval->stop = Interval.begin;
  const auto returned = traceLines(world(), mesh->domain, {&back, 1}, options);
  const Line& line = returned.at(2 * seed.id + 1);
  ASSERT_EQ(line.reason, Reason::OutOfTime);
  for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(line.points.back()[a], seed.x[a], 1e-6);
}

// At the end of an interval, and at the beginning of the next, the mesh is that of the stored step.
TEST(MovingMeshes, HoldTheSameParticlesAtAStoredStep) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Hexahedra}) {
    MeshSetup setup = movingSetup(kind, waves);
    setup.flow = setup.laterFlow = constantFlow({0, 0, 0});
    const auto before = makeMeshDomain(world(), setup);
    for (Vector& x : setup.mesh.points) x = waves(x);
    setup.laterPlace = [](const Vector& x) { return waves(waves(x)); };
    const auto after = makeMeshDomain(world(), setup);
    setup.laterPlace = nullptr;
    const auto still = makeMeshDomain(world(), setup);
    TraceOptions options = pathOptions(Integrator::RungeKutta4);
    std::vector<Seed> seeds = particlesOf(80, world().rank(), world().size());
    const auto reasonsAt = [&](const Domain& domain, double time) {
      options.rules.interval->stop = time;
      for (Seed& seed : seeds) seed.time = time;
      std::map<std::int64_t, Reason> reasons;
      for (const auto& [id, line] : traceLines(world(), domain, seeds, options))
        reasons[id] = line.reason;
      return reasons;
    };
    const auto expected = reasonsAt(still->domain, Interval.begin);
    EXPECT_TRUE(reasonsAt(before->domain, Interval.end) == expected);
    EXPECT_TRUE(reasonsAt(after->domain, Interval.begin) == expected);
    EXPECT_FALSE(reasonsAt(before->domain, Interval.begin) == expected);
  }
}

/// A mesh in the plane z = 0 of quadrilaterals or triangles.
WholeMesh makeSheet(bool quads) {
  const WholeMesh cubes = makeMesh(MeshKind::Hexahedra, 8, 0);
  WholeMesh sheet;
  for (std::int64_t i = 0; i < 81; ++i) {
    sheet.points.push_back(cubes.points[std::size_t(i)]);
    sheet.points.back()[2] = 0;
  }
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) {
      const std::int64_t p = 9 * j + i;
      if (quads) {
        sheet.types.push_back(9);
        sheet.cells.push_back({p, p + 1, p + 10, p + 9});
        continue;
      }
      sheet.types.insert(sheet.types.end(), 2, 5);
      sheet.cells.push_back({p, p + 1, p + 10});
      sheet.cells.push_back({p, p + 10, p + 9});
    }
  return sheet;
}

TEST(MovingMeshes, MayBeFlat) {
  for (const bool quads : {false, true}) {
    MeshSetup setup = movingSetup(MeshKind::Hexahedra, [](const Vector& x) -> Vector {
      return {x[0] + 0.1 * std::sin(3 * x[1]), x[1] + 0.1 * std::sin(4 * x[0]), 0};
    });
    setup.mesh = makeSheet(quads);
    setup.dimension = 2;
    setup.flow = setup.laterFlow = constantFlow({0.25, -0.125, 0});
    const auto mesh = makeMeshDomain(world(), setup);
    const Seed seed{{-0.3, 0.1, 0}, world().rank(), Interval.begin};
    for (const auto& [id, line] :
         traceLines(world(), mesh->domain, {&seed, 1}, pathOptions(Integrator::RungeKutta45))) {
      EXPECT_EQ(line.reason, Reason::OutOfTime);
      EXPECT_NEAR(line.points.back()[0], -0.3 + 0.25 * 1.25, 1e-13);
      EXPECT_NEAR(line.points.back()[1], 0.1 - 0.125 * 1.25, 1e-13);
    }
  }
}

/// Motions: waves; of one half; layers without volume at the end, and at the beginning.
Flow motion(int variant) {
  return [=](const Vector& x) -> Vector {
    if (variant == 1) return x[0] > 0 ? waves(x) : x;
    if (variant == 2) return {x[0], x[1], std::min(x[2], 0.5)};
    return waves(x);
  };
}

// Points that are the same at both ends of the interval give the bits of those that stay.
TEST(MovingMeshes, ThatDoNotMoveGiveTheSameBits) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup = movingSetup(kind, nullptr);
    setup.mesh = makeMesh(kind, 5);
    setup.flow = abc;
    setup.laterFlow = otherAbc;
    const auto mesh = makeMeshDomain(world(), setup);
    const auto seeds = particlesOf(80, world().rank(), world().size());
    const TraceOptions options = pathOptions(Integrator::RungeKutta45);
    const auto expected = traceLines(world(), mesh->domain, seeds, options);
    std::vector<BlockId> first;
    for (std::size_t p = 0; p < mesh->pieces.size(); ++p) {
      mesh->pieces[p].laterPoints = mesh->pieces[p].points;
      first.push_back(mesh->domain.assignment.first(world().rank()) + BlockId(p));
    }
    const Domain moving = makeDomain(world(), mesh->domain.assignment,
                                     makeMeshBlocks(world(), mesh->pieces, 1, 3, first));
    EXPECT_TRUE(traceLines(world(), moving, seeds, options) == expected) << "kind " << int(kind);
  }
}

/// The velocity of a uniform grid at a point, by a trilinear interpolation of its own.
Vector interpolated(const GridSetup& s, const Flow& flow, const Vector& x) {
  std::array<int, 3> cell;
  Vector f;
  for (std::size_t a = 0; a < 3; ++a) {
    const double u = (x[a] - s.lo[a]) / (s.hi[a] - s.lo[a]) * (s.points[a] - 1);
    cell[a] = std::min(std::max(int(u), 0), s.points[a] - 2);
    f[a] = u - cell[a];
  }
  Vector sum{};
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    Vector at;
    for (int a = 0; a < 3; ++a) {
      const auto axis = std::size_t(a);
      const bool high = (corner >> a & 1) != 0;
      weight *= high ? f[axis] : 1 - f[axis];
      at[axis] = gridCoordinate(s, a, cell[axis] + int(high));
    }
    const Vector v = flow(at);
    for (std::size_t a = 0; a < 3; ++a) sum[a] += weight * v[a];
  }
  return sum;
}

// The fields are chaotic and not linear. The reference interpolates and integrates in another way,
// in very small steps. It has an error from the edges between cells, where the velocity has kinks.
TEST(Paths, InAChaoticFieldAgreeWithSmallSteps) {
  GridSetup setup = gridSetup(abc, otherAbc);
  setup.isDouble = true;
  const auto velocity = [&](const Vector& x, double time) {
    const double share = (time - Interval.begin) / (Interval.end - Interval.begin);
    const Vector early = interpolated(setup, abc, x), late = interpolated(setup, otherAbc, x);
    Vector v;
    for (std::size_t a = 0; a < 3; ++a) v[a] = (1 - share) * early[a] + share * late[a];
    return v;
  };
  const auto moved = [](const Vector& x, double h, const Vector& v) -> Vector {
    return {x[0] + h * v[0], x[1] + h * v[1], x[2] + h * v[2]};
  };
  setup.pieces = world().size() + 1;
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.maximumError = 1e-10;
  options.rules.minimumStep = 1e-5;
  const auto seeds = particlesOf(60, 0, 1);
  const auto paths =
      traceLines(world(), grid->domain, particlesOf(60, world().rank(), world().size()), options);
  int compared = 0;
  for (const Seed& seed : seeds) {
    const Line& path = paths.at(2 * seed.id);
    if (path.reason != Reason::OutOfTime) continue;
    ++compared;
    constexpr int Steps = 4000;
    const double h = (Interval.stop - seed.time) / Steps;
    Vector x{seed.x[0], seed.x[1], seed.x[2]};
    for (int step = 0; step < Steps && h > 0; ++step) {
      const double time = seed.time + step * h;
      const Vector v1 = velocity(x, time), v2 = velocity(moved(x, h / 2, v1), time + h / 2);
      const Vector v3 = velocity(moved(x, h / 2, v2), time + h / 2);
      const Vector v4 = velocity(moved(x, h, v3), time + h);
      for (std::size_t a = 0; a < 3; ++a) x[a] += h / 6 * (v1[a] + 2 * v2[a] + 2 * v3[a] + v4[a]);
    }
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(path.points.back()[a], x[a], 5e-6);
  }
  EXPECT_GT(compared, 15);
}

TEST(Paths, BeginWhenTheFlowDoes) {
  GridSetup setup = gridSetup(constantFlow({0, 0, 0}), constantFlow({0.5, 0, 0}));
  setup.pieces = world().size();
  const auto grid = makeGridDomain(world(), setup);
  const Seed seed{{0.1, 0.2, 0.3}, world().rank(), Interval.begin};
  for (const Integrator integrator : Integrators) {
    TraceOptions options = pathOptions(integrator);
    for (const auto& [number, line] : traceLines(world(), grid->domain, {&seed, 1}, options)) {
      EXPECT_EQ(line.reason, Reason::OutOfTime);
      EXPECT_NEAR(line.points.back()[0], 0.1 + 0.5 * 1.25 * 1.25 / 1.5 / 2, 1e-14);
      EXPECT_EQ(line.points.back()[1], 0.2);
    }
    options.rules.terminalSpeed = 1e-9;
    for (const auto& [number, line] : traceLines(world(), grid->domain, {&seed, 1}, options)) {
      EXPECT_EQ(line.reason, Reason::Stagnation);
      EXPECT_EQ(line.points.size(), 1u);
    }
  }
}

TEST(Paths, ThatBeginAtRestHaveTheErrorAskedFor) {
  GridSetup setup = gridSetup(rotationAt(0), rotationAt(4));
  setup.isDouble = true;
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.maximumError = 1e-8;
  EXPECT_LT(largestError(world(), grid->domain, options, rotated(Interval, 0, 4)), 1e-6);
}

TEST(Paths, LeadBackwardToWhereTheyBegan) {
  GridSetup setup = gridSetup(rotationAt(0.5), rotationAt(3));
  setup.isDouble = true;
  setup.pieces = world().size();
  const auto grid = makeGridDomain(world(), setup);
  TraceOptions options = pathOptions(Integrator::RungeKutta45);
  options.rules.maximumError = 1e-9;
  options.rules.minimumStep = 1e-4;
  std::vector<Seed> seeds;
  for (int i = 0; i < 8; ++i)
    seeds.push_back({{i & 1 ? 0.2 : -0.2, i & 2 ? 0.2 : -0.2, i & 4 ? 0.2 : -0.2},
                     8 * world().rank() + i,
                     Interval.begin});
  const auto there = traceLines(world(), grid->domain, seeds, options);
  std::vector<Seed> ends;
  for (const Seed& seed : seeds) {
    const Line& line = there.at(2 * seed.id);
    ASSERT_EQ(line.reason, Reason::OutOfTime);
    const auto& end = line.points.back();
    ends.push_back({{end[0], end[1], end[2]}, seed.id, end[3]});
  }
  options.forward = false;
  options.backward = true;
  options.rules.interval->stop = Interval.begin;
  const auto back = traceLines(world(), grid->domain, ends, options);
  for (const Seed& seed : seeds) {
    const Line& line = back.at(2 * seed.id + 1);
    ASSERT_EQ(line.reason, Reason::OutOfTime);
    EXPECT_EQ(line.points.back()[3], Interval.begin);
    for (std::size_t a = 0; a < 3; ++a) EXPECT_NEAR(line.points.back()[a], seed.x[a], 1e-6);
  }
}

/// Whether the ends that trace() tells are those of the lines.
void expectEnds(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                const TraceOptions& options) {
  const TraceResult result = trace(transport, domain, seeds, options);
  const auto lines = gatherLines(transport, result);
  for (const LineEnd& end : result.ends) {
    const Line& line = lines.at(end.line);
    if (line.points.empty()) continue;
    for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(end.x[a], line.points.back()[a]);
    EXPECT_EQ(end.time, line.points.back()[3]);
  }
}

/// What the logs of a trace hold, on all ranks, by line.
std::map<std::int64_t, TrajectoryPoint> recorded(Transport& transport, const TraceResult& result) {
  std::vector<TrajectoryPoint> mine;
  const auto add = [&](const std::vector<TrajectoryLog>& logs) {
    for (const TrajectoryLog& log : logs)
      for (std::size_t c = 0; c < log.chunkCount(); ++c)
        mine.insert(mine.end(), log.chunk(c).begin(), log.chunk(c).end());
  };
  for (const auto& logs : result.logs) add(logs);
  for (const auto& borrowed : result.borrowed) add(borrowed.logs);
  std::map<std::int64_t, TrajectoryPoint> points;
  for (const TrajectoryPoint& point : allgatherv(transport, mine))
    EXPECT_TRUE(points.emplace(point.line, point).second) << "two points of a line";
  return points;
}

/// Collective. Traces to a time in the interval, recording ends only, and from there to its end.
/// @param know  whether the second trace knows the cells of the first one's ends
std::map<std::int64_t, Line> inTwoParts(Transport& transport, const Domain& domain,
                                        Span<const Seed> seeds, TraceOptions options, bool know) {
  const double stop = std::exchange(options.rules.interval->stop, 2.6);
  options.rules.record = false;
  options.recordEnds = true;
  const auto policy = makeRandomPolicy(std::uint64_t(transport.rank()));
  if (!calledOncePerRound(options.exchange.schedule) && transport.size() > 1)
    options.lending.emplace().options.policy = policy.get();
  const TraceResult first = trace(transport, domain, seeds, options);
  const auto points = recorded(transport, first);
  const std::vector<LineEnd> ends = allgatherv(transport, first.ends);
  std::size_t reached = 0;
  for (const LineEnd& end : ends) {
    EXPECT_EQ(points.count(end.line), end.reason == Reason::OutOfTime ? 1u : 0u);
    EXPECT_EQ(end.block >= 0, end.reason == Reason::OutOfTime);
    if (end.reason != Reason::OutOfTime) continue;
    ++reached;
    const TrajectoryPoint& point = points.at(end.line);
    EXPECT_EQ(point.index, end.points - 1);
    EXPECT_EQ(point.time, end.time);
    for (std::size_t a = 0; a < 3; ++a) EXPECT_EQ(point.x[a], end.x[a]);
  }
  EXPECT_EQ(points.size(), reached);
  EXPECT_GT(reached, 20u);
  std::vector<Seed> next;
  for (const LineEnd& end : first.ends) {
    if (end.reason != Reason::OutOfTime) continue;
    Seed& seed = next.emplace_back();
    seed = {{end.x[0], end.x[1], end.x[2]}, end.line / 2, end.time};
    if (!know) continue;
    seed.block = end.block;
    seed.cell = end.cell;
  }
  options.rules.interval->stop = stop;
  options.rules.record = true;
  options.lending.reset();
  return traceLines(transport, domain, next, options);
}

using PathCase = std::tuple<Integrator, int>;

class PathPromise : public ::testing::TestWithParam<PathCase> {};

struct Cut {
  int pieces, blocks, ghosts;
  Schedule schedule;
};

/// Two of four cuts in turns; all of them in thorough tests.
std::vector<Cut> cutsFor(int ranks, int variant) {
  const std::vector<Cut> all{{ranks, 1, 0, Schedule::Synchronous},
                             {ranks + 3, 4, 0, Schedule::Asynchronous},
                             {2 * ranks, 3, 1, Schedule::Neighborhood},
                             {5, 2, 1, Schedule::Asynchronous}};
  if (thorough()) return all;
  return variant % 2 == 0 ? std::vector<Cut>{all[0], all[1]} : std::vector<Cut>{all[2], all[3]};
}

/// Paths in a grid are the same however it is cut.
void expectPromise(GridSetup setup, Integrator integrator, int variant) {
  TraceOptions options = pathOptions(integrator);
  const auto alone = makeLoopbackTransport();
  const auto whole = makeGridDomain(*alone, setup);
  const auto expected = traceLines(*alone, whole->domain, particlesOf(80, 0, 1), options);
  const auto inParts = inTwoParts(*alone, whole->domain, particlesOf(80, 0, 1), options, true);
  EXPECT_TRUE(inTwoParts(*alone, whole->domain, particlesOf(80, 0, 1), options, false) == inParts);
  for (const Cut& cut : cutsFor(world().size(), variant)) {
    setup.pieces = cut.pieces;
    setup.blocksPerPiece = cut.blocks;
    setup.ghostLayers = cut.ghosts;
    options.exchange.schedule = cut.schedule;
    const auto grid = makeGridDomain(world(), setup);
    const auto seeds = particlesOf(80, world().rank(), world().size());
    EXPECT_TRUE(traceLines(world(), grid->domain, seeds, options) == expected)
        << cut.pieces << " pieces of " << cut.blocks << " blocks";
    expectEnds(world(), grid->domain, seeds, options);
    EXPECT_TRUE(inTwoParts(world(), grid->domain, seeds, options, true) == inParts);
  }
}

TEST_P(PathPromise, HoldsInGrids) {
  const auto [integrator, variant] = GetParam();
  GridSetup setup = gridSetup(abc, otherAbc);
  setup.uniform = (variant & 1) == 0;
  setup.isDouble = (variant & 2) != 0;
  setup.cellCentered = variant == 4;
  expectPromise(setup, integrator, variant);
}

class FacePathPromise : public ::testing::TestWithParam<Integrator> {};

TEST_P(FacePathPromise, HoldsInGrids) {
  GridSetup setup = gridSetup(abc, otherAbc);
  setup.uniform = false;
  setup.isDouble = false;
  setup.onFaces = true;
  expectPromise(setup, GetParam(), 5);
}

TEST_P(PathPromise, HoldsInMeshes) {
  const auto [integrator, variant] = GetParam();
  constexpr MeshKind Kinds[] = {MeshKind::Tetrahedra, MeshKind::Hexahedra, MeshKind::Wedges,
                                MeshKind::Pyramids, MeshKind::Mixed};
  MeshSetup setup;
  setup.mesh = makeMesh(Kinds[variant], 5);
  setup.flow = abc;
  setup.laterFlow = otherAbc;
  setup.isDouble = (variant & 1) != 0;
  setup.cellCentered = variant == 4;
  TraceOptions options = pathOptions(integrator);
  const auto alone = makeLoopbackTransport();
  const auto whole = makeMeshDomain(*alone, setup);
  const auto expected = traceLines(*alone, whole->domain, particlesOf(80, 0, 1), options);
  const auto inParts = inTwoParts(*alone, whole->domain, particlesOf(80, 0, 1), options, true);
  EXPECT_TRUE(inTwoParts(*alone, whole->domain, particlesOf(80, 0, 1), options, false) == inParts);
  for (const Cut& cut : cutsFor(world().size(), variant)) {
    setup.pieces = cut.pieces;
    setup.blocksPerPiece = cut.blocks;
    options.exchange.schedule = cut.schedule;
    const auto mesh = makeMeshDomain(world(), setup);
    const auto seeds = particlesOf(80, world().rank(), world().size());
    EXPECT_TRUE(traceLines(world(), mesh->domain, seeds, options) == expected)
        << cut.pieces << " pieces of " << cut.blocks << " blocks";
    expectEnds(world(), mesh->domain, seeds, options);
    EXPECT_TRUE(inTwoParts(world(), mesh->domain, seeds, options, true) == inParts);
  }
}

INSTANTIATE_TEST_SUITE_P(Paths, PathPromise,
                         ::testing::Combine(::testing::ValuesIn(Integrators),
                                            ::testing::Range(0, 5)));
INSTANTIATE_TEST_SUITE_P(Paths, FacePathPromise, ::testing::ValuesIn(Integrators));

// A cell that its block does not have, or one elsewhere, is not believed.
TEST(Paths, ContinueFromAnyCell) {
  MeshSetup setup;
  setup.mesh = makeMesh(MeshKind::Tetrahedra, 4);
  setup.flow = setup.laterFlow = constantFlow({0.01, 0.02, 0});
  const auto alone = makeLoopbackTransport();
  const auto mesh = makeMeshDomain(*alone, setup);
  TraceOptions options = pathOptions(Integrator::RungeKutta4);
  Seed seed{{0.1, 0.2, 0.3}, 0, Interval.begin};
  const auto found = traceLines(*alone, mesh->domain, {&seed, 1}, options);
  const TraceResult result = trace(*alone, mesh->domain, {&seed, 1}, options);
  ASSERT_EQ(result.ends.size(), 1u);
  ASSERT_GE(result.ends[0].cell, 0);
  seed.block = 0;
  for (const std::int64_t cell : {std::int64_t(-1), std::int64_t(0), std::int64_t(1) << 30,
                                  std::numeric_limits<std::int64_t>::max()}) {
    seed.cell = cell;
    EXPECT_TRUE(traceLines(*alone, mesh->domain, {&seed, 1}, options) == found) << cell;
  }
  seed.block = 1;
  EXPECT_NE(errorOf([&] {
              static_cast<void>(trace(*alone, mesh->domain, {&seed, 1}, options));
            }).find("is in block 1 of 1"),
            std::string::npos);
}

using MovingCase = std::tuple<MeshKind, int>;
class MovingPromise : public ::testing::TestWithParam<MovingCase> {};

TEST_P(MovingPromise, HoldsForAnyCut) {
  const auto [kind, variant] = GetParam();
  const Integrator integrator = Integrators[variant % 3];
  MeshSetup setup = movingSetup(kind, motion(variant));
  setup.mesh = makeMesh(kind, 5);
  if (variant == 3) {
    for (Vector& x : setup.mesh.points) x[2] = std::min(x[2], 0.5);
    setup.laterPlace = [](const Vector& x) -> Vector {
      return {x[0], x[1], x[2] < 0.5 ? x[2] : 0.5 + 0.2 * std::fabs(x[0])};
    };
  }
  setup.flow = abc;
  setup.laterFlow = otherAbc;
  setup.cellCentered = variant == 2;
  setup.globalIds = variant == 0;
  setup.pieces = 1;
  TraceOptions options = pathOptions(integrator);
  const auto alone = makeLoopbackTransport();
  const auto whole = makeMeshDomain(*alone, setup);
  const auto expected = traceLines(*alone, whole->domain, particlesOf(80, 0, 1), options);
  int moved = 0;
  for (const auto& [id, line] : expected) moved += line.points.size() > 2;
  EXPECT_GT(moved, 40);
  for (const Cut& cut : cutsFor(world().size(), variant)) {
    setup.pieces = cut.pieces;
    setup.blocksPerPiece = cut.blocks;
    // Pieces that move and others that do not.
    if (variant == 1)
      setup.pieceOf = [&](std::int64_t cell) {
        return int(cell * cut.pieces / std::int64_t(setup.mesh.cells.size()));
      };
    options.exchange.schedule = cut.schedule;
    const auto mesh = makeMeshDomain(world(), setup);
    const auto seeds = particlesOf(80, world().rank(), world().size());
    EXPECT_TRUE(traceLines(world(), mesh->domain, seeds, options) == expected)
        << cut.pieces << " pieces of " << cut.blocks << " blocks";
    expectEnds(world(), mesh->domain, seeds, options);
  }
}

INSTANTIATE_TEST_SUITE_P(MovingMeshes, MovingPromise,
                         ::testing::Combine(::testing::Values(MeshKind::Tetrahedra,
                                                              MeshKind::Hexahedra, MeshKind::Wedges,
                                                              MeshKind::Pyramids, MeshKind::Mixed),
                                            ::testing::Range(0, 4)));

// Data that are not numbers at one end of the interval do not matter at the other one.
TEST(Paths, BeginAndEndWithTheVelocitiesThere) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool atEnd : {false, true})
    for (const bool inMesh : {false, true}) {
      const Flow number = constantFlow({0.25, 0.5, 0}), none = constantFlow({nan, nan, nan});
      const Flow early = atEnd ? none : number, late = atEnd ? number : none;
      GridSetup gridOf = gridSetup(early, late);
      MeshSetup meshOf;
      meshOf.mesh = makeMesh(MeshKind::Hexahedra, 4);
      meshOf.flow = early;
      meshOf.laterFlow = late;
      const auto grid = makeGridDomain(world(), gridOf);
      const auto mesh = makeMeshDomain(world(), meshOf);
      TraceOptions options = pathOptions(Integrator::RungeKutta4);
      const double time = atEnd ? Interval.end : Interval.begin;
      options.rules.interval->stop = time;
      const Seed seed{{0.1, 0.2, 0.3}, world().rank(), time};
      const Domain& domain = inMesh ? mesh->domain : grid->domain;
      for (const auto& [id, line] : traceLines(world(), domain, {&seed, 1}, options)) {
        EXPECT_EQ(line.reason, Reason::OutOfTime);
        EXPECT_EQ(line.points.size(), 1u);
      }
    }
}

/// The lines in a mesh are the same with a cache, which has the records of its cells or not.
void expectSameWithCache(const MeshSetup& setup, const TraceOptions& options, MeshCache& cache,
                         bool isReused) {
  const auto mesh = makeMeshDomain(world(), setup);
  const auto seeds = particlesOf(50, world().rank(), world().size());
  const auto expected = traceLines(world(), mesh->domain, seeds, options);
  std::vector<BlockId> first;
  for (std::size_t p = 0; p < mesh->pieces.size(); ++p)
    first.push_back(mesh->domain.assignment.first(world().rank()) + BlockId(p));
  const Domain kept = makeDomain(world(), mesh->domain.assignment,
                                 makeMeshBlocks(world(), mesh->pieces, 1, 3, first, &cache));
  EXPECT_EQ(cache.reused(), isReused);
  EXPECT_TRUE(traceLines(world(), kept, seeds, options) == expected);
}

// Records of cells stay from interval to interval; velocities of other types, or of a steady field,
// take another room in them.
TEST(Paths, InMeshesThatAreKeptAreTheSame) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Hexahedra, MeshKind::Mixed}) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 5);
    setup.pieces = world().size() + 1;
    MeshCache cache;
    bool isFirst = true;
    for (const auto& [flow, laterFlow, isDouble] :
         {std::tuple<Flow, Flow, bool>(abc, otherAbc, false),
          {otherAbc, rotationAt(1), false},
          {rotationAt(1), nullptr, false},
          {rotationAt(1), abc, false},
          {abc, abc, true}}) {
      setup.flow = flow;
      setup.laterFlow = laterFlow;
      setup.isDouble = isDouble;
      TraceOptions options = pathOptions(Integrator::RungeKutta4);
      if (!laterFlow) options.rules.interval.reset();
      options.rules.maximumSteps = 30;  // streamlines are circles, across many pieces
      expectSameWithCache(setup, options, cache, !isFirst);
      isFirst = false;
    }
  }
}

TEST(MovingMeshes, AreKeptWhileTheyMoveAlike) {
  MeshSetup setup = movingSetup(MeshKind::Mixed, waves);
  MeshCache cache;
  const Flow other = [](const Vector& x) -> Vector { return {x[0], 0.8 * x[1], x[2]}; };
  for (const auto& [flow, place, isKept] : {std::tuple<Flow, Flow, bool>(abc, waves, false),
                                            {otherAbc, waves, true},
                                            {otherAbc, other, false},
                                            {otherAbc, nullptr, false},
                                            {otherAbc, other, false}}) {
    setup.flow = setup.laterFlow = flow;
    setup.laterPlace = place;
    expectSameWithCache(setup, pathOptions(Integrator::RungeKutta4), cache, isKept);
  }
}

TEST(BadPaths, AreRefusedOnAllRanks) {
  GridSetup setup = gridSetup(abc, otherAbc);
  setup.pieces = world().size();
  const auto grid = makeGridDomain(world(), setup);
  const auto error = [&](const std::optional<TimeInterval>& interval, double time) {
    TraceOptions options;
    options.rules.interval = interval;
    // A bad seed on one rank.
    const Seed seed{{0, 0, 0}, world().rank(), world().rank() == world().size() - 1 ? time : 2};
    return errorOf([&] { static_cast<void>(trace(world(), grid->domain, {&seed, 1}, options)); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error(Interval, 2.5), "");
  EXPECT_NE(error({}, 2).find("the field is unsteady"), std::string::npos);
  for (const TimeInterval& wrong : {TimeInterval{3, 2, 2},
                                    {2, 2, 2},
                                    {nan, 3, 2},
                                    {2, infinity, 2},
                                    {-infinity, 3, 2},
                                    {1e16, 1e16 + 4, 1e16}})
    EXPECT_NE(error(wrong, 2).find("finite times that are clearly apart"), std::string::npos);
  for (const double stop : {1.9, 3.6, nan})
    EXPECT_NE(error(TimeInterval{2, 3.5, stop}, 2).find("particles stop at"), std::string::npos);
  for (const double time : {1.9, 3.6, nan})
    EXPECT_NE(error(Interval, time).find("begins at"), std::string::npos);

  setup.laterFlow = nullptr;
  const auto steady = makeGridDomain(world(), setup);
  TraceOptions options;
  options.rules.interval = Interval;
  EXPECT_NE(errorOf([&] {
              static_cast<void>(trace(world(), steady->domain, {}, options));
            }).find("the field is steady"),
            std::string::npos);
}

TEST(BadPaths, FieldsThatDifferInKindAreRefused) {
  if (world().size() == 1) return;
  GridSetup setup = gridSetup(abc, otherAbc);
  setup.pieces = world().size();
  if (world().rank() == 0) setup.laterFlow = nullptr;
  EXPECT_NE(errorOf([&] {
              static_cast<void>(makeGridDomain(world(), setup));
            }).find("some blocks have velocities at the end of the interval"),
            std::string::npos);
}

TEST(BadPaths, CopiesOfBlocksOfAnotherKindAreRefused) {
  const auto alone = makeLoopbackTransport();
  GridSetup setup = gridSetup(abc, otherAbc);
  const auto unsteady = makeGridDomain(*alone, setup);
  setup.laterFlow = nullptr;
  const auto steady = makeGridDomain(*alone, setup);
  const auto error = [](const Domain& from, const Domain& to) {
    Writer writer;
    writeBlock(*from.blocks[0], writer);
    const Bytes message = writer.take();
    return errorOf([&] {
      Reader reader(message);
      static_cast<void>(readBlock(to, 0, 0, reader));
    });
  };
  EXPECT_EQ(error(steady->domain, steady->domain), "");
  EXPECT_EQ(error(unsteady->domain, unsteady->domain), "");
  for (const auto& [from, to] : {std::pair(&steady, &unsteady), std::pair(&unsteady, &steady)})
    EXPECT_NE(error((*from)->domain, (*to)->domain).find("changes in another way"),
              std::string::npos);
}

TEST(BadPaths, PiecesWithOtherPointsAtTheEndAreRefused) {
  const auto alone = makeLoopbackTransport();
  MeshSetup setup = movingSetup(MeshKind::Hexahedra, waves);
  setup.pieces = 1;
  setup.flow = setup.laterFlow = abc;
  const auto mesh = makeMeshDomain(*alone, setup);
  const auto error = [&](const std::function<void(MeshPiece&)>& change) {
    std::vector<MeshPiece> pieces = mesh->pieces;
    change(pieces[0]);
    return errorOf([&] { static_cast<void>(makeMeshBlocks(*alone, pieces, 1, 3, {0})); });
  };
  EXPECT_EQ(error([](MeshPiece&) {}), "");
  EXPECT_NE(error([](MeshPiece& piece) { --piece.laterPoints.tuples; }).find("points at the end"),
            std::string::npos);
  EXPECT_NE(
      error([](MeshPiece& piece) { piece.laterPoints.isDouble = false; }).find("different types"),
      std::string::npos);
  EXPECT_NE(error([](MeshPiece& piece) { piece.laterVelocity = {}; }).find("steady field"),
            std::string::npos);
  struct Others : ForeignCells {
    int evaluate(std::int64_t, const double*, std::int64_t*, double*, double*,
                 double&) const override {
      return 0;
    }
    int maximumPoints() const override { return 8; }
  } others;
  EXPECT_NE(error([&](MeshPiece& piece) { piece.foreign = &others; }).find("Tetrahedralize"),
            std::string::npos);
  TraceOptions options = pathOptions(Integrator::RungeKutta4);
  options.rules.onSurface = true;
  EXPECT_NE(errorOf([&] {
              static_cast<void>(trace(*alone, mesh->domain, {}, options));
            }).find("onSurface"),
            std::string::npos);
}

TEST(BadPaths, CopiesOfBlocksThatMoveAreReadWithChecks) {
  const auto alone = makeLoopbackTransport();
  MeshSetup setup;
  setup.mesh = makeMesh(MeshKind::Hexahedra, 2);
  setup.flow = setup.laterFlow = abc;
  setup.laterPlace = waves;
  const auto mesh = makeMeshDomain(*alone, setup);
  Writer writer;
  writeBlock(*mesh->domain.blocks[0], writer);
  const Bytes message = writer.take();
  const auto matchIn = [](const FieldBlock& block, double share) {
    CellQuery query{{0.1, 0.95, 0.2}, {}, share};
    block.find({&query, 1});
    return query.best;
  };
  const auto read = [&](const Bytes& bytes) {
    Reader reader(bytes);
    return readBlock(mesh->domain, 0, 0, reader);
  };
  const auto copy = read(message);
  EXPECT_TRUE(copy->moves());
  for (const double share : {0.0, 0.3, 1.0}) {
    const CellMatch found = matchIn(*mesh->domain.blocks[0], share), same = matchIn(*copy, share);
    EXPECT_TRUE(found.found());
    EXPECT_EQ(same.cell, found.cell);
    EXPECT_EQ(same.key[1], found.key[1]);
    EXPECT_EQ(same.content, found.content);
  }
  EXPECT_NE(matchIn(*copy, 0).key[1], matchIn(*copy, 1).key[1]);
  int refused = 0;
  for (std::size_t at = 0; at < message.size(); ++at) {
    Bytes damaged = message;
    damaged[at] = std::byte(std::to_integer<int>(damaged[at]) ^ (at % 2 != 0 ? 0x7f : 0x01));
    try {
      static_cast<void>(matchIn(*read(damaged), 0.5));
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::Memory) << at;
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(BadPaths, PiecesWithOtherVelocitiesAtTheEndAreRefused) {
  GridSetup setup = gridSetup(abc, otherAbc);
  const auto alone = makeLoopbackTransport();
  const auto grid = makeGridDomain(*alone, setup);
  for (const bool isDouble : {true, false}) {
    std::vector<StructuredPiece> pieces = grid->pieces;
    if (isDouble)
      pieces[0].laterVelocity.isDouble = true;
    else
      --pieces[0].laterVelocity.tuples;
    EXPECT_NE(errorOf([&] {
                static_cast<void>(makeStructuredBlocks(*alone, pieces, 1, {0}));
              }).find("velocities at the end of the interval"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace tributary::testing
