// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Records.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "Support/Everywhere.h"
#include "Support/World.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::everywhere;
using testing::ForwardingTransport;
using testing::mix;

struct Record {
  std::int64_t from, to, number;
  double value;

  bool operator==(const Record& other) const {
    return from == other.from && to == other.to && number == other.number && value == other.value;
  }
};

struct KeyOfRank {
  std::int64_t key;
  int rank;
};

/// How many records a rank sends another: often none, sometimes many.
std::int64_t countOf(int from, int to, int round) {
  const std::uint64_t choice =
      mix(static_cast<std::uint64_t>(from * 1009 + to * 101 + round * 17 + 3));
  if (choice % 3 == 0) return 0;
  return static_cast<std::int64_t>(choice % 7 == 0 ? choice % 20011 : choice % 9);
}

Record recordOf(int from, int to, std::int64_t number) {
  return {from, to, number, 0.5 * static_cast<double>(number) + from};
}

/// What rank `to` receives from all ranks.
std::vector<Record> expectedAt(int to, int ranks, int round) {
  std::vector<Record> all;
  for (int from = 0; from < ranks; ++from)
    for (std::int64_t i = 0; i < countOf(from, to, round); ++i)
      all.push_back(recordOf(from, to, i));
  return all;
}

template <ByteExchange Exchange>
void expectRecords(Transport& t) {
  for (int round = 0; round < 6; ++round) {
    const auto fill = [&](RecordOutbox<Record>& outbox) {
      EXPECT_EQ(outbox.ranks(), t.size());
      // The ranks in turns: the order counts for each rank alone.
      for (std::int64_t i = 0, more = 1; more != 0; ++i) {
        more = 0;
        for (int to = t.size() - 1; to >= 0; --to) {
          if (i >= countOf(t.rank(), to, round)) continue;
          outbox.add(to, recordOf(t.rank(), to, i));
          EXPECT_EQ(outbox.count(to), static_cast<std::size_t>(i + 1));
          ++more;
        }
      }
    };
    const std::vector<Record> expected = expectedAt(t.rank(), t.size(), round);
    Records<Record> got = sendRecords<Record, Exchange>(t, fill);
    EXPECT_EQ(got.all(), expected);
    EXPECT_EQ(got.size(), expected.size());
    EXPECT_TRUE(std::equal(got.begin(), got.end(), expected.begin(), expected.end()));
    for (int from = 0; from < t.size(); ++from) {
      const Span<const Record> part = got.from(from);
      ASSERT_EQ(part.size(), static_cast<std::size_t>(countOf(from, t.rank(), round)));
      for (std::size_t i = 0; i < part.size(); ++i)
        EXPECT_EQ(part[i], recordOf(from, t.rank(), static_cast<std::int64_t>(i)));
    }
    std::vector<Record> used;
    sendRecords<Record, Exchange>(
        t,
        [&](RecordOutbox<Record>& outbox) {
          for (int to = 0; to < t.size(); ++to) {
            std::vector<Record> records;
            for (std::int64_t i = 0; i < countOf(t.rank(), to, round); ++i)
              records.push_back(recordOf(t.rank(), to, i));
            outbox.reserve(to, records.size());
            outbox.add(to, Span<const Record>(records));
          }
        },
        [&](const Records<Record>& received) { used.assign(received.begin(), received.end()); });
    EXPECT_EQ(used, expected);
  }
}

TEST(Records, ComeByRankAndAsTheyWereAdded) {
  everywhere([](Transport& t) {
    expectRecords<exchangeBytes>(t);
    expectRecords<allToAll>(t);
  });
}

TEST(Records, NoneAreSentWhereThereAreNone) {
  everywhere([](Transport& t) {
    const auto nothing = [](auto&) {};
    EXPECT_EQ(sendRecords<int>(t, nothing).size(), 0u);
    EXPECT_TRUE(sendRecords<int>(t, nothing).from(t.size() - 1).empty());
    EXPECT_TRUE((sendRecords<int, allToAll>(t, nothing).all().empty()));
    EXPECT_TRUE(Records<int>().from(0).empty());
    bool called = false;
    sendMessages(t, nothing, [&](std::vector<Reader>& readers) {
      called = true;
      EXPECT_EQ(readers.size(), static_cast<std::size_t>(t.size()));
    });
    EXPECT_TRUE(called);
  });
}

