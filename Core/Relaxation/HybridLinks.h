#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "Tributary/Model/OperationTimes.h"
#include "Tributary/Relaxation/Subregion.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What the thread of a rank that communicates exchanges with other ranks in hybrid Jacobi
/// iterations. Called by one thread at a time.
class HybridLinks {
 public:
  /// Reasons to stop, besides a low residual.
  enum Reason : std::uint32_t { Limit = 1, NotFinite = 2, Failed = 4 };

  virtual ~HybridLinks() = default;

  /// Gives others the boundary's values and takes theirs. @return whether the halo has new ones
  virtual bool swap(const std::vector<double>& boundary, std::vector<double>& halo) = 0;
  /// Gives this rank's part of the residual. @return whether to stop, the same for all ranks
  virtual bool report(double squares, std::uint32_t reasons) = 0;
  /// After a stop. Collective.
  virtual void close() = 0;
};

/// Nobody waits: the newest values between neighbours, and non-blocking reductions. Collective.
/// @param threshold  of the residual's 2-norm
std::unique_ptr<HybridLinks> makeNewestLinks(Transport& transport, const Subregion& subregion,
                                             double threshold);
/// Neighbours wait for each other's values, and all for the residual. Collective.
std::unique_ptr<HybridLinks> makeTurnLinks(Transport& transport, const Subregion& subregion,
                                           double threshold);
/// A rank asks the master, rank 0, and waits for the answer. Local, for the others.
std::unique_ptr<HybridLinks> makeMasterLinks(Transport& transport, Session session,
                                             const Subregion& subregion);

/// The master: answers until all others have been told to stop. Throws Error if a message is
/// malformed.
/// @param boxes  of all ranks; @param times  of operations (m) and (n), or null
void serveAsMaster(Transport& transport, Session session, const LaplaceProblem& problem,
                   const std::vector<CellRange>& boxes, double threshold, OperationTimes* times);

}  // namespace tributary
