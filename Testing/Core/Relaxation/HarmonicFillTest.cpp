// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/HarmonicFill.h"

#include <gtest/gtest.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "Support/Effort.h"
#include "Support/Everywhere.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {
namespace {

using Site = std::array<std::int64_t, 3>;

double random01(std::uint64_t key) {
  return double(mix(key) >> 11) * 0x1p-53;
}

std::array<std::vector<double>, 3> randomLines(const Site& n, std::uint64_t seed, double spread) {
  std::array<std::vector<double>, 3> lines;
  for (std::size_t a = 0; a < 3; ++a) {
    double x = random01(seed + a) - 0.5;
    for (std::int64_t i = 0; i < n[a]; ++i) {
      lines[a].push_back(x);
      x += 1 + spread * random01(seed + 100 * (a + 1) + std::uint64_t(i));
    }
  }
  return lines;
}

SiteLattice randomPoints(const Site& n, std::uint64_t seed, double spread = 1) {
  return pointSites(randomLines(n, seed, spread));
}

SiteLattice randomCells(const Site& n, std::uint64_t seed) {
  CellGrid grid;
  grid.ends = randomLines({n[0] + 1, n[1] + 1, n[2] + 1}, seed, 1);
  return cellSites(grid);
}

/// What all ranks know whole.
struct Problem {
  SiteLattice sites;
  std::vector<std::uint8_t> unknown;
  std::vector<double> values;

  Site n() const { return {sites.along(0), sites.along(1), sites.along(2)}; }
  CellRange all() const { return {{0, 0, 0}, n()}; }
};

using Holes = std::function<bool(const Site&)>;
using Function = std::function<double(double x, double y, double z)>;

Problem problemOf(SiteLattice sites, const Holes& isUnknown, const Function& value) {
  Problem problem;
  problem.sites = std::move(sites);
  const Site n = problem.n();
  Site s;
  for (s[2] = 0; s[2] < n[2]; ++s[2])
    for (s[1] = 0; s[1] < n[1]; ++s[1])
      for (s[0] = 0; s[0] < n[0]; ++s[0]) {
        const bool is = isUnknown(s);
        problem.unknown.push_back(is ? 1 : 0);
        // Those of unknown sites must not matter.
        problem.values.push_back(is ? std::numeric_limits<double>::quiet_NaN()
                                    : value(problem.sites.places[0][std::size_t(s[0])],
                                            problem.sites.places[1][std::size_t(s[1])],
                                            problem.sites.places[2][std::size_t(s[2])]));
      }
  return problem;
}

Function noise(std::uint64_t seed) {
  return [seed](double x, double y, double z) {
    return 3 +
           2 * random01(seed + std::uint64_t(std::llround(1e6 * (x + 31 * y + 977 * z) + 1e12)));
  };
}

Holes ball(const Site& n, double radius) {
  return [n, radius](const Site& s) {
    double d = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = double(s[a]) - 0.5 * double(n[a] - 1);
      if (n[a] > 1) d += x * x;
    }
    return d < radius * radius;
  };
}

/// The equations of the unknown sites alone, from what flows between neighbors, one by one.
struct Reference {
  Eigen::SparseMatrix<double> matrix;  // symmetric
  Eigen::VectorXd right, scale;        // what a residual is divided by
  std::vector<int> number;

  explicit Reference(const Problem& problem, FillSmoothness smoothness = FillSmoothness::Harmonic)
      : number(problem.unknown.size(), -1) {
    int count = 0;
    for (std::size_t i = 0; i < number.size(); ++i)
      if (problem.unknown[i] != 0) number[i] = count++;
    // The Laplacians of all sites, of the unknown values and of the known ones, and volumes.
    const auto all = static_cast<Eigen::Index>(number.size());
    std::vector<Eigen::Triplet<double>> entries;
    Eigen::VectorXd known = Eigen::VectorXd::Zero(all), volumes(all);
    const Site n = problem.n();
    Site s;
    for (s[2] = 0; s[2] < n[2]; ++s[2])
      for (s[1] = 0; s[1] < n[1]; ++s[1])
        for (s[0] = 0; s[0] < n[0]; ++s[0]) {
          const std::size_t here = place(n, s);
          const auto row = static_cast<int>(here);
          volumes[row] = 1;
          for (std::size_t a = 0; a < 3; ++a)
            volumes[row] *= problem.sites.widths[a][std::size_t(s[a])];
          for (std::size_t a = 0; a < 3; ++a)
            for (const int side : {-1, 1}) {
              Site t = s;
              t[a] += side;
              const bool isBeyond = t[a] < 0 || t[a] == n[a];
              if (isBeyond && problem.sites.seam[a] == 0) continue;
              t[a] = (t[a] + n[a]) % n[a];
              if (smoothness == FillSmoothness::Biharmonic && number[here] < 0 &&
                  (s[a] == 0 || s[a] == n[a] - 1))
                continue;
              const double distance = isBeyond
                                          ? problem.sites.seam[a]
                                          : std::fabs(problem.sites.places[a][std::size_t(s[a])] -
                                                      problem.sites.places[a][std::size_t(t[a])]);
              double weight = 1 / distance;
              for (std::size_t b = 0; b < 3; ++b)
                if (b != a) weight *= problem.sites.widths[b][std::size_t(s[b])];
              for (const bool isHere : {true, false}) {
                const std::size_t site = isHere ? here : place(n, t);
                const double signedWeight = isHere ? weight : -weight;
                if (number[site] < 0)
                  known[row] += signedWeight * problem.values[site];
                else
                  entries.emplace_back(row, number[site], signedWeight);
              }
            }
        }
    Eigen::SparseMatrix<double> laplacians(all, count);
    laplacians.setFromTriplets(entries.begin(), entries.end());
    if (smoothness == FillSmoothness::Biharmonic) {
      const Eigen::VectorXd inverse = volumes.cwiseInverse();
      const Eigen::SparseMatrix<double> transposed = laplacians.transpose();
      matrix = transposed * inverse.asDiagonal() * laplacians;
      right = -(transposed * inverse.cwiseProduct(known));
    } else {
      // The rows of unknown sites.
      std::vector<Eigen::Triplet<double>> kept;
      for (const Eigen::Triplet<double>& entry : entries)
        if (number[std::size_t(entry.row())] >= 0)
          kept.emplace_back(number[std::size_t(entry.row())], entry.col(), entry.value());
      matrix.resize(count, count);
      matrix.setFromTriplets(kept.begin(), kept.end());
      right.resize(count);
      for (Eigen::Index i = 0; i < all; ++i)
        if (number[std::size_t(i)] >= 0) right[number[std::size_t(i)]] = -known[i];
    }
    scale = matrix.diagonal();
  }

