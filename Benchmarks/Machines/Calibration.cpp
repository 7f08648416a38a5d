// SPDX-License-Identifier: BSD-3-Clause
#include "Machines/Calibration.h"

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "Components/ComponentProblems.h"
#include "Machines/Machines.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Clock.h"
#include "Tributary/Transport/Loopback.h"
#include "Tributary/Transport/Mpi.h"

namespace bench {

namespace {

using tributary::Bytes;
using tributary::SendMode;
using tributary::Topic;
using tributary::Transport;

/// Messages between ranks 0 and 1; other ranks return 0.
class MessageTimes {
 public:
  explicit MessageTimes(Transport& transport)
      : transport_(transport), session_(transport.openSession()) {}

  /// Half of the time from a message to its answer.
  double oneWay(std::size_t bytes, int count) {
    tributary::barrier(transport_);
    const double begin = transport_.now();
    for (int i = 0; i < count; ++i) {
      if (transport_.rank() == 0) send(1, bytes);
      if (transport_.rank() < 2) receive();
      if (transport_.rank() == 1) send(0, bytes);
    }
    return (transport_.now() - begin) / (2 * count);
  }

  /// The time of a send, on rank 0, and that between two receives of rank 1, on rank 1.
  double burst(int count) {
    tributary::barrier(transport_);
    double seconds = 0;
    if (transport_.rank() == 0) {
      const double begin = transport_.now();
      for (int i = 0; i < count; ++i) send(1, 8);
      seconds = (transport_.now() - begin) / count;
    } else if (transport_.rank() == 1) {
      receive();
      const double begin = transport_.now();
      for (int i = 1; i < count; ++i) receive();
      seconds = (transport_.now() - begin) / (count - 1);
    }
    return seconds;
  }

  /// A look at the network that finds nothing.
  double look(int count) {
    const double begin = transport_.now();
    for (int i = 0; i < count; ++i) {
      if (transport_.tryReceive(Topic::Work, session_))
        throw tributary::Error("unexpected message");
      transport_.poll();
    }
    return (transport_.now() - begin) / (2 * count);
  }

 private:
  void send(int destination, std::size_t bytes) {
    transport_.send(destination, Topic::Work, session_, SendMode::Eager, Bytes(bytes));
  }
  void receive() {
    while (!transport_.tryReceive(Topic::Work, session_)) transport_.poll();
  }

