// SPDX-License-Identifier: BSD-3-Clause
#include "IterationScenarios.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Iteration/detail/ConvergenceDetector.h"
#include "Tributary/Iteration/detail/SpanningTree.h"
#include "Tributary/Iteration/detail/StopNotices.h"

namespace tributary::schedules {

using namespace detail;

namespace {

/// Neighbors by rank.
using Graph = std::vector<std::vector<int>>;

const Graph Pair = {{1}, {0}};
const Graph Path = {{1}, {0, 2}, {1}};
const Graph Triangle = {{1, 2}, {0, 2}, {0, 1}};
const Graph Apart = {{}, {2}, {1}};
const Graph Lonely = {{}, {}, {}};
const Graph Square = {{1, 3}, {0, 2}, {1, 3}, {0, 2}};
const Graph Star = {{1, 2, 3}, {0}, {0}, {0}};

/// A tree of these ranks: 0 is the root.
struct Tree {
  std::vector<int> parents;
  std::vector<int> children(int rank) const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      if (parents[i] == rank) ranks.push_back(static_cast<int>(i));
    }
    return ranks;
  }
  std::vector<int> neighbors(int rank) const {
    std::vector<int> ranks = children(rank);
    const int parent = parents[static_cast<std::size_t>(rank)];
    if (parent >= 0) ranks.push_back(parent);
    return ranks;
  }
};

const Tree PairTree = {{-1, 0}};
const Tree PathTree = {{-1, 0, 1}};
const Tree MiddleTree = {{-1, 0, 0}};
const Tree SquareTree = {{-1, 0, 1, 0}};
const Tree StarTree = {{-1, 0, 0, 0}};

/// Sessions of what runs side by side.
enum : Session { First = 1, Second = 2 };

/// What all scenarios share: one machine a rank, and a word about a rank for people and states.
template <class Machine>
class Machines : public Explorable {
 public:
  void checkEnd() const override {
    const std::string left = network_.left();
    if (!left.empty()) throw Violation("something is left in the network: " + left);
  }
  void appendState(std::string& state) const override {
    for (std::size_t rank = 0; rank < machines_.size(); ++rank) {
      state += describe(static_cast<int>(rank)) + "|";
    }
  }

 protected:
  explicit Machines(SimulatedNetwork& network) : network_(network) {}
  Machine& at(const Transport& transport) {
    return *machines_[static_cast<std::size_t>(transport.rank())];
  }
  const Machine& at(int rank) const { return *machines_[static_cast<std::size_t>(rank)]; }
  [[noreturn]] static void violated(int rank, const std::string& what) {
    throw Violation("rank " + std::to_string(rank) + " " + what);
  }

  SimulatedNetwork& network_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

class Trees : public Machines<SpanningTree> {
 public:
  Trees(SimulatedNetwork& network, const Graph& graph) : Machines(network) {
    for (int rank = 0; rank < network.size(); ++rank) {
      machines_.push_back(std::make_unique<SpanningTree>(network.transport(rank), First,
                                                         graph[static_cast<std::size_t>(rank)]));
    }
  }
  bool step(Transport& transport) override {
    if (!at(transport).advance()) return false;
    ++ended_;
    return true;
  }
  void checkEnd() const override {
    Machines::checkEnd();
    for (int rank = 0; rank < network_.size(); ++rank) {
      int steps = 0;
      for (int up = rank; up != 0; up = at(up).parent()) {
        if (at(up).parent() < 0 || ++steps > network_.size()) violated(rank, "is not in the tree");
      }
      for (const int child : at(rank).children()) {
        if (at(child).parent() != rank) violated(rank, "has a child of another");
      }
      if (rank == 0) continue;
      const std::vector<int>& siblings = at(at(rank).parent()).children();
      if (std::count(siblings.begin(), siblings.end(), rank) != 1) {
        violated(rank, "is not known to its parent");
      }
    }
  }
  bool quiet() const override { return ended_ > 0; }
  std::string describe(int rank) const override { return at(rank).state(); }