  static std::size_t place(const Site& n, const Site& s) {
    return std::size_t((s[2] * n[1] + s[1]) * n[0] + s[0]);
  }
  Eigen::VectorXd unknownsOf(const std::vector<double>& values) const {
    Eigen::VectorXd u(right.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      if (number[i] >= 0) u[number[i]] = values[i];
    return u;
  }
  /// The largest difference from what the other values make of one.
  double residual(const std::vector<double>& values) const {
    const Eigen::VectorXd r = right - matrix * unknownsOf(values);
    return r.cwiseQuotient(scale).cwiseAbs().maxCoeff();
  }
};

std::vector<CellRange> bisected(const CellRange& box, std::size_t parts) {
  if (parts == 1) return {box};
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a)
    if (box.along(a) > box.along(axis)) axis = a;
  CellRange low = box, high = box;
  low.hi[axis] = high.lo[axis] =
      box.lo[axis] + box.along(axis) * std::int64_t(parts / 2) / std::int64_t(parts);
  std::vector<CellRange> boxes = bisected(low, parts / 2);
  for (const CellRange& one : bisected(high, parts - parts / 2)) boxes.push_back(one);
  return boxes;
}

enum class Cut { Bisected, Columns, Slabs, AllOnTheLast };
constexpr Cut Cuts[] = {Cut::Bisected, Cut::Columns, Cut::Slabs, Cut::AllOnTheLast};

std::vector<CellRange> boxesOf(const CellRange& all, Cut how, int ranks) {
  if (how == Cut::Bisected) return bisected(all, std::size_t(ranks));
  std::vector<CellRange> boxes(std::size_t(ranks), CellRange{});
  if (how == Cut::AllOnTheLast) {
    boxes.back() = all;
    return boxes;
  }
  const int columns = how == Cut::Columns && ranks % 2 == 0 ? 2 : 1;
  for (int rank = 0; rank < ranks; ++rank) {
    CellRange& box = boxes[std::size_t(rank)];
    box = all;
    const auto share = [&](std::size_t a, int part, int parts) {
      box.lo[a] = all.hi[a] * part / parts;
      box.hi[a] = all.hi[a] * (part + 1) / parts;
    };
    share(how == Cut::Slabs ? 2 : 1, rank / columns, ranks / columns);
    if (columns > 1) share(0, rank % columns, columns);
  }
  return boxes;
}

template <class Visit>
void forEachSite(const Site& n, const CellRange& box, Visit&& visit) {
  if (box.empty()) return;
  Site s;
  for (s[2] = box.lo[2]; s[2] < box.hi[2]; ++s[2])
    for (s[1] = box.lo[1]; s[1] < box.hi[1]; ++s[1])
      for (s[0] = box.lo[0]; s[0] < box.hi[0]; ++s[0]) visit(Reference::place(n, s));
}

template <class T>
std::vector<T> partOf(const Site& n, const CellRange& box, const std::vector<T>& all) {
  std::vector<T> part;
  forEachSite(n, box, [&](std::size_t i) { part.push_back(all[i]); });
  return part;
}

struct Filled {
  HarmonicFillResult result;
  std::vector<double> values;  ///< of all sites, on every rank
};

Filled fill(Transport& transport, const Problem& problem, Cut cut,
            const HarmonicFillOptions& options, const std::function<bool(double)>& monitor = {}) {
  const std::vector<CellRange> boxes = boxesOf(problem.all(), cut, transport.size());
  const CellRange& box = boxes[std::size_t(transport.rank())];
  const std::vector<std::uint8_t> unknown = partOf(problem.n(), box, problem.unknown);
  std::vector<double> values = partOf(problem.n(), box, problem.values);
  HarmonicFill solver(transport, problem.sites, box, unknown, options);
  EXPECT_EQ(solver.unknowns(), std::count(problem.unknown.begin(), problem.unknown.end(), 1));
  Filled filled;
  filled.result = solver.fill(values, monitor);
  const std::vector<double> parts = allgatherv(transport, values);
  filled.values.resize(problem.values.size());
  std::size_t at = 0;
  for (const CellRange& one : boxes)
    forEachSite(problem.n(), one, [&](std::size_t i) { filled.values[i] = parts[at++]; });
  return filled;
}

