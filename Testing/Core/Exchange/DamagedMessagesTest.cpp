// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Components/ThreeSets.h"
#include "Support/Effort.h"
#include "Support/OneEach.h"
#include "Support/World.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/Matching.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Components/SharedPoints.h"
#include "Tributary/Reduction/AllToAll.h"
#include "Tributary/Reduction/ArrayMerge.h"
#include "Tributary/Reduction/Broadcast.h"
#include "Tributary/Reduction/Merge.h"
#include "Tributary/Reduction/Swap.h"
#include "Tributary/Transport/Simulated.h"

// Each message that a rank receives is damaged in many ways, one at a time. Whatever comes of it,
// it must be an error on all ranks or on none: no crash (the sanitizers look on), no endless wait.
// And each of
// the checks that a message can fail must have been failed by one of them.

namespace tributary {
namespace {

using testing::errorOf;
using testing::ForwardingTransport;
using testing::oneEach;
using testing::Sanitized;

/// What happens to one of the messages that a rank receives.
struct Damage {
  enum class Kind { None, Lost, Twice, Stub, Shorter, Beheaded, Word };
  Kind kind = Kind::None;
  std::size_t message = 0;  // counted from 0
  std::size_t fromEnd = 0;  // Word: bytes from its begin to the message's end
  std::uint64_t add = 0;    // Word: to its value
};

class DamagingTransport : public ForwardingTransport {
 public:
  DamagingTransport(Transport& inner, const Damage& damage, std::vector<std::size_t>& sizes)
      : ForwardingTransport(inner), damage_(damage), sizes_(sizes) {}

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    if (again_ && topic == topic_ && session == session_) {
      return std::exchange(again_, std::nullopt);
    }
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (!envelope || (topic != Topic::Work && topic != Topic::Setup)) return envelope;
    Bytes& bytes = envelope->bytes;
    sizes_.push_back(bytes.size());
    if (sizes_.size() - 1 != damage_.message) return envelope;
    switch (damage_.kind) {
      case Damage::Kind::None:
        break;
      case Damage::Kind::Lost:
        throw LostMessage(envelope->source, "no memory for a message");
      case Damage::Kind::Twice:
        again_ = *envelope;
        topic_ = topic;
        session_ = session;
        break;
      case Damage::Kind::Stub:
        bytes.resize(std::min<std::size_t>(bytes.size(), 3));
        break;
      case Damage::Kind::Shorter:
        bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), 8));
        break;
      case Damage::Kind::Beheaded:
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min<std::size_t>(bytes.size(), 8)));
        break;
      case Damage::Kind::Word:
        if (damage_.fromEnd <= bytes.size()) {
          std::byte* const at = bytes.data() + bytes.size() - damage_.fromEnd;
          std::uint64_t value;
          std::memcpy(&value, at, sizeof value);
          value += damage_.add;
          std::memcpy(at, &value, sizeof value);
        }
        break;
    }
    return envelope;
  }

 private:
  Damage damage_;
  std::vector<std::size_t>& sizes_;
  std::optional<Envelope> again_;
  Topic topic_ = Topic::Work;
  Session session_ = 0;
};

std::string text(const Damage& damage) {
  return "damage of kind " + std::to_string(static_cast<int>(damage.kind)) + " to message " +
         std::to_string(damage.message) + ", " + std::to_string(damage.fromEnd) +
         " bytes before its end, plus " + std::to_string(damage.add);
}

