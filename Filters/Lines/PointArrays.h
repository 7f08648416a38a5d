// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <set>
#include <string>
#include <vector>

#include "Lines/DomainFromVTK.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A point array that is interpolated along the lines. The list is the same on all ranks.
struct PointArray {
  std::string name;
  int type = 0;  ///< VTK type of the output, which represents the values of all blocks.
  int components = 1;
  std::vector<std::string> componentNames;  ///< May be empty.
  bool isScalars = false, isVectors = false;
  bool ofCells = false;                 ///< Of an event: cell data, not interpolated.
  bool isLabel = false;                 ///< With ofCells: the values are labels.
  std::vector<vtkDataArray*> perPiece;  ///< Of this rank; null for a piece without the array.
  /// In an unsteady field: those at the end of the interval; otherwise empty.
  std::vector<vtkDataArray*> laterPerPiece;
};

struct PointArrayList {
  std::vector<PointArray> arrays;
  std::vector<std::string> dropped;  ///< Arrays whose component count differs between blocks.
  /// In an unsteady field: arrays that a piece has only at the beginning or only at the end.
  std::vector<std::string> fleeting;
  std::vector<std::string> missing;  ///< Selected arrays that no piece has.
};

/// Collective. Returns the union, by name, of the point arrays of all pieces on all ranks. It
/// excludes ghost flags, global ids, pedigree ids, arrays that are not numeric, arrays that do not
/// have one tuple for each point, and an array with the name of cell-centered vectors. If the types
/// of an array differ between blocks or steps, they are promoted to a common type.
/// @throws Error if point-centered vectors are not in the list
[[nodiscard]] PointArrayList agreeOnPointArrays(Transport& transport, const FlowDomain& flow);

/// Local. Makes the lists of two steps with different meshes match: the same arrays in the same
/// order, with a common type. Those of one step alone, or with another number of components at the
/// other one, are fleeting.
void matchSteps(PointArrayList& earlier, PointArrayList& later);

/// Local. Returns those arrays of a list whose names are selected: all if there are no names.
/// Point-centered vectors that are an array of the input always are. The name of cell-centered
/// vectors is not missing.
[[nodiscard]] PointArrayList selectArrays(const PointArrayList& all, const FlowDomain& flow,
                                          const std::set<std::string>& names);

}  // namespace tributary
