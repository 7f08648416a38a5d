// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/HarmonicFill.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Iteration/ExactSum.h"
#include "Tributary/Relaxation/detail/BiharmonicOperator.h"
#include "Tributary/Relaxation/detail/HarmonicStencil.h"
#include "Tributary/Relaxation/detail/MultigridPreconditioner.h"

namespace tributary {

using namespace detail;

namespace {

using Index = std::int64_t;

/// The share of the tolerance at which conjugate gradients end. A synchronous sweep may at most
/// double the largest residual, because the residual of a smooth error moves from all sites to the
/// red ones.
constexpr double ShareOfCycles = 0.4;
/// The share of a biharmonic fill's progress that the harmonic function takes.
constexpr double ShareOfHarmonic = 0.1;
/// Restarts of biharmonic conjugate gradients, each from a recomputed residual.
constexpr int Rounds = 4;

void checkLattice(const SiteLattice& sites) {
  for (std::size_t a = 0; a < 3; ++a) {
    if (sites.places[a].empty() || sites.widths[a].size() != sites.places[a].size())
      throw Error("a lattice needs at least one site along each axis, and one width per site");
    const double seam = sites.seam[a];
    if (!std::isfinite(seam) || !(seam >= 0) || (seam > 0 && sites.places[a].size() < 2))
      throw Error("the seam of a lattice is " + numberText(seam) +
                  " wide; give a distance along an axis with two sites or more, or 0");
    for (std::size_t i = 0; i < sites.places[a].size(); ++i) {
      const double x = sites.places[a][i], width = sites.widths[a][i];
      if (!std::isfinite(x) || !std::isfinite(width) || !(width > 0) ||
          (i > 0 && !(x > sites.places[a][i - 1])))
        throw Error(
            "the coordinates of sites do not increase along each axis; repair the coordinates");
    }
  }
}

void check(const HarmonicFillOptions& options) {
  if (!(options.tolerance > 0) || !std::isfinite(options.tolerance))
    throw Error("the tolerance is " + numberText(options.tolerance) + "; give a positive number");
  if (options.cycleLimit < 1 || options.sweepsPerExchange < 1)
    throw Error("there are " + std::to_string(options.cycleLimit) + " cycles and " +
                std::to_string(options.sweepsPerExchange) +
                " sweeps per exchange; give at least 1 of each");
}

}  // namespace

class HarmonicFill::Solver {
 public:
  Solver(Transport& transport, const SiteLattice& sites, const CellRange& box,
         Span<const std::uint8_t> unknown, const HarmonicFillOptions& options);

  HarmonicFillResult fill(Span<double> values, const std::function<bool(double)>& monitor);

  Index unknowns = 0;
  IterationStatistics statistics;

 private:
  /// Collective. Replaces each number by its exact sum over ranks.
  /// @return whether no rank aborts
  bool sumOverRanks(Span<double> numbers, bool continues);

  struct HarmonicEquation;
  struct BiharmonicEquation;

  template <class Visit>
  double maximumOverRuns(Visit&& visit);
  double residualOf(const double* u, double* residual);
  void includeKnownNeighbors(const SiteRun& run, double& lowest, double& highest) const;
  void findRange(HarmonicFillResult& result);
  void normalize(double lowest, double range);
  void solveNormalized(const std::function<bool(double)>& monitor, HarmonicFillResult& result);
  void writeUnknowns(const HarmonicFillResult& result, Span<double> values) const;

  std::array<double, 2> productsOfCorrection() const;
  template <class Equation>
  double moveBy(double step, Equation& equation);
  template <class Equation>
  bool solve(Equation&& equation, const std::function<bool(double)>& monitor,
             HarmonicFillResult& result);
  void refine(const std::function<bool(double)>& monitor, HarmonicFillResult& result);

  void readHalo(const Incoming& incoming, double* values) const;
  void writeHalo(std::size_t neighbor, Span<double> out) const;
  void sweep();
  void iterate(const std::function<bool(double)>& monitor, HarmonicFillResult& result);

