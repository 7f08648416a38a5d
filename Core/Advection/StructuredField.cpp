#include "Tributary/Advection/StructuredField.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "Tributary/Advection/StructuredKernel.h"
#include "Tributary/Agree.h"
#include "Tributary/Bytes.h"
#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {

void StructuredGrid::setParts(std::vector<Part> parts) {
  parts_ = std::move(parts);
  std::size_t boxes = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    auto& cuts = cuts_[a];
    cuts.clear();
    for (const Part& part : parts_) {
      cuts.push_back(part.lo[a]);
      cuts.push_back(part.hi[a]);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    boxes *= std::max<std::size_t>(cuts.size(), 1);
  }
  // Irregular cuts can make far more lattice boxes than parts; then owner() looks through the list.
  lattice_.clear();
  if (boxes > 64 * parts_.size() + 4096) return;
  lattice_.assign(boxes, -1);
  const auto index = [&](std::size_t a, std::int32_t cut) {
    return static_cast<std::size_t>(std::lower_bound(cuts_[a].begin(), cuts_[a].end(), cut) -
                                    cuts_[a].begin());
  };
  for (std::size_t n = parts_.size(); n-- > 0;) {  // backwards: the lowest block wins an overlap
    const Part& part = parts_[n];
    for (auto k = index(2, part.lo[2]); k < index(2, part.hi[2]); ++k)
      for (auto j = index(1, part.lo[1]); j < index(1, part.hi[1]); ++j)
        for (auto i = index(0, part.lo[0]); i < index(0, part.hi[0]); ++i)
          lattice_[(k * cuts_[1].size() + j) * cuts_[0].size() + i] = static_cast<std::int32_t>(n);
  }
}

BlockId StructuredGrid::owner(const std::int32_t cell[3]) const {
  if (lattice_.empty()) {
    for (const Part& part : parts_) {
      bool inside = true;
      for (std::size_t a = 0; a < 3; ++a)
        inside = inside && cell[a] >= part.lo[a] && cell[a] < part.hi[a];
      if (inside) return part.block;
    }
    return -1;
  }
  std::array<std::size_t, 3> at{};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto next = std::upper_bound(cuts_[a].begin(), cuts_[a].end(), cell[a]);
    if (next == cuts_[a].begin() || next == cuts_[a].end()) return -1;
    at[a] = static_cast<std::size_t>(next - cuts_[a].begin()) - 1;
  }
  const auto part = lattice_[(at[2] * cuts_[1].size() + at[1]) * cuts_[0].size() + at[0]];
  return part < 0 ? -1 : parts_[static_cast<std::size_t>(part)].block;
}

namespace {

constexpr std::uint8_t kDuplicateCell = 1;
constexpr std::uint8_t kHiddenCell = 32;

using Index3 = std::array<std::int32_t, 3>;

struct CellBox {
  Index3 lo{}, hi{};
  bool empty() const { return lo[0] >= hi[0] || lo[1] >= hi[1] || lo[2] >= hi[2]; }
};

/// Cell and fraction of a point by the same arithmetic as the kernels; false outside the grid.
bool locateInGrid(const StructuredGrid& grid, const double point[3], Index3& cell, double f[3]) {
  for (std::size_t a = 0; a < 3; ++a) {
    const GridAxis& axis = grid.axes[a];
    const double p = point[a];
    cell[a] = 0;
    f[a] = 0;
    if (axis.cells == 0) {
      if (!(std::fabs(p - axis.origin) <= axis.slack)) return false;
      continue;
    }
    if (axis.uniform) {
      const double u = (p - axis.origin) * axis.inverse;
      const auto cells = static_cast<double>(axis.cells);
      if (!(u >= -kGridSlack && u <= cells + kGridSlack)) return false;
      if (u >= cells)
        cell[a] = static_cast<std::int32_t>(cells) - 1;
      else if (u > 0)
        cell[a] = static_cast<std::int32_t>(u + 1.0) - 1;
      if (cell[a] == axis.cells) --cell[a];  // u + 1 may round up to the next index
      f[a] = u - cell[a];
    } else {
      const auto& c = axis.coordinates;
      const auto last = static_cast<std::size_t>(axis.cells);
      if (!(p >= c[0] - kGridSlack * (c[1] - c[0]) &&
            p <= c[last] + kGridSlack * (c[last] - c[last - 1])))
        return false;
      if (p < c[0]) continue;
      if (p >= c[last]) {
        cell[a] = static_cast<std::int32_t>(last) - 1;
        f[a] = 1;
        continue;
      }
      const auto next = std::upper_bound(c.begin(), c.end(), p);
      cell[a] = static_cast<std::int32_t>(next - c.begin()) - 1;
      f[a] = (p - c[static_cast<std::size_t>(cell[a])]) *
             axis.inverseWidth[static_cast<std::size_t>(cell[a])];
    }
  }
  return true;
}

double pointOnAxis(const GridAxis& axis, std::int32_t index) {
  return axis.uniform || axis.cells == 0 ? axis.origin + axis.spacing * index
                                         : axis.coordinates[static_cast<std::size_t>(index)];
}

double cellWidth(const GridAxis& axis, std::int32_t cell) {
  if (axis.cells == 0) return 0;
  return axis.uniform ? axis.spacing : pointOnAxis(axis, cell + 1) - pointOnAxis(axis, cell);
}

class StructuredBlock : public FieldBlock {
 public:
  StructuredBlock(BlockId id, int piece, std::shared_ptr<const StructuredGrid> grid,
                  StructuredView view, CellBox owned, std::vector<BlockId> neighbours)
      : FieldBlock(id, piece),
        grid_(std::move(grid)),
        view_(view),
        owned_(owned),
        neighbours_(std::move(neighbours)) {}

