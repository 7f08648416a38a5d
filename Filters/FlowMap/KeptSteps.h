// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace tributary {

/// The data of the time steps that were used last. Local.
class KeptSteps {
 public:
  /// The data of a step, which are now the last ones used; null if they are not kept.
  vtkDataObject* use(double time);
  /// Whether the data of a step are kept.
  [[nodiscard]] bool has(double time) const { return steps_.count(time) > 0; }
  /// Keeps the data of a step, which are now the last ones used.
  void add(double time, vtkSmartPointer<vtkDataObject> data);
  /// Removes the data that were not used for the longest time, until at most `most` steps remain.
  /// @param needed  steps that are not removed, whatever their number
  void trim(std::size_t most, const std::set<double>& needed = {});
  /// The number of steps that are kept.
  std::size_t size() const { return steps_.size(); }
  void clear() { steps_.clear(); }

 private:
  struct Step {
    vtkSmartPointer<vtkDataObject> data;
    std::int64_t used = 0;  // the number of the last use
  };
  std::map<double, Step> steps_;
  std::int64_t uses_ = 0;
};

}  // namespace tributary
