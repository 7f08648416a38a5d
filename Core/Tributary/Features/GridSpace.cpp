// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Features/SimplicialSpace.h"

namespace tributary {
namespace {

using Place = std::array<std::int64_t, 3>;

bool isEmpty(const GridExtent& e) {
  return e.first[0] > e.last[0] || e.first[1] > e.last[1] || e.first[2] > e.last[2];
}

bool contains(const GridExtent& e, const Place& at) {
  for (std::size_t a = 0; a < 3; ++a)
    if (at[a] < e.first[a] || at[a] > e.last[a]) return false;
  return true;
}

GridExtent common(const GridExtent& a, const GridExtent& b) {
  GridExtent both = a;
  intersect(both.first, both.last, b.first, b.last);
  return both;
}

std::int64_t pointsOf(const GridExtent& e) {
  std::int64_t count = 1;
  for (std::size_t a = 0; a < 3; ++a) count *= e.last[a] - e.first[a] + 1;
  return count;
}

std::int64_t numberIn(const GridExtent& e, const Place& at) {
  return ((at[2] - e.first[2]) * (e.last[1] - e.first[1] + 1) + at[1] - e.first[1]) *
             (e.last[0] - e.first[0] + 1) +
         at[0] - e.first[0];
}

template <class Visit>
void forPoints(const GridExtent& e, Visit&& visit) {
  for (std::int64_t k = e.first[2]; k <= e.last[2]; ++k)
    for (std::int64_t j = e.first[1]; j <= e.last[1]; ++j)
      for (std::int64_t i = e.first[0]; i <= e.last[0]; ++i) visit(Place{i, j, k});
}

class GridSpace : public SimplicialSpace {
 public:
  /// @param extents, all  of the blocks of this rank, and of all blocks
  GridSpace(const Transport& transport, const Assignment& assignment, GridAxes axes,
            std::vector<GridExtent> extents, std::vector<GridExtent> all,
            const std::array<int, 3>& used, int dimension)
      : SimplicialSpace(assignment, dimension, used),
        coordinates_(std::move(axes.coordinates)),
        first_(assignment.first(transport.rank())),
        mine_(std::move(extents)),
        all_(std::move(all)) {
    for (std::size_t a = 0; a < 3; ++a)
      size_[a] = static_cast<std::int64_t>(coordinates_[a].size());
    std::vector<std::int64_t> count;
    for (const GridExtent& e : mine_) count.push_back(pointsOf(e));
    setPoints(std::move(count));
    makeChains();
  }

  /// Local. Throws Error if cells of a local block overlap those of another block.
  void checkOverlaps() const {
    for (std::size_t b = 0; b < mine_.size(); ++b) {
      for (std::size_t other = 0; other < all_.size(); ++other) {
        if (static_cast<BlockId>(other) == first_ + static_cast<BlockId>(b)) continue;
        const GridExtent both = common(mine_[b], all_[other]);
        bool overlap = true;
        for (int c = 0; c < dimension(); ++c) {
          const auto a = static_cast<std::size_t>(axes()[static_cast<std::size_t>(c)]);
          overlap = overlap && both.first[a] < both.last[a];
        }
        if (overlap) {
          throw Error("cells of blocks " + std::to_string(first_ + static_cast<BlockId>(b)) +
                      " and " + std::to_string(other) +
                      " overlap; give blocks without their ghost cells");
        }
      }
    }
  }

  std::int64_t idOf(std::size_t block, SpacePoint point) const override {
    return numberIn({{0, 0, 0}, {size_[0] - 1, size_[1] - 1, size_[2] - 1}}, place(block, point));
  }

  std::array<double, 3> placeOf(std::size_t block, SpacePoint point) const override {
    const Place at = place(block, point);
    return {coordinates_[0][index(at[0])], coordinates_[1][index(at[1])],
            coordinates_[2][index(at[2])]};
  }

  /// Rows of cells.
  std::int64_t groups(std::size_t block) const override {
    const Place n = cellsOf(mine_[block]);
    return n[1] * n[2];
  }

