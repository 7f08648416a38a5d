// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

namespace bench {

/// Color with premultiplied opacity.
struct Pixel {
  float r, g, b, a;
};

/// result[i] = lower[i] combined with upper[i]; `result` may be one of them.
using CombinePixels =
    std::function<void(const Pixel* lower, const Pixel* upper, Pixel* result, std::size_t count)>;

/// How reductions pair blocks.
enum class Pattern { Merge, Swap };

}  // namespace bench
