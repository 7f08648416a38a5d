// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/RegionArrays.h"

#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataObject.h>
#include <vtkPointData.h>

#include <cstdint>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

std::vector<vtkDataArray*> findLabels(Transport& transport, const std::vector<Leaf>& leaves,
                                      const FindArray& find) {
  std::vector<vtkDataArray*> labels;
  collectively(transport, [&] {
    labels.resize(leaves.size(), nullptr);
    for (std::size_t n = 0; n < labels.size(); ++n) {
      const Leaf& leaf = leaves[n];
      int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
      labels[n] = find(leaf, association);
      if (labels[n] && association != vtkDataObject::FIELD_ASSOCIATION_CELLS)
        throw Error(
            "Labels is an array of points; choose an array of cells, or convert it "
            "with Point Data to Cell Data first");
      if (!labels[n] && leaf.cells() > 0)
        throw Error(
            "a data set lacks the label array required by Label Connectivity; choose an array "
            "of cells that all data sets have with Labels");
    }
  });
  return labels;
}

std::vector<RangeTest> findScalars(Transport& transport, const std::vector<Leaf>& leaves,
                                   const FindArray& find, bool allPoints) {
  std::vector<RangeTest> tests;
  collectively(transport, [&] {
    tests.resize(leaves.size());
    for (std::size_t n = 0; n < tests.size(); ++n) {
      const Leaf& leaf = leaves[n];
      if (leaf.cells() < 1) continue;
      int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
      vtkDataArray* scalars = find(leaf, association);
      const bool atCells = association == vtkDataObject::FIELD_ASSOCIATION_CELLS;
      if (!scalars || (!atCells && association != vtkDataObject::FIELD_ASSOCIATION_POINTS))
        throw Error(
            "a data set lacks the scalar array required by Scalar Connectivity; choose an array of "
            "points or cells that all data sets have with Scalars, or turn Scalar Connectivity "
            "off");
      const vtkIdType count = atCells ? leaf.cells() : leaf.points();
      const bool isComplete =
          atCells ? hasValuePerCell(scalars, leaf) : scalars->GetNumberOfTuples() == count;
      if (scalars->GetNumberOfComponents() != 1 || !isComplete)
        throw Error(std::string("the scalars \"") + (scalars->GetName() ? scalars->GetName() : "") +
                    "\" have " + std::to_string(scalars->GetNumberOfComponents()) +
                    " components and " + std::to_string(scalars->GetNumberOfTuples()) +
                    " tuples for " + std::to_string(count) + (atCells ? " cells" : " points") +
                    "; choose an array with one component with "
                    "Scalars");
      tests[n].scalars = scalars;
      tests[n].atCells = atCells;
      tests[n].allPoints = allPoints;
    }
  });
  return tests;
}

MeasuredColumns findMeasured(Transport& transport, const std::vector<Leaf>& leaves,
                             const std::vector<std::string>& names) {
  MeasuredColumns columns;
  collectively(transport, [&] { columns.arrays.resize(leaves.size()); });
  for (const std::string& name : names) {
    std::vector<std::pair<vtkDataArray*, bool>> found;
    std::int64_t components = 0;
    collectively(transport, [&] {
      found.resize(leaves.size());
      for (std::size_t n = 0; n < leaves.size(); ++n) {
        const Leaf& leaf = leaves[n];
        vtkDataArray* array = leaf.cellData()->GetArray(name.c_str());
        const bool atCells = array != nullptr;
        if (!atCells && leaf.dataSet) array = leaf.dataSet->GetPointData()->GetArray(name.c_str());
        if (leaf.cells() < 1) continue;
        if (!array ||
            !(atCells ? hasValuePerCell(array, leaf) : array->GetNumberOfTuples() == leaf.points()))
          throw Error("a data set lacks the array \"" + name +
                      "\" of Statistics Arrays at its cells or points; choose arrays that all data "
                      "sets have");
        if (components != 0 && components != array->GetNumberOfComponents())
          throw Error("the array \"" + name +
                      "\" of Statistics Arrays has another number of components in other data "
                      "sets; choose arrays with the same number of components in all data sets");
        components = array->GetNumberOfComponents();
        found[n] = {array, atCells};
      }
    });
    const std::int64_t most = allreduce(transport, ReduceOp::Max, components);
    collectively(transport, [&] {
      if (components != 0 && components != most)
        throw Error("the array \"" + name +
                    "\" of Statistics Arrays has another number of components on other ranks; "
                    "choose arrays with the same number of components in all data sets");
    });
    collectively(transport, [&] {
      for (int component = 0; component < most; ++component) {
        columns.names.push_back(most > 1 ? name + "_" + std::to_string(component) : name);
        for (std::size_t n = 0; n < found.size(); ++n) {
          columns.arrays[n].push_back(
              found[n].first ? MeasuredValues(found[n].first, component, found[n].second)
                             : MeasuredValues());  // there are no cells to look at
        }
      }
    });
  }
  return columns;
}

}  // namespace tributary
