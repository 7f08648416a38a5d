// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationTimes.h"

namespace tributary {

/// Times of hybrid Jacobi iterations, and what they were measured of.
struct MeasuredTimes {
  HybridSetting setting;
  OperationTimes times;
  /// What timing adds to every operation's seconds; see OperationTimes::timingSeconds().
  double timingSeconds = 0;
  /// Of a swap and of a report of the residual, as the thread that communicates waits for them
  /// while nobody else asks: of the messages to the master and back without its operation, or of
  /// all there is to do between neighbors.
  std::vector<double> swapTransfers, reportTransfers;
  /// Of each thread that computes, subregion by subregion: its seconds as a part of those in
  /// `times.operations`, which are of a thread of mean pace. Cores are not all alike. Empty: 1.
  std::vector<double> paces;
};

/// A text, for people too, a word or a number after the other:
///
///     tributary-timings 3
///     neighbors 4
///     points 400 400 1
///     subregions 1 2
///     threads 2
///     communicates first
///     traffic direct
///     work-share 1
///     swap-period 1
///     residual-period 10
///     timing-seconds 2.5e-08
///     operation ComputeInterior 2
///     1.1e-07
///     1.2e-07
///     iterations C_U 1
///     3e-05
///     interrupted C_U 1
///     4e-03
///     swap-transfers 0
///     report-transfers 0
///     paces 0
///     end
///
/// in this order, with seconds that are read as they were written. Operations and kinds of
/// iterations without samples are left out, and so are OperationTimes' layers, of which
/// timing-seconds tells what is to know. Samples of a kind keep their order, kinds do not.
void writeTimings(std::ostream& out, const MeasuredTimes& measured);
/// Throws Error, with `name` and the number of the line, at anything else than that: unknown words,
/// a setting that makes no sense, seconds that are negative or not finite, and more or fewer of
/// them than announced.
MeasuredTimes readTimings(std::istream& in, const std::string& name);

/// The same in files. Local. Throws Error if a file cannot be written, or read.
void saveTimings(const std::string& path, const MeasuredTimes& measured);
MeasuredTimes loadTimings(const std::string& path);

}  // namespace tributary
