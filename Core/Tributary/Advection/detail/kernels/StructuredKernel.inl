// SPDX-License-Identifier: BSD-3-Clause
// The body of one source file per instruction set, which defines TRIBUTARY_KERNEL, the name of the
// entry point, and TRIBUTARY_KERNEL_NAMESPACE (see Vector.h). No other file includes it, so all
// else is private to that source file. Its loops call no functions of other libraries that have
// external linkage: the linker must not use code for a newer processor in place of theirs.

#include <cstdint>
#include <cstring>
#include <utility>

#include "Tributary/Advection/detail/kernels/ParticlePack.h"
#include "Tributary/Advection/detail/kernels/StructuredKernel.h"
#include "Tributary/Base/CellTypes.h"

namespace tributary::detail {
namespace {

/// A point's cell and its place in it.
struct Located {
  std::int32_t cell[3];
  double f[3];  ///< 0 .. 1 along each axis.
  double cellLength;
};

/// Where along a uniform axis a coordinate lies: cell (may be out of range) and fraction, from
/// u = (coordinate - origin) / spacing. Truncation of u + 1 is floor(u) + 1 for all u >= -1, the
/// tiniest negative ones excepted, which count as 0.
template <class Number>
TRIBUTARY_INLINE Number cellFrom(Number u) {
  return truncated(u + 1) - 1;
}

/// The same along a rectilinear axis.
TRIBUTARY_INLINE std::int32_t locateOnAxis(const GridAxis& axis, double p, double& f) {
  const double* c = axis.coordinates.data();
  const auto cells = static_cast<std::int32_t>(axis.cells);
  if (!(p >= c[0])) {
    f = 0;
    return p >= c[0] - GridSlack * (c[1] - c[0]) ? 0 : -1;
  }
  if (p >= c[cells]) {
    f = 1;
    return p <= c[cells] + GridSlack * (c[cells] - c[cells - 1]) ? cells - 1 : cells;
  }
  const auto bucket = static_cast<std::int64_t>((p - c[0]) * axis.bucketInverse);
  const auto last = static_cast<std::int64_t>(axis.buckets.size()) - 1;
  std::int32_t i = axis.buckets[static_cast<std::size_t>(bucket < last ? bucket : last)];
  while (p >= c[i + 1]) ++i;
  f = (p - c[i]) * axis.inverseWidth[static_cast<std::size_t>(i)];
  return i;
}

TRIBUTARY_INLINE double square(double v) {
  return v * v;
}

/// The cell of a point, by the whole grid's geometry alone. Points on the grid's outer faces
/// (GridSlack of a cell beyond them included) belong to the last cells.
/// @return whether it lies in the grid
template <bool Uniform>
bool locate(const StructuredView& view, const double point[3], Located& at) {
  double width2 = 0;
  for (int a = 0; a < 3; ++a) {
    const auto& axis = view.grid->axes[static_cast<std::size_t>(a)];
    const double p = point[a];
    at.cell[a] = 0;
    at.f[a] = 0;
    if (axis.cells == 0) {
      if (!(__builtin_fabs(p - axis.origin) <= axis.slack)) return false;
    } else if constexpr (Uniform) {
      const auto cells = static_cast<double>(axis.cells);
      const double u = (p - axis.origin) * axis.inverse;
      double cell = cellFrom(u);
      // u + 1 may also have been rounded up to the index beyond the last.
      if (u > 0 && cell >= cells && u <= cells + GridSlack)
        cell = cells - 1;
      else if (u <= 0 && u >= -GridSlack)
        cell = 0;
      if (!(cell >= 0 && cell < cells)) return false;
      at.cell[a] = static_cast<std::int32_t>(cell);
      at.f[a] = u - cell;
    } else {
      at.cell[a] = locateOnAxis(axis, p, at.f[a]);
      if (at.cell[a] < 0 || at.cell[a] >= axis.cells) return false;
      const double* c = axis.coordinates.data() + at.cell[a];
      width2 += square(c[1] - c[0]);
    }
  }
  at.cellLength = Uniform ? view.cellLength : root(width2);
  return true;
}

bool isHere(const StructuredView& view, const std::int32_t cell[3]) {
  bool here = true;
  for (std::size_t a = 0; a < 3; ++a)
    here &= cell[a] >= view.lo[a] && cell[a] - view.lo[a] < view.count[a];
  return here;
}

bool isHidden(const StructuredView& view, const std::int32_t cell[3]) {
  return view.hidden && (view.hidden[(cell[0] - view.storedLo[0]) * view.cellStride[0] +
                                     (cell[1] - view.storedLo[1]) * view.cellStride[1] +
                                     (cell[2] - view.storedLo[2]) * view.cellStride[2]] &
                         HiddenCell);
}

/// The velocity of one particle, wherever in the arrays.
/// @param first  the cell's first tuple
/// @param later  the same at the end of the interval; null in a steady field
/// @param share  how far in the interval the time is
template <class Real>
void interpolate(const StructuredView& view, const Real* first, const Real* later,
                 const double f[3], double share, double velocity[3]) {
  if (view.cellCentered) {
    for (int c = 0; c < 3; ++c)
      velocity[c] = later ? valueBetween<double>(first[c], later[c], share) : first[c];
    return;
  }
  std::int64_t step[3];
  for (std::size_t a = 0; a < 3; ++a)
    step[a] = view.grid->axes[a].cells > 0 ? 3 * view.stride[a] : 0;
  if (view.onFaces) {
    for (int c = 0; c < 3; ++c) {
      const auto between = [&](const Real* numbers) -> double {
        const double low = numbers[c];
        return low + f[c] * (numbers[c + step[c]] - low);
      };
      velocity[c] = later ? valueBetween(between(first), between(later), share) : between(first);
    }
    return;
  }
  for (int c = 0; c < 3; ++c) {
    const auto along = [&](int a, double low, double high) { return low + f[a] * (high - low); };
    const auto side = [&](const Real* numbers, int i) {
      const auto corner = [&](int j, int k) -> double {
        return numbers[c + i * step[0] + j * step[1] + k * step[2]];
      };
      return along(1, along(2, corner(0, 0), corner(0, 1)), along(2, corner(1, 0), corner(1, 1)));
    };
    const auto sideAt = [&](int i) {
      return later ? valueBetween(side(first, i), side(later, i), share) : side(first, i);
    };
    velocity[c] = along(0, sideAt(0), sideAt(1));
  }
}

/// The velocities at two points that are neighbors along x: six numbers that lie side by side in
/// memory, and two more of no meaning where a vector takes them along.
struct Pair {
  static constexpr int Parts = Width == 8 ? 1 : Width == 4 ? 2 : 3;
  Wide part[Parts];
};

template <class Real>
TRIBUTARY_INLINE Pair loadPair(const Real* tuple) {
  Pair pair;
  for (int i = 0; i < Pair::Parts; ++i) pair.part[i] = loadWide(tuple + i * Width);
  return pair;
}

/// For loadPair, which often reads from two cache lines.
template <class Real>
TRIBUTARY_INLINE void prefetch(const Real* tuple) {
  __builtin_prefetch(tuple);
}

TRIBUTARY_INLINE Pair between(const Pair& low, const Pair& high, double f) {
  Pair result;
  for (int i = 0; i < Pair::Parts; ++i)
    result.part[i] = low.part[i] + f * (high.part[i] - low.part[i]);
  return result;
}

/// The target's image in the periodic box, along an axis.
template <class Number>
TRIBUTARY_INLINE Number image(const StepRules& rules, Number x, int a) {
  const double period = rules.period[a];
  return period > 0 ? x - period * floored((x - rules.periodicOrigin[a]) / period) : x;
}

/// Finds where the target of a particle is evaluated if it is not plainly inside what this block
/// can evaluate.
/// @return true if it can be evaluated after all; else the particle says where it goes.
template <bool Uniform>
bool resolve(const StructuredView& view, const StepRules& rules, Particle& p, Located& at) {
  double target[3];
  for (int a = 0; a < 3; ++a) {
    target[a] = image(rules, p.target[a], a);
    if (!(target[a] - target[a] == 0)) {  // infinite or not a number
      finish(p, Reason::UnexpectedValue);
      return false;
    }
  }
  const bool inGrid = locate<Uniform>(view, target, at), here = inGrid && isHere(view, at.cell);
  if (here && !isHidden(view, at.cell)) return true;
  p.status = Status::Seeking;
  if (inGrid && !here) {
    const BlockId owner = view.grid->owner(at.cell);
    if (owner >= 0) {
      p.status = Status::Active;
      p.block = owner;
    }
  }
  return false;
}

/// Groups of lanes that take turns: while one computes, what the others read next is on its way
/// from memory.
constexpr int Groups = 32 / Width;

/// Takes particles through their steps side by side, one evaluation of each in turn.
template <Integrator I, Flow F, class Real, bool Uniform>
class Sweep {
 public:
  Sweep(const StructuredView& view, const StepRules& rules, TrajectoryLog& log)
      : view_(view), rules_(rules), log_(log) {
    for (int a = 0; a < 3; ++a) {
      const auto& axis = view.grid->axes[static_cast<std::size_t>(a)];
      origin_[a] = axis.origin;
      inverse_[a] = axis.cells > 0 ? axis.inverse : 0;
      lo_[a] = view.lo[static_cast<std::size_t>(a)];
      hi_[a] = lo_[a] + view.count[static_cast<std::size_t>(a)];
      stride_[a] = static_cast<double>(3 * view.stride[static_cast<std::size_t>(a)]);
      periodic_ |= rules.period[a] > 0;
    }
    up_ = 3 * view.stride[1];
    deep_ = 3 * view.stride[2];
    first_ = static_cast<double>(3 * view.firstTuple);
    plainEnd_ = static_cast<double>(3 * view.plainTuples);
  }

