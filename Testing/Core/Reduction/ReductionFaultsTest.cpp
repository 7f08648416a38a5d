// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong on one rank alone, in a reduction: all ranks have to leave it, with the reason.
// On simulated ranks, where one that waits for ever is found out.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Support/Assignments.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Reduction/AllReduce.h"
#include "Tributary/Reduction/ArrayMerge.h"
#include "Tributary/Reduction/Sort.h"
#include "Tributary/Reduction/Swap.h"

namespace {

using namespace tributary;
using tributary::testing::errorOf;
using tributary::testing::ForwardingTransport;
using tributary::testing::spread;

enum class Damage { Short, Longer, Footer, Lost };
constexpr Damage Damages[] = {Damage::Short, Damage::Longer, Damage::Footer, Damage::Lost};

/// Damages one of the messages that it receives on a topic, the one of a number.
class Damaging : public ForwardingTransport {
 public:
  Damaging(Transport& inner, Damage damage, int number, Topic topic = Topic::Work)
      : ForwardingTransport(inner), damage_(damage), number_(number), topic_(topic) {}

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (!envelope || topic != topic_ || number_-- != 0) return envelope;
    done = true;
    Bytes& bytes = envelope->bytes;
    switch (damage_) {
      case Damage::Short:
        bytes.resize(bytes.size() / 2);
        break;
      case Damage::Longer:
        bytes.insert(bytes.begin(), 3, std::byte{1});
        break;
      case Damage::Footer:
        for (std::size_t i = bytes.size() - 40; i < bytes.size(); ++i) bytes[i] = std::byte{0xff};
        break;
      case Damage::Lost:
        throw LostMessage(envelope->source, "no memory for a message");
    }
    return envelope;
  }

  bool done = false;

 private:
  Damage damage_;
  int number_;
  Topic topic_;
};

std::vector<std::int64_t> numbers(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

/// One run of a reduction over blocks, on this rank's transport; throws what run() throws.
using Reduction = std::function<void(Transport&, const Assignment&)>;

void addInto(const std::int64_t* lower, const std::int64_t* upper, std::int64_t* result,
             std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) result[i] = lower[i] + upper[i];
}

std::size_t localBlocks(const Transport& transport, const Assignment& assignment) {
  return static_cast<std::size_t>(assignment.count(transport.rank()));
}

template <class Machine, class... Tuning>
void reduceArrays(Transport& transport, const Assignment& assignment, const KValues& kValues,
                  Tuning... tuning) {
  Machine machine(transport, assignment, kValues, 100, addInto, serialFor, tuning...);
  // Gone as soon as run() has ended, whatever is still being sent from it.
  std::vector<std::vector<std::int64_t>> arrays(localBlocks(transport, assignment), numbers(100));
  std::vector<std::int64_t*> buffers;
  for (auto& array : arrays) buffers.push_back(array.data());
  machine.run(buffers);
}

std::vector<std::pair<std::string, Reduction>> reductions() {
  const auto join = [](std::vector<std::int64_t>& lower, std::vector<std::int64_t>&& upper) {
    lower.insert(lower.end(), upper.begin(), upper.end());
  };
  return {
      {"merge",
       [=](Transport& transport, const Assignment& assignment) {
         MergeReduction<std::vector<std::int64_t>> merge(transport, assignment,
                                                         Rounds::full(assignment.total(), 2), join);
         static_cast<void>(merge.run({localBlocks(transport, assignment), numbers(20)}));
       }},
      {"all-reduce",
       [=](Transport& transport, const Assignment& assignment) {
         AllReduce<std::vector<std::int64_t>> all(transport, assignment, join, 3);
         all.run({localBlocks(transport, assignment), numbers(20)});
       }},
      {"broadcast",
       [=](Transport& transport, const Assignment& assignment) {
         Broadcast<std::vector<std::int64_t>> broadcast(transport, assignment, 2);
         const bool root = assignment.rankOf(assignment.total() - 1) == transport.rank();
         broadcast.run(assignment.total() - 1, root ? std::optional(numbers(20)) : std::nullopt);
       }},
      {"merge of arrays",
       [](Transport& transport, const Assignment& assignment) {
         reduceArrays<ArrayMergeReduction<std::int64_t>>(
             transport, assignment, Rounds::full(assignment.total(), 2), std::size_t(160));
       }},
      {"swap",
       [](Transport& transport, const Assignment& assignment) {
         reduceArrays<SwapReduction<std::int64_t>>(transport, assignment,
                                                   Rounds::full(assignment.total(), 3));
       }},
      {"all-to-all",
       [](Transport& transport, const Assignment& assignment) {
         AllToAll exchange(transport, assignment, Rounds::full(assignment.total(), 3));
         std::vector<std::vector<Parcel>> parcels(localBlocks(transport, assignment));
         for (auto& ofBlock : parcels) {
           for (BlockId to = 0; to < assignment.total(); ++to) ofBlock.push_back({to, Bytes(10)});
         }
         static_cast<void>(exchange.run(std::move(parcels)));
       }},
      {"sort",
       [](Transport& transport, const Assignment& assignment) {
         SampleSort<std::int64_t> sort(transport, assignment,
                                       AllToAll::defaultKValues(assignment.total()));
         (void)sort.run({localBlocks(transport, assignment), numbers(50)});
       }},
  };
}

