// SPDX-License-Identifier: BSD-3-Clause
#include "Exchange/Neighborhood.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <numeric>

#include "Exchange/SlowBlockFlow.h"
#include "Support/InterleavedComparison.h"
#include "Support/Mpi.h"
#include "Support/RandomWalks.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Mpi.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::ExchangeStatistics;
using tributary::Schedule;
using tributary::Transport;

/// The ABC flow (Arnold, Beltrami, Childress) with A = sqrt(3), B = sqrt(2), C = 1, sampled on a
/// grid and interpolated: tubes in which particles are carried far, and chaos between them.
/// Lengths are in edges of the domain, a cube; velocities are scaled to a mean square of 1.
class AbcField {
 public:
  AbcField() : points_(static_cast<std::size_t>(Points * Points * Points)) {
    const double scale = 1 / std::sqrt(6.0);
    for (int k = 0; k < Points; ++k) {
      for (int j = 0; j < Points; ++j) {
        for (int i = 0; i < Points; ++i) {
          const double x = angle(i), y = angle(j), z = angle(k);
          points_[index(i, j, k)] = {
              static_cast<float>(scale * (std::sqrt(3.0) * std::sin(z) + std::cos(y))),
              static_cast<float>(scale *
                                 (std::sqrt(2.0) * std::sin(x) + std::sqrt(3.0) * std::cos(z))),
              static_cast<float>(scale * (std::sin(y) + std::sqrt(2.0) * std::cos(x)))};
        }
      }
    }
  }

  /// @pre x in the domain, or a step outside: there it is moved to the boundary
  void operator()(const float x[3], float v[3]) const {
    int cell[3];
    float f[3];
    for (int a = 0; a < 3; ++a) {
      const float local = std::min(std::max(x[a], 0.0f), 1.0f) * static_cast<float>(Points - 1);
      cell[a] = std::min(static_cast<int>(local), Points - 2);
      f[a] = local - static_cast<float>(cell[a]);
    }
    const std::array<float, 3>* p = &points_[index(cell[0], cell[1], cell[2])];
    constexpr int Row = Points, Slab = Points * Points;
    for (std::size_t c = 0; c < 3; ++c) {
      const float v00 = p[0][c] + f[0] * (p[1][c] - p[0][c]);
      const float v10 = p[Row][c] + f[0] * (p[Row + 1][c] - p[Row][c]);
      const float v01 = p[Slab][c] + f[0] * (p[Slab + 1][c] - p[Slab][c]);
      const float v11 = p[Slab + Row][c] + f[0] * (p[Slab + Row + 1][c] - p[Slab + Row][c]);
      const float v0 = v00 + f[1] * (v10 - v00), v1 = v01 + f[1] * (v11 - v01);
      v[c] = v0 + f[2] * (v1 - v0);
    }
  }

 private:
  static constexpr int Points = 65;
  static double angle(int i) { return 2 * 3.14159265358979323846 * i / (Points - 1); }
  static std::size_t index(int i, int j, int k) {
    return static_cast<std::size_t>(i + Points * (j + Points * k));
  }
  std::vector<std::array<float, 3>> points_;
};

/// The domain cut into a lattice of ranks, and each rank's part into a lattice of blocks.
class Lattice {
 public:
  Lattice(int ranks, int blocksPerRank)
      : ranks_(nearCube(ranks)), inner_(nearCube(blocksPerRank)), perRank_(blocksPerRank) {
    for (int a = 0; a < 3; ++a) blocks_[a] = ranks_[a] * inner_[a];
  }

