// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshTopology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Morton.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

/// Lengths of cells whose volumes are plain numbers.
constexpr double Tiny = 1e-90, Huge = 1e90;

bool isGhost(const MeshPiece& piece, std::int64_t cell) {
  return !piece.ghosts.empty() &&
         (piece.ghosts[std::size_t(cell)] & (DuplicateCell | HiddenCell)) != 0;
}

/// At both ends of the interval if points move.
bool hasFinitePoints(const MeshPiece& piece, std::int64_t cell) {
  const CellPoints points = pointsOf(piece, cell);
  for (const ArrayView* array : {&piece.points, &piece.laterPoints})
    for (std::int64_t i = 0; array->data && i < points.ids.count; ++i)
      for (const double x : tuple(*array, points.ids[i]))
        if (!std::isfinite(x)) return false;
  return true;
}

void sortAndUnite(std::vector<BlockId>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

/// Per point, whether one of the cells has it.
std::vector<bool> pointsOfCells(const MeshPiece& piece, const std::vector<std::int32_t>& cells) {
  std::vector<bool> has(std::size_t(piece.points.tuples), false);
  for (const std::int32_t cell : cells) {
    const CellPointIds ids = piece.pointsOf(cell);
    for (std::int64_t i = 0; i < ids.count; ++i) has[std::size_t(ids[i])] = true;
  }
  return has;
}

/// The number of groups of slots.
std::size_t groupsOf(std::int64_t slots) {
  return (std::size_t(slots) + CellBins::GroupSize - 1) / CellBins::GroupSize;
}

}  // namespace

MeshTopology::MeshTopology(const MeshPiece& piece, int blocks, int dimension, BlockId firstBlock,
                           const ParallelFor& parallelFor)
    : piece_(piece),
      dimension_(dimension),
      firstBlock_(firstBlock),
      boxes_(std::size_t(blocks)),
      keptRecords_(std::size_t(blocks)),
      neighbors_(std::size_t(blocks)),
      bins_(std::size_t(blocks)) {
  static_assert(BrickOrder::Size == CellBins::GroupSize, "a brick is a group");
  if (piece_.grid) bricks_ = BrickOrder(*piece_.grid);
  const auto cells = std::int64_t(piece.types.size());
  const std::int64_t slots = piece_.grid ? bricks_.bricks() * BrickOrder::Size : cells;
  if (slots > std::numeric_limits<std::int32_t>::max())
    throw Error("mesh piece " + std::to_string(piece.piece) +
                " has too many cells; distribute it over more ranks");
  slots_ = std::int32_t(slots);
  records_.reset(new std::atomic<std::int32_t>[std::size_t(cells)]);  // first used by the threads
  const Kinds kinds = kindsOfCells();
  std::vector<Box> groups(groupsOf(slots));
  parallelFor(std::int64_t(groups.size()), [&](std::int64_t begin, std::int64_t end) {
    for (auto group = std::size_t(begin); group < std::size_t(end); ++group)
      classify(kinds, group, groups[group]);
  });
  if (blocks == 1)
    groups_.emplace_back(std::move(groups));
  else
    cut(blocks);
  for (std::size_t block = 0; block < boxes_.size(); ++block)
    for (const Box& group : groups_[block].boxes())
      if (!group.empty()) include(boxes_[block], group);
  if (!usesAny()) std::fill(boxes_.begin(), boxes_.end(), Box());
}

MeshTopology::Kinds MeshTopology::kindsOfCells() const {
  Kinds kinds;
  for (std::size_t type = 0; type < kinds.size(); ++type)
    kinds[type] = tributary::dimensionOf(std::uint8_t(type)) != dimension_ ? Kind::Other
                  : isForeign(std::uint8_t(type))                          ? Kind::Foreign
                                                                           : Kind::Linear;
  return kinds;
}

/// Finds the candidates of a group of slots of the piece.
/// @param box  enlarged to hold their boxes
void MeshTopology::classify(const Kinds& kinds, std::size_t group, Box& box) const {
  const bool all = piece_.grid && mayBeUsed(bricks_.brickAt(std::int64_t(group)), kinds, box);
  forEachCellOfGroup(group, [&](std::int32_t cell) {
    Box own;
    const bool is = all || mayBeUsed(cell, kinds, own);
    if (is && !all) include(box, own);
    recordOf(cell).store(is ? Unexamined : Excluded, std::memory_order_relaxed);
  });
}