  void run(Particle* particles, std::int64_t count, std::int64_t extraSteps) {
    next_ = particles;
    end_ = particles + count;
    std::int64_t left = StepsPerCall;
    do {
      for (Group& group : groups_) {
        fill(group);
        prepare<1>(group);
      }
      while (alive()) {
        stages(std::make_integer_sequence<int, Stages<I>>());
        if (--left <= 0 || (next_ == end_ && --extraSteps <= 0))
          for (Group& group : groups_) group.lanes.putBack();
      }
      // All lanes may have gone away at once while others wait.
    } while (next_ != end_ && left > 0);
  }

 private:
  /// The intervals of a rectilinear axis that held the last targets. One that begins above its end
  /// holds nothing.
  struct Intervals {
    Wide lo = all<Wide>(1), hi{}, inverseWidth{}, cell{}, width{};
  };

  struct Group {
    ParticlePack<I, F> lanes;
    Wide f[3]{};
    Intervals intervals[3];  ///< Not with Uniform.
    Wide cellLength{};       ///< Not with Uniform.
    WideInt tuple{};         ///< First number of the cell that holds the target, or of any.
    LaneSet apart = 0;       ///< Lanes whose cells need care: see StructuredView::plainTuples.
    std::int64_t apartTuple[Width];  ///< Where theirs are.
  };

