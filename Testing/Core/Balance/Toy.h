// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "Support/World.h"
#include "Tributary/Balance/LendableWork.h"
#include "Tributary/Balance/Lending.h"
#include "Tributary/Balance/LendingPolicy.h"
#include "Tributary/Balance/WorkMeter.h"
#include "Tributary/Base/Error.h"

namespace tributary::testing {

/// An item of the toy: a token that visits blocks.
struct Token {
  std::uint64_t id;
  std::uint64_t hash;   ///< Of the data of all blocks that it has visited.
  std::int32_t visits;  ///< That are left, with the current one.
  std::int32_t steps;   ///< That are left of the current visit.
};

/// What all ranks do, as a function of numbers: who does it does not matter.
struct ToyRules {
  Assignment assignment{std::vector<std::int64_t>{1}};
  std::vector<std::int64_t> tokens = {1};  ///< By block: how many begin there.
  std::uint64_t seed = 1;
  std::int32_t leastVisits = 1, mostVisits = 1;  ///< Of a token.
  std::int32_t mostSteps = 1;                    ///< Of a visit.
  std::uint64_t mostWords = 1;                   ///< Of the data of a block.
  double itemSeconds = 0;  ///< That a visit is expected to take; 0: as measured.

  std::uint64_t random(std::uint64_t purpose, std::uint64_t a, std::uint64_t b = 0) const {
    return mix(mix(mix(seed * 4 + purpose) + a) + b);
  }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const std::int64_t count : tokens) sum += count;
    return sum;
  }
  /// The data of a block, without which a visit to it has another result.
  std::vector<std::uint64_t> data(BlockId block) const {
    const auto number = static_cast<std::uint64_t>(block);
    std::vector<std::uint64_t> words(1 + random(0, number) % mostWords);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = random(1, number, i);
    return words;
  }
  static CopySize copySize(std::size_t words) {
    const std::size_t message = (2 + words) * sizeof(std::uint64_t);
    return {message, 2 * message};
  }
  Token arrived(Token token, BlockId block) const {
    token.steps = 1 + static_cast<std::int32_t>(random(2, token.id, std::uint64_t(block)) %
                                                std::uint64_t(mostSteps));
    return token;
  }
  std::vector<Token> begin(BlockId block) const {
    std::uint64_t id = 0;
    for (BlockId before = 0; before < block; ++before) id += std::uint64_t(tokens[before]);
    std::vector<Token> list;
    for (std::int64_t i = 0; i < tokens[std::size_t(block)]; ++i, ++id) {
      const auto choices = static_cast<std::uint64_t>(mostVisits - leastVisits + 1);
      const auto visits = leastVisits + static_cast<std::int32_t>(random(3, id) % choices);
      list.push_back(arrived({id, mix(id), visits, 0}, block));
    }
    return list;
  }
  static void visit(Token& token, const std::vector<std::uint64_t>& data) {
    token.hash = mix(token.hash * 3 + data[token.hash % data.size()]);
    --token.visits;
  }
  BlockId next(const Token& token) const {
    return static_cast<BlockId>(mix(token.hash) % static_cast<std::uint64_t>(assignment.total()));
  }

  /// The hashes of all tokens at their ends, worked out one token after the other.
  std::vector<std::uint64_t> reference() const {
    std::vector<std::uint64_t> hashes;
    for (BlockId block = 0; block < assignment.total(); ++block)
      for (Token token : begin(block)) {
        for (BlockId at = block; token.visits > 0; at = next(token)) visit(token, data(at));
        hashes.push_back(token.hash);
      }
    return hashes;
  }
};

/// The blocks, copies and tokens of one rank. Throws Error of kind Internal if Lending calls what
/// it must not.
class Toy : public LendableWork {
 public:
  /// Sends a token to the owner of a block.
  using Send = std::function<void(BlockId to, const Token& token)>;

  struct Counts {
    std::int64_t lent = 0, borrowed = 0;  ///< Tokens.
    std::int64_t copied = 0;              ///< Copies made here.
    std::int64_t foreignVisits = 0;       ///< In copies.
    std::int64_t takenBack = 0;           ///< The same, by the owner, from copies that are gone.
  };

  Toy(const ToyRules& rules, int rank) : rules_(rules) {
    const Assignment& blocks = rules.assignment;
    for (BlockId block = blocks.first(rank); block < blocks.first(rank + 1); ++block) {
      Place& place = places_[block];
      place.own = true;
      place.data = rules.data(block);
      for (const Token& token : rules.begin(block)) place.tokens.push_back(token);
    }
  }

