// Included by one source file per instruction set, with TRIBUTARY_KERNEL naming the entry point.
// Everything is private to that file, and library functions with external linkage are kept out of
// the loops: the linker must never hand code for a newer processor to the others.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "Tributary/Advection/Stepper.h"
#include "Tributary/Advection/StructuredKernel.h"

namespace tributary {
namespace {

typedef float F4 __attribute__((vector_size(16)));
typedef std::int32_t I4 __attribute__((vector_size(16)));
typedef std::uint32_t U4 __attribute__((vector_size(16)));

// Conversions that the compiler would take apart lane by lane. All are exact, or truncate alike.
#ifdef __AVX2__
inline __attribute__((always_inline)) V4 widen(F4 v) {
  return (V4)_mm256_cvtps_pd((__m128)v);
}
inline __attribute__((always_inline)) V4 widen(I4 v) {
  return (V4)_mm256_cvtepi32_pd((__m128i)v);
}
inline __attribute__((always_inline)) I4 truncate(V4 v) {
  return (I4)_mm256_cvttpd_epi32((__m256d)v);
}
/// Whether 0 <= v < bound in the first three lanes.
inline __attribute__((always_inline)) bool allBelow(I4 v, I4 bound) {
  const __m128i atLeast = _mm_cmpeq_epi32(_mm_max_epu32((__m128i)v, (__m128i)bound), (__m128i)v);
  return (_mm_movemask_ps(_mm_castsi128_ps(atLeast)) & 7) == 0;
}
#else
inline V4 widen(F4 v) {
  return V4{v[0], v[1], v[2], v[3]};
}
inline V4 widen(I4 v) {
  return V4{double(v[0]), double(v[1]), double(v[2]), double(v[3])};
}
/// What the processor does for values out of range: the lowest integer.
inline std::int32_t truncate(double v) {
  return v >= -2147483648.0 && v < 2147483648.0 ? static_cast<std::int32_t>(v) : INT32_MIN;
}
inline I4 truncate(V4 v) {
  return I4{truncate(v[0]), truncate(v[1]), truncate(v[2]), truncate(v[3])};
}
inline bool allBelow(I4 v, I4 bound) {
  bool all = true;
  for (int a = 0; a < 3; ++a)
    all &= static_cast<std::uint32_t>(v[a]) < static_cast<std::uint32_t>(bound[a]);
  return all;
}
#endif

/// Difference that wraps: the indices of points far outside may be anything.
inline __attribute__((always_inline)) I4 minus(I4 a, I4 b) {
  return (I4)((U4)a - (U4)b);
}

inline __attribute__((always_inline)) I4 load(const std::int32_t* p) {
  I4 v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

/// A point's cell and its place in it.
struct Located {
  I4 cell;
  V4 f;  ///< 0 .. 1 along each axis.
  double cellLength;
};

/// Where along one rectilinear axis a coordinate lies: cell (may be out of range) and fraction.
inline __attribute__((always_inline)) std::int32_t locateOnAxis(const GridAxis& axis, double p,
                                                                double& f) {
  const double* c = axis.coordinates.data();
  const auto cells = static_cast<std::int32_t>(axis.cells);
  if (!(p >= c[0])) {
    f = 0;
    return p >= c[0] - kGridSlack * (c[1] - c[0]) ? 0 : -1;
  }
  if (p >= c[cells]) {
    f = 1;
    return p <= c[cells] + kGridSlack * (c[cells] - c[cells - 1]) ? cells - 1 : cells;
  }
  const auto bucket = static_cast<std::int64_t>((p - c[0]) * axis.bucketInverse);
  const auto last = static_cast<std::int64_t>(axis.buckets.size()) - 1;
  std::int32_t i = axis.buckets[static_cast<std::size_t>(bucket < last ? bucket : last)];
  while (p >= c[i + 1]) ++i;
  f = (p - c[i]) * axis.inverseWidth[static_cast<std::size_t>(i)];
  return i;
}

/// The cell of a point, by the whole grid's geometry alone. Points on the grid's outer faces
/// (kGridSlack of a cell beyond them included) belong to the last cells only with Edge, which keeps
/// the test out of the usual path.
/// @param careful  false if no axis is flat
/// @return whether the cell can be evaluated in this block
template <bool Uniform, bool Edge>
inline __attribute__((always_inline)) bool locate(const StructuredView& view, V4 p, V4 origin,
                                                  V4 inverse, bool careful, Located& at) {
  if constexpr (Uniform) {
    const V4 u = (p - origin) * inverse;
    // Truncation of u + 1 is floor(u) + 1 for all u >= -1, the tiniest negative ones excepted,
    // which count as 0. Every point beyond converts to an index that is out of range.
    at.cell = minus(truncate(u + splat(1.0)), I4{1, 1, 1, 1});
    if constexpr (Edge)
      for (int a = 0; a < 3; ++a) {
        const auto cells = static_cast<double>(view.grid->axes[static_cast<std::size_t>(a)].cells);
        // u + 1 may also have been rounded up to the index beyond the last.
        if (u[a] > 0 && at.cell[a] >= cells && u[a] <= cells + kGridSlack)
          at.cell[a] = static_cast<std::int32_t>(cells) - (cells > 0);
        else if (u[a] <= 0 && u[a] >= -kGridSlack)
          at.cell[a] = 0;
      }
    at.f = u - widen(at.cell);
    at.cellLength = view.cellLength;
  } else {
    double width2 = 0;
    for (int a = 0; a < 3; ++a) {
      const auto& axis = view.grid->axes[static_cast<std::size_t>(a)];
      double f = 0;
      at.cell[a] = 0;
      if (axis.cells > 0) {
        at.cell[a] = locateOnAxis(axis, p[a], f);
        if (at.cell[a] < 0 || at.cell[a] >= axis.cells) return false;
        const double* c = axis.coordinates.data() + at.cell[a];
        width2 += (c[1] - c[0]) * (c[1] - c[0]);
      }
      at.f[a] = f;
    }
    at.cellLength = __builtin_sqrt(width2);
  }
  bool inside = allBelow(minus(at.cell, load(view.lo.data())), load(view.count.data()));
  if (__builtin_expect(careful && view.flat, 0))
    for (int a = 0; a < 3; ++a) {
      const auto& axis = view.grid->axes[static_cast<std::size_t>(a)];
      if (axis.cells == 0) {
        inside &= __builtin_fabs(p[a] - axis.origin) <= axis.slack;
        at.f[a] = 0;
      }
    }
  return inside;
}

/// x, y, z of a tuple; the fourth lane is whatever follows it in memory.
template <class Real>
inline __attribute__((always_inline)) V4 loadTuple(const Real* tuple) {
  if constexpr (sizeof(Real) == 4) {
    F4 v;
    std::memcpy(&v, tuple, sizeof v);
    return widen(v);
  } else {
    return load(tuple);
  }
}

template <class Real>
inline V4 loadTupleAlone(const Real* tuple) {
  return V4{double(tuple[0]), double(tuple[1]), double(tuple[2]), 0};
}

/// Distances of neighbouring tuples along y and z, in numbers, and the end of those whose cells
/// need no care.
struct Rows {
  std::int64_t y, z;
  const void* plainEnd;
};

/// First velocity tuple of a cell: that of its lowest point, or the cell's own.
template <class Real>
inline __attribute__((always_inline)) const Real* firstTuple(const StructuredView& view,
                                                             const Rows& rows, I4 cell) {
  return static_cast<const Real*>(view.velocity) +
         (3 * cell[0] + rows.y * cell[1] + rows.z * cell[2] - 3 * view.firstTuple);
}

/// Interpolation where the plain code must not go: flat grids, cell-centred velocity, and the last
/// cells of the array, where loading a fourth lane would read past its end.
template <class Real>
__attribute__((noinline)) V4 interpolateWithCare(const StructuredView& view, const Real* v, V4 f) {
  if (view.cellCentred) return loadTupleAlone(v);
  const V4 fx = splat(f[0]), fy = splat(f[1]), fz = splat(f[2]);
  const auto corner = [&](int i, int j, int k) {
    const auto step = [&](int on, std::size_t a) {
      return on && view.grid->axes[a].cells > 0 ? view.stride[a] : 0;
    };
    return loadTupleAlone(v + 3 * (step(i, 0) + step(j, 1) + step(k, 2)));
  };
  const auto row = [&](int j, int k) {
    const V4 a = corner(0, j, k);
    return a + fx * (corner(1, j, k) - a);
  };
  const V4 r00 = row(0, 0), r10 = row(1, 0), r01 = row(0, 1), r11 = row(1, 1);
  const V4 p0 = r00 + fy * (r10 - r00), p1 = r01 + fy * (r11 - r01);
  return p0 + fz * (p1 - p0);
}

/// The velocity in the cell whose first tuple is `v`.
template <class Real>
inline __attribute__((always_inline)) V4 interpolate(const StructuredView& view, const Rows& rows,
                                                     const Real* v, V4 f) {
  if (__builtin_expect(static_cast<const void*>(v) >= rows.plainEnd, 0))
    return interpolateWithCare(view, v, f);
  const V4 fx = splat(f[0]), fy = splat(f[1]), fz = splat(f[2]);
  const auto row = [&](const Real* first) __attribute__((always_inline)) {
    const V4 a = loadTuple(first);
    return a + fx * (loadTuple(first + 3) - a);
  };
  const V4 r00 = row(v), r10 = row(v + rows.y), r01 = row(v + rows.z),
           r11 = row(v + rows.y + rows.z);
  const V4 p0 = r00 + fy * (r10 - r00), p1 = r01 + fy * (r11 - r01);
  return p0 + fz * (p1 - p0);
}

inline bool isHidden(const StructuredView& view, const Located& at) {
  constexpr std::uint8_t kHiddenCell = 32;
  return view.hidden && (view.hidden[(at.cell[0] - view.storedLo[0]) * view.cellStride[0] +
                                     (at.cell[1] - view.storedLo[1]) * view.cellStride[1] +
                                     (at.cell[2] - view.storedLo[2]) * view.cellStride[2]] &
                         kHiddenCell);
}

/// The target's image in the periodic box.
inline V4 wanted(const StepRules& rules, const Particle& p) {
  V4 image = load(p.target);
  for (int a = 0; a < 3; ++a)
    if (rules.period[a] > 0)
      image[a] -=
          rules.period[a] * __builtin_floor((image[a] - rules.periodicOrigin[a]) / rules.period[a]);
  return image;
}

/// The rare case: the target is not plainly inside what this block can evaluate.
/// @return true if it can be evaluated after all; else the particle says where it goes.
template <bool Uniform>
__attribute__((noinline)) bool resolve(const StructuredView& view, V4 target, V4 origin, V4 inverse,
                                       Particle& p, Located& at) {
  if (!(target[0] - target[0] == 0 && target[1] - target[1] == 0 && target[2] - target[2] == 0)) {
    finish(p, Reason::UnexpectedValue);  // infinite or not a number
    return false;
  }
  const bool here = locate<Uniform, true>(view, target, origin, inverse, true, at);
  bool inGrid = true;
  for (int a = 0; a < 3; ++a) {
    const auto& axis = view.grid->axes[static_cast<std::size_t>(a)];
    if (axis.cells > 0)
      inGrid &= at.cell[a] >= 0 && at.cell[a] < axis.cells;
    else
      inGrid &= __builtin_fabs(target[a] - axis.origin) <= axis.slack;
  }
  if (here && !isHidden(view, at)) return true;
  p.status = Status::Seeking;
  if (inGrid && !here) {
    const std::int32_t cell[3] = {at.cell[0], at.cell[1], at.cell[2]};
    const BlockId owner = view.grid->owner(cell);
    if (owner >= 0) {
      p.status = Status::Active;
      p.block = owner;
    }
  }
  return false;
}

constexpr int kLanes = 8;

/// Takes kLanes particles through their steps side by side, one evaluation of each in turn, so that
/// the latencies of one hide behind the work of the others.
template <Integrator I, class Real, bool Uniform>
class Sweep {
 public:
  Sweep(const StructuredView& view, const StepRules& rules, TrajectoryLog& log)
      : view_(view), rules_(rules), log_(log) {
    for (int a = 0; a < 3; ++a) {
      const auto& axis = view.grid->axes[static_cast<std::size_t>(a)];
      origin_[a] = axis.origin;
      inverse_[a] = axis.cells > 0 ? axis.inverse : 0;
      careful_ |= rules.period[a] > 0;
    }
    careful_ |= view.flat || view.hidden;
    rows_ = {3 * view.stride[1], 3 * view.stride[2],
             static_cast<const Real*>(view.velocity) + 3 * view.plainTuples};
  }

  void run(Particle* particles, std::int64_t count) {
    std::int64_t next = 0;
    int lanes = 0;
    for (;;) {
      while (lanes < kLanes && next < count) {
        Particle& p = particles[next++];
        if (toStepStart(p) && prepare(p, lanes)) ++lanes;
      }
      if (lanes == 0) return;
      stages(lanes, std::make_integer_sequence<int, kStages<I>>());
    }
  }

 private:
  /// One evaluation at a time until the particle begins a step. @return whether it is still here
  bool toStepStart(Particle& p) {
    if (p.status != Status::Active) return false;
    do {
      Located at;
      if (!place(p, at)) return false;
      const V4 v = interpolate<Real>(view_, rows_, firstTuple<Real>(view_, rows_, at.cell), at.f);
      if (!feed<I>(rules_, p, v, at.cellLength, -1, log_)) return false;
    } while (p.stage != 1);
    return true;
  }

  inline __attribute__((always_inline)) bool place(Particle& p, Located& at) {
    V4 target = load(p.target);
    if (__builtin_expect(careful_, 0)) target = wanted(rules_, p);
    if (__builtin_expect(locate<Uniform, false>(view_, target, origin_, inverse_, careful_, at),
                         1) &&
        !__builtin_expect(careful_ && view_.hidden, 0))
      return true;
    Located apart;  // its address is taken; `at` stays in registers
    const bool here = resolve<Uniform>(view_, target, origin_, inverse_, p, apart);
    at = apart;
    return here;
  }

  /// Whether error control sent the particle back to begin its step again.
  template <int Stage>
  static bool refused(const Particle& p) {
    return I == Integrator::RungeKutta45 && Stage == kStages<I> && p.stage != Stage;
  }

  template <int... S>
  void stages(int& lanes, std::integer_sequence<int, S...>) {
    (stage<S + 1>(lanes), ...);
  }

  /// Finds the cell of the particle's target and starts to fetch its velocities, for a lane.
  /// @return false if the particle leaves
  inline __attribute__((always_inline)) bool prepare(Particle& p, int lane) {
    Located at;
    if (!place(p, at)) return false;
    lane_[lane] = &p;
    f_[lane] = at.f;
    if (!Uniform) cellLength_[lane] = at.cellLength;
    tuple_[lane] = firstTuple<Real>(view_, rows_, at.cell);
    __builtin_prefetch(tuple_[lane]);
    __builtin_prefetch(tuple_[lane] + rows_.y);
    __builtin_prefetch(tuple_[lane] + rows_.z);
    __builtin_prefetch(tuple_[lane] + rows_.y + rows_.z);
    return true;
  }

  /// One evaluation in every lane. While the other lanes have theirs, what a lane will read next is
  /// on its way from memory.
  template <int Stage>
  inline __attribute__((always_inline)) void stage(int& lanes) {
    int kept = 0;
    for (int l = 0; l < lanes; ++l) {
      Particle& p = *lane_[l];
      if (refused<Stage>(p)) {
        lane_[kept] = &p;
        f_[kept] = f_[l];
        tuple_[kept] = tuple_[l];
        cellLength_[kept++] = cellLength_[l];
        continue;
      }
      const V4 v = interpolate<Real>(view_, rows_, tuple_[l], f_[l]);
      if (feedStage<I, Stage>(rules_, p, v, Uniform ? view_.cellLength : cellLength_[l], -1, log_))
        kept += prepare(p, kept);
    }
    lanes = kept;
  }

  const StructuredView& view_;
  const StepRules& rules_;
  TrajectoryLog& log_;
  V4 origin_{}, inverse_{};
  Rows rows_{};
  bool careful_ = false;  ///< Periodic, flat or with holes: rare, so tested once.
  Particle* lane_[kLanes];
  V4 f_[kLanes];
  const Real* tuple_[kLanes];
  double cellLength_[kLanes];
};

template <Integrator I>
void advanceWith(const StructuredView& view, const StepRules& rules, Particle* particles,
                 std::int64_t count, TrajectoryLog& log) {
  const bool uniform = view.grid->axes[0].uniform;
  if (view.isDouble) {
    if (uniform)
      Sweep<I, double, true>(view, rules, log).run(particles, count);
    else
      Sweep<I, double, false>(view, rules, log).run(particles, count);
  } else {
    if (uniform)
      Sweep<I, float, true>(view, rules, log).run(particles, count);
    else
      Sweep<I, float, false>(view, rules, log).run(particles, count);
  }
}

}  // namespace

void TRIBUTARY_KERNEL(const StructuredView& view, const StepRules& rules, Particle* particles,
                      std::int64_t count, TrajectoryLog& log) {
  switch (rules.integrator) {
    case Integrator::RungeKutta2:
      return advanceWith<Integrator::RungeKutta2>(view, rules, particles, count, log);
    case Integrator::RungeKutta4:
      return advanceWith<Integrator::RungeKutta4>(view, rules, particles, count, log);
    case Integrator::RungeKutta45:
      return advanceWith<Integrator::RungeKutta45>(view, rules, particles, count, log);
  }
}

}  // namespace tributary
