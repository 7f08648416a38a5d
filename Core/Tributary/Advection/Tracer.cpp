// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Tracer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "Tributary/Advection/Stepper.h"
#include "Tributary/Advection/detail/ParticleMessage.h"
#include "Tributary/Advection/detail/Places.h"
#include "Tributary/Balance/LendingDesk.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Morton.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Reduction/AllToAll.h"

namespace tributary {

using namespace detail;

namespace {

/// How far in the interval the time of a particle's next evaluation is; 0 in a steady field.
double shareOfTarget(const StepRules& rules, const Particle& p) {
  if (!rules.interval) return 0;
  switch (rules.integrator) {
    case Integrator::RungeKutta2:
      return shareOf(rules, targetTime<Integrator::RungeKutta2>(rules, p));
    case Integrator::RungeKutta4:
      return shareOf(rules, targetTime<Integrator::RungeKutta4>(rules, p));
    case Integrator::RungeKutta45:
      break;
  }
  return shareOf(rules, targetTime<Integrator::RungeKutta45>(rules, p));
}

/// Bounds on the number of particles that are advanced at once, which under the asynchronous
/// schedule is one callback: enough to fill the lanes of the kernels, few enough to process
/// messages of other ranks soon.
constexpr std::size_t SmallestBatch = 64, LargestBatch = 2048;
/// A batch is this fraction of the particles in the block. If all were advanced at once, particles
/// would move in one group, and one rank would work while the others wait for it.
constexpr std::size_t BatchesPerBlock = 4;
/// Steps that a batch makes after it no longer fills the lanes. Without the limit, lines that stay
/// in a block would use a few lanes while all other particles wait.
constexpr std::int64_t ExtraSteps = 16;
/// A batch that fits into the lanes, for a call that ends soon.
constexpr std::size_t ShortBatch = 4;
/// With at most this many particles, a second thread costs more than it gains.
constexpr std::int64_t Grain = 64;
/// Seeds and searches between two checks for an abort.
constexpr std::int64_t SeedsPerPiece = 8192;

int stagesOf(Integrator integrator) {
  switch (integrator) {
    case Integrator::RungeKutta2:
      return 2;
    case Integrator::RungeKutta4:
      return 4;
    case Integrator::RungeKutta45:
      return 6;
  }
  throw Error(ErrorKind::Internal, "unknown integrator");
}

/// What changes if a block makes progress with an active particle.
auto progressIn(const Particle& p) {
  return std::make_tuple(p.status, p.block, p.steps, p.stage, p.h);
}

/// The particle of a seed, which seeks its cell.
Particle particleAt(const StepRules& rules, const Seed& seed) {
  Particle p{};
  if (rules.events.count > 0) p.events.emplace().begun = rules.interval ? seed.time : 0;
  std::memcpy(p.x, seed.x, sizeof seed.x);
  std::memcpy(p.target, seed.x, sizeof seed.x);
  p.time = seed.time;
  p.line = 2 * seed.id;
  p.cell = -1;
  p.face = Particle::AnyFace;
  p.status = Status::Seeking;
  return p;
}

/// A seed on its way to the first block that may hold it.
struct PlantedSeed {
  Seed seed;
  BlockId block;
};

/// The same, of a line that has begun before.
struct PlantedLine {
  PlantedSeed planted;
  LineProgress progress;
};
static_assert(sizeof(PlantedLine) == sizeof(PlantedSeed) + 16 + 4 * MostEvents,
              "no padding travels");

/// Gives a particle what its line has done before.
void setProgress(const LineProgress& progress, Particle& p) {
  p.length = progress.length;
  p.events->begun = progress.begun;
  std::copy_n(progress.count, MostEvents, p.events->count);
}

/// The callback of the exchange.
///
/// D. Morozov et al., "IExchange: Asynchronous Communication and Termination Detection for
/// Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009, Algorithm 6.
class Tracer {
 public:
  Tracer(Transport& transport, const Domain& domain, const TraceOptions& options)
      : transport_(transport),
        domain_(domain),
        options_(options),
        stages_(stagesOf(options.rules.integrator)),
        places_(domain, options.rules, transport.rank(), stages_, directions(),
                lends() ? &*options.lending : nullptr, options.parallelFor) {
    if (lends()) {
      LendingOptions lending = options.lending->options;
      if (options.lending->memory) lending.rates = options.lending->memory->rates;
      lending.timeline = options.exchange.timeline;
      desk_.emplace(transport, domain.assignment, places_, lending);
    }
    result_.logs.reserve(domain.blocks.size());  // finish() does not allocate
  }

