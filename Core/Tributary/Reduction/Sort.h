// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Reduction/AllToAll.h"
#include "Tributary/Reduction/Broadcast.h"
#include "Tributary/Reduction/Merge.h"

namespace tributary {

/// Distributed sample sort. Afterwards the values of each block are sorted, and no value is less
/// than a value of a lower block. The sort is stable: equal values keep the order of their blocks,
/// and their order within a block. The values of a block do not depend on the number of ranks.
///
/// Each block sorts its values. Block 0 determines the cuts from samples of all blocks (merge
/// reduction and broadcast), and an all-to-all sends each value to its block. The sample of a block
/// is one value of each 1/32 of it, at a place that a hash determines. Of n values, each of b
/// blocks gets at most n / b + n / 16 + b. With random values the largest block got 1.35 n / b of
/// 64 blocks, and 1.8 n / b of 1,024 blocks. Equal values can be assigned to different blocks.
///
/// Can run any number of times. Non-blocking with start() and advance().
/// @tparam T  copyable, with a Serial
/// @tparam Less  a strict weak order with a const call operator
template <class T, class Less = std::less<T>>
class SampleSort {
 public:
  /// Collective. Throws Error on all ranks if arguments are invalid or differ between ranks.
  /// @param transport  must outlive the sort
  /// @param kValues  of the all-to-all: see AllToAll
  SampleSort(Transport& transport, const Assignment& assignment, KValues kValues,
             Less less = Less())
      : transport_(transport),
        assignment_(assignment),
        less_(std::move(less)),
        merge_(transport, assignment, Rounds::full(assignment.total()),
               [this](std::vector<Sample>& lower, std::vector<Sample>&& upper) {
                 const auto middle = static_cast<std::ptrdiff_t>(lower.size());
                 std::move(upper.begin(), upper.end(), std::back_inserter(lower));
                 std::inplace_merge(
                     lower.begin(), lower.begin() + middle, lower.end(),
                     [this](const Sample& a, const Sample& b) { return before(a, b); });
               }),
        broadcast_(transport, assignment),
        allToAll_(transport, assignment, std::move(kValues)) {}

  /// Starts a run. Collective, without communication.
  /// @param values  of each local block, in order
  void start(std::vector<std::vector<T>> values) {
    // Sessions first, because they must be in step on all ranks: start() may throw.
    merge_.open();
    if (assignment_.total() > 0) broadcast_.open();
    allToAll_.open();
    values_ = std::move(values);
    errors_ = ErrorCollector();
    std::vector<std::vector<Sample>> samples(values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) {
      errors_.attempt([&] {
        std::stable_sort(values_[i].begin(), values_[i].end(), less_);
        samples[i] = samplesOf(values_[i], blockOf(i));
      });
    }
    merge_.start(std::move(samples));
    if (assignment_.total() > 0) broadcast_.start(0);
    phase_ = Phase::Merging;
  }
  /// Performs one non-blocking turn. @return whether this rank has ended
  [[nodiscard]] bool advance() {
    if (phase_ == Phase::Merging && merge_.advance()) {
      if (assignment_.total() > 0 && assignment_.rankOf(0) == transport_.rank()) giveCuts();
      phase_ = Phase::Cutting;
    }
    if (phase_ == Phase::Cutting && broadcast_.advance()) {
      std::vector<std::vector<Parcel>> parcels(values_.size());
      errors_.attempt([&] { parcels = parcelsOfAll(); });
      allToAll_.start(std::move(parcels));
      phase_ = Phase::Exchanging;
    }
    if (phase_ == Phase::Exchanging && allToAll_.advance()) {
      // After an error there may be parcels whose bytes have been moved to a message.
      if (error().empty()) errors_.attempt([&] { collect(allToAll_.takeParcels()); });
      phase_ = Phase::Ended;
    }
    return phase_ == Phase::Ended;
  }
  /// See ReductionMachine::busy().
  [[nodiscard]] bool busy() const { return merge_.busy() || broadcast_.busy() || allToAll_.busy(); }
  /// The sorted values of each local block. @pre this rank has ended
  [[nodiscard]] std::vector<std::vector<T>> takeValues() { return std::exchange(values_, {}); }
  /// The first error on this rank since start(), or "".
  [[nodiscard]] const std::string& error() const {
    for (const std::string* text : {&errors_.text(), &merge_.error(), &broadcast_.error()}) {
      if (!text->empty()) return *text;
    }
    return allToAll_.error();
  }

  /// Starts a run and advances it to the end. Collective. Throws Error on all ranks if comparing or
  /// copying throws on one. @return takeValues()
  [[nodiscard]] std::vector<std::vector<T>> run(std::vector<std::vector<T>> values) {
    agreeOnError(transport_, merge_.itemsError(values.size()));
    start(std::move(values));
    detail::advanceToEnd(transport_, *this);
    agreeOnError(transport_, error());
    return takeValues();
  }

 private:
  static constexpr std::size_t Samples = 32;  // of each block

  enum class Phase { Ended, Merging, Cutting, Exchanging };

  /// Distinguishes a sampled value from equal ones, and has the number of values that it
  /// represents.
  struct Tag {
    BlockId block;
    std::int64_t number;
    std::int64_t weight;
  };
  using Sample = std::pair<T, Tag>;

  BlockId blockOf(std::size_t local) const {
    return assignment_.first(transport_.rank()) + static_cast<BlockId>(local);
  }

  bool before(const Sample& a, const Sample& b) const {
    if (less_(a.first, b.first)) return true;
    if (less_(b.first, a.first)) return false;
    return std::tie(a.second.block, a.second.number) < std::tie(b.second.block, b.second.number);
  }

