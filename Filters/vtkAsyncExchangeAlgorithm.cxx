// SPDX-License-Identifier: BSD-3-Clause
#include "vtkAsyncExchangeAlgorithm.h"

#include "Common/PropertyList.h"
#include "Common/Require.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Exchange/Timeline.h"
#include "Tributary/Termination/Detector.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace {
/// Of the timelines of all ranks together. They take 160 MB on rank 0.
constexpr std::size_t MostEntries = std::size_t(1) << 22;
}  // anonymous namespace

//------------------------------------------------------------------------------
vtkAsyncExchangeAlgorithm::vtkAsyncExchangeAlgorithm() = default;
vtkAsyncExchangeAlgorithm::~vtkAsyncExchangeAlgorithm() = default;

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::SetTimelineFile(const char* name) {
  const std::string file = name ? name : "";
  if (this->TimelineFile != file) {
    this->TimelineFile = file;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::SetDetector(const char* name) {
  const std::string detector = name ? name : "";
  if (this->Detector != detector) {
    this->Detector = detector;
    this->Modified();
  }
}

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::CheckExecutionProperties() {
  using tributary::require;
  this->Superclass::CheckExecutionProperties();
  require(this->Arrivals >= 0 && this->Arrivals <= 1, "Arrivals", this->Arrivals,
          "set it to a fraction in [0, 1]");
  require(this->BatchBytes >= 1, "Batch Bytes", this->BatchBytes, "set it to 1 or more bytes");
  require(this->HoldTime >= 0 && std::isfinite(this->HoldTime), "Hold Time", this->HoldTime,
          "set it to 0 or more microseconds");
  require(this->StallTimeout >= 0, "Stall Timeout", this->StallTimeout,
          "set it to a positive number of seconds, or to 0 for no timeout");
  const auto known = tributary::detectorNames(tributary::WorkModel::AP);
  std::string choices = "\"default\"";
  for (const std::string& name : known) {
    choices += ", \"" + name + "\"";
  }
  require(this->Detector == "default" ||
              std::find(known.begin(), known.end(), this->Detector) != known.end(),
          "Detector", this->Detector, "set it to one of ", choices);
}

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::DescribeExecutionProperties(tributary::PropertyList& list) {
  this->Superclass::DescribeExecutionProperties(list);
  list.add("Schedule", this->Schedule);
  list.add("Detector", this->Detector);
  list.add("Auto Tune", this->AutoTune);
  list.add("Timeline File", this->TimelineFile);
}

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::BeginExecution(tributary::Transport& transport, bool continues) {
  if (this->TimelineFile.empty()) {
    this->Timeline.reset();
  } else if (!this->Timeline || !continues) {
    this->Timeline = std::make_unique<tributary::Timeline>(
        MostEntries / static_cast<std::size_t>(transport.size()));
    this->Timeline->start(transport);
  }
}

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::EndExecution(tributary::Transport& transport) {
  if (!this->Timeline || this->IsUnderWay) {
    return;
  }
  const std::unique_ptr<tributary::Timeline> timeline = std::move(this->Timeline);
  const auto warn = [&](const std::string& text) {
    if (transport.rank() == 0) {
      vtkWarningMacro(<< text);
    }
  };
  try {
    tributary::writeTimeline(transport, *timeline, this->TimelineFile, "Timeline File");
  } catch (const tributary::Error& error) {
    if (error.kind() != tributary::ErrorKind::Input) {
      throw;
    }
    warn(std::string(error.what()) + ".");  // the outputs are right
  }
  const std::int64_t dropped =
      tributary::allreduce(transport, tributary::ReduceOp::Sum, timeline->dropped());
  if (dropped > 0) {
    warn("Timeline File ends early on some ranks: " + std::to_string(dropped) +
         " entries were left out; trace fewer seeds, or use fewer blocks.");
  }
}

//------------------------------------------------------------------------------
tributary::ExchangeOptions vtkAsyncExchangeAlgorithm::MakeExchangeOptions() const {
  constexpr tributary::Schedule Schedules[] = {tributary::Schedule::Synchronous,
                                               tributary::Schedule::Neighborhood,
                                               tributary::Schedule::Asynchronous};
  tributary::ExchangeOptions options;
  options.schedule = Schedules[this->Schedule];
  options.arrivals = this->Arrivals;
  options.detector = this->Detector;
  options.batchBytes = static_cast<std::size_t>(this->BatchBytes);
  options.holdTime = this->HoldTime;
  options.stallTimeout = this->StallTimeout;
  options.timeline = this->Timeline.get();
  return options;
}

//------------------------------------------------------------------------------
void vtkAsyncExchangeAlgorithm::PrintSelf(ostream& os, vtkIndent indent) {
  this->Superclass::PrintSelf(os, indent);
  os << indent << "Schedule: " << this->Schedule << "\n"
     << indent << "Arrivals: " << this->Arrivals << "\n"
     << indent << "Detector: " << this->Detector << "\n"
     << indent << "BatchBytes: " << this->BatchBytes << "\n"
     << indent << "HoldTime: " << this->HoldTime << " microseconds\n"
     << indent << "AutoTune: " << this->AutoTune << "\n"
     << indent << "StallTimeout: " << this->StallTimeout << " seconds\n"
     << indent << "TimelineFile: " << this->TimelineFile << "\n";
}
