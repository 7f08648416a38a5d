// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/LatticeLabels.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/InstructionSet.h"
#include "Tributary/Components/UnionFind.h"
#include "Tributary/Components/detail/LatticeKernel.h"

namespace tributary {

using namespace detail;

namespace {

const LatticeKernel& kernel() {
  static const LatticeKernel* const selected =
      selectKernel<&latticeKernelBaseline, &latticeKernelAvx2>();
  return *selected;
}

}  // namespace

/// The kernels only read what writeLabels() hands them.
LatticeRows LatticeLabels::rows() const {
  LatticeRows rows;
  rows.length = size_[0];
  rows.words = maskWords(size_[0]);
  rows.rowsPerSlice = size_[1];
  rows.mask = mask_.data();
  rows.starts = starts_.empty() ? nullptr : const_cast<std::uint64_t*>(starts_.data());
  rows.rowBegin = const_cast<std::int64_t*>(rowBegin_.data());
  rows.setOfRun = setOfRun_.get();
  return rows;
}

std::size_t LatticeLabels::firstRunAt(std::int64_t row, std::int64_t i) const {
  auto run = static_cast<std::size_t>(rowBegin_[std::size_t(row)]);
  const std::uint64_t* const mask = maskOf(row);
  const std::uint64_t* const starts = startsOf(row);
  const std::uint64_t bit = std::uint64_t(1) << i % 64;
  std::uint64_t left = 0, in = 0, begins = 0;
  for (std::int64_t w = 0; w <= i / 64; ++w) {
    in = mask[w];
    begins = detail::runBegins(in, left);
    if (starts) begins |= in & starts[w];
    left = in >> 63;
    const std::uint64_t before = w < i / 64 ? ~std::uint64_t(0) : bit - 1;
    run += std::size_t(__builtin_popcountll(begins & before));
  }
  // The run that goes on at the element has been counted.
  return (in & bit) != 0 && (begins & bit) == 0 ? run - 1 : run;
}

std::uint32_t LatticeLabels::setAt(std::int64_t row, std::int64_t i) const {
  if ((maskOf(row)[i / 64] >> i % 64 & 1) == 0) return NoSet;
  return setOfRun_[firstRunAt(row, i)];
}

void LatticeLabels::rename(Span<const std::uint32_t> names, std::uint32_t sets,
                           const ParallelFor& parallelFor) {
  if (names.size() != sets_)
    throw Error(std::to_string(names.size()) + " names for " + std::to_string(sets_) +
                " sets; give one for each set");
  const std::int64_t runs = rowBegin_.empty() ? 0 : rowBegin_.back();
  parallelFor(runs, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t run = begin; run < end; ++run)
      setOfRun_[std::size_t(run)] = names[setOfRun_[std::size_t(run)]];
  });
  sets_ = sets;
}

