// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/detail/VirtualTimeEngine.h"
#include "Tributary/Transport/detail/VirtualTimeRank.h"

namespace tributary::detail {

namespace {

class VirtualTimeSend : public PersistentRequest {
 public:
  VirtualTimeSend(VirtualTimeEngine& network, VirtualTimeRank& rank, int destination,
                  VirtualTimeLink& link, Topic topic, SendMode mode, std::size_t size)
      : PersistentRequest(size),
        network_(network),
        rank_(rank),
        destination_(destination),
        link_(link),
        topic_(topic),
        mode_(mode) {}

  void start() override {
    const bool synchronous = mode_ == SendMode::Synchronous;
    network_.counters().add(topic_, buffer_.size());
    if (synchronous) ++network_.counters().acknowledgements;
    started_ = true;
    gone_ = rank_.leave(destination_, buffer_.size());
    met_ = std::make_shared<double>(Never);
    const double arrives = gone_ + latency();
    link_.letters.push_back({arrives, buffer_, met_, synchronous});
    VirtualTimeRank& receiver = network_.rank(destination_);
    receiver.expect(arrives, {Arrival::Kind::Wake, rank_.rank()});
    if (!synchronous) rank_.expect(gone_, {Arrival::Kind::Wake, rank_.rank()});
    receiver.meet(link_, rank_.rank());
  }

  bool done() override {
    if (!started_) return true;
    rank_.observe();
    const double end = mode_ == SendMode::Eager ? gone_ : *met_ + latency();
    if (end > rank_.clock()) {
      rank_.pay(network_.options().lookSeconds);
      return false;
    }
    started_ = false;
    return true;
  }

  bool cancel() override {
    throw Error("a persistent send cannot be canceled; wait until it is done");
  }

 private:
  double latency() const { return network_.link(rank_.rank(), destination_).latency; }

  VirtualTimeEngine& network_;
  VirtualTimeRank& rank_;
  int destination_;
  VirtualTimeLink& link_;
  Topic topic_;
  SendMode mode_;
  bool started_ = false;
  double gone_ = 0;
  std::shared_ptr<double> met_;
};

}  // namespace

class VirtualTimeReceive : public PersistentRequest {
 public:
  VirtualTimeReceive(VirtualTimeEngine& network, VirtualTimeRank& rank, int source,
                     VirtualTimeLink& link, std::size_t size)
      : PersistentRequest(size), network_(network), rank_(rank), source_(source), link_(link) {}
  ~VirtualTimeReceive() override {
    if (started_) remove();
  }

  void start() override {
    started_ = true;
    link_.receives.push_back({rank_.clock(), this});
    rank_.meet(link_, source_);
  }

  bool done() override {
    if (!started_) return true;
    rank_.observe();
    if (!came()) {
      rank_.pay(network_.options().lookSeconds);
      return false;
    }
    rank_.pay(network_.link(source_, rank_.rank()).overhead);
    const Bytes bytes = std::move(link_.letters[place()].bytes);
    remove();
    checkPersistentSize(bytes.size(), buffer_.size(), source_, rank_.rank());
    std::copy(bytes.begin(), bytes.end(), buffer_.begin());
    return true;
  }

  bool cancel() override {
    if (!started_ || done()) return false;
    remove();
    return true;
  }

 private:
  std::size_t place() const {
    const auto here = std::find_if(
        link_.receives.begin(), link_.receives.end(),
        [&](const VirtualTimeLink::Receive& receive) { return receive.request == this; });
    return static_cast<std::size_t>(here - link_.receives.begin());
  }
  bool came() const {
    const std::size_t index = place();
    return index < link_.letters.size() && *link_.letters[index].met <= rank_.clock();
  }
  /// Leaves the link, with the message if it has arrived. A message in flight matches the next
  /// receive.
  void remove() {
    const std::size_t index = place();
    if (came()) {
      link_.letters.erase(link_.letters.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (index < link_.letters.size()) {
      *link_.letters[index].met = Never;
    }
    link_.receives.erase(link_.receives.begin() + static_cast<std::ptrdiff_t>(index));
    started_ = false;
  }

  VirtualTimeEngine& network_;
  VirtualTimeRank& rank_;
  int source_;
  VirtualTimeLink& link_;
  bool started_ = false;
};

void VirtualTimeRank::meet(VirtualTimeLink& link, int source) {
  for (std::size_t i = 0; i < std::min(link.letters.size(), link.receives.size()); ++i) {
    VirtualTimeLink::Letter& letter = link.letters[i];
    if (*letter.met != Never) continue;
    *letter.met = std::max(letter.arrives, link.receives[i].started);
    if (letter.synchronous) {
      const double seen = *letter.met + network_.link(source, rank()).latency;
      network_.rank(source).expect(seen, {Arrival::Kind::Wake, rank()});
    }
    expect(*letter.met, {Arrival::Kind::Wake, rank()});
  }
}

std::unique_ptr<PersistentRequest> VirtualTimeRank::persistentSend(int destination, Topic topic,
                                                                   Session session, SendMode mode,
                                                                   std::size_t size) {
  checkPersistent(destination, this->size(), size);
  VirtualTimeLink& link = network_.rank(destination).links_[{topic, session, rank()}];
  return std::make_unique<VirtualTimeSend>(network_, *this, destination, link, topic, mode, size);
}

std::unique_ptr<PersistentRequest> VirtualTimeRank::persistentReceive(int source, Topic topic,
                                                                      Session session,
                                                                      std::size_t size) {
  checkPersistent(source, this->size(), size);
  VirtualTimeLink& link = links_[{topic, session, source}];
  return std::make_unique<VirtualTimeReceive>(network_, *this, source, link, size);
}

}  // namespace tributary::detail
