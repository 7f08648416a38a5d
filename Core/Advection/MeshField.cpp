#include "Tributary/Advection/MeshField.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>

#include "Tributary/Advection/MeshCell.inl"
#include "Tributary/Advection/MeshKernel.h"
#include "Tributary/Advection/MeshLinks.h"
#include "Tributary/Advection/Morton.h"
#include "Tributary/Agree.h"
#include "Tributary/CellTypes.h"
#include "Tributary/Error.h"
#include "Tributary/HugePages.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {
namespace {

/// How near a pyramid's apex gradients are taken instead of there.
constexpr double kApex = 1e-6;

constexpr std::uint8_t kLeftOut = 1 | 32;  // duplicate and hidden cells of vtkGhostType

/// Points and faces of a shape; a 2-D cell has its edges as faces.
const CellTopology& topologyOf(CellShape shape) {
  static constexpr CellTopology triangle{3, 0, {}, 3, {2, 2, 2}, {{0, 2}, {0, 1}, {1, 2}}},
      quad{4, 0, {}, 4, {2, 2, 2, 2}, {{0, 3}, {1, 2}, {0, 1}, {3, 2}}}, foreign{};
  static const CellTopology* const ofShape[] = {
      tributary::topologyOf(kTetra),
      tributary::topologyOf(kHexahedron),
      tributary::topologyOf(kWedge),
      tributary::topologyOf(kPyramid),
      &triangle,
      &quad,
      &foreign,
  };
  return *ofShape[static_cast<int>(shape)];
}

CellShape shapeOf(std::uint8_t type) {
  switch (type) {
    case kTetra:
      return CellShape::Tetra;
    case kVoxel:
    case kHexahedron:
      return CellShape::Box;
    case kWedge:
      return CellShape::Wedge;
    case kPyramid:
      return CellShape::Pyramid;
    case kTriangle:
      return CellShape::Triangle;
    case kPixel:
    case kQuad:
      return CellShape::Quad;
    default:
      return CellShape::Foreign;
  }
}

using Point = std::array<double, 3>;

Point tuple(const ArrayView& array, std::int64_t i) {
  Point p;
  for (std::size_t a = 0; a < 3; ++a)
    p[a] = array.isDouble ? static_cast<const double*>(array.data)[3 * i + std::int64_t(a)]
                          : static_cast<const float*>(array.data)[3 * i + std::int64_t(a)];
  return p;
}

/// Points of a cell in the order of its topology (voxels and pixels are numbered otherwise), and in
/// the order of the piece for foreign cells.
struct CellPoints {
  const std::int64_t* ids;
  std::int64_t count;
  std::uint8_t type;
  std::int64_t operator[](int i) const {
    constexpr int swapped[] = {0, 1, 3, 2, 4, 5, 7, 6};
    return ids[type == kVoxel || type == kPixel ? swapped[i] : i];
  }
};
CellPoints pointsOf(const MeshPiece& piece, std::int64_t cell) {
  const auto begin = piece.offsets[std::size_t(cell)], end = piece.offsets[std::size_t(cell) + 1];
  return {piece.connectivity.data() + begin, end - begin, piece.types[std::size_t(cell)]};
}

/// The eight terms of the polynomial (see CellRecord) that takes the given values at a cell's
/// points.
void termsOf(CellShape shape, const V4* at, V4* terms) {
  const V4 zero = splat(0);
  for (int i = 0; i < 8; ++i) terms[i] = zero;
  terms[0] = at[0];
  switch (shape) {
    case CellShape::Box:
      terms[3] = at[4] - at[0];
      terms[5] = at[0] - at[3] - at[4] + at[7];
      terms[6] = at[0] - at[1] - at[4] + at[5];
      terms[7] = at[1] - at[0] - at[2] + at[3] + at[4] - at[5] + at[6] - at[7];
      [[fallthrough]];
    case CellShape::Quad:
      terms[1] = at[1] - at[0];
      terms[2] = at[3] - at[0];
      terms[4] = at[0] - at[1] + at[2] - at[3];
      break;
    case CellShape::Wedge:
      terms[3] = at[3] - at[0];
      terms[5] = at[0] - at[2] - at[3] + at[5];
      terms[6] = at[0] - at[1] - at[3] + at[4];
      [[fallthrough]];
    case CellShape::Triangle:
      terms[1] = at[1] - at[0];
      terms[2] = at[2] - at[0];
      break;
    case CellShape::Pyramid:
      terms[1] = at[1] - at[0];
      terms[2] = at[3] - at[0];
      terms[3] = at[4] - at[0];
      terms[4] = at[0] - at[1] + at[2] - at[3];
      terms[5] = zero - terms[2];
      terms[6] = zero - terms[1];
      terms[7] = zero - terms[4];
      break;
    default:
      break;
  }
}

/// The points of a cell in the order of its topology, relative to the first of the piece's order.
void relativePoints(const MeshPiece& piece, std::int64_t cell, CellShape shape, V4* x) {
  const CellPoints points = pointsOf(piece, cell);
  const Point first = tuple(piece.points, points.ids[0]);
  for (int i = 0; i < topologyOf(shape).points; ++i) {
    const Point p = tuple(piece.points, points[i]);
    x[i] = V4{p[0] - first[0], p[1] - first[1], p[2] - first[2], 0};
  }
}

/// The terms of a cell's geometry; a 2-D cell gets its normal, as long as the cell, as third axis.
void geometryOf(CellShape shape, const V4* x, double length, V4* terms) {
  termsOf(shape, x, terms);
  if (shape == CellShape::Triangle || shape == CellShape::Quad) {
    const V4 normal = cross(terms[1] + splat(0.5) * terms[4], terms[2] + splat(0.5) * terms[4]);
    const double size = norm(normal);
    terms[3] = size > 0 ? normal * splat(length / size) : normal;
  }
}

V4 middleOf(CellShape shape) {
  switch (shape) {
    case CellShape::Wedge:
      return V4{1.0 / 3, 1.0 / 3, 0.5, 0};
    case CellShape::Triangle:
      return V4{1.0 / 3, 1.0 / 3, 0, 0};
    case CellShape::Quad:
      return V4{0.5, 0.5, 0, 0};
    case CellShape::Pyramid:
      return V4{0.5, 0.5, 0.2, 0};
    default:
      return V4{0.5, 0.5, 0.5, 0};
  }
}

/// Rows of the adjoint Jacobian at a point of a cell; @return the determinant.
double affineMap(const double* geometry, V4 at, V4 rows[3]) {
  V4 dr, ds, dt;
  jacobian(geometry, at, dr, ds, dt);
  rows[0] = cross(ds, dt);
  rows[1] = cross(dt, dr);
  rows[2] = cross(dr, ds);
  return dot3(dr, rows[0]);
}

/// Whether a cell has no volume (no area in 2-D), up to rounding: such cells hold no point, and
/// faces that they share with real cells would have a side too many.
bool isFlat(const MeshPiece& piece, std::int64_t cell) {
  const CellShape shape = shapeOf(piece.types[std::size_t(cell)]);
  if (shape == CellShape::Foreign) return false;
  V4 x[8], terms[8], rows[3];
  relativePoints(piece, cell, shape, x);
  V4 lo = x[0], hi = x[0];
  for (int i = 1; i < topologyOf(shape).points; ++i)
    for (int a = 0; a < 3; ++a) {
      lo[a] = std::min(lo[a], x[i][a]);
      hi[a] = std::max(hi[a], x[i][a]);
    }
  const double length = norm(hi - lo);
  double volume;
  if (shape == CellShape::Tetra) {
    volume = dot3(x[1], cross(x[2], x[3]));
  } else {
    geometryOf(shape, x, length, terms);
    double geometry[32];
    for (int i = 0; i < 8; ++i) store(geometry + 4 * i, terms[i]);
    volume = affineMap(geometry, middleOf(shape), rows);
  }
  constexpr double kRounding = 1e-15;
  return !(std::fabs(volume) > kRounding * length * length * length);
}

/// Shape functions of a cell's points and their derivatives by r, s, t.
void shapeFunctions(CellShape shape, V4 at, double* n, double (*d)[3]) {
  const double r = at[0], s = at[1], t = at[2], rm = 1 - r, sm = 1 - s, tm = 1 - t;
  const auto set = [&](int i, double value, double dr, double ds, double dt) {
    n[i] = value;
    d[i][0] = dr;
    d[i][1] = ds;
    d[i][2] = dt;
  };
  switch (shape) {
    case CellShape::Box:
      for (int i = 0; i < 8; ++i) {
        const bool hr = i == 1 || i == 2 || i == 5 || i == 6, hs = i == 2 || i == 3 || i >= 6,
                   ht = i >= 4;
        const double fr = hr ? r : rm, fs = hs ? s : sm, ft = ht ? t : tm;
        set(i, fr * fs * ft, (hr ? 1 : -1) * fs * ft, (hs ? 1 : -1) * fr * ft,
            (ht ? 1 : -1) * fr * fs);
      }
      break;
    case CellShape::Wedge:
      for (int i = 0; i < 6; ++i) {
        const double b[3] = {1 - r - s, r, s}, br[3] = {-1, 1, 0}, bs[3] = {-1, 0, 1};
        const double ft = i < 3 ? tm : t, gt = i < 3 ? -1 : 1;
        set(i, b[i % 3] * ft, br[i % 3] * ft, bs[i % 3] * ft, b[i % 3] * gt);
      }
      break;
    case CellShape::Pyramid:
      set(0, rm * sm * tm, -sm * tm, -rm * tm, -rm * sm);
      set(1, r * sm * tm, sm * tm, -r * tm, -r * sm);
      set(2, r * s * tm, s * tm, r * tm, -r * s);
      set(3, rm * s * tm, -s * tm, rm * tm, -rm * s);
      set(4, t, 0, 0, 1);
      break;
    case CellShape::Triangle:
      set(0, 1 - r - s, -1, -1, 0);
      set(1, r, 1, 0, 0);
      set(2, s, 0, 1, 0);
      break;
    case CellShape::Quad:
      set(0, rm * sm, -sm, -rm, 0);
      set(1, r * sm, sm, -r, 0);
      set(2, r * s, s, r, 0);
      set(3, rm * s, -s, rm, 0);
      break;
    default:
      break;
  }
}

/// What identifies the points of a piece on all ranks.
struct PointNames {
  std::vector<std::uint64_t> hashes;
  std::vector<bool> elsewhere;  ///< Whether another rank has the point too.
};

/// As matchFaces() wants them.
struct FaceLists {
  std::vector<FaceSide> inner, outer;
};

class MeshBlock : public FieldBlock {
 public:
  /// @param cells  cells of the piece that the block owns
  MeshBlock(BlockId id, const MeshPiece& piece, std::vector<std::int64_t> cells);