/// @param box  set to the box of a candidate
bool MeshTopology::mayBeUsed(std::int64_t cell, const Kinds& kinds, Box& box) const {
  const auto c = std::size_t(cell);
  if (isGhost(piece_, cell)) return false;
  const Kind kind = kinds[piece_.types[c]];
  if (kind == Kind::Other || piece_.pointsOf(cell).count == 0) return false;
  if (moves(piece_) && !hasFinitePoints(piece_, cell)) return false;
  const CellExtent extent(piece_, cell);
  if (kind == Kind::Foreign) {
    if (!piece_.foreign || !hasFinitePoints(piece_, cell)) return false;
  } else if (!(extent.length > Tiny && extent.length < Huge) && isFlat(piece_, cell, extent)) {
    return false;  // such a cell must not enlarge the boxes
  }
  box = extent.box();
  return true;
}

/// Whether all cells of a brick may be candidates: none of them enlarges the box of the others by
/// much. If not, each must be looked at.
/// @param box  set to a box that holds the boxes of all of them, if they may
bool MeshTopology::mayBeUsed(const Brick& brick, const Kinds& kinds, Box& box) const {
  if (kinds[piece_.types[0]] != Kind::Linear) return false;  // a grid's cells are of one type
  if (!piece_.ghosts.empty()) {
    bool any = false;
    bricks_.forEachCell(brick, [&](std::int64_t cell) { any = any || isGhost(piece_, cell); });
    if (any) return false;
  }
  const CellExtent extent(piece_, brick);
  if (!(extent.length > Tiny && extent.length < Huge)) return false;
  box = extent.box();
  return true;
}

/// Whether a candidate is used, once and for all.
bool MeshTopology::examine(std::int64_t cell) const {
  const bool used = shapeOf(piece_.types[std::size_t(cell)]) == CellShape::Foreign ||
                    !isFlat(piece_, cell, CellExtent(piece_, cell));
  // Another thread may have done the same, and made a record.
  std::int32_t before = Unexamined;
  records_[std::size_t(cell)].compare_exchange_strong(before, used ? Unvisited : Flat,
                                                      std::memory_order_relaxed);
  return used;
}

bool MeshTopology::usesAny() const {
  for (std::size_t c = 0; c < piece_.types.size(); ++c)
    if (isUsed(std::int64_t(c))) return true;
  return false;
}

/// Cuts the candidates, in the Morton order of their first points, into runs of equal length.
void MeshTopology::cut(int blocks) {
  std::vector<std::int64_t> candidates;
  Point lo{}, hi{};
  forEachCandidate([&](std::int32_t cell) {
    const Point p = tuple(piece_.points, pointsOf(piece_, cell).ids[0]);
    for (std::size_t a = 0; a < 3; ++a) {
      lo[a] = candidates.empty() ? p[a] : std::min(lo[a], p[a]);
      hi[a] = candidates.empty() ? p[a] : std::max(hi[a], p[a]);
    }
    candidates.push_back(cell);
  });
  std::vector<std::pair<std::uint64_t, std::int64_t>> order;
  order.reserve(candidates.size());
  for (const auto cell : candidates) {
    const Point p = tuple(piece_.points, pointsOf(piece_, cell).ids[0]);
    order.emplace_back(mortonCode(lo.data(), hi.data(), p.data()), cell);
  }
  std::sort(order.begin(), order.end());
  blockOfCell_.assign(piece_.types.size(), 0);
  cellsOfBlock_.resize(std::size_t(blocks));
  for (std::size_t i = 0; i < order.size(); ++i)
    blockOfCell_[std::size_t(order[i].second)] =
        std::int32_t(i * std::size_t(blocks) / order.size());
  for (const auto cell : candidates)
    cellsOfBlock_[std::size_t(blockOf(cell))].push_back(std::int32_t(cell));
  for (const std::vector<std::int32_t>& cells : cellsOfBlock_) {
    std::vector<Box> groups(groupsOf(std::int64_t(cells.size())));
    for (std::size_t n = 0; n < cells.size(); ++n)
      include(groups[n / CellBins::GroupSize], CellExtent(piece_, cells[n]).box());
    groups_.emplace_back(std::move(groups));
  }
}

std::uint64_t MeshTopology::hashOf(std::int64_t point) const {
  return byId_ ? pointHash(piece_.globalPointIds[std::size_t(point)])
               : pointHash(tuple(piece_.points, point).data());
}

