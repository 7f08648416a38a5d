// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/MeshChange.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "Tributary/Advection/Stepper.h"
#include "Tributary/Advection/detail/ParticleMessage.h"
#include "Tributary/Advection/detail/Place.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"

// A particle needs the velocities of two meshes at each point, and their cells are on any ranks. It
// gets them one after the other: first from the mesh in which it was last, then from the other one.
// Between the two it may change the rank, and takes the first velocity along. In each mesh it
// remembers the cell in which it was last, and walks from there.
//
// The velocity of a mesh at a point is the first evaluation of a particle that begins there and
// ends at once, because its interval is over. So blocks, kernels and walks are those of trace().

namespace tributary {

using namespace detail;

namespace {

/// Particles that are advanced together in one call.
constexpr std::size_t LargestBatch = 4096;
/// Evaluations of a particle in one call, so that calls end soon enough.
constexpr int PassesPerCall = 16;
/// With at most this many particles, a second thread costs more than it gains.
constexpr std::size_t Grain = 64;

/// Where a particle was last in a mesh.
struct KnownCell {
  BlockId block = -1;      ///< Below 0: it was not in this mesh.
  std::int32_t cell = -1;  ///< For FieldBlock::enter().
};

/// A particle, and its evaluation in one of the two meshes.
struct Traveler {
  /// `block`, `cell`, `face`, `crossings`, and `status` while it is not finished, are those of the
  /// evaluation. `cell` is a number for FieldBlock::enter().
  Particle p;
  CellMatch best;                    ///< While it seeks its cell.
  std::array<KnownCell, 2> known;    ///< By mesh.
  std::array<double, 3> velocity{};  ///< Of the other mesh, if that was evaluated first,
  double cellLength = 0;             ///< and the length of its cell.
  int mesh = 0;                      ///< 0: the earlier one, 1: the later one.
  bool isSecond = false;             ///< Whether the other mesh was evaluated already.
};

/// What travels besides the particle.
struct Carried {
  std::int64_t block;
  std::int64_t knownBlocks[2];
  double velocity[3], cellLength;
  std::int32_t knownCells[2];
  std::int32_t mesh, isSecond;
};
static_assert(sizeof(Carried) == 72, "no padding travels");

/// Calls visit() with the integrator as a constant.
template <class Visit>
decltype(auto) withIntegrator(Integrator integrator, Visit&& visit) {
  switch (integrator) {
    case Integrator::RungeKutta2:
      return visit(std::integral_constant<Integrator, Integrator::RungeKutta2>());
    case Integrator::RungeKutta4:
      return visit(std::integral_constant<Integrator, Integrator::RungeKutta4>());
    case Integrator::RungeKutta45:
      break;
  }
  return visit(std::integral_constant<Integrator, Integrator::RungeKutta45>());
}

/// Why a particle ends whose target is outside of a mesh.
Reason outside(const Particle& p) {
  return p.stage == 0 ? Reason::NotInitialized : Reason::OutOfDomain;
}

/// The rules by which a block evaluates the velocity at a point: it is that of a particle that
/// begins there, at the end of its interval.
StepRules rulesOfEvaluation(const StepRules& rules) {
  StepRules once;
  once.integrator = Integrator::RungeKutta2;
  once.unit = StepUnit::Length;
  once.terminalSpeed = 0;
  once.interval = TimeInterval{0, 1, 0};
  std::copy_n(rules.period, 3, once.period);
  std::copy_n(rules.periodicOrigin, 3, once.periodicOrigin);
  once.record = false;
  return once;
}

/// The callback of the exchange, in which each rank has one address.
class ChangeTracer {
 public:
  ChangeTracer(Transport& transport, const Domain& earlier, const Domain& later,
               const TraceOptions& options)
      : transport_(transport),
        meshes_{{{&earlier, {}}, {&later, {}}}},
        options_(options),
        rules_(options.rules),
        once_(rulesOfEvaluation(options.rules)),
        stages_(withIntegrator(options.rules.integrator,
                               [](auto i) { return Stages<decltype(i)::value>; })) {
    rules_.record = false;  // here, in the blocks of both meshes
    for (Mesh& mesh : meshes_) mesh.logs.resize(mesh.domain->blocks.size());
    // finish() does not allocate.
    result_.logs.reserve(earlier.blocks.size());
    laterLogs_.reserve(later.blocks.size());
  }

