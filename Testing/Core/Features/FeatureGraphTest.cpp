// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/FeatureGraph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Features/FeatureOverlap.h"
#include "Tributary/Transport/Loopback.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::ForwardingTransport;
using testing::mix;
using testing::onRanks;
using testing::Sanitized;
using testing::underAdversaries;

using Place = std::array<double, 3>;

// Of all ranks, in the order of ranks.
template <class T>
std::vector<T> collectively(Transport& transport, const std::vector<T>& mine) {
  return allgatherv(transport, mine);
}

auto asTuple(const TrackedFeature& f) {
  return std::make_tuple(f.track, f.firstStep, f.facts.size, f.facts.centroid, f.velocity);
}
auto asTuple(const FeatureEdge& e) {
  return std::make_tuple(e.after, e.before, e.trackBefore, e.trackAfter, e.successors,
                         e.predecessors, e.volume, e.fraction);
}
auto asTuple(const FeatureEvent& e) {
  return std::make_tuple(e.kind, e.feature, e.track, e.parts, e.centroid);
}

/// What a step adds to a graph on all ranks, in an order that does not depend on them.
struct Gathered {
  std::vector<decltype(asTuple(TrackedFeature()))> features;
  std::vector<decltype(asTuple(FeatureEdge()))> edges;
  std::vector<decltype(asTuple(FeatureEvent()))> events;

  bool operator==(const Gathered& other) const {
    return features == other.features && edges == other.edges && events == other.events;
  }
  /// How many there are of a kind.
  std::size_t count(FeatureEventKind kind) const {
    return static_cast<std::size_t>(
        std::count_if(events.begin(), events.end(),
                      [&](const auto& event) { return std::get<0>(event) == kind; }));
  }
};

Gathered gather(Transport& transport, const TrackedStep& step) {
  Gathered all;
  for (const auto& feature : collectively(transport, step.features))
    all.features.push_back(asTuple(feature));
  for (const auto& edge : collectively(transport, step.edges)) all.edges.push_back(asTuple(edge));
  for (const auto& event : collectively(transport, step.events))
    all.events.push_back(asTuple(event));
  std::sort(all.events.begin(), all.events.end());
  return all;
}

/// This rank's share of what all ranks know.
FeatureStep shareOf(const Transport& transport, double time, const std::vector<FeatureFacts>& all) {
  const Shares shares{static_cast<std::int64_t>(all.size()), transport.size()};
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(shares.first(transport.rank()));
  return {time, shares.total, {first, first + shares.count(transport.rank())}};
}

// ---- Random steps against the rules as the header states them ----

/// Overlaps of two random steps, one of which may be empty.
struct RandomStep {
  std::vector<FeatureFacts> features;
  std::vector<FeatureOverlap> overlaps;  // with the step before, parts
};

const FixedScale UnitScale(100);

std::vector<RandomStep> randomSteps(std::uint64_t seed) {
  std::vector<RandomStep> steps;
  for (std::uint64_t s = 0; s < 6; ++s) {
    const std::uint64_t random = mix(seed * 100 + s);
    RandomStep& step = steps.emplace_back();
    const std::size_t count = random % 5 == 0 ? 0 : random % 23;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t own = mix(random + i);
      FeatureFacts& facts = step.features.emplace_back();
      facts.size = static_cast<double>(own % 6) * 1.25;  // some are nothing
      for (std::size_t a = 0; a < 3; ++a)
        facts.centroid[a] = static_cast<double>(mix(own + a) % 1000) / 7;
    }
    const std::size_t before = s > 0 ? steps[s - 1].features.size() : 0;
    for (std::uint64_t i = 0; before > 0 && count > 0 && i < 3 * count; ++i) {
      const std::uint64_t own = mix(random * 31 + i);
      step.overlaps.push_back({static_cast<std::int64_t>(own % before), 0,
                               static_cast<std::int64_t>(own / before % count),
                               UnitScale.fixed(static_cast<double>(own >> 40 & 3) * 0.5)});
    }
  }
  return steps;
}

/// The graph of one hand: nothing but loops over all pairs.
class Reference {
 public:
  explicit Reference(const TrackingOptions& options) : options_(options) {}

