// SPDX-License-Identifier: BSD-3-Clause
// tributary-bench: see README.md in this folder.

#include <mpi.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "Advection/Kernels.h"
#include "Balance/Balance.h"
#include "Components/ComponentKernels.h"
#include "Components/Components.h"
#include "Exchange/Neighborhood.h"
#include "Exchange/Particles.h"
#include "Exchange/Tune.h"
#include "Exchange/Walks.h"
#include "Features/Features.h"
#include "Iteration/Iterations.h"
#include "Machines/Calibration.h"
#include "Model/Model.h"
#include "Model/Relaxation.h"
#include "Paper/Paper.h"
#include "Reduction/Reduction.h"
#include "Support/Mpi.h"
#include "Termination/Termination.h"
#include "Tributary/Base/Error.h"

namespace {

void addJson(CLI::App& command, std::string& path) {
  command.add_option("--json", path, "Also save the results as JSON to this file");
}

void addRepeat(CLI::App& command, int& repeat, const std::string& help = "Repetitions") {
  command.add_option("--repeat", repeat, help)->check(CLI::Range(1, 1000))->capture_default_str();
}

void addRanksPerNode(CLI::App& command, int& ranks) {
  command.add_option("--ranks-per-node", ranks, "Simulated: ranks per node")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
}

/// The flow of particles and balance.
template <class Options>
void addSlowBlockFlow(CLI::App& command, Options& options) {
  command.add_option("--ratio", options.ratio, "Ratio of fast to slow velocity")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--seeds-per-voxel", options.seedsPerVoxel,
                  "Seeds per voxel along each of y and z")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--step", options.stepVoxels, "Step length in fast blocks, in voxels")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

/// Options common to comparisons of schedules with DIY.
void addExchange(CLI::App& command, bench::ExchangeComparisonOptions& options) {
  addRepeat(command, options.repeat);
  command
      .add_option("--variants", options.variants,
                  "Variants to measure, by column name; default: all")
      ->delimiter(',');
  command
      .add_option("--arrivals", options.exchange.arrivals,
                  "Neighborhood: share of the expected messages that ends a round, in [0, 1]")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--detector", options.exchange.detector, "Termination detector")
      ->capture_default_str();
  command
      .add_option("--batch-bytes", options.exchange.batchBytes,
                  "Size in bytes at which a batch is sent")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      .add_option("--hold-time", options.exchange.holdTime,
                  "Age in microseconds at which a batch is sent")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--stall-timeout", options.exchange.stallTimeout,
                  "Seconds without progress after which a run fails; 0 for no limit")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--diy-queue-bytes", options.diy.minimumQueueBytes,
                  "DIY: minimum size in bytes of a queue that is sent")
      ->capture_default_str();
  command
      .add_option("--diy-hold-time", options.diy.holdTime,
                  "DIY: maximum hold time in microseconds, rounded up to milliseconds")
      ->check(CLI::Range(0., 1e12))
      ->capture_default_str();
  command.add_flag("--diy-fine", options.diy.fine, "DIY: send after every enqueue");
  addJson(command, options.json);
}

void addParticles(CLI::App& app, bench::ParticlesOptions& options) {
  auto* command = app.add_subcommand(
      "particles",
      "Particle tracing: schedules by blocks per rank, compared with DIY's two exchanges");
  command->add_option("--voxels", options.voxels, "Voxels per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  addSlowBlockFlow(*command, options);
  command->add_option("--blocks-per-rank", options.blocksPerRank, "Blocks per rank (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--steps-per-hop", options.stepsPerHop,
                   "Use a ring of blocks that a tracer leaves after this number of steps")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--tracers", options.tracers, "Ring: numbers of tracers, square numbers (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 22))
      ->capture_default_str();
  command
      ->add_option(
          "--hops", options.hops,
          "Ring: total number of hops of all tracers; increased up to 40 times to give each tracer "
          "1000 hops")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  addExchange(*command, options);
}

