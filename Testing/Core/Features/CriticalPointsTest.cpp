// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/CriticalPoints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "Features/SpaceTimeFields.h"
#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Features/Trajectories.h"
#include "Tributary/Features/detail/PuncturedSimplex.h"

namespace tributary {

using namespace detail;
namespace {

using testing::bitsOf;
using testing::errorOf;
using testing::follow;
using testing::followAlone;
using testing::Followed;
using testing::mix;
using testing::onRanks;
using testing::Sanitized;
using testing::SpaceTimeProblem;
using testing::SpaceTimeRun;
using testing::underAdversaries;
using testing::WholeTrajectory;
using Index = SpaceTimeProblem::Index;

constexpr double Pi = 3.14159265358979323846;

/// How many of so many cases to do: each step takes many rounds of messages, which take long where
/// many ranks share a core.
int share(int cases) {
  return Sanitized || testing::world().size() > 4 ? (cases + 2) / 3 : cases;
}

std::uint64_t hashAt(std::uint64_t seed, int step, const Index& at) {
  std::uint64_t hash = mix(seed);
  for (const std::int64_t n : {std::int64_t(step), at[0], at[1], at[2]})
    hash = mix(hash ^ std::uint64_t(n));
  return hash;
}

/// Vectors of small integers, with many ties; every fourth of numbers without.
SpaceTimeProblem randomProblem(std::uint64_t seed) {
  SpaceTimeProblem problem;
  const bool flat = seed % 2 == 0;
  problem.points = flat ? Index{7, 6, 1} : Index{4, 4, 5};
  if (seed % 10 == 4) problem.points = {6, 1, 7};
  problem.steps = flat ? 5 : 3;
  problem.spacing = {1, 0.5, 2};
  problem.origin = {-1, 3, 0};
  problem.vector = [seed](int step, const Index& at) {
    std::array<double, 3> v;
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint64_t bits = hashAt(seed * 3 + c, step, at);
      v[c] = seed % 4 == 3 ? double(bits >> 11) * 0x1p-52 - 1 : double(bits % (2 + seed % 4)) - 1;
    }
    return v;
  };
  return problem;
}

/// Another way to the same lines: simplices of the grid of space and time from all orders of its
/// axes, and a search through their facets.
class BruteForce {
 public:
  explicit BruteForce(const SpaceTimeProblem& problem) : problem_(problem) {
    d_ = std::size_t(problem.dimension());
    for (std::size_t a = 0; a < 3; ++a)
      if (problem.points[a] > 1) axes_.push_back(a);
    GridExtent cells = problem.whole();
    for (const std::size_t a : axes_) --cells.last[a];
    for (int step = 0; step + 1 < problem.steps; ++step)
      SpaceTimeProblem::forPoints(cells, [&](const Index& at) { searchCell(step, at); });
  }

  std::set<std::set<SpaceTimeFace>> components() const {
    std::set<std::set<SpaceTimeFace>> all;
    std::set<SpaceTimeFace> seen;
    for (const auto& start : neighbors) {
      if (seen.count(start.first)) continue;
      std::set<SpaceTimeFace> component;
      std::vector<SpaceTimeFace> stack{start.first};
      while (!stack.empty()) {
        const SpaceTimeFace face = stack.back();
        stack.pop_back();
        if (!component.insert(face).second) continue;
        for (const auto& next : neighbors.at(face)) stack.push_back(next);
      }
      seen.insert(component.begin(), component.end());
      all.insert(component);
    }
    return all;
  }

  std::map<SpaceTimeFace, std::vector<SpaceTimeFace>> neighbors;

 private:
  struct Vertex {
    int step;
    Index at;
  };

  void searchCell(int step, const Index& at) {
    std::vector<std::size_t> order(axes_.size() + 1);  // the last is time
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    do {
      std::vector<Vertex> vertices{{step, at}};
      for (const std::size_t axis : order) {
        Vertex next = vertices.back();
        if (axis == axes_.size()) {
          ++next.step;
        } else {
          ++next.at[axes_[axis]];
        }
        vertices.push_back(next);
      }
      searchSimplex(vertices);
    } while (std::next_permutation(order.begin(), order.end()));
  }

  void searchSimplex(const std::vector<Vertex>& vertices) {
    std::vector<SpaceTimeFace> found;
    for (std::size_t left = 0; left < vertices.size(); ++left) {
      std::vector<Vertex> facet = vertices;
      facet.erase(facet.begin() + std::ptrdiff_t(left));
      std::sort(facet.begin(), facet.end(), [&](const Vertex& a, const Vertex& b) {
        return a.step != b.step ? a.step < b.step : problem_.idOf(a.at) < problem_.idOf(b.at);
      });
      std::vector<RoundedVector> corners;
      SpaceTimeFace face;
      face.step = facet.front().step;
      for (std::size_t v = 0; v < facet.size(); ++v) {
        const auto whole = problem_.vector(facet[v].step, facet[v].at);
        double vector[3] = {};
        for (std::size_t c = 0; c < d_; ++c) vector[c] = whole[axes_[c]];
        corners.push_back(rounded(vector, int(d_)));
        face.ids[v] = problem_.idOf(facet[v].at);
        face.upper += facet[v].step != face.step;
      }
      if (isPunctured(corners.data(), int(d_))) found.push_back(face);
    }
    ASSERT_TRUE(found.empty() || found.size() == 2) << found.size() << " facets";
    if (found.empty()) return;
    neighbors[found[0]].push_back(found[1]);
    neighbors[found[1]].push_back(found[0]);
  }

