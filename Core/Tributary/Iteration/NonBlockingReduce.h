// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// How values are reduced over all ranks without waiting.
enum class ReductionKind {
  LeaderElection,  ///< messages on a spanning tree of the communication graph
  Transport        ///< the transport's own, MPI_Iallreduce
};

/// Reductions over all ranks, one after the other, whose result all ranks get. A non-blocking state
/// machine, one object a rank.
class NonBlockingReduce {
 public:
  virtual ~NonBlockingReduce() = default;

  /// Begins the next reduction: each rank its own part, equally many values with the same operation
  /// on all ranks. @pre the last one has ended here
  virtual void start(ReduceOp op, std::vector<std::int64_t> values) = 0;
  /// One non-blocking turn. @return whether the reduction has ended here. @pre started
  virtual bool advance() = 0;
  /// @pre ended
  virtual const std::vector<std::int64_t>& result() const = 0;

  /// Its own messages that this rank sent (none for what runs on collective operations).
  virtual std::int64_t messages() const { return 0; }
  /// See Detector::state().
  virtual std::string state() const = 0;
};

/// Leader election on a tree: N. A. Lynch, "Distributed Algorithms", 1996, section 4.4.3, as in
/// JACK2, section 4.3 and figure 3. No rank is a root: the values flow towards the rank that is
/// last.
///
///   Idle --start--> Reducing --parts of all neighbors but one: send the sum to that one-->
///   Waiting Reducing --parts of all neighbors: the leader, broadcast--> Idle Waiting --the last
///   neighbor's part: one of two leaders, broadcast to the others--> Idle Waiting --the last
///   neighbor's broadcast / to the others--> Idle
///
/// Each tree link carries two messages a reduction. Reductions do not mix: a neighbor from which
/// this rank has a part waits for its broadcast; the last neighbor sends its part of the next
/// reduction after the message that ends this one, and order is kept per pair. Messages carry the
/// number of their reduction, and another one is an error.
///
/// @param neighbors  in the tree
/// @param session  for these reductions alone
std::unique_ptr<NonBlockingReduce> makeLeaderElection(Transport& transport, Session session,
                                                      std::vector<int> neighbors);

/// Transport::allreduce(): reductions and other collective operations on the transport are started
/// in the same order on all ranks.
std::unique_ptr<NonBlockingReduce> makeTransportReduce(Transport& transport);

}  // namespace tributary
