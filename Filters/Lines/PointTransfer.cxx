// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/PointTransfer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "Common/SmpFor.h"

#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

constexpr std::size_t PointsPerGroup = 8192;
/// Points that are evaluated together: their weights and values stay in the nearest cache.
constexpr std::size_t PointsPerBatch = 64;

/// Groups and received runs between two checks for an abort, for each thread.
constexpr std::int64_t GroupsPerPiece = 16;
constexpr std::int64_t RunsPerPiece = 1024;

/// Points of a line with consecutive indices.
struct PointRun {
  std::int64_t line;
  std::int32_t first;
  std::int32_t count;
};

/// How a run travels: this, and then for each field one tuple per point.
constexpr std::size_t RunHeader = sizeof(PointRun);
static_assert(RunHeader == 16);

std::size_t bytesPerPoint(const std::vector<PointField>& fields) {
  std::size_t bytes = 0;
  for (const PointField& field : fields) bytes += field.bytes;
  return bytes;
}

/// Where the points of a run are in the output.
struct Placement {
  std::int32_t skipped = 0;  ///< Points at the beginning of the run that are not output.
  std::int32_t count = 0;    ///< Points after them that are.
  std::int64_t place = 0;    ///< Position of the first of these,
  std::int64_t sign = 1;     ///< and the step to the next one.
};

Placement placementOf(const LineTable& table, const PointRun& run) {
  Placement placement;
  const HalfLine* half = table.find(run.line);
  if (!half || !half->isOutput || run.first < 0) return placement;
  placement.skipped = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      std::int64_t(half->skipped) - run.first, 0, std::max<std::int64_t>(0, run.count)));
  const std::int64_t first = run.first + std::int64_t(placement.skipped);
  const std::int64_t end =
      std::min<std::int64_t>(run.first + std::int64_t(run.count), half->points);
  placement.count = static_cast<std::int32_t>(std::max<std::int64_t>(0, end - first));
  placement.place = half->base + half->sign * first;
  placement.sign = half->sign;
  return placement;
}

/// Copies tuples to places with a step of 1 or -1 tuples.
void copyTuples(std::byte* to, std::int64_t sign, const std::byte* from, std::size_t count,
                std::size_t bytes) {
  if (sign > 0) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to - i * bytes, from + i * bytes, bytes);
}

/// Sorts points by their lines, which change from point to point where particles advance in turns.
class RunSorter {
 public:
  /// @param order  output: the points, those of a run after one another
  /// @param runs   output: as long as possible
  void sort(Span<const TrajectoryPoint> points, std::vector<std::uint16_t>& order,
            std::vector<PointRun>& runs) {
    ++stamp_;
    begin_.clear();
    slots_.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::size_t slot = slotOf(points[i].line);
      slots_[i] = static_cast<std::uint16_t>(slot);
      ++begin_[slot];
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& count : begin_) sum += std::exchange(count, sum);
    order.resize(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
      order[begin_[slots_[i]]++] = static_cast<std::uint16_t>(i);
    runs.clear();
    for (const std::uint16_t i : order) {
      const TrajectoryPoint& point = points[i];
      if (!runs.empty() && runs.back().line == point.line &&
          std::int64_t(runs.back().first) + runs.back().count == point.index)
        ++runs.back().count;
      else
        runs.push_back({point.line, point.index, 1});
    }
  }

 private:
  struct Entry {
    std::int64_t line = 0;
    std::uint32_t stamp = 0;
    std::uint32_t slot = 0;
  };

  /// Lines are numbered in the order of their first points.
  std::size_t slotOf(std::int64_t line) {
    std::size_t at = scramble(static_cast<std::uint64_t>(line)) & (table_.size() - 1);
    while (table_[at].stamp == stamp_ && table_[at].line != line)
      at = (at + 1) & (table_.size() - 1);
    if (table_[at].stamp != stamp_) {
      table_[at] = {line, stamp_, static_cast<std::uint32_t>(begin_.size())};
      begin_.push_back(0);
    }
    return table_[at].slot;
  }

  std::vector<Entry> table_ = std::vector<Entry>(2 * PointsPerGroup);
  std::uint32_t stamp_ = 0;
  std::vector<std::uint16_t> slots_;  // per point
  std::vector<std::uint32_t> begin_;  // per line
};

/// The points of a group, sorted, and where they go.
struct SortedGroup {
  struct Run : PointRun {
    int rank;
    Placement placement;  ///< If the rank is this one.
    std::size_t offset;   ///< Otherwise: in the message to the rank.
  };
  std::vector<std::uint16_t> order;
  std::vector<Run> runs;
};