  const Real* numbers() const { return static_cast<const Real*>(view_.velocity); }
  /// Not with a steady field.
  const Real* laterNumbers() const { return static_cast<const Real*>(view_.laterVelocity); }

  bool alive() const {
    LaneSet any = 0;
    for (const Group& group : groups_) any |= group.lanes.alive;
    return any != 0;
  }

  /// Takes waiting particles into empty lanes, those first that were at an event.
  void fill(Group& group) {
    forEach(group.lanes.atEvent, [&](int l) {
      Particle& p = *group.lanes.particle[l];
      if (toStepStart(p)) group.lanes.enter(p, l);
    });
    group.lanes.atEvent = 0;
    for (LaneSet empty = ~group.lanes.alive & AllLanes; empty && next_ != end_;) {
      Particle& p = *next_++;
      if (!toStepStart(p)) continue;
      group.lanes.enter(p, __builtin_ctz(empty));
      empty &= empty - 1;
    }
  }

  /// One evaluation at a time until the particle begins a step. @return whether it is still here
  bool toStepStart(Particle& p) {
    if (p.status != Status::Active) return false;
    while (p.stage != 1 || p.isAtEvent()) {
      if (isReturning(p)) {
        if (!returnToStep<I, F>(rules_, p, log_)) return false;
        continue;
      }
      Located at;
      if (!resolve<Uniform>(view_, rules_, p, at)) return false;
      double velocity[3], time = 0;
      if constexpr (F == Flow::Unsteady) time = targetTime<I>(rules_, p);
      evaluate(tupleOf(at.cell), at.f, time, velocity);
      if (!feed<I, F>(rules_, p, velocity, at.cellLength, -1, log_)) return false;
    }
    return true;
  }

