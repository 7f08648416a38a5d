// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "ChannelFlow.h"

/// Collective. Writes the state of a flow to a file, which replaces one of the same name when it is
/// complete. Its bytes do not depend on the number of ranks.
/// @param interval  steps between two outputs of the simulation
/// @throws std::runtime_error on all ranks if this fails
void writeRestart(const std::string& path, const ChannelFlow& flow, std::int64_t interval);

/// Collective. Continues from a file that any number of ranks has written.
/// @throws std::runtime_error on all ranks if this fails, or if the file is that of another grid,
/// flow or interval
void readRestart(const std::string& path, ChannelFlow& flow, std::int64_t interval);
