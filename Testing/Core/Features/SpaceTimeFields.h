// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "Support/Assignments.h"
#include "Support/World.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Features/Trajectories.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::testing {

/// Fields on a whole grid, at each step, by the index of a point.
struct SpaceTimeProblem {
  using Index = std::array<std::int64_t, 3>;

  Index points{1, 1, 1};
  int steps = 2;
  std::array<double, 3> origin{0, 0, 0}, spacing{1, 1, 1};
  double duration = 1;
  std::function<double(int, const Index&)> scalar;  ///< One of the two.
  std::function<std::array<double, 3>(int, const Index&)> vector;

  int dimension() const { return int(points[0] > 1) + int(points[1] > 1) + int(points[2] > 1); }
  std::int64_t idOf(const Index& at) const {
    return (at[2] * points[1] + at[1]) * points[0] + at[0];
  }
  std::array<double, 3> placeOf(const Index& at) const {
    std::array<double, 3> x;
    for (std::size_t a = 0; a < 3; ++a) x[a] = origin[a] + spacing[a] * double(at[a]);
    return x;
  }
  GridAxes axes() const {
    GridAxes axes;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::int64_t i = 0; i < points[a]; ++i)
        axes.coordinates[a].push_back(origin[a] + spacing[a] * double(i));
    return axes;
  }
  template <class Visit>
  static void forPoints(const GridExtent& e, Visit&& visit) {
    for (std::int64_t k = e.first[2]; k <= e.last[2]; ++k)
      for (std::int64_t j = e.first[1]; j <= e.last[1]; ++j)
        for (std::int64_t i = e.first[0]; i <= e.last[0]; ++i) visit(Index{i, j, k});
  }
  GridExtent whole() const { return {{0, 0, 0}, {points[0] - 1, points[1] - 1, points[2] - 1}}; }
};

/// The whole grid in blocks: halved where it is longest, unevenly.
inline std::vector<GridExtent> cutGrid(const SpaceTimeProblem& problem, int blocks,
                                       std::uint64_t seed) {
  std::vector<GridExtent> cut{problem.whole()};
  for (int tries = 0; int(cut.size()) < blocks && tries < 10 * blocks; ++tries) {
    std::size_t b = 0, axis = 0;
    for (std::size_t c = 0; c < cut.size(); ++c)
      for (std::size_t a = 0; a < 3; ++a)
        if (cut[c].last[a] - cut[c].first[a] > cut[b].last[axis] - cut[b].first[axis]) {
          b = c;
          axis = a;
        }
    const std::int64_t cells = cut[b].last[axis] - cut[b].first[axis];
    if (cells < 2) break;
    GridExtent upper = cut[b];
    upper.first[axis] +=
        1 + std::int64_t(mix(seed * 100 + std::uint64_t(tries)) % std::uint64_t(cells - 1));
    cut[b].last[axis] = upper.first[axis];
    cut.push_back(upper);
  }
  return cut;
}

/// A trajectory, wherever it was.
struct WholeTrajectory {
  std::int64_t track;
  std::vector<TrackedCriticalPoint> points;

  bool closed() const { return points.size() > 1 && points.front().face == points.back().face; }
};

inline void write(Writer& writer, const TrackedCriticalPoint& p) {
  writer.value(p.face).value(p.time).value(p.place).value(p.value).value(p.velocity);
  writer.value(p.kind).value(p.event);
}
inline TrackedCriticalPoint readPoint(Reader& reader) {
  TrackedCriticalPoint p;
  p.face = reader.value<SpaceTimeFace>();
  p.time = reader.value<double>();
  p.place = reader.value<std::array<double, 3>>();
  p.value = reader.value<double>();
  p.velocity = reader.value<std::array<double, 3>>();
  p.kind = reader.value<CriticalKind>();
  p.event = reader.value<TrajectoryEvent>();
  return p;
}

