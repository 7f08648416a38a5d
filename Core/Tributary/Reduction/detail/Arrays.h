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

/// The arrays of a reduction, and the operator on their elements.
struct ArrayOperation {
  /// result[i] = lower[i] combined with upper[i], for `count` elements. `result` is `lower`, or
  /// `upper`, or overlaps neither. Called for any part of an array, and by several threads
  /// concurrently if `parallelFor` has several.
  using Combine = std::function<void(const std::byte* lower, const std::byte* upper,
                                     std::byte* result, std::size_t count)>;

  std::int64_t length;       ///< number of elements of each block's buffer; the same on all ranks
  std::size_t elementBytes;  ///< size of an element, in bytes; the same on all ranks
  Combine combine;           ///< must be associative, need not be commutative
  ParallelFor parallelFor = serialFor;  ///< runs the operator on parts of arrays
};

/// Base class of reductions of arrays. Each block has a buffer of the same length, in which the
/// reduction works.
///
/// The operator must be associative and need not be commutative. Elements are combined in the order
/// of the blocks, along trees that depend only on the number of blocks and the k-values. So the
/// result has the same bits for any number of ranks and threads and any order of arrival.
class ArrayReduction : public ReductionMachine {
 public:
  /// Starts a run. Collective, without communication.
  /// @param buffers  one for each local block, in order, aligned for its elements; owned by the
  ///                 caller, who must not access them until the end
  virtual void start(const std::vector<std::byte*>& buffers) = 0;

 protected:
  /// A pair of arrays to combine.
  struct Pair {
    const std::byte* lower;
    const std::byte* upper;
    std::byte* result;
    std::int64_t count;
  };

  /// Collective. Throws Error on all ranks if arguments are invalid or differ between ranks.
  /// @param same  further numbers that must be equal on all ranks
  ArrayReduction(Transport& transport, const Assignment& assignment, KValues kValues,
                 ArrayOperation operation, std::vector<std::int64_t> same = {});

  /// Calls the operator, in chunks and by the parallel loop.
  void combine(const std::vector<Pair>& pairs);

  /// The number of elements of each buffer.
  std::int64_t length() const { return operation_.length; }
  /// The size of a number of elements, in bytes.
  std::size_t bytes(std::int64_t elements) const {
    return static_cast<std::size_t>(elements) * operation_.elementBytes;
  }

 private:
  ArrayOperation operation_;
};

/// A reduction of arrays of a trivially copyable type, by a reduction of bytes.
template <class Machine, class T>
class OfType : public Machine {
  static_assert(std::is_trivially_copyable_v<T>, "merge items of this type instead");
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__,
                "messages are not aligned for this type");

 public:
  using Combine = std::function<void(const T* lower, const T* upper, T* result, std::size_t count)>;

  /// Collective. Throws Error on all ranks if arguments are invalid or differ between ranks.
  /// @param transport  must outlive the reduction
  /// @param kValues  the number of groups that meet in each round
  /// @param length  number of elements of each block's buffer
  /// @param combine  see ArrayOperation::combine
  /// @param parallelFor  runs the operator on parts of arrays. Default: on the calling thread.
  /// @param tuning  further arguments of the constructor of Machine
  template <class... Tuning>
  OfType(Transport& transport, const Assignment& assignment, KValues kValues, std::int64_t length,
         Combine combine, ParallelFor parallelFor = serialFor, Tuning... tuning)
      : Machine(transport, assignment, std::move(kValues),
                ArrayOperation{
                    length, sizeof(T),
                    [combine = std::move(combine)](const std::byte* lower, const std::byte* upper,
                                                   std::byte* result, std::size_t count) {
                      combine(reinterpret_cast<const T*>(lower), reinterpret_cast<const T*>(upper),
                              reinterpret_cast<T*>(result), count);
                    },
                    std::move(parallelFor)},
                tuning...) {}

  /// See ArrayReduction::start().
  void start(const std::vector<T*>& buffers) {
    std::vector<std::byte*> bytes;
    for (T* buffer : buffers) bytes.push_back(reinterpret_cast<std::byte*>(buffer));
    Machine::start(bytes);
  }
  /// Starts a run and advances it to the end. Collective. Throws Error on all ranks if an operator
  /// throws on one.
  void run(const std::vector<T*>& buffers) {
    agreeOnError(this->transport(), this->itemsError(buffers.size()));
    start(buffers);
    this->finish();
  }
};

}  // namespace tributary::detail
