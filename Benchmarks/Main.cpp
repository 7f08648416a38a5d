// SPDX-License-Identifier: BSD-3-Clause
// tributary-bench: see README.md in this folder.

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "Advection/Kernels.h"
#include "Components/ComponentKernels.h"
#include "Components/Components.h"
#include "Exchange/Neighborhood.h"
#include "Exchange/Particles.h"
#include "Exchange/Tune.h"
#include "Exchange/Walks.h"
#include "Features/Features.h"
#include "Iteration/Iterations.h"
#include "Model/Model.h"
#include "Model/Relaxation.h"
#include "Reduction/Reduction.h"
#include "Termination/Termination.h"
#include "Tributary/Base/Error.h"

namespace {

/// What both benchmarks of the exchange are asked.
template <class Options>
void addExchange(CLI::App& command, Options& options) {
  command.add_option("--variants", options.variants, "Only these, by the names in the table")
      ->delimiter(',');
  command.add_option("--detector", options.detector, "Termination detector")->capture_default_str();
  command.add_option("--batch-bytes", options.batchBytes, "Size limit of a batch")
      ->capture_default_str();
  command.add_option("--hold", options.holdTime, "Age limit of a batch, in seconds")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--diy-queue-bytes", options.diy.minimumQueueBytes, "DIY: smallest queue")
      ->capture_default_str();
  command.add_option("--diy-hold", options.diy.holdMilliseconds, "DIY: longest hold, in ms")
      ->capture_default_str();
  command.add_flag("--diy-fine", options.diy.fine, "DIY: send after every enqueue");
  command.add_option("--json", options.json, "Also write the results to this file");
}

void addParticles(CLI::App& app, bench::ParticlesOptions& options) {
  auto* command = app.add_subcommand(
      "particles", "Schedules against blocks per rank, beside DIY's two exchanges");
  command->add_option("--voxels", options.voxels, "Voxels per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--ratio", options.ratio, "Fast to slow velocity")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seeds-per-voxel", options.seedsPerVoxel, "Seeds along y and along z")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--step", options.stepVoxels, "Step in fast blocks, in voxels")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--blocks", options.blocksPerRank, "Blocks per rank, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--steps-per-hop", options.stepsPerHop,
                   "Instead: a ring of blocks so short that a tracer leaves after so many steps")
      ->check(CLI::Range(1, 1000));
  command->add_option("--tracers", options.tracers, "In the ring: numbers of tracers (squares)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 22))
      ->capture_default_str();
  command
      ->add_option(
          "--hops", options.hops,
          "In the ring: hops of all tracers together; more if that is below 1000 of each, up to 40 "
          "times as many")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--arrivals", options.arrivals, "Share of messages Neighborhood waits for")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  addExchange(*command, options);
}

