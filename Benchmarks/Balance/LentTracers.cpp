// SPDX-License-Identifier: BSD-3-Clause
#include "Balance/LentTracers.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "Support/InterleavedComparison.h"
#include "Tributary/Base/Error.h"

namespace bench {

using tributary::Bytes;
using tributary::Mailbox;
using tributary::Reader;
using tributary::WaitingWork;
using tributary::Writer;

namespace {

// As in the tracer of the library: a call advances a quarter of the tracers in a block, within
// these bounds.
constexpr std::size_t CallsPerBlock = 4;
constexpr int SmallestBatch = 64, LargestBatch = 2048;

}  // namespace

tributary::CopySize Motion::copySize(const FlowBlock& block) const {
  const std::size_t field = SlowBlockFlow::fieldSize(block) * sizeof(float);
  return {field, field + sizeof(FlowBlock)};
}

LentTracers::LentTracers(tributary::Transport& transport, const SlowBlockFlow& flow,
                         const tributary::Assignment& assignment, const Motion& motion,
                         const TracingOptions& options)
    : transport_(transport),
      flow_(flow),
      assignment_(assignment),
      motion_(motion),
      options_(options) {
  const int rank = transport.rank();
  for (BlockId block = assignment.first(rank); block < assignment.first(rank + 1); ++block)
    places_[block].block = motion.makeBlock(block);
}

TracedShare LentTracers::run(const tributary::ExchangeOptions& options,
                             const tributary::LendingOptions* lending) {
  hasRounds_ = calledOncePerRound(options.schedule);
  std::vector<std::vector<BlockId>> links;
  share_ = {};
  tributary::Timeline* const timeline = options.timeline;
  if (lending) {
    tributary::LendingOptions recorded = *lending;
    recorded.timeline = timeline;
    desk_.emplace(transport_, assignment_, *this, recorded);
    lastCopy_ = -1;
  }
  for (auto& [id, place] : places_) {
    flow_.seed(place.block);
    place.meter = {};
    waiting_ += static_cast<std::int64_t>(place.block.waiting.size());
    links.push_back(flow_.links(id));
    for (BlockId& neighbor : links.back()) neighbor = addressOf(neighbor);
  }
  if (lending) links.emplace_back();
  if (timeline) timeline->start(transport_);
  share_.seconds = timeExchange(
      transport_, desk_ ? desk_->desks().assignment() : assignment_, links, options,
      [this](BlockId address, Mailbox& mailbox) { return step(address, mailbox); },
      share_.exchange);
  if (lending) share_.lending = desk_->lending().statistics();
  if (lending && timeline) tributary::renumber(*timeline, 0, desk_->desks());
  desk_.reset();
  for (auto at = places_.begin(); at != places_.end();) {
    conclude(at->second.block);
    at = isOwn(at->first) ? std::next(at) : places_.erase(at);
  }
  return share_;
}

void LentTracers::conclude(const FlowBlock& block) {
  share_.hash += block.hash;
  share_.retired += block.retired;
  share_.steps += block.steps;
}

void LentTracers::add(Place& place, const Tracer& tracer) {
  place.block.waiting.push_back(tracer);
  ++waiting_;
  if (!isOwn(place.block.id)) ++waitingInCopies_;
}

bool LentTracers::step(BlockId address, Mailbox& mailbox) {
  Place* here = nullptr;  // for the desk, unless there is work in copies
  if (!desk_ || !desk_->isHere(address)) {
    here = &places_.at(desk_ ? desk_->desks().blockAt(address) : address);
    receive(*here, mailbox);
  }
  if (desk_) desk_->receive(mailbox);
  const bool atDesk = !here;
  if (atDesk) here = nextWaitingCopy();
  if (here) trace(*here);
  for (auto& [block, tracers] : outgoing_) mailbox.enqueue(addressOf(block), tracers);
  outgoing_.clear();
  if (desk_) desk_->settle(mailbox);
  return atDesk ? anyCopyWaits() : !here->block.waiting.empty();
}

void LentTracers::receive(Place& here, Mailbox& mailbox) {
  while (const auto message = mailbox.dequeueView()) {
    Reader reader(message->payload);
    while (!reader.atEnd()) add(here, reader.value<Tracer>());
  }
}

/// Another copy than at the last call, if there are several.
LentTracers::Place* LentTracers::nextWaitingCopy() {
  auto at = places_.upper_bound(lastCopy_);
  for (std::size_t n = 0; waitingInCopies_ > 0 && n < places_.size(); ++n, ++at) {
    if (at == places_.end()) at = places_.begin();
    if (isOwn(at->first) || at->second.block.waiting.empty()) continue;
    lastCopy_ = at->first;
    return &at->second;
  }
  return nullptr;
}

/// Traces a part of what waits in a place; all of it, if there are rounds.
void LentTracers::trace(Place& here) {
  std::vector<Tracer>& waiting = here.block.waiting;
  const auto few = static_cast<std::size_t>(std::max(1, SmallestBatch / options_.tracersPerItem));
  const auto many = static_cast<std::size_t>(std::max(1, LargestBatch / options_.tracersPerItem));
  std::size_t batch = waiting.size();
  if (!hasRounds_) batch = std::min(batch, std::clamp(batch / CallsPerBlock, few, many));
  const double begin = transport_.now();
  double end = begin;
  std::int64_t done = 0;
  const double limit =
      hasRounds_ ? std::numeric_limits<double>::infinity() : begin + options_.callSeconds;
  for (; batch > 0; --batch) {
    Tracer& last = waiting.back();
    const BlockId next = motion_.advance(here.block, last, limit - end);
    end = transport_.now();
    if (next == here.block.id) break;
    const Tracer tracer = last;
    waiting.pop_back();
    ++done;
    // The rank's own blocks are called when they receive a message; copies are called anyway.
    if (const auto copy = places_.find(next); copy != places_.end() && !isOwn(next))
      add(copy->second, tracer);
    else if (next >= 0)
      outgoing_[next].push_back(tracer);
    if (end >= limit) break;
  }
  waiting_ -= done;
  if (!isOwn(here.block.id)) waitingInCopies_ -= done;
  here.meter.begin(done);
  here.meter.end(done);
  here.meter.spend(end - begin);
  share_.tracingSeconds += end - begin;
}

WaitingWork LentTracers::waitingIn(const Place& place) {
  const auto items = static_cast<std::int64_t>(place.block.waiting.size());
  return {place.block.id, items, static_cast<double>(items) * place.meter.secondsPerItem()};
}

WaitingWork LentTracers::waitingIn(BlockId block) const {
  const auto place = places_.find(block);  // a copy may be gone
  return place == places_.end() ? WaitingWork{block} : waitingIn(place->second);
}

WaitingWork LentTracers::fullest() const {
  WaitingWork most;
  for (const auto& [id, place] : places_)
    if (const WaitingWork waiting = waitingIn(place); waiting.seconds > most.seconds)
      most = waiting;
  return most;
}

double LentTracers::expectedSeconds() const {
  double seconds = 0;
  for (const auto& [id, place] : places_) seconds += waitingIn(place).seconds;
  return seconds;
}

void LentTracers::writeCopy(BlockId block, Writer& message) const {
  motion_.writeField(places_.at(block).block, message);
}

void LentTracers::readCopy(BlockId block, Reader& message) {
  FlowBlock copy = flow_.outline(block);
  motion_.readField(copy, message);
  places_[block].block = std::move(copy);
}

void LentTracers::lend(BlockId block, std::int64_t items, int /*borrower*/, Writer& message) {
  std::vector<Tracer>& waiting = places_.at(block).block.waiting;
  const auto count = static_cast<std::size_t>(items);
  message.value(places_.at(block).meter.secondsPerItem());
  message.range(tributary::Span<const Tracer>(waiting.data() + waiting.size() - count, count));
  waiting.resize(waiting.size() - count);
  waiting_ -= items;
  if (!isOwn(block)) waitingInCopies_ -= items;
}

void LentTracers::borrow(BlockId block, Reader& message) {
  Place& place = places_.at(block);
  place.meter.expect(message.value<double>());
  for (const Tracer& tracer : message.range<Tracer>()) add(place, tracer);
  if (isOwn(block)) refilled_.push_back(block);
}

std::vector<tributary::BlockCopy> LentTracers::copies() const {
  std::vector<tributary::BlockCopy> list;
  for (const auto& [id, place] : places_)
    if (!isOwn(id)) list.push_back({id, copySize(id).memory});
  return list;
}

Bytes LentTracers::drop(BlockId copy) {
  conclude(places_.at(copy).block);
  places_.erase(copy);
  return {};
}

void LentTracers::takeBack(BlockId, Reader&) {
  tributary::refuseMessage("remains of a copy, which has none");
}

}  // namespace bench
