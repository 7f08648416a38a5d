// SPDX-License-Identifier: BSD-3-Clause
#pragma once

class vtkDataObject;

namespace tributary {

/// Local. Throws Error if a data set of an input is malformed, so that VTK's own functions and ours
/// would read outside of its arrays: if a cell refers to a point that does not exist, has fewer
/// points than its type needs or an incomplete list of faces, or if the extent of a grid does not
/// match its points. Reads all cells of unstructured data sets, on the threads of vtkSMPTools.
/// @param input  a data set, a composite or null
void checkStructure(vtkDataObject* input);

}  // namespace tributary
