// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/detail/Machine.h"

namespace tributary::detail {

/// What reductions of arrays have in common: a buffer of the same length for each block, in which
/// they work, and an operator on elements.
///
/// The operator must be associative and need not commute: elements are combined in the order of the
/// blocks, along trees that only the number of blocks and the k-values decide, so that the result
/// has the same bits for any number of ranks and threads and whatever arrives first.
class ArrayReduction : public ReductionMachine {
 public:
  /// result[i] = lower[i] combined with upper[i] for `count` elements. `result` is `lower`, or
  /// `upper`, or overlaps neither. Called by several threads at once, and for any part of an array.
  using Combine = std::function<void(const std::byte* lower, const std::byte* upper,
                                     std::byte* result, std::size_t count)>;

  /// Begins with a buffer for each local block, in order, aligned for its elements; they stay the
  /// caller's and are not to be touched until the end. Collective, without communication.
  virtual void start(const std::vector<std::byte*>& buffers) = 0;

 protected:
  /// A pair of arrays to combine.
  struct Pair {
    const std::byte* lower;
    const std::byte* upper;
    std::byte* result;
    std::int64_t count;
  };

  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  ArrayReduction(Transport& transport, const Assignment& assignment, KValues kValues,
                 std::int64_t length, std::size_t elementBytes, Combine combine,
                 ParallelFor parallelFor, std::vector<std::int64_t> same = {});

  /// Calls the operator, in chunks and on the threads there are.
  void combine(const std::vector<Pair>& pairs);

  std::int64_t length() const { return length_; }
  /// Of so many elements.
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * elementBytes_;
  }

 private:
  std::int64_t length_;
  std::size_t elementBytes_;
  Combine combine_;
  ParallelFor parallelFor_;
};

/// A reduction of arrays of a trivially copyable type.
template <class Machine, class T>
class OfType : public Machine {
  static_assert(std::is_trivially_copyable_v<T>, "merge items of this type instead");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "messages are not aligned so far");

 public:
  using Combine = std::function<void(const T* lower, const T* upper, T* result, std::size_t count)>;

  /// Collective. Throws Error on all ranks if arguments are wrong or differ between ranks.
  /// @param transport  outlives the reduction
  /// @param kValues    groups that meet in each round
  /// @param length     elements of each block's buffer
  /// @param parallelFor  threads for the combining
  /// @param tuning     what else the machine can be told
  template <class... Tuning>
  OfType(Transport& transport, const Assignment& assignment, KValues kValues, std::int64_t length,
         Combine combine, ParallelFor parallelFor = serialFor, Tuning... tuning)
      : Machine(
            transport, assignment, std::move(kValues), length, sizeof(T),
            [combine = std::move(combine)](const std::byte* lower, const std::byte* upper,
                                           std::byte* result, std::size_t count) {
              combine(reinterpret_cast<const T*>(lower), reinterpret_cast<const T*>(upper),
                      reinterpret_cast<T*>(result), count);
            },
            std::move(parallelFor), tuning...) {}

  /// See ArrayReduction::start().
  void start(const std::vector<T*>& buffers) {
    std::vector<std::byte*> bytes;
    for (T* buffer : buffers) bytes.push_back(reinterpret_cast<std::byte*>(buffer));
    Machine::start(bytes);
  }
  /// start() and advance() to the end. Collective; throws Error on all ranks if an operator threw.
  void run(const std::vector<T*>& buffers) {
    agreeOnError(this->transport(), this->itemsError(buffers.size()));
    start(buffers);
    this->finish();
  }
};

}  // namespace tributary::detail