void addWalks(CLI::App& app, bench::WalksOptions& options) {
  auto* command = app.add_subcommand(
      "walks", "Random walks of small messages between blocks, compared with DIY's two exchanges");
  command->add_option("--blocks-per-rank", options.blocksPerRank, "Blocks per rank (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--walkers", options.walkers, "Numbers of walkers (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 22))
      ->capture_default_str();
  command->add_option("--hops", options.hops, "Total number of hops of all walkers")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  addExchange(*command, options);
}

void addKernels(CLI::App& app, bench::KernelsOptions& options) {
  auto* command = app.add_subcommand("kernels", "Throughput of the advection kernels on one core");
  command->add_option("--points", options.points, "Points per axis of structured grids (list)")
      ->delimiter(',')
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  command->add_option("--mesh-cells", options.meshCells, "Cubes per axis of meshes")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  command->add_option("--seeds", options.seeds, "Number of seeds")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Maximum number of steps per line")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--step", options.step, "Step length of RK2 and RK4, in cells")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  addRepeat(*command, options.repeat);
  command->add_option("--fields", options.fields, "Fields (list)")
      ->delimiter(',')
      ->check(CLI::IsMember(options.fields))
      ->capture_default_str();
  command->add_option("--flows", options.flows, "Whether the flow changes in time (list)")
      ->delimiter(',')
      ->check(CLI::IsMember(options.flows))
      ->capture_default_str();
  command->add_option("--integrators", options.integrators, "Integrators (list)")
      ->delimiter(',')
      ->check(CLI::IsMember({"RK2", "RK4", "RK45"}))
      ->capture_default_str();
  addJson(*command, options.json);
}

void addTune(CLI::App& app, bench::TuneOptions& options) {
  auto* command = app.add_subcommand(
      "tune", "Exchange settings chosen by short trials, compared with a sweep over all settings");
  command->add_option("--workloads", options.workloads, "Workloads to measure (list); default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(bench::tuneWorkloads()));
  command->add_option("--work", options.work, "Factor for the number of steps per line")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--blocks-per-rank", options.blocksPerRank,
                   "Candidate numbers of blocks per rank (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--budget", options.budget,
                   "Limit of the cost of all trials, relative to one run with each setting")
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  addRepeat(*command, options.repeat, "Repetitions of the sweep");
  command
      ->add_option("--confirm", options.confirm,
                   "Repetitions of the comparison of the best and the chosen setting")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  addJson(*command, options.json);
}

/// Options of the distributed union-find.
void addUnions(CLI::App* command, bench::ComponentsOptions& options) {
  command->add_option("--problems", options.problems, "union: problems (list); default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(bench::componentProblems()));
  command
      ->add_option("--size", options.size,
                   "union: voxels per axis; 0 for the default of each problem")
      ->check(CLI::Range(0, 512))
      ->capture_default_str();
  command->add_option("--blocks-per-rank", options.blocksPerRank, "union: blocks per rank (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--unions", options.unions, "union: successive unions per measured time")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--simulate", options.simulate,
                   "union: numbers of simulated ranks (list); default: MPI")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  addRanksPerNode(*command, options.ranksPerNode);
  command
      ->add_option("--turn-seconds", options.turnSeconds,
                   "Simulated: seconds of computation between two receives")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--noise", options.noise, "Simulated: relative standard deviation of this time")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option_function<std::string>(
      "--machine",
      [&options](const std::string& name) { options.machine = bench::findMachine(name); },
      "Simulated: a machine, instead of the three options above: cluster, theta, or a file that "
      "calibrate has written");
  addRepeat(*command, options.repeat);
  command
      ->add_option("--variants", options.variants,
                   "union: variants to measure, by column name (list); default: all")
      ->delimiter(',');
  command->add_option("--detector", options.detector, "union: termination detector")
      ->capture_default_str();
  addJson(*command, options.json);
}

