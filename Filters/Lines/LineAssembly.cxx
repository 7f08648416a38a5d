// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineAssembly.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// Points after which a round of a rank ends. Rounds bound the memory for messages, and the time
/// between two checks for an abort.
constexpr std::size_t PointsPerRound = std::size_t(1) << 19;

/// The first group of each round of this rank, and the number of groups.
std::vector<std::size_t> roundsOf(const std::vector<PointGroup>& groups) {
  std::vector<std::size_t> rounds{0};
  std::size_t points = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (points >= PointsPerRound) {
      rounds.push_back(g);
      points = 0;
    }
    points += groups[g].points.size();
  }
  rounds.push_back(groups.size());
  return rounds;
}

/// Large messages are sent directly, each once.
std::vector<Bytes> exchangeAtOnce(Transport& transport, std::vector<Bytes> toEachRank,
                                  ErrorCollector& errors) {
  return allToAll(transport, std::move(toEachRank), KValues{transport.size()}, errors);
}

/// Collective. Evaluates all points recorded on all ranks and writes them to their places.
/// @param rounds  roundsOf(groups)
/// @param errors  receives those of the last round
/// @return the number of points written on this rank
std::int64_t transferAll(Transport& transport, const PointEvaluator& evaluator,
                         const std::vector<PointGroup>& groups,
                         const std::vector<std::size_t>& rounds, const LineTable& table,
                         const Shares& shares, LineArrays& output, ErrorCollector& errors) {
  const Span<const PointGroup> all(groups.data(), groups.size());
  const std::int64_t most =
      allreduce(transport, ReduceOp::Max, static_cast<std::int64_t>(rounds.size()) - 1);
  std::int64_t placed = 0;
  for (std::size_t round = 0; round < index(most); ++round) {
    const std::size_t begin = rounds[std::min(round, rounds.size() - 1)];
    const std::size_t end = rounds[std::min(round + 1, rounds.size() - 1)];
    placed += transferPoints(transport, evaluator, all.subspan(begin, end - begin), table, shares,
                             output, errors);
  }
  return placed;
}

/// Local. Sets all times to NaN.
void clearTimes(const std::vector<PointField>& fields, std::int64_t points, LineArrays& output) {
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].kind == PointField::Kind::Time)
      std::fill_n(reinterpret_cast<double*>(output.data[f]), points,
                  std::numeric_limits<double>::quiet_NaN());
}

/// Collective. As collectPoints(), without the agreement on the errors of the last messages.
std::unique_ptr<LineArrays> collect(Transport& transport, const FlowDomain& flow,
                                    const PointEvaluator& evaluator, const Shares& shares,
                                    const LineTable& table, const TraceResult& traced, bool mayLack,
                                    ErrorCollector& errors) {
  std::unique_ptr<LineArrays> output;
  std::vector<PointGroup> groups;
  std::vector<std::size_t> rounds;
  collectively(transport, [&] {
    output = std::make_unique<LineArrays>(transport, evaluator.fields(), table.points);
    if (mayLack) clearTimes(evaluator.fields(), table.points, *output);
    groups = makeGroups(flow, traced);
    rounds = roundsOf(groups);
  });
  const std::int64_t placed =
      transferAll(transport, evaluator, groups, rounds, table, shares, *output, errors);
  if (!mayLack && !errors.anyKnown())
    errors.attempt([&] {
      if (placed != table.points)
        refuseMessage("expected " + std::to_string(table.points) + " points of lines, received " +
                      std::to_string(placed));
    });
  return output;
}

}  // namespace

std::int64_t transferPoints(Transport& transport, const PointEvaluator& evaluator,
                            Span<const PointGroup> groups, const LineTable& table,
                            const Shares& shares, LineArrays& output, ErrorCollector& errors) {
  std::int64_t placed = 0;
  // Throws on all ranks after an error, also of the exchange before.
  sendMessages<exchangeAtOnce>(
      transport, errors,
      [&](MessageOutbox& outbox) {
        placed += placeRecorded(transport, evaluator, groups, table, shares, output, outbox);
      },
      [&](std::vector<Reader>& messages) {
        for (Reader& message : messages)
          placed += placeReceived(transport, message, evaluator.fields(), table, output);
      });
  return placed;
}

std::unique_ptr<LineArrays> collectPoints(Transport& transport, const FlowDomain& flow,
                                          const PointEvaluator& evaluator, const Shares& shares,
                                          const LineTable& table, const TraceResult& traced,
                                          bool mayLack) {
  ErrorCollector errors;
  std::unique_ptr<LineArrays> output =
      collect(transport, flow, evaluator, shares, table, traced, mayLack, errors);
  errors.agree(transport);
  return output;
}

vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport, const FlowDomain& flow,
                                           const PointEvaluator& evaluator,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           LineTable& table, const TraceResult& traced,
                                           bool withFrames) {
  const std::vector<PointField>& fields = evaluator.fields();
  ErrorCollector errors;
  const std::unique_ptr<LineArrays> output =
      collect(transport, flow, evaluator, seeds.shares, table, traced, false, errors);
  vtkSmartPointer<vtkPolyData> lines;
  if (!errors.anyKnown())
    errors.attempt([&] {
      removeRepeatedPoints(transport, table, fields, *output);
      vtkDataArray* velocity =
          withFrames ? output->arrays[evaluator.velocityField()].Get() : nullptr;
      lines = makePolyData(transport, fields, *output, arrays, velocity, seeds, table, withFrames);
    });
  errors.agree(transport);
  return lines;
}

}  // namespace tributary
