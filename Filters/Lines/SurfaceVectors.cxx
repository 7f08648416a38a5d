// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/SurfaceVectors.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkMath.h>

#include <array>

#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

/// Larger than the rounding errors of vectors that were computed to lie in a plane.
constexpr double SmallestShare = 1e-6;

bool leaves(const double vector[3], const double normal[3]) {
  const double along = vtkMath::Dot(vector, normal);
  return std::abs(along) > SmallestShare * vtkMath::Norm(vector) * vtkMath::Norm(normal);
}

bool anyLeaves(const StructuredPiece& piece, vtkDataArray* vectors) {
  for (std::size_t a = 0; a < 3; ++a) {
    if (piece.extent[2 * a] != piece.extent[2 * a + 1]) continue;
    double normal[3] = {0, 0, 0}, vector[3];
    normal[a] = 1;
    for (vtkIdType i = 0; i < vectors->GetNumberOfTuples(); ++i) {
      vectors->GetTuple(i, vector);
      if (leaves(vector, normal)) return true;
    }
  }
  return false;
}

bool anyLeaves(const MeshPiece& piece, vtkDataSet* dataSet, vtkDataArray* vectors) {
  for (std::size_t cell = 0; cell < piece.types.size(); ++cell) {
    const CellPointIds points = piece.pointsOf(static_cast<std::int64_t>(cell));
    if (dimensionOf(piece.types[cell]) != 2 || points.count < 3) continue;
    std::array<std::array<double, 3>, 3> corners;
    for (std::size_t c = 0; c < 3; ++c)
      dataSet->GetPoint(points[static_cast<std::int64_t>(c)], corners[c].data());
    double along[3], across[3], normal[3], vector[3];
    vtkMath::Subtract(corners[1].data(), corners[0].data(), along);
    vtkMath::Subtract(corners[2].data(), corners[0].data(), across);
    vtkMath::Cross(along, across, normal);
    for (std::int64_t i = 0; i < points.count; ++i) {
      vectors->GetTuple(piece.cellCentered ? static_cast<vtkIdType>(cell) : points[i], vector);
      if (leaves(vector, normal)) return true;
    }
  }
  return false;
}

}  // namespace

bool vectorsLeaveSurface(const FlowDomain& flow) {
  const auto pieceOf = [&](int number) -> const FlowPiece& { return flow.pieces[index(number)]; };
  for (const StructuredPiece& piece : flow.structured)
    if (anyLeaves(piece, pieceOf(piece.piece).velocity)) return true;
  for (const MeshPiece& piece : flow.meshes)
    if (anyLeaves(piece, pieceOf(piece.piece).dataSet, pieceOf(piece.piece).velocity)) return true;
  return false;
}

}  // namespace tributary
