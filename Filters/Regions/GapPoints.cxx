// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/GapPoints.h"

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "Common/Leaves.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {
namespace {

using Index3 = std::array<std::int64_t, 3>;

/// The indices of the first and the last points of a piece.
std::array<Index3, 2> indicesOf(const NeighborPiece& piece) {
  std::array<Index3, 2> ends{};
  for (std::size_t a = 0; a < 3; ++a) {
    ends[0][a] = static_cast<std::int64_t>(piece.box.lo[a]);
    ends[1][a] = static_cast<std::int64_t>(piece.box.hi[a]);
  }
  return ends;
}

/// Calls `visit(at, place)` for the points or cells at a slab that a piece has: `at` is the index
/// in the extent, `place` that of the point or of the element in the slab.
template <class Visit>
void visitBeside(const DomainRules& rules, const GapSlab& slab, std::array<Index3, 2> piece,
                 bool areCells, Visit&& visit) {
  for (std::size_t a = 0; a < 3; ++a)
    if (areCells && piece[0][a] < piece[1][a]) --piece[1][a];
  for (unsigned beyond = 0; beyond < 8; ++beyond) {  // axes along which they are images
    Index3 low = slab.first, high = slab.last, shift{};
    bool exists = true;
    for (std::size_t a = 0; a < 3; ++a) {
      const bool isBeyond = (beyond >> a & 1) != 0;
      exists = exists && (!isBeyond || slab.isGap[a]);
      if (!slab.isGap[a]) {
        if (areCells && low[a] < high[a]) --high[a];
        continue;
      }
      low[a] = high[a] = isBeyond ? rules.lowest[a] : slab.first[a] - (areCells ? 1 : 0);
      shift[a] = (isBeyond && !areCells ? slab.last[a] : slab.first[a]) - low[a];
    }
    if (!exists) continue;
    intersect(low, high, piece[0], piece[1]);
    for (std::int64_t k = low[2]; k <= high[2]; ++k)
      for (std::int64_t j = low[1]; j <= high[1]; ++j)
        for (std::int64_t i = low[0]; i <= high[0]; ++i)
          visit(Index3{i, j, k}, Index3{i + shift[0], j + shift[1], k + shift[2]});
  }
}

/// A bit of one of the masks of a block.
struct Bit {
  enum Kind : std::int64_t { PointInRange, PointHidden, CellShown };
  BlockId block;
  std::int64_t bit;
  std::int64_t kind;
};

/// The masks of the points and elements of a piece's gaps, by kind.
using Masks = std::array<std::vector<std::uint64_t>, 3>;

Masks masksFor(const std::vector<GapSlab>& slabs) {
  std::size_t words = 0, elementWords = 0;
  for (const GapSlab& slab : slabs) {
    words += static_cast<std::size_t>(slab.words());
    elementWords += static_cast<std::size_t>(slab.elementWords());
  }
  Masks masks;
  masks[Bit::PointInRange].resize(words);
  masks[Bit::PointHidden].resize(words);
  masks[Bit::CellShown].resize(elementWords);
  return masks;
}

/// The mask of the elements in range.
std::vector<std::uint64_t> elementsOf(const std::vector<GapSlab>& slabs, const Masks& masks,
                                      bool allPoints, bool isAnyHidden) {
  std::vector<std::uint64_t> all;
  for (const GapSlab& slab : slabs) {
    const auto elements = [&](Bit::Kind kind, bool every) {
      const Span<const std::uint64_t> mask(masks[kind]);
      return cellMask(mask.subspan(slab.firstWord, index(slab.words())), slab.points(), every,
                      smpFor);
    };
    std::vector<std::uint64_t> inRange = elements(Bit::PointInRange, allPoints);
    if (isAnyHidden) {
      const std::vector<std::uint64_t> hidden = elements(Bit::PointHidden, false);
      for (std::size_t w = 0; w < inRange.size(); ++w)
        inRange[w] &= ~hidden[w] & masks[Bit::CellShown][slab.firstElementWord + w];
    }
    all.insert(all.end(), inRange.begin(), inRange.end());
  }
  return all;
}

/// Whether the values of points are in range.
std::vector<std::uint64_t> rangeBitsOf(const RangeTest& test, vtkIdList* points) {
  // Scalars may be of a class that computes its values.
  const auto values = vtkSmartPointer<vtkDataArray>::Take(
      vtkDataArray::CreateDataArray(test.scalars->GetDataType()));
  values->SetNumberOfComponents(test.scalars->GetNumberOfComponents());
  values->SetNumberOfTuples(points->GetNumberOfIds());
  test.scalars->GetTuples(points, values);
  RangeTest ofPoints = test;
  ofPoints.scalars = values;
  return rangeBits(ofPoints);
}

bool isHiddenPoint(vtkUnsignedCharArray* flags, std::int64_t point) {
  return flags && (flags->GetValue(point) & vtkDataSetAttributes::HIDDENPOINT) != 0;
}

}  // namespace