  void plant(Span<const Seed> seeds);
  bool step(Mailbox& mailbox);
  MeshChangeTrace finish();
  double progress() const {
    return planted_ > 0 ? std::min(1.0, static_cast<double>(result_.ends.size()) /
                                            static_cast<double>(planted_))
                        : 0;
  }

 private:
  struct Mesh {
    const Domain* domain;
    std::deque<LogPool> logs;  ///< By block of this rank.
  };

  /// A block of this rank; null if it is another one's.
  const FieldBlock* blockHere(int mesh, BlockId block) const {
    const Domain& domain = *meshes_[index(mesh)].domain;
    const std::uint64_t at = offsetOf(block, domain.assignment.first(transport_.rank()));
    return at < domain.blocks.size() ? domain.blocks[at].get() : nullptr;
  }
  const FieldBlock* blockOf(const Traveler& t) const { return blockHere(t.mesh, t.p.block); }
  LogPool& logsOf(int mesh, const FieldBlock& block) {
    Mesh& m = meshes_[index(mesh)];
    return m.logs[offsetOf(block.id(), m.domain->assignment.first(transport_.rank()))];
  }

  double timeOf(const Particle& p) const {
    return withIntegrator(rules_.integrator, [&](auto integrator) {
      return targetTime<decltype(integrator)::value>(rules_, p);
    });
  }
  bool records(const Particle& p) const {
    if (p.stage != 0 && p.stage != stages_) return false;
    return options_.rules.record ||
           (options_.recordEnds && !(directionOf(p) * (rules_.interval->stop - timeOf(p)) > 0));
  }

  void begin(Traveler& t) const;
  void goTo(int mesh, Traveler& t) const;
  void beginSearch(Traveler& t) const;
  void conclude(Traveler& t) const;
  void search(const FieldBlock& block, Span<Traveler*> travelers) const;
  void evaluate(const FieldBlock& block, Span<Traveler*> travelers);
  void use(Traveler& t, const double velocity[3], double cellLength) const;
  void run(Span<Traveler> travelers);
  void runBatch(std::size_t count);
  void end(const Traveler& t);
  void send(const Traveler& t);
  Traveler receive(Reader& reader) const;
  void requireCell(int mesh, BlockId block, std::int32_t cell) const;

