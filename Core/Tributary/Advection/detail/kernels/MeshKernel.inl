// SPDX-License-Identifier: BSD-3-Clause
// The body of one source file per instruction set: see StructuredKernel.inl for its rules.
//
// Walking. The next cell is decided by the cell left, the face it was entered through and the point
// sought: through the face that the point violates most. If that is the face of entry, two cells
// each take the point for the other's (a rounding error, or a warped face seen from both sides) and
// this one keeps it. None of this knows which block or rank a cell lies in.

#include "Tributary/Advection/detail/kernels/MeshCell.inl"
#include "Tributary/Advection/detail/kernels/ParticlePack.h"
#include "Tributary/Advection/detail/kernels/PyramidPack.inl"

namespace tributary::detail {
namespace {

/// A walk in circles, which only a broken mesh makes possible, ends in a search.
constexpr std::int32_t MostCrossings = 10000;

/// What came of a cell test.
enum class Found { Here, Beyond, Elsewhere, Nowhere };

/// Groups of lanes. While one computes, the next cells' records of the others are under way from
/// memory.
constexpr int Groups = 32 / Width;

/// The cells of a block.
enum class Cells {
  Single,  ///< None that BoxPack or PyramidPack takes.
  Packed,  ///< There may be such cells.
  Moving   ///< Their points move, so each is tested on its own, with its geometry at the time.
};

/// Packs of cells that are tested together, and the number of their cells.
constexpr int PacksAtOnce = 2, Together = PacksAtOnce * Width;

/// Takes particles through their steps: walks from cell to cell for each lane on its own, all else
/// for the lanes of a group together.
///
/// Walking lanes wait in a queue, in which those of all groups are mixed: a cell that a pack takes
/// is tested together with those of the next lanes in the queue, so that packs are full although
/// the lanes of a group arrive after different numbers of tests.
template <Integrator I, Flow F, class Real, Cells C>
class Walk {
 public:
  Walk(const MeshView& view, const StepRules& rules, TrajectoryLog& log)
      : view_(view), rules_(rules), log_(log) {
    for (const double period : rules.period) periodic_ |= period > 0;
  }

  void run(Particle* particles, std::int64_t count, std::int64_t extraSteps) {
    next_ = particles;
    end_ = particles + count;
    for (Group& group : groups_) {
      group.extraSteps = extraSteps;
      beginSteps(group);
      enqueue(group);
    }
    while (head_ != tail_) turn();
  }

 private:
  struct Group {
    ParticlePack<I, F> lanes;
    std::int64_t extraSteps = 0;        ///< Steps to go once no particle waits.
    std::int64_t steps = StepsPerCall;  ///< Steps to go in any case.
    int stage = 1;                      ///< Of the lanes' targets.
    LaneSet walking = 0;                ///< Lanes whose targets' cells are sought.
    Wide velocity[3]{};
    Wide cellLength{};
    std::int32_t cell[Width]{};
  };

  static constexpr bool Packs = C == Cells::Packed, Moves = C == Cells::Moving;

  /// See geometryTerms().
  static constexpr std::size_t ValueSize = (F == Flow::Unsteady ? 2 : 1) * sizeof(Real);

  /// A lane that walks.
  struct Walker {
    std::uint8_t group, lane;
  };

  void prefetch(std::int32_t cell) const {
    // The largest record of a cell that a pack takes, or of a tetrahedron.
    constexpr std::size_t LargestRecord =
        sizeof(CellRecord) + 4 * (Packs   ? 8 * (ValueSize + sizeof(double))
                                  : Moves ? 8 * (ValueSize + 2 * sizeof(double))
                                          : 4 * ValueSize);
    prefetchRecord(view_.record(cell), LargestRecord);
  }

  TRIBUTARY_INLINE void enqueue(Walker walker) { queue_[tail_++ % Lanes] = walker; }
  TRIBUTARY_INLINE void enqueue(const Group& group) {
    const auto number = static_cast<std::uint8_t>(&group - groups_);
    forEach(
        group.walking, [&](int l) __attribute__((always_inline)) {
          enqueue(Walker{number, static_cast<std::uint8_t>(l)});
        });
  }

