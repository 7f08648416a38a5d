// SPDX-License-Identifier: BSD-3-Clause
#include "Velocity/VelocityForm.h"

#include <vtkDataObject.h>
#include <vtkDoubleArray.h>
#include <vtkFloatArray.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "Common/CellLists.h"
#include "Common/FreshArray.h"
#include "Common/Require.h"
#include "Common/SmpFor.h"
#include "Velocity/Latitudes.h"

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

constexpr double DegreesPerRadian = 180 / 3.14159265358979323846;
constexpr const char* Labels[] = {"X Component", "Y Component", "Z Component"};
/// Tuples that are written at a time: they stay in the first cache.
constexpr std::int64_t TuplesPerPart = 1024;
/// Tuples between two looks for an abort.
constexpr std::int64_t TuplesPerPiece = std::int64_t{1} << 24;

/// A component as an array of the data set; null if it lacks it.
struct Source {
  vtkSmartPointer<vtkDataArray> array;
  int component = 0;
};

bool isOf(int association, bool cells) {
  return association ==
         (cells ? vtkDataObject::FIELD_ASSOCIATION_CELLS : vtkDataObject::FIELD_ASSOCIATION_POINTS);
}

vtkIdType sizeOf(vtkDataSet* dataSet, bool cells) {
  return cells ? dataSet->GetNumberOfCells() : dataSet->GetNumberOfPoints();
}

/// An array of points or cells, or null.
vtkDataArray* find(const FindArray& findArray, vtkDataSet* dataSet, bool& isAtCells) {
  int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
  vtkDataArray* array = findArray(dataSet, association);
  isAtCells = isOf(association, true);
  return isAtCells || isOf(association, false) ? array : nullptr;
}

/// Writes values of an array to the tuples of another one.
template <class From, class To>
void write(const Source& source, std::size_t component, To* to, std::int64_t begin,
           std::int64_t end) {
  const int stride = source.array->GetNumberOfComponents();
  const From* from = static_cast<const From*>(source.array->GetVoidPointer(0)) + source.component;
  for (std::int64_t i = begin; i < end; ++i)
    to[3 * i + static_cast<std::int64_t>(component)] = static_cast<To>(from[i * stride]);
}

/// Converts lengths per time to degrees per time.
template <class To>
void toDegrees(const Latitudes& latitudes, double perRadius, To* to, std::int64_t begin,
               std::int64_t end) {
  for (std::int64_t i = begin; i < end;) {
    const Latitudes::Run run = latitudes.from(static_cast<vtkIdType>(i));
    const double eastward = perRadius * Latitudes::eastwardFactor(run.latitude);
    for (const std::int64_t stop = std::min<std::int64_t>(run.end, end); i < stop; ++i) {
      // At a pole also where the velocity is not finite.
      to[3 * i] = eastward != 0 ? static_cast<To>(to[3 * i] * eastward) : To(0);
      to[3 * i + 1] = static_cast<To>(to[3 * i + 1] * perRadius);
    }
  }
}

template <class To>
void fill(const Transport& transport, const std::array<Source, 3>& given,
          const std::optional<Latitudes>& latitudes, double radius, vtkDataArray* vectors) {
  std::array<Source, 3> sources = given;
  for (std::size_t c = 0; c < 3; ++c)
    if (c > 0 && given[c].array == given[0].array)
      sources[c].array = sources[0].array;
    else if (given[c].array)
      sources[c].array = contiguous(given[c].array);
  To* const to = static_cast<To*>(vectors->GetVoidPointer(0));
  const std::int64_t tuples = vectors->GetNumberOfTuples();
  smpForPieces(transport, tuples, TuplesPerPiece, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t begin = first; begin < last; begin += TuplesPerPart) {
      const std::int64_t end = std::min(begin + TuplesPerPart, last);
      for (std::size_t c = 0; c < 3; ++c) {
        if (!sources[c].array)
          for (std::int64_t i = begin; i < end; ++i) to[3 * i + std::int64_t(c)] = 0;
        else if (sources[c].array->GetDataType() == VTK_FLOAT)
          write<float>(sources[c], c, to, begin, end);
        else
          write<double>(sources[c], c, to, begin, end);
      }
      if (latitudes) toDegrees(*latitudes, DegreesPerRadian / radius, to, begin, end);
    }
  });
}

/// "the array "u" of X Component"
std::string named(const VelocityForm& form, std::size_t component) {
  return "the array \"" + form.components[component].name + "\" of " + Labels[component];
}

