// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/Bytes.h"

#include <gtest/gtest.h>

#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/HugePages.h"

namespace tributary {
namespace {

struct Particle {
  double position[3];
  int id;
};

TEST(Bytes, ReadsBackWhatWasWritten) {
  Writer writer;
  writer.value(Particle{{1, 2, 3}, 4}).range(std::vector<float>{1.5f, -2.5f}).text("streamline");
  writer.range(std::vector<int>{});
  writer.value(std::int8_t(-7));
  const Bytes bytes = writer.take();
  EXPECT_EQ(writer.size(), 0u);

  Reader reader(bytes);
  const auto particle = reader.value<Particle>();
  EXPECT_EQ(particle.position[2], 3);
  EXPECT_EQ(particle.id, 4);
  EXPECT_EQ(reader.range<float>(), (std::vector<float>{1.5f, -2.5f}));
  EXPECT_EQ(reader.text(), "streamline");
  EXPECT_TRUE(reader.range<int>().empty());
  EXPECT_EQ(reader.value<std::int8_t>(), -7);
  EXPECT_TRUE(reader.atEnd());
}

TEST(Bytes, EveryTruncationIsAnError) {
  Writer writer;
  writer.range(std::vector<double>{1, 2, 3}).value(7).text("abc");
  const Bytes whole = writer.take();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Reader reader(whole.data(), size);
    const auto error = testing::errorOf([&] {
      static_cast<void>(reader.range<double>());
      static_cast<void>(reader.value<int>());
      static_cast<void>(reader.text());
    });
    EXPECT_NE(error.find("malformed message"), std::string::npos) << "of " << size << " bytes";
  }
}

TEST(Bytes, AbsurdLengthsAskForNoMemory) {
  for (const std::uint64_t count :
       {~std::uint64_t(0), ~std::uint64_t(0) / 8 + 1, std::uint64_t(1) << 61, std::uint64_t(2)}) {
    Writer writer;
    writer.value(count).value(1.0);
    const Bytes bytes = writer.take();
    EXPECT_THROW(static_cast<void>(Reader(bytes).range<double>()), Error) << count;
    std::vector<double> values{5};
    EXPECT_THROW(Reader(bytes).rangeInto(values), Error) << count;
    EXPECT_EQ(values, std::vector<double>{5});
  }
}

TEST(Bytes, SpansAreWrittenByTheirElements) {
  std::vector<int> values{1, 2, 3};
  Writer writer;
  writer.range(Span<int>(values)).range(Span<const int>(values));
  const Bytes bytes = writer.take();
  EXPECT_EQ(bytes.size(), 2 * (sizeof(std::uint64_t) + 3 * sizeof(int)));
  Reader reader(bytes);
  EXPECT_EQ(reader.range<int>(), values);
  EXPECT_EQ(reader.range<int>(), values);
}

TEST(Bytes, RangeIntoAppends) {
  Writer writer;
  writer.range(std::vector<int>{3, 4});
  const Bytes bytes = writer.take();
  std::vector<int> values{1, 2};
  Reader(bytes).rangeInto(values);
  EXPECT_EQ(values, (std::vector<int>{1, 2, 3, 4}));
}

TEST(Bytes, MemoryThatNobodyHasIsAnError) {
  constexpr std::size_t Most = ~std::size_t(0);
  EXPECT_THROW(static_cast<void>(largeBuffer(Most - 5)), std::bad_alloc);
  EXPECT_THROW(UninitializedAllocator<double>().allocate(Most / 4), std::bad_alloc);
  if (!testing::Sanitized) {  // the address sanitizer ends the program instead
    EXPECT_THROW(HugePages(std::size_t(1) << 62), std::bad_alloc);
  }
}

TEST(Bytes, LargeMemoryIsUsedAgainByOneAtATime) {
  if (testing::Sanitized) GTEST_SKIP() << "sanitizers are to see each use of it";
  const std::byte* freed = nullptr;
  for (int round = 0; round < 3; ++round) {
    std::vector<Bytes> all;
    for (int i = 0; i < 100; ++i) {
      all.emplace_back(LargeBufferBytes - 50 + static_cast<std::size_t>(i) * 10007,
                       static_cast<std::byte>(i));
    }
    for (int i = 0; i < 100; ++i) {
      const Bytes& bytes = all[static_cast<std::size_t>(i)];
      EXPECT_EQ(bytes, Bytes(bytes.size(), static_cast<std::byte>(i)));
    }
  }
  {
    const Bytes bytes(5 << 20);
    freed = bytes.data();
  }
  EXPECT_GE(keptBufferBytes(), std::size_t(5) << 20);
  EXPECT_EQ(Bytes((5 << 20) - 100).data(), freed);
  freeKeptBuffers();
  EXPECT_EQ(keptBufferBytes(), 0u);
}

TEST(Bytes, BuffersOfAFewHundredMegabytesAreNotKept) {
  // The address sanitizer touches all of the memory.
  for (int i = 0; i < (testing::slowed() ? 8 : 40); ++i) {
    std::vector<Bytes> all;
    for (int j = 0; j <= i % 4; ++j) all.emplace_back().reserve(std::size_t(90) << 20);
    all.clear();
    EXPECT_LE(keptBufferBytes(), std::size_t(256) << 20);
  }
  freeKeptBuffers();
}

}  // namespace
}  // namespace tributary