  Gathered advance(double time, const RandomStep& step) {
    const std::size_t n = rows_.size(), m = step.features.size();
    std::vector<std::vector<double>> volume(n, std::vector<double>(m, 0));
    for (const FeatureOverlap& o : step.overlaps)
      volume[index(o.before)][index(o.after)] += UnitScale.value(o.volume);  // exact: halves
    const auto fraction = [&](std::size_t f, std::size_t g) {
      const double a = rows_[f].facts.size, b = step.features[g].size;
      const double whole =
          options_.overlapOf == OverlapOf::Smaller ? std::min(a, b) : std::max(a, b);
      return whole > 0 ? volume[f][g] / whole : 0;
    };
    const auto counts = [&](std::size_t f, std::size_t g) {
      return volume[f][g] > 0 && fraction(f, g) >= options_.minimumOverlap;
    };
    const auto isMainBefore = [&](std::size_t f, std::size_t g) {
      for (std::size_t other = 0; other < m; ++other)
        if (counts(f, other) &&
            (volume[f][other] > volume[f][g] || (volume[f][other] == volume[f][g] && other < g)))
          return false;
      return true;
    };
    const auto isMainAfter = [&](std::size_t f, std::size_t g) {
      for (std::size_t other = 0; other < n; ++other)
        if (counts(other, g) &&
            (volume[other][g] > volume[f][g] ||
             (volume[other][g] == volume[f][g] && rows_[other].track < rows_[f].track)))
          return false;
      return true;
    };
    const auto isLinked = [&](std::size_t f, std::size_t g) {
      if (!counts(f, g)) return false;
      if (options_.match == FeatureMatch::Best) return isMainBefore(f, g) && isMainAfter(f, g);
      return isMainBefore(f, g) || isMainAfter(f, g) ||
             fraction(f, g) >= options_.minimumSecondaryOverlap;
    };
    const auto successors = [&](std::size_t f) {
      std::int64_t sum = 0;
      for (std::size_t g = 0; g < m; ++g) sum += isLinked(f, g);
      return sum;
    };
    const auto predecessors = [&](std::size_t g) {
      std::int64_t sum = 0;
      for (std::size_t f = 0; f < n; ++f) sum += isLinked(f, g);
      return sum;
    };

    Gathered all;
    std::vector<TrackedFeature> rows;
    for (std::size_t g = 0; g < m; ++g) {
      TrackedFeature& row = rows.emplace_back();
      row.facts = step.features[g];
      row.track = -1;
      row.firstStep = steps_;
      double weight = 0;
      for (std::size_t f = 0; f < n; ++f) {
        if (!isLinked(f, g)) continue;
        weight += volume[f][g];
        for (std::size_t a = 0; a < 3; ++a) row.velocity[a] += rows_[f].velocity[a] * volume[f][g];
      }
      for (std::size_t a = 0; a < 3 && weight > 0; ++a) row.velocity[a] /= weight;
      for (std::size_t f = 0; f < n; ++f) {
        if (!isLinked(f, g) || !isMainBefore(f, g) || !isMainAfter(f, g)) continue;
        row.track = rows_[f].track;
        row.firstStep = rows_[f].firstStep;
        const double a = rows_[f].facts.size, b = row.facts.size;
        if ((successors(f) == 1 && predecessors(g) == 1) || std::min(a, b) >= 0.75 * std::max(a, b))
          for (std::size_t x = 0; x < 3; ++x)
            row.velocity[x] = (row.facts.centroid[x] - rows_[f].facts.centroid[x]) / (time - time_);
      }
      if (row.track < 0) row.track = tracks_++;
    }
    for (std::size_t g = 0; g < m; ++g) {
      const auto number = static_cast<std::int64_t>(g);
      const TrackedFeature& row = rows[g];
      all.features.push_back(asTuple(row));
      for (std::size_t f = 0; f < n; ++f)
        if (isLinked(f, g))
          all.edges.push_back(
              asTuple(FeatureEdge{static_cast<std::int64_t>(f), number, rows_[f].track, row.track,
                                  successors(f), predecessors(g), volume[f][g], fraction(f, g)}));
      if (predecessors(g) == 0)
        all.events.push_back(asTuple(
            FeatureEvent{FeatureEventKind::Birth, number, row.track, 0, row.facts.centroid}));
      if (predecessors(g) > 1)
        all.events.push_back(asTuple(FeatureEvent{FeatureEventKind::Merge, number, row.track,
                                                  predecessors(g), row.facts.centroid}));
    }
    for (std::size_t f = 0; f < n; ++f) {
      const auto number = static_cast<std::int64_t>(f);
      const TrackedFeature& row = rows_[f];
      if (successors(f) == 0)
        all.events.push_back(asTuple(
            FeatureEvent{FeatureEventKind::Death, number, row.track, 0, row.facts.centroid}));
      if (successors(f) > 1)
        all.events.push_back(asTuple(FeatureEvent{FeatureEventKind::Split, number, row.track,
                                                  successors(f), row.facts.centroid}));
    }
    std::sort(all.events.begin(), all.events.end());
    rows_ = rows;
    time_ = time;
    ++steps_;
    return all;
  }

 private:
  TrackingOptions options_;
  std::vector<TrackedFeature> rows_;
  double time_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t tracks_ = 0;
};

TrackingOptions optionsOf(std::uint64_t seed) {
  TrackingOptions options;
  options.match = seed % 3 == 0 ? FeatureMatch::Best : FeatureMatch::All;
  options.overlapOf = seed % 2 == 0 ? OverlapOf::Smaller : OverlapOf::Larger;
  options.minimumOverlap = static_cast<double>(seed % 4) * 0.1;
  options.minimumSecondaryOverlap = static_cast<double>(seed % 5) * 0.25;
  return options;
}

/// Each overlap on some rank or other, in the reference's order or not.
std::vector<FeatureOverlap> dealt(const Transport& transport, std::uint64_t seed,
                                  const std::vector<FeatureOverlap>& all) {
  std::vector<FeatureOverlap> mine;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (mix(seed + i) % static_cast<std::uint64_t>(transport.size()) ==
        static_cast<std::uint64_t>(transport.rank()))
      mine.push_back(all[i]);
  if (seed % 2 == 0) std::reverse(mine.begin(), mine.end());
  return mine;
}

void compareWithReference(Transport& transport, std::uint64_t seed) {
  const TrackingOptions options = optionsOf(seed);
  FeatureGraph graph(transport, options);
  Reference reference(options);
  double time = -1;
  for (const RandomStep& step : randomSteps(seed)) {
    time += 0.5;
    const Gathered expected = reference.advance(time, step);
    const TrackedStep tracked = graph.advance(shareOf(transport, time, step.features),
                                              dealt(transport, seed, step.overlaps), UnitScale);
    EXPECT_TRUE(gather(transport, tracked) == expected) << "seed " << seed << ", time " << time;
    EXPECT_EQ(tracked.first,
              Shares({static_cast<std::int64_t>(step.features.size()), transport.size()})
                  .first(transport.rank()));
    std::vector<std::int64_t> numbers, tracks;
    for (std::size_t i = step.features.size(); i-- > 0;) {
      numbers.push_back(static_cast<std::int64_t>(i));
      tracks.push_back(std::get<0>(expected.features[i]));
    }
    EXPECT_EQ(graph.tracksOf(numbers), tracks);
  }
}