  Box bounds() const override {
    Box box;
    if (owned_.empty()) return box;
    for (std::size_t a = 0; a < 3; ++a) {
      const GridAxis& axis = grid_->axes[a];
      const std::int32_t top = axis.cells > 0 ? owned_.hi[a] : owned_.lo[a];
      // More than what locateInGrid forgives and than the rounding of the coordinates.
      const double slack = axis.cells > 0 ? 2 * kGridSlack *
                                                std::max(cellWidth(axis, owned_.lo[a]),
                                                         cellWidth(axis, owned_.hi[a] - 1))
                                          : axis.slack;
      const double lo = pointOnAxis(axis, owned_.lo[a]), hi = pointOnAxis(axis, top);
      const double rounding = 1e-14 * (std::fabs(lo) + std::fabs(hi));
      box.lo[a] = lo - slack - rounding;
      box.hi[a] = hi + slack + rounding;
    }
    return box;
  }

  void advance(const StepRules& rules, Span<Particle> particles,
               TrajectoryLog& log) const override {
    static const StructuredKernel kernel = structuredKernel();
    kernel(view_, rules, particles.data(), static_cast<std::int64_t>(particles.size()), log);
  }

  bool hasCell(std::int32_t) const override { return true; }  // cells are found from positions

  void find(const double point[3], CellMatch& best) const override {
    Index3 cell;
    double f[3];
    if (owned_.empty() || !locateInGrid(*grid_, point, cell, f)) return;
    for (std::size_t a = 0; a < 3; ++a)
      if (cell[a] < owned_.lo[a] || cell[a] >= owned_.hi[a]) return;
    if (view_.hidden && (view_.hidden[storedCell(cell)] & (kHiddenCell | kDuplicateCell))) return;
    CellMatch match;
    match.violation = 0;
    double width2 = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const GridAxis& axis = grid_->axes[a];
      const double width = cellWidth(axis, cell[a]);
      width2 += width * width;
      match.key[a] = pointOnAxis(axis, cell[a]) + 0.5 * width;
    }
    match.size = std::sqrt(width2);
    match.block = id();
    match.cell = -1;
    if (match.betterThan(best)) best = match;
  }