  void forEachSimplex(std::size_t block, std::int64_t begin, std::int64_t end,
                      const std::uint8_t* flags, const Visit& visit) const override {
    const GridExtent& e = mine_[block];
    const Place cells = cellsOf(e);
    const auto stride = stridesOf(e);
    const std::int64_t dx = size_[0] > 1 ? 1 : 0, dy = size_[1] > 1 ? stride[1] : 0,
                       dz = size_[2] > 1 ? stride[2] : 0;
    for (std::int64_t row = begin; row < end; ++row) {
      const SpacePoint from = row % cells[1] * stride[1] + row / cells[1] * stride[2];
      for (SpacePoint p = from; p < from + cells[0]; ++p) {
        const auto column = [&](SpacePoint q) {
          return static_cast<unsigned>(flags[q] & flags[q + dy] & flags[q + dz] &
                                       flags[q + dy + dz]);
        };
        if (column(p) & column(p + dx)) continue;
        for (const auto& chain : chains_) {
          std::array<SpacePoint, 4> corners{};
          unsigned same = 0xff;
          for (std::size_t v = 0; v <= static_cast<std::size_t>(dimension()); ++v) {
            corners[v] =
                p + chain[v][0] * stride[0] + chain[v][1] * stride[1] + chain[v][2] * stride[2];
            same &= flags[corners[v]];
          }
          if (!same) visit(corners);
        }
      }
    }
  }

 protected:
  void fetch(Transport& transport, std::vector<std::vector<double>>& values,
             int components) const override {
    const auto c = index(components);
    ErrorCollector errors;
    std::vector<Span<const double>> views;
    errors.attempt([&] { views.assign(values.begin(), values.end()); });
    forForeign(transport, errors, views, components,
               [&](std::size_t b, const Place& at, const std::vector<double>& value) {
                 if (!contains(mine_[b], at)) return;
                 std::copy(value.begin(), value.end(),
                           values[b].begin() +
                               static_cast<std::ptrdiff_t>(index(numberIn(mine_[b], at)) * c));
               });
    errors.agree(transport);
  }

  std::vector<std::vector<double>> slopes(
      Transport& transport, const std::vector<Span<const double>>& scalars) const override {
    std::vector<GrownBlock> grown;
    std::vector<std::vector<double>> result;
    ErrorCollector errors;
    errors.attempt([&] {
      for (std::size_t b = 0; b < blocks(); ++b) grown.push_back(grow(b, scalars[b]));
    });
    forForeign(transport, errors, scalars, 1,
               [&](std::size_t b, const Place& at, const std::vector<double>& value) {
                 const std::size_t i = index(numberIn(grown[b].extent, at));
                 grown[b].values[i] = value.front();
                 grown[b].known[i] = 1;
               });
    if (!errors.anyKnown()) {
      errors.attempt([&] {
        for (std::size_t b = 0; b < blocks(); ++b) result.push_back(differences(b, grown[b]));
      });
    }
    errors.agree(transport);
    return result;
  }

 private:
  /// The values of a block and of the layer of points around it, and which of these are known.
  struct GrownBlock {
    GridExtent extent;
    std::vector<double> values;
    std::vector<std::uint8_t> known;
  };

  GrownBlock grow(std::size_t b, Span<const double> scalars) const {
    GrownBlock grown;
    grown.extent = grownBy1(mine_[b]);
    grown.values.resize(index(pointsOf(grown.extent)));
    grown.known.resize(grown.values.size());
    std::size_t next = 0;
    forPoints(mine_[b], [&](const Place& at) {
      const std::size_t i = index(numberIn(grown.extent, at));
      grown.values[i] = scalars[next++];
      grown.known[i] = 1;
    });
    return grown;
  }