TEST(FeatureGraph, IsThatOfItsRules) {
  const bool isSlow = Sanitized || testing::world().size() > 1;
  for (std::uint64_t seed = 0; seed < (isSlow ? 12 : 120); ++seed)
    onRanks(static_cast<int>(1 + seed % 5),
            [&](Transport& transport) { compareWithReference(transport, seed); });
}

TEST(FeatureGraph, IsTheSameWhateverArrivesFirst) {
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  underAdversaries(Sanitized ? 5 : 30, [](std::uint64_t seed, Transport& transport) {
    compareWithReference(transport, seed);
  });
}

// ---- Things that move over a grid of squares ----

/// A step as an image: the features are its connected squares that are filled.
class Picture {
 public:
  static constexpr std::int64_t Size = 48;

  explicit Picture(const std::function<bool(double x, double y)>& isFilled)
      : labels_(index(Size * Size), -1) {
    for (std::int64_t s = 0; s < Size * Size; ++s)
      if (isFilled(centerOf(s)[0], centerOf(s)[1]) && labels_[index(s)] < 0) flood(s, isFilled);
  }

  const std::vector<FeatureFacts>& features() const { return features_; }
  std::int64_t at(double x, double y) const {
    const auto i = static_cast<std::int64_t>(std::floor(x));
    const auto j = static_cast<std::int64_t>(std::floor(y));
    return i < 0 || j < 0 || i >= Size || j >= Size ? -1 : labels_[index(j * Size + i)];
  }
  /// Every rank has some rows of squares; which ones changes with the seed.
  static bool isRow(const Transport& transport, std::uint64_t seed, std::int64_t j) {
    const auto ranks = static_cast<std::uint64_t>(transport.size());
    return (static_cast<std::uint64_t>(j) * ranks / Size + seed) % ranks ==
           static_cast<std::uint64_t>(transport.rank());
  }
  std::vector<FeatureSample> samples(const Transport& transport, std::uint64_t seed) const {
    std::vector<FeatureSample> samples;
    for (std::int64_t s = 0; s < Size * Size; ++s)
      if (labels_[index(s)] >= 0 && isRow(transport, seed, s / Size))
        samples.push_back({centerOf(s), labels_[index(s)], 0, UnitScale.fixed(1)});
    return samples;
  }
  std::vector<FeatureOverlap> overlaps(Transport& transport, std::uint64_t seed,
                                       const std::vector<FeatureSample>& earlier) const {
    std::vector<Box> boxes;
    for (std::int64_t j = 0; j < Size; ++j)
      if (isRow(transport, seed, j))
        boxes.push_back({{0, double(j), -1}, {double(Size), double(j + 1), 1}});
    const auto reaches = gatherReaches(transport, boxes);
    return findOverlaps(transport, earlier, reaches, [&](const Place& place) {
      // A place on a border is in the squares of both sides, as far as they are this rank's.
      std::int64_t least = -1;
      for (const double dx : {0.0, -1.0}) {
        for (const double dy : {0.0, -1.0}) {
          const double x = place[0] == std::floor(place[0]) ? place[0] + dx : place[0];
          const double y = place[1] == std::floor(place[1]) ? place[1] + dy : place[1];
          const auto j = static_cast<std::int64_t>(std::floor(y));
          if (j < 0 || j >= Size || !isRow(transport, seed, j)) continue;
          const std::int64_t feature = at(x, y);
          if (feature >= 0 && (least < 0 || feature < least)) least = feature;
        }
      }
      return FeatureAtPlace{false, least};
    });
  }

 private:
  static Place centerOf(std::int64_t square) {
    return {static_cast<double>(square % Size) + 0.5, static_cast<double>(square / Size) + 0.5, 0};
  }
  void flood(std::int64_t first, const std::function<bool(double x, double y)>& isFilled) {
    const auto feature = static_cast<std::int64_t>(features_.size());
    FeatureFacts& facts = features_.emplace_back();
    std::vector<std::int64_t> open = {first};
    labels_[index(first)] = feature;
    while (!open.empty()) {
      const std::int64_t square = open.back();
      open.pop_back();
      const Place center = centerOf(square);
      facts.size += 1;
      for (std::size_t a = 0; a < 2; ++a) facts.centroid[a] += center[a];
      const std::int64_t i = square % Size, j = square / Size;
      const auto visit = [&](std::int64_t x, std::int64_t y) {
        if (x < 0 || y < 0 || x >= Size || y >= Size || labels_[index(y * Size + x)] >= 0) return;
        const Place place = centerOf(y * Size + x);
        if (!isFilled(place[0], place[1])) return;
        labels_[index(y * Size + x)] = feature;
        open.push_back(y * Size + x);
      };
      visit(i - 1, j);
      visit(i + 1, j);
      visit(i, j - 1);
      visit(i, j + 1);
    }
    for (std::size_t a = 0; a < 2; ++a) facts.centroid[a] /= facts.size;
  }

  std::vector<std::int64_t> labels_;
  std::vector<FeatureFacts> features_;
};

