// SPDX-License-Identifier: BSD-3-Clause
// Locates points in cells. Included by the kernels, one copy per instruction set, and by the code
// that finds cells and weights: the same arithmetic gives the same bits.

#include <cstring>

#include "Tributary/Advection/Stepper.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"

namespace tributary::detail {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {  // see Vector.h

/// A point seen from a cell.
struct InCell {
  V4 r;              ///< Parametric coordinates; barycentric ones in a tetrahedron.
  int face;          ///< Through which a walk leaves; Inside or Unknown.
  double violation;  ///< How far outside, parametric; 0 inside.
};
constexpr int Inside = -1;
/// The inverse map did not converge although the affine guess lies inside: a degenerate cell.
constexpr int Unknown = -3;

/// A walk that is this far off needs only the direction; Newton's method might not converge there.
constexpr double Plainly = 0.5;
// Newton's method, for one point and for a pack.
constexpr int MostIterations = 16;
constexpr double Exact = 1e-24;     ///< Of the squared miss, in squares of the cell's length.
constexpr double Diverged = 1e3;    ///< Of a change of parametric coordinates.
constexpr double Converged = 1e-6;  ///< Quadratic convergence: the error left is its square.
constexpr double PyramidConverged = 1e-7;

template <class Real>
inline __attribute__((always_inline)) V4 loadTerm(const Real* terms, int i) {
  if constexpr (sizeof(Real) == 8) {
    return load(terms + 4 * i);
  } else {
    typedef float F4 __attribute__((vector_size(16)));
    F4 v;
    std::memcpy(&v, terms + 4 * i, sizeof v);
#ifdef __AVX2__
    return (V4)_mm256_cvtps_pd((__m128)v);
#else
    return V4{v[0], v[1], v[2], v[3]};
#endif
  }
}

template <class Real>
inline __attribute__((always_inline)) const Real* velocityTerms(const CellRecord& cell) {
  return reinterpret_cast<const Real*>(reinterpret_cast<const std::byte*>(&cell) +
                                       sizeof(CellRecord));
}
/// Of the velocity at the end of the interval, in an unsteady field.
template <class Real>
inline __attribute__((always_inline)) const Real* laterTerms(const CellRecord& cell) {
  return velocityTerms<Real>(cell) + 4 * cell.terms;
}
/// @param valueSize  bytes of the velocity for each value: of its type, twice in an unsteady field
inline __attribute__((always_inline)) const double* geometryTerms(const CellRecord& cell,
                                                                  std::size_t valueSize) {
  return reinterpret_cast<const double*>(reinterpret_cast<const std::byte*>(&cell) +
                                         sizeof(CellRecord) + 4 * cell.terms * valueSize);
}

/// The rows of the map, one after the other.
inline __attribute__((always_inline)) const double* mapOf(const CellRecord& cell) {
  return reinterpret_cast<const double*>(cell.map);
}

inline __attribute__((always_inline)) void worse(InCell& at, int face, double violation) {
  if (violation > at.violation) {
    at.violation = violation;
    at.face = face;
  }
}

/// Inside or through which face outside, from the parametric coordinates; ties go to the lowest
/// face.
inline __attribute__((always_inline)) void judge(CellShape shape, InCell& at) {
  const double r = at.r[0], s = at.r[1], t = at.r[2];
  at.face = Inside;
  at.violation = 0;
  switch (shape) {
    case CellShape::Tetra: {  // as worse(), without branches, which would be hard to predict
      double most = 0;
      for (int i = 0; i < 4; ++i) most = -at.r[i] > most ? -at.r[i] : most;
      unsigned faces = 0;
      for (int i = 0; i < 4; ++i) faces |= unsigned(-at.r[i] == most) << i;
      at.violation = most;
      at.face = most > 0 ? __builtin_ctz(faces) : Inside;
      break;
    }
    case CellShape::Box:
    case CellShape::Parallelepiped:
      worse(at, 0, -r);
      worse(at, 1, r - 1);
      worse(at, 2, -s);
      worse(at, 3, s - 1);
      worse(at, 4, -t);
      worse(at, 5, t - 1);
      break;
    case CellShape::Wedge:
      worse(at, 0, -r);
      worse(at, 1, -s);
      worse(at, 2, r + s - 1);
      worse(at, 3, -t);
      worse(at, 4, t - 1);
      break;
    case CellShape::Pyramid:  // from u, v, w: see locateInPyramid
      worse(at, 0, -r);
      worse(at, 1, r - t);
      worse(at, 2, -s);
      worse(at, 3, s - t);
      worse(at, 4, t - 1);
      break;
    case CellShape::Triangle:
      worse(at, 0, -r);
      worse(at, 1, -s);
      worse(at, 2, r + s - 1);
      break;
    case CellShape::Quad:
      worse(at, 0, -r);
      worse(at, 1, r - 1);
      worse(at, 2, -s);
      worse(at, 3, s - 1);
      break;
    case CellShape::Foreign:
      break;
  }
}

inline __attribute__((always_inline)) double dot3(V4 a, V4 b) {
  const V4 p = a * b;
  return p[0] + p[1] + p[2];
}
inline __attribute__((always_inline)) double norm(V4 v) {
  return __builtin_sqrt(dot3(v, v));
}
inline __attribute__((always_inline)) V4 cross(V4 a, V4 b) {
  const auto yzx = [](V4 v) { return __builtin_shufflevector(v, v, 1, 2, 0, 3); };
  return yzx(a * yzx(b) - yzx(a) * b);
}

/// The polynomial with the given terms at (r, s, t).
template <class Real>
inline __attribute__((always_inline)) V4 polynomial(const Real* c, double r, double s, double t) {
  const V4 vr = splat(r), vs = splat(s), vt = splat(t);
  const V4 low = loadTerm(c, 0) + vr * loadTerm(c, 1) + vs * (loadTerm(c, 2) + vr * loadTerm(c, 4));
  const V4 high =
      loadTerm(c, 3) + vs * loadTerm(c, 5) + vr * (loadTerm(c, 6) + vs * loadTerm(c, 7));
  return low + vt * high;
}

/// d polynomial / d (r, s, t) of the geometry.
inline __attribute__((always_inline)) void jacobian(const double* c, V4 r, V4& dr, V4& ds, V4& dt) {
  const V4 vr = splat(r[0]), vs = splat(r[1]), vt = splat(r[2]);
  const V4 a4 = load(c + 16), a5 = load(c + 20), a6 = load(c + 24), a7 = load(c + 28);
  dr = load(c + 4) + vs * a4 + vt * (a6 + vs * a7);
  ds = load(c + 8) + vr * a4 + vt * (a5 + vr * a7);
  dt = load(c + 12) + vs * a5 + vr * (a6 + vs * a7);
}

/// Size of a change of parametric coordinates.
inline __attribute__((always_inline)) double sizeOf(V4 change) {
  return __builtin_fabs(change[0]) + __builtin_fabs(change[1]) + __builtin_fabs(change[2]);
}

/// The pyramid's r, s, t have no meaning at the apex. With w = 1 - t, u = r w, v = s w they do:
/// x = apex + u c1 + v c2 - w c3 + (u v / w) c4, which is linear when the base is a parallelogram.
/// The faces are u = 0, u = w, v = 0, v = w, w = 1.
/// @param at  the affine guess of u, v, w; @return r, s, t and the judgment
inline __attribute__((always_inline)) InCell locateInPyramid(const double* c, V4 d, InCell at,
                                                             bool thorough) {
  const V4 c1 = load(c + 4), c2 = load(c + 8), c3 = load(c + 12), c4 = load(c + 16);
  const V4 fromApex = d - load(c) - c3;
  // The ratios of what may vanish at the apex, kept to where the pyramid is.
  const auto ratio = [](double a, double w) {
    const double q = a / w;
    return q >= -1 ? (q <= 2 ? q : 2.0) : q < -1 ? -1.0 : 0.5;
  };
  const InCell guess = at;
  bool found = false;
  const bool plainly = !thorough && at.violation > Plainly;
  for (int iteration = 0; iteration < MostIterations && !found && !plainly; ++iteration) {
    const double r = ratio(at.r[0], at.r[2]), s = ratio(at.r[1], at.r[2]);
    const V4 miss = splat(at.r[0]) * c1 + splat(at.r[1]) * c2 - splat(at.r[2]) * c3 +
                    splat(r * s * at.r[2]) * c4 - fromApex;
    const V4 du = c1 + splat(s) * c4, dv = c2 + splat(r) * c4, dw = splat(-r * s) * c4 - c3;
    const V4 normal = cross(dv, dw);
    const double determinant = dot3(du, normal);
    if (!(determinant > 0 || determinant < 0)) break;
    const double inverse = 1 / determinant;
    const V4 change{dot3(miss, normal) * inverse, dot3(du, cross(miss, dw)) * inverse,
                    dot3(du, cross(dv, miss)) * inverse, 0};
    at.r -= change;
    const double size = sizeOf(change);
    if (!(size < Diverged)) break;
    found = size < PyramidConverged;
  }
  if (found) {
    judge(CellShape::Pyramid, at);
  } else {
    at = guess;
    if (!plainly && at.face == Inside) at.face = Unknown;
  }
  const double r = ratio(at.r[0], at.r[2]), s = ratio(at.r[1], at.r[2]);
  at.r = V4{r, s, 1 - at.r[2], 0};
  return at;
}

/// Locates a point in a cell that is not foreign. A function of the cell and the point alone.
/// @param thorough  seek the exact coordinates also of a point that is plainly outside
inline __attribute__((always_inline)) InCell locateInCell(const CellRecord& cell,
                                                          std::size_t valueSize, V4 point,
                                                          bool thorough) {
  InCell at;
  const V4 d = point - V4{cell.anchor[0], cell.anchor[1], cell.anchor[2], 0};
  if (cell.shape == CellShape::Tetra) {
    at.r = V4{1, 0, 0, 0} + splat(d[0]) * load(cell.map[0]) + splat(d[1]) * load(cell.map[1]) +
           splat(d[2]) * load(cell.map[2]);
#ifdef __AVX2__
    if (_mm256_movemask_pd((__m256d)at.r) == 0) {  // no sign bit: what judge() would find
      at.face = Inside;
      at.violation = 0;
      return at;
    }
#endif
    judge(CellShape::Tetra, at);
    return at;
  }
  const double* c = geometryTerms(cell, valueSize);
  for (int a = 0; a < 3; ++a) {
    const V4 row = load(cell.map[a]);
    at.r[a] = row[3] + dot3(row, d);
  }
  at.r[3] = 0;
  judge(cell.shape, at);
  if (cell.shape == CellShape::Parallelepiped) return at;
  if (cell.shape == CellShape::Pyramid) return locateInPyramid(c, d, at, thorough);
  if (!thorough && at.violation > Plainly) return at;

  InCell guess = at;
  bool found = false;
  for (int iteration = 0; iteration < MostIterations && !found; ++iteration) {
    const V4 miss = polynomial(c, at.r[0], at.r[1], at.r[2]) - d;
    // Also ends iterations whose changes are rounding errors only, as in some wedges.
    found = dot3(miss, miss) <= Exact * cell.length * cell.length;
    if (found) break;
    if (iteration == 0) {  // near the affine guess its map serves as well as the true inverse
      for (int a = 0; a < 3; ++a) at.r[a] -= dot3(load(cell.map[a]), miss);
      continue;
    }
    V4 dr, ds, dt;
    jacobian(c, at.r, dr, ds, dt);
    const V4 normal = cross(ds, dt);
    const double determinant = dot3(dr, normal);
    if (!(determinant > 0 || determinant < 0)) break;
    const double inverse = 1 / determinant;
    const V4 change{dot3(miss, normal) * inverse, dot3(dr, cross(miss, dt)) * inverse,
                    dot3(dr, cross(ds, miss)) * inverse, 0};
    at.r -= change;
    const double size = sizeOf(change);
    if (!(size < Diverged)) break;
    found = size < Converged;
  }
  if (!found) {
    if (guess.face == Inside) guess.face = Unknown;
    return guess;
  }
  judge(cell.shape, at);
  return at;
}

TRIBUTARY_INLINE Wide dot(const Wide a[3], const Wide b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
TRIBUTARY_INLINE void cross(const Wide a[3], const Wide b[3], Wide out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

/// As worse() for one point.
TRIBUTARY_INLINE void worse(WideInt& worst, Wide& most, std::int64_t face, Wide violation) {
  const WideInt is = violation > most;
  worst = is ? WideInt{} + face : worst;
  most = select(is, violation, most);
}

/// A change of Newton's method. @return the lanes in which the columns dr, ds and dt of the
/// Jacobian are independent
TRIBUTARY_INLINE WideInt solveFor(Wide change[3], const Wide dr[3], const Wide ds[3],
                                  const Wide dt[3], const Wide miss[3]) {
  Wide normal[3], across[3];
  cross(ds, dt, normal);
  const Wide determinant = dot(dr, normal);
  const Wide inverse = 1 / determinant;
  change[0] = dot(miss, normal) * inverse;
  cross(miss, dt, across);
  change[1] = dot(dr, across) * inverse;
  cross(ds, miss, across);
  change[2] = dot(dr, across) * inverse;
  return (determinant > 0) | (determinant < 0);
}

/// Boxes and wedges, one in each lane, and points in them: locateInCell() and velocityAt() for all
/// lanes together, by the same operations in the same order.
class BoxPack {
 public:
  static bool takes(CellShape shape) {
    return shape == CellShape::Box || shape == CellShape::Parallelepiped ||
           shape == CellShape::Wedge;
  }

  /// Begins to locate points; solvePacks() must follow.
  /// @param cells  of all lanes; lanes without a point repeat another lane's
  /// @param lanes  that have a point
  /// @param thorough  lanes in which the exact coordinates are sought also plainly outside
  TRIBUTARY_INLINE void begin(const CellRecord* const* cells, std::size_t valueSize,
                              const Wide point[3], LaneSet lanes, LaneSet thorough) {
    cells_ = cells;
    Wide anchor[4];
    gather<4>([&](int l, int part) { return loadRun(cells[l]->anchor, part); }, anchor);
    length_ = anchor[3];
    WideInt shape{};
    for (int l = 0; l < Width; ++l) shape[l] = static_cast<std::int64_t>(cells[l]->shape);
    const auto is = [&](CellShape s) { return shape == static_cast<std::int64_t>(s); };
    wedge_ = is(CellShape::Wedge);
    gather<12>([&](int l, int part) { return loadWide(mapOf(*cells[l]) + Width * part); }, map_);
    for (int a = 0; a < 3; ++a) d_[a] = point[a] - anchor[a];
    for (int i = 0; i < 3; ++i) r_[i] = map_[4 * i + 3] + dot(map_ + 4 * i, d_);
    judge();
    const WideInt plainly = (violation_ > Plainly) & ~toCondition(thorough);
    sought_ = toCondition(lanes) & ~plainly & ~is(CellShape::Parallelepiped);
    open_ = toLanes(sought_);
    if (open_ != 0) beginSolve(valueSize);
  }

  /// Lanes in which the exact coordinates are not known yet.
  LaneSet open() const { return open_; }
  /// An iteration of Newton's method, from the affine guess. @return the lanes that need another
  TRIBUTARY_INLINE LaneSet iterate(int iteration) {
    WideInt open = toCondition(open_);
    Wide miss[3];
    for (int a = 0; a < 3; ++a) miss[a] = polynomial(c_ + a) - d_[a];
    const WideInt exact = dot(miss, miss) <= Exact * length_ * length_;
    found_ |= open & exact;
    open &= ~exact;
    open_ = toLanes(open);
    if (open_ == 0) return 0;
    if (iteration == 0) {
      for (int a = 0; a < 3; ++a) r_[a] = select(open, r_[a] - dot(map_ + 4 * a, miss), r_[a]);
      return open_;
    }
    Wide dr[3], ds[3], dt[3], change[3];
    jacobian(c_, dr, ds, dt);
    open &= solveFor(change, dr, ds, dt, miss);
    for (int a = 0; a < 3; ++a) r_[a] = select(open, r_[a] - change[a], r_[a]);
    const Wide size = magnitude(change[0]) + magnitude(change[1]) + magnitude(change[2]);
    open &= size < Diverged;
    const WideInt converged = size < Converged;
    found_ |= open & converged;
    open &= ~converged;
    return open_ = toLanes(open);
  }
  /// Judges by the exact coordinates where they are known.
  TRIBUTARY_INLINE void end() {
    if (toLanes(sought_) == 0) return;
    const WideInt guessFace = face_;
    const Wide guessViolation = violation_;
    judge();
    for (int a = 0; a < 3; ++a) r_[a] = select(found_, r_[a], guess_[a]);
    const WideInt lost = sought_ & ~found_ & (guessFace == Inside);
    face_ = found_ ? face_ : (lost ? WideInt{} + Unknown : guessFace);
    violation_ = select(found_, violation_, guessViolation);
  }

  /// The result in one lane.
  TRIBUTARY_INLINE InCell operator[](int l) const {
    return {V4{r_[0][l], r_[1][l], r_[2][l], 0}, static_cast<int>(face_[l]), violation_[l]};
  }

  /// Calls set(corner, value, gradient) with the shape function of each corner at the points, and
  /// its derivatives by x, y and z, or null. Wedges have six corners; what they get for the last
  /// two has no meaning.
  template <class Set>
  TRIBUTARY_INLINE void shapeFunctions(std::size_t valueSize, bool withGradients, Set&& set) const {
    Wide rows[3][3], inverse{};
    if (withGradients) {
      Wide c[32];
      gatherGeometry(valueSize, c);
      Wide dr[3], ds[3], dt[3];
      jacobian(c, dr, ds, dt);
      cross(ds, dt, rows[0]);
      cross(dt, dr, rows[1]);
      cross(dr, ds, rows[2]);
      const Wide determinant = dot(dr, rows[0]);
      inverse = select(determinant != 0, 1 / determinant, Wide{});
    }
    const bool wedges = toLanes(wedge_) != 0;
    const Wide f[3][2] = {{1 - r_[0], r_[0]}, {1 - r_[1], r_[1]}, {1 - r_[2], r_[2]}};
    const Wide b[3] = {1 - r_[0] - r_[1], r_[0], r_[1]};
    for (int i = 0; i < 8; ++i) {
      const bool hr = i == 1 || i == 2 || i == 5 || i == 6, hs = i == 2 || i == 3 || i >= 6,
                 ht = i >= 4;
      const Wide fr = f[0][hr], fs = f[1][hs], ft = f[2][ht];
      Wide value = fr * fs * ft;
      Wide d[3] = {(hr ? 1.0 : -1.0) * fs * ft, (hs ? 1.0 : -1.0) * fr * ft,
                   (ht ? 1.0 : -1.0) * fr * fs};
      if (wedges && i < 6) {
        constexpr double SlopeR[3] = {-1, 1, 0}, SlopeS[3] = {-1, 0, 1};
        const Wide gt = f[2][i >= 3];
        value = select(wedge_, b[i % 3] * gt, value);
        d[0] = select(wedge_, SlopeR[i % 3] * gt, d[0]);
        d[1] = select(wedge_, SlopeS[i % 3] * gt, d[1]);
        d[2] = select(wedge_, b[i % 3] * (i < 3 ? -1.0 : 1.0), d[2]);
      }
      if (!withGradients) {
        set(i, value, nullptr);
        continue;
      }
      Wide gradient[3];
      for (int a = 0; a < 3; ++a)
        gradient[a] = (d[0] * rows[0][a] + d[1] * rows[1][a] + d[2] * rows[2][a]) * inverse;
      set(i, value, gradient);
    }
  }

 private:
  /// One component of a polynomial whose terms are 4 numbers apart.
  TRIBUTARY_INLINE Wide polynomial(const Wide* c) const {
    const Wide low = c[0] + r_[0] * c[4] + r_[1] * (c[8] + r_[0] * c[16]);
    const Wide high = c[12] + r_[1] * c[20] + r_[0] * (c[24] + r_[1] * c[28]);
    return low + r_[2] * high;
  }

  TRIBUTARY_INLINE void judge() {
    const Wide r = r_[0], s = r_[1], t = r_[2];
    face_ = WideInt{} + Inside;
    violation_ = Wide{};
    const auto worse = [&](std::int64_t face, Wide violation) __attribute__((always_inline)) {
      detail::worse(face_, violation_, face, violation);
    };
    worse(0, -r);
    worse(1, select(wedge_, -s, r - 1));
    worse(2, select(wedge_, r + s - 1, -s));
    worse(3, select(wedge_, -t, s - 1));
    worse(4, select(wedge_, t - 1, -t));
    worse(5, select(wedge_, Wide{}, t - 1));
  }

  TRIBUTARY_INLINE void gatherGeometry(std::size_t valueSize, Wide c[32]) const {
    gather<32>(
        [&](int l, int part) {
          return loadWide(geometryTerms(*cells_[l], valueSize) + Width * part);
        },
        c);
  }

  /// d x / d (r, s, t).
  TRIBUTARY_INLINE void jacobian(const Wide c[32], Wide dr[3], Wide ds[3], Wide dt[3]) const {
    const Wide r = r_[0], s = r_[1], t = r_[2];
    for (int a = 0; a < 3; ++a) {
      const Wide a4 = c[16 + a], a5 = c[20 + a], a6 = c[24 + a], a7 = c[28 + a];
      dr[a] = c[4 + a] + s * a4 + t * (a6 + s * a7);
      ds[a] = c[8 + a] + r * a4 + t * (a5 + r * a7);
      dt[a] = c[12 + a] + s * a5 + r * (a6 + s * a7);
    }
  }

  TRIBUTARY_INLINE void beginSolve(std::size_t valueSize) {
    gatherGeometry(valueSize, c_);
    for (int a = 0; a < 3; ++a) guess_[a] = r_[a];
    found_ = WideInt{};
  }

  const CellRecord* const* cells_;
  Wide length_;
  WideInt wedge_;
  Wide r_[3];
  WideInt face_;
  Wide violation_;
  // While the exact coordinates are sought:
  Wide d_[3], map_[12], c_[32], guess_[3];
  WideInt sought_, found_;
  LaneSet open_;
};

/// Newton's method in all lanes of packs. An iteration is a long chain of operations that wait for
/// each other; those of several packs overlap.
template <class Pack>
TRIBUTARY_INLINE void solvePacks(Pack* packs, int count) {
  LaneSet open = 0;
  for (int p = 0; p < count; ++p) open |= packs[p].open();
  for (int iteration = 0; iteration < MostIterations && open != 0; ++iteration) {
    open = 0;
    for (int p = 0; p < count; ++p)
      if (packs[p].open() != 0) open |= packs[p].iterate(iteration);
  }
  for (int p = 0; p < count; ++p) packs[p].end();
}

/// @param v  the terms of the velocity
template <class Real>
inline __attribute__((always_inline)) V4 velocityAt(const CellRecord& cell, const Real* v, V4 r) {
  if (cell.terms == 1) return loadTerm(v, 0);
  if (cell.shape == CellShape::Tetra)
    return splat(r[0]) * loadTerm(v, 0) + splat(r[1]) * loadTerm(v, 1) +
           (splat(r[2]) * loadTerm(v, 2) + splat(r[3]) * loadTerm(v, 3));
  const bool sheet = cell.shape == CellShape::Triangle || cell.shape == CellShape::Quad;
  return polynomial(v, r[0], r[1], sheet ? 0.0 : r[2]);
}

/// Tetrahedra, one in each lane, and points in them: locateInCell() and velocityAt() for all lanes
/// together, by the same operations in the same order.
template <class Real, Flow F>
class TetraPack {
 public:
  /// @param cells  of all lanes; lanes without a point repeat another lane's
  /// @param share  in an unsteady field, how far in the interval the time is
  TRIBUTARY_INLINE void locate(const CellRecord* const* cells, const Wide point[3], Wide share) {
    Wide anchor[4], map[12], d[3];
    gather<4>([&](int l, int part) { return loadRun(cells[l]->anchor, part); }, anchor);
    length_ = anchor[3];
    gather<12>([&](int l, int part) { return loadWide(mapOf(*cells[l]) + Width * part); }, map);
    for (int a = 0; a < 3; ++a) d[a] = point[a] - anchor[a];
    for (int i = 0; i < 4; ++i)
      r_[i] = all<Wide>(i == 0 ? 1 : 0) + d[0] * map[i] + d[1] * map[4 + i] + d[2] * map[8 + i];
    face_ = WideInt{} + Inside;
    violation_ = Wide{};
    for (int i = 0; i < 4; ++i) {
      const WideInt is = -r_[i] > violation_;
      face_ = is ? WideInt{} + i : face_;
      violation_ = select(is, -r_[i], violation_);
    }
    interpolate(
        cells, [](const CellRecord& cell) { return velocityTerms<Real>(cell); }, velocity_);
    if constexpr (F == Flow::Unsteady) {
      Wide later[3];
      interpolate(
          cells, [](const CellRecord& cell) { return laterTerms<Real>(cell); }, later);
      for (int a = 0; a < 3; ++a) velocity_[a] = valueBetween(velocity_[a], later[a], share);
    }
  }

  /// The result in one lane; its `r` is not set.
  TRIBUTARY_INLINE InCell operator[](int l) const {
    return {V4{}, static_cast<int>(face_[l]), violation_[l]};
  }
  TRIBUTARY_INLINE V4 velocity(int l) const {
    return V4{velocity_[0][l], velocity_[1][l], velocity_[2][l], 0};
  }
  /// The lanes whose points lie inside their cells.
  TRIBUTARY_INLINE LaneSet inside() const { return toLanes(face_ == Inside); }
  /// In all lanes, also outside.
  TRIBUTARY_INLINE const Wide* velocity() const { return velocity_; }
  /// Of the cells.
  TRIBUTARY_INLINE Wide length() const { return length_; }

 private:
  /// The velocity with the terms that a function gives for each cell.
  template <class Terms>
  TRIBUTARY_INLINE void interpolate(const CellRecord* const* cells, Terms&& terms,
                                    Wide velocity[3]) const {
    if (cells[0]->terms == 1) {  // as all cells of a block
      double values[3][Width];
      for (int l = 0; l < Width; ++l)
        for (int a = 0; a < 3; ++a) values[a][l] = double(terms(*cells[l])[a]);
      for (int a = 0; a < 3; ++a) velocity[a] = loadWide(values[a]);
      return;
    }
    Wide v[15];  // the last of 16 is not used
    gather<15>([&](int l, int part) { return loadWide(terms(*cells[l]) + Width * part); }, v);
    for (int a = 0; a < 3; ++a)
      velocity[a] = r_[0] * v[a] + r_[1] * v[4 + a] + (r_[2] * v[8 + a] + r_[3] * v[12 + a]);
  }

  Wide r_[4], violation_, velocity_[3], length_;
  WideInt face_;
};

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary::detail