 private:
  int ended_ = 0;
};

class Reductions : public Machines<NonBlockingReduce> {
 public:
  Reductions(SimulatedNetwork& network, const Tree& tree, bool leader, int rounds)
      : Machines(network), rounds_(rounds), round_(tree.parents.size(), 0) {
    for (int rank = 0; rank < network.size(); ++rank) {
      Transport& transport = network.transport(rank);
      machines_.push_back(leader ? makeLeaderElection(transport, First, tree.neighbors(rank))
                                 : makeTransportReduce(transport));
    }
  }
  bool step(Transport& transport) override {
    int& round = round_[static_cast<std::size_t>(transport.rank())];
    NonBlockingReduce& reduce = at(transport);
    if (round == 0) {
      begin(reduce, transport.rank(), ++round);
      return false;
    }
    if (!reduce.advance()) return false;
    std::int64_t expected = 0;
    for (int rank = 0; rank < network_.size(); ++rank) expected += value(rank, round);
    if (reduce.result() != std::vector<std::int64_t>{expected}) {
      violated(transport.rank(), "has " + std::to_string(reduce.result().at(0)) + " instead of " +
                                     std::to_string(expected));
    }
    if (round == rounds_) {
      ++ended_;
      return true;
    }
    begin(reduce, transport.rank(), ++round);
    return false;
  }
  bool quiet() const override { return ended_ > 0; }
  std::string describe(int rank) const override {
    return "round " + std::to_string(round_[static_cast<std::size_t>(rank)]) + ", " +
           at(rank).state();
  }

 private:
  static std::int64_t value(int rank, int round) { return (rank * 4 + round) * (rank + 1); }
  static void begin(NonBlockingReduce& reduce, int rank, int round) {
    reduce.start(ReduceOp::Sum, {value(rank, round)});
  }

  int rounds_;
  std::vector<int> round_;
  int ended_ = 0;
};

/// Iterates that count their sweeps up to a bound, and what each rank has recorded in each round.
class Recordings {
 public:
  Recordings(const Graph& graph, int sweeps)
      : graph_(graph), sweeps_(sweeps), iterates_(graph.size(), 0) {}

  void sweep(int rank) {
    double& iterate = iterates_[static_cast<std::size_t>(rank)];
    if (iterate < sweeps_) iterate += 1;
  }
  bool settled() const {
    return std::all_of(iterates_.begin(), iterates_.end(),
                       [&](double iterate) { return iterate == sweeps_; });
  }
  /// Comes and goes, until the bound.
  bool converged(int rank) const {
    const double iterate = iterates_[static_cast<std::size_t>(rank)];
    return iterate == sweeps_ || (static_cast<int>(iterate) + rank) % 2 == 0;
  }
  std::vector<Neighbor> neighbors(int rank) const {
    std::vector<Neighbor> list;
    for (const int other : graph_[static_cast<std::size_t>(rank)]) list.push_back({other, 2, 2});
    return list;
  }
  /// `round` counts from 1 and says which one is under way on that rank.
  SnapshotSource source(int rank, std::function<std::int64_t()> round) {
    const auto index = static_cast<std::size_t>(rank);
    return {Span<const double>(&iterates_[index], 1),
            [this, rank, index, round = std::move(round)](std::size_t, Span<double> values) {
              recorded_[{rank, round()}] = iterates_[index];
              values[0] = iterates_[index];
              values[1] = static_cast<double>(round());
            }};
  }
  /// The part of the residual of a rank's recorded iterate; checks what it is given.
  double residual(int rank, std::int64_t round, Span<const double> recorded,
                  const Incoming& incoming) {
    const std::vector<int>& neighbors = graph_[static_cast<std::size_t>(rank)];
    // Nobody asks such a rank for values.
    if (neighbors.empty()) recorded_[{rank, round}] = recorded[0];
    if (recorded[0] != recorded_.at({rank, round})) {
      throw Violation("rank " + std::to_string(rank) + " recorded twice");
    }
    for (std::size_t n = 0; n < neighbors.size(); ++n) {
      const auto theirs = recorded_.find({neighbors[n], round});
      if (incoming[n].size() != 2 || theirs == recorded_.end() ||
          incoming[n][0] != theirs->second || incoming[n][1] != static_cast<double>(round)) {
        throw Violation("rank " + std::to_string(rank) + " has values of rank " +
                        std::to_string(neighbors[n]) + " in round " + std::to_string(round) +
                        " that are not of its recorded iterate");
      }
    }
    return part(rank, recorded[0], incoming);
  }
  /// The norm of what all have recorded in a round.
  double norm(std::int64_t round) const {
    double largest = 0;
    for (std::size_t rank = 0; rank < graph_.size(); ++rank) {
      std::vector<double> values;
      for (const int other : graph_[rank]) values.push_back(recorded_.at({other, round}));
      Incoming incoming;
      for (const double& value : values) incoming.emplace_back(&value, 1);
      const auto here = static_cast<int>(rank);
      const double own = recorded_.at({here, round});
      largest = std::max(largest, part(here, own, incoming));
    }
    return largest;
  }
  std::string state(int rank) const {
    std::string text = std::to_string(static_cast<int>(iterates_[static_cast<std::size_t>(rank)]));
    text += ", recorded";
    for (const auto& [key, iterate] : recorded_) {
      if (key.first == rank) text += " " + std::to_string(static_cast<int>(iterate));
    }
    return text;
  }