/// All that is in trajectories, bit by bit.
inline Bytes bitsOf(const std::vector<WholeTrajectory>& all) {
  Writer writer;
  for (const WholeTrajectory& one : all) {
    writer.value(one.track).value(one.points.size());
    for (const TrackedCriticalPoint& point : one.points) write(writer, point);
  }
  return writer.take();
}

/// Those of all ranks, on each. Collective. Looks at who has which.
inline std::vector<WholeTrajectory> gatherTrajectories(Transport& transport,
                                                       const Trajectories& mine) {
  const Shares shares{mine.total, transport.size()};
  EXPECT_EQ(mine.first, shares.first(transport.rank()));
  EXPECT_EQ(std::int64_t(mine.size()), shares.count(transport.rank()));
  EXPECT_EQ(mine.tracks.size(), mine.size());
  Writer writer;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    writer.value(mine.tracks[i]).value(mine.trajectory(i).size());
    for (const TrackedCriticalPoint& point : mine.trajectory(i)) write(writer, point);
  }
  std::vector<WholeTrajectory> all;
  for (const Bytes& bytes : allgatherBytes(transport, writer.take())) {
    for (Reader reader(bytes); !reader.atEnd();) {
      WholeTrajectory& one = all.emplace_back();
      one.track = reader.value<std::int64_t>();
      for (auto left = reader.value<std::size_t>(); left > 0; --left)
        one.points.push_back(readPoint(reader));
    }
  }
  EXPECT_EQ(std::int64_t(all.size()), mine.total);
  return all;
}

/// How a problem is cut and followed.
struct SpaceTimeRun {
  int blocks = 1;
  std::uint64_t seed = 0;
  std::uint64_t shuffle = 0;  ///< As a mesh whose points are numbered at random, if not 0.
  bool asMesh = false;        ///< As simplices dealt to the blocks one by one.
  bool garbled = false;       ///< Only the lowest block of a point knows its vector.
  int resumeAfter = -1;       ///< Goes on from what was saved after this step.
  CriticalPointOptions options;
};

/// The simplices of a grid as Core cuts its cells, by ids of points.
inline std::vector<std::vector<std::int64_t>> gridSimplices(const SpaceTimeProblem& problem) {
  std::vector<int> axes;
  for (int a = 0; a < 3; ++a)
    if (problem.points[std::size_t(a)] > 1) axes.push_back(a);
  GridExtent cells = problem.whole();
  for (const int a : axes) --cells.last[std::size_t(a)];
  std::vector<std::vector<std::int64_t>> simplices;
  SpaceTimeProblem::forPoints(cells, [&](const SpaceTimeProblem::Index& at) {
    std::vector<int> order = axes;
    do {
      SpaceTimeProblem::Index corner = at;
      std::vector<std::int64_t> ids{problem.idOf(corner)};
      for (const int a : order) {
        ++corner[std::size_t(a)];
        ids.push_back(problem.idOf(corner));
      }
      simplices.push_back(ids);
    } while (std::next_permutation(order.begin(), order.end()));
  });
  return simplices;
}

/// The numbers from 0 on; in any order if the seed is not 0.
inline std::vector<std::int64_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::int64_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = std::int64_t(i);
    if (seed != 0) std::swap(numbers[i], numbers[mix(seed * 7919 + i) % (i + 1)]);
  }
  return numbers;
}

/// Blocks of a problem on this rank, as a space.
class SpaceTimePieces {
 public:
  using Index = SpaceTimeProblem::Index;

