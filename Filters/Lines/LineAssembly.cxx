// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineAssembly.h"

#include <memory>
#include <string>
#include <utility>

#include "Lines/LineOutput.h"
#include "Lines/PointEvaluator.h"
#include "Lines/PointTransfer.h"

#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {

vtkSmartPointer<vtkPolyData> assembleLines(Transport& transport, const FlowDomain& flow,
                                           const PointArrayList& arrays, const SeedList& seeds,
                                           LineTable& table, const TraceResult& traced,
                                           const AssemblySettings& settings) {
  const PointEvaluator evaluator(transport, flow, arrays, settings.rules, settings.computeVorticity,
                                 settings.rotationScale);
  const std::vector<PointField>& fields = evaluator.fields();
  std::unique_ptr<LineArrays> output;
  std::vector<Bytes> messages;
  std::int64_t placed = 0;
  ErrorCollector errors;
  errors.attempt([&] {
    output = std::make_unique<LineArrays>(fields, table.points);
    placed = placeRecorded(evaluator, flow, traced, table, seeds.shares, transport.rank(), *output,
                           messages);
  });
  // Not by sendMessages(): a message is freed when its points are placed.
  std::vector<Bytes> received;
  if (transport.size() > 1) {
    received = allToAll(transport, std::move(messages), KValues{transport.size()}, errors);
  }
  vtkSmartPointer<vtkPolyData> lines;
  if (!errors.anyKnown())
    errors.attempt([&] {
      for (Bytes& bytes : received) {
        placed += placeReceived(bytes, fields, table, *output);
        bytes = Bytes();
      }
      if (placed != table.points)
        refuseMessage("expected " + std::to_string(table.points) + " points of lines, received " +
                      std::to_string(placed));
      removeRepeatedPoints(table, fields, *output);
      lines = makePolyData(fields, *output, arrays, output->arrays[evaluator.velocityField()],
                           seeds, table, settings.computeVorticity);
    });
  errors.agree(transport);
  return lines;
}

}  // namespace tributary
