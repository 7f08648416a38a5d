// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/OwnMessages.h"

#include <algorithm>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

class OwnSend : public PersistentRequest {
 public:
  OwnSend(OwnLink& link, SendMode mode, std::size_t size)
      : PersistentRequest(size), link_(link), mode_(mode) {}
  void start() override {
    sent_ = std::make_shared<bool>(mode_ == SendMode::Eager);
    link_.letters.push_back({buffer_, sent_});
    link_.match();
  }
  bool done() override { return !sent_ || *sent_; }
  bool cancel() override {
    throw Error("a persistent send cannot be canceled; wait until it is done");
  }

 private:
  OwnLink& link_;
  SendMode mode_;
  std::shared_ptr<bool> sent_;
};

}  // namespace

class OwnReceive : public PersistentRequest {
 public:
  OwnReceive(OwnLink& link, int rank, std::size_t size)
      : PersistentRequest(size), link_(link), rank_(rank) {}
  ~OwnReceive() override { remove(); }
  void start() override {
    started_ = true;
    came_.reset();
    link_.receives.push_back(this);
    link_.match();
  }
  bool done() override {
    if (came_) checkPersistentSize(*came_, buffer_.size(), rank_, rank_);
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

  OwnLink& link_;
  int rank_;
  bool started_ = false;
  std::optional<std::size_t> came_;
};

void OwnLink::match() {
  while (!letters.empty() && !receives.empty()) {
    *letters.front().sent = true;
    receives.front()->take(letters.front().bytes);
    letters.pop_front();
    receives.pop_front();
  }
}

PendingSend OwnMessages::send(Topic topic, Session session, SendMode mode, Bytes&& bytes) {
  auto state = std::make_shared<PendingSend::State>();
  state->done = mode == SendMode::Eager;
  letters_.push_back({topic, session, std::move(bytes), state});
  return PendingSend(std::move(state));
}

std::optional<Envelope> OwnMessages::tryReceive(Topic topic, Session session) {
  const auto letter = std::find_if(letters_.begin(), letters_.end(), [&](const Letter& l) {
    return l.topic == topic && l.session == session;
  });
  if (letter == letters_.end()) return std::nullopt;
  Envelope envelope{rank_, std::move(letter->bytes)};
  letter->state->done = true;
  letters_.erase(letter);
  return envelope;
}

std::unique_ptr<PersistentRequest> OwnMessages::persistentSend(Topic topic, Session session,
                                                               SendMode mode, std::size_t size) {
  return std::make_unique<OwnSend>(links_[{topic, session}], mode, size);
}

std::unique_ptr<PersistentRequest> OwnMessages::persistentReceive(Topic topic, Session session,
                                                                  std::size_t size) {
  return std::make_unique<OwnReceive>(links_[{topic, session}], rank_, size);
}

}  // namespace tributary::detail
