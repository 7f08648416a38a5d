// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Targets/EventSurface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "Tributary/Advection/Targets/detail/ExactNumber.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {
namespace {

using detail::ExactNumber;
using ExactVector = std::array<ExactNumber, 3>;

/// Products of six coordinates do not overflow.
constexpr double MostCoordinate = 1e40;
/// The most triangles in a leaf of the tree.
constexpr std::int32_t LeafSize = 4;

int signOf(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

ExactVector difference(const double a[3], const double b[3]) {
  return {ExactNumber::difference(a[0], b[0]), ExactNumber::difference(a[1], b[1]),
          ExactNumber::difference(a[2], b[2])};
}

ExactVector cross(const ExactVector& a, const ExactVector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

ExactNumber dot(const ExactVector& a, const ExactVector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The normal of a triangle, twice as long as its area.
ExactVector normalOf(const SurfaceTriangle& t) {
  return cross(difference(t.corner[1], t.corner[0]), difference(t.corner[2], t.corner[0]));
}

/// The determinant of a - d, b - d and c - d.
ExactNumber determinant(const double a[3], const double b[3], const double c[3],
                        const double d[3]) {
  return dot(difference(a, d), cross(difference(b, d), difference(c, d)));
}

/// Its sign.
int orientation(const double a[3], const double b[3], const double c[3], const double d[3]) {
  const double ad[3] = {a[0] - d[0], a[1] - d[1], a[2] - d[2]};
  const double bd[3] = {b[0] - d[0], b[1] - d[1], b[2] - d[2]};
  const double cd[3] = {c[0] - d[0], c[1] - d[1], c[2] - d[2]};
  double sum = 0, magnitude = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double one = bd[j] * cd[k], other = bd[k] * cd[j];
    sum += ad[i] * (one - other);
    magnitude += std::fabs(ad[i]) * (std::fabs(one) + std::fabs(other));
  }
  constexpr double Rounding = 8e-16;  // more than (7 + 56 / 2^53) / 2^53, see ExactNumber
  if (std::fabs(sum) > Rounding * magnitude) return signOf(sum);
  return determinant(a, b, c, d).sign();
}

/// The sign of the product of a vector and (e, e^2, e^3), for an infinitesimal e.
int infinitesimalSign(const ExactVector& v) {
  for (const ExactNumber& c : v)
    if (c.sign() != 0) return c.sign();
  return 0;
}

/// The side of a triangle's plane on which a moved point is.
int sideOf(const SurfaceTriangle& t, const double x[3]) {
  const int side = -orientation(t.corner[0], t.corner[1], t.corner[2], x);
  return side != 0 ? side : infinitesimalSign(normalOf(t));
}

/// On which side a moved segment passes an edge; not 0 unless they are parallel.
int passes(const double from[3], const double to[3], const double a[3], const double b[3]) {
  const int side = orientation(to, a, b, from);
  return side != 0 ? side : infinitesimalSign(cross(difference(to, from), difference(b, a)));
}

/// Whether the tests below are exact for a segment.
bool isUsable(const double from[3], const double to[3]) {
  return std::all_of(from, from + 3, [](double c) { return std::fabs(c) <= MostCoordinate; }) &&
         std::all_of(to, to + 3, [](double c) { return std::fabs(c) <= MostCoordinate; });
}

/// Whether a moved segment crosses a triangle: 1 along its normal, -1 against it, or 0.
int crossingOf(const SurfaceTriangle& t, const double from[3], const double to[3]) {
  const int side = sideOf(t, to);
  if (side == sideOf(t, from)) return 0;
  const int first = passes(from, to, t.corner[0], t.corner[1]);
  return first == passes(from, to, t.corner[1], t.corner[2]) &&
                 first == passes(from, to, t.corner[2], t.corner[0])
             ? side
             : 0;
}

Box boxOf(const double a[3], const double b[3]) {
  Box box;
  for (std::size_t i = 0; i < 3; ++i) {
    box.lo[i] = std::min(a[i], b[i]);
    box.hi[i] = std::max(a[i], b[i]);
  }
  return box;
}

Box boxOf(const SurfaceTriangle& t) {
  Box box = boxOf(t.corner[0], t.corner[1]);
  include(box, boxOf(t.corner[2], t.corner[2]));
  return box;
}

std::array<double, 9> coordinatesOf(const SurfaceTriangle& t) {
  std::array<double, 9> coordinates;
  std::memcpy(coordinates.data(), t.corner, sizeof t.corner);
  return coordinates;
}

bool isBefore(const SurfaceTriangle& a, const SurfaceTriangle& b) {
  const auto x = coordinatesOf(a), y = coordinatesOf(b);
  return x == y ? a.label < b.label : x < y;
}

bool isSame(const SurfaceTriangle& a, const SurfaceTriangle& b) {
  return coordinatesOf(a) == coordinatesOf(b);
}

/// The square of the distance between a point and a segment.
double squaredDistance(const double x[3], const double a[3], const double b[3]) {
  const double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  const double from[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
  const double share = std::min(1.0, std::max(0.0, dot(from, along) / dot(along, along)));
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += (from[i] - share * along[i]) * (from[i] - share * along[i]);
  return sum;
}

/// The same for a triangle.
/// @param height  of the point above the plane; normal: of length 1
double squaredDistance(const double x[3], const SurfaceTriangle& t, const double normal[3],
                       double height) {
  bool isAbove = true;
  double edges = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const double *const a = t.corner[i], *const b = t.corner[(i + 1) % 3];
    const double along[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double from[3] = {x[0] - a[0], x[1] - a[1], x[2] - a[2]};
    const double inward[3] = {normal[1] * along[2] - normal[2] * along[1],
                              normal[2] * along[0] - normal[0] * along[2],
                              normal[0] * along[1] - normal[1] * along[0]};
    isAbove = isAbove && dot(inward, from) >= 0;
    edges = std::min(edges, squaredDistance(x, a, b));
  }
  return isAbove ? height * height : edges;
}

}  // namespace

/// A crossing of a segment, with the exact place of it.
struct EventSurface::Crossing {
  SurfaceHit hit;
  double share;             // of the segment
  ExactNumber above, fall;  // the height of its beginning above the plane, and that less the end's
  const SurfaceTriangle* triangle;

  /// Whether it comes before another one of the same segment.
  bool operator<(const Crossing& other) const {
    constexpr double Rounding = 1e-14;  // more than that of shares
    if (std::fabs(share - other.share) > Rounding) return share < other.share;
    const int signs = fall.sign() * other.fall.sign();
    int sign = (above * other.fall - other.above * fall).sign();
    if (sign == 0) {  // the movement decides
      const ExactVector one = normalOf(*triangle), two = normalOf(*other.triangle);
      ExactVector change;
      for (std::size_t a = 0; a < 3; ++a) change[a] = one[a] * other.fall - two[a] * fall;
      sign = infinitesimalSign(change);
    }
    return sign != 0 ? sign * signs < 0 : hit.triangle < other.hit.triangle;
  }
};

EventSurface::EventSurface(std::vector<SurfaceTriangle> triangles)
    : triangles_(std::move(triangles)) {
  if (triangles_.size() > index(std::numeric_limits<std::int32_t>::max() - 1))
    throw Error("a surface of events has " + std::to_string(triangles_.size()) +
                " triangles; use a coarser one");
  for (SurfaceTriangle& t : triangles_)
    for (double(&corner)[3] : t.corner)
      for (double& c : corner) {
        if (!(std::fabs(c) <= MostCoordinate))
          throw Error("a surface of events has a point at (" + numberText(corner[0]) + ", " +
                      numberText(corner[1]) + ", " + numberText(corner[2]) +
                      "); use finite coordinates of at most 1e40");
        c += 0.0;  // -0 becomes 0, which it equals
      }
  std::sort(triangles_.begin(), triangles_.end(), isBefore);
  triangles_.erase(std::unique(triangles_.begin(), triangles_.end(), isSame), triangles_.end());
  std::size_t kept = 0;
  for (const SurfaceTriangle& t : triangles_) {
    const ExactVector exact = normalOf(t);
    Normal normal{{exact[0].rounded(), exact[1].rounded(), exact[2].rounded()}};
    double most = 0;
    for (const double c : normal.along) most = std::max(most, std::fabs(c));
    if (most == 0) continue;
    for (double& c : normal.along) c /= most;
    const double length = std::sqrt(dot(normal.along, normal.along));
    for (double& c : normal.along) c /= length;
    normals_.push_back(normal);
    triangles_[kept++] = t;
  }
  triangles_.resize(kept);
  triangles_.shrink_to_fit();
  order_.resize(kept);
  std::iota(order_.begin(), order_.end(), 0);
  if (kept > 0) makeNode(0, size());
  if (!nodes_.empty()) bounds_ = nodes_[0].box;
}

void EventSurface::makeNode(std::int32_t begin, std::int32_t end) {
  const std::size_t place = nodes_.size();
  nodes_.push_back({{}, begin, end, -1});
  Box box, centers;
  const auto center = [&](std::int32_t t, std::size_t a) {
    const auto& corner = triangles_[index(t)].corner;
    return corner[0][a] / 3 + corner[1][a] / 3 + corner[2][a] / 3;
  };
  for (std::int32_t i = begin; i < end; ++i) {
    const std::int32_t t = order_[index(i)];
    include(box, boxOf(triangles_[index(t)]));
    const double x[3] = {center(t, 0), center(t, 1), center(t, 2)};
    include(centers, boxOf(x, x));
  }
  nodes_[place].box = box;
  if (end - begin <= LeafSize) return;
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a)
    if (centers.hi[a] - centers.lo[a] > centers.hi[axis] - centers.lo[axis]) axis = a;
  const std::int32_t middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](std::int32_t s, std::int32_t t) {
                     const double one = center(s, axis), other = center(t, axis);
                     return one != other ? one < other : s < t;
                   });
  makeNode(begin, middle);
  nodes_[place].right = static_cast<std::int32_t>(nodes_.size());
  makeNode(middle, end);
}

