// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Frames.h"

#include "Tributary/Advection/detail/kernels/FrameKernel.h"

namespace tributary {

void computeFrames(Span<const Polyline> lines, const FrameArrays& arrays) {
  static const detail::FrameKernel kernel = detail::frameKernel();
  kernel(lines.data(), static_cast<std::int64_t>(lines.size()), arrays);
}

}  // namespace tributary