LatticeLabels labelLattice(const LatticeSize& size, std::vector<std::uint64_t> mask,
                           Through through, const std::int64_t* values,
                           const ParallelFor& parallelFor) {
  if (std::int64_t(mask.size()) != maskWords(size))
    throw Error("a mask has " + std::to_string(mask.size()) + " words, but its lattice needs " +
                std::to_string(maskWords(size)) + "; give a mask of the lattice's size");
  const std::int64_t rowCount = size[0] > 0 ? size[1] * size[2] : 0;
  LatticeLabels labels;
  labels.size_ = size;
  labels.mask_ = std::move(mask);
  labels.starts_.resize(values ? labels.mask_.size() : 0);
  labels.rowBegin_.resize(std::size_t(size[1] * size[2]) + 1);
  if (rowCount == 0) return labels;
  LatticeRows rows = labels.rows();
  rows.through = through;
  rows.values = values;
  const LatticeKernel& kernels = kernel();
  parallelFor(rowCount,
              [&](std::int64_t begin, std::int64_t end) { kernels.countRuns(rows, begin, end); });
  for (std::int64_t row = 0; row < rowCount; ++row) rows.rowBegin[row + 1] += rows.rowBegin[row];
  const std::int64_t runCount = rows.rowBegin[rowCount];
  if (runCount >= std::numeric_limits<std::uint32_t>::max())
    throw Error("a lattice has " + std::to_string(runCount) +
                " runs of elements, more than 32 bits can number; cut it into smaller blocks");
  labels.setOfRun_.reset(new std::uint32_t[std::size_t(runCount)]);
  rows.setOfRun = labels.setOfRun_.get();

  // Chunks of rows are what the loop hands out. Those handed out together are labeled as one
  // range; the ranges' sets are united afterwards along their seams.
  constexpr std::int64_t MostChunks = 64;
  const std::int64_t rowsPerChunk = (rowCount + MostChunks - 1) / MostChunks;
  const std::int64_t chunks = (rowCount + rowsPerChunk - 1) / rowsPerChunk;
  const auto firstRow = [&](std::int64_t chunk) {
    return std::min(chunk * rowsPerChunk, rowCount);
  };
  std::vector<std::int64_t> rangeEnd(std::size_t(chunks), 0);  // 0 where no range begins
  std::vector<std::int64_t> sets(std::size_t(chunks), 0);      // of the range that begins
  parallelFor(chunks, [&](std::int64_t begin, std::int64_t end) {
    rangeEnd[std::size_t(begin)] = end;
    sets[std::size_t(begin)] = kernels.labelRows(rows, firstRow(begin), firstRow(end));
  });
  std::vector<std::int64_t> base(static_cast<std::size_t>(chunks));
  std::vector<std::int64_t> seams;  // ranges that have one before them
  std::int64_t setCount = 0;
  for (std::int64_t chunk = 0; chunk < chunks; chunk = rangeEnd[std::size_t(chunk)]) {
    if (chunk > 0) seams.push_back(chunk);
    for (std::int64_t c = chunk; c < rangeEnd[std::size_t(chunk)]; ++c)
      base[std::size_t(c)] = setCount;
    setCount += sets[std::size_t(chunk)];
  }
  labels.sets_ = static_cast<std::uint32_t>(setCount);
  if (seams.empty()) return labels;

  UnionFind<std::uint32_t> unions(static_cast<std::size_t>(setCount));
  const LatticeSeams seamView{base.data(), rowsPerChunk, unions.parents()};
  parallelFor(std::int64_t(seams.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t chunk = seams[std::size_t(i)];
      kernels.linkSeam(rows, seamView, firstRow(chunk), firstRow(rangeEnd[std::size_t(chunk)]));
    }
  });
  std::size_t count = 0;
  const auto number = std::move(unions).number(count);
  labels.sets_ = static_cast<std::uint32_t>(count);
  parallelFor(chunks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      const std::uint32_t* const name = number.data() + base[std::size_t(chunk)];
      std::uint32_t* const last = rows.setOfRun + rows.rowBegin[firstRow(chunk + 1)];
      for (std::uint32_t* set = rows.setOfRun + rows.rowBegin[firstRow(chunk)]; set != last; ++set)
        *set = name[*set];
    }
  });
  return labels;
}

template <class T>
void writeLabels(const LatticeLabels& labels, Span<const T> valueOfSet, T background, T* out,
                 const ParallelFor& parallelFor) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  if (valueOfSet.size() < labels.sets())
    throw Error(std::to_string(valueOfSet.size()) + " values for " + std::to_string(labels.sets()) +
                " sets; give one for each set");
  constexpr int LogBytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const LatticeRows rows = labels.rows();
  parallelFor(labels.size()[1] * labels.size()[2], [&](std::int64_t begin, std::int64_t end) {
    kernel().writeRows(rows, LogBytes, valueOfSet.data(), &background, out, begin, end);
  });
}

#define TRIBUTARY_WRITE_LABELS(T) \
  template void writeLabels(const LatticeLabels&, Span<const T>, T, T*, const ParallelFor&)
TRIBUTARY_WRITE_LABELS(float);
TRIBUTARY_WRITE_LABELS(double);
TRIBUTARY_WRITE_LABELS(std::uint8_t);
TRIBUTARY_WRITE_LABELS(std::int32_t);
TRIBUTARY_WRITE_LABELS(std::uint32_t);
TRIBUTARY_WRITE_LABELS(long);
TRIBUTARY_WRITE_LABELS(unsigned long);
TRIBUTARY_WRITE_LABELS(long long);
TRIBUTARY_WRITE_LABELS(unsigned long long);
#undef TRIBUTARY_WRITE_LABELS

}  // namespace tributary
