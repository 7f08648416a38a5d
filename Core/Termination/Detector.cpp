#include "Tributary/Termination/Detector.h"

#include <map>

#include "Tributary/Error.h"
#include "Tributary/Termination/Consensus.h"

namespace tributary {

namespace {

std::map<std::string, DetectorFactory>& registry() {
  static std::map<std::string, DetectorFactory> detectors = {{"consensus", makeConsensus}};
  return detectors;
}

}  // namespace

void registerDetector(const std::string& name, DetectorFactory factory) {
  if (!registry().emplace(name, std::move(factory)).second) {
    throw Error("there is already a termination detector named '" + name + "'");
  }
}

std::vector<std::string> detectorNames() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : registry()) names.push_back(name);
  return names;
}

std::unique_ptr<Detector> makeDetector(const std::string& name, Transport& transport,
                                       Session session) {
  const auto found = registry().find(name);
  if (found == registry().end()) {
    std::string known;
    for (const std::string& one : detectorNames()) known += (known.empty() ? "" : ", ") + one;
    throw Error("there is no termination detector named '" + name + "': choose one of " + known);
  }
  return found->second(transport, session);
}

}  // namespace tributary
