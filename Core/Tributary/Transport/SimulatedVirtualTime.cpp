// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/detail/VirtualTimeNetwork.h"

namespace tributary {

using namespace detail;

namespace detail {

// What a report names in full.
constexpr int ReportedRanks = 16;

VirtualTimeNetwork::VirtualTimeNetwork(const VirtualTimeNetworkOptions& options)
    : options_(options) {
  minLatency_ = std::min(options.within.latency, options.between.latency);
  for (int rank = 0; rank < options.ranks; ++rank) {
    const double speed =
        options.speeds.empty() ? 1.0 : options.speeds[static_cast<std::size_t>(rank)];
    std::uint64_t state = options.seed ^ static_cast<std::uint64_t>(rank) << 32;
    ranks_.push_back(std::make_unique<VirtualTimeRank>(*this, rank, speed, nextRandom(state)));
    transports_.push_back(ranks_.back().get());
  }
}

void VirtualTimeNetwork::run(const std::function<void(Transport&)>& body) {
  programs_.startBodies(transports_, body, options_.stackBytes);
  begin();
  try {
    while (programs_.running() > 0) {
      VirtualTimeRank& rank = nextRank();
      programs_.resume(rank.rank());
    }
  } catch (...) {
    programs_.cancel();
    programs_.rethrow();
    throw;
  }
  programs_.rethrow();
}

void VirtualTimeNetwork::runSteps(const std::function<bool(Transport&)>& step) {
  programs_.startSteps(transports_, step);
  begin();
  while (programs_.running() > 0) {
    VirtualTimeRank& rank = nextRank();
    programs_.resume(rank.rank());
    if (!programs_.ended(rank.rank())) {
      rank.endStep();
    }
  }
}

std::string VirtualTimeNetwork::left() const {
  std::string text;
  for (const auto& rank : ranks_) {
    const std::string part = rank->left();
    if (part.empty()) continue;
    text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank->rank()) + ": " + part;
  }
  return text;
}

void VirtualTimeNetwork::schedule(VirtualTimeRank& rank, double time, bool sleeping) {
  rank.wakeAt = time;
  rank.sleeping = sleeping;
  queue_.push_back({time, rank.rank(), ++rank.version});
  std::push_heap(queue_.begin(), queue_.end());
}

std::shared_ptr<SharedPlace> VirtualTimeNetwork::place(std::size_t number, std::int64_t initial) {
  while (places_.size() <= number) places_.emplace_back();
  auto place = places_[number].lock();
  if (!place) {
    place = std::make_shared<SharedPlace>();
    place->value = initial;
    places_[number] = place;
  }
  return place;
}

VirtualTimeRank& VirtualTimeNetwork::nextRank() {
  earliest();
  const Turn turn = queue_.front();
  if (turn.time > lastActivity_ + options_.deadlockSeconds) reportDeadlock();
  pop();
  VirtualTimeRank& next = rank(turn.rank);
  next.sleeping = false;
  next.beginTurn(turn.time);
  return next;
}

void VirtualTimeNetwork::begin() {
  queue_.clear();
  for (const auto& rank : ranks_) {
    active(rank->clock());
    schedule(*rank, rank->clock(), false);
  }
}

void VirtualTimeNetwork::reportDeadlock() const {
  std::string text = "simulated network: no rank can move any more, " +
                     std::to_string(programs_.running()) + " have not ended";
  int reported = 0;
  for (const auto& rank : ranks_) {
    if (programs_.ended(rank->rank())) continue;
    if (++reported > ReportedRanks) continue;
    text += "\n  rank " + std::to_string(rank->rank()) + ": ";
    if (describe_) text += describe_(rank->rank()) + "; ";
    const std::string part = rank->left();
    text += part.empty() ? "nothing comes" : part;
  }
  if (reported > ReportedRanks) {
    text += "\n  and " + std::to_string(reported - ReportedRanks) + " more ranks";
  }
  throw Error(text);
}

}  // namespace detail

std::unique_ptr<SimulatedNetwork> makeVirtualTimeNetwork(const VirtualTimeNetworkOptions& options) {
  if (options.ranks < 1 || options.ranksPerNode < 1) {
    throw Error("simulated network: there must be at least one rank, and one rank on a node");
  }
  if (!options.speeds.empty() && options.speeds.size() != static_cast<std::size_t>(options.ranks)) {
    throw Error("simulated network: " + std::to_string(options.speeds.size()) + " speeds for " +
                std::to_string(options.ranks) + " ranks");
  }
  for (const double speed : options.speeds) {
    if (!(speed > 0)) throw Error("simulated network: speeds must be positive");
  }
  for (const LinkCosts& link : {options.within, options.between}) {
    if (!(link.latency >= 0 && link.overhead >= 0 && link.gap >= 0 && link.gapPerByte >= 0)) {
      throw Error("simulated network: costs must not be negative");
    }
  }
  if (!(options.lookSeconds > 0)) {
    throw Error("simulated network: lookSeconds must be positive, or time would stand still");
  }
  if (!(options.sharedSeconds >= 0)) {
    throw Error("simulated network: sharedSeconds must not be negative");
  }
  if (!(options.noise >= 0 && options.noise <= 1)) {
    throw Error("simulated network: noise must be between 0 and 1");
  }
  return std::make_unique<detail::VirtualTimeNetwork>(options);
}

}  // namespace tributary
