// SPDX-License-Identifier: BSD-3-Clause
#include "Features/CriticalDomain.h"

#include <vtkDataArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkImageData.h>
#include <vtkPointData.h>
#include <vtkRectilinearGrid.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "Common/CellLists.h"
#include "Common/CellSize.h"
#include "Features/PointNumbers.h"
#include "Features/SimplexCells.h"
#include "Regions/Pieces/DomainRules.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

constexpr std::uint8_t Hidden = vtkDataSetAttributes::HIDDENCELL;
constexpr std::uint8_t LeftOut = Hidden | vtkDataSetAttributes::DUPLICATECELL;

/// A data set with cells of the highest dimension.
struct Source {
  std::size_t leaf;
  vtkDataSet* dataSet;
  std::vector<std::uint8_t> flags;  // of cells, or none

  bool has(std::int64_t cell) const { return flags.empty() || !(flags[index(cell)] & LeftOut); }
};

std::vector<Source> sourcesOf(Transport& transport, const std::vector<Leaf>& leaves,
                              int& dimension) {
  std::int64_t highest = -1;
  bool isRefined = false;
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) {
      highest = std::max<std::int64_t>(highest, dimensionOf(leaf.dataSet));
      isRefined = isRefined || leaf.level > 0;
    }
  });
  dimension = static_cast<int>(allreduce(transport, ReduceOp::Max, highest));
  if (dimension < 2)
    throw Error(
        "the input has no cells of 2 or 3 dimensions; critical points need an area or a volume; "
        "choose an input with 2-D or 3-D cells");
  if (allreduce(transport, ReduceOp::Or, std::int64_t(isRefined)))
    throw Error(
        "the input has several levels of refinement, whose cells do not share their points; "
        "resample it to one grid first");
  std::vector<Source> sources;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      vtkDataSet* dataSet = leaves[n].dataSet;
      if (dimensionOf(dataSet) < dimension) continue;
      Source source{n, dataSet, {}};
      std::vector<std::uint8_t> copy;
      const auto flags = cellFlagsOf(dataSet, {}, copy);
      source.flags.assign(flags.begin(), flags.end());
      sources.push_back(std::move(source));
    }
  });
  return sources;
}

/// The part of a grid's data set without ghost cells.
/// @return false if it has no other cells
bool partOf(const Source& source, GridExtent& part) {
  int e[6];
  extentOf(source.dataSet, e);
  std::array<std::int64_t, 3> cells{};
  for (std::size_t a = 0; a < 3; ++a)
    cells[a] = std::max<std::int64_t>(std::int64_t(e[2 * a + 1]) - e[2 * a], 1);
  std::array<std::int64_t, 3> lo = cells, hi{-1, -1, -1};
  std::int64_t count = 0, c = 0;
  for (std::int64_t k = 0; k < cells[2]; ++k)
    for (std::int64_t j = 0; j < cells[1]; ++j)
      for (std::int64_t i = 0; i < cells[0]; ++i, ++c) {
        if (!source.has(c)) continue;
        ++count;
        const std::array<std::int64_t, 3> at{i, j, k};
        for (std::size_t a = 0; a < 3; ++a) {
          lo[a] = std::min(lo[a], at[a]);
          hi[a] = std::max(hi[a], at[a]);
        }
      }
  if (count == 0) return false;
  std::int64_t inBox = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    inBox *= hi[a] - lo[a] + 1;
    const bool isFlat = e[2 * a] == e[2 * a + 1];
    part.first[a] = e[2 * a] + lo[a];
    part.last[a] = isFlat ? part.first[a] : e[2 * a] + hi[a] + 1;
  }
  if (inBox != count)
    throw Error(
        "the cells of a grid that are not ghost cells do not fill a box; split the grid into "
        "boxes");
  return true;
}