  Transport& transport_;
  HarmonicFillOptions options_;
  HaloMessenger messenger_;
  LatticeStencil stencil_;
  SiteHalo halo_;
  std::vector<SiteRun> runs_;
  std::vector<double> ofRun_;  // a value of each run, for maximumOverRuns()
  std::unique_ptr<MultigridPreconditioner> preconditioner_;
  std::vector<double> values_;    ///< by place, mapped to [0, 1]
  std::vector<double> residual_;  ///< packed: right-hand side minus matrix times values
  std::vector<double> flow_;      ///< packed: matrix times direction
  std::vector<float> direction_;  ///< by place

  /// Biharmonic only.
  BiharmonicOperator operator_;
  std::vector<double> exactDirection_;  ///< by place
  std::vector<double> between_;         ///< packed: between the two cycles of a correction
};

HarmonicFill::Solver::Solver(Transport& transport, const SiteLattice& sites, const CellRange& box,
                             Span<const std::uint8_t> unknown, const HarmonicFillOptions& options)
    : transport_(transport), options_(options), messenger_(transport) {
  std::vector<CellRange> boxes = allgather(transport, box);
  std::vector<std::uint8_t> flags;
  collectively(transport, [&] {
    checkLattice(sites);
    checkPartition(boxes, {sites.along(0), sites.along(1), sites.along(2)}, transport.rank(),
                   "sites", "lattice");
    if (unknown.size() != index(box.cells()))
      throw Error(std::to_string(unknown.size()) + " flags given for " +
                  std::to_string(box.cells()) + " sites; give one for each site");
    check(options);
    if (options.smoothness == FillSmoothness::Biharmonic &&
        sites.periodic() != std::array<bool, 3>{})
      throw Error(
          "a biharmonic fill cannot continue at the sides; fill harmonically, or without a "
          "seam");
    for (CellRange& one : boxes)
      if (one.empty()) one = {{-10, -10, -10}, {-10, -10, -10}};  // see MultigridPreconditioner
    stencil_ = LatticeStencil(sites);
    halo_ =
        SiteHalo(boxes, transport.rank(),
                 {{0, 0, 0}, {sites.along(0), sites.along(1), sites.along(2)}}, sites.periodic());
    flags.assign(halo_.room().size, 0);
    std::size_t at = 0;
    halo_.visit(halo_.room().box, [&](Index first, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        flags[index(first) + i] = unknown[at] != 0 ? 1 : 0;
        unknowns += flags[index(first) + i];
        ++at;
      }
    });
  });
  unknowns = allreduce(transport, ReduceOp::Sum, unknowns);
  if (unknowns == 0) return;
  if (unknowns == sites.along(0) * sites.along(1) * sites.along(2))
    throw Error("nothing is known: all " + std::to_string(unknowns) +
                " values are unknown; mark fewer values as unknown");
  halo_.exchange(messenger_, flags.data());
  collectively(transport, [&] {
    runs_ = runsOf(halo_.room(), flags);
    ofRun_.assign(runs_.size(), 0.0);
    const std::size_t mine = runs_.empty() ? 0 : index(runs_.back().packed + runs_.back().length);
    values_.assign(halo_.room().size, 0.0);
    residual_.assign(mine, 0.0);
    flow_.assign(mine, 0.0);
    direction_.assign(halo_.room().size, 0.0f);
    if (options.smoothness == FillSmoothness::Biharmonic) {
      operator_ = BiharmonicOperator({{sites.along(0), sites.along(1), sites.along(2)}}, stencil_,
                                     halo_, runs_, flags, options.parallelFor);
      exactDirection_.assign(halo_.room().size, 0.0);
      between_.assign(mine, 0.0);
    }
  });
  preconditioner_ = std::make_unique<MultigridPreconditioner>(
      transport, messenger_, sites, stencil_, boxes, halo_, runs_, flags, options.parallelFor);
}

bool HarmonicFill::Solver::sumOverRanks(Span<double> numbers, bool continues) {
  std::vector<Index> parts;
  for (const double number : numbers) {
    ExactSum sum;
    sum.add(number);
    parts.insert(parts.end(), sum.parts().begin(), sum.parts().end());
  }
  parts.push_back(continues ? 0 : 1);
  parts.push_back(messenger_.errors.any() ? 1 : 0);
  parts = allreduce(transport_, ReduceOp::Sum, std::move(parts));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] =
        ExactSum(Span<const Index>(parts).subspan(i * ExactSum::Size, ExactSum::Size)).value();
  if (parts.back() > 0) messenger_.errors.agree(transport_);
  return parts[parts.size() - 2] == 0;
}

