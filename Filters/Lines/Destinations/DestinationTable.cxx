// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Destinations/DestinationTable.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDoubleArray.h>
#include <vtkIdTypeArray.h>
#include <vtkIntArray.h>
#include <vtkPointData.h>
#include <vtkTable.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "Common/FreshArray.h"
#include "Common/Require.h"
#include "Lines/PointEvaluator.h"
#include "Output/NamedArrays.h"
#include "Output/TableColumns.h"

#include "Tributary/Advection/Weights.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/FixedSum.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

constexpr double Missing = std::numeric_limits<double>::quiet_NaN();
/// Points whose weights are computed together.
constexpr std::size_t PointsPerBatch = 1024;

/// The array of a piece with a value for each of its points or cells, or null.
vtkDataArray* arrayOf(vtkDataSet* piece, const std::string& name, ArrayPlace place) {
  vtkDataArray* array = place == ArrayPlace::Cells ? piece->GetCellData()->GetArray(name.c_str())
                                                   : piece->GetPointData()->GetArray(name.c_str());
  const vtkIdType count =
      place == ArrayPlace::Cells ? piece->GetNumberOfCells() : piece->GetNumberOfPoints();
  return array && array->GetNumberOfTuples() == count ? array : nullptr;
}

/// The label at a point with weights.
double labelOf(vtkDataArray* array, ArrayPlace place, const Weights& weights, std::size_t i) {
  if (!array) return Missing;
  if (place == ArrayPlace::Cells) return array->GetComponent(weights.cellId[i], 0);
  return labelAt(weights, i, [&](std::int64_t point) { return array->GetComponent(point, 0); });
}

/// The label of a line, as it travels.
struct LineLabel {
  std::int64_t line;
  double label;
};

/// Local. Sends the labels at the points that a trace recorded to the ranks of their lines.
void addLabels(const FlowDomain& flow, const TraceResult& traced, const StepRules& rules,
               const std::string& name, ArrayPlace place, const Shares& shares,
               RecordOutbox<LineLabel>& outbox) {
  Weights weights;
  for (std::size_t b = 0; b < traced.logs.size(); ++b) {
    const FieldBlock& block = *flow.domain->blocks[b];
    vtkDataArray* const array = arrayOf(flow.pieces[index(block.piece())].dataSet, name, place);
    for (const TrajectoryLog& log : traced.logs[b])
      for (std::size_t c = 0; c < log.chunkCount(); ++c) {
        const Span<const TrajectoryPoint> points = log.chunk(c);
        for (std::size_t at = 0; at < points.size(); at += PointsPerBatch) {
          const auto batch = points.subspan(at, std::min(PointsPerBatch, points.size() - at));
          block.weights(rules, batch, weights);
          for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::int64_t line = batch[i].line >> 1;  // the seed here is the end of a line
            outbox.add(ownerOfLine(shares, line), {line, labelOf(array, place, weights, i)});
          }
        }
      }
  }
}

/// A row of the table, or a part of one, as it travels, without padding.
struct Row {
  std::int64_t direction, event;
  double from, to;      ///< With DestinationKind::Reason, `to` is the reason.
  std::int64_t target;  ///< LineEnd::target; -1 with labels.
  std::int64_t count;
  FixedSum time, length;
};
static_assert(sizeof(Row) == 80, "no padding travels");

/// The order of rows. NaN comes last.
auto keyOf(const Row& row) {
  return std::make_tuple(row.direction, orderedInteger(row.from), orderedInteger(row.to), row.event,
                         row.target);
}
using Rows = std::map<decltype(keyOf(Row{})), Row>;

void add(Rows& rows, const Row& part) {
  Row empty = part;
  empty.count = 0;
  empty.time = empty.length = 0;
  Row& row = rows.emplace(keyOf(part), empty).first->second;
  addChecked(row.count, part.count);
  addChecked(row.time, part.time);
  addChecked(row.length, part.length);
}

/// A label with one pattern of bits for NaN, and one for 0.
double canonical(double label) {
  return std::isnan(label) ? Missing : label + 0.0;
}