void addComponents(CLI::App& app, std::string& part, bench::ComponentsOptions& options,
                   bench::ComponentKernelsOptions& kernels) {
  auto* command = app.add_subcommand("components", "Connected components");
  command
      ->add_option("--part", part, "union: distributed union-find; kernels: labeling on one rank")
      ->check(CLI::IsMember({"union", "kernels"}))
      ->capture_default_str();
  command->add_option("--voxels", kernels.voxels, "kernels: voxels per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--threads", kernels.threads, "kernels: numbers of threads (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("--neighbors", kernels.neighbors, "kernels: neighbors of a voxel (list)")
      ->delimiter(',')
      ->check(CLI::IsMember({6, 18, 26}))
      ->capture_default_str();
  command
      ->add_option("--vertices", kernels.vertices,
                   "kernels: vertices of graphs with twice as many edges")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command
      ->add_option("--mesh-cubes", kernels.meshCubes, "kernels: cubes of six tetrahedra per axis")
      ->check(CLI::Range(1, 400))
      ->capture_default_str();
  command->add_option("--points", kernels.points, "kernels: number of points to merge")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command
      ->add_option("--cases", kernels.cases,
                   "kernels: cases to measure, by name in the table (list); default: all")
      ->delimiter(',');
  addUnions(command, options);
}

void addFeatures(CLI::App& app, bench::FeaturesOptions& options) {
  auto* command = app.add_subcommand(
      "features", "Features over time: one step, and the union of the parts of features");
  command->add_option("--plane", options.plane, "Points per axis of a two-dimensional grid")
      ->check(CLI::Range(2, 1 << 14))
      ->capture_default_str();
  command->add_option("--volume", options.volume, "Points per axis of a three-dimensional grid")
      ->check(CLI::Range(2, 1 << 10))
      ->capture_default_str();
  command->add_option("--features", options.features, "Regions per step")
      ->check(CLI::Range(1, 1 << 28))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Number of timed steps")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  options.unions.problems = {"critical", "streaks"};
  options.unions.variants = {"Labels Sync", "Labels Async", "Tree Async"};
  options.unions.blocksPerRank = {1};
  addUnions(command, options.unions);
}

void addTermination(CLI::App& app, bench::TerminationOptions& options) {
  auto* command = app.add_subcommand(
      "termination", "Termination detectors: delay, messages and cost, with MPI or simulated");
  command->add_option("--program", options.program, "Program of the ranks")
      ->check(CLI::IsMember({"load", "walks", "tracer", "diffusion"}))
      ->capture_default_str();
  command
      ->add_option("--detectors", options.detectors,
                   "Detectors (list); default: all valid detectors of the program")
      ->delimiter(',');
  command
      ->add_option("--simulate", options.simulate,
                   "Numbers of simulated ranks (list); default: MPI")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--mean", options.means, "load: means of the Poisson distribution (list)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command
      ->add_option("--remote", options.remotePercent, "load: percentage of remote requests (list)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  command->add_option("--items", options.load.itemsPerUnit, "load: items of work per unit of load")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--item-seconds", options.load.itemSeconds,
                   "load: seconds of computation per item")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--walkers", options.walks.walkers, "walks: walkers per rank")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--hops", options.walks.hops, "walks: hops per walker")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command->add_option("--bytes", options.walks.bytes, "walks: bytes per message")
      ->check(CLI::Range(32, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--hop-seconds", options.walks.hopSeconds,
                   "walks: seconds of computation per hop")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--tracer-voxels", options.tracer.voxels, "tracer: voxels per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--step-seconds", options.tracer.stepSeconds,
                   "tracer, simulated: seconds per step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--arity", options.detection.arity,
                   "Trees: maximum number of children of a node")
      ->capture_default_str();
  command->add_option("--control-level", options.detection.controlLevel, "Trees: control level")
      ->capture_default_str();
  command->add_option("--initiators", options.detection.initiators, "ring-flag: initiators")
      ->capture_default_str();
  addRanksPerNode(*command, options.ranksPerNode);
  addRepeat(*command, options.repeat, "Repetitions, each with another random seed");
  addJson(*command, options.json);
}

