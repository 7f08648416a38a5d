// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Advection/detail/Place.h"
#include "Tributary/Balance/LendableWork.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/ParallelFor.h"

namespace tributary::detail {

/// All blocks on this rank, its own and copies, and the work that waits there. All members are
/// local.
class Places : public LendableWork {
 public:
  /// @param domain  must outlive the object
  /// @param rules  must outlive the object
  /// @param stages  of the integrator
  /// @param linesPerSeed  1 or 2
  /// @param lending  null, or must outlive the object
  Places(const Domain& domain, const StepRules& rules, int rank, int stages, int linesPerSeed,
         const TraceLending* lending, ParallelFor parallelFor);

  /// The rank's own blocks, in order.
  std::vector<std::unique_ptr<Place>>& own() { return own_; }
  /// Whether a block is this rank's own.
  [[nodiscard]] bool isOwn(BlockId block) const { return offsetOf(block, first_) < own_.size(); }
  /// A block of this rank.
  Place& ownAt(BlockId block) { return *own_[index(block - first_)]; }
  /// The copy of a block; null if there is none.
  [[nodiscard]] Place* copyOf(BlockId block) const {
    if (copies_.empty()) return nullptr;
    const auto found = copies_.find(block);
    return found == copies_.end() ? nullptr : found->second.get();
  }
  /// A block or a copy; null if this rank has none.
  [[nodiscard]] Place* find(BlockId block) const {
    return isOwn(block) ? own_[index(block - first_)].get() : copyOf(block);
  }
  /// Must be called after the work that waits in a place has changed.
  void update(Place& place);

  /// A copy in which work waits: another one than at the last call, if there are several.
  [[nodiscard]] Place* nextWaitingCopy();
  /// Ends all borrowing. @return the copies
  [[nodiscard]] std::vector<std::unique_ptr<Place>> takeCopies();

  bool idle() const override { return waitingPlaces_ == 0; }
  bool anyCopyWaits() const override { return waitingCopies_ > 0; }
  std::vector<BlockId> takeRefilled() override { return std::exchange(refilled_, {}); }
  double expectedSeconds() const override;
  WaitingWork fullest() const override;
  WaitingWork waitingIn(BlockId block) const override;
  CopySize copySize(BlockId block) const override;
  void writeCopy(BlockId block, Writer& message) const override;
  void lend(BlockId block, std::int64_t items, int borrower, Writer& message) override;
  bool has(BlockId block) const override { return find(block) != nullptr; }
  std::vector<BlockCopy> copies() const override;
  void readCopy(BlockId block, Reader& message) override;
  void borrow(BlockId block, Reader& message) override;
  bool isUnused(BlockId copy) const override;
  Bytes drop(BlockId copy) override;
  void takeBack(BlockId block, Reader& message) override;

 private:
  template <class Visit>
  void forEach(Visit&& visit) const;
  WorkMeter meterOf(BlockId block) const;
  static WaitingWork waitingIn(const Place& place);

  const Domain& domain_;
  const StepRules& rules_;
  const BlockId first_;
  const int stages_, linesPerSeed_;
  const TraceLending* const lending_;
  BlockCargo* const cargo_;
  const ParallelFor parallelFor_;
  std::vector<std::unique_ptr<Place>> own_;
  std::map<BlockId, std::unique_ptr<Place>> copies_;
  BlockId lastCopy_ = -1;
  std::vector<BlockId> refilled_;
  std::int64_t waitingPlaces_ = 0, waitingCopies_ = 0;
};

}  // namespace tributary::detail