  void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
               Weights& out) const override {
    std::array<int, 3> corners;  // 1 along a flat axis
    for (std::size_t a = 0; a < 3; ++a) corners[a] = grid_->axes[a].cells > 0 ? 2 : 1;
    const int stride = corners[0] * corners[1] * corners[2];
    const std::size_t n = points.size();
    out.stride = stride;
    out.count.assign(n, stride);
    out.id.resize(n * static_cast<std::size_t>(stride));
    out.weight.resize(out.id.size());
    out.cellId.resize(n);
    if (out.wantGradients) out.gradient.resize(3 * out.id.size());
    for (std::size_t p = 0; p < n; ++p) {
      double x[3] = {points[p].x[0], points[p].x[1], points[p].x[2]};
      wrapIntoPeriod(rules, x);
      Index3 cell;
      double f[3];
      locateInGrid(*grid_, x, cell, f);
      double w[3][2], slope[3];
      for (std::size_t a = 0; a < 3; ++a) {
        w[a][0] = 1 - f[a];
        w[a][1] = f[a];
        const GridAxis& axis = grid_->axes[a];
        slope[a] = axis.cells == 0 ? 0
                   : axis.uniform  ? axis.inverse
                                   : axis.inverseWidth[static_cast<std::size_t>(cell[a])];
      }
      const std::int64_t first = storedPoint(cell);
      out.cellId[p] = storedCell(cell);
      auto* id = &out.id[p * static_cast<std::size_t>(stride)];
      auto* weight = &out.weight[p * static_cast<std::size_t>(stride)];
      auto* gradient =
          out.wantGradients ? &out.gradient[3 * p * static_cast<std::size_t>(stride)] : nullptr;
      int c = 0;
      for (int k = 0; k < corners[2]; ++k)
        for (int j = 0; j < corners[1]; ++j)
          for (int i = 0; i < corners[0]; ++i, ++c) {
            id[c] = first + i * pointStride_[0] + j * pointStride_[1] + k * pointStride_[2];
            weight[c] = w[0][i] * w[1][j] * w[2][k];
            if (gradient) {
              gradient[3 * c] = (i ? slope[0] : -slope[0]) * w[1][j] * w[2][k];
              gradient[3 * c + 1] = (j ? slope[1] : -slope[1]) * w[0][i] * w[2][k];
              gradient[3 * c + 2] = (k ? slope[2] : -slope[2]) * w[0][i] * w[1][j];
            }
          }
    }
  }

  std::vector<BlockId> neighbours() const override { return neighbours_; }

  void setPointStride(std::array<std::int64_t, 3> stride) { pointStride_ = stride; }

 private:
  std::int64_t storedPoint(const Index3& cell) const {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < 3; ++a) at += (cell[a] - view_.storedLo[a]) * pointStride_[a];
    return at;
  }
  std::int64_t storedCell(const Index3& cell) const {
    std::int64_t at = 0;
    for (std::size_t a = 0; a < 3; ++a) at += (cell[a] - view_.storedLo[a]) * view_.cellStride[a];
    return at;
  }

  std::shared_ptr<const StructuredGrid> grid_;
  StructuredView view_;
  CellBox owned_;
  std::array<std::int64_t, 3> pointStride_{};
  std::vector<BlockId> neighbours_;
};

std::string named(const StructuredPiece& piece) {
  return "structured piece " + std::to_string(piece.piece) + " of grid " +
         std::to_string(piece.grid);
}

/// Number of points of the extent along an axis.
std::int64_t pointsAlong(const std::array<int, 6>& extent, std::size_t a) {
  return std::int64_t(extent[2 * a + 1]) - extent[2 * a] + 1;
}

void check(const StructuredPiece& piece) {
  std::int64_t points = 1, cells = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto n = pointsAlong(piece.extent, a);
    if (n < 1) throw Error(named(piece) + " has an empty extent; leave it out");
    if (n > std::numeric_limits<std::int32_t>::max() / 2)
      throw Error(named(piece) + " has " + std::to_string(n) + " points along an axis: too many");
    points *= n;
    cells *= std::max<std::int64_t>(n - 1, 1);
    if (piece.uniform) {
      if (!(piece.spacing[a] > 0 && std::isfinite(piece.spacing[a]) &&
            std::isfinite(piece.origin[a])))
        throw Error(named(piece) + " needs a finite origin and a positive spacing along each axis");
    } else {
      const auto& c = piece.coordinates[a];
      if (static_cast<std::int64_t>(c.size()) != n)
        throw Error(named(piece) + " has " + std::to_string(c.size()) + " coordinates for " +
                    std::to_string(n) + " points along an axis");
      for (std::size_t i = 0; i < c.size(); ++i)
        if (!std::isfinite(c[i]) || (i > 0 && !(c[i] > c[i - 1])))
          throw Error(named(piece) + " needs finite, strictly increasing coordinates");
    }
  }
  const std::int64_t tuples = piece.cellCentred ? cells : points;
  if (!piece.velocity.data || piece.velocity.tuples != tuples)
    throw Error(named(piece) + " has " + std::to_string(piece.velocity.tuples) +
                " velocities where " + std::to_string(tuples) + " are needed");
  if (!piece.ghosts.empty() && static_cast<std::int64_t>(piece.ghosts.size()) != cells)
    throw Error(named(piece) + " has " + std::to_string(piece.ghosts.size()) + " ghost flags for " +
                std::to_string(cells) + " cells");
}