/// One solver gives the same bits before and after it has filled other values.
/// @return those bits, of this rank
std::vector<double> expectSolvesAgain(const Problem& problem, const HarmonicFillOptions& options) {
  const auto boxes = boxesOf(problem.all(), Cut::Bisected, world().size());
  const CellRange& box = boxes[std::size_t(world().rank())];
  HarmonicFill solver(world(), problem.sites, box, partOf(problem.n(), box, problem.unknown),
                      options);
  std::vector<std::vector<double>> found;
  for (const double scale : {1.0, -1e-30, 1.0}) {
    std::vector<double> values = partOf(problem.n(), box, problem.values);
    for (double& value : values) value *= scale;
    EXPECT_EQ(solver.fill(values).verdict, Verdict::Converged);
    found.push_back(values);
  }
  EXPECT_EQ(found[0], found[2]);
  return found[0];
}

struct Case {
  const char* name;
  Problem problem;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const Site n{11, 9, 10};
  all.push_back({"ball in points", problemOf(randomPoints(n, 1), ball(n, 4), noise(1))});
  all.push_back({"ball in cells", problemOf(randomCells(n, 2), ball(n, 4), noise(2))});
  all.push_back({"known plane", problemOf(
                                    randomPoints({7, 12, 9}, 3),
                                    [](const Site& s) { return s[1] > 0; }, noise(3))});
  all.push_back({"one known point", problemOf(
                                        randomCells({9, 8, 7}, 4),
                                        [](const Site& s) {
                                          return !(s == Site{2, 3, 4});
                                        },
                                        noise(4))});
  all.push_back({"two known points", problemOf(
                                         randomPoints({9, 8, 7}, 5),
                                         [](const Site& s) {
                                           return !(s == Site{2, 3, 4}) && !(s == Site{8, 7, 0});
                                         },
                                         noise(5))});
  for (const double share : {0.1, 0.5, 0.95})
    all.push_back(
        {"scattered", problemOf(
                          randomPoints(n, 6),
                          [share](const Site& s) {
                            return random01(std::uint64_t((s[2] * 99 + s[1]) * 99 + s[0])) < share;
                          },
                          noise(6))});
  all.push_back(
      {"checkerboard", problemOf(
                           randomCells(n, 7),
                           [](const Site& s) { return (s[0] + s[1] + s[2]) % 2 == 0; }, noise(7))});
  all.push_back({"holes at the border", problemOf(
                                            randomPoints(n, 11),
                                            [n](const Site& s) {
                                              return (s[0] < 3 && s[1] < 4) ||
                                                     (s[2] == n[2] - 2 && s[1] > 2) ||
                                                     (s[0] == n[0] - 1 && s[1] == 5 && s[2] == 5);
                                            },
                                            noise(11))});
  all.push_back(
      {"two sites thick",
       problemOf(
           randomPoints({2, 14, 13}, 12),
           [](const Site& s) { return s[1] > 3 && s[1] < 9 && s[2] > 3 && s[2] < 11 - 3 * s[0]; },
           noise(12))});
  const Site flat{17, 15, 1};
  all.push_back({"plane", problemOf(randomPoints(flat, 8), ball(flat, 6), noise(8))});
  const Site line{1, 33, 1};
  all.push_back({"line", problemOf(randomPoints(line, 9), ball(line, 14), noise(9))});
  auto lines = randomLines(n, 10, 1);
  for (double& x : lines[2]) x *= 20;
  for (double& x : lines[0]) x *= 1e-3;
  all.push_back({"long cells", problemOf(pointSites(lines), ball(n, 4), noise(10))});
  return all;
}

struct Setting {
  const char* name;
  IterationSchedule schedule;
  ConvergenceDetection convergenceDetection;
};

constexpr FillSmoothness Smoothnesses[] = {FillSmoothness::Harmonic, FillSmoothness::Biharmonic};

constexpr Setting Settings[] = {
    {"SSAR", IterationSchedule::Asynchronous, ConvergenceDetection::SnapshotReduction},
    {"SB96", IterationSchedule::Asynchronous, ConvergenceDetection::SupervisedTermination},
    {"synchronous", IterationSchedule::Synchronous, ConvergenceDetection::SnapshotReduction}};