std::int32_t EventSurface::size() const {
  return static_cast<std::int32_t>(triangles_.size());
}

std::size_t EventSurface::memory() const {
  return triangles_.capacity() * sizeof(SurfaceTriangle) + normals_.capacity() * sizeof(Normal) +
         order_.capacity() * sizeof(std::int32_t) + nodes_.capacity() * sizeof(Node);
}

const SurfaceTriangle& EventSurface::at(std::int32_t triangle) const {
  if (triangle < 0 || triangle >= size())
    refuseMessage("triangle " + std::to_string(triangle) + " of a surface of " +
                  std::to_string(size()));
  return triangles_[index(triangle)];
}

std::int64_t EventSurface::label(std::int32_t triangle) const {
  return at(triangle).label;
}

double EventSurface::distance(std::int32_t triangle, const double x[3]) const {
  const double* const corner = at(triangle).corner[0];
  const double from[3] = {x[0] - corner[0], x[1] - corner[1], x[2] - corner[2]};
  return dot(from, normals_[index(triangle)].along);
}

/// Calls visit(triangle) for the triangles whose boxes meet a box, until it returns false.
template <class Visit>
void EventSurface::forEachIn(const Box& box, Visit&& visit) const {
  std::int32_t stack[64];  // the depth is at most 31
  int depth = 0;
  if (!nodes_.empty()) stack[depth++] = 0;
  while (depth > 0) {
    const std::int32_t place = stack[--depth];
    const Node& node = nodes_[index(place)];
    if (!intersects(node.box, box)) continue;
    if (node.right >= 0) {
      stack[depth++] = node.right;
      stack[depth++] = place + 1;
      continue;
    }
    for (std::int32_t i = node.begin; i < node.end; ++i) {
      const std::int32_t t = order_[index(i)];
      if (intersects(boxOf(triangles_[index(t)]), box) && !visit(t)) return;
    }
  }
}

