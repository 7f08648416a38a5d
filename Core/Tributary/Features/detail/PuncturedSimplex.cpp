// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/detail/PuncturedSimplex.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace tributary::detail {
namespace {

/// Holds a determinant of three vectors: 6 times 2^120.
__extension__ typedef __int128 Wide;

using Rows = std::array<const RoundedVector*, 3>;

/// The minor of the rows and columns of a matrix in two masks of equal size.
Wide minorOf(const Rows& rows, unsigned rowMask, unsigned columnMask) {
  std::size_t r[3], c[3], n = 0, m = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (rowMask >> i & 1) r[n++] = i;
    if (columnMask >> i & 1) c[m++] = i;
  }
  const auto at = [&](std::size_t i, std::size_t j) -> Wide { return rows[r[i]]->component[c[j]]; };
  if (n == 0) return 1;
  if (n == 1) return at(0, 0);
  if (n == 2) return at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0);
  return at(0, 0) * (at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)) -
         at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
         at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
}

/// A product of perturbations in the determinant of a perturbed matrix. Its coefficient is the
/// minor of the other rows and columns.
struct Term {
  unsigned moved;  // bit row * dimension + column of each element; a smaller mask is a larger term
  unsigned rows, columns;
  int sign;
};

void addTerms(int dimension, int row, Term term, std::vector<int>& columns,
              std::vector<Term>& terms) {
  if (row == dimension) {
    // (-1) to the sum of rows and columns, times the sign of the permutation.
    int odd = 0;
    for (int i = 0; i < dimension; ++i) {
      odd += (term.rows >> i & 1) ? i : 0;
      odd += (term.columns >> i & 1) ? i : 0;
    }
    for (std::size_t i = 0; i < columns.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) odd += columns[j] > columns[i];
    term.sign = odd % 2 ? -1 : 1;
    terms.push_back(term);
    return;
  }
  addTerms(dimension, row + 1, term, columns, terms);
  for (int column = 0; column < dimension; ++column) {
    if (term.columns >> column & 1) continue;
    columns.push_back(column);
    addTerms(dimension, row + 1,
             {term.moved | 1u << (row * dimension + column), term.rows | 1u << row,
              term.columns | 1u << column, 0},
             columns, terms);
    columns.pop_back();
  }
}

/// From the largest to the first whose coefficient is constant.
const std::vector<Term>& termsOf(int dimension) {
  const auto make = [](int d) {
    std::vector<Term> terms;
    std::vector<int> columns;
    addTerms(d, 0, {0, 0, 0, 0}, columns, terms);
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return a.moved < b.moved; });
    const unsigned all = (1u << d) - 1;
    std::size_t count = 1;
    while (terms[count - 1].rows != all) ++count;
    terms.resize(count);
    return terms;
  };
  static const std::vector<Term> two = make(2), three = make(3);
  return dimension == 2 ? two : three;
}

/// The sign of the determinant of perturbed rows, never 0.
int movedSign(const Rows& rows, int dimension) {
  const unsigned all = (1u << dimension) - 1;
  for (const Term& term : termsOf(dimension)) {
    const Wide value = minorOf(rows, all & ~term.rows, all & ~term.columns);
    if (value != 0) return value < 0 ? -term.sign : term.sign;
  }
  return 0;  // not reached: the last term is constant
}

/// All corners but one.
Rows without(const RoundedVector* corners, int dimension, int corner) {
  Rows rows{};
  for (int i = 0, n = 0; i <= dimension; ++i)
    if (i != corner) rows[static_cast<std::size_t>(n++)] = corners + i;
  return rows;
}

}  // namespace

RoundedVector rounded(const double* vector, int dimension) {
  double largest = 0;
  for (int c = 0; c < dimension; ++c) largest = std::max(largest, std::fabs(vector[c]));
  RoundedVector result;
  if (largest == 0) return result;
  int exponent;
  std::frexp(largest, &exponent);
  result.exponent = exponent - 40;
  for (int c = 0; c < dimension; ++c) {
    // Away from zero, so that signs stay.
    const double magnitude = std::ceil(std::ldexp(std::fabs(vector[c]), -result.exponent));
    const auto integer = std::max<std::int64_t>(static_cast<std::int64_t>(magnitude),
                                                vector[c] != 0 ? 1 : 0);  // ldexp may underflow
    result.component[static_cast<std::size_t>(c)] = vector[c] < 0 ? -integer : integer;
  }
  return result;
}

bool isPunctured(const RoundedVector* corners, int dimension) {
  // A corner's weight is proportional to the determinant of the others, with alternating sign.
  const int first = movedSign(without(corners, dimension, 0), dimension);
  for (int i = 1; i <= dimension; ++i) {
    const int sign = movedSign(without(corners, dimension, i), dimension);
    if (sign != (i % 2 ? -first : first)) return false;
  }
  return true;
}

std::array<double, 4> punctureWeights(const RoundedVector* corners, int dimension) {
  const unsigned all = (1u << dimension) - 1;
  std::array<double, 4> weight{};
  int least = std::numeric_limits<int>::max();
  for (int i = 0; i <= dimension; ++i) {
    const Wide value = minorOf(without(corners, dimension, i), all, all);
    weight[static_cast<std::size_t>(i)] = std::fabs(static_cast<double>(value));
    if (value != 0) least = std::min(least, corners[i].exponent);
  }
  const bool isDegenerate = least == std::numeric_limits<int>::max();
  const auto isZero = [&](int i) { return corners[i].component == RoundedVector().component; };
  bool anyZero = false;
  for (int i = 0; i <= dimension; ++i) anyZero = anyZero || isZero(i);
  double sum = 0;
  for (int i = 0; i <= dimension; ++i) {
    double& w = weight[static_cast<std::size_t>(i)];
    if (isDegenerate) {
      w = !anyZero || isZero(i) ? 1 : 0;
    } else if (w > 0) {
      w = std::ldexp(w, least - corners[i].exponent);
    }
    sum += w;
  }
  for (double& w : weight) w /= sum;
  return weight;
}

}  // namespace tributary::detail