 private:
  double part(int rank, double own, const Incoming& incoming) const {
    double sum = sweeps_ - own;
    // Neighbors in the tree alone have no values.
    for (const auto& values : incoming) {
      if (!values.empty()) sum += 3 * (sweeps_ - values[0]);
    }
    return sum == 0 ? 0 : sum + rank;
  }

  Graph graph_;
  int sweeps_;
  std::vector<double> iterates_;
  std::map<std::pair<int, std::int64_t>, double> recorded_;
};

/// Snapshots one after the other, without a reduction between them.
class Snapshots : public Machines<Snapshot> {
 public:
  Snapshots(SimulatedNetwork& network, const Graph& graph, const Tree* tree, int sweeps,
            std::int64_t rounds)
      : Machines(network), recordings_(graph, sweeps), rounds_(rounds), round_(graph.size(), 1) {
    for (int rank = 0; rank < network.size(); ++rank) {
      auto source =
          recordings_.source(rank, [this, rank] { return round_[static_cast<std::size_t>(rank)]; });
      Transport& transport = network.transport(rank);
      const auto neighbors = recordings_.neighbors(rank);
      machines_.push_back(
          tree ? makeSupervisedTermination(transport, First, neighbors, std::move(source),
                                           tree->parents[static_cast<std::size_t>(rank)],
                                           tree->children(rank))
               : makeGeneralSnapshot(transport, First, neighbors, std::move(source)));
    }
  }
  bool step(Transport& transport) override {
    const int rank = transport.rank();
    std::int64_t& round = round_[static_cast<std::size_t>(rank)];
    recordings_.sweep(rank);
    Snapshot& snapshot = at(transport);
    if (!snapshot.advance(recordings_.converged(rank))) return false;
    recordings_.residual(rank, round, snapshot.iterate(), snapshot.incoming());
    if (round == rounds_) return true;
    ++round;
    snapshot.next();
    return false;
  }
  bool quiet() const override { return recordings_.settled(); }
  std::string describe(int rank) const override {
    return recordings_.state(rank) + ", " + at(rank).state();
  }

