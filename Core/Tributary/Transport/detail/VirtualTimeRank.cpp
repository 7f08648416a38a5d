// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/VirtualTimeRank.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Transport/detail/VirtualTimeEngine.h"

namespace tributary::detail {

namespace {

// A rank sleeps at least for this part of the time since its last arrival: few wake-ups, and
// time-outs are noticed after at most 1.5 times their duration.
constexpr double NapShare = 0.5;

class VirtualTimeInteger : public SharedInteger {
 public:
  VirtualTimeInteger(VirtualTimeRank& rank, std::shared_ptr<SharedPlace> place)
      : rank_(rank), place_(std::move(place)) {}
  std::int64_t fetchAdd(std::int64_t value) override { return rank_.fetchAdd(*place_, value); }

 private:
  VirtualTimeRank& rank_;
  std::shared_ptr<SharedPlace> place_;
};

}  // namespace

VirtualTimeRank::VirtualTimeRank(VirtualTimeEngine& network, int rank, double speed,
                                 std::uint64_t seed)
    : SimulatedRank(network, rank), network_(network), speed_(speed), random_(seed) {}

void VirtualTimeRank::spend(double seconds) {
  double factor = 1;
  if (network_.options().noise > 0) {
    const double uniform = (static_cast<double>(nextRandom(random_) >> 11) + 0.5) * 0x1p-53;
    factor += network_.options().noise * (-std::log(uniform) - 1);
  }
  clock_ += seconds / speed_ * factor;
  network_.active(clock_);
}

void VirtualTimeRank::observe() {
  if (network_.mayWait()) {
    while (clock_ > network_.horizon()) network_.pause(*this, clock_, false);
  }
  admit();
}

void VirtualTimeRank::admit() {
  while (firstComing() <= clock_) {
    std::pop_heap(coming_.begin(), coming_.end());
    Coming first = std::move(coming_.back());
    coming_.pop_back();
    Arrival& arrival = *first.arrival;
    if (arrival.kind == Arrival::Kind::Wake) {
      news_ = true;
      lastArrival_ = clock_;
      continue;
    }
    if (!arrival.admitted && arrival.kind != Arrival::Kind::Sent) {
      arrival.admitted = true;
      const double time = std::max(first.time, receiveFreeAt_);
      receiveFreeAt_ = time + network_.link(arrival.source, rank()).gap;
      if (time > first.time) {  // queues behind other messages, possibly of the same source
        first.time = time;
        coming_.push_back(std::move(first));
        std::push_heap(coming_.begin(), coming_.end());
        continue;
      }
    }
    news_ = true;
    lastArrival_ = clock_;
    if (arrival.kind == Arrival::Kind::Letter) {
      letters_[{arrival.topic, arrival.session}].push_back(
          {arrival.source, std::move(arrival.bytes), std::move(arrival.send)});
    } else {
      protocol_.push_back(std::move(arrival));
    }
  }
}

void VirtualTimeRank::expect(double time, Arrival&& arrival) {
  coming_.push_back({time, network_.nextOrder(), std::make_unique<Arrival>(std::move(arrival))});
  std::push_heap(coming_.begin(), coming_.end());
  network_.active(time);
  if (sleeping && time < wakeAt) network_.schedule(*this, std::max(clock_, time), true);
}

double VirtualTimeRank::leave(int destination, std::size_t bytes) {
  const LinkCosts& link = network_.link(rank(), destination);
  clock_ += link.overhead;
  const double leaves = std::max(clock_, sendFreeAt_);
  const double transfer = bytes > 1 ? static_cast<double>(bytes - 1) * link.gapPerByte : 0;
  sendFreeAt_ = leaves + transfer + link.gap;
  return leaves + transfer;
}

void VirtualTimeRank::dispatch(int destination, std::size_t bytes, Arrival&& arrival) {
  arrival.source = rank();
  const double left = leave(destination, bytes);
  network_.rank(destination)
      .expect(left + network_.link(rank(), destination).latency, std::move(arrival));
}

PendingSend VirtualTimeRank::send(int destination, Topic topic, Session session, SendMode mode,
                                  Bytes&& bytes) {
  checkDestination(destination, this->size());
  network_.counters().add(topic, bytes.size());
  auto state = std::make_shared<PendingSend::State>();
  Arrival letter{Arrival::Kind::Letter, rank()};
  letter.topic = topic;
  letter.session = session;
  letter.bytes = std::move(bytes);
  if (mode == SendMode::Synchronous) letter.send = state;
  const std::size_t size = letter.bytes.size();
  dispatch(destination, size, std::move(letter));
  if (mode == SendMode::Eager) {
    const double gone = sendFreeAt_ - network_.link(rank(), destination).gap;
    if (gone <= clock_) {
      state->done = true;
    } else {
      Arrival sent{Arrival::Kind::Sent, rank()};
      sent.send = state;
      expect(gone, std::move(sent));
    }
  }
  return PendingSend(std::move(state));
}

std::optional<Envelope> VirtualTimeRank::tryReceive(Topic topic, Session session) {
  observe();
  const auto found = letters_.empty() ? letters_.end() : letters_.find({topic, session});
  if (found == letters_.end()) {
    clock_ += network_.options().lookSeconds;
    return std::nullopt;
  }
  Letter letter = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) letters_.erase(found);
  clock_ += network_.link(letter.source, rank()).overhead;
  if (letter.send) {
    ++network_.counters().acknowledgements;
    Arrival acknowledgement{Arrival::Kind::Acknowledgement, rank()};
    acknowledgement.send = std::move(letter.send);
    dispatch(letter.source, 0, std::move(acknowledgement));
  }
  return Envelope{letter.source, std::move(letter.bytes)};
}

