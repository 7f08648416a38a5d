// SPDX-License-Identifier: BSD-3-Clause
#include "Common/GridParts.h"

#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary {
namespace {

enum class Kind : std::uint8_t { None, Uniform, Rectilinear, Curvilinear };

/// What decides whether two data sets are parts of one grid.
struct GridPart {
  Kind kind = Kind::None;
  std::array<int, 6> extent{};
  std::array<double, 15> lattice{};         // uniform: origin, spacing, direction
  std::string group;                        // of others
  std::array<std::vector<double>, 3> axes;  // rectilinear
  std::array<std::uint64_t, 8> corners{};   // curvilinear: hashes of their coordinates
};

std::uint64_t hashOfPoint(vtkDataSet* dataSet, vtkIdType point) {
  double x[3];
  dataSet->GetPoint(point, x);
  std::uint64_t hash = 0;
  for (const double coordinate : x) hash = scramble(hash ^ coordinateBits(coordinate));
  return hash;
}

vtkIdType pointAt(const std::array<int, 6>& extent, const std::array<int, 3>& at) {
  vtkIdType point = 0;
  for (std::size_t a = 3; a-- > 0;)
    point = point * (vtkIdType(extent[2 * a + 1]) - extent[2 * a] + 1) + at[a] - extent[2 * a];
  return point;
}

std::array<int, 3> cornerOf(const std::array<int, 6>& extent, unsigned corner) {
  return {extent[corner & 1], extent[2 + (corner >> 1 & 1)], extent[4 + (corner >> 2 & 1)]};
}

GridPart partOf(const Leaf& leaf) {
  GridPart part;
  if (!leaf.dataSet || !extentOf(leaf.dataSet, part.extent.data())) return part;
  // Points without an extent of that size are told apart like those of a mesh.
  std::int64_t points = 1;
  for (std::size_t a = 0; a < 3; ++a)
    points *=
        std::max<std::int64_t>(std::int64_t(part.extent[2 * a + 1]) - part.extent[2 * a] + 1, 0);
  if (points == 0 || points != leaf.dataSet->GetNumberOfPoints()) return part;
  part.group = leaf.group;
  if (auto* image = vtkImageData::SafeDownCast(leaf.dataSet)) {
    part.kind = Kind::Uniform;
    std::copy_n(image->GetOrigin(), 3, part.lattice.begin());
    std::copy_n(image->GetSpacing(), 3, part.lattice.begin() + 3);
    std::copy_n(image->GetDirectionMatrix()->GetData(), 9, part.lattice.begin() + 6);
  } else if (auto* grid = vtkRectilinearGrid::SafeDownCast(leaf.dataSet)) {
    part.kind = Kind::Rectilinear;
    vtkDataArray* axes[3] = {grid->GetXCoordinates(), grid->GetYCoordinates(),
                             grid->GetZCoordinates()};
    for (std::size_t a = 0; a < 3; ++a)
      for (vtkIdType i = 0; i < axes[a]->GetNumberOfTuples(); ++i)
        part.axes[a].push_back(axes[a]->GetComponent(i, 0));
  } else {
    part.kind = Kind::Curvilinear;
    for (unsigned c = 0; c < part.corners.size(); ++c)
      part.corners[c] = hashOfPoint(leaf.dataSet, pointAt(part.extent, cornerOf(part.extent, c)));
  }
  return part;
}

void write(Writer& writer, const GridPart& part) {
  writer.value(part.kind).value(part.extent).value(part.lattice).text(part.group);
  writer.value(part.corners);
  for (const auto& axis : part.axes) writer.range(axis);
}

GridPart read(Reader& reader) {
  GridPart part;
  part.kind = reader.value<Kind>();
  part.extent = reader.value<std::array<int, 6>>();
  part.lattice = reader.value<std::array<double, 15>>();
  part.group = reader.text();
  part.corners = reader.value<std::array<std::uint64_t, 8>>();
  for (auto& axis : part.axes) axis = reader.range<double>();
  return part;
}

using Parts = std::vector<const GridPart*>;

bool isAscending(const std::vector<double>& axis) {
  return std::adjacent_find(axis.begin(), axis.end(),
                            [](double a, double b) { return !(a < b); }) == axis.end();
}

bool isDescending(const std::vector<double>& axis) {
  return std::adjacent_find(axis.begin(), axis.end(),
                            [](double a, double b) { return !(a > b); }) == axis.end();
}

/// Whether rectilinear parts have the axes of one grid.
bool haveCommonAxes(const Parts& parts) {
  for (std::size_t a = 0; a < 3; ++a) {
    std::map<std::int64_t, double> known;
    bool areAscending = true, areDescending = true;
    for (const GridPart* part : parts) {
      const std::vector<double>& axis = part->axes[a];
      areAscending = areAscending && isAscending(axis);
      areDescending = areDescending && isDescending(axis);
      for (std::size_t i = 0; i < axis.size(); ++i) {
        const auto [at, isNew] =
            known.emplace(part->extent[2 * a] + static_cast<std::int64_t>(i), axis[i]);
        if (!isNew && at->second != axis[i]) return false;
      }
    }
    std::vector<double> whole;
    for (const auto& [index, coordinate] : known) whole.push_back(coordinate);
    if ((areAscending && !isAscending(whole)) || (areDescending && !isDescending(whole)))
      return false;
  }
  return true;
}

/// Whether curvilinear parts have the same points where they have the same corner.
bool haveCommonCorners(const Parts& parts) {
  std::map<std::array<int, 3>, std::uint64_t> known;
  for (const GridPart* part : parts)
    for (unsigned c = 0; c < part->corners.size(); ++c) {
      const auto [at, isNew] = known.emplace(cornerOf(part->extent, c), part->corners[c]);
      if (!isNew && at->second != part->corners[c]) return false;
    }
  return true;
}

/// The indices that two parts have both, if any.
std::optional<std::array<int, 6>> common(const GridPart& one, const GridPart& other) {
  std::array<int, 6> both{};
  for (std::size_t a = 0; a < 3; ++a) {
    both[2 * a] = std::max(one.extent[2 * a], other.extent[2 * a]);
    both[2 * a + 1] = std::min(one.extent[2 * a + 1], other.extent[2 * a + 1]);
    if (both[2 * a] > both[2 * a + 1]) return std::nullopt;
  }
  return both;
}

/// A point of a curvilinear part with indices that another part of its group has too.
struct SharedPlace {
  std::int64_t group;
  std::array<int, 3> at;
  std::uint64_t point;  // hash of its coordinates

