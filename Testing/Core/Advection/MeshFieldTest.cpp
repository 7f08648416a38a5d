// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/MeshField.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "Advection/MeshPieces.h"
#include "Advection/TracedLines.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Advection/detail/MeshLinks.h"
#include "Tributary/Advection/detail/MeshTopology.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary::testing {

using namespace detail;
namespace {

constexpr MeshKind Kinds[] = {MeshKind::Tetrahedra, MeshKind::Hexahedra, MeshKind::Voxels,
                              MeshKind::Wedges,     MeshKind::Pyramids,  MeshKind::Mixed};

Vector fastAbc(const Vector& x) {
  return abc({3 * x[0], 3 * x[1], 3 * x[2]});
}

std::vector<Seed> seedsIn(double lo, double hi, int count, Transport& transport) {
  std::vector<Seed> seeds;
  for (int i = transport.rank(); i < count; i += transport.size()) {
    Seed seed;
    seed.id = i;
    for (std::size_t a = 0; a < 3; ++a)
      seed.x[a] =
          lo + (hi - lo) * (double(mix(3 * std::uint64_t(i) + a) >> 11) / double(1ull << 53));
    if (i % 5 == 0)  // on faces and edges of the lattice, where several cells meet
      for (double& x : seed.x) x = std::round(x * 3) / 3;
    seeds.push_back(seed);
  }
  return seeds;
}

TraceOptions optionsFor(Integrator integrator) {
  TraceOptions options;
  options.rules.integrator = integrator;
  options.rules.maximumLength = 5;
  options.rules.maximumSteps = 300;
  options.backward = true;
  return options;
}

std::map<std::int64_t, Line> traceMesh(Transport& transport, const MeshSetup& setup,
                                       const TraceOptions& options, int seeds = 50) {
  const auto mesh = makeMeshDomain(transport, setup);
  return traceLines(transport, mesh->domain, seedsIn(-1.05, 1.05, seeds, transport), options);
}

std::map<std::int64_t, Line> reference(MeshSetup setup, const TraceOptions& options) {
  setup.pieces = setup.blocksPerPiece = 1;
  setup.globalIds = false;
  const auto alone = makeLoopbackTransport();
  return traceMesh(*alone, setup, options);
}

std::size_t differences(const std::map<std::int64_t, Line>& a,
                        const std::map<std::int64_t, Line>& b) {
  std::size_t count = a.size() != b.size();
  for (const auto& [line, points] : a) count += !b.count(line) || b.at(line) != points;
  return count;
}

std::size_t pointsIn(const std::map<std::int64_t, Line>& lines) {
  std::size_t points = 0;
  for (const auto& [number, line] : lines) points += line.points.size();
  return points;
}

TEST(MeshPromise, HoldsForAnyPartition) {
  for (const MeshKind kind : Kinds)
    for (const Integrator integrator : {Integrator::RungeKutta4, Integrator::RungeKutta45}) {
      MeshSetup setup;
      setup.mesh = makeMesh(kind, 6);
      setup.flow = fastAbc;
      setup.isDouble = kind == MeshKind::Wedges;
      setup.cellCentered = kind == MeshKind::Mixed;
      TraceOptions options = optionsFor(integrator);
      const auto expected = reference(setup, options);
      std::size_t points = 0, left = 0;
      for (const auto& [line, e] : expected) {
        points += e.points.size();
        left += e.reason == Reason::OutOfDomain;
      }
      EXPECT_GT(points, 600u);
      EXPECT_GT(left, 10u);
      const int ranks = world().size();
      struct Cut {
        int pieces, blocks;
        bool ids;
        Schedule schedule;
      };
      for (const Cut& cut : {Cut{ranks, 1, false, Schedule::Asynchronous},
                             Cut{2 * ranks + 1, 3, true, Schedule::Synchronous},
                             Cut{3, 16, false, Schedule::Neighborhood}}) {
        setup.pieces = cut.pieces;
        setup.blocksPerPiece = cut.blocks;
        setup.globalIds = cut.ids;
        options.exchange.schedule = cut.schedule;
        EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u)
            << "kind " << int(kind) << ", " << cut.pieces << " pieces of " << cut.blocks;
      }
    }
}

// Particles that are advanced together share the lanes of vectors, also where they are located.
TEST(MeshPromise, HoldsForLinesThatAreTracedAlone) {
  const auto transport = makeLoopbackTransport();
  for (const MeshKind kind : Kinds)
    for (const bool isDouble : {false, true}) {
      MeshSetup setup;
      setup.mesh = makeMesh(kind, 6, isDouble ? 0.6 : 0.25);
      setup.flow = fastAbc;
      setup.isDouble = isDouble;
      TraceOptions options = optionsFor(Integrator::RungeKutta45);
      options.backward = false;
      const auto mesh = makeMeshDomain(*transport, setup);
      const auto seeds = seedsIn(-1.05, 1.05, 60, *transport);
      const auto together = traceLines(*transport, mesh->domain, seeds, options);
      EXPECT_GT(pointsIn(together), 300u);
      for (const Seed& seed : seeds) {
        const auto alone = traceLines(*transport, mesh->domain, {&seed, 1}, options);
        ASSERT_EQ(alone.size(), 1u);
        EXPECT_TRUE(alone.begin()->second == together.at(alone.begin()->first))
            << "kind " << int(kind) << ", seed " << seed.id;
      }
    }
}

TEST(MeshPromise, HoldsForPeriodicMeshesAndInterfacesWithHangingNodes) {
  MeshSetup setup;
  setup.mesh = makeMesh(MeshKind::Hexahedra, 6);
  setup.flow = [](const Vector& x) { return Vector{1, 0.3 * std::sin(3 * x[0]), 0.1}; };
  TraceOptions options = optionsFor(Integrator::RungeKutta4);
  options.rules.period[0] = options.rules.period[1] = options.rules.period[2] = 2;
  for (double& origin : options.rules.periodicOrigin) origin = -1;
  auto expected = reference(setup, options);
  for (const auto& [line, e] : expected) EXPECT_EQ(e.reason, Reason::OutOfLength) << line;
  setup.pieces = 2 * world().size();
  EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u);

  // A fine mesh below z = 0, a coarse one above: no face of one is a face of the other.
  options = optionsFor(Integrator::RungeKutta4);
  options.backward = false;
  WholeMesh fine = makeMesh(MeshKind::Hexahedra, 6, 0),
            coarse = makeMesh(MeshKind::Hexahedra, 4, 0);
  for (Vector& x : fine.points) x[2] = (x[2] - 1) / 2;
  for (Vector& x : coarse.points) x[2] = (x[2] + 1) / 2;
  setup.mesh = fine;
  for (auto cell : coarse.cells) {
    for (auto& point : cell) point += std::int64_t(fine.points.size());
    setup.mesh.cells.push_back(cell);
    setup.mesh.types.push_back(12);
  }
  setup.mesh.points.insert(setup.mesh.points.end(), coarse.points.begin(), coarse.points.end());
  setup.flow = [](const Vector&) { return Vector{0.1, 0.05, 1}; };
  options.rules.unit = StepUnit::Length;
  options.rules.initialStep = 0.05;
  expected = reference(setup, options);
  int crossed = 0;
  for (const auto& [number, line] : expected) {
    if (line.points.empty()) continue;
    const auto &a = line.points.front(), &b = line.points.back();
    crossed += a[2] < 0 && b[2] > 0.9;
    // A straight line, all the way to the boundary.
    for (int axis = 0; axis < 2; ++axis)
      EXPECT_NEAR(b[std::size_t(axis)] - a[std::size_t(axis)], (axis ? 0.05 : 0.1) * (b[2] - a[2]),
                  1e-7);
    EXPECT_TRUE(b[2] > 0.94 || b[0] > 0.94 || b[1] > 0.94) << number;
  }
  EXPECT_GT(crossed, 10);
  EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u);
}