Border MeshTopology::wholeBorder() const {
  Border border;
  forEachCandidate([&](std::int32_t cell) { border.cells.push_back(cell); });
  border.points = pointsOfCells(piece_, border.cells);
  return border;
}

Border MeshTopology::borderIn(const std::vector<Box>& others) const {
  Border border;
  for (int block = 0; block < blocks(); ++block) {
    const Span<const Box> groups = groups_[std::size_t(block)].boxes();
    for (std::size_t group = 0; group < groups.size(); ++group)
      if (std::any_of(others.begin(), others.end(),
                      [&](const Box& other) { return intersects(groups[group], other); }))
        forEachOfGroup(block, group, [&](std::int32_t cell) { border.cells.push_back(cell); });
  }
  border.points = pointsOfCells(piece_, border.cells);
  const BoxIndex index(others);
  for (std::size_t p = 0; p < border.points.size(); ++p)
    if (border.points[p])
      border.points[p] = index.next(tuple(piece_.points, std::int64_t(p)).data(), -1) >= 0;
  return border;
}

/// @param idOf  gives the identity of a point of the piece
/// @return false if the face has fewer points than it needs: it has no other side
template <class Id, class IdOf>
bool MeshTopology::facePoints(std::int64_t cell, int face, const IdOf& idOf,
                              FacePoints<Id>& out) const {
  const CellPoints points = pointsOf(piece_, cell);
  const CellTopology& topology = topologyOf(shapeOf(points.type));
  out.count = topology.faceSize[face];
  for (int i = 0; i < out.count; ++i) {  // in order; std::sort() makes GCC 12 warn
    Id id = idOf(points[topology.face[face][i]]);
    for (int n = 0; n < i; ++n)
      if (id < out.point[n]) std::swap(id, out.point[n]);
    out.point[i] = id;
  }
  out.count = int(std::unique(out.point, out.point + out.count) - out.point);
  return out.count >= dimension_;
}

bool MeshTopology::isShared(std::int64_t cell, int face) const {
  const CellPoints points = pointsOf(piece_, cell);
  const CellTopology& topology = topologyOf(shapeOf(points.type));
  for (int i = 0; i < topology.faceSize[face]; ++i)
    if (!shared_[std::size_t(points[topology.face[face][i]])]) return false;
  return true;
}

std::vector<FaceSide> MeshTopology::setSharedPoints(Border shared) {
  std::vector<FaceSide> sides;
  if (std::find(shared.points.begin(), shared.points.end(), true) == shared.points.end())
    return sides;
  shared_ = std::move(shared.points);
  for (const std::int32_t cell : shared.cells) {
    const CellPoints points = pointsOf(piece_, cell);
    int count = 0;
    for (std::int64_t i = 0; i < points.ids.count; ++i)
      count += shared_[std::size_t(points.ids[i])];
    if (count < dimension_ || !isUsed(cell)) continue;
    const CellTopology& topology = topologyOf(shapeOf(points.type));
    for (int face = 0; face < topology.faces; ++face) {
      if (!isShared(cell, face)) continue;
      std::uint64_t hashes[MostFacePoints];
      for (int i = 0; i < topology.faceSize[face]; ++i)
        hashes[i] = hashOf(points[topology.face[face][i]]);
      FaceSide side{{}, firstBlock_ + blockOf(cell), cell, face};
      if (faceKey(hashes, topology.faceSize[face], dimension_, side.key)) sides.push_back(side);
    }
  }
  return sides;
}

void MeshTopology::setOuterNeighbors(const std::vector<FacePair>& pairs) {
  for (const FacePair& pair : pairs) {
    const FaceSide &mine = pair.mine, &other = pair.other;
    check(mine, other);
    if (other.block == mine.block && other.cell == mine.cell) continue;  // folded onto itself
    outer_.push_back({mine.cell, mine.face, {other.block, other.cell, std::int8_t(other.face)}});
    neighbors_[std::size_t(blockOf(mine.cell))].push_back(other.block);
  }
  std::sort(outer_.begin(), outer_.end(), [](const OuterFace& a, const OuterFace& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.face < b.face;
  });
}

/// Throws Error if `mine` is no face of this piece, or `other` of no piece at all.
void MeshTopology::check(const FaceSide& mine, const FaceSide& other) const {
  if (!isUsed(mine.cell) || mine.block != firstBlock_ + blockOf(mine.cell) || mine.face < 0 ||
      mine.face >= topologyOf(shapeOf(piece_.types[std::size_t(mine.cell)])).faces ||
      other.block < 0 || other.cell < 0 || other.face < 0 || other.face >= MostFaces)
    refuseMessage("a face that block " + std::to_string(mine.block) + " does not have");
}