/// Collective. The labels of the seeds whose lines this rank has, from the ranks of their sources.
std::vector<double> labelsHere(Transport& transport, const SeedList& seeds) {
  std::vector<double> labels;
  sendRecords<LineLabel, allToAll>(
      transport,
      [&](RecordOutbox<LineLabel>& outbox) {
        for (std::size_t i = 0; i < seeds.labels.size(); ++i)
          outbox.add(seeds.shares.ownerOf(seeds.seeds[i].id), {seeds.seeds[i].id, seeds.labels[i]});
      },
      [&](Records<LineLabel>& arrived) {
        const std::int64_t first = seeds.shares.first(transport.rank());
        labels.resize(index(seeds.shares.count(transport.rank())), seeds.isLabeled ? Missing : 0);
        for (const LineLabel& label : arrived) {
          if (label.line < first || label.line - first >= std::int64_t(labels.size()))
            refuseMessage("the label of a seed of another rank");
          labels[index(label.line - first)] = label.label;
        }
      });
  return labels;
}

/// Local. The rows of this rank's lines.
Rows rowsOf(DestinationKind kind, const LineTable& table, const TraceOptions& options,
            const std::vector<double>& seedLabels, const std::vector<double>& endLabels,
            const FixedScale& times, const FixedScale& lengths) {
  Rows rows;
  for (std::size_t h = 0; h < table.halves.size(); ++h) {
    if (h % 2 == 0 ? !options.forward : !options.backward) continue;
    const HalfLine& half = table.halves[h];
    Row row{};
    row.direction = std::int64_t(h % 2);
    row.from = canonical(seedLabels[h / 2]);
    const bool byReason = kind == DestinationKind::Reason;
    row.to = byReason ? double(half.reason) : canonical(endLabels[h]);
    row.event = byReason ? half.event : -1;
    row.target = byReason ? half.target : -1;
    row.count = 1;
    if (half.reason != Reason::NotInitialized) {
      row.time = times.fixed(std::fabs(half.time));
      row.length = lengths.fixed(half.length);
    }
    add(rows, row);
  }
  return rows;
}

/// Local.
/// @param hasSurface  whether lines may end at a surface
void fill(DestinationKind kind, bool hasSurface, const Rows& byKey, const FixedScale& times,
          const FixedScale& lengths, vtkTable* output) {
  std::vector<Row> rows;
  for (const auto& [key, row] : byKey) rows.push_back(row);
  requireRows(rows.size(), 8);
  const auto ints = [&](const char* name, auto&& valueOf) {
    return column<vtkIntArray>(name, rows, valueOf);
  };
  const auto mean = [](const FixedScale& scale, FixedSum sum, std::int64_t count) {
    return scale.value(sum) / static_cast<double>(count);
  };
  addColumns(
      output,
      {ints("Direction", [](const Row& row) { return static_cast<int>(row.direction); }),
       values("From", rows, [](const Row& row) { return row.from; }),
       numbers("Count", rows, [](const Row& row) { return static_cast<vtkIdType>(row.count); }),
       values("MeanTime", rows, [&](const Row& row) { return mean(times, row.time, row.count); }),
       values("MeanLength", rows,
              [&](const Row& row) { return mean(lengths, row.length, row.count); })});
  if (kind == DestinationKind::Label) {
    addColumns(output, {values("To", rows, [](const Row& row) { return row.to; })});
    return;
  }
  addColumns(output,
             {ints("ReasonForTermination", [](const Row& row) { return static_cast<int>(row.to); }),
              ints("EventId", [](const Row& row) { return static_cast<int>(row.event); })});
  if (hasSurface)
    addColumns(output, {numbers("TargetId", rows, [](const Row& row) {
                 return static_cast<vtkIdType>(row.target);
               })});
}

}  // namespace

