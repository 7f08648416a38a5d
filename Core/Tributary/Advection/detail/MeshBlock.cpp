// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshBlock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "Tributary/Advection/Interpolation.h"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Advection/detail/MeshCopy.h"
#include "Tributary/Advection/detail/kernels/InterpolationKernel.h"
#include "Tributary/Advection/detail/kernels/MeshCell.inl"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

/// Gradients at the apex of a pyramid are taken at this distance from it, as a share of its height.
constexpr double Apex = 1e-6;

/// Units of the smallest record.
constexpr std::int32_t LeastUnits = sizeof(CellRecord) / MeshView::Unit;

/// See geometryTerms().
std::size_t valueSizeOf(const MeshPiece& piece) {
  const std::size_t size = piece.velocity.isDouble ? sizeof(double) : sizeof(float);
  return piece.laterVelocity.data ? 2 * size : size;
}

std::size_t unitsOf(const MeshPiece& piece, CellShape shape) {
  std::size_t bytes = sizeof(CellRecord);
  if (shape != CellShape::Foreign) {
    bytes += 4 * valueSizeOf(piece) * (piece.cellCentered ? 1 : shape == CellShape::Tetra ? 4 : 8);
    if (moves(piece))
      bytes += 2 * 32 * std::size_t(topologyOf(shape).points);
    else if (shape != CellShape::Tetra)
      bytes += 32 * 8;
  }
  return (bytes + MeshView::Unit - 1) / MeshView::Unit;
}

/// @param mayPack  output: see MeshView
/// @return units of the records of all candidates of a block
std::size_t unitsOf(const MeshTopology& topology, int block, bool& mayPack) {
  const MeshPiece& piece = topology.piece();
  std::array<std::int64_t, 256> cellsOfType{};
  topology.forEachCell(block,
                       [&](std::int32_t cell) { ++cellsOfType[piece.types[std::size_t(cell)]]; });
  std::size_t units = 0;
  mayPack = false;
  for (std::size_t type = 0; type < cellsOfType.size(); ++type) {
    const CellShape shape = shapeOf(std::uint8_t(type));
    units += std::size_t(cellsOfType[type]) * unitsOf(piece, shape);
    const bool takes = BoxPack::takes(shape) || shape == CellShape::Pyramid;
    mayPack = mayPack || (cellsOfType[type] > 0 && takes);
  }
  if (units > std::size_t(std::numeric_limits<std::int32_t>::max()))
    throw Error("a block of mesh piece " + std::to_string(piece.piece) +
                " is too large; use more blocks per rank");
  return units;
}

/// Whether the parametric coordinates of a box are the affine functions of its map.
/// @param terms  of its geometry
bool isAffine(const CellRecord& record, const V4* terms) {
  bool is = true;
  for (int a = 0; a < 3; ++a) {
    for (int i = 4; i < 8; ++i) is = is && terms[i][a] == 0;
    for (int i = 0; i < 4; ++i) is = is && std::isfinite(record.map[a][i]);
  }
  return is;
}

}  // namespace

MeshRecords::MeshRecords(std::size_t size, bool packs)
    : units(size),
      mayPack(packs),
      records(size * MeshView::Unit),
      cells((size / std::size_t(LeastUnits) + 1) * sizeof(std::int32_t)) {}

/// The records that the topology keeps of a block.
MeshRecords& MeshBlock::recordsOf(const MeshTopology& topology, int number) {
  std::shared_ptr<MeshRecords>& kept = topology.keptRecords(number);
  if (!kept) {
    bool mayPack;
    const std::size_t units = unitsOf(topology, number, mayPack);
    kept = std::make_shared<MeshRecords>(units, mayPack);
  }
  return *kept;
}

void MeshBlock::readVelocities(const ParallelFor& parallelFor) {
  std::vector<std::int32_t> numbers;
  for (std::size_t at = 0; at < made_.usedUnits;) {
    const auto number = static_cast<std::int32_t>(at);
    numbers.push_back(number);
    at += unitsOf(piece_, recordAt(number).shape);
  }
  parallelFor(static_cast<std::int64_t>(numbers.size()), [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t Ahead = 8;  // cells are far apart in memory: see findTogether()
    for (std::int64_t n = begin; n < end; ++n) {
      if (n + 2 * Ahead < end) prefetchCell(cellAt(numbers[index(n + 2 * Ahead)]));
      if (n + Ahead < end)
        __builtin_prefetch(piece_.pointsOf(cellAt(numbers[index(n + Ahead)])).differences);
      const std::int32_t number = numbers[index(n)];
      fillVelocities(recordAt(number), cellAt(number));
    }
  });
}