  // What the program does.

  void arrive(BlockId block, Token token) { at(block).tokens.push_back(checked(token)); }
  /// The lowest block or copy with work; -1 if there is none.
  BlockId busy() const {
    for (const auto& [block, place] : places_)
      if (!place.tokens.empty()) return block;
    return -1;
  }
  /// Makes one step of the first token in a block that has work.
  /// @param seconds  that it takes
  void step(BlockId block, const Send& send, double seconds = 0) {
    Place& place = at(block);
    if (!place.begun) meter_.begin(1);
    meter_.spend(seconds);
    place.begun = true;
    Token& first = place.tokens.front();
    if (--first.steps > 0) return;
    Token token = first;
    place.tokens.pop_front();
    place.begun = false;
    meter_.end(1);
    ToyRules::visit(token, place.data);
    if (!place.own) {
      ++place.visits;
      ++counts_.foreignVisits;
    }
    if (token.visits == 0) {
      require(results_.emplace(token.id, token.hash).second, "a token ends twice");
      return;
    }
    const BlockId to = rules_.next(token);
    token = rules_.arrived(token, to);
    if (has(to))
      arrive(to, token);
    else
      send(to, token);
  }
  const Counts& counts() const { return counts_; }
  /// The hashes of tokens that have ended here, by id.
  const std::map<std::uint64_t, std::uint64_t>& results() const { return results_; }
  /// Foreign visits that takeBack() of other ranks does not know.
  std::int64_t heldVisits() const {
    std::int64_t visits = 0;
    for (const auto& [block, place] : places_) visits += place.visits;
    return visits;
  }
  std::size_t copyMemory() const {
    std::size_t memory = 0;
    for (const BlockCopy& copy : copies()) memory += copy.memory;
    return memory;
  }
  /// What decides what happens next.
  std::string state() const {
    std::string text;
    for (const auto& [block, place] : places_) {
      text += 'b' + std::to_string(block) + (place.begun ? "+" : "") + std::to_string(place.visits);
      for (const Token& token : place.tokens)
        text += ' ' + std::to_string(token.id) + ':' + std::to_string(token.visits) + ':' +
                std::to_string(token.steps);
      text += ' ';
    }
    return text;
  }

  // What Lending calls.

  bool idle() const override { return busy() < 0; }
  // Each call works anywhere.
  bool anyCopyWaits() const override { return false; }
  std::vector<BlockId> takeRefilled() override { return {}; }
  double expectedSeconds() const override {
    std::size_t tokens = 0;
    for (const auto& [block, place] : places_) tokens += place.tokens.size();
    return itemSeconds() * static_cast<double>(tokens);
  }
  WaitingWork fullest() const override {
    WaitingWork most;
    for (const auto& [block, place] : places_)
      if (const WaitingWork waiting = waitingIn(block); waiting.items > most.items) most = waiting;
    return most;
  }
  WaitingWork waitingIn(BlockId block) const override {
    const auto items = static_cast<std::int64_t>(at(block).lendable());
    return {block, items, itemSeconds() * static_cast<double>(items)};
  }
  CopySize copySize(BlockId block) const override {
    return ToyRules::copySize(at(block).data.size());
  }
  void writeCopy(BlockId block, Writer& message) const override {
    message.value(saltOf(block)).range(at(block).data);
  }
  void lend(BlockId block, std::int64_t items, int /*borrower*/, Writer& message) override {
    Place& place = at(block);
    require(items >= 1 && items <= std::int64_t(place.lendable()), "more is lent than waits");
    for (std::int64_t i = 0; i < items; ++i) {
      message.value(place.tokens.back());
      place.tokens.pop_back();
    }
    counts_.lent += items;
  }
  bool has(BlockId block) const override { return places_.count(block) > 0; }
  std::vector<BlockCopy> copies() const override {
    std::vector<BlockCopy> list;
    for (const auto& [block, place] : places_)
      if (!place.own) list.push_back({block, ToyRules::copySize(place.data.size()).memory});
    return list;
  }
  void readCopy(BlockId block, Reader& message) override {
    require(!has(block), "a second copy");
    if (message.value<std::uint64_t>() != saltOf(block)) refuseMessage("a copy of another block");
    Place place;
    place.data = message.range<std::uint64_t>();
    if (place.data.empty()) refuseMessage("a copy without data");
    places_[block] = std::move(place);
    ++counts_.copied;
  }
  void borrow(BlockId block, Reader& message) override {
    do {
      arrive(block, message.value<Token>());
      ++counts_.borrowed;
    } while (!message.atEnd());
  }
  bool isUnused(BlockId copy) const override {
    require(!at(copy).own, "a block of this rank is no copy");
    return at(copy).tokens.empty();
  }
  Bytes drop(BlockId copy) override {
    require(isUnused(copy), "a copy is dropped that is still needed");
    Writer remains;
    if (const std::int64_t visits = at(copy).visits; visits > 0)
      remains.value(saltOf(copy)).value(visits);
    places_.erase(copy);
    return remains.take();
  }
  void takeBack(BlockId block, Reader& message) override {
    require(at(block).own, "remains come to a rank that does not own the block");
    if (message.value<std::uint64_t>() != saltOf(block))
      refuseMessage("remains of a copy of another block");
    counts_.takenBack += message.value<std::int64_t>();
  }

