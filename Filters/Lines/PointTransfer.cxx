// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/PointTransfer.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "Common/SmpFor.h"

#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

constexpr std::size_t PointsPerBatch = 256;

/// Batches and received records between two checks for an abort.
constexpr std::size_t BatchesPerPiece = 256;
constexpr std::int64_t RecordsPerPiece = std::int64_t(1) << 19;

/// Numbers that are kept for each rank and group of batches: 32 MB of them, with few ranks.
constexpr std::size_t Places = std::size_t(1) << 22;
/// At least so many groups are made, for the threads' sake.
constexpr std::size_t Groups = 64;

/// Copies one tuple; the usual sizes as plain moves.
inline void copyTuple(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 12:
      std::memcpy(to, from, 12);
      break;
    case 24:
      std::memcpy(to, from, 24);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// How a point travels: its line and its index on it, and then a tuple for each field.
struct Record {
  static constexpr std::size_t Header = sizeof(std::int64_t) + sizeof(std::int32_t);

  std::int64_t line;
  std::int32_t index;

  static std::size_t bytes(const std::vector<PointField>& fields) {
    std::size_t bytes = Header;
    for (const PointField& field : fields) bytes += field.bytes;
    return bytes;
  }
  static Record read(const std::byte* from) {
    Record record;
    std::memcpy(&record.line, from, sizeof record.line);
    std::memcpy(&record.index, from + sizeof record.line, sizeof record.index);
    return record;
  }
  void write(std::byte* to) const {
    std::memcpy(to, &line, sizeof line);
    std::memcpy(to + sizeof line, &index, sizeof index);
  }
};

std::int64_t placeOf(const LineTable& table, std::int64_t line, std::int32_t index) {
  const HalfLine* half = table.find(line);
  return half ? half->place(index) : -1;
}

/// The messages to the other ranks, and where in them the records of each group of consecutive
/// batches begin. A group is worked on by one thread.
struct Packing {
  std::size_t batchesPerGroup = 1;
  std::vector<std::int64_t> first;  // [group * ranks + rank], in records
  std::vector<Bytes> buffers;

  std::int64_t groups(std::size_t batches) const {
    return static_cast<std::int64_t>((batches + batchesPerGroup - 1) / batchesPerGroup);
  }
  /// Between two checks for an abort.
  std::int64_t groupsPerPiece() const {
    return static_cast<std::int64_t>(std::max<std::size_t>(1, BatchesPerPiece / batchesPerGroup));
  }
};

/// Room for all points that belong to other ranks' lines.
Packing planPacking(const Transport& transport, Span<const PointBatch> batches,
                    const Shares& shares, std::size_t bytesPerRecord) {
  const auto ranks = static_cast<std::size_t>(shares.ranks);
  Packing packing;
  const std::size_t mostGroups = std::max(Groups, Places / ranks);
  packing.batchesPerGroup =
      std::max<std::size_t>(1, (batches.size() + mostGroups - 1) / mostGroups);
  const std::int64_t groups = packing.groups(batches.size());
  packing.first.assign(static_cast<std::size_t>(groups) * ranks, 0);
  smpForPieces(
      transport, groups, packing.groupsPerPiece(), [&](std::int64_t begin, std::int64_t end) {
        for (auto g = static_cast<std::size_t>(begin); g < static_cast<std::size_t>(end); ++g) {
          const std::size_t stop = std::min(batches.size(), (g + 1) * packing.batchesPerGroup);
          for (std::size_t b = g * packing.batchesPerGroup; b < stop; ++b)
            for (const TrajectoryPoint& point : batches[b].points)
              ++packing
                    .first[g * ranks + static_cast<std::size_t>(shares.ownerOf(point.line >> 1))];
        }
      });
  packing.buffers.resize(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    std::int64_t total = 0;
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) {
      const std::int64_t count = packing.first[g * ranks + r];
      packing.first[g * ranks + r] = total;
      total += count;
    }
    if (r == static_cast<std::size_t>(transport.rank()) || total == 0) continue;
    const std::size_t bytes = static_cast<std::size_t>(total) * bytesPerRecord;
    packing.buffers[r].reserve(bytes + AllToAll::Tail);
    packing.buffers[r].resize(bytes);
  }
  return packing;
}