void expectTheDirectSolution(const Case& one, FillSmoothness smoothness) {
  const Problem& problem = one.problem;
  const bool isHarmonic = smoothness == FillSmoothness::Harmonic;
  const Reference reference(problem, smoothness);
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> direct(reference.matrix);
  const Eigen::VectorXd want = direct.solve(reference.right);
  // The largest row sum of the inverse bounds what a residual can do: that of an M-matrix has no
  // negative entry.
  double growth = direct.solve(reference.scale).maxCoeff();
  if (!isHarmonic && few()) {
    // A dense inverse on each rank takes too long.
    growth = std::numeric_limits<double>::max();
  } else if (!isHarmonic) {
    const Eigen::MatrixXd unit = Eigen::MatrixXd::Identity(want.size(), want.size());
    growth = (direct.solve(unit).cwiseAbs() * reference.scale).maxCoeff();
  }
  everywhere([&](Transport& transport) {
    for (const Setting& setting : Settings)
      for (const Cut cut : Cuts) {
        if (few() && (setting.schedule == IterationSchedule::Synchronous) != (cut == Cut::Columns))
          continue;
        if (cut != Cut::Bisected &&
            setting.convergenceDetection != Settings[0].convergenceDetection)
          continue;
        // Biharmonic filling has no iterations.
        if (!isHarmonic && !few() && &setting != &Settings[0]) continue;
        HarmonicFillOptions options;
        options.smoothness = smoothness;
        options.iteration.schedule = setting.schedule;
        options.iteration.convergenceDetection = setting.convergenceDetection;
        options.tolerance = 1e-9;
        const Filled filled = fill(transport, problem, cut, options);
        const std::string name =
            std::string(one.name) + ", " + setting.name + (isHarmonic ? "" : ", biharmonic");
        EXPECT_EQ(filled.result.verdict, Verdict::Converged) << name;
        const double range = filled.result.highest - filled.result.lowest;
        EXPECT_LE(filled.result.residual, options.tolerance * range) << name;
        EXPECT_NEAR(reference.residual(filled.values), filled.result.residual, 1e-13) << name;
        double error = 0, lowest = 1e9, highest = -1e9;
        for (std::size_t i = 0; i < filled.values.size(); ++i) {
          if (problem.unknown[i] == 0) {
            EXPECT_EQ(filled.values[i], problem.values[i]) << name;
            continue;
          }
          error = std::max(error, std::fabs(filled.values[i] - want[reference.number[i]]));
          lowest = std::min(lowest, filled.values[i]);
          highest = std::max(highest, filled.values[i]);
        }
        EXPECT_LE(error, growth * options.tolerance * range * 1.001 + 1e-12) << name;
        if (isHarmonic) {
          EXPECT_GE(lowest, filled.result.lowest) << name;
          EXPECT_LE(highest, filled.result.highest) << name;
        } else {
          EXPECT_LE(filled.result.correction, options.tolerance * range) << name;
          EXPECT_LE(error, 10 * options.tolerance * range + 1e-12) << name;
        }
      }
  });
}

TEST(HarmonicFill, HasTheDirectSolution) {
  for (const Case& one : cases()) expectTheDirectSolution(one, FillSmoothness::Harmonic);
}

TEST(HarmonicFill, ContinuesAcrossSeams) {
  // Odd and even numbers of sites, also two; a hole around the corners, and holes by chance.
  for (const Site& n : {Site{11, 8, 9}, Site{2, 7, 5}, Site{6, 5, 2}, Site{9, 12, 1}})
    for (unsigned axes = 1; axes < 8; ++axes) {
      std::array<double, 3> seam{};
      for (std::size_t a = 0; a < 3; ++a)
        if ((axes >> a & 1) != 0 && n[a] > 1) seam[a] = 0.7 + double(a);
      const auto isUnknown = [n](const Site& s) {
        bool isAtCorner = true;
        for (std::size_t a = 0; a < 3; ++a)
          isAtCorner = isAtCorner && (s[a] < (n[a] + 2) / 4 || s[a] >= n[a] - (n[a] + 2) / 4);
        return isAtCorner || random01(std::uint64_t((s[2] * 99 + s[1]) * 99 + s[0])) < 0.3;
      };
      expectTheDirectSolution(
          {"seam", problemOf(pointSites(randomLines(n, axes, 1), seam), isUnknown, noise(axes))},
          FillSmoothness::Harmonic);
    }
  CellGrid grid;
  grid.ends = randomLines({8, 6, 5}, 3, 1);
  expectTheDirectSolution(
      {"cells", problemOf(cellSites(grid, {true, false, true}), ball({7, 5, 4}, 2), noise(3))},
      FillSmoothness::Harmonic);
}

TEST(HarmonicFill, HasTheDirectBiharmonicSolution) {
  const std::vector<Case> all = cases();
  for (std::size_t i = 0; i < all.size(); i += slowed() ? 2 : 1)
    expectTheDirectSolution(all[i], FillSmoothness::Biharmonic);
}

