// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/LineFrames.h"

#include <algorithm>
#include <cmath>

#include "Common/SmpFor.h"

namespace tributary {
namespace {

/// Lines between two checks for an abort.
constexpr std::int64_t LinesPerPiece = 64;

struct Vec {
  double x, y, z;
};
inline Vec operator+(Vec a, Vec b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vec operator*(double s, Vec a) {
  return {s * a.x, s * a.y, s * a.z};
}
inline double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec cross(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(Vec a) {
  return std::sqrt(dot(a, a));
}
inline Vec unit(Vec a) {
  const double l = length(a);
  return l > 0 ? (1 / l) * a : a;
}
inline bool isZero(Vec a) {
  return a.x == 0 && a.y == 0 && a.z == 0;
}

/// Unit direction of the segment that begins at point i.
inline Vec direction(const float* points, std::int64_t i) {
  const float* p = points + 3 * i;
  return unit({double(p[3]) - p[0], double(p[4]) - p[1], double(p[5]) - p[2]});
}

/// Some vector across `d`.
Vec anyAcross(Vec d) {
  if (d.x != 0) return unit({-d.y / d.x, 1, 0});
  if (d.y != 0) return unit({0, -d.z / d.y, 1});
  return {1, 0, 0};
}

/// Slides a normal along `count` points.
void slideNormals(const float* points, std::int64_t count, double* normals) {
  const auto fill = [&](std::int64_t from, std::int64_t to, Vec n) {
    for (std::int64_t i = from; i < to; ++i) {
      normals[3 * i] = n.x;
      normals[3 * i + 1] = n.y;
      normals[3 * i + 2] = n.z;
    }
  };
  constexpr double Parallel = 1e-3;
  Vec before = direction(points, 0);
  Vec normal{0, 0, 0};
  std::int64_t i = 1;
  for (; i + 1 < count; ++i) {
    const Vec here = direction(points, i);
    const Vec across = cross(before, here);
    if (length(across) > Parallel) {
      normal = unit(across);
      before = here;
      break;
    }
  }
  if (i + 1 >= count) return fill(0, count, anyAcross(before));

  std::int64_t filled = 0;
  for (++i; i + 1 < count; ++i) {
    const Vec here = direction(points, i);
    const Vec bend = cross(here, before);
    // A straight step, or a normal that lies along the line, leaves the normal as it is.
    if (isZero(bend) || isZero(cross(before, normal))) continue;
    const Vec axis = unit(bend);
    const Vec middle = unit(here + before);
    const double along = dot(axis, normal);
    const double rest = 1 - along * along;
    double side = rest > 0 ? std::sqrt(rest) : 0;
    if (dot(normal, cross(before, axis)) < 0) side = -side;
    fill(filled, i, normal);
    filled = i;
    normal = along * axis + side * cross(middle, axis);
    before = here;
  }
  fill(filled, count, normal);
}

void accumulateRotation(const OutputLine& line, const FrameArrays& a) {
  const double* time = a.time + line.first;
  const double* omega = a.angularVelocity + line.first;
  double* rotation = a.rotation + line.first;
  rotation[line.origin] = 0;
  for (std::int64_t i = line.origin + 1; i < line.points; ++i)
    rotation[i] = rotation[i - 1] + (omega[i - 1] + omega[i]) / 2 * (time[i] - time[i - 1]);
  for (std::int64_t i = line.origin - 1; i >= 0; --i)
    rotation[i] = rotation[i + 1] + (omega[i + 1] + omega[i]) / 2 * (time[i] - time[i + 1]);
}

template <class T>
void turnNormals(const T* velocity, const double* rotation, std::int64_t count, double* normals) {
  for (std::int64_t i = 0; i < count; ++i) {
    const Vec n{normals[3 * i], normals[3 * i + 1], normals[3 * i + 2]};
    const Vec v{double(velocity[3 * i]), double(velocity[3 * i + 1]), double(velocity[3 * i + 2])};
    const Vec across = unit(cross(n, v));
    const Vec turned = std::cos(rotation[i]) * n + std::sin(rotation[i]) * across;
    normals[3 * i] = turned.x;
    normals[3 * i + 1] = turned.y;
    normals[3 * i + 2] = turned.z;
  }
}

}  // namespace

void computeFrames(const Transport& transport, const std::vector<OutputLine>& lines,
                   const FrameArrays& arrays) {
  const auto count = static_cast<std::int64_t>(lines.size());
  smpForPieces(transport, count, LinesPerPiece, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t l = begin; l < end; ++l) {
      const OutputLine& line = lines[static_cast<std::size_t>(l)];
      if (line.points < 2) continue;
      accumulateRotation(line, arrays);
      double* normals = arrays.normals + 3 * line.first;
      const double* rotation = arrays.rotation + line.first;
      slideNormals(arrays.points + 3 * line.first, line.points, normals);
      if (arrays.velocityFloat)
        turnNormals(arrays.velocityFloat + 3 * line.first, rotation, line.points, normals);
      else
        turnNormals(arrays.velocityDouble + 3 * line.first, rotation, line.points, normals);
    }
  });
}

}  // namespace tributary
