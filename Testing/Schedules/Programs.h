// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Termination/Detector.h"

namespace tributary::schedules {

/// A message that a piece of work sends.
struct Send {
  int to;
  int item = 0;         ///< the work that it brings: an index into Program::items
  bool answer = false;  ///< not work, but what another rank waits for; not told to the detector
};

/// A piece of work of one rank.
struct Item {
  std::vector<Send> sends;
  int steps = 1;    ///< turns that it takes; its messages leave in the last
  int answers = 0;  ///< so many answers the rank waits for from then on, and is active until then
};

/// What all ranks do, as a table.
struct Program {
  std::string name;
  WorkModel model = WorkModel::AP;
  int ranks = 2;
  std::vector<Item> items;
  /// By detection and rank: the work at its beginning. More than one entry: detections one after
  /// the other with the same detectors.
  std::vector<std::vector<std::vector<int>>> begin;
  /// Work that arrives is done in the turn in which it is received, so that the detector never sees
  /// the rank active; otherwise in a later one.
  bool atOnce = false;
  bool large = false;  ///< too many states for the quick suite
};

/// Small programs for the exploration of all schedules: work that comes back, chains of
/// re-activation, ranks without work, self-sends, two detections in a row; for each model.
std::vector<Program> smallPrograms(WorkModel model);

/// A random one, with up to `mostRanks` ranks and two detections.
Program randomProgram(WorkModel model, std::uint64_t seed, int mostRanks);

}  // namespace tributary::schedules
