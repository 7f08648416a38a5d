// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/detail/ScheduleMachine.h"

namespace tributary::detail {

namespace {

/// No exchange makes so many; numbers of rounds are added to.
constexpr std::int64_t MostRounds = std::int64_t(1) << 62;

/// Rounds without a global reduction: T. Peterka and R. Ross, "Versatile Communication Algorithms
/// for Data Analysis", EuroMPI 2012, Algorithm 3. At the end of a round a rank tells those who wait
/// for it (the owners of blocks linked to its own), and goes on when the chosen share of what it
/// expects is in: the ends of that round of the blocks of other ranks linked to its own, each pair
/// of blocks once, but for those of resting ranks. What comes later is seen in a later round.
///
/// States: Stepping (calling blocks) -> Waiting (for the share). With something to do -> Stepping,
/// otherwise -> Resting, after a remark that it should not be waited for. A message wakes a resting
/// rank: it takes part again, as if it had ended the latest round that it has heard of, which it
/// tells as well, -> Waiting. A rank that may go on whatever comes (arrivals are 0, or no block of
/// another rank is linked to its own) is not told of rounds at all.
///
/// Nobody waits in a circle. Say a rank has declared round r: it has told that it ended r, last.
/// Among the ranks that wait take one that has declared the lowest round r. Those for which it
/// waits have declared less, as far as it has heard; so they have told more meanwhile (which will
/// arrive), or are stepping and will, or rest, which was the last that they told.
///
/// The detector is told of remarks as of messages, and nothing is passive that waits; so it fires
/// when all rest, and neither a message nor a remark is left behind. Remarks are sent a bounded
/// number of times for each round in which a rank had work, so they cannot keep it from firing. But
/// a rank that has been passive may send them: that is the AP model, whatever callbacks do.
class Neighborhood : public ScheduleMachine {
 public:
  explicit Neighborhood(const ScheduleInputs& inputs)
      : ScheduleMachine(inputs, makeDetector(inputs)) {
    if (inputs.options.arrivals > 0) {
      for (std::vector<BlockId> links : inputs.links) {
        std::sort(links.begin(), links.end());
        links.erase(std::unique(links.begin(), links.end()), links.end());
        for (const BlockId block : links) ++neighbors_[inputs.assignment.rankOf(block)].links;
      }
      neighbors_.erase(transport_.rank());
    }
    std::vector<Bytes> requests(static_cast<std::size_t>(transport_.size()));
    for (const auto& [rank, neighbor] : neighbors_) {
      requests[static_cast<std::size_t>(rank)].push_back(std::byte{1});
    }
    const auto answers = exchangeBytes(transport_, std::move(requests));
    for (int rank = 0; rank < transport_.size(); ++rank) {
      if (!answers[static_cast<std::size_t>(rank)].empty()) listeners_.push_back(rank);
    }
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
      throw Error("malformed message: round " + std::to_string(footer.round));
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