void MeshTopology::findNeighborsOfBlocks() {
  if (blocks() > 1) {
    const PackedLists<std::int32_t>& around = pointCells();
    std::vector<BlockId> meeting;
    for (std::size_t p = 0; p < around.size(); ++p) {
      meeting.clear();
      for (const std::int32_t cell : around[p]) {
        const BlockId block = firstBlock_ + blockOf(cell);
        if (meeting.empty() || meeting.back() != block) meeting.push_back(block);
      }
      if (meeting.size() < 2) continue;
      sortAndUnite(meeting);
      for (const BlockId block : meeting) {
        auto& list = neighbors_[std::size_t(block - firstBlock_)];
        list.insert(list.end(), meeting.begin(), meeting.end());
      }
    }
  }
  for (std::size_t b = 0; b < neighbors_.size(); ++b) {
    auto& list = neighbors_[b];
    sortAndUnite(list);
    list.erase(std::remove(list.begin(), list.end(), firstBlock_ + BlockId(b)), list.end());
  }
}

Neighbor MeshTopology::neighborOf(std::int32_t cell, int face) const {
  if (!shared_.empty() && isShared(cell, face)) {
    const auto found =
        std::lower_bound(outer_.begin(), outer_.end(), std::make_pair(cell, face),
                         [](const OuterFace& a, const auto& b) {
                           return a.cell != b.first ? a.cell < b.first : a.face < b.second;
                         });
    if (found == outer_.end() || found->cell != cell || found->face != face) return {};
    return found->beyond;
  }
  // Tables are made once searches without them have cost as much.
  const bool hasTables = piece_.grid ? copies_.made() != nullptr : pointCells_.made() != nullptr;
  return !hasTables && !byId_ && maySearchGroups(TestsPerListedCell) ? neighborInGroups(cell, face)
                                                                     : neighborInTables(cell, face);
}

/// The cell beyond a face whose points no other piece has: the other side, if there are two.
/// @param forEachAround  calls its second argument with each cell that may have a face with the
///                       points given, and with others; consecutive ones may be equal
template <class Id, class IdOf, class ForEachAround>
Neighbor MeshTopology::findNeighbor(std::int32_t cell, int face, const IdOf& idOf,
                                    const ForEachAround& forEachAround) const {
  FacePoints<Id> wanted;
  if (!facePoints(cell, face, idOf, wanted)) return {};
  Neighbor found;
  int sides = 0;
  std::int32_t last = -1;
  forEachAround(wanted, [&](std::int32_t other) {
    if (other == std::exchange(last, other)) return;
    const CellPoints around = pointsOf(piece_, other);
    const CellTopology& topology = topologyOf(shapeOf(around.type));
    unsigned place[MostPoints];  // of each point of the cell among those of the face, one bit, or 0
    for (int i = 0; i < topology.points; ++i) {
      const Id id = idOf(around[i]);
      place[i] = 0;
      for (int n = 0; n < wanted.count; ++n)
        if (wanted.point[n] == id) place[i] = 1u << n;
    }
    for (int f = 0; f < topology.faces; ++f) {
      unsigned places = 0;
      bool hasOthers = false;
      for (int i = 0; i < topology.faceSize[f]; ++i) {
        const unsigned at = place[topology.face[f][i]];
        places |= at;
        hasOthers = hasOthers || at == 0;
      }
      if (hasOthers || places != (1u << wanted.count) - 1 || !isUsed(other)) continue;
      ++sides;
      if (other != cell) found = {firstBlock_ + blockOf(other), other, std::int8_t(f)};
    }
  });
  return sides == 2 ? found : Neighbor();
}

/// By coordinates: the boxes of all cells that have a face contain that of its points. Cells that
/// are not used may have coordinates that are no numbers, which have no order.
Neighbor MeshTopology::neighborInGroups(std::int32_t cell, int face) const {
  const auto coordinatesOf = [&](std::int64_t point) {
    Point x = tuple(piece_.points, point);
    for (double& coordinate : x) coordinate += 0.0;  // -0 counts as 0
    return x;
  };
  return findNeighbor<Point>(
      cell, face, coordinatesOf, [&](const FacePoints<Point>& wanted, auto&& visit) {
        Box around;
        for (int i = 0; i < wanted.count; ++i) include(around, {wanted.point[i], wanted.point[i]});
        for (int block = 0; block < blocks(); ++block)
          searchGroups(block, around, [&](std::int32_t other) {
            if (shapeOf(piece_.types[std::size_t(other)]) != CellShape::Foreign && isUsed(other))
              visit(other);
          });
      });
}