/// Runs `body` on simulated ranks, once for each damage to a message that rank `victim` receives.
/// Either all ranks fail or none, and none waits for ever.
/// @return the texts of all errors, each once
std::string errorsUnderDamage(int ranks, int victim, const std::function<void(Transport&)>& body) {
  std::vector<std::size_t> sizes;
  const auto run = [&](const Damage& damage) {
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    options.deadlockSeconds = 200;
    sizes.clear();
    std::vector<std::string> errors(static_cast<std::size_t>(ranks));
    const auto network = makeVirtualTimeNetwork(options);
    EXPECT_EQ(errorOf([&] {
                network->run([&](Transport& transport) {
                  // Caught here: a rank that ends with an error must not end the others.
                  errors[static_cast<std::size_t>(transport.rank())] = errorOf([&] {
                    if (transport.rank() != victim) return body(transport);
                    DamagingTransport damaging(transport, damage, sizes);
                    body(damaging);
                  });
                });
              }),
              "")
        << text(damage) << "\n"
        << errors[static_cast<std::size_t>(victim)];
    const auto failed = ranks - std::count(errors.begin(), errors.end(), "");
    EXPECT_TRUE(failed == 0 || failed == ranks)
        << failed << " ranks of " << ranks << " failed: " << text(damage) << "\n"
        << *std::max_element(errors.begin(), errors.end());
    return errors[static_cast<std::size_t>(victim)];
  };
  EXPECT_EQ(run({}), "");
  const std::vector<std::size_t> whole = sizes;
  EXPECT_FALSE(whole.empty());
  std::set<std::string> errors;
  for (std::size_t m = 0; m < whole.size(); ++m) {
    for (const auto kind : {Damage::Kind::Lost, Damage::Kind::Twice, Damage::Kind::Stub,
                            Damage::Kind::Shorter, Damage::Kind::Beheaded}) {
      errors.insert(run({kind, m}));
    }
    // The first and the last words, between which there is more of the same.
    constexpr std::size_t Words = Sanitized ? 8 : 20;
    const std::size_t words = whole[m] / 8;
    for (std::size_t word = 1; word <= words; ++word) {
      if (word > Words && word + Words <= words) continue;
      for (const std::uint64_t add :
           {std::uint64_t(1), ~std::uint64_t(0), std::uint64_t(1) << 40, std::uint64_t(1) << 63}) {
        errors.insert(run({Damage::Kind::Word, m, 8 * word, add}));
      }
    }
  }
  std::string all;
  for (const std::string& error : errors) all += error + "\n";
  return all;
}

void expectAll(const std::string& errors, const std::vector<std::string>& phrases) {
  for (const std::string& phrase : phrases) {
    EXPECT_NE(errors.find(phrase), std::string::npos) << "nothing was refused with: " << phrase;
  }
}

void add(const std::int64_t* lower, const std::int64_t* upper, std::int64_t* result,
         std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) result[i] = lower[i] + upper[i];
}

TEST(DamagedMessages, OfBlockingCollectives) {
  std::string errors;
  for (const int victim : {0, 1, 3}) {
    errors += errorsUnderDamage(4, victim, [](Transport& transport) {
      (void)exclusivePrefix(transport, 3);
      (void)allgather(transport, transport.rank());
      (void)allgatherv(transport, std::vector<double>(3, 0.5));
      int texts = 0;
      allgatherRead(transport, Writer().text("one").text("two").take(), [&](Reader& reader, int) {
        static_cast<void>(reader.text());
        ++texts;
      });
      (void)broadcast(transport, std::string("text"), 2);
      std::vector<Bytes> toEachRank(4, Bytes(5));
      toEachRank[2].clear();
      (void)exchangeBytes(transport, std::move(toEachRank));
      (void)Assignment::gather(transport, 1);
    });
  }
  expectAll(errors,
            {"no memory for a message", "bytes expected", "not a multiple of the size of a value",
             "the number of blocks must be at least 0"});
}

TEST(DamagedMessages, OfAMerge) {
  const std::string errors = errorsUnderDamage(4, 0, [](Transport& transport) {
    MergeReduction<std::string> merge(
        transport, oneEach(transport), {2, 2},
        [](std::string& lower, std::string&& upper) { lower += upper; });
    static_cast<void>(merge.run({std::string(24, 'a')}));
  });
  expectAll(errors, {"a message of a reduction is too short", "block 2 to block 0 in round",
                     "does not merge into block", "a duplicate from block", "a range of",
                     "bytes too many"});
}

TEST(DamagedMessages, OfAMergeOfArrays) {
  const std::string errors = errorsUnderDamage(4, 0, [](Transport& transport) {
    ArrayMergeReduction<std::int64_t> merge(transport, oneEach(transport), {4}, 10, add);
    std::vector<std::int64_t> array(10, 1);
    merge.run({array.data()});
  });
  expectAll(errors, {"of a merge reduction of arrays", "a duplicate from block"});
}

TEST(DamagedMessages, OfASwap) {
  const std::string errors = errorsUnderDamage(4, 0, [](Transport& transport) {
    SwapReduction<std::int64_t> swap(transport, oneEach(transport), {2, 2}, 10, add);
    std::vector<std::int64_t> array(10, 1);
    swap.run({array.data()});
  });
  expectAll(errors, {"of a swap reduction", "a duplicate from block"});
}