void addReduction(CLI::App& app, bench::ReductionOptions& options) {
  auto* command = app.add_subcommand(
      "reduction", "Merge and swap reductions of images, compared with MPI and DIY, or simulated");
  command->add_option("--patterns", options.patterns, "Patterns: merge, swap (list)")
      ->delimiter(',')
      ->check(CLI::IsMember({"merge", "swap"}))
      ->capture_default_str();
  command
      ->add_option("--operator", options.combine, "Operator on pixels; none for communication only")
      ->check(CLI::IsMember({"over", "none"}))
      ->capture_default_str();
  command->add_option("--pixels", options.pixels, "Number of 16-byte pixels per block (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 27))
      ->capture_default_str();
  command->add_option("--k", options.k, "Size of a group in a round (list); 0 for a single round")
      ->delimiter(',')
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command->add_option("--blocks-per-rank", options.blocksPerRank, "Blocks per rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads per rank that combine pixels")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command
      ->add_option("--segment-bytes", options.segmentBytes,
                   "Size in bytes of the segments of a merge")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command
      ->add_option("--simulate", options.simulate,
                   "Numbers of simulated ranks (list); default: MPI")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  addRanksPerNode(*command, options.ranksPerNode);
  command
      ->add_option("--pixel-seconds", options.pixelSeconds, "Simulated: seconds to combine a pixel")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  addRepeat(*command, options.repeat);
  command
      ->add_option("--variants", options.variants,
                   "Variants to measure, such as MPI, ours k=2 (list); default: all")
      ->delimiter(',');
  addJson(*command, options.json);
}

void addNeighborhood(CLI::App& app, bench::NeighborhoodOptions& options) {
  auto* command = app.add_subcommand(
      "neighborhood",
      "Particle tracing by share of arrivals, with MPI or simulated with slow ranks");
  command
      ->add_option("--arrivals", options.arrivals,
                   "Shares of the expected messages that end a round (list)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--simulate", options.simulate,
                   "Numbers of simulated ranks (list); default: MPI")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--particles", options.particles, "Total number of particles")
      ->check(CLI::Range(1, 1 << 26))
      ->capture_default_str();
  command->add_option("--steps", options.steps, "Steps per particle")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--step", options.stepCells, "Mean step length, in cells of a 2048^3 grid")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--seed-box", options.seedBox,
                   "Edge length of the cube of seeds, relative to the domain")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--blocks-per-rank", options.blocksPerRank, "Blocks per rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command->add_option("--slow-share", options.slowShare, "Simulated: share of slow ranks")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--slowness", options.slowness,
                   "Simulated: factor by which slow ranks are slower")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--slow-seconds", options.slowSeconds,
                   "Simulated: seconds after which other ranks become slow; 0 for never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--step-seconds", options.stepSeconds,
                   "Simulated: seconds of computation per step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  addRanksPerNode(*command, options.ranksPerNode);
  command->add_option("--detector", options.detector, "Termination detector")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Random seed of particles and slow ranks")
      ->capture_default_str();
  addRepeat(*command, options.repeat);
  addJson(*command, options.json);
}

void addBalance(CLI::App& app, bench::BalanceOptions& options) {
  auto* command = app.add_subcommand(
      "balance", "Particle tracing with lending of blocks, with MPI or simulated");
  command->add_option("--seeds", options.seeds, "Distributions of the seeds (list)")
      ->delimiter(',')
      ->check(CLI::IsMember(options.seeds))
      ->capture_default_str();
  command
      ->add_option("--variants", options.variants,
                   "Variants to measure, by name in the table (list); default: all")
      ->delimiter(',')
      ->check(CLI::IsMember({"Synchronous", "Neighborhood", "Asynchronous", "Lending"}));
  command
      ->add_option("--simulate", options.simulate,
                   "Numbers of simulated ranks (list); default: MPI")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--voxels", options.voxels, "Voxels per axis; 0 for 64, or 512 if simulated")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--blocks-per-rank", options.blocksPerRank, "Blocks per rank")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  addSlowBlockFlow(*command, options);
  command
      ->add_option("--call-seconds", options.tracing.callSeconds,
                   "Asynchronous schedule: seconds after which a call ends")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--memory", options.memory, "Limit of the copies on a rank, in MiB")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_option("--step-seconds", options.stepSeconds, "Simulated: seconds per step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--copy-rate", options.copyRate,
                   "Simulated: bytes per second of writing, and of reading, a copy")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  addRanksPerNode(*command, options.ranksPerNode);
  command->add_option("--detector", options.exchange.detector, "Termination detector")
      ->capture_default_str();
  addRepeat(*command, options.repeat, "MPI: repetitions");
  command->add_option("--timeline", options.timeline,
                      "Also write what each rank did, for ui.perfetto.dev, to files whose names "
                      "begin with this");
  addJson(*command, options.json);
}

