// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathSeeds.h"

#include <string>

#include "Lines/SeedsFromVTK.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// A seed as it travels.
struct SeedRecord {
  std::int64_t place;
  double x[3];
};

}  // namespace

PathSeeds makePathSeeds(Transport& transport, vtkDataObject* source) {
  const SeedList list = makeSeedList(transport, source);
  PathSeeds kept;
  kept.total = list.shares.total;
  sendRecords<SeedRecord, allToAll>(
      transport,
      [&](RecordOutbox<SeedRecord>& outbox) {
        for (const Seed& seed : list.seeds)
          outbox.add(list.shares.ownerOf(seed.id), {seed.id, {seed.x[0], seed.x[1], seed.x[2]}});
      },
      [&](Records<SeedRecord>& arrived) {
        const std::int64_t first = list.shares.first(transport.rank());
        const std::int64_t count = list.shares.count(transport.rank());
        if (static_cast<std::int64_t>(arrived.size()) != count)
          refuseMessage("seeds: expected " + std::to_string(count) + ", received " +
                        std::to_string(arrived.size()));
        kept.seeds.resize(index(count));
        std::vector<bool> known(index(count), false);
        for (const SeedRecord& seed : arrived) {
          const std::int64_t at = seed.place - first;
          if (at < 0 || at >= count || known[index(at)])
            refuseMessage("the seed of another rank, or one seed twice");
          known[index(at)] = true;
          kept.seeds[index(at)] = {seed.place,
                                   list.shown.empty() ? seed.place : list.shown[index(at)],
                                   {seed.x[0], seed.x[1], seed.x[2]}};
        }
      });
  return kept;
}

}  // namespace tributary