void VirtualTimeRank::poll() {
  observe();
  std::vector<Arrival> arrivals;
  arrivals.swap(protocol_);
  for (Arrival& arrival : arrivals) {
    if (arrival.kind != Arrival::Kind::Sent) {
      clock_ += network_.link(arrival.source, rank()).overhead;
    }
    switch (arrival.kind) {
      case Arrival::Kind::Acknowledgement:
      case Arrival::Kind::Sent:
        arrival.send->done = true;
        break;
      case Arrival::Kind::Up:
        contribute(collective(arrival.collective, arrival.op), arrival.op, arrival.values);
        break;
      case Arrival::Kind::Down:
        finish(arrival.collective, arrival.values);
        break;
      case Arrival::Kind::Letter:
      case Arrival::Kind::Wake:
        break;
    }
  }
  clock_ += network_.options().lookSeconds;
}

void VirtualTimeRank::relax(double seconds) {
  observe();
  if (relaxed_) {
    throw Error("simulated network: a step called relax() twice; a step must not wait, use run()");
  }
  napEnd_ = clock_ +
            std::max({seconds, network_.options().lookSeconds, NapShare * (clock_ - lastArrival_)});
  if (!network_.mayWait()) {
    relaxed_ = true;
    return;
  }
  while (!news_ && clock_ < napEnd_) {
    network_.pause(*this, std::min(napEnd_, firstComing()), true);
    admit();
  }
  news_ = false;
}

void VirtualTimeRank::endStep() {
  const bool rests = std::exchange(relaxed_, false) && !std::exchange(news_, false);
  const double due =
      rests ? std::min(napEnd_, firstComing()) : clock_ + network_.options().lookSeconds;
  network_.schedule(*this, std::max(clock_, due), rests);
}

void VirtualTimeRank::forEachChild(const std::function<void(int)>& visit) const {
  std::int64_t step = 1;
  while (step < size() && (rank() & step) == 0) step *= 2;
  // The largest subtree first: it has the longest path.
  for (step /= 2; step > 0; step /= 2) {
    if (rank() + step < size()) visit(static_cast<int>(rank() + step));
  }
}

