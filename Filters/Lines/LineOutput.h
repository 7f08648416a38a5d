// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkDataArray.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "Lines/LineTable.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"
#include "Lines/SeedsFromVTK.h"

class vtkPointData;

namespace tributary {

// All functions are local. Those with a transport throw an Error of kind Aborted if it is
// interrupted.

/// The point arrays of the output, one for each field. Their values are not initialized.
struct LineArrays {
  std::vector<vtkSmartPointer<vtkDataArray>> arrays;
  std::vector<std::byte*> data;  ///< Null if the values are left out.

  /// @param ofCrossings  leaves positions out, which crossings have in double precision, and does
  ///                     not touch memory before it is written, as logs are freed meanwhile
  LineArrays(const Transport& transport, const std::vector<PointField>& fields, std::int64_t points,
             bool ofCrossings = false);
};

/// Removes points whose position (as float) equals that of their neighbor toward the seed, and
/// lines that then consist of a single point, from all arrays.
void removeRepeatedPoints(const Transport& transport, LineTable& table,
                          const std::vector<PointField>& fields, LineArrays& output);

/// Adds the arrays of points that were evaluated, without their positions.
void addPointArrays(vtkPointData* data, const std::vector<PointField>& fields,
                    const LineArrays& output, const PointArrayList& arrays);

/// Makes the array SeedIds.
/// @param firstSeed  position of the first seed of this rank's share
/// @param seedOf  positions of seeds of that share
/// @param times  how often each is repeated; empty for once
vtkSmartPointer<vtkDataArray> makeSeedIds(const SeedList& seeds, std::int64_t firstSeed,
                                          const std::vector<std::int64_t>& seedOf,
                                          const std::vector<std::int64_t>& times = {});

/// Returns the lines with their points, point data and cell data.
/// @param velocity  the velocity at the points
/// @param withFrames  whether to add Rotation and Normals
vtkSmartPointer<vtkPolyData> makePolyData(const Transport& transport,
                                          const std::vector<PointField>& fields,
                                          const LineArrays& output, const PointArrayList& arrays,
                                          vtkDataArray* velocity, const SeedList& seeds,
                                          const LineTable& table, bool withFrames);

}  // namespace tributary
