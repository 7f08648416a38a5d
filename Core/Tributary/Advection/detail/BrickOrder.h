// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "Tributary/Base/StructuredCells.h"

namespace tributary::detail {

/// Cells of a structured grid, from `begin` up to but not including `end` along each axis.
struct Brick {
  std::array<std::int64_t, 3> begin, end;
};

/// An order of the cells of a structured grid in which cells close to each other follow each other:
/// brick by brick. Each brick has eight slots; those of bricks at the ends of the grid may be
/// without a cell.
class BrickOrder {
 public:
  /// The number of slots of a brick.
  static constexpr std::int64_t Size = 8;

  /// No cells.
  BrickOrder() = default;
  explicit BrickOrder(const StructuredCells& grid);

  /// The number of bricks.
  [[nodiscard]] std::int64_t bricks() const { return bricks_[0] * bricks_[1] * bricks_[2]; }
  [[nodiscard]] Brick brickAt(std::int64_t number) const;
  /// The cell at a slot, counted through all bricks, or -1.
  [[nodiscard]] std::int64_t cellAt(std::int64_t slot) const;
  /// Calls visit(cell) for each cell of a brick, in the order of their slots. Faster than
  /// cellAt().
  template <class Visit>
  void forEachCell(const Brick& brick, Visit&& visit) const {
    for (std::int64_t k = brick.begin[2]; k < brick.end[2]; ++k)
      for (std::int64_t j = brick.begin[1]; j < brick.end[1]; ++j)
        for (std::int64_t i = brick.begin[0]; i < brick.end[0]; ++i)
          visit((k * cells_[1] + j) * cells_[0] + i);
  }

 private:
  std::array<std::int64_t, 3> beginOf(std::int64_t brick) const {
    const std::int64_t row = brick / bricks_[0], layer = row / bricks_[1];
    return {{(brick - row * bricks_[0]) * edges_[0], (row - layer * bricks_[1]) * edges_[1],
             layer * edges_[2]}};
  }

  std::array<std::int64_t, 3> cells_{{1, 1, 1}};   // along each axis
  std::array<std::int64_t, 3> edges_{{1, 1, 1}};   // of a brick, in cells; their product is Size
  std::array<std::int64_t, 3> bricks_{{0, 0, 0}};  // along each axis
};

}  // namespace tributary::detail