/// The axes of the grid whose parts are uniform or rectilinear.
GridAxes axesOf(Transport& transport, const std::vector<Source>& sources,
                const std::array<int, 6>& whole) {
  GridAxes axes;
  Writer writer;
  collectively(transport, [&] {
    for (std::size_t a = 0; a < 3; ++a)
      axes.coordinates[a].assign(index(std::int64_t(whole[2 * a + 1]) - whole[2 * a] + 1),
                                 std::numeric_limits<double>::quiet_NaN());
    for (const Source& source : sources) {
      int e[6];
      extentOf(source.dataSet, e);
      auto* image = vtkImageData::SafeDownCast(source.dataSet);
      auto* grid = vtkRectilinearGrid::SafeDownCast(source.dataSet);
      for (std::size_t a = 0; a < 3; ++a) {
        vtkDataArray* given = !grid    ? nullptr
                              : a == 0 ? grid->GetXCoordinates()
                              : a == 1 ? grid->GetYCoordinates()
                                       : grid->GetZCoordinates();
        std::vector<double> x;
        for (int i = e[2 * a]; i <= e[2 * a + 1]; ++i)
          x.push_back(image ? image->GetOrigin()[a] + image->GetSpacing()[a] * i
                            : given->GetComponent(i - e[2 * a], 0));
        writer.value(std::int64_t(e[2 * a]) - whole[2 * a]).range(x);
      }
    }
  });
  std::size_t a = 0;
  allgatherRead(transport, writer.take(), [&](Reader& reader, int) {
    const auto first = reader.value<std::int64_t>();
    const auto part = reader.range<double>();
    auto& all = axes.coordinates[a++ % 3];
    if (first < 0 || index(first) + part.size() > all.size())
      refuseMessage("coordinates outside of the grid");
    std::copy(part.begin(), part.end(), all.begin() + first);
  });
  // Coordinates that no part has are interpolated: no cells are there.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    auto& x = axes.coordinates[axis];
    for (std::size_t i = 1; i + 1 < x.size(); ++i) {
      if (!std::isnan(x[i])) continue;
      std::size_t next = i + 1;
      while (next + 1 < x.size() && std::isnan(x[next])) ++next;
      x[i] = x[i - 1] + (x[next] - x[i - 1]) / static_cast<double>(next - i + 1);
    }
  }
  return axes;
}

void makeGrid(Transport& transport, const std::vector<Source>& sources, const DomainRules& rules,
              CriticalDomain& domain) {
  std::vector<GridExtent> extents;
  std::uint64_t cells = 0;
  collectively(transport, [&] {
    for (const Source& source : sources) {
      GridExtent part;
      if (!partOf(source, part)) continue;
      int e[6];
      extentOf(source.dataSet, e);
      const std::int64_t nx = std::int64_t(e[1]) - e[0] + 1, ny = std::int64_t(e[3]) - e[2] + 1;
      CriticalDomain::Block block;
      block.leaf = source.leaf;
      std::uint64_t inPart = 1;
      for (std::int64_t k = part.first[2]; k <= part.last[2]; ++k)
        for (std::int64_t j = part.first[1]; j <= part.last[1]; ++j)
          for (std::int64_t i = part.first[0]; i <= part.last[0]; ++i)
            block.points.push_back(((k - e[4]) * ny + j - e[2]) * nx + i - e[0]);
      for (std::size_t a = 0; a < 3; ++a) {
        inPart *= std::max<std::uint64_t>(std::uint64_t(part.last[a] - part.first[a]), 1);
        part.first[a] -= rules.whole[2 * a];
        part.last[a] -= rules.whole[2 * a];
      }
      cells += inPart;
      extents.push_back(part);
      domain.blocks.push_back(std::move(block));
    }
  });
  GridAxes axes = axesOf(transport, sources, rules.whole);
  std::uint64_t print = 1;
  for (const auto& x : axes.coordinates) {
    print = scramble(print ^ x.size());
    for (const double coordinate : x) print = scramble(print ^ coordinateBits(coordinate));
  }
  for (const std::uint64_t ofRank : allgather(transport, cells)) print += scramble(0) * ofRank;
  domain.fingerprint = static_cast<std::int64_t>(print);
  const Assignment assignment =
      Assignment::gather(transport, static_cast<std::int64_t>(extents.size()));
  domain.space = makeGridSpace(transport, assignment, std::move(axes), std::move(extents));
}