Neighbor MeshTopology::neighborInTables(std::int32_t cell, int face) const {
  const std::vector<std::int64_t>& canonical = copies();
  if (piece_.grid && canonical.empty()) {
    const std::int64_t other = piece_.grid->neighborOf(cell, face);
    if (other < 0 || !isUsed(other)) return {};
    return {firstBlock_ + blockOf(other), std::int32_t(other), std::int8_t(face ^ 1)};
  }
  const PackedLists<std::int32_t>& around = pointCells();
  const auto idOf = [&](std::int64_t point) {
    return canonical.empty() ? point : canonical[std::size_t(point)];
  };
  return findNeighbor<std::int64_t>(
      cell, face, idOf, [&](const FacePoints<std::int64_t>& wanted, auto&& visit) {
        // Only cells around all points of the face may have it.
        const std::int32_t* next[MostFacePoints];
        const std::int32_t* end[MostFacePoints];
        for (int i = 0; i < wanted.count; ++i) {
          const Span<const std::int32_t> cells = around[std::size_t(wanted.point[i])];
          next[i] = cells.begin();
          end[i] = cells.end();
        }
        for (; next[0] != end[0]; ++next[0]) {
          bool isAroundAll = true;
          for (int i = 1; i < wanted.count && isAroundAll; ++i) {
            while (next[i] != end[i] && *next[i] < *next[0]) ++next[i];
            if (next[i] == end[i]) return;
            isAroundAll = *next[i] == *next[0];
          }
          if (isAroundAll) visit(*next[0]);
        }
      });
}

/// The box of the candidate at each slot of a block.
CellBins::BoxOf MeshTopology::boxesOf(int block) const {
  return [this, block](std::int32_t slot) {
    const std::int32_t cell = candidateAt(block, slot);
    return cell >= 0 ? CellExtent(piece_, cell).box() : Box();
  };
}

/// The bins of a block's slots, made at the first call.
const CellBins& MeshTopology::bins(int block) const {
  const auto b = std::size_t(block);
  return bins_[b].get(mutex_, [&] {
    return std::make_unique<const CellBins>(box(block), slotsOf(block), boxesOf(block),
                                            groups_[b].boxes());
  });
}

void MeshTopology::renew(const MeshPiece& piece) {
  const bool fit =
      piece.cellCentered == piece_.cellCentered &&
      piece.velocity.isDouble == piece_.velocity.isDouble &&
      (piece.laterVelocity.data == nullptr) == (piece_.laterVelocity.data == nullptr) &&
      moves(piece) == moves(piece_);
  piece_ = piece;
  if (fit) return;
  for (auto& kept : keptRecords_) kept.reset();
  forEachCandidate([&](std::int32_t cell) {
    auto& record = recordOf(cell);
    if (record.load(std::memory_order_relaxed) >= 0)
      record.store(Unvisited, std::memory_order_relaxed);
  });
}

void MeshTopology::writeLinks(Writer& writer) const {
  std::vector<std::uint8_t> bits((shared_.size() + 7) / 8);
  for (std::size_t p = 0; p < shared_.size(); ++p)
    bits[p / 8] = std::uint8_t(bits[p / 8] | int(shared_[p]) << p % 8);
  writer.range(bits).value(std::uint64_t(outer_.size()));
  for (const OuterFace& outer : outer_)
    writer.value(outer.cell)
        .value(std::int8_t(outer.face))
        .value(outer.beyond.block)
        .value(outer.beyond.cell)
        .value(outer.beyond.face);
}

void MeshTopology::readLinks(Reader& reader) {
  const auto bits = reader.range<std::uint8_t>();
  const auto points = std::size_t(piece_.points.tuples);
  if (!bits.empty()) {
    if (bits.size() != (points + 7) / 8) refuseMessage("flags of another number of points");
    shared_.resize(points);
    for (std::size_t p = 0; p < points; ++p) shared_[p] = (bits[p / 8] >> p % 8 & 1) != 0;
  }
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
    OuterFace outer{};
    outer.cell = reader.value<std::int32_t>();
    outer.face = reader.value<std::int8_t>();
    outer.beyond.block = reader.value<BlockId>();
    outer.beyond.cell = reader.value<std::int32_t>();
    outer.beyond.face = reader.value<std::int8_t>();
    if (!isUsed(outer.cell)) refuseMessage("a face of a cell that a copy does not have");
    check({{}, firstBlock_ + blockOf(outer.cell), outer.cell, outer.face},
          {{}, outer.beyond.block, outer.beyond.cell, outer.beyond.face});
    outer_.push_back(outer);
  }
}