  SpaceTimePieces(Transport& transport, const SpaceTimeProblem& problem, const SpaceTimeRun& run)
      : problem_(problem), assignment_(std::vector<std::int64_t>{}) {
    if (run.asMesh) {
      assignment_ = spread(run.blocks, transport.size(), run.seed);
      makeMesh(transport, run);
      return;
    }
    const auto cut = cutGrid(problem, run.blocks, run.seed);
    assignment_ = spread(std::int64_t(cut.size()), transport.size(), run.seed);
    const BlockId first = assignment_.first(transport.rank());
    std::vector<GridExtent> mine(cut.begin() + first,
                                 cut.begin() + first + assignment_.count(transport.rank()));
    for (const GridExtent& extent : mine) {
      indices_.emplace_back();
      isForeign_.emplace_back();
      const auto isIn = [](const GridExtent& e, const Index& at) {
        bool in = true;
        for (std::size_t a = 0; a < 3; ++a) in = in && at[a] >= e.first[a] && at[a] <= e.last[a];
        return in;
      };
      const auto lower = cut.begin() + first + std::ptrdiff_t(indices_.size()) - 1;
      SpaceTimeProblem::forPoints(extent, [&](const Index& at) {
        isForeign_.back().push_back(
            run.garbled && std::any_of(cut.begin(), lower, [&](auto& e) { return isIn(e, at); }));
      });
      SpaceTimeProblem::forPoints(extent, [&](const Index& at) { indices_.back().push_back(at); });
    }
    space = makeGridSpace(transport, assignment_, problem.axes(), mine);
  }

  /// Of each point of each block.
  std::vector<std::vector<double>> valuesAt(int step) const {
    std::vector<std::vector<double>> values;
    for (std::size_t b = 0; b < indices_.size(); ++b) {
      values.emplace_back();
      for (std::size_t p = 0; p < indices_[b].size(); ++p) {
        const Index& at = indices_[b][p];
        if (problem_.scalar) {
          values.back().push_back(problem_.scalar(step, at));
        } else {
          auto vector = problem_.vector(step, at);
          if (isForeign_[b][p]) vector = {double(b), -7, 1e9};
          values.back().insert(values.back().end(), vector.begin(), vector.end());
        }
      }
    }
    return values;
  }
  const Assignment& assignment() const { return assignment_; }

  std::unique_ptr<SimplicialSpace> space;

 private:
  void makeMesh(Transport& transport, const SpaceTimeRun& run) {
    const auto simplices = gridSimplices(problem_);
    const auto numbers =
        shuffled(std::size_t(problem_.idOf(problem_.whole().last)) + 1, run.shuffle);
    const BlockId first = assignment_.first(transport.rank());
    const auto count = std::size_t(assignment_.count(transport.rank()));
    ids_.resize(count);
    simplices_.resize(count);
    coordinates_.resize(count);
    std::vector<std::vector<std::int64_t>> local(
        count,
        std::vector<std::int64_t>(std::size_t(problem_.idOf(problem_.whole().last)) + 1, -1));
    indices_.resize(count);
    for (std::size_t s = 0; s < simplices.size(); ++s) {
      const auto b = std::int64_t(mix(run.seed * 1000003 + s) % std::uint64_t(run.blocks)) - first;
      if (b < 0 || std::size_t(b) >= count) continue;
      auto corners = simplices[s];
      std::rotate(corners.begin(), corners.begin() + std::ptrdiff_t(s % corners.size()),
                  corners.end());
      for (const std::int64_t id : corners) {
        std::int64_t& number = local[std::size_t(b)][std::size_t(id)];
        if (number < 0) {
          number = std::int64_t(ids_[std::size_t(b)].size());
          const Index at{id % problem_.points[0], id / problem_.points[0] % problem_.points[1],
                         id / problem_.points[0] / problem_.points[1]};
          ids_[std::size_t(b)].push_back(numbers[std::size_t(id)]);
          indices_[std::size_t(b)].push_back(at);
          for (const double x : problem_.placeOf(at)) coordinates_[std::size_t(b)].push_back(x);
        }
        simplices_[std::size_t(b)].push_back(number);
      }
    }
    std::vector<std::int64_t> lowest(std::size_t(problem_.idOf(problem_.whole().last)) + 1,
                                     run.blocks);
    for (std::size_t s = 0; s < simplices.size(); ++s) {
      for (const std::int64_t id : simplices[s]) {
        std::int64_t& block = lowest[std::size_t(id)];
        block =
            std::min(block, std::int64_t(mix(run.seed * 1000003 + s) % std::uint64_t(run.blocks)));
      }
    }
    for (std::size_t b = 0; b < count; ++b) {
      isForeign_.emplace_back();
      for (const Index& at : indices_[b])
        isForeign_.back().push_back(run.garbled && lowest[std::size_t(problem_.idOf(at))] !=
                                                       first + std::int64_t(b));
    }
    std::vector<SimplexBlock> blocks;
    for (std::size_t b = 0; b < count; ++b)
      blocks.push_back({coordinates_[b], ids_[b], simplices_[b]});
    space = makeMeshSpace(transport, assignment_, problem_.dimension(), blocks);
  }

