// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/LatticeLabels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "Support/Effort.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Components/detail/LatticeKernel.h"

namespace tributary::testing {

using namespace detail;
namespace {

constexpr Through All[] = {Through::Faces, Through::Edges, Through::Points};

/// Sizes that are no multiples of 64 and some that are, thin and flat ones.
const LatticeSize Sizes[] = {{1, 1, 1},   {7, 1, 1},   {1, 9, 1},    {1, 1, 5},   {64, 1, 1},
                             {65, 1, 1},  {128, 1, 3}, {63, 5, 1},   {64, 6, 1},  {65, 7, 1},
                             {1, 20, 30}, {2, 2, 2},   {5, 4, 3},    {129, 3, 4}, {20, 17, 9},
                             {64, 8, 11}, {70, 1, 20}, {130, 12, 7}, {200, 2, 2}, {3, 40, 40}};

struct Lattice {
  LatticeSize size;
  std::vector<std::uint8_t> in;  // one per element
  std::vector<std::int64_t> values;

  std::int64_t elements() const { return size[0] * size[1] * size[2]; }
  std::vector<std::uint64_t> mask() const {
    const auto words = maskWords(size[0]);
    std::vector<std::uint64_t> out(std::size_t(maskWords(size)));
    for (std::int64_t i = 0; i < elements(); ++i)
      if (in[std::size_t(i)])
        out[std::size_t(i / size[0] * words + i % size[0] / 64)] |= std::uint64_t(1)
                                                                    << i % size[0] % 64;
    return out;
  }
};

Lattice randomLattice(const LatticeSize& size, double share, int values, std::uint64_t seed) {
  Lattice lattice{size, {}, {}};
  for (std::int64_t i = 0; i < lattice.elements(); ++i) {
    const std::uint64_t random = mix(seed * 1000003 + std::uint64_t(i));
    lattice.in.push_back(double(random >> 11) * 0x1p-53 < share);
    if (values) lattice.values.push_back(std::int64_t(mix(random) % std::uint64_t(values)));
  }
  return lattice;
}

/// Set of each element by flooding, -1 outside; sets in the order of their first elements.
std::vector<std::int64_t> flood(const Lattice& lattice, Through through) {
  const auto& n = lattice.size;
  const int most = through == Through::Faces ? 1 : through == Through::Edges ? 2 : 3;
  std::vector<std::int64_t> set(lattice.in.size(), -1), stack;
  std::int64_t sets = 0;
  for (std::int64_t i = 0; i < lattice.elements(); ++i) {
    if (!lattice.in[std::size_t(i)] || set[std::size_t(i)] >= 0) continue;
    set[std::size_t(i)] = sets;
    stack.push_back(i);
    while (!stack.empty()) {
      const std::int64_t at = stack.back();
      stack.pop_back();
      const std::int64_t x = at % n[0], y = at / n[0] % n[1], z = at / n[0] / n[1];
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            if (std::abs(dx) + std::abs(dy) + std::abs(dz) > most) continue;
            if (x + dx < 0 || x + dx >= n[0] || y + dy < 0 || y + dy >= n[1] || z + dz < 0 ||
                z + dz >= n[2])
              continue;
            const auto next = std::size_t(at + dx + n[0] * (dy + n[1] * dz));
            if (!lattice.in[next] || set[next] >= 0) continue;
            if (!lattice.values.empty() && lattice.values[next] != lattice.values[std::size_t(at)])
              continue;
            set[next] = sets;
            stack.push_back(std::int64_t(next));
          }
    }
    ++sets;
  }
  return set;
}

LatticeLabels label(const Lattice& lattice, Through through, const ParallelFor& loop) {
  return labelLattice(lattice.size, lattice.mask(), through,
                      lattice.values.empty() ? nullptr : lattice.values.data(), loop);
}

template <class T>
std::vector<T> written(const LatticeLabels& labels, const LatticeSize& size, T background,
                       const ParallelFor& loop) {
  std::vector<T> values;
  for (std::uint32_t i = 0; i < labels.sets(); ++i) values.push_back(T(i));
  std::vector<T> out(std::size_t(size[0] * size[1] * size[2]) + 1, T(77));
  writeLabels<T>(labels, values, background, out.data(), loop);
  EXPECT_EQ(out.back(), T(77)) << "written past the end";
  out.pop_back();
  return out;
}

std::vector<std::int64_t> numbers(const Lattice& lattice, Through through,
                                  const ParallelFor& loop) {
  return written<std::int64_t>(label(lattice, through, loop), lattice.size, -1, loop);
}

TEST(LatticeLabels, EqualFloodingOnAnyLattice) {
  for (const auto& size : Sizes)
    for (const double share : {0.0, 0.1, 0.3116, 0.5, 0.9, 1.0})
      for (const int values : {0, 2})
        for (const Through through : All) {
          const Lattice lattice = randomLattice(size, share, values, 5);
          EXPECT_EQ(numbers(lattice, through, serialFor), flood(lattice, through))
              << size[0] << " x " << size[1] << " x " << size[2] << ", " << share << ", "
              << int(through) << ", " << values << " values";
        }
}

TEST(LatticeLabels, DoNotDependOnThreads) {
  for (const auto& size : {LatticeSize{70, 30, 40}, LatticeSize{64, 200, 1}, LatticeSize{9, 1, 150},
                           LatticeSize{130, 3, 100}})
    for (const int values : {0, 3})
      for (const Through through : All)
        for (const double share : {0.2, 0.5}) {
          const Lattice lattice = randomLattice(size, share, values, 9);
          const auto expected = flood(lattice, through);
          for (const int ranges : {2, 3, 7, 64, 200}) {
            if (slowed() && ranges % 2 == 0) continue;
            EXPECT_EQ(numbers(lattice, through, onThreads(3, ranges)), expected)
                << ranges << " ranges";
          }
        }
}

TEST(LatticeLabels, AreRenamed) {
  const Lattice lattice = randomLattice({70, 9, 8}, 0.3, 0, 5);
  LatticeLabels labels = label(lattice, Through::Faces, serialFor);
  const auto before = written<std::int64_t>(labels, lattice.size, -1, serialFor);
  ASSERT_GT(labels.sets(), 10u);
  std::vector<std::uint32_t> names;
  for (std::uint32_t set = 0; set < labels.sets(); ++set) names.push_back(3 + set % 7);
  EXPECT_NE(errorOf([&] {
              labels.rename(Span<const std::uint32_t>(names).subspan(1, 2), 10, serialFor);
            }),
            "");
  labels.rename(names, 10, onThreads(3, 7));
  EXPECT_EQ(labels.sets(), 10u);
  const auto after = written<std::int64_t>(labels, lattice.size, -1, serialFor);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(after[i], before[i] < 0 ? -1 : 3 + before[i] % 7);
}

TEST(LatticeLabels, RunsAreTheMask) {
  for (const int values : {0, 3}) {
    const Lattice lattice = randomLattice({130, 6, 5}, values ? 0.9 : 0.5, values, 3);
    const auto isSame = [&](std::int64_t i, std::int64_t j) {
      return lattice.in[std::size_t(i)] && lattice.in[std::size_t(j)] &&
             (!values || lattice.values[std::size_t(i)] == lattice.values[std::size_t(j)]);
    };
    const auto labels = label(lattice, Through::Edges, serialFor);
    const auto set = flood(lattice, Through::Edges);
    std::size_t covered = 0;
    for (std::int64_t row = 0; row < 30; ++row) {
      const std::int64_t first = row * 130;
      std::int64_t last = 0;
      labels.visitRuns(row, [&](const tributary::Run& run) {
        ASSERT_LE(last, run.begin);
        ASSERT_LT(run.begin, run.end);
        last = run.end;
        for (auto i = run.begin; i < run.end; ++i, ++covered)
          EXPECT_EQ(set[std::size_t(first + i)], run.set);
        EXPECT_TRUE(run.begin == 0 || !isSame(first + run.begin - 1, first + run.begin));
        EXPECT_TRUE(run.end == 130 || !isSame(first + run.end - 1, first + run.end));
      });
    }
    EXPECT_EQ(std::int64_t(covered), std::count(lattice.in.begin(), lattice.in.end(), 1));
  }
}

TEST(LatticeLabels, PartsOfRunsAreThoseOfTheElements) {
  for (const std::int64_t length : {5, 64, 100, 128, 200})
    for (const int values : {0, 2})
      for (const double share : {0.1, 0.5, 0.97, 1.0}) {
        const Lattice lattice = randomLattice({length, 3, 2}, share, values, 21);
        const auto labels = label(lattice, Through::Faces, serialFor);
        const auto set = flood(lattice, Through::Faces);
        const auto at = [&](std::int64_t row, std::int64_t i) {
          return set[std::size_t(row * length + i)];
        };
        for (std::int64_t row = 0; row < 6; ++row) {
          for (std::int64_t i = 0; i < length; ++i)
            ASSERT_EQ(labels.setAt(row, i), at(row, i) < 0 ? NoSet : at(row, i))
                << row << ", " << i;
          for (std::int64_t from = 0; from < length; from += 1 + from % 7)
            for (std::int64_t to = from + 1; to <= length; to += 1 + to % 5) {
              std::vector<std::int64_t> found(std::size_t(length), -1), expected(found);
              for (std::int64_t i = from; i < to; ++i) expected[std::size_t(i)] = at(row, i);
              labels.visitRuns(row, from, to, [&](const tributary::Run& run) {
                for (auto i = run.begin; i < run.end; ++i) found[std::size_t(i)] = run.set;
              });
              ASSERT_EQ(found, expected) << length << ": " << from << " to " << to;
            }
        }
      }
}

/// A set one element wide that winds through a whole slice and up to the next: deep unions.
TEST(LatticeLabels, FollowASpiral) {
  const std::int64_t n = 101;
  Lattice lattice{{n, n, 3}, std::vector<std::uint8_t>(std::size_t(n * n * 3)), {}};
  std::int64_t x = 0, y = 0, dx = 1, dy = 0, length = n - 1, leg = 0;
  const auto set = [&](std::int64_t z) { lattice.in[std::size_t(x + n * (y + n * z))] = 1; };
  for (; length > 0; ++leg) {
    for (std::int64_t i = 0; i < length; ++i, x += dx, y += dy) set(0), set(2);
    std::swap(dx, dy);
    dx = -dx;
    if (leg > 0 && leg % 2 == 0) length -= 2;
  }
  EXPECT_EQ(label(lattice, Through::Faces, serialFor).sets(), 2u);
  lattice.in[std::size_t(n * n)] = 1;  // above its outer end
  for (const int ranges : {1, 3, 50}) {
    const auto labels = label(lattice, Through::Faces, onThreads(2, ranges));
    EXPECT_EQ(labels.sets(), 1u);
  }
  EXPECT_EQ(numbers(lattice, Through::Faces, serialFor), flood(lattice, Through::Faces));
}

TEST(LatticeLabels, BitsPastTheRowsDoNotCount) {
  const Lattice lattice = randomLattice({70, 9, 4}, 0.4, 0, 8);
  auto mask = lattice.mask();
  for (std::size_t w = 1; w < mask.size(); w += 2) mask[w] |= ~std::uint64_t(0) << 6;
  const auto labels = labelLattice(lattice.size, mask, Through::Points, nullptr, serialFor);
  EXPECT_EQ(written<std::int64_t>(labels, lattice.size, -1, serialFor),
            flood(lattice, Through::Points));
}

TEST(LatticeLabels, AreWrittenAsAnyType) {
  const Lattice lattice = randomLattice({200, 7, 3}, 0.6, 0, 4);
  const auto labels = label(lattice, Through::Points, serialFor);
  const auto expected = flood(lattice, Through::Points);
  const auto same = [&](auto background) {
    const auto out = written(labels, lattice.size, background, onThreads(2, 5));
    for (std::size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], expected[i] < 0 ? background : decltype(background)(expected[i]));
  };
  same(std::uint8_t(255));
  same(std::uint32_t(5000));
  same(std::int64_t(-1));
  same(-1.0f);
  same(-1.0);
}