  /// Addresses each seed to the rank of the first block that may hold it: add(rank, seed).
  template <class Add>
  void plant(Span<const Seed> seeds, Add&& add);
  void receiveSeeds(const Records<PlantedSeed>& seeds);
  /// The same for lines that continue others: these become particles at once.
  void receiveLines(const Records<PlantedLine>& lines);
  /// The blocks of the exchange.
  const Assignment& addresses() const {
    return desk_ ? desk_->desks().assignment() : domain_.assignment;
  }
  /// Gives calls the numbers of blocks instead of addresses.
  /// @param first  the first entry of this trace
  void renumber(Timeline& timeline, std::size_t first) const {
    if (desk_) tributary::renumber(timeline, first, desk_->desks());
  }
  /// The neighbors of this rank's blocks, by address.
  std::vector<std::vector<BlockId>> links() const;
  /// The callback. @param address  of a block or of this rank's desk
  bool step(BlockId address, Mailbox& mailbox);
  TraceResult finish();
  double progress() const {
    return planted_ ? std::min(1.0, static_cast<double>(result_.ends.size()) /
                                        static_cast<double>(planted_ * directions()))
                    : 0;
  }

 private:
  int directions() const { return int(options_.forward) + int(options_.backward); }
  /// Whether the line goes on from a known cell.
  bool continues(const Seed& seed) const { return seed.block >= 0 && directions() == 1; }
  bool hasRounds() const { return calledOncePerRound(options_.exchange.schedule); }
  /// With rounds, a call does all work that there is, and nothing is left to lend.
  bool lends() const { return options_.lending && transport_.size() > 1 && !hasRounds(); }
  BlockId addressOf(BlockId block) const { return desk_ ? desk_->desks().addressOf(block) : block; }

  /// The work of one call of the exchange.
  struct Portion {
    std::size_t limit;        // of particles
    std::int64_t extraSteps;  // see FieldBlock::advance
  };
  Portion portionOf(const Place& here) const;
  void work(Place& here);
  void plantHere(Place& here, std::size_t limit);
  Place& placeOf(const PlantedSeed& planted);
  void begin(Place& here, const Seed& seed, Particle&& p);
  [[nodiscard]] bool continueHere(Place& here, const Seed& seed, const Particle& begun);
  void receive(Place& here, Mailbox& mailbox);
  void search(Place& here);
  void conclude(Place& here, MigratingParticle& found);
  void advance(Place& here, const Portion& portion);
  void beginSearch(Place& here, Particle&& p);
  void handOver(Place& here, Particle&& p);
  void send(const MigratingParticle& migrating) {
    if (!domain_.assignment.exists(migrating.particle.block))
      refuseMessage("a particle for block " + std::to_string(migrating.particle.block));
    writeMigratingParticle(outgoing_[migrating.particle.block], migrating, stages_,
                           options_.rules.events.count);
    ++result_.handovers;
  }
  /// @param points  of the line, recorded on all ranks
  void end(const Particle& p, std::int32_t points, Reason reason) {
    LineEnd& end = result_.ends.emplace_back();
    end = {p.line, points, reason, {p.x[0], p.x[1], p.x[2]}, p.time};
    if (p.events)
      for (const std::int32_t count : p.events->count) end.crossings += count;
    end.length = p.length;
    if (reason != Reason::Event) return;
    end.event = p.events->candidate % MostEvents;
    end.target = detail::targetOf(options_.rules, p);
  }
  /// The particle has ended in a cell of a block.
  void endIn(const FieldBlock& block, const Particle& p, std::optional<TrajectoryLog>& log);