/// A step of a film: whether a place is filled at a time.
using Film = std::function<bool(double x, double y, int time)>;

std::vector<Gathered> follow(Transport& transport, const TrackingOptions& options, int steps,
                             const Film& film) {
  FeatureGraph graph(transport, options);
  std::vector<Gathered> all;
  std::vector<FeatureSample> samples;
  for (int time = 0; time < steps; ++time) {
    const auto seed = static_cast<std::uint64_t>(time);  // the squares change hands
    const Picture picture([&](double x, double y) { return film(x, y, time); });
    std::vector<FeatureOverlap> overlaps;
    if (time > 0)
      overlaps = picture.overlaps(transport, seed, graph.moved(samples, static_cast<double>(time)));
    const TrackedStep step =
        graph.advance(shareOf(transport, time, picture.features()), overlaps, UnitScale);
    all.push_back(gather(transport, step));
    samples = picture.samples(transport, seed);
  }
  return all;
}

/// On this program's ranks; and that it is the same on one.
std::vector<Gathered> followOnAll(const TrackingOptions& options, int steps, const Film& film) {
  const auto alone = makeLoopbackTransport();
  const auto expected = follow(*alone, options, steps, film);
  onRanks(3, [&](Transport& transport) {
    EXPECT_TRUE(follow(transport, options, steps, film) == expected);
  });
  return expected;
}

