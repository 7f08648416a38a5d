// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "Tributary/Iteration/detail/Snapshot.h"

namespace tributary::detail {

namespace {

constexpr std::int64_t Notification = 1;

class SupervisedTermination : public Snapshot {
 public:
  SupervisedTermination(Transport& transport, Session session, std::vector<Neighbor> neighbors,
                        SnapshotSource source, int parent, std::vector<int> children)
      : Snapshot(transport, session, std::move(neighbors), std::move(source)),
        parent_(parent),
        children_(std::move(children)) {}

  bool advance(bool converged) override {
    receive();
    if (!converged || recorded()) return complete();
    if (!listening_ && notified_.size() == children_.size()) {
      if (parent_ < 0) {
        record();
      } else {
        send(parent_, Notification);
        listening_ = true;
      }
    } else if (listening_ && reached()) {
      record();
    }
    return complete();
  }

 private:
  void handle(int source, std::int64_t kind) override {
    const bool child = std::count(children_.begin(), children_.end(), source) > 0;
    const bool again = std::count(notified_.begin(), notified_.end(), source) > 0;
    if (kind != Notification || !child || again) malformed(source, "an unexpected notification");
    notified_.push_back(source);
  }

  void restart() override {
    notified_.clear();
    listening_ = false;
  }

  std::string describe() const override {
    std::string text = listening_ ? "listening, notified by" : "coordinating, notified by";
    std::vector<int> ranks = notified_;
    std::sort(ranks.begin(), ranks.end());
    for (const int rank : ranks) text += " " + std::to_string(rank);
    return text;
  }

  int parent_;
  std::vector<int> children_;
  std::vector<int> notified_;  // children that have
  bool listening_ = false;     // has notified the parent
};

}  // namespace

std::unique_ptr<Snapshot> makeSupervisedTermination(Transport& transport, Session session,
                                                    std::vector<Neighbor> neighbors,
                                                    SnapshotSource source, int parent,
                                                    std::vector<int> children) {
  return std::make_unique<SupervisedTermination>(transport, session, std::move(neighbors),
                                                 std::move(source), parent, std::move(children));
}

}  // namespace tributary::detail