  bool isSame(const SharedPlace& other) const { return group == other.group && at == other.at; }
};

std::vector<SharedPlace> sharedPlaces(const GridPart& part, const Parts& others,
                                      vtkDataSet* dataSet, std::int64_t group) {
  std::vector<std::array<int, 3>> places;
  for (const GridPart* other : others) {
    const auto both = &part == other ? std::nullopt : common(part, *other);
    if (!both) continue;
    const auto& e = *both;
    for (int k = e[4]; k <= e[5]; ++k)
      for (int j = e[2]; j <= e[3]; ++j)
        for (int i = e[0]; i <= e[1]; ++i) places.push_back({i, j, k});
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<SharedPlace> shared;
  for (const auto& at : places)
    shared.push_back({group, at, hashOfPoint(dataSet, pointAt(part.extent, at))});
  return shared;
}

/// Collective. Groups of which two parts have different points at the same place.
std::vector<std::int64_t> findTornGroups(Transport& transport, std::vector<SharedPlace> shared) {
  const auto hashOf = [](const SharedPlace& place) {
    std::uint64_t hash = scramble(static_cast<std::uint64_t>(place.group));
    for (const int i : place.at) hash = scramble(hash ^ static_cast<std::uint32_t>(i));
    return hash;
  };
  const auto less = [](const SharedPlace& a, const SharedPlace& b) {
    return std::tie(a.group, a.at) < std::tie(b.group, b.at);
  };
  const auto same = [](const SharedPlace& a, const SharedPlace& b) { return a.isSame(b); };
  std::vector<std::int64_t> torn =
      rendezvous<std::int64_t>(transport, std::move(shared), hashOf, less, same,
                               [](Span<Met<SharedPlace>> group, auto&& send) {
                                 const auto differs = [&](const Met<SharedPlace>& one) {
                                   return one.record.point != group[0].record.point;
                                 };
                                 if (std::any_of(group.begin(), group.end(), differs))
                                   send(group[0].rank, group[0].record.group);
                               });
  std::sort(torn.begin(), torn.end());
  torn.erase(std::unique(torn.begin(), torn.end()), torn.end());
  return allgatherv(transport, torn);
}

using Key = std::tuple<Kind, std::array<double, 15>, std::string, std::array<int, 3>>;

Key keyOf(const GridPart& part) {
  std::array<int, 3> plane;
  for (std::size_t a = 0; a < 3; ++a)
    plane[a] = part.extent[2 * a] == part.extent[2 * a + 1] ? part.extent[2 * a]
                                                            : std::numeric_limits<int>::min();
  return {part.kind, part.lattice, part.kind == Kind::Uniform ? std::string() : part.group, plane};
}

}  // namespace

std::vector<int> numberGrids(Transport& transport, Span<const Leaf> leaves) {
  Writer writer;
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) write(writer, partOf(leaf));
  });
  std::vector<GridPart> parts;
  std::size_t first = 0;  // of this rank's
  allgatherRead(transport, writer.take(), [&](Reader& reader, int rank) {
    if (rank < transport.rank()) first = parts.size() + 1;
    parts.push_back(read(reader));
  });
  std::map<Key, std::vector<std::size_t>> groups;
  std::vector<SharedPlace> shared;
  collectively(transport, [&] {
    for (std::size_t n = 0; n < parts.size(); ++n)
      if (parts[n].kind != Kind::None) groups[keyOf(parts[n])].push_back(n);
  });

  std::vector<char> isOne;
  bool mayBeTorn = false;  // the same on all ranks, as all that is looked at here but `shared`
  collectively(transport, [&] {
    for (const auto& [key, members] : groups) {
      Parts group;
      for (const std::size_t n : members) group.push_back(&parts[n]);
      const Kind kind = std::get<Kind>(key);
      isOne.push_back(kind == Kind::Rectilinear   ? haveCommonAxes(group)
                      : kind == Kind::Curvilinear ? haveCommonCorners(group)
                                                  : true);
      if (kind != Kind::Curvilinear || !isOne.back() || members.size() < 2) continue;
      mayBeTorn = true;
      for (const std::size_t n : members) {
        if (n < first || n >= first + leaves.size()) continue;
        const auto places = sharedPlaces(parts[n], group, leaves[n - first].dataSet,
                                         static_cast<std::int64_t>(isOne.size()) - 1);
        shared.insert(shared.end(), places.begin(), places.end());
      }
    }
  });
  if (mayBeTorn)
    for (const std::int64_t group : findTornGroups(transport, std::move(shared)))
      isOne[static_cast<std::size_t>(group)] = false;

  std::vector<int> number(parts.size(), -1);
  int next = 0;
  std::size_t group = 0;
  for (const auto& [key, members] : groups) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0 && !isOne[group]) ++next;
      number[members[i]] = next;
    }
    ++next;
    ++group;
  }
  const auto mine = number.begin() + static_cast<std::ptrdiff_t>(first);
  return {mine, mine + static_cast<std::ptrdiff_t>(leaves.size())};
}

}  // namespace tributary
