// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Reduction/detail/Arrays.h"
#include "Tributary/Reduction/detail/GroupTree.h"

namespace tributary {

/// Merge reduction of arrays over blocks: T. Peterka, R. Ross, "Versatile
/// Communication Algorithms for Data Analysis", EuroMPI 2012, LNCS 7490,
/// Algorithm 1.
///
/// Each block has a buffer of the same number of elements. In each round k neighboring groups of
/// blocks combine their buffers into that of the first block of the new group. A full reduction
/// ends at block 0; fewer rounds give a partial reduction.
///
/// Arrays are sent in segments: while one segment is combined, in the cache, the next is in flight,
/// and blocks of intermediate rounds forward segments as soon as they are combined. See
/// SwapReduction for results that may stay distributed, and MergeReduction for items of any type
/// and size.
///
/// The reduction works in the buffers. If hasResult(), a block's buffer has the result of its
/// group. Other buffers are undefined.
///
/// Can run any number of times. Non-blocking with start() and advance().
class ArrayMergeBytes : public detail::ArrayReduction {
 public:
  /// Default size of a segment in bytes: fits the cache of a core, and makes the overhead of
  /// messages negligible. With 4 MPI ranks, sizes from 32 KB to 1 MB were not faster.
  static constexpr std::size_t DefaultSegmentBytes = 256 << 10;

  /// The best k-values in measurements: DefaultK for arrays of one segment, and 2 for larger ones,
  /// for which the work of the busiest rank matters more than the number of rounds.
  [[nodiscard]] static KValues defaultKValues(std::int64_t blocks, std::size_t arrayBytes) {
    return Rounds::full(blocks, arrayBytes <= DefaultSegmentBytes ? DefaultK : 2);
  }

  /// Collective: see the constructor of ReductionMachine.
  /// @param segmentBytes  approximate size of a segment, in bytes, at least 1; the same on all
  ///                      ranks
  ArrayMergeBytes(Transport& transport, const Assignment& assignment, KValues kValues,
                  detail::ArrayOperation operation, std::size_t segmentBytes = DefaultSegmentBytes);

  void start(const std::vector<std::byte*>& buffers) override;

  /// Whether a local block (counted from 0) has the result of its group at the end.
  [[nodiscard]] bool hasResult(std::size_t localBlock) const;

 protected:
  bool turn() override;
  void accept(detail::BlockMessage&& message) override;
  void giveUp() override;
  std::int64_t expectedFromOthers() const override;

 private:
  /// The place where arrays of blocks are combined: first block, round, segment.
  using Place = std::tuple<BlockId, int, std::int64_t>;
  struct Meeting {
    detail::GroupTree tree;
    std::vector<std::byte*> from;  // by group
    std::vector<Bytes> arrived;    // by group, of other ranks: memory of `from`
  };
  struct Ready {
    Place place;
    Meeting* meeting;
    int lower;
    int upper;
  };

  Interval segment(std::int64_t number) const;
  std::vector<bool>::reference passedOn(BlockId block, std::int64_t segment) {
    return passedOn_[post().localIndex(block) * static_cast<std::size_t>(segments_) +
                     static_cast<std::size_t>(segment)];
  }
  /// Starts the next segment of all local blocks.
  void beginSegment();
  /// Sends a block's segment before `round` to the place where it is combined, unless it is a
  /// result.
  void promote(BlockId block, int round, std::int64_t segment, std::byte* elements);
  void meet(const Place& place, BlockId from, std::byte* elements, Bytes&& message);
  void arrived(const Place& place, Meeting& meeting, int group);
  void combineReady();

  std::int64_t segments_;
  std::vector<std::byte*> buffers_;
  std::map<Place, Meeting> meetings_;  // in progress, of this rank's blocks
  std::vector<Ready> ready_;
  std::int64_t begun_ = 0;      // number of segments that this rank's blocks have started
  std::vector<bool> passedOn_;  // to another rank, by local block and segment
};

/// Merge reduction of arrays of a trivially copyable type.
template <class T>
using ArrayMergeReduction = detail::OfType<ArrayMergeBytes, T>;

}  // namespace tributary