/// Evaluates points: those of this rank's lines go to their places in the output,
/// the others into the messages. @return how many went to their places
std::int64_t evaluatePoints(const Transport& transport, const PointEvaluator& evaluator,
                            Span<const PointBatch> batches, const LineTable& table,
                            const Shares& shares, Packing& packing, LineArrays& output) {
  const int rank = transport.rank();
  const std::vector<PointField>& fields = evaluator.fields();
  const std::size_t bytesPerRecord = Record::bytes(fields);
  const auto ranks = static_cast<std::size_t>(shares.ranks);
  std::atomic<std::int64_t> placed{0};
  const std::int64_t groups = packing.groups(batches.size());
  smpForPieces(
      transport, groups, packing.groupsPerPiece(), [&](std::int64_t begin, std::int64_t end) {
        PointEvaluator::Scratch scratch;
        std::int64_t placedHere = 0;
        std::vector<std::byte*> target(PointsPerBatch);  // a record, or null
        std::vector<std::int64_t> place(PointsPerBatch);
        std::vector<std::int64_t> next(ranks);
        const auto firstBatch = static_cast<std::size_t>(begin) * packing.batchesPerGroup;
        const auto endBatch =
            std::min(batches.size(), static_cast<std::size_t>(end) * packing.batchesPerGroup);
        for (std::size_t b = firstBatch; b < endBatch; ++b) {
          const auto points = batches[b].points;
          evaluator.evaluate(*batches[b].block, points, scratch);
          if (ranks > 1 && b % packing.batchesPerGroup == 0)
            std::copy_n(&packing.first[b / packing.batchesPerGroup * ranks], ranks, next.begin());
          bool allHere = true;
          for (std::size_t i = 0; i < points.size(); ++i) {
            const int owner = ranks > 1 ? shares.ownerOf(points[i].line >> 1) : rank;
            target[i] = nullptr;
            if (owner == rank) {
              place[i] = placeOf(table, points[i].line, points[i].index);
              placedHere += place[i] >= 0;
              continue;
            }
            allHere = false;
            const auto r = static_cast<std::size_t>(owner);
            std::byte* record =
                packing.buffers[r].data() + static_cast<std::size_t>(next[r]++) * bytesPerRecord;
            Record{points[i].line, points[i].index}.write(record);
            target[i] = record + Record::Header;
            place[i] = -1;
          }
          std::size_t offset = 0;
          for (std::size_t f = 0; f < fields.size(); ++f) {
            const std::size_t bytes = fields[f].bytes;
            const std::byte* from = scratch.buffers[f].data();
            for (std::size_t i = 0; i < points.size(); ++i, from += bytes) {
              if (place[i] >= 0)
                copyTuple(output.data[f] + static_cast<std::size_t>(place[i]) * bytes, from, bytes);
              else if (!allHere && target[i])
                copyTuple(target[i] + offset, from, bytes);
            }
            offset += bytes;
          }
        }
        placed += placedHere;
      });
  return placed;
}

}  // namespace

std::vector<PointBatch> makeBatches(const FlowDomain& flow, const TraceResult& traced) {
  std::vector<PointBatch> batches;
  for (std::size_t b = 0; b < traced.logs.size(); ++b)
    for (const TrajectoryLog& log : traced.logs[b])
      for (std::size_t c = 0; c < log.chunkCount(); ++c) {
        const auto chunk = log.chunk(c);
        for (std::size_t at = 0; at < chunk.size(); at += PointsPerBatch)
          batches.push_back({flow.domain->blocks[b].get(),
                             chunk.subspan(at, std::min(PointsPerBatch, chunk.size() - at))});
      }
  return batches;
}

std::int64_t placeRecorded(const Transport& transport, const PointEvaluator& evaluator,
                           Span<const PointBatch> batches, const LineTable& table,
                           const Shares& shares, LineArrays& output, std::vector<Bytes>& messages) {
  Packing packing;
  if (shares.ranks > 1)
    packing = planPacking(transport, batches, shares, Record::bytes(evaluator.fields()));
  const std::int64_t placed =
      evaluatePoints(transport, evaluator, batches, table, shares, packing, output);
  messages = std::move(packing.buffers);
  return placed;
}

std::int64_t placeReceived(const Transport& transport, const Bytes& message,
                           const std::vector<PointField>& fields, const LineTable& table,
                           LineArrays& output) {
  const std::size_t bytesPerRecord = Record::bytes(fields);
  if (message.size() % bytesPerRecord != 0) refuseMessage("points of another size");
  const auto records = static_cast<std::int64_t>(message.size() / bytesPerRecord);
  std::atomic<std::int64_t> placed{0};
  smpForPieces(transport, records, RecordsPerPiece, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t placedHere = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::byte* record = message.data() + static_cast<std::size_t>(i) * bytesPerRecord;
      const auto [line, index] = Record::read(record);
      const std::int64_t place = placeOf(table, line, index);
      if (place < 0) continue;
      ++placedHere;
      const std::byte* from = record + Record::Header;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const std::size_t size = fields[f].bytes;
        copyTuple(output.data[f] + static_cast<std::size_t>(place) * size, from, size);
        from += size;
      }
    }
    placed += placedHere;
  });
  return placed;
}

}  // namespace tributary