/// Numbers of all points of the sources, the same on all ranks.
std::vector<std::vector<std::int64_t>> numberPoints(Transport& transport,
                                                    const std::vector<Source>& sources,
                                                    const DomainRules& rules) {
  std::vector<std::vector<std::int64_t>> ids;
  const bool byPlace =
      rules.points != DomainRules::Points::Ids && rules.points != DomainRules::Points::Structured;
  std::vector<std::array<double, 3>> places;
  collectively(transport, [&] {
    ids.resize(sources.size());
    for (std::size_t n = 0; n < sources.size(); ++n) {
      vtkDataSet* dataSet = sources[n].dataSet;
      if (rules.points == DomainRules::Points::Ids) {
        ids[n] = exactIds(dataSet->GetPointData()->GetGlobalIds());
        if (ids[n].size() != index(dataSet->GetNumberOfPoints()))
          throw Error(
              "a data set lacks a global id of some points; remove GlobalIds from its point data, "
              "or complete them");
      } else if (rules.points == DomainRules::Points::Structured) {
        int e[6];
        extentOf(dataSet, e);
        const auto& w = rules.whole;
        const std::int64_t nx = std::int64_t(w[1]) - w[0] + 1, ny = std::int64_t(w[3]) - w[2] + 1;
        for (std::int64_t k = e[4]; k <= e[5]; ++k)
          for (std::int64_t j = e[2]; j <= e[3]; ++j)
            for (std::int64_t i = e[0]; i <= e[1]; ++i)
              ids[n].push_back(((k - w[4]) * ny + j - w[2]) * nx + i - w[0]);
      } else {
        double x[3];
        for (vtkIdType p = 0; p < dataSet->GetNumberOfPoints(); ++p) {
          dataSet->GetPoint(p, x);
          places.push_back({x[0], x[1], x[2]});
        }
      }
    }
  });
  if (!byPlace) return ids;
  const std::vector<std::int64_t> all = numberByPlace(transport, places);
  collectively(transport, [&] {
    auto next = all.begin();
    for (std::size_t n = 0; n < sources.size(); ++n) {
      const auto count = static_cast<std::ptrdiff_t>(sources[n].dataSet->GetNumberOfPoints());
      ids[n].assign(next, next + count);
      next += count;
    }
  });
  return ids;
}

/// The simplices of a source, and the points that they have.
CriticalDomain::Block cutBlock(const Source& source, const std::vector<std::int64_t>& ids,
                               int dimension) {
  CriticalDomain::Block block;
  block.leaf = source.leaf;
  SimplexCells cells(source.dataSet, ids);
  for (std::int64_t c = 0; c < cells.cells(); ++c)
    if (source.has(c)) cells.cut(c, dimension, block.simplices);
  std::vector<std::int64_t> numberOf(ids.size(), -1);
  for (const std::int64_t point : block.simplices) numberOf[index(point)] = 0;
  double x[3];
  for (std::size_t p = 0; p < numberOf.size(); ++p) {
    if (numberOf[p] < 0) continue;
    numberOf[p] = static_cast<std::int64_t>(block.points.size());
    block.points.push_back(static_cast<std::int64_t>(p));
    block.ids.push_back(ids[p]);
    source.dataSet->GetPoint(static_cast<vtkIdType>(p), x);
    block.coordinates.insert(block.coordinates.end(), x, x + 3);
  }
  for (std::int64_t& point : block.simplices) point = numberOf[index(point)];
  return block;
}

