// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tributary {

/// A sum of fixed-point numbers: integers add up to the same bits in any order.
__extension__ typedef __int128 FixedSum;

/// Turns doubles into fixed-point numbers and their sums back. One scale holds up to 2^38 values
/// of up to the given magnitude; each is cut off at 2^-87 of that magnitude, which is below the
/// rounding of a double for all but the values smaller than 2^-34 of the largest.
class FixedScale {
 public:
  FixedScale() = default;
  /// @param largest  no value to be added is larger, by magnitude; finite. The same on all ranks.
  explicit FixedScale(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);             // largest < 2^exponent
    exponent = std::max(87 - exponent, -1022);  // bits behind the point
    toInteger_ = std::ldexp(1.0, std::min(exponent, 1022));
    toDouble_ = std::ldexp(1.0, -std::min(exponent, 1022));
  }

  /// @pre |value| <= largest
  FixedSum fixed(double value) const { return static_cast<FixedSum>(value * toInteger_); }
  double value(FixedSum sum) const { return static_cast<double>(sum) * toDouble_; }
  bool operator==(const FixedScale& other) const { return toInteger_ == other.toInteger_; }

 private:
  double toInteger_ = 1;
  double toDouble_ = 1;
};

}  // namespace tributary