/// Per point, the first point that is the same; empty if no two points are.
const std::vector<std::int64_t>& MeshTopology::copies() const {
  return copies_.get(
      mutex_, [this] { return std::make_unique<const std::vector<std::int64_t>>(findCopies()); });
}

/// The candidates around each point.
const PackedLists<std::int32_t>& MeshTopology::pointCells() const {
  const std::vector<std::int64_t>& canonical = copies();
  return pointCells_.get(mutex_, [&] {
    return std::make_unique<const PackedLists<std::int32_t>>(findPointCells(canonical));
  });
}

std::vector<std::int64_t> MeshTopology::findCopies() const {
  // Tables of bits, small enough for the cache, tell the few points that may occur twice. A hash
  // that costs little will do for them; to compute it twice takes less time than the first use of
  // memory for it.
  const auto points = std::size_t(piece_.points.tuples);
  int bits = 10;
  while ((std::size_t{1} << bits) < 16 * points) ++bits;
  const auto placeOf = [&](std::size_t p) {
    constexpr std::uint64_t Odd[3] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};
    std::uint64_t sum = 0;
    if (byId_)
      sum = std::uint64_t(piece_.globalPointIds[p]) * Odd[0];
    else
      for (std::size_t a = 0; a < 3; ++a) {
        const std::uint64_t x = coordinateBits(tuple(piece_.points, std::int64_t(p))[a]);
        sum += (x ^ x >> 32) * Odd[a];  // integers have no other bits than high ones
      }
    return std::size_t(sum >> (64 - bits));
  };
  std::vector<bool> seen(std::size_t{1} << bits, false), repeated(std::size_t{1} << bits, false);
  for (std::size_t p = 0; p < points; ++p) {
    const std::size_t at = placeOf(p);
    if (seen[at]) repeated[at] = true;
    seen[at] = true;
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> candidates;
  for (std::size_t p = 0; p < points; ++p)
    if (repeated[placeOf(p)]) candidates.emplace_back(hashOf(std::int64_t(p)), std::int64_t(p));
  std::sort(candidates.begin(), candidates.end());
  std::vector<std::int64_t> canonical;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (candidates[i].first != candidates[i - 1].first) continue;
    if (canonical.empty()) {
      canonical.resize(points);
      std::iota(canonical.begin(), canonical.end(), std::int64_t{0});
    }
    // Candidates with the same hash follow each other, the lowest point first.
    canonical[std::size_t(candidates[i].second)] = canonical[std::size_t(candidates[i - 1].second)];
  }
  return canonical;
}

PackedLists<std::int32_t> MeshTopology::findPointCells(
    const std::vector<std::int64_t>& canonical) const {
  return {std::size_t(piece_.points.tuples), [&](auto&& visit) {
            forEachCandidate([&](std::int32_t cell) {
              if (shapeOf(piece_.types[std::size_t(cell)]) == CellShape::Foreign) return;
              const CellPoints points = pointsOf(piece_, cell);
              for (std::int64_t i = 0; i < points.ids.count; ++i) {
                const auto point = std::size_t(points.ids[i]);
                visit(canonical.empty() ? point : std::size_t(canonical[point]), cell);
              }
            });
          }};
}

std::size_t MeshTopology::memory() const {
  const auto bytesOf = [](const auto& list) { return list.size() * sizeof list[0]; };
  std::size_t bytes = piece_.types.size() * sizeof records_[0] + bytesOf(blockOfCell_) +
                      shared_.size() / 8 + bytesOf(outer_);
  for (const auto& cells : cellsOfBlock_) bytes += bytesOf(cells);
  for (const BoxHierarchy& groups : groups_) bytes += groups.memory();
  for (const auto& bins : bins_)
    if (const auto* made = bins.made()) bytes += made->memory();
  if (const auto* made = copies_.made()) bytes += bytesOf(*made);
  if (const auto* made = pointCells_.made()) bytes += made->memory();
  return bytes;
}

}  // namespace tributary::detail
