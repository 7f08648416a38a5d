// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkType.h>
#include <vtkWeakPointer.h>

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
  vtkWeakPointer<vtkDataObject> object_;
  vtkMTimeType generated_ = 0;
  vtkMTimeType modified_ = 0;
};

}  // namespace tributary
