// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineAssembly.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "Lines/LineOutput.h"
#include "Lines/PointEvaluator.h"
#include "Lines/PointTransfer.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {
namespace {

/// Groups that a rank evaluates in a round, half a million points. Rounds bound the memory for
/// messages, and the time between two checks for an abort.
constexpr std::int64_t GroupsPerRound = 64;

/// Collective. Evaluates all points recorded on all ranks and writes them to their places.
/// @return the number of points written on this rank
std::int64_t transferPoints(Transport& transport, const PointEvaluator& evaluator,
                            const std::vector<PointGroup>& groups, const LineTable& table,
                            const Shares& shares, LineArrays& output) {
  const auto count = static_cast<std::int64_t>(groups.size());
  const Span<const PointGroup> all(groups.data(), groups.size());
  const std::int64_t most = allreduce(transport, ReduceOp::Max, count);
  std::int64_t placed = 0;
  ErrorCollector errors;
  for (std::int64_t at = 0; at < most; at += GroupsPerRound) {
    const std::int64_t begin = std::min(at, count), end = std::min(at + GroupsPerRound, count);
    std::vector<Bytes> messages;
    errors.attempt([&] {
      placed += placeRecorded(transport, evaluator, all.subspan(index(begin), index(end - begin)),
                              table, shares, output, messages);
    });
    if (transport.size() == 1) {
      if (errors.any()) break;
      continue;
    }
    // Throws on all ranks after an error, also of the round before.
    messages = allToAll(transport, std::move(messages), KValues{transport.size()}, errors);
    errors.attempt([&] {
      for (Bytes& bytes : messages) {
        placed += placeReceived(transport, bytes, evaluator.fields(), table, output);
        bytes = Bytes();
      }
    });
  }
  errors.agree(transport);
  return placed;
}

}  // namespace

vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport, const FlowDomain& flow,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           LineTable& table, const TraceResult& traced,
                                           const AssemblySettings& settings) {
  const PointEvaluator evaluator(transport, flow, arrays, settings.rules, settings.computeVorticity,
                                 settings.rotationScale);
  const std::vector<PointField>& fields = evaluator.fields();
  std::unique_ptr<LineArrays> output;
  std::vector<PointGroup> groups;
  collectively(transport, [&] {
    output = std::make_unique<LineArrays>(transport, fields, table.points);
    groups = makeGroups(flow, traced);
  });
  const std::int64_t placed =
      transferPoints(transport, evaluator, groups, table, seeds.shares, *output);
  vtkSmartPointer<vtkPolyData> lines;
  collectively(transport, [&] {
    if (placed != table.points)
      refuseMessage("expected " + std::to_string(table.points) + " points of lines, received " +
                    std::to_string(placed));
    removeRepeatedPoints(transport, table, fields, *output);
    lines =
        makePolyData(transport, fields, *output, arrays, output->arrays[evaluator.velocityField()],
                     seeds, table, settings.computeVorticity);
  });
  return lines;
}

}  // namespace tributary
