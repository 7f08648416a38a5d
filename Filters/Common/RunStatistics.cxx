// SPDX-License-Identifier: BSD-3-Clause
#include "Common/RunStatistics.h"

#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>

#include <utility>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

double RunStatistics::phase(const char* name) {
  const double now = transport_.now();
  const double seconds = now - std::exchange(last_, now);
  amount(name, seconds);
  return seconds;
}

void RunStatistics::add(const ExchangeStatistics& exchange) {
  all_.insert(all_.end(), {{"Messages", exchange.messages},
                           {"MessageBytes", exchange.bytes},
                           {"Batches", exchange.batches},
                           {"Callbacks", exchange.callbacks},
                           {"Rounds", exchange.rounds},
                           {"Waves", exchange.waves},
                           {"ComputingSeconds", exchange.computingSeconds},
                           {"CommunicationSeconds", exchange.communicationSeconds},
                           {"IdleSeconds", exchange.idleSeconds},
                           {"TerminationDelaySeconds", exchange.terminationDelaySeconds}});
}

void RunStatistics::add(const IterationStatistics& iterations) {
  all_.insert(all_.end(), {{"Iterations", iterations.iterations},
                           {"Snapshots", iterations.snapshots},
                           {"Messages", iterations.sent},
                           {"MessageBytes", iterations.bytes},
                           {"UnsentMessages", iterations.unsent},
                           {"SupersededMessages", iterations.superseded},
                           {"ProtocolMessages", iterations.protocol},
                           {"ComputingSeconds", iterations.computingSeconds},
                           {"VerifyingSeconds", iterations.verifyingSeconds},
                           {"IdleSeconds", iterations.idleSeconds}});
}

void RunStatistics::add(const ExchangeSetting& chosen, std::size_t trials) {
  count("TunedBatchBytes", static_cast<std::int64_t>(chosen.batchBytes));
  amount("TunedHoldTime", chosen.holdTime);
  count("TuningTrials", static_cast<std::int64_t>(trials));
}

void RunStatistics::add(const TimeForecast& expected, double actualSeconds) {
  amount("ExpectedSeconds", expected.seconds);
  amount("ExpectedSpread", expected.spread);
  amount("OffBy", expected.offBy(actualSeconds));
}

void RunStatistics::write(const std::string& prefix, vtkFieldData* fieldData) const {
  std::vector<std::int64_t> counts;
  std::vector<double> amounts;
  ErrorCollector errors;
  errors.attempt([&] {
    for (const Statistic& one : all_) {
      const auto* count = std::get_if<std::int64_t>(&one.value);
      counts.push_back(count ? *count : 0);
      amounts.push_back(count ? 0 : std::get<double>(one.value));
    }
  });
  const auto allCounts =
      allgatherv(transport_, Span<const std::int64_t>(counts.data(), counts.size()), errors);
  const auto allAmounts =
      allgatherv(transport_, Span<const double>(amounts.data(), amounts.size()), errors);
  if (!errors.any())
    errors.attempt([&] {
      for (std::size_t n = 0; n < all_.size(); ++n) {
        const auto add = [&](auto* array, const auto& all) {
          array->SetName((prefix + all_[n].name).c_str());
          for (std::size_t i = n; i < all.size(); i += all_.size()) array->InsertNextValue(all[i]);
          fieldData->AddArray(array);
        };
        if (std::holds_alternative<std::int64_t>(all_[n].value))
          add(vtkNew<vtkIdTypeArray>().Get(), allCounts);
        else
          add(vtkNew<vtkDoubleArray>().Get(), allAmounts);
      }
    });
  errors.agree(transport_);
}

}  // namespace tributary
