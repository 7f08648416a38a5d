// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/StructuredField.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "Advection/GridPieces.h"
#include "Advection/KernelBits.h"
#include "Advection/TracedLines.h"
#include "Support/World.h"
#include "Tributary/Advection/detail/kernels/StructuredKernel.h"
#include "Tributary/Base/InstructionSet.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::testing {

using namespace detail;
namespace {

TEST(StructuredField, EveryCellHasOneOwner) {
  for (const bool uniform : {true, false}) {
    GridSetup setup;
    setup.points = {{9, 6, 5}};
    setup.uniform = uniform;
    setup.pieces = world().size() + 2;
    setup.blocksPerPiece = 3;
    setup.ghostLayers = 1;
    const auto grid = makeGridDomain(world(), setup);
    for (int k = 0; k < 4; ++k)
      for (int j = 0; j < 5; ++j)
        for (int i = 0; i < 8; ++i) {
          const double point[3] = {
              0.5 * (gridCoordinate(setup, 0, i) + gridCoordinate(setup, 0, i + 1)),
              0.5 * (gridCoordinate(setup, 1, j) + gridCoordinate(setup, 1, j + 1)),
              0.5 * (gridCoordinate(setup, 2, k) + gridCoordinate(setup, 2, k + 1))};
          std::int64_t owners = 0;
          for (const auto& block : grid->domain.blocks) {
            const CellMatch match = findIn(*block, point);
            owners += match.found();
            if (match.found()) {
              EXPECT_TRUE(block->bounds().contains(point));
            }
          }
          EXPECT_EQ(allreduce(world(), ReduceOp::Sum, owners), 1);
        }
  }
}

TEST(StructuredField, WeightsReproduceLinearFunctionsAndTheirGradients) {
  for (const bool uniform : {true, false}) {
    GridSetup setup;
    setup.points = {{9, 6, 5}};
    setup.uniform = uniform;
    setup.pieces = world().size();
    const auto grid = makeGridDomain(world(), setup);
    for (const auto& block : grid->domain.blocks) {
      const auto& piece = grid->pieces[std::size_t(block->piece())];
      const Box box = block->bounds();
      std::vector<TrajectoryPoint> points;
      for (int n = 0; n < 20; ++n) {
        TrajectoryPoint p{};
        for (std::size_t a = 0; a < 3; ++a) {
          const double u = double(mix(std::uint64_t(n) * 3 + a) >> 11) / double(1ull << 53);
          p.x[a] = box.lo[a] + (box.hi[a] - box.lo[a]) * (0.01 + 0.98 * u);
        }
        points.push_back(p);
      }
      Weights w;
      w.wantGradients = true;
      block->weights({}, points, w);
      const auto nx = piece.extent[1] - piece.extent[0] + 1,
                 ny = piece.extent[3] - piece.extent[2] + 1;
      const double slope[3] = {2, -3, 5};
      for (std::size_t n = 0; n < points.size(); ++n) {
        double value = 0, gradient[3] = {0, 0, 0}, expected = 0;
        for (int c = 0; c < w.count[n]; ++c) {
          const auto id = static_cast<int>(w.id(n, c));
          const int index[3] = {id % nx + piece.extent[0], id / nx % ny + piece.extent[2],
                                id / (nx * ny) + piece.extent[4]};
          double f = 0;
          for (int a = 0; a < 3; ++a) f += slope[a] * gridCoordinate(setup, a, index[a]);
          value += w.weight(n, c) * f;
          for (int a = 0; a < 3; ++a) gradient[a] += w.gradient(n, c, a) * f;
        }
        for (int a = 0; a < 3; ++a) {
          expected += slope[a] * points[n].x[a];
          EXPECT_NEAR(gradient[a], slope[a], 1e-9);
        }
        EXPECT_NEAR(value, expected, 1e-9);
      }
    }
  }
}

TEST(StructuredField, BadPiecesAreRefusedOnAllRanks) {
  std::vector<float> values(3 * 27, 1.0f);
  const auto refused = [&](const std::function<void(StructuredPiece&)>& spoil) {
    StructuredPiece piece;
    piece.extent = {0, 2, 0, 2, 0, 2};
    piece.spacing = {1, 1, 1};
    piece.velocity = {values.data(), false, 27};
    std::vector<StructuredPiece> pieces;
    if (world().rank() == 0) {
      spoil(piece);
      pieces.push_back(piece);
    }
    const std::vector<BlockId> first(pieces.size(), 0);
    return errorOf([&] { static_cast<void>(makeStructuredBlocks(world(), pieces, 1, first)); });
  };
  EXPECT_EQ(refused([](auto&) {}), "");
  EXPECT_NE(refused([](auto& p) { p.extent[1] = -1; }), "");
  EXPECT_NE(refused([](auto& p) { p.spacing[2] = 0; }), "");
  EXPECT_NE(refused([](auto& p) { p.spacing[0] = std::nan(""); }), "");
  EXPECT_NE(refused([](auto& p) { p.velocity.tuples = 26; }), "");
  EXPECT_NE(refused([](auto& p) { p.velocity.data = nullptr; }), "");
  EXPECT_NE(refused([](auto& p) { p.cellCentered = true; }), "");
  EXPECT_EQ(refused([](auto& p) { p.onFaces = true; }), "");
  EXPECT_NE(refused([](auto& p) {
              p.cellCentered = p.onFaces = true;
              p.velocity.tuples = 8;
            }),
            "");
  const std::vector<std::uint8_t> ghosts(5);
  EXPECT_NE(refused([&](auto& p) { p.ghosts = ghosts; }), "");
  const auto axes = [](StructuredPiece& p, std::vector<double> x) {
    p.uniform = false;
    p.coordinates = {x, std::vector<double>{0, 1, 2}, std::vector<double>{0, 1, 2}};
  };
  EXPECT_EQ(refused([&](auto& p) { axes(p, {0, 1, 3}); }), "");
  EXPECT_NE(refused([&](auto& p) { axes(p, {0, 1}); }), "");
  EXPECT_NE(refused([&](auto& p) { axes(p, {0, 1, 1}); }), "");
  EXPECT_NE(refused([&](auto& p) { axes(p, {0, std::nan(""), 1}); }), "");
  EXPECT_EQ(refused([&](auto& p) { axes(p, {-1e307, 0, 1e307}); }), "");
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(refused([&](auto& p) { axes(p, {-Infinity, 0, 1}); }), "");
  EXPECT_NE(refused([&](auto& p) { axes(p, {0, 1, Infinity}); }), "");
  for (const std::vector<double>& x : {std::vector<double>{-1e308, 0, 1e308}, {0, 1e-310, 1}})
    EXPECT_NE(refused([&](auto& p) { axes(p, x); }).find("too far apart or too close"),
              std::string::npos);
  EXPECT_NE(
      refused([](auto& p) { p.extent[1] = std::numeric_limits<int>::max() - 1; }).find("too many"),
      std::string::npos);
}

TEST(StructuredField, PiecesThatDoNotFitTogetherAreRefused) {
  // Two pieces side by side on rank 0; the second is spoilt.
  const std::vector<float> values(3 * 27, 1.0f);
  const auto refused = [&](bool uniform, const std::function<void(StructuredPiece&)>& spoil,
                           int blocksPerPiece = 1, std::size_t ids = 2) {
    std::vector<StructuredPiece> pieces;
    for (int n = 0; world().rank() == 0 && n < 2; ++n) {
      StructuredPiece piece;
      piece.piece = n;
      piece.extent = {2 * n, 2 * n + 2, 0, 2, 0, 2};
      piece.spacing = {1, 1, 1};
      piece.uniform = uniform;
      const double x = 2 * n;
      if (!uniform) piece.coordinates = {{{x, x + 1, x + 2}, {0, 1, 2}, {0, 1, 2}}};
      piece.velocity = {values.data(), false, 27};
      if (n == 1) spoil(piece);
      pieces.push_back(piece);
    }
    std::vector<BlockId> first;
    for (std::size_t i = 0; world().rank() == 0 && i < ids; ++i) first.push_back(BlockId(i));
    return errorOf(
        [&] { static_cast<void>(makeStructuredBlocks(world(), pieces, blocksPerPiece, first)); });
  };
  const auto nothing = [](StructuredPiece&) {};
  EXPECT_EQ(refused(true, nothing), "");
  EXPECT_EQ(refused(false, nothing), "");
  EXPECT_NE(refused(true, nothing, 0).find("blocks per piece; give at least 1"), std::string::npos);
  EXPECT_NE(refused(true, nothing, 1, 1).find("needs a block id"), std::string::npos);
  EXPECT_NE(refused(true, [](auto& p) { p.origin[1] = 0.5; }).find("disagree in origin"),
            std::string::npos);
  EXPECT_NE(refused(true,
                    [](auto& p) {
                      p.uniform = false, p.coordinates.fill({0, 1, 2});
                    })
                .find("disagree in origin"),
            std::string::npos);
  EXPECT_NE(refused(false, [](auto& p) { p.coordinates[1][1] = 1.5; }).find("in coordinates"),
            std::string::npos);
  EXPECT_NE(refused(false, [](auto& p) { p.extent[0] = 4, p.extent[1] = 6; }).find("a gap"),
            std::string::npos);
  EXPECT_NE(refused(false,
                    [](auto& p) {
                      p.extent[0] = 3, p.extent[1] = 5;
                      p.coordinates[0] = {1.5, 2.5, 3.5};
                    })
                .find("do not increase"),
            std::string::npos);
  // So far apart that a list of all coordinates would not fit into any memory.
  EXPECT_NE(refused(false, [](auto& p) { p.extent[0] = 2000000000, p.extent[1] = 2000000002; })
                .find("a gap"),
            std::string::npos);
}

TEST(StructuredField, AHiddenCellIsAHole) {
  std::vector<float> values(3 * 11 * 4, 0.0f);
  for (std::size_t i = 0; i < values.size(); i += 3) values[i] = 1;
  std::vector<std::uint8_t> ghosts(10, 0);
  ghosts[6] = 32;
  StructuredPiece piece;
  piece.extent = {0, 10, 0, 1, 0, 1};
  piece.spacing = {1, 1, 1};
  piece.velocity = {values.data(), false, 44};
  piece.ghosts = ghosts;
  std::vector<StructuredPiece> pieces;
  if (world().rank() == 0) pieces.push_back(piece);
  Assignment assignment = Assignment::gather(world(), std::int64_t(pieces.size()));
  const auto first = std::vector<BlockId>(pieces.size(), 0);
  auto blocks = makeStructuredBlocks(world(), pieces, 1, first);
  for (const auto& block : blocks) {
    const double inside[3] = {6.5, 0.5, 0.5}, before[3] = {5.5, 0.5, 0.5};
    EXPECT_FALSE(findIn(*block, inside).found());
    const CellMatch match = findIn(*block, before);
    EXPECT_TRUE(match.found());
    Particle p{};
    p.x[0] = p.target[0] = p.x[1] = p.target[1] = p.x[2] = p.target[2] = 0.5;
    StepRules rules;
    rules.integrator = Integrator::RungeKutta4;
    TrajectoryLog log;
    block->advance(rules, {&p, 1}, FieldBlock::ToTheEnd, log);
    EXPECT_EQ(p.status, Status::Seeking);
    EXPECT_GE(p.target[0], 6);
    EXPECT_LT(p.x[0], 6);
  }
}

/// Advances the same particles with one kernel and returns everything they became and left behind,
/// the recorded points line by line.
/// @param extraSteps  of a call; calls follow each other until no particle is left
std::vector<unsigned char> bitsFrom(StructuredKernel kernel, bool isDouble, bool onFaces,
                                    const StepRules& rules, std::int64_t extraSteps) {
  constexpr int N = 12;
  const StructuredGrid* keep;
  StructuredGrid grid;
  for (GridAxis& axis : grid.axes) {
    axis.cells = N - 1;
    axis.spacing = 2.0 / (N - 1);
    axis.inverse = 1 / axis.spacing;
    axis.origin = -1;
  }
  grid.setParts({{{0, 0, 0}, {N - 1, N - 1, N - 1}, 0}});
  keep = &grid;
  std::vector<double> doubles;
  for (const Flow& flow : {Flow(abc), Flow(rotation)})
    for (int k = 0; k < N; ++k)
      for (int j = 0; j < N; ++j)
        for (int i = 0; i < N; ++i)
          for (const double v : flow({0.5 * i, 0.5 * j, 0.5 * k})) doubles.push_back(v);
  const std::vector<float> floats(doubles.begin(), doubles.end());
  StructuredView view;
  view.grid = keep;
  view.count = {N - 1, N - 1, N - 1};
  view.stride = view.cellStride = {1, N, N * N};
  view.velocity = isDouble ? static_cast<const void*>(doubles.data()) : floats.data();
  view.laterVelocity = isDouble ? static_cast<const void*>(doubles.data() + 3 * N * N * N)
                                : floats.data() + 3 * N * N * N;
  view.isDouble = isDouble;
  view.onFaces = onFaces;
  view.plainTuples = onFaces ? 0 : N * N * N - 2 - N - N * N;
  view.cellLength = 0.3;
  std::vector<Particle> particles(101);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    particles[i] = {};
    particles[i].line = std::int64_t(i);
    if (rules.interval) particles[i].time = rules.interval->begin;
    for (std::size_t a = 0; a < 3; ++a)
      particles[i].x[a] = particles[i].target[a] =
          double(mix(3 * i + a) >> 11) / double(1ull << 52) - 1;
  }
  return advanceAll(kernel, view, rules, particles, extraSteps).bits;
}