MeshBlock::MeshBlock(std::shared_ptr<const MeshTopology> topology, int number)
    : FieldBlock(topology->firstBlock() + number, topology->piece().piece),
      topology_(std::move(topology)),
      piece_(topology_->piece()),
      number_(number),
      valueSize_(valueSizeOf(piece_)),
      made_(recordsOf(*topology_, number)) {
  view_.records = made_.records.data();
  view_.mayPack = made_.mayPack;
  view_.isDouble = piece_.velocity.isDouble;
  view_.resolve = resolve;
  view_.foreign = foreignVelocity;
  if (detail::moves(piece_)) view_.geometryAt = geometryAt;
  view_.block = this;
}

/// The cell of a record. No two records begin in the same LeastUnits units.
std::int32_t& MeshBlock::cellAt(std::int32_t number) const {
  return reinterpret_cast<std::int32_t*>(made_.cells.data())[number / LeastUnits];
}

/// The record of a cell of this block, made at the first call.
std::int32_t MeshBlock::recordOf(std::int32_t cell) const {
  auto& known = topology_->recordOf(cell);
  if (const auto number = known.load(std::memory_order_acquire); number >= 0) return number;
  RecordBuffer buffer;
  const CellRecord& record = fill(cell, buffer);
  const std::size_t units = unitsOf(piece_, record.shape);
  const std::lock_guard<std::mutex> lock(made_.mutex);
  if (const auto number = known.load(std::memory_order_relaxed); number >= 0) return number;
  const auto number = static_cast<std::int32_t>(made_.usedUnits);
  std::memcpy(&recordAt(number), &record, units * MeshView::Unit);
  cellAt(number) = cell;
  made_.usedUnits += units;
  known.store(number, std::memory_order_release);
  return number;
}

template <class Real>
void MeshBlock::fillVelocitiesAs(CellRecord& record, std::int32_t cell) const {
  fillVelocity(record, cell, piece_.velocity, const_cast<Real*>(velocityTerms<Real>(record)));
  if (piece_.laterVelocity.data)
    fillVelocity(record, cell, piece_.laterVelocity, const_cast<Real*>(laterTerms<Real>(record)));
}

/// Sets the velocity of a record, at the end of the interval too if the field is unsteady.
void MeshBlock::fillVelocities(CellRecord& record, std::int32_t cell) const {
  if (record.shape == CellShape::Foreign) return;
  if (piece_.velocity.isDouble)
    fillVelocitiesAs<double>(record, cell);
  else
    fillVelocitiesAs<float>(record, cell);
}

/// @param out  receives the terms of the record
template <class Real>
void MeshBlock::fillVelocity(const CellRecord& record, std::int32_t cell, const ArrayView& array,
                             Real* out) const {
  const auto put = [&](int term, V4 v) {
    for (int a = 0; a < 3; ++a) out[4 * term + a] = static_cast<Real>(v[a]);
  };
  const auto velocity = [&](std::int64_t i) {
    const Point v = tuple(array, i);
    return V4{v[0], v[1], v[2], 0};
  };
  if (piece_.cellCentered) return put(0, velocity(cell));
  const CellPoints points = pointsOf(piece_, cell);
  if (record.shape == CellShape::Tetra) {
    const auto* const values = static_cast<const Real*>(array.data);
    for (int i = 0; i < 4; ++i) std::copy_n(values + 3 * points.ids[i], 3, out + 4 * i);
    return;
  }
  V4 at[MostPoints], terms[8];
  for (int i = 0; i < topologyOf(record.shape).points; ++i) at[i] = velocity(points[i]);
  termsOf(record.shape, at, terms);
  for (int i = 0; i < 8; ++i) put(i, terms[i]);
}