bool isIn(double x, double y, double cx, double cy, double radius) {
  return (x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius;
}

std::vector<std::int64_t> tracksOf(const Gathered& step) {
  std::vector<std::int64_t> tracks;
  for (const auto& feature : step.features) tracks.push_back(std::get<0>(feature));
  std::sort(tracks.begin(), tracks.end());
  return tracks;
}

TEST(FeatureGraph, FollowsWhatMoves) {
  const auto steps = followOnAll({}, 8, [](double x, double y, int time) {
    return isIn(x, y, 8 + 3 * time, 12, 4) || isIn(x, y, 38 - 2 * time, 36, 5);
  });
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(steps[0].count(FeatureEventKind::Birth), 2u);
  for (std::size_t s = 1; s < steps.size(); ++s) {
    EXPECT_TRUE(steps[s].events.empty()) << s;
    EXPECT_EQ(tracksOf(steps[s]), (std::vector<std::int64_t>{0, 1}));
    EXPECT_NEAR(std::get<4>(steps[s].features[0])[0], 3, 1e-12);  // velocity
    EXPECT_NEAR(std::get<4>(steps[s].features[1])[0], -2, 1e-12);
    EXPECT_EQ(std::get<1>(steps[s].features[0]), 0);  // first step
  }
}

TEST(FeatureGraph, FollowsOneThroughAllRanksThatTurns) {
  const auto steps = followOnAll({}, 12, [](double x, double y, int time) {
    const double angle = 0.3 * time, c = std::cos(angle), s = std::sin(angle);
    const double along = c * (x - 24) + s * (y - 24), across = c * (y - 24) - s * (x - 24);
    return std::abs(along) < 22 && std::abs(across) < 2;
  });
  for (std::size_t s = 1; s < steps.size(); ++s) {
    EXPECT_TRUE(steps[s].events.empty()) << s;
    EXPECT_EQ(tracksOf(steps[s]), (std::vector<std::int64_t>{0}));
  }
}

TEST(FeatureGraph, NamesTheLargestPartOfWhatMergesAndSplits) {
  // A small and a large one meet at step 3, and part from step 6 on.
  const auto steps = followOnAll({}, 9, [](double x, double y, int time) {
    const double gap = time < 5 ? 17 - 3 * time : 3 * time - 11;
    return isIn(x, y, 24 - gap / 2, 24, 3) || isIn(x, y, 24 + gap / 2, 24, 5);
  });
  EXPECT_EQ(tracksOf(steps[0]), (std::vector<std::int64_t>{0, 1}));
  std::size_t merges = 0, splits = 0;
  std::int64_t large = -1;
  for (const auto& feature : steps[0].features)
    if (std::get<2>(feature) > 50) large = std::get<0>(feature);
  for (std::size_t s = 1; s < steps.size(); ++s) {
    merges += steps[s].count(FeatureEventKind::Merge);
    splits += steps[s].count(FeatureEventKind::Split);
    EXPECT_EQ(steps[s].count(FeatureEventKind::Birth), 0u) << s;
    EXPECT_EQ(steps[s].count(FeatureEventKind::Death), 0u) << s;
    for (const auto& feature : steps[s].features)
      if (std::get<2>(feature) > 50) {
        EXPECT_EQ(std::get<0>(feature), large) << s;
      }
  }
  EXPECT_EQ(merges, 1u);
  EXPECT_EQ(splits, 1u);
  EXPECT_EQ(tracksOf(steps[8]), (std::vector<std::int64_t>{large, 2}));
}

TEST(FeatureGraph, ThingsThatCrossGoOnAsTheyMoved) {
  // Soon they move by more than they are wide: only where they go on to be do they overlap.
  const Film film = [](double x, double y, int time) {
    const double way = 1.5 * time + 0.25 * time * time;
    return isIn(x, y, 3 + way, 3 + way, 2.5) || isIn(x, y, 45 - way, 3 + way, 2.5);
  };
  const auto sum = [&](const TrackingOptions& options, FeatureEventKind kind) {
    std::size_t events = 0;
    const auto steps = followOnAll(options, 11, film);
    for (std::size_t s = 1; s < steps.size(); ++s) events += steps[s].count(kind);
    return events;
  };
  TrackingOptions estimated;
  estimated.motion = FeatureMotion::Estimated;
  EXPECT_EQ(sum(estimated, FeatureEventKind::Birth), 0u);
  EXPECT_EQ(sum(estimated, FeatureEventKind::Death), 0u);
  EXPECT_EQ(sum(estimated, FeatureEventKind::Merge), 1u);
  EXPECT_EQ(sum(estimated, FeatureEventKind::Split), 1u);
  EXPECT_GT(sum({}, FeatureEventKind::Birth), 4u);  // or nothing would have had to be estimated
}

TEST(FeatureGraph, IsMovedAsItOverlapsMost) {
  onRanks(4, [](Transport& transport) {
    TrackingOptions options;
    options.motion = FeatureMotion::Estimated;
    FeatureGraph graph(transport, options);
    const auto volume = [](double v) { return UnitScale.fixed(v); };
    const auto advance = [&](double time, const std::vector<FeatureFacts>& facts,
                             const std::vector<FeatureOverlap>& overlaps) {
      const bool isFirst = transport.rank() == 0;
      return graph.advance(shareOf(transport, time, facts),
                           isFirst ? overlaps : std::vector<FeatureOverlap>(), UnitScale);
    };
    // Two that approach each other are one from the third step on, with three motions.
    advance(0, {{2, {0, 0, 0}}, {2, {8, 0, 0}}}, {});
    advance(1, {{2, {1, 0, 0}}, {2, {7, 0, 0}}}, {{0, 0, 0, volume(2)}, {1, 0, 1, volume(2)}});
    advance(2, {{4, {4, 0, 0}}}, {{0, 0, 0, volume(2)}, {1, 0, 0, volume(2)}});
    const TrackedStep step = advance(
        3, {{4, {4, 0, 0}}}, {{0, 0, 0, volume(0.5)}, {0, 1, 0, volume(3)}, {0, 2, 0, volume(1)}});
    const std::vector<FeatureEdge> edges = collectively(transport, step.edges);
    ASSERT_EQ(edges.size(), 1u);
    EXPECT_EQ(edges[0].volume, 3);
  });
}

TEST(FeatureGraph, MovesTheShorterWayThroughASide) {
  onRanks(3, [](Transport& transport) {
    TrackingOptions options;
    options.period = {10, 0, 0};
    FeatureGraph graph(transport, options);
    const auto velocityAfter = [&](double time, const FeatureFacts& facts) {
      const bool hasOverlap = time > 0 && transport.rank() == 0;
      const TrackedStep step =
          graph.advance(shareOf(transport, time, {facts}),
                        hasOverlap ? std::vector<FeatureOverlap>{{0, 0, 0, UnitScale.fixed(1)}}
                                   : std::vector<FeatureOverlap>(),
                        UnitScale);
      const auto all = collectively(transport, step.features);
      EXPECT_EQ(all.size(), 1u);
      return all.front().velocity;
    };
    using Velocity = std::array<double, 3>;
    EXPECT_EQ(velocityAfter(0, {1, {9, 9, 0}}), (Velocity{0, 0, 0}));
    EXPECT_EQ(velocityAfter(1, {1, {1, 1, 0}}), (Velocity{2, -8, 0}));
    EXPECT_EQ(velocityAfter(3, {1, {7, 1, 0}}), (Velocity{-2, 0, 0}));
    // The centroid of what leaves nothing of the period free does not move.
    EXPECT_EQ(velocityAfter(4, {1, {5, 2, 0}, 1}), (Velocity{-2, 1, 0}));
    EXPECT_EQ(velocityAfter(5, {1, {9, 3, 0}}), (Velocity{-2, 1, 0}));
    EXPECT_EQ(velocityAfter(6, {1, {9, 3, 0}}), (Velocity{0, 0, 0}));
  });
}

TEST(FeatureGraph, EndsAndBeginsWhereThereIsNothing) {
  const auto steps = followOnAll(
      {}, 6, [](double x, double y, int time) { return time % 3 != 1 && isIn(x, y, 24, 24, 5); });
  EXPECT_EQ(steps[0].count(FeatureEventKind::Birth), 1u);
  EXPECT_EQ(steps[1].count(FeatureEventKind::Death), 1u);
  EXPECT_TRUE(steps[1].features.empty());
  EXPECT_EQ(steps[2].count(FeatureEventKind::Birth), 1u);
  EXPECT_EQ(tracksOf(steps[2]), (std::vector<std::int64_t>{1}));
  EXPECT_TRUE(steps[3].events.empty());
}

TEST(FeatureGraph, HasTenThousandFeaturesDealtToTheRanks) {
  onRanks(4, [](Transport& transport) {
    constexpr std::int64_t Count = 10000;
    FeatureGraph graph(transport, {});
    std::vector<FeatureFacts> facts(index(Count), {1.0, {0, 0, 0}});
    for (int time = 0; time < 3; ++time) {
      std::vector<FeatureOverlap> overlaps;
      for (std::int64_t i = 0; time > 0 && i < Count; ++i)
        if (i % transport.size() == transport.rank())
          overlaps.push_back({i, 0, Count - 1 - i, UnitScale.fixed(1)});  // all change places
      const TrackedStep step = graph.advance(shareOf(transport, time, facts), overlaps, UnitScale);
      const Shares shares{Count, transport.size()};
      ASSERT_EQ(static_cast<std::int64_t>(step.features.size()), shares.count(transport.rank()));
      EXPECT_EQ(step.events.size(), time == 0 ? step.features.size() : 0u);
      for (std::size_t i = 0; i < step.features.size(); ++i) {
        const std::int64_t number = step.first + static_cast<std::int64_t>(i);
        EXPECT_EQ(step.features[i].track, time % 2 == 0 ? number : Count - 1 - number);
      }
    }
    EXPECT_EQ(graph.tracks(), Count);
  });
}

// ---- Saved and loaded ----

TEST(FeatureGraph, GoesOnFromWhatWasSavedOnAnyRanks) {
  onRanks(3, [](Transport& transport) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const TrackingOptions options = optionsOf(seed);
      const auto steps = randomSteps(seed);
      FeatureGraph whole(transport, options);
      const auto take = [&](FeatureGraph& graph, Transport& ranks, std::size_t s) {
        return gather(ranks, graph.advance(shareOf(ranks, double(s), steps[s].features),
                                           dealt(ranks, seed, steps[s].overlaps), UnitScale));
      };
      for (std::size_t s = 0; s + 1 < steps.size(); ++s) {
        take(whole, transport, s);
        // Every rank's part goes to another rank.
        const std::vector<Bytes> all = allgatherBytes(transport, whole.save());
        FeatureGraph again(transport, options);
        std::vector<Bytes> mine;
        for (std::size_t r = 0; r < all.size(); ++r)
          if ((r + 1) % all.size() == index(transport.rank())) mine.push_back(all[r]);
        again.load(mine);
        EXPECT_EQ(again.steps(), whole.steps());
        EXPECT_EQ(again.tracks(), whole.tracks());
        EXPECT_EQ(again.time(), whole.time());
        const auto alone = makeLoopbackTransport();
        FeatureGraph onOne(*alone, options);
        onOne.load(all);
        FeatureGraph next(transport, options);
        next.load(mine);
        const Gathered expected = take(next, transport, s + 1);
        EXPECT_TRUE(take(again, transport, s + 1) == expected);
        EXPECT_TRUE(take(onOne, *alone, s + 1) == expected);
      }
    }
  });
}

