// SPDX-License-Identifier: BSD-3-Clause
// Flow past a cylinder with analysis in situ: Docs/InSitu.md.
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "Analysis.h"
#include "ChannelFlow.h"
#include "Restart.h"

namespace {

constexpr const char* Usage = R"(VortexStreet [<option> <value>]...
  --outputs N        number of outputs after the first one (20)
  --every N          steps of the solver between two outputs (50)
  --script FILE      Catalyst script; may be repeated
  --folder FOLDER    to which scripts and restart files are written (.)
  --restart-every N  outputs between two restart files; 0: none (10)
  --restart FILE     continue from a restart file
  --reynolds X       mean velocity of the inflow * diameter / viscosity (100)
  --resolution N     nodes per diameter (10)
  --length X         of the channel in diameters (22)
  --layers N         nodes across the slab (4)
  --velocity X       mean velocity of the inflow in nodes per step (0.08)
)";

struct Options {
  ChannelSettings channel;
  std::int64_t outputs = 20, every = 50, restartEvery = 10;
  std::vector<std::string> scripts;
  std::string folder = ".", restart;
};

Options parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> setters = {
      {"--outputs", [&](const std::string& v) { options.outputs = std::stoll(v); }},
      {"--every", [&](const std::string& v) { options.every = std::stoll(v); }},
      {"--script", [&](const std::string& v) { options.scripts.push_back(v); }},
      {"--folder", [&](const std::string& v) { options.folder = v; }},
      {"--restart-every", [&](const std::string& v) { options.restartEvery = std::stoll(v); }},
      {"--restart", [&](const std::string& v) { options.restart = v; }},
      {"--reynolds", [&](const std::string& v) { options.channel.reynolds = std::stod(v); }},
      {"--resolution", [&](const std::string& v) { options.channel.resolution = std::stoi(v); }},
      {"--length", [&](const std::string& v) { options.channel.length = std::stod(v); }},
      {"--layers", [&](const std::string& v) { options.channel.layers = std::stoi(v); }},
      {"--velocity", [&](const std::string& v) { options.channel.velocity = std::stod(v); }},
  };
  for (int i = 1; i < argc; i += 2) {
    const auto setter = setters.find(argv[i]);
    if (setter == setters.end() || i + 1 == argc)
      throw std::invalid_argument(std::string(argv[i]) + ": no such option, or no value\n" + Usage);
    setter->second(argv[i + 1]);
  }
  if (options.every < 1 || options.outputs < 0 || options.restartEvery < 0)
    throw std::invalid_argument(
        "--every must be positive, --outputs and --restart-every not negative");
  return options;
}

void run(const Options& options) {
  ChannelFlow flow(MPI_COMM_WORLD, options.channel);
  if (!options.restart.empty()) readRestart(options.restart, flow, options.every);
  const std::int64_t first = flow.steps() / options.every;
  if (first > options.outputs)
    throw std::invalid_argument("the restart file is that of output " + std::to_string(first) +
                                "; raise --outputs");
  std::filesystem::create_directories(options.folder);
  std::unique_ptr<Analysis> analysis;
  if (!options.scripts.empty()) analysis = makeCatalystAnalysis(options.scripts, options.folder);
  const std::string restartFile = options.folder + "/restart.bin";

  // A restart begins with the output at which the file was written, which filters that continue
  // need.
  StepInformation information;
  for (std::int64_t output = first; output <= options.outputs; ++output) {
    const double begin = MPI_Wtime();
    while (flow.steps() < output * options.every) flow.step();
    information.solverSeconds = MPI_Wtime() - begin;
    information.time = flow.time();
    information.step = output;
    information.writesRestart =
        output > first && options.restartEvery > 0 && output % options.restartEvery == 0;
    flow.requireStable();
    if (analysis) analysis->execute(information, [&] { return flow.fields(); });
    if (information.writesRestart) writeRestart(restartFile, flow, options.every);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "VortexStreet: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
