// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/detail/SimulatedPrograms.h"
#include "Tributary/Transport/detail/VirtualTimeRank.h"

namespace tributary::detail {

/// The network of makeVirtualTimeNetwork(). Runs the rank whose clock is behind all others.
class VirtualTimeEngine : public SimulatedNetwork {
 public:
  explicit VirtualTimeEngine(const VirtualTimeNetworkOptions& options);

  int size() const override { return options_.ranks; }
  Transport& transport(int rank) override { return *ranks_.at(index(rank)); }
  const NetworkTraffic& traffic() const override { return traffic_; }

  void run(const std::function<void(Transport&)>& body) override;

  void runSteps(const std::function<bool(Transport&)>& step) override;

  std::string left() const override { return programs_.left(); }

  // For the ranks.

  const VirtualTimeNetworkOptions& options() const { return options_; }
  NetworkTraffic& counters() { return traffic_; }
  bool mayWait() const { return programs_.bodies(); }
  VirtualTimeRank& rank(int number) { return *ranks_[index(number)]; }
  std::int64_t nextOrder() { return order_++; }
  const LinkCosts& link(int a, int b) const {
    return a / options_.ranksPerNode == b / options_.ranksPerNode ? options_.within
                                                                  : options_.between;
  }

  /// All arrivals before this time are known: no message sent from now on arrives earlier.
  double horizon() { return earliest() + minLatency_; }
  /// The clock of the rank that is behind all others, except for the one that runs.
  double earliest() {
    while (!queue_.empty() && stale(queue_.front())) pop();
    return queue_.empty() ? Never : queue_.front().time;
  }

  void schedule(VirtualTimeRank& rank, double time, bool sleeping);
  /// Ends the turn of the rank that runs. Its next turn is at `time`, or at the first arrival if it
  /// is sleeping.
  void pause(VirtualTimeRank& rank, double time, bool sleeping) {
    schedule(rank, time, sleeping);
    programs_.pause();
  }
  void active(double time) { lastActivity_ = std::max(lastActivity_, time); }

  /// The place of a shared integer; integers are numbered in the order in which ranks make them.
  std::shared_ptr<SharedPlace> place(std::size_t number, std::int64_t initial);

 private:
  struct Turn {
    double time;
    int rank;
    std::int64_t version;
    bool operator<(const Turn& other) const {
      return time != other.time ? time > other.time : rank > other.rank;
    }
  };

  bool stale(const Turn& turn) const {
    return turn.version != ranks_[index(turn.rank)]->version || programs_.ended(turn.rank);
  }
  void pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    queue_.pop_back();
  }

  std::vector<std::unique_ptr<VirtualTimeRank>> makeRanks();
  VirtualTimeRank& nextRank();
  void begin();

  VirtualTimeNetworkOptions options_;
  double minLatency_;
  std::vector<std::unique_ptr<VirtualTimeRank>> ranks_;
  SimulatedPrograms programs_;
  std::vector<Turn> queue_;  // a heap
  NetworkTraffic traffic_;
  std::int64_t order_ = 0;
  double lastActivity_ = 0;
  std::vector<std::weak_ptr<SharedPlace>> places_;
};

}  // namespace tributary::detail