/// A fingerprint that does not depend on the order of simplices and of their corners.
std::uint64_t printOf(const CriticalDomain::Block& block, std::size_t corners) {
  std::uint64_t print = 0;
  for (std::size_t at = 0; at < block.simplices.size(); at += corners) {
    std::uint64_t ofSimplex = 0;
    for (std::size_t v = 0; v < corners; ++v) {
      const std::size_t p = index(block.simplices[at + v]);
      std::uint64_t ofPoint = static_cast<std::uint64_t>(block.ids[p]);
      for (std::size_t a = 0; a < 3; ++a)
        ofPoint = scramble(ofPoint ^ coordinateBits(block.coordinates[3 * p + a]));
      ofSimplex += ofPoint;
    }
    print += scramble(ofSimplex);
  }
  return print;
}

/// Throws Error unless all triangles lie in a plane of constant z, as makeMeshSpace() requires.
void checkPlane(Transport& transport, const CriticalDomain& domain) {
  std::vector<double> ends(2, -std::numeric_limits<double>::infinity());  // -lowest, highest
  for (const CriticalDomain::Block& block : domain.blocks)
    for (std::size_t i = 2; i < block.coordinates.size(); i += 3) {
      ends[0] = std::max(ends[0], -block.coordinates[i]);
      ends[1] = std::max(ends[1], block.coordinates[i]);
    }
  ends = allreduce(transport, ReduceOp::Max, ends);
  if (-ends[0] != ends[1] && std::isfinite(ends[1]))
    throw Error(
        "the surface is not in a plane of constant z; critical points are found only in such "
        "planes, in volumes and on flat images; use Transform to move it");
}

void makeMesh(Transport& transport, const std::vector<Source>& sources, const DomainRules& rules,
              int dimension, CriticalDomain& domain) {
  const auto ids = numberPoints(transport, sources, rules);
  std::uint64_t mine = 0;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < sources.size(); ++n) {
      CriticalDomain::Block block = cutBlock(sources[n], ids[n], dimension);
      if (block.simplices.empty()) continue;
      mine += printOf(block, index(dimension + 1));
      domain.blocks.push_back(std::move(block));
    }
  });
  std::uint64_t print = scramble(static_cast<std::uint64_t>(dimension));
  for (const std::uint64_t ofRank : allgather(transport, mine)) print += ofRank;
  domain.fingerprint = static_cast<std::int64_t>(print);
  if (dimension == 2) checkPlane(transport, domain);
  std::vector<SimplexBlock> blocks;
  collectively(transport, [&] {
    for (const CriticalDomain::Block& block : domain.blocks)
      blocks.push_back({block.coordinates, block.ids, block.simplices});
  });
  const Assignment assignment =
      Assignment::gather(transport, static_cast<std::int64_t>(blocks.size()));
  domain.space = makeMeshSpace(transport, assignment, dimension, std::move(blocks));
}

}  // namespace

std::unique_ptr<CriticalDomain> makeCriticalDomain(Transport& transport,
                                                   const std::vector<Leaf>& leaves) {
  int dimension = 0;
  const std::vector<Source> sources = sourcesOf(transport, leaves, dimension);
  std::vector<Leaf> chosen;
  bool isGrid = true;
  collectively(transport, [&] {
    for (const Source& source : sources) {
      chosen.push_back(leaves[source.leaf]);
      isGrid = isGrid && isAlongAxes(source.dataSet) &&
               std::none_of(source.flags.begin(), source.flags.end(),
                            [](std::uint8_t flag) { return (flag & Hidden) != 0; });
    }
  });
  DomainRules rules = agreeOnRules(transport, chosen);
  isGrid = allreduce(transport, ReduceOp::Or, std::int64_t(!isGrid)) == 0 && rules.isOneExtent;
  if (rules.isOneExtent) rules.points = DomainRules::Points::Structured;  // of a hierarchy, too
  auto domain = std::make_unique<CriticalDomain>();
  if (isGrid)
    makeGrid(transport, sources, rules, *domain);
  else
    makeMesh(transport, sources, rules, dimension, *domain);
  return domain;
}