GapPoints::GapPoints(const DomainRules& rules, const Pieces& pieces,
                     Span<const NeighborPiece> all) {
  for (const auto& piece : pieces) {
    Needs& needs = needs_.emplace_back();
    std::vector<GapSlab>& slabs = slabs_.emplace_back();
    const NeighborPiece outline = piece->outline();
    if (outline.box.empty()) continue;
    const std::array<Index3, 2> mine = indicesOf(outline);
    slabs = gapSlabsOf(rules, mine[0], mine[1]);
    LatticeSize points{};
    for (std::size_t a = 0; a < 3; ++a) points[a] = mine[1][a] - mine[0][a] + 1;
    const auto localOf = [&](const Index3& at, const LatticeSize& size) {
      return ((at[2] - mine[0][2]) * size[1] + at[1] - mine[0][1]) * size[0] + at[0] - mine[0][0];
    };
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (all[b].box.empty()) continue;
      const auto block = static_cast<BlockId>(b);
      const std::array<Index3, 2> theirs = indicesOf(all[b]);
      for (const GapSlab& slab : gapSlabsOf(rules, theirs[0], theirs[1])) {
        visitBeside(rules, slab, mine, false, [&](const Index3& at, const Index3& place) {
          needs.points.push_back({localOf(at, points), block, slab.bitOf(place)});
        });
        visitBeside(rules, slab, mine, true, [&](const Index3& at, const Index3& place) {
          needs.cells.push_back({localOf(at, cellsOf(points)), block, slab.elementBitOf(place)});
        });
      }
    }
  }
}

bool GapPoints::hasHidden(const ComponentPiece& piece, const Needs& needs) const {
  if (needs.points.empty() && needs.cells.empty()) return false;
  vtkUnsignedCharArray* const flags = pointGhosts(piece.dataSet());
  return std::any_of(needs.points.begin(), needs.points.end(),
                     [&](const Need& need) { return isHiddenPoint(flags, need.local); }) ||
         std::any_of(needs.cells.begin(), needs.cells.end(),
                     [&](const Need& need) { return piece.isHidden(need.local); });
}

std::vector<std::vector<std::uint64_t>> GapPoints::masksOf(
    Transport& transport, const Assignment& assignment, const Pieces& pieces,
    const std::vector<RangeTest>& tests) const {
  const BlockId first = assignment.first(transport.rank());
  std::int64_t mine = 0;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < pieces.size(); ++n)
      if (hasHidden(*pieces[n], needs_[n])) mine = 1;
  });
  const bool isAnyHidden = allreduce(transport, ReduceOp::Or, mine) != 0;
  std::vector<Masks> masks;
  const auto set = [&](const Bit& one) {
    std::vector<std::uint64_t>& mask =
        masks[index(one.block - first)][static_cast<std::size_t>(one.kind)];
    mask[index(one.bit >> 6)] |= std::uint64_t(1) << (one.bit & 63);
  };
  sendRecords<Bit>(
      transport,
      [&](RecordOutbox<Bit>& outbox) {
        for (const std::vector<GapSlab>& slabs : slabs_) masks.push_back(masksFor(slabs));
        const auto send = [&](const Need& need, Bit::Kind kind) {
          const int rank = assignment.rankOf(need.block);
          if (rank == transport.rank())
            set({need.block, need.bit, kind});
          else
            outbox.add(rank, {need.block, need.bit, kind});
        };
        for (std::size_t n = 0; n < needs_.size(); ++n) {
          const std::vector<Need>& points = needs_[n].points;
          vtkUnsignedCharArray* const flags =
              isAnyHidden && !points.empty() ? pointGhosts(pieces[n]->dataSet()) : nullptr;
          for (const Need& need : points)
            if (isHiddenPoint(flags, need.local)) send(need, Bit::PointHidden);
          for (const Need& need : needs_[n].cells)
            if (isAnyHidden && !pieces[n]->isHidden(need.local)) send(need, Bit::CellShown);
          if (points.empty() || !tests[n].scalars) continue;
          vtkNew<vtkIdList> ids;
          ids->SetNumberOfIds(static_cast<vtkIdType>(points.size()));
          for (std::size_t i = 0; i < points.size(); ++i) ids->GetPointer(0)[i] = points[i].local;
          const std::vector<std::uint64_t> inRange = rangeBitsOf(tests[n], ids);
          for (std::size_t i = 0; i < points.size(); ++i)
            if ((inRange[i >> 6] >> (i & 63) & 1) != 0) send(points[i], Bit::PointInRange);
        }
      },
      [&](const Records<Bit>& received) {
        for (const Bit& one : received) {
          const std::uint64_t b = offsetOf(one.block, first);
          if (b >= masks.size() || one.kind < 0 || one.kind > Bit::CellShown || one.bit < 0 ||
              index(one.bit >> 6) >= masks[b][static_cast<std::size_t>(one.kind)].size())
            refuseMessage("a point of a gap that does not exist");
          set(one);
        }
      });
  std::vector<std::vector<std::uint64_t>> elements;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < masks.size(); ++n)
      elements.push_back(elementsOf(slabs_[n], masks[n], tests[n].allPoints, isAnyHidden));
  });
  return elements;
}

std::size_t GapPoints::memory() const {
  std::size_t bytes = 0;
  for (const Needs& needs : needs_) bytes += memoryOf(needs.points) + memoryOf(needs.cells);
  for (const auto& slabs : slabs_) bytes += memoryOf(slabs);
  return bytes;
}

}  // namespace tributary