ArrayPlace findEndLabels(Transport& transport, const FlowDomain& flow, const std::string& name) {
  // The most components of the arrays of points, and of those of cells; 0 if there are none.
  std::vector<std::int64_t> components(2, 0);
  collectively(transport, [&] {
    for (const FlowPiece& piece : flow.pieces)
      for (const ArrayPlace place : {ArrayPlace::Points, ArrayPlace::Cells})
        if (vtkDataArray* array = arrayOf(piece.dataSet, name, place)) {
          std::int64_t& most = components[place == ArrayPlace::Cells ? 1 : 0];
          most = std::max<std::int64_t>(most, array->GetNumberOfComponents());
        }
  });
  components = allreduce(transport, ReduceOp::Max, std::move(components));
  const std::int64_t used = components[1] > 0 ? components[1] : components[0];
  require(used > 0, "End Label Array", '"' + name + '"',
          "use the name of a cell or point array of the input");
  require(used == 1, "End Label Array", '"' + name + '"', "use an array with one component, not ",
          used);
  return components[1] > 0 ? ArrayPlace::Cells : ArrayPlace::Points;
}

std::vector<double> endLabels(Transport& transport, const std::string& array, ArrayPlace place,
                              const FlowDomain& flow, const SeedList& seeds, const LineTable& table,
                              const TraceOptions& options, bool& aborted) {
  // The ends are the seeds of lines that end at once, and so are recorded in their cells.
  std::vector<Seed> ends;
  std::vector<double> labels;
  TraceOptions atOnce = options;
  collectively(transport, [&] {
    labels.resize(table.halves.size(), Missing);
    for (std::size_t h = 0; h < table.halves.size(); ++h) {
      const HalfLine& half = table.halves[h];
      if (half.reason == Reason::None || half.reason == Reason::NotInitialized) continue;
      Seed& end = ends.emplace_back();
      std::copy_n(half.end, 3, end.x);
      end.id = 2 * table.firstSeed + std::int64_t(h);
    }
    atOnce.forward = true;
    atOnce.backward = false;
    atOnce.lending.reset();
    atOnce.rules.events = {};
    atOnce.rules.fields = nullptr;
    atOnce.rules.record = true;
    atOnce.rules.terminalSpeed = std::numeric_limits<double>::infinity();
  });
  const TraceResult traced = trace(transport, *flow.domain, ends, atOnce);
  aborted = traced.aborted;
  if (allreduce(transport, ReduceOp::Or, std::int64_t(aborted)) != 0) return labels;
  sendRecords<LineLabel, allToAll>(
      transport,
      [&](RecordOutbox<LineLabel>& outbox) {
        addLabels(flow, traced, atOnce.rules, array, place, seeds.shares, outbox);
      },
      [&](Records<LineLabel>& arrived) {
        for (const LineLabel& label : arrived) {
          if (!table.find(label.line)) refuseMessage("the label of a line of another rank");
          labels[index(label.line - 2 * table.firstSeed)] = label.label;
        }
      });
  return labels;
}

void writeDestinations(Transport& transport, DestinationKind kind, const SeedList& seeds,
                       const LineTable& table, const TraceOptions& options,
                       const std::vector<double>& endLabels, vtkTable* output) {
  const std::vector<double> seedLabels = labelsHere(transport, seeds);
  std::vector<double> most(2, 0.0);
  for (const HalfLine& half : table.halves) {
    if (std::isfinite(half.time)) most[0] = std::max(most[0], std::fabs(half.time));
    if (std::isfinite(half.length)) most[1] = std::max(most[1], half.length);
  }
  most = allreduce(transport, ReduceOp::Max, std::move(most));
  const FixedScale times(most[0]), lengths(most[1]);
  Rows all;
  sendRecords<Row>(
      transport,
      [&](RecordOutbox<Row>& outbox) {
        for (const auto& [key, row] :
             rowsOf(kind, table, options, seedLabels, endLabels, times, lengths))
          outbox.add(0, row);
      },
      [&](Records<Row>& arrived) {
        for (const Row& row : arrived) {
          if (row.count < 1) refuseMessage("a row of " + std::to_string(row.count) + " lines");
          add(all, row);
        }
      });
  collectively(transport, [&] { fill(kind, table.hasSurface, all, times, lengths, output); });
}

}  // namespace tributary