/// The kernel for any processor against the one that was chosen for this.
TEST(LatticeLabels, AreTheSameByTheBaselineKernel) {
  for (const auto& size : Sizes)
    for (const int values : {0, 2})
      for (const Through through : All) {
        const Lattice lattice = randomLattice(size, 0.5, values, 12);
        const auto expected = label(lattice, through, serialFor);
        const auto mask = lattice.mask();
        std::vector<std::uint64_t> starts(values ? mask.size() : 0);
        const std::int64_t count = size[1] * size[2];
        std::vector<std::int64_t> rowBegin(std::size_t(count) + 1);
        LatticeRows rows;
        rows.length = size[0];
        rows.words = maskWords(size[0]);
        rows.rowsPerSlice = size[1];
        rows.through = through;
        rows.mask = mask.data();
        rows.values = values ? lattice.values.data() : nullptr;
        rows.starts = values ? starts.data() : nullptr;
        rows.rowBegin = rowBegin.data();
        latticeKernelBaseline.countRuns(rows, 0, count);
        for (std::size_t i = 0; i < std::size_t(count); ++i) rowBegin[i + 1] += rowBegin[i];
        std::vector<std::uint32_t> setOfRun(std::size_t(rowBegin.back()));
        rows.setOfRun = setOfRun.data();
        EXPECT_EQ(latticeKernelBaseline.labelRows(rows, 0, count), expected.sets());
        std::size_t run = 0;
        for (std::int64_t row = 0; row < count; ++row) {
          ASSERT_EQ(std::size_t(rowBegin[std::size_t(row)]), run);
          expected.visitRuns(
              row, [&](const tributary::Run& one) { EXPECT_EQ(setOfRun.at(run++), one.set); });
        }
        EXPECT_EQ(run, setOfRun.size());
        std::vector<std::int64_t> names, out(lattice.in.size());
        for (std::uint32_t i = 0; i < expected.sets(); ++i) names.push_back(i);
        const std::int64_t background = -1;
        latticeKernelBaseline.writeRows(rows, 3, names.data(), &background, out.data(), 0, count);
        EXPECT_EQ(out, flood(lattice, through));
      }
}