  const SpaceTimeProblem& problem_;
  std::size_t d_;
  std::vector<std::size_t> axes_;
};

/// Whether a face lies on the boundary of space and time.
bool isOnBoundary(const SpaceTimeProblem& problem, const SpaceTimeFace& face) {
  if (face.upper == 0 && (face.step == 0 || face.step == problem.steps - 1)) return true;
  for (std::size_t a = 0; a < 3; ++a) {
    if (problem.points[a] == 1) continue;
    bool low = true, high = true;
    for (int v = 0; v <= problem.dimension(); ++v) {
      const std::int64_t id = face.ids[std::size_t(v)];
      const Index at{id % problem.points[0], id / problem.points[0] % problem.points[1],
                     id / problem.points[0] / problem.points[1]};
      low = low && at[a] == 0;
      high = high && at[a] == problem.points[a] - 1;
    }
    if (low || high) return true;
  }
  return false;
}

void expectBruteForce(const SpaceTimeProblem& problem, const std::vector<WholeTrajectory>& lines) {
  const BruteForce reference(problem);
  std::set<std::set<SpaceTimeFace>> found;
  for (const WholeTrajectory& line : lines) {
    std::set<SpaceTimeFace> faces;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const SpaceTimeFace& face = line.points[i].face;
      const bool again = !faces.insert(face).second;
      EXPECT_EQ(again, line.closed() && i + 1 == line.points.size());
      if (i == 0) continue;
      const auto next = reference.neighbors.find(line.points[i - 1].face);
      ASSERT_NE(next, reference.neighbors.end());
      EXPECT_EQ(std::count(next->second.begin(), next->second.end(), face), 1);
    }
    // Lines end at the boundary only.
    if (!line.closed()) {
      EXPECT_TRUE(isOnBoundary(problem, line.points.front().face));
      EXPECT_TRUE(isOnBoundary(problem, line.points.back().face));
    }
    EXPECT_TRUE(found.insert(faces).second) << "found twice";
  }
  EXPECT_EQ(found, reference.components());
}

/// A line turns in time where the sign of the Jacobian's determinant changes, and nowhere else.
void expectTurnsWhereSignsChange(const std::vector<WholeTrajectory>& lines) {
  int turns = 0;
  for (const WholeTrajectory& line : lines) {
    int orientation = 0;
    for (std::size_t i = 0; i + 1 < line.points.size(); ++i) {
      const int forwards = line.points[i + 1].time > line.points[i].time ? 1 : -1;
      const int now = line.points[i].kind.negative % 2 ? -forwards : forwards;
      EXPECT_TRUE(orientation == 0 || now == orientation);
      orientation = now;
      turns += line.points[i].event == TrajectoryEvent::Birth;
    }
  }
  EXPECT_GT(turns, 0);
}

/// Tracks of pieces, with what joins say, are those of the trajectories.
void expectTracks(const Followed& followed) {
  std::map<std::int64_t, std::int64_t> into;
  for (const TrackJoin& join : followed.joins) {
    EXPECT_LT(join.into, join.track);
    EXPECT_TRUE(into.emplace(join.track, join.into).second);
  }
  EXPECT_EQ(followed.tracks, std::int64_t(followed.trajectories.size() + into.size()));
  std::map<SpaceTimeFace, std::int64_t> trackOf;
  std::int64_t last = -1;
  for (const WholeTrajectory& line : followed.trajectories) {
    EXPECT_GT(line.track, last);
    last = line.track;
    EXPECT_EQ(into.count(line.track), 0u);
    for (const auto& point : line.points) trackOf[point.face] = line.track;
  }
  for (const TrajectoryPieces& block : followed.pieces) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      std::int64_t track = block.tracks[i];
      while (into.count(track)) track = into[track];
      EXPECT_EQ(track, trackOf.at(block.piece(i)[0].face));
    }
  }
}

TEST(CriticalPoints, OfTiesAreThoseOfBruteForceOnAnyBlocks) {
  for (std::uint64_t seed = 0; seed < std::uint64_t(share(12)); ++seed) {
    const SpaceTimeProblem problem = randomProblem(seed);
    const Followed alone = followAlone(problem);
    ASSERT_GT(alone.trajectories.size(), 3u);
    expectBruteForce(problem, alone.trajectories);
    expectTracks(alone);
    if (seed % 4 == 3) expectTurnsWhereSignsChange(alone.trajectories);
    onRanks(3, [&](Transport& transport) {
      SpaceTimeRun run;
      run.blocks = 2 + int(seed * 5 % 9);
      run.seed = seed;
      run.resumeAfter = int(seed % 3);
      const Followed followed = follow(transport, problem, run);
      EXPECT_EQ(bitsOf(followed.trajectories), bitsOf(alone.trajectories)) << seed;
      expectTracks(followed);
      // The same simplices as a mesh, dealt one by one.
      if (problem.points[1] == 1) return;
      run.asMesh = true;
      EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), bitsOf(alone.trajectories))
          << seed;
    });
  }
}

