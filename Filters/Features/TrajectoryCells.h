// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "Tributary/Base/Span.h"

class vtkDataArray;
class vtkPoints;
class vtkPolyData;

namespace tributary {

/// Local. Makes poly data of trajectories, in their order: a vertex for each with one point, then a
/// polyline for each with several. Their tracks are the cell data TrackId.
/// @param places   the points of all trajectories, one after the other
/// @param offsets  the first point of each trajectory, and the number of points
/// @param tracks   one for each trajectory
/// @param arrays   point data
void makeTrajectoryCells(vtkPoints* places, Span<const std::size_t> offsets,
                         Span<const std::int64_t> tracks,
                         std::initializer_list<vtkDataArray*> arrays, vtkPolyData* output);

}  // namespace tributary
