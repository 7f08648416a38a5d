// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Tracer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "Tributary/Advection/detail/ParticleMessage.h"
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

/// Lines are numbered by twice the id of their seed.
bool isSeedId(std::int64_t id) {
  return id >= 0 && id <= std::numeric_limits<std::int64_t>::max() / 2;
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

/// The logs of one block. A thread takes one while it advances particles there.
class LogPool {
 public:
  TrajectoryLog take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) return {};
    TrajectoryLog log = std::move(free_.back());
    free_.pop_back();
    return log;
  }
  void give(TrajectoryLog log) {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(std::move(log));
  }
  std::vector<TrajectoryLog> takeAll() { return std::move(free_); }

 private:
  std::mutex mutex_;
  std::vector<TrajectoryLog> free_;
};

/// Whether the block made no progress with a particle: no step, stage or change of the step size.
bool isUnchanged(const Particle& before, const Particle& p) {
  return p.status == Status::Active && p.block == before.block && p.steps == before.steps &&
         p.stage == before.stage && p.h == before.h;
}

/// The particles and seeds that wait in one block.
struct Waiting {
  std::vector<Particle> active;  // advanced first
  std::vector<Particle> later;   // arrived since; advanced after all of `active`
  std::vector<Particle> taken;   // being advanced; kept for its memory
  std::vector<MigratingParticle> seeking;
  std::vector<Seed> seeds;  // made particles as late as possible: a seed is far smaller
  LogPool logs;

  std::size_t particles() const { return active.size() + later.size() + seeking.size(); }
};

/// A seed on its way to the first block that may hold it.
struct PlantedSeed {
  Seed seed;
  BlockId block;
};

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
        first_(domain.assignment.first(transport.rank())),
        waiting_(domain.blocks.size()) {
    result_.logs.reserve(domain.blocks.size());  // finish() does not allocate
  }

  /// Addresses each seed to the rank of the first block that may hold it.
  void plant(Span<const Seed> seeds, RecordOutbox<PlantedSeed>& outbox);
  void receiveSeeds(const Records<PlantedSeed>& seeds);
  bool step(BlockId block, Mailbox& mailbox);
  TraceResult finish();
  double progress() const {
    return planted_ ? std::min(1.0, static_cast<double>(result_.ends.size()) /
                                        static_cast<double>(planted_ * directions()))
                    : 0;
  }

 private:
  int directions() const { return int(options_.forward) + int(options_.backward); }
  bool isLocal(BlockId block) const {
    return block >= first_ && block < first_ + static_cast<BlockId>(domain_.blocks.size());
  }
  const FieldBlock& local(BlockId block) const { return *domain_.blocks[index(block - first_)]; }

  /// The work of one call of the exchange.
  struct Portion {
    std::size_t limit;        // of particles
    std::int64_t extraSteps;  // see FieldBlock::advance
  };
  Portion portionOf(const Waiting& here) const;
  void plantHere(Waiting& here, BlockId block, std::size_t limit);
  void receive(Waiting& here, const FieldBlock& block, Mailbox& mailbox);
  void search(Waiting& here, BlockId block);
  void conclude(Waiting& here, BlockId block, MigratingParticle& found);
  void take(Waiting& here, std::size_t limit);
  void advance(Waiting& here, const FieldBlock& block, const Portion& portion);
  void beginSearch(Waiting& here, BlockId block, Particle p);
  void send(const MigratingParticle& migrating) {
    writeMigratingParticle(outgoing_[migrating.particle.block], migrating, stages_);
    ++result_.handovers;
  }
  void end(std::int64_t line, std::int32_t points, Reason reason) {
    result_.ends.push_back({line, points, reason});
  }

  Transport& transport_;
  const Domain& domain_;
  const TraceOptions& options_;
  const int stages_;
  const BlockId first_;
  std::vector<Waiting> waiting_;
  std::unordered_map<BlockId, Bytes> outgoing_;
  TraceResult result_;
  std::int64_t planted_ = 0;
};

void Tracer::plant(Span<const Seed> seeds, RecordOutbox<PlantedSeed>& outbox) {
  for (const Seed& seed : seeds) {
    if (planted_++ % SeedsPerPiece == 0) throwIfInterrupted(transport_);
    double image[3] = {seed.x[0], seed.x[1], seed.x[2]};
    wrapIntoPeriod(options_.rules, image);
    const BlockId block = domain_.boxes.next(image, -1);
    if (block >= 0) {
      outbox.add(domain_.assignment.rankOf(block), {seed, block});
      continue;
    }
    if (options_.forward) end(2 * seed.id, 0, Reason::NotInitialized);
    if (options_.backward) end(2 * seed.id + 1, 0, Reason::NotInitialized);
  }
}