  /// All velocities of flat grids are evaluated here: see StructuredView::plainTuples.
  void evaluate(std::int64_t tuple, const double f[3], double time, double velocity[3]) const {
    if constexpr (F == Flow::Unsteady)
      interpolate<Real>(view_, numbers() + tuple, laterNumbers() + tuple, f, shareOf(rules_, time),
                        velocity);
    else
      interpolate<Real>(view_, numbers() + tuple, nullptr, f, 0, velocity);
    if (!rules_.onSurface) return;
    for (std::size_t a = 0; a < 3; ++a)
      if (view_.grid->axes[a].cells == 0) velocity[a] = 0;
  }

  std::int64_t tupleOf(const std::int32_t cell[3]) const {
    std::int64_t tuple = -3 * view_.firstTuple;
    for (std::size_t a = 0; a < 3; ++a) tuple += 3 * view_.stride[a] * cell[a];
    return tuple;
  }

  template <int... S>
  void stages(std::integer_sequence<int, S...>) {
    (stage<S + 1>(), ...);
  }

  template <int Stage>
  TRIBUTARY_INLINE void stage() {
    constexpr bool Last = Stage == Stages<I>;
    for (Group& group : groups_) {
      if (group.lanes.alive) {
        Wide velocity[3]{};
        if (group.lanes.alive & ~group.apart) interpolateAll(group, velocity);
        if (__builtin_expect(group.apart != 0, 0)) interpolateApart(group, velocity);
        group.lanes.template feed<Stage>(rules_, velocity,
                                         Uniform ? all<Wide>(view_.cellLength) : group.cellLength,
                                         nullptr, log_);
      }
      const bool isEmpty = group.lanes.alive != AllLanes && next_ != end_;
      if (Last && (isEmpty || group.lanes.atEvent != 0)) fill(group);
      if (group.lanes.alive) prepare<Last ? 1 : Stage + 1>(group);
    }
  }

  /// Finds the cells of the targets, which are those of `Stage`, and starts to fetch their
  /// velocities.
  template <int Stage>
  TRIBUTARY_INLINE void prepare(Group& group) {
    ParticlePack<I, F>& lanes = group.lanes;
    Wide point[3], cell[3];
    for (int a = 0; a < 3; ++a) {
      point[a] = lanes.target[a];
      if (__builtin_expect(periodic_, 0)) point[a] = image(rules_, point[a], a);
    }
    if constexpr (Uniform)
      for (int a = 0; a < 3; ++a) {
        const Wide u = (point[a] - origin_[a]) * inverse_[a];
        cell[a] = cellFrom(u);
        group.f[a] = u - cell[a];
      }
    else
      locateOnAxes(point, cell, group);
    WideInt inside = toCondition(AllLanes);
    for (int a = 0; a < 3; ++a) inside &= (cell[a] >= lo_[a]) & (cell[a] < hi_[a]);
    if (__builtin_expect(view_.flat, 0)) inside &= nearPlanes(point);
    const Wide tuple = stride_[0] * cell[0] + stride_[1] * cell[1] + stride_[2] * cell[2] - first_;
    const WideInt plain = inside & (tuple < plainEnd_);
    group.tuple = toInteger(select(plain, tuple, all<Wide>(0)));
    group.apart = lanes.alive & toLanes(inside ^ plain);
    if (__builtin_expect(group.apart != 0, 0))
      forEach(group.apart,
              [&](int l) { group.apartTuple[l] = static_cast<std::int64_t>(tuple[l]); });
    LaneSet away = lanes.alive & ~toLanes(inside);
    if (__builtin_expect(view_.hidden != nullptr, 0)) away = lanes.alive;
    if (__builtin_expect(away != 0, 0)) goAway(group, away, Stage);
    prefetchAll(group, numbers());
    if constexpr (F == Flow::Unsteady) prefetchAll(group, laterNumbers());
  }

