// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "Tributary/Base/Error.h"

namespace tributary {

/// A sum of fixed-point numbers. Integer addition gives the same bits in any order.
__extension__ typedef __int128 FixedSum;

/// Adds to a sum of any integers of which some come from messages. Throws Error, with the sum
/// undefined, if the sum cannot hold them.
template <class Integer>
void addChecked(Integer& sum, Integer part) {
  if (__builtin_add_overflow(sum, part, &sum))
    refuseMessage("numbers that are larger than a sum can hold");
}

/// Converts doubles to fixed-point numbers, and their sums back to doubles. A sum can hold 2^38
/// values of the largest magnitude. Each value is truncated at 2^-87 of that magnitude, which is
/// below the rounding error of a double except for values below 2^-34 of the largest.
class FixedScale {
 public:
  FixedScale() = default;
  /// @param largest  upper bound of the magnitudes of all values; finite, the same on all ranks
  explicit FixedScale(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);             // largest < 2^exponent
    exponent = std::max(87 - exponent, -1022);  // bits behind the point
    toInteger_ = std::ldexp(1.0, std::min(exponent, 1022));
    toDouble_ = std::ldexp(1.0, -std::min(exponent, 1022));
  }

  /// A value as a fixed-point number; 0 if it is not finite. @pre |value| <= largest, or not finite
  [[nodiscard]] FixedSum fixed(double value) const {
    return std::isfinite(value) ? static_cast<FixedSum>(value * toInteger_) : 0;
  }
  /// A sum as a double.
  [[nodiscard]] double value(FixedSum sum) const { return static_cast<double>(sum) * toDouble_; }
  bool operator==(const FixedScale& other) const { return toInteger_ == other.toInteger_; }

 private:
  double toInteger_ = 1;
  double toDouble_ = 1;
};

}  // namespace tributary