/// Makes the record of a cell, without neighbors.
CellRecord& MeshBlock::fill(std::int32_t cell, RecordBuffer& buffer) const {
  const CellShape shape = shapeOf(piece_.types[std::size_t(cell)]);
  std::memset(buffer.bytes, 0, unitsOf(piece_, shape) * MeshView::Unit);
  CellRecord& record = *reinterpret_cast<CellRecord*>(buffer.bytes);
  record.shape = shape;
  std::fill(std::begin(record.link), std::end(record.link), CellRecord::Unresolved);
  const Point first = tuple(piece_.points, pointsOf(piece_, cell).ids[0]);
  std::copy(first.begin(), first.end(), record.anchor);
  record.length = CellExtent(piece_, cell).length;
  if (record.shape == CellShape::Foreign) return record;

  record.terms = piece_.cellCentered ? 1 : record.shape == CellShape::Tetra ? 4 : 8;
  fillVelocities(record, cell);

  if (isMoving()) {
    fillPoints(record, cell);
    return record;
  }
  V4 x[MostPoints];
  relativePoints(piece_, cell, record.shape, x);
  if (record.shape == CellShape::Tetra)
    fillTetrahedron(record, x);
  else
    fillGeometry(record, valueSize_, x);
  return record;
}

/// The points of a cell at both ends of the interval, if they move.
void MeshBlock::fillPoints(CellRecord& record, std::int32_t cell) const {
  const CellPoints points = pointsOf(piece_, cell);
  auto* out = const_cast<double*>(geometryTerms(record, valueSize_));
  for (const ArrayView& array : {piece_.points, piece_.laterPoints})
    for (int i = 0; i < topologyOf(record.shape).points; ++i, out += 4) {
      const Point x = tuple(array, points[i]);
      std::copy(x.begin(), x.end(), out);
    }
}

/// For MeshView. The same operations as for a cell that stays, so that cells whose points are the
/// same at both ends give the same bits.
bool MeshBlock::geometryAt(const CellRecord& cell, std::size_t valueSize, double share,
                           MovedCell& moved) {
  const int count = topologyOf(cell.shape).points;
  const double* const early = geometryTerms(cell, valueSize);
  const double* const late = early + 4 * count;
  V4 x[MostPoints];
  for (int i = 0; i < count; ++i) {
    const V4 from = load(early + 4 * i), to = load(late + 4 * i);
    // As valueBetween().
    x[i] = share == 0 ? from : share == 1 ? to : from + splat(share) * (to - from);
  }
  CellRecord& record = moved.record();
  record.shape = cell.shape;
  record.terms = 0;
  const V4 first = x[0];
  for (int a = 0; a < 3; ++a) record.anchor[a] = first[a];
  record.length = diagonalOf(x, count);
  for (int i = 0; i < count; ++i) x[i] -= first;
  const double volume =
      cell.shape == CellShape::Tetra ? fillTetrahedron(record, x) : fillGeometry(record, 0, x);
  constexpr double Plainly = 1e-12;  // far above the bound of isFlat()
  return std::fabs(volume) > Plainly * record.length * record.length * record.length ||
         !isFlat(volume, diagonalOf(x, count));
}

/// The geometry of the cell of a recorded point at its time: the record itself, or one in `moved`.
const CellRecord& MeshBlock::geometryOf(const StepRules& rules, const TrajectoryPoint& point,
                                        MovedCell& moved) const {
  const CellRecord& record = recordAt(point.cell);
  if (!isMoving() || record.shape == CellShape::Foreign) return record;
  geometryAt(record, valueSize_, shareOf(rules, point.time), moved);
  return moved.record();
}

/// The map of a tetrahedron. @param x  its points, relative to the first
/// @return six times its volume
double MeshBlock::fillTetrahedron(CellRecord& record, const V4* x) {
  const V4 rows[3] = {cross(x[2], x[3]), cross(x[3], x[1]), cross(x[1], x[2])};
  const double volume = dot3(x[1], rows[0]);
  for (int axis = 0; axis < 3; ++axis) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) {
      record.map[axis][i + 1] = rows[i][axis] / volume;
      sum += record.map[axis][i + 1];
    }
    record.map[axis][0] = -sum;
  }
  return volume;
}

/// The geometry and the affine map of a cell of another shape. @param x  its points, relative to
/// the first
/// @return the Jacobian determinant in its middle
double MeshBlock::fillGeometry(CellRecord& record, std::size_t valueSize, const V4* x) {
  V4 terms[8];
  detail::geometryOf(record.shape, x, record.length, terms);
  auto* geometry = const_cast<double*>(geometryTerms(record, valueSize));
  for (int i = 0; i < 8; ++i) store(geometry + 4 * i, terms[i]);

  V4 middle = middleOf(record.shape), rows[3];
  const double volume = affineMap(geometry, middle, rows);
  double determinant = volume;
  const V4 center = polynomial(geometry, middle[0], middle[1], middle[2]);
  if (record.shape == CellShape::Pyramid) {  // its map gives u, v, w: see locateInPyramid
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
    store(record.map[i], row);
    record.map[i][3] = middle[i] - dot3(row, center);
  }
  if (record.shape == CellShape::Box && isAffine(record, terms))
    record.shape = CellShape::Parallelepiped;
  return volume;
}