/// What all ranks must know of a piece to agree on its grid.
struct PieceSummary {
  int grid;
  std::array<int, 6> extent;
  std::int32_t uniform;
  std::array<double, 3> origin, spacing;
};

/// The whole grid of each number, built from the pieces of all ranks. `firstIndex` receives the
/// extent index that is the grid's index 0.
std::map<int, std::shared_ptr<StructuredGrid>> assembleGrids(
    Transport& transport, const std::vector<StructuredPiece>& pieces,
    std::map<int, std::array<int, 3>>& firstIndex) {
  std::vector<PieceSummary> mine;
  Writer writer;
  for (const auto& piece : pieces) {
    mine.push_back({piece.grid, piece.extent, piece.uniform, piece.origin, piece.spacing});
    if (!piece.uniform)
      for (const auto& c : piece.coordinates) writer.range(c);
  }
  const auto summaries = allgatherv(transport, mine);
  const auto coordinateBytes = allgatherBytes(transport, writer.take());

  std::map<int, std::array<int, 6>> whole;
  std::map<int, PieceSummary> model;
  for (const auto& s : summaries) {
    const auto known = model.emplace(s.grid, s).first->second;
    if (known.uniform != s.uniform ||
        (s.uniform && (known.origin != s.origin || known.spacing != s.spacing)))
      throw Error("the pieces of grid " + std::to_string(s.grid) +
                  " disagree in origin or spacing; give them different grid numbers");
    auto& extent = whole.emplace(s.grid, s.extent).first->second;
    for (std::size_t a = 0; a < 3; ++a) {
      extent[2 * a] = std::min(extent[2 * a], s.extent[2 * a]);
      extent[2 * a + 1] = std::max(extent[2 * a + 1], s.extent[2 * a + 1]);
    }
  }

  std::map<int, std::shared_ptr<StructuredGrid>> grids;
  for (const auto& [number, extent] : whole) {
    auto grid = std::make_shared<StructuredGrid>();
    const PieceSummary& m = model.at(number);
    for (std::size_t a = 0; a < 3; ++a) {
      GridAxis& axis = grid->axes[a];
      axis.cells = pointsAlong(extent, a) - 1;
      axis.uniform = m.uniform != 0;
      axis.spacing = m.spacing[a];
      axis.inverse = 1 / m.spacing[a];
      axis.origin = m.origin[a] + m.spacing[a] * extent[2 * a];
      axis.slack = 1e-6 * m.spacing[a];
      if (!axis.uniform)
        axis.coordinates.assign(static_cast<std::size_t>(axis.cells) + 1,
                                std::numeric_limits<double>::quiet_NaN());
      firstIndex[number][a] = extent[2 * a];
    }
    grids.emplace(number, std::move(grid));
  }

  // The coordinates travel in the order of the summaries: by rank, then by piece.
  std::size_t at = 0;
  for (const auto& bytes : coordinateBytes) {
    Reader reader(bytes);
    for (; at < summaries.size() && !reader.atEnd(); ++at) {
      const auto& s = summaries[at];
      if (s.uniform) continue;
      for (std::size_t a = 0; a < 3; ++a) {
        const auto values = reader.range<double>();
        auto& c = grids.at(s.grid)->axes[a].coordinates;
        const auto first = static_cast<std::size_t>(s.extent[2 * a] - firstIndex[s.grid][a]);
        if (first + values.size() > c.size()) throw Error("malformed coordinates of a grid");
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (c[first + i] == c[first + i] && c[first + i] != values[i])
            throw Error("the pieces of grid " + std::to_string(s.grid) +
                        " disagree in coordinates; give them different grid numbers");
          c[first + i] = values[i];
        }
      }
    }
  }
  for (auto& [number, grid] : grids)
    for (GridAxis& axis : grid->axes) {
      if (axis.uniform) continue;
      auto& c = axis.coordinates;
      for (std::size_t i = 0; i < c.size(); ++i)
        if (!(c[i] == c[i]) || (i > 0 && !(c[i] > c[i - 1])))
          throw Error("the pieces of grid " + std::to_string(number) +
                      " leave a gap along an axis, or their coordinates do not increase");
      axis.origin = c[0];
      if (axis.cells == 0) {
        axis.slack = 1e-6 * std::max(1.0, std::fabs(c[0]));
        continue;
      }
      axis.spacing = (c.back() - c[0]) / static_cast<double>(axis.cells);
      for (std::size_t i = 0; i + 1 < c.size(); ++i)
        axis.inverseWidth.push_back(1 / (c[i + 1] - c[i]));
      const auto buckets = static_cast<std::size_t>(2 * axis.cells);
      axis.bucketInverse = static_cast<double>(buckets) / (c.back() - c[0]);
      axis.buckets.assign(buckets, std::numeric_limits<std::int32_t>::max());
      // A cell enters every bucket that one of its points may be sorted into, roundings included.
      for (std::size_t i = 0; i < axis.inverseWidth.size(); ++i) {
        const auto bucketOf = [&](double p) {
          return std::clamp<std::int64_t>(
              static_cast<std::int64_t>((p - c[0]) * axis.bucketInverse), 0,
              static_cast<std::int64_t>(buckets) - 1);
        };
        for (auto b = bucketOf(c[i]); b <= bucketOf(c[i + 1]); ++b) {
          auto& entry = axis.buckets[static_cast<std::size_t>(b)];
          entry = std::min(entry, static_cast<std::int32_t>(i));
        }
      }
    }
  return grids;
}

