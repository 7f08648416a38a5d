// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

/// Detectors with one error each, made from the production sources: see Mutant.cmake and the list
/// in CMakeLists.txt.
namespace tributary::detail {

DetectorType consensusInverted();
DetectorType consensusBlindToTouches();
DetectorType ringFlagWithoutPriorities();
DetectorType ringFlagOnSendsOnly();
DetectorType treeAckTooEarly();
DetectorType fourCounterAfterOneWave();
DetectorType hashCounterOfTotals();
DetectorType allReduceOfMoments();
DetectorType sharedCounterOfHeldWork();
DetectorType ringCounterOfSomeRanks();

}  // namespace tributary::detail