  Transport& transport_;
  std::array<Mesh, 2> meshes_;
  const TraceOptions& options_;
  StepRules rules_;
  const StepRules once_;
  const int stages_;
  std::deque<Traveler> waiting_;  // the longest first
  std::vector<Traveler> taken_;
  std::map<int, Bytes> outgoing_;  // by rank
  TraceResult result_;
  std::vector<std::vector<TrajectoryLog>> laterLogs_;
  std::int64_t planted_ = 0;
};

void ChangeTracer::plant(Span<const Seed> seeds) {
  for (const Seed& seed : seeds)
    for (const int backward : {0, 1}) {
      if (!(backward ? options_.backward : options_.forward)) continue;
      Traveler& t = waiting_.emplace_back();
      t.p = {};
      std::memcpy(t.p.x, seed.x, sizeof seed.x);
      std::memcpy(t.p.target, seed.x, sizeof seed.x);
      t.p.time = seed.time;
      t.p.line = 2 * seed.id + backward;
      begin(t);
      ++planted_;
    }
}

/// Begins the evaluations at the target of a particle.
void ChangeTracer::begin(Traveler& t) const {
  const double share = shareThroughChange(*rules_.interval, timeOf(t.p));
  t.isSecond = false;
  goTo(share == 0 ? 0 : share == 1 ? 1 : t.mesh, t);
}

/// Begins the evaluation in a mesh, from the cell where the particle was last.
void ChangeTracer::goTo(int mesh, Traveler& t) const {
  t.mesh = mesh;
  const KnownCell& last = t.known[index(mesh)];
  if (last.block < 0) return beginSearch(t);
  t.p.status = Status::Active;
  t.p.block = last.block;
  t.p.cell = last.cell;
  t.p.face = Particle::AnyFace;
  t.p.crossings = 0;
}

/// As Tracer::beginSearch().
void ChangeTracer::beginSearch(Traveler& t) const {
  double image[3] = {t.p.target[0], t.p.target[1], t.p.target[2]};
  for (const double x : image)
    if (!std::isfinite(x) && t.p.stage != 0) return tributary::finish(t.p, Reason::UnexpectedValue);
  wrapIntoPeriod(rules_, image);
  t.p.status = Status::Seeking;
  t.p.face = Particle::AnyFace;
  t.p.crossings = 0;
  t.p.cell = -1;
  t.best = {};
  t.p.block = meshes_[index(t.mesh)].domain->boxes.next(image, -1);
  if (t.p.block < 0) conclude(t);
}

/// Ends the search in a mesh.
void ChangeTracer::conclude(Traveler& t) const {
  if (!t.best.found()) return tributary::finish(t.p, outside(t.p));
  t.p.status = Status::Active;
  t.p.block = t.best.block;
  t.p.cell = t.best.cell;
  t.p.face = Particle::Accept;
  t.p.crossings = 0;
}

/// Searches a block for the cells of particles, which then go on to the next one.
void ChangeTracer::search(const FieldBlock& block, Span<Traveler*> travelers) const {
  std::vector<CellQuery> queries;
  queries.reserve(travelers.size());
  for (const Traveler* t : travelers) {
    CellQuery& query = queries.emplace_back();
    std::copy_n(t->p.target, 3, query.point.begin());
    wrapIntoPeriod(rules_, query.point.data());
    query.best = t->best;
  }
  block.find(queries);
  for (std::size_t i = 0; i < travelers.size(); ++i) {
    Traveler& t = *travelers[i];
    t.best = queries[i].best;
    t.p.block = meshes_[index(t.mesh)].domain->boxes.next(queries[i].point.data(), block.id());
    if (t.p.block < 0) conclude(t);
  }
}

/// Lets a block evaluate the velocities at the targets of particles, or say where they go on.
void ChangeTracer::evaluate(const FieldBlock& block, Span<Traveler*> travelers) {
  std::vector<Particle> probes(travelers.size());
  for (std::size_t i = 0; i < travelers.size(); ++i) {
    const Particle& p = travelers[i]->p;
    Particle& probe = probes[i];
    probe = {};
    std::memcpy(probe.x, p.target, sizeof probe.x);
    std::memcpy(probe.target, p.target, sizeof probe.target);
    probe.block = block.id();
    probe.cell = p.cell;
    probe.face = p.face;
    probe.crossings = p.crossings;
    probe.status = Status::Active;
    if (!block.enter(probe.cell))
      throw Error(ErrorKind::Internal, "a particle is in a cell that its block does not have");
  }
  TrajectoryLog unused;
  block.advance(once_, probes, FieldBlock::ToTheEnd, unused);
  LogPool& pool = logsOf(travelers[0]->mesh, block);
  TrajectoryLog log = pool.take(rules_);
  for (std::size_t i = 0; i < travelers.size(); ++i) {
    Traveler& t = *travelers[i];
    const Particle& probe = probes[i];
    if (probe.status == Status::Seeking) {
      beginSearch(t);
    } else if (probe.status == Status::Active) {
      if (probe.block == block.id())
        throw Error(ErrorKind::Internal, "a field block did not evaluate a velocity");
      t.p.block = probe.block;
      t.p.cell = probe.cell;
      t.p.face = probe.face;
      t.p.crossings = probe.crossings;
    } else if (probe.reason == Reason::OutOfDomain) {
      tributary::finish(t.p, outside(t.p));
    } else if (probe.reason != Reason::OutOfTime) {
      tributary::finish(t.p, probe.reason);
    } else {
      t.known[index(t.mesh)] = {block.id(), block.leave(probe.cell)};
      // Whether the point is accepted depends on the other mesh: see MeshChangeTrace.
      if (records(t.p))
        log.append() = {{t.p.target[0], t.p.target[1], t.p.target[2]},
                        timeOf(t.p),
                        t.p.line,
                        t.p.stage == 0 ? 0 : t.p.steps + 1,
                        probe.cell};
      use(t, probe.k[0], probe.cellLength);
    }
  }
  pool.give(std::move(log));
}

/// Processes the velocity of a mesh.
void ChangeTracer::use(Traveler& t, const double velocity[3], double cellLength) const {
  const double share = shareThroughChange(*rules_.interval, timeOf(t.p));
  double v[3];
  std::copy_n(velocity, 3, v);
  if (share != 0 && share != 1) {
    if (!t.isSecond) {
      std::copy_n(velocity, 3, t.velocity.begin());
      t.cellLength = cellLength;
      t.isSecond = true;
      return goTo(1 - t.mesh, t);
    }
    const double* const early = t.mesh == 0 ? velocity : t.velocity.data();
    const double* const late = t.mesh == 0 ? t.velocity.data() : velocity;
    for (int a = 0; a < 3; ++a) v[a] = valueBetween(early[a], late[a], share);
    cellLength = std::min(cellLength, t.cellLength);
  }
  TrajectoryLog unused;
  const bool continues = withIntegrator(rules_.integrator, [&](auto integrator) {
    return feed<decltype(integrator)::value, Flow::Unsteady>(rules_, t.p, v, cellLength, -1,
                                                             unused);
  });
  if (continues) begin(t);
}

/// Advances particles until they are finished or go on to another rank, or for a while.
void ChangeTracer::run(Span<Traveler> travelers) {
  std::vector<Traveler*> here;
  here.reserve(travelers.size());
  const auto orderOf = [](const Traveler* t) {
    return std::make_tuple(t->mesh, t->p.status, t->p.block);
  };
  for (int pass = 0; pass < PassesPerCall; ++pass) {
    here.clear();
    for (Traveler& t : travelers)
      if (t.p.status != Status::Finished && blockOf(t)) here.push_back(&t);
    if (here.empty()) return;
    std::stable_sort(here.begin(), here.end(),
                     [&](const Traveler* a, const Traveler* b) { return orderOf(a) < orderOf(b); });
    for (std::size_t first = 0, last = 0; first < here.size(); first = last) {
      const auto group = orderOf(here[first]);
      while (last < here.size() && orderOf(here[last]) == group) ++last;
      const FieldBlock& block = *blockOf(*here[first]);
      const Span<Traveler*> together(here.data() + first, last - first);
      if (here[first]->p.status == Status::Seeking)
        search(block, together);
      else
        evaluate(block, together);
    }
  }
}

/// Advances the particles that have waited longest.
void ChangeTracer::runBatch(std::size_t count) {
  throwIfInterrupted(transport_);
  taken_.assign(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  if (count <= Grain)
    run(taken_);
  else
    options_.parallelFor(static_cast<std::int64_t>(count),
                         [&](std::int64_t begin, std::int64_t end) {
                           run({taken_.data() + begin, static_cast<std::size_t>(end - begin)});
                         });
  for (const Traveler& t : taken_) {
    if (t.p.status == Status::Finished)
      end(t);
    else if (blockOf(t))
      waiting_.push_back(t);
    else
      send(t);
  }
}

void ChangeTracer::end(const Traveler& t) {
  const Particle& p = t.p;
  const bool hasPoints =
      p.reason != Reason::NotInitialized && !(p.stage == 0 && p.reason == Reason::UnexpectedValue);
  const std::int32_t points = hasPoints ? p.steps + 1 : 0;
  result_.ends.push_back({p.line, points, p.reason, {p.x[0], p.x[1], p.x[2]}, p.time});
  if (options_.rules.record)
    result_.points += points;
  else if (options_.recordEnds && p.reason == Reason::OutOfTime)
    ++result_.points;
}

void ChangeTracer::send(const Traveler& t) {
  const Domain& domain = *meshes_[index(t.mesh)].domain;
  Bytes& message = outgoing_[domain.assignment.rankOf(t.p.block)];
  writeMigratingParticle(message, {t.p, t.best}, stages_);
  Carried carried{};
  carried.block = t.p.block;
  for (std::size_t m = 0; m < 2; ++m) {
    carried.knownBlocks[m] = t.known[m].block;
    carried.knownCells[m] = t.known[m].cell;
  }
  std::copy_n(t.velocity.begin(), 3, carried.velocity);
  carried.cellLength = t.cellLength;
  carried.mesh = t.mesh;
  carried.isSecond = int(t.isSecond);
  append(message, &carried, sizeof carried);
  ++result_.handovers;
}

/// Throws Error if a block of this rank does not have a cell, or if no rank has the block.
void ChangeTracer::requireCell(int mesh, BlockId block, std::int32_t cell) const {
  const FieldBlock* const here = blockHere(mesh, block);
  if (here ? !here->enter(cell) : !meshes_[index(mesh)].domain->assignment.exists(block))
    refuseMessage("a particle in cell " + std::to_string(cell) + ", which block " +
                  std::to_string(block) + " does not have");
}

Traveler ChangeTracer::receive(Reader& reader) const {
  const MigratingParticle migrating = readMigratingParticle(reader, stages_);
  const auto carried = reader.value<Carried>();
  Traveler t;
  t.p = migrating.particle;
  t.best = migrating.best;
  t.p.block = carried.block;
  if (carried.mesh < 0 || carried.mesh > 1) refuseMessage("a particle in no mesh");
  t.mesh = carried.mesh;
  t.isSecond = carried.isSecond != 0;
  std::copy_n(carried.velocity, 3, t.velocity.begin());
  t.cellLength = carried.cellLength;
  if (!blockOf(t)) refuseMessage("a particle in block " + std::to_string(t.p.block));
  if (t.p.status == Status::Active) requireCell(t.mesh, t.p.block, t.p.cell);
  if (t.p.status == Status::Seeking && t.best.found())
    requireCell(t.mesh, t.best.block, t.best.cell);
  for (std::size_t m = 0; m < 2; ++m) {
    t.known[m] = {carried.knownBlocks[m], carried.knownCells[m]};
    if (t.known[m].block >= 0) requireCell(int(m), t.known[m].block, t.known[m].cell);
  }
  return t;
}

bool ChangeTracer::step(Mailbox& mailbox) {
  while (auto message = mailbox.dequeueView()) {
    Reader reader(message->payload);
    while (!reader.atEnd()) waiting_.push_back(receive(reader));
  }
  const bool hasRounds = calledOncePerRound(options_.exchange.schedule);
  while (!waiting_.empty()) {
    runBatch(std::min(LargestBatch, waiting_.size()));
    if (!hasRounds) break;
  }
  for (auto& [rank, bytes] : outgoing_)
    if (!bytes.empty()) mailbox.enqueue(rank, std::exchange(bytes, Bytes()));
  return !waiting_.empty();
}

MeshChangeTrace ChangeTracer::finish() {
  for (LogPool& pool : meshes_[0].logs) result_.logs.push_back(pool.takeAll());
  for (LogPool& pool : meshes_[1].logs) laterLogs_.push_back(pool.takeAll());
  return {std::move(result_), std::move(laterLogs_)};
}

}  // namespace

double shareThroughChange(const TimeInterval& interval, double time) {
  const double rounding = 4 * std::numeric_limits<double>::epsilon() *
                          std::max(std::fabs(interval.begin), std::fabs(interval.end));
  if (std::fabs(time - interval.begin) <= rounding) return 0;
  if (std::fabs(time - interval.end) <= rounding) return 1;
  return (time - interval.begin) / (interval.end - interval.begin);
}

MeshChangeTrace traceThroughChange(Transport& transport, const Domain& earlier, const Domain& later,
                                   Span<const Seed> seeds, const TraceOptions& options) {
  std::optional<ChangeTracer> tracer;
  std::vector<std::vector<BlockId>> links(1);
  collectively(transport, [&] {
    requireValid(options, seeds);
    if (!options.rules.interval)
      throw Error("the mesh changes in an unsteady field only; set StepRules::interval");
    if (options.rules.events.count > 0)
      throw Error(
          "StepRules::events are given and the mesh changes; give no events, or use meshes with "
          "the "
          "same cells");
    if (options.rules.onSurface)
      throw Error(
          "StepRules::onSurface is set and the mesh changes; particles stay on surfaces that do "
          "not change only");
    for (const Domain* domain : {&earlier, &later}) {
      if (!domain->unsteady && !domain->boxes.bounds().empty())
        throw Error("a mesh has velocities at one time; give laterVelocity for all its pieces");
      requireBlocks(transport, *domain);
    }
    tracer.emplace(transport, earlier, later, options);
    tracer->plant(seeds);
    for (int rank = 0; rank < transport.size(); ++rank)
      if (rank != transport.rank()) links[0].push_back(rank);
  });
  Exchange exchange(transport, Assignment(std::vector<std::int64_t>(index(transport.size()), 1)),
                    std::move(links), options.exchange,
                    [&](BlockId, Mailbox& mailbox) { return tracer->step(mailbox); });
  exchange.run([&] { return !options.monitor || options.monitor(tracer->progress()); });
  MeshChangeTrace result = tracer->finish();
  result.traced.statistics = exchange.statistics();
  result.traced.aborted = exchange.aborted();
  return result;
}

}  // namespace tributary