TEST(ReductionFaults, AMessageDamagedOnItsWay) {
  for (const auto& [name, reduction] : reductions()) {
    int damaged = 0;
    for (int seed = 0; seed < 60; ++seed) {
      const Damage damage = Damages[seed % 4];
      const int ranks = 2 + seed % 4;
      const int culprit = seed / 4 % ranks;
      const int number = seed / 16;
      SCOPED_TRACE(name + ", seed " + std::to_string(seed));
      const Assignment assignment =
          seed % 3 == 0 ? Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 1))
                        : spread(3 + seed % 7, ranks, static_cast<std::uint64_t>(seed));
      const auto adversary = tributary::makeRandomAdversary(static_cast<std::uint64_t>(seed));
      const auto network =
          makeAdversarialNetwork(ranks, *adversary, seed % 2 == 0, seed / 2 % 2 == 0);
      std::vector<std::string> errors(static_cast<std::size_t>(ranks));
      bool done = false;
      const std::string deadlock = errorOf([&] {
        network->run([&](Transport& transport) {
          std::string& error = errors[static_cast<std::size_t>(transport.rank())];
          if (transport.rank() == culprit) {
            Damaging damaging(transport, damage, number);
            error = errorOf([&] { reduction(damaging, assignment); });
            done = damaging.done;
          } else {
            error = errorOf([&] { reduction(transport, assignment); });
          }
          // All are here, and sessions are in step.
          EXPECT_EQ(errorOf([&] { reduction(transport, assignment); }), "");
        });
      });
      EXPECT_EQ(deadlock, "");
      if (done) ++damaged;
      for (const std::string& error : errors) {
        EXPECT_EQ(error.empty(), !done) << error;
        EXPECT_EQ(error.empty(), errors.front().empty());
      }
    }
    EXPECT_GE(damaged, 8) << name;
  }
}

TEST(CollectivesFaults, ARankThatGetsNonsenseOwesNobodyAnything) {
  using Collective = std::function<void(Transport&)>;
  const std::vector<Collective> collectives = {
      [](Transport& transport) { (void)allgather(transport, transport.rank()); },
      [](Transport& transport) { (void)exclusivePrefix(transport, 1); }};
  for (const Collective& collective : collectives) {
    for (int seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(seed);
      const int ranks = 2 + seed % 7;
      const auto adversary = makeRandomAdversary(static_cast<std::uint64_t>(seed));
      const auto network = makeAdversarialNetwork(ranks, *adversary);
      EXPECT_EQ(errorOf([&] {
                  network->run([&](Transport& transport) {
                    Damaging damaging(transport, Damage::Short, seed % 3, Topic::Setup);
                    const bool culprit = transport.rank() == ranks - 1;
                    const std::string error = errorOf([&] {
                      collective(culprit ? static_cast<Transport&>(damaging) : transport);
                    });
                    EXPECT_TRUE(!damaging.done || !error.empty());
                    EXPECT_EQ(exclusivePrefix(transport, 1), transport.rank());
                  });
                }),
                "");
      EXPECT_EQ(network->left(), "");
    }
  }
}

TEST(ReductionFaults, AThreadLoopThatThrows) {
  for (const int culprit : {0, 1, 2}) {
    const auto adversary = makeRandomAdversary(7);
    const auto network = makeAdversarialNetwork(3, *adversary);
    EXPECT_EQ(errorOf([&] {
                network->run([&](Transport& transport) {
                  const ParallelFor loop = [&](std::int64_t count, const auto& body) {
                    if (transport.rank() == culprit && count > 0) throw Error("no threads");
                    body(0, count);
                  };
                  // Two blocks a rank, so that each has something to merge.
                  SwapReduction<std::int64_t> swap(transport, Assignment({2, 2, 2}), {6}, 100,
                                                   addInto, loop);
                  auto a = numbers(100);
                  auto b = numbers(100);
                  const std::string error = errorOf([&] { swap.run({a.data(), b.data()}); });
                  EXPECT_EQ(error, transport.rank() == culprit
                                       ? "no threads"
                                       : "rank " + std::to_string(culprit) + ": no threads");
                });
              }),
              "");
  }
}

/// A value that throws when it is copied or moved for the so manieth time.
struct Touchy {
  static inline int left = -1;
  std::int64_t value = 0;

  Touchy() = default;
  explicit Touchy(std::int64_t v) : value(v) {}
  Touchy(const Touchy& other) : value(other.value) { count(); }
  Touchy(Touchy&& other) : value(other.value) { count(); }
  Touchy& operator=(const Touchy& other) = default;
  Touchy& operator=(Touchy&& other) = default;
  static void count() {
    if (left-- == 0) throw Error("cannot be copied");
  }
  bool operator<(const Touchy& other) const { return value < other.value; }
};

}  // namespace