 private:
  Recordings recordings_;
  std::int64_t rounds_;
  std::vector<std::int64_t> round_;
};

class Detectors : public Machines<ConvergenceDetector> {
 public:
  Detectors(SimulatedNetwork& network, const Graph& graph, const Tree& tree, bool supervised,
            bool leader, int sweeps)
      : Machines(network), recordings_(graph, sweeps), ended_(graph.size(), false) {
    for (int rank = 0; rank < network.size(); ++rank) {
      const auto round = [this, rank] { return at(rank).rounds() + 1; };
      auto source = recordings_.source(rank, round);
      Transport& transport = network.transport(rank);
      std::vector<Neighbor> neighbors = recordings_.neighbors(rank);
      for (const int other : tree.neighbors(rank)) {
        const auto& links = graph[static_cast<std::size_t>(rank)];
        if (std::count(links.begin(), links.end(), other) == 0) neighbors.push_back({other, 0, 0});
      }
      auto snapshot =
          supervised ? makeSupervisedTermination(transport, First, neighbors, std::move(source),
                                                 tree.parents[static_cast<std::size_t>(rank)],
                                                 tree.children(rank))
                     : makeGeneralSnapshot(transport, First, neighbors, std::move(source));
      reduces_.push_back(leader ? makeLeaderElection(transport, Second, tree.neighbors(rank))
                                : makeTransportReduce(transport));
      ConvergenceCallbacks callbacks;
      callbacks.residual = [this, rank, round](Span<const double> recorded,
                                               const Incoming& incoming) {
        return recordings_.residual(rank, round(), recorded, incoming);
      };
      callbacks.reasons = [] { return 0u; };
      callbacks.condition = [] { return true; };
      machines_.push_back(std::make_unique<ConvergenceDetector>(
          std::move(snapshot), *reduces_.back(), Norm::Max, std::move(callbacks)));
    }
  }
  bool step(Transport& transport) override {
    const int rank = transport.rank();
    recordings_.sweep(rank);
    ConvergenceDetector& detector = at(transport);
    if (!detector.advance(recordings_.converged(rank))) return false;
    const double norm = recordings_.norm(detector.rounds());
    if (detector.outcome().residual != norm) {
      violated(rank, "found " + std::to_string(detector.outcome().residual) + ", but it is " +
                         std::to_string(norm));
    }
    const bool end = norm == 0;
    ended_[static_cast<std::size_t>(rank)] = end;
    return end;
  }
  void checkEnd() const override {
    Machines::checkEnd();
    for (int rank = 0; rank < network_.size(); ++rank) {
      if (at(rank).rounds() != at(0).rounds()) violated(rank, "ended in another round");
    }
  }
  bool quiet() const override { return recordings_.settled(); }
  std::string describe(int rank) const override {
    return recordings_.state(rank) + ", " + at(rank).state() +
           (ended_[static_cast<std::size_t>(rank)] ? ", ended" : "");
  }