void Tracer::receiveSeeds(const Records<PlantedSeed>& seeds) {
  for (const PlantedSeed& planted : seeds) {
    if (!isLocal(planted.block)) refuseMessage("a seed for another rank's block");
    if (!isSeedId(planted.seed.id))
      refuseMessage("a seed with id " + std::to_string(planted.seed.id));
    waiting_[index(planted.block - first_)].seeds.push_back(planted.seed);
  }
  for (Waiting& here : waiting_) {
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
  }
}

void Tracer::receive(Waiting& here, const FieldBlock& block, Mailbox& mailbox) {
  while (auto message = mailbox.dequeueView()) {
    Reader reader(message->payload);
    while (!reader.atEnd()) {
      MigratingParticle migrating = readMigratingParticle(reader, stages_);
      Particle& p = migrating.particle;
      p.block = block.id();
      if (p.status == Status::Seeking) {
        here.seeking.push_back(migrating);
        continue;
      }
      const std::int32_t cell = p.cell;
      if (!block.enter(p))
        refuseMessage("a particle in cell " + std::to_string(cell) + ", which block " +
                      std::to_string(block.id()) + " does not have");
      here.later.push_back(p);
    }
  }
}

/// Starts the search for the cell of a particle: it visits all blocks whose boxes hold the point,
/// in ascending order, and keeps the best match.
void Tracer::beginSearch(Waiting& here, BlockId block, Particle p) {
  MigratingParticle migrating{p, {}};
  migrating.particle.status = Status::Seeking;
  double image[3] = {p.target[0], p.target[1], p.target[2]};
  wrapIntoPeriod(options_.rules, image);
  const BlockId next = domain_.boxes.next(image, -1);
  migrating.particle.block = next;
  if (next < 0)
    conclude(here, block, migrating);
  else if (isLocal(next))
    here.seeking.push_back(migrating);
  else
    send(migrating);
}