/// Appends a mesh with points of its own.
void append(WholeMesh& mesh, const WholeMesh more) {  // by value: it may be the same one
  const auto shift = std::int64_t(mesh.points.size());
  mesh.points.insert(mesh.points.end(), more.points.begin(), more.points.end());
  mesh.types.insert(mesh.types.end(), more.types.begin(), more.types.end());
  for (auto cell : more.cells) {
    for (auto& point : cell) point += shift;
    mesh.cells.push_back(cell);
  }
}

/// Traces on one block and cut in several ways, with cells scattered and in slabs. @return the
/// lines
std::map<std::int64_t, Line> expectSameForAnyCut(MeshSetup setup, const TraceOptions& options) {
  const auto expected = reference(setup, options);
  const int ranks = world().size();
  const auto cells = std::int64_t(setup.mesh.cells.size());
  for (const int pieces : {ranks, ranks + 1, 2 * ranks + 1, 5}) {
    setup.pieces = pieces;
    for (const int blocks : {1, 3}) {
      setup.blocksPerPiece = blocks;
      setup.pieceOf = nullptr;
      EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u)
          << pieces << " scattered pieces of " << blocks;
      setup.pieceOf = [=](std::int64_t cell) { return int(cell * pieces / cells); };
      EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u)
          << pieces << " slabs of " << blocks;
    }
  }
  return expected;
}

TEST(MeshPromise, HoldsForMeshesThatCoincide) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Hexahedra}) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 5);
    setup.flow = fastAbc;
    const auto once = reference(setup, optionsFor(Integrator::RungeKutta4));
    // A second mesh over the first, half of it flowing elsewhere; all faces have four sides.
    const auto points = std::int64_t(setup.mesh.points.size());
    append(setup.mesh, setup.mesh);
    setup.flowOf = [=](std::int64_t point, const Vector& x) {
      const Vector v = fastAbc(x);
      return point >= points && x[0] > 0 ? Vector{v[1], -v[2], v[0]} : v;
    };
    const auto lines = expectSameForAnyCut(setup, optionsFor(Integrator::RungeKutta4));
    EXPECT_GT(pointsIn(lines), 600u);
    EXPECT_NE(differences(once, lines), 0u);
  }
}

TEST(MeshPromise, HoldsForDoubledCells) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 5);
    setup.flow = fastAbc;
    const auto once = pointsIn(reference(setup, optionsFor(Integrator::RungeKutta4)));
    const auto count = setup.mesh.cells.size();
    for (std::size_t c = 0; c < count; c += 3)  // once or twice more
      for (std::size_t copy = 0; copy <= c % 2; ++copy) {
        setup.mesh.cells.push_back(setup.mesh.cells[c]);
        setup.mesh.types.push_back(setup.mesh.types[c]);
      }
    setup.globalIds = kind == MeshKind::Voxels;
    // A copy is as good as the cell: about the same lines as without.
    const auto points = pointsIn(expectSameForAnyCut(setup, optionsFor(Integrator::RungeKutta4)));
    EXPECT_NEAR(double(points), double(once), 0.03 * double(once)) << int(kind);
  }
}

TEST(MeshPromise, HoldsForCopiesOfPointsInAPiece) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 5);
    setup.flow = fastAbc;
    const TraceOptions options = optionsFor(Integrator::RungeKutta4);
    const auto expected = reference(setup, options);
    setup.copies = true;
    for (const bool ids : {false, true}) {
      setup.globalIds = ids;
      for (const int pieces : {1, world().size() + 1}) {
        setup.pieces = pieces;
        EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u) << int(kind);
      }
    }
  }
}

TEST(MeshPromise, HoldsForSheetsThatBranch) {
  // A plane and, standing on each of its grid lines x = const, another: up to four quads at an
  // edge.
  constexpr int N = 12;
  WholeMesh sheets;
  const auto add = [&](const std::function<Vector(double, double)>& at, int rows) {
    WholeMesh sheet;
    for (int j = 0; j <= N; ++j)
      for (int i = 0; i <= rows; ++i) sheet.points.push_back(at(2.0 * i / N, -1 + 2.0 * j / N));
    for (int j = 0; j < N; ++j)
      for (int i = 0; i < rows; ++i) {
        const std::int64_t a = j * (rows + 1) + i, b = a + rows + 1;
        sheet.cells.push_back({a, a + 1, b + 1, b});
        sheet.types.push_back(9);
      }
    append(sheets, sheet);
  };
  add([](double u, double v) { return Vector{u - 1, v, 0}; }, N);
  for (int line = 0; line <= N; ++line)
    add([&](double u, double v) { return Vector{-1 + 2.0 * line / N, v, line % 2 ? u : -u}; }, 3);
  MeshSetup setup;
  setup.mesh = sheets;
  setup.dimension = 2;
  setup.isDouble = true;
  for (const bool onSurface : {false, true}) {
    setup.flow = [](const Vector& x) { return Vector{0.8, 0.4 * std::cos(4 * x[0]), 0}; };
    TraceOptions options = optionsFor(Integrator::RungeKutta4);
    options.rules.onSurface = onSurface;
    options.rules.unit = StepUnit::Length;
    options.rules.initialStep = 0.03;
    const auto run = [&](Transport& transport) {
      const auto mesh = makeMeshDomain(transport, setup);
      std::vector<Seed> seeds;
      if (transport.rank() == 0)
        for (int i = 0; i < 40; ++i)
          seeds.push_back({{-0.9 + 0.04 * i, -0.95 + 0.047 * i, i % 4 ? 0.0 : 0.005}, i});
      return traceLines(transport, mesh->domain, seeds, options);
    };
    setup.pieces = setup.blocksPerPiece = 1;
    setup.pieceOf = nullptr;
    const auto alone = makeLoopbackTransport();
    const auto expected = run(*alone);
    EXPECT_GT(pointsIn(expected), 600u);
    for (const int pieces : {world().size(), world().size() + 1, 2 * world().size() + 1, 5})
      for (const bool slabs : {false, true}) {
        setup.pieces = pieces;
        setup.blocksPerPiece = slabs ? 1 : 2;
        const auto cells = std::int64_t(setup.mesh.cells.size());
        setup.pieceOf = nullptr;
        if (slabs) setup.pieceOf = [=](std::int64_t cell) { return int(cell * pieces / cells); };
        EXPECT_EQ(differences(expected, run(world())), 0u) << pieces << (slabs ? " slabs" : "");
      }
  }
}

