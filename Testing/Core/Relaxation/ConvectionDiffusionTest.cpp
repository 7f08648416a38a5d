// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/ConvectionDiffusion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "Relaxation/ConvectionDiffusionReference.h"
#include "Support/Effort.h"
#include "Support/Threads.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/InstructionSet.h"
#include "Tributary/Relaxation/detail/ConvectionDiffusionKernel.h"

namespace tributary::testing {

using namespace detail;
namespace {

/// Boxes that cut the grid, one iterate each; what the sides need is copied before every sweep.
struct Pieces {
  struct Piece {
    CellRange box;
    ConvectionDiffusion equation;
    std::vector<double> u, b;
    SideValues beyond;
  };
  std::vector<Piece> pieces;
  const CellGrid& grid;
  std::array<bool, 3> periodic;

  Pieces(const CellGrid& g, const std::vector<CellRange>& boxes,
         const ConvectionDiffusionTerms& terms, const Velocity& velocity,
         const std::vector<double>& source, const std::vector<double>& old)
      : grid(g) {
    for (std::size_t a = 0; a < 3; ++a) periodic[a] = terms.sides[2 * a].kind == Kind::Periodic;
    for (const CellRange& box : boxes) {
      Piece piece{box, {g, box, terms, faceVelocities(box, velocity)}, {}, {}, makeSides(box)};
      piece.u.assign(std::size_t(box.cells()), 0.0);
      piece.b.resize(piece.u.size());
      const auto mine = [&](const std::vector<double>& all) {
        std::vector<double> part;
        for (auto k = box.lo[2]; k < box.hi[2]; ++k)
          for (auto j = box.lo[1]; j < box.hi[1]; ++j)
            for (auto i = box.lo[0]; i < box.hi[0]; ++i)
              part.push_back(all[std::size_t((k * g.along(1) + j) * g.along(0) + i)]);
        return part;
      };
      piece.equation.rightHandSide(mine(source), mine(old), piece.b);
      piece.equation.setSideValues(piece.beyond);
      pieces.push_back(std::move(piece));
    }
  }

  void exchange() {
    std::vector<std::vector<double>> before;
    for (const Piece& piece : pieces) before.push_back(piece.u);
    for (Piece& piece : pieces)
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        const auto patches = patchesBetween(grid, periodic, piece.box, pieces[n].box);
        std::vector<double> values(valuesOf(patches));
        packPatches(patches, pieces[n].box, before[n], values);
        unpackPatches(patches, piece.box, values, piece.beyond);
      }
  }

  double sweep(bool forward, int slabs, const ParallelFor& loop) {
    exchange();
    for (Piece& piece : pieces)
      piece.equation.sweep(forward, piece.u, piece.beyond, piece.b, slabs, loop);
    return residual(loop);
  }
  double residual(const ParallelFor& loop) {
    exchange();
    double largest = 0;
    for (Piece& piece : pieces)
      largest = std::max(largest, piece.equation.residual(piece.u, piece.beyond, piece.b, loop));
    return largest;
  }

