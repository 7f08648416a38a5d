// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
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

Recording recordingOf(std::size_t choice) {
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
    if (error.kind() != ErrorKind::Input) throw;  // a scene in which a rank fails
  }
  return recording;
}

const std::vector<Recording>& recordings() {
  static const std::vector<Recording> all = [] {
    std::vector<Recording> made;
    for (std::size_t i = 0; i < scenes().size(); ++i) made.push_back(recordingOf(i));
    return made;
  }();
  return all;
}

}  // namespace

void decode(Span<const std::byte> input) {
  if (input.size() == 0) return;
  const std::size_t choice = static_cast<std::uint8_t>(input[0]) % scenes().size();
  const Scene& scene = scenes()[choice];
  Peers peers(scene.rank, scene.ranks, lettersOf({input.data() + 1, input.size() - 1}, scene.ranks),
              recordings()[choice].contributions);
  scene.play(peers);
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  for (std::size_t i = 0; i < scenes().size(); ++i)
    if (recordings()[i].input.size() > 1) all.push_back({scenes()[i].name, recordings()[i].input});
  return all;
}

}  // namespace tributary::fuzz
