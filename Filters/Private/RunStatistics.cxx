#include "RunStatistics.h"

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>

#include "Tributary/Transport/Collectives.h"

namespace tributary {

std::vector<Statistic> statisticsOf(const ExchangeStatistics& exchange) {
  return {{"Messages", exchange.messages},
          {"MessageBytes", exchange.bytes},
          {"Batches", exchange.batches},
          {"Callbacks", exchange.callbacks},
          {"Rounds", exchange.rounds},
          {"Waves", exchange.waves},
          {"ComputingSeconds", exchange.computingSeconds},
          {"CommunicationSeconds", exchange.communicationSeconds},
          {"IdleSeconds", exchange.idleSeconds},
          {"TerminationDelaySeconds", exchange.terminationDelaySeconds}};
}

void addStatistics(Transport& transport, const std::vector<Statistic>& mine,
                   vtkFieldData* fieldData) {
  std::vector<std::int64_t> counts;
  std::vector<double> amounts;
  for (const Statistic& one : mine) {
    const auto* count = std::get_if<std::int64_t>(&one.value);
    counts.push_back(count ? *count : 0);
    amounts.push_back(count ? 0 : std::get<double>(one.value));
  }
  const auto allCounts = allgatherv(transport, counts);
  const auto allAmounts = allgatherv(transport, amounts);
  for (std::size_t n = 0; n < mine.size(); ++n) {
    const auto add = [&](auto* array, const auto& all) {
      array->SetName(mine[n].name);
      for (std::size_t i = n; i < all.size(); i += mine.size()) array->InsertNextValue(all[i]);
      fieldData->AddArray(array);
    };
    if (std::holds_alternative<std::int64_t>(mine[n].value))
      add(vtkNew<vtkIdTypeArray>().Get(), allCounts);
    else
      add(vtkNew<vtkDoubleArray>().Get(), allAmounts);
  }
}

}  // namespace tributary