/// Box of the cells that are not duplicates of another piece's.
CellBox ownedCells(const StructuredPiece& piece, const CellBox& stored) {
  if (piece.ghosts.empty()) return stored;
  CellBox owned{stored.hi, stored.lo};
  std::size_t at = 0;
  for (std::int32_t k = stored.lo[2]; k < stored.hi[2]; ++k)
    for (std::int32_t j = stored.lo[1]; j < stored.hi[1]; ++j)
      for (std::int32_t i = stored.lo[0]; i < stored.hi[0]; ++i)
        if (!(piece.ghosts[at++] & kDuplicateCell)) {
          const Index3 cell{i, j, k};
          for (std::size_t a = 0; a < 3; ++a) {
            owned.lo[a] = std::min(owned.lo[a], cell[a]);
            owned.hi[a] = std::max(owned.hi[a], cell[a] + 1);
          }
        }
  return owned;
}

/// Cuts a box into `parts` of nearly equal size along its longest axes.
void split(const CellBox& box, int parts, std::vector<CellBox>& out) {
  if (parts == 1) {
    out.push_back(box);
    return;
  }
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a)
    if (box.hi[a] - box.lo[a] > box.hi[axis] - box.lo[axis]) axis = a;
  const int left = parts / 2;
  const auto width = static_cast<std::int64_t>(box.hi[axis]) - box.lo[axis];
  const auto cut =
      static_cast<std::int32_t>(box.lo[axis] + std::max<std::int64_t>(width, 0) * left / parts);
  CellBox low = box, high = box;
  low.hi[axis] = high.lo[axis] = cut;
  split(low, left, out);
  split(high, parts - left, out);
}

struct PartOfGrid {
  int grid;
  StructuredGrid::Part part;
};

}  // namespace