TEST(CriticalPoints, OfMeshesEndAtTheBoundaryOnlyHoweverPointsAreNumbered) {
  for (std::uint64_t seed = 1; seed <= std::uint64_t(share(9)); ++seed) {
    const SpaceTimeProblem problem = randomProblem(seed % 5 == 4 ? 2 : seed);
    const Followed alone = followAlone(problem, true, seed);
    const auto numbers =
        testing::shuffled(std::size_t(problem.idOf(problem.whole().last)) + 1, seed);
    std::vector<std::int64_t> original(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i)
      original[std::size_t(numbers[i])] = std::int64_t(i);
    EXPECT_GT(alone.trajectories.size(), 3u);
    std::set<SpaceTimeFace> seen;
    for (const WholeTrajectory& line : alone.trajectories) {
      for (std::size_t i = line.closed() ? 1 : 0; i < line.points.size(); ++i)
        EXPECT_TRUE(seen.insert(line.points[i].face).second);
      if (line.closed()) continue;
      for (SpaceTimeFace face : {line.points.front().face, line.points.back().face}) {
        for (int v = 0; v <= problem.dimension(); ++v) {
          std::int64_t& id = face.ids[std::size_t(v)];
          id = original[std::size_t(id)];
        }
        EXPECT_TRUE(isOnBoundary(problem, face));
      }
    }
    onRanks(3, [&](Transport& transport) {
      SpaceTimeRun run;
      run.blocks = 5;
      run.asMesh = true;
      run.shuffle = seed;
      EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), bitsOf(alone.trajectories));
    });
  }
}

/// Scalars with a great many equal values.
SpaceTimeProblem terraces(std::uint64_t seed) {
  SpaceTimeProblem problem;
  problem.points = seed % 2 ? Index{6, 5, 5} : Index{17, 13, 1};
  problem.steps = seed % 2 ? 3 : 6;
  problem.scalar = [seed](int step, const Index& at) {
    if (seed % 5 == 0) return 7.0;  // nothing but a plateau
    if (seed % 5 == 1) return at[0] < 3 ? 0.0 : double(hashAt(seed, step, at) % 3);
    const double x = double(at[0]) - 5 - 0.5 * step, y = double(at[1]) - 4, z = double(at[2]);
    return std::floor(3 * std::cos(x) * std::cos(y) * std::cos(z * 0.7)) +
           double(hashAt(seed, 0, at) % 2);
  };
  return problem;
}

TEST(CriticalPoints, OfPlateausNeitherBreakNorDependOnTheBlocks) {
  for (std::uint64_t seed = 0; seed < std::uint64_t(share(10)); ++seed) {
    const SpaceTimeProblem problem = terraces(seed);
    const Followed alone = followAlone(problem);
    std::set<SpaceTimeFace> seen;
    for (const WholeTrajectory& line : alone.trajectories) {
      for (std::size_t i = line.closed() ? 1 : 0; i < line.points.size(); ++i)
        EXPECT_TRUE(seen.insert(line.points[i].face).second);
      if (line.closed()) continue;
      EXPECT_TRUE(isOnBoundary(problem, line.points.front().face));
      EXPECT_TRUE(isOnBoundary(problem, line.points.back().face));
    }
    const Followed mesh = followAlone(problem, true);
    onRanks(4, [&](Transport& transport) {
      SpaceTimeRun run;
      run.blocks = 3 + int(seed);
      run.seed = seed + 1;
      EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), bitsOf(alone.trajectories));
      run.asMesh = true;
      EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), bitsOf(mesh.trajectories));
    });
  }
}

/// Where vectors turn around the boundary of a rectangle, counted in whole turns.
int windingNumber(const SpaceTimeProblem& problem, int step) {
  std::vector<Index> ring;
  const std::int64_t nx = problem.points[0] - 1, ny = problem.points[1] - 1;
  for (std::int64_t i = 0; i < nx; ++i) ring.push_back({i, 0, 0});
  for (std::int64_t j = 0; j < ny; ++j) ring.push_back({nx, j, 0});
  for (std::int64_t i = nx; i > 0; --i) ring.push_back({i, ny, 0});
  for (std::int64_t j = ny; j > 0; --j) ring.push_back({0, j, 0});
  double turn = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const auto a = problem.vector(step, ring[i]);
    const auto b = problem.vector(step, ring[(i + 1) % ring.size()]);
    turn += std::atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
  }
  return int(std::lround(turn / (2 * Pi)));
}