  /// One cell test each of the next lanes in the queue, until there are enough of a kind.
  TRIBUTARY_INLINE void turn() {
    Walker boxes[Together], pyramids[Together], tetrahedra[Together];
    int inBoxes = 0, inPyramids = 0, inTetrahedra = 0;
    for (std::uint32_t left = tail_ - head_;
         left > 0 && inBoxes < Together && inPyramids < Together && inTetrahedra < Together;
         --left) {
      const Walker walker = queue_[head_++ % Lanes];
      const CellShape shape = view_.record(particleOf(walker).cell).shape;
      const bool mayPack = !Moves && __builtin_expect(!periodic_, 1);
      if (mayPack && shape == CellShape::Tetra)
        tetrahedra[inTetrahedra++] = walker;
      else if (Packs && mayPack && BoxPack::takes(shape))
        boxes[inBoxes++] = walker;
      else if (Packs && mayPack && PyramidPack::takes(shape))
        pyramids[inPyramids++] = walker;
      else
        testOne(walker);
    }
    if (inBoxes == 1)
      testOne(boxes[0]);
    else if (inBoxes > 1)
      testPacks<BoxPack>(boxes, inBoxes);
    if (inPyramids == 1)
      testOne(pyramids[0]);
    else if (inPyramids > 1)
      testPacks<PyramidPack>(pyramids, inPyramids);
    if (inTetrahedra == 1)
      testOne(tetrahedra[0]);
    else if (inTetrahedra > 1)
      testTetrahedra(tetrahedra, inTetrahedra);
  }

  TRIBUTARY_INLINE Particle& particleOf(Walker walker) const {
    return *groups_[walker.group].lanes.particle[walker.lane];
  }

  TRIBUTARY_INLINE void testOne(Walker walker) {
    Group& group = groups_[walker.group];
    const int l = walker.lane;
    ParticlePack<I, F>& lanes = group.lanes;
    Particle& p = *lanes.particle[l];
    V4 target{lanes.target[0][l], lanes.target[1][l], lanes.target[2][l], 0};
    const std::int32_t cell = p.cell;
    V4 velocity;
    const Found found = test(p, target, lanes.targetTime[l], group.stage, velocity);
    if (found == Found::Beyond) return enqueue(walker);
    if (__builtin_expect(found != Found::Here, 0)) return depart(group, l, found);
    if (__builtin_expect(rules_.onSurface, 0))
      for (int a = 0; a < 3; ++a) lanes.target[a][l] = target[a];
    arrive(group, l, cell, velocity);
  }

  /// One cell test for each walker, of cells that need Newton's method.
  template <class Pack>
  __attribute__((noinline)) void testPacks(const Walker* walkers, int count) {
    const CellRecord* cells[Together];
    const int packs = (count + Width - 1) / Width;
    Pack pack[PacksAtOnce];
    for (int p = 0; p < packs; ++p) {
      Wide point[3];
      LaneSet thorough = 0;
      Wide time;
      const LaneSet lanes =
          fill(walkers + p * Width, count - p * Width, cells + p * Width, point, time, thorough);
      pack[p].begin(cells + p * Width, ValueSize, point, lanes, thorough);
    }
    solvePacks(pack, packs);
    for (int w = 0; w < count; ++w) {
      const InCell at = pack[w / Width][w % Width];
      const double time = groups_[walkers[w].group].lanes.targetTime[walkers[w].lane];
      decide(walkers[w], *cells[w], at, [&] { return velocityIn(*cells[w], at.r, time); });
    }
  }

  /// One cell test for each walker, of tetrahedra.
  __attribute__((noinline)) void testTetrahedra(const Walker* walkers, int count) {
    const CellRecord* cells[Together];
    TetraPack<Real, F> pack[PacksAtOnce];
    for (int p = 0; p * Width < count; ++p) {
      Wide point[3], time;
      LaneSet thorough = 0;
      fill(walkers + p * Width, count - p * Width, cells + p * Width, point, time, thorough);
      pack[p].locate(cells + p * Width, point, shareAt(time));
    }
    for (int w = 0; w < count; ++w)
      decide(walkers[w], *cells[w], pack[w / Width][w % Width],
             [&] { return pack[w / Width].velocity(w % Width); });
  }