/// For MeshView.
std::int32_t MeshBlock::resolve(const void* self, std::int32_t number, int face, Neighbor& beyond) {
  const auto& block = *static_cast<const MeshBlock*>(self);
  CellRecord& record = block.recordAt(number);
  beyond = block.topology_->neighborOf(block.cellAt(number), face);
  // All threads that come here at once set the same values.
  const auto link = [](CellRecord& from, int through, std::int32_t to, int entry) {
    __atomic_store_n(&from.entry[through], static_cast<std::int8_t>(entry), __ATOMIC_RELAXED);
    __atomic_store_n(&from.link[through], to, __ATOMIC_RELEASE);
  };
  if (beyond.block < 0) {
    link(record, face, CellRecord::NoLink, 0);
    return CellRecord::NoLink;
  }
  if (beyond.block != block.id()) return CellRecord::Unresolved;
  const std::int32_t other = block.recordOf(beyond.cell);
  link(record, face, other, beyond.face);
  link(block.recordAt(other), beyond.face, number, face);
  return other;
}

bool MeshBlock::enter(std::int32_t& cell) const {
  if (!topology_->isUsed(cell) || topology_->blockOf(cell) != number_) return false;
  cell = recordOf(cell);
  return true;
}

void MeshBlock::advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
                        TrajectoryLog& log) const {
  static const MeshKernel kernel = meshKernel();
  kernel(view_, rules, particles.data(), static_cast<std::int64_t>(particles.size()), extraSteps,
         log);
}

std::size_t MeshBlock::memory() const {
  const std::lock_guard<std::mutex> lock(made_.mutex);
  return made_.usedUnits * MeshView::Unit +
         made_.usedUnits / std::size_t(LeastUnits) * sizeof(std::int32_t) +
         (number_ == 0 ? topology_->memory() : 0);
}

CopySize MeshBlock::copySize() const {
  const std::size_t arrays = copiedBytes(*topology_);
  // Integers take twice as much as in the message, and what is made on demand as much again as the
  // tables of points and cells.
  const std::size_t records =
      made_.units * MeshView::Unit + made_.units / std::size_t(LeastUnits) * sizeof(std::int32_t);
  return {arrays, 4 * arrays + records};
}

void MeshBlock::writeCopy(Writer& writer) const {
  writeMesh(*topology_, writer);
}

void MeshBlock::writePointData(Writer& writer, const void* tuples, std::size_t bytes) const {
  const std::size_t size = std::size_t(piece_.points.tuples) * bytes;
  if (size > 0) std::memcpy(writer.extend(size), tuples, size);
}

void MeshBlock::writeCellData(Writer& writer, const void* tuples, std::size_t bytes) const {
  const std::size_t size = piece_.types.size() * bytes;
  if (size > 0) std::memcpy(writer.extend(size), tuples, size);
}

std::unique_ptr<FieldBlock> MeshBlock::read(BlockId id, int piece, BlockId blocks,
                                            const ParallelFor& parallelFor, Reader& reader) {
  const auto topology = readMesh(piece, blocks, parallelFor, reader);
  const auto number = offsetOf(id, topology->firstBlock());
  if (number >= std::uint64_t(topology->blocks())) refuseMessage("a block of another mesh");
  return std::make_unique<MeshBlock>(topology, int(number));
}

/// Hash of the data that an evaluation in the cell depends on.
std::uint64_t MeshBlock::contentOf(std::int32_t cell) const {
  const CellPoints points = pointsOf(piece_, cell);
  std::uint64_t hash = pointHash(std::int64_t(2 * points.type + piece_.velocity.isDouble));
  const auto add = [&](const ArrayView& array, std::int64_t i) {
    hash = pointHash(static_cast<std::int64_t>(hash ^ pointHash(tuple(array, i).data())));
  };
  for (int i = 0; i < points.ids.count; ++i) {
    add(piece_.points, points.ids[i]);
    if (!piece_.cellCentered) add(piece_.velocity, points.ids[i]);
  }
  if (piece_.cellCentered) add(piece_.velocity, cell);
  // As without them for a cell that stays: its piece may have others that move, or not.
  for (int i = 0; i < points.ids.count && isMoving(); ++i)
    if (tuple(piece_.laterPoints, points.ids[i]) != tuple(piece_.points, points.ids[i]))
      add(piece_.laterPoints, points.ids[i]);
  if (!piece_.laterVelocity.data) return hash;
  for (int i = 0; !piece_.cellCentered && i < points.ids.count; ++i)
    add(piece_.laterVelocity, points.ids[i]);
  if (piece_.cellCentered) add(piece_.laterVelocity, cell);
  return hash;
}

