// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/SimplicialSpace.h"

#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

void SimplicialSpace::check(int rank, const std::vector<Span<const double>>& values,
                            int components) const {
  if (values.size() != blocks()) {
    throw Error("values of " + std::to_string(values.size()) + " blocks given for " +
                std::to_string(blocks()) + " local blocks; pass those of each block");
  }
  for (std::size_t b = 0; b < blocks(); ++b) {
    if (values[b].size() == static_cast<std::size_t>(points(b) * components)) continue;
    throw Error("block " + std::to_string(assignment_.first(rank) + static_cast<BlockId>(b)) +
                " has " + std::to_string(points(b)) + " points and " +
                std::to_string(values[b].size()) + " values; give " + std::to_string(components) +
                " for each point");
  }
}

std::vector<std::vector<double>> SimplicialSpace::shareVectors(
    Transport& transport, const std::vector<Span<const double>>& vectors) const {
  std::vector<std::vector<double>> result;
  collectively(transport, [&] {
    check(transport.rank(), vectors, 3);
    const auto d = static_cast<std::size_t>(dimension_);
    result.resize(blocks());
    for (std::size_t b = 0; b < blocks(); ++b) {
      const std::size_t count = vectors[b].size() / 3;
      result[b].resize(count * d);
      for (std::size_t p = 0; p < count; ++p)
        for (std::size_t c = 0; c < d; ++c)
          result[b][p * d + c] = vectors[b][p * 3 + static_cast<std::size_t>(axes_[c])];
    }
  });
  fetch(transport, result, dimension_);
  return result;
}

std::vector<std::vector<double>> SimplicialSpace::gradient(
    Transport& transport, const std::vector<Span<const double>>& scalars) const {
  collectively(transport, [&] { check(transport.rank(), scalars, 1); });
  return slopes(transport, scalars);
}

}  // namespace tributary