  /// How far in the interval a time is; 0 in a steady field.
  template <class Number>
  TRIBUTARY_INLINE Number shareAt(Number time) const {
    if constexpr (F == Flow::Unsteady)
      return shareOf(rules_, time);
    else
      return all<Number>(0);
  }

  /// The velocity at a place in a cell.
  TRIBUTARY_INLINE V4 velocityIn(const CellRecord& cell, V4 r, double time) const {
    const V4 velocity = velocityAt<Real>(cell, velocityTerms<Real>(cell), r);
    if constexpr (F == Flow::Unsteady) {
      const V4 later = velocityAt<Real>(cell, laterTerms<Real>(cell), r);
      const double share = shareAt(time);
      V4 between;
      for (int a = 0; a < 4; ++a) between[a] = valueBetween(velocity[a], later[a], share);
      return between;
    } else {
      return velocity;
    }
  }

  /// Cells, points and times of a pack; lanes beyond the walkers repeat the first.
  /// @param thorough  the lanes in which exact coordinates are sought
  /// @return the lanes that have a walker
  TRIBUTARY_INLINE LaneSet fill(const Walker* walkers, int count, const CellRecord** cells,
                                Wide point[3], Wide& time, LaneSet& thorough) {
    double target[3][Width], times[Width];
    LaneSet lanes = 0;
    for (int l = 0; l < Width; ++l) {
      const Walker walker = walkers[l < count ? l : 0];
      const ParticlePack<I, F>& group = groups_[walker.group].lanes;
      const Particle& p = *group.particle[walker.lane];
      cells[l] = &view_.record(p.cell);
      for (int a = 0; a < 3; ++a) target[a][l] = group.target[a][walker.lane];
      times[l] = group.targetTime[walker.lane];
      if (l < count) lanes |= 1u << l;
      if (p.face == Particle::Accept) thorough |= 1u << l;
    }
    for (int a = 0; a < 3; ++a) point[a] = loadWide(target[a]);
    time = loadWide(times);
    return lanes;
  }

  /// What follows from a cell test.
  template <class Velocity>
  TRIBUTARY_INLINE void decide(Walker walker, const CellRecord& cell, const InCell& at,
                               Velocity&& velocity) {
    Group& group = groups_[walker.group];
    Particle& p = particleOf(walker);
    if (holds(p, at)) {
      p.face = Particle::AnyFace;
      p.crossings = 0;
      return arrive(group, walker.lane, p.cell, velocity());
    }
    const Found found = cross(p, cell, at);
    if (found == Found::Beyond)
      enqueue(walker);
    else
      depart(group, walker.lane, found);
  }

  /// A lane's target lies in a cell. When all lanes have arrived, their velocities are used.
  TRIBUTARY_INLINE void arrive(Group& group, int l, std::int32_t cell, V4 velocity) {
    settle(group, l, cell, velocity);
    if (group.walking == 0) feed(group);
  }

  void depart(Group& group, int l, Found found) {
    remove(group, l, found);
    if (group.walking == 0) feed(group);
  }

  TRIBUTARY_INLINE void settle(Group& group, int l, std::int32_t cell, V4 velocity) {
    for (int a = 0; a < 3; ++a) group.velocity[a][l] = velocity[a];
    group.cellLength[l] = lengthOf(cell);
    group.cell[l] = cell;
    group.walking &= ~(1u << l);
  }

  /// The length of a cell; of the one that was tested last, if points move.
  TRIBUTARY_INLINE double lengthOf(std::int32_t cell) const {
    return Moves ? length_ : view_.record(cell).length;
  }

  void remove(Group& group, int l, Found found) {
    Particle& p = group.lanes.leave(l, group.stage);
    if (found == Found::Nowhere) lose(p);
    group.walking &= ~(1u << l);
  }

  __attribute__((noinline)) void feed(Group& group) {
    do feedAll(group, std::make_integer_sequence<int, Stages<I>>());
    while (group.walking != 0 && testGroup(group) && group.walking == 0);
    enqueue(group);
  }