  /// The faces of all cells, to be matched with those of the other blocks.
  void listFaces(const PointNames& names, int dimension, FaceLists& faces) const;
  void link(const FacePair& pair);

  Box bounds() const override { return bounds_; }
  void advance(const StepRules& rules, Span<Particle> particles, TrajectoryLog& log) const override;
  bool hasCell(std::int32_t cell) const override { return indexOf(cell) >= 0; }
  void find(const double point[3], CellMatch& best) const override;
  void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
               Weights& out) const override;
  std::vector<BlockId> neighbours() const override;

 private:
  CellRecord& record(std::size_t index) const {
    return *reinterpret_cast<CellRecord*>(records_.data() +
                                          std::size_t(numbers_[index]) * MeshView::kUnit);
  }
  std::int64_t indexOf(std::int32_t cell) const {
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), cell);
    return at != numbers_.end() && *at == cell ? at - numbers_.begin() : -1;
  }
  Box boxOf(std::size_t index) const;
  static std::size_t sizeOf(const MeshPiece& piece, CellShape shape);
  static std::vector<std::int32_t> numberCells(const MeshPiece& piece,
                                               const std::vector<std::int64_t>& cells);
  void fill(std::size_t index);
  template <class Real>
  void fillVelocity(CellRecord& cell, std::size_t index);
  void buildBins();
  static bool foreignVelocity(const void* self, std::int32_t cell, const double point[3],
                              bool accept, double velocity[3]);
  std::uint64_t contentOf(std::size_t index) const;
  CellMatch match(std::size_t index, const double point[3]) const;
  int maximumPoints() const {
    return std::max(8, piece_.foreign ? piece_.foreign->maximumPoints() : 0);
  }

  MeshPiece piece_;
  std::vector<std::int64_t> cells_;    // in the piece, by index
  std::vector<std::int32_t> numbers_;  // of the records, ascending, by index
  HugePages records_;
  std::vector<RemoteLink> remote_;
  MeshView view_;
  Box bounds_;

  // Uniform bins over the block's box; each lists the cells whose boxes touch it.
  std::array<std::int64_t, 3> bins_{{1, 1, 1}};
  std::vector<std::int64_t> binFirst_;
  std::vector<std::int32_t> binCells_;
};

