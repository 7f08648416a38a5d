// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Collective/Records.h"
#include "Tributary/Model/HybridOptions.h"
#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Model/Subregion.h"
#include "Tributary/Model/detail/LatestValue.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {
namespace detail {
class HybridJudge;
class JacobiBlock;
}  // namespace detail

/// An entry of the convergence history of a rank. A residual that is not verified is a sum of parts
/// that were computed at different times.
struct HybridSample {
  double seconds = 0;           ///< since run() began
  std::int64_t iterations = 0;  ///< minimum over the blocks of this rank
  double residual = 0;          ///< relative to that of the initial guess
  bool verified = false;        ///< whether all parts are of one iterate
};

/// The result of hybrid Jacobi iterations on one rank.
struct HybridResult {
  /// Whether the tolerance is met. If not, a limit was reached, the residual is not finite, or
  /// rounding errors prevent a lower residual.
  bool converged = false;
  /// Verified residual of the final values, relative to that of the initial guess.
  double residual = 0;
  double guessResidual = 0;              ///< 2-norm of the residual of the initial guess.
  int rounds = 0;                        ///< Runs of the threads, each followed by a verification.
  double seconds = 0;                    ///< Wall time of the rounds, with verification.
  std::vector<std::int64_t> iterations;  ///< By block of this rank.
  std::vector<double> squaredResiduals;  ///< Verified, by block of this rank.
  /// Processor time of the threads in the rounds, by block of this rank.
  std::vector<double> coreSeconds;
  /// Times of operations by block of this rank, and last those of a dedicated thread or of the
  /// master. Interrupted iterations are recorded separately, except in SynchronousDirect, where
  /// threads wait for each other without a core.
  std::vector<OperationTimes> times;
  /// Empty unless HybridOptions::history is set. The master records only verified residuals.
  std::vector<HybridSample> history;
};

/// Asynchronous and synchronous Jacobi iterations for Laplace's equation on ranks and threads:
/// E. J. Jensen, E. Coleman, M. Sosonkina, "Predictive modeling of the performance of asynchronous
/// iterative methods", The Journal of Supercomputing 75, 2019, section 4, with all its variants.
///
/// Each rank owns a box of points, and each of its threads a block of layers of this box. A thread
/// reads the outermost layers of adjacent blocks as of one iteration each. One thread of a rank
/// communicates at a time. Asynchronous iterations estimate convergence from residuals that were
/// computed at different times. Then the threads stop and the residual of all values is computed;
/// if it exceeds the tolerance, they continue with a lower threshold. SynchronousDirect with a swap
/// period of 1 computes the same bits as Jacobi's method on one thread.
///
/// Threads are std::thread, which the thread sanitizer supports, unlike OpenMP. Variants in which
/// the communicating thread changes require Transport::threadsMayTakeTurns()
/// (MPI_THREAD_SERIALIZED).
class HybridJacobi {
 public:
  /// Collective. Throws Error on all ranks if an option is invalid on any rank, or if options
  /// differ that must be equal.
  /// @param transport  must outlive this object
  /// @param problem    the same on all ranks; copied
  /// @param options    see HybridOptions for members that must be equal on all ranks. With Direct
  ///                   variants also both periods.
  HybridJacobi(Transport& transport, const LaplaceProblem& problem, const HybridOptions& options);
  ~HybridJacobi();

  /// Iterates to the tolerance or a limit. Collective; may be called once. Throws Error on all
  /// ranks if a callback throws on any rank.
  [[nodiscard]] HybridResult run();

  /// The points of this rank; empty on a master.
  [[nodiscard]] const CellRange& box() const { return subregion_->box(); }
  /// The present value at a point of the box. Local; not during run(). Throws Error if the point is
  /// not in the box.
  [[nodiscard]] double value(std::int64_t i, std::int64_t j, std::int64_t k) const;

 private:
  class Team;
  /// How the threads of all ranks ended a round.
  struct RoundEnd {
    bool limited = false;   // on any rank, by the number of iterations or the time
    bool stagnant = false;  // on any rank, without a lower residual
  };

  void checkOptions() const;
  void agreeOnOptions();
  void makeBlocks();
  RoundEnd runRound(const detail::HybridJudge& judge, double begin, HybridResult& result);
  double verify();
  void collectBoundary();
  double residualWith(const Records<double>& halos);
  std::int64_t fewestIterations() const;

  Transport& transport_;
  LaplaceProblem problem_;
  HybridOptions options_;
  std::vector<CellRange> boxes_;
  std::unique_ptr<Subregion> subregion_;
  std::vector<std::unique_ptr<detail::JacobiBlock>> blocks_;
  detail::DatedValues boundary_, halo_;  // of the values verified last
};

}  // namespace tributary
