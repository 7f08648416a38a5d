#include <gtest/gtest.h>

#include <algorithm>

#include "Tributary/Error.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Collectives.h"
#include "World.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::mix;
using testing::world;

TEST(Detector, Registry) {
  const auto names = detectorNames();
  EXPECT_NE(std::find(names.begin(), names.end(), "consensus"), names.end());
  const std::string error = errorOf([] { makeDetector("oracle", world(), 0); });
  EXPECT_NE(error.find("'oracle'"), std::string::npos);
  EXPECT_NE(error.find("consensus"), std::string::npos);
  DetectorType twin;
  twin.traits.name = "consensus";
  EXPECT_THROW(registerDetector(twin), Error);
}

class EachDetector : public ::testing::TestWithParam<std::string> {};

// Tokens that hop to random ranks and split: at the moment a detector fires, no rank may hold one
// and none may be in flight. The detector is used again and again, as an exchange does.
TEST_P(EachDetector, FiresOnceAllIsQuietAndCanBeReused) {
  Transport& transport = world();
  const Session session = transport.openSession();
  const auto detector = makeDetector(GetParam(), transport, session);
  EXPECT_EQ(detector->traits().name, GetParam());
  const SendMode mode =
      detector->traits().synchronousSends ? SendMode::Synchronous : SendMode::Eager;
  const auto size = static_cast<std::uint64_t>(transport.size());
  for (std::uint64_t repetition = 0; repetition < 60; ++repetition) {
    std::vector<std::uint64_t> tokens;  // hops left, below 16 bits; above: identity
    std::int64_t handled = 0;
    if (transport.rank() == static_cast<int>(repetition % size)) {
      tokens.assign(3, (repetition + 1) << 16 | (5 + mix(repetition) % 6));
    }
    std::vector<PendingSend> sends;
    bool touched = false;
    Patience patience;
    while (true) {
      bool busy = false;
      while (auto envelope = transport.tryReceive(Channel::Work, session)) {
        detector->received(envelope->source);
        tokens.push_back(Reader(envelope->bytes).value<std::uint64_t>());
        touched = busy = true;
      }
      if (!tokens.empty()) {
        const std::uint64_t token = tokens.back();
        tokens.pop_back();
        ++handled;
        touched = busy = true;
        if ((token & 0xffff) > 0) {
          for (std::uint64_t child = 0; child < 2; ++child) {
            const auto target = static_cast<int>(mix(token * 2 + child) % size);
            const std::uint64_t next = (mix(token + child) << 16) | ((token & 0xffff) - 1);
            sends.push_back(
                transport.send(target, Channel::Work, session, mode, Writer().value(next).take()));
            detector->sent(target);
          }
        }
      }
      transport.poll();
      sends.erase(
          std::remove_if(sends.begin(), sends.end(), [](const PendingSend& s) { return s.done(); }),
          sends.end());
      const bool passive =
          tokens.empty() && sends.empty() && !transport.receiving(Channel::Work, session);
      if (detector->advance(passive, std::exchange(touched, false))) break;
      if (busy) {
        patience.reset();
      } else {
        patience.rest(transport);
      }
    }
    EXPECT_TRUE(tokens.empty());
    EXPECT_TRUE(sends.empty());
    const auto hops = 5 + mix(repetition) % 6;
    EXPECT_EQ(allreduce(transport, ReduceOp::Sum, handled),
              static_cast<std::int64_t>(3 * ((std::uint64_t(2) << hops) - 1)));
    EXPECT_FALSE(transport.tryReceive(Channel::Work, session));
    barrier(transport);  // a rank that knows the end early must not send to one that does not
  }
  EXPECT_GE(detector->waves(), 60);
}

INSTANTIATE_TEST_SUITE_P(Termination, EachDetector, ::testing::ValuesIn(detectorNames()),
                         [](const auto& test) {
                           std::string name = test.param;  // GoogleTest allows no hyphens
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A rank that is touched again after it has entered the barrier must spoil that wave.
TEST(Consensus, ARankTouchedInAWaveSpoilsIt) {
  Transport& transport = world();
  const auto detector = makeDetector("consensus", transport, transport.openSession());
  const bool last = transport.rank() == transport.size() - 1;
  EXPECT_FALSE(detector->advance(true, false));
  EXPECT_FALSE(detector->advance(true, last));
  bool fired = false;
  while (!fired) {
    transport.poll();
    fired = detector->advance(true, false);
  }
  EXPECT_EQ(detector->waves(), 2);
}

}  // namespace
}  // namespace tributary
