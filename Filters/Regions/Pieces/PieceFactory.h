// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "Regions/Pieces/ComponentPiece.h"

#include "Tributary/Collective/Assignment.h"
#include "Tributary/Components/DistributedUnion.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;

namespace tributary {

using Pieces = std::vector<std::unique_ptr<ComponentPiece>>;

/// The pieces of a rank.
struct MadePieces {
  Pieces pieces;
  double margin = 0;  ///< Greatest distance of points of different pieces that may coincide.
};

/// Makes a piece of each data set. Collective. Throws Error on all ranks if a data set is invalid.
/// @param leaves     of this rank
/// @param labels     null for each leaf, or its array of labels per cell
/// @param tolerance  for points identified by clusters: points of two cells coincide if they are
///                   not further apart than this fraction of the smaller cell's diagonal
/// @param options    of the union that finds clusters
/// @return nothing after an abort
[[nodiscard]] std::optional<MadePieces> makePieces(Transport& transport,
                                                   const Assignment& assignment,
                                                   const std::vector<Leaf>& leaves,
                                                   const std::vector<vtkDataArray*>& labels,
                                                   const DomainRules& rules, double tolerance,
                                                   const UnionOptions& options);

/// The same for hyper trees.
[[nodiscard]] Pieces makeTreePieces(Transport& transport, const Assignment& assignment,
                                    std::vector<PieceSource>&& sources, const DomainRules& rules);

}  // namespace tributary
