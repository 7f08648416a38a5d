// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Reduction/detail/Machine.h"

#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::detail {

namespace {

/// Checks that all ranks passed the same arguments. Throws Error on all ranks otherwise, or if a
/// rank has one.
Rounds agreed(Transport& transport, const Assignment& assignment, KValues kValues,
              std::vector<std::int64_t> same, ErrorCollector errors) {
  if (assignment.ranks() != transport.size()) {
    errors.note("reduction: the assignment has " + std::to_string(assignment.ranks()) +
                " ranks, but the transport has " + std::to_string(transport.size()) +
                "; use an assignment to the ranks of the transport");
  }
  std::uint64_t hash = kValues.size();
  for (const int k : kValues) hash = scramble(hash ^ static_cast<std::uint64_t>(k));
  for (int rank = 0; rank < assignment.ranks(); ++rank) {
    hash = scramble(hash ^ static_cast<std::uint64_t>(assignment.count(rank)));
  }
  same.push_back(static_cast<std::int64_t>(hash >> 1));
  std::optional<Rounds> rounds;
  errors.attempt([&] { rounds.emplace(assignment.total(), std::move(kValues)); });
  if (!sameOnAllRanks(transport, std::move(same), errors))
    throw Error(
        "reduction: ranks passed different k-values, assignments or sizes; pass the same on all "
        "ranks");
  return std::move(*rounds);
}

}  // namespace

ReductionMachine::ReductionMachine(Transport& transport, const Assignment& assignment,
                                   KValues kValues, const std::vector<std::int64_t>& same,
                                   const ErrorCollector& errors)
    : transport_(transport),
      assignment_(assignment),
      rounds_(agreed(transport, assignment, std::move(kValues), same, errors)) {}

void ReductionMachine::open() {
  if (!ended_)
    throw Error("reduction: opened again before it has ended; call advance() until it has ended");
  post_.emplace(transport_, assignment_, rounds_.count());
  opened_ = true;
}

std::string ReductionMachine::itemsError(std::size_t items) const {
  const std::int64_t count = assignment_.count(transport_.rank());
  if (static_cast<std::int64_t>(items) == count) return {};
  return "reduction: " + std::to_string(items) + " items for " + std::to_string(count) +
         " local blocks; pass one for each block";
}

void ReductionMachine::begin(std::size_t items, std::int64_t parts, const std::string& wrong) {
  if (!ended_)
    throw Error("reduction: started again before it has ended; call advance() until it has ended");
  if (!opened_) open();
  opened_ = false;
  if (!wrong.empty()) throw Error(wrong);
  const std::string wrongItems = itemsError(items);
  if (!wrongItems.empty()) throw Error(wrongItems);
  error_.clear();
  parts_ = parts;
  failed_ = false;
  gaveUp_ = false;
  ended_ = false;
}

bool ReductionMachine::advance() {
  if (ended_) {
    moved_ = false;
    return true;
  }
  moved_ = false;
  std::size_t underWay = 0;
  do {
    if (gaveUp_ ? post_->discard() : attempt([&] { return turn(); })) moved_ = true;
    underWay = post_->underWay();
    ended_ = post_->sent() && (gaveUp_ ? post_->received() >= expectedFromOthers() : !partsLeft());
    // Completed sends may allow more work: do it before waiting for other ranks.
  } while (!ended_ && post_->underWay() < underWay);
  return ended_;
}

bool ReductionMachine::turn() {
  bool moved = false;
  while (auto message = post_->receive()) {
    moved = true;
    accept(std::move(*message));
  }
  while (work()) moved = true;
  return moved;
}

void ReductionMachine::wait() {
  advanceToEnd(transport_, *this);
}

void ReductionMachine::finish() {
  wait();
  agreeOnError(transport_, error());
}

void ReductionMachine::sendFailed(BlockId block, int firstRound, std::int64_t length) {
  for (int round = firstRound; round < rounds_.count(); ++round) {
    for (const BlockId to : rounds_.receivers(block, round, length)) {
      if (!post_->isLocal(to)) post_->send({block, to, round, {}, true});
    }
  }
}

std::int64_t ReductionMachine::comingFromOthers(BlockId block, std::int64_t length) const {
  std::int64_t messages = 0;
  for (int round = 0; round < rounds_.count(); ++round) {
    for (const BlockId from : rounds_.senders(block, round, length)) {
      if (!post_->isLocal(from)) ++messages;
    }
  }
  return messages;
}

void ReductionMachine::fail(const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  failed_ = true;
  if (error_.empty()) error_ = text;
}

}  // namespace tributary::detail
