// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#if defined(TRIBUTARY_WITH_MPI) && defined(__linux__)
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/LargeBuffers.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Clock.h"
#include "Tributary/Transport/Loopback.h"

#if defined(TRIBUTARY_WITH_MPI) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
namespace {
struct Failing {  // sizes of allocations that fail
  std::size_t least, most;
};
constexpr Failing Nothing{1, 0};
Failing failing = Nothing;
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  void* const memory =
      size >= failing.least && size <= failing.most ? nullptr : std::malloc(size + 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#define TRIBUTARY_FAILING_NEW
#endif

namespace tributary {
namespace {

using testing::errorOf;
using testing::makeWorld;
using testing::mix;
using testing::world;

Bytes pattern(std::uint64_t seed, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(mix(seed + i / 8) >> i % 8);
  return bytes;
}

void waitFor(Transport& transport, const std::function<bool()>& condition) {
  Backoff backoff;
  while (!condition()) {
    transport.poll();
    backoff.pause(transport);
  }
}

Envelope receive(Transport& transport, Topic topic, Session session) {
  std::optional<Envelope> envelope;
  waitFor(transport, [&] {
    envelope = transport.tryReceive(topic, session);
    return envelope.has_value();
  });
  return std::move(*envelope);
}

// Each rank sends a series of messages of all sizes to its right neighbor, in both modes.
void ring(Transport& transport, SendMode mode) {
  const Session session = transport.openSession();
  const int size = transport.size();
  const int right = (transport.rank() + 1) % size;
  const int left = (transport.rank() + size - 1) % size;
  const std::vector<std::size_t> sizes = {
      0, 1, 7, 8, 4095, 4096, 4097, 65536, 66001, 1 << 18, (1 << 18) + 1, 3000000, 2, 0};
  std::vector<PendingSend> sends;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto seed = static_cast<std::uint64_t>(transport.rank()) * 1000 + i;
    sends.push_back(transport.send(right, Topic::Work, session, mode, pattern(seed, sizes[i])));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Envelope envelope = receive(transport, Topic::Work, session);
    EXPECT_EQ(envelope.source, left);
    const auto seed = static_cast<std::uint64_t>(left) * 1000 + i;
    EXPECT_TRUE(envelope.bytes == pattern(seed, sizes[i])) << "message " << i;
  }
  EXPECT_FALSE(transport.receiving(Topic::Work, session));
  waitFor(transport, [&] {
    return std::all_of(sends.begin(), sends.end(), [](const PendingSend& s) { return s.done(); });
  });
  const auto seed = static_cast<std::uint64_t>(transport.rank()) * 1000 + 3;
  if (size > 1) {
    EXPECT_TRUE(sends[3].takeBuffer() == pattern(seed, sizes[3]));
  }
}

TEST(Transport, MessagesOfAllSizesArriveInOrder) {
  ring(world(), SendMode::Eager);
  ring(world(), SendMode::Synchronous);
}

TEST(Transport, SplitMessagesArriveInOrder) {
  const auto transport = makeWorld(1000);
  ring(*transport, SendMode::Eager);
  ring(*transport, SendMode::Synchronous);
}

void sendToSelfUnderSeveralTopics(Transport& transport) {
  const Session first = transport.openSession();
  const Session second = transport.openSession();
  EXPECT_NE(first, second);
  const int self = transport.rank();
  auto a = transport.send(self, Topic::Work, first, SendMode::Eager, pattern(1, 10));
  auto b = transport.send(self, Topic::Control, first, SendMode::Eager, pattern(2, 20));
  auto c = transport.send(self, Topic::Work, second, SendMode::Eager, pattern(3, 30));
  auto d = transport.send(self, Topic::Work, second, SendMode::Eager, pattern(4, 40));
  EXPECT_EQ(receive(transport, Topic::Work, second).bytes.size(), 30u);
  EXPECT_EQ(receive(transport, Topic::Control, first).bytes.size(), 20u);
  EXPECT_EQ(receive(transport, Topic::Work, first).bytes.size(), 10u);
  EXPECT_FALSE(transport.tryReceive(Topic::Work, first));
  EXPECT_EQ(receive(transport, Topic::Work, second).bytes.size(), 40u);
  EXPECT_FALSE(transport.tryReceive(Topic::Work, second));
}

void sendSynchronously(Transport& transport) {
  const Session session = transport.openSession();
  const int right = (transport.rank() + 1) % transport.size();
  for (const std::size_t size : {1, 100000, 1000000}) {
    auto send =
        transport.send(right, Topic::Work, session, SendMode::Synchronous, pattern(9, size));
    // Long enough for all that goes without the receiver to be under way, on a busy machine too.
    bool isEarly = false;
    for (const double end = steadySeconds() + 0.05; steadySeconds() < end;) {
      transport.poll();
      isEarly = isEarly || send.done();
    }
    EXPECT_FALSE(isEarly) << size;
    barrier(transport);
    EXPECT_EQ(receive(transport, Topic::Work, session).bytes.size(), size);
    waitFor(transport, [&] { return send.done(); });
    barrier(transport);
  }
}

TEST(Clock, TellsForHowLongAThreadHadNoCore) {
  const double coreBegin = coreSeconds();
  const OffCore asleep;
  leaveCore(0.02);
  EXPECT_GE(asleep.seconds(), 0.0199);
  EXPECT_LT(coreSeconds(), coreBegin + 0.02);
  const double begin = steadySeconds();
  const OffCore busy;
  for (const double end = coreSeconds() + 0.001; coreSeconds() < end;) {
  }
  // Others may have had the core, too.
  const double off = busy.seconds();  // before the clock on the right is read
  EXPECT_LE(off, steadySeconds() - begin - 0.001);
  EXPECT_GE(off, -1e-5);
}

TEST(Transport, TopicsAndSessionsDoNotMix) {
  sendToSelfUnderSeveralTopics(world());
}

TEST(Transport, SynchronousSendsAreFinishedByTheReceiverOnly) {
  sendSynchronously(world());
  sendSynchronously(*makeWorld(1000));  // in parts, which are finished before they are received
}

// Also where the world is MPI.
TEST(Loopback, IsATransport) {
  const auto transport = makeLoopbackTransport();
  EXPECT_EQ(transport->rank(), 0);
  EXPECT_EQ(transport->size(), 1);
  ring(*transport, SendMode::Eager);
  ring(*transport, SendMode::Synchronous);
  sendToSelfUnderSeveralTopics(*transport);
  sendSynchronously(*transport);
  EXPECT_FALSE(transport->receiving(Topic::Work, 0));
  EXPECT_EQ(allreduce(*transport, ReduceOp::Sum, std::int64_t(7)), 7);
  const auto integer = transport->shareInteger(3);
  EXPECT_EQ(integer->fetchAdd(2), 3);
  EXPECT_EQ(integer->fetchAdd(0), 5);
  const double before = transport->now();
  transport->spend(1e3);
  EXPECT_LT(transport->now() - before, 1e3);
  EXPECT_NE(errorOf([&] {
              transport->send(1, Topic::Work, 0, SendMode::Eager, Bytes(1));
            }).find("send to rank 1: ranks are numbered from 0 to 0"),
            std::string::npos);
}

TEST(Transport, DroppedHandlesAndUnreceivedMessagesLeaveNothingPending) {
  for (int i = 0; i < 3; ++i) {
    const auto transport = makeWorld(5000);
    const Session session = transport->openSession();
    for (int rank = 0; rank < transport->size(); ++rank) {
      transport->send(rank, Topic::Work, session, SendMode::Synchronous, pattern(1, 100));
      transport->send(rank, Topic::Control, session, SendMode::Eager, pattern(2, 1 << 20));
      transport->send(rank, Topic::Work, session, SendMode::Eager, pattern(3, 50000));
    }
    transport->tryReceive(Topic::Work, session);
  }
  barrier(world());
}

TEST(Transport, WrongDestinationIsAnError) {
  Transport& transport = world();
  const int wrong = transport.size();
  EXPECT_NE(errorOf([&] {
              transport.send(wrong, Topic::Work, 0, SendMode::Eager, Bytes(1));
            }).find("rank " + std::to_string(wrong)),
            std::string::npos);
}

TEST(Transport, ClockRunsForwards) {
  double last = world().now();
  for (int i = 0; i < 1000; ++i) {
    const double now = world().now();
    EXPECT_GE(now, last);
    last = now;
  }
  world().relax(1e-3);
  EXPECT_GE(world().now() - last, 0.9e-3);
}

TEST(Collectives, AllreduceOfIntegers) {
  Transport& t = world();
  const std::int64_t rank = t.rank();
  const std::int64_t size = t.size();
  EXPECT_EQ(allreduce(t, ReduceOp::Sum, rank), size * (size - 1) / 2);
  EXPECT_EQ(allreduce(t, ReduceOp::Min, rank), 0);
  EXPECT_EQ(allreduce(t, ReduceOp::Max, rank), size - 1);
  EXPECT_EQ(allreduce(t, ReduceOp::Or, std::int64_t(1) << rank), (std::int64_t(1) << size) - 1);
  EXPECT_EQ(allreduce(t, ReduceOp::Max, std::vector<std::int64_t>{rank, -rank}),
            (std::vector<std::int64_t>{size - 1, 0}));
}

TEST(Collectives, AllreduceOfDoublesIsExact) {
  Transport& t = world();
  const double mine = 0.1 * (t.rank() - 1);
  EXPECT_EQ(allreduce(t, ReduceOp::Min, mine), -0.1);
  EXPECT_EQ(allreduce(t, ReduceOp::Max, mine), 0.1 * (t.size() - 2));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(allreduce(t, ReduceOp::Max, t.rank() == 0 ? infinity : 1.0), infinity);
  EXPECT_EQ(allreduce(t, ReduceOp::Min, t.rank() == 0 ? -infinity : 1.0), -infinity);
  EXPECT_THROW((void)allreduce(t, ReduceOp::Sum, mine), Error);
}

TEST(Collectives, GatherPrefixAndBroadcast) {
  Transport& t = world();
  const int size = t.size();
  std::vector<int> mine(static_cast<std::size_t>(t.rank() * 3 % 5), t.rank());
  std::vector<int> expected;
  std::vector<std::int64_t> expectedCounts;
  for (int r = 0; r < size; ++r) {
    expected.insert(expected.end(), static_cast<std::size_t>(r * 3 % 5), r);
    expectedCounts.push_back(r * 3 % 5);
  }
  std::vector<std::int64_t> counts;
  EXPECT_EQ(allgatherv(t, mine, &counts), expected);
  EXPECT_EQ(counts, expectedCounts);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  EXPECT_EQ(allgather(t, t.rank()), ranks);
  EXPECT_EQ(exclusivePrefix(t, t.rank() + 1), t.rank() * (t.rank() + 1) / 2);
  for (int root = 0; root < size; ++root) {
    EXPECT_EQ(broadcast(t, 100 + t.rank(), root), 100 + root);
    EXPECT_EQ(broadcast(t, std::string(static_cast<std::size_t>(t.rank()), 'x'), root),
              std::string(static_cast<std::size_t>(root), 'x'));
    EXPECT_EQ(broadcast(t, std::vector<int>{t.rank(), 7}, root), (std::vector<int>{root, 7}));
  }
}

TEST(Collectives, ExchangeBytesOfAllSizes) {
  Transport& t = world();
  const auto self = static_cast<std::uint64_t>(t.rank());
  const auto size = static_cast<std::uint64_t>(t.size());
  const auto sizeOf = [](std::uint64_t from, std::uint64_t to, std::uint64_t repetition) {
    const std::uint64_t choice = mix(from * 1000003 + to * 101 + repetition);
    return choice % 3 == 0 ? 0 : static_cast<std::size_t>(choice >> (choice % 2 ? 44 : 54));
  };
  for (std::uint64_t repetition = 0; repetition < 20; ++repetition) {
    std::vector<Bytes> to;
    for (std::uint64_t r = 0; r < size; ++r) {
      to.push_back(pattern(self * 64 + r, sizeOf(self, r, repetition)));
    }
    const auto got = exchangeBytes(t, std::move(to));
    ASSERT_EQ(got.size(), size);
    for (std::uint64_t r = 0; r < size; ++r) {
      EXPECT_TRUE(got[r] == pattern(r * 64 + self, sizeOf(r, self, repetition)));
    }
  }
  EXPECT_THROW(exchangeBytes(t, std::vector<Bytes>(size + 1)), Error);
}

#if defined(TRIBUTARY_WITH_MPI) && defined(__linux__)
/// Bytes of address space that this process has.
std::size_t addressSpace() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Transport, AMessageWithoutMemoryIsLostAndKeepsNobody) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  if (testing::Sanitized) GTEST_SKIP() << "sanitizers need the address space";
  const auto transport = makeWorld(std::size_t(4) << 20);
  Transport& t = *transport;
  const Session session = t.openSession();
  const int last = t.size() - 1;
  barrier(t);
  if (t.rank() == 0) {
    const PendingSend lost =
        t.send(last, Topic::Work, session, SendMode::Synchronous, Bytes(std::size_t(30) << 20));
    const PendingSend small = t.send(last, Topic::Work, session, SendMode::Synchronous, Bytes(5));
    waitFor(t, [&] { return lost.done() && small.done(); });
  } else if (t.rank() == last) {
    freeKeptBuffers();
    rlimit limits{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &limits), 0);
    rlimit low = limits;
    low.rlim_cur = addressSpace() + (std::size_t(8) << 20);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &low), 0);
    int source = -1;
    std::string text;
    std::optional<Envelope> next;
    waitFor(t, [&] {
      try {
        next = t.tryReceive(Topic::Work, session);
      } catch (const LostMessage& lost) {
        source = lost.source();
        text = lost.what();
      }
      return next.has_value();
    });
    setrlimit(RLIMIT_AS, &limits);
    EXPECT_EQ(source, 0);
    EXPECT_NE(text.find("no memory for a message of 31457280 bytes"), std::string::npos) << text;
    EXPECT_EQ(next->bytes.size(), 5u);
    EXPECT_FALSE(t.receiving(Topic::Work, session));
  }
  barrier(t);
}
#endif