void addIterations(CLI::App& app, bench::IterationsOptions& options) {
  auto* command = app.add_subcommand(
      "iterations",
      "A convection-diffusion step by asynchronous iterations, with MPI or simulated");
  command
      ->add_option(
          "--table", options.table,
          "detection: synchronous and asynchronous iterations by detection; sends: send modes and "
          "numbers of receives")
      ->check(CLI::IsMember({"detection", "sends"}))
      ->capture_default_str();
  command
      ->add_option("--simulate", options.simulate,
                   "Numbers of simulated ranks (list); default: MPI")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  command->add_option("--cells", options.cells, "Cells per axis")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--residual-threshold", options.residualThreshold,
                   "Threshold of the maximum norm of b - A u")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--inverse-step", options.inverseStep,
                   "Inverse of the time step; 0 for the steady state")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--receives", options.receives, "sends: active receives per neighbor (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--paper-cells", options.paperCells,
                   "Simulated: cells per axis of the problem whose times are simulated")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--cell-seconds", options.cellSeconds, "Simulated: seconds of a sweep per cell")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--residual-seconds", options.residualSeconds,
                   "Simulated: seconds of the residual per cell")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--noise", options.noise,
                   "Simulated: relative standard deviation of computation times")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--slow-speed", options.slowSpeed,
                   "Simulated: relative speed of one rank in the middle")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  addRanksPerNode(*command, options.ranksPerNode);
  command->add_option("--seed", options.seed, "Simulated: random seed of the noise")
      ->capture_default_str();
  addRepeat(*command, options.repeat);
  addJson(*command, options.json);
}

void addModel(CLI::App& app, bench::ModelOptions& options) {
  auto* command = app.add_subcommand(
      "model", "The performance model of hybrid Jacobi iterations, compared with measurements");
  command
      ->add_option(
          "--table", options.table,
          "errors: of modeled iteration times; fits: distributions of operation times; rates: by "
          "swap period and work share; stencils: interpolation between stencils; tuner: "
          "predicted and measured times; cost: of timing")
      ->check(CLI::IsMember({"errors", "fits", "rates", "stencils", "tuner", "cost"}))
      ->capture_default_str();
  command->add_option("--points", options.points, "Points per axis of a subregion")
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads per rank")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_flag("--master", options.master,
                    "Rank 0 is a master that forwards halos and residuals");
  command->add_option("--neighbors", options.neighbors, "Neighbors of a point")
      ->check(CLI::IsMember({4, 8}))
      ->capture_default_str();
  command->add_option("--swap-period", options.swapPeriod, "Iterations between two swaps of halos")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--residual-period", options.residualPeriod, "Iterations between two residuals")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--measured-seconds", options.measuredSeconds,
                   "Seconds for which operations are measured")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--timing-period", options.timingPeriod, "Period of timed iterations")
      ->check(CLI::Range(3, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--samples", options.samples, "Maximum number of samples per operation and rank")
      ->check(CLI::Range(10, 1 << 24))
      ->capture_default_str();
  command
      ->add_option("--simulated-seconds", options.simulatedSeconds,
                   "Virtual seconds of each simulation")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--swap-periods", options.swapPeriods,
                   "rates, tuner: swap periods in ascending order (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--work-shares", options.workShares, "rates: work shares (list)")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command
      ->add_option("--rate-seconds", options.rateSeconds,
                   "rates, cost: measured seconds per setting; 0 with rates: predict only")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--predict", options.predict,
                   "rates: subregions and threads of another run to predict")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024));
  command->add_option("--tolerance", options.tolerance, "tuner: tolerance of the residual")
      ->check(CLI::Range(1e-12, 0.5))
      ->capture_default_str();
  addRepeat(*command, options.repeat, "stencils, tuner, cost: repetitions");
  command->add_option("--seed", options.seed, "Random seed of simulations")->capture_default_str();
  command->add_option("--load", options.load, "Load timings from this file instead of measuring");
  command->add_option("--save", options.save, "Save the timings to this file");
  command->add_option("--csv", options.csv, "Also save the table as CSV to this file");
  addJson(*command, options.json);
}