/// The arrays of the components that are selected; all null if the data set has none of them.
/// @param isAtCells  Out
std::array<Source, 3> componentsOf(const VelocityForm& form, vtkDataSet* dataSet, bool& isAtCells) {
  std::array<Source, 3> sources;
  std::array<bool, 3> atCells{};
  std::optional<std::size_t> found, missing;
  for (std::size_t c = 0; c < 3; ++c) {
    if (!form.components[c].isSelected()) continue;
    sources[c].array = find(form.components[c].find, dataSet, atCells[c]);
    auto& first = sources[c].array ? found : missing;
    if (!first) first = c;
  }
  if (!found) return sources;
  if (missing)
    throw Error("a data set of the input has " + named(form, *found) + ", but lacks " +
                named(form, *missing) + "; choose arrays that are in the same data sets");
  isAtCells = atCells[*found];
  for (std::size_t c = 0; c < 3; ++c) {
    if (!sources[c].array) continue;
    if (atCells[c] != isAtCells)
      throw Error(named(form, *found) + " belongs to " + (isAtCells ? "cells" : "points") +
                  ", and " + named(form, c) + " to " + (atCells[c] ? "cells" : "points") +
                  "; convert one with Cell Data to Point Data or Point Data to Cell Data first");
    if (sources[c].array->GetNumberOfComponents() != 1)
      throw Error(named(form, c) + " has " +
                  std::to_string(sources[c].array->GetNumberOfComponents()) +
                  " components; choose an array with 1 component, or set Velocity Form to Vector "
                  "Array");
    const vtkIdType size = sizeOf(dataSet, isAtCells);
    if (sources[c].array->GetNumberOfTuples() != size)
      throw Error(named(form, c) + " has " + std::to_string(sources[c].array->GetNumberOfTuples()) +
                  " values for " + std::to_string(size) + (isAtCells ? " cells" : " points") +
                  "; repair it where the data set is read or made");
  }
  return sources;
}

}  // namespace

void VelocityForm::check() const {
  if (onSphere)
    require(radius > 0 && std::isfinite(radius), "Sphere Radius", radius,
            "set it to a positive length");
  if (!inComponents) return;
  for (const std::size_t c : {0, 1})
    require(components[c].isSelected(), Labels[c], "not set",
            "choose an array with 1 component, or set Velocity Form to Vector Array");
  for (std::size_t c = 1; c < 3; ++c)
    for (std::size_t other = 0; other < c; ++other)
      require(!components[c].isSelected() || components[c].name != components[other].name,
              Labels[c], '"' + components[c].name + '"', "choose another array than that of ",
              Labels[other]);
}

void VelocityForm::describe(PropertyList& list) const {
  list.add("Velocity Form", inComponents);
  if (inComponents) list.add("Component Position", static_cast<int>(position));
  list.add("Coordinates", onSphere);
  if (onSphere) list.add("Sphere Radius", radius);
}

std::string VelocityForm::positionText() const {
  constexpr const char* Texts[] = {"Same Points or Cells", "Faces, Low Side", "Faces, High Side"};
  return Texts[static_cast<std::size_t>(position)];
}

std::string VelocityForm::choice(const std::string& which) const {
  return inComponents ? "choose arrays with 1 component " + which +
                            " with X Component, Y Component and Z Component"
                      : "choose an array of 3 components " + which + " with Vectors";
}

bool VelocityForm::isIn(vtkDataSet* dataSet) const {
  bool isAtCells = false;
  if (!inComponents) return find(vectors, dataSet, isAtCells) != nullptr;
  return std::any_of(components.begin(), components.end(), [&](const Component& component) {
    return component.isSelected() && find(component.find, dataSet, isAtCells);
  });
}

std::vector<vtkDataArray*> VelocityForm::stored(vtkDataSet* dataSet, bool& isAtCells) const {
  std::vector<vtkDataArray*> arrays;
  if (!inComponents) {
    if (vtkDataArray* array = find(vectors, dataSet, isAtCells)) arrays.push_back(array);
    return arrays;
  }
  for (const Source& source : componentsOf(*this, dataSet, isAtCells))
    if (source.array) arrays.push_back(source.array);
  return arrays;
}

Velocity VelocityForm::of(const Transport& transport, vtkDataSet* dataSet) const {
  Velocity velocity;
  std::array<Source, 3> sources;
  if (inComponents) {
    sources = componentsOf(*this, dataSet, velocity.isAtCells);
    if (!sources[0].array) return velocity;
  } else {
    velocity.vectors = find(vectors, dataSet, velocity.isAtCells);
    if (!velocity.vectors || !onSphere || velocity.vectors->GetNumberOfComponents() != 3 ||
        velocity.vectors->GetNumberOfTuples() != sizeOf(dataSet, velocity.isAtCells))
      return velocity;
    for (int c = 0; c < 3; ++c) sources[std::size_t(c)] = {velocity.vectors, c};
  }
  std::optional<Latitudes> latitudes;
  if (onSphere) latitudes.emplace(dataSet, velocity.isAtCells);
  const bool isFloat = std::all_of(sources.begin(), sources.end(), [](const Source& source) {
    return !source.array || source.array->GetDataType() == VTK_FLOAT;
  });
  const vtkIdType tuples = sources[0].array->GetNumberOfTuples();
  std::string name = sources[0].array->GetName() ? sources[0].array->GetName() : "";
  if (inComponents)
    for (std::size_t c = 1; c < 3; ++c)
      if (sources[c].array) name += ", " + components[c].name;
  if (isFloat) {
    velocity.vectors = freshArray<vtkFloatArray>(name.c_str(), 3, tuples);
    fill<float>(transport, sources, latitudes, radius, velocity.vectors);
  } else {
    velocity.vectors = freshArray<vtkDoubleArray>(name.c_str(), 3, tuples);
    fill<double>(transport, sources, latitudes, radius, velocity.vectors);
  }
  return velocity;
}

}  // namespace tributary