TEST(CriticalPoints, OfAStepAddUpToTheWindingNumber) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SpaceTimeProblem problem;
    problem.points = {14, 11, 1};
    problem.steps = 1;
    problem.vector = [seed](int step, const Index& at) {
      const auto number = [&](std::uint64_t c) {
        return double(hashAt(seed * 2 + c, step, at) >> 11) * 0x1p-52 - 1;
      };
      // A vortex of many turns, disturbed.
      const double angle = std::atan2(double(at[1]) - 5.2, double(at[0]) - 6.3);
      const double k = double(seed % 5) - 2;
      return std::array<double, 3>{std::cos(k * angle) + 1.2 * number(0),
                                   std::sin(k * angle) + 1.2 * number(1), 0};
    };
    const Followed followed = followAlone(problem);
    int sum = 0;
    for (const WholeTrajectory& line : followed.trajectories) {
      ASSERT_EQ(line.points.size(), 1u);
      sum += line.points[0].kind.negative == 1 ? -1 : 1;
    }
    EXPECT_EQ(sum, windingNumber(problem, 0)) << seed;
  }
}

/// Runs on all ranks and gives each the whole.
template <class Check>
void onSeveralRanks(const SpaceTimeProblem& problem, bool asMesh, Check&& check) {
  onRanks(3, [&](Transport& transport) {
    SpaceTimeRun run;
    run.blocks = 5;
    run.asMesh = asMesh;
    const Followed followed = follow(transport, problem, run);
    check(followed.trajectories);
  });
}

TEST(CriticalPoints, FollowExtremaAndSaddlesThatDrift) {
  for (const bool volume : {false, true}) {
    SpaceTimeProblem problem;
    problem.points = {15, 12, volume ? 11 : 1};
    problem.steps = 5;
    problem.duration = 0.5;
    problem.spacing = {0.5, 0.4, 0.3};
    const std::array<double, 3> start{2.13, 1.71, volume ? 0.97 : 0};
    const std::array<double, 3> drift{1.1, 0.6, volume ? 0.35 : 0};
    for (int down = 0; down <= problem.dimension(); ++down) {
      problem.scalar = [&](int step, const Index& at) {
        const auto x = problem.placeOf(at);
        std::array<double, 3> away;
        for (std::size_t a = 0; a < 3; ++a)
          away[a] = x[a] - start[a] - drift[a] * problem.duration * step;
        double sum = 3;
        for (int i = 0; i < problem.dimension(); ++i) {
          const double u = away[std::size_t(i)] + 0.3 * away[std::size_t(i + 1) % 3];
          sum += (i < down ? -1 : 1) * u * u * (1 + 0.3 * i);
        }
        return sum;
      };
      onSeveralRanks(problem, false, [&](const std::vector<WholeTrajectory>& lines) {
        ASSERT_EQ(lines.size(), 1u);
        ASSERT_GE(lines[0].points.size(), std::size_t(problem.steps));
        EXPECT_EQ(lines[0].points.front().time, 0);
        EXPECT_EQ(lines[0].points.back().time, 2);
        for (const auto& point : lines[0].points) {
          for (std::size_t a = 0; a < 3; ++a) {
            EXPECT_NEAR(point.place[a], start[a] + drift[a] * point.time, 1e-9);
            EXPECT_NEAR(point.velocity[a], drift[a], 1e-9);
          }
          EXPECT_EQ(int(point.kind.negative), down);
          EXPECT_EQ(point.kind.rotation, Rotation::None);
          EXPECT_NEAR(point.value, 3, 0.5);  // linear between points
          EXPECT_EQ(point.event, TrajectoryEvent::None);
        }
      });
      if (down > 0) continue;
      // Gradients of a mesh are means of those of its simplices: near.
      onSeveralRanks(problem, true, [&](const std::vector<WholeTrajectory>& lines) {
        const auto longest = std::max_element(
            lines.begin(), lines.end(), [](const WholeTrajectory& a, const WholeTrajectory& b) {
              return a.points.size() < b.points.size();
            });
        ASSERT_NE(longest, lines.end());
        EXPECT_EQ(longest->points.front().time, 0);
        EXPECT_EQ(longest->points.back().time, 2);
        for (const auto& point : longest->points)
          for (std::size_t a = 0; a < 3; ++a)
            EXPECT_NEAR(point.place[a], start[a] + drift[a] * point.time, 0.3);
      });
    }
  }
}

TEST(CriticalPoints, FollowAPairThatMeetsAndVanishes) {
  // x^3 / 3 - (1 - t) x + y^2: a minimum and a saddle that meet at time 1.
  SpaceTimeProblem problem;
  problem.points = {41, 21, 1};
  problem.steps = 16;
  problem.duration = 0.1;
  problem.spacing = {0.1, 0.1, 1};
  problem.origin = {-2.03, -1.04, 0};
  for (const bool appear : {false, true}) {
    problem.scalar = [&](int step, const Index& at) {
      const auto x = problem.placeOf(at);
      const double time = problem.duration * (appear ? problem.steps - 1 - step : step);
      return x[0] * x[0] * x[0] / 3 - (1 - time) * x[0] + x[1] * x[1];
    };
    onSeveralRanks(problem, false, [&](const std::vector<WholeTrajectory>& lines) {
      ASSERT_EQ(lines.size(), 1u);
      int turns = 0;
      const auto& points = lines[0].points;
      for (std::size_t i = 0; i < points.size(); ++i) {
        const double time = appear ? 1.5 - points[i].time : points[i].time;
        EXPECT_NEAR(points[i].place[1], 0, 1e-9);
        EXPECT_NEAR(points[i].place[0] * points[i].place[0], 1 - time, 0.03);
        if (points[i].event == TrajectoryEvent::None) {
          const double speed = (appear ? 0.5 : -0.5) / points[i].place[0];
          if (1 - time > 0.1) {
            EXPECT_NEAR(points[i].velocity[0], speed, 0.1 + 0.2 * std::fabs(speed));
          }
          if (i + 1 < points.size() && 1 - time > 0.1) {
            EXPECT_EQ(nameOfScalarKind(points[i].kind, 2),
                      points[i].place[0] > 0 ? "minimum" : "saddle");
          }
          continue;
        }
        ++turns;
        EXPECT_EQ(points[i].event, appear ? TrajectoryEvent::Birth : TrajectoryEvent::Death);
        EXPECT_NEAR(time, 1, 0.05);
        EXPECT_TRUE(std::isnan(points[i].velocity[0]));
      }
      EXPECT_EQ(turns, 1);
    });
  }
}

