// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "Harness.h"
#include "Peers.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::fuzz {

namespace {

/// What a rank receives when all ranks play a scene.
struct Recording {
  Bytes input;
  Contributions contributions;
};

Recording record(std::size_t choice) {
  const Scene& scene = scenes()[choice];
  Recording recording;
  recording.input = Writer().value(static_cast<std::uint8_t>(choice)).take();
  VirtualTimeNetworkOptions options;
  options.ranks = scene.ranks;
  options.stackBytes = std::size_t(1) << 20;
  const auto network = makeVirtualTimeNetwork(options);
  try {
    network->run([&](Transport& transport) {
      Recorder recorder(transport, scene.rank, recording.input, recording.contributions);
      scene.play(recorder);
    });
  } catch (const Error& error) {
    if (!scene.fails) {
      std::fprintf(stderr, "the scene %s fails: %s\n", scene.name.c_str(), error.what());
      std::abort();
    }
  }
  return recording;
}

const Recording& recordingOf(std::size_t choice) {
  static std::vector<std::unique_ptr<Recording>> known(scenes().size());
  if (!known[choice]) known[choice] = std::make_unique<Recording>(record(choice));
  return *known[choice];
}

}  // namespace

void decode(Span<const std::byte> input) {
  if (input.size() == 0) return;
  const std::size_t choice = static_cast<std::uint8_t>(input[0]) % scenes().size();
  const Scene& scene = scenes()[choice];
  Peers peers(scene.rank, scene.ranks, lettersOf({input.data() + 1, input.size() - 1}, scene.ranks),
              recordingOf(choice).contributions);
  scene.play(peers);
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  for (std::size_t i = 0; i < scenes().size(); ++i)
    if (const Bytes& input = recordingOf(i).input; input.size() > 1)
      all.push_back({scenes()[i].name, input});
  return all;
}

}  // namespace tributary::fuzz
