// SPDX-License-Identifier: BSD-3-Clause
#pragma once

class vtkDataObject;

namespace tributary {

/// Local. Makes an array the active scalars of all data sets of an output that have it. ParaView
/// colors an output by its active scalars when it shows it first. It prefers those of points to
/// those of cells, so an array of cells also replaces the active scalars of points, and vice versa.
/// @param association  vtkDataObject::POINT or vtkDataObject::CELL
void setActiveScalars(vtkDataObject* output, int association, const char* name);

}  // namespace tributary