TEST(CriticalPoints, FollowVorticesThatCircle) {
  // What turns around, flows out of, or into a center that circles itself.
  struct Case {
    double a, b, c, d;
    const char* name;
  };
  std::vector<Case> cases{{0, -1, 1, 0, "center"},        {1, -1, 1, 1, "spiral source"},
                          {-1, 2, -2, -1, "spiral sink"}, {1, 0, 0, -2, "saddle"},
                          {-1, 0.2, 0.2, -2, "sink"},     {2, 0.3, 0, 1, "source"}};
  cases.resize(std::size_t(share(int(cases.size()))));
  for (const Case& one : cases) {
    SpaceTimeProblem problem;
    problem.points = {1, 21, 19};  // in the plane of y and z
    problem.steps = 6;
    problem.spacing = {1, 0.1, 0.1};
    const auto center = [](double time) {
      return std::array<double, 2>{1.01 + 0.5 * std::cos(time / 4),
                                   0.93 + 0.5 * std::sin(time / 4)};
    };
    problem.vector = [&](int step, const Index& at) {
      const auto x = problem.placeOf(at);
      const double y = x[1] - center(step)[0], z = x[2] - center(step)[1];
      return std::array<double, 3>{99, one.a * y + one.b * z, one.c * y + one.d * z};
    };
    onSeveralRanks(problem, false, [&](const std::vector<WholeTrajectory>& lines) {
      ASSERT_EQ(lines.size(), 1u);
      EXPECT_EQ(lines[0].points.back().time, 5);
      for (const auto& point : lines[0].points) {
        EXPECT_EQ(nameOfVectorKind(point.kind, 2), one.name);
        EXPECT_EQ(point.value, 0);
        EXPECT_EQ(point.place[0], 0);
        // Linear from step to step: a chord is this far from its circle.
        EXPECT_NEAR(point.place[1], center(point.time)[0], 0.5 / 32 / 4);
        EXPECT_NEAR(point.place[2], center(point.time)[1], 0.5 / 32 / 4);
        EXPECT_NEAR(std::hypot(point.velocity[1], point.velocity[2]), 0.125, 2e-3);
      }
    });
  }
}

/// The field of section 4.2.1 of the iexchange paper on 128^2 points at 128 steps. Which one it is
/// is said there in words only; this one, of FTK's synthetic data, has just as many trajectories of
/// the same lengths if the width is 32 and two points at the boundary are left out.
double spiralWoven(double x, double y, double t) {
  return std::cos(x * std::cos(t) - y * std::sin(t)) * std::sin(x * std::sin(t) + y * std::cos(t));
}

TEST(CriticalPoints, OfTheSpiralWovenFieldAreThoseOfThePaper) {
  constexpr int Points = 128, Left = 2;
  constexpr double Width = 32;
  SpaceTimeProblem problem;
  problem.points = {Points - 2 * Left, Points - 2 * Left, 1};
  problem.steps = Sanitized ? 16 : 128;
  problem.vector = [](int step, const Index& at) {
    const auto value = [&](std::int64_t i, std::int64_t j) {
      const auto coordinate = [](std::int64_t n) {
        return (double(n + Left) / (Points - 1) - 0.5) * Width;
      };
      return spiralWoven(coordinate(at[0] + i), coordinate(at[1] + j), step / 127.0);
    };
    return std::array<double, 3>{value(1, 0) - value(-1, 0), value(0, 1) - value(0, -1), 0};
  };
  onSeveralRanks(problem, false, [&](const std::vector<WholeTrajectory>& lines) {
    std::size_t shortest = Points * Points, longest = 0, all = 0;
    int changes = 0;
    for (const WholeTrajectory& line : lines) {
      shortest = std::min(shortest, line.points.size());
      longest = std::max(longest, line.points.size());
      all += line.points.size();
      for (const auto& point : line.points) {
        changes += point.kind.negative != line.points[0].kind.negative;
        changes += point.event == TrajectoryEvent::Birth || point.event == TrajectoryEvent::Death;
      }
    }
    EXPECT_EQ(changes, 0);  // minima, maxima and saddles stay what they are
    if (problem.steps < 128) return;
    EXPECT_EQ(lines.size(), 280u);
    EXPECT_EQ(shortest, 4u);
    EXPECT_EQ(longest, 574u);
    EXPECT_EQ(all / lines.size(), 337u);
  });
}