/// Lattices and boxes of a few sites, slow ranks, and any order of events.
TEST(HarmonicFill, HasTheResidualInEverySimulatedRun) {
  if (world().size() > 1) return;
  const std::uint64_t runs = someOf(Sanitized ? 40 : 600);
  for (std::uint64_t seed = 0; seed < runs && !HasFailure(); ++seed) {
    const int ranks = 1 + int(mix(seed) % 8);
    Site n;
    for (std::size_t a = 0; a < 3; ++a) n[a] = std::int64_t(1 + mix(seed + 20 + a) % (7 - 2 * a));
    n[0] += 1;
    const double share = 0.1 + 0.85 * random01(seed + 1);
    Problem problem = problemOf(
        mix(seed + 2) % 2 == 0 ? randomPoints(n, seed) : randomCells(n, seed),
        [&](const Site& s) {
          return s != Site{0, 0, 0} &&
                 (s == Site{1, 0, 0} || random01(seed + 7 * Reference::place(n, s) + 1000) < share);
        },
        noise(seed));
    HarmonicFillOptions options;
    options.smoothness = Smoothnesses[mix(seed + 9) % 3 == 0 ? 1 : 0];
    const Reference reference(problem, options.smoothness);
    const Setting& setting = Settings[mix(seed + 3) % std::size(Settings)];
    const Cut cut = Cuts[mix(seed + 4) % std::size(Cuts)];
    options.tolerance = mix(seed + 5) % 2 == 0 ? 1e-6 : 1e-10;
    // Only harmonic filling goes on without cycles.
    const bool mayHaveFew = options.smoothness == FillSmoothness::Harmonic;
    options.cycleLimit = mayHaveFew && mix(seed + 6) % 3 == 0 ? 1 : 1000;
    options.sweepsPerExchange = 1 + int(mix(seed + 7) % 3);
    options.iteration.schedule = setting.schedule;
    options.iteration.convergenceDetection = setting.convergenceDetection;
    options.iteration.reduction =
        mix(seed + 8) % 2 == 0 ? ReductionKind::LeaderElection : ReductionKind::Transport;
    const auto body = [&](Transport& transport) {
      if (transport.rank() == int(seed) % ranks) transport.spend(0.01);  // a stall
      const Filled filled = fill(transport, problem, cut, options);
      const double range = filled.result.highest - filled.result.lowest;
      EXPECT_EQ(filled.result.verdict, Verdict::Converged) << "seed " << seed;
      EXPECT_LE(filled.result.residual, options.tolerance * range) << "seed " << seed;
      EXPECT_NEAR(reference.residual(filled.values), filled.result.residual, 1e-14 * 5)
          << "seed " << seed;
    };
    onSimulatedRanks(ranks, seed, body);
  }
}

TEST(HarmonicFill, TakesFewCyclesWhateverTheSize) {
  for (const FillSmoothness smoothness : Smoothnesses) {
    const bool isHarmonic = smoothness == FillSmoothness::Harmonic;
    for (const std::int64_t n : {24, 48, 96}) {
      if (few() && n > 48) continue;
      const Site all{n, n, n};
      const Problem problem = problemOf(
          randomPoints(all, 1, 0), ball(all, 0.415 * double(n)), [n](double x, double y, double z) {
            return std::sin(9 * x / double(n)) + y * z / double(n * n);
          });
      HarmonicFillOptions options;
      options.smoothness = smoothness;
      const Filled filled = fill(world(), problem, Cut::Bisected, options);
      EXPECT_EQ(filled.result.verdict, Verdict::Converged);
      EXPECT_LE(filled.result.cycles, isHarmonic ? 16 : 110);
      RecordProperty((isHarmonic ? "cycles" : "biharmonicCycles") + std::to_string(n),
                     int(filled.result.cycles));
    }
  }
}

double largestError(const Problem& problem, const Filled& filled, const Function& exact) {
  double largest = 0;
  std::size_t at = 0;
  for (const double z : problem.sites.places[2])
    for (const double y : problem.sites.places[1])
      for (const double x : problem.sites.places[0])
        largest = std::max(largest, std::fabs(filled.values[at++] - exact(x, y, z)));
  return largest;
}

HarmonicFillOptions biharmonic(double tolerance = 1e-6) {
  HarmonicFillOptions options;
  options.smoothness = FillSmoothness::Biharmonic;
  options.tolerance = tolerance;
  return options;
}

/// On any lines, through holes that are a site from the border: there too nothing is assumed about
/// what lies beyond known values.
TEST(BiharmonicFill, ReproducesLinearFunctions) {
  const Function exact = [](double x, double y, double z) { return 1 + 2 * x - y + 0.5 * z; };
  const Site n{13, 12, 11}, flat{21, 19, 1};
  const auto inside = [](const Site& all) {
    return [all](const Site& s) {
      for (std::size_t a = 0; a < 3; ++a)
        if (all[a] > 1 && (s[a] == 0 || s[a] == all[a] - 1)) return false;
      return s != Site{3, 4, 5} && random01(std::uint64_t((s[2] * 99 + s[1]) * 99 + s[0])) < 0.98;
    };
  };
  for (const Problem& problem : {problemOf(randomPoints(n, 1), inside(n), exact),
                                 problemOf(randomCells(n, 2), inside(n), exact),
                                 problemOf(randomPoints(flat, 3), inside(flat), exact)})
    everywhere([&](Transport& transport) {
      const Filled filled = fill(transport, problem, Cut::Bisected, biharmonic(1e-10));
      EXPECT_EQ(filled.result.verdict, Verdict::Converged);
      EXPECT_LT(largestError(problem, filled, exact), 1e-7);
    });
}

/// On even lines, two sites from the border: what has a linear Laplacian. A harmonic fill has not.
TEST(BiharmonicFill, ReproducesCubicFunctions) {
  const Site n{17, 16, 15};
  const Function exact = [](double x, double y, double z) {
    return (x * x + 2 * y * y - 0.3 * x * z) / 50 + (x * x * x - z * y * y) / 900;
  };
  const auto inside = [n](const Site& s) {
    for (std::size_t a = 0; a < 3; ++a)
      if (s[a] < 2 || s[a] > n[a] - 3) return false;
    return true;
  };
  const Problem problem = problemOf(randomPoints(n, 1, 0), inside, exact);
  const Filled filled = fill(world(), problem, Cut::Bisected, biharmonic(1e-10));
  const double range = filled.result.highest - filled.result.lowest;
  EXPECT_LT(largestError(problem, filled, exact), 1e-8 * range);
  EXPECT_GT(largestError(problem, fill(world(), problem, Cut::Bisected, {}), exact), 0.05 * range);
}

