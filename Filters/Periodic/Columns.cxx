// SPDX-License-Identifier: BSD-3-Clause
#include "Periodic/Columns.h"

#include <vtkDataSetAttributes.h>
#include <vtkSetGet.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "Common/CellLists.h"
#include "Common/FreshArray.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

/// Calls visit(place here, place there) for what two rectangles have in common, each given by its
/// lowest indices and its sizes.
template <class Visit>
void forEachCommon(const std::array<int, 2>& low, const std::array<std::int64_t, 2>& size,
                   const std::array<int, 2>& otherLow, const std::array<std::int64_t, 2>& otherSize,
                   Visit&& visit) {
  std::array<std::int64_t, 2> begin, end;
  for (std::size_t d = 0; d < 2; ++d) {
    begin[d] = std::max(low[d], otherLow[d]);
    end[d] = std::min(low[d] + size[d], otherLow[d] + otherSize[d]);
  }
  for (std::int64_t v = begin[1]; v < end[1]; ++v)
    for (std::int64_t u = begin[0]; u < end[0]; ++u)
      visit((v - low[1]) * size[0] + u - low[0],
            (v - otherLow[1]) * otherSize[0] + u - otherLow[0]);
}

/// Where the first column of a leaf goes.
struct Passage {
  std::size_t from, to;  ///< Leaves, in the order of all ranks.
};

/// Local. The passages from the leaves of one rank to those of another one, in their order.
template <class Visit>
void forEachPassage(const WholeLattice& lattice, std::size_t axis, int fromRank, int toRank,
                    Visit&& visit) {
  const auto count = lattice.pieces.size();
  const auto ofRank = [&](int rank, std::size_t n) { return lattice.ranks[n] == rank; };
  for (std::size_t from = 0; from < count; ++from) {
    if (!ofRank(fromRank, from) || lattice.pieces[from][2 * axis] != lattice.extent[2 * axis])
      continue;
    for (std::size_t to = 0; to < count; ++to)
      if (ofRank(toRank, to) && isLast(lattice, lattice.pieces[to], axis)) visit(Passage{from, to});
  }
}

/// Appends the tuples of an array at some points.
void writeTuples(Writer& writer, vtkDataArray* array, const std::vector<std::int64_t>& points) {
  const std::size_t bytes = index(array->GetDataTypeSize()) * index(array->GetNumberOfComponents());
  const auto* const values = static_cast<const std::byte*>(array->GetVoidPointer(0));
  std::byte* to = writer.extend(points.size() * bytes);
  for (std::size_t i = 0; i < points.size(); ++i)
    std::memcpy(to + i * bytes, values + index(points[i]) * bytes, bytes);
}

/// What a leaf at the first column sends.
struct Source {
  vtkDataSet* dataSet;
  ColumnPlaces places;
  int at;  ///< The index of the column.
  std::vector<vtkSmartPointer<vtkDataArray>> arrays;
  std::vector<std::string> names;
  vtkUnsignedCharArray* pointFlags;
  std::vector<std::uint8_t> hiddenCells;
};

Source sourceOf(vtkDataSet* dataSet, std::size_t axis, const ArraysOf& arraysOf) {
  std::array<int, 6> extent{};
  extentOf(dataSet, extent.data());
  Source source{dataSet, ColumnPlaces(extent, axis), extent[2 * axis], {}, {}, nullptr, {}};
  for (vtkDataArray* array : arraysOf(dataSet)) {
    requireTuplePerPoint(array, dataSet);
    source.arrays.push_back(plain(array));
    source.names.emplace_back(array->GetName() ? array->GetName() : "");
  }
  source.pointFlags = pointGhosts(dataSet);
  source.hiddenCells = hiddenCellsOf(dataSet);
  return source;
}

void write(Writer& writer, const Source& source, const ColumnPlaces& target) {
  std::vector<std::int64_t> points;
  source.places.forEachCommonPoint(target, [&](std::int64_t here, std::int64_t) {
    points.push_back(source.places.pointOf(here, source.at));
  });
  if (points.empty()) return;
  writer.value(static_cast<std::uint64_t>(source.arrays.size()));
  for (std::size_t i = 0; i < source.arrays.size(); ++i) {
    vtkDataArray* array = source.arrays[i];
    writer.text(source.names[i]).value(array->GetDataType()).value(array->GetNumberOfComponents());
    writeTuples(writer, array, points);
  }
  for (const std::int64_t point : points) {
    const int flags = source.pointFlags ? source.pointFlags->GetValue(point) : 0;
    writer.value(std::uint8_t((flags & vtkDataSetAttributes::HIDDENPOINT) != 0));
  }
  source.places.forEachCommonCell(target, [&](std::int64_t here, std::int64_t) {
    const auto cell = index(source.places.cellOf(here, source.at));
    writer.value(std::uint8_t(!source.hiddenCells.empty() && source.hiddenCells[cell] != 0));
  });
}

