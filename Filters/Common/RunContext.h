// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

namespace tributary {

class RunStatistics;
class Transport;

/// What a filter gives to the object that does the work of one execution on this rank, so that this
/// object need not know the VTK class. Valid during the execution.
struct RunContext {
  Transport& transport;
  RunStatistics& statistics;
  /// Local. Shows progress in [0, 1] and processes the user's events, at most ten times a second.
  /// @return false once the user has asked to abort
  std::function<bool(double progress)> monitor;
  /// Collective. Whether any rank was interrupted or asked to abort; if so, the filter is marked as
  /// aborted on all ranks.
  /// @param interrupted  whether the work of this rank was cut short
  std::function<bool(bool interrupted)> agreeOnAbort;
  /// Local. Shows a warning of the filter; to be called on one rank.
  std::function<void(const std::string& text)> warn;
};

}  // namespace tributary
