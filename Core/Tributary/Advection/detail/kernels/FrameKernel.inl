// SPDX-License-Identifier: BSD-3-Clause
// The body of one source file per instruction set: see StructuredKernel.inl for its rules.

#include "Tributary/Advection/Vector.h"
#include "Tributary/Advection/detail/kernels/FrameKernel.h"
#include "Tributary/Advection/detail/kernels/Triples.h"

namespace tributary::detail {
namespace {

// The same operations for one point (Number is double) and for Width points.
template <class Number>
struct Vec {
  Number x, y, z;
};
template <class N>
TRIBUTARY_INLINE Vec<N> operator+(const Vec<N>& a, const Vec<N>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class N>
TRIBUTARY_INLINE Vec<N> operator*(const N& s, const Vec<N>& a) {
  return {s * a.x, s * a.y, s * a.z};
}
template <class N>
TRIBUTARY_INLINE N dot(const Vec<N>& a, const Vec<N>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class N>
TRIBUTARY_INLINE Vec<N> cross(const Vec<N>& a, const Vec<N>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class Condition, class N>
TRIBUTARY_INLINE Vec<N> select(const Condition& condition, const Vec<N>& a, const Vec<N>& b) {
  return {tributary::select(condition, a.x, b.x), tributary::select(condition, a.y, b.y),
          tributary::select(condition, a.z, b.z)};
}
template <class N>
TRIBUTARY_INLINE Vec<N> unit(const Vec<N>& a) {
  const N length = root(dot(a, a));
  return select(length > 0, (1 / length) * a, a);
}
TRIBUTARY_INLINE WideInt isZero(const Vec<Wide>& a) {
  return (a.x == 0) & (a.y == 0) & (a.z == 0);
}

/// The normal after a bend from one direction to the next. @return whether there is a bend that
/// changes the normal
TRIBUTARY_INLINE WideInt slide(const Vec<Wide>& before, const Vec<Wide>& here, Vec<Wide>& normal) {
  const Vec<Wide> bend = cross(here, before);
  // A straight step, or a normal that lies along the line, leaves the normal as it is.
  const WideInt bends = (isZero(bend) | isZero(cross(before, normal))) == 0;
  const Vec<Wide> axis = unit(bend), middle = unit(here + before);
  const Wide along = dot(axis, normal), rest = 1 - along * along;
  Wide side = tributary::select(rest > 0, root(rest), Wide{});
  side = tributary::select(dot(normal, cross(before, axis)) < 0, -side, side);
  normal = select(bends, along * axis + side * cross(middle, axis), normal);
  return bends;
}

/// Unit direction of the segment that begins at point i.
Vec<double> direction(const float* points, std::int64_t i) {
  const float* p = points + 3 * i;
  return unit(Vec<double>{double(p[3]) - p[0], double(p[4]) - p[1], double(p[5]) - p[2]});
}

/// Some vector across `d`.
Vec<double> anyAcross(const Vec<double>& d) {
  if (d.x != 0) return unit(Vec<double>{-d.y / d.x, 1, 0});
  if (d.y != 0) return unit(Vec<double>{0, -d.z / d.y, 1});
  return {1, 0, 0};
}

void fill(double* normals, std::int64_t from, std::int64_t to, const Vec<double>& n) {
  for (std::int64_t i = from; i < to; ++i) {
    normals[3 * i] = n.x;
    normals[3 * i + 1] = n.y;
    normals[3 * i + 2] = n.z;
  }
}

/// Slides normals along lines, one line in each lane.
class Sliding {
 public:
  Sliding(const Polyline* lines, std::int64_t count, const FrameArrays& arrays)
      : next_(lines), end_(lines + count), arrays_(arrays) {}

  void run() {
    LaneSet alive = 0;
    for (int l = 0; l < Width; ++l) {
      point_[l] = arrays_.points;  // of lanes without a line: something that can be read
      if (enter(l)) alive |= 1u << l;
    }
    while (alive != 0) {
      Wide p[3];
      gather<3>([&](int l, int part) { return loadTriple(point_[l], part); }, p);
      const Vec<Wide> here = unit(Vec<Wide>{p[0] - last_.x, p[1] - last_.y, p[2] - last_.z});
      last_ = {p[0], p[1], p[2]};
      double rows[3][Width];
      storeWide(rows[0], normal_.x);
      storeWide(rows[1], normal_.y);
      storeWide(rows[2], normal_.z);
      const WideInt bends = slide(before_, here, normal_);
      before_ = select(bends, here, before_);
      forEach(
          alive, [&](int l) __attribute__((always_inline)) {
            for (int a = 0; a < 3; ++a) normalOut_[l][a] = rows[a][l];
            normalOut_[l] += 3;
            point_[l] += 3;
            if (__builtin_expect(--left_[l] == 0, 0) && !leave(l)) alive &= ~(1u << l);
          });
    }
  }

 private:
  /// Takes the next line that bends into a lane. @return whether there is one
  bool enter(int l) {
    while (next_ != end_) {
      const Polyline& line = *next_++;
      if (line.points < 2) continue;
      const float* points = arrays_.points + 3 * line.first;
      double* normals = arrays_.normals + 3 * line.first;
      const Vec<double> first = direction(points, 0);
      std::int64_t i = 1;
      Vec<double> here{}, across{};
      constexpr double Parallel = 1e-3;
      for (; i + 1 < line.points; ++i) {
        here = direction(points, i);
        across = cross(first, here);
        if (root(dot(across, across)) > Parallel) break;
      }
      if (i + 1 >= line.points) {
        fill(normals, 0, line.points, anyAcross(first));
        continue;
      }
      const Vec<double> normal = unit(across);
      if (i + 2 >= line.points) {
        fill(normals, 0, line.points, normal);
        continue;
      }
      fill(normals, 0, i, normal);
      set(before_, l, here);
      set(normal_, l, normal);
      const float* p = points + 3 * (i + 1);
      set(last_, l, Vec<double>{p[0], p[1], p[2]});
      point_[l] = p + 3;
      normalOut_[l] = normals + 3 * i;
      left_[l] = line.points - (i + 2);
      return true;
    }
    return false;
  }

  /// Ends the line of a lane. @return whether the lane has another one
  bool leave(int l) {
    fill(normalOut_[l], 0, 2, {normal_.x[l], normal_.y[l], normal_.z[l]});
    if (enter(l)) return true;
    point_[l] = arrays_.points;
    return false;
  }

  static void set(Vec<Wide>& v, int l, const Vec<double>& to) {
    v.x[l] = to.x;
    v.y[l] = to.y;
    v.z[l] = to.z;
  }

  const Polyline *next_, *end_;
  const FrameArrays& arrays_;
  Vec<Wide> before_{}, normal_{}, last_{};
  const float* point_[Width];   ///< The end of the segment.
  double* normalOut_[Width]{};  ///< Of the point before the segment.
  std::int64_t left_[Width]{};  ///< Segments.
};

void accumulateRotation(const Polyline& line, const FrameArrays& a) {
  const double* time = a.time + line.first;
  const double* omega = a.angularVelocity + line.first;
  double* rotation = a.rotation + line.first;
  rotation[line.origin] = 0;
  for (std::int64_t i = line.origin + 1; i < line.points; ++i)
    rotation[i] = rotation[i - 1] + (omega[i - 1] + omega[i]) / 2 * (time[i] - time[i - 1]);
  for (std::int64_t i = line.origin - 1; i >= 0; --i)
    rotation[i] = rotation[i + 1] + (omega[i + 1] + omega[i]) / 2 * (time[i] - time[i + 1]);
}

template <class N>
TRIBUTARY_INLINE Vec<N> turned(const Vec<N>& n, const Vec<N>& v, const N& cosine, const N& sine) {
  return cosine * n + sine * unit(cross(n, v));
}

template <class T>
void turnNormals(const T* velocity, const double* rotation, std::int64_t count, double* normals) {
  std::int64_t i = 0;
  for (; i + Width <= count; i += Width, velocity += 3 * Width, normals += 3 * Width) {
    double cosine[Width], sine[Width];
    for (int l = 0; l < Width; ++l) {
      cosine[l] = __builtin_cos(rotation[i + l]);
      sine[l] = __builtin_sin(rotation[i + l]);
    }
    Wide n[3], v[3];
    gather<3>([&](int l, int part) { return loadTriple(normals + 3 * l, part); }, n);
    gather<3>([&](int l, int part) { return loadTriple(velocity + 3 * l, part); }, v);
    const Vec<Wide> result = turned(Vec<Wide>{n[0], n[1], n[2]}, Vec<Wide>{v[0], v[1], v[2]},
                                    loadWide(cosine), loadWide(sine));
    const Wide components[3] = {result.x, result.y, result.z};
    storeTriples(normals, components);
  }
  for (; i < count; ++i, velocity += 3, normals += 3) {
    const Vec<double> result =
        turned(Vec<double>{normals[0], normals[1], normals[2]},
               Vec<double>{double(velocity[0]), double(velocity[1]), double(velocity[2])},
               __builtin_cos(rotation[i]), __builtin_sin(rotation[i]));
    fill(normals, 0, 1, result);
  }
}

}  // namespace

void TRIBUTARY_KERNEL(const Polyline* lines, std::int64_t count, const FrameArrays& arrays) {
  Sliding(lines, count, arrays).run();
  for (std::int64_t l = 0; l < count; ++l) {
    const Polyline& line = lines[l];
    if (line.points < 2) continue;
    accumulateRotation(line, arrays);
    double* normals = arrays.normals + 3 * line.first;
    const double* rotation = arrays.rotation + line.first;
    if (arrays.velocityFloat)
      turnNormals(arrays.velocityFloat + 3 * line.first, rotation, line.points, normals);
    else
      turnNormals(arrays.velocityDouble + 3 * line.first, rotation, line.points, normals);
  }
}

}  // namespace tributary::detail
