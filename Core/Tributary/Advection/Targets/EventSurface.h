// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Tributary/Advection/Events.h"
#include "Tributary/Base/Box.h"

namespace tributary {

/// A triangle of a surface. Seen from the side to which its normal points, its corners go
/// counterclockwise.
struct SurfaceTriangle {
  double corner[3][3];
  std::int64_t label = 0;  ///< CrossingPoint::target of crossings.
};

/// Where a step crosses a surface.
struct SurfaceHit {
  std::int32_t triangle = -1;
  std::int8_t image = 0;     ///< StepChord::Image::number.
  bool alongNormal = false;  ///< Whether the step goes along the normal of the triangle.
};

/// The straight line from the beginning of a step to its end, in each image of a periodic domain in
/// which the step is tested.
struct StepChord {
  /// The line in one image.
  struct Image {
    int number;
    double from[3], to[3];
  };
  Image image[8];
  int images = 0;
  double low[3], high[3];    ///< A crossing outside of these does not count.
  double seedRounding = -1;  ///< One in a plane that is so close to the beginning neither.
};

/// A triangulated surface that lines cross: see Event::surface.
///
/// Crossings are those of straight segments, each of which contains one of its two ends. The signs
/// of all tests are exact. Where a segment touches a plane, an edge or a corner, the segments are
/// regarded as moved by an infinitesimal vector, which is the same for all: (e, e^2, e^3). So a
/// chain of segments crosses a closed surface alternately inward and outward, and it crosses a
/// surface at an edge or a corner, or where two segments meet, exactly once. A segment to a point
/// with a coordinate beyond 1e40 crosses nothing.
///
/// Immutable, and safe to use from several threads. Functions are local. They do not depend on the
/// order of the triangles that were given.
class EventSurface {
 public:
  /// Triangles without area are left out, and one that has been given several times counts once,
  /// with its lowest label.
  /// @throws Error if a coordinate is not finite or larger than 1e40, or if there are more than
  ///         2^31 - 2 triangles
  explicit EventSurface(std::vector<SurfaceTriangle> triangles);

  /// The number of the triangles that can be crossed.
  [[nodiscard]] std::int32_t size() const;
  /// A box that holds all of them.
  [[nodiscard]] const Box& bounds() const { return bounds_; }
  /// The bytes that it holds.
  [[nodiscard]] std::size_t memory() const;

  // Triangles below come from messages too: a number that does not exist throws Error.

  /// The label of a triangle.
  [[nodiscard]] std::int64_t label(std::int32_t triangle) const;
  /// The signed distance of a point from the plane of a triangle, positive on the side of the
  /// normal.
  [[nodiscard]] double distance(std::int32_t triangle, const double x[3]) const;
  /// The triangle that is closest to a point, but the given one if the point is on it, within a
  /// rounding error.
  [[nodiscard]] std::int32_t closest(std::int32_t triangle, const double x[3]) const;

  /// Whether a segment crosses any triangle, in any direction.
  [[nodiscard]] bool isCrossed(const double from[3], const double to[3]) const;
  /// Finds the first crossing of a step after another one.
  /// @param direction  of crossings that count, by the normal
  /// @param after  a crossing of this step; the first one is found after one without a triangle
  /// @return whether there is one
  [[nodiscard]] bool findNext(const StepChord& chord, EventDirection direction,
                              const SurfaceHit& after, SurfaceHit& found) const;

 private:
  struct Normal {
    double along[3];  // of length 1
  };
  struct Node {
    Box box;
    std::int32_t begin, end;  // of order_
    std::int32_t right;       // the second child, which the first one precedes; -1 for a leaf
  };
  struct Crossing;

  void makeNode(std::int32_t begin, std::int32_t end);
  template <class Visit>
  void forEachIn(const Box& box, Visit&& visit) const;
  const SurfaceTriangle& at(std::int32_t triangle) const;
  std::vector<Crossing> crossingsOf(const StepChord& chord, const StepChord::Image& image,
                                    EventDirection direction) const;

  std::vector<SurfaceTriangle> triangles_;  // ordered by their coordinates
  std::vector<Normal> normals_;
  std::vector<std::int32_t> order_;  // of triangles, by place
  std::vector<Node> nodes_;
  Box bounds_;
};

}  // namespace tributary