  /// One cell test for each walking lane of a group, in the cells where the lanes are: most of
  /// their next targets lie there, too.
  /// @return whether the cells are those of a pack; there was no test otherwise
  TRIBUTARY_INLINE bool testGroup(Group& group) {
    if constexpr (Moves) return false;
    const LaneSet walking = group.walking;
    const bool isOne = (walking & (walking - 1)) == 0;
    if (isOne || __builtin_expect(periodic_, 0)) return false;
    const ParticlePack<I, F>& lanes = group.lanes;
    const CellRecord* cells[Width];
    for (int l = 0; l < Width; ++l) {
      const Particle& p = *lanes.particle[walking >> l & 1 ? l : __builtin_ctz(walking)];
      cells[l] = &view_.record(p.cell);
      if (cells[l]->shape != CellShape::Tetra) return false;
    }
    TetraPack<Real, F> pack;
    pack.locate(cells, lanes.target, shareAt(lanes.targetTime));
    const LaneSet inside = walking & pack.inside();
    const WideInt isInside = toCondition(inside);
    for (int a = 0; a < 3; ++a)
      group.velocity[a] = select(isInside, pack.velocity()[a], group.velocity[a]);
    group.cellLength = select(isInside, pack.length(), group.cellLength);
    group.walking = walking & ~inside;
    forEach(
        inside, [&](int l) __attribute__((always_inline)) {
          Particle& p = *lanes.particle[l];
          p.face = Particle::AnyFace;
          p.crossings = 0;
          group.cell[l] = p.cell;
        });
    forEach(
        group.walking, [&](int l) __attribute__((always_inline)) {
          Particle& p = *lanes.particle[l];
          const InCell at = pack[l];
          if (holds(p, at)) {
            p.face = Particle::AnyFace;
            p.crossings = 0;
            return settle(group, l, p.cell, pack.velocity(l));
          }
          const Found found = cross(p, *cells[l], at);
          if (found != Found::Beyond) remove(group, l, found);
        });
    return true;
  }

  template <int... S>
  TRIBUTARY_INLINE void feedAll(Group& group, std::integer_sequence<int, S...>) {
    const int stage = group.stage;
    (void)((stage == S + 1 && (feedStageOf<S + 1>(group), true)) || ...);
  }

  template <int Stage>
  TRIBUTARY_INLINE void feedStageOf(Group& group) {
    group.lanes.template feed<Stage>(rules_, group.velocity, group.cellLength, group.cell, log_);
    if constexpr (Stage == Stages<I>) {
      beginSteps(group);
    } else {
      group.stage = Stage + 1;
      group.walking = group.lanes.alive;
      // A refused step waits at its first stage until the others have begun their next.
      if constexpr (Stage + 1 == Stages<I>) group.walking &= ~group.lanes.refused;
      if (group.walking == 0) beginSteps(group);
    }
  }

  /// Takes waiting particles into empty lanes; all lanes are at the first stage.
  TRIBUTARY_INLINE void beginSteps(Group& group) {
    group.lanes.refused = 0;
    forEach(group.lanes.atEvent, [&](int l) {
      Particle& p = *group.lanes.particle[l];
      if (toStepStart(p)) group.lanes.enter(p, l);
    });
    group.lanes.atEvent = 0;
    LaneSet empty = ~group.lanes.alive & AllLanes;
    const bool isOver = --group.steps < 0;
    if (__builtin_expect(empty != 0 && !isOver, 0))
      while (empty && next_ != end_) {
        Particle& p = *next_++;
        if (!toStepStart(p)) continue;
        group.lanes.enter(p, __builtin_ctz(empty));
        empty &= empty - 1;
      }
    group.stage = 1;
    if (isOver || (next_ == end_ && --group.extraSteps < 0)) group.lanes.putBack();
    group.walking = group.lanes.alive;
  }

  /// Walks and evaluates until the particle begins a step. @return whether it is still here
  __attribute__((noinline)) bool toStepStart(Particle& p) {
    if (p.status != Status::Active) return false;
    while (p.stage != 1 || p.isAtEvent()) {
      if (isReturning(p)) {
        if (!returnToStep<I, F>(rules_, p, log_)) return false;
        continue;
      }
      V4 target = load(p.target), velocity;
      const std::int32_t cell = p.cell;
      double time = 0;
      if constexpr (F == Flow::Unsteady) time = targetTime<I>(rules_, p);
      const Found found = test(p, target, time, p.stage, velocity);
      if (found == Found::Beyond) continue;
      if (found == Found::Nowhere) lose(p);
      if (found != Found::Here) return false;
      if (rules_.onSurface) {
        store(p.target, target);
        if (p.stage == 0) store(p.x, target);
      }
      double v[4];
      store(v, velocity);
      if (!tributary::feed<I, F>(rules_, p, v, lengthOf(cell), cell, log_)) return false;
    }
    return true;
  }