  std::vector<double> gathered() const {
    std::vector<double> all(std::size_t(whole(grid).cells()), 0.0);
    for (const Piece& piece : pieces) {
      std::size_t at = 0;
      for (auto k = piece.box.lo[2]; k < piece.box.hi[2]; ++k)
        for (auto j = piece.box.lo[1]; j < piece.box.hi[1]; ++j)
          for (auto i = piece.box.lo[0]; i < piece.box.hi[0]; ++i)
            all[std::size_t((k * grid.along(1) + j) * grid.along(0) + i)] = piece.u[at++];
    }
    return all;
  }
};

struct Case {
  Cell cells;
  bool conservative;
  std::array<Kind, 3> kinds;  // of both sides along an axis
};

class Equation : public ::testing::TestWithParam<Case> {};

/// Solutions and residuals as by a sparse direct solver, on any cut, with threads or without.
TEST_P(Equation, IsThatOfTheReference) {
  const Case& c = GetParam();
  const CellGrid grid = randomGrid(c.cells, 7);
  ConvectionDiffusionTerms terms;
  terms.diffusivity = 0.05;
  terms.decay = 0.1;
  terms.inverseStep = 10;
  terms.conservative = c.conservative;
  for (std::size_t side = 0; side < Sides; ++side)
    terms.sides[side] = {c.kinds[side / 2], 0.3 + 0.2 * double(side)};
  const Velocity velocity = [&](std::size_t axis, const Cell& face) {
    Cell f = face;  // one velocity for a periodic face, whichever end it is seen from
    if (c.kinds[axis] == Kind::Periodic && f[axis] == c.cells[axis]) f[axis] = 0;
    return 2 * random01(std::uint64_t(((f[2] * 50 + f[1]) * 50 + f[0]) * 3) + axis) - 1;
  };
  const Reference reference(grid, terms, velocity);
  const auto size = std::size_t(whole(grid).cells());
  std::vector<double> source, old;
  for (std::size_t i = 0; i < size; ++i) {
    source.push_back(random01(5 * i));
    old.push_back(random01(5 * i + 1));
  }
  Eigen::VectorXd b = reference.fixed;
  for (std::size_t i = 0; i < size; ++i) b[int(i)] += source[i] + terms.inverseStep * old[i];
  Eigen::SparseLU<Eigen::SparseMatrix<double>> solver(reference.matrix);
  const Eigen::VectorXd want = solver.solve(b);

  for (const std::size_t parts : {1, 2, 3, 8})
    for (const int slabs : {1, 3}) {
      if (slowed() && (parts > 2) != (slabs > 1)) continue;
      const auto loop = slabs > 1 ? onThreads(2, slabs) : ParallelFor(serialFor);
      Pieces pieces(grid, cut(whole(grid), parts), terms, velocity, source, old);
      double residual = pieces.residual(loop);
      for (int sweep = 0; sweep < 2000 && residual > 1e-12; ++sweep) {
        residual = pieces.sweep(sweep % 2 == 0, slabs, loop);
        if (sweep != 2) continue;
        const auto u = pieces.gathered();
        const Eigen::VectorXd now = Eigen::Map<const Eigen::VectorXd>(u.data(), int(u.size()));
        EXPECT_NEAR(residual, (b - reference.matrix * now).cwiseAbs().maxCoeff(), 1e-11);
      }
      EXPECT_LE(residual, 1e-12);
      const auto u = pieces.gathered();
      for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(u[i], want[int(i)], 1e-11) << "cell " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Relaxation, Equation,
    ::testing::Values(Case{{9, 7, 5}, false, {Kind::Value, Kind::Outflow, Kind::Flux}},
                      Case{{9, 7, 5}, true, {Kind::Value, Kind::Outflow, Kind::Flux}},
                      Case{{6, 8, 7}, false, {Kind::Periodic, Kind::Flux, Kind::Value}},
                      Case{{6, 8, 7}, true, {Kind::Periodic, Kind::Periodic, Kind::Outflow}},
                      Case{{12, 9, 1}, false, {Kind::Value, Kind::Periodic, Kind::Outflow}},
                      Case{{25, 1, 1}, false, {Kind::Value, Kind::Flux, Kind::Outflow}}));

TEST(ConvectionDiffusion, HasNoNewExtrema) {
  const CellGrid grid = randomGrid({10, 9, 8}, 3);
  ConvectionDiffusionTerms terms;
  terms.inverseStep = 1;  // far beyond what an explicit step could take
  const Velocity velocity = [&](std::size_t axis, const Cell& f) {
    return 20 * (random01(std::uint64_t(((f[2] * 50 + f[1]) * 50 + f[0]) * 3) + axis) - 0.5);
  };
  const auto size = std::size_t(whole(grid).cells());
  std::vector<double> old(size, 0.0);
  for (std::size_t i = size / 3; i < size / 2; ++i) old[i] = 1;
  Pieces pieces(grid, cut(whole(grid), 4), terms, velocity, std::vector<double>(size, 0.0), old);
  for (int sweep = 0; sweep < 5000 && pieces.sweep(sweep % 2 == 0, 1, serialFor) > 1e-13; ++sweep) {
  }
  const auto u = pieces.gathered();
  EXPECT_GE(*std::min_element(u.begin(), u.end()), -1e-12);
  EXPECT_LE(*std::max_element(u.begin(), u.end()), 1 + 1e-12);
}

TEST(ConvectionDiffusion, ConservesWhatIsThere) {
  const CellGrid grid = randomGrid({8, 7, 6}, 11);
  ConvectionDiffusionTerms terms;
  terms.conservative = true;
  terms.diffusivity = 0.1;
  terms.inverseStep = 3;
  for (auto& side : terms.sides) side.kind = Kind::Flux;  // of 0
  const Velocity velocity = [&](std::size_t axis, const Cell& f) {
    return 2 * random01(std::uint64_t(((f[2] * 50 + f[1]) * 50 + f[0]) * 3) + axis) - 1;
  };
  const auto size = std::size_t(whole(grid).cells());
  std::vector<double> old;
  for (std::size_t i = 0; i < size; ++i) old.push_back(random01(i));
  Pieces pieces(grid, cut(whole(grid), 3), terms, velocity, std::vector<double>(size, 0.0), old);
  for (int sweep = 0; sweep < 5000 && pieces.sweep(sweep % 2 == 0, 1, serialFor) > 1e-13; ++sweep) {
  }
  const auto u = pieces.gathered();
  double before = 0, after = 0;
  for (std::int64_t k = 0, i = 0; k < 6; ++k)
    for (std::int64_t j = 0; j < 7; ++j)
      for (std::int64_t n = 0; n < 8; ++n, ++i) {
        const double volume = grid.width(0, n) * grid.width(1, j) * grid.width(2, k);
        before += volume * old[std::size_t(i)];
        after += volume * u[std::size_t(i)];
      }
  EXPECT_NEAR(after, before, 1e-12 * before);
}

/// The steady boundary layer u = (exp(P x) - 1) / (exp(P) - 1): upwind differences are of first
/// order.
TEST(ConvectionDiffusion, ConvergesToTheBoundaryLayer) {
  constexpr double Peclet = 5;
  const auto error = [&](std::int64_t n) {
    const CellGrid grid = uniformGrid({n, 1, 1}, 1.0 / double(n));
    ConvectionDiffusionTerms terms;
    terms.diffusivity = 1 / Peclet;
    terms.sides[0] = {Kind::Value, 0};
    terms.sides[1] = {Kind::Value, 1};
    const Velocity velocity = [](std::size_t axis, const Cell&) { return axis == 0 ? 1.0 : 0.0; };
    const std::vector<double> none(std::size_t(n), 0.0);
    Pieces pieces(grid, {whole(grid)}, terms, velocity, none, none);
    for (int sweep = 0; sweep < 200000 && pieces.sweep(sweep % 2 == 0, 1, serialFor) > 1e-9;
         ++sweep) {
    }
    const auto u = pieces.gathered();
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i)
      largest =
          std::max(largest, std::fabs(u[std::size_t(i)] -
                                      std::expm1(Peclet * grid.center(0, i)) / std::expm1(Peclet)));
    return largest;
  };
  const double coarse = error(32), fine = error(64);
  EXPECT_LT(fine, 0.03);
  EXPECT_GT(coarse / fine, 1.7);
  EXPECT_LT(coarse / fine, 2.3);
}

/// Diffusion alone is of second order: a cosine between walls decays as exp(-pi^2 t).
TEST(ConvectionDiffusion, DiffusesACosine) {
  const double pi = std::acos(-1.0);
  const auto error = [&](std::int64_t n) {
    const CellGrid grid = uniformGrid({n, 1, 1}, 1.0 / double(n));
    ConvectionDiffusionTerms terms;
    terms.diffusivity = 1;
    const int steps = int(n * n / 8);  // the step's error, of first order, shrinks as the grid's
    const double step = 0.1 / steps;
    terms.inverseStep = 1 / step;
    const Velocity velocity = [](std::size_t, const Cell&) { return 0.0; };
    const std::vector<double> none(std::size_t(n), 0.0);
    std::vector<double> u(std::size_t(n), 0.0);
    for (std::int64_t i = 0; i < n; ++i) u[std::size_t(i)] = std::cos(pi * grid.center(0, i));
    for (int s = 0; s < steps; ++s) {
      Pieces pieces(grid, {whole(grid)}, terms, velocity, none, u);
      for (int sweep = 0; sweep < 10000 && pieces.sweep(sweep % 2 == 0, 1, serialFor) > 1e-10;
           ++sweep) {
      }
      u = pieces.gathered();
    }
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i)
      largest =
          std::max(largest, std::fabs(u[std::size_t(i)] -
                                      std::exp(-pi * pi * 0.1) * std::cos(pi * grid.center(0, i))));
    return largest;
  };
  EXPECT_GT(error(16) / error(32), 3.5);
}