/// Whether a cell holds a point at least as well as the best one does.
std::optional<MeshBlock::Holder> MeshBlock::holderOf(std::int32_t cell,
                                                     const CellQuery& query) const {
  const double* const point = query.point.data();
  const auto number = topology_->recordOf(cell).load(std::memory_order_acquire);
  // Reading the points of a cell that has a record costs more than locating the point.
  const bool boxLast = number >= 0 && recordAt(number).shape != CellShape::Foreign;
  if (!boxLast && !CellExtent(piece_, cell).box().contains(point)) return {};
  if (number < 0 && !topology_->isUsed(cell)) return {};
  RecordBuffer buffer;
  const CellRecord& record = number >= 0 ? recordAt(number) : fill(cell, buffer);
  double violation = 0, length = record.length;
  if (record.shape == CellShape::Foreign) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(maximumPoints()));
    std::vector<double> weights(ids.size());
    if (!piece_.foreign ||
        piece_.foreign->evaluate(cell, point, ids.data(), weights.data(), nullptr, violation) == 0)
      return {};
  } else {
    const V4 x{point[0], point[1], point[2], 0};
    MovedCell moved;
    if (isMoving() && !geometryAt(record, valueSize_, query.share, moved)) return {};
    const CellRecord& shape = isMoving() ? moved.record() : record;
    const InCell at = locateInCell(shape, valueSize_, x, true);
    if (at.face == Unknown) return {};
    length = shape.length;
    if ((record.shape == CellShape::Triangle || record.shape == CellShape::Quad) &&
        !(std::fabs(at.r[2]) <= Sheet))
      return {};
    violation = at.violation;
  }
  if (!(violation <= Gap) || violation > query.best.violation) return {};
  return Holder{cell, violation, length, !boxLast};
}

/// Makes a cell the best match if it holds the point better.
void MeshBlock::improve(const Holder& holder, CellQuery& query) const {
  if (holder.violation > query.best.violation) return;
  // Not all bins and blocks search for points beyond the box, so these must match nowhere.
  if (!holder.boxIsKnown && !CellExtent(piece_, holder.cell).box().contains(query.point.data()))
    return;
  CellMatch found;
  found.violation = holder.violation;
  found.size = holder.length;
  const CellPoints points = pointsOf(piece_, holder.cell);
  for (std::size_t a = 0; a < 3; ++a) {
    for (int i = 0; i < points.ids.count; ++i)
      found.key[a] += pointAt(piece_, points.ids[i], query.share)[a];
    found.key[a] /= static_cast<double>(points.ids.count);
  }
  found.content = contentOf(holder.cell);
  found.block = id();
  found.cell = holder.cell;
  if (found.betterThan(query.best)) query.best = found;
}

void MeshBlock::find(Span<CellQuery> queries) const {
  for (std::size_t first = 0; first < queries.size(); first += CellBins::MostPoints)
    findTogether(queries.subspan(first, std::min(CellBins::MostPoints, queries.size() - first)));
}

/// Each pass begins to load what the next one reads.
void MeshBlock::findTogether(Span<CellQuery> queries) const {
  std::array<CellQuery*, CellBins::MostPoints> inside;
  std::size_t count = 0;
  for (CellQuery& query : queries)
    if (bounds().contains(query.point.data())) inside[count++] = &query;  // an empty box has none
  if (count == 0) return;

  std::vector<std::pair<CellQuery*, std::int32_t>> candidates;
  candidates.reserve(16 * count);
  topology_->near(
      number_, count, [&](std::size_t n) { return inside[n]->point.data(); },
      [&](std::size_t n, std::int32_t cell) {
        __builtin_prefetch(&topology_->recordOf(cell));
        candidates.push_back({inside[n], cell});
      });
  for (const auto& [query, cell] : candidates) {
    const auto number = topology_->recordOf(cell).load(std::memory_order_relaxed);
    if (number >= 0)
      prefetchRecord(recordAt(number), sizeof(CellRecord));
    else
      prefetchCell(cell);
  }
  std::vector<std::pair<CellQuery*, Holder>> holders;
  holders.reserve(2 * count);
  for (const auto& [query, cell] : candidates)
    if (const auto holder = holderOf(cell, *query)) {
      prefetchCell(cell);
      holders.push_back({query, *holder});
    }
  for (const auto& [query, holder] : holders)
    __builtin_prefetch(piece_.pointsOf(holder.cell).differences);
  for (const auto& [query, holder] : holders) prefetchPoints(holder.cell);
  for (const auto& [query, holder] : holders) improve(holder, *query);
}

