// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Scenario.h"

namespace tributary::schedules {

/// Whether the long suite is to run, with the large scenarios, too: see README.md.
bool longSuite();

/// Expects that no schedule of any scenario violates anything, and prints a row of totals for each
/// subject.
void expectRight(const std::vector<Scenario>& scenarios);

/// Expects that some scenario finds the error of this program, and that its schedule shows it
/// again.
void expectFound(const std::vector<Scenario>& scenarios);

}  // namespace tributary::schedules