void addWalks(CLI::App& app, bench::WalksOptions& options) {
  auto* command = app.add_subcommand(
      "walks", "Random walks of small messages over the blocks, beside DIY's two exchanges");
  command->add_option("--blocks", options.blocksPerRank, "Blocks per rank, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--walkers", options.walkers, "Walkers, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 22))
      ->capture_default_str();
  command->add_option("--hops", options.hops, "Hops of all walkers together")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  addExchange(*command, options);
}

void addKernels(CLI::App& app, bench::KernelsOptions& options) {
  auto* command = app.add_subcommand("kernels", "Speed of the advection kernels on one core");
  command->add_option("--points", options.points, "Points per axis of structured grids, a list")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  command->add_option("--mesh-cells", options.meshCells, "Cubes per axis of the meshes")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  command->add_option("--seeds", options.seeds, "Seeds")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Limit of steps per line")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--step", options.step, "Step of RK2 and RK4 in cells")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--fields", options.fields, "Fields, a list")
      ->delimiter(',')
      ->check(CLI::IsMember({"uniform", "rectilinear", "hexahedra", "tetrahedra"}))
      ->capture_default_str();
  command->add_option("--integrators", options.integrators, "Integrators, a list")
      ->delimiter(',')
      ->check(CLI::IsMember({"RK2", "RK4", "RK45"}))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addTune(CLI::App& app, bench::TuneOptions& options) {
  auto* command = app.add_subcommand(
      "tune", "Settings of the exchange that short trials choose, against a sweep over all");
  command->add_option("--workloads", options.workloads, "Only these, a list; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(bench::tuneWorkloads()));
  command->add_option("--work", options.work, "Times as many steps for each line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--blocks", options.blocksPerRank, "Blocks per rank to choose from, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--budget", options.budget,
                   "Cost of all trials, as a share of one run with each setting")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions of the sweep")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--confirm", options.confirm,
                   "Repetitions in which the sweep's best and the choice are compared")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
}

/// The options of the distributed union-find.
void addUnions(CLI::App* command, bench::ComponentsOptions& options) {
  command
      ->add_option("--problems", options.problems, "union: what is connected, a list; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(bench::componentProblems()));
  command->add_option("--size", options.size, "union: voxels per axis; 0: what suits the problem")
      ->check(CLI::Range(0, 512))
      ->capture_default_str();
  command->add_option("--blocks", options.blocksPerRank, "union: blocks per rank, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--unions", options.unions, "union: unions in a row, for each time")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--simulate", options.simulate, "union: simulate so many ranks, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--ranks-per-node", options.ranksPerNode, "Simulated ranks on a node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--turn-seconds", options.turnSeconds,
                   "Simulated: what a rank computes between looks at its messages")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--noise", options.noise, "Simulated: deviation of that, relative")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--variants", options.variants, "union: only these, by the names in the table")
      ->delimiter(',');
  command->add_option("--detector", options.detector, "union: termination detector")
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addComponents(CLI::App& app, std::string& part, bench::ComponentsOptions& options,
                   bench::ComponentKernelsOptions& kernels) {
  auto* command = app.add_subcommand("components", "Connected components");
  command
      ->add_option("--part", part,
                   "union: the distributed union-find; kernels: labeling on one rank")
      ->check(CLI::IsMember({"union", "kernels"}))
      ->capture_default_str();
  command->add_option("--voxels", kernels.voxels, "kernels: voxels per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--threads", kernels.threads, "kernels: numbers of threads, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--neighbors", kernels.neighbors, "kernels: of a voxel, a list")
      ->delimiter(',')
      ->check(CLI::IsMember({6, 18, 26}))
      ->capture_default_str();
  command->add_option("--vertices", kernels.vertices, "kernels: of graphs with twice as many edges")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command
      ->add_option("--mesh-cubes", kernels.meshCubes, "kernels: cubes of six tetrahedra per axis")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  command->add_option("--points", kernels.points, "kernels: points to merge")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--cases", kernels.cases, "kernels: only these, by the names in the table")
      ->delimiter(',');
  addUnions(command, options);
}

void addFeatures(CLI::App& app, bench::FeaturesOptions& options) {
  auto* command = app.add_subcommand(
      "features", "Features over time: a step, and the union of what belongs to one");
  command->add_option("--plane", options.plane, "Points along each of two axes")
      ->check(CLI::Range(2, 1 << 14))
      ->capture_default_str();
  command->add_option("--volume", options.volume, "Points along each of three axes")
      ->check(CLI::Range(2, 1 << 10))
      ->capture_default_str();
  command->add_option("--features", options.features, "Regions in a step")
      ->check(CLI::Range(1, 1 << 28))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Steps that are timed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  options.unions.problems = {"critical", "streaks"};
  options.unions.variants = {"Labels Sync", "Labels Async", "Tree Async"};
  options.unions.blocksPerRank = {1};
  addUnions(command, options.unions);
}

void addTermination(CLI::App& app, bench::TerminationOptions& options) {
  auto* command = app.add_subcommand(
      "termination", "Termination detectors: delay, messages, cost; on MPI or simulated");
  command->add_option("--program", options.program, "What the ranks do")
      ->check(CLI::IsMember({"load", "walks", "tracer", "diffusion"}))
      ->capture_default_str();
  command
      ->add_option("--detectors", options.detectors,
                   "Detectors, a list; default: all that are right for the program")
      ->delimiter(',');
  command->add_option("--simulate", options.simulate, "Simulate so many ranks, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--mean", options.means, "load: Poisson means, a list")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--remote", options.remotePercent, "load: percent of requests, a list")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--items", options.load.itemsPerUnit, "load: items of work per unit of load")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--item-seconds", options.load.itemSeconds, "load: computing for an item")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--walkers", options.walks.walkers, "walks: walkers on each rank")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--hops", options.walks.hops, "walks: hops of each")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--bytes", options.walks.bytes, "walks: size of a message")
      ->check(CLI::Range(32, 1 << 20))
      ->capture_default_str();
  command->add_option("--hop-seconds", options.walks.hopSeconds, "walks: computing for a hop")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--tracer-voxels", options.tracer.voxels, "tracer: voxels per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--step-seconds", options.tracer.stepSeconds, "tracer, simulated: a step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--arity", options.detection.arity, "Trees: children of a node")
      ->capture_default_str();
  command->add_option("--control-level", options.detection.controlLevel, "Trees: control level")
      ->capture_default_str();
  command->add_option("--initiators", options.detection.initiators, "ring-flag: initiators")
      ->capture_default_str();
  command->add_option("--ranks-per-node", options.ranksPerNode, "Simulated ranks on a node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions, each with a seed of its own")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addReduction(CLI::App& app, bench::ReductionOptions& options) {
  auto* command = app.add_subcommand(
      "reduction", "Merge and swap reductions of images, beside MPI's and DIY's; or simulated");
  command->add_option("--patterns", options.patterns, "A list of merge and swap")
      ->delimiter(',')
      ->check(CLI::IsMember({"merge", "swap"}))
      ->capture_default_str();
  command->add_option("--operator", options.combine, "none: communication only")
      ->check(CLI::IsMember({"over", "none"}))
      ->capture_default_str();
  command->add_option("--pixels", options.pixels, "Pixels of 16 bytes in each block, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 27))
      ->capture_default_str();
  command->add_option("--k", options.k, "Groups that meet in a round, a list; 0: all at once")
      ->delimiter(',')
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command->add_option("--blocks", options.blocksPerRank, "Blocks per rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads that combine, on each rank")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--segment", options.segmentBytes, "Bytes that a merge sends at a time")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--simulate", options.simulate, "Simulate so many ranks, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--ranks-per-node", options.ranksPerNode, "Simulated ranks on a node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--pixel-seconds", options.pixelSeconds, "Simulated: combining a pixel")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--variants", options.variants, "Only these, by names such as MPI, ours k=2")
      ->delimiter(',');
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addNeighborhood(CLI::App& app, bench::NeighborhoodOptions& options) {
  auto* command = app.add_subcommand(
      "neighborhood", "Particle tracing with arrivals swept; on MPI or simulated with slow ranks");
  command->add_option("--arrivals", options.arrivals, "Shares of messages to wait for, a list")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--simulate", options.simulate, "Simulate so many ranks, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--particles", options.particles, "Particles, all ranks together")
      ->check(CLI::Range(1, 1 << 26))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Steps of a particle")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--step", options.stepCells, "Mean length of a step, in cells of 2048^3")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed-box", options.seedBox, "Edge of the seeds' cube, the domain's is 1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--blocks", options.blocksPerRank, "Blocks per rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--slow-share", options.slowShare, "Simulated: share of slow ranks")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--slowness", options.slowness, "Simulated: how much slower they compute")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--slow-seconds", options.slowSeconds,
                   "Simulated: after so long others are slow; 0: always the same ranks")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--step-seconds", options.stepSeconds, "Simulated: computing for a step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--ranks-per-node", options.ranksPerNode, "Simulated ranks on a node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--detector", options.detector, "Termination detector")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Of the particles' places and the slow ranks")
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addIterations(CLI::App& app, bench::IterationsOptions& options) {
  auto* command = app.add_subcommand(
      "iterations", "A step of convection and diffusion by asynchronous iterations, or simulated");
  command
      ->add_option("--table", options.table,
                   "detection: synchronous and asynchronous ones; sends: send modes and receives")
      ->check(CLI::IsMember({"detection", "sends"}))
      ->capture_default_str();
  command->add_option("--simulate", options.simulate, "Simulate so many ranks, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--cells", options.cells, "Cells per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--threshold", options.threshold, "Of the largest magnitude of b - A u")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--inverse-step", options.inverseStep, "1 / time step; 0: steady state")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--receives", options.receives, "sends: receives for a neighbor, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--paper-cells", options.paperCells,
                   "Simulated: cells per axis of the problem that times are those of")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--cell-seconds", options.cellSeconds, "Simulated: a sweep of a cell")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--residual-seconds", options.residualSeconds, "Simulated: a cell's residual")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--noise", options.noise,
                   "Simulated: times to compute vary by so many times their mean")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--slow-speed", options.slowSpeed, "Simulated: of one rank in the middle")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--ranks-per-node", options.ranksPerNode, "Simulated ranks on a node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Simulated: of the noise")->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addModel(CLI::App& app, bench::ModelOptions& options) {
  auto* command = app.add_subcommand(
      "model", "The performance model of hybrid Jacobi iterations beside measurement");
  command
      ->add_option("--table", options.table,
                   "errors: of modeled iteration times; fits: of operations' times; rates: by swap "
                   "period and work share; stencils: one between others; tuner; cost: of timing")
      ->check(CLI::IsMember({"errors", "fits", "rates", "stencils", "tuner", "cost"}))
      ->capture_default_str();
  command->add_option("--points", options.points, "Of a subregion along each of two axes")
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Of a rank")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--master", options.master, "Rank 0 passes on halos and residuals");
  command->add_option("--neighbors", options.neighbors, "Of a point")
      ->check(CLI::IsMember({4, 8}))
      ->capture_default_str();
  command->add_option("--swap-period", options.swapPeriod, "Iterations from a swap to the next")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--residual-period", options.residualPeriod, "Likewise, of the residual")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "That operations are measured for")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--timing-period", options.timingPeriod, "One in so many iterations is timed")
      ->check(CLI::Range(3, 1 << 20))
      ->capture_default_str();
  command->add_option("--samples", options.samples, "Most of an operation that a rank keeps")
      ->check(CLI::Range(10, 1 << 24))
      ->capture_default_str();
  command->add_option("--simulated-seconds", options.simulatedSeconds, "Of each simulation")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--swap-periods", options.swapPeriods, "rates, tuner: a list, rising")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--work-shares", options.workShares, "rates: a list")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--rate-seconds", options.rateSeconds,
                   "rates, cost: measured of each; rates: 0 to predict only")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--predict", options.predict,
                   "rates: subregions and threads of another run that is predicted")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option("--tolerance", options.tolerance, "tuner: of the residual")
      ->check(CLI::Range(1e-12, 0.5))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "stencils, tuner, cost: repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Of simulations")->capture_default_str();
  command->add_option("--load", options.load, "Timings from this file, in place of measuring");
  command->add_option("--save", options.save, "Write the timings to this file");
  command->add_option("--csv", options.csv, "Also write the table to this file");
  command->add_option("--json", options.json, "Also write the results to this file");
}

