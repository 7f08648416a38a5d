// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshTopology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "Tributary/Advection/detail/MeshCells.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Morton.h"
#include "Tributary/Collective/Records.h"

namespace tributary::detail {
namespace {

/// Average number of cells in a bin of a block.
constexpr double CellsPerBin = 16;

/// Lengths of cells whose volumes are plain numbers.
constexpr double Tiny = 1e-90, Huge = 1e90;

bool hasFinitePoints(const MeshPiece& piece, std::int64_t cell) {
  const CellPoints points = pointsOf(piece, cell);
  for (std::int64_t i = 0; i < points.count; ++i)
    for (const double x : tuple(piece.points, points.ids[i]))
      if (!std::isfinite(x)) return false;
  return true;
}

void sortAndUnite(std::vector<BlockId>& blocks) {
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

bool sameFace(const FacePoints& a, const FacePoints& b) {
  return a.count == b.count && std::equal(a.point, a.point + a.count, b.point);
}

}  // namespace

MeshTopology::MeshTopology(const MeshPiece& piece, int blocks, int dimension, BlockId firstBlock)
    : piece_(piece),
      dimension_(dimension),
      firstBlock_(firstBlock),
      boxes_(std::size_t(blocks)),
      neighbors_(std::size_t(blocks)),
      boxOfCell_([this](std::int32_t cell) { return CellExtent(piece_, cell).box(); }),
      bins_(std::size_t(blocks)) {
  const std::size_t cells = piece.types.size();
  if (cells > std::size_t(std::numeric_limits<std::int32_t>::max()))
    throw Error("mesh piece " + std::to_string(piece.piece) +
                " has too many cells; distribute it over more ranks");
  records_ = std::make_unique<std::atomic<std::int32_t>[]>(cells);
  Box all;
  for (std::size_t c = 0; c < cells; ++c) {
    records_[c].store(isCandidate(std::int64_t(c), all) ? Unexamined : Excluded,
                      std::memory_order_relaxed);
  }
  if (blocks == 1)
    boxes_[0] = all;
  else
    cut(blocks);
  if (!usesAny()) std::fill(boxes_.begin(), boxes_.end(), Box());
}

/// @param boxes  includes the box of a candidate
bool MeshTopology::isCandidate(std::int64_t cell, Box& boxes) const {
  const auto c = std::size_t(cell);
  if (!piece_.ghosts.empty() && (piece_.ghosts[c] & (DuplicateCell | HiddenCell))) return false;
  if (dimensionOf(piece_.types[c]) != dimension_ || piece_.offsets[c] == piece_.offsets[c + 1])
    return false;
  const CellExtent extent(piece_, cell);
  if (shapeOf(piece_.types[c]) == CellShape::Foreign) {
    if (!piece_.foreign || !hasFinitePoints(piece_, cell)) return false;
  } else if (!(extent.length > Tiny && extent.length < Huge) && isFlat(piece_, cell, extent)) {
    return false;  // such a cell must not enlarge the boxes
  }
  include(boxes, extent.box());
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
  for (const auto cell : candidates) {
    const auto block = std::size_t(blockOf(cell));
    cellsOfBlock_[block].push_back(std::int32_t(cell));
    include(boxes_[block], CellExtent(piece_, cell).box());
  }
}

std::uint64_t MeshTopology::hashOf(std::int64_t point) const {
  return byId_ ? pointHash(piece_.globalPointIds[std::size_t(point)])
               : pointHash(tuple(piece_.points, point).data());
}

std::vector<bool> MeshTopology::candidatePoints() const {
  std::vector<bool> has(std::size_t(piece_.points.tuples), false);
  forEachCandidate([&](std::int32_t cell) {
    const CellPoints points = pointsOf(piece_, cell);
    for (std::int64_t i = 0; i < points.count; ++i) has[std::size_t(points.ids[i])] = true;
  });
  return has;
}

/// @return false if the face has fewer points than it needs: it has no other side
bool MeshTopology::facePoints(std::int64_t cell, int face,
                              const std::vector<std::int64_t>& canonical, FacePoints& out) const {
  const CellPoints points = pointsOf(piece_, cell);
  const CellTopology& topology = topologyOf(shapeOf(points.type));
  out.count = std::uint8_t(topology.faceSize[face]);
  for (int i = 0; i < out.count; ++i) {
    const std::int64_t point = points[topology.face[face][i]];
    out.point[i] = canonical.empty() ? point : canonical[std::size_t(point)];
  }
  std::sort(out.point, out.point + out.count);
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

std::vector<FaceSide> MeshTopology::setSharedPoints(std::vector<bool> shared) {
  shared_ = std::move(shared);
  std::vector<FaceSide> sides;
  forEachCandidate([&](std::int32_t cell) {
    const CellPoints points = pointsOf(piece_, cell);
    int count = 0;
    for (std::int64_t i = 0; i < points.count; ++i) count += shared_[std::size_t(points.ids[i])];
    if (count < dimension_ || !isUsed(cell)) return;
    const CellTopology& topology = topologyOf(shapeOf(points.type));
    for (int face = 0; face < topology.faces; ++face) {
      if (!isShared(cell, face)) continue;
      std::uint64_t hashes[MostFacePoints];
      for (int i = 0; i < topology.faceSize[face]; ++i)
        hashes[i] = hashOf(points[topology.face[face][i]]);
      FaceSide side{{}, firstBlock_ + blockOf(cell), cell, face};
      if (faceKey(hashes, topology.faceSize[face], dimension_, side.key)) sides.push_back(side);
    }
  });
  return sides;
}

void MeshTopology::setOuterNeighbors(const std::vector<FacePair>& pairs) {
  for (const FacePair& pair : pairs) {
    const FaceSide &mine = pair.mine, &other = pair.other;
    if (!isUsed(mine.cell) || mine.block != firstBlock_ + blockOf(mine.cell) || mine.face < 0 ||
        mine.face >= topologyOf(shapeOf(piece_.types[std::size_t(mine.cell)])).faces ||
        other.block < 0 || other.cell < 0 || other.face < 0 || other.face >= MostFaces)
      refuseMessage("a face that block " + std::to_string(mine.block) + " does not have");
    if (other.block == mine.block && other.cell == mine.cell) continue;  // folded onto itself
    outer_.push_back({mine.cell, mine.face, {other.block, other.cell, std::int8_t(other.face)}});
    neighbors_[std::size_t(blockOf(mine.cell))].push_back(other.block);
  }
  std::sort(outer_.begin(), outer_.end(), [](const OuterFace& a, const OuterFace& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.face < b.face;
  });
}

void MeshTopology::findNeighborsOfBlocks() {
  if (blocks() > 1) {
    const PointCells& around = pointCells();
    std::vector<BlockId> meeting;
    for (std::size_t p = 0; p < around.cells.size(); ++p) {
      meeting.clear();
      for (const std::int32_t cell : around.cells[p]) {
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
  const PointCells& around = pointCells();
  FacePoints wanted;
  if (!facePoints(cell, face, around.canonical, wanted)) return {};
  const auto countAt = [&](std::int64_t point) { return around.cells[std::size_t(point)].size(); };
  const std::int64_t rarest =
      *std::min_element(wanted.point, wanted.point + wanted.count,
                        [&](std::int64_t a, std::int64_t b) { return countAt(a) < countAt(b); });

  Neighbor found;
  int sides = 0;
  std::int32_t last = -1;  // a cell has a point that it names twice twice
  for (const std::int32_t other : around.cells[std::size_t(rarest)]) {
    if (other == std::exchange(last, other)) continue;
    const int faces = topologyOf(shapeOf(piece_.types[std::size_t(other)])).faces;
    for (int f = 0; f < faces; ++f) {
      FacePoints points;
      if (!facePoints(other, f, around.canonical, points) || !sameFace(points, wanted) ||
          !isUsed(other))
        continue;
      ++sides;
      if (other != cell) found = {firstBlock_ + blockOf(other), other, std::int8_t(f)};
    }
  }
  return sides == 2 ? found : Neighbor();
}

/// The bins of a block's candidates, made at the first call.
const CellBins& MeshTopology::bins(int block) const {
  BlockBins& bins = bins_[std::size_t(block)];
  if (const CellBins* made = bins.ready.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!bins.made) {
    std::vector<std::int32_t> cells;
    cells.reserve(cellsOfBlock_.empty() ? piece_.types.size()
                                        : cellsOfBlock_[std::size_t(block)].size());
    forEachCell(block, [&](std::int32_t cell) { cells.push_back(cell); });
    bins.made = std::make_unique<const CellBins>(box(block), cells, boxOfCell_, CellsPerBin);
  }
  bins.ready.store(bins.made.get(), std::memory_order_release);
  return *bins.made;
}

void MeshTopology::renew(const MeshPiece& piece) {
  piece_ = piece;
  forEachCandidate([&](std::int32_t cell) {
    auto& record = recordOf(cell);
    if (record.load(std::memory_order_relaxed) >= 0)
      record.store(Unvisited, std::memory_order_relaxed);
  });
}

const MeshTopology::PointCells& MeshTopology::pointCells() const {
  if (const PointCells* made = pointCells_.load(std::memory_order_acquire)) return *made;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!madePointCells_) madePointCells_ = findPointCells();
  pointCells_.store(madePointCells_.get(), std::memory_order_release);
  return *madePointCells_;
}

/// Per point, the first point that is the same; empty if no two points are.
std::vector<std::int64_t> MeshTopology::findCopies() const {
  // A table of bits, small enough for the cache, tells the few hashes that may occur twice. Hashes
  // are computed twice, which takes less time than the first use of memory for them.
  const auto points = std::size_t(piece_.points.tuples);
  std::size_t size = 1024;
  while (size < 16 * points) size *= 2;
  std::vector<bool> seen(size, false), repeated(size, false);
  for (std::size_t p = 0; p < points; ++p) {
    const auto at = std::size_t(hashOf(std::int64_t(p)) & (size - 1));
    if (seen[at]) repeated[at] = true;
    seen[at] = true;
  }
  std::vector<std::pair<std::uint64_t, std::int64_t>> candidates;
  for (std::size_t p = 0; p < points; ++p) {
    const std::uint64_t hash = hashOf(std::int64_t(p));
    if (repeated[std::size_t(hash & (size - 1))]) candidates.emplace_back(hash, std::int64_t(p));
  }
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

std::unique_ptr<MeshTopology::PointCells> MeshTopology::findPointCells() const {
  auto made = std::make_unique<PointCells>();
  made->canonical = findCopies();
  const auto& canonical = made->canonical;
  made->cells = {std::size_t(piece_.points.tuples), [&](auto&& visit) {
                   forEachCandidate([&](std::int32_t cell) {
                     if (shapeOf(piece_.types[std::size_t(cell)]) == CellShape::Foreign) return;
                     const CellPoints points = pointsOf(piece_, cell);
                     for (std::int64_t i = 0; i < points.count; ++i) {
                       const auto point = std::size_t(points.ids[i]);
                       visit(canonical.empty() ? point : std::size_t(canonical[point]), cell);
                     }
                   });
                 }};
  return made;
}

std::size_t MeshTopology::memory() const {
  const auto bytesOf = [](const auto& list) { return list.size() * sizeof list[0]; };
  std::size_t bytes = piece_.types.size() * sizeof records_[0] + bytesOf(blockOfCell_) +
                      shared_.size() / 8 + bytesOf(outer_);
  for (const auto& cells : cellsOfBlock_) bytes += bytesOf(cells);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const BlockBins& bins : bins_)
    if (bins.made) bytes += bins.made->memory();
  if (madePointCells_)
    bytes += bytesOf(madePointCells_->canonical) + madePointCells_->cells.memory();
  return bytes;
}

}  // namespace tributary::detail
