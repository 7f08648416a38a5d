// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/Connection.h"
#include "Tributary/Components/LatticeMask.h"
#include "Tributary/Components/detail/RowRuns.h"

namespace tributary {

namespace detail {
struct LatticeRows;
}

/// Consecutive elements [begin, end) of a row that belong to one set.
struct Run {
  std::int64_t begin, end;
  std::uint32_t set;
};

/// The connected sets of the elements of a lattice. Sets are numbered in the order of their first
/// elements, so the numbers do not depend on threads. Only the set of each run is stored; the mask
/// gives the ends of the run.
class LatticeLabels {
 public:
  /// The number of sets.
  std::uint32_t sets() const { return sets_; }
  /// The number of elements along each axis.
  const LatticeSize& size() const { return size_; }

  /// Calls `visit(Run)` for each run of a row, in ascending order.
  template <class Visit>
  void visitRuns(std::int64_t row, Visit&& visit) const {
    visitRuns(row, 0, size_[0], visit);
  }
  /// The same for the parts of the runs in the elements [from, to) of the row.
  template <class Visit>
  void visitRuns(std::int64_t row, std::int64_t from, std::int64_t to, Visit&& visit) const {
    const auto* const begins = rowBegin_.data() + row;
    if (begins[0] == begins[1]) return;
    std::size_t run = from == 0 ? static_cast<std::size_t>(begins[0]) : firstRunAt(row, from);
    detail::visitRowRuns(maskOf(row), startsOf(row), from, to,
                         [&](std::int64_t begin, std::int64_t end) {
                           visit(Run{begin, end, setOfRun_[run++]});
                         });
  }
  /// The set of element `i` of a row; NoSet outside the mask. Counts bits of the row up to it.
  [[nodiscard]] std::uint32_t setAt(std::int64_t row, std::int64_t i) const;

  /// Renames the sets, as after unions of sets that other elements connect. Local.
  /// @param names  of each set, below `sets`
  /// @param sets   the number of sets from now on, which may include those of other lattices
  void rename(Span<const std::uint32_t> names, std::uint32_t sets, const ParallelFor& parallelFor);

 private:
  friend LatticeLabels labelLattice(const LatticeSize& size, std::vector<std::uint64_t> mask,
                                    Through through, const std::int64_t* values,
                                    const ParallelFor& parallelFor);
  template <class T>
  friend void writeLabels(const LatticeLabels& labels, Span<const T> valueOfSet, T background,
                          T* out, const ParallelFor& parallelFor);

  detail::LatticeRows rows() const;
  const std::uint64_t* maskOf(std::int64_t row) const {
    return mask_.data() + row * maskWords(size_[0]);
  }
  const std::uint64_t* startsOf(std::int64_t row) const {
    return starts_.empty() ? nullptr : starts_.data() + row * maskWords(size_[0]);
  }
  /// The first run of a row that does not end before element `i`.
  std::size_t firstRunAt(std::int64_t row, std::int64_t i) const;

  LatticeSize size_{};
  std::vector<std::uint64_t> mask_;
  std::vector<std::uint64_t> starts_;          // of runs, where runs may touch
  std::vector<std::int64_t> rowBegin_;         // rows + 1 positions in setOfRun_
  std::unique_ptr<std::uint32_t[]> setOfRun_;  // not zeroed: threads are to touch their part first
  std::uint32_t sets_ = 0;
};

/// Labels the elements of a mask. Local. Memory: 4 bytes per run and 8 bytes per row besides the
/// mask, which is kept, and another mask with values. Throws Error if the size of the mask differs
/// from that of the lattice, or if the mask has 2^32 - 1 runs or more.
/// @param mask    bits past the end of a row are ignored
/// @param values  null, or one per element: only elements of equal value are connected
[[nodiscard]] LatticeLabels labelLattice(const LatticeSize& size, std::vector<std::uint64_t> mask,
                                         Through through, const std::int64_t* values,
                                         const ParallelFor& parallelFor);

/// Writes a value for every element: that of its set, or the background outside the mask. Local.
/// @tparam T    any type of 1, 2, 4 or 8 bytes that is copied bit by bit
/// @param out  one per element
template <class T>
void writeLabels(const LatticeLabels& labels, Span<const T> valueOfSet, T background, T* out,
                 const ParallelFor& parallelFor);

}  // namespace tributary