TEST(MeshLinks, FacesAreCountedOverAllRanks) {
  // Face f has 1 + f % 4 sides, dealt to the ranks at random; only those with two are linked.
  constexpr std::uint64_t Faces = 400;
  for (std::uint64_t deal = 0; deal < 5; ++deal) {
    std::vector<std::uint64_t> points;
    std::vector<FaceSide> sides;
    std::size_t here = 0;
    for (std::uint64_t f = 0; f < Faces; ++f) {
      bool any = false;
      for (std::uint64_t side = 0; side < 1 + f % 4; ++side) {
        const auto random = mix(deal * 100000 + f * 10 + side);
        if (random % std::uint64_t(world().size()) != std::uint64_t(world().rank())) continue;
        std::uint64_t h[3];
        for (int i = 0; i < 3; ++i) h[i] = pointHash(std::int64_t(3 * f + std::uint64_t(i)));
        if (!any) points.insert(points.end(), h, h + 3);
        any = true;
        FaceSide mine{{}, world().rank(), std::int32_t(f), std::int32_t(side)};
        ASSERT_TRUE(faceKey(h, 3, 3, mine.key));
        sides.push_back(mine);
        here += f % 4 == 1;
      }
    }
    ErrorCollector errors;
    const auto shared = findShared(world(), errors, points);
    EXPECT_TRUE(std::is_sorted(shared.begin(), shared.end()));
    EXPECT_EQ(std::adjacent_find(shared.begin(), shared.end()), shared.end());
    // A point is shared if its face has sides on two ranks.
    for (const std::uint64_t point : points) {
      std::set<std::uint64_t> owners;
      for (std::uint64_t f = 0; f < Faces; ++f)
        for (std::uint64_t i = 0; i < 3; ++i)
          if (pointHash(std::int64_t(3 * f + i)) == point)
            for (std::uint64_t side = 0; side < 1 + f % 4; ++side)
              owners.insert(mix(deal * 100000 + f * 10 + side) % std::uint64_t(world().size()));
      EXPECT_EQ(std::binary_search(shared.begin(), shared.end(), point), owners.size() > 1);
    }
    const auto pairs = matchFaces(world(), errors, sides);
    EXPECT_FALSE(errors.anyKnown());
    EXPECT_EQ(pairs.size(), here);
    for (const FacePair& pair : pairs) {
      EXPECT_EQ(pair.mine.cell % 4, 1);
      EXPECT_EQ(pair.mine.block, world().rank());
      EXPECT_EQ(pair.other.cell, pair.mine.cell);
      EXPECT_EQ(pair.other.face, 1 - pair.mine.face);
    }
  }
}

/// What a block records of a point in the cell that it found.
TrajectoryPoint recordedAt(const FieldBlock& block, const CellMatch& match, const double x[3]) {
  Particle particle{};
  particle.cell = match.cell;
  EXPECT_TRUE(block.enter(particle.cell));
  return {{x[0], x[1], x[2]}, 0, 0, 0, particle.cell};
}

TEST(MeshField, LinearFunctionsAndTheirGradientsAreReproduced) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 4);
    setup.flow = rotation;
    setup.isDouble = true;
    setup.pieces = world().size();
    const auto mesh = makeMeshDomain(world(), setup);
    for (const auto& block : mesh->domain.blocks) {
      const MeshPiece& piece = mesh->pieces[std::size_t(block->piece())];
      const auto* x = static_cast<const double*>(piece.points.data);
      int met = 0;
      for (const Seed& seed : seedsIn(-0.999, 0.999, 200, *makeLoopbackTransport())) {
        const CellMatch match = findIn(*block, seed.x);
        if (!match.found() || match.violation > 0) continue;
        ++met;
        TrajectoryPoint p = recordedAt(*block, match, seed.x);
        Weights w;
        w.wantGradients = true;
        block->weights({}, {&p, 1}, w);
        const Vector slope{2, -3, 5};
        double sum = 0, value = 0, expected = 0, gradient[3] = {0, 0, 0};
        for (int i = 0; i < w.count[0]; ++i) {
          double f = 0;
          for (std::size_t a = 0; a < 3; ++a) f += slope[a] * x[3 * w.id(0, i) + int(a)];
          sum += w.weight(0, i);
          value += w.weight(0, i) * f;
          for (int a = 0; a < 3; ++a) gradient[a] += w.gradient(0, i, a) * f;
        }
        for (std::size_t a = 0; a < 3; ++a) {
          expected += slope[a] * seed.x[a];
          EXPECT_NEAR(gradient[a], slope[a], 1e-7);
        }
        EXPECT_NEAR(sum, 1, 1e-12);
        EXPECT_NEAR(value, expected, 1e-9) << int(kind);
      }
      EXPECT_GT(met, 80 / world().size());
    }
    // And by the kernels: a circle stays a circle.
    TraceOptions options = optionsFor(Integrator::RungeKutta45);
    options.rules.maximumError = 1e-8;
    std::vector<Seed> seeds;
    if (world().rank() == 0)
      for (int i = 0; i < 10; ++i) seeds.push_back({{0.05 + 0.08 * i, 0.1, 0.3 - 0.05 * i}, i});
    const auto lines = traceLines(world(), mesh->domain, seeds, options);
    EXPECT_EQ(lines.size(), 20u);
    for (const auto& [number, line] : lines) {
      ASSERT_GT(line.points.size(), 3u);
      const double radius = std::hypot(line.points[0][0], line.points[0][1]);
      for (const auto& p : line.points) EXPECT_NEAR(std::hypot(p[0], p[1]), radius, 1e-5);
    }
  }
}

/// Seeds are often a mesh's own points: corners, where many cells meet, and apexes of pyramids,
/// where r and s have no meaning.
TEST(MeshField, ItsOwnPointsAreFoundAndInterpolated) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 4);
    setup.flow = rotation;
    setup.pieces = world().size();
    const auto mesh = makeMeshDomain(world(), setup);
    for (const auto& block : mesh->domain.blocks) {
      const MeshPiece& piece = mesh->pieces[std::size_t(block->piece())];
      const auto* x = static_cast<const double*>(piece.points.data);
      int apexes = 0;
      for (std::int64_t n = 0; n < piece.points.tuples; ++n) {
        for (const double shift : {0.0, 1e-16, 1e-12, 1e-9}) {
          const Vector at{x[3 * n], x[3 * n + 1] + shift, x[3 * n + 2] - shift};
          const CellMatch match = findIn(*block, at.data());
          ASSERT_TRUE(match.found()) << int(kind) << " point " << n << " shifted by " << shift;
          EXPECT_LE(match.violation, 1e-7);
          const TrajectoryPoint p = recordedAt(*block, match, at.data());
          Weights w;
          w.wantGradients = true;
          block->weights({}, {&p, 1}, w);
          double where[3] = {0, 0, 0}, gradient[3] = {0, 0, 0};
          for (int i = 0; i < w.count[0]; ++i)
            for (int a = 0; a < 3; ++a) {
              where[a] += w.weight(0, i) * x[3 * w.id(0, i) + a];
              gradient[a] += w.gradient(0, i, a) * x[3 * w.id(0, i)];
            }
          for (std::size_t a = 0; a < 3; ++a) {
            EXPECT_NEAR(where[a], at[a], 1e-8) << int(kind);
            EXPECT_NEAR(gradient[a], a == 0 ? 1 : 0, 1e-6) << int(kind);
          }
          apexes += w.count[0] == 5 && w.weight(0, 4) > 0.999;
        }
      }
      EXPECT_TRUE(apexes > 0 || kind != MeshKind::Pyramids);
    }
  }
}