/// The array of a column to which values of a type are copied; null if it has other components.
/// Values of different types become those of type double.
vtkDataArray* arrayFor(FirstColumn& column, const std::string& name, int type, int components) {
  auto known = std::find_if(column.arrays.begin(), column.arrays.end(),
                            [&](const ColumnArray& one) { return one.name == name; });
  const auto points = static_cast<vtkIdType>(column.isKnown.size());
  if (known == column.arrays.end()) {
    column.arrays.push_back({name, freshArrayOf(type, name.c_str(), components, points)});
    column.arrays.back().values->Fill(0);
    return column.arrays.back().values;
  }
  if (!known->values || known->values->GetNumberOfComponents() != components) {
    known->values = nullptr;
    return nullptr;
  }
  if (known->values->GetDataType() != type && known->values->GetDataType() != VTK_DOUBLE) {
    const auto copy = freshArrayOf(VTK_DOUBLE, name.c_str(), components, points);
    copyArray(known->values, copy);
    known->values = copy;
  }
  return known->values;
}

void readArray(Reader& reader, const std::vector<std::int64_t>& places, FirstColumn& column) {
  const std::string name = reader.text();
  const int type = reader.value<int>(), components = reader.value<int>();
  if (!isNumeric(type) || components < 1) refuseMessage("an array of an unknown type");
  const std::size_t bytes =
      index(vtkDataArray::GetDataTypeSize(type)) * static_cast<std::size_t>(components);
  if (places.size() > reader.remaining() / bytes) refuseMessage("an array of fewer points");
  const Span<const std::byte> raw = reader.raw(places.size() * bytes);
  vtkDataArray* const to = arrayFor(column, name, type, components);
  if (!to) return;
  const auto from = freshArrayOf(type, "", components, static_cast<vtkIdType>(places.size()));
  std::memcpy(from->GetVoidPointer(0), raw.data(), raw.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    copyTuple(from, static_cast<vtkIdType>(i), to, places[i]);
}

void read(Reader& reader, const ColumnPlaces& source, const ColumnPlaces& target,
          FirstColumn& column) {
  std::vector<std::int64_t> places;
  source.forEachCommonPoint(target,
                            [&](std::int64_t, std::int64_t there) { places.push_back(there); });
  if (places.empty()) return;
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left)
    readArray(reader, places, column);
  for (const std::int64_t place : places) {
    column.isKnown[index(place)] = 1;
    if (reader.value<std::uint8_t>() != 0) column.isHidden[index(place)] = 1;
  }
  source.forEachCommonCell(target, [&](std::int64_t, std::int64_t there) {
    if (reader.value<std::uint8_t>() == 0) column.hasCell[index(there)] = 1;
  });
}

}  // namespace

ColumnPlaces::ColumnPlaces(const std::array<int, 6>& extent, std::size_t axis)
    : extent_(extent), axis_(axis), across_{axis == 0 ? 1u : 0u, axis == 2 ? 1u : 2u} {
  const auto points = pointsAlong(extent.data());
  for (std::size_t d = 0; d < 2; ++d) {
    size_[d] = points[across_[d]];
    cellSize_[d] = std::max<std::int64_t>(size_[d] - 1, 1);
  }
}

std::int64_t ColumnPlaces::pointOf(std::int64_t place, int at) const {
  const auto points = pointsAlong(extent_.data());
  std::array<std::int64_t, 3> offset{};
  offset[axis_] = std::int64_t(at) - extent_[2 * axis_];
  offset[across_[0]] = place % size_[0];
  offset[across_[1]] = place / size_[0];
  return (offset[2] * points[1] + offset[1]) * points[0] + offset[0];
}

std::int64_t ColumnPlaces::cellOf(std::int64_t place, int at) const {
  auto cells = pointsAlong(extent_.data());
  for (std::int64_t& count : cells) count = std::max<std::int64_t>(count - 1, 1);
  std::array<std::int64_t, 3> offset{};
  offset[axis_] = std::int64_t(at) - extent_[2 * axis_];
  offset[across_[0]] = place % cellSize_[0];
  offset[across_[1]] = place / cellSize_[0];
  return (offset[2] * cells[1] + offset[1]) * cells[0] + offset[0];
}