TEST(DamagedMessages, OfABroadcast) {
  const std::string errors = errorsUnderDamage(3, 0, [](Transport& transport) {
    Broadcast<std::string> broadcast(transport, oneEach(transport));
    broadcast.run(1, transport.rank() == 1 ? std::optional<std::string>("item") : std::nullopt);
  });
  expectAll(errors, {"a duplicate item of a broadcast", "bytes expected"});
}

TEST(DamagedMessages, OfAnAllToAll) {
  const std::string errors = errorsUnderDamage(4, 0, [](Transport& transport) {
    for (const KValues& kValues : {KValues{4}, KValues{2, 2}}) {
      AllToAll allToAll(transport, oneEach(transport), kValues);
      std::vector<std::vector<Parcel>> parcels(1);
      // To block 0 none, one or several.
      for (BlockId to = 0; to < 4; ++to) {
        for (int i = 1; i < transport.rank(); ++i) parcels[0].push_back({to, Bytes(11)});
      }
      parcels[0].push_back({3, Bytes(5)});
      static_cast<void>(allToAll.run(std::move(parcels)));
    }
  });
  expectAll(errors, {"sends more than once", "a missing number of parcels", "too many parcels",
                     "a parcel of another block", "a parcel that is too long",
                     "bytes that belong to no parcel"});
}

TEST(DamagedMessages, OfRegions) {
  const auto number = [](Transport& transport) {
    NumberedRegions regions = testing::numberThreeSets(transport);
    EXPECT_EQ(regions.table.total, 2 + transport.size());
    std::vector<RegionCount> counts;
    for (std::int64_t region = 0; region < regions.table.total; ++region) {
      counts.push_back({region, 1});
    }
    (void)addPoints(transport, regions.table.total, std::move(counts));
  };
  std::string errors;
  for (const int victim : {0, 1}) errors += errorsUnderDamage(2, victim, number);
  expectAll(errors,
            {"an unexpected number of values", "a set that does not exist", "the number of answers",
             "a number that no region has", "malformed message: a region of another rank",
             "points of a region of another rank"});
}

TEST(DamagedMessages, OfSharedPoints) {
  std::string errors;
  for (const int victim : {0, 1}) {
    errors += errorsUnderDamage(2, victim, [](Transport& transport) {
      const auto assignment = oneEach(transport);
      const auto matches = matchEntities(transport, assignment, {{keyOfPoint(5), keyOfPoint(7)}});
      static_cast<void>(
          settlePoints(transport, assignment, matches, {{{0, transport.rank(), 1}, {1, 3, 1}}}));
    });
  }
  expectAll(errors, {"a point of a block of another rank", "an entity of block", "a match of"});
}

TEST(DamagedMessages, OfCoordinates) {
  const std::string errors = errorsUnderDamage(2, 0, [](Transport& transport) {
    testing::GridSetup setup;
    setup.points = {{4, 3, 3}};
    setup.uniform = false;
    setup.pieces = 2;
    testing::makeGridDomain(transport, setup);
  });
  expectAll(errors, {"disagree in coordinates", "leave a gap along an axis",
                     "malformed message: coordinates outside of the extent of a grid",
                     "disagree in origin or spacing"});
}

TEST(DamagedMessages, OfATracer) {
  testing::MeshSetup setup;
  setup.mesh = testing::makeMesh(testing::MeshKind::Tetrahedra, 1, 0);
  setup.flow = testing::rotation;
  setup.pieces = 2;
  std::string errors;
  for (const int victim : {0, 1}) {
    errors += errorsUnderDamage(2, victim, [&](Transport& transport) {
      const auto mesh = testing::makeMeshDomain(transport, setup);
      TraceOptions options;
      options.rules.integrator = Integrator::RungeKutta2;
      options.rules.maximumSteps = 20;
      // One that sends nothing while it waits, maybe for ever, for what was counted wrongly.
      options.exchange.detector = "tree-counter";
      // In a cell and on a face between cells; the first block is the other rank's.
      std::vector<Seed> seeds;
      if (transport.rank() == 1) seeds = {{{0.3, 0.2, -0.4}, 0}, {{-0.5, -0.5, 0.1}, 1}};
      static_cast<void>(trace(transport, mesh->domain, seeds, options));
    });
  }
  expectAll(errors, {"a seed for another rank's block", "a particle in cell",
                     "a particle cannot be in stage", "a face that block",
                     "a face of another rank's block"});
}

}  // namespace
}  // namespace tributary