int axisOfOneLayer(Transport& transport, const std::vector<Leaf>& leaves) {
  constexpr double Infinity = std::numeric_limits<double>::infinity();
  // Along each axis the highest coordinate, and minus the lowest one.
  std::vector<double> ends(6, -Infinity);
  const auto forEachPoint = [&](auto&& visit) {
    double x[3];
    for (const Leaf& leaf : leaves)
      for (vtkIdType p = 0; p < leaf.points(); ++p) {
        leaf.dataSet->GetPoint(p, x);
        visit(x);
      }
  };
  forEachPoint([&](const double* x) {
    for (std::size_t a = 0; a < 3; ++a) {
      ends[a] = std::max(ends[a], x[a]);
      ends[3 + a] = std::max(ends[3 + a], -x[a]);
    }
  });
  ends = allreduce(transport, ReduceOp::Max, std::move(ends));
  std::vector<std::int64_t> hasInner(3, 0);
  forEachPoint([&](const double* x) {
    for (std::size_t a = 0; a < 3; ++a)
      if (x[a] != ends[a] && x[a] != -ends[3 + a]) hasInner[a] = 1;
  });
  hasInner = allreduce(transport, ReduceOp::Max, std::move(hasInner));
  for (std::size_t a = 0; a < 3; ++a)
    if (hasInner[a] == 0 && ends[a] > -ends[3 + a]) return static_cast<int>(a);
  return -1;
}

CriticalField findCriticalField(Transport& transport, const CriticalDomain& domain,
                                const std::vector<Leaf>& leaves,
                                const std::function<vtkDataArray*(const Leaf&, int&)>& find) {
  const auto refuse = [](const std::string& what) {
    throw Error(what +
                "; choose an array of points that all data sets have, with one component or "
                "as many as the data have dimensions, with Critical Field");
  };
  const int dimension = domain.dimension();
  std::vector<vtkDataArray*> arrays;
  std::int64_t components = 0;
  collectively(transport, [&] {
    for (const CriticalDomain::Block& block : domain.blocks) {
      const Leaf& leaf = leaves[block.leaf];
      int association = vtkDataObject::FIELD_ASSOCIATION_NONE;
      vtkDataArray* array = find(leaf, association);
      if (!array) refuse("a data set lacks the field to track");
      if (association != vtkDataObject::FIELD_ASSOCIATION_POINTS)
        refuse("the field to track is an array of cells; use Cell Data to Point Data");
      if (array->GetNumberOfTuples() != leaf.points())
        refuse("the field to track lacks values of some points");
      const int has = array->GetNumberOfComponents();
      if (has != 1 && has != 3 && has != dimension)
        refuse("the field to track has " + std::to_string(has) + " components");
      if (components != 0 && has != components)
        refuse("the field to track has different numbers of components in data sets");
      components = has;
      arrays.push_back(array);
    }
  });
  const std::int64_t most = allreduce(transport, ReduceOp::Max, components);
  collectively(transport, [&] {
    if (components != 0 && components != most)
      refuse("the field to track has different numbers of components in data sets");
  });
  CriticalField field;
  field.isVector = most > 1;
  collectively(transport, [&] {
    for (std::size_t b = 0; b < domain.blocks.size(); ++b) {
      auto& values = field.values.emplace_back();
      const auto& points = domain.blocks[b].points;
      const std::size_t width = field.isVector ? 3 : 1;
      values.assign(width * points.size(), 0);
      for (std::size_t p = 0; p < points.size(); ++p)
        for (std::size_t c = 0; c < index(most); ++c)
          values[width * p + (most == 2 ? index(domain.space->axes()[c]) : c)] =
              arrays[b]->GetComponent(points[p], static_cast<int>(c));
    }
  });
  return field;
}

}  // namespace tributary