std::size_t MeshBlock::sizeOf(const MeshPiece& piece, CellShape shape) {
  std::size_t bytes = sizeof(CellRecord);
  if (shape == CellShape::Foreign) return bytes;
  const std::size_t real = piece.velocity.isDouble ? 8 : 4;
  bytes += 4 * real * (piece.cellCentred ? 1 : shape == CellShape::Tetra ? 4 : 8);
  if (shape != CellShape::Tetra) bytes += 32 * 8;
  return (bytes + MeshView::kUnit - 1) / MeshView::kUnit * MeshView::kUnit;
}

std::vector<std::int32_t> MeshBlock::numberCells(const MeshPiece& piece,
                                                 const std::vector<std::int64_t>& cells) {
  std::vector<std::int32_t> numbers;
  numbers.reserve(cells.size() + 1);
  std::size_t at = 0;
  for (const auto cell : cells) {
    numbers.push_back(static_cast<std::int32_t>(at));
    at += sizeOf(piece, shapeOf(piece.types[std::size_t(cell)])) / MeshView::kUnit;
    if (at > std::size_t(std::numeric_limits<std::int32_t>::max()))
      throw Error("a block of mesh piece " + std::to_string(piece.piece) +
                  " is too large; use more blocks per rank");
  }
  numbers.push_back(static_cast<std::int32_t>(at));
  return numbers;
}

MeshBlock::MeshBlock(BlockId id, const MeshPiece& piece, std::vector<std::int64_t> cells)
    : FieldBlock(id, piece.piece),
      piece_(piece),
      cells_(std::move(cells)),
      numbers_(numberCells(piece, cells_)),
      records_(std::size_t(numbers_.back()) * MeshView::kUnit) {
  std::memset(records_.data(), 0, std::size_t(numbers_.back()) * MeshView::kUnit);
  numbers_.pop_back();
  for (std::size_t i = 0; i < cells_.size(); ++i) fill(i);
  view_.records = records_.data();
  view_.isDouble = piece.velocity.isDouble;
  view_.foreign = foreignVelocity;
  view_.block = this;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Box box = boxOf(i);
    if (i == 0) bounds_ = box;
    for (std::size_t a = 0; a < 3; ++a) {
      bounds_.lo[a] = std::min(bounds_.lo[a], box.lo[a]);
      bounds_.hi[a] = std::max(bounds_.hi[a], box.hi[a]);
    }
  }
  buildBins();
}

