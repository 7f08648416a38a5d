// SPDX-License-Identifier: BSD-3-Clause
#include "FlowMap/KeptSteps.h"

#include <utility>

namespace tributary {

vtkDataObject* KeptSteps::use(double time) {
  const auto at = steps_.find(time);
  if (at == steps_.end()) return nullptr;
  at->second.used = ++uses_;
  return at->second.data;
}

void KeptSteps::add(double time, vtkSmartPointer<vtkDataObject> data) {
  steps_[time] = {std::move(data), ++uses_};
}

void KeptSteps::trim(std::size_t most, const std::set<double>& needed) {
  while (steps_.size() > most) {
    auto oldest = steps_.end();
    for (auto step = steps_.begin(); step != steps_.end(); ++step)
      if (needed.count(step->first) == 0 &&
          (oldest == steps_.end() || step->second.used < oldest->second.used))
        oldest = step;
    if (oldest == steps_.end()) return;
    steps_.erase(oldest);
  }
}

}  // namespace tributary
