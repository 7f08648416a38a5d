// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/HarmonicFill.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "Tributary/Base/Error.h"
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

/// Of the tolerance, where cycles leave the rest to iterations. A sweep in step may double the
/// largest residual, as that of a smooth error goes from all sites to the red ones; it does no
/// more.
constexpr double ShareOfCycles = 0.4;
/// Of the progress of a biharmonic fill, until it has the harmonic function.
constexpr double ShareOfStart = 0.1;
/// Rounds of biharmonic gradients, each from the residual that the one before has really left.
constexpr int Rounds = 4;

std::size_t size(Index i) {
  return static_cast<std::size_t>(i);
}

/// Each rank looks at its own box, so that all together take as long as one alone.
void check(const SiteLattice& sites, const std::vector<CellRange>& boxes, int rank,
           std::size_t flags, const HarmonicFillOptions& options) {
  const CellRange& mine = boxes[static_cast<std::size_t>(rank)];
  Index count = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (sites.places[a].empty() || sites.widths[a].size() != sites.places[a].size())
      throw Error("a lattice has sites along each axis, and as many widths");
    for (std::size_t i = 0; i < sites.places[a].size(); ++i) {
      const double x = sites.places[a][i], width = sites.widths[a][i];
      if (!std::isfinite(x) || !std::isfinite(width) || !(width > 0) ||
          (i > 0 && !(x > sites.places[a][i - 1])))
        throw Error("the places of sites do not increase along each axis");
    }
    if (mine.lo[a] < 0 || mine.hi[a] > sites.along(a))
      throw Error("sites of rank " + std::to_string(rank) + " are not in the lattice");
  }
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    count += boxes[r].cells();
    if (static_cast<int>(r) != rank && !overlapOf(mine, boxes[r]).empty())
      throw Error("the sites of rank " + std::to_string(rank) + " and of rank " +
                  std::to_string(r) + " overlap");
  }
  const Index all = sites.along(0) * sites.along(1) * sites.along(2);
  if (count != all)
    throw Error("the ranks have " + std::to_string(count) + " of the lattice's " +
                std::to_string(all) + " sites");
  if (flags != size(mine.cells()))
    throw Error(std::to_string(flags) + " flags for " + std::to_string(mine.cells()) + " sites");
  if (!(options.tolerance > 0) || !std::isfinite(options.tolerance))
    throw Error("the tolerance must be more than 0");
  if (options.cycleLimit < 1 || options.sweepsPerExchange < 1)
    throw Error("there must be at least one cycle, and one sweep per exchange");
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
  /// The ranks' sums of several numbers, exact, and whether all ranks want to go on.
  bool sums(double* values, std::size_t count, bool goesOn);
  double largest(double value);

  struct HarmonicEquation;
  struct BiharmonicEquation;

  template <class Visit>
  double most(Visit&& visit);
  double residualOf(const double* u, double* residual);
  void lookAt(const SiteRun& run, double& lowest, double& highest) const;
  template <class Equation>
  bool solve(Equation&& equation, const std::function<bool(double)>& monitor,
             HarmonicFillResult& result);
  void finish(const std::function<bool(double)>& monitor, HarmonicFillResult& result);
  void refine(const std::function<bool(double)>& monitor, HarmonicFillResult& result);

  Transport& transport_;
  HarmonicFillOptions options_;
  SitePost post_;
  LatticeStencil stencil_;
  SiteHalo halo_;
  std::vector<SiteRun> runs_;
  std::unique_ptr<MultigridPreconditioner> cascade_;
  std::vector<double> values_;    ///< by place, shifted and scaled to 0..1
  std::vector<double> residual_;  ///< packed: what flows to each site
  std::vector<double> flow_;      ///< packed: of the direction
  std::vector<float> direction_;  ///< by place

  /// Biharmonic only.
  BiharmonicOperator operator_;
  std::vector<double> exactDirection_;  ///< by place
  std::vector<double> between_;         ///< packed: from one cycle to the other
};

