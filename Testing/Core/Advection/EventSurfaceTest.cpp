// SPDX-License-Identifier: BSD-3-Clause
// Crossings of triangulated surfaces by segments: exact where these touch edges and corners, and in
// the order along the segment.

#include "Tributary/Advection/Targets/EventSurface.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "Advection/Surfaces.h"
#include "Support/World.h"
#include "Tributary/Advection/Targets/detail/ExactNumber.h"

namespace tributary::testing {
namespace {

using detail::ExactNumber;

StepChord chordOf(const Vector& from, const Vector& to) {
  StepChord chord;
  chord.images = 1;
  chord.image[0].number = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    chord.image[0].from[a] = from[a];
    chord.image[0].to[a] = to[a];
    chord.low[a] = -1e300;
    chord.high[a] = 1e300;
  }
  return chord;
}

std::vector<SurfaceHit> hitsOf(const EventSurface& surface, const Vector& from, const Vector& to,
                               EventDirection direction = EventDirection::Any) {
  const StepChord chord = chordOf(from, to);
  std::vector<SurfaceHit> hits;
  SurfaceHit hit;
  while (surface.findNext(chord, direction, hit, hit)) hits.push_back(hit);
  EXPECT_TRUE(direction != EventDirection::Any ||
              surface.isCrossed(from.data(), to.data()) == !hits.empty());
  return hits;
}

TEST(ExactNumber, HasTheSignsOfIntegers) {
  std::mt19937_64 random(1);
  const auto small = [&] { return std::int64_t(random() % (1 << 20)) - (1 << 19); };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t a = small(), b = small(), c = small(), d = a - small() % 3;
    const __int128 wide = __int128(a) * b * c - __int128(d) * b * c + c - c % 7;
    const auto exact = [](std::int64_t n) { return ExactNumber(double(n)); };
    const ExactNumber number = exact(a) * exact(b) * exact(c) - exact(d) * exact(b) * exact(c) +
                               ExactNumber::difference(double(c), double(c % 7));
    EXPECT_EQ(number.sign(), wide > 0 ? 1 : wide < 0 ? -1 : 0);
    EXPECT_EQ(number.rounded(), double(wide));
  }
  // 1 is lost in a sum of doubles.
  ExactNumber sum(1e30);
  sum.add(1);
  sum.add(-1e30);
  EXPECT_EQ(sum.rounded(), 1);
  const ExactNumber tiny = ExactNumber::difference(1, 0x1p-60);
  EXPECT_EQ((tiny * tiny - ExactNumber(1)).sign(), -1);
  EXPECT_EQ((tiny * tiny - tiny * tiny).sign(), 0);
}

// Corners and points have small whole coordinates, so segments begin and end on the surface, and
// pass along edges, through corners and in faces. Inside is a formula.
TEST(EventSurface, IsCrossedAlternatelyByAnyChainOfSegments) {
  for (const int parts : {1, 4}) {
    const EventSurface surface(octahedron({0, 0, 0}, 4, parts));
    EXPECT_EQ(surface.size(), 8 * parts * parts);
    std::mt19937_64 random(7);
    const auto whole = [&] { return double(random() % 11) - 5; };
    std::size_t crossings = 0, onSurface = 0;
    for (int chain = 0; chain < 300; ++chain) {
      Vector from{-9, whole(), whole()};  // outside
      bool isInside = false;
      for (int i = 0; i < 40; ++i) {
        const Vector to{whole(), whole(), whole()};
        for (const SurfaceHit& hit : hitsOf(surface, from, to)) {
          ASSERT_EQ(hit.alongNormal, isInside) << "chain " << chain << ", segment " << i;
          isInside = !isInside;
          ++crossings;
        }
        const double size = std::fabs(to[0]) + std::fabs(to[1]) + std::fabs(to[2]);
        onSurface += size == 4;
        if (size != 4) {
          ASSERT_EQ(isInside, size < 4) << "chain " << chain << ", segment " << i;
        }
        from = to;
      }
    }
    EXPECT_GT(crossings, 3000u);
    EXPECT_GT(onSurface, 300u);
  }
}

