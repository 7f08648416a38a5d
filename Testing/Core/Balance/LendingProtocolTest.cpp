// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Balance/Toy.h"
#include "Support/World.h"
#include "Tributary/Balance/Lending.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::HalfPolicy;
using testing::LendingState;
using testing::Toy;
using testing::ToyRules;

struct Letter {
  int from, to;
  Bytes bytes;
};

/// The Lending of a few ranks, whose messages are delivered by hand. Ranks 1 and 2 of three do not
/// lend to each other.
class Correspondence {
 public:
  /// @param memory  by rank
  Correspondence(const ToyRules& rules, const std::vector<std::size_t>& memory,
                 LendingPolicy* policy)
      : rules_(rules), network_(makeVirtualTimeNetwork(optionsOf(memory.size()))) {
    for (std::size_t rank = 0; rank < memory.size(); ++rank) {
      work_.push_back(std::make_unique<Toy>(rules_, static_cast<int>(rank)));
      LendingOptions options;
      options.memory = memory[rank];
      options.policy = policy;
      lending_.push_back(std::make_unique<Lending>(network_->transport(static_cast<int>(rank)),
                                                   rules_.assignment, *work_.back(), options));
    }
  }

  Toy& work(int rank) { return *work_[static_cast<std::size_t>(rank)]; }
  Lending& lending(int rank) { return *lending_[static_cast<std::size_t>(rank)]; }
  std::deque<Letter>& letters() { return letters_; }

  void settle(int rank) { lending(rank).settle(postOf(rank)); }
  void deliver(const Letter& letter) {
    lending(letter.to).receive(letter.from, {letter.bytes.data(), letter.bytes.size()},
                               postOf(letter.to));
    settle(letter.to);
  }
  /// Delivers all letters.
  void deliverAll() {
    for (int sent = 0; !letters_.empty(); ++sent) {
      ASSERT_LT(sent, 10000) << "does not end";
      const Letter letter = std::move(letters_.front());
      letters_.pop_front();
      deliver(letter);
    }
  }
  /// One step of the first token of a rank.
  void step(int rank) {
    work(rank).step(work(rank).busy(), [&](BlockId, const testing::Token&) {
      FAIL() << "the tokens of this test do not move";
    });
    settle(rank);
  }

 private:
  static VirtualTimeNetworkOptions optionsOf(std::size_t ranks) {
    VirtualTimeNetworkOptions options;
    options.ranks = static_cast<int>(ranks);
    return options;
  }
  Lending::Post postOf(int rank) {
    return [this, rank](int to, Bytes&& bytes) {
      letters_.push_back({rank, to, std::move(bytes)});
    };
  }

  ToyRules rules_;
  std::unique_ptr<SimulatedNetwork> network_;
  std::vector<std::unique_ptr<Toy>> work_;
  std::vector<std::unique_ptr<Lending>> lending_;
  std::deque<Letter> letters_;
};

constexpr std::size_t Room = 1 << 20;

// ---- Messages that are not as they must be ----

/// Rank 0 lends to rank 1, which has room for one copy, from two blocks.
class Conversation {
 public:
  Conversation() {
    rules_.assignment = Assignment({2, 0, 0});
    rules_.tokens = {6, 5};
    talk_ = std::make_unique<Correspondence>(
        rules_, std::vector<std::size_t>{Room, ToyRules::copySize(1).memory, 0}, &policy_);
  }
  Correspondence& talk() { return *talk_; }
  /// The conversation to its end. `hand` delivers each letter, and receives its number.
  void run(const std::function<void(int, Letter&)>& hand) {
    for (int rank = 0; rank < 3; ++rank) talk_->settle(rank);
    int number = 0;
    for (int turn = 0; turn < 1000; ++turn) {
      if (!talk_->letters().empty()) {
        Letter letter = std::move(talk_->letters().front());
        talk_->letters().pop_front();
        hand(number++, letter);
      } else if (!talk_->work(1).idle()) {
        talk_->step(1);
      } else if (!talk_->work(0).idle()) {
        talk_->step(0);
      } else {
        return;
      }
    }
  }

 private:
  ToyRules rules_;
  HalfPolicy policy_;
  std::unique_ptr<Correspondence> talk_;
};