void ColumnPlaces::forEachCellAt(std::int64_t point,
                                 const std::function<void(std::int64_t)>& visit) const {
  const std::array<std::int64_t, 2> at{point % size_[0], point / size_[0]};
  std::array<std::int64_t, 2> low, high;
  for (std::size_t d = 0; d < 2; ++d) {
    low[d] = std::max<std::int64_t>(at[d] - 1, 0);
    high[d] = std::min(at[d], cellSize_[d] - 1);
  }
  for (std::int64_t v = low[1]; v <= high[1]; ++v)
    for (std::int64_t u = low[0]; u <= high[0]; ++u) visit(v * cellSize_[0] + u);
}

void ColumnPlaces::forEachCommonPoint(
    const ColumnPlaces& other, const std::function<void(std::int64_t, std::int64_t)>& visit) const {
  forEachCommon({extent_[2 * across_[0]], extent_[2 * across_[1]]}, size_,
                {other.extent_[2 * across_[0]], other.extent_[2 * across_[1]]}, other.size_, visit);
}

void ColumnPlaces::forEachCommonCell(
    const ColumnPlaces& other, const std::function<void(std::int64_t, std::int64_t)>& visit) const {
  forEachCommon({extent_[2 * across_[0]], extent_[2 * across_[1]]}, cellSize_,
                {other.extent_[2 * across_[0]], other.extent_[2 * across_[1]]}, other.cellSize_,
                visit);
}

vtkDataArray* FirstColumn::find(const std::string& name) const {
  for (const ColumnArray& array : arrays)
    if (array.name == name) return array.values;
  return nullptr;
}

std::vector<FirstColumn> sendFirstColumn(Transport& transport, const WholeLattice& lattice,
                                         Span<const Leaf> leaves, std::size_t axis,
                                         const ArraysOf& arraysOf) {
  std::vector<FirstColumn> columns;
  sendMessages(
      transport,
      [&](MessageOutbox& outbox) {
        std::map<std::size_t, Source> sources;
        for (int rank = 0; rank < transport.size(); ++rank)
          forEachPassage(lattice, axis, transport.rank(), rank, [&](const Passage& passage) {
            auto known = sources.find(passage.from);
            if (known == sources.end())
              known =
                  sources
                      .emplace(passage.from, sourceOf(leaves[passage.from - lattice.first].dataSet,
                                                      axis, arraysOf))
                      .first;
            write(outbox.to(rank), known->second, ColumnPlaces(lattice.pieces[passage.to], axis));
          });
      },
      [&](std::vector<Reader>& readers) {
        columns.resize(leaves.size());
        for (std::size_t n = 0; n < leaves.size(); ++n) {
          const auto& extent = lattice.pieces[lattice.first + n];
          if (!isLast(lattice, extent, axis)) continue;
          const ColumnPlaces places(extent, axis);
          columns[n].isKnown.assign(index(places.points()), 0);
          columns[n].isHidden.assign(index(places.points()), 0);
          columns[n].hasCell.assign(index(places.cells()), 0);
        }
        for (int rank = 0; rank < transport.size(); ++rank)
          forEachPassage(lattice, axis, rank, transport.rank(), [&](const Passage& passage) {
            read(readers[index(rank)], ColumnPlaces(lattice.pieces[passage.from], axis),
                 ColumnPlaces(lattice.pieces[passage.to], axis),
                 columns[passage.to - lattice.first]);
          });
      });
  return columns;
}

void requireTuplePerPoint(vtkDataArray* array, vtkDataSet* dataSet) {
  if (array->GetNumberOfTuples() != dataSet->GetNumberOfPoints())
    throw Error(std::string("the array \"") + (array->GetName() ? array->GetName() : "") +
                "\" has " + std::to_string(array->GetNumberOfTuples()) + " tuples for " +
                std::to_string(dataSet->GetNumberOfPoints()) + " points; remove it");
}

std::vector<std::uint8_t> hiddenCellsOf(vtkDataSet* dataSet) {
  std::vector<std::uint8_t> copy;
  const Span<const std::uint8_t> flags = cellFlagsOf(dataSet, {}, copy);
  std::vector<std::uint8_t> hidden;
  for (std::size_t cell = 0; cell < flags.size(); ++cell)
    if (flags[cell] & vtkDataSetAttributes::HIDDENCELL) {
      hidden.resize(flags.size(), 0);
      hidden[cell] = 1;
    }
  return hidden;
}

bool isNumeric(int type) {
  switch (type) { vtkTemplateMacro(return sizeof(VTK_TT) > 0); }
  return false;
}

}  // namespace tributary