void addRelaxation(CLI::App& app, bench::RelaxationOptions& options) {
  auto* command = app.add_subcommand(
      "relaxation", "Hybrid Jacobi iterations: convergence, threads, slow ranks, memory");
  command
      ->add_option("--part", options.part,
                   "convergence: times, or history: the residual's way, against swap periods; "
                   "threads: rates and residuals; slow: one thread or rank; bandwidth: of memory")
      ->check(CLI::IsMember({"convergence", "history", "threads", "slow", "bandwidth"}))
      ->capture_default_str();
  command->add_option("--variants", options.variants, "A list, by the names in the paper")
      ->delimiter(',')
      ->check(CLI::IsMember({"WS", "RTINC", "RTMAXIT", "RTMNRS", "ASNCDIR", "SNCDIR", "SHRD"}))
      ->capture_default_str();
  command->add_option("--traffic", options.traffic, "Between neighbors, or by a master rank")
      ->check(CLI::IsMember({"direct", "master"}))
      ->capture_default_str();
  command->add_option("--sizes", options.sizes, "Edges of a rank's square of points, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  command->add_option("--swap-periods", options.swapPeriods, "Iterations between swaps, a list")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--work-shares", options.workShares,
                   "threads: rows of the communicating thread as parts of an equal share, a list")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Of each rank")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--residual-period", options.residualPeriod, "Iterations between residuals")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--tolerance", options.tolerance, "Of the residual, as a part of the first")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seconds", options.seconds, "No run takes longer; threads: each takes it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--sleep", options.slowMicroseconds,
                   "slow: microseconds after an iteration; 0: nine times what one takes")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--edge", options.edge, "bandwidth: points along an edge of the square")
      ->check(CLI::Range(16, 1 << 15))
      ->capture_default_str();
  command->add_option("--repeat", options.repeat, "Repetitions")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--json", options.json, "Also write the results to this file");
  command->add_option("--csv", options.csv, "Also write the table to this file");
}

