// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/LatticeLabels.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

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

/// The kernels only read what writeLabels() hands them.
LatticeRows rowsOf(const LatticeLabels& labels, const LatticeSize& size) {
  LatticeRows rows;
  rows.length = size[0];
  rows.words = maskWords(size[0]);
  rows.rowsPerSlice = size[1];
  rows.rowBegin = const_cast<std::int64_t*>(labels.rowBegin.data());
  rows.runs = const_cast<Run*>(labels.runs.data());
  return rows;
}

}  // namespace

LatticeLabels labelLattice(const LatticeSize& size, Span<const std::uint64_t> mask, Through through,
                           const std::int64_t* values, const ParallelFor& parallelFor) {
  if (std::int64_t(mask.size()) != maskWords(size))
    throw Error("a mask has " + std::to_string(mask.size()) + " words, but its lattice needs " +
                std::to_string(maskWords(size)));
  const std::int64_t rowCount = size[0] > 0 ? size[1] * size[2] : 0;
  LatticeLabels labels;
  labels.rowBegin.resize(std::size_t(size[1] * size[2]) + 1);
  if (rowCount == 0) return labels;
  LatticeRows rows = rowsOf(labels, size);
  rows.through = through;
  rows.mask = mask.data();
  rows.values = values;
  std::vector<std::uint64_t> starts(values ? mask.size() : 0);
  rows.starts = starts.data();
  const LatticeKernel& kernels = kernel();
  parallelFor(rowCount,
              [&](std::int64_t begin, std::int64_t end) { kernels.countRuns(rows, begin, end); });
  for (std::int64_t row = 0; row < rowCount; ++row) rows.rowBegin[row + 1] += rows.rowBegin[row];
  const std::int64_t runCount = rows.rowBegin[rowCount];
  if (runCount >= std::numeric_limits<std::uint32_t>::max())
    throw Error("a lattice has " + std::to_string(runCount) +
                " runs of elements, more than 32 bits can number; cut it into smaller blocks");
  labels.runs.resize(std::size_t(runCount));
  rows.runs = labels.runs.data();

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
  {
    const std::unique_ptr<std::uint32_t[]> parent(new std::uint32_t[std::size_t(runCount)]);
    parallelFor(chunks, [&](std::int64_t begin, std::int64_t end) {
      rangeEnd[std::size_t(begin)] = end;
      sets[std::size_t(begin)] = kernels.labelRows(rows, firstRow(begin), firstRow(end),
                                                   parent.get() + rows.rowBegin[firstRow(begin)]);
    });
  }
  std::vector<std::int64_t> base(static_cast<std::size_t>(chunks));
  std::vector<std::int64_t> seams;  // ranges that have one before them
  std::int64_t setCount = 0;
  for (std::int64_t chunk = 0; chunk < chunks; chunk = rangeEnd[std::size_t(chunk)]) {
    if (chunk > 0) seams.push_back(chunk);
    for (std::int64_t c = chunk; c < rangeEnd[std::size_t(chunk)]; ++c)
      base[std::size_t(c)] = setCount;
    setCount += sets[std::size_t(chunk)];
  }
  labels.sets = static_cast<std::uint32_t>(setCount);
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
  labels.sets = static_cast<std::uint32_t>(count);
  parallelFor(chunks, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      const std::uint32_t* const name = number.data() + base[std::size_t(chunk)];
      Run* const last = rows.runs + rows.rowBegin[firstRow(chunk + 1)];
      for (Run* run = rows.runs + rows.rowBegin[firstRow(chunk)]; run != last; ++run)
        run->set = name[run->set];
    }
  });
  return labels;
}

template <class T>
void writeLabels(const LatticeLabels& labels, const LatticeSize& size, Span<const T> valueOfSet,
                 T background, T* out, const ParallelFor& parallelFor) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  if (valueOfSet.size() < labels.sets)
    throw Error(std::to_string(valueOfSet.size()) + " values for " + std::to_string(labels.sets) +
                " sets");
  if (maskWords(size) < 0 || labels.rowBegin.size() != std::size_t(size[1] * size[2]) + 1)
    throw Error("labels of " + std::to_string(labels.rowBegin.size()) +
                " - 1 rows do not fit the lattice");
  constexpr int LogBytes = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  const LatticeRows rows = rowsOf(labels, size);
  parallelFor(size[1] * size[2], [&](std::int64_t begin, std::int64_t end) {
    kernel().writeRows(rows, LogBytes, valueOfSet.data(), &background, out, begin, end);
  });
}

#define TRIBUTARY_WRITE_LABELS(T)                                                           \
  template void writeLabels(const LatticeLabels&, const LatticeSize&, Span<const T>, T, T*, \
                            const ParallelFor&)
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
