// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/SharedPoints.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

/// What a block says to the owner of a point, and its answer.
struct Said {
  BlockId block;
  RegionAtPoint what;
};

/// Sends records to the blocks that they name, and sorts those received by the local block.
/// Collective.
/// @param matches  for each local block, sorted; a record for it is about a point that has one
/// @param fill  fill(say), local: calls say(block, record) for each record
template <class Fill>
std::vector<std::vector<RegionAtPoint>> deliver(Transport& transport, const Assignment& assignment,
                                                const std::vector<std::vector<Match>>& matches,
                                                Fill&& fill) {
  const BlockId first = assignment.first(transport.rank());
  const std::int64_t count = assignment.count(transport.rank());
  std::vector<std::vector<RegionAtPoint>> got;
  sendRecords<Said>(
      transport,
      [&](RecordOutbox<Said>& outbox) {
        fill([&](BlockId block, const RegionAtPoint& what) {
          outbox.add(assignment.rankOf(block), {block, what});
        });
      },
      [&](const Records<Said>& received) {
        got.resize(index(count));
        for (const Said& said : received) {
          if (said.block < first || said.block >= first + count)
            refuseMessage("a point of a block of another rank");
          const std::vector<Match>& ofBlock = matches[index(said.block - first)];
          const auto match = std::lower_bound(
              ofBlock.begin(), ofBlock.end(), said.what.point,
              [](const Match& one, std::int64_t point) { return one.local < point; });
          if (match == ofBlock.end() || match->local != said.what.point)
            refuseMessage("a point that is not shared");
          got[index(said.block - first)].push_back(said.what);
        }
      });
  return got;
}

}  // namespace

SettledPoints settlePoints(Transport& transport, const Assignment& assignment,
                           const std::vector<std::vector<Match>>& matches,
                           const std::vector<std::vector<RegionAtPoint>>& regions) {
  const BlockId first = assignment.first(transport.rank());
  const auto byPoint = [](const RegionAtPoint& a, const RegionAtPoint& b) {
    return std::tie(a.point, a.region) < std::tie(b.point, b.region);
  };
  const auto isOwner = [](const Match& match, BlockId mine) {
    return std::tie(mine, match.local) < std::tie(match.block, match.remote);
  };

  std::vector<std::vector<RegionAtPoint>> known;
  auto heard = deliver(transport, assignment, matches, [&](auto&& say) {
    known = regions;
    for (std::size_t b = 0; b < known.size(); ++b) {
      const BlockId mine = first + static_cast<BlockId>(b);
      std::sort(known[b].begin(), known[b].end(), byPoint);
      std::vector<RegionAtPoint> owned;
      auto match = matches[b].begin();
      for (RegionAtPoint said : known[b]) {
        while (match != matches[b].end() && match->local < said.point) ++match;
        if (match == matches[b].end() || match->local != said.point || isOwner(*match, mine)) {
          owned.push_back(said);
        } else {  // the owner has many matches, all others have one
          said.point = match->remote;
          say(match->block, said);
        }
      }
      known[b] = std::move(owned);
    }
  });

  SettledPoints settled;
  heard = deliver(transport, assignment, matches, [&](auto&& say) {
    settled.labels.resize(known.size());
    std::map<std::int64_t, std::int64_t> counts;
    for (std::size_t b = 0; b < known.size(); ++b) {
      const BlockId mine = first + static_cast<BlockId>(b);
      std::vector<RegionAtPoint>& all = known[b];
      all.insert(all.end(), heard[b].begin(), heard[b].end());
      std::sort(all.begin(), all.end(), byPoint);
      const auto same = [](const RegionAtPoint& a, const RegionAtPoint& c) {
        return a.point == c.point && a.region == c.region;
      };
      all.erase(std::unique(all.begin(), all.end(), same), all.end());
      std::vector<PointLabel>& labels = settled.labels[b];
      for (const RegionAtPoint& one : all) {
        ++counts[one.region];
        if (one.selected != 0 && (labels.empty() || labels.back().point != one.point))
          labels.push_back({one.point, one.region});
      }
      std::size_t at = 0;
      for (const Match& match : matches[b]) {
        if (!isOwner(match, mine)) continue;
        while (at < labels.size() && labels[at].point < match.local) ++at;
        if (at < labels.size() && labels[at].point == match.local)
          say(match.block, {match.remote, labels[at].region, 1});
      }
    }
    for (const auto& [region, count] : counts) settled.counts.push_back({region, count});
  });
  collectively(transport, [&] {
    for (std::size_t b = 0; b < heard.size(); ++b)
      for (const RegionAtPoint& one : heard[b])
        settled.labels[b].push_back({one.point, one.region});
  });
  return settled;
}

}  // namespace tributary
