// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkSmartPointer.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "Common/PropertyList.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Returns an array of a data set, or null, and its association (of vtkDataObject).
using FindArray = std::function<vtkDataArray*(vtkDataSet*, int& association)>;

/// The velocity of a data set.
struct Velocity {
  vtkSmartPointer<vtkDataArray> vectors;  ///< Null if the data set has none.
  bool isAtCells = false;                 ///< Whether it is cell data rather than point data.
};

/// Where the values of components belong to.
enum class ComponentPosition {
  PointsOrCells,  ///< What the arrays belong to.
  LowFaces,       ///< Each value of a cell belongs to its face across the axis of the component (an
                  ///< Arakawa C grid), at the side of lower indices,
  HighFaces       ///< or at that of higher ones.
};

/// How the velocity of an input is stored, and in which coordinates: properties of the filters that
/// read one; see vtkAsyncParticleAlgorithm. All members are local.
struct VelocityForm {
  /// An array that a property selects by its name.
  struct Component {
    std::string name;  ///< Empty or "None" if no array is selected.
    FindArray find;

    [[nodiscard]] bool isSelected() const { return !name.empty() && name != "None"; }
  };

  bool inComponents = false;  ///< Whether `components` are read instead of `vectors`.
  FindArray vectors;
  std::array<Component, 3> components;  ///< Without the last one, the third component is 0.
  ComponentPosition position = ComponentPosition::PointsOrCells;  ///< Of components.
  /// Whether x and y are longitude and latitude in degrees on a sphere, and the first two
  /// components are lengths per time along them.
  bool onSphere = false;
  double radius = 6371000;  ///< Of the sphere, in the unit of length of the velocity.

  /// Throws Error if a property is invalid.
  void check() const;
  /// Adds the properties that have an effect, without the arrays that are selected.
  void describe(PropertyList& list) const;

  /// Whether the vectors are made from arrays of the input, rather than one of these.
  [[nodiscard]] bool isDerived() const { return inComponents || onSphere; }
  /// Whether the components belong to faces; of() returns them at the cells: see moveToFaces().
  [[nodiscard]] bool onFaces() const {
    return inComponents && position != ComponentPosition::PointsOrCells;
  }
  /// The value of the property Component Position.
  [[nodiscard]] std::string positionText() const;
  /// The end of a message: "choose an array ... with Vectors".
  /// @param which  which array or arrays: "that the input has"
  [[nodiscard]] std::string choice(const std::string& which) const;
  /// Whether a data set has the velocity, without checks of its arrays.
  [[nodiscard]] bool isIn(vtkDataSet* dataSet) const;
  /// The arrays of a data set in which its velocity is stored; none if it has no velocity.
  /// @param isAtCells  Out: whether they are cell data rather than point data
  /// @throws Error as of()
  [[nodiscard]] std::vector<vtkDataArray*> stored(vtkDataSet* dataSet, bool& isAtCells) const;
  /// The velocity of a data set. Vectors that are made have the type float if their arrays do,
  /// otherwise double. Vectors of a wrong size are returned as they are, for the checks of the
  /// caller. For work within collectively().
  /// @throws Error if the data set has some components only, of points and of cells, of a wrong
  ///         size, or latitudes beyond the poles
  [[nodiscard]] Velocity of(const Transport& transport, vtkDataSet* dataSet) const;
};

}  // namespace tributary
