// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataObject.h>
#include <vtkType.h>
#include <vtkWeakPointer.h>

#include <vector>

#include "Tributary/Base/Fingerprint.h"

class vtkDataArray;
class vtkDataSet;

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
    std::vector<vtkIdType> sizes;             // the numbers of points and cells of each
  };
  static State stateOf(vtkDataObject* object);

  vtkWeakPointer<vtkDataObject> object_;
  State state_;
};

/// Adds the type, size and values of an array, which may be null.
void addArray(Fingerprint& print, vtkDataArray* array);

/// Local. Whether two data sets of one type, extent and geometry have the same arrays of points,
/// cells and ghost flags in memory. They may have equal ones also if not.
[[nodiscard]] bool sharesMesh(vtkDataSet* one, vtkDataSet* other);

/// Local. A fingerprint of what the shapes of a data set's cells depend on: points, cells, orders
/// and weights of curved cells, and ghost flags, which hide cells. Reads all of these.
[[nodiscard]] Fingerprint fingerprintOfMesh(vtkDataSet* dataSet);

/// Local. The same without the coordinates of the points, if the data set is a vtkPointSet.
[[nodiscard]] Fingerprint fingerprintOfCells(vtkDataSet* dataSet);

}  // namespace tributary
