// SPDX-License-Identifier: BSD-3-Clause
// Streamlines through a velocity field that is a formula: helices about the z axis. The example
// implements all functions that a field needs for tracing. The domain is cut into slabs along x,
// three on each rank, and each velocity is evaluated by the slab that holds the point. Run it with
// `mpirun -n 4 FormulaField`. The lines are the same, bit by bit, as on one rank with one slab.
// Compile it, like Core, without contraction to fused operations (-ffp-contract=off).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "Tributary/Advection/Stepper.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Loopback.h"
#ifdef TRIBUTARY_WITH_MPI
#include "Tributary/Transport/Mpi.h"
#endif

using namespace tributary;

std::array<double, 3> velocityAt(const double x[3]) {
  return {-x[1], x[0], 0.25};
}

/// One slab of the cube [-1, 1]^3. Results are computed from the point alone, the same on all ranks
/// and for any number of slabs; only the slab that computes them depends on the partition.
class Slab : public FieldBlock {
 public:
  Slab(BlockId id, BlockId slabs) : FieldBlock(id, 0), slabs_(slabs) {}

  Box bounds() const override {
    const auto edge = [&](BlockId slab) {
      return 2 * static_cast<double>(slab) / static_cast<double>(slabs_) - 1;
    };
    // Slightly larger: a point that ownerOf() assigns to this slab may be outside by a rounding
    // error.
    return {{edge(id()) - 1e-9, -1, -1}, {edge(id() + 1) + 1e-9, 1, 1}};
  }

  /// Evaluates each particle until its line ends or its next target is not in this slab. Then it
  /// sets the slab of the target, or Status::Seeking outside of all slabs.
  void advance(const StepRules& rules, Span<Particle> particles, std::int64_t /*extraSteps*/,
               TrajectoryLog& log) const override {
    for (Particle& p : particles) {
      while (p.status == Status::Active) {
        const BlockId owner = ownerOf(p.target);
        if (owner < 0) p.status = Status::Seeking;
        p.block = owner < 0 ? id() : owner;
        p.cell = 0;
        if (owner != id()) break;
        const auto velocity = velocityAt(p.target);
        if (!feed<Integrator::RungeKutta4>(rules, p, velocity.data(), /*cellLength*/ 1, 0, log))
          break;
      }
    }
  }

  bool enter(std::int32_t& cell) const override { return cell == 0; }

  void find(Span<CellQuery> queries) const override {
    for (CellQuery& query : queries) {
      if (ownerOf(query.point.data()) != id()) continue;
      CellMatch match;
      match.violation = 0;
      match.block = id();
      match.cell = 0;
      if (match.betterThan(query.best)) query.best = match;
    }
  }

  /// The field has no point data to interpolate.
  void weights(const StepRules&, Span<const TrajectoryPoint> points, Weights& out) const override {
    out.resize(points.size(), /*mostCorners*/ 0);
  }

  std::vector<BlockId> neighbors() const override {
    std::vector<BlockId> list;
    if (id() > 0) list.push_back(id() - 1);
    if (id() + 1 < slabs_) list.push_back(id() + 1);
    return list;
  }

 private:
  /// The slab that evaluates at a point, -1 outside the cube.
  BlockId ownerOf(const double x[3]) const {
    for (int axis = 0; axis < 3; ++axis) {
      if (!(std::fabs(x[axis]) <= 1)) return -1;
    }
    const auto slab = static_cast<BlockId>((x[0] + 1) / 2 * static_cast<double>(slabs_));
    return std::min(slab, slabs_ - 1);
  }

  BlockId slabs_;
};

/// All recorded points of all ranks, by line and index.
std::vector<TrajectoryPoint> traceLines(Transport& transport, std::int64_t slabsPerRank) {
  const auto assignment = Assignment::gather(transport, slabsPerRank);
  std::vector<std::unique_ptr<FieldBlock>> blocks;
  for (std::int64_t i = 0; i < slabsPerRank; ++i) {
    const BlockId id = assignment.first(transport.rank()) + i;
    blocks.push_back(std::make_unique<Slab>(id, assignment.total()));
  }
  const Domain domain = makeDomain(transport, assignment, std::move(blocks));

  TraceOptions options;
  options.rules.integrator = Integrator::RungeKutta4;
  options.rules.unit = StepUnit::Length;
  options.rules.initialStep = 0.05;
  options.backward = true;
  std::vector<Seed> seeds;  // any rank may pass any seed
  for (std::int64_t id = transport.rank(); id < 40; id += transport.size()) {
    seeds.push_back({{0.02 * static_cast<double>(id + 1), 0, 0}, id});
  }
  const TraceResult traced = trace(transport, domain, seeds, options);

  std::vector<TrajectoryPoint> mine;
  for (const auto& logsOfBlock : traced.logs) {
    for (const TrajectoryLog& log : logsOfBlock) {
      for (std::size_t c = 0; c < log.chunkCount(); ++c) {
        mine.insert(mine.end(), log.chunk(c).begin(), log.chunk(c).end());
      }
    }
  }
  std::vector<TrajectoryPoint> all = allgatherv(transport, mine);
  std::sort(all.begin(), all.end(), [](const TrajectoryPoint& a, const TrajectoryPoint& b) {
    return a.line != b.line ? a.line < b.line : a.index < b.index;
  });
  return all;
}

int run(Transport& transport) {
  const auto points = traceLines(transport, 3);
  const auto alone = traceLines(*makeLoopbackTransport(), 1);
  const bool same = points.size() == alone.size() &&
                    std::memcmp(points.data(), alone.data(), points.size() * sizeof points[0]) == 0;
  // A helix keeps its distance from the axis.
  double drift = 0;
  for (const TrajectoryPoint& p : points) {
    const double radius = 0.02 * static_cast<double>(p.line / 2 + 1);
    drift = std::max(drift, std::fabs(std::hypot(p.x[0], p.x[1]) - radius));
  }
  if (transport.rank() == 0) {
    std::printf("%zu points on %d ranks, %s one rank's, at most %.1e off their helices\n",
                points.size(), transport.size(), same ? "the same bits as" : "NOT", drift);
  }
  return same && points.size() > 1000 && drift < 1e-3 ? 0 : 1;
}

int main(int argc, char** argv) {
#ifdef TRIBUTARY_WITH_MPI
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  const int result = run(*makeMpiTransport(MPI_COMM_WORLD));
  return MPI_Finalize() == MPI_SUCCESS ? result : 1;
#else
  static_cast<void>(argc), static_cast<void>(argv);
  return run(*makeLoopbackTransport());
#endif
}