/// Sorts all groups. @return how many of their points are output here
std::int64_t sortGroups(const Transport& transport, Span<const PointGroup> groups,
                        const LineTable& table, const Shares& shares,
                        std::vector<SortedGroup>& sorted) {
  const int rank = transport.rank();
  std::atomic<std::int64_t> placed{0};
  smpForPieces(transport, std::int64_t(groups.size()), GroupsPerPiece * smpThreads(),
               [&](std::int64_t begin, std::int64_t end) {
                 RunSorter sorter;
                 std::vector<PointRun> runs;
                 for (std::size_t g = index(begin); g < index(end); ++g) {
                   sorter.sort(groups[g].points, sorted[g].order, runs);
                   sorted[g].runs.clear();
                   for (const PointRun& run : runs) {
                     const int owner = shares.ranks > 1 ? ownerOfLine(shares, run.line) : rank;
                     const Placement placement =
                         owner == rank ? placementOf(table, run) : Placement{};
                     placed += placement.count;
                     sorted[g].runs.push_back({run, owner, placement, 0});
                   }
                 }
               });
  return placed;
}

/// Reserves room in the messages for the runs of other ranks' lines, and writes their headers.
/// @return the first byte of each message, null if it is empty
std::vector<std::byte*> layOutMessages(const Transport& transport, const Shares& shares,
                                       std::size_t bytes, std::vector<SortedGroup>& sorted,
                                       MessageOutbox& outbox) {
  std::vector<std::size_t> size(index(shares.ranks), 0);
  for (SortedGroup& group : sorted)
    for (SortedGroup::Run& run : group.runs) {
      if (run.rank == transport.rank()) continue;
      std::size_t& end = size[index(run.rank)];
      run.offset = end;
      end += RunHeader + index(run.count) * bytes;
    }
  std::vector<std::byte*> messages(size.size(), nullptr);
  for (std::size_t r = 0; r < size.size(); ++r) {
    if (size[r] == 0) continue;
    Writer& message = outbox.to(static_cast<int>(r));
    message.reserve(size[r] + AllToAll::Tail);
    messages[r] = message.extend(size[r]);
  }
  for (const SortedGroup& group : sorted)
    for (const SortedGroup::Run& run : group.runs)
      if (run.rank != transport.rank())
        std::memcpy(messages[index(run.rank)] + run.offset, static_cast<const PointRun*>(&run),
                    RunHeader);
  return messages;
}

/// Evaluates the points of groups in batches, and writes them to the output or the messages. While
/// a batch is evaluated, the data of the next one are on their way from memory.
class GroupWriter {
 public:
  GroupWriter(int rank, const PointEvaluator& evaluator, LineArrays& output,
              const std::vector<std::byte*>& messages)
      : rank_(rank), evaluator_(evaluator), output_(output), messages_(messages) {}

  /// @param sorted  must outlive the next call of finish()
  void write(const PointGroup& group, const SortedGroup& sorted) {
    std::size_t at = 0;  // in the order
    for (const SortedGroup::Run& run : sorted.runs) {
      std::size_t first = 0, end = index(run.count);
      if (run.rank == rank_) {
        first = index(run.placement.skipped);
        end = first + index(run.placement.count);
      }
      for (std::size_t i = first; i < end;) {
        Batch& batch = batches_[current_];
        const std::size_t count = std::min(end - i, PointsPerBatch - batch.filled);
        for (std::size_t n = 0; n < count; ++n)
          batch.points[batch.filled + n] = group.points[sorted.order[at + i + n]];
        batch.segments.push_back({&run, i - first, batch.filled, count});
        batch.filled += count;
        i += count;
        if (batch.filled == PointsPerBatch) turn(*group.block);
      }
      at += index(run.count);
    }
    if (batches_[current_].filled > 0) turn(*group.block);
  }

  void finish() { complete(batches_[1 - current_]); }

 private:
  /// A part of a run in a batch.
  struct Segment {
    const SortedGroup::Run* run;
    std::size_t begin;  ///< In the points of the run that are written.
    std::size_t at;     ///< In the batch.
    std::size_t count;
  };

  struct Batch {
    const FieldBlock* block = nullptr;
    TrajectoryPoint points[PointsPerBatch];
    std::size_t filled = 0;
    std::vector<Segment> segments;
    PointEvaluator::Scratch scratch;
  };

  /// Prepares the batch that is full, and completes the one before.
  void turn(const FieldBlock& block) {
    Batch& batch = batches_[current_];
    batch.block = &block;
    evaluator_.prepare(block, {batch.points, batch.filled}, batch.scratch);
    current_ = 1 - current_;
    complete(batches_[current_]);
  }