void addRelaxation(CLI::App& app, bench::RelaxationOptions& options) {
  auto* command = app.add_subcommand(
      "relaxation", "Hybrid Jacobi iterations: convergence, threads, slow ranks, memory");
  command
      ->add_option(
          "--part", options.part,
          "convergence: time to the tolerance by swap period; history: residual over time by "
          "swap period; threads: rates and residuals by thread; slow: with a slow thread or "
          "rank; bandwidth: of memory")
      ->check(CLI::IsMember({"convergence", "history", "threads", "slow", "bandwidth"}))
      ->capture_default_str();
  command
      ->add_option("--variants", options.variants, "Variants, by their names in the paper (list)")
      ->delimiter(',')
      ->check(CLI::IsMember({"WS", "RTINC", "RTMAXIT", "RTMNRS", "ASNCDIR", "SNCDIR", "SHRD"}))
      ->capture_default_str();
  command
      ->add_option("--traffic", options.traffic,
                   "Direct: between neighbors; master: through a master rank")
      ->check(CLI::IsMember({"direct", "master"}))
      ->capture_default_str();
  command
      ->add_option("--sizes", options.sizes,
                   "Edge lengths in points of the square of a rank (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 15))
      ->capture_default_str();
  command
      ->add_option("--swap-periods", options.swapPeriods,
                   "Iterations between two swaps of halos (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--work-shares", options.workShares,
                   "threads: rows of the communicating thread relative to an equal share (list)")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1.0))
      ->capture_default_str();
  command->add_option("--threads", options.threads, "Threads per rank")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command
      ->add_option("--residual-period", options.residualPeriod, "Iterations between two residuals")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  command
      ->add_option("--tolerance", options.tolerance,
                   "Tolerance of the residual, relative to the initial one")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--time-limit", options.timeLimit,
                   "Time limit of a run in seconds; threads: duration of each run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--sleep", options.slowMicroseconds,
                   "slow: microseconds of sleep after an iteration; 0 for nine times its duration")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--edge", options.edge, "bandwidth: edge length of the square in points")
      ->check(CLI::Range(16, 1 << 15))
      ->capture_default_str();
  addRepeat(*command, options.repeat);
  addJson(*command, options.json);
  command->add_option("--csv", options.csv, "Also save the table as CSV to this file");
}

void addCalibrate(CLI::App& app, bench::CalibrationOptions& options) {
  auto* command = app.add_subcommand(
      "calibrate",
      "Costs of messages, steps, hand-overs and unions on this machine, to simulate it");
  command->add_option("--voxels", options.voxels, "Voxels per axis of the measured fields and sets")
      ->check(CLI::Range(8, 512))
      ->capture_default_str();
  addRepeat(*command, options.repeat);
  addJson(*command, options.json);
}