TEST(StructuredKernels, GiveTheSameBitsOnEveryInstructionSetAndInPieces) {
  std::vector<StructuredKernel> others{structuredKernel(), advanceStructuredBaseline};
#ifdef __x86_64__
  if (hasAvx2()) others.push_back(advanceStructuredAvx2);
#endif
  for (const bool isDouble : {false, true})
    for (const bool onFaces : {false, true})
      for (const StepRules& rules : kernelRules()) {
        const auto baseline =
            bitsFrom(advanceStructuredBaseline, isDouble, onFaces, rules, FieldBlock::ToTheEnd);
        EXPECT_GT(baseline.size(), 10000u);
        for (const StructuredKernel kernel : others)
          for (const std::int64_t extraSteps :
               {std::int64_t(1), std::int64_t(7), FieldBlock::ToTheEnd})
            EXPECT_TRUE(bitsFrom(kernel, isDouble, onFaces, rules, extraSteps) == baseline);
      }
}

TEST(BoxIndex, HasBoxesOfAnySize) {
  constexpr double Most = std::numeric_limits<double>::max();
  Box small, large;
  small.lo = {0, 0, 0};
  small.hi = {1, 1, 1};
  large.lo = {-Most, -Most, 0};
  large.hi = {Most, 1e-300, 1e-300};
  const BoxIndex boxes({small, large});
  const double point[3] = {0.5, 0, 0};
  EXPECT_EQ(boxes.next(point, -1), 0);
  EXPECT_EQ(boxes.next(point, 0), 1);
}

}  // namespace
}  // namespace tributary::testing
