// SPDX-License-Identifier: BSD-3-Clause
// The messages of all termination detectors.
#include <string>

#include "Harness.h"
#include "Tributary/Termination/Detector.h"

namespace tributary::fuzz {

namespace {

constexpr int Ranks = 3;

/// Two detections on ranks without work.
void play(Transport& transport, const std::string& name) {
  DetectorOptions options;
  options.work = WorkModel::Monotone;
  options.arity = 2;
  const auto detector = makeDetector(name, transport, transport.openSession(), options);
  for (int detection = 0; detection < 2; ++detection) {
    do {
      transport.poll();
      transport.relax(0);
    } while (!detector->advance(true, false));
  }
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = [] {
    std::vector<Scene> made;
    for (const std::string& name : detectorNames())
      for (const int rank : {0, 1})
        made.push_back({name + "-" + std::to_string(rank), Ranks, rank,
                        [name](Transport& transport) { play(transport, name); }});
    return made;
  }();
  return all;
}

}  // namespace tributary::fuzz