TEST(CriticalPoints, OfTheSpiralWovenFieldAreOnItsLattice) {
  SpaceTimeProblem problem;
  problem.points = {64, 64, 1};
  problem.steps = 17;
  problem.scalar = [](int step, const Index& at) {
    const auto coordinate = [](std::int64_t n) { return (double(n) / 63 - 0.5) * 15; };
    return spiralWoven(coordinate(at[0]), coordinate(at[1]), step / 16.0);
  };
  onSeveralRanks(problem, false, [&](const std::vector<WholeTrajectory>& lines) {
    EXPECT_GT(lines.size(), 45u);
    std::map<std::string, int> kinds;
    for (const WholeTrajectory& line : lines) {
      for (const auto& point : line.points) {
        // In the turning frame, cos(u) sin(v) has extrema at multiples of pi, and saddles between.
        const double t = point.time / (problem.steps - 1);
        const double x = (point.place[0] / 63 - 0.5) * 15, y = (point.place[1] / 63 - 0.5) * 15;
        const bool inside = std::max(std::fabs(x), std::fabs(y)) < 7;  // slopes are one-sided there
        const double u = (x * std::cos(t) - y * std::sin(t)) / (Pi / 2);
        const double v = (x * std::sin(t) + y * std::cos(t)) / (Pi / 2);
        if (!inside) continue;
        EXPECT_NEAR(u, std::round(u), 0.05);
        EXPECT_NEAR(v, std::round(v), 0.05);
        const long i = std::lround(u), j = std::lround(v);
        EXPECT_EQ((i + j) % 2 != 0, true);
        std::string name = "saddle";
        if (i % 2 == 0) name = (i / 2 + (j - 1) / 2) % 2 == 0 ? "maximum" : "minimum";
        EXPECT_EQ(nameOfScalarKind(point.kind, 2), name) << u << " " << v;
        ++kinds[name];
      }
    }
    EXPECT_EQ(kinds.size(), 3u);
  });
}

TEST(CriticalPoints, AreThoseOfTheLowestBlocksValues) {
  for (const std::uint64_t seed : {2u, 3u}) {
    const SpaceTimeProblem problem = randomProblem(seed);
    const Bytes alone = bitsOf(followAlone(problem).trajectories);
    onRanks(3, [&](Transport& transport) {
      SpaceTimeRun run;
      run.blocks = 7;
      run.garbled = true;
      EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), alone);
      run.asMesh = true;
      EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), alone);
    });
  }
}

TEST(CriticalPoints, EndWhereThereAreNoNumbers) {
  SpaceTimeProblem problem = randomProblem(10);
  const auto whole = problem.vector;
  problem.vector = [whole](int step, const Index& at) {
    auto v = whole(step, at);
    if (at[0] == 3 && at[1] >= 3) v[0] = std::numeric_limits<double>::quiet_NaN();
    if (step == 3 && at[0] == 1) v[1] = std::numeric_limits<double>::infinity();
    return v;
  };
  const Followed alone = followAlone(problem);
  EXPECT_GT(alone.trajectories.size(), 3u);
  for (const WholeTrajectory& line : alone.trajectories)
    for (const auto& point : line.points)
      for (std::size_t a = 0; a < 2; ++a) EXPECT_TRUE(std::isfinite(point.place[a]));
  onRanks(4, [&](Transport& transport) {
    SpaceTimeRun run;
    run.blocks = 6;
    run.resumeAfter = 3;
    EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), bitsOf(alone.trajectories));
  });
}

TEST(CriticalPoints, AreTheSameUnderEveryScheduleAndMethod) {
  const SpaceTimeProblem problem = randomProblem(6);
  const Followed alone = followAlone(problem);
  for (const auto method : {UnionMethod::LabelPropagation, UnionMethod::TreeUnion}) {
    for (const auto schedule :
         {Schedule::Synchronous, Schedule::Neighborhood, Schedule::Asynchronous}) {
      onRanks(5, [&](Transport& transport) {
        SpaceTimeRun run;
        run.blocks = 8;
        run.options.linking.method = method;
        run.options.linking.exchange.schedule = schedule;
        run.options.parallelFor = testing::onThreads(3, 4);
        EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), bitsOf(alone.trajectories));
      });
    }
  }
}

TEST(CriticalPoints, AreTheSameWhateverArrivesFirst) {
  const SpaceTimeProblem problem = randomProblem(8);
  const Bytes alone = bitsOf(followAlone(problem).trajectories);
  underAdversaries(Sanitized ? 3 : 12, [&](std::uint64_t seed, Transport& transport) {
    SpaceTimeRun run;
    run.blocks = 7;
    run.seed = seed;
    run.asMesh = seed % 2 == 0;
    EXPECT_EQ(bitsOf(follow(transport, problem, run).trajectories), alone);
  });
}