TEST(Records, MessagesHaveAnyContent) {
  everywhere([](Transport& t) {
    const auto textOf = [](int from, int to) {
      return std::string(static_cast<std::size_t>(from * 3 + to), 'x');
    };
    std::vector<int> sources;
    sendMessages(
        t,
        [&](MessageOutbox& outbox) {
          EXPECT_EQ(outbox.ranks(), t.size());
          for (int to = t.rank() % 2; to < t.size(); ++to)
            for (int i = 0; i < 2; ++i)
              outbox.to(to).value(i).text(textOf(t.rank(), to)).range(std::vector<double>(3, i));
        },
        [&](std::vector<Reader>& readers) {
          readAll(readers, [&](int from, Reader& reader) {
            const int i = reader.value<int>();
            EXPECT_EQ(i, static_cast<int>(std::count(sources.begin(), sources.end(), from)));
            EXPECT_EQ(reader.text(), textOf(from, t.rank()));
            EXPECT_EQ(reader.range<double>(), std::vector<double>(3, i));
            sources.push_back(from);
          });
        });
    std::vector<int> expected;
    for (int from = 0; from < t.size(); ++from)
      if (from % 2 <= t.rank()) expected.insert(expected.end(), 2, from);
    EXPECT_EQ(sources, expected);
  });
}

TEST(Records, OwnersAnswerInTheOrderOfQuestions) {
  everywhere([](Transport& t) {
    for (const std::int64_t total : {1, 5, 1000}) {
      const Shares shares{total, t.size()};
      std::vector<std::int64_t> keys;
      for (std::int64_t i = 0; i < 300 * (t.rank() % 3); ++i)
        keys.push_back(
            static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(i * 31 + t.rank())) %
                                      static_cast<std::uint64_t>(total)));
      const auto answers = askOwners<KeyOfRank>(t, shares, keys, [&](std::size_t place) {
        EXPECT_LT(place, static_cast<std::size_t>(shares.count(t.rank())));
        return KeyOfRank{shares.first(t.rank()) + static_cast<std::int64_t>(place), t.rank()};
      });
      ASSERT_EQ(answers.size(), keys.size());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        EXPECT_EQ(answers[i].key, keys[i]);
        EXPECT_EQ(answers[i].rank, shares.ownerOf(keys[i]));
      }
    }
    // Any questions, dense; each rank asks all.
    std::vector<Record> questions;
    for (int i = 0; i < 3 * t.size(); ++i) questions.push_back(recordOf(t.rank(), i % t.size(), i));
    const auto answers = askOwners<std::int64_t, allToAll>(
        t, questions, [](const Record& question) { return static_cast<int>(question.to); },
        [&](const Record& question, int asker) {
          EXPECT_EQ(question.from, asker);
          EXPECT_EQ(question.to, t.rank());
          return 100 * question.from + question.number;
        });
    ASSERT_EQ(answers.size(), questions.size());
    for (std::size_t i = 0; i < answers.size(); ++i)
      EXPECT_EQ(answers[i], 100 * t.rank() + static_cast<std::int64_t>(i));
    // Several ranks the same question.
    const Records<int> byRank = askRanks<int, char>(
        t,
        [&](RecordOutbox<char>& outbox) {
          for (int to = 0; to < t.size(); ++to)
            for (int i = 0; i < to; ++i) outbox.add(to, char('a' + i));
        },
        [&](char question, int asker) { return question + 1000 * t.rank() + 100000 * asker; });
    for (int from = 0; from < t.size(); ++from) {
      ASSERT_EQ(byRank.from(from).size(), static_cast<std::size_t>(from));
      for (int i = 0; i < from; ++i)
        EXPECT_EQ(byRank.from(from)[static_cast<std::size_t>(i)],
                  'a' + i + 1000 * from + 100000 * t.rank());
    }
  });
}

/// Each rank asks questions in one exchange and is answered in the next one.
/// @param more  the number of answers that this rank expects besides those to its questions
template <ByteExchange Exchange>
void askAndBeAnswered(Transport& t, int round, std::size_t more) {
  const Records<std::int64_t> questions =
      sendRecords<std::int64_t, Exchange>(t, [&](RecordOutbox<std::int64_t>& outbox) {
        for (int to = 0; to < t.size(); ++to)
          for (std::int64_t i = 0; i < countOf(t.rank(), to, round); ++i) outbox.add(to, i);
      });
  ErrorCollector errors;
  const Records<Record> answers = answerRanks<Record, Exchange>(
      t, errors,
      [&](RecordOutbox<Record>& outbox) {
        for (int asker = 0; asker < t.size(); ++asker)
          for (const std::int64_t question : questions.from(asker))
            outbox.add(asker, recordOf(t.rank(), asker, question));
      },
      [&](int rank) { return static_cast<std::size_t>(countOf(t.rank(), rank, round)) + more; });
  errors.agree(t);
  for (int from = 0; from < t.size(); ++from)
    for (std::size_t i = 0; i < answers.from(from).size(); ++i)
      EXPECT_EQ(answers.from(from)[i], recordOf(from, t.rank(), static_cast<std::int64_t>(i)));
}