VirtualTimeRank::Collective& VirtualTimeRank::collective(std::int64_t number, ReduceOp op) {
  for (Collective& collective : collectives_) {
    if (collective.number != number) continue;
    return collective;
  }
  Collective collective{number, op, {}, false, 1, nullptr};
  forEachChild([&](int) { ++collective.missing; });
  collectives_.push_back(std::move(collective));
  return collectives_.back();
}

void VirtualTimeRank::contribute(Collective& collective, ReduceOp op,
                                 const std::vector<std::int64_t>& values) {
  if (collective.begun) {
    combineReduced(collective.op, collective.values, op, values);
  } else {
    collective.values = values;
    collective.begun = true;
  }
  if (--collective.missing > 0) return;
  if (rank() == 0) {
    finish(collective.number, std::vector<std::int64_t>(collective.values));
    return;
  }
  ++network_.counters().collective;
  Arrival up{Arrival::Kind::Up, rank()};
  up.collective = collective.number;
  up.op = collective.op;
  up.values = collective.values;
  const std::size_t bytes = up.values.size() * sizeof(std::int64_t);
  dispatch(parent(), bytes, std::move(up));
}

void VirtualTimeRank::finish(std::int64_t number, const std::vector<std::int64_t>& values) {
  forEachChild([&](int child) {
    ++network_.counters().collective;
    Arrival down{Arrival::Kind::Down, rank()};
    down.collective = number;
    down.values = values;
    dispatch(child, values.size() * sizeof(std::int64_t), std::move(down));
  });
  const auto ended =
      std::find_if(collectives_.begin(), collectives_.end(),
                   [&](const Collective& collective) { return collective.number == number; });
  ended->state->result = values;
  ended->state->done = true;
  collectives_.erase(ended);
}

PendingReduce VirtualTimeRank::allreduce(ReduceOp op, std::vector<std::int64_t> values) {
  auto state = std::make_shared<PendingReduce::State>();
  Collective& entered = collective(collectivesEntered_++, op);
  entered.state = state;
  contribute(entered, op, values);
  return PendingReduce(std::move(state));
}

std::unique_ptr<SharedInteger> VirtualTimeRank::makeInteger(std::size_t number,
                                                            std::int64_t initial) {
  return std::make_unique<VirtualTimeInteger>(*this, network_.place(number, initial));
}

std::int64_t VirtualTimeRank::fetchAdd(SharedPlace& place, std::int64_t value) {
  if (network_.mayWait()) {
    while (clock_ > network_.earliest()) network_.pause(*this, clock_, false);
  }
  ++network_.counters().sharedOperations;
  const LinkCosts& link = network_.link(rank(), 0);
  const double way = rank() == 0 ? 0 : link.latency;
  const double served =
      std::max(clock_ + link.overhead + way, place.freeAt) + network_.options().sharedSeconds;
  place.freeAt = served;
  clock_ = served + way;
  network_.active(clock_);
  return std::exchange(place.value, place.value + value);
}

std::string VirtualTimeRank::left() const {
  std::size_t letters = 0;
  std::size_t sends = 0;
  for (const auto& [key, queue] : letters_) letters += queue.size();
  for (const auto& [key, link] : links_) letters += link.letters.size();
  for (const Coming& coming : coming_) {
    if (coming.arrival->kind == Arrival::Kind::Letter) ++letters;
    if (coming.arrival->kind == Arrival::Kind::Acknowledgement) ++sends;
  }
  for (const Arrival& arrival : protocol_) {
    if (arrival.kind == Arrival::Kind::Acknowledgement) ++sends;
  }
  return LeftText()
      .add(letters, "messages not received")
      .add(sends, "synchronous sends not seen to be finished")
      .add(collectives_.size(), "collective operations not ended")
      .text();
}

}  // namespace tributary::detail
