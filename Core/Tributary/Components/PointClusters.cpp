// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/PointClusters.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"
#include "Tributary/Components/Matching.h"

namespace tributary {
namespace {

using Bin = std::array<std::int64_t, 3>;

/// A point that has come to a bin.
struct Visitor {
  Bin bin;
  LoosePoint point;
  SetName name;
};

struct Pair {
  BlockId to;  // of whose points `local` is one
  SetLink link;
};

bool isFinite(const LoosePoint& point) {
  return std::isfinite(point.reach) && point.reach >= 0 && std::isfinite(point.place[0]) &&
         std::isfinite(point.place[1]) && std::isfinite(point.place[2]);
}

/// Along an axis; what is too far away for an integer shares the last bin.
std::int64_t binOf(double place) {
  return static_cast<std::int64_t>(std::clamp(std::floor(place), -4e18, 4e18));
}

bool areSame(const LoosePoint& a, const LoosePoint& b) {
  double squares = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double d = a.place[axis] - b.place[axis];
    squares += d * d;
  }
  const double reach = std::min(a.reach, b.reach);
  return squares <= reach * reach;
}

/// A point visits all bins that it reaches, so that two points that are the same meet in the bins
/// of both.
/// @param width  of a bin
void addVisits(const LoosePoint& point, const SetName& name, double width,
               std::vector<Visitor>& visitors) {
  if (!isFinite(point)) return;
  Bin lo, hi;
  for (std::size_t a = 0; a < 3; ++a) {
    lo[a] = binOf((point.place[a] - point.reach) / width);
    hi[a] = binOf((point.place[a] + point.reach) / width);
  }
  Bin bin;
  for (bin[2] = lo[2]; bin[2] <= hi[2]; ++bin[2])
    for (bin[1] = lo[1]; bin[1] <= hi[1]; ++bin[1])
      for (bin[0] = lo[0]; bin[0] <= hi[0]; ++bin[0]) visitors.push_back({bin, point, name});
}

}  // namespace

UnionResult clusterPoints(Transport& transport, const Assignment& assignment,
                          const std::vector<std::vector<LoosePoint>>& points,
                          const UnionOptions& options) {
  double width = 0;
  for (const auto& block : points)
    for (const LoosePoint& point : block)
      if (isFinite(point)) width = std::max(width, point.reach);
  width = allreduce(transport, ReduceOp::Max, width);
  // Wide enough for most points to visit one bin only.
  width = width > 0 ? 4 * width : 1;

  const BlockId first = assignment.first(transport.rank());
  std::vector<Visitor> visitors;
  std::vector<std::int64_t> counts;
  collectively(transport, [&] {
    for (std::size_t b = 0; b < points.size(); ++b) {
      counts.push_back(static_cast<std::int64_t>(points[b].size()));
      for (std::size_t i = 0; i < points[b].size(); ++i)
        addVisits(points[b][i], {first + static_cast<BlockId>(b), static_cast<std::int64_t>(i)},
                  width, visitors);
    }
  });
  const auto pairs = rendezvous<Pair>(
      transport, std::move(visitors),
      [](const Visitor& v) { return keyOfStructured(0, v.bin[0], v.bin[1], v.bin[2], 0).high; },
      [](const Visitor& a, const Visitor& b) {
        return a.bin != b.bin ? a.bin < b.bin : a.point.place[0] < b.point.place[0];
      },
      [](const Visitor& a, const Visitor& b) { return a.bin == b.bin; },
      [](Span<Met<Visitor>> group, auto&& send) {
        for (std::size_t i = 0; i < group.size(); ++i) {
          const Visitor& a = group[i].record;
          for (std::size_t j = i + 1; j < group.size(); ++j) {
            const Visitor& b = group[j].record;
            if (b.point.place[0] - a.point.place[0] > a.point.reach) break;
            if (!areSame(a.point, b.point)) continue;
            send(group[i].rank, Pair{a.name.block, {a.name.set, b.name.block, b.name.set}});
            send(group[j].rank, Pair{b.name.block, {b.name.set, a.name.block, a.name.set}});
          }
        }
      });
  std::vector<std::vector<SetLink>> links;
  collectively(transport, [&] {
    links.resize(points.size());
    for (const Pair& pair : pairs) {
      const std::uint64_t b = offsetOf(pair.to, first);
      if (b >= links.size()) refuseMessage("a link of block " + std::to_string(pair.to));
      links[b].push_back(pair.link);
    }
  });
  return uniteSets(transport, assignment, counts, links, options);
}

}  // namespace tributary