TEST(FeatureGraph, RefusesWhatWasNotSavedSo) {
  onRanks(3, [](Transport& transport) {
    const bool isFirst = transport.rank() == 0;
    FeatureGraph graph(transport, {});
    const std::vector<FeatureFacts> facts(5, {1.0, {0, 0, 0}});
    static_cast<void>(graph.advance(shareOf(transport, 0, facts), {}, UnitScale));
    const std::vector<Bytes> all = allgatherBytes(transport, graph.save());
    static_cast<void>(graph.advance(shareOf(transport, 1, facts), {}, UnitScale));
    const std::vector<Bytes> later = allgatherBytes(transport, graph.save());
    const auto errorWith = [&](const std::vector<Bytes>& parts) {
      return errorOf([&] { FeatureGraph(transport, {}).load(parts); });
    };
    using Parts = std::vector<Bytes>;
    EXPECT_NE(errorWith({}).find("no saved"), std::string::npos);
    EXPECT_NE(errorWith(all).find(transport.size() > 1 ? "twice" : ""), std::string::npos);
    Parts mixed = isFirst ? all : Parts();
    if (isFirst) mixed.push_back(later.front());
    EXPECT_NE(errorWith(mixed).find("different steps"), std::string::npos);
    Parts twice = isFirst ? all : Parts();
    if (isFirst) twice.push_back(all.back());
    EXPECT_NE(errorWith(twice).find("twice"), std::string::npos);
    if (transport.size() > 1) {
      Parts some = isFirst ? Parts{all.back()} : Parts();
      EXPECT_NE(errorWith(some).find("missing"), std::string::npos);
    }
    for (const std::size_t word : {0u, 1u, 2u, 4u, 5u, 6u}) {
      Parts damaged = isFirst ? all : Parts();
      for (Bytes& part : damaged) part[8 * word + 7] = std::byte(0x81);
      EXPECT_NE(errorWith(damaged), "") << word;
    }
    // Numbers for which there is no memory, or beyond which later ones overflow.
    for (const std::size_t word : {1u, 2u, 4u, 5u}) {
      Parts damaged = isFirst ? all : Parts();
      for (Bytes& part : damaged) {
        std::fill_n(part.begin() + static_cast<std::ptrdiff_t>(8 * word), 7, std::byte(0xff));
        part[8 * word + 7] = std::byte(0x7f);
      }
      try {
        FeatureGraph(transport, {}).load(damaged);
        ADD_FAILURE() << word;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Input) << word << ": " << error.what();
      }
    }
    for (std::size_t size = 0; size < all.back().size(); size += 5) {
      Parts cut = isFirst ? all : Parts();
      if (isFirst) cut.back().resize(size);
      EXPECT_NE(errorWith(cut), "") << size;
    }
    graph.load(isFirst ? all : Parts());  // after all of that
    EXPECT_EQ(graph.steps(), 1);
  });
}

// ---- Errors ----