/// Runs the conversation with a change of one letter. @return the error, "" if there was none; it
/// is never one of the toy, which would mean that it was called with what was not checked.
std::string errorWith(int number, const std::function<void(Correspondence&, Letter&)>& change) {
  Conversation conversation;
  try {
    conversation.run([&](int n, Letter& letter) {
      if (n == number) change(conversation.talk(), letter);
      conversation.talk().deliver(letter);
    });
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Message) << "letter " << number << ": " << error.what();
    return error.what();
  }
  return {};
}

constexpr std::size_t NoteBytes = 40;
constexpr std::int64_t Loan = 5, Remains = 8;

std::int64_t wordOf(const Letter& letter, std::size_t word) {
  std::int64_t value;
  std::memcpy(&value, letter.bytes.data() + 8 * word, sizeof value);
  return value;
}

void addTo(Letter& letter, std::size_t word, std::uint64_t add) {
  const std::uint64_t value = static_cast<std::uint64_t>(wordOf(letter, word)) + add;
  std::memcpy(letter.bytes.data() + 8 * word, &value, sizeof value);
}

std::vector<Letter> allLetters() {
  Conversation conversation;
  std::vector<Letter> letters;
  conversation.run([&](int, Letter& letter) {
    letters.push_back(letter);
    conversation.talk().deliver(letter);
  });
  return letters;
}

TEST(LendingMessages, TheConversationHasAllKinds) {
  std::set<std::int64_t> kinds;
  for (const Letter& letter : allLetters()) kinds.insert(wordOf(letter, 0));
  // All but acceptances without a copy, refusals and "nothing", which are in other tests.
  EXPECT_EQ(kinds, (std::set<std::int64_t>{0, 1, 3, 5, 7, 8}));
}

TEST(LendingMessages, ShorterOnesAreRefused) {
  const std::vector<Letter> letters = allLetters();
  for (std::size_t n = 0; n < letters.size(); ++n) {
    const Letter& letter = letters[n];
    for (std::size_t size = 0; size < letter.bytes.size(); ++size) {
      // A loan of fewer tokens cannot be known from a shorter message.
      const bool whole = (letter.bytes.size() - size) % sizeof(testing::Token) == 0;
      if (wordOf(letter, 0) == Loan && whole) continue;
      EXPECT_NE(errorWith(int(n), [&](Correspondence&, Letter& l) { l.bytes.resize(size); }), "")
          << "letter " << n << " of kind " << wordOf(letter, 0) << ", " << size << " bytes";
    }
  }
}

TEST(LendingMessages, LongerOnesAreRefused) {
  const std::vector<Letter> letters = allLetters();
  for (std::size_t n = 0; n < letters.size(); ++n)
    for (const std::size_t bytes : {1, 8, 31})
      EXPECT_NE(
          errorWith(int(n), [&](Correspondence&,
                                Letter& l) { l.bytes.insert(l.bytes.end(), bytes, std::byte{0}); }),
          "")
          << "letter " << n << " of kind " << wordOf(letters[n], 0) << ", " << bytes << " bytes";
}

TEST(LendingMessages, EachCheckRefusesSomething) {
  const std::vector<Letter> letters = allLetters();
  std::string errors;
  for (std::size_t n = 0; n < letters.size(); ++n) {
    const Letter& letter = letters[n];
    // Words of the note; then the first of a copy or of remains, but not those of tokens.
    const bool longer =
        letter.bytes.size() > NoteBytes && (wordOf(letter, 0) == Remains || wordOf(letter, 2) > 0);
    for (std::size_t word = 0; word < (longer ? 6 : 5); ++word) {
      for (int add = -9; add <= 9; ++add)
        errors += errorWith(int(n), [&](Correspondence&, Letter& l) {
          addTo(l, word, static_cast<std::uint64_t>(std::int64_t(add)));
        });
      for (const int bit : {40, 62, 63})
        errors += errorWith(
            int(n), [&](Correspondence&, Letter& l) { addTo(l, word, std::uint64_t(1) << bit); });
    }
    errors += errorWith(int(n), [](Correspondence& talk, Letter& l) { talk.deliver(l); });
    errors += errorWith(int(n), [](Correspondence&, Letter& l) { l.from = 2; });
    errors += errorWith(int(n), [](Correspondence&, Letter& l) { l.from = 1 << 20; });
    errors += errorWith(int(n), [](Correspondence&, Letter& l) { std::swap(l.from, l.to); });
  }
  for (const char* phrase :
       {"a second request for a loan", "an offer of a loan without a request",
        "a block that does not exist", "an answer to an offer that was not made",
        "a loan that was not accepted", "a loan with another copy than was needed",
        "bytes after a copy of a block", "a copy of another block", "a receipt for no loan",
        "a note about a loan of an unknown kind", "which lends nothing",
        "remains of a copy of another rank's block", "remains of a copy of another block",
        "a time that is no time"})
    EXPECT_NE(errors.find(phrase), std::string::npos) << phrase;
}