/// Box that holds all points the cell may match.
Box MeshBlock::boxOf(std::size_t index) const {
  const CellPoints points = pointsOf(piece_, cells_[index]);
  Box box;
  for (int i = 0; i < points.count; ++i) {
    const Point p = tuple(piece_.points, points.ids[i]);
    for (std::size_t a = 0; a < 3; ++a) {
      box.lo[a] = i ? std::min(box.lo[a], p[a]) : p[a];
      box.hi[a] = i ? std::max(box.hi[a], p[a]) : p[a];
    }
  }
  const double slack = 2 * kGap * record(index).length;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] -= slack;
    box.hi[a] += slack;
  }
  return box;
}

template <class Real>
void MeshBlock::fillVelocity(CellRecord& cell, std::size_t index) {
  auto* out = reinterpret_cast<Real*>(reinterpret_cast<std::byte*>(&cell) + sizeof(CellRecord));
  const auto put = [&](int term, V4 v) {
    for (int a = 0; a < 3; ++a) out[4 * term + a] = static_cast<Real>(v[a]);
  };
  const auto velocity = [&](std::int64_t i) {
    const Point v = tuple(piece_.velocity, i);
    return V4{v[0], v[1], v[2], 0};
  };
  if (piece_.cellCentred) return put(0, velocity(cells_[index]));
  const CellPoints points = pointsOf(piece_, cells_[index]);
  V4 at[8], terms[8];
  for (int i = 0; i < topologyOf(cell.shape).points; ++i) at[i] = velocity(points[i]);
  if (cell.shape == CellShape::Tetra) {
    for (int i = 0; i < 4; ++i) put(i, at[i]);
    return;
  }
  termsOf(cell.shape, at, terms);
  for (int i = 0; i < 8; ++i) put(i, terms[i]);
}

void MeshBlock::fill(std::size_t index) {
  CellRecord& cell = record(index);
  cell.shape = shapeOf(piece_.types[std::size_t(cells_[index])]);
  std::fill(std::begin(cell.link), std::end(cell.link), CellRecord::kNoLink);
  const CellPoints points = pointsOf(piece_, cells_[index]);
  V4 lo = splat(0), hi = splat(0), first = splat(0);
  for (int i = 0; i < points.count; ++i) {
    const Point p = tuple(piece_.points, points.ids[i]);
    const V4 x{p[0], p[1], p[2], 0};
    for (int a = 0; a < 3; ++a) {
      lo[a] = i ? std::min(lo[a], x[a]) : x[a];
      hi[a] = i ? std::max(hi[a], x[a]) : x[a];
    }
    if (i == 0) first = x;
  }
  for (int a = 0; a < 3; ++a) cell.anchor[a] = first[a];
  cell.length = norm(hi - lo);
  if (cell.shape == CellShape::Foreign) return;

  cell.terms = piece_.cellCentred ? 1 : cell.shape == CellShape::Tetra ? 4 : 8;
  if (piece_.velocity.isDouble)
    fillVelocity<double>(cell, index);
  else
    fillVelocity<float>(cell, index);

  V4 x[8], terms[8];
  relativePoints(piece_, cells_[index], cell.shape, x);
  if (cell.shape == CellShape::Tetra) {
    const V4 rows[3] = {cross(x[2], x[3]), cross(x[3], x[1]), cross(x[1], x[2])};
    const double volume = dot3(x[1], rows[0]);
    for (int axis = 0; axis < 3; ++axis) {
      double sum = 0;
      for (int i = 0; i < 3; ++i) {
        cell.map[axis][i + 1] = rows[i][axis] / volume;
        sum += cell.map[axis][i + 1];
      }
      cell.map[axis][0] = -sum;
    }
    return;
  }
  geometryOf(cell.shape, x, cell.length, terms);
  auto* geometry = const_cast<double*>(
      geometryTerms(cell, piece_.velocity.isDouble ? sizeof(double) : sizeof(float)));
  for (int i = 0; i < 8; ++i) store(geometry + 4 * i, terms[i]);

  V4 middle = middleOf(cell.shape), rows[3];
  double determinant = affineMap(geometry, middle, rows);
  const V4 centre = polynomial(geometry, middle[0], middle[1], middle[2]);
  if (cell.shape == CellShape::Pyramid) {  // its map gives u, v, w: see locateInPyramid
    const V4 half = splat(0.5) * terms[4], du = terms[1] + half, dv = terms[2] + half,
             dw = splat(-0.5) * half - terms[3];
    rows[0] = cross(dv, dw);
    rows[1] = cross(dw, du);
    rows[2] = cross(du, dv);
    determinant = dot3(du, rows[0]);
    const double w = 1 - middle[2];
    middle = V4{middle[0] * w, middle[1] * w, w, 0};
  }
  for (int i = 0; i < 3; ++i) {
    const V4 row = rows[i] * splat(1 / determinant);
    store(cell.map[i], row);
    cell.map[i][3] = middle[i] - dot3(row, centre);
  }
}

