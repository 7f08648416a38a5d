// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
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
  GridExtent both;
  for (std::size_t i = 0; i < 3; ++i) {
    both.first[i] = std::max(a.first[i], b.first[i]);
    both.last[i] = std::min(a.last[i], b.last[i]);
  }
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
  GridSpace(Transport& transport, const Assignment& assignment, GridAxes axes,
            std::vector<GridExtent> extents, const std::array<int, 3>& used, int dimension)
      : SimplicialSpace(assignment, dimension, used),
        coordinates_(std::move(axes.coordinates)),
        first_(assignment.first(transport.rank())),
        mine_(std::move(extents)),
        all_(allgatherv(transport, mine_)) {
    for (std::size_t a = 0; a < 3; ++a)
      size_[a] = static_cast<std::int64_t>(coordinates_[a].size());
    std::vector<std::int64_t> count;
    for (const GridExtent& e : mine_) count.push_back(pointsOf(e));
    setPoints(std::move(count));
    makeChains();
  }

  /// What cannot be seen on one rank alone.
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
    std::vector<Span<const double>> views(values.begin(), values.end());
    const auto c = index(components);
    forForeign(transport, views, components,
               [&](std::size_t b, const Place& at, const std::vector<double>& value) {
                 if (!contains(mine_[b], at)) return;
                 std::copy(value.begin(), value.end(),
                           values[b].begin() +
                               static_cast<std::ptrdiff_t>(index(numberIn(mine_[b], at)) * c));
               });
  }

  std::vector<std::vector<double>> slopes(
      Transport& transport, const std::vector<Span<const double>>& scalars) const override {
    // Values of the block and of the layer around it, and where there are any.
    std::vector<std::vector<double>> values(blocks());
    std::vector<std::vector<std::uint8_t>> known(blocks());
    std::vector<GridExtent> grown;
    for (std::size_t b = 0; b < blocks(); ++b) {
      grown.push_back(grownBy1(mine_[b]));
      values[b].resize(index(pointsOf(grown[b])));
      known[b].resize(values[b].size());
      std::size_t next = 0;
      forPoints(mine_[b], [&](const Place& at) {
        const std::size_t i = index(numberIn(grown[b], at));
        values[b][i] = scalars[b][next++];
        known[b][i] = 1;
      });
    }
    forForeign(transport, scalars, 1,
               [&](std::size_t b, const Place& at, const std::vector<double>& value) {
                 const std::size_t i = index(numberIn(grown[b], at));
                 values[b][i] = value.front();
                 known[b][i] = 1;
               });
    std::vector<std::vector<double>> result(blocks());
    for (std::size_t b = 0; b < blocks(); ++b) {
      result[b].reserve(index(points(b) * dimension()));
      const auto stride = stridesOf(grown[b]);
      forPoints(mine_[b], [&](const Place& at) {
        const std::int64_t here = numberIn(grown[b], at);
        for (std::size_t c = 0; c < index(dimension()); ++c) {
          const auto a = static_cast<std::size_t>(axes()[c]);
          const auto& x = coordinates_[a];
          std::int64_t low = at[a], high = at[a];
          if (low > 0 && known[b][index(here - stride[a])]) --low;
          if (high + 1 < size_[a] && known[b][index(here + stride[a])]) ++high;
          const double rise = values[b][index(here + (high - at[a]) * stride[a])] -
                              values[b][index(here + (low - at[a]) * stride[a])];
          result[b].push_back(rise / (x[index(high)] - x[index(low)]));
        }
      });
    }
    return result;
  }

 private:
  /// Ways along the axes from a cell's lowest corner to its highest, in every order of the axes.
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
  /// How many cells along each axis; 1 along a flat one.
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

  /// Brings the values of points in the blocks and around them whose lowest block is another.
  /// @param take  take(local block, place, values)
  template <class Take>
  void forForeign(Transport& transport, const std::vector<Span<const double>>& values,
                  int components, Take&& take) const {
    const auto c = index(components);
    std::vector<Writer> outgoing(index(transport.size()));
    for (BlockId to = 0; to < assignment().total(); ++to) {
      Writer& writer = outgoing[index(assignment().rankOf(to))];
      for (std::size_t b = 0; b < blocks(); ++b) {
        forTaken(to, first_ + static_cast<BlockId>(b), [&](const Place& at) {
          const double* from = values[b].data() + index(numberIn(mine_[b], at)) * c;
          for (std::size_t i = 0; i < c; ++i) writer.value(from[i]);
        });
      }
    }
    std::vector<Bytes> messages;
    for (Writer& writer : outgoing) messages.push_back(writer.take());
    ErrorCollector errors;
    const std::vector<Bytes> received = exchangeBytes(transport, std::move(messages), errors);
    errors.attempt([&] {
      std::vector<Reader> readers(received.begin(), received.end());
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
      for (const Reader& reader : readers)
        if (!reader.atEnd()) throw Error("malformed message: more values than points");
    });
    errors.agree(transport);
  }

  std::array<std::vector<double>, 3> coordinates_;
  Place size_;
  BlockId first_;
  std::vector<GridExtent> mine_, all_;
  std::vector<std::array<Place, 4>> chains_;
};

}  // namespace

std::unique_ptr<SimplicialSpace> makeGridSpace(Transport& transport, const Assignment& assignment,
                                               GridAxes axes, std::vector<GridExtent> extents) {
  std::array<int, 3> used{};
  int dimension = 0;
  collectively(transport, [&] {
    std::int64_t points = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto& x = axes.coordinates[a];
      if (x.empty()) throw Error("grid: an axis without coordinates");
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (!std::isfinite(x[i]) || (i > 0 && !(x[i - 1] < x[i])))
          throw Error("grid: coordinates along an axis must be finite and ascend");
      }
      if (x.size() > 1) used[static_cast<std::size_t>(dimension++)] = static_cast<int>(a);
      if (__builtin_mul_overflow(points, static_cast<std::int64_t>(x.size()), &points))
        throw Error("grid: more points than 63 bits number");
    }
    if (dimension < 2) throw Error("grid: fewer than two axes have more than one point");
    if (extents.size() != index(assignment.count(transport.rank()))) {
      throw Error("grid: extents of " + std::to_string(extents.size()) + " blocks given for " +
                  std::to_string(assignment.count(transport.rank())) + " local blocks");
    }
    for (const GridExtent& e : extents) {
      for (std::size_t a = 0; a < 3; ++a) {
        const auto points = static_cast<std::int64_t>(axes.coordinates[a].size());
        if (e.first[a] < 0 || e.last[a] >= points || e.first[a] > e.last[a] ||
            (points > 1 && e.first[a] == e.last[a]))
          throw Error("grid: the extent of a block has no cell, or is not in the grid");
      }
    }
  });
  // Ranks that differ in the grid would number points differently.
  std::vector<std::int64_t> sizes;
  for (const auto& x : axes.coordinates) sizes.push_back(static_cast<std::int64_t>(x.size()));
  std::vector<std::int64_t> least = allreduce(transport, ReduceOp::Min, sizes);
  if (allreduce(transport, ReduceOp::Max, static_cast<int>(least != sizes)))
    throw Error("grid: ranks gave grids of different sizes");
  auto space = std::make_unique<GridSpace>(transport, assignment, std::move(axes),
                                           std::move(extents), used, dimension);
  collectively(transport, [&] { space->checkOverlaps(); });
  return space;
}

}  // namespace tributary
