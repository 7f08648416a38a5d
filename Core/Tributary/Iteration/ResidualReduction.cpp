// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/ResidualReduction.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Iteration/ExactSum.h"

namespace tributary {

namespace {

constexpr int ReasonBits = 4;

}  // namespace

void ResidualReduction::start(const Part& mine) {
  // Each a number of ranks or a largest one: more than 0 says "any", whatever the operation.
  std::vector<std::int64_t> values;
  for (int bit = 0; bit < ReasonBits; ++bit) values.push_back(mine.reasons >> bit & 1);
  values.push_back(mine.met ? 0 : 1);
  if (norm_ == Norm::Max) {
    // Whatever its sign bit, no number is larger than all.
    const double residual =
        std::isnan(mine.residual) ? std::numeric_limits<double>::quiet_NaN() : mine.residual;
    values.push_back(orderedInteger(residual));
    reduce_.start(ReduceOp::Max, std::move(values));
  } else {
    ExactSum sum;
    sum.add(mine.residual);
    values.insert(values.end(), sum.parts().begin(), sum.parts().end());
    reduce_.start(ReduceOp::Sum, std::move(values));
  }
}

ResidualReduction::Part ResidualReduction::result() const {
  const std::vector<std::int64_t>& values = reduce_.result();
  Part all;
  for (std::uint32_t bit = 0; bit < ReasonBits; ++bit) {
    if (values[bit] > 0) all.reasons |= 1u << bit;
  }
  all.met = values[ReasonBits] == 0;
  const Span<const std::int64_t> rest(values.data() + ReasonBits + 1,
                                      values.size() - ReasonBits - 1);
  all.residual =
      norm_ == Norm::Max ? fromOrderedInteger(rest[0]) : std::sqrt(ExactSum(rest).value());
  return all;
}

}  // namespace tributary
