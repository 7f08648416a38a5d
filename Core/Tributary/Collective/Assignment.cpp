// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Assignment.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

Assignment::Assignment(const std::vector<std::int64_t>& counts) {
  first_.reserve(counts.size() + 1);
  first_.push_back(0);
  for (const std::int64_t count : counts) {
    if (count < 0) {
      throw Error("rank " + std::to_string(first_.size() - 1) + " has " + std::to_string(count) +
                  " blocks; the number of blocks must be at least 0");
    }
    BlockId end = 0;
    if (__builtin_add_overflow(first_.back(), count, &end))
      throw Error("rank " + std::to_string(first_.size() - 1) + " has " + std::to_string(count) +
                  " blocks, too many to number them; give fewer blocks");
    first_.push_back(end);
  }
}

Assignment Assignment::gather(Transport& transport, std::int64_t localCount) {
  const std::vector<std::int64_t> counts = allgather(transport, localCount);
  std::optional<Assignment> assignment;
  collectively(transport, [&] { assignment.emplace(counts); });
  return *std::move(assignment);
}

int Assignment::rankOf(BlockId block) const {
  if (!exists(block)) {
    throw Error("block " + std::to_string(block) +
                " does not exist: blocks are numbered from 0 to " + std::to_string(total() - 1) +
                "; use one of these numbers");
  }
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), block) - first_.begin()) -
         1;
}

}  // namespace tributary
