// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Balance/LendingPolicy.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary::testing {

/// A line put together from the records of all ranks, comparable bit by bit.
struct Line {
  Reason reason = Reason::None;
  std::vector<std::array<double, 4>> points;  // x, y, z, time

  bool operator==(const Line& other) const {
    return reason == other.reason && points.size() == other.points.size() &&
           (points.empty() ||
            std::memcmp(points.data(), other.points.data(), points.size() * sizeof points[0]) == 0);
  }
  bool operator!=(const Line& other) const { return !(*this == other); }
};

/// The better of a match and what a block finds.
inline CellMatch findIn(const FieldBlock& block, const double x[3], const CellMatch& best = {}) {
  CellQuery query{{x[0], x[1], x[2]}, best};
  block.find({&query, 1});
  return query.best;
}

/// Collective: all lines on every rank. Throws Error if a point or an end is missing or doubled.
inline std::map<std::int64_t, Line> gatherLines(Transport& transport, const TraceResult& result) {
  std::vector<TrajectoryPoint> mine;
  const auto add = [&](const std::vector<TrajectoryLog>& logs) {
    for (const auto& log : logs)
      for (std::size_t c = 0; c < log.chunkCount(); ++c)
        mine.insert(mine.end(), log.chunk(c).begin(), log.chunk(c).end());
  };
  for (const auto& logs : result.logs) add(logs);
  for (const auto& borrowed : result.borrowed) add(borrowed.logs);
  std::map<std::int64_t, Line> lines;
  std::map<std::int64_t, std::vector<bool>> seen;
  for (const LineEnd& end : allgatherv(transport, result.ends)) {
    if (lines.count(end.line)) throw Error("a line ended twice");
    lines[end.line].reason = end.reason;
    lines[end.line].points.resize(static_cast<std::size_t>(end.points));
    seen[end.line].resize(static_cast<std::size_t>(end.points));
  }
  for (const TrajectoryPoint& p : allgatherv(transport, mine)) {
    const auto i = static_cast<std::size_t>(p.index);
    auto& there = seen[p.line];
    if (i >= there.size() || there[i]) throw Error("a point too many");
    there[i] = true;
    lines[p.line].points[i] = {p.x[0], p.x[1], p.x[2], p.time};
  }
  for (const auto& [line, there] : seen)
    for (const bool point : there)
      if (!point) throw Error("a point is missing in line " + std::to_string(line));
  return lines;
}

/// Collective: the lines of all seeds, on every rank. Under the asynchronous schedule they are
/// traced once more, with loans at random. Throws Error if that changes a line.
inline std::map<std::int64_t, Line> traceLines(Transport& transport, const Domain& domain,
                                               Span<const Seed> seeds,
                                               const TraceOptions& options) {
  auto lines = gatherLines(transport, trace(transport, domain, seeds, options));
  if (calledOncePerRound(options.exchange.schedule) || transport.size() == 1) return lines;
  const auto policy = makeRandomPolicy(std::uint64_t(transport.rank()));
  TraceOptions lending = options;
  lending.lending.emplace();
  lending.lending->options.policy = policy.get();
  if (gatherLines(transport, trace(transport, domain, seeds, lending)) != lines)
    throw Error("loans have changed a line");
  return lines;
}

}  // namespace tributary::testing