  Transport& transport_;
  const Domain& domain_;
  const TraceOptions& options_;
  const int stages_;
  Places places_;
  std::optional<LendingDesk> desk_;
  std::unordered_map<BlockId, Bytes> outgoing_;
  TraceResult result_;
  std::int64_t planted_ = 0;
};

template <class Add>
void Tracer::plant(Span<const Seed> seeds, Add&& add) {
  for (const Seed& seed : seeds) {
    if (planted_++ % SeedsPerPiece == 0) throwIfInterrupted(transport_);
    double image[3] = {seed.x[0], seed.x[1], seed.x[2]};
    wrapIntoPeriod(options_.rules, image);
    const BlockId block = continues(seed) ? seed.block : domain_.boxes.next(image, -1);
    if (block >= 0) {
      add(domain_.assignment.rankOf(block), PlantedSeed{seed, block});
      continue;
    }
    Particle p = particleAt(options_.rules, seed);
    if (options_.progressOf) setProgress(options_.progressOf(seed), p);
    if (options_.forward) end(p, 0, Reason::NotInitialized);
    ++p.line;
    if (options_.backward) end(p, 0, Reason::NotInitialized);
  }
}

/// Throws Error if a seed is malformed.
Place& Tracer::placeOf(const PlantedSeed& planted) {
  if (!places_.isOwn(planted.block)) refuseMessage("a seed for another rank's block");
  if (!isSeedId(planted.seed.id))
    refuseMessage("a seed with id " + std::to_string(planted.seed.id));
  return places_.ownAt(planted.block);
}

void Tracer::receiveLines(const Records<PlantedLine>& lines) {
  const Box& bounds = domain_.boxes.bounds();
  std::vector<std::pair<std::uint64_t, const PlantedLine*>> order;
  for (const PlantedLine& line : lines)
    order.emplace_back(mortonCode(bounds.lo.data(), bounds.hi.data(), line.planted.seed.x), &line);
  // As in receiveSeeds().
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& entry : order) {
    const auto& [planted, progress] = *entry.second;
    Place& here = placeOf(planted);
    requireCounts(progress.count, options_.rules.events.count);
    Particle p = particleAt(options_.rules, planted.seed);
    setProgress(progress, p);
    begin(here, planted.seed, std::move(p));
  }
  for (const auto& place : places_.own()) places_.update(*place);
}

void Tracer::receiveSeeds(const Records<PlantedSeed>& seeds) {
  for (const PlantedSeed& planted : seeds) placeOf(planted).seeds.push_back(planted.seed);
  for (const auto& place : places_.own()) {
    Place& here = *place;
    // Seeds near each other visit the same cells, which then are in the cache.
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    const Box& bounds = domain_.boxes.bounds();
    for (std::size_t i = 0; i < here.seeds.size(); ++i)
      order.emplace_back(mortonCode(bounds.lo.data(), bounds.hi.data(), here.seeds[i].x), i);
    // Particles are taken from the back.
    std::sort(order.begin(), order.end(), std::greater<>());
    std::vector<Seed> sorted;
    sorted.reserve(order.size());
    for (const auto& entry : order) sorted.push_back(here.seeds[entry.second]);
    here.seeds = std::move(sorted);
    places_.update(here);
  }
}

std::vector<std::vector<BlockId>> Tracer::links() const {
  std::vector<std::vector<BlockId>> links;
  for (const auto& block : domain_.blocks) {
    links.push_back(block->neighbors());
    for (BlockId& neighbor : links.back()) neighbor = addressOf(neighbor);
  }
  if (desk_) links.emplace_back();
  return links;
}

void Tracer::receive(Place& here, Mailbox& mailbox) {
  while (auto message = mailbox.dequeueView()) {
    Reader reader(message->payload);
    while (!reader.atEnd()) {
      MigratingParticle migrating =
          readMigratingParticle(reader, stages_, options_.rules.events.count);
      Particle& p = migrating.particle;
      p.block = here.block().id();
      if (p.status == Status::Seeking)
        here.seeking.push_back(std::move(migrating));
      else if (!here.add(std::move(p)))
        refuseMessage("a particle in cell " + std::to_string(p.cell) + ", which block " +
                      std::to_string(p.block) + " does not have");
    }
  }
}

/// Starts the search for the cell of a particle: it visits all blocks whose boxes hold the point,
/// in ascending order, and keeps the best match.
void Tracer::beginSearch(Place& here, Particle&& particle) {
  here.seeking.push_back({std::move(particle), {}});
  MigratingParticle& migrating = here.seeking.back();
  Particle& p = migrating.particle;
  p.status = Status::Seeking;
  double image[3] = {p.target[0], p.target[1], p.target[2]};
  wrapIntoPeriod(options_.rules, image);
  const BlockId next = domain_.boxes.next(image, -1);
  p.block = next;
  if (next >= 0 && places_.find(next)) return;
  if (next < 0)
    conclude(here, migrating);
  else
    send(migrating);
  here.seeking.pop_back();
}

void Tracer::search(Place& here) {
  std::vector<MigratingParticle> seeking;
  seeking.swap(here.seeking);
  const auto run = [&](std::int64_t begin, std::int64_t stop) {
    // All blocks on this rank that come next are searched at once, each for all its particles.
    std::vector<CellQuery> queries;
    std::vector<MigratingParticle*> askers;
    for (;;) {
      askers.clear();
      for (std::int64_t i = begin; i < stop; ++i) {
        MigratingParticle& migrating = seeking[index(i)];
        if (migrating.particle.block >= 0 && places_.find(migrating.particle.block))
          askers.push_back(&migrating);
      }
      if (askers.empty()) return;
      const auto blockOf = [](const MigratingParticle* asker) { return asker->particle.block; };
      std::stable_sort(askers.begin(), askers.end(),
                       [&](const auto* a, const auto* b) { return blockOf(a) < blockOf(b); });
      for (std::size_t first = 0, last = 0; first < askers.size(); first = last) {
        const BlockId next = blockOf(askers[first]);
        queries.clear();
        for (; last < askers.size() && blockOf(askers[last]) == next; ++last) {
          const double* const x = askers[last]->particle.target;
          queries.push_back({{x[0], x[1], x[2]}, askers[last]->best});
          wrapIntoPeriod(options_.rules, queries.back().point.data());
          queries.back().share = shareOfTarget(options_.rules, askers[last]->particle);
        }
        places_.find(next)->block().find(queries);
        for (std::size_t q = 0; q < queries.size(); ++q) {
          askers[first + q]->best = queries[q].best;
          askers[first + q]->particle.block = domain_.boxes.next(queries[q].point.data(), next);
        }
      }
    }
  };
  const auto all = static_cast<std::int64_t>(seeking.size());
  for (std::int64_t at = 0; at < all; at += SeedsPerPiece) {
    throwIfInterrupted(transport_);
    options_.parallelFor(
        std::min(SeedsPerPiece, all - at),
        [&](std::int64_t begin, std::int64_t stop) { run(at + begin, at + stop); });
  }
  for (MigratingParticle& migrating : seeking) {
    if (migrating.particle.block >= 0)
      send(migrating);
    else
      conclude(here, migrating);
  }
  if (here.seeking.empty()) {  // keep the memory
    seeking.clear();
    here.seeking.swap(seeking);
  }
}

/// An active particle goes on in another block, or in this one.
void Tracer::handOver(Place& here, Particle&& p) {
  const bool stays = p.block == here.block().id();
  // This rank's own blocks are called when they receive a message; copies are called anyway.
  Place* const next = stays ? &here : places_.copyOf(p.block);
  if (!next) return send({std::move(p), {}});
  if (!next->add(std::move(p)))
    refuseMessage(stays ? "a match in a cell that its block does not have"
                        : "a particle in a cell that a copy of its block does not have");
  if (stays) return;
  ++result_.handovers;
  places_.update(*next);
}

/// Ends the search for a particle's cell.
void Tracer::conclude(Place& here, MigratingParticle& migrating) {
  Particle& p = migrating.particle;
  const CellMatch& best = migrating.best;
  const auto deliver = [&] {
    p.status = Status::Active;
    p.block = best.block;
    p.cell = best.cell;
    p.face = Particle::Accept;
    p.crossings = 0;
    handOver(here, Particle(p));
  };
  if (p.stage != 0) {
    if (best.found()) {
      deliver();
    } else if (p.isAtEvent() && !isReturning(p)) {
      fallBack(p);
      handOver(here, std::move(p));
    } else {
      end(p, p.steps + 1, Reason::OutOfDomain);
    }
    return;
  }
  // A seed: one search serves both directions.
  for (const int backward : {0, 1}) {
    if (!(backward ? options_.backward : options_.forward)) continue;
    p.line = (p.line & ~std::int64_t(1)) | backward;
    if (best.found())
      deliver();
    else
      end(p, 0, Reason::NotInitialized);
  }
}

void Tracer::advance(Place& here, const Portion& portion) {
  const FieldBlock& block = here.block();
  // Taken out first: particles that stay here are appended to `later` meanwhile.
  here.take(portion.limit);
  std::vector<Particle>& taken = here.taken;
  const std::size_t count = taken.size();
  Particle* const batch = taken.data();
  const auto before = progressIn(batch[0]);
  StepRules rules = options_.rules;
  rules.block = &block;
  const auto run = [&](std::int64_t begin, std::int64_t stop) {
    TrajectoryLog log = here.logs.take(rules);
    block.advance(rules, {batch + begin, static_cast<std::size_t>(stop - begin)},
                  portion.extraSteps, log);
    here.logs.give(std::move(log));
  };
  if (static_cast<std::int64_t>(count) <= Grain)
    run(0, static_cast<std::int64_t>(count));
  else
    options_.parallelFor(static_cast<std::int64_t>(count), run);

  if (progressIn(batch[0]) == before)
    throw Error(ErrorKind::Internal, "a field block did not advance a particle");
  std::int64_t ended = 0;
  std::optional<TrajectoryLog> log;
  if (options_.recordEnds && options_.rules.interval && !options_.rules.record)
    log = here.logs.take(options_.rules);
  for (std::size_t i = 0; i < count; ++i) {
    Particle& p = batch[i];
    if (p.status == Status::Finished && p.isAtEvent() && !isReturning(p)) fallBack(p);
    if (p.status == Status::Active && p.block == block.id()) {
      here.later.push_back(std::move(p));
      continue;
    }
    ++ended;
    departFrom(block, p);
    switch (p.status) {
      case Status::Finished:
        endIn(block, p, log);
        break;
      case Status::Seeking:
        beginSearch(here, std::move(p));
        break;
      case Status::Active:
        handOver(here, std::move(p));
        break;
    }
  }
  if (log) here.logs.give(std::move(*log));
  here.meter.end(ended);
}

/// @param log  receives the last position if that is wanted
void Tracer::endIn(const FieldBlock& block, const Particle& p, std::optional<TrajectoryLog>& log) {
  // The seed and each accepted step recorded a point, unless the evaluation at the seed failed.
  end(p, p.stage == 0 && p.reason == Reason::UnexpectedValue ? 0 : p.steps + 1, p.reason);
  if (!options_.rules.interval || p.reason != Reason::OutOfTime) return;
  LineEnd& end = result_.ends.back();
  end.block = block.id();
  end.cell = block.leave(p.cell);
  if (log) log->append() = {{p.x[0], p.x[1], p.x[2]}, p.time, p.line, p.steps, p.cell};
}

Tracer::Portion Tracer::portionOf(const Place& here) const {
  if (hasRounds() || transport_.size() == 1)
    return {LargestBatch, FieldBlock::ToTheEnd};  // no rank waits for one of these particles
  // What the first call takes tells whether to lend.
  if (desk_ && (desk_->lending().isLending() || here.meter.secondsPerItem() == 0))
    return {ShortBatch, ExtraSteps};
  return {std::clamp(here.waiting() / BatchesPerBlock, SmallestBatch, LargestBatch), ExtraSteps};
}

/// One portion of the work that waits in a place; all of it, if there are rounds.
void Tracer::work(Place& here) {
  const double begin = transport_.now();
  const Portion portion = portionOf(here);
  do {
    throwIfInterrupted(transport_);
    plantHere(here, portion.limit);
    if (!here.seeking.empty()) search(here);
    if (!here.active.empty() || !here.later.empty()) advance(here, portion);
  } while (hasRounds() && here.waiting() > 0);
  here.meter.spend(transport_.now() - begin);
  places_.update(here);
}

bool Tracer::step(BlockId address, Mailbox& mailbox) {
  Place* here = nullptr;  // for the desk, unless there is work in copies
  if (!desk_ || !desk_->isHere(address)) {
    here = &places_.ownAt(desk_ ? desk_->desks().blockAt(address) : address);
    receive(*here, mailbox);
  }
  if (desk_) desk_->receive(mailbox);
  const bool atDesk = !here;
  if (atDesk) here = places_.nextWaitingCopy();
  if (here) work(*here);
  for (auto& [target, bytes] : outgoing_)
    if (!bytes.empty()) mailbox.enqueue(addressOf(target), std::exchange(bytes, Bytes()));
  if (desk_) desk_->settle(mailbox);
  return atDesk ? places_.anyCopyWaits() : here->waiting() > 0;
}

/// Makes an active particle of a seed whose cell is known.
/// @return false if a search must find its cell
bool Tracer::continueHere(Place& here, const Seed& seed, const Particle& begun) {
  if (seed.block != here.block().id() || seed.cell < 0 ||
      seed.cell > std::numeric_limits<std::int32_t>::max())
    return false;
  Particle p = begun;
  p.line += options_.backward;
  p.status = Status::Active;
  p.cell = static_cast<std::int32_t>(seed.cell);
  return here.add(std::move(p));
}

/// The particle of a seed goes on from its cell, or seeks it.
void Tracer::begin(Place& here, const Seed& seed, Particle&& p) {
  if (continues(seed)) {
    if (!continueHere(here, seed, p)) beginSearch(here, std::move(p));
    return;
  }
  p.block = here.block().id();
  here.seeking.push_back({std::move(p), {}});
}

/// Makes particles of waiting seeds, up to `limit` particles in the block.
void Tracer::plantHere(Place& here, std::size_t limit) {
  here.seeking.reserve(std::min(limit, here.seeking.size() + here.seeds.size()));
  while (!here.seeds.empty() && here.particles() < limit) {
    const Seed& seed = here.seeds.back();
    begin(here, seed, particleAt(options_.rules, seed));
    here.seeds.pop_back();
  }
}

TraceResult Tracer::finish() {
  const auto count = [&](const std::vector<TrajectoryLog>& logs) {
    for (const TrajectoryLog& log : logs) result_.points += static_cast<std::int64_t>(log.size());
  };
  LendingMemory* const memory = lends() ? options_.lending->memory : nullptr;
  const auto remember = [&](const Place& place) {
    const double seconds = place.meter.secondsPerItem();
    if (memory && seconds > 0) memory->secondsPerLine[place.block().id()] = seconds;
  };
  for (const auto& place : places_.own()) {
    remember(*place);
    result_.logs.push_back(place->logs.takeAll());
    count(result_.logs.back());
  }
  if (memory) memory->copies.clear();
  for (const auto& place : places_.takeCopies()) {
    remember(*place);
    if (memory) memory->copies.emplace(place->block().id(), place->copy());
    if (place->logs.all().empty()) continue;
    result_.borrowed.push_back({place->copy(), place->logs.takeAll()});
    count(result_.borrowed.back().logs);
  }
  if (desk_) {
    result_.lending = desk_->lending().statistics();
    if (memory) memory->rates = desk_->lending().rates();
  }
  return std::move(result_);
}

/// Throws Error if an interval is not valid.
void check(const TimeInterval& interval) {
  const double times = std::max(std::fabs(interval.begin), std::fabs(interval.end));
  // Steps must be far longer than the rounding errors of times.
  if (!(interval.end - interval.begin > 1e-10 * times) ||
      !std::isfinite(interval.end - interval.begin))
    throw Error("the interval begins at " + numberText(interval.begin) + " and ends at " +
                numberText(interval.end) +
                "; set StepRules::interval to finite times that are clearly apart, in this order");
  if (!(interval.begin <= interval.stop && interval.stop <= interval.end))
    throw Error("particles stop at " + numberText(interval.stop) + ", outside of the interval [" +
                numberText(interval.begin) + ", " + numberText(interval.end) +
                "]; set TimeInterval::stop to a time in it");
}

/// Throws Error if a rule is out of its range.
void check(const StepRules& rules) {
  if (rules.interval) check(*rules.interval);
  requireValid(rules.events);
  if (haveFields(rules.events) != (rules.fields != nullptr))
    throw Error(rules.fields ? "no event is of a field; leave StepRules::fields empty"
                             : "an event is of a field; set StepRules::fields");
  if (!(rules.initialStep > 0) || !std::isfinite(rules.initialStep))
    throw Error("the initial step is " + numberText(rules.initialStep) +
                "; set StepRules::initialStep to a positive number");
  if (rules.integrator == Integrator::RungeKutta45) {
    if (!std::isfinite(rules.minimumStep) || !std::isfinite(rules.maximumStep) ||
        !std::isfinite(rules.maximumError))
      throw Error("the minimum step is " + numberText(rules.minimumStep) + ", the maximum step " +
                  numberText(rules.maximumStep) + " and the maximum error " +
                  numberText(rules.maximumError) +
                  "; set StepRules::minimumStep, maximumStep and maximumError to finite numbers");
    const double minimum = rules.minimumStep > 0 ? rules.minimumStep : rules.initialStep;
    const double maximum = rules.maximumStep > 0 ? rules.maximumStep : rules.initialStep;
    if (minimum > maximum)
      throw Error("the minimum step " + numberText(minimum) + " exceeds the maximum step " +
                  numberText(maximum) +
                  "; set StepRules::minimumStep to at most StepRules::maximumStep");
  }
  if (!(rules.maximumLength > 0))
    throw Error("the maximum length is " + numberText(rules.maximumLength) +
                "; set StepRules::maximumLength to a positive number");
  if (!(rules.maximumTime > 0))
    throw Error("the maximum integration time is " + numberText(rules.maximumTime) +
                "; set StepRules::maximumTime to a positive number");
  if (rules.maximumSteps < 0 || rules.maximumSteps > std::numeric_limits<std::int32_t>::max() - 2)
    throw Error("the maximum number of steps is " + std::to_string(rules.maximumSteps) +
                "; set StepRules::maximumSteps to a number in [0, 2147483645]");
  if (!(rules.terminalSpeed >= 0))
    throw Error("the terminal speed is " + numberText(rules.terminalSpeed) +
                "; set StepRules::terminalSpeed to 0 or a positive number");
  for (int a = 0; a < 3; ++a)
    if (!(rules.period[a] >= 0) || !std::isfinite(rules.period[a]) ||
        !std::isfinite(rules.periodicOrigin[a]))
      throw Error("the period along axis " + std::to_string(a) + " is " +
                  numberText(rules.period[a]) + " from " + numberText(rules.periodicOrigin[a]) +
                  "; set StepRules::period to 0 or a positive number, and "
                  "StepRules::periodicOrigin to a finite one");
}

/// Throws Error if no line can have done this.
void check(const LineProgress& progress, const StepRules& rules, std::int64_t seed) {
  bool isValid =
      std::isfinite(progress.begun) && std::isfinite(progress.length) && progress.length >= 0;
  for (int e = 0; e < MostEvents; ++e)
    isValid =
        isValid && progress.count[e] >= 0 && (e < rules.events.count || progress.count[e] == 0);
  if (!isValid)
    throw Error("seed " + std::to_string(seed) + " continues a line of length " +
                numberText(progress.length) + " from the time " + numberText(progress.begun) +
                "; let TraceOptions::progressOf return what a trace with the same events has done");
}

}  // namespace

