// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "Lines/DomainFromVTK.h"

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// A point array that is interpolated along the lines: the same list on all ranks.
struct PointArray {
  std::string name;
  int type = 0;  ///< VTK type of the output, which holds the values of every block.
  int components = 1;
  std::vector<std::string> componentNames;  ///< Or empty.
  bool isScalars = false, isVectors = false;
  std::vector<vtkDataArray*> perPiece;  ///< Of this rank; null where a piece lacks it.
};

struct PointArrayList {
  std::vector<PointArray> arrays;
  std::vector<std::string> dropped;  ///< Names whose numbers of components differ between blocks.
};

/// Collective. The union, by name, of the point arrays of all pieces on all ranks; ghost flags,
/// global and pedigree ids and arrays that are not numbers, or not one tuple for each point, are
/// left out, as is one with the name of vectors that belong to cells. Types are promoted where
/// blocks differ. Throws Error if vectors that belong to points are not in the list.
PointArrayList agreeOnPointArrays(Transport& transport, const FlowDomain& flow);

}  // namespace tributary