std::vector<std::unique_ptr<FieldBlock>> makeStructuredBlocks(
    Transport& transport, const std::vector<StructuredPiece>& pieces, int blocksPerPiece,
    const std::vector<BlockId>& firstBlock) {
  std::string error;
  try {
    if (blocksPerPiece < 1) throw Error("there must be at least one block per piece");
    if (firstBlock.size() != pieces.size()) throw Error("every structured piece needs a block id");
    for (const auto& piece : pieces) check(piece);
  } catch (const std::exception& e) {
    error = e.what();
  }
  agreeOnError(transport, error);

  std::map<int, std::array<int, 3>> firstIndex;
  const auto grids = assembleGrids(transport, pieces, firstIndex);

  std::vector<PartOfGrid> mine;
  std::vector<CellBox> storedBoxes, ownedBoxes;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto& piece = pieces[n];
    CellBox stored;
    for (std::size_t a = 0; a < 3; ++a) {
      const bool flat = grids.at(piece.grid)->axes[a].cells == 0;
      stored.lo[a] = piece.extent[2 * a] - firstIndex[piece.grid][a];
      // A piece that is one layer of points in a grid that is not flat owns no cell.
      stored.hi[a] =
          stored.lo[a] + (flat ? 1 : static_cast<std::int32_t>(pointsAlong(piece.extent, a)) - 1);
    }
    storedBoxes.push_back(stored);
    ownedBoxes.push_back(stored.empty() ? stored : ownedCells(piece, stored));
    std::vector<CellBox> boxes;
    split(ownedBoxes.back(), blocksPerPiece, boxes);
    for (std::size_t b = 0; b < boxes.size(); ++b)
      mine.push_back({piece.grid, {boxes[b].lo, boxes[b].hi, firstBlock[n] + BlockId(b)}});
  }
  std::map<int, std::vector<StructuredGrid::Part>> parts;
  for (const auto& p : allgatherv(transport, mine))
    if (!CellBox{p.part.lo, p.part.hi}.empty()) parts[p.grid].push_back(p.part);
  for (auto& [number, list] : parts) grids.at(number)->setParts(list);

  std::vector<std::unique_ptr<FieldBlock>> blocks;
  for (std::size_t n = 0; n < mine.size(); ++n) {
    const std::size_t pieceIndex = n / static_cast<std::size_t>(blocksPerPiece);
    const auto& piece = pieces[pieceIndex];
    const auto& grid = grids.at(piece.grid);
    const CellBox box{mine[n].part.lo, mine[n].part.hi};
    const CellBox& stored = storedBoxes[pieceIndex];
    const CellBox& owned = ownedBoxes[pieceIndex];

    StructuredView view;
    view.grid = grid.get();
    view.velocity = piece.velocity.data;
    view.isDouble = piece.velocity.isDouble;
    view.cellCentred = piece.cellCentred;
    double width2 = 0;
    std::array<std::int64_t, 3> pointStride{};
    std::int64_t points = 1, cells = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const GridAxis& axis = grid->axes[a];
      // Ghost layers beyond the piece's own cells are evaluated by the blocks at its rim.
      view.lo[a] = box.lo[a] == owned.lo[a] ? stored.lo[a] : box.lo[a];
      const auto hi = box.hi[a] == owned.hi[a] ? stored.hi[a] : box.hi[a];
      view.count[a] = box.empty() ? 0 : hi - view.lo[a];
      view.storedLo[a] = stored.lo[a];
      pointStride[a] = points;
      view.cellStride[a] = cells;
      points *= pointsAlong(piece.extent, a);
      cells *= std::max<std::int64_t>(stored.hi[a] - stored.lo[a], 1);
      if (axis.cells == 0)
        view.flat = true;
      else
        width2 += axis.spacing * axis.spacing;
    }
    view.stride = piece.cellCentred ? view.cellStride : pointStride;
    for (std::size_t a = 0; a < 3; ++a) view.firstTuple += view.storedLo[a] * view.stride[a];
    if (!view.flat && !view.cellCentred)  // the far corner's tuple must not be the last
      view.plainTuples = points - 1 - (pointStride[0] + pointStride[1] + pointStride[2]);
    view.cellLength = std::sqrt(width2);
    for (const std::uint8_t flag : piece.ghosts)
      if (flag & kHiddenCell) view.hidden = piece.ghosts.data();

    std::vector<BlockId> neighbours;
    for (const auto& other : parts[piece.grid]) {
      bool touches = other.block != mine[n].part.block && !box.empty();
      for (std::size_t a = 0; a < 3; ++a)
        touches = touches && other.lo[a] <= box.hi[a] && other.hi[a] >= box.lo[a];
      if (touches) neighbours.push_back(other.block);
    }
    std::sort(neighbours.begin(), neighbours.end());
    auto block = std::make_unique<StructuredBlock>(mine[n].part.block, piece.piece, grid, view, box,
                                                   std::move(neighbours));
    block->setPointStride(pointStride);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace tributary