TEST(Records, RanksAnswerTheQuestionsOfAnEarlierExchange) {
  everywhere([](Transport& t) {
    for (int round = 0; round < 4; ++round) {
      askAndBeAnswered<exchangeBytes>(t, round, 0);
      askAndBeAnswered<allToAll>(t, round, 0);
    }
  });
}

constexpr const char* NoMemory = "there is not enough memory; use more ranks, or smaller data";

/// All ranks throw Error with the text of agreeOnError(), and go on with the transport.
void expectErrorOf(Transport& t, int failing, const std::string& text, ErrorKind kind,
                   const std::function<void()>& action) {
  const std::string expected =
      t.rank() == failing ? text : "rank " + std::to_string(failing) + ": " + text;
  try {
    action();
    ADD_FAILURE() << "no error where expected: " << expected;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, expected.size()), expected);
    EXPECT_EQ(error.kind(), kind);
    EXPECT_EQ(error.rank(), failing);
  }
  const Records<int> got = sendRecords<int>(t, [&](RecordOutbox<int>& outbox) {
    for (int to = 0; to < t.size(); ++to) outbox.add(to, t.rank());
  });
  EXPECT_EQ(got.size(), static_cast<std::size_t>(t.size()));
}

/// Each rank sends each a number; one of them fails as told.
struct Failing {
  Transport& t;
  int rank;

  bool here() const { return t.rank() == rank; }
  template <class Outbox>
  void fillAll(Outbox& outbox) const {
    for (int to = 0; to < t.size(); ++to) outbox.add(to, t.rank());
  }
};

template <ByteExchange Exchange>
void expectErrorsToBeAgreedOn(Transport& t) {
  for (int failing = 0; failing < t.size(); ++failing) {
    const Failing one{t, failing};
    const auto fill = [&](RecordOutbox<int>& outbox) { one.fillAll(outbox); };
    // In building: no rank uses the incomplete records.
    for (const bool memory : {false, true}) {
      expectErrorOf(t, failing, memory ? NoMemory : "no such field",
                    memory ? ErrorKind::Memory : ErrorKind::Input, [&] {
                      sendRecords<int, Exchange>(
                          t,
                          [&](RecordOutbox<int>& outbox) {
                            one.fillAll(outbox);
                            if (one.here() && memory) throw std::bad_alloc();
                            if (one.here()) throw Error("no such field");
                          },
                          [&](const Records<int>&) { ADD_FAILURE() << "incomplete records used"; });
                    });
    }
    // In using.
    expectErrorOf(t, failing, "malformed message: of rank", ErrorKind::Message, [&] {
      sendRecords<int, Exchange>(t, fill, [&](const Records<int>& received) {
        EXPECT_EQ(received.size(), static_cast<std::size_t>(t.size()));
        if (one.here()) refuseMessage("of rank");
      });
    });
    // A rank that does not exist.
    for (const int wrong : {-1, t.size()}) {
      expectErrorOf(t, failing, "a record for rank " + std::to_string(wrong), ErrorKind::Internal,
                    [&] {
                      (void)sendRecords<int, Exchange>(t, [&](RecordOutbox<int>& outbox) {
                        one.fillAll(outbox);
                        if (one.here()) outbox.add(wrong, 1);
                      });
                    });
    }
    // Messages: in building, in reading, and where one is not read to its end.
    const auto messages = [&](MessageOutbox& outbox) {
      for (int to = 0; to < t.size(); ++to) outbox.to(to).value(t.rank());
    };
    const auto readOne = [&](int, Reader& reader) { static_cast<void>(reader.value<int>()); };
    expectErrorOf(t, failing, "no such field", ErrorKind::Input, [&] {
      sendMessages<Exchange>(
          t,
          [&](MessageOutbox& outbox) {
            messages(outbox);
            if (one.here()) throw Error("no such field");
          },
          [&](std::vector<Reader>&) { ADD_FAILURE() << "incomplete messages used"; });
    });
    expectErrorOf(t, failing, "malformed message: 8 bytes expected", ErrorKind::Message, [&] {
      sendMessages<Exchange>(t, messages, [&](std::vector<Reader>& readers) {
        if (one.here()) static_cast<void>(readers[0].value<double>());
        readAll(readers, readOne);
      });
    });
    expectErrorOf(t, failing, "malformed message: 4 bytes too many from rank 0", ErrorKind::Message,
                  [&] {
                    sendMessages<Exchange>(t, messages, [&](std::vector<Reader>& readers) {
                      if (!one.here()) readAll(readers, readOne);
                    });
                  });
    // Questions: of a key that does not exist, and to a rank that is not its owner.
    const Shares shares{10, t.size()};
    for (const std::int64_t key : {-1, 10}) {
      expectErrorOf(t, failing, "key " + std::to_string(key) + " is out of the range [0, 10)",
                    ErrorKind::Input, [&] {
                      (void)askOwners<int, Exchange>(
                          t, shares, {3, one.here() ? key : 4},
                          [](std::size_t place) { return static_cast<int>(place); });
                    });
    }
    if (failing > 0) {
      const Shares other{10, 1};  // as a rank of another version of the program has it
      expectErrorOf(t, 0, "malformed message: key 9 of another rank", ErrorKind::Message, [&] {
        (void)askOwners<int, Exchange>(t, one.here() ? other : shares, {one.here() ? 9 : 0},
                                       [](std::size_t place) { return static_cast<int>(place); });
      });
    }
    // In an answer.
    expectErrorOf(t, failing, "nothing is known", ErrorKind::Input, [&] {
      (void)askOwners<int, Exchange>(
          t, std::vector<int>(std::size_t(5), failing), [](int owner) { return owner; },
          [](int, int) -> int { throw Error("nothing is known"); });
    });
  }
}