TEST(FeatureGraph, WrongArgumentsAreRefusedOnAllRanks) {
  onRanks(3, [](Transport& transport) {
    const bool isLast = transport.rank() == transport.size() - 1;
    TrackingOptions wrong;
    wrong.minimumOverlap = isLast ? 1.5 : 0.5;
    EXPECT_NE(errorOf([&] { FeatureGraph(transport, wrong); }).find("1.5"), std::string::npos);
    wrong.minimumOverlap = 0.5;
    for (const double period : {-3.5, std::nan("")}) {
      wrong.period[1] = isLast ? period : 1;
      EXPECT_NE(errorOf([&] { FeatureGraph(transport, wrong); }).find("period"), std::string::npos);
    }
    FeatureGraph graph(transport, {});
    const std::vector<FeatureFacts> facts(7, {1.0, {0, 0, 0}});
    const FeatureStep first = shareOf(transport, 1, facts);
    const auto errorWith = [&](const FeatureStep& step, std::vector<FeatureOverlap> overlaps) {
      return errorOf([&] { return graph.advance(step, std::move(overlaps), UnitScale); });
    };
    const auto changed = [&](double time, auto&& change) {
      FeatureStep step = shareOf(transport, time, facts);
      if (isLast) change(step);
      return step;
    };
    const auto nan = std::nan("");
    EXPECT_NE(errorWith(changed(1, [&](FeatureStep& s) { s.time = nan; }), {}), "");
    EXPECT_NE(errorWith(changed(1, [](FeatureStep& s) { s.features.pop_back(); }), {}), "");
    EXPECT_NE(errorWith(changed(1, [&](FeatureStep& s) { s.features[0].size = nan; }), {}), "");
    EXPECT_NE(errorWith(changed(1, [](FeatureStep& s) { s.features[0].size = -1; }), {}), "");
    EXPECT_NE(errorWith(changed(1, [&](FeatureStep& s) { s.features[0].centroid[2] = nan; }), {}),
              "");
    EXPECT_NE(errorWith(first, {{0, 0, 0, 1}}), "") << "there is no step before";
    if (transport.size() > 1) {
      EXPECT_NE(errorWith(changed(1, [](FeatureStep& s) { s.time = 2; }), {}).find("different"),
                std::string::npos);
    }
    EXPECT_EQ(graph.steps(), 0);
    static_cast<void>(graph.advance(first, {}, UnitScale));
    EXPECT_NE(errorWith(first, {}).find("in the order"), std::string::npos);
    const FeatureStep second = shareOf(transport, 2, facts);
    const auto overlap = [&](std::int64_t before, std::int64_t motion, std::int64_t after) {
      return isLast ? std::vector<FeatureOverlap>{{before, motion, after, 1}}
                    : std::vector<FeatureOverlap>();
    };
    EXPECT_NE(errorWith(second, overlap(7, 0, 0)), "");
    EXPECT_NE(errorWith(second, overlap(-1, 0, 0)), "");
    EXPECT_NE(errorWith(second, overlap(0, 0, 7)), "");
    EXPECT_NE(errorWith(second, overlap(0, 0, -1)), "");
    EXPECT_NE(errorWith(second, overlap(0, 1, 0)), "");
    EXPECT_NE(errorWith(second, overlap(0, -1, 0)), "");
    EXPECT_NE(errorOf([&] { (void)graph.tracksOf({isLast ? 7 : 0}); }), "");
    EXPECT_EQ(graph.steps(), 1);
    EXPECT_EQ(graph.advance(second, {}, UnitScale).step, 1);  // it can be used on
  });
}

/// Changes a word of each tenth message or so that a rank receives.
class DamagingTransport : public ForwardingTransport {
 public:
  DamagingTransport(Transport& inner, std::uint64_t seed)
      : ForwardingTransport(inner), seed_(seed) {}

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (!envelope || (topic != Topic::Work && topic != Topic::Setup)) return envelope;
    const std::uint64_t random = mix(seed_++);
    Bytes& bytes = envelope->bytes;
    if (random % 10 != 0 || bytes.size() < 16) return envelope;
    const std::size_t at = (bytes.size() / 8 - 1 - (random >> 8) % (bytes.size() / 8)) * 8;
    const std::uint64_t words[] = {~std::uint64_t(0), 7, std::uint64_t(1) << 40,
                                   std::uint64_t(1) << 62};
    std::memcpy(bytes.data() + at, &words[random >> 32 & 3], 8);
    return envelope;
  }

 private:
  std::uint64_t seed_;
};