  const std::array<int, 3>& blocks() const { return blocks_; }
  BlockId id(const std::array<int, 3>& place) const {
    std::int64_t rank = 0, local = 0;
    for (int a = 2; a >= 0; --a) {
      rank = rank * ranks_[a] + place[a] / inner_[a];
      local = local * inner_[a] + place[a] % inner_[a];
    }
    return rank * perRank_ + local;
  }
  std::array<int, 3> place(BlockId block) const {
    std::array<int, 3> place;
    std::int64_t rank = block / perRank_, local = block % perRank_;
    for (int a = 0; a < 3; ++a) {
      place[a] = static_cast<int>(rank % ranks_[a] * inner_[a] + local % inner_[a]);
      rank /= ranks_[a];
      local /= inner_[a];
    }
    return place;
  }
  /// Of a point. @return false if it is outside of the domain
  bool find(const float x[3], std::array<int, 3>& place) const {
    for (int a = 0; a < 3; ++a) {
      if (!(x[a] >= 0 && x[a] < 1)) return false;
      place[a] = std::min(static_cast<int>(x[a] * static_cast<float>(blocks_[a])), blocks_[a] - 1);
    }
    return true;
  }
  /// All up to 26 blocks around one.
  std::vector<BlockId> links(BlockId block) const {
    std::vector<BlockId> result;
    const auto middle = place(block);
    for (int offset = 0; offset < 27; ++offset) {
      const std::array<int, 3> at = {
          {middle[0] + offset % 3 - 1, middle[1] + offset / 3 % 3 - 1, middle[2] + offset / 9 - 1}};
      bool inside = offset != 13;
      for (int a = 0; a < 3; ++a) inside = inside && at[a] >= 0 && at[a] < blocks_[a];
      if (inside) result.push_back(id(at));
    }
    return result;
  }

 private:
  std::array<int, 3> ranks_, inner_, blocks_;
  std::int64_t perRank_;
};

/// The data of a run that all ranks have.
struct Problem {
  Problem(const NeighborhoodOptions& given, const AbcField& velocity, int ranks)
      : options(given),
        field(velocity),
        lattice(ranks, given.blocksPerRank),
        assignment(std::vector<std::int64_t>(static_cast<std::size_t>(ranks), given.blocksPerRank)),
        seeds(static_cast<std::size_t>(assignment.total())),
        duration(static_cast<float>(given.stepCells / 2048)) {
    for (std::int64_t id = 0; id < given.particles; ++id) {
      Tracer particle{};
      particle.id = id;
      for (int a = 0; a < 3; ++a) {
        const std::uint64_t random =
            scatter((given.seed << 40) + 3 * static_cast<std::uint64_t>(id) +
                    static_cast<std::uint64_t>(a) + 1);
        const double share = static_cast<double>(scatter(random * 0x9e3779b97f4a7c15u) >> 40) /
                             static_cast<double>(1 << 24);
        particle.x[a] = static_cast<float>(0.5 + given.seedBox * (share - 0.5));
      }
      std::array<int, 3> place;
      if (lattice.find(particle.x, place)) {
        seeds[static_cast<std::size_t>(lattice.id(place))].push_back(particle);
      }
    }
  }

  const NeighborhoodOptions& options;
  const AbcField& field;
  Lattice lattice;
  tributary::Assignment assignment;
  std::vector<std::vector<Tracer>> seeds;  // by block
  float duration;                          // of a step

  /// Traces until the particle leaves its block or has ended. @return the next block, or -1
  BlockId trace(BlockId block, Tracer& particle) const {
    const auto here = lattice.place(block);
    std::array<int, 3> place = here;
    bool inside = true;
    while (inside && place == here && particle.steps < options.steps) {
      step(particle.x);
      ++particle.steps;
      inside = lattice.find(particle.x, place);
    }
    return inside && particle.steps < options.steps ? lattice.id(place) : -1;
  }

 private:
  /// Runge-Kutta of fourth order.
  void step(float x[3]) const {
    const float h = duration;
    float k1[3], k2[3], k3[3], k4[3], y[3];
    field(x, k1);
    for (int a = 0; a < 3; ++a) y[a] = x[a] + 0.5f * h * k1[a];
    field(y, k2);
    for (int a = 0; a < 3; ++a) y[a] = x[a] + 0.5f * h * k2[a];
    field(y, k3);
    for (int a = 0; a < 3; ++a) y[a] = x[a] + h * k3[a];
    field(y, k4);
    for (int a = 0; a < 3; ++a) x[a] += h / 6 * (k1[a] + 2 * (k2[a] + k3[a]) + k4[a]);
  }
};

