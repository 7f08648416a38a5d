// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/detail/VirtualTimeEngine.h"

namespace tributary {

using namespace detail;

namespace detail {

VirtualTimeEngine::VirtualTimeEngine(const VirtualTimeNetworkOptions& options)
    : options_(options),
      minLatency_(std::min(options.within.latency, options.between.latency)),
      ranks_(makeRanks()),
      programs_(ranks_) {}

std::vector<std::unique_ptr<VirtualTimeRank>> VirtualTimeEngine::makeRanks() {
  std::vector<std::unique_ptr<VirtualTimeRank>> ranks;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    const double speed = options_.speeds.empty() ? 1.0 : options_.speeds[index(rank)];
    std::uint64_t state = options_.seed ^ static_cast<std::uint64_t>(rank) << 32;
    ranks.push_back(std::make_unique<VirtualTimeRank>(*this, rank, speed, nextRandom(state)));
  }
  return ranks;
}

void VirtualTimeEngine::run(const std::function<void(Transport&)>& body) {
  programs_.runBodies(body, options_.stackBytes, [&] {
    begin();
    while (programs_.running() > 0) programs_.resume(nextRank().rank());
  });
}

void VirtualTimeEngine::runSteps(const std::function<bool(Transport&)>& step) {
  programs_.startSteps(step);
  begin();
  while (programs_.running() > 0) {
    VirtualTimeRank& rank = nextRank();
    programs_.resume(rank.rank());
    if (!programs_.ended(rank.rank())) rank.endStep();
  }
}

void VirtualTimeEngine::schedule(VirtualTimeRank& rank, double time, bool sleeping) {
  rank.wakeAt = time;
  rank.sleeping = sleeping;
  queue_.push_back({time, rank.rank(), ++rank.version});
  std::push_heap(queue_.begin(), queue_.end());
}

std::shared_ptr<SharedPlace> VirtualTimeEngine::place(std::size_t number, std::int64_t initial) {
  while (places_.size() <= number) places_.emplace_back();
  auto place = places_[number].lock();
  if (!place) {
    place = std::make_shared<SharedPlace>();
    place->value = initial;
    places_[number] = place;
  }
  return place;
}

VirtualTimeRank& VirtualTimeEngine::nextRank() {
  earliest();
  const Turn turn = queue_.front();
  if (turn.time > lastActivity_ + options_.deadlockSeconds) programs_.reportDeadlock(describe_);
  pop();
  VirtualTimeRank& next = rank(turn.rank);
  next.sleeping = false;
  next.beginTurn(turn.time);
  return next;
}

void VirtualTimeEngine::begin() {
  queue_.clear();
  for (const auto& rank : ranks_) {
    active(rank->clock());
    schedule(*rank, rank->clock(), false);
  }
}

}  // namespace detail

std::unique_ptr<SimulatedNetwork> makeVirtualTimeNetwork(const VirtualTimeNetworkOptions& options) {
  const auto require = [](bool valid, const std::string& text) {
    if (!valid) throw Error("simulated network: " + text);
  };
  require(options.ranks >= 1, "ranks must be at least 1");
  require(options.ranksPerNode >= 1, "ranksPerNode must be at least 1");
  require(options.speeds.empty() || options.speeds.size() == index(options.ranks),
          std::to_string(options.speeds.size()) + " speeds for " + std::to_string(options.ranks) +
              " ranks; give one for each rank, or none");
  for (const double speed : options.speeds) require(speed > 0, "speeds must be positive");
  for (const LinkCosts& link : {options.within, options.between}) {
    require(link.latency >= 0 && link.overhead >= 0 && link.gap >= 0 && link.gapPerByte >= 0,
            "link costs must not be negative");
  }
  require(options.lookSeconds > 0, "lookSeconds must be positive, otherwise time does not advance");
  require(options.sharedSeconds >= 0, "sharedSeconds must not be negative");
  require(options.noise >= 0 && options.noise <= 1, "noise must be in [0, 1]");
  return std::make_unique<detail::VirtualTimeEngine>(options);
}

}  // namespace tributary