/// A biharmonic function: the error of a grid that is refined evenly goes to 0.
TEST(BiharmonicFill, ConvergesToTheFunction) {
  const Function exact = [](double x, double y, double z) {
    return (1 + x) * std::exp(x) * std::sin(0.6 * y) * std::sin(0.8 * z) + x * y - z * z;
  };
  const auto error = [&](std::int64_t n) {
    std::array<std::vector<double>, 3> lines;
    for (auto& line : lines)
      for (std::int64_t i = 0; i <= n; ++i) {
        const double t = double(i) / double(n);
        line.push_back(t + 0.1 * std::sin(6 * t));
      }
    const Problem problem = problemOf(
        pointSites(lines),
        [n](const Site& s) {
          double d = 0;
          for (std::size_t a = 0; a < 3; ++a)
            d = std::max(d, std::fabs(double(s[a]) / double(n) - 0.5));
          return d < 0.3;
        },
        exact);
    return largestError(problem, fill(world(), problem, Cut::Bisected, biharmonic(1e-9)), exact);
  };
  const double coarse = error(20), fine = error(40);
  RecordProperty("coarse", std::to_string(coarse));
  RecordProperty("fine", std::to_string(fine));
  EXPECT_LT(fine, 1e-3);
  EXPECT_GT(coarse / fine, 3);
}

/// Nothing flows through it; functions that do not vary across it are no worse there.
TEST(BiharmonicFill, ContinuesSlopesAlongTheBorder) {
  const Function exact = [](double, double y, double z) { return 2 * y - z; };
  for (const Site& n : {Site{2, 14, 13}, Site{9, 14, 13}}) {
    const Problem problem = problemOf(
        randomPoints(n, 1),
        [](const Site& s) { return s[1] > 2 && s[1] < 10 && s[2] > 2 && s[2] < 9; }, exact);
    const Filled filled = fill(world(), problem, Cut::Bisected, biharmonic(1e-10));
    EXPECT_LT(largestError(problem, filled, exact), 1e-7);
  }
}

/// There is one answer, even where many functions have no curvature.
TEST(BiharmonicFill, IsAConstantAroundOneKnownValue) {
  for (const Site& known : {Site{0, 0, 0}, Site{4, 3, 2}, Site{8, 0, 3}}) {
    const Site n{9, 7, 5};
    const Problem problem = problemOf(
        randomPoints(n, 1), [known](const Site& s) { return s != known; }, noise(1));
    const Filled filled = fill(world(), problem, Cut::Slabs, biharmonic());
    EXPECT_EQ(filled.result.verdict, Verdict::Converged);
    for (const double value : filled.values)
      EXPECT_EQ(value, problem.values[Reference::place(n, known)]);
  }
}

TEST(BiharmonicFill, IsTheSameWithThreadsAndAgain) {
  const Site n{21, 22, 23};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 9), noise(1));
  HarmonicFillOptions options = biharmonic();
  const std::vector<double> found = expectSolvesAgain(problem, options);
  const auto boxes = boxesOf(problem.all(), Cut::Bisected, world().size());
  const CellRange& box = boxes[std::size_t(world().rank())];
  options.parallelFor = onThreads(2, 3);
  const Filled threaded = fill(world(), problem, Cut::Bisected, options);
  EXPECT_EQ(partOf(n, box, threaded.values), found);
}

TEST(BiharmonicFill, EndsWhereItDoesNotGetThereOrIsAborted) {
  const Site n{12, 11, 10};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 4), noise(1));
  // Rounding, or the limit of cycles.
  for (const std::int64_t limit : {1000, 20}) {
    HarmonicFillOptions options = biharmonic(limit == 20 ? 1e-12 : 1e-300);
    options.cycleLimit = limit;
    const Filled filled = fill(world(), problem, Cut::Bisected, options);
    EXPECT_EQ(filled.result.verdict, Verdict::IterationLimit);
    EXPECT_NEAR(Reference(problem, options.smoothness).residual(filled.values),
                filled.result.residual, 1e-13);
    EXPECT_LE(filled.result.cycles, limit + 3);  // a pair, and that which verifies
    EXPECT_LT(filled.result.residual, limit > 20 ? 1e-12 : 1.0);
  }
  int calls = 0;
  double before = 0;
  const bool last = world().rank() == world().size() - 1;
  const auto monitor = [&](double done) {
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
    before = done;
    return !last || ++calls < 25;
  };
  const Filled aborted = fill(world(), problem, Cut::Bisected, biharmonic(1e-12), monitor);
  EXPECT_EQ(aborted.result.verdict, Verdict::Aborted);
  EXPECT_GT(before, 0);
}

