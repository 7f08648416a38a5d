// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/GapPoints.h"

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkSmartPointer.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "Common/CellLists.h"
#include "Common/Leaves.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Error.h"
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

/// Calls `visit(low, high, shift)` for the boxes of points or cells at a slab that a piece has, by
/// indices in the extent; `shift` leads to the places of the points or of the elements in the slab.
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
    intersect(low, high, piece[0], piece[1]);
    for (std::size_t a = 0; a < 3; ++a) exists = exists && low[a] <= high[a];
    if (exists) visit(low, high, shift);
  }
}

/// Consecutive points or cells of a row of a slab: in the piece, and in the mask of all slabs.
struct SlabRow {
  std::int64_t local, stride, count;
  std::int64_t bit;
};

/// Calls `visit(SlabRow)` for the rows of a patch.
/// @param first, size  of the points or cells of the piece
/// @param bitOf  returns the bit of a place in the slab
template <class Patch, class BitOf, class Visit>
void visitRows(const Patch& patch, const Index3& first, const LatticeSize& size, BitOf&& bitOf,
               Visit&& visit) {
  const Index3 strides = {1, size[0], size[0] * size[1]};
  const auto [u, v, w] = patch.slab.order;
  Index3 at = patch.low;
  for (at[w] = patch.low[w]; at[w] <= patch.high[w]; ++at[w])
    for (at[v] = patch.low[v]; at[v] <= patch.high[v]; ++at[v]) {
      SlabRow row{0, strides[u], patch.high[u] - patch.low[u] + 1, 0};
      Index3 place;
      for (std::size_t a = 0; a < 3; ++a) {
        row.local += (at[a] - first[a]) * strides[a];
        place[a] = at[a] + patch.shift[a];
      }
      row.bit = bitOf(place);
      visit(row);
    }
}

/// Bits of a word of one of the masks of a block.
struct Word {
  enum Kind : std::int64_t { PointsInRange, PointsHidden, CellsShown };
  BlockId block;
  std::int64_t word;
  std::int64_t kind;
  std::uint64_t bits;
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
  masks[Word::PointsInRange].resize(words);
  masks[Word::PointsHidden].resize(words);
  masks[Word::CellsShown].resize(elementWords);
  return masks;
}

/// The mask of the elements in range.
std::vector<std::uint64_t> elementsOf(const std::vector<GapSlab>& slabs, const Masks& masks,
                                      bool allPoints, bool isAnyHidden) {
  std::vector<std::uint64_t> all;
  for (const GapSlab& slab : slabs) {
    const auto elements = [&](Word::Kind kind, bool every) {
      const Span<const std::uint64_t> mask(masks[kind]);
      return cellMask(mask.subspan(slab.firstWord, index(slab.words())), slab.points(), every,
                      smpFor);
    };
    std::vector<std::uint64_t> inRange = elements(Word::PointsInRange, allPoints);
    if (isAnyHidden) {
      const std::vector<std::uint64_t> hidden = elements(Word::PointsHidden, false);
      for (std::size_t w = 0; w < inRange.size(); ++w)
        inRange[w] &= ~hidden[w] & masks[Word::CellsShown][slab.firstElementWord + w];
    }
    all.insert(all.end(), inRange.begin(), inRange.end());
  }
  return all;
}

/// Calls `visit(word, bits)` for the words of a mask that a row of bits adds to.
/// @param bits   of the row, from the first bit of a word on
/// @param first  bit of the mask
template <class Visit>
void visitWords(Span<const std::uint64_t> bits, std::int64_t first, Visit&& visit) {
  const std::int64_t shift = first & 63, word = first >> 6;
  for (std::size_t w = 0; w < bits.size(); ++w) {
    const std::int64_t here = word + static_cast<std::int64_t>(w);
    if (bits[w] != 0) visit(here, bits[w] << shift);
    const std::uint64_t rest = shift > 0 ? bits[w] >> (64 - shift) : 0;
    if (rest != 0) visit(here + 1, rest);
  }
}

/// The mask of the points of rows whose values are in range. The rows are equally long.
template <class T>
std::vector<std::uint64_t> rangeMaskOf(const T* values, const std::vector<SlabRow>& rows,
                                       const RangeTest& test) {
  std::vector<T> copy;
  copy.reserve(rows.size() * index(rows[0].count));
  for (const SlabRow& row : rows)
    for (std::int64_t i = 0; i < row.count; ++i) copy.push_back(values[row.local + i * row.stride]);
  std::vector<std::uint64_t> mask(rows.size() * index(maskWords(rows[0].count)));
  rangeMask(copy.data(), rows[0].count, static_cast<std::int64_t>(rows.size()), test.lo, test.hi,
            mask.data(), smpFor);
  return mask;
}

