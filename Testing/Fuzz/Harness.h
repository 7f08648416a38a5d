// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::fuzz {

/// An input that an encoder of the library has written.
struct Seed {
  std::string name;
  Bytes bytes;
};

/// Decodes an input. Each harness defines it, or scenes(), once. Throws Error if the input is
/// malformed; any other exception, and any Error of kind Memory or Internal, is a finding.
void decode(Span<const std::byte> input);
/// The inputs to begin with.
[[nodiscard]] std::vector<Seed> seeds();

/// Collective work of `ranks` ranks, of which one gets fuzzed messages.
struct Scene {
  std::string name;
  int ranks;
  int rank;  ///< the one with fuzzed messages
  std::function<void(Transport&)> play;
  bool fails = false;  ///< Whether a rank fails, with any messages.
};

/// The scenes of a harness of messages. The first byte of an input chooses one; the others are
/// messages, see lettersOf(). The seeds are the messages that the rank receives when all ranks play
/// the scene. With any input, the others contribute to all-reduces what they do in that play.
[[nodiscard]] const std::vector<Scene>& scenes();

}  // namespace tributary::fuzz