  const SpaceTimeProblem& problem_;
  Assignment assignment_;
  std::vector<std::vector<Index>> indices_;  // of each block's points
  std::vector<std::vector<bool>> isForeign_;
  std::vector<std::vector<std::int64_t>> ids_, simplices_;
  std::vector<std::vector<double>> coordinates_;
};

struct Followed {
  std::vector<WholeTrajectory> trajectories;
  std::vector<TrackJoin> joins;          ///< Of all ranks.
  std::vector<TrajectoryPieces> pieces;  ///< Of this rank.
  std::int64_t tracks = 0;
};

/// Follows a problem from its first step to its last. Collective.
inline Followed follow(Transport& transport, const SpaceTimeProblem& problem,
                       const SpaceTimeRun& run) {
  const SpaceTimePieces pieces(transport, problem, run);
  auto tracker = std::make_unique<CriticalPointTracker>(transport, *pieces.space, run.options);
  Followed result;
  result.pieces.resize(pieces.space->blocks());
  std::vector<TrackJoin> joins;
  for (int step = 0; step < problem.steps; ++step) {
    const auto values = pieces.valuesAt(step);
    const std::vector<Span<const double>> views(values.begin(), values.end());
    const double time = problem.duration * step;
    const CriticalPointStep found =
        problem.scalar ? tracker->addScalars(time, views) : tracker->addVectors(time, views);
    for (std::size_t b = 0; b < result.pieces.size(); ++b) result.pieces[b].append(found.pieces[b]);
    joins.insert(joins.end(), found.joins.begin(), found.joins.end());
    if (step == run.resumeAfter) {
      // What ranks have saved is found by others.
      auto all = allgatherBytes(transport, tracker->save());
      std::vector<Bytes> mine;
      for (std::size_t r = 0; r < all.size(); ++r)
        if (int(mix(r + run.seed) % std::uint64_t(transport.size())) == transport.rank())
          mine.push_back(std::move(all[r]));
      tracker = std::make_unique<CriticalPointTracker>(transport, *pieces.space, run.options);
      if (problem.scalar) {
        tracker->resumeScalars(mine, views);
      } else {
        tracker->resumeVectors(mine, views);
      }
      EXPECT_EQ(tracker->steps(), step + 1);
    }
  }
  result.tracks = tracker->tracks();
  result.joins = allgatherv(transport, joins);
  result.trajectories = gatherTrajectories(
      transport, joinPieces(transport, pieces.assignment(), result.pieces, run.options.linking));
  return result;
}

/// The same on one simulated rank, with one block.
inline Followed followAlone(const SpaceTimeProblem& problem, bool asMesh = false,
                            std::uint64_t shuffle = 0) {
  VirtualTimeNetworkOptions options;
  options.ranks = 1;
  const auto network = makeVirtualTimeNetwork(options);
  Followed result;
  network->run([&](Transport& transport) {
    SpaceTimeRun run;
    run.asMesh = asMesh;
    run.shuffle = shuffle;
    result = follow(transport, problem, run);
  });
  return result;
}

}  // namespace tributary::testing
