// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Features/detail/CriticalPointSearch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Features/detail/PuncturedSimplex.h"
#include "Tributary/Features/detail/SimplexSlope.h"

namespace tributary::detail {
namespace {

constexpr double NaN = std::numeric_limits<double>::quiet_NaN();

/// A stretch of a line through one simplex of space-time: its ends. The first end has the velocity
/// and kind of the stretch.
struct Stretch {
  CriticalPoint end[2];
};

/// Finds stretches in the prisms over simplices. Of a prism over points p0 < p1 < ... the
/// simplices are p0 ... pi at the lower step and pi ... at the upper one, for each i.
class PrismSearch {
 public:
  PrismSearch(const SimplicialSpace& space, std::size_t block, const FieldAtStep& lower,
              const FieldAtStep& upper, double center)
      : space_(space),
        block_(block),
        d_(index(space.dimension())),
        fields_{&lower, &upper},
        center_(center) {}

  void search(const std::array<SpacePoint, 4>& simplex, std::vector<Stretch>& found) {
    if (!enter(simplex, 2)) return;
    for (std::size_t i = 0; i <= d_; ++i) searchSimplex(i, found);
  }

  /// Finds the critical point on the lower side of the prism. @return whether there is one
  bool searchLowerSide(const std::array<SpacePoint, 4>& simplex, CriticalPoint& found) {
    if (!enter(simplex, 1)) return false;
    std::array<Corner, 4> face{};
    for (std::size_t v = 0; v <= d_; ++v) face[v] = {v, 0};
    if (!isFacePunctured(face)) return false;
    found = pointOn(face);
    double rise[3][3];  // of a component along an edge
    for (std::size_t c = 0; c < d_; ++c)
      for (std::size_t v = 0; v < d_; ++v) rise[c][v] = vector(v + 1, 0)[c] - vector(0, 0)[c];
    double jacobian[3][3];
    found.kind = kindWith(rise, jacobian);
    found.velocity = {NaN, NaN, NaN};
    return true;
  }

 private:
  /// A point of the prism.
  struct Corner {
    std::size_t point;  // of the simplex
    std::size_t layer;
  };

  /// @return false if a value is not finite
  bool enter(const std::array<SpacePoint, 4>& simplex, std::size_t layers) {
    simplex_ = simplex;
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (std::size_t v = 0; v <= d_; ++v)
        for (std::size_t c = 0; c < d_; ++c)
          if (!std::isfinite(vector(v, layer)[c])) return false;
    for (std::size_t layer = 0; layer < layers; ++layer)
      for (std::size_t v = 0; v <= d_; ++v)
        rounded_[layer][v] = rounded(vector(v, layer), space_.dimension());
    return true;
  }

  void searchSimplex(std::size_t middle, std::vector<Stretch>& found) {
    std::array<Corner, 5> corners{};
    unsigned same = 0xff;
    for (std::size_t n = 0; n <= d_ + 1; ++n) {
      corners[n] = n <= middle ? Corner{n, 0} : Corner{n - 1, 1};
      same &= signs(corners[n]);
    }
    if (same) return;
    std::size_t punctured = 0;
    Stretch stretch;
    for (std::size_t left = 0; left <= d_ + 1; ++left) {
      std::array<Corner, 4> face{};
      for (std::size_t n = 0, at = 0; n <= d_ + 1; ++n)
        if (n != left) face[at++] = corners[n];
      if (!isFacePunctured(face)) continue;
      if (punctured < 2) stretch.end[punctured] = pointOn(face);
      ++punctured;
    }
    if (punctured == 0) return;
    // True for any values; a violation would break lines silently.
    if (punctured != 2)
      throw Error(
          ErrorKind::Internal,
          "critical points: a line enters a simplex without leaving it; report this defect");
    describe(middle, stretch.end[0]);
    found.push_back(stretch);
  }

  bool isFacePunctured(const std::array<Corner, 4>& face) const {
    unsigned same = 0xff;
    std::array<RoundedVector, 4> corners;
    for (std::size_t n = 0; n <= d_; ++n) {
      same &= signs(face[n]);
      corners[n] = rounded_[face[n].layer][face[n].point];
    }
    return !same && isPunctured(corners.data(), space_.dimension());
  }