#ifdef TRIBUTARY_FAILING_NEW
TEST(Transport, ASmallMessageWithoutMemoryIsLostAndKeepsNobody) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  Transport& t = world();
  const Session session = t.openSession();
  const int last = t.size() - 1;
  constexpr std::size_t Size = 3210;
  if (t.rank() == 0) {
    std::vector<PendingSend> sends;
    for (const std::size_t size : {Size, std::size_t(5), Size})
      sends.push_back(t.send(last, Topic::Work, session, SendMode::Synchronous, Bytes(size)));
    for (const PendingSend& send : sends) waitFor(t, [&] { return send.done(); });
  } else if (t.rank() == last) {
    std::vector<std::string> lost;
    std::vector<std::size_t> sizes;
    waitFor(t, [&] {
      if (sizes.empty()) failing = {Size + 1, Size + 1};  // with what the transport adds
      try {
        if (const auto next = t.tryReceive(Topic::Work, session))
          sizes.push_back(next->bytes.size());
      } catch (const LostMessage& error) {
        EXPECT_EQ(error.source(), 0);
        lost.emplace_back(error.what());
      }
      failing = Nothing;
      return sizes.size() == 2;
    });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{5, Size}));
    ASSERT_EQ(lost.size(), 1u);
    EXPECT_NE(lost[0].find("no memory for a message of 3210 bytes"), std::string::npos) << lost[0];
  }
  barrier(t);
}
#endif