  /// Central differences at the points of a block, one-sided where a neighbor is missing.
  std::vector<double> differences(std::size_t b, const GrownBlock& grown) const {
    std::vector<double> result;
    result.reserve(index(points(b) * dimension()));
    const auto stride = stridesOf(grown.extent);
    forPoints(mine_[b], [&](const Place& at) {
      const std::int64_t here = numberIn(grown.extent, at);
      for (std::size_t c = 0; c < index(dimension()); ++c) {
        const auto a = static_cast<std::size_t>(axes()[c]);
        const auto& x = coordinates_[a];
        std::int64_t low = at[a], high = at[a];
        if (low > 0 && grown.known[index(here - stride[a])]) --low;
        if (high + 1 < size_[a] && grown.known[index(here + stride[a])]) ++high;
        const double rise = grown.values[index(here + (high - at[a]) * stride[a])] -
                            grown.values[index(here + (low - at[a]) * stride[a])];
        result.push_back(rise / (x[index(high)] - x[index(low)]));
      }
    });
    return result;
  }

  /// The paths along the axes from a cell's lowest corner to its highest, in each order of the
  /// axes.
  void makeChains() {
    std::vector<int> order(axes().begin(), axes().begin() + dimension());
    do {
      std::array<Place, 4> chain{};
      for (std::size_t v = 1; v <= order.size(); ++v) {
        chain[v] = chain[v - 1];
        chain[v][static_cast<std::size_t>(order[v - 1])] = 1;
      }
      chains_.push_back(chain);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  static std::array<std::int64_t, 3> stridesOf(const GridExtent& e) {
    const std::int64_t row = e.last[0] - e.first[0] + 1;
    return {1, row, row * (e.last[1] - e.first[1] + 1)};
  }
  /// The number of cells along each axis; 1 along a flat one.
  Place cellsOf(const GridExtent& e) const {
    Place n;
    for (std::size_t a = 0; a < 3; ++a) n[a] = size_[a] > 1 ? e.last[a] - e.first[a] : 1;
    return n;
  }
  Place place(std::size_t block, SpacePoint point) const {
    const GridExtent& e = mine_[block];
    const auto stride = stridesOf(e);
    return {e.first[0] + point % stride[1], e.first[1] + point % stride[2] / stride[1],
            e.first[2] + point / stride[2]};
  }
  GridExtent grownBy1(GridExtent e) const {
    for (std::size_t a = 0; a < 3; ++a) {
      e.first[a] = std::max<std::int64_t>(e.first[a] - 1, 0);
      e.last[a] = std::min(e.last[a] + 1, size_[a] - 1);
    }
    return e;
  }

  /// Calls `visit(at)` for each point in a block or in the layer around it whose lowest block is
  /// `source`, another one.
  template <class Visit>
  void forTaken(BlockId block, BlockId source, Visit&& visit) const {
    if (block == source) return;
    const GridExtent both = common(grownBy1(all_[index(block)]), all_[index(source)]);
    if (isEmpty(both)) return;
    std::vector<GridExtent> before;
    for (BlockId other = 0; other < source; ++other)
      if (!isEmpty(common(both, all_[index(other)]))) before.push_back(all_[index(other)]);
    forPoints(both, [&](const Place& at) {
      for (const GridExtent& e : before)
        if (contains(e, at)) return;
      visit(at);
    });
  }

  /// Collective. Fetches the values of the points in local blocks and around them whose lowest
  /// block is another one. The caller agrees on errors.
  /// @param take  take(local block, place, values), local
  template <class Take>
  void forForeign(Transport& transport, ErrorCollector& errors,
                  const std::vector<Span<const double>>& values, int components,
                  Take&& take) const {
    const auto c = index(components);
    sendMessages(
        transport, errors,
        [&](MessageOutbox& outbox) {
          for (BlockId to = 0; to < assignment().total(); ++to) {
            Writer& writer = outbox.to(assignment().rankOf(to));
            for (std::size_t b = 0; b < blocks(); ++b) {
              forTaken(to, first_ + static_cast<BlockId>(b), [&](const Place& at) {
                const double* from = values[b].data() + index(numberIn(mine_[b], at)) * c;
                for (std::size_t i = 0; i < c; ++i) writer.value(from[i]);
              });
            }
          }
        },
        [&](std::vector<Reader>& readers) {
          std::vector<double> value(c);
          for (std::size_t b = 0; b < blocks(); ++b) {
            for (BlockId source = 0; source < assignment().total(); ++source) {
              Reader& reader = readers[index(assignment().rankOf(source))];
              forTaken(first_ + static_cast<BlockId>(b), source, [&](const Place& at) {
                for (double& v : value) v = reader.value<double>();
                take(b, at, value);
              });
            }
          }
        });
  }

  std::array<std::vector<double>, 3> coordinates_;
  Place size_;
  BlockId first_;
  std::vector<GridExtent> mine_, all_;
  std::vector<std::array<Place, 4>> chains_;
};

/// @param used  set to the axes with several points
/// @return how many these are
int checkAxes(const GridAxes& axes, std::array<int, 3>& used) {
  int dimension = 0;
  std::int64_t points = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto& x = axes.coordinates[a];
    if (x.empty()) throw Error("grid: an axis has no coordinates; give at least one");
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!std::isfinite(x[i]) || (i > 0 && !(x[i - 1] < x[i])))
        throw Error(
            "grid: coordinates along an axis must be finite and ascending; repair the coordinates");
    }
    if (x.size() > 1) used[static_cast<std::size_t>(dimension++)] = static_cast<int>(a);
    if (__builtin_mul_overflow(points, static_cast<std::int64_t>(x.size()), &points))
      throw Error("grid: the number of points exceeds 63 bits; use a smaller grid");
  }
  if (dimension < 2)
    throw Error(
        "grid: fewer than two axes have more than one point; give a grid of dimension 2 or 3");
  return dimension;
}

/// @param blocks  the number of blocks that must have an extent
void checkExtents(const GridAxes& axes, const std::vector<GridExtent>& extents,
                  std::int64_t blocks) {
  if (extents.size() != index(blocks)) {
    throw Error("grid: " + std::to_string(extents.size()) + " extents given for " +
                std::to_string(blocks) + " blocks; pass the extent of each block of this rank");
  }
  for (const GridExtent& e : extents) {
    for (std::size_t a = 0; a < 3; ++a) {
      const auto points = static_cast<std::int64_t>(axes.coordinates[a].size());
      if (e.first[a] < 0 || e.last[a] >= points || e.first[a] > e.last[a] ||
          (points > 1 && e.first[a] == e.last[a]))
        throw Error(
            "grid: the extent of a block has no cell or is outside of the grid; give blocks with "
            "cells in the grid");
    }
  }
}

}  // namespace