TEST(MeshField, EverySeedHasOneBestCell) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 5);
    setup.pieces = 2 * world().size();
    const auto mesh = makeMeshDomain(world(), setup);
    int inside = 0;
    for (const Seed& seed : seedsIn(-1, 1, 200, *makeLoopbackTransport())) {
      CellMatch best;
      for (const auto& block : mesh->domain.blocks) best = findIn(*block, seed.x, best);
      struct Found {
        double violation, size, key[3];
        bool found;
      };
      int better = 0, found = 0;
      CellMatch winner;
      for (const CellMatch& m : allgather(world(), best)) {
        found += m.found();
        if (m.found() && m.betterThan(winner)) {
          winner = m;
          ++better;
        }
      }
      EXPECT_GT(found, 0);
      inside += winner.violation == 0;
    }
    EXPECT_GT(inside, 190);
  }
}

TEST(MeshField, QueriesOfOneCallAreAnsweredAsAlone) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 5);
    setup.pieces = world().size() + 1;
    const auto mesh = makeMeshDomain(world(), setup);
    const auto seeds = seedsIn(-1.1, 1.1, 201, *makeLoopbackTransport());
    std::vector<CellMatch> before(seeds.size());  // the best of the blocks before
    std::int64_t found = 0;
    for (const auto& block : mesh->domain.blocks) {
      std::vector<CellQuery> queries;
      for (std::size_t i = 0; i < seeds.size(); ++i)
        queries.push_back({{seeds[i].x[0], seeds[i].x[1], seeds[i].x[2]}, before[i]});
      block->find(queries);
      for (std::size_t i = 0; i < seeds.size(); ++i) {
        const CellMatch alone = findIn(*block, seeds[i].x, before[i]), &together = queries[i].best;
        found += together.block == block->id();
        before[i] = together;
        EXPECT_EQ(together.cell, alone.cell);
        EXPECT_EQ(together.violation, alone.violation);
        EXPECT_EQ(together.content, alone.content);
      }
    }
    EXPECT_GT(found, 0);
  }
}

TEST(MeshField, SurfacesAreWalkedThroughTheirEdges) {
  WholeMesh sheet;
  constexpr int N = 12;
  for (int j = 0; j <= N; ++j)
    for (int i = 0; i <= N; ++i) sheet.points.push_back({-1 + 2.0 * i / N, -1 + 2.0 * j / N, 0.25});
  for (int j = 0; j < N; ++j)
    for (int i = 0; i < N; ++i) {
      const std::int64_t a = j * (N + 1) + i, b = a + 1, c = a + N + 2, d = a + N + 1;
      if (i % 3 == 0) {
        sheet.cells.insert(sheet.cells.end(), {{a, b, c}, {a, c, d}});
        sheet.types.insert(sheet.types.end(), {5, 5});
      } else if (i % 3 == 1) {
        sheet.cells.push_back({a, b, c, d});
        sheet.types.push_back(9);
      } else {
        sheet.cells.push_back({a, b, d, c});
        sheet.types.push_back(8);
      }
    }
  MeshSetup setup;
  setup.mesh = sheet;
  setup.flow = rotation;
  setup.isDouble = true;
  setup.dimension = 2;
  setup.pieces = world().size() + 2;
  const auto mesh = makeMeshDomain(world(), setup);
  TraceOptions options;
  options.rules.maximumLength = 4;
  std::vector<Seed> seeds;
  if (world().rank() == 0)
    for (int i = 0; i < 8; ++i) seeds.push_back({{0.1 + 0.1 * i, 0.01, 0.25}, i});
  const auto lines = traceLines(world(), mesh->domain, seeds, options);
  for (const auto& [number, line] : lines) {
    EXPECT_EQ(line.reason, Reason::OutOfLength);
    ASSERT_GT(line.points.size(), 5u);
    const double radius = std::hypot(line.points[0][0], line.points[0][1]);
    for (const auto& p : line.points) EXPECT_NEAR(std::hypot(p[0], p[1]), radius, 1e-4);
  }
}

TEST(MeshField, LinesStayOnACurvedSurfaceWhenAsked) {
  WholeMesh cylinder;  // about the z axis, radius 1, open at the ends
  constexpr int Around = 40, Along = 10;
  for (int k = 0; k <= Along; ++k)
    for (int i = 0; i < Around; ++i) {
      const double angle = 2 * 3.14159265358979 * i / Around;
      cylinder.points.push_back({std::cos(angle), std::sin(angle), 0.2 * k});
    }
  for (int k = 0; k < Along; ++k)
    for (int i = 0; i < Around; ++i) {
      const std::int64_t a = k * Around + i, b = k * Around + (i + 1) % Around;
      cylinder.cells.push_back({a, b, b + Around, a + Around});
      cylinder.types.push_back(9);
    }
  MeshSetup setup;
  setup.mesh = cylinder;
  setup.dimension = 2;
  TraceOptions options = optionsFor(Integrator::RungeKutta4);
  options.backward = false;
  options.rules.onSurface = true;
  options.rules.maximumLength = 9;
  const auto run = [&](Transport& transport) {
    const auto mesh = makeMeshDomain(transport, setup);
    std::vector<Seed> seeds;
    if (transport.rank() == 0)
      for (int i = 0; i < 9; ++i) seeds.push_back({{1, 0, 0.05 + 0.08 * i}, i});
    return traceLines(transport, mesh->domain, seeds, options);
  };
  const auto alone = makeLoopbackTransport();
  for (const double outward : {0.0, 0.3, 5.0}) {  // vectors that leave the surface, too
    setup.flow = [=](const Vector& x) {
      return Vector{-x[1] + outward * x[0], x[0] + outward * x[1], 0.1};
    };
    setup.pieces = setup.blocksPerPiece = 1;
    const auto expected = run(*alone);
    for (const auto& [number, line] : expected) {
      EXPECT_EQ(line.reason, Reason::OutOfLength) << outward;  // more than once around
      for (const auto& p : line.points) {
        EXPECT_LE(std::hypot(p[0], p[1]), 1 + 1e-6) << outward;
        EXPECT_GE(std::hypot(p[0], p[1]), std::cos(3.14159265358979 / Around) - 1e-6) << outward;
      }
    }
    setup.pieces = world().size() + 1;
    setup.blocksPerPiece = 2;
    EXPECT_EQ(differences(expected, run(world())), 0u) << outward;
  }
}

