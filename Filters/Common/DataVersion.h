// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkType.h>
#include <vtkWeakPointer.h>

#include <vector>

namespace tributary {

/// Recognizes a data object that has not changed since it was remembered. Holds no reference to it.
class DataVersion {
 public:
  /// Remembers the present state of an object, which may be null.
  explicit DataVersion(vtkDataObject* object = nullptr);

  /// Whether the object is the remembered one, its producer has not executed since, and neither it
  /// nor a data set or array of it has been modified since. False for null.
  [[nodiscard]] bool isCurrent(vtkDataObject* object) const;

 private:
  /// What changes with the data sets of an object.
  struct State {
    vtkMTimeType generated = 0;               // by its producer
    vtkMTimeType modified = 0;                // the last change of any part
    std::vector<const vtkDataObject*> parts;  // only compared
  };
  static State stateOf(vtkDataObject* object);

  vtkWeakPointer<vtkDataObject> object_;
  State state_;
};

}  // namespace tributary