/// 2^32 runs of one element, which takes a mask of 1 GB.
TEST(LatticeLabels, RefuseMoreRunsThan32BitsNumber) {
  if (Sanitized) GTEST_SKIP() << "takes minutes with sanitizers";
  if (!thorough()) GTEST_SKIP() << "takes seconds to touch its memory";
  std::vector<std::uint64_t> mask(std::size_t(1) << 27, 0x5555555555555555u);
  const std::string error = errorOf([&] {
    static_cast<void>(
        labelLattice({1 << 20, 1 << 13, 1}, std::move(mask), Through::Faces, nullptr, serialFor));
  });
  EXPECT_NE(error.find("smaller blocks"), std::string::npos) << error;
}

TEST(LatticeLabels, RefuseWrongSizes) {
  const std::vector<std::uint64_t> mask(10);
  const auto error = [&](const LatticeSize& size) {
    return errorOf(
        [&] { static_cast<void>(labelLattice(size, mask, Through::Faces, nullptr, serialFor)); });
  };
  EXPECT_EQ(error({64, 10, 1}), "");
  EXPECT_NE(error({65, 10, 1}), "");
  EXPECT_NE(error({64, -10, -1}), "");
  EXPECT_NE(error({std::int64_t(1) << 40, 1, 1}), "");
  EXPECT_NE(error({1 << 30, std::int64_t(1) << 40, std::int64_t(1) << 40}), "");
  EXPECT_EQ(errorOf([&] {
              static_cast<void>(labelLattice({0, 5, 5}, {}, Through::Faces, nullptr, serialFor));
            }),
            "");
  EXPECT_NE(errorOf([&] { static_cast<void>(cellMask(mask, {65, 10, 1}, true, serialFor)); }), "");
  const LatticeSize size{64, 10, 1};
  const std::vector<std::uint64_t> all(10, ~std::uint64_t(0));
  const LatticeLabels labels = labelLattice(size, all, Through::Faces, nullptr, serialFor);
  std::vector<std::int32_t> values(1), out(640);
  const auto writing = [&](std::size_t count) {
    values.resize(count);
    return errorOf([&] { writeLabels<std::int32_t>(labels, values, 0, out.data(), serialFor); });
  };
  EXPECT_EQ(writing(1), "");
  EXPECT_NE(writing(0).find("0 values for 1 sets"), std::string::npos);
}