TEST(MeshField, DegenerateCellsDoNoHarm) {
  for (const MeshKind kind : Kinds) {
    MeshSetup setup;
    setup.mesh = makeMesh(kind, 4);
    setup.flow = fastAbc;
    const auto count = setup.mesh.cells.size();
    for (std::size_t c = 0; c < count; c += 5) {  // flat copies and cells of one point
      auto flat = setup.mesh.cells[c];            // top and bottom coincide
      const std::size_t half = kind == MeshKind::Pyramids ? 1 : flat.size() / 2;
      for (std::size_t i = half; i < flat.size(); ++i) flat[i] = flat[i % half];
      auto point = setup.mesh.cells[c];
      std::fill(point.begin(), point.end(), point[1]);
      setup.mesh.cells.push_back(flat);
      setup.mesh.cells.push_back(point);
      setup.mesh.types.insert(setup.mesh.types.end(), 2, setup.mesh.types[c]);
    }
    const TraceOptions options = optionsFor(Integrator::RungeKutta4);
    const auto expected = reference(setup, options);
    std::size_t points = 0;
    for (const auto& [line, e] : expected) {
      points += e.points.size();
      for (const auto& p : e.points)
        for (const double v : p) EXPECT_TRUE(std::isfinite(v));
    }
    EXPECT_GT(points, 400u);
    setup.pieces = world().size();
    EXPECT_EQ(differences(expected, traceMesh(world(), setup, options)), 0u);
  }
}