 private:
  struct Place {
    bool own = false;
    bool begun = false;  // the first token, which cannot be lent then
    std::int64_t visits = 0;
    std::vector<std::uint64_t> data;
    std::deque<Token> tokens;
    std::size_t lendable() const { return tokens.size() - (begun ? 1 : 0); }
  };

  static void require(bool condition, const char* violation) {
    if (!condition) throw Error(ErrorKind::Internal, violation);
  }
  Place& at(BlockId block) { return const_cast<Place&>(std::as_const(*this).at(block)); }
  const Place& at(BlockId block) const {
    const auto place = places_.find(block);
    require(place != places_.end(), "a block is asked for that is not on this rank");
    return place->second;
  }
  std::uint64_t saltOf(BlockId block) const { return rules_.random(4, std::uint64_t(block)); }
  double itemSeconds() const {
    return rules_.itemSeconds > 0 ? rules_.itemSeconds : meter_.secondsPerItem();
  }
  Token checked(const Token& token) const {
    if (token.id >= std::uint64_t(rules_.total()) || token.visits < 1 ||
        token.visits > rules_.mostVisits || token.steps < 1 || token.steps > rules_.mostSteps)
      refuseMessage("a token that does not exist");
    return token;
  }

  const ToyRules& rules_;
  std::map<BlockId, Place> places_;
  std::map<std::uint64_t, std::uint64_t> results_;
  Counts counts_;
  WorkMeter meter_;
};

/// A policy without times: lends half of the items.
class HalfPolicy : public LendingPolicy {
 public:
  /// @param busyAsks  how many times it lets a rank with work ask, too, or accept an offer
  explicit HalfPolicy(int busyAsks = 0) : busyAsks_(busyAsks) {}
  bool asks(bool idle) override { return idle || (busyAsks_ > 0 && busyAsks_-- > 0); }
  bool accepts(bool idle, double, double) override { return asks(idle); }
  PlannedLoan plan(const LoanTerms& terms) override { return {terms.items / 2, 0}; }
  int busyAsks() const { return busyAsks_; }

 private:
  int busyAsks_;
};

/// What Lending::state() says about the ranks that lend to a rank and borrow from it, by rank.
struct LendingState {
  struct Neighbor {
    std::int64_t asked, offers, offer, asks, offered, sent;
  };
  bool accepted = false;  ///< The rank waits for the answer to an acceptance.
  std::map<int, Neighbor> neighbors;

  LendingState(const Lending& lending, int rank, int ranks) {
    std::istringstream text(lending.state());
    std::string word;
    text >> word;
    accepted = word.size() > 1;
    int bit = 1;
    while (bit < ranks) bit *= 2;
    for (; bit > 0; bit /= 2) {
      if ((rank ^ bit) >= ranks) continue;
      Neighbor& n = neighbors[rank ^ bit];
      text >> n.asked >> n.offers >> n.offer >> n.asks >> n.offered >> n.sent;
    }
  }
  /// Whether no offer, acceptance or copy waits for an answer. A request may.
  bool rests() const {
    return !accepted && std::all_of(neighbors.begin(), neighbors.end(), [](const auto& neighbor) {
      const Neighbor& n = neighbor.second;
      return n.offers == 0 && n.offered < 0 && n.sent == 0;
    });
  }
};

}  // namespace tributary::testing
