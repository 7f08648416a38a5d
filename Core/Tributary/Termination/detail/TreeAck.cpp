// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/TreeAck.h"

#include <algorithm>

#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

namespace {

const DetectorTraits& treeAckTraits() {
  static const DetectorTraits traits = {
      "tree-ack",
      WorkModel::AP,
      false,
      "all ranks are passive and no work message is in flight",
      "m + 2 (P - 1)",
      "O(log P) where work ends near its tree's root, O(P) where its last ranks form a chain",
      1};
  return traits;
}

class TreeAck : public MessagingDetector {
 public:
  TreeAck(Transport& transport, Session session, const DetectorOptions& options)
      : MessagingDetector(treeAckTraits(), transport, session, options),
        children_(tree().children(rank())) {
    restart();
  }

  void sent(int) override { ++unacknowledged_; }
  void received(int source) override {
    if (source == rank()) {
      --unacknowledged_;
    } else if (state_ == State::Free) {
      state_ = State::EngagedAgain;
      parent_ = source;
    } else {
      owed_.push_back(source);
    }
  }

 protected:
  void handle(int source, std::int64_t kind, Reader&, bool) override {
    if (kind == Acknowledgement) {
      if (source == rank() || unacknowledged_ == 0) malformed(source, "an acknowledgement");
      --unacknowledged_;
    } else {
      const auto child = std::find(missing_.begin(), missing_.end(), source);
      if (kind != Report || child == missing_.end())
        malformed(source, "a report from a rank that is not a child");
      missing_.erase(child);
    }
  }

  void step(bool passive) override {
    for (const int source : owed_) tell(source, Acknowledgement);
    owed_.clear();
    if (state_ == State::Free || !passive || unacknowledged_ != 0 || !missing_.empty()) return;
    if (rank() == 0) {
      passCompleted();
      end();
      return;
    }
    tell(parent_, state_ == State::Engaged ? Report : Acknowledgement);
    state_ = State::Free;
  }

  void restart() override {
    state_ = State::Engaged;
    parent_ = rank() == 0 ? 0 : tree().parent(rank());
    missing_ = children_;
    unacknowledged_ = 0;
  }

  std::string describe() const override {
    if (state_ == State::Free) return "free";
    std::string text =
        state_ == State::Engaged ? "engaged" : "engaged again by rank " + std::to_string(parent_);
    text += ", " + std::to_string(unacknowledged_) + " messages not acknowledged";
    for (const int source : owed_) text += ", to be acknowledged to rank " + std::to_string(source);
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      text += (i == 0 ? ", no report of ranks " : " ") + std::to_string(missing_[i]);
    }
    return text;
  }

 private:
  static constexpr int Report = 1;
  static constexpr int Acknowledgement = 2;
  enum class State { Engaged, EngagedAgain, Free };

  void tell(int destination, int kind) {
    Writer message = compose(kind);
    send(destination, message);
  }

  std::vector<int> children_;
  State state_ = State::Engaged;
  int parent_ = 0;            // of an engaged rank other than 0
  std::vector<int> missing_;  // the children that have not reported
  std::int64_t unacknowledged_ = 0;
  std::vector<int> owed_;  // sources of messages received while engaged, until the next turn
};

}  // namespace

DetectorType treeAckDetector() {
  return detectorType<TreeAck>(treeAckTraits());
}

}  // namespace tributary::detail
