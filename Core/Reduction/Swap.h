#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Agree.h"
#include "Tributary/ParallelFor.h"
#include "Tributary/Reduction/GroupTree.h"
#include "Tributary/Reduction/Machine.h"
#include "Tributary/Span.h"

namespace tributary {

/// Swap reduction of arrays over blocks (Peterka and Ross, Algorithm 2; radix-k): each block gives
/// a buffer of as many elements; in each round k neighbouring groups of blocks share out their
/// partial results, so that in the end each block of a group holds its part, combined over all
/// blocks of the group. Full, when every block has 1/n of the result, or partial with fewer rounds.
///
/// Works in the buffers: a block's part of the result lies where it belongs in that block's buffer,
/// see part(); the rest of the buffer keeps what it had or partial results.
///
/// The operator must be associative and need not commute: elements are combined in the order of the
/// blocks, along trees that only the numbers of blocks and elements and the k-values decide, so
/// that the result has the same bits for any number of ranks and threads and whatever arrives
/// first.
///
/// Can be run many times. Non-blocking with start() and advance(), on any transport.
class SwapBytes : public ReductionMachine {
 public:
  /// result[i] = lower[i] combined with upper[i] for `count` elements. `result` is `lower`, or
  /// `upper`, or overlaps neither. Called by several threads at once, and for any part of an array.
  using Combine = std::function<void(const std::byte* lower, const std::byte* upper,
                                     std::byte* result, std::size_t count)>;

  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  /// @param transport  outlives the reduction
  /// @param kValues    groups that meet in each round
  /// @param length     elements of each block's buffer
  /// @param elementBytes  of an element
  /// @param parallelFor   threads for the combining
  SwapBytes(Transport& transport, const Assignment& assignment, KValues kValues,
            std::int64_t length, std::size_t elementBytes, Combine combine,
            ParallelFor parallelFor = serialFor);

  /// Begins with a buffer for each local block, in order, aligned for its elements; they stay the
  /// caller's and are not to be touched until the end. Collective, without communication.
  void start(const std::vector<std::byte*>& buffers);

  /// Elements of the result that a local block (from 0) has in the end.
  Interval part(std::size_t localBlock) const;

 protected:
  bool turn() override;
  bool turnsEnded() const override { return unfinished_ == 0; }

 private:
  /// Elements that every group has in one message each.
  struct Segment {
    Interval elements;
    GroupTree tree;
    std::vector<std::byte*> from;  // by group
  };
  /// A round of a block.
  struct Swap {
    BlockId first = 0;  // of the groups that meet
    int groups = 0;
    Interval before;  // the block's part
    Interval after;
    std::size_t missing = 0;  // segments that are not done
    std::vector<Segment> segments;
    std::vector<Bytes> arrived;  // what segments point to
  };
  struct Block {
    BlockId id = 0;
    std::byte* buffer = nullptr;
    bool nests = false;
    int round = 0;
    Swap swap;                        // of this round
    std::vector<BlockMessage> early;  // of later rounds
  };
  struct Pair {
    Block* block;
    Segment* segment;
    int lower;
    int upper;
  };

  Swap swapOf(const Block& block) const;
  /// Whether a block's part lies in the one before in all rounds: then nothing is ever written
  /// where it has sent from.
  bool nests(BlockId block) const;
  /// Sends what others need of the block, and takes what came early.
  void startRound(Block& block);
  /// Goes through all rounds of the block that are done.
  void proceed(Block& block);
  void send(const Block& block);
  void accept(BlockMessage&& message);
  void take(Block& block, BlockMessage&& message);
  void arrived(Block& block, Segment& segment, int group);
  void combineReady();
  std::byte* at(const Block& block, std::int64_t element) const {
    return block.buffer + static_cast<std::size_t>(element) * elementBytes_;
  }

  std::int64_t length_;
  std::size_t elementBytes_;
  Combine combine_;
  ParallelFor parallelFor_;
  std::vector<Block> blocks_;
  std::vector<Pair> ready_;
  std::size_t unfinished_ = 0;
};

/// The same for arrays of a trivially copyable type.
template <class T>
class SwapReduction : public SwapBytes {
  static_assert(std::is_trivially_copyable_v<T>, "merge items of this type instead");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "messages are not aligned so far");

 public:
  using Combine = std::function<void(const T* lower, const T* upper, T* result, std::size_t count)>;

  /// See SwapBytes.
  SwapReduction(Transport& transport, const Assignment& assignment, KValues kValues,
                std::int64_t length, Combine combine, ParallelFor parallelFor = serialFor)
      : SwapBytes(
            transport, assignment, std::move(kValues), length, sizeof(T),
            [combine = std::move(combine)](const std::byte* lower, const std::byte* upper,
                                           std::byte* result, std::size_t count) {
              combine(reinterpret_cast<const T*>(lower), reinterpret_cast<const T*>(upper),
                      reinterpret_cast<T*>(result), count);
            },
            std::move(parallelFor)) {}

  void start(const std::vector<T*>& buffers) {
    std::vector<std::byte*> bytes;
    for (T* buffer : buffers) bytes.push_back(reinterpret_cast<std::byte*>(buffer));
    SwapBytes::start(bytes);
  }
  /// start() and advance() to the end. Collective; throws Error on all ranks if an operator threw.
  void run(const std::vector<T*>& buffers) {
    agreeOnError(transport(), itemsError(buffers.size()));
    start(buffers);
    finish();
  }
};

}  // namespace tributary