/// The largest value of `visit(run)`, or NaN. Local.
template <class Visit>
double HarmonicFill::Solver::maximumOverRuns(Visit&& visit) {
  // One value per run: threads write to different places.
  options_.parallelFor(static_cast<Index>(runs_.size()), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) ofRun_[index(r)] = visit(runs_[index(r)]);
  });
  double all = 0;
  for (const double one : ofRun_) all = one > all || std::isnan(one) ? one : all;
  return all;
}

/// Local. @param residual  packed: the flux to each site; may be null
/// @return the largest difference of a value from the mean of its neighbors
double HarmonicFill::Solver::residualOf(const double* u, double* residual) {
  const Index sy = halo_.room().step[1], sz = halo_.room().step[2];
  return maximumOverRuns([&](const SiteRun& run) {
    const auto row = stencil_.row<double>(run.j, run.k);
    const double* v = u + run.at - run.i;
    double* r = residual ? residual + run.packed - run.i : nullptr;
    double worst = 0;
    for (Index i = run.i; i < run.i + run.length; ++i) {
      const double sum = row.sum(i);
      const double flow = row.before(i) * v[i - 1] + row.after(i) * v[i + 1] +
                          row.across(i, v + i, sy, sz) - sum * v[i];
      if (r) r[i] = flow;
      const double size = std::fabs(flow) / sum;
      worst = size > worst || std::isnan(size) ? size : worst;
    }
    return worst;
  });
}

/// The harmonic equation for conjugate gradients. Directions are in single precision, as
/// corrections are.
struct HarmonicFill::Solver::HarmonicEquation {
  using Real = float;
  /// Whether conjugate gradients end by the size of the correction as well as by the residual.
  static constexpr bool ChecksCorrections = false;
  /// Cycles without a smaller residual after which only rounding errors are assumed to be left.
  static constexpr std::int64_t CyclesWithoutProgress = 25;

  std::vector<float>& direction() { return solver.direction_; }
  /// Computes residual_ from the values. @return this rank's largest, in units of the values
  double residual() { return solver.residualOf(solver.values_.data(), solver.residual_.data()); }
  void correct(HarmonicFillResult& result) {
    solver.preconditioner_->apply(solver.residual_);
    ++result.cycles;
  }
  /// Computes flow_, the matrix times the direction.
  /// @return this rank's part of its product with the direction
  double apply() {
    const SiteHalo& halo = solver.halo_;
    const Index sy = halo.room().step[1], sz = halo.room().step[2];
    halo.exchange(solver.messenger_, direction().data());
    double energy = 0;
    for (const SiteRun& run : solver.runs_) {
      const auto row = solver.stencil_.row<double>(run.j, run.k);
      const float* d = direction().data() + run.at - run.i;
      double* f = solver.flow_.data() + run.packed - run.i;
      double sum = 0;
      for (Index i = run.i; i < run.i + run.length; ++i) {
        f[i] = row.away(i, d + i, sy, sz);
        sum += static_cast<double>(d[i]) * f[i];
      }
      energy += sum;
    }
    return energy;
  }
  /// The divisor, by site of a run, that converts a residual to units of the values.
  auto scale(const SiteRun& run) const {
    return [row = solver.stencil_.row<double>(run.j, run.k), first = run.i](Index i) {
      return row.sum(first + i);
    };
  }

  Solver& solver;
};

/// The biharmonic equation. Its matrix is, apart from the rim, the product of the Laplace operator,
/// the inverse volumes and the Laplace operator; so two cycles with the volumes between them make a
/// correction. Directions are in double precision: the bending of a smooth direction's rounding
/// errors would exceed that of the direction itself.
struct HarmonicFill::Solver::BiharmonicEquation {
  using Real = double;
  static constexpr bool ChecksCorrections = true;
  static constexpr std::int64_t CyclesWithoutProgress = 200;

