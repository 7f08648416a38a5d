// Included by one source file per instruction set, with TRIBUTARY_KERNEL naming the entry point.
// See StructuredKernel.inl for what must be kept out of here.
//
// Walking. The next cell is decided by the cell left, the face it was entered through and the point
// sought: through the face that the point violates most. If that is the face of entry, two cells
// each take the point for the other's (a rounding error, or a warped face seen from both sides) and
// this one keeps it. None of this knows which block or rank a cell lies in.

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "Tributary/Advection/MeshCell.inl"

namespace tributary {
namespace {

constexpr int kWalkers = 20;
/// A walk in circles, which only a broken mesh makes possible, ends in a search.
constexpr std::int32_t kMostCrossings = 10000;

/// Takes particles from cell to cell side by side: one cell test of each in turn, so that the next
/// cell's record is under way from memory while the others compute.
template <Integrator I, class Real>
class Walk {
 public:
  Walk(const MeshView& view, const StepRules& rules, TrajectoryLog& log)
      : view_(view), rules_(rules), log_(log) {
    for (const double period : rules.period) periodic_ |= period > 0;
  }

  void run(Particle* particles, std::int64_t count) {
    Particle* walker[kWalkers];
    std::int64_t next = 0;
    int walkers = 0;
    for (;;) {
      while (walkers < kWalkers && next < count) {
        Particle& p = particles[next++];
        if (p.status != Status::Active) continue;
        prefetch(p.cell);
        walker[walkers++] = &p;
      }
      if (walkers == 0) return;
      int kept = 0;
      for (int w = 0; w < walkers; ++w) {
        walker[kept] = walker[w];
        kept += tick(*walker[w]);
      }
      walkers = kept;
    }
  }

 private:
  void prefetch(std::int32_t cell) const {
    const auto* record = reinterpret_cast<const char*>(&view_.record(cell));
    for (int line = 0; line < 4; ++line) __builtin_prefetch(record + 64 * line);
  }

  /// One cell test. @return whether the particle stays in this block and wants another
  inline __attribute__((always_inline)) bool tick(Particle& p) {
    const CellRecord& cell = view_.record(p.cell);
    V4 point = load(p.target);
    if (__builtin_expect(periodic_, 0)) point = image(p);
    if (__builtin_expect(cell.shape == CellShape::Foreign, 0)) return tickForeign(p, cell);
    const InCell at = locateInCell(cell, sizeof(Real), point, p.face == Particle::kAccept);
    // A point that two neighbours send to each other lies in the gap between them, or one of them
    // is asked too far from itself for its inverse map to be unique.
    const bool back = at.face == p.face;
    if (at.face == kInside || (back && at.violation <= kGap) ||
        (p.face == Particle::kAccept && at.face != kUnknown)) {
      const bool sheet = cell.shape == CellShape::Triangle || cell.shape == CellShape::Quad;
      if (__builtin_expect(sheet, 0)) {
        if (!(__builtin_fabs(at.r[2]) <= (rules_.onSurface ? kNearSheet : kSheet))) return lose(p);
        if (rules_.onSurface && (p.stage == 0 || p.stage == kStages<I>)) project(p, cell, at);
      }
      return evaluated(p, cell, velocityAt<Real>(cell, at.r));
    }
    return back ? lose(p) : cross(p, cell, at);
  }

  inline __attribute__((always_inline)) bool evaluated(Particle& p, const CellRecord& cell,
                                                       V4 velocity) {
    p.face = Particle::kAnyFace;
    p.crossings = 0;
    return feed<I>(rules_, p, velocity, cell.length, p.cell, log_);
  }

  inline __attribute__((always_inline)) bool cross(Particle& p, const CellRecord& cell,
                                                   const InCell& at) {
    if (__builtin_expect(at.face == kUnknown || ++p.crossings > kMostCrossings, 0)) return lose(p);
    const std::int32_t link = cell.link[at.face];
    if (__builtin_expect(link >= 0, 1)) {
      p.face = cell.entry[at.face];
      p.cell = link;
      prefetch(link);
      return true;
    }
    if (link == CellRecord::kNoLink) return lose(p);
    const RemoteLink& remote = view_.remote[CellRecord::kFirstRemote - link];
    p.block = remote.block;
    p.cell = remote.cell;
    p.face = remote.face;
    return false;
  }

  /// Moves an accepted position onto the cell, along its normal.
  void project(Particle& p, const CellRecord& cell, const InCell& at) const {
    const V4 normal = load(geometryTerms(cell, sizeof(Real)) + 12);
    const V4 x = load(p.target) - splat(at.r[2]) * normal;
    store(p.target, x);
    if (p.stage == 0) store(p.x, x);
  }

  /// The walk ends without a cell: everybody is asked, unless this cell was the answer already.
  __attribute__((noinline)) bool lose(Particle& p) {
    bool finite = true;
    for (int a = 0; a < 3; ++a) finite = finite && p.target[a] - p.target[a] == 0;
    if (!finite)
      finish(p, Reason::UnexpectedValue);
    else if (p.face == Particle::kAccept)
      finish(p, Reason::OutOfDomain);
    else
      p.status = Status::Seeking;
    return false;
  }

  __attribute__((noinline)) bool tickForeign(Particle& p, const CellRecord& cell) {
    double at[4], velocity[4] = {0, 0, 0, 0};
    store(at, image(p));
    if (!view_.foreign(view_.block, p.cell, at, p.face == Particle::kAccept, velocity))
      return lose(p);
    return evaluated(p, cell, load(velocity));
  }

  V4 image(const Particle& p) const {
    V4 x = load(p.target);
    for (int a = 0; a < 3; ++a)
      if (rules_.period[a] > 0)
        x[a] -= rules_.period[a] *
                __builtin_floor((x[a] - rules_.periodicOrigin[a]) / rules_.period[a]);
    return x;
  }

  const MeshView& view_;
  const StepRules& rules_;
  TrajectoryLog& log_;
  bool periodic_ = false;
};

template <Integrator I>
void walk(const MeshView& view, const StepRules& rules, Particle* particles, std::int64_t count,
          TrajectoryLog& log) {
  if (view.isDouble)
    Walk<I, double>(view, rules, log).run(particles, count);
  else
    Walk<I, float>(view, rules, log).run(particles, count);
}

}  // namespace

void TRIBUTARY_KERNEL(const MeshView& view, const StepRules& rules, Particle* particles,
                      std::int64_t count, TrajectoryLog& log) {
  switch (rules.integrator) {
    case Integrator::RungeKutta2:
      return walk<Integrator::RungeKutta2>(view, rules, particles, count, log);
    case Integrator::RungeKutta4:
      return walk<Integrator::RungeKutta4>(view, rules, particles, count, log);
    case Integrator::RungeKutta45:
      return walk<Integrator::RungeKutta45>(view, rules, particles, count, log);
  }
}

}  // namespace tributary
