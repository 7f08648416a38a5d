// SPDX-License-Identifier: BSD-3-Clause
// The messages of blocking collectives and typed exchanges, and the reports of errors.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "Harness.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Serial.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary::fuzz {

namespace {

constexpr int Ranks = 4;

void gather(Transport& transport) {
  (void)exclusivePrefix(transport, 3);
  (void)allgather(transport, transport.rank());
  (void)allgatherv(transport, std::vector<double>(2, 0.5));
  (void)Assignment::gather(transport, 1);
}

using Nested = std::map<std::string, std::vector<std::pair<std::int32_t, std::string>>>;

void read(Transport& transport) {
  allgatherRead(transport, packed(Nested{{"one", {{1, "two"}}}}),
                [](Reader& reader, int) { (void)Serial<Nested>::read(reader); });
  (void)broadcast(transport, std::string("text"), 2);
  (void)broadcast(transport, std::vector<std::int64_t>{1, 2}, 3);
}

void send(Transport& transport) {
  std::vector<Bytes> toEachRank(Ranks, Bytes(5));
  toEachRank[2].clear();
  (void)exchangeBytes(transport, std::move(toEachRank));
  sendRecords<std::array<std::int64_t, 2>>(
      transport,
      [&](RecordOutbox<std::array<std::int64_t, 2>>& outbox) {
        for (int rank = 0; rank < Ranks; ++rank) outbox.add(rank, {rank, transport.rank()});
      },
      [](const Records<std::array<std::int64_t, 2>>&) {});
  (void)askOwners<std::int64_t>(transport, Shares{8, Ranks}, std::vector<std::int64_t>{0, 3, 5, 7},
                                [](std::size_t place) { return std::int64_t(place); });
}

/// The last rank fails, and the others learn why.
void fail(Transport& transport) {
  collectively(transport, [&] {
    if (transport.rank() == Ranks - 1) throw Error("no luck");
  });
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"gather", Ranks, 1, gather},
      {"read", Ranks, 0, read},
      {"send", Ranks, 1, send},
      {"fail", Ranks, 0, fail, true},
  };
  return all;
}

}  // namespace tributary::fuzz
