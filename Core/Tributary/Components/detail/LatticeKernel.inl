// SPDX-License-Identifier: BSD-3-Clause
// Included by one source file per instruction set, with TRIBUTARY_KERNEL naming the table. See
// Advection/detail/kernels/StructuredKernel.inl for what must be kept out of here.
//
// Linking. Two runs of neighboring rows a and b overlap in one stretch, so each pair is met once
// if the first elements of the stretches are visited: those of a & b where a run of a or of b
// starts. Runs that touch only by corners are met where one starts just past the other's end. The
// number of a run is the count of starts up to the element: no list is searched, and the only
// branches that cannot be foreseen are those of the union-find and the ends of the loops over a
// word's bits.

#include <cstdint>

#include "Tributary/Components/UnionFind.h"
#include "Tributary/Components/detail/LatticeKernel.h"
#include "Tributary/Components/detail/RowRuns.h"

namespace tributary::detail {
namespace {

using Word = std::uint64_t;

/// The words of a row, from the first to the last.
template <bool Valued>
class RowWords {
 public:
  RowWords(const LatticeRows& rows, std::int64_t row)
      : mask_(rows.mask + row * rows.words),
        starts_(Valued ? rows.starts + row * rows.words : nullptr),
        last_(rows.words - 1),
        tail_(rows.length % 64 ? ~Word(0) >> (64 - rows.length % 64) : ~Word(0)) {}

  void load(std::int64_t w) {
    const Word carry = in >> 63;
    in = mask_[w];
    if (w == last_) in &= tail_;
    shifted = in << 1 | carry;
    if constexpr (Valued)
      starts = starts_[w];
    else
      starts = runBegins(in, carry);
  }

  Word in = 0;       ///< Elements in the mask.
  Word shifted = 0;  ///< Elements whose left neighbor is.
  Word starts = 0;   ///< First elements of runs.