TEST(FeatureGraph, DamagedMessagesDoNoHarm) {
  if (testing::world().size() > 1) GTEST_SKIP() << "simulated ranks need one process";
  int refused = 0, harmless = 0;
  for (std::uint64_t seed = 0; seed < (Sanitized ? 60 : 300); ++seed) {
    VirtualTimeNetworkOptions options;
    options.ranks = 3;
    options.deadlockSeconds = 200;
    const auto network = makeVirtualTimeNetwork(options);
    const std::string error = errorOf([&] {
      network->run([&](Transport& honest) {
        DamagingTransport damaging(honest, seed * 1000);
        Transport& transport = honest.rank() == 1 ? damaging : honest;
        TrackingOptions tracking = optionsOf(seed);
        tracking.motion = FeatureMotion::Estimated;
        FeatureGraph graph(transport, tracking);
        double time = 0;
        std::vector<FeatureSample> samples;
        for (const RandomStep& step : randomSteps(seed)) {
          if (time > 0) (void)graph.moved(samples, time);
          static_cast<void>(graph.advance(shareOf(transport, time, step.features),
                                          dealt(transport, seed, step.overlaps), UnitScale));
          samples.clear();
          for (std::size_t i = 0; i < step.features.size(); ++i)
            samples.push_back({step.features[i].centroid, static_cast<std::int64_t>(i), 0, 1});
          time += 1;
        }
      });
    });
    (error.empty() ? harmless : refused) += 1;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(harmless, 0);
}

// ---- Overlaps ----

/// Unit squares dealt to ranks at random, some twice, each with a feature; samples in them, beside
/// them and on their borders. Some places are those of squares, which are the only ones there then.
void comparePlaces(Transport& transport, std::uint64_t seed) {
  constexpr std::int64_t Size = 9;
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  const auto here = static_cast<std::uint64_t>(transport.rank());
  const auto featureOf = [&](std::int64_t square) {
    const std::uint64_t random = mix(seed * 999 + static_cast<std::uint64_t>(square));
    return random % 3 == 0 ? -1 : static_cast<std::int64_t>(random / 3 % 12);
  };
  const auto boxOf = [](std::int64_t square) {
    const auto i = static_cast<double>(square % Size), j = static_cast<double>(square / Size);
    return Box{{i, j, 0}, {i + 1, j + 1, 0}};
  };
  const auto isOfSquare = [](const Place& place, std::int64_t square) {
    return mix(static_cast<std::uint64_t>(100 * place[0] + 3000 * place[1] + 200000) * 1000 +
               static_cast<std::uint64_t>(square)) %
               3 ==
           0;
  };
  const auto featureAt = [&](const std::vector<std::int64_t>& squares, const Place& place) {
    std::int64_t least[2] = {-1, -1};
    bool isOfPart = false;
    for (const std::int64_t s : squares) {
      if (!boxOf(s).contains(place.data())) continue;
      const bool isOf = isOfSquare(place, s);
      isOfPart |= isOf;
      std::int64_t& lowest = least[isOf ? 1 : 0];
      if (featureOf(s) >= 0 && (lowest < 0 || featureOf(s) < lowest)) lowest = featureOf(s);
    }
    return FeatureAtPlace{isOfPart, least[isOfPart ? 1 : 0]};
  };
  std::vector<std::int64_t> mine, all;
  std::vector<Box> boxes;
  for (std::int64_t s = 0; s < Size * Size; ++s) {
    all.push_back(s);
    const std::uint64_t random = mix(seed + static_cast<std::uint64_t>(s) * 7);
    if (random % ranks != here && (random / ranks % 5 != 0 || random / 99 % ranks != here))
      continue;
    mine.push_back(s);
    boxes.push_back(boxOf(s));
  }
  boxes.push_back({});  // of a data set without points
  std::vector<FeatureSample> samples;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, FixedSum> expected, found;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::uint64_t random = mix(seed * 12345 + i);
    FeatureSample sample;
    sample.place = {static_cast<double>(random % 45) / 4 - 1,
                    static_cast<double>(random / 45 % 45) / 4 - 1, 0};
    sample.feature = static_cast<std::int64_t>(random >> 20 & 7);
    sample.motion = static_cast<std::int64_t>(random >> 30 & 1);
    sample.volume = static_cast<std::int64_t>(random >> 40 & 15);
    if (mix(random + 1) % 8 == 0) sample.place[2] = 1e-9;  // beside
    const std::int64_t least = featureAt(all, sample.place).feature;
    if (least >= 0) expected[{sample.feature, least, sample.motion}] += sample.volume;
    if (mix(random) % ranks == here) samples.push_back(sample);
  }
  const auto reaches = gatherReaches(transport, boxes);
  const auto overlaps = findOverlaps(transport, samples, reaches,
                                     [&](const Place& place) { return featureAt(mine, place); });
  for (const FeatureOverlap& overlap : allgatherv(transport, overlaps))
    found[{overlap.before, overlap.after, overlap.motion}] += overlap.volume;
  EXPECT_TRUE(found == expected) << "seed " << seed;
  for (std::size_t i = 1; i < overlaps.size(); ++i)
    EXPECT_LT(std::tie(overlaps[i - 1].before, overlaps[i - 1].after, overlaps[i - 1].motion),
              std::tie(overlaps[i].before, overlaps[i].after, overlaps[i].motion));
}

TEST(FeatureOverlap, IsThatOfAllPlaces) {
  for (std::uint64_t seed = 0; seed < (Sanitized ? 6 : 20); ++seed)
    onRanks(static_cast<int>(1 + seed % 5),
            [&](Transport& transport) { comparePlaces(transport, seed); });
}

TEST(FeatureOverlap, VolumesThatASumCannotHoldAreRefused) {
  const FixedSum half = FixedSum{1} << 126;
  std::vector<FeatureOverlap> overlaps = {{0, 0, 1, half}, {0, 0, 1, half - 1}, {0, 0, 2, half}};
  addUp(overlaps);
  ASSERT_EQ(overlaps.size(), 2U);
  EXPECT_TRUE(overlaps[0].volume == 2 * (half - 1) + 1);
  overlaps.push_back({0, 0, 2, half});
  EXPECT_NE(errorOf([&] { addUp(overlaps); }).find("larger than a sum can hold"),
            std::string::npos);
}

TEST(FeatureOverlap, AnErrorOfOneRankEndsItOnAll) {
  onRanks(3, [](Transport& transport) {
    const std::vector<FeatureSample> samples = {{{0.5, 0.5, 0}, 0, 0, 1}};
    const std::vector<Box> boxes = {{{0, 0, 0}, {1, 1, 0}}};
    const auto reaches = gatherReaches(transport, boxes);
    const std::string error = errorOf([&] {
      (void)findOverlaps(transport, samples, reaches, [&](const Place&) -> FeatureAtPlace {
        if (transport.rank() == transport.size() - 1) throw Error("no such cell");
        return {false, 0};
      });
    });
    EXPECT_NE(error.find("no such cell"), std::string::npos);
  });
}

}  // namespace
}  // namespace tributary