int run(int argc, char** argv, int rank, int size) {
  CLI::App app("Measures Tributary, where it can beside its peers in the same run");
  bench::ParticlesOptions particles;
  bench::KernelsOptions kernels;
  bench::TerminationOptions termination;
  bench::WalksOptions walks;
  bench::NeighborhoodOptions neighborhood;
  bench::ReductionOptions reduction;
  bench::IterationsOptions iterations;
  bench::ModelOptions model;
  bench::RelaxationOptions relaxation;
  bench::TuneOptions tune;
  std::string componentsPart = "union";
  bench::ComponentsOptions components;
  bench::FeaturesOptions features;
  bench::ComponentKernelsOptions componentKernels;
  addParticles(app, particles);
  addWalks(app, walks);
  addKernels(app, kernels);
  addTermination(app, termination);
  addReduction(app, reduction);
  addNeighborhood(app, neighborhood);
  addIterations(app, iterations);
  addModel(app, model);
  addRelaxation(app, relaxation);
  addTune(app, tune);
  addComponents(app, componentsPart, components, componentKernels);
  addFeatures(app, features);
  app.require_subcommand(1);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return rank == 0 ? app.exit(error) : error.get_exit_code();
  }
  if (app.got_subcommand("particles")) {
    bench::measureParticles(particles);
  } else if (app.got_subcommand("termination")) {
    bench::measureTermination(termination);
  } else if (app.got_subcommand("reduction")) {
    bench::measureReduction(reduction);
  } else if (app.got_subcommand("walks")) {
    bench::measureWalks(walks);
  } else if (app.got_subcommand("neighborhood")) {
    bench::measureNeighborhood(neighborhood);
  } else if (app.got_subcommand("iterations")) {
    bench::measureIterations(iterations);
  } else if (app.got_subcommand("model")) {
    bench::measureModel(model);
  } else if (app.got_subcommand("relaxation")) {
    bench::measureRelaxation(relaxation);
  } else if (app.got_subcommand("tune")) {
    bench::measureTune(tune);
  } else if (app.got_subcommand("features")) {
    bench::measureFeatures(features);
  } else if (app.got_subcommand("components")) {
    if (componentsPart == "union") {
      bench::measureComponents(components);
      return 0;
    }
    if (size > 1) throw tributary::Error("components --part kernels runs on one rank");
    componentKernels.repeat = components.repeat;
    componentKernels.json = components.json;
    bench::measureComponentKernels(componentKernels);
  } else {
    if (size > 1) throw tributary::Error("kernels measures one core: run it on one rank");
    bench::measureKernels(kernels);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;  // what a benchmark needs it asks the transport for
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int result = 1;
  try {
    result = run(argc, argv, rank, size);
  } catch (const std::exception& error) {
    std::cerr << "tributary-bench, rank " << rank << ": " << error.what() << std::endl;
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return result;
}
