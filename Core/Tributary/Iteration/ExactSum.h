// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "Tributary/Base/Span.h"

namespace tributary {

/// An exact sum of doubles: a fixed-point number wide enough for all doubles, with 32-bit digits
/// stored in 64-bit integers. Up to 2^30 values are added digit by digit, without carries, in any
/// order and by any reduction of integers. The value is the exact sum, rounded once.
class ExactSum {
 public:
  /// 66 digits from 2^-1074 on, then the counts of NaN, +infinity and -infinity.
  static constexpr std::size_t Digits = 66;
  static constexpr std::size_t Size = Digits + 3;

  ExactSum() = default;
  /// From reduced parts. @pre values.size() == Size
  explicit ExactSum(Span<const std::int64_t> values) {
    for (std::size_t i = 0; i < Size; ++i) parts_[i] = values[i];
  }

  /// Adds a value without rounding.
  void add(double value) {
    if (!std::isfinite(value)) {
      ++parts_[Digits + (std::isnan(value) ? 0 : value > 0 ? 1 : 2)];
      return;
    }
    if (value == 0) return;
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    // |value| = mantissa * 2^(exponent - 53); bits below 2^-1074 are zeros of a subnormal number.
    auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    int place = exponent - 53 + 1074;
    if (place < 0) {
      mantissa >>= -place;
      place = 0;
    }
    Wide wide = static_cast<Wide>(mantissa) << (place % 32);
    for (auto digit = static_cast<std::size_t>(place / 32); wide != 0; ++digit, wide >>= 32) {
      const auto part = static_cast<std::int64_t>(wide & 0xffffffffu);
      parts_[digit] += value < 0 ? -part : part;
    }
  }

  /// The integers that represent the sum; they can be summed over ranks.
  const std::array<std::int64_t, Size>& parts() const { return parts_; }

  /// The sum, rounded once.
  double value() const {
    const std::int64_t* special = parts_.data() + Digits;
    if (special[0] > 0 || (special[1] > 0 && special[2] > 0)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (special[1] > 0) return std::numeric_limits<double>::infinity();
    if (special[2] > 0) return -std::numeric_limits<double>::infinity();
    // Carries, for the sum and for its negative; the one that is not negative is the magnitude.
    for (const std::int64_t sign : {1, -1}) {
      std::array<std::uint32_t, Digits + 2> digits{};
      std::int64_t carry = 0;
      for (std::size_t i = 0; i < digits.size(); ++i) {
        const std::int64_t sum = carry + (i < Digits ? sign * parts_[i] : 0);
        digits[i] = static_cast<std::uint32_t>(sum & 0xffffffff);
        carry = sum >> 32;
      }
      if (carry == 0) return static_cast<double>(sign) * rounded(digits);
    }
    return 0;
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  static double rounded(const std::array<std::uint32_t, Digits + 2>& digits) {
    std::size_t top = digits.size();
    while (top > 0 && digits[top - 1] == 0) --top;
    // The three highest digits hold 65 bits or more; of those below only whether there are any.
    const std::size_t low = top > 3 ? top - 3 : 0;
    Wide wide = 0;
    for (std::size_t i = top; i > low; --i) wide = wide << 32 | digits[i - 1];
    for (std::size_t i = 0; i < low; ++i) {
      if (digits[i] != 0) wide |= 1;
    }
    return std::ldexp(static_cast<double>(wide), static_cast<int>(low) * 32 - 1074);
  }

  std::array<std::int64_t, Size> parts_{};
};

}  // namespace tributary