void requireValid(const TraceOptions& options, Span<const Seed> seeds) {
  check(options.rules);
  if (options.progressOf && !(options.rules.interval && options.rules.events.count > 0))
    throw Error(
        "lines continue others without events or in a steady field; leave TraceOptions::progressOf "
        "empty");
  if (!options.forward && !options.backward)
    throw Error("no direction to trace in; set TraceOptions::forward or backward");
  for (const Seed& seed : seeds) {
    if (!isSeedId(seed.id))
      throw Error("seed id " + std::to_string(seed.id) +
                  " is out of range; use ids in [0, 2^62 - 1]");
    const auto& interval = options.rules.interval;
    if (interval && !(interval->begin <= seed.time && seed.time <= interval->end))
      throw Error("seed " + std::to_string(seed.id) + " begins at " + numberText(seed.time) +
                  ", outside of the interval [" + numberText(interval->begin) + ", " +
                  numberText(interval->end) + "]; set Seed::time to a time in it");
    if (options.progressOf) check(options.progressOf(seed), options.rules, seed.id);
  }
}

void requireBlocks(const Transport& transport, const Domain& domain) {
  if (static_cast<std::int64_t>(domain.blocks.size()) != domain.assignment.count(transport.rank()))
    throw Error(
        "the domain's blocks differ from those that its assignment gives this rank; give the "
        "blocks of this rank");
}