TEST(MeshField, PiecesWithoutACellToTraceThroughAreAccepted) {
  constexpr double Nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::uint8_t> hexahedron{12}, ghost{1};
  const std::vector<std::int64_t> offsets{0, 8}, connectivity{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<std::int64_t> ids{0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> unit{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0,
                                 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
  const auto scaled = [&](double factor, double offset) {
    std::vector<double> points = unit;
    for (double& x : points) x = factor * x + offset;
    return points;
  };
  std::vector<double> flat = unit;
  for (std::size_t i = 2; i < flat.size(); i += 3) flat[i] = 0;
  const auto make = [&](const std::vector<double>& points, bool ghosts, bool named) {
    MeshPiece piece;
    piece.points = piece.velocity = {points.data(), true, 8};
    piece.types = hexahedron;
    piece.offsets = offsets;
    piece.connectivity = connectivity;
    if (ghosts) piece.ghosts = ghost;
    if (named) piece.globalPointIds = ids;
    return piece;
  };
  // Rank 1 has no piece; of the others only rank 2 has ids.
  const auto expectCells = [&](bool any, const std::vector<double>& points, bool ghosts) {
    std::vector<MeshPiece> pieces;
    if (world().rank() != 1) pieces.push_back(make(points, ghosts, world().rank() == 2));
    for (const int perPiece : {1, 2}) {
      const std::vector<BlockId> first(pieces.size(), perPiece * world().rank());
      const auto blocks = makeMeshBlocks(world(), pieces, perPiece, 3, first);
      ASSERT_EQ(blocks.size(), std::size_t(perPiece) * pieces.size());
      for (const auto& block : blocks)
        EXPECT_EQ(block->bounds().empty(), !any || block->id() != perPiece * world().rank());
    }
  };
  for (const auto& points :
       {flat, scaled(0, 1), scaled(Nan, 0), scaled(Infinity, 0), scaled(1, Infinity),
        scaled(1e150, 0), scaled(1e-160, 0), scaled(5e-324, 0), scaled(1, 1e20)})
    expectCells(false, points, false);
  expectCells(false, unit, true);
  expectCells(true, unit, false);
}

TEST(MeshField, MalformedPiecesAreRefusedOnAllRanks) {
  const std::vector<double> points{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, velocity(12, 1.0);
  const auto refused = [&](const std::function<void(MeshPiece&)>& spoil) {
    static const std::vector<std::uint8_t> types{10};
    static const std::vector<std::int64_t> offsets{0, 4}, connectivity{0, 1, 2, 3};
    MeshPiece piece;
    piece.points = {points.data(), true, 4};
    piece.velocity = {velocity.data(), true, 4};
    piece.types = types;
    piece.offsets = offsets;
    piece.connectivity = connectivity;
    std::vector<MeshPiece> pieces;
    if (world().rank() == 0) {
      spoil(piece);
      pieces.push_back(piece);
    }
    const std::vector<BlockId> first(pieces.size(), 0);
    return errorOf([&] { static_cast<void>(makeMeshBlocks(world(), pieces, 1, 3, first)); });
  };
  const std::vector<std::int64_t> tooFar{0, 5}, backwards{4, 0}, one{0}, negative{0, 1, 2, -3},
      beyond{0, 1, 2, 4};
  const std::vector<std::uint8_t> hexahedron{12}, ghosts{0, 0};
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_NE(refused([&](auto& p) { p.offsets = tooFar; }), "");
  EXPECT_NE(refused([&](auto& p) { p.offsets = backwards; }), "");
  EXPECT_NE(refused([&](auto& p) { p.offsets = one; }), "");
  EXPECT_NE(refused([&](auto& p) { p.connectivity = negative; }), "");
  EXPECT_NE(refused([&](auto& p) { p.connectivity = beyond; }), "");
  EXPECT_NE(refused([&](auto& p) { p.types = hexahedron; }), "");
  EXPECT_NE(refused([&](auto& p) { p.ghosts = ghosts; }), "");
  EXPECT_NE(refused([](auto& p) { p.velocity.tuples = 3; }), "");
  EXPECT_NE(refused([](auto& p) { p.cellCentered = true; }), "");
  const std::vector<std::int64_t> ids{1, 2, 3}, below{-1, 3}, falling{0, 4, 3};
  EXPECT_NE(refused([&](auto& p) { p.globalPointIds = ids; }).find("global ids"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& p) { p.offsets = below; }).find("malformed offsets"),
            std::string::npos);
  EXPECT_NE(refused([&](auto& p) {
              p.types = ghosts;
              p.offsets = falling;
            }).find("malformed offsets"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              static_cast<void>(makeMeshBlocks(world(), {}, 1, 3, {7}));
            }).find("needs a block id"),
            std::string::npos);
  MeshPiece empty;
  const std::vector<std::int64_t> none{0};
  empty.offsets = none;
  EXPECT_NE(errorOf([&] {
              static_cast<void>(makeMeshBlocks(world(), {empty}, 0, 3, {0}));
            }).find("give at least 1"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              static_cast<void>(makeMeshBlocks(world(), {empty}, 1, 1, {0}));
            }).find("dimension"),
            std::string::npos);
}

/// A part of a curvilinear grid, around an axis: as a grid, and as a mesh of the same cells.
struct GridPart {
  std::vector<double> points, velocity;
  std::vector<std::uint8_t> types, ghosts;
  std::vector<std::int64_t> offsets{0}, connectivity;
  MeshPiece grid, mesh;

  /// @param angles  of cells around; if it is closed, the last points are those of the first ones
  /// @param layer   of cells along the radius
  GridPart(int angles, int layer, int layers, bool isClosed, int height) {
    const std::array<std::int64_t, 3> count{angles + 1, 2, height + 1};
    for (int k = 0; k <= height; ++k)
      for (int j = layer; j <= layer + 1; ++j)
        for (int i = 0; i <= angles; ++i) {
          const double turn = isClosed ? 2 * M_PI : 4.5;
          const double angle = turn * (isClosed ? i % angles : i) / angles;
          const double radius = 0.3 + 0.7 * j / layers;
          const Vector x{radius * std::cos(angle), radius * std::sin(angle),
                         height == 0 ? 0 : -1 + 2.0 * k / height + 0.1 * radius};
          Vector v = fastAbc(x);
          if (height == 0) v[2] = 0;
          points.insert(points.end(), x.begin(), x.end());
          velocity.insert(velocity.end(), v.begin(), v.end());
        }
    const auto pointAt = [&](int i, int j, int k) {
      return (std::int64_t(k) * count[1] + j) * count[0] + i;
    };
    for (int k = 0; k < std::max(height, 1); ++k)
      for (int i = 0; i < angles; ++i) {
        types.push_back(height == 0 ? 9 : 12);
        ghosts.push_back(layer == 1 && i == 3 ? 32 : 0);  // hidden
        for (int top = 0; top <= (height == 0 ? 0 : 1); ++top)
          for (const auto& corner : {std::array{0, 0}, {1, 0}, {1, 1}, {0, 1}})
            connectivity.push_back(pointAt(i + corner[0], corner[1], k + top));
        offsets.push_back(std::int64_t(connectivity.size()));
      }
    mesh.points = {points.data(), true, std::int64_t(points.size() / 3)};
    mesh.velocity = {velocity.data(), true, std::int64_t(velocity.size() / 3)};
    mesh.types = types;
    mesh.ghosts = ghosts;
    grid = mesh;
    grid.grid.emplace(count);
    mesh.offsets = offsets;
    mesh.connectivity = connectivity;
  }
};

TEST(MeshField, CurvilinearGridsAreMeshesOfTheSameCells) {
  constexpr int Angles = 12;
  for (const int height : {4, 0})
    for (const bool isClosed : {false, true})
      for (const int blocksPerPiece : {1, 3}) {
        const int layers = world().size() + 2;
        std::vector<std::unique_ptr<GridPart>> parts;
        for (int layer = world().rank(); layer < layers; layer += world().size())
          parts.push_back(std::make_unique<GridPart>(Angles, layer, layers, isClosed, height));
        std::map<std::int64_t, Line> lines[2];
        for (const bool asGrid : {false, true}) {
          std::vector<MeshPiece> pieces;
          for (const auto& part : parts) pieces.push_back(asGrid ? part->grid : part->mesh);
          const auto assignment =
              Assignment::gather(world(), std::int64_t(pieces.size()) * blocksPerPiece);
          std::vector<BlockId> first;
          for (std::size_t p = 0; p < pieces.size(); ++p) {
            pieces[p].piece = int(p);
            first.push_back(assignment.first(world().rank()) + BlockId(p) * blocksPerPiece);
          }
          const Domain domain = makeDomain(
              world(), assignment,
              makeMeshBlocks(world(), pieces, blocksPerPiece, height == 0 ? 2 : 3, first));
          auto seeds = seedsIn(-0.9, 0.9, 60, world());
          if (height == 0)
            for (Seed& seed : seeds) seed.x[2] = 0;
          lines[asGrid] = traceLines(world(), domain, seeds, optionsFor(Integrator::RungeKutta4));
        }
        EXPECT_GT(pointsIn(lines[0]), 200u);
        EXPECT_EQ(differences(lines[0], lines[1]), 0u)
            << "height " << height << ", closed " << isClosed << ", blocks " << blocksPerPiece;
      }
}

TEST(MeshField, GridsThatDoNotFitTheirArraysAreRefusedOnAllRanks) {
  const auto refused = [&](const std::function<void(MeshPiece&)>& spoil) {
    GridPart part(4, 0, 2, false, 2);
    std::vector<MeshPiece> pieces;
    if (world().rank() == 0) {
      spoil(part.grid);
      pieces.push_back(part.grid);
    }
    const std::vector<BlockId> first(pieces.size(), 0);
    return errorOf([&] { static_cast<void>(makeMeshBlocks(world(), pieces, 1, 3, first)); });
  };
  const std::vector<std::uint8_t> voxels(8, 11);
  EXPECT_EQ(refused([](auto&) {}), "");
  const auto expectSizes = [](const std::string& error) {
    EXPECT_NE(error.find("for a grid with"), std::string::npos) << error;
  };
  expectSizes(refused([](auto& p) { p.grid.emplace(std::array<std::int64_t, 3>{5, 3, 3}); }));
  expectSizes(refused([](auto& p) { --p.points.tuples, --p.velocity.tuples; }));
  EXPECT_NE(refused([&](auto& p) { p.types = voxels; }).find("other cells"), std::string::npos);
  const std::int64_t many = std::int64_t{1} << 31;
  for (const std::array<std::int64_t, 3>& points :
       {std::array<std::int64_t, 3>{0, 3, 3}, {3, -1, 3}, {many, many, many}})
    EXPECT_NE(errorOf([&] { static_cast<void>(StructuredCells(points)); }), "");
}

/// Grids that are flat along any axis, by a search for the cells with a common edge.
TEST(MeshField, CellsOfGridsAreThoseOfTheirPoints) {
  for (const std::array<std::int64_t, 3>& points :
       {std::array<std::int64_t, 3>{3, 4, 5}, {1, 4, 5}, {3, 1, 5}, {3, 4, 1}}) {
    const StructuredCells grid(points);
    EXPECT_EQ(grid.dimension(), 3 - int(std::count(points.begin(), points.end(), 1)));
    std::map<std::set<std::int64_t>, std::vector<std::pair<std::int64_t, int>>> sides;
    for (std::int64_t cell = 0; cell < grid.cellCount(); ++cell) {
      const CellPointIds ids = grid.pointsOf(cell);
      ASSERT_EQ(ids.count, std::int64_t{1} << grid.dimension());
      std::set<std::int64_t> all;
      for (std::int64_t i = 0; i < ids.count; ++i) all.insert(ids[i]);
      EXPECT_EQ(all.size(), std::size_t(ids.count));
      EXPECT_LT(*all.rbegin(), grid.pointCount());
      constexpr int Faces[2][6][4] = {
          {{0, 3, 0, 3}, {1, 2, 1, 2}, {0, 1, 0, 1}, {3, 2, 3, 2}},
          {{0, 3, 7, 4}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 2, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}}};
      for (int face = 0; face < 2 * grid.dimension(); ++face) {
        std::set<std::int64_t> corners;
        for (const int i : Faces[grid.dimension() - 2][face]) corners.insert(ids[i]);
        sides[corners].push_back({cell, face});
      }
    }
    for (const auto& [corners, cells] : sides) {
      ASSERT_LE(cells.size(), 2u);
      for (const auto& [cell, face] : cells) {
        const std::int64_t other = cells.size() == 1 ? -1 : cells[cells[0].first == cell].first;
        EXPECT_EQ(grid.neighborOf(cell, face), other);
      }
    }
  }
}