/// Only biharmonic filling looks so far.
TEST(BiharmonicFill, NeedsValuesTwoSitesAway) {
  const Site n{12, 11, 10};
  for (const std::int64_t away : {1, 2, 3}) {
    Problem problem = problemOf(
        randomPoints(n, 1),
        [](const Site& s) {
          return s == Site{5, 5, 5};
        },
        noise(1));
    problem.values[Reference::place(n, {5 + away, 5, 5})] = HUGE_VAL;
    for (const FillSmoothness smoothness : Smoothnesses) {
      HarmonicFillOptions options;
      options.smoothness = smoothness;
      const bool isHarmonic = smoothness == FillSmoothness::Harmonic;
      Filled filled;
      const std::string error =
          errorOf([&] { filled = fill(world(), problem, Cut::Bisected, options); });
      if (away <= (isHarmonic ? 1 : 2)) {
        EXPECT_NE(error.find("not finite"), std::string::npos) << error;
      } else {
        EXPECT_EQ(error, "");
        EXPECT_TRUE(std::isfinite(filled.values[Reference::place(n, {5, 5, 5})]));
      }
    }
  }
}

/// A harmonic function, in a hole of a grid that is refined evenly: of second order, on lines that
/// are not even, too.
TEST(HarmonicFill, IsOfSecondOrder) {
  const Function exact = [](double x, double y, double z) {
    return std::exp(x) * std::sin(0.6 * y) * std::sin(0.8 * z) + x * y - z;
  };
  for (const bool atCells : {false, true}) {
    const auto error = [&](std::int64_t n) {
      CellGrid grid;
      for (auto& ends : grid.ends)
        for (std::int64_t i = 0; i <= n; ++i) {
          const double t = double(i) / double(n);
          ends.push_back(t + 0.1 * std::sin(6 * t));
        }
      const SiteLattice sites = atCells ? cellSites(grid) : pointSites(grid.ends);
      const auto isInside = [&](const Site& s) {
        double d = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          const double x = double(s[a] + (atCells ? 0.5 : 0.0)) / double(n) - 0.5;
          d = std::max(d, std::fabs(x));
        }
        return d < 0.3;
      };
      const Problem problem = problemOf(sites, isInside, exact);
      HarmonicFillOptions options;
      options.tolerance = 1e-9;
      return largestError(problem, fill(world(), problem, Cut::Bisected, options), exact);
    };
    const double coarse = error(20), fine = error(40);
    EXPECT_LT(fine, 1e-4);
    EXPECT_GT(coarse / fine, 3.4);
    EXPECT_LT(coarse / fine, 4.8);
  }
}

TEST(HarmonicFill, IsAConstantAmongConstants) {
  const Site n{9, 8, 7};
  const Problem problem =
      problemOf(randomPoints(n, 1), ball(n, 3), [](double, double, double) { return 0.1; });
  for (const double value : fill(world(), problem, Cut::Bisected, {}).values) EXPECT_EQ(value, 0.1);
}

TEST(HarmonicFill, LeavesWhatHasNoHoles) {
  const Site n{5, 6, 7};
  const Problem problem = problemOf(
      randomPoints(n, 1), [](const Site&) { return false; }, noise(1));
  const Filled filled = fill(world(), problem, Cut::Slabs, {});
  EXPECT_EQ(filled.result.verdict, Verdict::Converged);
  EXPECT_EQ(filled.values, problem.values);
}

TEST(HarmonicFill, SolvesAgain) {
  const Site n{12, 11, 10};
  HarmonicFillOptions options;
  options.iteration.schedule = IterationSchedule::Synchronous;
  expectSolvesAgain(problemOf(randomPoints(n, 1), ball(n, 4), noise(1)), options);
}

TEST(HarmonicFill, IsTheSameWithThreads) {
  const Site n{21, 22, 23};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 9), noise(1));
  HarmonicFillOptions options;
  options.iteration.schedule = IterationSchedule::Synchronous;
  const Filled one = fill(world(), problem, Cut::Bisected, options);
  options.parallelFor = onThreads(2, 3);
  EXPECT_EQ(fill(world(), problem, Cut::Bisected, options).values, one.values);
}

TEST(HarmonicFill, IsAborted) {
  const Site n{12, 11, 10};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 4), noise(1));
  int calls = 0;
  const auto monitor = [&](double done) {
    EXPECT_GE(done, 0);
    EXPECT_LE(done, 1);
    return world().rank() != world().size() - 1 || ++calls < 3;
  };
  HarmonicFillOptions options;
  options.tolerance = 1e-12;
  EXPECT_EQ(fill(world(), problem, Cut::Bisected, options, monitor).result.verdict,
            Verdict::Aborted);
}

/// An abort does not wait for the many sweeps of an iteration.
TEST(HarmonicFill, IsAbortedBetweenSweeps) {
  const Site n{12, 11, 10};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 4), noise(1));
  int calls = 0, loops = 0;  // in the iterations
  HarmonicFillOptions options;
  options.tolerance = 1e-300;
  options.cycleLimit = 1;
  options.sweepsPerExchange = 100000;
  options.parallelFor = [&](std::int64_t count, const auto& body) {
    loops += calls > 0;
    serialFor(count, body);
  };
  const auto monitor = [&](double done) { return done < 0.95 || ++calls < 3; };
  EXPECT_EQ(fill(world(), problem, Cut::Bisected, options, monitor).result.verdict,
            Verdict::Aborted);
  EXPECT_GE(calls, 3);
  // All sweeps of one iteration would be 200000 loops. A rank goes on until it learns of the abort.
  EXPECT_LT(loops, 20000);
}