  auto scale(const SiteRun& run) const {
    return [diagonal = solver.operator_.diagonal().data() + run.packed](Index i) {
      return diagonal[i];
    };
  }
  std::vector<double>& direction() { return solver.exactDirection_; }
  double residual() {
    solver.halo_.exchange(solver.messenger_, solver.values_.data());
    solver.operator_.apply(solver.messenger_, solver.values_.data(), solver.residual_.data());
    return solver.maximumOverRuns([&](const SiteRun& run) {
      const auto diagonal = scale(run);
      double worst = 0;
      for (Index i = 0; i < run.length; ++i) {
        double& r = solver.residual_[index(run.packed + i)];
        r = -r;
        const double size = std::fabs(r) / diagonal(i);
        worst = size > worst || std::isnan(size) ? size : worst;
      }
      return worst;
    });
  }
  void correct(HarmonicFillResult& result) {
    solver.preconditioner_->apply(solver.residual_);
    const float* once = solver.preconditioner_->correction();
    for (const SiteRun& run : solver.runs_) {
      const auto row = solver.stencil_.row<double>(run.j, run.k);
      for (Index i = 0; i < run.length; ++i)
        solver.between_[index(run.packed + i)] = row.volume(run.i + i) * once[run.at + i];
    }
    solver.preconditioner_->apply(solver.between_);
    result.cycles += 2;
  }
  /// This rank's largest magnitude of the correction.
  double correction() const {
    const float* z = solver.preconditioner_->correction();
    return solver.maximumOverRuns([&](const SiteRun& run) {
      double worst = 0;
      for (Index p = run.at; p < run.at + run.length; ++p) {
        const double size = std::fabs(z[p]);
        worst = size > worst || std::isnan(size) ? size : worst;
      }
      return worst;
    });
  }
  double apply() {
    solver.halo_.exchange(solver.messenger_, direction().data());
    solver.operator_.apply(solver.messenger_, direction().data(), solver.flow_.data());
    double energy = 0;
    for (const SiteRun& run : solver.runs_)
      for (Index i = 0; i < run.length; ++i)
        energy += direction()[index(run.at + i)] * solver.flow_[index(run.packed + i)];
    return energy;
  }

  Solver& solver;
};

/// The products of the correction with residual_ and flow_, of this rank.
std::array<double, 2> HarmonicFill::Solver::productsOfCorrection() const {
  const float* z = preconditioner_->correction();
  std::array<double, 2> products{0, 0};
  for (const SiteRun& run : runs_)
    for (Index i = 0; i < run.length; ++i) {
      const double one = z[run.at + i];
      products[0] += one * residual_[index(run.packed + i)];
      products[1] += one * flow_[index(run.packed + i)];
    }
  return products;
}

/// Moves the values by a step along the direction. Updates residual_ from flow_.
/// @return this rank's largest residual, in units of the values
template <class Equation>
double HarmonicFill::Solver::moveBy(double step, Equation& equation) {
  const auto& direction = equation.direction();
  return maximumOverRuns([&](const SiteRun& run) {
    const auto scale = equation.scale(run);
    double worst = 0;
    for (Index i = 0; i < run.length; ++i) {
      values_[index(run.at + i)] += step * direction[index(run.at + i)];
      double& r = residual_[index(run.packed + i)];
      r -= step * flow_[index(run.packed + i)];
      const double one = std::fabs(r) / scale(i);
      worst = one > worst || std::isnan(one) ? one : worst;
    }
    return worst;
  });
}

