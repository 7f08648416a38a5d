// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The algorithm of non-blocking reductions.
enum class ReductionKind {
  LeaderElection,  ///< messages on a spanning tree of the communication graph
  Transport        ///< Transport::allreduce(), for instance MPI_Iallreduce
};

/// Successive reductions over all ranks with the result on all ranks. A non-blocking state machine,
/// one object per rank.
class NonBlockingReduce {
 public:
  virtual ~NonBlockingReduce() = default;

  /// Begins the next reduction. Called on all ranks with the same operation and number of values.
  /// @pre the previous reduction has ended on this rank
  virtual void start(ReduceOp op, std::vector<std::int64_t> values) = 0;
  /// Makes one non-blocking turn. @pre started
  /// @return whether the reduction has ended on this rank
  [[nodiscard]] virtual bool advance() = 0;
  /// @pre the reduction has ended on this rank
  [[nodiscard]] virtual const std::vector<std::int64_t>& result() const = 0;

  /// The number of point-to-point messages that this rank has sent.
  virtual std::int64_t messages() const { return 0; }
  /// See Detector::state().
  virtual std::string state() const = 0;
};

/// Makes reductions by leader election on a tree: N. A. Lynch, "Distributed Algorithms", 1996,
/// section 4.4.3, as in F. Magoulès, G. Gbikpi-Benissan, "JACK2", 2018,
/// doi:10.1016/j.advengsoft.2018.01.009, section 4.3 and figure 3. There is no fixed root: values
/// flow to the rank that is last.
///
///   Idle     --start--> Reducing
///   Reducing --parts of all neighbors but one received: send the sum to that one--> Waiting
///   Reducing --parts of all neighbors received: this rank is the leader; broadcast--> Idle
///   Waiting  --part of the last neighbor received: two leaders; broadcast to the others--> Idle
///   Waiting  --broadcast of the last neighbor received: pass it on to the others--> Idle
///
/// Each tree link carries two messages per reduction. Reductions do not mix. A neighbor whose part
/// this rank has received waits for the broadcast. The last neighbor sends its part of the next
/// reduction after the message that ends this one, and order is preserved per pair of ranks.
/// Messages carry the number of their reduction; another number is an error.
///
/// @param neighbors  of this rank in the tree
/// @param session  used by these reductions only
[[nodiscard]] std::unique_ptr<NonBlockingReduce> makeLeaderElection(Transport& transport,
                                                                    Session session,
                                                                    std::vector<int> neighbors);

/// Makes reductions by Transport::allreduce(). All ranks must start reductions and other collective
/// operations of the transport in the same order.
[[nodiscard]] std::unique_ptr<NonBlockingReduce> makeTransportReduce(Transport& transport);

}  // namespace tributary