  /// One cell test. Beyond and Elsewhere: the particle goes on to the cell that was set, in this
  /// block or another.
  /// @param target  is moved onto a surface if that is wanted
  /// @param time  of the target in an unsteady field
  TRIBUTARY_INLINE Found test(Particle& p, V4& target, double time, int stage, V4& velocity) {
    const CellRecord& cell = view_.record(p.cell);
    const V4 point = __builtin_expect(periodic_, 0) ? image(target) : target;
    if (__builtin_expect(cell.shape == CellShape::Foreign, 0))
      return testForeign(p, point, time, velocity);
    if constexpr (Moves) return testMoving(p, cell, point, time, velocity);
    const InCell at = locateInCell(cell, ValueSize, point, p.face == Particle::Accept);
    if (holds(p, at)) {
      const bool sheet = cell.shape == CellShape::Triangle || cell.shape == CellShape::Quad;
      if (__builtin_expect(sheet, 0)) {
        if (!(__builtin_fabs(at.r[2]) <= (rules_.onSurface ? NearSheet : Sheet)))
          return Found::Nowhere;
      }
      velocity = velocityIn(cell, at.r, time);
      if (__builtin_expect(sheet && rules_.onSurface, 0)) {
        const V4 normal = load(geometryTerms(cell, ValueSize) + 12);
        velocity -= splat(dot3(velocity, normal) / dot3(normal, normal)) * normal;
        if (stage == 0 || stage == Stages<I>) target -= splat(at.r[2]) * normal;
      }
      p.face = Particle::AnyFace;
      p.crossings = 0;
      return Found::Here;
    }
    return cross(p, cell, at);
  }

  /// As test(), of a cell whose points move.
  TRIBUTARY_INLINE Found testMoving(Particle& p, const CellRecord& cell, const V4& point,
                                    double time, V4& velocity) {
    MovedCell moved;
    if (!view_.geometryAt(cell, ValueSize, shareAt(time), moved)) return Found::Nowhere;
    const InCell at = locateInCell(moved.record(), 0, point, p.face == Particle::Accept);
    if (!holds(p, at)) return cross(p, cell, at);
    const bool sheet = cell.shape == CellShape::Triangle || cell.shape == CellShape::Quad;
    if (sheet && !(__builtin_fabs(at.r[2]) <= Sheet)) return Found::Nowhere;
    velocity = velocityIn(cell, at.r, time);
    length_ = moved.record().length;
    p.face = Particle::AnyFace;
    p.crossings = 0;
    return Found::Here;
  }

  /// Whether a cell keeps a point. One that two neighbors send to each other lies in the gap
  /// between them, or one of them is asked too far from itself for its inverse map to be unique.
  TRIBUTARY_INLINE static bool holds(const Particle& p, const InCell& at) {
    return at.face == Inside || (at.face == p.face && at.violation <= Gap) ||
           (p.face == Particle::Accept && at.face != Unknown);
  }

  TRIBUTARY_INLINE Found cross(Particle& p, const CellRecord& cell, const InCell& at) {
    if (at.face == p.face) return Found::Nowhere;  // it would only come back
    if (__builtin_expect(at.face == Unknown || ++p.crossings > MostCrossings, 0))
      return Found::Nowhere;
    // Another thread may be setting the link.
    const std::int32_t link = __atomic_load_n(&cell.link[at.face], __ATOMIC_ACQUIRE);
    if (__builtin_expect(link >= 0, 1)) {
      p.face = __atomic_load_n(&cell.entry[at.face], __ATOMIC_RELAXED);
      p.cell = link;
      prefetch(link);
      return Found::Beyond;
    }
    return link == CellRecord::NoLink ? Found::Nowhere : crossUnresolved(p, at.face);
  }

