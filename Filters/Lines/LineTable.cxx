// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineTable.h"

#include <string>

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// LineEnd as it travels.
struct EndRecord {
  std::int64_t line;
  std::int32_t points;
  std::int32_t reason;
};

/// Assigns places in the output to the lines.
void layOut(LineTable& table, bool forward, bool backward, bool join) {
  const bool joins = join && forward && backward;
  const auto seeds = static_cast<std::int64_t>(table.halves.size() / 2);
  for (std::int64_t s = 0; s < seeds; ++s) {
    HalfLine& ahead = table.halves[index(2 * s)];
    HalfLine& behind = table.halves[index(2 * s + 1)];
    const std::int64_t seed = table.firstSeed + s;
    if ((forward ? ahead : behind).reason == Reason::NotInitialized) table.rejected.push_back(seed);
    for (const HalfLine* half : {&ahead, &behind})
      if (half->reason == Reason::UnexpectedValue) ++table.unexpected;
    if (joins && ahead.points > 0 && behind.points > 0) {
      const std::int64_t points = std::int64_t(ahead.points) + behind.points - 1;
      if (points < 2) continue;
      const std::int64_t origin = behind.points - 1;
      ahead.isOutput = behind.isOutput = true;
      ahead.base = behind.base = table.points + origin;
      behind.sign = -1;
      behind.skipsSeed = true;
      table.lines.push_back({table.points, points, origin, seed, ahead.reason});
      table.points += points;
      continue;
    }
    for (HalfLine* half : {&ahead, &behind}) {
      if (half->points < 2) continue;
      half->isOutput = true;
      half->base = table.points;
      table.lines.push_back({table.points, half->points, 0, seed, half->reason});
      table.points += half->points;
    }
  }
}

}  // namespace

LineTable makeLineTable(Transport& transport, const Shares& shares,
                        const std::vector<LineEnd>& ends, bool forward, bool backward, bool join) {
  LineTable table;
  table.firstSeed = shares.first(transport.rank());
  const std::int64_t seeds = shares.count(transport.rank());
  sendRecords<EndRecord, allToAll>(
      transport,
      [&](RecordOutbox<EndRecord>& outbox) {
        table.halves.resize(index(2 * seeds));
        for (const LineEnd& end : ends)
          outbox.add(shares.ownerOf(end.line >> 1),
                     {end.line, end.points, static_cast<std::int32_t>(end.reason)});
      },
      [&](Records<EndRecord>& arrived) {
        for (const EndRecord& end : arrived) {
          if (!table.find(end.line) || end.points < 0)
            refuseMessage("the end of a line of another rank");
          HalfLine& half = table.halves[index(end.line - 2 * table.firstSeed)];
          half.points = end.points;
          half.reason = static_cast<Reason>(end.reason);
        }
        const auto known = static_cast<std::int64_t>(arrived.size());
        const std::int64_t wanted = seeds * (int(forward) + int(backward));
        if (known != wanted)
          refuseMessage("the ends of lines: expected " + std::to_string(wanted) + ", received " +
                        std::to_string(known));
        layOut(table, forward, backward, join);
      });
  return table;
}

}  // namespace tributary