  void complete(Batch& batch) {
    if (batch.filled == 0) return;
    evaluator_.evaluate(*batch.block, {batch.points, batch.filled}, batch.scratch);
    const std::vector<PointField>& fields = evaluator_.fields();
    for (const Segment& segment : batch.segments) {
      const SortedGroup::Run& run = *segment.run;
      const bool isHere = run.rank == rank_;
      const std::int64_t place =
          run.placement.place + run.placement.sign * std::int64_t(segment.begin);
      std::byte* column = isHere ? nullptr : messages_[index(run.rank)] + run.offset + RunHeader;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const std::size_t bytes = fields[f].bytes;
        const std::byte* from = batch.scratch.buffers[f].data() + segment.at * bytes;
        if (isHere) {
          if (output_.data[f])
            copyTuples(output_.data[f] + index(place) * bytes, run.placement.sign, from,
                       segment.count, bytes);
        } else {
          std::memcpy(column + segment.begin * bytes, from, segment.count * bytes);
          column += index(run.count) * bytes;
        }
      }
    }
    batch.segments.clear();
    batch.filled = 0;
  }

  int rank_;
  const PointEvaluator& evaluator_;
  LineArrays& output_;
  const std::vector<std::byte*>& messages_;
  Batch batches_[2];
  int current_ = 0;
};

struct ReceivedRun {
  PointRun run;
  const std::byte* values;
};

/// The runs in a message. @throws Error if it is malformed
std::vector<ReceivedRun> runsOf(Reader& message, std::size_t bytes) {
  std::vector<ReceivedRun> runs;
  while (!message.atEnd()) {
    const auto run = message.value<PointRun>();
    if (run.count < 1 || index(run.count) > message.remaining() / bytes)
      refuseMessage("points of another size");
    runs.push_back({run, message.raw(index(run.count) * bytes).data()});
  }
  return runs;
}

}  // namespace

std::vector<PointGroup> makeGroups(const FlowDomain& flow, const TraceResult& traced) {
  std::vector<PointGroup> groups;
  const auto add = [&](const FieldBlock& block, const std::vector<TrajectoryLog>& logs) {
    for (const TrajectoryLog& log : logs)
      for (std::size_t c = 0; c < log.chunkCount(); ++c) {
        const auto chunk = log.chunk(c);
        for (std::size_t at = 0; at < chunk.size(); at += PointsPerGroup)
          groups.push_back(
              {&block, chunk.subspan(at, std::min(PointsPerGroup, chunk.size() - at))});
      }
  };
  for (std::size_t b = 0; b < traced.logs.size(); ++b) add(*flow.domain->blocks[b], traced.logs[b]);
  for (const TraceResult::Borrowed& borrowed : traced.borrowed) add(*borrowed.block, borrowed.logs);
  return groups;
}

std::int64_t placeRecorded(const Transport& transport, const PointEvaluator& evaluator,
                           Span<const PointGroup> groups, const LineTable& table,
                           const Shares& shares, LineArrays& output, MessageOutbox& outbox) {
  std::vector<SortedGroup> sorted(groups.size());
  const std::int64_t placed = sortGroups(transport, groups, table, shares, sorted);
  const std::vector<std::byte*> messages =
      layOutMessages(transport, shares, bytesPerPoint(evaluator.fields()), sorted, outbox);
  smpForPieces(transport, std::int64_t(groups.size()), GroupsPerPiece * smpThreads(),
               [&](std::int64_t begin, std::int64_t end) {
                 GroupWriter writer(transport.rank(), evaluator, output, messages);
                 for (std::size_t g = index(begin); g < index(end); ++g)
                   writer.write(groups[g], sorted[g]);
                 writer.finish();
               });
  return placed;
}

std::int64_t placeReceived(const Transport& transport, Reader& message,
                           const std::vector<PointField>& fields, const LineTable& table,
                           LineArrays& output) {
  const std::vector<ReceivedRun> runs = runsOf(message, bytesPerPoint(fields));
  std::atomic<std::int64_t> placed{0};
  smpForPieces(transport, std::int64_t(runs.size()), RunsPerPiece * smpThreads(),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::size_t r = index(begin); r < index(end); ++r) {
                   const PointRun& run = runs[r].run;
                   const std::byte* from = runs[r].values;
                   const Placement placement = placementOf(table, run);
                   if (placement.count == 0) continue;
                   for (std::size_t f = 0; f < fields.size(); ++f) {
                     const std::size_t bytes = fields[f].bytes;
                     if (output.data[f])
                       copyTuples(output.data[f] + index(placement.place) * bytes, placement.sign,
                                  from + index(placement.skipped) * bytes, index(placement.count),
                                  bytes);
                     from += index(run.count) * bytes;
                   }
                   placed += placement.count;
                 }
               });
  return placed;
}

}  // namespace tributary