TEST(CriticalPoints, RefuseWhatCannotBeOnAllRanks) {
  onRanks(3, [](Transport& transport) {
    const bool isLast = transport.rank() == transport.size() - 1;
    const Assignment one(std::vector<std::int64_t>(std::size_t(transport.size()), 1));
    const std::int64_t first = 4 * transport.rank();
    GridAxes axes;
    for (std::int64_t i = 0; i <= 4 * transport.size(); ++i)
      axes.coordinates[0].push_back(double(i));
    axes.coordinates[1] = {0, 1, 2};
    axes.coordinates[2] = {0};
    const GridExtent mine{{first, 0, 0}, {first + 4, 2, 0}};
    const auto gridError = [&](GridAxes ofGrid, std::vector<GridExtent> extents) {
      return errorOf(
          [&] { (void)makeGridSpace(transport, one, std::move(ofGrid), std::move(extents)); });
    };
    EXPECT_EQ(gridError(axes, {mine}), "");
    GridExtent wrong = mine;
    if (isLast) wrong.last[1] = 3;
    EXPECT_NE(gridError(axes, {wrong}), "");
    wrong = mine;
    if (isLast) wrong.last[0] = wrong.first[0];
    EXPECT_NE(gridError(axes, {wrong}), "");
    EXPECT_NE(gridError(axes, isLast ? std::vector<GridExtent>{} : std::vector<GridExtent>{mine}),
              "");
    if (transport.size() > 1) {
      wrong = mine;
      if (isLast) --wrong.first[0];
      EXPECT_NE(gridError(axes, {wrong}).find("overlap"), std::string::npos);
      GridAxes longer = axes;
      if (isLast) longer.coordinates[2] = {0, 1};
      EXPECT_NE(gridError(longer, {mine}), "");
    }
    GridAxes odd = axes;
    if (isLast) odd.coordinates[1][1] = 2;
    EXPECT_NE(gridError(odd, {mine}), "");
    odd.coordinates[1] = {0};
    EXPECT_NE(gridError(odd, {{{first, 0, 0}, {first + 4, 0, 0}}}), "");

    const auto space = makeGridSpace(transport, one, axes, {mine});
    CriticalPointTracker tracker(transport, *space);
    std::vector<double> values(15, 1);
    EXPECT_NE(errorOf([&] { return tracker.addVectors(0, {values}); }), "");
    EXPECT_NE(errorOf([&] { return tracker.addScalars(isLast ? std::nan("") : 0, {values}); }), "");
    EXPECT_NE(errorOf([&] {
                return tracker.addScalars(
                    0, std::vector<Span<const double>>(isLast ? 2 : 1, Span<const double>(values)));
              }),
              "");
    if (transport.size() > 1) {
      EXPECT_NE(errorOf([&] { return tracker.addScalars(transport.rank(), {values}); }), "");
    }
    EXPECT_EQ(errorOf([&] { return tracker.addScalars(1, {values}); }), "");
    EXPECT_NE(errorOf([&] { return tracker.addScalars(1, {values}); }).find("in order"),
              std::string::npos);
    const std::vector<double> vectors(45, 1);
    EXPECT_NE(errorOf([&] { return tracker.addVectors(2, {vectors}); }).find("mixed"),
              std::string::npos);
    EXPECT_NE(errorOf([&] { tracker.resumeScalars({}, {values}); }), "");

    // From what was saved of something else.
    const Bytes saved = tracker.save();
    const auto resumeError = [&](const std::vector<Bytes>& bytes) {
      CriticalPointTracker other(transport, *space);
      return errorOf([&] { other.resumeScalars(bytes, {values}); });
    };
    EXPECT_EQ(resumeError({saved}), "");
    EXPECT_NE(resumeError({}), "");
    EXPECT_NE(resumeError({Bytes(saved.begin(), saved.end() - 1)}), "");
    CriticalPointTracker further(transport, *space);
    static_cast<void>(further.addScalars(1, {values}));
    static_cast<void>(further.addScalars(2, {values}));
    EXPECT_NE(resumeError({saved, further.save()}), "");
    if (transport.size() > 1) {
      EXPECT_NE(resumeError({isLast ? further.save() : saved}), "");
    }
    // Damaged: too long, with numbers beyond which later ones overflow, or without a time.
    Bytes longer = saved;
    longer.resize(saved.size() + 1);
    EXPECT_NE(resumeError({longer}).find("damaged"), std::string::npos);
    for (const std::size_t word : {0u, 1u, 2u}) {
      Bytes damaged = saved;
      std::fill_n(damaged.begin() + 8 * word, 7, std::byte(0xff));
      damaged[8 * word + 7] = std::byte(0x7f);
      EXPECT_NE(resumeError({damaged}).find("damaged"), std::string::npos) << word;
    }
    EXPECT_NE(errorOf([&] { (void)joinPieces(transport, one, {}, {}); }), "");
  });
}

/// A point of the first step, at a simplex that is named by a number.
CriticalPoint firstPoint(std::int64_t name, double time = 0) {
  CriticalPoint point;
  point.face.ids = {name, name + 1, name + 2, -1};
  point.time = time;
  point.place = {double(name), 0, 0};
  return point;
}