template <class T>
void testRange(const std::vector<T>& values, double lo, double hi) {
  for (const std::int64_t length : {1, 5, 64, 67, 130}) {
    const auto rows = std::int64_t(values.size()) / length;
    std::vector<std::uint64_t> mask(std::size_t(rows * maskWords(length)), ~std::uint64_t(0));
    rangeMask(values.data(), length, rows, lo, hi, mask.data(), onThreads(2, 3));
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < maskWords(length) * 64; ++i) {
        const bool in = mask[std::size_t(row * maskWords(length) + i / 64)] >> i % 64 & 1;
        const auto v = i < length ? values[std::size_t(row * length + i)] : T();
        // long double holds all values of all types
        const bool expected = i < length && (long double)(v) >= (long double)(lo) &&
                              (long double)(v) <= (long double)(hi);
        ASSERT_EQ(in, expected) << +v << " in [" << lo << ", " << hi << "]";
      }
  }
}

template <class T>
void testRanges() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (std::uint64_t i = 0; i < 400; ++i) values.push_back(T(mix(i) % 100));
  for (const T special : {Limits::lowest(), Limits::max(), Limits::min(), T(50)})
    for (std::size_t i = 0; i < 9; ++i) values[mix(i + std::size_t(special)) % 400] = special;
  if constexpr (!Limits::is_integer) {
    values[3] = values[77] = Limits::quiet_NaN();
    values[4] = Limits::infinity();
    values[5] = -Limits::infinity();
    values[6] = std::nextafter(T(50), T(100));
  }
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double least = double(Limits::lowest()), largest = double(Limits::max());
  for (const double lo : {-inf, -1e300, least, -0.5, 20.0, 50.0, std::nextafter(50.0, 0.0),
                          std::nextafter(50.0, 60.0), largest, 1e300, inf, nan})
    for (const double hi : {-inf, -1e300, least, 0.0, 49.9, 50.0, std::nextafter(50.0, 0.0),
                            std::nextafter(50.0, 60.0), largest, 1e300, inf, nan})
      testRange(values, lo, hi);
}