void addPaper(CLI::App& app, bench::PaperOptions& options) {
  auto* command = app.add_subcommand(
      "paper", "The experiments of the iexchange paper, simulated on a machine like the paper's");
  command
      ->add_option("--figure", options.figure,
                   "1: timelines of 64 ranks; 4: particle tracing by ranks and blocks per rank, "
                   "also Table 1; 7, 9: union-find by ranks")
      ->check(CLI::IsMember({"1", "4", "7", "9"}))
      ->capture_default_str();
  command
      ->add_option("--machine", options.machine,
                   "Machine: cluster, theta, or a file that calibrate has written")
      ->capture_default_str();
  command->add_option("--ranks", options.ranks, "Numbers of simulated ranks (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--blocks-per-rank", options.blocksPerRank, "4: blocks per rank (list)")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option(
          "--protocols", options.protocols,
          "1, 4: protocols (list): exchange; iexchange, whose calls take all particles of a "
          "block; library, whose calls take a portion; lending, in which idle ranks also borrow "
          "blocks")
      ->delimiter(',')
      ->check(CLI::IsMember({"exchange", "iexchange", "library", "lending"}))
      ->capture_default_str();
  command->add_flag("--measure", options.measure,
                    "4: measure on the ranks of MPI, without slow blocks, instead of simulating");
  addRepeat(*command, options.repeat, "Repetitions of measured times");
  command
      ->add_option("--seeds-per-voxel", options.seedsPerVoxel,
                   "1, 4: seeds per voxel along each of y and z")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command->add_option("--voxels", options.voxels, "1, 4: voxels per axis, a power of two")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--ratio", options.ratio,
                   "1, 4: ratio of fast to slow velocity; 0 for that of the paper")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--packet-voxels", options.packetVoxels,
                   "1, 4: edge in voxels of the squares whose particles travel together; 0 for "
                   "what the protocol needs")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  command->add_flag("--rows", options.rows,
                    "1, 4: assign consecutive blocks along x to a rank, instead of blocks in turn");
  command->add_option("--handover-factor", options.handoverFactor, "Factor of the hand-over time")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--step-factor", options.stepFactor, "Factor of the time of a step")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--turn-factor", options.turnFactor, "Factor of the time of a turn")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      ->add_option("--network,--network-factor", options.networkFactor,
                   "Factor of all network costs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--stall", options.stallSeconds,
                   "1, 4: seconds for which one rank in a thousand, at least one, stops in its "
                   "first call")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--size", options.size, "7, 9: voxels per axis; 0 for that of the paper")
      ->check(CLI::Range(0, 512))
      ->capture_default_str();
  command->add_option("--timeline", options.timeline,
                      "1: write the timelines to files that begin with this name");
  addJson(*command, options.json);
}

int run(int argc, char** argv, int rank, int size) {
  CLI::App app("Measures Tributary and, where available, comparable libraries in the same run");
  bench::ParticlesOptions particles;
  bench::KernelsOptions kernels;
  bench::TerminationOptions termination;
  bench::WalksOptions walks;
  bench::NeighborhoodOptions neighborhood;
  bench::BalanceOptions balance;
  bench::ReductionOptions reduction;
  bench::IterationsOptions iterations;
  bench::ModelOptions model;
  bench::RelaxationOptions relaxation;
  bench::TuneOptions tune;
  bench::PaperOptions paper;
  bench::CalibrationOptions calibration;
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
  addBalance(app, balance);
  addIterations(app, iterations);
  addModel(app, model);
  addRelaxation(app, relaxation);
  addTune(app, tune);
  addPaper(app, paper);
  addCalibrate(app, calibration);
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
  } else if (app.got_subcommand("balance")) {
    bench::measureBalance(balance);
  } else if (app.got_subcommand("iterations")) {
    bench::measureIterations(iterations);
  } else if (app.got_subcommand("model")) {
    bench::measureModel(model);
  } else if (app.got_subcommand("relaxation")) {
    bench::measureRelaxation(relaxation);
  } else if (app.got_subcommand("tune")) {
    bench::measureTune(tune);
  } else if (app.got_subcommand("paper")) {
    bench::measurePaper(paper);
  } else if (app.got_subcommand("calibrate")) {
    bench::calibrateMachine(calibration);
  } else if (app.got_subcommand("features")) {
    bench::measureFeatures(features);
  } else if (app.got_subcommand("components")) {
    if (componentsPart == "union") {
      bench::measureComponents(components);
      return 0;
    }
    if (size > 1) throw tributary::Error("components --part kernels must run on one rank");
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
  int provided = 0;  // benchmarks query the transport for the support they need
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) return 1;
  int rank = 0;
  int result = 1;
  try {
    rank = bench::worldRank();
    result = run(argc, argv, rank, bench::worldSize());
  } catch (const std::exception& error) {
    std::cerr << "tributary-bench, rank " << rank << ": " << error.what() << std::endl;
    if (MPI_Abort(MPI_COMM_WORLD, 1) != MPI_SUCCESS) return 1;
  }
  return MPI_Finalize() == MPI_SUCCESS ? result : 1;
}