#ifdef TRIBUTARY_FAILING_NEW
TEST(Transport, IsMadeOnAllRanksOrOnNone) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const int last = world().size() - 1;
  std::string text;
  ErrorKind kind = ErrorKind::Internal;
  if (world().rank() == last) failing = {1024, std::size_t(-1)};
  try {
    static_cast<void>(makeWorld(std::size_t(1) << 20));
  } catch (const Error& error) {
    failing = Nothing;
    text = error.what();
    kind = error.kind();
    EXPECT_EQ(error.rank(), last);
  }
  failing = Nothing;
  EXPECT_EQ(kind, ErrorKind::Memory);
  EXPECT_NE(text.find("rank " + std::to_string(last) + " lacks memory"), std::string::npos) << text;
  EXPECT_EQ(makeWorld(std::size_t(1) << 20)->size(), world().size());
}
#endif

TEST(Collectives, AreRightUnderAdversaries) {
  if (world().size() > 1) GTEST_SKIP() << "has ranks of its own";
  testing::underAdversaries(200, [](std::uint64_t seed, Transport& t) {
    const auto self = static_cast<std::uint64_t>(t.rank());
    const auto size = static_cast<std::uint64_t>(t.size());
    const auto sizeOf = [&](std::uint64_t from, std::uint64_t to) {
      return static_cast<std::size_t>(mix(seed * 1009 + from * 101 + to) % 4 * 100);
    };
    std::vector<Bytes> to;
    for (std::uint64_t r = 0; r < size; ++r) to.push_back(pattern(self * 64 + r, sizeOf(self, r)));
    const auto got = exchangeBytes(t, std::move(to));
    for (std::uint64_t r = 0; r < size; ++r) {
      EXPECT_TRUE(got[r] == pattern(r * 64 + self, sizeOf(r, self))) << "seed " << seed;
    }
    const auto all = allgatherBytes(t, pattern(self, sizeOf(self, 0)));
    for (std::uint64_t r = 0; r < size; ++r) {
      EXPECT_TRUE(all[r] == pattern(r, sizeOf(r, 0))) << "seed " << seed;
    }
    EXPECT_EQ(exclusivePrefix(t, t.rank() + 1), t.rank() * (t.rank() + 1) / 2);
    EXPECT_EQ(broadcast(t, 100 + t.rank(), t.size() - 1), 99 + t.size());
  });
}