/// The points where particles leave blocks. Paths are the same in all runs, and so is their time on
/// a simulated clock, so only the first run computes them.
class Legs {
 public:
  explicit Legs(std::int64_t particles) : ends_(static_cast<std::size_t>(particles)) {}

  BlockId trace(const Problem& problem, BlockId block, Tracer& particle) {
    std::vector<Leg>& legs = ends_[static_cast<std::size_t>(particle.id)];
    const auto known = std::find_if(legs.begin(), legs.end(),
                                    [&](const Leg& leg) { return leg.end.steps > particle.steps; });
    if (known != legs.end()) {
      particle = known->end;
      return known->next;
    }
    const BlockId next = problem.trace(block, particle);
    legs.push_back({particle, next});
    return next;
  }

 private:
  struct Leg {
    Tracer end;
    BlockId next;
  };
  std::vector<std::vector<Leg>> ends_;
};

/// How long a simulated rank computes. A share of the ranks is slow: the same ranks always, or
/// drawn anew for each rank and interval of time.
class Slowness {
 public:
  Slowness(const NeighborhoodOptions& options, int ranks) : options_(options) {
    if (options.slowSeconds > 0) return;
    std::vector<int> order(static_cast<std::size_t>(ranks));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return draw(a, 0) < draw(b, 0); });
    order.resize(static_cast<std::size_t>(std::ceil(options.slowShare * ranks)));
    always_.resize(static_cast<std::size_t>(ranks));
    for (const int rank : order) always_[static_cast<std::size_t>(rank)] = true;
  }

  /// The time on `rank`, from now on, for work that takes other ranks `work` seconds.
  double seconds(int rank, double now, double work) const {
    if (options_.slowSeconds <= 0) {
      return work * (always_[static_cast<std::size_t>(rank)] ? options_.slowness : 1);
    }
    double at = now;
    for (auto interval = static_cast<std::int64_t>(now / options_.slowSeconds); work > 0;
         ++interval) {
      const bool slow =
          static_cast<double>(draw(rank, interval) >> 11) < options_.slowShare * 0x1p53;
      const double factor = slow ? options_.slowness : 1;
      const double end = static_cast<double>(interval + 1) * options_.slowSeconds;
      const double passed = std::min(work * factor, std::max(end - at, 0.0));
      work -= passed / factor;
      at += passed;
      if (at < end) break;
    }
    return at - now;
  }

 private:
  std::uint64_t draw(int rank, std::int64_t interval) const {
    constexpr std::uint64_t Odd = 0x9e3779b97f4a7c15u;
    return scatter((scatter((options_.seed + 1) * Odd + static_cast<std::uint64_t>(rank)) +
                    static_cast<std::uint64_t>(interval) + 1) *
                   Odd);
  }

  const NeighborhoodOptions& options_;
  std::vector<bool> always_;  // slow, by rank; none if they change
};

/// Data that all ranks of a simulation share.
struct Simulation {
  Legs legs;
  Slowness slowness;
};

/// The result of a rank.
struct Traced {
  double seconds = 0;
  std::uint64_t hash = 0;
  std::int64_t steps = 0;
  std::int64_t hops = 0;
  ExchangeStatistics statistics;
};

/// One rank's part.
class RankTracing {
 public:
  /// @param simulation  null: everything is computed, in real time
  RankTracing(const Problem& problem, Transport& transport, Simulation* simulation)
      : problem_(problem), transport_(transport), simulation_(simulation) {}

  Traced run(const tributary::ExchangeOptions& options) {
    const BlockId first = problem_.assignment.first(transport_.rank());
    const BlockId count = problem_.assignment.count(transport_.rank());
    std::vector<std::vector<BlockId>> links;
    for (BlockId block = first; block < first + count; ++block) {
      links.push_back(problem_.lattice.links(block));
    }
    std::vector<bool> begun(links.size(), false);
    const auto step = [&](BlockId block, tributary::Mailbox& mailbox) {
      const auto local = static_cast<std::size_t>(block - first);
      if (!begun[local]) {
        begun[local] = true;
        for (const Tracer& seed : problem_.seeds[static_cast<std::size_t>(block)]) {
          trace(block, seed, mailbox);
        }
      }
      while (const auto message = mailbox.dequeueView()) {
        trace(block, tributary::Reader(message->payload).value<Tracer>(), mailbox);
      }
      return false;
    };
    traced_.seconds =
        timeExchange(transport_, problem_.assignment, links, options, step, traced_.statistics);
    return traced_;
  }