void MeshBlock::listFaces(const PointNames& names, int dimension, FaceLists& faces) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const CellTopology& topology = topologyOf(record(i).shape);
    const CellPoints points = pointsOf(piece_, cells_[i]);
    for (int f = 0; f < topology.faces; ++f) {
      std::uint64_t h[4];
      bool elsewhere = true;
      for (int n = 0; n < topology.faceSize[f]; ++n) {
        const auto point = std::size_t(points[topology.face[f][n]]);
        h[n] = names.hashes[point];
        elsewhere = elsewhere && names.elsewhere[point];
      }
      FaceSide side{{}, id(), numbers_[i], f};
      if (faceKey(h, topology.faceSize[f], dimension, side.key))
        (elsewhere ? faces.outer : faces.inner).push_back(side);
    }
  }
}

void MeshBlock::link(const FacePair& pair) {
  if (!hasCell(pair.mine.cell) || pair.mine.face < 0 || pair.mine.face >= 6 ||
      pair.other.face < 0 || pair.other.face >= 6)
    throw Error("malformed message: a face that block " + std::to_string(id()) + " does not have");
  auto& cell = *reinterpret_cast<CellRecord*>(records_.data() +
                                              std::size_t(pair.mine.cell) * MeshView::kUnit);
  const auto face = static_cast<std::size_t>(pair.mine.face);
  const auto entry = static_cast<std::int8_t>(pair.other.face);
  if (pair.other.block == id()) {
    if (pair.other.cell == pair.mine.cell) return;  // a cell folded onto itself
    cell.link[face] = pair.other.cell;
    cell.entry[face] = entry;
    return;
  }
  cell.link[face] = CellRecord::kFirstRemote - static_cast<std::int32_t>(remote_.size());
  remote_.push_back({pair.other.block, pair.other.cell, entry});
  view_.remote = remote_.data();
}

std::vector<BlockId> MeshBlock::neighbours() const {
  std::vector<BlockId> blocks;
  for (const RemoteLink& link : remote_) blocks.push_back(link.block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

void MeshBlock::advance(const StepRules& rules, Span<Particle> particles,
                        TrajectoryLog& log) const {
  static const MeshKernel kernel = meshKernel();
  kernel(view_, rules, particles.data(), static_cast<std::int64_t>(particles.size()), log);
}

void MeshBlock::buildBins() {
  if (cells_.empty()) return;
  // About one cell per bin, bins as near to cubes as the box allows.
  double volume = 1;
  int axes = 0;
  for (std::size_t a = 0; a < 3; ++a)
    if (bounds_.hi[a] > bounds_.lo[a]) {
      volume *= bounds_.hi[a] - bounds_.lo[a];
      ++axes;
    }
  const double edge = axes ? std::pow(volume / static_cast<double>(cells_.size()), 1.0 / axes) : 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const double wanted = edge > 0 ? (bounds_.hi[a] - bounds_.lo[a]) / edge : 1;
    bins_[a] = std::clamp<std::int64_t>(wanted < 1024 ? std::int64_t(wanted) : 1024, 1, 1024);
  }
  const auto binOf = [&](std::size_t a, double x) {
    const double width = bounds_.hi[a] - bounds_.lo[a];
    const double u = width > 0 ? (x - bounds_.lo[a]) / width * double(bins_[a]) : 0;
    return std::clamp<std::int64_t>(u > 0 ? std::int64_t(u) : 0, 0, bins_[a] - 1);
  };
  const auto forEachBin = [&](std::size_t cell, auto&& visit) {
    const Box box = boxOf(cell);
    std::int64_t lo[3], hi[3];
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = binOf(a, box.lo[a]);
      hi[a] = binOf(a, box.hi[a]);
    }
    for (auto k = lo[2]; k <= hi[2]; ++k)
      for (auto j = lo[1]; j <= hi[1]; ++j)
        for (auto i = lo[0]; i <= hi[0]; ++i) visit(std::size_t((k * bins_[1] + j) * bins_[0] + i));
  };
  binFirst_.assign(std::size_t(bins_[0] * bins_[1] * bins_[2]) + 1, 0);
  for (std::size_t c = 0; c < cells_.size(); ++c)
    forEachBin(c, [&](std::size_t bin) { ++binFirst_[bin + 1]; });
  std::partial_sum(binFirst_.begin(), binFirst_.end(), binFirst_.begin());
  binCells_.resize(std::size_t(binFirst_.back()));
  auto cursor = binFirst_;
  for (std::size_t c = 0; c < cells_.size(); ++c)
    forEachBin(c, [&](std::size_t bin) {
      binCells_[std::size_t(cursor[bin]++)] = static_cast<std::int32_t>(c);
    });
}