std::int32_t EventSurface::closest(std::int32_t triangle, const double x[3]) const {
  const auto squared = [&](std::int32_t t) {
    return squaredDistance(x, at(t), normals_[index(t)].along, distance(t, x));
  };
  double least = squared(triangle), scale = 0;
  for (std::size_t a = 0; a < 3; ++a)
    scale += std::fabs(x[a]) + std::fabs(bounds_.lo[a]) + std::fabs(bounds_.hi[a]);
  const double rounding = 16 * std::numeric_limits<double>::epsilon() * scale;
  if (least <= rounding * rounding) return triangle;
  const double radius = std::sqrt(least) + rounding;
  const double low[3] = {x[0] - radius, x[1] - radius, x[2] - radius};
  const double high[3] = {x[0] + radius, x[1] + radius, x[2] + radius};
  forEachIn(boxOf(low, high), [&](std::int32_t t) {
    const double here = squared(t);
    if (here < least || (here == least && t < triangle)) {
      least = here;
      triangle = t;
    }
    return true;
  });
  return triangle;
}

bool EventSurface::isCrossed(const double from[3], const double to[3]) const {
  bool found = false;
  if (!isUsable(from, to)) return false;
  forEachIn(boxOf(from, to), [&](std::int32_t t) {
    found = crossingOf(triangles_[index(t)], from, to) != 0;
    return !found;
  });
  return found;
}