TEST(ConvectionDiffusion, RefusesWhatCannotBe) {
  const CellGrid grid = uniformGrid({4, 4, 4}, 1);
  const auto faces = faceVelocities(whole(grid), [](std::size_t, const Cell&) { return 0.0; });
  const ConvectionDiffusionTerms terms;
  EXPECT_NO_THROW(ConvectionDiffusion(grid, whole(grid), terms, faces));
  EXPECT_THROW(ConvectionDiffusion(grid, {{0, 0, 0}, {5, 4, 4}}, terms, faces), Error);
  const auto refuses = [&](auto&& change) {
    auto otherGrid = grid;
    auto otherTerms = terms;
    auto otherFaces = faces;
    change(otherGrid, otherTerms, otherFaces);
    EXPECT_THROW(ConvectionDiffusion(otherGrid, whole(grid), otherTerms, otherFaces), Error);
  };
  refuses([](auto&, auto&, auto& f) { f.velocity[1].pop_back(); });
  refuses([](auto&, auto&, auto& f) { f.velocity[2][7] = std::nan(""); });
  refuses([](auto&, auto&, auto& f) { f.closed[0].assign(3, 1); });
  refuses([](auto& g, auto&, auto&) { g.ends[0][2] = g.ends[0][1]; });
  refuses([](auto&, auto& t, auto&) { t.diffusivity = -1; });
  refuses([](auto&, auto& t, auto&) { t.decay = std::nan(""); });
  refuses([](auto&, auto& t, auto&) { t.inverseStep = HUGE_VAL; });
  refuses([](auto&, auto& t, auto&) { t.sides[3].kind = Kind::Periodic; });
  refuses([](auto&, auto& t, auto&) { t.sides[5].value = std::nan(""); });
}