/// Conjugate gradients, flexible (Polak-Ribiere), because the preconditioner works in single
/// precision.
/// @return false after an abort
template <class Equation>
bool HarmonicFill::Solver::solve(Equation&& equation, const std::function<bool(double)>& monitor,
                                 HarmonicFillResult& result) {
  using Real = typename std::decay_t<Equation>::Real;
  constexpr bool ChecksCorrections = std::decay_t<Equation>::ChecksCorrections;
  const double goal = ShareOfCycles * options_.tolerance;
  std::vector<Real>& direction = equation.direction();
  double worst = allreduce(transport_, ReduceOp::Max, equation.residual());
  double gap = worst, begin = gap, least = gap, old = 0;
  std::int64_t last = result.cycles;
  std::fill(direction.begin(), direction.end(), Real(0));
  std::fill(flow_.begin(), flow_.end(), 0.0);
  double step = 0;
  while ((ChecksCorrections || worst > goal) && result.cycles < options_.cycleLimit &&
         result.cycles - last < std::decay_t<Equation>::CyclesWithoutProgress) {
    begin = std::max(begin, gap);
    const double progress = gap > goal ? std::log(begin / gap) / std::log(begin / goal) : 0;
    bool continues = true;
    messenger_.errors.attempt([&] { continues = !monitor || monitor(0.9 * progress); });
    equation.correct(result);
    auto products = productsOfCorrection();
    if (!sumOverRanks({products.data(), products.size()}, continues)) return false;
    if (!(products[0] > 0)) break;  // converged, or not a number
    if constexpr (ChecksCorrections) {
      gap = std::max(worst, allreduce(transport_, ReduceOp::Max, equation.correction()));
      if (gap <= goal) break;
    }
    const auto keep = static_cast<Real>(old > 0 ? -step * products[1] / old : 0);
    old = products[0];
    const float* z = preconditioner_->correction();
    for (const SiteRun& run : runs_)
      for (Index p = run.at; p < run.at + run.length; ++p)
        direction[index(p)] = z[p] + keep * direction[index(p)];
    double energy = equation.apply();
    sumOverRanks({&energy, 1}, true);
    if (!(energy > 0)) break;
    step = old / energy;
    worst = allreduce(transport_, ReduceOp::Max, moveBy(step, equation));
    if constexpr (!ChecksCorrections) gap = worst;
    if (gap < 0.9 * least) {
      least = gap;
      last = result.cycles;
    }
  }
  return true;
}

/// Computes the biharmonic values from the harmonic ones, until the recomputed residual and the
/// correction are at or below the tolerance.
void HarmonicFill::Solver::refine(const std::function<bool(double)>& monitor,
                                  HarmonicFillResult& result) {
  BiharmonicEquation equation{*this};
  for (int round = 1;; ++round) {
    if (!solve(equation, monitor, result)) return;
    result.residual = allreduce(transport_, ReduceOp::Max, equation.residual());
    ++result.snapshots;
    equation.correct(result);
    result.correction = allreduce(transport_, ReduceOp::Max, equation.correction());
    messenger_.errors.agree(transport_);
    const double worst = std::max(result.residual, result.correction);
    if (worst <= options_.tolerance)
      result.verdict = Verdict::Converged;
    else
      result.verdict = std::isfinite(worst) ? Verdict::IterationLimit : Verdict::NotFinite;
    if (result.verdict != Verdict::IterationLimit || round == Rounds ||
        result.cycles >= options_.cycleLimit)
      return;
  }
}

/// Local. Writes the values of neighbor ranks, and of images of this rank's sites, into the halo.
/// @param values  by place
void HarmonicFill::Solver::readHalo(const Incoming& incoming, double* values) const {
  for (std::size_t n = 0; n < halo_.links().size(); ++n)
    halo_.visit(halo_.links()[n].needs,
                [&, at = std::size_t(0)](Index first, std::size_t count) mutable {
                  std::copy_n(incoming[n].data() + at, count, values + first);
                  at += count;
                });
  halo_.copyImages(values);
}

/// Local. The values that a neighbor rank needs.
void HarmonicFill::Solver::writeHalo(std::size_t neighbor, Span<double> out) const {
  halo_.visit(halo_.links()[neighbor].gives,
              [&, at = std::size_t(0)](Index first, std::size_t count) mutable {
                std::copy_n(values_.data() + first, count, out.data() + at);
                at += count;
              });
}

/// Local. One red-black Gauss-Seidel sweep.
void HarmonicFill::Solver::sweep() {
  const Index sy = halo_.room().step[1], sz = halo_.room().step[2];
  for (int color = 0; color < 2; ++color) {
    options_.parallelFor(static_cast<Index>(runs_.size()), [&](Index begin, Index end) {
      for (Index r = begin; r < end; ++r) {
        const SiteRun& run = runs_[index(r)];
        const auto row = stencil_.row<double>(run.j, run.k);
        double* u = values_.data() + run.at - run.i;
        const Index odd = (run.i + run.j + run.k) % 2;
        for (Index i = run.i + (odd == color ? 0 : 1); i < run.i + run.length; i += 2)
          u[i] =
              (row.before(i) * u[i - 1] + row.after(i) * u[i + 1] + row.across(i, u + i, sy, sz)) /
              row.sum(i);
      }
    });
    halo_.copyImages(values_.data());
  }
}