 private:
  const Word* mask_;
  const Word* starts_;
  std::int64_t last_;
  Word tail_;
};

inline int popcount(Word x) {
  return __builtin_popcountll(x);
}
inline int lowest(Word x) {
  return __builtin_ctzll(x);
}
/// Bits 0 .. i.
inline Word upTo(int i) {
  return (Word(2) << i) - 1;
}

/// Calls link(a, b) for each pair of connected runs of two rows.
/// @param wide  whether runs that touch by corners are connected
template <bool Valued, bool Wide, class Link>
void linkRows(const LatticeRows& rows, std::int64_t rowA, std::int64_t rowB, const Link& link) {
  std::int64_t a = rows.rowBegin[rowA] - 1, b = rows.rowBegin[rowB] - 1;
  if (a + 1 == rows.rowBegin[rowA + 1] || b + 1 == rows.rowBegin[rowB + 1]) return;
  RowWords<Valued> wordsA(rows, rowA), wordsB(rows, rowB);
  const std::int64_t* valuesA = Valued ? rows.values + rowA * rows.length : nullptr;
  const std::int64_t* valuesB = Valued ? rows.values + rowB * rows.length : nullptr;
  // The runs at elements that are `backA` and `backB` to the left of the bits.
  const auto visit = [&](Word bits, int backA, int backB) {
    while (bits) {
      const int i = lowest(bits);
      bits &= bits - 1;
      if (!Valued || valuesA[i - backA] == valuesB[i - backB])
        link(a + popcount(wordsA.starts & (upTo(i) >> backA)),
             b + popcount(wordsB.starts & (upTo(i) >> backB)));
    }
  };
  for (std::int64_t w = 0; w < rows.words; ++w) {
    wordsA.load(w);
    wordsB.load(w);
    visit((wordsA.starts & wordsB.in) | (wordsB.starts & wordsA.in), 0, 0);
    if constexpr (Wide) {
      // Not if the other's run goes on at this element: that is a stretch met above.
      visit(wordsA.starts & wordsB.shifted & ~(wordsB.in & ~wordsB.starts), 0, 1);
      visit(wordsB.starts & wordsA.shifted & ~(wordsA.in & ~wordsA.starts), 1, 0);
    }
    a += popcount(wordsA.starts);
    b += popcount(wordsB.starts);
    if constexpr (Valued) {
      valuesA += 64;
      valuesB += 64;
    }
  }
}

/// Calls link(a, b, the row of b) for each pair of connected runs of a row and of those neighbors
/// before it that lie in [low, high).
template <bool Valued, class Link>
void linkNeighbors(const LatticeRows& rows, std::int64_t row, std::int64_t low, std::int64_t high,
                   const Link& link) {
  const std::int64_t n = rows.rowsPerSlice, y = row % n;
  const auto visit = [&](std::int64_t other, bool wide) {
    if (other < low || other >= high) return;
    const auto to = [&](std::int64_t a, std::int64_t b) { link(a, b, other); };
    if (wide)
      linkRows<Valued, true>(rows, row, other, to);
    else
      linkRows<Valued, false>(rows, row, other, to);
  };
  const bool edges = rows.through != Through::Faces, points = rows.through == Through::Points;
  if (y > 0) visit(row - 1, edges);
  if (row < n) return;
  visit(row - n, edges);
  if (!edges) return;
  if (y > 0) visit(row - n - 1, points);
  if (y + 1 < n) visit(row - n + 1, points);
}

void countRuns(const LatticeRows& rows, std::int64_t first, std::int64_t end) {
  for (std::int64_t row = first; row < end; ++row) {
    std::int64_t count = 0;
    RowWords<false> words(rows, row);
    for (std::int64_t w = 0; w < rows.words; ++w) {
      words.load(w);
      Word starts = words.starts;
      if (rows.values) {
        const std::int64_t* const v = rows.values + row * rows.length + 64 * w;
        for (Word inner = words.in & ~starts; inner; inner &= inner - 1) {
          const int i = lowest(inner);
          starts |= Word(v[i] != v[i - 1]) << i;
        }
        rows.starts[row * rows.words + w] = starts;
      }
      count += popcount(starts);
    }
    rows.rowBegin[row + 1] = count;
  }
}

template <bool Valued>
std::uint32_t labelRowsOf(const LatticeRows& rows, std::int64_t first, std::int64_t end) {
  const std::int64_t base = rows.rowBegin[first];
  // First a forest of the runs, then their sets, in the same place.
  std::uint32_t* const parent = rows.setOfRun + base;
  for (std::int64_t row = first; row < end; ++row) {
    for (std::int64_t i = rows.rowBegin[row] - base; i < rows.rowBegin[row + 1] - base; ++i)
      parent[i] = static_cast<std::uint32_t>(i);
    linkNeighbors<Valued>(rows, row, first, row, [&](std::int64_t a, std::int64_t b, std::int64_t) {
      UnionFind<std::uint32_t>::unite(parent, static_cast<std::uint32_t>(a - base),
                                      static_cast<std::uint32_t>(b - base));
    });
  }
  std::uint32_t sets = 0;
  for (std::int64_t i = 0; i < rows.rowBegin[end] - base; ++i)
    parent[i] = parent[i] == i ? sets++ : parent[parent[i]];
  return sets;
}

std::uint32_t labelRows(const LatticeRows& rows, std::int64_t first, std::int64_t end) {
  return rows.values ? labelRowsOf<true>(rows, first, end) : labelRowsOf<false>(rows, first, end);
}

template <bool Valued>
void linkSeamOf(const LatticeRows& rows, const LatticeSeams& seams, std::int64_t first,
                std::int64_t end) {
  for (std::int64_t row = first; row < end && row <= first + rows.rowsPerSlice; ++row) {
    const std::int64_t base = seams.base[row / seams.rowsPerChunk];
    linkNeighbors<Valued>(rows, row, 0, first,
                          [&](std::int64_t a, std::int64_t b, std::int64_t other) {
                            const std::int64_t otherBase = seams.base[other / seams.rowsPerChunk];
                            UnionFind<std::uint32_t>::uniteConcurrently(
                                seams.parent, static_cast<std::uint32_t>(base + rows.setOfRun[a]),
                                static_cast<std::uint32_t>(otherBase + rows.setOfRun[b]));
                          });
  }
}

void linkSeam(const LatticeRows& rows, const LatticeSeams& seams, std::int64_t first,
              std::int64_t end) {
  if (rows.values)
    linkSeamOf<true>(rows, seams, first, end);
  else
    linkSeamOf<false>(rows, seams, first, end);
}

template <class T>
void writeRowsOf(const LatticeRows& rows, const T* valueOfSet, T background, T* out,
                 std::int64_t first, std::int64_t end) {
  // Stretches are written in vectors that may reach past their ends: what comes next is written
  // later. Only the last stretches of all must end where they end.
  constexpr std::int64_t Block = 32 / sizeof(T);
  T* const limit = out + end * rows.length;
  const auto fill = [limit](T* at, T* to, T value) {
    for (; at < to; at += Block) {
      if (limit - at < Block) {
        while (at < to) *at++ = value;
        return;
      }
      for (std::int64_t k = 0; k < Block; ++k) at[k] = value;
    }
  };
  for (std::int64_t row = first; row < end; ++row) {
    T* const line = out + row * rows.length;
    T* at = line;
    const std::uint32_t* set = rows.setOfRun + rows.rowBegin[row];
    if (rows.rowBegin[row] != rows.rowBegin[row + 1])
      visitRowRuns(rows.mask + row * rows.words,
                   rows.starts ? rows.starts + row * rows.words : nullptr, 0, rows.length,
                   [&](std::int64_t begin, std::int64_t runEnd) {
                     fill(at, line + begin, background);
                     at = line + runEnd;
                     fill(line + begin, at, valueOfSet[*set++]);
                   });
    fill(at, line + rows.length, background);
  }
}

void writeRows(const LatticeRows& rows, int logBytes, const void* valueOfSet,
               const void* background, void* out, std::int64_t first, std::int64_t end) {
  const auto write = [&](auto type) {
    using T = decltype(type);
    writeRowsOf(rows, static_cast<const T*>(valueOfSet), *static_cast<const T*>(background),
                static_cast<T*>(out), first, end);
  };
  switch (logBytes) {
    case 0:
      return write(std::uint8_t());
    case 1:
      return write(std::uint16_t());
    case 2:
      return write(std::uint32_t());
    default:
      return write(std::uint64_t());
  }
}

}  // namespace

const LatticeKernel TRIBUTARY_KERNEL = {countRuns, labelRows, linkSeam, writeRows};

}  // namespace tributary::detail
