#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "Tributary/Exchange/Schedule.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {

namespace {

/// Rounds without a global reduction. At the end of a round a rank tells those who wait for it (the
/// owners of blocks linked to its own), and goes on when the chosen share of the blocks linked to
/// its own have ended that round too. What comes later is seen in a later round.
///
/// States: Stepping (calling blocks) -> Waiting (for the share). With something to do -> Stepping,
/// otherwise -> Resting, after a remark that it should not be waited for. A message wakes a resting
/// rank: it waits for the round that its neighbours have reached, then -> Stepping. Nobody waits in
/// a circle: a resting rank is not waited for until it has ended a round again, and of the others
/// one in the lowest round always finds that its neighbours have ended that round or will without
/// waiting for it. The detector decides the end; remarks are sent a bounded number of times for
/// each time that a rank has work, so they cannot keep it from firing.
class Neighborhood : public ScheduleMachine {
 public:
  explicit Neighborhood(const ScheduleInputs& inputs)
      : ScheduleMachine(inputs, makeDetector(inputs)) {
    const int self = transport_.rank();
    double local = 0;
    double total = 0;
    for (const auto& links : inputs.links) {
      for (const BlockId block : links) {
        const int owner = inputs.assignment.rankOf(block);
        total += 1;
        if (owner == self) {
          local += 1;
        } else {
          neighbors_[owner].links += 1;
        }
      }
    }
    needed_ = std::ceil(inputs.options.arrivals * total - 1e-9) - local;

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
      round_ = std::max(round_, latestRound_);
      state_ = State::Waiting;
      busy_ = true;
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
    if (footer.kind != BatchKind::Messages) {
      const auto neighbor = neighbors_.find(source);
      if (neighbor != neighbors_.end()) {
        neighbor->second.ended = std::max(neighbor->second.ended, footer.round);
        neighbor->second.resting = footer.kind == BatchKind::Idle;
      }
      latestRound_ = std::max(latestRound_, footer.round);
    }
    return true;
  }

  std::string phase() const override {
    if (state_ == State::Resting) return "resting after round " + std::to_string(round_);
    if (state_ == State::Stepping) return "in round " + std::to_string(round_);
    std::string text = "waiting in round " + std::to_string(round_) + " for ranks";
    for (const auto& [rank, neighbor] : neighbors_) {
      if (!neighbor.arrived(round_)) text += " " + std::to_string(rank);
    }
    return text;
  }

 private:
  enum class State { Stepping, Waiting, Resting };

  struct Neighbor {
    double links = 0;         // of this rank's blocks to that rank's
    std::int64_t ended = -1;  // its last round that ended
    bool resting = false;
    bool arrived(std::int64_t round) const { return resting || ended >= round; }
  };

  bool enoughArrived() const {
    double arrived = 0;
    for (const auto& [rank, neighbor] : neighbors_) {
      if (neighbor.arrived(round_)) arrived += neighbor.links;
    }
    return arrived >= needed_;
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
    for (const int rank : listeners_) queues_.sendRemark(rank, BatchKind::Idle);
  }

  void endRound() {
    for (const int rank : listeners_) queues_.sendRemark(rank, BatchKind::RoundEnd);
    queues_.flushAll();
    state_ = State::Waiting;
  }

  std::map<int, Neighbor> neighbors_;  // the ranks waited for
  std::vector<int> listeners_;         // the ranks that wait for this one
  double needed_ = 0;                  // links to other ranks that must have arrived
  State state_ = State::Stepping;
  std::int64_t round_ = 0;
  std::int64_t latestRound_ = 0;  // that any rank was heard to have ended
};

}  // namespace

std::unique_ptr<ScheduleMachine> makeNeighborhood(const ScheduleInputs& inputs) {
  return std::make_unique<Neighborhood>(inputs);
}

}  // namespace tributary