TEST(CriticalPoints, OfCellsThatLieOnEachOtherAreOne) {
  onRanks(3, [](Transport& transport) {
    // A point without a line in two blocks, and one where a line begins.
    const Assignment assignment(std::vector<std::int64_t>(std::size_t(transport.size()), 1));
    TrajectoryPieces mine;
    const auto add = [&](const std::vector<CriticalPoint>& line) {
      mine.points.insert(mine.points.end(), line.begin(), line.end());
      mine.offsets.push_back(mine.points.size());
      mine.tracks.push_back(0);
    };
    if (transport.rank() == 0) {
      add({firstPoint(10)});
      add({firstPoint(20), firstPoint(30, 0.5)});
    }
    if (transport.rank() == transport.size() - 1) {
      add({firstPoint(10)});
      add({firstPoint(20)});
    }
    const Trajectories all = joinPieces(transport, assignment, {mine}, {});
    EXPECT_EQ(all.total, 2);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto line = all.trajectory(i);
      if (line[0].face == firstPoint(10).face) {
        EXPECT_EQ(line.size(), 1u);
        EXPECT_EQ(line[0].place[0], 10);
      } else {
        ASSERT_EQ(line.size(), 2u);
        EXPECT_EQ(line[0].face, firstPoint(20).face);
        EXPECT_EQ(line[1].face, firstPoint(30).face);
      }
    }
  });
}

TEST(CriticalPoints, RefuseValuesThatWereNotSaved) {
  onRanks(2, [](Transport& transport) {
    SpaceTimeProblem problem = randomProblem(2);
    SpaceTimeRun run;
    run.blocks = 4;
    const testing::SpaceTimePieces pieces(transport, problem, run);
    const auto values = pieces.valuesAt(0), others = pieces.valuesAt(1);
    CriticalPointTracker tracker(transport, *pieces.space);
    static_cast<void>(tracker.addVectors(0, {values.begin(), values.end()}));
    CriticalPointTracker resumed(transport, *pieces.space);
    EXPECT_NE(errorOf([&] {
                resumed.resumeVectors({tracker.save()}, {others.begin(), others.end()});
              }).find("not those"),
              std::string::npos);
  });
}

TEST(CriticalPoints, RefuseMeshesThatCannotBe) {
  onRanks(3, [](Transport& transport) {
    const bool isLast = transport.rank() == transport.size() - 1;
    const Assignment one(std::vector<std::int64_t>(std::size_t(transport.size()), 1));
    const std::vector<double> coordinates{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, -1, 0.5, 0};
    const std::vector<std::int64_t> ids{0, 1, 2, 3, 4};
    const auto error = [&](std::vector<std::int64_t> ofPoints, std::vector<std::int64_t> simplices,
                           int dimension = 2) {
      return errorOf([&] {
        (void)makeMeshSpace(transport, one, dimension, {{coordinates, ofPoints, simplices}});
      });
    };
    EXPECT_EQ(error(ids, {0, 1, 2}), "");
    EXPECT_NE(error(ids, {0, 1, isLast ? 5 : 2}), "");
    EXPECT_NE(error(ids, {0, 1, isLast ? 1 : 2}), "");
    EXPECT_NE(error({0, 1, 2, 3, isLast ? -4 : 4}, {0, 1, 2}), "");
    EXPECT_NE(error(isLast ? std::vector<std::int64_t>{0, 1, 2} : ids, {0, 1, 2}), "");
    EXPECT_NE(error(ids, isLast ? std::vector<std::int64_t>{0, 1} : ids), "");
    EXPECT_NE(error(ids, {0, 1, 2}, isLast ? 4 : 2), "");
    if (transport.size() > 1) {
      EXPECT_NE(error(ids, {}, isLast ? 3 : 2), "");
    }

    // An edge with three triangles, on one rank or on three, that a line passes.
    for (const bool apart : {false, true}) {
      if (apart && transport.size() < 3) continue;
      const std::vector<std::vector<std::int64_t>> fins{{0, 1, 2}, {0, 1, 3}, {0, 1, 4}};
      std::vector<std::int64_t> simplices;
      for (std::size_t f = 0; f < 3; ++f)
        if ((apart ? int(f) : 0) == transport.rank())
          simplices.insert(simplices.end(), fins[f].begin(), fins[f].end());
      const auto space = makeMeshSpace(transport, one, 2, {{coordinates, ids, simplices}});
      CriticalPointTracker tracker(transport, *space);
      const auto add = [&](double time, double shift) {
        std::vector<double> vectors;
        // Zero crosses the edge between points 0 and 1 as time goes on.
        for (std::size_t p = 0; p < 5; ++p) {
          const double side = p < 2 ? 0 : 1;
          vectors.insert(vectors.end(), {p == 0 ? -1.0 : 1.0, side + shift, 0});
        }
        vectors[3 * 2] = vectors[3 * 3] = vectors[3 * 4] = 0.2;
        static_cast<void>(tracker.addVectors(time, {vectors}));
      };
      add(0, -0.5);
      EXPECT_NE(errorOf([&] { add(1, 0.5); }).find("more than two"), std::string::npos);
    }
  });
}

}  // namespace
}  // namespace tributary