HarmonicFill::Solver::Solver(Transport& transport, const SiteLattice& sites, const CellRange& box,
                             Span<const std::uint8_t> unknown, const HarmonicFillOptions& options)
    : transport_(transport), options_(options), post_(transport) {
  std::vector<CellRange> boxes = allgather(transport, box);
  std::vector<std::uint8_t> flags;
  collectively(transport, [&] {
    check(sites, boxes, transport.rank(), unknown.size(), options);
    for (CellRange& one : boxes)
      if (one.empty()) one = {{-10, -10, -10}, {-10, -10, -10}};  // the cascade knows it so
    stencil_ = LatticeStencil(sites);
    halo_ = SiteHalo(boxes, transport.rank(),
                     {{0, 0, 0}, {sites.along(0), sites.along(1), sites.along(2)}});
    flags.assign(halo_.room().size, 0);
    std::size_t at = 0;
    halo_.visit(halo_.room().box, [&](Index first, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        flags[size(first) + i] = unknown[at] != 0 ? 1 : 0;
        unknowns += flags[size(first) + i];
        ++at;
      }
    });
  });
  unknowns = allreduce(transport, ReduceOp::Sum, unknowns);
  if (unknowns == 0) return;
  if (unknowns == sites.along(0) * sites.along(1) * sites.along(2))
    throw Error("nothing is known: all " + std::to_string(unknowns) + " values are to be filled");
  halo_.exchange(post_, flags.data());
  collectively(transport, [&] {
    runs_ = runsOf(halo_.room(), flags);
    const std::size_t mine = runs_.empty() ? 0 : size(runs_.back().packed + runs_.back().length);
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
  cascade_ = std::make_unique<MultigridPreconditioner>(transport, post_, sites, stencil_, boxes,
                                                       halo_, runs_, flags, options.parallelFor);
}

bool HarmonicFill::Solver::sums(double* values, std::size_t count, bool goesOn) {
  std::vector<Index> parts;
  for (std::size_t i = 0; i < count; ++i) {
    ExactSum sum;
    sum.add(values[i]);
    parts.insert(parts.end(), sum.parts().begin(), sum.parts().end());
  }
  parts.push_back(goesOn ? 0 : 1);
  parts.push_back(post_.errors.any() ? 1 : 0);
  parts = allreduce(transport_, ReduceOp::Sum, std::move(parts));
  for (std::size_t i = 0; i < count; ++i)
    values[i] =
        ExactSum(Span<const Index>(parts).subspan(i * ExactSum::Size, ExactSum::Size)).value();
  if (parts.back() > 0) post_.errors.agree(transport_);
  return parts[parts.size() - 2] == 0;
}

/// The largest of what `visit(run)` returns.
template <class Visit>
double HarmonicFill::Solver::most(Visit&& visit) {
  // One of each run, so that threads share none.
  std::vector<double> each(runs_.size(), 0.0);
  options_.parallelFor(static_cast<Index>(runs_.size()), [&](Index begin, Index end) {
    for (Index r = begin; r < end; ++r) each[size(r)] = visit(runs_[size(r)]);
  });
  double all = 0;
  for (const double one : each) all = one > all || std::isnan(one) ? one : all;
  return all;
}

/// Local. @param residual  packed, if wanted: what flows to each site
/// @return the largest difference from the mean of neighbors
double HarmonicFill::Solver::residualOf(const double* u, double* residual) {
  const Index sy = halo_.room().step[1], sz = halo_.room().step[2];
  return most([&](const SiteRun& run) {
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

/// What conjugate gradients solve. Directions in single precision, as corrections are.
struct HarmonicFill::Solver::HarmonicEquation {
  using Real = float;
  static constexpr bool JudgesCorrections = false;
  /// Cycles without a new least residual after which rounding is all that is left.
  static constexpr std::int64_t CyclesWithoutGain = 25;

  std::vector<float>& direction() { return solver.direction_; }
  /// Of the values: packed as residual_. @return the largest in units of the values, of this rank
  double residual() { return solver.residualOf(solver.values_.data(), solver.residual_.data()); }
  void correct(HarmonicFillResult& result) {
    solver.cascade_->correct(solver.residual_);
    ++result.cycles;
  }
  /// The matrix times the direction: flow_. @return its product with the direction, of this rank
  double apply() {
    const SiteHalo& halo = solver.halo_;
    const Index sy = halo.room().step[1], sz = halo.room().step[2];
    halo.exchange(solver.post_, direction().data());
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
  /// By site of a run: what a residual is divided by for the units of the values.
  auto scale(const SiteRun& run) const {
    return [row = solver.stencil_.row<double>(run.j, run.k), first = run.i](Index i) {
      return row.sum(first + i);
    };
  }

  Solver& solver;
};

/// Each correction is that of two cycles, with the volumes between, as the matrix is the fluxes'
/// over the volumes times the fluxes', but for the rim. Directions in double precision: what bends
/// in the rounding of a smooth one would outweigh what bends in itself.
struct HarmonicFill::Solver::BiharmonicEquation {
  using Real = double;
  static constexpr bool JudgesCorrections = true;
  static constexpr std::int64_t CyclesWithoutGain = 200;

  auto scale(const SiteRun& run) const {
    return [diagonal = solver.operator_.diagonal().data() + run.packed](Index i) {
      return diagonal[i];
    };
  }
  std::vector<double>& direction() { return solver.exactDirection_; }
  double residual() {
    solver.halo_.exchange(solver.post_, solver.values_.data());
    solver.operator_.apply(solver.post_, solver.values_.data(), solver.residual_.data());
    return solver.most([&](const SiteRun& run) {
      const auto diagonal = scale(run);
      double worst = 0;
      for (Index i = 0; i < run.length; ++i) {
        double& r = solver.residual_[size(run.packed + i)];
        r = -r;
        const double size = std::fabs(r) / diagonal(i);
        worst = size > worst || std::isnan(size) ? size : worst;
      }
      return worst;
    });
  }
  void correct(HarmonicFillResult& result) {
    solver.cascade_->correct(solver.residual_);
    const float* once = solver.cascade_->correction();
    for (const SiteRun& run : solver.runs_) {
      const auto row = solver.stencil_.row<double>(run.j, run.k);
      for (Index i = 0; i < run.length; ++i)
        solver.between_[size(run.packed + i)] = row.volume(run.i + i) * once[run.at + i];
    }
    solver.cascade_->correct(solver.between_);
    result.cycles += 2;
  }
  /// The largest of the correction, of this rank.
  double correction() const {
    const float* z = solver.cascade_->correction();
    return solver.most([&](const SiteRun& run) {
      double worst = 0;
      for (Index p = run.at; p < run.at + run.length; ++p) {
        const double size = std::fabs(z[p]);
        worst = size > worst || std::isnan(size) ? size : worst;
      }
      return worst;
    });
  }
  double apply() {
    solver.halo_.exchange(solver.post_, direction().data());
    solver.operator_.apply(solver.post_, direction().data(), solver.flow_.data());
    double energy = 0;
    for (const SiteRun& run : solver.runs_)
      for (Index i = 0; i < run.length; ++i)
        energy += direction()[size(run.at + i)] * solver.flow_[size(run.packed + i)];
    return energy;
  }

  Solver& solver;
};

/// Conjugate gradients: flexible (Polak and Ribiere), as the cycle works in single precision.
/// @return false after an abort
template <class Equation>
bool HarmonicFill::Solver::solve(Equation&& equation, const std::function<bool(double)>& monitor,
                                 HarmonicFillResult& result) {
  using Real = typename std::decay_t<Equation>::Real;
  constexpr bool judges = std::decay_t<Equation>::JudgesCorrections;
  const double goal = ShareOfCycles * options_.tolerance;
  std::vector<Real>& direction = equation.direction();
  double worst = allreduce(transport_, ReduceOp::Max, equation.residual());
  double gap = worst, begin = gap, least = gap, old = 0;
  std::int64_t last = result.cycles;
  std::fill(direction.begin(), direction.end(), Real(0));
  std::fill(flow_.begin(), flow_.end(), 0.0);
  double step = 0;
  while ((judges || worst > goal) && result.cycles < options_.cycleLimit &&
         result.cycles - last < std::decay_t<Equation>::CyclesWithoutGain) {
    begin = std::max(begin, gap);
    const double progress = gap > goal ? std::log(begin / gap) / std::log(begin / goal) : 0;
    bool goesOn = true;
    post_.errors.attempt([&] { goesOn = !monitor || monitor(0.9 * progress); });
    equation.correct(result);
    const float* z = cascade_->correction();
    double products[2] = {0, 0};
    for (const SiteRun& run : runs_)
      for (Index i = 0; i < run.length; ++i) {
        const double one = z[run.at + i];
        products[0] += one * residual_[size(run.packed + i)];
        products[1] += one * flow_[size(run.packed + i)];
      }
    if (!sums(products, 2, goesOn)) return false;
    if (!(products[0] > 0)) break;  // nothing left, or no numbers
    if constexpr (judges) {
      gap = std::max(worst, allreduce(transport_, ReduceOp::Max, equation.correction()));
      if (gap <= goal) break;
    }
    const auto keep = static_cast<Real>(old > 0 ? -step * products[1] / old : 0);
    old = products[0];
    for (const SiteRun& run : runs_)
      for (Index p = run.at; p < run.at + run.length; ++p)
        direction[size(p)] = z[p] + keep * direction[size(p)];
    double energy = equation.apply();
    sums(&energy, 1, true);
    if (!(energy > 0)) break;
    step = old / energy;
    worst = allreduce(transport_, ReduceOp::Max, most([&](const SiteRun& run) {
                        const auto scale = equation.scale(run);
                        double most = 0;
                        for (Index i = 0; i < run.length; ++i) {
                          values_[size(run.at + i)] += step * direction[size(run.at + i)];
                          double& r = residual_[size(run.packed + i)];
                          r -= step * flow_[size(run.packed + i)];
                          const double one = std::fabs(r) / scale(i);
                          most = one > most || std::isnan(one) ? one : most;
                        }
                        return most;
                      }));
    if constexpr (!judges) gap = worst;
    if (gap < 0.9 * least) {
      least = gap;
      last = result.cycles;
    }
  }
  return true;
}

/// Biharmonic values, from harmonic ones, until their residual and the correction that it asks for
/// are verified.
void HarmonicFill::Solver::refine(const std::function<bool(double)>& monitor,
                                  HarmonicFillResult& result) {
  BiharmonicEquation equation{*this};
  for (int round = 1;; ++round) {
    if (!solve(equation, monitor, result)) return;
    result.residual = allreduce(transport_, ReduceOp::Max, equation.residual());
    ++result.snapshots;
    equation.correct(result);
    result.correction = allreduce(transport_, ReduceOp::Max, equation.correction());
    post_.errors.agree(transport_);
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

/// Gauss-Seidel until a residual is verified, from values in the range of the known ones.
void HarmonicFill::Solver::finish(const std::function<bool(double)>& monitor,
                                  HarmonicFillResult& result) {
  const Index sy = halo_.room().step[1], sz = halo_.room().step[2];
  for (const SiteRun& run : runs_)
    for (Index p = run.at; p < run.at + run.length; ++p)
      values_[size(p)] = std::clamp(values_[size(p)], 0.0, 1.0);
  const auto take = [&](double* u, const Incoming& incoming) {
    for (std::size_t n = 0; n < halo_.links().size(); ++n)
      halo_.visit(halo_.links()[n].needs,
                  [&, at = std::size_t(0)](Index first, std::size_t count) mutable {
                    std::copy_n(incoming[n].data() + at, count, u + first);
                    at += count;
                  });
  };
  IterationProblem problem;
  for (const SiteHalo::Link& link : halo_.links())
    problem.neighbors.push_back({link.rank, size(link.gives.cells()), size(link.needs.cells())});
  // A rank without unknowns has nothing to sweep; what it gives does not change.
  if (!runs_.empty()) problem.iterate = values_;
  problem.sweep = [&](const Incoming& incoming, bool measure) {
    take(values_.data(), incoming);
    for (int n = 0; n < options_.sweepsPerExchange; ++n)
      for (int color = 0; color < 2; ++color)
        options_.parallelFor(static_cast<Index>(runs_.size()), [&](Index begin, Index end) {
          for (Index r = begin; r < end; ++r) {
            const SiteRun& run = runs_[size(r)];
            const auto row = stencil_.row<double>(run.j, run.k);
            double* u = values_.data() + run.at - run.i;
            const Index odd = (run.i + run.j + run.k) % 2;
            for (Index i = run.i + (odd == color ? 0 : 1); i < run.i + run.length; i += 2)
              u[i] = (row.before(i) * u[i - 1] + row.after(i) * u[i + 1] +
                      row.across(i, u + i, sy, sz)) /
                     row.sum(i);
          }
        });
    return measure ? residualOf(values_.data(), nullptr) : 0.0;
  };
  problem.fill = [&](std::size_t n, Span<double> out) {
    halo_.visit(halo_.links()[n].gives,
                [&, at = std::size_t(0)](Index first, std::size_t count) mutable {
                  std::copy_n(values_.data() + first, count, out.data() + at);
                  at += count;
                });
  };
  std::vector<double> recordedValues;
  problem.residual = [&](Span<const double> recorded, const Incoming& incoming) {
    if (runs_.empty()) return 0.0;
    recordedValues.assign(recorded.begin(), recorded.end());
    take(recordedValues.data(), incoming);
    return residualOf(recordedValues.data(), nullptr);
  };
  IterationOptions options = options_.iteration;
  options.norm = Norm::Max;
  options.threshold = options_.tolerance;
  Iteration iteration(transport_, std::move(problem), options);
  const IterationResult found = iteration.run([&] {
    bool goesOn = true;
    post_.errors.attempt([&] { goesOn = !monitor || monitor(0.95); });
    return goesOn && !post_.errors.any();
  });
  post_.errors.agree(transport_);
  result.verdict = found.verdict;
  result.residual = found.residual;
  result.iterations = found.iterations;
  result.snapshots = found.snapshots;
  statistics += iteration.statistics();
}

/// The known neighbors of a run's sites. @pre direction_ is 0 at known sites
void HarmonicFill::Solver::lookAt(const SiteRun& run, double& lowest, double& highest) const {
  const SiteRoom& room = halo_.room();
  const auto row = stencil_.row<double>(run.j, run.k);
  for (Index i = 0; i < run.length; ++i) {
    const Index p = run.at + i;
    const auto look = [&](double weight, Index offset) {
      if (weight == 0 || direction_[size(p + offset)] != 0) return;
      const double value = values_[size(p + offset)];
      if (!std::isfinite(value))
        throw Error(
            std::string("a known value ") +
            (options_.smoothness == FillSmoothness::Harmonic ? "beside" : "within two sites of") +
            " an unknown one is not finite; let it be unknown too, or give it a number");
      lowest = std::min(lowest, value);
      highest = std::max(highest, value);
    };
    look(row.before(run.i + i), -1);
    look(row.after(run.i + i), 1);
    look(row.y0, -room.step[1]);
    look(row.y1, room.step[1]);
    look(row.z0, -room.step[2]);
    look(row.z1, room.step[2]);
  }
}

HarmonicFillResult HarmonicFill::Solver::fill(Span<double> values,
                                              const std::function<bool(double)>& monitor) {
  HarmonicFillResult result;
  const SiteRoom& room = halo_.room();
  collectively(transport_, [&] {
    if (values.size() != size(room.box.cells()))
      throw Error(std::to_string(values.size()) + " values for " +
                  std::to_string(room.box.cells()) + " sites");
  });
  if (unknowns == 0) {
    result.verdict = Verdict::Converged;
    return result;
  }
  std::size_t at = 0;
  halo_.visit(room.box, [&](Index first, std::size_t count) {
    std::copy_n(values.data() + at, count, values_.data() + first);
    at += count;
  });
  halo_.exchange(post_, values_.data());
  // Marks what is unknown; the known values beside it are those that count.
  constexpr float Unknown = 1;
  std::fill(direction_.begin(), direction_.end(), 0.0f);
  for (const SiteRun& run : runs_) std::fill_n(direction_.begin() + run.at, run.length, Unknown);
  halo_.exchange(post_, direction_.data());
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  collectively(transport_, [&] {
    for (const SiteRun& run : runs_) lookAt(run, lowest, highest);
    for (const SiteRun& run : operator_.rim()) lookAt(run, lowest, highest);
  });
  lowest = allreduce(transport_, ReduceOp::Min, lowest);
  highest = allreduce(transport_, ReduceOp::Max, highest);
  const double range = highest - lowest;
  if (!std::isfinite(range)) throw Error("known values are too far apart for double precision");
  const bool isHarmonic = options_.smoothness == FillSmoothness::Harmonic;
  result.lowest = lowest;
  result.highest = highest;
  if (range == 0) {
    result.verdict = Verdict::Converged;
  } else {
    // Known values that do not count may be anything.
    halo_.visit(room.box, [&](Index first, std::size_t count) {
      for (std::size_t i = size(first); i < size(first) + count; ++i)
        values_[i] = (values_[i] - lowest) / range;
    });
    for (const SiteRun& run : runs_) std::fill_n(values_.begin() + run.at, run.length, 0.5);
    halo_.exchange(post_, values_.data());
    if (isHarmonic) {
      if (solve(HarmonicEquation{*this}, monitor, result)) finish(monitor, result);
    } else if (solve(
                   HarmonicEquation{*this},
                   [&](double done) { return !monitor || monitor(ShareOfStart * done); }, result)) {
      refine(
          [&](double done) {
            return !monitor || monitor(ShareOfStart + (1 - ShareOfStart) * done);
          },
          result);
    }
    result.residual *= range;
    result.correction *= range;
  }
  at = 0;
  for (const SiteRun& run : runs_)
    for (Index i = 0; i < run.length; ++i) {
      const CellRange& box = room.box;
      const Index place = ((run.k - box.lo[2]) * box.along(1) + run.j - box.lo[1]) * box.along(0) +
                          run.i + i - box.lo[0];
      const double value = lowest + range * (range == 0 ? 0 : values_[size(run.at + i)]);
      values[size(place)] = isHarmonic ? std::clamp(value, lowest, highest) : value;
    }
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
