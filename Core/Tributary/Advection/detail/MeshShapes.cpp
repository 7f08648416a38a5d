// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/MeshShapes.h"

#include <iterator>

#include "Tributary/Advection/detail/kernels/MeshCell.inl"

namespace tributary::detail {

static_assert(std::size(CellRecord{}.link) == MostFaces);

CellShape shapeOf(std::uint8_t type) {
  switch (type) {
    case Tetra:
      return CellShape::Tetra;
    case Voxel:
    case Hexahedron:
      return CellShape::Box;
    case Wedge:
      return CellShape::Wedge;
    case Pyramid:
      return CellShape::Pyramid;
    case Triangle:
      return CellShape::Triangle;
    case Pixel:
    case Quad:
      return CellShape::Quad;
    default:
      return CellShape::Foreign;
  }
}

const CellTopology& topologyOf(CellShape shape) {
  static constexpr CellTopology Triangle{3, 0, {}, 3, {2, 2, 2}, {{0, 2}, {0, 1}, {1, 2}}},
      Quad{4, 0, {}, 4, {2, 2, 2, 2}, {{0, 3}, {1, 2}, {0, 1}, {3, 2}}}, Foreign{};
  static const CellTopology* const ofShape[] = {
      topologyOf(Tetra),
      topologyOf(Hexahedron),
      topologyOf(Hexahedron),
      topologyOf(Wedge),
      topologyOf(Pyramid),
      &Triangle,
      &Quad,
      &Foreign,
  };
  return *ofShape[static_cast<int>(shape)];
}

void termsOf(CellShape shape, const V4* at, V4* terms) {
  const V4 zero = splat(0);
  for (int i = 0; i < 8; ++i) terms[i] = zero;
  terms[0] = at[0];
  switch (shape) {
    case CellShape::Box:
    case CellShape::Parallelepiped:
      terms[3] = at[4] - at[0];
      terms[5] = at[0] - at[3] - at[4] + at[7];
      terms[6] = at[0] - at[1] - at[4] + at[5];
      terms[7] = at[1] - at[0] - at[2] + at[3] + at[4] - at[5] + at[6] - at[7];
      [[fallthrough]];
    case CellShape::Quad:
      terms[1] = at[1] - at[0];
      terms[2] = at[3] - at[0];
      terms[4] = at[0] - at[1] + at[2] - at[3];
      break;
    case CellShape::Wedge:
      terms[3] = at[3] - at[0];
      terms[5] = at[0] - at[2] - at[3] + at[5];
      terms[6] = at[0] - at[1] - at[3] + at[4];
      [[fallthrough]];
    case CellShape::Triangle:
      terms[1] = at[1] - at[0];
      terms[2] = at[2] - at[0];
      break;
    case CellShape::Pyramid:
      terms[1] = at[1] - at[0];
      terms[2] = at[3] - at[0];
      terms[3] = at[4] - at[0];
      terms[4] = at[0] - at[1] + at[2] - at[3];
      terms[5] = zero - terms[2];
      terms[6] = zero - terms[1];
      terms[7] = zero - terms[4];
      break;
    default:
      break;
  }
}

void geometryOf(CellShape shape, const V4* x, double length, V4* terms) {
  termsOf(shape, x, terms);
  if (shape == CellShape::Triangle || shape == CellShape::Quad) {
    const V4 normal = cross(terms[1] + splat(0.5) * terms[4], terms[2] + splat(0.5) * terms[4]);
    const double size = norm(normal);
    terms[3] = size > 0 ? normal * splat(length / size) : normal;
  }
}

V4 middleOf(CellShape shape) {
  switch (shape) {
    case CellShape::Wedge:
      return V4{1.0 / 3, 1.0 / 3, 0.5, 0};
    case CellShape::Triangle:
      return V4{1.0 / 3, 1.0 / 3, 0, 0};
    case CellShape::Quad:
      return V4{0.5, 0.5, 0, 0};
    case CellShape::Pyramid:
      return V4{0.5, 0.5, 0.2, 0};
    default:
      return V4{0.5, 0.5, 0.5, 0};
  }
}

double affineMap(const double* geometry, V4 at, V4 rows[3]) {
  V4 dr, ds, dt;
  jacobian(geometry, at, dr, ds, dt);
  rows[0] = cross(ds, dt);
  rows[1] = cross(dt, dr);
  rows[2] = cross(dr, ds);
  return dot3(dr, rows[0]);
}

void shapeFunctions(CellShape shape, V4 at, double* n, double (*d)[3]) {
  const double r = at[0], s = at[1], t = at[2], rm = 1 - r, sm = 1 - s, tm = 1 - t;
  const auto set = [&](int i, double value, double dr, double ds, double dt) {
    n[i] = value;
    d[i][0] = dr;
    d[i][1] = ds;
    d[i][2] = dt;
  };
  switch (shape) {
    case CellShape::Box:
    case CellShape::Parallelepiped:
      for (int i = 0; i < 8; ++i) {
        const bool hr = i == 1 || i == 2 || i == 5 || i == 6, hs = i == 2 || i == 3 || i >= 6,
                   ht = i >= 4;
        const double fr = hr ? r : rm, fs = hs ? s : sm, ft = ht ? t : tm;
        set(i, fr * fs * ft, (hr ? 1 : -1) * fs * ft, (hs ? 1 : -1) * fr * ft,
            (ht ? 1 : -1) * fr * fs);
      }
      break;
    case CellShape::Wedge:
      for (int i = 0; i < 6; ++i) {
        const double b[3] = {1 - r - s, r, s}, br[3] = {-1, 1, 0}, bs[3] = {-1, 0, 1};
        const double ft = i < 3 ? tm : t, gt = i < 3 ? -1 : 1;
        set(i, b[i % 3] * ft, br[i % 3] * ft, bs[i % 3] * ft, b[i % 3] * gt);
      }
      break;
    case CellShape::Pyramid:
      set(0, rm * sm * tm, -sm * tm, -rm * tm, -rm * sm);
      set(1, r * sm * tm, sm * tm, -r * tm, -r * sm);
      set(2, r * s * tm, s * tm, r * tm, -r * s);
      set(3, rm * s * tm, -s * tm, rm * tm, -rm * s);
      set(4, t, 0, 0, 1);
      break;
    case CellShape::Triangle:
      set(0, 1 - r - s, -1, -1, 0);
      set(1, r, 1, 0, 0);
      set(2, s, 0, 1, 0);
      break;
    case CellShape::Quad:
      set(0, rm * sm, -sm, -rm, 0);
      set(1, r * sm, sm, -r, 0);
      set(2, r * s, s, r, 0);
      set(3, rm * s, -s, rm, 0);
      break;
    default:
      break;
  }
}

}  // namespace tributary::detail
