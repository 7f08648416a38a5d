// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/Detector.h"

#include <cstdlib>
#include <map>

#include "Tributary/Base/Error.h"
#include "Tributary/Termination/detail/AllReduce.h"
#include "Tributary/Termination/detail/Consensus.h"
#include "Tributary/Termination/detail/FourCounter.h"
#include "Tributary/Termination/detail/HashCounter.h"
#include "Tributary/Termination/detail/Nbx.h"
#include "Tributary/Termination/detail/RingAps.h"
#include "Tributary/Termination/detail/RingCounter.h"
#include "Tributary/Termination/detail/RingFlag.h"
#include "Tributary/Termination/detail/SharedCounter.h"
#include "Tributary/Termination/detail/TreeAck.h"
#include "Tributary/Termination/detail/TreeAps.h"
#include "Tributary/Termination/detail/TreeCounter.h"

namespace tributary {

using namespace detail;

namespace {

using Registry = std::map<std::string, DetectorType>;

Registry& registry() {
  static Registry detectors = [] {
    Registry types;
    for (DetectorType type : {
             allReduceDetector(),
             consensusDetector(),
             fourCounterDetector(),
             hashCounterDetector(),
             nbxDetector(),
             ringApsDetector(),
             ringCounterDetector(),
             ringFlagDetector(),
             sharedCounterDetector(),
             treeAckDetector(),
             treeApsDetector(),
             treeCounterDetector(),
         }) {
      const std::string name = type.traits.name;
      types.emplace(name, std::move(type));
    }
    return types;
  }();
  return detectors;
}

std::string listOf(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

const DetectorType& checkedType(const std::string& asked, const DetectorOptions& options) {
  const std::string name = asked == "default" ? defaultDetector() : asked;
  const auto found = registry().find(name);
  if (found == registry().end()) {
    throw Error("unknown termination detector '" + name + "': choose one of " +
                listOf(detectorNames(options.work)));
  }
  const DetectorType& type = found->second;
  if (type.traits.model > options.work) {
    throw Error("the termination detector '" + name +
                "' may report termination too early for this program, because it assumes that a "
                "passive rank does not " +
                (type.traits.model == WorkModel::APS ? "send work again" : "receive work again") +
                ": choose one of " + listOf(detectorNames(options.work)));
  }
  if (options.arity < 2)
    throw Error("termination detector: arity is " + std::to_string(options.arity) +
                ", but must be at least 2");
  if (options.controlLevel < 0) {
    throw Error("termination detector: controlLevel is " + std::to_string(options.controlLevel) +
                ", but must be at least 0");
  }
  if (options.initiators < 1)
    throw Error("termination detector: initiators is " + std::to_string(options.initiators) +
                ", but must be at least 1");
  return type;
}

}  // namespace

void registerDetector(DetectorType type) {
  const std::string name = type.traits.name;
  if (!registry().emplace(name, std::move(type)).second) {
    throw Error("a termination detector named '" + name +
                "' is registered already: choose another name");
  }
}

std::vector<std::string> detectorNames(WorkModel work) {
  std::vector<std::string> names;
  for (const auto& [name, type] : registry()) {
    if (type.traits.model <= work) names.push_back(name);
  }
  return names;
}

std::string defaultDetector() {
  const char* chosen = std::getenv("TRIBUTARY_DETECTOR");
  return chosen != nullptr && *chosen != '\0' ? chosen : "hash-counter";
}

const DetectorTraits& checkDetector(const std::string& name, const DetectorOptions& options) {
  return checkedType(name, options).traits;
}

std::unique_ptr<Detector> makeDetector(const std::string& name, Transport& transport,
                                       Session session, const DetectorOptions& options) {
  return checkedType(name, options).make(transport, session, options);
}

}  // namespace tributary