TEST(Agree, AllRanksLeaveTogether) {
  Transport& t = world();
  EXPECT_EQ(errorOf([&] { agreeOnError(t, ""); }), "");
  for (int bad = 0; bad < t.size(); ++bad) {
    const std::string mine = t.rank() >= bad ? "no vectors on " + std::to_string(t.rank()) : "";
    const std::string expected =
        t.rank() >= bad ? mine
                        : "rank " + std::to_string(bad) + ": no vectors on " + std::to_string(bad);
    EXPECT_EQ(errorOf([&] { agreeOnError(t, mine); }), expected);
  }
}

TEST(Agree, NoRankIsLeftWaitingForOneThatThrows) {
  Transport& t = world();
  EXPECT_EQ(errorOf([&] { collectively(t, [] {}); }), "");
  const int last = t.size() - 1;
  const auto expected = [&](const std::string& text) {
    return t.rank() == last ? text : "rank " + std::to_string(last) + ": " + text;
  };
  const auto errorOfLast = [&](auto&& thrown) {
    return errorOf([&] {
      collectively(t, [&] {
        if (t.rank() == last) throw thrown;
      });
    });
  };
  EXPECT_EQ(errorOfLast(Error("no vectors")), expected("no vectors"));
  EXPECT_EQ(errorOfLast(std::runtime_error("")), expected("an error without a text"));
  EXPECT_EQ(errorOfLast(17), expected("an exception that is not a std::exception"));
}

