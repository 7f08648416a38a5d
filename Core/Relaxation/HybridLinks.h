#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "Tributary/Bytes.h"
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

/// Between neighbours. Collective.
/// @param threshold  of the residual's 2-norm
/// @param boundary   its values as they are
/// @param waits      neighbours wait for each other's values, and all for the residual; else nobody
///                   waits: the newest values win, and reductions are non-blocking
std::unique_ptr<HybridLinks> makeNeighborLinks(Transport& transport, const Subregion& subregion,
                                               double threshold,
                                               const std::vector<double>& boundary, bool waits);
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
  void serve(Transport& transport, Session session, double threshold, OperationTimes* times);

 private:
  /// Halo values that are boundary values of another rank.
  struct Route {
    std::size_t from;
    std::vector<std::size_t> out, in;
  };
  struct Client {
    std::vector<double> boundary, halo;
    std::vector<Route> routes;
    double squares = std::numeric_limits<double>::infinity();
    bool stopped = false;
  };

  std::vector<Client> clients_;
};

}  // namespace tributary