TEST(Records, ErrorsOfOneRankAreThoseOfAll) {
  everywhere([](Transport& t) {
    expectErrorsToBeAgreedOn<exchangeBytes>(t);
    expectErrorsToBeAgreedOn<allToAll>(t);
  });
}

TEST(Records, AnswersAreAsManyAsQuestionsOnAllRanks) {
  everywhere([](Transport& t) {
    for (int failing = 0; failing < t.size(); ++failing)
      expectErrorOf(t, failing, "malformed message: the number of answers from rank 0 differs",
                    ErrorKind::Message,
                    [&] { askAndBeAnswered<exchangeBytes>(t, 1, t.rank() == failing ? 1 : 0); });
  });
}

TEST(Records, AnErrorOfBeforeIsAgreedOnAtTheEnd) {
  everywhere([](Transport& t) {
    const int last = t.size() - 1;
    expectErrorOf(t, last, "an earlier error", ErrorKind::Input, [&] {
      ErrorCollector errors;
      if (t.rank() == last) errors.note("an earlier error");
      EXPECT_EQ(errors.anyKnown(), t.rank() == last);
      const Records<int> none = sendRecords<int>(t, errors, [&](RecordOutbox<int>& outbox) {
        EXPECT_NE(t.rank(), last);
        outbox.add(0, 1);
      });
      EXPECT_TRUE(errors.anyKnown()) << "the exchange tells all ranks";
      EXPECT_EQ(errors.any(), t.rank() == last);
      EXPECT_EQ(none.size(), 0u);
      sendMessages(
          t, errors, [](MessageOutbox&) { ADD_FAILURE() << "all know that it is in vain"; },
          [](std::vector<Reader>&) { ADD_FAILURE() << "all know that it is in vain"; });
      errors.agree(t);
    });
  });
}

/// Cuts, lengthens or loses the first message of an exchange that comes from a rank.
class DamagingTransport : public ForwardingTransport {
 public:
  DamagingTransport(Transport& inner, int source, int damage)
      : ForwardingTransport(inner), source_(source), damage_(damage) {}

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (!envelope || topic != Topic::Setup || envelope->source != source_ || done_) return envelope;
    done_ = true;
    if (damage_ == 0) throw LostMessage(source_, "no memory for a message");
    Bytes& bytes = envelope->bytes;
    bytes.resize(damage_ < 0 ? bytes.size() - 1 : bytes.size() + 8);
    return envelope;
  }

 private:
  int source_, damage_;
  bool done_ = false;
};

TEST(Records, DamagedMessagesAreRefusedOnAllRanks) {
  everywhere([](Transport& t) {
    if (t.size() == 1) return;
    const int victim = t.size() - 1;
    for (const int damage : {-1, 0, 1}) {
      const std::string text = damage == 0 ? "no memory for a message"
                                           : "malformed message: 32 bytes expected for a record";
      expectErrorOf(t, victim, text, damage == 0 ? ErrorKind::Memory : ErrorKind::Message, [&] {
        DamagingTransport damaging(t, 0, damage);
        Transport& mine = t.rank() == victim ? static_cast<Transport&>(damaging) : t;
        sendRecords<Record>(
            mine,
            [&](RecordOutbox<Record>& outbox) {
              for (int to = 0; to < t.size(); ++to) outbox.add(to, recordOf(t.rank(), to, 1));
            },
            [&](const Records<Record>&) { EXPECT_NE(t.rank(), victim); });
      });
    }
    // An answer too many.
    expectErrorOf(t, victim, "malformed message: the number of answers from rank ",
                  ErrorKind::Message, [&] {
                    DamagingTransport damaging(t, 0, 1);
                    Transport& mine = t.rank() == victim ? static_cast<Transport&>(damaging) : t;
                    (void)askOwners<std::int64_t>(
                        mine, std::vector<int>(t.rank() == victim ? 1 : 0, 0),
                        [](int owner) { return owner; }, [](int, int) { return std::int64_t(1); });
                  });
  });
}

}  // namespace
}  // namespace tributary