 private:
  void trace(BlockId block, Tracer particle, tributary::Mailbox& mailbox) {
    const std::int32_t before = particle.steps;
    BlockId next;
    if (simulation_ == nullptr) {
      next = problem_.trace(block, particle);
    } else {
      next = simulation_->legs.trace(problem_, block, particle);
      transport_.spend(
          simulation_->slowness.seconds(transport_.rank(), transport_.now(),
                                        problem_.options.stepSeconds * (particle.steps - before)));
    }
    traced_.steps += particle.steps - before;
    if (next >= 0) {
      ++traced_.hops;
      mailbox.enqueue(next, particle);
    } else {
      traced_.hash += hashOf(particle);
    }
  }

  const Problem& problem_;
  Transport& transport_;
  Simulation* simulation_;
  Traced traced_;
};

/// All ranks together.
struct Outcome {
  double seconds = 0;         // of the slowest
  double busiestSeconds = 0;  // in callbacks, of the rank that computed longest
  double idleShare = 0;       // of all ranks' time
  std::uint64_t hash = 0;
  std::int64_t steps = 0;
  std::int64_t hops = 0;
  std::int64_t rounds = 0;
  std::int64_t messages = 0;
  std::int64_t batches = 0;
};

Outcome total(const std::vector<Traced>& ranks) {
  Outcome outcome;
  for (const Traced& rank : ranks) {
    outcome.seconds = std::max(outcome.seconds, rank.seconds);
    outcome.busiestSeconds = std::max(outcome.busiestSeconds, rank.statistics.computingSeconds);
    outcome.idleShare += rank.statistics.idleSeconds;
    outcome.hash += rank.hash;
    outcome.steps += rank.steps;
    outcome.hops += rank.hops;
    outcome.rounds = std::max(outcome.rounds, rank.statistics.rounds);
    outcome.messages += rank.statistics.messages;
    outcome.batches += rank.statistics.batches;
  }
  outcome.idleShare /= outcome.seconds * static_cast<double>(ranks.size());
  return outcome;
}

Outcome simulate(const Problem& problem, Simulation& simulation,
                 const tributary::ExchangeOptions& options) {
  tributary::VirtualTimeNetworkOptions network;
  network.ranks = problem.assignment.ranks();
  network.ranksPerNode = problem.options.ranksPerNode;
  const auto net = tributary::makeVirtualTimeNetwork(network);
  std::vector<Traced> traced(static_cast<std::size_t>(network.ranks));
  net->run([&](Transport& transport) {
    traced[static_cast<std::size_t>(transport.rank())] =
        RankTracing(problem, transport, &simulation).run(options);
  });
  if (!net->left().empty()) {
    throw tributary::Error("the exchange left messages in the network: " + net->left());
  }
  return total(traced);
}

struct Way {
  std::string schedule;
  double arrivals;  // or NaN
  tributary::ExchangeOptions options;
  std::vector<Outcome> outcomes{};

  double seconds() const {
    std::vector<double> values;
    for (const Outcome& outcome : outcomes) values.push_back(outcome.seconds);
    return median(values);
  }
};

std::vector<Way> waysOf(const NeighborhoodOptions& options) {
  std::vector<Way> ways;
  const auto add = [&](const char* name, Schedule schedule, double arrivals) {
    tributary::ExchangeOptions exchange;
    exchange.schedule = schedule;
    exchange.detector = options.detector;
    if (schedule == Schedule::Neighborhood) exchange.arrivals = arrivals;
    ways.push_back({name, arrivals, exchange});
  };
  add("Synchronous", Schedule::Synchronous, std::nan(""));
  for (const double arrivals : options.arrivals) {
    add("Neighborhood", Schedule::Neighborhood, arrivals);
  }
  add("Asynchronous", Schedule::Asynchronous, std::nan(""));
  return ways;
}