/// The crossings of an image that count, in their order.
std::vector<EventSurface::Crossing> EventSurface::crossingsOf(const StepChord& chord,
                                                              const StepChord::Image& image,
                                                              EventDirection direction) const {
  const double *const from = image.from, *const to = image.to;
  std::vector<Crossing> crossings;
  if (!isUsable(from, to)) return crossings;
  forEachIn(boxOf(from, to), [&](std::int32_t number) {
    const SurfaceTriangle& t = triangles_[index(number)];
    const int way = crossingOf(t, from, to);
    const bool counts = way != 0 && (direction == EventDirection::Any ||
                                     (direction == EventDirection::Positive) == (way > 0));
    if (!counts || std::fabs(distance(number, from)) <= chord.seedRounding) return true;
    const auto heightOf = [&](const double x[3]) {
      return ExactNumber() - determinant(t.corner[0], t.corner[1], t.corner[2], x);
    };
    Crossing c;
    c.hit = {number, static_cast<std::int8_t>(image.number), way > 0};
    c.above = heightOf(from);
    c.fall = c.above - heightOf(to);
    c.share = c.above.rounded() / c.fall.rounded();
    for (int a = 0; a < 3; ++a) {
      const double x = from[a] + c.share * (to[a] - from[a]);
      if (!(x >= chord.low[a] && x <= chord.high[a])) return true;
    }
    c.triangle = &t;
    crossings.push_back(std::move(c));
    return true;
  });
  std::sort(crossings.begin(), crossings.end());
  for (std::size_t i = 1; i < crossings.size(); ++i)  // in this order in spite of rounding
    crossings[i].share = std::max(crossings[i].share, crossings[i - 1].share);
  return crossings;
}

bool EventSurface::findNext(const StepChord& chord, EventDirection direction,
                            const SurfaceHit& after, SurfaceHit& found) const {
  std::vector<Crossing> all;
  for (int i = 0; i < chord.images; ++i) {
    std::vector<Crossing> here = crossingsOf(chord, chord.image[i], direction);
    std::move(here.begin(), here.end(), std::back_inserter(all));
  }
  if (chord.images > 1)
    std::stable_sort(all.begin(), all.end(),
                     [](const Crossing& a, const Crossing& b) { return a.share < b.share; });
  auto next = all.begin();
  if (after.triangle >= 0) {
    next = std::find_if(all.begin(), all.end(), [&](const Crossing& c) {
      return c.hit.triangle == after.triangle && c.hit.image == after.image;
    });
    if (next != all.end()) ++next;
  }
  if (next == all.end()) return false;
  found = next->hit;
  return true;
}

}  // namespace tributary