TEST(Agree, CarriesKindAndRank) {
  Transport& t = world();
  const int last = t.size() - 1;
  const auto expect = [&](ErrorKind kind, int rank, auto&& thrown) {
    try {
      collectively(t, [&] {
        if (t.rank() == last) throw thrown;
      });
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(error.rank(), rank);
    }
  };
  expect(ErrorKind::Input, last, Error("a wrong argument"));
  expect(ErrorKind::Message, last, Error(ErrorKind::Message, "a malformed message"));
  expect(ErrorKind::Memory, last, std::bad_alloc());
  expect(ErrorKind::Memory, last, LostMessage(0, "no memory for a message"));
  expect(ErrorKind::Internal, last, std::runtime_error("of another library"));
  expect(ErrorKind::Internal, last, 17);
  expect(ErrorKind::Stall, 7, Error(ErrorKind::Stall, "seen on another rank", 7));
}

TEST(Transport, ASharedIntegerIsChangedAtOneMomentForAll) {
  Transport& transport = world();
  constexpr std::int64_t Additions = 200;
  const auto integer = transport.shareInteger(1000);
  std::int64_t last = 999;
  for (std::int64_t i = 0; i < Additions; ++i) {
    const std::int64_t before = integer->fetchAdd(1);
    EXPECT_GT(before, last);
    last = before;
  }
  barrier(transport);
  EXPECT_EQ(integer->fetchAdd(0), 1000 + Additions * transport.size());
  barrier(transport);
}

}  // namespace
}  // namespace tributary
