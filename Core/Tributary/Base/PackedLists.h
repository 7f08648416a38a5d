// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Lists of values in one array, such as the cells around each point: compressed row storage.
template <class Value>
class PackedLists {
 public:
  PackedLists() = default;
  /// @param forEach  calls visit(list, value) for each value; called twice, and must visit the same
  ///                 values in the same order, which becomes their order in the lists
  template <class ForEach>
  PackedLists(std::size_t lists, ForEach&& forEach) : first_(lists + 2, 0) {
    // Counts are put two places ahead, so that filling moves them to where they belong.
    forEach([&](std::size_t list, Value) { ++first_[list + 2]; });
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    values_.resize(static_cast<std::size_t>(first_.back()));
    forEach([&](std::size_t list, Value value) {
      values_[static_cast<std::size_t>(first_[list + 1]++)] = value;
    });
    first_.pop_back();
  }

  /// The number of lists.
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  /// Begins to load where a list is.
  void prefetch(std::size_t list) const { __builtin_prefetch(first_.data() + list); }
  Span<const Value> operator[](std::size_t list) const {
    return {values_.data() + first_[list],
            static_cast<std::size_t>(first_[list + 1] - first_[list])};
  }
  /// In bytes.
  [[nodiscard]] std::size_t memory() const {
    return first_.size() * sizeof first_[0] + values_.size() * sizeof(Value);
  }

 private:
  std::vector<std::int64_t> first_;  // per list, its first place in values_
  std::vector<Value, UninitializedAllocator<Value>> values_;
};

}  // namespace tributary
