// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/detail/Arrays.h"

#include <algorithm>
#include <limits>
#include <string>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

// A thread combines this number of bytes at a time: large compared with the overhead, small
// compared with the cache.
constexpr std::size_t ChunkBytes = 128 << 10;

std::vector<std::int64_t> with(std::vector<std::int64_t> numbers, std::int64_t one,
                               std::int64_t other) {
  numbers.push_back(one);
  numbers.push_back(other);
  return numbers;
}

}  // namespace

ArrayReduction::ArrayReduction(Transport& transport, const Assignment& assignment, KValues kValues,
                               ArrayOperation operation, std::vector<std::int64_t> same)
    : ReductionMachine(transport, assignment, std::move(kValues),
                       with(std::move(same), operation.length,
                            static_cast<std::int64_t>(operation.elementBytes))),
      operation_(std::move(operation)) {
  const std::int64_t length = operation_.length;
  const std::size_t elementBytes = operation_.elementBytes;
  const auto most = std::numeric_limits<std::int64_t>::max();
  if (length < 0 || elementBytes == 0 ||
      length >= most / std::max<std::int64_t>(rounds().blocks(), 1) - 1 ||
      static_cast<std::uint64_t>(length) > static_cast<std::uint64_t>(most) / elementBytes) {
    throw Error("reduction: arrays of " + std::to_string(length) + " elements of " +
                std::to_string(elementBytes) +
                " bytes: sizes must be positive and the product with the number of blocks at most "
                "2^63 - 1; use smaller arrays");
  }
}

void ArrayReduction::combine(const std::vector<Pair>& pairs) {
  if (failed()) return;  // arrays may be missing
  const auto most =
      static_cast<std::int64_t>(std::max<std::size_t>(ChunkBytes / operation_.elementBytes, 1));
  std::vector<Pair> chunks;
  for (const Pair& pair : pairs) {
    for (std::int64_t done = 0; done < pair.count; done += most) {
      const std::size_t offset = bytes(done);
      chunks.push_back({pair.lower + offset, pair.upper + offset, pair.result + offset,
                        std::min(most, pair.count - done)});
    }
  }
  operation_.parallelFor(static_cast<std::int64_t>(chunks.size()),
                         [&](std::int64_t from, std::int64_t to) {
                           for (std::int64_t i = from; i < to; ++i) {
                             const Pair& chunk = chunks[static_cast<std::size_t>(i)];
                             guarded([&] {
                               operation_.combine(chunk.lower, chunk.upper, chunk.result,
                                                  static_cast<std::size_t>(chunk.count));
                             });
                           }
                         });
}

}  // namespace tributary::detail
