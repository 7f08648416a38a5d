// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "Tributary/Model/HybridSetting.h"
#include "Tributary/Model/OperationTimes.h"

namespace tributary {

/// Measured times of hybrid Jacobi iterations, with the setting of the measurement.
struct MeasuredTimes {
  HybridSetting setting;
  OperationTimes times;
  /// The seconds that timing adds to each operation; see OperationTimes::timingSeconds().
  double timingSeconds = 0;
  /// Seconds for which the communicating thread waits for a swap and for a report of the residual
  /// if no other rank communicates. With a master: the messages to the master and back, without the
  /// operation of the master. Between neighbors: the complete exchange.
  std::vector<double> swapTransfers, reportTransfers;
  /// The pace of each computing thread, by subregion: the ratio of its seconds to those in
  /// `times.operations`, which belong to a thread of mean pace. Paces differ because cores differ.
  /// Empty: all paces are 1.
  std::vector<double> paces;
};

/// Writes times as human-readable text, a sequence of words and numbers:
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
/// The order of the entries is fixed. Seconds are written with full precision, so that reading
/// restores their bits. Operations and kinds of iterations without samples are omitted. The layers
/// of OperationTimes are omitted, because timing-seconds summarizes them. The order of samples of
/// one kind is preserved; the order of kinds is not.
void writeTimings(std::ostream& out, const MeasuredTimes& measured);
/// Reads the text of writeTimings(). Throws Error, with `name` and the line number, if the text is
/// malformed: unknown words, an invalid setting, seconds that are negative or not finite, or a
/// number of samples other than announced.
[[nodiscard]] MeasuredTimes readTimings(std::istream& in, const std::string& name);

/// Write and read the same text as a file. Local. Throw Error if the file cannot be written or
/// read.
void saveTimings(const std::string& path, const MeasuredTimes& measured);
/// Reads a file that saveTimings() has written. Throws Error if it is malformed or cannot be read.
[[nodiscard]] MeasuredTimes loadTimings(const std::string& path);

}  // namespace tributary