/// Begins to load where the points of a cell are listed.
void MeshBlock::prefetchCell(std::int32_t cell) const {
  if (!piece_.grid) __builtin_prefetch(piece_.offsets.data() + cell);
  __builtin_prefetch(piece_.types.data() + cell);
}

/// Begins to load the points of a cell and their velocities.
void MeshBlock::prefetchPoints(std::int32_t cell) const {
  const auto prefetchTuple = [](const ArrayView& array, std::int64_t i) {
    __builtin_prefetch(static_cast<const std::byte*>(array.data) +
                       3 * i * (array.isDouble ? sizeof(double) : sizeof(float)));
  };
  const CellPoints points = pointsOf(piece_, cell);
  for (int i = 0; i < points.ids.count; ++i) {
    prefetchTuple(piece_.points, points.ids[i]);
    if (!piece_.cellCentered) prefetchTuple(piece_.velocity, points.ids[i]);
  }
}

bool MeshBlock::foreignVelocity(const void* self, std::int32_t number, const double point[3],
                                double share, bool accept, double velocity[3]) {
  const auto& block = *static_cast<const MeshBlock*>(self);
  const std::int32_t cell = block.cellAt(number);
  const ForeignCells* foreign = block.piece_.foreign;
  if (!foreign) return false;
  // As in other cells, where it follows from the arithmetic.
  if (!std::isfinite(point[0]) || !std::isfinite(point[1]) || !std::isfinite(point[2])) {
    std::fill_n(velocity, 3, std::numeric_limits<double>::quiet_NaN());
    return true;
  }
  std::vector<std::int64_t> ids(static_cast<std::size_t>(block.maximumPoints()));
  std::vector<double> weights(ids.size());
  double violation = 0;
  const int count = foreign->evaluate(cell, point, ids.data(), weights.data(), nullptr, violation);
  if (count == 0 || (violation > 0 && !accept)) return false;
  const auto interpolate = [&](const ArrayView& array) -> Point {
    if (block.piece_.cellCentered) return tuple(array, cell);
    Point sum{};
    for (int i = 0; i < count; ++i) {
      const Point v = tuple(array, ids[std::size_t(i)]);
      for (std::size_t a = 0; a < 3; ++a) sum[a] += weights[std::size_t(i)] * v[a];
    }
    return sum;
  };
  const Point earlier = interpolate(block.piece_.velocity);
  std::copy(earlier.begin(), earlier.end(), velocity);
  if (!block.piece_.laterVelocity.data) return true;
  const Point later = interpolate(block.piece_.laterVelocity);
  for (std::size_t a = 0; a < 3; ++a) velocity[a] = valueBetween(velocity[a], later[a], share);
  return true;
}

void MeshBlock::weights(const StepRules& rules, Span<const TrajectoryPoint> points,
                        Weights& out) const {
  // Cells that VTK evaluates may have many more points than these.
  const bool anyForeign =
      std::any_of(points.begin(), points.end(), [&](const TrajectoryPoint& point) {
        return recordAt(point.cell).shape == CellShape::Foreign;
      });
  out.resize(points.size(), anyForeign ? maximumPoints() : MostPoints);
  for (std::size_t first = 0; first < points.size(); first += Weights::Lanes) {
    const std::size_t end = std::min(points.size(), first + Weights::Lanes);
    weightsInBoxes(rules, points, first, end, out);
    for (std::size_t p = first; p < end; ++p) {
      const CellRecord& record = recordAt(points[p].cell);
      const std::int32_t cell = cellAt(points[p].cell);
      out.cellId[p] = cell;
      if (record.shape != CellShape::Foreign) {
        const CellPoints nodes = pointsOf(piece_, cell);
        out.count[p] = topologyOf(record.shape).points;
        for (int i = 0; i < out.count[p]; ++i) out.id(p, i) = nodes[i];
      }
      if (!BoxPack::takes(record.shape)) weightsAt(rules, points[p], p, out);
    }
  }
}

