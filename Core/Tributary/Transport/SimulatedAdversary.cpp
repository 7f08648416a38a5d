// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/detail/AdversarialNetwork.h"

namespace tributary {

using namespace detail;

namespace detail {

namespace {

// now() serves time-outs only: what a nap of everybody lasts is any small number.
constexpr double NapSeconds = 50e-6;

// So many naps of all ranks with nothing to be seen between them: nobody will ever move again.
constexpr int FruitlessNaps = 20000;
/// So many turns without a message sent or received end all naps.
constexpr int FruitlessTurns = 500;

constexpr std::size_t StackBytes = std::size_t(256) << 10;

}  // namespace

void AdversarialNetwork::run(const std::function<void(Transport&)>& body) {
  programs_.startBodies(transports_, body, StackBytes);
  try {
    go();
  } catch (...) {
    programs_.cancel();
    programs_.rethrow();
    throw;
  }
  programs_.rethrow();
}

void AdversarialNetwork::runSteps(const std::function<bool(Transport&)>& step) {
  programs_.startSteps(transports_, step);
  go();
}

std::string AdversarialNetwork::left() const {
  std::string text;
  for (const auto& rank : ranks_) {
    const std::string part = leftTo(*rank);
    if (part.empty()) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank->rank()) + ": " + part;
  }
  return text;
}

std::string AdversarialNetwork::state() const {
  Bytes bytes;
  const auto put = [&](std::int64_t value) { append(bytes, &value, sizeof value); };
  for (const auto& rank : ranks_) {
    put(static_cast<std::int64_t>(rank->flows.size()));
    for (const AdversarialRank::Flow& flow : rank->flows) {
      put(static_cast<std::int64_t>(flow.topic));
      put(flow.session);
      put(flow.source);
      put(static_cast<std::int64_t>(flow.letters.size()));
      for (const AdversarialRank::Letter& letter : flow.letters) {
        put((letter.half ? 1 : 0) + (letter.send ? 2 : 0));
        put(static_cast<std::int64_t>(letter.bytes.size()));
        append(bytes, letter.bytes.data(), letter.bytes.size());
      }
    }
    put(static_cast<std::int64_t>(rank->finishable.size()));
    put(static_cast<std::int64_t>(rank->pending.size()));
    for (const auto& pending : rank->pending) put(pending.number - firstCollective_);
    put(rank->entered - firstCollective_);
    for (const auto& [key, link] : rank->links) {
      put(static_cast<std::int64_t>(link.receives.size()));
      put(static_cast<std::int64_t>(link.letters.size()));
      for (const AdversarialLink::Letter& letter : link.letters) {
        put(*letter.met ? 1 : 0);
        append(bytes, letter.bytes.data(), letter.bytes.size());
      }
    }
    for (const AdversarialSend* send : rank->sends) put(send->finishable() ? 1 : 0);
  }
  put(static_cast<std::int64_t>(collectives_.size()));
  for (const AdversarialCollective& collective : collectives_) {
    put(static_cast<std::int64_t>(collective.op));
    for (const std::int64_t value : collective.values) put(value);
  }
  for (const auto& place : places_) {
    if (const auto value = place.lock()) put(*value);
  }
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

AdversarialCollective& AdversarialNetwork::collective(std::int64_t number) {
  const auto index = static_cast<std::size_t>(number - firstCollective_);
  if (collectives_.size() <= index) collectives_.resize(index + 1);
  return collectives_[index];
}

void AdversarialNetwork::seen(std::int64_t number) {
  ++collective(number).seen;
  while (!collectives_.empty() && collectives_.front().seen == size()) {
    collectives_.pop_front();
    ++firstCollective_;
  }
}

std::shared_ptr<std::int64_t> AdversarialNetwork::place(std::size_t number, std::int64_t initial) {
  if (places_.size() <= number) places_.resize(number + 1);
  auto place = places_[number].lock();
  if (!place) places_[number] = place = std::make_shared<std::int64_t>(initial);
  return place;
}

void AdversarialNetwork::go() {
  for (const auto& rank : ranks_) rank->relaxed = false;
  moved();
  int last = 0;
  std::vector<int> options;
  while (programs_.running() > 0) {
    options.clear();
    for (const auto& rank : ranks_) {
      if (!programs_.ended(rank->rank()) && (!rank->relaxed || rank->hasNews())) {
        options.push_back(rank->rank());
      }
    }
    // Naps end when nobody else can go on, and when those who can do not get anywhere: what has
    // come for them may be of use only once somebody who naps has gone on.
    if (options.empty() || ++turns_ > FruitlessTurns) {
      turns_ = 0;
      if (++naps_ > FruitlessNaps) reportDeadlock();
      for (const auto& rank : ranks_) {
        rank->clock += NapSeconds;
        rank->relaxed = false;
      }
      continue;
    }
    last = choose(Decision::Rank, last, options);
    rank(last).relaxed = false;
    programs_.resume(last);
  }
}

std::string AdversarialNetwork::leftTo(const AdversarialRank& rank) {
  std::size_t letters = 0;
  for (const AdversarialRank::Flow& flow : rank.flows) letters += flow.letters.size();
  for (const auto& [key, link] : rank.links) letters += link.letters.size();
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(letters, " messages not received");
  add(rank.askedSends(), " sends not seen to be finished");
  add(rank.sends.size(), " persistent sends not seen to be finished");
  add(rank.pending.size(), " collective operations not ended");
  return text;
}

void AdversarialNetwork::reportDeadlock() const {
  std::string text = "simulated network: no rank can move any more, " +
                     std::to_string(programs_.running()) + " have not ended";
  for (const auto& rank : ranks_) {
    if (programs_.ended(rank->rank())) continue;
    text += "\n  rank " + std::to_string(rank->rank()) + ": ";
    if (describe_) text += describe_(rank->rank()) + "; ";
    const std::string part = leftTo(*rank);
    text += part.empty() ? "nothing comes" : part;
  }
  throw Error(text);
}

}  // namespace detail

std::unique_ptr<AdversaryNetwork> makeAdversaryNetwork(int ranks, Adversary& adversary,
                                                       bool halfReceived, bool eagerWaits) {
  if (ranks < 1) throw Error("simulated network: there must be at least one rank");
  return std::make_unique<detail::AdversarialNetwork>(ranks, adversary, halfReceived, eagerWaits);
}

}  // namespace tributary