TraceResult trace(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                  const TraceOptions& options) {
  std::optional<Tracer> tracer;
  collectively(transport, [&] {
    requireValid(options, seeds);
    if (options.rules.interval.has_value() != domain.unsteady && !domain.boxes.bounds().empty())
      throw Error(domain.unsteady ? "the field is unsteady; set StepRules::interval"
                                  : "the field is steady; leave StepRules::interval empty, or give "
                                    "laterVelocity for all pieces");
    if (options.rules.onSurface && std::any_of(domain.blocks.begin(), domain.blocks.end(),
                                               [](const auto& block) { return block->moves(); }))
      throw Error(
          "StepRules::onSurface is set and points move; particles stay on surfaces that do "
          "not move only");
    for (const Seed& seed : seeds)
      if (seed.block >= domain.assignment.total())
        throw Error("seed " + std::to_string(seed.id) + " is in block " +
                    std::to_string(seed.block) + " of " +
                    std::to_string(domain.assignment.total()) +
                    "; set Seed::block to LineEnd::block of a trace through the same blocks");
    requireBlocks(transport, domain);
    tracer.emplace(transport, domain, options);
  });

  std::vector<std::vector<BlockId>> links;
  if (options.progressOf)
    sendRecords<PlantedLine, allToAll>(
        transport,
        [&](RecordOutbox<PlantedLine>& outbox) {
          tracer->plant(seeds, [&](int rank, const PlantedSeed& planted) {
            outbox.add(rank, {planted, options.progressOf(planted.seed)});
          });
        },
        [&](Records<PlantedLine>& planted) {
          tracer->receiveLines(planted);
          links = tracer->links();
        });
  else
    sendRecords<PlantedSeed, allToAll>(
        transport,
        [&](RecordOutbox<PlantedSeed>& outbox) {
          tracer->plant(seeds,
                        [&](int rank, const PlantedSeed& planted) { outbox.add(rank, planted); });
        },
        [&](Records<PlantedSeed>& planted) {
          tracer->receiveSeeds(planted);
          links = tracer->links();
        });
  Timeline* const timeline = options.exchange.timeline;
  const std::size_t entries = timeline ? timeline->entries().size() : 0;
  Exchange exchange(
      transport, tracer->addresses(), std::move(links), options.exchange,
      [&](BlockId address, Mailbox& mailbox) { return tracer->step(address, mailbox); });
  exchange.run([&] { return !options.monitor || options.monitor(tracer->progress()); });
  if (timeline) tracer->renumber(*timeline, entries);
  TraceResult result = tracer->finish();
  result.statistics = exchange.statistics();
  result.aborted = exchange.aborted();
  return result;
}

}  // namespace tributary
