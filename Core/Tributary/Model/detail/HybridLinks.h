// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "Tributary/Collective/Records.h"
#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Model/Subregion.h"
#include "Tributary/Model/detail/LatestValue.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Decides from residuals computed at different times whether to stop and verify.
///
/// If threads share cores, the thread with a core soon solves its own part with the old values of
/// waiting threads, and its residual becomes small. So does that of each thread in turn, and the
/// sum of such residuals says nothing about the whole. Therefore values carry an epoch. A sum is
/// judged only if all its parts were computed with values that other ranks published in the present
/// epoch; if the sum exceeds the threshold, the next epoch begins. A rank without such a part
/// reports that, and no rank waits for it. The values of an epoch reach all ranks that need them,
/// so each epoch is eventually judged.
class HybridJudge {
 public:
  /// Reasons to stop, besides a low residual.
  enum Reason : std::uint32_t { Limit = 1, Failed = 2 };

  /// @param threshold        limit of the 2-norm of the residual
  /// @param stagnationLimit  number of judgments without a new minimum of the residual after which
  ///                         it stagnates
  HybridJudge(double threshold, std::int64_t stagnationLimit)
      : threshold_(threshold), stagnationLimit_(stagnationLimit) {}

  /// Judges a sum of residuals.
  /// @param fresh  whether all parts are of the present epoch
  /// @param reasons  the union of Reason on all ranks
  /// @return whether to stop
  [[nodiscard]] bool judge(double residual, bool fresh, std::uint32_t reasons);
  /// The last residual that was judged.
  double residual() const { return residual_; }
  /// The present epoch. The first one is 1; values from before the threads began are of epoch 0.
  std::int64_t epoch() const { return epoch_; }
  /// Whether the residual stagnates.
  bool stagnates() const { return judgmentsSinceMinimum_ >= stagnationLimit_; }

 private:
  double threshold_;
  std::int64_t stagnationLimit_;
  std::int64_t epoch_ = 1;
  double residual_ = std::numeric_limits<double>::infinity();
  double least_ = std::numeric_limits<double>::infinity();
  std::int64_t judgmentsSinceMinimum_ = 0;
};

/// The part of a rank in a residual.
struct HybridPart {
  double squares = 0;         ///< sum of the squared residuals of its points
  bool fresh = false;         ///< see HybridJudge
  std::uint32_t reasons = 0;  ///< bits of HybridJudge::Reason
};

/// The communication of a rank with others in hybrid Jacobi iterations. Called by the communicating
/// thread only.
class HybridLinks {
 public:
  virtual ~HybridLinks() = default;

  /// Called first. Collective. @param boundary  its present values
  virtual void open(const DatedValues& boundary) = 0;
  /// Sends boundary values and receives halo values. @return whether the halo has changed
  virtual bool swap(const DatedValues& boundary, DatedValues& halo) = 0;
  /// Contributes the part of this rank to a residual. @return whether to stop; the same on all
  /// ranks
  virtual bool report(const HybridPart& part) = 0;
  /// The latest epoch that this rank knows of.
  virtual std::int64_t epoch() const = 0;
  /// The last judged residual that this rank knows of.
  virtual double residual() const = 0;
  /// See HybridJudge. False on a rank without a judge.
  virtual bool stagnates() const = 0;
  /// Called after a stop. Collective. Throws the errors that swap() and report() have collected.
  virtual void close() = 0;
};

/// Makes links between neighbors. Local.
/// @param session  used by these links only
/// @param waits    whether ranks wait for the values of neighbors and for the residual. If not, the
///                 newest values win, and reductions are non-blocking.
[[nodiscard]] std::unique_ptr<HybridLinks> makeNeighborLinks(Transport& transport, Session session,
                                                             const Subregion& subregion,
                                                             const HybridJudge& judge, bool waits);
/// Makes links by which this rank asks the master, rank 0, and waits for its answers. Local.
[[nodiscard]] std::unique_ptr<HybridLinks> makeMasterLinks(Transport& transport, Session session,
                                                           const Subregion& subregion);

/// The master: answers the MasterLinks of all other ranks.
class HybridMaster {
 public:
  /// Local. Throws Error of kind Message if a boundary has a wrong size.
  /// @param boxes       of all ranks
  /// @param boundaries  the boundary values of each rank
  HybridMaster(const LaplaceProblem& problem, const std::vector<CellRange>& boxes,
               const Records<double>& boundaries);

  /// Answers questions until all other ranks have been told to stop. Then throws Error if a message
  /// was malformed.
  /// @param times  receives the times of operations (m) and (n), or null
  /// @return whether the residual stagnates
  [[nodiscard]] bool serve(Transport& transport, Session session, HybridJudge judge,
                           OperationTimes* times);

 private:
  /// The halo values of a rank that are boundary values of another rank.
  struct Route {
    std::size_t from;
    std::vector<std::size_t> out, in;
  };
  struct Client {
    DatedValues boundary, halo;
    std::vector<Route> routes;
    double squares = 0;
    std::int64_t judged = 0;  ///< the epoch that `squares` is of
    bool stopped = false;
  };

  static Bytes answerOf(bool stop, const HybridJudge& judge);
  void readBoundary(Client& client, Reader& reader);
  /// @return the client's reasons to stop
  [[nodiscard]] std::uint32_t readResidual(Client& client, Reader& reader);
  [[nodiscard]] bool judgeResidual(HybridJudge& judge, std::uint32_t reasons) const;
  Bytes updateHalo(Client& client, const HybridJudge& judge);

  std::vector<Client> clients_;  // by rank
};

}  // namespace tributary::detail