TEST(ConvectionDiffusion, HasTheSameBitsOnEveryInstructionSet) {
#if defined(__x86_64__)
  if (!hasAvx2()) GTEST_SKIP() << "this processor has no AVX2";
  for (const std::int64_t n : {1, 2, 3, 7, 64, 101}) {
    std::uint64_t key = 0;
    const auto numbers = [&](std::int64_t count) {
      std::vector<double> list;
      for (std::int64_t i = 0; i < count; ++i) list.push_back(random01(++key) - 0.3);
      return list;
    };
    std::vector<std::vector<double>> lists;
    for (int i = 0; i < 16; ++i) lists.push_back(numbers(n + 1));
    const auto across = [&](std::size_t first) {
      return RowAcross{2.0,
                       0.1,
                       1.0,
                       1.0,
                       0.2,
                       1.0,
                       1.0,
                       lists[first].data(),
                       lists[first + 1].data(),
                       lists[first + 2].data(),
                       lists[first + 3].data()};
    };
    const ConvectionDiffusionRow row{n,
                                     lists[0].data(),
                                     lists[1].data(),
                                     lists[2].data(),
                                     lists[3].data(),
                                     lists[4].data(),
                                     0.3,
                                     0.4,
                                     across(5),
                                     across(9),
                                     1.5};
    for (const bool conservative : {false, true})
      for (const bool forward : {false, true}) {
        std::vector<double> results[2];
        std::vector<double> room(lists[0].size()), more(lists[0].size());
        double residuals[2];
        for (int k = 0; k < 2; ++k) {
          const auto& kernel =
              k == 0 ? convectionDiffusionKernelBaseline : convectionDiffusionKernelAvx2;
          results[k] = lists[14];
          kernel.sweep(row, conservative, forward, lists[13].data(), results[k].data(), room.data(),
                       more.data());
          residuals[k] =
              kernel.residual(row, conservative, lists[13].data(), results[k].data(), room.data());
        }
        EXPECT_EQ(results[0], results[1]);
        EXPECT_EQ(residuals[0], residuals[1]);
        if (n > 1) {
          EXPECT_GT(residuals[0], 0);
        }
      }
  }
#endif
}

TEST(ConvectionDiffusion, ReportsWhatIsNotANumber) {
  const CellGrid grid = uniformGrid({4, 4, 4}, 1);
  const Velocity velocity = [](std::size_t, const Cell&) { return 1.0; };
  std::vector<double> source(64, 0.0);
  source[13] = std::nan("");
  ConvectionDiffusionTerms terms;
  terms.inverseStep = 1;
  Pieces pieces(grid, {whole(grid)}, terms, velocity, source, std::vector<double>(64, 0.0));
  const Pieces::Piece& piece = pieces.pieces.front();
  EXPECT_TRUE(std::isnan(piece.equation.residual(piece.u, piece.beyond, piece.b, serialFor)));
}

}  // namespace
}  // namespace tributary::testing
