// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/detail/AdversarialEngine.h"

namespace tributary {

using namespace detail;

namespace detail {

namespace {

// now() only serves time-outs: a sleep of all ranks takes an arbitrary small time.
constexpr double SleepSeconds = 50e-6;

// After this many sleeps of all ranks without progress, the network is deadlocked.
constexpr int MostFruitlessSleeps = 20000;
// After this many turns without a message sent or received, all sleeps end.
constexpr int MostFruitlessTurns = 500;

constexpr std::size_t StackBytes = std::size_t(256) << 10;

}  // namespace

AdversarialEngine::AdversarialEngine(int ranks, Adversary& adversary, bool halfReceived,
                                     bool eagerWaits)
    : adversary_(adversary),
      halfReceived_(halfReceived),
      eagerWaits_(eagerWaits),
      ranksCount_(ranks),
      ranks_(makeRanks()),
      programs_(ranks_) {}

std::vector<std::unique_ptr<AdversarialRank>> AdversarialEngine::makeRanks() {
  std::vector<std::unique_ptr<AdversarialRank>> ranks;
  for (int rank = 0; rank < ranksCount_; ++rank)
    ranks.push_back(std::make_unique<AdversarialRank>(*this, rank));
  return ranks;
}

void AdversarialEngine::run(const std::function<void(Transport&)>& body) {
  programs_.runBodies(body, StackBytes, [&] { takeTurns(); });
}

void AdversarialEngine::runSteps(const std::function<bool(Transport&)>& step) {
  programs_.startSteps(step);
  takeTurns();
}

std::string AdversarialEngine::state() const {
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

AdversarialCollective& AdversarialEngine::collective(std::int64_t number) {
  const std::size_t at = index(number - firstCollective_);
  if (collectives_.size() <= at) collectives_.resize(at + 1);
  return collectives_[at];
}

void AdversarialEngine::seen(std::int64_t number) {
  ++collective(number).seen;
  while (!collectives_.empty() && collectives_.front().seen == size()) {
    collectives_.pop_front();
    ++firstCollective_;
  }
}

std::shared_ptr<std::int64_t> AdversarialEngine::place(std::size_t number, std::int64_t initial) {
  if (places_.size() <= number) places_.resize(number + 1);
  auto place = places_[number].lock();
  if (!place) places_[number] = place = std::make_shared<std::int64_t>(initial);
  return place;
}

void AdversarialEngine::takeTurns() {
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
    // Sleeps end if all other ranks sleep, and if the running ranks make no progress: a message may
    // be of use only after the program of a sleeping rank has continued.
    if (options.empty() || ++fruitlessTurns_ > MostFruitlessTurns) {
      fruitlessTurns_ = 0;
      if (++fruitlessSleeps_ > MostFruitlessSleeps) programs_.reportDeadlock(describe_);
      for (const auto& rank : ranks_) {
        rank->clock += SleepSeconds;
        rank->relaxed = false;
      }
      continue;
    }
    last = choose(Decision::Rank, last, options);
    rank(last).relaxed = false;
    programs_.resume(last);
  }
}

}  // namespace detail

std::unique_ptr<AdversarialNetwork> makeAdversarialNetwork(int ranks, Adversary& adversary,
                                                           bool halfReceived, bool eagerWaits) {
  if (ranks < 1) throw Error("simulated network: ranks must be at least 1");
  return std::make_unique<detail::AdversarialEngine>(ranks, adversary, halfReceived, eagerWaits);
}

}  // namespace tributary
