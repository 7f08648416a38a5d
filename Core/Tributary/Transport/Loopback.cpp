// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/Loopback.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/detail/LocalInteger.h"
#include "Tributary/Transport/detail/RealTimeTransport.h"

namespace tributary {

using namespace detail;

namespace {

/// The persistent requests of one topic and session: messages and receives, each in the order in
/// which they were started.
struct LoopbackLink {
  struct Letter {
    Bytes bytes;
    std::shared_ptr<bool> sent;
  };
  std::deque<Letter> letters;
  std::deque<class LoopbackReceive*> receives;
  void match();
};

class LoopbackSend : public PersistentRequest {
 public:
  LoopbackSend(LoopbackLink& link, SendMode mode, std::size_t size)
      : PersistentRequest(size), link_(link), mode_(mode) {}
  void start() override {
    sent_ = std::make_shared<bool>(mode_ == SendMode::Eager);
    link_.letters.push_back({buffer_, sent_});
    link_.match();
  }
  bool done() override { return !sent_ || *sent_; }
  bool cancel() override { throw Error("a persistent send cannot be canceled"); }

 private:
  LoopbackLink& link_;
  SendMode mode_;
  std::shared_ptr<bool> sent_;
};

class LoopbackReceive : public PersistentRequest {
 public:
  LoopbackReceive(LoopbackLink& link, std::size_t size) : PersistentRequest(size), link_(link) {}
  ~LoopbackReceive() override { remove(); }
  void start() override {
    started_ = true;
    came_.reset();
    link_.receives.push_back(this);
    link_.match();
  }
  bool done() override {
    if (came_) checkPersistentSize(*came_, buffer_.size(), 0, 0);
    return !started_;
  }
  bool cancel() override {
    if (!started_) return false;
    remove();
    started_ = false;
    return true;
  }
  void take(const Bytes& bytes) {
    started_ = false;
    came_ = bytes.size();
    std::copy_n(bytes.begin(), std::min(bytes.size(), buffer_.size()), buffer_.begin());
  }

 private:
  void remove() {
    const auto here = std::find(link_.receives.begin(), link_.receives.end(), this);
    if (here != link_.receives.end()) link_.receives.erase(here);
  }

  LoopbackLink& link_;
  bool started_ = false;
  std::optional<std::size_t> came_;
};

void LoopbackLink::match() {
  while (!letters.empty() && !receives.empty()) {
    *letters.front().sent = true;
    receives.front()->take(letters.front().bytes);
    letters.pop_front();
    receives.pop_front();
  }
}

class LoopbackTransport : public RealTimeTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  bool threadsMayTakeTurns() const override { return true; }

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    checkDestination(destination, 1);
    auto state = std::make_shared<PendingSend::State>();
    state->done = mode == SendMode::Eager;
    letters_.push_back({topic, session, std::move(bytes), state});
    return PendingSend(std::move(state));
  }

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    const auto letter = std::find_if(letters_.begin(), letters_.end(), [&](const Letter& l) {
      return l.topic == topic && l.session == session;
    });
    if (letter == letters_.end()) return std::nullopt;
    Envelope envelope{0, std::move(letter->bytes)};
    letter->state->done = true;
    letters_.erase(letter);
    return envelope;
  }

  bool receiving(Topic, Session) const override { return false; }
  void poll() override {}

  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override {
    checkPersistent(destination, 1, size);
    return std::make_unique<LoopbackSend>(links_[{topic, session}], mode, size);
  }
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override {
    checkPersistent(source, 1, size);
    return std::make_unique<LoopbackReceive>(links_[{topic, session}], size);
  }

  PendingReduce allreduce(ReduceOp, std::vector<std::int64_t> values) override {
    auto state = std::make_shared<PendingReduce::State>();
    state->result = std::move(values);
    state->done = true;
    return PendingReduce(std::move(state));
  }

  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    return std::make_unique<LocalInteger>(initial);
  }

 private:
  struct Letter {
    Topic topic;
    Session session;
    Bytes bytes;
    std::shared_ptr<PendingSend::State> state;
  };

  std::deque<Letter> letters_;
  std::map<std::pair<Topic, Session>, LoopbackLink> links_;
};

}  // namespace

std::unique_ptr<Transport> makeLoopbackTransport() {
  return std::make_unique<LoopbackTransport>();
}

}  // namespace tributary