  CriticalPoint pointOn(const std::array<Corner, 4>& face) const {
    std::array<RoundedVector, 4> corners;
    for (std::size_t n = 0; n <= d_; ++n) corners[n] = rounded_[face[n].layer][face[n].point];
    const auto weights = punctureWeights(corners.data(), space_.dimension());
    CriticalPoint point;
    double upper = 0;
    for (std::size_t n = 0; n <= d_; ++n) {
      const auto place = space_.placeOf(block_, simplex_[face[n].point]);
      for (std::size_t a = 0; a < 3; ++a) point.place[a] += weights[n] * place[a];
      if (face[n].layer == 1) {
        upper += weights[n];
        ++point.face.upper;
      }
      point.face.ids[n] = space_.idOf(block_, simplex_[face[n].point]);
      const FieldAtStep& field = *fields_[face[n].layer];
      if (!field.scalars.empty())
        point.value += weights[n] * field.scalars[block_][index(simplex_[face[n].point])];
    }
    point.face.step = fields_[0]->step;
    if (index(point.face.upper) == d_ + 1) {
      point.face.upper = 0;
      point.face.step = fields_[1]->step;
      point.time = fields_[1]->time;
    } else if (point.face.upper == 0) {
      point.time = fields_[0]->time;
    } else {
      point.time = fields_[0]->time + upper * (fields_[1]->time - fields_[0]->time);
    }
    return point;
  }

  /// Sets kind and velocity in the simplex of space-time that has point `middle` in both layers.
  void describe(std::size_t middle, CriticalPoint& point) const {
    const double* before = vector(middle, 0);
    const double* after = vector(middle, 1);
    double rise[3][3];
    for (std::size_t c = 0; c < d_; ++c) {
      const double change =
          after[c] - before[c];  // between the layers; the same in all of the simplex
      const auto lower = [&](std::size_t v) {
        return v <= middle ? vector(v, 0)[c] : vector(v, 1)[c] - change;
      };
      for (std::size_t v = 0; v < d_; ++v) rise[c][v] = lower(v + 1) - lower(0);
    }
    double jacobian[3][3];
    point.kind = kindWith(rise, jacobian);
    // The field stays zero along the line: jacobian * velocity + rate of change = 0.
    double change[3];
    const double duration = fields_[1]->time - fields_[0]->time;
    for (std::size_t c = 0; c < d_; ++c) change[c] = (before[c] - after[c]) / duration;
    const SimplexSlope solution = slopeOf(space_.dimension(), jacobian, change);
    for (std::size_t c = 0; c < d_; ++c)
      point.velocity[static_cast<std::size_t>(space_.axes()[c])] = solution.gradient[c];
  }

  CriticalKind kindWith(const double rise[3][3], double jacobian[3][3]) const {
    double edge[3][3];
    const auto from = space_.placeOf(block_, simplex_[0]);
    for (std::size_t v = 0; v < d_; ++v) {
      const auto to = space_.placeOf(block_, simplex_[v + 1]);
      for (std::size_t c = 0; c < d_; ++c) {
        const auto a = static_cast<std::size_t>(space_.axes()[c]);
        edge[v][c] = to[a] - from[a];
      }
    }
    for (std::size_t c = 0; c < d_; ++c) {
      const SimplexSlope slope = slopeOf(space_.dimension(), edge, rise[c]);
      std::copy_n(slope.gradient.begin(), d_, jacobian[c]);
    }
    // Gradients rotate only through rounding and the subdivision.
    const bool isGradient = !fields_[0]->scalars.empty();
    CriticalKind kind = kindOf(jacobian, space_.dimension(), isGradient ? -1 : center_);
    if (isGradient) kind.rotation = Rotation::None;
    return kind;
  }

  const double* vector(std::size_t v, std::size_t layer) const {
    return fields_[layer]->vectors[block_].data() + index(simplex_[v]) * d_;
  }
  unsigned signs(const Corner& corner) const {
    return fields_[corner.layer]->signs[block_][index(simplex_[corner.point])];
  }

  const SimplicialSpace& space_;
  const std::size_t block_;
  const std::size_t d_;
  const std::array<const FieldAtStep*, 2> fields_;
  const double center_;
  std::array<SpacePoint, 4> simplex_{};
  std::array<std::array<RoundedVector, 4>, 2> rounded_;
};

/// Joins stretches to lines where they share an end.
class Chaining {
 public:
  explicit Chaining(std::vector<Stretch> stretches)
      : stretches_(std::move(stretches)),
        partner_(2 * stretches_.size(), None),
        used_(stretches_.size(), 0) {
    order_.resize(partner_.size());
    for (std::size_t e = 0; e < order_.size(); ++e) order_[e] = e;
    std::sort(order_.begin(), order_.end(),
              [&](std::size_t a, std::size_t b) { return at(a).face < at(b).face; });
    for (std::size_t i = 0; i + 1 < order_.size(); ++i) {
      if (at(order_[i]).face != at(order_[i + 1]).face) continue;
      if (partner_[order_[i]] != None) {
        throw Error(
            "critical points: more than two simplices share a facet; assign each cell to one "
            "block, "
            "and use cells that touch in whole facets only");
      }
      partner_[order_[i]] = order_[i + 1];
      partner_[order_[i + 1]] = order_[i];
    }
  }