void Tracer::search(Waiting& here, BlockId block) {
  std::vector<MigratingParticle> seeking;
  seeking.swap(here.seeking);
  const auto run = [&](std::int64_t begin, std::int64_t stop) {
    // All blocks of this rank that come next are searched at once, each for all its particles.
    std::vector<CellQuery> queries;
    std::vector<MigratingParticle*> askers;
    for (;;) {
      askers.clear();
      for (std::int64_t i = begin; i < stop; ++i) {
        MigratingParticle& migrating = seeking[index(i)];
        if (migrating.particle.block >= 0 && isLocal(migrating.particle.block))
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
        }
        local(next).find(queries);
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
      conclude(here, block, migrating);
  }
}

/// Ends the search for a particle's cell.
void Tracer::conclude(Waiting& here, BlockId block, MigratingParticle& migrating) {
  Particle& p = migrating.particle;
  const CellMatch& best = migrating.best;
  const auto deliver = [&](Particle particle) {
    particle.status = Status::Active;
    particle.block = best.block;
    particle.cell = best.cell;
    particle.face = Particle::Accept;
    particle.crossings = 0;
    if (particle.block == block) {
      if (!local(block).enter(particle))
        refuseMessage("a match in a cell that its block does not have");
      here.later.push_back(particle);
    } else
      send({particle, {}});
  };
  if (p.stage != 0) {
    if (best.found())
      deliver(p);
    else
      end(p.line, p.steps + 1, Reason::OutOfDomain);
    return;
  }
  // A seed: one search serves both directions.
  for (const int backward : {0, 1}) {
    if (!(backward ? options_.backward : options_.forward)) continue;
    p.line = (p.line & ~std::int64_t(1)) | backward;
    if (best.found())
      deliver(p);
    else
      end(p.line, 0, Reason::NotInitialized);
  }
}

/// Moves at most `limit` waiting particles to `taken`.
void Tracer::take(Waiting& here, std::size_t limit) {
  here.taken.clear();
  for (int generation = 0; generation < 2 && here.taken.size() < limit; ++generation) {
    if (here.active.empty()) here.active.swap(here.later);
    if (here.taken.empty() && here.active.size() <= limit) {
      here.taken.swap(here.active);
      continue;
    }
    const auto count = std::min(here.active.size(), limit - here.taken.size());
    const auto first = here.active.end() - static_cast<std::ptrdiff_t>(count);
    here.taken.insert(here.taken.end(), first, here.active.end());
    here.active.erase(first, here.active.end());
  }
}

void Tracer::advance(Waiting& here, const FieldBlock& block, const Portion& portion) {
  // Taken out first: particles that stay here are appended to `later` meanwhile.
  take(here, portion.limit);
  std::vector<Particle>& taken = here.taken;
  const std::size_t count = taken.size();
  Particle* const batch = taken.data();
  const Particle first = batch[0];
  const auto run = [&](std::int64_t begin, std::int64_t stop) {
    TrajectoryLog log = here.logs.take();
    block.advance(options_.rules, {batch + begin, static_cast<std::size_t>(stop - begin)},
                  portion.extraSteps, log);
    here.logs.give(std::move(log));
  };
  if (static_cast<std::int64_t>(count) <= Grain)
    run(0, static_cast<std::int64_t>(count));
  else
    options_.parallelFor(static_cast<std::int64_t>(count), run);

  if (isUnchanged(first, batch[0]))
    throw Error(ErrorKind::Internal, "a field block did not advance a particle");
  for (std::size_t i = 0; i < count; ++i) {
    const Particle& p = batch[i];
    switch (p.status) {
      case Status::Finished:
        // The seed and each accepted step recorded a point, unless the evaluation at the seed
        // failed.
        end(p.line, p.stage == 0 && p.reason == Reason::UnexpectedValue ? 0 : p.steps + 1,
            p.reason);
        break;
      case Status::Seeking:
        beginSearch(here, block.id(), p);
        break;
      case Status::Active:
        if (p.block == block.id())
          here.later.push_back(p);
        else
          send({p, {}});
        break;
    }
  }
}

Tracer::Portion Tracer::portionOf(const Waiting& here) const {
  if (calledOncePerRound(options_.exchange.schedule) || transport_.size() == 1)
    return {LargestBatch, FieldBlock::ToTheEnd};  // no rank waits for one of these particles
  const std::size_t all = here.particles() + here.seeds.size();
  return {std::clamp(all / BatchesPerBlock, SmallestBatch, LargestBatch), ExtraSteps};
}

bool Tracer::step(BlockId blockId, Mailbox& mailbox) {
  const FieldBlock& block = local(blockId);
  Waiting& here = waiting_[index(blockId - first_)];
  receive(here, block, mailbox);
  const Portion portion = portionOf(here);
  const auto isWaiting = [&] { return here.particles() > 0 || !here.seeds.empty(); };
  do {
    throwIfInterrupted(transport_);
    plantHere(here, blockId, portion.limit);
    if (!here.seeking.empty()) search(here, blockId);
    if (!here.active.empty() || !here.later.empty()) advance(here, block, portion);
  } while (calledOncePerRound(options_.exchange.schedule) && isWaiting());
  for (auto& [target, bytes] : outgoing_)
    if (!bytes.empty()) mailbox.enqueue(target, std::exchange(bytes, Bytes()));
  return isWaiting();
}

/// Makes particles of waiting seeds, up to `limit` particles in the block.
void Tracer::plantHere(Waiting& here, BlockId blockId, std::size_t limit) {
  while (!here.seeds.empty() && here.particles() < limit) {
    const Seed& seed = here.seeds.back();
    MigratingParticle migrating{};
    Particle& p = migrating.particle;
    std::memcpy(p.x, seed.x, sizeof seed.x);
    std::memcpy(p.target, seed.x, sizeof seed.x);
    p.line = 2 * seed.id;
    p.block = blockId;
    p.cell = -1;
    p.face = Particle::AnyFace;
    p.status = Status::Seeking;
    here.seeking.push_back(migrating);
    here.seeds.pop_back();
  }
}

TraceResult Tracer::finish() {
  for (Waiting& here : waiting_) {
    result_.logs.push_back(here.logs.takeAll());
    for (const TrajectoryLog& log : result_.logs.back())
      result_.points += static_cast<std::int64_t>(log.size());
  }
  return std::move(result_);
}

/// Throws Error if a rule is out of its range.
void check(const StepRules& rules) {
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

}  // namespace

TraceResult trace(Transport& transport, const Domain& domain, Span<const Seed> seeds,
                  const TraceOptions& options) {
  std::optional<Tracer> tracer;
  collectively(transport, [&] {
    check(options.rules);
    if (!options.forward && !options.backward)
      throw Error("no direction to trace in; set TraceOptions::forward or backward");
    for (const Seed& seed : seeds)
      if (!isSeedId(seed.id))
        throw Error("seed id " + std::to_string(seed.id) +
                    " is out of range; use ids in [0, 2^62 - 1]");
    if (static_cast<std::int64_t>(domain.blocks.size()) !=
        domain.assignment.count(transport.rank()))
      throw Error(
          "the domain's blocks differ from those that its assignment gives this rank; give the "
          "blocks of this rank");
    tracer.emplace(transport, domain, options);
  });

  std::vector<std::vector<BlockId>> links;
  sendRecords<PlantedSeed, allToAll>(
      transport, [&](RecordOutbox<PlantedSeed>& outbox) { tracer->plant(seeds, outbox); },
      [&](Records<PlantedSeed>& planted) {
        tracer->receiveSeeds(planted);
        for (const auto& block : domain.blocks) links.push_back(block->neighbors());
      });
  Exchange exchange(transport, domain.assignment, std::move(links), options.exchange,
                    [&](BlockId block, Mailbox& mailbox) { return tracer->step(block, mailbox); });
  exchange.run([&] { return !options.monitor || options.monitor(tracer->progress()); });
  TraceResult result = tracer->finish();
  result.statistics = exchange.statistics();
  result.aborted = exchange.aborted();
  return result;
}

}  // namespace tributary