/// Hash of all that an evaluation in the cell depends on.
std::uint64_t MeshBlock::contentOf(std::size_t index) const {
  const CellPoints points = pointsOf(piece_, cells_[index]);
  std::uint64_t hash = pointHash(std::int64_t(2 * points.type + piece_.velocity.isDouble));
  const auto add = [&](const ArrayView& array, std::int64_t i) {
    hash = pointHash(static_cast<std::int64_t>(hash ^ pointHash(tuple(array, i).data())));
  };
  for (int i = 0; i < points.count; ++i) {
    add(piece_.points, points.ids[i]);
    if (!piece_.cellCentred) add(piece_.velocity, points.ids[i]);
  }
  if (piece_.cellCentred) add(piece_.velocity, cells_[index]);
  return hash;
}

/// How well one cell holds a point; no block is named if it does not.
CellMatch MeshBlock::match(std::size_t index, const double point[3]) const {
  const CellRecord& cell = record(index);
  CellMatch found;
  // Points beyond the box are not looked for in all bins and blocks, so they must match nowhere.
  if (!boxOf(index).contains(point)) return found;
  double violation = 0;
  if (cell.shape == CellShape::Foreign) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(maximumPoints()));
    std::vector<double> weights(ids.size());
    if (!piece_.foreign || piece_.foreign->evaluate(cells_[index], point, ids.data(),
                                                    weights.data(), nullptr, violation) == 0)
      return found;
  } else {
    const InCell at =
        locateInCell(cell, view_.isDouble ? 8 : 4, V4{point[0], point[1], point[2], 0}, true);
    if (at.face == kUnknown) return found;
    if ((cell.shape == CellShape::Triangle || cell.shape == CellShape::Quad) &&
        !(std::fabs(at.r[2]) <= kSheet))
      return found;
    violation = at.violation;
  }
  if (!(violation <= kGap)) return found;
  found.violation = violation;
  found.size = cell.length;
  const CellPoints points = pointsOf(piece_, cells_[index]);
  for (std::size_t a = 0; a < 3; ++a) {
    for (int i = 0; i < points.count; ++i) found.key[a] += tuple(piece_.points, points.ids[i])[a];
    found.key[a] /= static_cast<double>(points.count);
  }
  found.content = contentOf(index);
  found.block = id();
  found.cell = numbers_[index];
  return found;
}

void MeshBlock::find(const double point[3], CellMatch& best) const {
  if (cells_.empty() || !bounds_.contains(point)) return;
  std::int64_t bin[3];
  for (std::size_t a = 0; a < 3; ++a) {
    const double width = bounds_.hi[a] - bounds_.lo[a];
    const double u = width > 0 ? (point[a] - bounds_.lo[a]) / width * double(bins_[a]) : 0;
    bin[a] = std::clamp<std::int64_t>(std::int64_t(u), 0, bins_[a] - 1);
  }
  const auto at = std::size_t((bin[2] * bins_[1] + bin[1]) * bins_[0] + bin[0]);
  for (auto i = binFirst_[at]; i < binFirst_[at + 1]; ++i) {
    const CellMatch found = match(std::size_t(binCells_[std::size_t(i)]), point);
    if (found.found() && found.betterThan(best)) best = found;
  }
}

bool MeshBlock::foreignVelocity(const void* self, std::int32_t number, const double point[3],
                                bool accept, double velocity[3]) {
  const auto& block = *static_cast<const MeshBlock*>(self);
  const auto index = std::size_t(block.indexOf(number));
  const ForeignCells* foreign = block.piece_.foreign;
  if (!foreign) return false;
  std::vector<std::int64_t> ids(static_cast<std::size_t>(block.maximumPoints()));
  std::vector<double> weights(ids.size());
  double violation = 0;
  const int count =
      foreign->evaluate(block.cells_[index], point, ids.data(), weights.data(), nullptr, violation);
  if (count == 0 || (violation > 0 && !accept)) return false;
  for (int a = 0; a < 3; ++a) velocity[a] = 0;
  if (block.piece_.cellCentred) {
    const Point v = tuple(block.piece_.velocity, block.cells_[index]);
    std::copy(v.begin(), v.end(), velocity);
    return true;
  }
  for (int i = 0; i < count; ++i) {
    const Point v = tuple(block.piece_.velocity, ids[std::size_t(i)]);
    for (std::size_t a = 0; a < 3; ++a) velocity[a] += weights[std::size_t(i)] * v[a];
  }
  return true;
}

