#include "RunStatistics.h"

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>

#include <type_traits>
#include <vector>

#include "Tributary/Transport/Collectives.h"

namespace tributary {

void addStatistics(Transport& transport, const RunStatistics& mine, vtkFieldData* fieldData) {
  const std::vector<RunStatistics> all = allgather(transport, mine);
  const auto column = [&](const char* name, auto&& valueOf) {
    using Value = decltype(valueOf(mine));
    std::conditional_t<std::is_integral_v<Value>, vtkNew<vtkIdTypeArray>, vtkNew<vtkDoubleArray>>
        array;
    array->SetName(name);
    for (const RunStatistics& one : all) array->InsertNextValue(valueOf(one));
    fieldData->AddArray(array);
  };
  using Run = const RunStatistics&;
  column("Seeds", [](Run r) { return r.seeds; });
  column("RejectedSeeds", [](Run r) { return r.rejected; });
  column("Lines", [](Run r) { return r.lines; });
  column("LinePoints", [](Run r) { return r.points; });
  column("PointsRecorded", [](Run r) { return r.recorded; });
  column("Blocks", [](Run r) { return r.blocks; });
  column("Handovers", [](Run r) { return r.handovers; });
  column("Messages", [](Run r) { return r.exchange.messages; });
  column("MessageBytes", [](Run r) { return r.exchange.bytes; });
  column("Batches", [](Run r) { return r.exchange.batches; });
  column("Callbacks", [](Run r) { return r.exchange.callbacks; });
  column("Rounds", [](Run r) { return r.exchange.rounds; });
  column("Waves", [](Run r) { return r.exchange.waves; });
  column("ComputingSeconds", [](Run r) { return r.exchange.computingSeconds; });
  column("CommunicationSeconds", [](Run r) { return r.exchange.communicationSeconds; });
  column("IdleSeconds", [](Run r) { return r.exchange.idleSeconds; });
  column("TerminationDelaySeconds", [](Run r) { return r.exchange.terminationDelaySeconds; });
  column("SetupSeconds", [](Run r) { return r.setupSeconds; });
  column("TracingSeconds", [](Run r) { return r.tracingSeconds; });
  column("AssemblySeconds", [](Run r) { return r.assemblySeconds; });
}

}  // namespace tributary
