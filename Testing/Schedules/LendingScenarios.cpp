// SPDX-License-Identifier: BSD-3-Clause
#include "LendingScenarios.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "Balance/Toy.h"
#include "Tributary/Balance/Lending.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Termination/Detector.h"

namespace tributary::schedules {

using testing::HalfPolicy;
using testing::LendingState;
using testing::Token;
using testing::Toy;
using testing::ToyRules;

namespace {

/// What is lent on which ranks.
struct Trade {
  std::string name;
  ToyRules rules;
  std::size_t memory = 1000;  // of all copies of rank 0
  std::size_t others = 1000;  // of all copies of each other rank
  int busyAsks = 0;           // see HalfPolicy
  bool wide = false;          // only with the first detector in the quick suite
  bool large = false;         // not in the quick suite
};

/// The size of a copy of these toys' blocks, which have one word each.
const std::size_t OneCopy = ToyRules::copySize(1).memory;

class Lenders : public Explorable {
 public:
  Lenders(SimulatedNetwork& network, const Trade& trade, const std::string& detector)
      : network_(network),
        trade_(trade),
        reference_(trade.rules.reference()),
        ended_(reference_.size(), 0) {
    mode_ = checkDetector(detector).synchronousSends ? SendMode::Synchronous : SendMode::Eager;
    for (int number = 0; number < network.size(); ++number) {
      Transport& transport = network.transport(number);
      Rank& rank = ranks_.emplace_back();
      rank.work = std::make_unique<Toy>(trade.rules, number);
      rank.policy = std::make_unique<HalfPolicy>(trade.busyAsks);
      LendingOptions options;
      options.memory = memoryOf(number);
      options.policy = rank.policy.get();
      rank.lending =
          std::make_unique<Lending>(transport, trade.rules.assignment, *rank.work, options);
      rank.detector = makeDetector(detector, transport, transport.openSession());
      session_ = transport.openSession();
    }
  }

  /// As in an exchange: first a rank receives a message or works, and settles; then, at once if
  /// there was nothing, it polls, and its detector has a turn.
  bool step(Transport& transport) override {
    Rank& rank = ranks_[static_cast<std::size_t>(transport.rank())];
    rank.worked = !rank.worked && work(rank, transport);
    check(transport.rank());
    if (rank.worked) return false;
    transport.poll();
    rank.sends.erase(std::remove_if(rank.sends.begin(), rank.sends.end(),
                                    [](const PendingSend& send) { return send.done(); }),
                     rank.sends.end());
    const bool passive = rank.settled && rank.work->idle() && rank.sends.empty() &&
                         !transport.receiving(Topic::Work, session_);
    if (!rank.detector->advance(passive, std::exchange(rank.touched, false))) return false;
    if (inFlight_ > 0) violated(transport.rank(), "fired with messages in flight");
    if (stage() < reference_.size()) violated(transport.rank(), "fired before all tokens ended");
    rank.ended = true;
    return true;
  }

  void checkEnd() const override {
    if (const std::string left = network_.left(); !left.empty())
      throw Violation("something is left in the network: " + left);
    Toy::Counts all;
    std::int64_t held = 0, lent = 0;
    for (std::size_t number = 0; number < ranks_.size(); ++number) {
      const Rank& rank = ranks_[number];
      for (const auto& [id, hash] : rank.work->results())
        if (hash != reference_[id]) violated(int(number), "has a wrong result");
      const Toy::Counts& counts = rank.work->counts();
      all.lent += counts.lent;
      all.borrowed += counts.borrowed;
      all.foreignVisits += counts.foreignVisits;
      all.takenBack += counts.takenBack;
      held += rank.work->heldVisits();
      lent += rank.lending->statistics().items;
      const LendingState state = stateOf(int(number));
      if (!state.rests()) violated(int(number), "waits for an answer");
      for (const auto& [other, neighbor] : state.neighbors)
        if (neighbor.asked != stateOf(other).neighbors.at(int(number)).asks)
          violated(int(number), "has another opinion on its request than the rank it asked");
    }
    if (all.lent != all.borrowed || all.lent != lent) violated(0, "and others lost tokens");
    if (all.takenBack + held != all.foreignVisits) violated(0, "and others lost remains");
  }