  __attribute__((noinline)) Found crossUnresolved(Particle& p, int face) {
    Neighbor beyond;
    const std::int32_t link = view_.resolve(view_.block, p.cell, face, beyond);
    if (link == CellRecord::NoLink) return Found::Nowhere;
    p.face = beyond.face;
    if (link >= 0) {
      p.cell = link;
      return Found::Beyond;
    }
    p.block = beyond.block;
    p.cell = beyond.cell;
    return Found::Elsewhere;
  }

  /// Ends a walk without a cell. All blocks are searched for the cell, unless such a search has
  /// returned this cell already.
  __attribute__((noinline)) void lose(Particle& p) {
    bool finite = true;
    for (int a = 0; a < 3; ++a) finite = finite && p.target[a] - p.target[a] == 0;
    if (!finite)
      finish(p, Reason::UnexpectedValue);
    else if (p.face == Particle::Accept)
      finish(p, Reason::OutOfDomain);
    else
      p.status = Status::Seeking;
  }

  __attribute__((noinline)) Found testForeign(Particle& p, const V4& point, double time,
                                              V4& velocity) {
    double at[4], v[4] = {0, 0, 0, 0};
    store(at, point);
    if (!view_.foreign(view_.block, p.cell, at, shareAt(time), p.face == Particle::Accept, v))
      return Found::Nowhere;
    velocity = load(v);
    p.face = Particle::AnyFace;
    p.crossings = 0;
    return Found::Here;
  }

  V4 image(V4 x) const {
    for (int a = 0; a < 3; ++a)
      if (rules_.period[a] > 0)
        x[a] -= rules_.period[a] *
                __builtin_floor((x[a] - rules_.periodicOrigin[a]) / rules_.period[a]);
    return x;
  }

  const MeshView& view_;
  const StepRules& rules_;
  TrajectoryLog& log_;
  Particle *next_ = nullptr, *end_ = nullptr;  ///< Those that wait.
  bool periodic_ = false;
  double length_ = 0;  ///< See lengthOf().
  Group groups_[Groups];
  static constexpr std::uint32_t Lanes = Groups * Width;
  Walker queue_[Lanes];                ///< A ring: each lane is in it at most once.
  std::uint32_t head_ = 0, tail_ = 0;  ///< Of the queue, counted without end.
};

template <Integrator I, Flow F, class Real>
void walk(const MeshView& view, const StepRules& rules, Particle* particles, std::int64_t count,
          std::int64_t extraSteps, TrajectoryLog& log) {
  if constexpr (F == Flow::Unsteady)
    if (view.geometryAt)
      return Walk<I, F, Real, Cells::Moving>(view, rules, log).run(particles, count, extraSteps);
  if (view.mayPack)
    Walk<I, F, Real, Cells::Packed>(view, rules, log).run(particles, count, extraSteps);
  else
    Walk<I, F, Real, Cells::Single>(view, rules, log).run(particles, count, extraSteps);
}

template <Integrator I, Flow F>
void walk(const MeshView& view, const StepRules& rules, Particle* particles, std::int64_t count,
          std::int64_t extraSteps, TrajectoryLog& log) {
  if (view.isDouble)
    walk<I, F, double>(view, rules, particles, count, extraSteps, log);
  else
    walk<I, F, float>(view, rules, particles, count, extraSteps, log);
}

template <Integrator I>
void walk(const MeshView& view, const StepRules& rules, Particle* particles, std::int64_t count,
          std::int64_t extraSteps, TrajectoryLog& log) {
  if (rules.interval)
    walk<I, Flow::Unsteady>(view, rules, particles, count, extraSteps, log);
  else
    walk<I, Flow::Steady>(view, rules, particles, count, extraSteps, log);
}

}  // namespace

void TRIBUTARY_KERNEL(const MeshView& view, const StepRules& rules, Particle* particles,
                      std::int64_t count, std::int64_t extraSteps, TrajectoryLog& log) {
  switch (rules.integrator) {
    case Integrator::RungeKutta2:
      return walk<Integrator::RungeKutta2>(view, rules, particles, count, extraSteps, log);
    case Integrator::RungeKutta4:
      return walk<Integrator::RungeKutta4>(view, rules, particles, count, extraSteps, log);
    case Integrator::RungeKutta45:
      return walk<Integrator::RungeKutta45>(view, rules, particles, count, extraSteps, log);
  }
}

}  // namespace tributary::detail
