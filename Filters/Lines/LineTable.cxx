// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineTable.h"

#include <algorithm>
#include <string>

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// LineEnd as it travels, without padding.
struct EndRecord {
  std::int64_t line;
  std::int32_t points;
  std::int32_t reason;
  double x[3];
  double time;
  std::int64_t block;
  std::int64_t cell;
  std::int32_t crossings;
  std::int32_t event;
  double length;
  std::int64_t target;
};

bool leavesAtOnce(const HalfLine& half) {
  return half.points == 1 && half.reason == Reason::OutOfDomain;
}

/// Assigns places in the output to the lines.
void layOut(LineTable& table, bool forward, bool backward, bool join, bool record) {
  const bool joins = join && forward && backward;
  const auto seeds = static_cast<std::int64_t>(table.halves.size() / 2);
  for (std::int64_t s = 0; s < seeds; ++s) {
    HalfLine& ahead = table.halves[index(2 * s)];
    HalfLine& behind = table.halves[index(2 * s + 1)];
    const std::int64_t seed = table.firstSeed + s;
    if ((forward ? ahead : behind).reason == Reason::NotInitialized) table.rejected.push_back(seed);
    for (const HalfLine* half : {&ahead, &behind})
      if (half->reason == Reason::UnexpectedValue) ++table.unexpected;
    if (ahead.points < 2 && behind.points < 2 && (leavesAtOnce(ahead) || leavesAtOnce(behind)))
      ++table.leaveAtOnce;
    if (!record) ahead.points = behind.points = 0;
    if (joins && ahead.points > 0 && behind.points > 0) {
      const std::int64_t points = std::int64_t(ahead.points) + behind.points - 1;
      if (points < 2) continue;
      const std::int64_t origin = behind.points - 1;
      ahead.isOutput = behind.isOutput = true;
      ahead.base = behind.base = table.points + origin;
      behind.sign = -1;
      behind.skipped = 1;
      table.lines.push_back(
          {table.points, points, origin, seed, ahead.reason, ahead.event, ahead.target});
      table.points += points;
      continue;
    }
    for (HalfLine* half : {&ahead, &behind}) {
      if (half->points < 2) continue;
      half->isOutput = true;
      half->base = table.points;
      table.lines.push_back(
          {table.points, half->points, 0, seed, half->reason, half->event, half->target});
      table.points += half->points;
    }
  }
}

}  // namespace

int ownerOfLine(const Shares& shares, std::int64_t line) {
  const std::int64_t seed = line >> 1;
  if (seed < 0 || seed >= shares.total) refuseMessage("a particle of a line that does not exist");
  return shares.ownerOf(seed);
}

void sendEnds(Transport& transport, const Shares& shares, const std::vector<LineEnd>& ends,
              const std::function<void(const std::vector<LineEnd>&)>& use) {
  sendRecords<EndRecord, allToAll>(
      transport,
      [&](RecordOutbox<EndRecord>& outbox) {
        for (const LineEnd& end : ends)
          outbox.add(ownerOfLine(shares, end.line), {end.line,
                                                     end.points,
                                                     static_cast<std::int32_t>(end.reason),
                                                     {end.x[0], end.x[1], end.x[2]},
                                                     end.time,
                                                     end.block,
                                                     end.cell,
                                                     end.crossings,
                                                     end.event,
                                                     end.length,
                                                     end.target});
      },
      [&](Records<EndRecord>& arrived) {
        const std::int64_t first = 2 * shares.first(transport.rank());
        const std::int64_t lines = 2 * shares.count(transport.rank());
        std::vector<LineEnd> mine;
        mine.reserve(arrived.size());
        for (const EndRecord& end : arrived) {
          if (end.line < first || end.line - first >= lines || end.points < 0 ||
              end.crossings < 0 || end.event < -1 || end.event >= MostEvents)
            refuseMessage("the end of a line of another rank");
          mine.push_back({end.line,
                          end.points,
                          static_cast<Reason>(end.reason),
                          {end.x[0], end.x[1], end.x[2]},
                          end.time,
                          end.block,
                          end.cell,
                          end.crossings,
                          end.event,
                          end.length,
                          end.target});
        }
        use(mine);
      });
}

LineTable makeLineTable(Transport& transport, const Shares& shares,
                        const std::vector<LineEnd>& ends, bool forward, bool backward, bool join,
                        bool record) {
  LineTable table;
  table.firstSeed = shares.first(transport.rank());
  const std::int64_t seeds = shares.count(transport.rank());
  sendEnds(transport, shares, ends, [&](const std::vector<LineEnd>& arrived) {
    table.halves.resize(index(2 * seeds));
    for (const LineEnd& end : arrived) {
      HalfLine& half = table.halves[index(end.line - 2 * table.firstSeed)];
      half.points = end.points;
      half.reason = end.reason;
      half.crossings = end.crossings;
      half.event = end.event;
      half.target = end.target;
      std::copy_n(end.x, 3, half.end);
      half.time = end.time;
      half.length = end.length;
    }
    const auto known = static_cast<std::int64_t>(arrived.size());
    const std::int64_t wanted = seeds * (int(forward) + int(backward));
    if (known != wanted)
      refuseMessage("the ends of lines: expected " + std::to_string(wanted) + ", received " +
                    std::to_string(known));
    layOut(table, forward, backward, join, record);
  });
  return table;
}

}  // namespace tributary