  void appendState(std::string& state) const override {
    std::int64_t remains = 0;
    for (const Rank& rank : ranks_) {
      state += rank.work->state() + '|' + rank.lending->state() + '|' + rank.detector->state() +
               std::to_string(rank.sends.size()) + std::to_string(rank.policy->busyAsks()) +
               (rank.touched ? "t" : "") + (rank.worked ? "w" : "") + (rank.settled ? "s" : "") +
               (rank.ended ? "e\n" : "\n");
      remains += rank.work->counts().foreignVisits - rank.work->counts().takenBack;
    }
    for (const int ended : ended_) state += std::to_string(ended);
    state += ' ' + std::to_string(remains);
  }

  bool quiet() const override { return true; }
  std::size_t stage() const override {
    return static_cast<std::size_t>(std::count(ended_.begin(), ended_.end(), 1));
  }
  std::string describe(int rank) const override {
    const Rank& one = ranks_[static_cast<std::size_t>(rank)];
    return one.work->state() + "; " + one.lending->state() + "; " + one.detector->state();
  }

 private:
  struct Rank {
    std::unique_ptr<Toy> work;
    std::unique_ptr<HalfPolicy> policy;
    std::unique_ptr<Lending> lending;
    std::unique_ptr<Detector> detector;
    std::vector<PendingSend> sends;
    std::int64_t periods = 1;  // of work, and one for the begin
    bool touched = false;
    bool worked = false;  // the first half of a turn is done
    bool settled = false;
    bool ended = false;
  };
  enum class Kind : std::int32_t { Note, Token };

  std::size_t memoryOf(int rank) const { return rank == 0 ? trade_.memory : trade_.others; }
  LendingState stateOf(int rank) const {
    return {*ranks_[static_cast<std::size_t>(rank)].lending, rank, network_.size()};
  }

  void send(Rank& rank, Transport& transport, int to, Writer&& message) {
    rank.detector->sent(to);
    rank.touched = true;
    ++inFlight_;
    rank.sends.push_back(transport.send(to, Topic::Work, session_, mode_, message.take()));
  }

  bool work(Rank& rank, Transport& transport) {
    const Lending::Post post = [&](int to, Bytes&& note) {
      Writer message;
      message.value(Kind::Note);
      std::copy(note.begin(), note.end(), message.extend(note.size()));
      send(rank, transport, to, std::move(message));
    };
    const BlockId busy = rank.work->busy();
    const auto envelope = transport.tryReceive(Topic::Work, session_);
    if (envelope) {
      --inFlight_;
      rank.detector->received(envelope->source);
      Reader reader(envelope->bytes);
      if (reader.value<Kind>() == Kind::Note) {
        rank.lending->receive(envelope->source, reader.raw(reader.remaining()), post);
      } else {
        const auto to = reader.value<BlockId>();
        rank.work->arrive(to, reader.value<Token>());
      }
    }
    if (!envelope && busy >= 0) {
      const std::size_t before = rank.work->results().size();
      rank.work->step(busy, [&](BlockId to, const Token& token) {
        Writer message;
        message.value(Kind::Token).value(to).value(token);
        send(rank, transport, trade_.rules.assignment.rankOf(to), std::move(message));
      });
      if (rank.work->results().size() > before) countEnded();
      if (rank.work->idle()) ++rank.periods;
    }
    if (!envelope && busy < 0 && rank.settled) return false;
    rank.touched = true;
    rank.settled = true;
    rank.lending->settle(post);
    return true;
  }

  void countEnded() {
    std::fill(ended_.begin(), ended_.end(), 0);
    for (const Rank& rank : ranks_)
      for (const auto& result : rank.work->results()) ++ended_[result.first];
    if (*std::max_element(ended_.begin(), ended_.end()) > 1) violated(0, "a token ended twice");
  }