TEST(HarmonicFill, AnErrorOfOneMonitorIsAnErrorOnAllRanks) {
  const Site n{12, 11, 10};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 4), noise(1));
  const auto monitor = [&](double) -> bool {
    if (world().rank() == world().size() - 1) throw Error("the monitor broke");
    return true;
  };
  const std::string error = errorOf([&] { fill(world(), problem, Cut::Bisected, {}, monitor); });
  EXPECT_NE(error.find("the monitor broke"), std::string::npos) << error;
  // After the cycles, too.
  bool brokeLate = false;
  const auto late = [&](double done) -> bool {
    if (done < 0.95 || world().rank() < world().size() - 1) return true;
    brokeLate = true;
    throw Error("the monitor broke late");
  };
  HarmonicFillOptions options;
  options.tolerance = 1e-300;
  const std::string other = errorOf([&] { fill(world(), problem, Cut::Bisected, options, late); });
  EXPECT_NE(other.find("the monitor broke late"), std::string::npos) << other;
  EXPECT_EQ(brokeLate, world().rank() == world().size() - 1);
}

TEST(HarmonicFill, SaysWhenItDoesNotGetThere) {
  const Site n{12, 11, 10};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 4), noise(1));
  HarmonicFillOptions options;
  options.tolerance = 1e-300;
  options.iteration.iterationLimit = 20;
  const Filled filled = fill(world(), problem, Cut::Bisected, options);
  EXPECT_EQ(filled.result.verdict, Verdict::IterationLimit);
  EXPECT_NEAR(Reference(problem).residual(filled.values), filled.result.residual, 1e-14);
  EXPECT_LT(filled.result.residual, 1e-13);
}

TEST(HarmonicFill, RefusesWhatCannotBeOnAllRanks) {
  const Site n{6, 5, 4};
  const Problem problem = problemOf(randomPoints(n, 1), ball(n, 2), noise(1));
  const bool last = world().rank() == world().size() - 1;
  const auto errorWith = [&](const std::function<void(Problem&, HarmonicFillOptions&)>& change) {
    Problem changed = problem;
    HarmonicFillOptions options;
    change(changed, options);
    const auto boxes = boxesOf(changed.all(), Cut::Slabs, world().size());
    const CellRange& box = boxes[std::size_t(world().rank())];
    return errorOf([&] {
      HarmonicFill solver(world(), changed.sites, box, partOf(n, box, changed.unknown), options);
      std::vector<double> values = partOf(n, box, changed.values);
      static_cast<void>(solver.fill(values));
    });
  };
  EXPECT_EQ(errorWith([](Problem&, HarmonicFillOptions&) {}), "");
  EXPECT_NE(errorWith([](Problem& changed, HarmonicFillOptions&) {
              changed.unknown.assign(changed.unknown.size(), 1);
            }).find("nothing is known"),
            std::string::npos);
  EXPECT_NE(errorWith([&](Problem& changed, HarmonicFillOptions&) {
              if (last) changed.values.assign(changed.values.size(), HUGE_VAL);
            }).find("not finite"),
            std::string::npos);
  EXPECT_NE(errorWith([&](Problem&, HarmonicFillOptions& options) {
              if (last) options.tolerance = 0;
            }).find("tolerance"),
            std::string::npos);
  EXPECT_NE(errorWith([&](Problem&, HarmonicFillOptions& options) {
              if (last) options.sweepsPerExchange = 0;
            }).find("sweep"),
            std::string::npos);
  EXPECT_NE(errorWith([&](Problem& changed, HarmonicFillOptions&) {
              if (last) std::swap(changed.sites.places[0][0], changed.sites.places[0][1]);
            }).find("increase"),
            std::string::npos);
  for (const double seam : {-1.0, HUGE_VAL, std::nan("")})
    EXPECT_NE(errorWith([&](Problem& changed, HarmonicFillOptions&) {
                if (last) changed.sites.seam[1] = seam;
              }).find("seam"),
              std::string::npos);
  EXPECT_NE(errorWith([&](Problem& changed, HarmonicFillOptions& options) {
              changed.sites.seam[2] = 1;
              options.smoothness = FillSmoothness::Biharmonic;
            }).find("biharmonic"),
            std::string::npos);
  EXPECT_NE(errorOf([&] {
              CellRange box = problem.all();
              if (world().rank() > 0) box = {};
              if (world().rank() == 0) --box.hi[0];
              HarmonicFill solver(world(), problem.sites, box, partOf(n, box, problem.unknown), {});
            }).find("sites"),
            std::string::npos);
}

TEST(HarmonicFill, RefusesABoxOfAnotherRankOfAnySize) {
  VirtualTimeNetworkOptions options;
  options.ranks = 2;
  std::vector<std::string> errors(2);
  makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
    const bool isFirst = transport.rank() == 0;
    const std::int64_t size = isFirst ? 2 : std::int64_t(1) << 40;
    const CellRange box{{0, 0, 0}, {size, size, 1}};
    const std::vector<std::uint8_t> unknown(4, 0);
    errors[isFirst ? 0 : 1] = testing::errorOf([&] {
      HarmonicFill(transport, pointSites({std::vector<double>{0, 1}, {0, 1}, {0}}), box, unknown,
                   {});
    });
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("sites of rank 1 are not in the lattice"), std::string::npos) << error;
}

}  // namespace
}  // namespace tributary::testing
