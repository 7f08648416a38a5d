// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

namespace tributary {

class RunStatistics;
class Transport;

/// The services of a filter for the object that does the work of one execution on this rank. They
/// make this object independent of the VTK class. Valid during the execution.
struct RunContext {
  Transport& transport;
  RunStatistics& statistics;
  /// Local. Reports progress in [0, 1] and processes events, at most 50 times a second.
  /// @return false if the user asked to abort
  std::function<bool(double progress)> monitor;
  /// Collective. Returns whether any rank was interrupted or asked to abort. If so, the filter is
  /// marked as aborted on all ranks.
  /// @param interrupted  whether the work of this rank was interrupted
  std::function<bool(bool interrupted)> agreeOnAbort;
  /// Local. Reports a warning of the filter. Call it on one rank.
  std::function<void(const std::string& text)> warn;
  /// Local. As warn(), but once for all executions until the filter is modified, such as those of
  /// a series of time steps.
  std::function<void(const std::string& text)> warnOnce;
};

}  // namespace tributary