std::unique_ptr<SimplicialSpace> makeGridSpace(Transport& transport, const Assignment& assignment,
                                               GridAxes axes, std::vector<GridExtent> extents) {
  std::array<int, 3> used{};
  std::vector<std::int64_t> sizes;
  int dimension = 0;
  collectively(transport, [&] {
    dimension = checkAxes(axes, used);
    checkExtents(axes, extents, assignment.count(transport.rank()));
    for (const auto& x : axes.coordinates) sizes.push_back(static_cast<std::int64_t>(x.size()));
  });
  // Ranks with different grids would number points differently.
  if (!sameOnAllRanks(transport, std::move(sizes)))
    throw Error("grid: ranks gave grids of different sizes; give the same axes on all ranks");
  ErrorCollector errors;
  std::vector<GridExtent> all = allgatherv(transport, Span<const GridExtent>(extents), errors,
                                           [&](int rank) { return assignment.count(rank); });
  std::unique_ptr<SimplicialSpace> space;
  if (!errors.any()) {
    errors.attempt([&] {
      checkExtents(axes, all, assignment.total());
      auto made = std::make_unique<GridSpace>(transport, assignment, std::move(axes),
                                              std::move(extents), std::move(all), used, dimension);
      made->checkOverlaps();
      space = std::move(made);
    });
  }
  errors.agree(transport);
  return space;
}

}  // namespace tributary