  void check(int number) const {
    const Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.work->copyMemory() > memoryOf(number)) violated(number, "has too many copies");
    const auto neighbors = static_cast<std::int64_t>(stateOf(number).neighbors.size());
    if (rank.lending->statistics().requests > (rank.periods + trade_.busyAsks) * neighbors)
      violated(number, "asks again and again");
  }

  [[noreturn]] void violated(int rank, const std::string& what) const {
    std::string text = "rank " + std::to_string(rank) + " " + what;
    for (int other = 0; other < network_.size(); ++other)
      text += "\n  rank " + std::to_string(other) + " " + describe(other);
    throw Violation(text);
  }

  SimulatedNetwork& network_;
  const Trade& trade_;
  SendMode mode_ = SendMode::Eager;
  Session session_ = 0;
  std::vector<Rank> ranks_;
  std::int64_t inFlight_ = 0;
  std::vector<std::uint64_t> reference_;  // by token
  std::vector<int> ended_;                // by token: on how many ranks
};

std::vector<Trade> trades() {
  std::vector<Trade> list;
  const auto add = [&](const std::string& name, const std::vector<std::int64_t>& blocks,
                       const std::vector<std::int64_t>& tokens, std::int32_t visits = 1) -> Trade& {
    Trade& trade = list.emplace_back();
    trade.name = name;
    trade.rules.assignment = Assignment(blocks);
    trade.rules.tokens = tokens;
    trade.rules.leastVisits = trade.rules.mostVisits = visits;
    return trade;
  };
  const auto addTight = [&](const std::string& name, std::int64_t tokens,
                            std::int32_t visits) -> Trade& {
    Trade& trade = add(name, {2, 0}, {2, tokens}, visits);
    trade.others = OneCopy;
    trade.wide = true;
    return trade;
  };
  add("2 tokens", {1, 0}, {2});
  add("no room", {1, 0}, {3}).others = OneCopy - 1;
  add("a limit of 0", {1, 0}, {3}).others = 0;
  add("busy ranks ask, too", {1, 1}, {2, 1}).busyAsks = 3;
  add("both have tokens", {1, 1}, {3, 2});
  add("3 tokens of two steps", {1, 0}, {3}).rules.mostSteps = 2;
  add("4 tokens", {1, 0}, {4}).wide = true;
  add("two blocks", {2, 0}, {2, 2}).wide = true;
  addTight("two blocks, room for one", 2, 1);
  addTight("two blocks, room for one, busy ranks ask", 2, 1).busyAsks = 3;
  add("2 tokens that move", {1, 1}, {2, 0}, 2).wide = true;
  addTight("two blocks, room for one, tokens that move", 1, 2);
  Trade& lenders = add("two lenders on 3 ranks", {0, 1, 1}, {2, 2});
  lenders.others = 0;
  lenders.wide = true;
  add("3 tokens on 3 ranks", {0, 1, 0}, {3}).wide = true;
  add("3 tokens that move", {1, 1}, {3, 0}, 2).large = true;
  add("2 tokens on 3 ranks", {1, 0, 0}, {2}).large = true;
  Trade& four = add("a lender on 4 ranks", {0, 1, 0, 0}, {2});
  four.others = 0;
  four.large = true;
  return list;
}

}  // namespace

std::vector<Scenario> lendingScenarios(bool large) {
  static const std::vector<Trade> all = trades();
  std::vector<Scenario> list;
  for (const std::string detector : {"hash-counter", "tree-ack", "consensus"})
    for (const Trade& trade : all) {
      const int ranks = trade.rules.assignment.ranks();
      const bool first = detector == "hash-counter";
      if (!first && (ranks > 2 || trade.large)) continue;
      if (!large && (trade.large || (trade.wide && !first))) continue;
      list.push_back({"lending, " + detector, trade.name, ranks,
                      [&trade, detector](SimulatedNetwork& network) {
                        return std::make_unique<Lenders>(network, trade, detector);
                      }});
    }
  return list;
}

}  // namespace tributary::schedules