  TRIBUTARY_INLINE void prefetchAll(const Group& group, const Real* numbers) const {
    for (int l = 0; l < Width; ++l) {
      const Real* first = numbers + group.tuple[l];
      prefetch(first);
      prefetch(first + up_);
      prefetch(first + deep_);
      prefetch(first + up_ + deep_);
    }
  }

  /// As locateOnAxis and locate, for all lanes. Most targets lie in the same intervals as the last
  /// ones.
  TRIBUTARY_INLINE void locateOnAxes(const Wide point[3], Wide cell[3], Group& group) {
    Wide width2{};
    for (int a = 0; a < 3; ++a) {
      cell[a] = group.f[a] = all<Wide>(0);
      if (view_.grid->axes[static_cast<std::size_t>(a)].cells == 0) continue;
      Intervals& at = group.intervals[a];
      const LaneSet stay = toLanes((point[a] >= at.lo) & (point[a] < at.hi));
      if (stay != AllLanes) move(point[a], ~stay & AllLanes, a, at);
      cell[a] = at.cell;
      group.f[a] = (point[a] - at.lo) * at.inverseWidth;
      // The outer points of the grid, which no interval holds.
      const LaneSet outside = ~toLanes((point[a] >= at.lo) & (point[a] < at.hi)) & AllLanes;
      if (__builtin_expect(outside != 0, 0)) putOutside(point[a], outside, a, group.f[a]);
      width2 += at.width * at.width;
    }
    group.cellLength = root(width2);
  }

  /// Finds the intervals of some lanes. Lanes are replaced in registers: a vector that was written
  /// in parts cannot be read at once.
  TRIBUTARY_INLINE void move(Wide point, LaneSet lanes, int a, Intervals& at) {
    const auto& axis = view_.grid->axes[static_cast<std::size_t>(a)];
    forEach(
        lanes, [&](int l) __attribute__((always_inline)) {
          double f;
          const std::int32_t i = locateOnAxis(axis, point[l], f);
          const bool exists = i >= 0 && i < axis.cells;
          const double* c = axis.coordinates.data() + (exists ? i : 0);
          const WideInt here = toCondition(1u << l);
          const auto set = [&](Wide & v, double to) __attribute__((always_inline)) {
            v = select(here, all<Wide>(to), v);
          };
          set(at.lo, exists ? c[0] : 1);
          set(at.hi, exists ? c[1] : 0);
          set(at.inverseWidth, axis.inverseWidth[static_cast<std::size_t>(exists ? i : 0)]);
          set(at.cell, i);
          set(at.width, exists ? c[1] - c[0] : 0);
        });
  }

  /// For targets outside of all intervals of an axis: on the outer face of the grid, or beyond it.
  __attribute__((noinline)) void putOutside(Wide point, LaneSet lanes, int a, Wide& f) {
    const auto& axis = view_.grid->axes[static_cast<std::size_t>(a)];
    forEach(lanes, [&](int l) {
      double fraction;
      locateOnAxis(axis, point[l], fraction);
      f[l] = fraction;
    });
  }

  /// Whether points lie in the planes of the flat axes.
  WideInt nearPlanes(const Wide point[3]) const {
    WideInt near = toCondition(AllLanes);
    for (int a = 0; a < 3; ++a) {
      const auto& axis = view_.grid->axes[static_cast<std::size_t>(a)];
      if (axis.cells == 0) near &= magnitude(point[a] - axis.origin) <= axis.slack;
    }
    return near;
  }

  /// For lanes whose targets are not plainly inside what this block can evaluate.
  __attribute__((noinline)) void goAway(Group& group, LaneSet away, int stage) {
    forEach(away, [&](int l) {
      Particle& p = group.lanes.leave(l, stage);
      Located at;
      group.apart &= ~(1u << l);
      if (!resolve<Uniform>(view_, rules_, p, at)) return;
      group.lanes.alive |= 1u << l;  // leave() took nothing away
      group.apart |= 1u << l;
      group.apartTuple[l] = tupleOf(at.cell);
      group.cellLength[l] = at.cellLength;
      for (int a = 0; a < 3; ++a) group.f[a][l] = at.f[a];
    });
  }

