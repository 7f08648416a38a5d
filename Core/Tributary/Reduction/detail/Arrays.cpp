// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/detail/Arrays.h"

#include <algorithm>
#include <limits>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

// What a thread combines at a time: large enough for its overhead, small enough for its cache.
constexpr std::size_t ChunkBytes = 128 << 10;

std::vector<std::int64_t> with(std::vector<std::int64_t> numbers, std::int64_t one,
                               std::int64_t other) {
  numbers.push_back(one);
  numbers.push_back(other);
  return numbers;
}

}  // namespace

ArrayReduction::ArrayReduction(Transport& transport, const Assignment& assignment, KValues kValues,
                               std::int64_t length, std::size_t elementBytes, Combine combine,
                               ParallelFor parallelFor, std::vector<std::int64_t> same)
    : ReductionMachine(transport, assignment, std::move(kValues),
                       with(std::move(same), length, static_cast<std::int64_t>(elementBytes))),
      length_(length),
      elementBytes_(elementBytes),
      combine_(std::move(combine)),
      parallelFor_(std::move(parallelFor)) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  if (length < 0 || elementBytes == 0 ||
      length >= most / std::max<std::int64_t>(rounds().blocks(), 1) - 1 ||
      static_cast<std::uint64_t>(length) > static_cast<std::uint64_t>(most) / elementBytes) {
    throw Error("reduction: cannot work on " + std::to_string(length) + " elements of " +
                std::to_string(elementBytes) + " bytes");
  }
}

void ArrayReduction::combine(const std::vector<Pair>& pairs) {
  if (failed()) return;  // there may be no arrays
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(ChunkBytes / elementBytes_, 1));
  std::vector<Pair> chunks;
  for (const Pair& pair : pairs) {
    for (std::int64_t done = 0; done < pair.count; done += most) {
      const std::size_t offset = bytes(done);
      chunks.push_back({pair.lower + offset, pair.upper + offset, pair.result + offset,
                        std::min(most, pair.count - done)});
    }
  }
  parallelFor_(static_cast<std::int64_t>(chunks.size()), [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      const Pair& chunk = chunks[static_cast<std::size_t>(i)];
      guarded([&] {
        combine_(chunk.lower, chunk.upper, chunk.result, static_cast<std::size_t>(chunk.count));
      });
    }
  });
}

}  // namespace tributary::detail