/// Runs all ways of one number of ranks. @return the line on the best of them
std::string measure(const NeighborhoodOptions& options, const AbcField& field, int ranks,
                    Transport* world, Report& report) {
  const Problem problem(options, field, ranks);
  Simulation simulation{Legs(options.particles), Slowness(options, ranks)};
  std::vector<Way> ways = waysOf(options);
  for (int repetition = 0; repetition < options.repeat; ++repetition) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      // Every other time backwards, so that nothing always follows the same.
      Way& way = ways[repetition % 2 ? ways.size() - 1 - i : i];
      way.outcomes.push_back(
          world == nullptr ? simulate(problem, simulation, way.options)
                           : total(tributary::allgather(
                                 *world, RankTracing(problem, *world, nullptr).run(way.options))));
      const Outcome& first = ways[0].outcomes[0];
      const Outcome& last = way.outcomes.back();
      if (last.hash != first.hash || last.steps != first.steps || last.hops != first.hops) {
        throw tributary::Error(way.schedule +
                               ": end points differ from those of the first schedule");
      }
    }
  }
  const Way* full = nullptr;
  const Way* best = nullptr;
  for (const Way& way : ways) {
    if (std::isnan(way.arrivals)) continue;
    if (way.arrivals == 1) full = &way;
    if (best == nullptr || way.seconds() < best->seconds()) best = &way;
  }
  for (const Way& way : ways) {
    const Outcome& outcome = way.outcomes.front();
    std::vector<double> times;
    for (const Outcome& o : way.outcomes) times.push_back(o.seconds);
    report.add(
        {{"ranks", ranks},
         {"schedule", way.schedule},
         {"arrivals", way.arrivals},
         {"ms", way.seconds() * 1e3},
         {"speedup over 1.0", full == nullptr ? std::nan("") : full->seconds() / way.seconds()},
         {"busiest ms", outcome.busiestSeconds * 1e3},
         {"idle %", outcome.idleShare * 100},
         {"rounds", outcome.rounds},
         {"hops", outcome.hops},
         {"messages", outcome.messages},
         {"batches", outcome.batches},
         {"steps", outcome.steps},
         {"seconds", times}});
  }
  if (full == nullptr) return {};
  char line[128];
  std::snprintf(line, sizeof line, "%d ranks: best arrivals %g, %.2f times as fast as 1\n", ranks,
                best->arrivals, full->seconds() / best->seconds());
  return line;
}

}  // namespace

void measureNeighborhood(const NeighborhoodOptions& options) {
  const int rank = worldRank(), size = worldSize();
  const bool simulated = !options.simulate.empty();
  if (simulated && size > 1) {
    throw tributary::Error("--simulate runs in one process: run it on one rank");
  }
  Row settings = {{"network", simulated ? "simulated" : "MPI"},
                  {"particles", options.particles},
                  {"steps", options.steps},
                  {"step in cells of 2048^3", options.stepCells},
                  {"seed box", options.seedBox},
                  {"blocks per rank", options.blocksPerRank},
                  {"seed", options.seed},
                  {"repetitions", options.repeat},
                  {"detector", options.detector}};
  if (simulated) {
    settings["slow share"] = options.slowShare;
    settings["slowness"] = options.slowness;
    settings["slow seconds"] = options.slowSeconds;
    settings["step us"] = options.stepSeconds * 1e6;
    settings["ranks per node"] = options.ranksPerNode;
  }
  Report report("Particle tracing by neighborhood exchange", settings);
  const AbcField field;
  std::string best;
  if (simulated) {
    for (const int ranks : options.simulate) {
      best += measure(options, field, ranks, nullptr, report);
    }
  } else {
    const auto world = tributary::makeMpiTransport(MPI_COMM_WORLD);
    best = measure(options, field, size, world.get(), report);
  }
  if (rank != 0) return;
  report.print(std::cout);
  std::cout << best << std::flush;
  if (!options.json.empty()) report.save(options.json);
}

}  // namespace bench