  TRIBUTARY_INLINE void interpolateAll(const Group& group, Wide velocity[3]) {
    Wide xyz[6], share;
    if constexpr (F == Flow::Unsteady) share = shareOf(rules_, group.lanes.targetTime);
    Pair pairs[Width];
    for (int l = 0; l < Width; ++l) {
      const auto column = [&](const Real* low) __attribute__((always_inline)) {
        return between(loadPair(low), loadPair(low + deep_), group.f[2][l]);
      };
      const auto sides = [&](const Real* numbers) __attribute__((always_inline)) {
        const Real* first = numbers + group.tuple[l];
        return between(column(first), column(first + up_), group.f[1][l]);
      };
      pairs[l] = sides(numbers());
      if constexpr (F == Flow::Unsteady) {
        const Pair late = sides(laterNumbers());
        for (int i = 0; i < Pair::Parts; ++i)
          pairs[l].part[i] = valueBetween(pairs[l].part[i], late.part[i], all<Wide>(share[l]));
      }
    }
    gather<6>(
        [&](int l, int part) __attribute__((always_inline)) { return pairs[l].part[part]; }, xyz);
    for (int c = 0; c < 3; ++c) velocity[c] = xyz[c] + group.f[0] * (xyz[c + 3] - xyz[c]);
  }

  __attribute__((noinline)) void interpolateApart(const Group& group, Wide velocity[3]) {
    forEach(group.apart, [&](int l) {
      const double f[3] = {group.f[0][l], group.f[1][l], group.f[2][l]};
      double v[3];
      evaluate(group.apartTuple[l], f, group.lanes.targetTime[l], v);
      for (int c = 0; c < 3; ++c) velocity[c][l] = v[c];
    });
  }

  const StructuredView& view_;
  const StepRules& rules_;
  TrajectoryLog& log_;
  Particle *next_ = nullptr, *end_ = nullptr;  ///< Those that wait.
  bool periodic_ = false;
  std::int64_t up_, deep_;  ///< Distances along y and z of neighboring points, in numbers.
  // Whole numbers, as vectors want them.
  double origin_[3], inverse_[3], lo_[3], hi_[3], stride_[3], first_, plainEnd_;
  Group groups_[Groups];
};

template <Integrator I, Flow F, class Real>
void advanceOn(const StructuredView& view, const StepRules& rules, Particle* particles,
               std::int64_t count, std::int64_t extraSteps, TrajectoryLog& log) {
  if (view.grid->axes[0].uniform)
    Sweep<I, F, Real, true>(view, rules, log).run(particles, count, extraSteps);
  else
    Sweep<I, F, Real, false>(view, rules, log).run(particles, count, extraSteps);
}

template <Integrator I, Flow F>
void advanceIn(const StructuredView& view, const StepRules& rules, Particle* particles,
               std::int64_t count, std::int64_t extraSteps, TrajectoryLog& log) {
  if (view.isDouble)
    advanceOn<I, F, double>(view, rules, particles, count, extraSteps, log);
  else
    advanceOn<I, F, float>(view, rules, particles, count, extraSteps, log);
}

template <Integrator I>
void advanceWith(const StructuredView& view, const StepRules& rules, Particle* particles,
                 std::int64_t count, std::int64_t extraSteps, TrajectoryLog& log) {
  if (rules.interval)
    advanceIn<I, Flow::Unsteady>(view, rules, particles, count, extraSteps, log);
  else
    advanceIn<I, Flow::Steady>(view, rules, particles, count, extraSteps, log);
}

}  // namespace

void TRIBUTARY_KERNEL(const StructuredView& view, const StepRules& rules, Particle* particles,
                      std::int64_t count, std::int64_t extraSteps, TrajectoryLog& log) {
  switch (rules.integrator) {
    case Integrator::RungeKutta2:
      return advanceWith<Integrator::RungeKutta2>(view, rules, particles, count, extraSteps, log);
    case Integrator::RungeKutta4:
      return advanceWith<Integrator::RungeKutta4>(view, rules, particles, count, extraSteps, log);
    case Integrator::RungeKutta45:
      return advanceWith<Integrator::RungeKutta45>(view, rules, particles, count, extraSteps, log);
  }
}

}  // namespace tributary::detail