TEST(EventSurface, IsCrossedAtEdgesAndCornersOnce) {
  for (const int parts : {1, 2, 8}) {
    const EventSurface surface(octahedron({0, 0, 0}, 1, parts));
    const std::vector<Vector> targets{{0, 0, 0}, {0, 0.5, 0}, {0, 0.25, 0.25}, {0, 0, -0.5}};
    for (const Vector& at : targets)
      for (const double where : {-1.0, -0.5, -0.25, 0.25, 0.75}) {
        std::vector<SurfaceHit> hits = hitsOf(surface, {-3, at[1], at[2]}, {where, at[1], at[2]});
        const auto further = hitsOf(surface, {where, at[1], at[2]}, {3, at[1], at[2]});
        hits.insert(hits.end(), further.begin(), further.end());
        ASSERT_EQ(hits.size(), 2u) << parts << " parts, " << at[1] << ", " << at[2];
        EXPECT_FALSE(hits[0].alongNormal);
        EXPECT_TRUE(hits[1].alongNormal);
      }
  }
}

TEST(EventSurface, IsCrossedWhereBruteForceSaysInThatOrder) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> place(-1, 1);
  const auto point = [&] { return Vector{place(random), place(random), place(random)}; };
  std::vector<SurfaceTriangle> triangles;
  for (int i = 0; i < 200; ++i)
    triangles.push_back(triangle(point(), point(), point(), std::int64_t(i)));
  const EventSurface surface(triangles);
  std::shuffle(triangles.begin(), triangles.end(), random);
  triangles.insert(triangles.end(), triangles.begin(), triangles.begin() + 50);  // twice
  const EventSurface shuffled(triangles);
  ASSERT_EQ(shuffled.size(), 200);
  triangles.resize(200);
  std::size_t all = 0;
  for (int i = 0; i < 150; ++i) {
    const Vector from = point(), to = point();
    const Vector along{to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    for (const EventDirection direction :
         {EventDirection::Any, EventDirection::Positive, EventDirection::Negative}) {
      std::vector<std::pair<double, std::int64_t>> expected;
      for (const SurfaceTriangle& t : triangles) {
        const auto at = crossingOf(t, from, along);
        const Vector n = normalOf(t);
        const bool isUp = n[0] * along[0] + n[1] * along[1] + n[2] * along[2] > 0;
        if (at && *at > 0 && *at < 1 &&
            (direction == EventDirection::Any || (direction == EventDirection::Positive) == isUp))
          expected.emplace_back(*at, t.label);
      }
      std::sort(expected.begin(), expected.end());
      const auto found = hitsOf(surface, from, to, direction);
      const auto again = hitsOf(shuffled, from, to, direction);
      ASSERT_EQ(found.size(), expected.size());
      ASSERT_EQ(again.size(), expected.size());
      for (std::size_t n = 0; n < found.size(); ++n) {
        EXPECT_EQ(surface.label(found[n].triangle), expected[n].second);
        EXPECT_EQ(again[n].triangle, found[n].triangle) << "the order of triangles matters";
      }
      all += found.size();
    }
  }
  EXPECT_GT(all, 1500u);
}

/// The least distance from a point to a grid of points of a triangle.
double distanceTo(const SurfaceTriangle& t, const Vector& x) {
  constexpr int Parts = 12;
  double least = 1e9;
  for (int u = 0; u <= Parts; ++u)
    for (int v = 0; u + v <= Parts; ++v) {
      double sum = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double y = u * t.corner[0][a] + v * t.corner[1][a] + (Parts - u - v) * t.corner[2][a];
        sum += (y / Parts - x[a]) * (y / Parts - x[a]);
      }
      least = std::min(least, std::sqrt(sum));
    }
  return least;
}