namespace tributary {
template <>
struct Serial<Touchy> {
  static void write(Writer& writer, const Touchy& touchy) { writer.value(touchy.value); }
  static Touchy read(Reader& reader) { return Touchy(reader.value<std::int64_t>()); }
};
}  // namespace tributary

namespace {

TEST(ReductionFaults, AValueThatCannotBeCopiedWhereverThatIs) {
  bool threw = true;
  for (int copies = 0; threw; ++copies) {
    ASSERT_LT(copies, 1000);
    SCOPED_TRACE(copies);
    const auto adversary = makeScriptedAdversary("");
    const auto network = makeAdversarialNetwork(3, *adversary);
    std::vector<std::vector<std::vector<Touchy>>> values(3);
    for (int rank = 0; rank < 3; ++rank) {
      values[static_cast<std::size_t>(rank)].resize(1);
      for (int i = 0; i < 4; ++i) {
        values[static_cast<std::size_t>(rank)][0].emplace_back(3 * i + rank);
      }
    }
    std::vector<std::string> errors(3);
    Touchy::left = copies;
    EXPECT_EQ(errorOf([&] {
                network->run([&](Transport& transport) {
                  const auto rank = static_cast<std::size_t>(transport.rank());
                  errors[rank] = errorOf([&] {
                    (void)SampleSort<Touchy>(transport, Assignment({1, 1, 1}), {3})
                        .run(std::move(values[rank]));
                  });
                });
              }),
              "");
    threw = Touchy::left < 0;
    Touchy::left = -1;
    for (const std::string& error : errors) {
      EXPECT_EQ(error.find("cannot be copied") != std::string::npos, threw) << error;
    }
  }
}

/// Has no memory for one of the messages that it sends on the topic Work, the one of a number.
class WithoutMemory : public ForwardingTransport {
 public:
  WithoutMemory(Transport& inner, int number) : ForwardingTransport(inner), left_(number) {}

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    if (topic == Topic::Work && left_-- == 0) throw std::bad_alloc();
    return ForwardingTransport::send(destination, topic, session, mode, std::move(bytes));
  }

 private:
  int left_;
};

TEST(ReductionFaults, ASortWithoutMemoryForAMessageSaysSo) {
  // The messages of rank 2: a sample, then the first parcels of the all-to-all.
  for (int number = 0; number < 2; ++number) {
    SCOPED_TRACE(number);
    const auto adversary = makeScriptedAdversary("");
    const auto network = makeAdversarialNetwork(3, *adversary);
    std::vector<std::string> errors(3);
    EXPECT_EQ(
        errorOf([&] {
          network->run([&](Transport& transport) {
            WithoutMemory poor(transport, number);
            Transport& used = transport.rank() == 2 ? poor : transport;
            errors[static_cast<std::size_t>(transport.rank())] = errorOf([&] {
              (void)SampleSort<std::int64_t>(used, Assignment({1, 1, 1}), {3}).run({numbers(50)});
            });
          });
        }),
        "");
    for (const std::string& error : errors)
      EXPECT_NE(error.find("there is not enough memory"), std::string::npos) << error;
  }
}

TEST(ReductionFaults, AStartThatThrowsLeavesSessionsInStep) {
  const auto adversary = makeScriptedAdversary("");
  const auto network = makeAdversarialNetwork(2, *adversary);
  const auto add = [](std::int64_t& lower, std::int64_t&& upper) { lower += upper; };
  EXPECT_EQ(errorOf([&] {
              network->run([&](Transport& transport) {
                const Assignment assignment({1, 1});
                const bool wrong = transport.rank() == 1;
                const auto startWrong = [&](auto&& machine, auto good, auto bad) {
                  EXPECT_EQ(errorOf([&] { machine.start(wrong ? bad : good); }).empty(), !wrong);
                };
                using Items = std::vector<std::int64_t>;
                MergeReduction<std::int64_t> merge(transport, assignment, {2}, add);
                startWrong(merge, Items(1), Items(2));
                AllReduce<std::int64_t> all(transport, assignment, add);
                startWrong(all, Items(1), Items(2));
                Broadcast<std::int64_t> broadcast(transport, assignment);
                startWrong(broadcast, BlockId(0), BlockId(7));
                SampleSort<std::int64_t> sort(transport, assignment, {2});
                startWrong(sort, std::vector<Items>(1), std::vector<Items>(2));
                AllToAll exchange(transport, assignment, {2});
                using Parcels = std::vector<std::vector<Parcel>>;
                {
                  Parcels parcels(1);
                  parcels[0].push_back({wrong ? BlockId(9) : BlockId(0), Bytes(1)});
                  EXPECT_EQ(errorOf([&] { exchange.start(std::move(parcels)); }).empty(), !wrong);
                }
                EXPECT_EQ(allgather(transport, transport.rank()), (std::vector<int>{0, 1}));
                AllReduce<std::int64_t> next(transport, assignment, add);
                EXPECT_EQ(next.run({transport.rank() + 1}), 3);
              });
            }),
            "");
}

}  // namespace
