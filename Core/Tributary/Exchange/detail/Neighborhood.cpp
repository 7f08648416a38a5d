// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "Tributary/Collective/Records.h"
#include "Tributary/Exchange/detail/ScheduleMachine.h"

namespace tributary::detail {

namespace {

/// Above any real number of rounds, and low enough to be incremented without overflow.
constexpr std::int64_t MostRounds = std::int64_t(1) << 62;

/// Rounds without a global reduction: T. Peterka, R. Ross, "Versatile Communication Algorithms for
/// Data Analysis", EuroMPI 2012, LNCS 7490, Algorithm 3. At the end of a round, a rank announces
/// this end to its listeners: the owners of blocks that list a block of this rank as a link. It
/// begins the next round when it has received the chosen share of the announcements that it
/// expects: one for each pair of linked blocks on different ranks, none from idle ranks. Later
/// messages are received in a later round.
///
/// States: Stepping (calls blocks) -> Waiting (for the share) -> Stepping if the rank has work,
/// else Resting, after the announcement that it must not be waited for. A message wakes a resting
/// rank: it continues as if it had ended the latest round that it knows of, announces that end, and
/// enters Waiting. A rank that never waits (arrivals is 0, or no block of another rank is linked to
/// its own) receives no announcements.
///
/// Deadlock-freedom. A rank has declared round r if its last announcement is the end of r. Among
/// the waiting ranks, take one that has declared the lowest round r. The ranks that it waits for
/// have, to its knowledge, declared lower rounds. So they have made a newer announcement, which
/// will arrive; or they are stepping and will announce the end; or they are resting and have
/// announced that.
///
/// The detector counts announcements like messages, and a waiting rank is active. So the detector
/// fires when all ranks rest, and no message or announcement is left in the network. A rank sends a
/// bounded number of announcements per round in which it had work, so they do not prevent
/// termination. But a passive rank may send them. This is the AP model, whatever the callbacks do.
class Neighborhood : public ScheduleMachine {
 public:
  explicit Neighborhood(const ScheduleInputs& inputs)
      : ScheduleMachine(inputs, makeDetector(inputs)) {
    sendRecords<std::int32_t>(
        transport_,
        [&](RecordOutbox<std::int32_t>& subscriptions) {
          if (inputs.options.arrivals > 0) countLinks();
          for (const auto& [rank, neighbor] : neighbors_)
            subscriptions.add(rank, transport_.rank());
        },
        [&](const Records<std::int32_t>& subscribers) {
          for (int rank = 0; rank < transport_.size(); ++rank) {
            const auto of = subscribers.from(rank);
            if (of.size() == 0) continue;
            if (of.size() != 1) refuseMessage("a duplicate subscription");
            if (of[0] != rank) refuseMessage("a subscription of another rank");
            listeners_.push_back(rank);
          }
        });
    startRound();
    ++inputs_.statistics.rounds;
  }

 protected:
  bool turn() override {
    receive();
    if (stopped_) {
      state_ = State::Resting;
    } else if (state_ == State::Resting && ready()) {
      wake();
    }
    if (state_ == State::Waiting && enoughArrived()) leaveWaiting();
    if (state_ == State::Stepping) {
      callBlocks(false);
      if (!stopped_ && listDone()) endRound();
    }
    poll();
    return detector_->advance(state_ == State::Resting && blocksDone() && queues_.quiet(),
                              queues_.takeTouched());
  }

  bool onBatch(int source, const BatchFooter& footer) override {
    if (footer.round < 0 || footer.round > MostRounds)
      refuseBatch(source, "it is of round " + std::to_string(footer.round));
    if (footer.kind == BatchKind::Messages) {
      if (footer.round > latestRound_) latestRound_ = footer.round - 1;
      return true;
    }
    latestRound_ = std::max(latestRound_, footer.round);
    const auto neighbor = neighbors_.find(source);
    if (neighbor != neighbors_.end()) {
      neighbor->second.ended = footer.round;
      neighbor->second.resting = footer.kind == BatchKind::Idle;
    }
    return true;
  }

  std::string phase() const override {
    if (state_ == State::Resting) return "resting after round " + std::to_string(round_);
    if (state_ == State::Stepping) return "in round " + std::to_string(round_);
    std::string text = "waiting in round " + std::to_string(round_) + " for ranks";
    for (const auto& [rank, neighbor] : neighbors_) {
      if (!neighbor.resting && neighbor.ended < round_) text += " " + std::to_string(rank);
    }
    return text;
  }

 private:
  enum class State { Stepping, Waiting, Resting };

  /// A rank that this one waits for.
  struct Neighbor {
    std::int64_t links = 0;   // from this rank's blocks to different ones of that rank
    std::int64_t ended = -1;  // the last round that it told to have ended
    bool resting = false;
  };

  void countLinks() {
    for (std::vector<BlockId> links : inputs_.links) {
      std::sort(links.begin(), links.end());
      links.erase(std::unique(links.begin(), links.end()), links.end());
      for (const BlockId block : links) ++neighbors_[inputs_.assignment.rankOf(block)].links;
    }
    neighbors_.erase(transport_.rank());
  }

  bool enoughArrived() const {
    std::int64_t expected = 0;
    std::int64_t arrived = 0;
    for (const auto& [rank, neighbor] : neighbors_) {
      if (neighbor.resting) continue;
      expected += neighbor.links;
      if (neighbor.ended >= round_) arrived += neighbor.links;
    }
    // A share such as 0.1 is not exact: 3 of 30 are enough.
    const double needed = inputs_.options.arrivals * static_cast<double>(expected);
    return static_cast<double>(arrived) >= needed * (1 - 1e-12);
  }

  void leaveWaiting() {
    busy_ = true;
    startRound();
    if (!listDone()) {
      queues_.setRound(++round_);
      ++inputs_.statistics.rounds;
      state_ = State::Stepping;
      return;
    }
    state_ = State::Resting;
    tell(BatchKind::Idle);
  }

  void endRound() {
    tell(BatchKind::RoundEnd);
    queues_.flushAll();
    state_ = State::Waiting;
  }

  void wake() {
    busy_ = true;
    round_ = std::max(round_, latestRound_);
    queues_.setRound(round_);
    tell(BatchKind::RoundEnd);
    state_ = State::Waiting;
  }

  void tell(BatchKind kind) {
    for (const int rank : listeners_) queues_.sendRemark(rank, kind);
  }

  std::map<int, Neighbor> neighbors_;
  std::vector<int> listeners_;  // the ranks that wait for this one
  State state_ = State::Stepping;
  std::int64_t round_ = 0;
  std::int64_t latestRound_ = 0;  // that any rank was heard to have ended
};

}  // namespace

std::unique_ptr<ScheduleMachine> makeNeighborhood(const ScheduleInputs& inputs) {
  return std::make_unique<Neighborhood>(inputs);
}

}  // namespace tributary::detail