  Transport& transport_;
  const tributary::Session session_;
};

/// A trace along x through a cube in a number of blocks, on one rank, in processor time.
struct CubeTrace {
  double seconds = 0;
  std::int64_t steps = 0;
  std::int64_t handovers = 0;
};

CubeTrace traceCube(int voxels, int blocks) {
  const auto alone = tributary::makeLoopbackTransport();
  const std::int64_t points = voxels + 1;
  std::vector<float> velocity(std::size_t(points * points * points * 3), 0.0F);
  for (std::size_t i = 0; i < velocity.size(); i += 3) velocity[i] = 1;
  tributary::StructuredPiece piece;
  piece.extent = {0, voxels, 0, voxels, 0, voxels};
  piece.spacing = {1, 1, 1};
  piece.velocity = {velocity.data(), false, points * points * points};
  tributary::StructuredGrids grids;
  auto made = tributary::makeStructuredBlocks(*alone, {piece}, blocks, {0}, &grids);
  const tributary::Domain domain =
      tributary::makeDomain(*alone, tributary::Assignment(std::vector<std::int64_t>{blocks}),
                            std::move(made), std::move(grids));
  std::vector<tributary::Seed> seeds;
  for (int i = 0; i < voxels * voxels; ++i) {
    tributary::Seed seed{};
    seed.x[1] = i % voxels + 0.5;
    seed.x[2] = i / voxels + 0.5;
    seed.id = i;
    seeds.push_back(seed);
  }
  tributary::TraceOptions options;
  options.rules.integrator = tributary::Integrator::RungeKutta4;
  options.rules.unit = tributary::StepUnit::Length;
  options.rules.initialStep = 1;
  options.rules.record = false;
  CubeTrace result;
  const double begin = tributary::coreSeconds();
  const auto traced = tributary::trace(*alone, domain, {seeds.data(), seeds.size()}, options);
  result.seconds = tributary::coreSeconds() - begin;
  for (const tributary::LineEnd& end : traced.ends) result.steps += end.points - 1;
  result.handovers = traced.handovers;
  return result;
}

/// A turn of an exchange with one block, on one rank, in processor time.
double turnSeconds(int count) {
  const auto alone = tributary::makeLoopbackTransport();
  int calls = 0;
  tributary::Exchange exchange(
      *alone, tributary::Assignment(std::vector<std::int64_t>{1}), {{}}, {},
      [&](tributary::BlockId, tributary::Mailbox&) { return ++calls < count; });
  const double begin = tributary::coreSeconds();
  exchange.run();
  return (tributary::coreSeconds() - begin) / count;
}

/// The least time: other programs can only add to it.
double leastOf(int repeat, const std::function<double()>& measure) {
  double least = measure();
  for (int i = 1; i < repeat; ++i) least = std::min(least, measure());
  return least;
}

/// The time of a link in a union of sets, beyond that of a union without links.
double linkSeconds(Transport& transport, const CalibrationOptions& options) {
  const tributary::Assignment assignment(
      std::vector<std::int64_t>(std::size_t(transport.size()), 1));
  const ComponentProblem problem = makeComponentProblem("noise", options.voxels, assignment);
  const auto rank = std::size_t(transport.rank());
  const std::vector<std::int64_t> sets = {problem.sets[rank]};
  const std::vector<std::vector<tributary::SetLink>> none(1), all = {problem.links[rank]};
  tributary::UnionOptions how;
  how.method = tributary::UnionMethod::LabelPropagation;
  how.exchange.schedule = tributary::Schedule::Synchronous;
  const auto seconds = [&](const std::vector<std::vector<tributary::SetLink>>& links) {
    return leastOf(options.repeat, [&] {
      tributary::barrier(transport);
      const double begin = transport.now();
      const auto united = tributary::uniteSets(transport, assignment, sets, links, how);
      return transport.now() - begin;
    });
  };
  const double more = seconds(all) - seconds(none);
  return std::max(0.0, more / static_cast<double>(all[0].size()));
}

}  // namespace

void calibrateMachine(const CalibrationOptions& options) {
  const auto world = tributary::makeMpiTransport(MPI_COMM_WORLD);
  if (world->size() < 2) throw tributary::Error("calibrate needs at least 2 ranks of MPI");
  constexpr int Messages = 100;
  constexpr std::size_t Large = 1 << 20;
  MessageTimes messages(*world);
  const auto repeated = [&](const std::function<double()>& measure) {
    return leastOf(options.repeat, measure);
  };
  const double oneWay = repeated([&] { return messages.oneWay(8, Messages); });
  const double large = repeated([&] { return messages.oneWay(Large, 20); });
  const std::vector<double> bursts =
      tributary::allgather(*world, repeated([&] { return messages.burst(Messages); }));
  Machine machine;
  machine.name = "calibrated";
  machine.network.ranksPerNode = 1 << 20;
  machine.network.lookSeconds = repeated([&] { return messages.look(Messages); });
  tributary::LinkCosts& within = machine.network.within;
  within.overhead = std::min(bursts[0], oneWay / 2);
  within.latency = oneWay - 2 * within.overhead;
  // If rank 1 was late, it has only emptied its queue: the sender's time is a lower bound, too.
  within.gap = std::max(bursts[0], bursts[1]);
  within.gapPerByte = (large - oneWay) / Large;
  machine.network.between = within;
  machine.linkSeconds = linkSeconds(*world, options);
  tributary::barrier(*world);
  if (world->rank() == 0) {
    std::int64_t handovers = 0, steps = 0;
    const double whole = repeated([&] {
      const CubeTrace traced = traceCube(options.voxels, 1);
      steps = traced.steps;
      return traced.seconds;
    });
    const double cut = repeated([&] {
      const CubeTrace traced = traceCube(options.voxels, 64);
      handovers = traced.handovers;
      return traced.seconds;
    });
    machine.stepSeconds = whole / static_cast<double>(steps);
    machine.handoverSeconds = std::max(0.0, (cut - whole) / static_cast<double>(handovers));
    machine.turnSeconds = repeated([] { return turnSeconds(100000); });
  }
  tributary::barrier(*world);
  if (world->rank() != 0) return;
  Report report("This machine", {{"ranks", world->size()},
                                 {"voxels", options.voxels},
                                 {"repetitions", options.repeat},
                                 {"machine", machineRow(machine)}});
  report.add({{"one way us", oneWay * 1e6},
              {"overhead us", within.overhead * 1e6},
              {"gap us", within.gap * 1e6},
              {"GB/s", 1e-9 / within.gapPerByte},
              {"look ns", machine.network.lookSeconds * 1e9},
              {"step ns", machine.stepSeconds * 1e9},
              {"handover ns", machine.handoverSeconds * 1e9},
              {"link ns", machine.linkSeconds * 1e9},
              {"turn ns", machine.turnSeconds * 1e9}});
  report.publish(options.json);
}

}  // namespace bench