/// The neighbors of all cells of a piece, from the cells with each face, by coordinates.
std::vector<std::vector<Neighbor>> neighborsByCoordinates(const MeshTopology& topology) {
  const MeshPiece& piece = topology.piece();
  const auto cells = std::int64_t(piece.types.size());
  std::map<std::set<Point>, std::vector<std::pair<std::int64_t, int>>> sides;
  std::vector<std::vector<Neighbor>> neighbors(piece.types.size());
  for (const bool isKnown : {false, true})
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      if (!topology.isUsed(cell)) continue;
      const CellPoints points = pointsOf(piece, cell);
      const CellTopology& shape = topologyOf(shapeOf(points.type));
      for (int face = 0; face < shape.faces; ++face) {
        std::set<Point> corners;
        for (int i = 0; i < shape.faceSize[face]; ++i)
          corners.insert(tuple(piece.points, points[shape.face[face][i]]));
        auto& list = sides[corners];
        if (!isKnown) {
          list.push_back({cell, face});
          continue;
        }
        Neighbor neighbor;
        if (list.size() == 2 && list[0].first != list[1].first) {
          const auto& [other, otherFace] = list[list[0].first == cell];
          neighbor = {topology.firstBlock() + topology.blockOf(other), std::int32_t(other),
                      std::int8_t(otherFace)};
        }
        neighbors[std::size_t(cell)].push_back(neighbor);
      }
    }
  return neighbors;
}

void expectNeighbors(const MeshPiece& piece, int blocks, int dimension, const std::string& what) {
  const auto make = [&](const ParallelFor& loop = serialFor) {
    return std::make_unique<MeshTopology>(piece, blocks, dimension, 7, loop);
  };
  auto fresh = make();
  const auto expected = neighborsByCoordinates(*fresh);
  const auto count = [&](const MeshTopology& topology, std::size_t cell) {
    std::size_t wrong = 0;
    for (std::size_t face = 0; face < expected[cell].size(); ++face) {
      const Neighbor one = topology.neighborOf(std::int32_t(cell), int(face)),
                     other = expected[cell][face];
      wrong += one.block != other.block || one.cell != other.cell || one.face != other.face;
    }
    return wrong;
  };
  std::size_t wrong = 0;
  for (std::size_t cell = 0; cell < expected.size(); ++cell) {  // without tables
    if (cell % 2 == 0) fresh = make(cell % 4 == 0 ? onThreads(2, 5) : ParallelFor(serialFor));
    wrong += count(*fresh, cell);
  }
  EXPECT_EQ(wrong, 0u) << what;
  for (int round = 0; round < 2; ++round)  // with them, after some searches
    for (std::size_t cell = 0; cell < expected.size(); ++cell) wrong += count(*fresh, cell);
  EXPECT_EQ(wrong, 0u) << what;
}

TEST(MeshTopology, NeighborsAreTheSameWithAndWithoutTables) {
  const auto transport = makeLoopbackTransport();
  for (const MeshKind kind : Kinds)
    for (const bool copies : {false, true})
      for (const bool doubled : {false, true}) {
        MeshSetup setup;
        setup.mesh = makeMesh(kind, 4);
        setup.copies = copies;
        if (doubled)
          for (std::size_t c = 0; c < 60; c += 3) {
            setup.mesh.cells.push_back(setup.mesh.cells[c]);
            setup.mesh.types.push_back(setup.mesh.types[c]);
          }
        const auto mesh = makeMeshDomain(*transport, setup);
        for (const int blocks : {1, 3})
          expectNeighbors(mesh->pieces[0], blocks, 3,
                          "kind " + std::to_string(int(kind)) + (copies ? ", copies" : "") +
                              (doubled ? ", doubled, " : ", ") + std::to_string(blocks));
      }
  for (const int height : {5, 0})
    for (const bool isClosed : {false, true})
      for (const int layer : {0, 1}) {
        const GridPart part(9, layer, 3, isClosed, height);
        const int dimension = height == 0 ? 2 : 3;
        expectNeighbors(part.grid, 1, dimension, "grid " + std::to_string(height));
        expectNeighbors(part.grid, 2, dimension, "grid " + std::to_string(height));
        expectNeighbors(part.mesh, 1, dimension, "mesh " + std::to_string(height));
      }
}

TEST(MeshTopology, SearchesAreTheSameWithAndWithoutBins) {
  const auto transport = makeLoopbackTransport();
  for (const MeshKind kind : Kinds)
    for (const int blocks : {1, 3}) {
      MeshSetup setup;
      setup.mesh = makeMesh(kind, 4);
      setup.flow = abc;
      setup.blocksPerPiece = blocks;
      const auto find = [&](const Domain& domain, int n) {
        const auto random = [&](int a) {
          return double(mix(std::uint64_t(3 * n + a)) >> 11) / double(1ull << 53);
        };
        const double x[3] = {2.1 * random(0) - 1.05, 2.1 * random(1) - 1.05,
                             2.1 * random(2) - 1.05};
        CellMatch best;
        for (const auto& block : domain.blocks) best = findIn(*block, x, best);
        return best;
      };
      constexpr int Points = 40, Rounds = 400;
      const auto mesh = makeMeshDomain(*transport, setup);
      std::size_t before = 0, wrong = 0;
      for (const auto& block : mesh->domain.blocks) before += block->memory();
      std::vector<CellMatch> expected;
      for (int n = 0; n < Points; ++n)
        expected.push_back(find(makeMeshDomain(*transport, setup)->domain, n));
      for (int n = 0; n < Points * Rounds; ++n) {
        const CellMatch found = find(mesh->domain, n % Points), &wanted = expected[n % Points];
        wrong += found.block != wanted.block || found.cell != wanted.cell ||
                 found.violation != wanted.violation;
      }
      EXPECT_EQ(wrong, 0u) << int(kind);
      std::size_t after = 0;
      for (const auto& block : mesh->domain.blocks) after += block->memory();
      EXPECT_GT(after, before) << "there are no bins";
    }
}

/// A point that is no number must not spoil the search for cells of its block that do not have it.
TEST(MeshField, PointsOfGridsThatAreNoNumbersLoseOnlyTheirCells) {
  constexpr std::int64_t N = 9;
  constexpr float None = std::numeric_limits<float>::quiet_NaN();
  const auto transport = makeLoopbackTransport();
  std::vector<float> points, velocity;
  for (std::int64_t k = 0; k < N; ++k)
    for (std::int64_t j = 0; j < N; ++j)
      for (std::int64_t i = 0; i < N; ++i) {
        const bool isNone = i == 1 && j == 1 && k == 1;
        for (const std::int64_t x : {i, j, k}) {
          points.push_back(isNone ? None : -float(x));
          velocity.push_back(1);
        }
      }
  const std::vector<std::uint8_t> types(std::size_t((N - 1) * (N - 1) * (N - 1)), 12);
  MeshPiece piece;
  piece.grid.emplace(std::array<std::int64_t, 3>{N, N, N});
  piece.types = types;
  piece.points = {points.data(), false, std::int64_t(points.size() / 3)};
  piece.velocity = {velocity.data(), false, std::int64_t(velocity.size() / 3)};
  for (const int blocks : {1, 2, 3, 5}) {
    const auto made = makeMeshBlocks(*transport, {piece}, blocks, 3, {0});
    std::size_t lost = 0;
    for (std::int64_t cell = 0; cell < std::int64_t(types.size()); ++cell) {
      const std::int64_t at[3] = {cell % (N - 1), cell / (N - 1) % (N - 1),
                                  cell / (N - 1) / (N - 1)};
      CellQuery query;
      for (std::size_t a = 0; a < 3; ++a) query.point[a] = -double(at[a]) - 0.5;
      for (const auto& block : made) block->find({&query, 1});
      const bool isBroken = at[0] <= 1 && at[1] <= 1 && at[2] <= 1;
      EXPECT_EQ(query.best.cell, isBroken ? -1 : cell) << "blocks " << blocks;
      lost += query.best.cell < 0;
    }
    EXPECT_EQ(lost, 8u);
  }
}