/// Gauss-Seidel iterations from values in the range of the known ones, until a residual is
/// verified.
void HarmonicFill::Solver::iterate(const std::function<bool(double)>& monitor,
                                   HarmonicFillResult& result) {
  for (const SiteRun& run : runs_)
    for (Index p = run.at; p < run.at + run.length; ++p)
      values_[index(p)] = std::clamp(values_[index(p)], 0.0, 1.0);
  IterationProblem problem;
  collectively(transport_, [&] {
    for (const SiteHalo::Link& link : halo_.links())
      problem.neighbors.push_back({link.rank, index(link.given()), index(link.needed())});
    // A rank without unknown sites has nothing to sweep; the values that it sends do not change.
    if (!runs_.empty()) problem.iterate = values_;
  });
  const auto goesOn = [&] {
    bool continues = true;
    messenger_.errors.attempt([&] { continues = !monitor || monitor(0.95); });
    return continues && !messenger_.errors.any();
  };
  problem.sweep = [&](const Incoming& incoming, bool measure) {
    readHalo(incoming, values_.data());
    // An abort does not wait for many sweeps.
    for (int n = 0; n < options_.sweepsPerExchange && (n == 0 || goesOn()); ++n) sweep();
    return measure ? residualOf(values_.data(), nullptr) : 0.0;
  };
  problem.fill = [&](std::size_t n, Span<double> out) { writeHalo(n, out); };
  std::vector<double> recordedValues;
  problem.residual = [&](Span<const double> recorded, const Incoming& incoming) {
    if (runs_.empty()) return 0.0;
    recordedValues.assign(recorded.begin(), recorded.end());
    readHalo(incoming, recordedValues.data());
    return residualOf(recordedValues.data(), nullptr);
  };
  IterationOptions options = options_.iteration;
  options.norm = Norm::Max;
  options.residualThreshold = options_.tolerance;
  Iteration iteration(transport_, std::move(problem), options);
  const IterationResult reached = iteration.run(goesOn);
  messenger_.errors.agree(transport_);
  result.verdict = reached.verdict;
  result.residual = reached.residual;
  result.iterations = reached.iterations;
  result.snapshots = reached.snapshots;
  statistics += iteration.statistics();
}

/// Extends a range by the values of the known neighbors of a run's sites.
/// @pre direction_ is 0 at known sites
void HarmonicFill::Solver::includeKnownNeighbors(const SiteRun& run, double& lowest,
                                                 double& highest) const {
  const SiteRoom& room = halo_.room();
  const auto row = stencil_.row<double>(run.j, run.k);
  for (Index i = 0; i < run.length; ++i) {
    const Index p = run.at + i;
    const auto include = [&](double weight, Index offset) {
      if (weight == 0 || direction_[index(p + offset)] != 0) return;
      const double value = values_[index(p + offset)];
      if (!std::isfinite(value))
        throw Error(
            std::string("a known value ") +
            (options_.smoothness == FillSmoothness::Harmonic ? "beside" : "within two sites of") +
            " an unknown one is not finite; mark it as unknown (Mask), or set it to a finite "
            "number");
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    };
    include(row.before(run.i + i), -1);
    include(row.after(run.i + i), 1);
    include(row.y0, -room.step[1]);
    include(row.y1, room.step[1]);
    include(row.z0, -room.step[2]);
    include(row.z1, room.step[2]);
  }
}

/// Collective. Finds the range of the known values that the fill depends on.
void HarmonicFill::Solver::findRange(HarmonicFillResult& result) {
  // Mark unknown sites; includeKnownNeighbors() skips them.
  constexpr float Unknown = 1;
  std::fill(direction_.begin(), direction_.end(), 0.0f);
  for (const SiteRun& run : runs_) std::fill_n(direction_.begin() + run.at, run.length, Unknown);
  halo_.exchange(messenger_, direction_.data());
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  collectively(transport_, [&] {
    for (const SiteRun& run : runs_) includeKnownNeighbors(run, lowest, highest);
    for (const SiteRun& run : operator_.rim()) includeKnownNeighbors(run, lowest, highest);
  });
  result.lowest = allreduce(transport_, ReduceOp::Min, lowest);
  result.highest = allreduce(transport_, ReduceOp::Max, highest);
  if (!std::isfinite(result.highest - result.lowest))
    throw Error("the range of the known values exceeds that of double precision; scale the values");
}