 private:
  Recordings recordings_;
  std::vector<std::unique_ptr<NonBlockingReduce>> reduces_;
  std::vector<bool> ended_;
};

/// Asynchronous turns, then synchronous ones, then the end.
class ChannelTurns : public Machines<Channels> {
 public:
  ChannelTurns(SimulatedNetwork& network, const Graph& graph, const ChannelOptions& options,
               bool ahead, int free, int tied)
      : Machines(network), free_(free), tied_(tied), ranks_(graph.size()) {
    for (int rank = 0; rank < network.size(); ++rank) {
      std::vector<Neighbor> neighbors;
      for (const int other : graph[static_cast<std::size_t>(rank)]) {
        neighbors.push_back({other, 2, 2});
      }
      machines_.push_back(
          std::make_unique<Channels>(network.transport(rank), First, neighbors, options, ahead));
      if (free > 0) machines_.back()->switchAsync();
      ranks_[static_cast<std::size_t>(rank)].seen.assign(neighbors.size(), 0);
    }
  }
  bool step(Transport& transport) override {
    Channels& channels = at(transport);
    Rank& rank = ranks_[static_cast<std::size_t>(transport.rank())];
    if (rank.turn < free_) {
      channels.get();
      look(channels, transport.rank(), rank);
      put(channels, rank);
      if (rank.turn == free_) channels.switchSync();
      return false;
    }
    if (rank.waits) {
      if (!channels.get()) return false;
      look(channels, transport.rank(), rank);
      rank.waits = false;
      return false;
    }
    if (rank.turn < free_ + tied_) {
      put(channels, rank);
      rank.waits = true;
      return false;
    }
    rank.closes = true;
    return channels.close();
  }
  void checkEnd() const override {
    Machines::checkEnd();
    ChannelStatistics all;
    for (const auto& channels : machines_) {
      all.sent += channels->statistics().sent;
      all.received += channels->statistics().received;
    }
    if (all.sent != all.received) violated(0, "and others lost messages");
  }
  bool quiet() const override {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [&](const Rank& rank) { return rank.turn >= free_; });
  }
  /// Quiet from the first synchronous turn on, and from closing on.
  std::size_t stage() const override {
    return std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.closes; });
  }
  std::string describe(int number) const override {
    const Rank& rank = ranks_[static_cast<std::size_t>(number)];
    std::string text = "turn " + std::to_string(rank.turn) + (rank.waits ? " waits" : "") + ", saw";
    for (const int seen : rank.seen) text += " " + std::to_string(seen);
    return text + ", " + at(number).state() + "; " +
           std::to_string(at(number).statistics().sent - at(number).statistics().unsent);
  }

 private:
  struct Rank {
    int turn = 0;
    bool waits = false;
    bool closes = false;
    std::vector<int> seen;
  };

  static void put(Channels& channels, Rank& rank) {
    ++rank.turn;
    for (std::size_t n = 0; n < channels.neighbors().size(); ++n) {
      const Span<double> values = channels.outgoing(n);
      values[0] = values[1] = rank.turn;
    }
    channels.put();
  }
  void look(Channels& channels, int number, Rank& rank) {
    for (std::size_t n = 0; n < channels.neighbors().size(); ++n) {
      const Span<const double> values = channels.incoming()[n];
      if (values[0] != values[1]) violated(number, "sees a torn message");
      const int turn = static_cast<int>(values[0]);
      if (turn < rank.seen[n]) violated(number, "sees older values than before");
      if (rank.waits && turn != rank.turn) {
        violated(number, "sees values of turn " + std::to_string(turn) + " in turn " +
                             std::to_string(rank.turn));
      }
      rank.seen[n] = turn;
    }
  }

  int free_;
  int tied_;
  std::vector<Rank> ranks_;
};

/// Two ranks have something to tell; each ends when it has heard of both.
class Notices : public Machines<StopNotices> {
 public:
  Notices(SimulatedNetwork& network, const Tree& tree) : Machines(network) {
    for (int rank = 0; rank < network.size(); ++rank) {
      machines_.push_back(
          std::make_unique<StopNotices>(network.transport(rank), First, tree.neighbors(rank)));
    }
    told_.assign(machines_.size(), false);
  }
  bool step(Transport& transport) override {
    StopNotices& notices = at(transport);
    const int rank = transport.rank();
    if (!told_[static_cast<std::size_t>(rank)]) {
      told_[static_cast<std::size_t>(rank)] = true;
      // The same reason from two ranks, and another one.
      if (rank < 2) notices.tell(StopReason::Error, "of " + std::to_string(rank));
      if (rank == network_.size() - 1) notices.tell(StopReason::Limit);
      return false;
    }
    notices.advance();
    if (!notices.heard(StopReason::Error) || !notices.heard(StopReason::Limit)) return false;
    if (notices.error() != "of " + std::to_string(notices.errorRank())) {
      violated(rank, "heard the wrong text");
    }
    return notices.close();
  }
  bool quiet() const override {
    return std::all_of(told_.begin(), told_.end(), [](bool told) { return told; });
  }
  std::string describe(int rank) const override {
    return at(rank).state() + ", " + std::to_string(at(rank).errorRank()) +
           (told_[static_cast<std::size_t>(rank)] ? ", told" : "");
  }

 private:
  std::vector<bool> told_;
};

template <class Kind, class... Arguments>
Scenario scenario(const std::string& subject, const std::string& name, int ranks,
                  Arguments... arguments) {
  return {subject, name, ranks,
          [=](SimulatedNetwork& network) { return std::make_unique<Kind>(network, arguments...); }};
}

}  // namespace

