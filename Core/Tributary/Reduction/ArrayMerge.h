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

/// Merge reduction of arrays over blocks (Peterka and Ross, Algorithm 1): each block gives a buffer
/// of as many elements; in each round k neighboring groups of blocks combine theirs into one, in
/// the buffer of the first block of the group. Full, down to block 0, or partial with fewer rounds.
///
/// Arrays go from block to block segment by segment: while one is combined, in the cache, the next
/// is on its way, and a block in the middle passes on what is done. See SwapReduction for results
/// that may stay in parts, and MergeReduction for items of any type and size.
///
/// Works in the buffers: where hasResult(), a block's holds the result of its group; the others
/// hold what they had or partial results.
///
/// Can be run many times. Non-blocking with start() and advance(), on any transport.
class ArrayMergeBytes : public detail::ArrayReduction {
 public:
  /// Small enough for a core's cache, and large enough that a message's own cost does not count:
  /// measured on 4 ranks of MPI, where others from 32 KB to 1 MB were slower or no faster.
  static constexpr std::size_t DefaultSegmentBytes = 256 << 10;

  /// Measured to be the best: DefaultK for arrays of one segment, and 2 for larger ones, where it
  /// does not matter how many rounds there are but how much a rank combines.
  static KValues defaultKValues(std::int64_t blocks, std::size_t arrayBytes) {
    return Rounds::full(blocks, arrayBytes <= DefaultSegmentBytes ? DefaultK : 2);
  }

  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  /// @param transport  outlives the reduction
  /// @param kValues    groups that meet in each round
  /// @param length     elements of each block's buffer
  /// @param elementBytes  of an element
  /// @param parallelFor   threads for the combining
  /// @param segmentBytes  about how many are sent at a time
  ArrayMergeBytes(Transport& transport, const Assignment& assignment, KValues kValues,
                  std::int64_t length, std::size_t elementBytes, Combine combine,
                  ParallelFor parallelFor = serialFor,
                  std::size_t segmentBytes = DefaultSegmentBytes);

  void start(const std::vector<std::byte*>& buffers) override;

  /// Whether a local block (from 0) has the result of its group in the end.
  bool hasResult(std::size_t localBlock) const;

 protected:
  bool turn() override;
  bool turnsEnded() const override { return unfinished_ == 0; }
  void giveUp() override;
  std::int64_t expectedFromOthers() const override;

 private:
  /// Where a block's array meets those of others: first block, round, segment.
  using Place = std::tuple<BlockId, int, std::int64_t>;
  struct Meeting {
    detail::GroupTree tree;
    std::vector<std::byte*> from;  // by group
    std::vector<Bytes> arrived;    // by group, of other ranks: what `from` points to
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
  /// All local blocks' next one.
  void beginSegment();
  void accept(detail::BlockMessage&& message);
  /// What a block has of a segment before `round` goes where it is combined, or stays.
  void promote(BlockId block, int round, std::int64_t segment, std::byte* elements);
  void meet(const Place& place, BlockId from, std::byte* elements, Bytes&& message);
  void arrived(const Place& place, Meeting& meeting, int group);
  void combineReady();

  std::int64_t segments_;
  std::vector<std::byte*> buffers_;
  std::map<Place, Meeting> meetings_;  // that have begun, of this rank's blocks
  std::vector<Ready> ready_;
  std::int64_t begun_ = 0;       // segments of this rank's blocks
  std::vector<bool> passedOn_;   // by local block and segment, to another rank
  std::int64_t unfinished_ = 0;  // segments of local blocks that are neither sent nor results
};

/// The same for arrays of a trivially copyable type.
template <class T>
using ArrayMergeReduction = detail::OfType<ArrayMergeBytes, T>;

}  // namespace tributary
