// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "Tributary/Advection/Frames.h"

namespace tributary::detail {

/// Computes frames as computeFrames() does; the same bits from every variant.
using FrameKernel = void (*)(const Polyline*, std::int64_t lines, const FrameArrays&);
void computeFramesBaseline(const Polyline*, std::int64_t, const FrameArrays&);
void computeFramesAvx2(const Polyline*, std::int64_t, const FrameArrays&);
void computeFramesAvx512(const Polyline*, std::int64_t, const FrameArrays&);
/// The fastest variant that this processor runs.
[[nodiscard]] FrameKernel frameKernel();

}  // namespace tributary::detail