std::vector<Scenario> iterationScenarios(bool large) {
  std::vector<Scenario> list;
  const auto tree = [&](const std::string& name, const Graph& graph) {
    list.push_back(scenario<Trees>("spanning tree", name, static_cast<int>(graph.size()), graph));
  };
  tree("pair", Pair);
  tree("path", Path);
  tree("triangle", Triangle);
  tree("two parts", Apart);
  tree("no links", Lonely);
  tree("square", Square);

  const auto reduce = [&](const std::string& name, const Tree& tree, int rounds) {
    const auto ranks = static_cast<int>(tree.parents.size());
    list.push_back(scenario<Reductions>("leader election", name, ranks, tree, true, rounds));
    list.push_back(scenario<Reductions>("transport's reduction", name, ranks, tree, false, rounds));
  };
  reduce("pair, 3 rounds", PairTree, 3);
  reduce("path, 3 rounds", PathTree, 3);
  reduce("star, 2 rounds", StarTree, 2);
  reduce("path of four, 2 rounds", SquareTree, 2);

  const auto snapshot = [&](const std::string& name, const Graph& graph, const Tree* tree,
                            int sweeps, std::int64_t rounds) {
    list.push_back(scenario<Snapshots>(tree ? "supervised termination" : "general snapshot", name,
                                       static_cast<int>(graph.size()), graph, tree, sweeps,
                                       rounds));
  };
  snapshot("pair, 3 rounds", Pair, nullptr, 4, 3);
  snapshot("path, 3 rounds", Path, nullptr, 2, 3);
  snapshot("triangle, 2 rounds", Triangle, nullptr, 2, 2);
  snapshot("pair, 3 rounds", Pair, &PairTree, 3, 3);
  snapshot("path, 2 rounds", Path, &PathTree, 2, 2);
  snapshot("triangle, 2 rounds", Triangle, &MiddleTree, 1, 2);
  if (large) snapshot("square, 2 rounds", Square, nullptr, 2, 2);

  const auto detector = [&](const std::string& name, const Graph& graph, const Tree& tree,
                            int sweeps) {
    const auto ranks = static_cast<int>(graph.size());
    for (const bool leader : {true, false}) {
      const std::string reduction = leader ? ", leader election" : ", transport's reduction";
      list.push_back(
          scenario<Detectors>("SSAR" + reduction, name, ranks, graph, tree, false, leader, sweeps));
      list.push_back(
          scenario<Detectors>("SB96" + reduction, name, ranks, graph, tree, true, leader, sweeps));
    }
  };
  detector("pair", Pair, PairTree, 6);
  detector("path", Path, PathTree, 2);
  detector("two parts", Apart, PathTree, 2);
  detector("triangle", Triangle, MiddleTree, 1);
  if (large) {
    detector("triangle, 2 sweeps", Triangle, MiddleTree, 2);
    detector("square", Square, SquareTree, 2);
  }

  const auto channels = [&](const std::string& name, const Graph& graph, int receives, int free,
                            int tied, bool ahead = true) {
    for (const SendMode mode : {SendMode::Eager, SendMode::Synchronous}) {
      list.push_back(scenario<ChannelTurns>(
          mode == SendMode::Eager ? "channels, eager" : "channels, synchronous", name,
          static_cast<int>(graph.size()), graph, ChannelOptions{mode, receives}, ahead, free,
          tied));
    }
  };
  channels("pair, 2 free turns, 2 receives", Pair, 2, 2, 0);
  channels("pair, 2 tied turns", Pair, 1, 0, 2);
  channels("pair, 2 tied turns, receives started with the sends", Pair, 1, 0, 2, false);
  channels("pair, 2 free and 2 tied turns", Pair, 1, 2, 2);
  if (large) {
    channels("pair, 3 free turns, 1 receive", Pair, 1, 3, 0);
    channels("pair, 3 free turns, 2 receives", Pair, 2, 3, 0);
    channels("path, a free and a tied turn", Path, 1, 1, 1);
  }

  list.push_back(scenario<Notices>("stop notices", "path", 3, PathTree));
  list.push_back(scenario<Notices>("stop notices", "star", 4, StarTree));
  return list;
}

}  // namespace tributary::schedules
