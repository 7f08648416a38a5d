// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/ConvectionDiffusionSolver.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

using Kind = SideCondition::Kind;

std::array<bool, 3> periodicAxes(const ConvectionDiffusionTerms& terms) {
  std::array<bool, 3> periodic{};
  for (std::size_t a = 0; a < 3; ++a) periodic[a] = terms.sides[2 * a].kind == Kind::Periodic;
  return periodic;
}

void check(const ConvectionDiffusionOptions& options) {
  if (options.sweepsPerExchange < 1 || options.slabs < 1)
    throw Error("there are " + std::to_string(options.sweepsPerExchange) +
                " sweeps per exchange and " + std::to_string(options.slabs) +
                " slabs; give at least 1 of each");
}

/// The share of the orders of magnitude from the first residual to the threshold.
double shareDone(double first, double residual, double threshold) {
  if (residual <= threshold) return 1;
  if (!std::isfinite(first) || !std::isfinite(residual) || threshold <= 0) return 0;
  return std::log(first / residual) / std::log(first / threshold);
}

}  // namespace

ConvectionDiffusionSolver::ConvectionDiffusionSolver(Transport& transport, const CellGrid& grid,
                                                     const CellRange& box,
                                                     const ConvectionDiffusionTerms& terms,
                                                     FaceFlow faces,
                                                     const ConvectionDiffusionOptions& options)
    : transport_(transport), options_(options) {
  const auto boxes = allgather(transport, box);
  collectively(transport, [&] {
    equation_.emplace(grid, box, terms, std::move(faces));
    checkPartition(boxes, {grid.along(0), grid.along(1), grid.along(2)}, transport.rank(), "cells",
                   "grid");
    check(options);
    concentration_.assign(index(box.cells()), 0.0);
    const auto periodic = periodicAxes(terms);
    own_ = patchesBetween(grid, periodic, box, box);
    for (int rank = 0; rank < transport.size(); ++rank) {
      const CellRange& other = boxes[index(rank)];
      if (rank == transport.rank()) continue;
      Link link{rank, patchesBetween(grid, periodic, box, other),
                patchesBetween(grid, periodic, other, box)};
      if (!link.needs.empty() || !link.gives.empty()) links_.push_back(std::move(link));
    }
  });
}

IterationResult ConvectionDiffusionSolver::step(Span<const double> source,
                                                const std::function<bool(double)>& monitor) {
  const CellRange& box = equation_->box();
  std::vector<double> b, across;
  SideValues beyond;
  collectively(transport_, [&] {
    if (source.size() != concentration_.size())
      throw Error(std::to_string(source.size()) + " sources given for " +
                  std::to_string(concentration_.size()) + " cells; give one for each cell");
    b.resize(concentration_.size());
    equation_->rightHandSide(source, concentration_, b);
    beyond = makeSides(box);
    equation_->setSideValues(beyond);
    across.resize(valuesOf(own_));
  });
  const auto receive = [&](Span<const double> u, const Incoming& incoming) {
    packPatches(own_, box, u, across);
    unpackPatches(own_, box, across, beyond);
    for (std::size_t n = 0; n < links_.size(); ++n)
      unpackPatches(links_[n].needs, box, incoming[n], beyond);
  };

  IterationProblem problem;
  collectively(transport_, [&] {
    for (const Link& link : links_)
      problem.neighbors.push_back({link.rank, valuesOf(link.gives), valuesOf(link.needs)});
    problem.iterate = concentration_;
  });
  double first = 0, progress = 0;
  const auto continues = [&] { return !monitor || monitor(progress); };
  problem.sweep = [&](const Incoming& incoming, bool measure) {
    receive(concentration_, incoming);
    // An abort does not wait for many sweeps.
    for (int n = 0; n < options_.sweepsPerExchange && (n == 0 || continues()); ++n)
      equation_->sweep(n % 2 == 0, concentration_, beyond, b, options_.slabs, options_.parallelFor);
    transport_.spend(options_.sweepsPerExchange * options_.sweepSeconds);
    if (!measure) return 0.0;
    transport_.spend(options_.residualSeconds);
    const double residual = equation_->residual(concentration_, beyond, b, options_.parallelFor);
    first = std::max(first, residual);
    progress = std::max(progress, shareDone(first, residual, options_.iteration.residualThreshold));
    return residual;
  };
  problem.fill = [&](std::size_t n, Span<double> values) {
    packPatches(links_[n].gives, box, concentration_, values);
  };
  problem.residual = [&](Span<const double> recorded, const Incoming& incoming) {
    receive(recorded, incoming);
    transport_.spend(options_.residualSeconds);
    return equation_->residual(recorded, beyond, b, options_.parallelFor);
  };

  Iteration iteration(transport_, std::move(problem), options_.iteration);
  const IterationResult result = iteration.run(continues);
  statistics_ = iteration.statistics();
  history_ = iteration.history();
  return result;
}

}  // namespace tributary