TEST(EventSurface, FindsTheClosestTriangle) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> place(-1, 1);
  std::vector<SurfaceTriangle> triangles = sphereMesh({0.1, 0, 0}, 0.8, 6);
  for (std::size_t i = 0; i < triangles.size(); ++i) triangles[i].label = std::int64_t(i);
  const EventSurface surface(triangles);
  for (int i = 0; i < 200; ++i) {
    const Vector x{place(random), place(random), place(random)};
    const auto start = std::int32_t(random() % std::uint64_t(surface.size()));
    const std::int32_t closest = surface.closest(start, x.data());
    double least = 1e9;
    for (const SurfaceTriangle& t : triangles) least = std::min(least, distanceTo(t, x));
    // A triangle is closer than the points of the grid by less than their distance.
    EXPECT_LE(distanceTo(triangles[std::size_t(surface.label(closest))], x), least + 0.02);
    EXPECT_LE(std::fabs(surface.distance(closest, x.data())), least + 1e-12);
    EXPECT_EQ(surface.closest(closest, x.data()), closest);
  }
}

TEST(EventSurface, LeavesOutTrianglesWithoutArea) {
  std::vector<SurfaceTriangle> triangles{triangle({0, 0, 0}, {1, 1, 1}, {2, 2, 2}),
                                         triangle({0, 0, 0}, {0, 0, 0}, {1, 0, 0})};
  const EventSurface nothing(triangles);
  EXPECT_EQ(nothing.size(), 0);
  EXPECT_TRUE(nothing.bounds().empty());
  EXPECT_TRUE(hitsOf(nothing, {-1, -1, -1}, {1, 2, 3}).empty());
  triangles.push_back(triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 9));
  triangles.push_back(triangle({0, 0, 0}, {1, 0, 0}, {-0.0, 1, -0.0}, 8));
  const EventSurface one(triangles);
  ASSERT_EQ(one.size(), 1);
  EXPECT_EQ(one.label(0), 8);
  EXPECT_EQ(hitsOf(one, {0.2, 0.2, -1}, {0.2, 0.2, 1}).size(), 1u);
  EXPECT_GT(one.memory(), sizeof(SurfaceTriangle));
}

TEST(EventSurface, IsNotCrossedFromFarAway) {
  const EventSurface surface(octahedron({0, 0, 0}, 1));
  for (const double x : {1e40, 1.1e40, 1e300, std::numeric_limits<double>::infinity()}) {
    const auto count = hitsOf(surface, {0.1, 0.2, 0.3}, {x, 0.2, 0.3}).size();
    EXPECT_EQ(count, x > 1e40 ? 0u : 1u) << x;
  }
  EXPECT_TRUE(hitsOf(surface, {0, 0, 0}, {std::nan(""), 0, 2}).empty());
}

TEST(EventSurface, RefusesWhatIsNone) {
  const auto refusal = [](double x) {
    return errorOf([&] { EventSurface surface({triangle({0, 0, x}, {1, 0, 0}, {0, 1, 0})}); });
  };
  EXPECT_EQ(refusal(1e40), "");
  for (const double x : {std::nan(""), std::numeric_limits<double>::infinity(), -1.1e40})
    EXPECT_NE(refusal(x).find("use finite coordinates"), std::string::npos) << x;
  const EventSurface surface(octahedron({0, 0, 0}, 1));
  const double x[3] = {0, 0, 0};
  for (const std::int32_t t : {-1, 8}) {
    EXPECT_NE(errorOf([&] { static_cast<void>(surface.label(t)); }), "");
    EXPECT_NE(errorOf([&] { static_cast<void>(surface.distance(t, x)); }), "");
    EXPECT_NE(errorOf([&] { static_cast<void>(surface.closest(t, x)); }), "");
  }
}

}  // namespace
}  // namespace tributary::testing
