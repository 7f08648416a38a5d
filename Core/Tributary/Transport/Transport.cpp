// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/Transport.h"

#include <algorithm>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary {

namespace {

// Measured with 2 to 8 ranks on 2 cores. A short spin keeps the latency low if the partner runs on
// another core. Yielding lets a partner run that waits for this core. Sleeping keeps ranks that
// wait for a long time from competing with working ones.
constexpr int SpinningPolls = 50;
constexpr int YieldingPolls = 200;
constexpr double FirstSleep = 5e-6;
constexpr double LongestSleep = 100e-6;

constexpr std::size_t LargestPersistent = std::size_t(1) << 30;

}  // namespace

void throwIfInterrupted(const Transport& transport) {
  if (transport.isInterrupted()) throw Error(ErrorKind::Aborted, "aborted", transport.rank());
}

void reduceInto(ReduceOp op, std::vector<std::int64_t>& sum,
                const std::vector<std::int64_t>& values) {
  if (sum.size() != values.size()) {
    throw Error("all-reduce: one rank passed " + std::to_string(sum.size()) +
                " values, another one " + std::to_string(values.size()) +
                "; pass the same number on all ranks");
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    switch (op) {
      case ReduceOp::Sum:
        // Wraps around, as MPI's sum does: another rank's value may be anything.
        sum[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum[i]) +
                                           static_cast<std::uint64_t>(values[i]));
        break;
      case ReduceOp::Min:
        sum[i] = std::min(sum[i], values[i]);
        break;
      case ReduceOp::Max:
        sum[i] = std::max(sum[i], values[i]);
        break;
      case ReduceOp::Or:
        sum[i] |= values[i];
        break;
    }
  }
}

void checkDestination(int destination, int ranks) {
  if (destination >= 0 && destination < ranks) return;
  throw Error("send to rank " + std::to_string(destination) + ": ranks are numbered from 0 to " +
              std::to_string(ranks - 1) + "; give one of these ranks");
}

void checkPersistent(int rank, int ranks, std::size_t size) {
  if (rank < 0 || rank >= ranks) {
    throw Error("persistent request with rank " + std::to_string(rank) +
                ": ranks are numbered from 0 to " + std::to_string(ranks - 1) +
                "; give one of these ranks");
  }
  if (size > LargestPersistent) {
    throw Error("persistent request of " + std::to_string(size) + " bytes: the maximum is " +
                std::to_string(LargestPersistent) + " bytes; use send() for larger messages");
  }
}

void checkPersistentSize(std::size_t received, std::size_t expected, int source, int here) {
  if (received == expected) return;
  throw Error(ErrorKind::Message,
              "rank " + std::to_string(source) + " sent " + std::to_string(received) +
                  " bytes to rank " + std::to_string(here) + ", which expects " +
                  std::to_string(expected) + "; use the same size for both persistent requests");
}

void Backoff::pause(Transport& transport) {
  ++empty_;
  if (empty_ <= SpinningPolls) return;
  if (empty_ <= SpinningPolls + YieldingPolls) {
    transport.relax(0);
    return;
  }
  // Notifies the other ranks, which may be computing.
  static_cast<void>(transport.isInterrupted());
  const int doublings = std::min(empty_ - SpinningPolls - YieldingPolls, 10);
  transport.relax(std::min(FirstSleep * (1 << doublings), LongestSleep));
}

}  // namespace tributary
