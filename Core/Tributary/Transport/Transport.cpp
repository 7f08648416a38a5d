// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/Transport.h"

#include <algorithm>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary {

namespace {

// Measured with 2 to 8 ranks on 2 cores: a short spin keeps the latency of a partner that runs at
// this moment; turns of the scheduler let one that waits for this core run; naps keep ranks that
// have nothing to do for long from taking turns with those that work.
constexpr int SpinningPolls = 50;
constexpr int YieldingPolls = 200;
constexpr double FirstNap = 5e-6;
constexpr double LongestNap = 100e-6;

constexpr std::size_t LargestPersistent = std::size_t(1) << 30;

}  // namespace

void reduceInto(ReduceOp op, std::vector<std::int64_t>& sum,
                const std::vector<std::int64_t>& values) {
  if (sum.size() != values.size()) {
    throw Error("all-reduce: ranks gave " + std::to_string(sum.size()) + " and " +
                std::to_string(values.size()) + " values");
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    switch (op) {
      case ReduceOp::Sum:
        sum[i] += values[i];
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

void checkPersistent(int rank, int ranks, std::size_t size) {
  if (rank < 0 || rank >= ranks) {
    throw Error("persistent request with rank " + std::to_string(rank) +
                ": the transport has ranks 0 to " + std::to_string(ranks - 1));
  }
  if (size > LargestPersistent) {
    throw Error("persistent request of " + std::to_string(size) + " bytes: the most are " +
                std::to_string(LargestPersistent));
  }
}

void checkPersistentSize(std::size_t came, std::size_t expected, int source, int here) {
  if (came == expected) return;
  throw Error("rank " + std::to_string(source) + " sent " + std::to_string(came) +
              " bytes to rank " + std::to_string(here) + ", where " + std::to_string(expected) +
              " were expected");
}

void Backoff::pause(Transport& transport) {
  ++empty_;
  if (empty_ <= SpinningPolls) return;
  if (empty_ <= SpinningPolls + YieldingPolls) {
    transport.relax(0);
    return;
  }
  const int doublings = std::min(empty_ - SpinningPolls - YieldingPolls, 10);
  transport.relax(std::min(FirstNap * (1 << doublings), LongestNap));
}

}  // namespace tributary