/// The weights of those points of a group that lie in boxes and wedges.
void MeshBlock::weightsInBoxes(const StepRules& rules, Span<const TrajectoryPoint> points,
                               std::size_t first, std::size_t end, Weights& out) const {
  const CellRecord* cells[Weights::Lanes];
  MovedCell moved[Weights::Lanes];
  double x[3][Weights::Lanes];
  const auto put = [&](std::size_t lane, const TrajectoryPoint& point) {
    cells[lane] = &geometryOf(rules, point, moved[lane]);
    double wrapped[3] = {point.x[0], point.x[1], point.x[2]};
    wrapIntoPeriod(rules, wrapped);
    for (int a = 0; a < 3; ++a) x[a][lane] = wrapped[a];
  };
  const auto isIn = [&](std::size_t p) { return BoxPack::takes(recordAt(points[p].cell).shape); };
  std::size_t some = first;
  while (some < end && !isIn(some)) ++some;
  if (some == end) return;
  for (std::size_t l = 0; l < Weights::Lanes; ++l)  // other lanes repeat one of them
    put(l, points[first + l < end && isIn(first + l) ? first + l : some]);
  interpolationKernels().boxWeights(cells, valueSize_, x, groupOf(out, first / Weights::Lanes));
}

/// The weights of a point in a cell of another shape.
void MeshBlock::weightsAt(const StepRules& rules, const TrajectoryPoint& point, std::size_t p,
                          Weights& out) const {
  double x[3] = {point.x[0], point.x[1], point.x[2]};
  wrapIntoPeriod(rules, x);
  MovedCell moved;
  const CellRecord& record = geometryOf(rules, point, moved);
  if (record.shape == CellShape::Foreign) return foreignWeights(cellAt(point.cell), x, p, out);
  const CellTopology& topology = topologyOf(record.shape);
  InCell at = locateInCell(record, valueSize_, V4{x[0], x[1], x[2], 0}, true);
  if (record.shape == CellShape::Tetra) {
    for (int i = 0; i < 4; ++i) {
      out.weight(p, i) = at.r[i];
      for (int a = 0; out.wantGradients && a < 3; ++a) out.gradient(p, i, a) = record.map[a][i];
    }
    return;
  }
  double weight[MostPoints], derivative[MostPoints][3];
  shapeFunctions(record.shape, at.r, weight, derivative);
  for (int i = 0; i < topology.points; ++i) out.weight(p, i) = weight[i];
  if (!out.wantGradients) return;
  // d / dx = inverse of the transposed Jacobian times d / dr, which has no value at an apex.
  V4 rows[3];
  if (record.shape == CellShape::Pyramid && at.r[2] > 1 - Apex) {
    at.r[2] = 1 - Apex;
    shapeFunctions(record.shape, at.r, weight, derivative);
  }
  const double determinant = affineMap(geometryTerms(record, valueSize_), at.r, rows);
  const double inverse = determinant != 0 ? 1 / determinant : 0;
  for (int i = 0; i < topology.points; ++i)
    for (int a = 0; a < 3; ++a)
      out.gradient(p, i, a) = (derivative[i][0] * rows[0][a] + derivative[i][1] * rows[1][a] +
                               derivative[i][2] * rows[2][a]) *
                              inverse;
}

void MeshBlock::foreignWeights(std::int32_t cell, const double x[3], std::size_t p,
                               Weights& out) const {
  const auto most = std::size_t(out.corners);
  std::vector<std::int64_t> ids(most);
  std::vector<double> weights(most), gradients(out.wantGradients ? 3 * most : 0);
  double violation;
  out.count[p] =
      piece_.foreign->evaluate(cell, x, ids.data(), weights.data(),
                               out.wantGradients ? gradients.data() : nullptr, violation);
  for (int i = 0; i < out.count[p]; ++i) {
    out.id(p, i) = ids[std::size_t(i)];
    out.weight(p, i) = weights[std::size_t(i)];
    for (int a = 0; out.wantGradients && a < 3; ++a)
      out.gradient(p, i, a) = gradients[std::size_t(3 * i + a)];
  }
}

}  // namespace tributary::detail
