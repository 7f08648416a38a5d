// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <utility>

#include "Harness.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary::fuzz {

void decode(Span<const std::byte> input) {
  if (input.size() == 0) return;
  const std::size_t choice = static_cast<std::uint8_t>(input[0]) % scenes().size();
  const Scene& scene = scenes()[choice];
  Peers peers(scene.rank, scene.ranks, lettersOf({input.data() + 1, input.size() - 1}, scene.ranks),
              scene.contribution);
  scene.play(peers);
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  for (std::size_t i = 0; i < scenes().size(); ++i) {
    const Scene& scene = scenes()[i];
    Bytes input;
    VirtualTimeNetworkOptions options;
    options.ranks = scene.ranks;
    options.stackBytes = std::size_t(1) << 20;
    const auto network = makeVirtualTimeNetwork(options);
    try {
      network->run([&](Transport& transport) {
        if (transport.rank() != scene.rank) return scene.play(transport);
        input = Writer().value(static_cast<std::uint8_t>(i)).take();
        Recorder recorder(transport, input);
        scene.play(recorder);
      });
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Input) throw;  // a scene in which a rank fails
    }
    if (input.size() > 1) all.push_back({scene.name, std::move(input)});
  }
  return all;
}

}  // namespace tributary::fuzz