  TrajectoryPieces run() {
    // Lines with ends first; the remaining lines are closed.
    for (const bool open : {true, false})
      for (const std::size_t e : order_)
        if (!used_[e / 2] && (!open || partner_[e] == None)) follow(e);
    return std::move(pieces_);
  }

 private:
  static constexpr std::size_t None = static_cast<std::size_t>(-1);

  /// Ends are numbered: those of stretch s are 2 s and 2 s + 1.
  const CriticalPoint& at(std::size_t end) const { return stretches_[end / 2].end[end % 2]; }

  void follow(std::size_t end) {
    line_.clear();
    std::size_t e = end, last = end;
    while (e != None && !used_[e / 2]) {
      used_[e / 2] = 1;
      line_.push_back(at(e));
      line_.back().kind = stretches_[e / 2].end[0].kind;
      line_.back().velocity = stretches_[e / 2].end[0].velocity;
      last = e ^ 1;
      e = partner_[last];
    }
    const CriticalPoint beforeLast = line_.back();
    line_.push_back(at(last));
    line_.back().kind = beforeLast.kind;
    line_.back().velocity = beforeLast.velocity;
    putInOrder(line_);
    pieces_.points.insert(pieces_.points.end(), line_.begin(), line_.end());
    pieces_.offsets.push_back(pieces_.points.size());
    pieces_.tracks.push_back(-1);
  }

  std::vector<Stretch> stretches_;
  std::vector<std::size_t> order_;    // ends by face
  std::vector<std::size_t> partner_;  // the other end with this face
  std::vector<std::uint8_t> used_;
  std::vector<CriticalPoint> line_;
  TrajectoryPieces pieces_;
};

}  // namespace

FieldAtStep::FieldAtStep(std::int64_t stepOf, double timeOf, int dimension,
                         std::vector<std::vector<double>> vectorsOf,
                         std::vector<std::vector<double>> scalarsOf)
    : step(stepOf),
      time(timeOf),
      vectors(std::move(vectorsOf)),
      scalars(std::move(scalarsOf)),
      signs(vectors.size()) {
  const auto d = static_cast<std::size_t>(dimension);
  for (std::size_t b = 0; b < vectors.size(); ++b) {
    signs[b].assign(vectors[b].size() / d, 0);
    for (std::size_t p = 0; p < signs[b].size(); ++p) {
      unsigned bits = 0;
      for (std::size_t c = 0; c < d; ++c) {
        const double v = vectors[b][p * d + c];
        bits |= static_cast<unsigned>(v > 0) << c | static_cast<unsigned>(v < 0) << (3 + c);
      }
      signs[b][p] = static_cast<std::uint8_t>(bits);
    }
  }
}

TrajectoryPieces findCriticalPoints(const SimplicialSpace& space, std::size_t block,
                                    const FieldAtStep& field, double center) {
  TrajectoryPieces pieces;
  PrismSearch prism(space, block, field, field, center);
  space.forEachSimplex(block, 0, space.groups(block), field.signs[block].data(),
                       [&](const std::array<SpacePoint, 4>& simplex) {
                         CriticalPoint point;
                         if (!prism.searchLowerSide(simplex, point)) return;
                         pieces.points.push_back(point);
                         pieces.offsets.push_back(pieces.points.size());
                         pieces.tracks.push_back(-1);
                       });
  return pieces;
}

TrajectoryPieces findPieces(const SimplicialSpace& space, std::size_t block,
                            const FieldAtStep& lower, const FieldAtStep& upper, double center,
                            const ParallelFor& parallelFor) {
  std::vector<std::uint8_t> signs(lower.signs[block].size());
  for (std::size_t p = 0; p < signs.size(); ++p)
    signs[p] = lower.signs[block][p] & upper.signs[block][p];
  std::vector<Stretch> stretches;
  std::mutex mutex;
  parallelFor(space.groups(block), [&](std::int64_t begin, std::int64_t end) {
    std::vector<Stretch> found;
    PrismSearch prism(space, block, lower, upper, center);
    space.forEachSimplex(
        block, begin, end, signs.data(),
        [&](const std::array<SpacePoint, 4>& simplex) { prism.search(simplex, found); });
    const std::lock_guard<std::mutex> lock(mutex);
    stretches.insert(stretches.end(), found.begin(), found.end());
  });
  return Chaining(std::move(stretches)).run();
}

}  // namespace tributary::detail