// ---- Answers ----

/// Expects the kinds of all letters that wait, in their order.
void expectKinds(Correspondence& talk, const std::vector<std::int64_t>& kinds) {
  std::vector<std::int64_t> waiting;
  for (const Letter& letter : talk.letters()) waiting.push_back(wordOf(letter, 0));
  EXPECT_EQ(waiting, kinds);
}

ToyRules oneBlock(std::int64_t tokens) {
  ToyRules rules;
  rules.assignment = Assignment({1, 0});
  rules.tokens = {tokens};
  return rules;
}

TEST(LendingAnswers, ALoanIsHalfAndComesWithACopyOnce) {
  HalfPolicy policy;
  Correspondence talk(oneBlock(9), {Room, Room}, &policy);
  talk.settle(1);
  expectKinds(talk, {0});
  talk.deliverAll();
  EXPECT_EQ(talk.work(1).fullest().items, 4);
  EXPECT_EQ(talk.work(0).fullest().items, 5);
  while (!talk.work(1).idle()) talk.step(1);
  talk.deliverAll();
  EXPECT_EQ(talk.work(1).fullest().items, 2);
  EXPECT_EQ(talk.lending(0).statistics().loans, 2);
  EXPECT_EQ(talk.lending(0).statistics().copies, 1);
  EXPECT_EQ(talk.lending(0).statistics().items, 6);
  EXPECT_EQ(talk.lending(1).statistics().requests, 2);
}

TEST(LendingAnswers, NothingIsSentIfTheWorkIsGone) {
  HalfPolicy policy;
  Correspondence talk(oneBlock(2), {Room, ToyRules::copySize(1).memory}, &policy);
  talk.settle(1);
  for (int i = 0; i < 2; ++i) {
    const Letter letter = talk.letters().front();
    talk.letters().pop_front();
    talk.deliver(letter);
  }
  expectKinds(talk, {3});  // a copy is needed
  talk.step(0);            // one token is left, which the policy does not lend
  expectKinds(talk, {3});
  talk.deliverAll();
  EXPECT_TRUE(talk.work(1).idle());
  EXPECT_EQ(talk.lending(0).statistics().loans, 0);
  // The request stands.
  talk.work(0).arrive(0, {0, 0, 1, 1});
  talk.settle(0);
  expectKinds(talk, {1});
  talk.deliverAll();
  EXPECT_EQ(talk.lending(0).statistics().loans, 1);
  EXPECT_EQ(talk.work(1).fullest().items, 1);
  EXPECT_TRUE(LendingState(talk.lending(1), 1, 2).rests());
}

TEST(LendingAnswers, ACopyWithoutRoomIsRefusedOnce) {
  HalfPolicy policy;
  Correspondence talk(oneBlock(4), {Room, ToyRules::copySize(1).memory - 1}, &policy);
  talk.settle(1);
  talk.deliverAll();
  EXPECT_EQ(talk.lending(0).statistics().offers, 1);
  EXPECT_EQ(talk.lending(0).statistics().loans, 0);
  for (int i = 0; i < 10; ++i) {
    talk.settle(0);
    talk.settle(1);
  }
  expectKinds(talk, {});
}

