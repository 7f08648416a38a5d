// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/GapPoints.h"

#include <vtkDataArray.h>
#include <vtkIdList.h>
#include <vtkNew.h>
#include <vtkSmartPointer.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "Regions/Pieces/GapSlabs.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

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

/// Calls `visit(at, bit)` for the points of a slab that a piece has; `at` is the index in the
/// extent.
template <class Visit>
void visitPoints(const DomainRules& rules, const GapSlab& slab, const std::array<Index3, 2>& piece,
                 Visit&& visit) {
  for (unsigned beyond = 0; beyond < 8; ++beyond) {  // axes along which points are images
    Index3 low = slab.first, high = slab.last, shift{};
    bool exists = true;
    for (std::size_t a = 0; a < 3; ++a) {
      const bool isBeyond = (beyond >> a & 1) != 0;
      exists = exists && (!isBeyond || slab.isGap[a]);
      if (!slab.isGap[a]) continue;
      low[a] = high[a] = isBeyond ? rules.lowest[a] : slab.first[a];
      shift[a] = isBeyond ? rules.around[a] : 0;
    }
    if (!exists) continue;
    intersect(low, high, piece[0], piece[1]);
    for (std::int64_t k = low[2]; k <= high[2]; ++k)
      for (std::int64_t j = low[1]; j <= high[1]; ++j)
        for (std::int64_t i = low[0]; i <= high[0]; ++i)
          visit(Index3{i, j, k}, slab.bitOf({i + shift[0], j + shift[1], k + shift[2]}));
  }
}

}  // namespace

GapPoints::GapPoints(const DomainRules& rules, const Pieces& pieces,
                     Span<const NeighborPiece> all) {
  for (const auto& piece : pieces) {
    std::vector<Need>& needs = needs_.emplace_back();
    std::vector<std::int64_t>& points = points_.emplace_back();
    words_.push_back(0);
    const NeighborPiece outline = piece->outline();
    if (outline.box.empty()) continue;
    const std::array<Index3, 2> mine = indicesOf(outline);
    for (const GapSlab& slab : gapSlabsOf(rules, mine[0], mine[1]))
      words_.back() = slab.firstWord + static_cast<std::size_t>(slab.words());
    const std::int64_t rowLength = mine[1][0] - mine[0][0] + 1;
    const std::int64_t rows = mine[1][1] - mine[0][1] + 1;
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (all[b].box.empty()) continue;
      const std::array<Index3, 2> theirs = indicesOf(all[b]);
      for (const GapSlab& slab : gapSlabsOf(rules, theirs[0], theirs[1]))
        visitPoints(rules, slab, mine, [&](const Index3& at, std::int64_t bit) {
          const std::int64_t row = (at[2] - mine[0][2]) * rows + at[1] - mine[0][1];
          points.push_back(row * rowLength + at[0] - mine[0][0]);
          needs.push_back({static_cast<BlockId>(b), bit});
        });
    }
  }
}

std::vector<std::vector<std::uint64_t>> GapPoints::masksOf(
    Transport& transport, const Assignment& assignment, const std::vector<RangeTest>& tests) const {
  struct Bit {
    BlockId block;
    std::int64_t bit;
  };
  const BlockId first = assignment.first(transport.rank());
  std::vector<std::vector<std::uint64_t>> masks;
  const auto set = [&](const Bit& one) {
    std::vector<std::uint64_t>& mask = masks[index(one.block - first)];
    mask[index(one.bit >> 6)] |= std::uint64_t(1) << (one.bit & 63);
  };
  sendRecords<Bit>(
      transport,
      [&](RecordOutbox<Bit>& outbox) {
        for (const std::size_t words : words_) masks.emplace_back(words);
        for (std::size_t n = 0; n < needs_.size(); ++n) {
          if (needs_[n].empty() || !tests[n].scalars) continue;
          vtkNew<vtkIdList> ids;
          ids->SetNumberOfIds(static_cast<vtkIdType>(points_[n].size()));
          std::copy(points_[n].begin(), points_[n].end(), ids->GetPointer(0));
          auto values = vtkSmartPointer<vtkDataArray>::Take(tests[n].scalars->NewInstance());
          values->SetNumberOfComponents(tests[n].scalars->GetNumberOfComponents());
          values->SetNumberOfTuples(ids->GetNumberOfIds());
          tests[n].scalars->GetTuples(ids, values);
          RangeTest test = tests[n];
          test.scalars = values;
          const std::vector<std::uint64_t> inRange = rangeBits(test);
          for (std::size_t i = 0; i < needs_[n].size(); ++i) {
            const Need& need = needs_[n][i];
            if ((inRange[i >> 6] >> (i & 63) & 1) == 0) continue;
            const int rank = assignment.rankOf(need.block);
            if (rank == transport.rank())
              set({need.block, need.bit});
            else
              outbox.add(rank, {need.block, need.bit});
          }
        }
      },
      [&](const Records<Bit>& received) {
        for (const Bit& one : received) {
          const std::uint64_t b = offsetOf(one.block, first);
          if (b >= masks.size() || one.bit < 0 || index(one.bit >> 6) >= masks[b].size())
            refuseMessage("a point of a gap that does not exist");
          set(one);
        }
      });
  return masks;
}

std::size_t GapPoints::memory() const {
  std::size_t bytes = memoryOf(words_);
  for (const auto& points : points_) bytes += memoryOf(points);
  for (const auto& needs : needs_) bytes += memoryOf(needs);
  return bytes;
}

}  // namespace tributary
