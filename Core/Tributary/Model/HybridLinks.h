// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Model/Subregion.h"
#include "Tributary/Model/detail/LatestValue.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Decides by residuals of different moments whether to stop and verify.
///
/// Where cores are shared, whoever has one soon finds its own part solved with the values of
/// others that wait for theirs, and so does everybody in turn; the sum of such residuals says
/// nothing. Hence epochs: a sum is judged if all parts of it were computed with values that the
/// others had as they knew the present epoch, and if it is too high the next epoch begins. Who has
/// no such part yet says so, and nobody waits for it. As everybody's values of this epoch reach
/// those who need them in the end, each epoch is judged.
class HybridJudge {
 public:
  /// Reasons to stop, besides a low residual.
  enum Reason : std::uint32_t { Limit = 1, Failed = 2 };

  /// @param threshold  of the residual's 2-norm
  /// @param backoff   after so many judgments without a lower residual than ever before rounding
  ///                   leaves no hope
  HybridJudge(double threshold, std::int64_t backoff) : threshold_(threshold), patience_(backoff) {}

  /// @param fresh  whether all parts are of the present epoch
  /// @return whether to stop
  bool judge(double residual, bool fresh, std::uint32_t reasons);
  /// The last one judged.
  double residual() const { return residual_; }
  /// The first one is 1; what was there before the threads began is of 0.
  std::int64_t epoch() const { return epoch_; }
  /// Whether it stopped, or would have, as the residual became no lower.
  bool stagnates() const { return vain_ >= patience_; }

 private:
  double threshold_;
  std::int64_t patience_;
  std::int64_t epoch_ = 1;
  double residual_ = std::numeric_limits<double>::infinity();
  double least_ = std::numeric_limits<double>::infinity();
  std::int64_t vain_ = 0;
};

/// A rank's part of a residual.
struct HybridPart {
  double squares = 0;  ///< of the residual, added up
  bool fresh = false;  ///< see HybridJudge
  std::uint32_t reasons = 0;
};

/// What the thread of a rank that communicates exchanges with other ranks in hybrid Jacobi
/// iterations. Called by one thread at a time.
class HybridLinks {
 public:
  virtual ~HybridLinks() = default;

  /// Before anything else. @param boundary  its values as they are. Collective.
  virtual void open(const detail::DatedValues& boundary) = 0;
  /// Gives others the boundary's values and takes theirs. @return whether the halo has new ones
  virtual bool swap(const detail::DatedValues& boundary, detail::DatedValues& halo) = 0;
  /// Gives this rank's part of the residual. @return whether to stop, the same for all ranks
  virtual bool report(const HybridPart& part) = 0;
  /// The present one, as far as this rank knows.
  virtual std::int64_t epoch() const = 0;
  /// The last one that was judged, as far as this rank knows.
  virtual double residual() const = 0;
  /// See HybridJudge, which may be elsewhere.
  virtual bool stagnates() const = 0;
  /// After a stop. Collective. Throws Error of what went wrong while others waited for this rank.
  virtual void close() = 0;
};

/// Between neighbors. Local.
/// @param session  for these links alone
/// @param waits    neighbors wait for each other's values, and all for the residual; else nobody
///                 waits: the newest values win, and reductions are non-blocking
std::unique_ptr<HybridLinks> makeNeighborLinks(Transport& transport, Session session,
                                               const Subregion& subregion, const HybridJudge& judge,
                                               bool waits);
/// A rank asks the master, rank 0, and waits for the answer. Local, for the others.
std::unique_ptr<HybridLinks> makeMasterLinks(Transport& transport, Session session,
                                             const Subregion& subregion);

/// The master.
class HybridMaster {
 public:
  /// Local. Throws Error if a boundary is not of its size.
  /// @param boxes       of all ranks
  /// @param boundaries  values that each rank's boundary has, as a range of doubles
  HybridMaster(const LaplaceProblem& problem, const std::vector<CellRange>& boxes,
               const std::vector<Bytes>& boundaries);

  /// Answers until all others have been told to stop. Throws Error, after that, if a message was
  /// malformed.
  /// @param times  of operations (m) and (n), or null
  /// @return whether it was because the residual became no lower
  bool serve(Transport& transport, Session session, HybridJudge judge, OperationTimes* times);

 private:
  /// Halo values that are boundary values of another rank.
  struct Route {
    std::size_t from;
    std::vector<std::size_t> out, in;
  };
  struct Client {
    detail::DatedValues boundary, halo;
    std::vector<Route> routes;
    double squares = 0;
    std::int64_t judged = 0;  ///< the epoch that `squares` is of
    bool stopped = false;
  };

  std::vector<Client> clients_;
};

}  // namespace tributary