  // With the same place in each part, the errors of all blocks would accumulate.
  std::vector<Sample> samplesOf(const std::vector<T>& values, BlockId block) const {
    std::vector<Sample> samples;
    const std::size_t count = std::min(values.size(), Samples);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t begin = i * values.size() / count;
      const std::size_t end = (i + 1) * values.size() / count;
      std::uint64_t bits = (static_cast<std::uint64_t>(block) * Samples + i) * 0x9e3779b97f4a7c15u;
      bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
      const std::size_t at = begin + (bits >> 32) % (end - begin);
      samples.push_back({values[at], Tag{block, static_cast<std::int64_t>(at),
                                         static_cast<std::int64_t>(end - begin)}});
    }
    return samples;
  }

  /// On the rank of block 0: determines the cuts. A cut is an upper bound of the values of a block.
  void giveCuts() {
    auto survivors = merge_.takeSurvivors();
    std::vector<Sample> cuts;
    const bool made = !survivors.empty() &&
                      errors_.attempt([&] { cuts = cutsOf(std::move(survivors.front().item)); });
    if (made) {
      broadcast_.give(std::move(cuts));
    } else {
      broadcast_.giveNothing();
    }
  }
  std::vector<Sample> cutsOf(std::vector<Sample>&& samples) const {
    std::int64_t total = 0;
    for (const Sample& sample : samples) {
      const std::int64_t weight = sample.second.weight;
      if (weight < 1 || weight > std::numeric_limits<std::int64_t>::max() - total) {
        refuseMessage("a sample that represents " + std::to_string(weight) + " values");
      }
      total += weight;
    }
    std::vector<Sample> cuts;
    std::int64_t passed = 0;
    const std::int64_t blocks = assignment_.total();
    for (Sample& sample : samples) {
      passed += sample.second.weight;
      const auto made = static_cast<std::int64_t>(cuts.size());
      if (made + 1 < blocks && passed >= share(made + 1, blocks, total)) {
        cuts.push_back(std::move(sample));
      }
    }
    return cuts;
  }
  /// The number of values of the first `first` of `blocks` blocks, of `total` values.
  static std::int64_t share(std::int64_t first, std::int64_t blocks, std::int64_t total) {
    return total / blocks * first + total % blocks * first / blocks;
  }

  std::vector<std::vector<Parcel>> parcelsOfAll() {
    std::vector<std::vector<Parcel>> parcels(values_.size());
    if (!broadcast_.item()) return parcels;
    const std::vector<Sample>& cuts = *broadcast_.item();
    if (static_cast<std::int64_t>(cuts.size()) >= assignment_.total()) {
      refuseMessage(std::to_string(cuts.size()) + " cuts for " +
                    std::to_string(assignment_.total()) + " blocks");
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::vector<T>& values = values_[i];
      auto begin = values.begin();
      for (std::size_t b = 0; b <= cuts.size(); ++b) {
        const auto end =
            b < cuts.size() ? endBefore(begin, values, cuts[b], blockOf(i)) : values.end();
        if (begin == end) continue;
        parcels[i].push_back(
            {static_cast<BlockId>(b),
             packed(std::vector<T>(std::make_move_iterator(begin), std::make_move_iterator(end)))});
        begin = end;
      }
      values = {};
    }
    return parcels;
  }
  /// The first of a block's values after a cut.
  typename std::vector<T>::iterator endBefore(typename std::vector<T>::iterator begin,
                                              std::vector<T>& values, const Sample& cut,
                                              BlockId block) const {
    const Tag& tag = cut.second;
    if (block < tag.block) return std::upper_bound(begin, values.end(), cut.first, less_);
    if (block > tag.block) return std::lower_bound(begin, values.end(), cut.first, less_);
    if (tag.number < 0 || tag.number >= static_cast<std::int64_t>(values.size())) {
      refuseMessage("a cut after value " + std::to_string(tag.number) + " of a block with " +
                    std::to_string(values.size()) + " values");
    }
    return std::max(begin, values.begin() + static_cast<std::ptrdiff_t>(tag.number) + 1);
  }

  /// Merges the parcels of each block, which are sorted and in the order of their source blocks.
  void collect(std::vector<std::vector<Parcel>>&& parcels) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::vector<T>& values = values_[i];
      std::vector<std::ptrdiff_t> ends = {0};
      for (Parcel& parcel : parcels[i]) {
        std::vector<T> part = unpacked<std::vector<T>>(std::move(parcel.bytes));
        std::move(part.begin(), part.end(), std::back_inserter(values));
        ends.push_back(static_cast<std::ptrdiff_t>(values.size()));
      }
      while (ends.size() > 2) {
        std::vector<std::ptrdiff_t> merged = {0};
        for (std::size_t e = 2; e < ends.size() + 1; e += 2) {
          const std::ptrdiff_t end = ends[std::min(e, ends.size() - 1)];
          std::inplace_merge(values.begin() + ends[e - 2], values.begin() + ends[e - 1],
                             values.begin() + end, less_);
          merged.push_back(end);
        }
        ends = std::move(merged);
      }
    }
  }

  Transport& transport_;
  Assignment assignment_;
  Less less_;
  MergeReduction<std::vector<Sample>> merge_;
  Broadcast<std::vector<Sample>> broadcast_;
  AllToAll allToAll_;
  std::vector<std::vector<T>> values_;
  ErrorCollector errors_;  // of local work; communication continues
  Phase phase_ = Phase::Ended;
};

}  // namespace tributary