/// Collective. Maps the known values from [lowest, lowest + range] to [0, 1]. Sets the first guess.
void HarmonicFill::Solver::normalize(double lowest, double range) {
  // Known values outside of the range do not affect the result.
  halo_.visit(halo_.room().box, [&](Index first, std::size_t count) {
    for (std::size_t i = index(first); i < index(first) + count; ++i)
      values_[i] = (values_[i] - lowest) / range;
  });
  for (const SiteRun& run : runs_) std::fill_n(values_.begin() + run.at, run.length, 0.5);
  halo_.exchange(messenger_, values_.data());
}

/// Collective. Solves for values in the range [0, 1].
void HarmonicFill::Solver::solveNormalized(const std::function<bool(double)>& monitor,
                                           HarmonicFillResult& result) {
  if (options_.smoothness == FillSmoothness::Harmonic) {
    if (solve(HarmonicEquation{*this}, monitor, result)) iterate(monitor, result);
    return;
  }
  const auto monitorFrom = [&](double first, double last) {
    return [&monitor, first, last](double done) {
      return !monitor || monitor(first + (last - first) * done);
    };
  };
  if (solve(HarmonicEquation{*this}, monitorFrom(0, ShareOfHarmonic), result))
    refine(monitorFrom(ShareOfHarmonic, 1), result);
}

/// Local. Writes the unknown values of the box, mapped back to the range of the known ones.
void HarmonicFill::Solver::writeUnknowns(const HarmonicFillResult& result,
                                         Span<double> values) const {
  const CellRange& box = halo_.room().box;
  const double range = result.highest - result.lowest;
  const bool isHarmonic = options_.smoothness == FillSmoothness::Harmonic;
  for (const SiteRun& run : runs_)
    for (Index i = 0; i < run.length; ++i) {
      const Index place = ((run.k - box.lo[2]) * box.along(1) + run.j - box.lo[1]) * box.along(0) +
                          run.i + i - box.lo[0];
      const double value = result.lowest + range * (range == 0 ? 0 : values_[index(run.at + i)]);
      values[index(place)] = isHarmonic ? std::clamp(value, result.lowest, result.highest) : value;
    }
}

HarmonicFillResult HarmonicFill::Solver::fill(Span<double> values,
                                              const std::function<bool(double)>& monitor) {
  HarmonicFillResult result;
  const SiteRoom& room = halo_.room();
  collectively(transport_, [&] {
    if (values.size() != index(room.box.cells()))
      throw Error(std::to_string(values.size()) + " values given for " +
                  std::to_string(room.box.cells()) + " sites; give one for each site");
  });
  result.verdict = Verdict::Converged;
  if (unknowns == 0) return result;
  std::size_t at = 0;
  halo_.visit(room.box, [&](Index first, std::size_t count) {
    std::copy_n(values.data() + at, count, values_.data() + first);
    at += count;
  });
  halo_.exchange(messenger_, values_.data());
  findRange(result);
  const double range = result.highest - result.lowest;
  if (range > 0) {
    result.verdict = Verdict::Aborted;
    normalize(result.lowest, range);
    solveNormalized(monitor, result);
    result.residual *= range;
    result.correction *= range;
  }
  writeUnknowns(result, values);
  return result;
}

HarmonicFill::HarmonicFill(Transport& transport, const SiteLattice& sites, const CellRange& box,
                           Span<const std::uint8_t> unknown, const HarmonicFillOptions& options)
    : solver_(std::make_unique<Solver>(transport, sites, box, unknown, options)) {}

HarmonicFill::~HarmonicFill() = default;

std::int64_t HarmonicFill::unknowns() const {
  return solver_->unknowns;
}

HarmonicFillResult HarmonicFill::fill(Span<double> values,
                                      const std::function<bool(double)>& monitor) {
  return solver_->fill(values, monitor);
}

const IterationStatistics& HarmonicFill::statistics() const {
  return solver_->statistics;
}

}  // namespace tributary