// Rank 0 lends to 1, from which 3 borrows: with the copy of the copy.
TEST(LendingAnswers, WhatIsBorrowedIsLentOn) {
  HalfPolicy policy;
  ToyRules rules;
  rules.assignment = Assignment({1, 0, 0, 0});
  rules.tokens = {8};
  Correspondence talk(rules, {Room, Room, 0, Room}, &policy);
  talk.settle(1);
  talk.deliverAll();
  EXPECT_EQ(talk.work(0).fullest().items, 4);
  EXPECT_EQ(talk.work(1).fullest().items, 2);
  EXPECT_EQ(talk.work(3).fullest().items, 2);
  EXPECT_EQ(talk.work(3).copies().size(), 1u);
}

// Rank 0 has accepted the offer of rank 4 when ranks 2 and 1 offer, too. When the loan has come, it
// accepts the offer of rank 1, which has the most work, and then none of rank 2, which has less
// than itself by then.
TEST(LendingAnswers, TheLargestOfferComesFirst) {
  ToyRules rules;
  rules.assignment = Assignment({0, 1, 1, 0, 1, 0, 0, 0});
  rules.tokens = {101, 10, 6};
  rules.itemSeconds = 1e-3;
  Correspondence talk(rules, std::vector<std::size_t>(8, Room), nullptr);
  talk.settle(0);
  std::deque<Letter> requests;
  requests.swap(talk.letters());
  for (const int lender : {4, 2, 1})
    for (const Letter& request : requests)
      if (request.to == lender) talk.deliver(request);
  talk.deliverAll();
  EXPECT_EQ(talk.work(4).fullest().items, 3);
  EXPECT_EQ(talk.work(2).fullest().items, 10);
  EXPECT_EQ(talk.lending(2).statistics().offers, 1);
  EXPECT_EQ(talk.work(0).waitingIn(2).items, 3);
  EXPECT_EQ(talk.work(0).waitingIn(0).items, 49);  // 52 ms, as the lender
  EXPECT_TRUE(LendingState(talk.lending(0), 0, 8).rests());
}

// Rank 1 has offered work in a copy, ends it, and drops the copy for another one of rank 0 before
// the offer is accepted.
TEST(LendingAnswers, AnOfferMayBeOfACopyThatIsGone) {
  HalfPolicy policy;
  ToyRules rules;
  rules.assignment = Assignment({2, 0, 0, 0});
  rules.tokens = {8, 6};
  Correspondence talk(rules, {Room, ToyRules::copySize(1).memory, 0, Room}, &policy);
  talk.settle(1);
  Letter acceptance{};
  while (acceptance.from != 3) {
    ASSERT_FALSE(talk.letters().empty());
    const Letter letter = talk.letters().front();
    talk.letters().pop_front();
    if (letter.from == 3 && wordOf(letter, 0) == 3)
      acceptance = letter;
    else
      talk.deliver(letter);
  }
  ASSERT_TRUE(talk.work(1).has(0));
  while (!talk.work(1).idle()) talk.step(1);
  talk.deliverAll();
  ASSERT_FALSE(talk.work(1).has(0));
  ASSERT_TRUE(talk.work(1).has(1));
  talk.deliver(acceptance);
  talk.deliverAll();
  for (const int rank : {0, 1, 3})
    EXPECT_TRUE(LendingState(talk.lending(rank), rank, 4).rests()) << "rank " << rank;
  EXPECT_EQ(talk.lending(1).statistics().loans, 1);  // of the other copy
}

// The owner of a block needs no copy, so that its work goes back even if it would not pay for one.
TEST(LendingAnswers, WorkGoesBackToTheOwnerWhateverACopyCosts) {
  ToyRules rules = oneBlock(200);
  rules.mostWords = 1 << 22;
  rules.seed = 3;
  rules.itemSeconds = 1e-3;
  ASSERT_GT(rules.data(0).size() * 8, std::size_t(10) << 20);  // at the usual 2 ns for each byte
  Correspondence talk(rules, {Room, std::size_t(1) << 30}, nullptr);
  talk.settle(1);
  talk.deliverAll();
  ASSERT_TRUE(talk.work(1).has(0));
  ASSERT_GT(talk.work(1).fullest().items, 10);
  while (talk.work(1).fullest().items > 10) talk.step(1);  // 10 ms of work
  while (!talk.work(0).idle()) talk.step(0);
  talk.deliverAll();
  EXPECT_EQ(talk.work(0).fullest().items, 5);
}

}  // namespace
}  // namespace tributary