void MeshBlock::weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                        Weights& out) const {
  const auto stride = std::size_t(maximumPoints());
  out.stride = int(stride);
  out.count.resize(points.size());
  out.cellId.resize(points.size());
  out.id.resize(points.size() * stride);
  out.weight.resize(points.size() * stride);
  if (out.wantGradients) out.gradient.assign(3 * points.size() * stride, 0);
  for (std::size_t p = 0; p < points.size(); ++p) {
    double x[3] = {points[p].x[0], points[p].x[1], points[p].x[2]};
    wrapIntoPeriod(rules, x);
    const auto index = std::size_t(indexOf(points[p].cell));
    const CellRecord& cell = record(index);
    out.cellId[p] = cells_[index];
    auto* ids = &out.id[p * stride];
    auto* weight = &out.weight[p * stride];
    auto* gradient = out.wantGradients ? &out.gradient[3 * p * stride] : nullptr;
    if (cell.shape == CellShape::Foreign) {
      double violation;
      out.count[p] = piece_.foreign->evaluate(cells_[index], x, ids, weight, gradient, violation);
      continue;
    }
    const CellTopology& topology = topologyOf(cell.shape);
    const CellPoints nodes = pointsOf(piece_, cells_[index]);
    out.count[p] = topology.points;
    for (int i = 0; i < topology.points; ++i) ids[i] = nodes[i];
    const std::size_t real = view_.isDouble ? 8 : 4;
    InCell at = locateInCell(cell, real, V4{x[0], x[1], x[2], 0}, true);
    if (cell.shape == CellShape::Tetra) {
      for (int i = 0; i < 4; ++i) {
        weight[i] = at.r[i];
        for (int a = 0; gradient && a < 3; ++a) gradient[3 * i + a] = cell.map[a][i];
      }
      continue;
    }
    double derivative[8][3];
    shapeFunctions(cell.shape, at.r, weight, derivative);
    if (!gradient) continue;
    // d / dx = inverse of the transposed Jacobian times d / dr, which has no value at an apex.
    V4 rows[3];
    if (cell.shape == CellShape::Pyramid && at.r[2] > 1 - kApex) {
      at.r[2] = 1 - kApex;
      double unused[8];
      shapeFunctions(cell.shape, at.r, unused, derivative);
    }
    const double determinant = affineMap(geometryTerms(cell, real), at.r, rows);
    const double inverse = determinant != 0 ? 1 / determinant : 0;
    for (int i = 0; i < topology.points; ++i)
      for (int a = 0; a < 3; ++a)
        gradient[3 * i + a] = (derivative[i][0] * rows[0][a] + derivative[i][1] * rows[1][a] +
                               derivative[i][2] * rows[2][a]) *
                              inverse;
  }
}

void check(const MeshPiece& piece, int blocksPerPiece, int dimension) {
  const std::string name = "mesh piece " + std::to_string(piece.piece);
  if (blocksPerPiece < 1) throw Error("there must be at least one block per piece");
  if (dimension != 2 && dimension != 3) throw Error(name + " must be of dimension 2 or 3");
  const auto cells = static_cast<std::int64_t>(piece.types.size());
  if (static_cast<std::int64_t>(piece.offsets.size()) != cells + 1)
    throw Error(name + " has " + std::to_string(piece.offsets.size()) + " offsets for " +
                std::to_string(cells) + " cells");
  if (!piece.ghosts.empty() && static_cast<std::int64_t>(piece.ghosts.size()) != cells)
    throw Error(name + " has " + std::to_string(piece.ghosts.size()) + " ghost flags for " +
                std::to_string(cells) + " cells");
  if (piece.velocity.tuples != (piece.cellCentred ? cells : piece.points.tuples))
    throw Error(name + " has " + std::to_string(piece.velocity.tuples) + " velocities for " +
                std::to_string(piece.points.tuples) + " points and " + std::to_string(cells) +
                " cells");
  if (!piece.globalPointIds.empty() &&
      static_cast<std::int64_t>(piece.globalPointIds.size()) != piece.points.tuples)
    throw Error(name + " has " + std::to_string(piece.globalPointIds.size()) + " global ids for " +
                std::to_string(piece.points.tuples) + " points");
  if (piece.offsets[0] < 0) throw Error(name + " has a negative offset");
  for (std::size_t c = 0; c < std::size_t(cells); ++c) {
    const auto begin = piece.offsets[c], end = piece.offsets[c + 1];
    if (end < begin || end > static_cast<std::int64_t>(piece.connectivity.size()))
      throw Error(name + " has malformed offsets at cell " + std::to_string(c));
    const CellShape shape = shapeOf(piece.types[c]);
    if (shape != CellShape::Foreign && end - begin != topologyOf(shape).points)
      throw Error(name + ": cell " + std::to_string(c) + " of type " +
                  std::to_string(piece.types[c]) + " has " + std::to_string(end - begin) +
                  " points");
  }
  for (const auto id : piece.connectivity)
    if (id < 0 || id >= piece.points.tuples)
      throw Error(name + " refers to point " + std::to_string(id) + " of " +
                  std::to_string(piece.points.tuples));
}

