// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/PieceFactory.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "Common/CellLists.h"
#include "Common/Refinement.h"
#include "Regions/Pieces/LatticePiece.h"
#include "Regions/Pieces/UnstructuredPiece.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// A value per cell that is equal where labels are.
std::vector<std::int64_t> valuesOf(vtkDataArray* labels, bool asDoubles, const Leaf& leaf) {
  if (!labels) return {};
  if (!hasValuePerCell(labels, leaf) || labels->GetNumberOfComponents() != 1)
    throw Error(std::string("the labels \"") + (labels->GetName() ? labels->GetName() : "") +
                "\" are not one value per cell; choose another array with Labels");
  if (!asDoubles) return exactIds(labels);
  std::vector<std::int64_t> values(index(labels->GetNumberOfTuples()));
  for (std::size_t c = 0; c < values.size(); ++c) {
    const double value = labels->GetTuple1(static_cast<vtkIdType>(c)) + 0.0;  // -0 is 0
    std::memcpy(&values[c], &value, sizeof value);
  }
  return values;
}

/// Throws Error if the number of global ids is wrong.
void checkIds(vtkDataArray* ids, bool areAll, vtkIdType count, const char* of) {
  if (ids && !areAll)
    throw Error("a data set has " + std::to_string(ids->GetNumberOfTuples()) + " global ids for " +
                std::to_string(count) + of + "; remove GlobalIds or generate them again");
}

PieceSource sourceOf(const Leaf& leaf, Span<const std::uint8_t> covered,
                     std::vector<std::int64_t> labels) {
  PieceSource source{leaf, {}, std::move(labels)};
  vtkDataArray* cellIds = leaf.cellData()->GetGlobalIds();
  checkIds(cellIds, cellIds && hasValuePerCell(cellIds, leaf), leaf.cells(), " cells");
  if (leaf.trees) return source;
  vtkDataArray* pointIds = leaf.dataSet->GetPointData()->GetGlobalIds();
  checkIds(pointIds, pointIds && pointIds->GetNumberOfTuples() == leaf.points(), leaf.points(),
           " points");
  std::vector<std::uint8_t> copy;
  const Span<const std::uint8_t> flags = cellFlagsOf(leaf.dataSet, covered, copy);
  source.flags.assign(flags.begin(), flags.end());
  return source;
}

std::unique_ptr<ComponentPiece> makePiece(PieceSource&& source, const DomainRules& rules) {
  int extent[6];
  vtkDataSet* dataSet = source.leaf.dataSet;
  if (extentOf(dataSet, extent) &&
      (rules.points == DomainRules::Points::Structured ||
       rules.points == DomainRules::Points::Hierarchy ||
       (rules.points == DomainRules::Points::Places && isAlongAxes(dataSet))))
    return std::make_unique<LatticePiece>(std::move(source), rules);
  PieceMesh mesh(source.leaf);
  return std::make_unique<UnstructuredPiece>(std::move(source), rules, std::move(mesh),
                                             std::vector<SetName>());
}

/// Collective. Pieces whose points are identified by clusters.
std::optional<MadePieces> makeClusteredPieces(Transport& transport, const Assignment& assignment,
                                              std::vector<PieceSource>&& sources,
                                              const DomainRules& rules, double tolerance,
                                              const UnionOptions& options) {
  MadePieces made;
  std::vector<PieceMesh> meshes;
  std::vector<std::vector<LoosePoint>> loose;
  collectively(transport, [&] {
    for (const PieceSource& source : sources) {
      loose.push_back(meshes.emplace_back(source.leaf).loosePoints(tolerance));
      for (const LoosePoint& point : loose.back()) made.margin = std::max(made.margin, point.reach);
    }
  });
  made.margin = allreduce(transport, ReduceOp::Max, made.margin);
  UnionResult united = clusterPoints(transport, assignment, loose, options);
  if (united.aborted) return std::nullopt;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < sources.size(); ++n)
      made.pieces.push_back(std::make_unique<UnstructuredPiece>(
          std::move(sources[n]), rules, std::move(meshes[n]), std::move(united.root[n])));
  });
  return made;
}

}  // namespace

std::optional<MadePieces> makePieces(Transport& transport, const Assignment& assignment,
                                     const std::vector<Leaf>& leaves,
                                     const std::vector<vtkDataArray*>& labels,
                                     const DomainRules& rules, double tolerance,
                                     const UnionOptions& options) {
  const auto covered = findRefinedCells(transport, leaves);
  // Labels of different types are compared as doubles.
  const bool hasReals = std::any_of(labels.begin(), labels.end(), [](vtkDataArray* array) {
    return array && (array->GetDataType() == VTK_FLOAT || array->GetDataType() == VTK_DOUBLE);
  });
  const bool asDoubles = allreduce(transport, ReduceOp::Or, std::int64_t(hasReals)) != 0;
  const bool areTrees = rules.points == DomainRules::Points::Trees;
  const bool areClusters = rules.points == DomainRules::Points::Clusters;
  std::vector<PieceSource> sources;
  MadePieces made;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      sources.push_back(sourceOf(leaves[n], covered[n], valuesOf(labels[n], asDoubles, leaves[n])));
      if (!areTrees && !areClusters) made.pieces.push_back(makePiece(std::move(sources[n]), rules));
    }
  });
  if (areClusters)
    return makeClusteredPieces(transport, assignment, std::move(sources), rules, tolerance,
                               options);
  if (areTrees) made.pieces = makeTreePieces(transport, assignment, std::move(sources), rules);
  return made;
}

}  // namespace tributary