TEST(RangeMask, ComparesExactlyInAnyType) {
  testRanges<float>();
  testRanges<double>();
  testRanges<signed char>();
  testRanges<unsigned char>();
  if (slowed()) return;
  testRanges<short>();
  testRanges<unsigned short>();
  testRanges<int>();
  testRanges<unsigned int>();
  testRanges<long long>();
  testRanges<unsigned long long>();
}

TEST(CellMask, AsksTheCorners) {
  for (const auto& size : Sizes)
    for (const bool all : {false, true}) {
      const Lattice points = randomLattice(size, all ? 0.8 : 0.1, 0, 2);
      const LatticeSize cells = cellsOf(size);
      Lattice expected{cells, {}, {}};
      for (std::int64_t z = 0; z < cells[2]; ++z)
        for (std::int64_t y = 0; y < cells[1]; ++y)
          for (std::int64_t x = 0; x < cells[0]; ++x) {
            int in = 0, corners = 0;
            for (std::int64_t c = z; c <= z + 1 && c < size[2]; ++c)
              for (std::int64_t b = y; b <= y + 1 && b < size[1]; ++b)
                for (std::int64_t a = x; a <= x + 1 && a < size[0]; ++a) {
                  ++corners;
                  in += points.in[std::size_t(a + size[0] * (b + size[1] * c))];
                }
            expected.in.push_back(all ? in == corners : in > 0);
          }
      EXPECT_EQ(cellMask(points.mask(), size, all, onThreads(2, 4)), expected.mask())
          << size[0] << " x " << size[1] << " x " << size[2];
    }
}

TEST(ClearFlagged, TakesOutElements) {
  for (const auto& size : Sizes) {
    Lattice lattice = randomLattice(size, 0.7, 0, 6);
    auto mask = lattice.mask();
    std::vector<std::uint8_t> flags;
    for (std::size_t i = 0; i < lattice.in.size(); ++i) {
      flags.push_back(std::uint8_t(mix(i) % 7));
      if (flags.back() & 5) lattice.in[i] = 0;
    }
    clearFlagged(mask.data(), size, flags.data(), 5, onThreads(2, 4));
    EXPECT_EQ(mask, lattice.mask());
  }
}

}  // namespace
}  // namespace tributary::testing