/// The cells of a piece that take part, near ones near each other (Morton order of their first
/// points), cut into `blocks` runs of equal length.
std::vector<std::vector<std::int64_t>> cutIntoBlocks(const MeshPiece& piece, int blocks,
                                                     int dimension) {
  std::vector<std::int64_t> cells;
  for (std::size_t c = 0; c < piece.types.size(); ++c) {
    if (!piece.ghosts.empty() && (piece.ghosts[c] & kLeftOut)) continue;
    if (dimensionOf(piece.types[c]) != dimension || piece.offsets[c] == piece.offsets[c + 1])
      continue;
    if (shapeOf(piece.types[c]) == CellShape::Foreign && !piece.foreign) continue;
    if (isFlat(piece, static_cast<std::int64_t>(c))) continue;
    cells.push_back(static_cast<std::int64_t>(c));
  }
  Point lo{}, hi{};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Point p = tuple(piece.points, pointsOf(piece, cells[i]).ids[0]);
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = i ? std::min(lo[a], p[a]) : p[a];
      hi[a] = i ? std::max(hi[a], p[a]) : p[a];
    }
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> order;
  order.reserve(cells.size());
  for (const auto cell : cells) {
    const Point p = tuple(piece.points, pointsOf(piece, cell).ids[0]);
    order.emplace_back(mortonCode(lo.data(), hi.data(), p.data()), cell);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::vector<std::int64_t>> out(static_cast<std::size_t>(blocks));
  for (std::size_t i = 0; i < order.size(); ++i)
    out[i * std::size_t(blocks) / order.size()].push_back(order[i].second);
  return out;
}

std::vector<std::uint64_t> hashPoints(const MeshPiece& piece, bool byId) {
  std::vector<std::uint64_t> hashes(std::size_t(piece.points.tuples));
  for (std::size_t i = 0; i < hashes.size(); ++i)
    hashes[i] = byId ? pointHash(piece.globalPointIds[i])
                     : pointHash(tuple(piece.points, std::int64_t(i)).data());
  return hashes;
}

/// Collective. @param cut  of each piece, the cells of its blocks: the points of others do not
/// count
std::vector<PointNames> namePoints(Transport& transport, const std::vector<MeshPiece>& pieces,
                                   const std::vector<std::vector<std::vector<std::int64_t>>>& cut,
                                   bool byId) {
  std::vector<PointNames> names(pieces.size());
  std::vector<std::uint64_t> mine;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    names[n].hashes = hashPoints(pieces[n], byId);
    auto& used = names[n].elsewhere;
    used.assign(names[n].hashes.size(), false);
    for (const auto& cells : cut[n])
      for (const auto cell : cells) {
        const CellPoints points = pointsOf(pieces[n], cell);
        for (int i = 0; i < points.count; ++i) used[std::size_t(points.ids[i])] = true;
      }
    for (std::size_t i = 0; i < used.size(); ++i)
      if (used[i]) mine.push_back(names[n].hashes[i]);
  }
  const auto shared = heldElsewhere(transport, std::move(mine));
  for (auto& piece : names)
    for (std::size_t i = 0; i < piece.hashes.size(); ++i)
      piece.elsewhere[i] = std::binary_search(shared.begin(), shared.end(), piece.hashes[i]);
  return names;
}

}  // namespace

std::vector<std::unique_ptr<FieldBlock>> makeMeshBlocks(Transport& transport,
                                                        const std::vector<MeshPiece>& pieces,
                                                        int blocksPerPiece, int dimension,
                                                        const std::vector<BlockId>& firstBlock) {
  std::vector<std::unique_ptr<MeshBlock>> blocks;
  std::vector<std::vector<std::vector<std::int64_t>>> cut;  // of each piece, each block's cells
  bool ids = true;
  std::string error;
  try {
    if (firstBlock.size() != pieces.size()) throw Error("every mesh piece needs a block id");
    for (const auto& piece : pieces) {
      check(piece, blocksPerPiece, dimension);
      cut.push_back(cutIntoBlocks(piece, blocksPerPiece, dimension));
      const bool used = !cut.back().front().empty();  // the first block has the odd cells
      ids = ids && (!piece.globalPointIds.empty() || !used);
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  agreeOnError(transport, error);
  // Ids identify points across ranks only if all pieces have them.
  ids = allreduce(transport, ReduceOp::Min, std::int64_t(ids)) != 0;
  const auto names = namePoints(transport, pieces, cut, ids);
  FaceLists faces;
  try {
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      for (std::size_t b = 0; b < cut[n].size(); ++b) {
        blocks.push_back(std::make_unique<MeshBlock>(firstBlock[n] + BlockId(b), pieces[n],
                                                     std::move(cut[n][b])));
        blocks.back()->listFaces(names[n], dimension, faces);
      }
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  agreeOnError(transport, error);
  const auto pairs = matchFaces(transport, faces.inner, std::move(faces.outer));
  try {
    std::unordered_map<BlockId, MeshBlock*> blockOf;
    for (const auto& block : blocks) blockOf[block->id()] = block.get();
    for (const FacePair& pair : pairs) {
      const auto block = blockOf.find(pair.mine.block);
      if (block == blockOf.end()) throw Error("malformed message: a face of another rank's block");
      block->second->link(pair);
    }
  } catch (const std::exception& e) {
    error = e.what();
  }
  agreeOnError(transport, error);
  return {std::make_move_iterator(blocks.begin()), std::make_move_iterator(blocks.end())};
}

}  // namespace tributary