/// @param array  the scalars of the test, as plain() returns them
std::vector<std::uint64_t> rangeMaskOf(vtkDataArray* array, const std::vector<SlabRow>& rows,
                                       const RangeTest& test) {
  switch (array->GetDataType()) {
    vtkTemplateMacro(
        return rangeMaskOf(static_cast<const VTK_TT*>(array->GetVoidPointer(0)), rows, test));
    default:
      throw Error("the scalars are of a type that has no order; choose an array of numbers");
  }
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
    needs.first = mine[0];
    for (std::size_t a = 0; a < 3; ++a) needs.pointCount[a] = mine[1][a] - mine[0][a] + 1;
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (all[b].box.empty()) continue;
      const std::array<Index3, 2> theirs = indicesOf(all[b]);
      for (const GapSlab& slab : gapSlabsOf(rules, theirs[0], theirs[1]))
        for (const bool areCells : {false, true})
          visitBeside(rules, slab, mine, areCells,
                      [&](const Index3& low, const Index3& high, const Index3& shift) {
                        (areCells ? needs.cells : needs.points)
                            .push_back({low, high, shift, static_cast<BlockId>(b), slab});
                      });
    }
  }
}

template <class Visit>
void GapPoints::visitPointRows(const Needs& needs, const Patch& patch, Visit&& visit) {
  visitRows(
      patch, needs.first, needs.pointCount,
      [&](const Index3& place) { return patch.slab.bitOf(place); }, visit);
}

template <class Visit>
void GapPoints::visitCellRows(const Needs& needs, const Patch& patch, Visit&& visit) {
  visitRows(
      patch, needs.first, cellsOf(needs.pointCount),
      [&](const Index3& place) { return patch.slab.elementBitOf(place); }, visit);
}

bool GapPoints::hasHidden(const ComponentPiece& piece, const Needs& needs) {
  bool isAny = false;
  const auto look = [&](const SlabRow& row, auto&& isHidden) {
    for (std::int64_t i = 0; i < row.count && !isAny; ++i)
      isAny = isHidden(row.local + i * row.stride);
  };
  if (vtkUnsignedCharArray* const flags = pointGhosts(piece.dataSet()))
    for (const Patch& patch : needs.points)
      visitPointRows(needs, patch, [&](const SlabRow& row) {
        look(row, [&](std::int64_t point) { return isHiddenPoint(flags, point); });
      });
  if (piece.hasFlags())
    for (const Patch& patch : needs.cells)
      visitCellRows(needs, patch, [&](const SlabRow& row) {
        look(row, [&](std::int64_t cell) { return piece.isHidden(cell); });
      });
  return isAny;
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
  const auto add = [&](const Word& one) {
    masks[index(one.block - first)][static_cast<std::size_t>(one.kind)][index(one.word)] |=
        one.bits;
  };
  sendRecords<Word>(
      transport,
      [&](RecordOutbox<Word>& outbox) {
        for (const std::vector<GapSlab>& slabs : slabs_) masks.push_back(masksFor(slabs));
        const auto send = [&](const Patch& patch, Word::Kind kind, std::int64_t word,
                              std::uint64_t bits) {
          const int rank = assignment.rankOf(patch.block);
          if (rank == transport.rank())
            add({patch.block, word, kind, bits});
          else
            outbox.add(rank, {patch.block, word, kind, bits});
        };
        const auto sendEach = [&](const Patch& patch, Word::Kind kind, const SlabRow& row,
                                  auto&& isSet) {
          for (std::int64_t i = 0; i < row.count; ++i)
            if (isSet(row.local + i * row.stride))
              send(patch, kind, (row.bit + i) >> 6, std::uint64_t(1) << ((row.bit + i) & 63));
        };
        for (std::size_t n = 0; n < needs_.size(); ++n) {
          const Needs& needs = needs_[n];
          const ComponentPiece& piece = *pieces[n];
          vtkUnsignedCharArray* const flags =
              isAnyHidden && !needs.points.empty() ? pointGhosts(piece.dataSet()) : nullptr;
          vtkSmartPointer<vtkDataArray> scalars;
          if (tests[n].scalars && !needs.points.empty()) scalars = plain(tests[n].scalars);
          std::vector<SlabRow> rows;
          for (const Patch& patch : needs.points) {
            rows.clear();
            visitPointRows(needs, patch, [&](const SlabRow& row) { rows.push_back(row); });
            for (const SlabRow& row : rows) {
              if (!flags) break;
              sendEach(patch, Word::PointsHidden, row,
                       [&](std::int64_t point) { return isHiddenPoint(flags, point); });
            }
            if (!scalars) continue;
            const std::vector<std::uint64_t> inRange = rangeMaskOf(scalars, rows, tests[n]);
            const std::size_t words = index(maskWords(rows[0].count));
            for (std::size_t r = 0; r < rows.size(); ++r)
              visitWords(Span<const std::uint64_t>(inRange).subspan(r * words, words), rows[r].bit,
                         [&](std::int64_t word, std::uint64_t bits) {
                           send(patch, Word::PointsInRange, word, bits);
                         });
          }
          for (const Patch& patch : needs.cells) {
            if (!isAnyHidden) break;
            visitCellRows(needs, patch, [&](const SlabRow& row) {
              sendEach(patch, Word::CellsShown, row,
                       [&](std::int64_t cell) { return !piece.isHidden(cell); });
            });
          }
        }
      },
      [&](const Records<Word>& received) {
        for (const Word& one : received) {
          const std::uint64_t b = offsetOf(one.block, first);
          if (b >= masks.size() || one.kind < 0 || one.kind > Word::CellsShown || one.word < 0 ||
              index(one.word) >= masks[b][static_cast<std::size_t>(one.kind)].size())
            refuseMessage("points of a gap that do not exist");
          add(one);
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
