// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace tributary::detail {

/// A number that sums, differences and products of doubles give exactly: a sum of doubles, from the
/// smallest one to the largest one, whose bits do not overlap. Exact unless a product of terms
/// overflows or underflows.
///
/// Algorithm: J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust
/// Geometric Predicates", Discrete & Computational Geometry 18 (1997), doi:10.1007/PL00009321.
class ExactNumber {
 public:
  /// Zero.
  ExactNumber() = default;
  explicit ExactNumber(double x) { add(x); }

  /// a - b
  static ExactNumber difference(double a, double b) {
    ExactNumber d(a);
    d.add(-b);
    return d;
  }

  void add(double x) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const double term = terms_[i], sum = x + term, ofTerm = sum - x, ofX = sum - ofTerm;
      const double rest = (x - ofX) + (term - ofTerm);
      if (rest != 0) terms_[kept++] = rest;
      x = sum;
    }
    terms_.resize(kept);
    if (x != 0) terms_.push_back(x);
  }

  /// -1, 0 or 1.
  [[nodiscard]] int sign() const { return terms_.empty() ? 0 : terms_.back() > 0 ? 1 : -1; }
  /// The number, rounded.
  [[nodiscard]] double rounded() const {
    double sum = 0;
    for (const double term : terms_) sum += term;
    return sum;
  }

  friend ExactNumber operator-(ExactNumber a, const ExactNumber& b) {
    for (const double term : b.terms_) a.add(-term);
    return a;
  }
  friend ExactNumber operator+(ExactNumber a, const ExactNumber& b) {
    for (const double term : b.terms_) a.add(term);
    return a;
  }
  friend ExactNumber operator*(const ExactNumber& a, const ExactNumber& b) {
    ExactNumber product;
    for (const double s : a.terms_)
      for (const double t : b.terms_) {
        const double high = s * t;
        product.add(std::fma(s, t, -high));
        product.add(high);
      }
    return product;
  }

 private:
  std::vector<double> terms_;
};

}  // namespace tributary::detail
