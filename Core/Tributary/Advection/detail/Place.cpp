// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/Place.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {
namespace {

/// Removes the first elements, after a call of visit() for each.
template <class T, class Visit>
std::size_t removeFirst(std::vector<T>& list, std::size_t most, Visit&& visit) {
  const std::size_t count = std::min(most, list.size());
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(count);
  std::for_each(list.begin(), end, visit);
  list.erase(list.begin(), end);
  return count;
}

}  // namespace

bool isSeedId(std::int64_t id) {
  return id >= 0 && id <= std::numeric_limits<std::int64_t>::max() / 2;
}

void departFrom(const FieldBlock& block, Particle& p) {
  if (!p.isAtEvent() || p.events->endBlock >= 0) return;
  p.events->endBlock = block.id();
  p.events->endCell = block.leave(p.events->endCell);
}

bool Place::add(Particle&& p) {
  const bool isBack = p.isAtEvent() && p.events->endBlock == block_.id();
  std::int32_t cell = p.cell, endCell = isBack ? p.events->endCell : 0;
  if (!block_.enter(cell) || (isBack && !block_.enter(endCell))) return false;
  later.push_back(std::move(p));
  later.back().cell = cell;
  later.back().block = block_.id();
  if (isBack) {
    later.back().events->endBlock = -1;
    later.back().events->endCell = endCell;
  }
  meter.begin(1);
  return true;
}

void Place::take(std::size_t limit) {
  taken.clear();
  for (int generation = 0; generation < 2 && taken.size() < limit; ++generation) {
    if (active.empty()) active.swap(later);
    if (taken.empty() && active.size() <= limit) {
      taken.swap(active);
      continue;
    }
    const auto count = std::min(active.size(), limit - taken.size());
    const auto first = active.end() - static_cast<std::ptrdiff_t>(count);
    taken.insert(taken.end(), std::make_move_iterator(first),
                 std::make_move_iterator(active.end()));
    active.erase(first, active.end());
  }
}

void Place::lend(std::size_t lines, int stages, int events,
                 const std::function<bool(std::int64_t)>& first, Writer& message) {
  std::stable_partition(seeds.begin(), seeds.end(),
                        [&](const Seed& seed) { return first(2 * seed.id); });
  const std::size_t lentSeeds = std::min(lines / linesPerSeed_, seeds.size());
  message.value(static_cast<std::uint64_t>(lentSeeds));
  removeFirst(seeds, lentSeeds, [&](const Seed& seed) { message.value(seed); });
  std::size_t left = std::min(lines - lentSeeds * linesPerSeed_, later.size() + active.size());
  meter.begin(-static_cast<std::int64_t>(left));
  Bytes particles = message.take();
  for (std::vector<Particle>* list : {&later, &active}) {
    if (left == 0) break;
    std::stable_partition(list->begin(), list->end(),
                          [&](const Particle& p) { return first(p.line); });
    left -= removeFirst(*list, left, [&](Particle& p) {
      p.cell = block_.leave(p.cell);
      departFrom(block_, p);
      const MigratingParticle migrating{std::move(p), {}};
      writeMigratingParticle(particles, migrating, stages, events);
    });
  }
  message = Writer(std::move(particles));
}

void Place::borrow(int stages, int events, Reader& message) {
  for (auto left = message.value<std::uint64_t>(); left > 0; --left) {
    const auto seed = message.value<Seed>();
    if (!isSeedId(seed.id)) refuseMessage("a seed with id " + std::to_string(seed.id));
    seeds.push_back(seed);
  }
  while (!message.atEnd()) {
    MigratingParticle migrating = readMigratingParticle(message, stages, events);
    if (migrating.particle.status != Status::Active || !add(std::move(migrating.particle)))
      refuseMessage("a lent particle that its block cannot advance");
  }
}

Bytes Place::recordedPoints(const StepRules& rules) const {
  Writer writer;
  for (const TrajectoryLog& log : logs.all()) {
    for (std::size_t c = 0; c < log.chunkCount(); ++c)
      for (TrajectoryPoint point : log.chunk(c)) {
        point.cell = block_.leave(point.cell);
        writer.value(point);
      }
    log.crossings().forEach([&](CrossingPoint crossing) {
      if (rules.crossingContent == CrossingContent::All)
        crossing.point.cell = block_.leave(crossing.point.cell);
      crossing.point.index = ~crossing.point.index;  // so it is known as that of a crossing
      writer.value(crossing);
    });
  }
  return writer.take();
}

void Place::receivePoints(const StepRules& rules, Reader& message) {
  TrajectoryLog log = logs.take(rules);
  while (!message.atEnd()) {
    CrossingPoint crossing{};
    TrajectoryPoint& point = crossing.point;
    point = message.value<TrajectoryPoint>();
    const bool isCrossing = point.index < 0;
    if (isCrossing) {
      point.index = ~point.index;
      for (double& x : crossing.image) x = message.value<double>();
      crossing.length = message.value<double>();
      crossing.event = message.value<std::int32_t>();
      crossing.number = message.value<std::int32_t>();
      crossing.target = message.value<std::int64_t>();
    }
    const bool hasCell = !isCrossing || rules.crossingContent == CrossingContent::All;
    if (point.line < 0 || (hasCell && !block_.enter(point.cell)))
      refuseMessage("a recorded point in a cell that its block does not have");
    const std::int32_t least = rules.crossingContent == CrossingContent::Positions ? 0 : 1;
    if (isCrossing &&
        (crossing.event < 0 || crossing.event >= rules.events.count || crossing.number < least))
      refuseMessage("crossing " + std::to_string(crossing.number) + " of event " +
                    std::to_string(crossing.event));
    if (isCrossing)
      log.appendCrossing(crossing);
    else
      log.append() = point;
  }
  logs.give(std::move(log));
}

}  // namespace tributary::detail