TEST(MeshField, ACacheServesTheSameCellsAndPointsWithOtherVelocities) {
  MeshSetup setup;
  setup.mesh = makeMesh(MeshKind::Hexahedra, 5);
  setup.flow = fastAbc;
  setup.isDouble = true;
  setup.pieces = world().size() + 1;
  const TraceOptions options = optionsFor(Integrator::RungeKutta4);
  const auto mesh = makeMeshDomain(world(), setup);
  setup.flow = rotation;
  const auto turning = makeMeshDomain(world(), setup);
  MeshCache cache;
  // Traces through the pieces, and through new blocks without the cache.
  const auto expectReuse = [&](bool reused, const std::vector<MeshPiece>& pieces) {
    std::vector<BlockId> first;
    for (std::size_t p = 0; p < pieces.size(); ++p)
      first.push_back(mesh->domain.assignment.first(world().rank()) + BlockId(p));
    std::map<std::int64_t, Line> lines[2];
    for (const bool cached : {false, true}) {
      const Domain domain =
          makeDomain(world(), mesh->domain.assignment,
                     makeMeshBlocks(world(), pieces, 1, 3, first, cached ? &cache : nullptr));
      if (cached) {
        EXPECT_EQ(cache.reused(), reused);
      }
      lines[cached] = traceLines(world(), domain, seedsIn(-1.05, 1.05, 50, world()), options);
    }
    EXPECT_EQ(differences(lines[0], lines[1]), 0u);
  };
  expectReuse(false, mesh->pieces);
  expectReuse(true, mesh->pieces);
  expectReuse(true, turning->pieces);
  // Points move on the last rank that has a piece of its own.
  const int last = world().size() - 1;
  if (world().rank() == last) mesh->arrays[0]->points[0] -= 0.01;
  expectReuse(false, mesh->pieces);
  expectReuse(true, mesh->pieces);
  const std::vector<std::uint8_t> ghosts(mesh->pieces[0].types.size(), DuplicateCell);
  auto pieces = mesh->pieces;
  if (world().rank() == last) pieces[0].ghosts = ghosts;
  expectReuse(false, pieces);
  expectReuse(false, mesh->pieces);
  // Blocks that exist keep what they use.
  std::vector<BlockId> first;
  for (std::size_t p = 0; p < pieces.size(); ++p)
    first.push_back(mesh->domain.assignment.first(world().rank()) + BlockId(p));
  const auto blocks = makeMeshBlocks(world(), mesh->pieces, 1, 3, first, &cache);
  EXPECT_TRUE(cache.reused());
  expectReuse(false, mesh->pieces);
}

/// A cell type the library does not know: here boxes with trilinear interpolation, so that the
/// answer can be compared with that of voxels.
class Boxes : public ForeignCells {
 public:
  explicit Boxes(const MeshPiece& piece) : piece_(piece) {}
  int evaluate(std::int64_t cell, const double point[3], std::int64_t* ids, double* weights,
               double* gradients, double& violation) const override {
    const auto* first = piece_.connectivity.data() + piece_.offsets[std::size_t(cell)];
    const auto* x = static_cast<const double*>(piece_.points.data);
    double f[3];
    violation = 0;
    for (int a = 0; a < 3; ++a) {
      EXPECT_TRUE(std::isfinite(point[a]));
      const double lo = x[3 * first[0] + a], hi = x[3 * first[7] + a];
      f[a] = (point[a] - lo) / (hi - lo);
      violation = std::max({violation, -f[a], f[a] - 1});
    }
    for (int i = 0; i < 8; ++i) {
      ids[i] = first[i];
      weights[i] = 1;
      for (int a = 0; a < 3; ++a) weights[i] *= (i >> a) & 1 ? f[a] : 1 - f[a];
    }
    if (gradients) std::fill(gradients, gradients + 24, 0.0);
    return 8;
  }
  int maximumPoints() const override { return 8; }

 private:
  const MeshPiece& piece_;
};

/// @return how many lines end because a velocity is not finite
int compareForeignCells(const Flow& flow) {
  MeshSetup setup;
  setup.mesh = makeMesh(MeshKind::Voxels, 4);
  setup.flow = flow;
  setup.isDouble = true;
  const TraceOptions options = optionsFor(Integrator::RungeKutta4);
  const auto expected = reference(setup, options);
  setup.pieces = world().size() + 1;
  auto mesh = makeMeshDomain(world(), setup);
  constexpr std::uint8_t Polyhedron = 42;
  std::vector<std::unique_ptr<Boxes>> boxes;
  std::vector<BlockId> first;
  BlockId next = mesh->domain.assignment.first(world().rank());
  for (std::size_t p = 0; p < mesh->pieces.size(); ++p) {
    auto& types = mesh->arrays[p]->types;
    std::fill(types.begin(), types.end(), Polyhedron);
    boxes.push_back(std::make_unique<Boxes>(mesh->pieces[p]));
    mesh->pieces[p].foreign = boxes.back().get();
    first.push_back(next++);
  }
  auto blocks = makeMeshBlocks(world(), mesh->pieces, 1, 3, first);
  const Domain domain = makeDomain(world(), mesh->domain.assignment, std::move(blocks));
  const auto lines = traceLines(world(), domain, seedsIn(-1.05, 1.05, 50, world()), options);
  EXPECT_EQ(lines.size(), expected.size());
  int unexpected = 0;
  for (const auto& [number, line] : expected) {
    const Line& found = lines.at(number);
    EXPECT_EQ(found.points.size(), line.points.size());
    for (std::size_t i = 0; i < std::min(found.points.size(), line.points.size()); ++i)
      for (std::size_t a = 0; a < 4; ++a) EXPECT_NEAR(found.points[i][a], line.points[i][a], 1e-6);
    EXPECT_EQ(found.reason, line.reason);
    unexpected += line.reason == Reason::UnexpectedValue;
  }
  return unexpected;
}

TEST(MeshField, ForeignCellsAreFoundAndEvaluatedByTheCaller) {
  EXPECT_EQ(compareForeignCells(fastAbc), 0);
}

TEST(MeshField, ForeignCellsAreNotAskedBesideVelocitiesThatAreNotNumbers) {
  const int unexpected = compareForeignCells([](const Vector& x) {
    const double bad = std::numeric_limits<double>::quiet_NaN();
    return x[0] > 0.3 ? Vector{bad, bad, bad} : fastAbc(x);
  });
  EXPECT_GT(unexpected, 0);
}

}  // namespace
}  // namespace tributary::testing
