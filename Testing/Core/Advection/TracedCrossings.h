// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "Advection/Flows.h"
#include "Advection/TracedLines.h"
#include "Tributary/Advection/Events.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Balance/LendingPolicy.h"
#include "Tributary/Collective/Collectives.h"

/// Lines with their crossings of events, for tests.
namespace tributary::testing {

inline Event plane(const Vector& origin, const Vector& normal) {
  return planeEvent(origin.data(), normal.data());
}

inline void add(StepRules& rules, Event event, int endsLine = 0,
                EventDirection direction = EventDirection::Any) {
  event.endsLine = endsLine;
  event.direction = direction;
  rules.events.event[rules.events.count++] = event;
}

/// Lines, their ends and crossings, put together from all ranks and comparable bit by bit.
struct Traced {
  std::map<std::int64_t, Line> lines;
  std::map<std::int64_t, std::pair<std::int32_t, std::int32_t>> ends;  // crossings, event
  std::map<std::int64_t, std::int64_t> targets;                        // of the ends
  std::map<std::int64_t, std::vector<CrossingPoint>> crossings;        // by line, in order

  std::size_t count() const {
    std::size_t all = 0;
    for (const auto& [line, list] : crossings) all += list.size();
    return all;
  }
};

inline bool isSame(const CrossingPoint& a, const CrossingPoint& b) {
  return std::memcmp(a.point.x, b.point.x, sizeof a.point.x) == 0 && a.point.time == b.point.time &&
         std::memcmp(a.image, b.image, sizeof a.image) == 0 && a.length == b.length &&
         a.event == b.event && a.number == b.number && a.target == b.target;
}

/// The number of lines that differ, in any respect.
inline std::size_t differences(const Traced& a, const Traced& b) {
  std::size_t count = a.ends != b.ends || a.targets != b.targets ||
                      a.crossings.size() != b.crossings.size() || a.lines.size() != b.lines.size();
  for (const auto& [line, points] : a.lines)
    count += !b.lines.count(line) || b.lines.at(line) != points;
  for (const auto& [line, list] : a.crossings) {
    const auto other = b.crossings.find(line);
    count +=
        other == b.crossings.end() ||
        !std::equal(list.begin(), list.end(), other->second.begin(), other->second.end(), isSame);
  }
  return count;
}

/// Collective. Adds a trace, whose lines may continue those before.
inline void addTrace(Transport& transport, const TraceResult& result, const TraceOptions& options,
                     Traced& all) {
  if (options.rules.record)
    for (auto& [number, line] : gatherLines(transport, result)) {
      Line& whole = all.lines[number];
      whole.reason = line.reason;
      whole.points.insert(whole.points.end(), line.points.begin() + !whole.points.empty(),
                          line.points.end());
    }
  std::vector<CrossingPoint> mine;
  const auto take = [&](const std::vector<TrajectoryLog>& logs) {
    for (const TrajectoryLog& log : logs)
      log.crossings().forEach([&](const CrossingPoint& crossing) { mine.push_back(crossing); });
  };
  for (const auto& logs : result.logs) take(logs);
  for (const auto& borrowed : result.borrowed) take(borrowed.logs);
  for (const LineEnd& end : allgatherv(transport, result.ends)) {
    all.ends[end.line] = {end.crossings, end.event};
    all.targets[end.line] = end.target;
    EXPECT_EQ(end.reason == Reason::Event, end.event >= 0) << "line " << end.line;
  }
  for (const CrossingPoint& crossing : allgatherv(transport, mine))
    all.crossings[crossing.point.line].push_back(crossing);
  for (auto& [line, list] : all.crossings) {
    std::sort(list.begin(), list.end(), [](const CrossingPoint& a, const CrossingPoint& b) {
      return a.point.index < b.point.index;
    });
    std::map<std::int32_t, std::int32_t> numbers;
    for (std::size_t i = 0; i < list.size(); ++i) {
      EXPECT_EQ(list[i].point.index, std::int32_t(i)) << "line " << line;
      if (options.rules.crossingContent == CrossingContent::Positions) continue;
      EXPECT_EQ(list[i].number, ++numbers[list[i].event]) << "line " << line;
      if (i > 0) {
        EXPECT_GE(list[i].length, list[i - 1].length) << "line " << line;
      }
    }
    EXPECT_EQ(all.ends[line].first, std::int32_t(list.size())) << "line " << line;
  }
}

/// Collective.
inline Traced traceOnce(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                        const TraceOptions& options) {
  Traced all;
  addTrace(transport, trace(transport, domain, seeds, options), options, all);
  return all;
}

/// Also with loans at random, under the asynchronous schedule.
inline Traced traceAll(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                       const TraceOptions& options) {
  Traced all = traceOnce(transport, domain, seeds, options);
  if (calledOncePerRound(options.exchange.schedule) || transport.size() == 1) return all;
  const auto policy = makeRandomPolicy(std::uint64_t(transport.rank()));
  TraceOptions lending = options;
  lending.lending.emplace();
  lending.lending->options.policy = policy.get();
  EXPECT_EQ(differences(all, traceOnce(transport, domain, seeds, lending)), 0u) << "with loans";
  return all;
}

}  // namespace tributary::testing
