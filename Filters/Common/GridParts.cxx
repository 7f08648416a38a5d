// SPDX-License-Identifier: BSD-3-Clause
#include "Common/GridParts.h"

#include <vtkImageData.h>
#include <vtkMatrix3x3.h>
#include <vtkRectilinearGrid.h>
#include <vtkStructuredGrid.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Rendezvous.h"

namespace tributary {
namespace {

enum class Kind : std::uint8_t { None, Uniform, Rectilinear, Curvilinear };

/// The data that determine whether two data sets are parts of one grid.
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
  // If the extent does not match the number of points, the data set is treated like a mesh.
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

/// Whether rectilinear parts have equal coordinates at equal indices, and monotonic axes together.
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

/// Whether curvilinear parts have equal points at corners with equal indices.
bool haveCommonCorners(const Parts& parts) {
  std::map<std::array<int, 3>, std::uint64_t> known;
  for (const GridPart* part : parts)
    for (unsigned c = 0; c < part->corners.size(); ++c) {
      const auto [at, isNew] = known.emplace(cornerOf(part->extent, c), part->corners[c]);
      if (!isNew && at->second != part->corners[c]) return false;
    }
  return true;
}

/// The intersection of the extents of two parts, or none.
std::optional<std::array<int, 6>> common(const GridPart& one, const GridPart& other) {
  std::array<int, 6> both{};
  for (std::size_t a = 0; a < 3; ++a) {
    both[2 * a] = std::max(one.extent[2 * a], other.extent[2 * a]);
    both[2 * a + 1] = std::min(one.extent[2 * a + 1], other.extent[2 * a + 1]);
    if (both[2 * a] > both[2 * a + 1]) return std::nullopt;
  }
  return both;
}

/// A point of a curvilinear part at indices that another part of its group contains, too.
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

/// Collective. The groups in which two parts have different points at the same indices.
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

/// The parts of all ranks, in rank order.
struct AllParts {
  std::vector<GridPart> parts;
  std::size_t first = 0;  ///< The first part of this rank.
};

/// Collective. Notes errors.
AllParts gatherParts(Transport& transport, Span<const Leaf> leaves, ErrorCollector& errors) {
  Bytes mine;
  errors.attempt([&] {
    Writer writer;
    for (const Leaf& leaf : leaves) write(writer, partOf(leaf));
    mine = writer.take();
  });
  AllParts all;
  allgatherRead(transport, std::move(mine), errors, [&](Reader& reader, int rank) {
    all.parts.push_back(read(reader));
    if (rank < transport.rank()) all.first = all.parts.size();
  });
  return all;
}

/// Parts with the same key.
struct PartGroup {
  Kind kind = Kind::None;
  std::vector<std::size_t> members;  ///< Ascending.
  bool isOneGrid = true;             ///< Otherwise each part is a grid.
};

/// Local, with the same result on all ranks. Groups in the order of their keys.
std::vector<PartGroup> groupParts(const std::vector<GridPart>& parts) {
  std::map<Key, PartGroup> byKey;
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (parts[n].kind == Kind::None) continue;
    PartGroup& group = byKey[keyOf(parts[n])];
    group.kind = parts[n].kind;
    group.members.push_back(n);
  }
  std::vector<PartGroup> groups;
  groups.reserve(byKey.size());
  for (auto& [key, group] : byKey) {
    Parts members;
    for (const std::size_t n : group.members) members.push_back(&parts[n]);
    if (group.kind == Kind::Rectilinear) group.isOneGrid = haveCommonAxes(members);
    if (group.kind == Kind::Curvilinear) group.isOneGrid = haveCommonCorners(members);
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Whether coordinates must be compared at the indices that parts of a group share.
bool mayBeTorn(const PartGroup& group) {
  return group.kind == Kind::Curvilinear && group.isOneGrid && group.members.size() > 1;
}

/// Local. The points of this rank at indices that parts share.
std::vector<SharedPlace> findSharedPlaces(const AllParts& all, Span<const Leaf> leaves,
                                          const std::vector<PartGroup>& groups) {
  std::vector<SharedPlace> shared;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!mayBeTorn(groups[g])) continue;
    Parts members;
    for (const std::size_t n : groups[g].members) members.push_back(&all.parts[n]);
    for (const std::size_t n : groups[g].members) {
      if (n < all.first || n >= all.first + leaves.size()) continue;
      const auto places = sharedPlaces(all.parts[n], members, leaves[n - all.first].dataSet,
                                       static_cast<std::int64_t>(g));
      shared.insert(shared.end(), places.begin(), places.end());
    }
  }
  return shared;
}

/// Local, without allocations. The number of the grid of each part in `numbers`, -1 if none.
void numberParts(const std::vector<PartGroup>& groups, std::vector<int>& numbers) {
  std::fill(numbers.begin(), numbers.end(), -1);
  int next = 0;
  for (const PartGroup& group : groups) {
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      if (i > 0 && !group.isOneGrid) ++next;
      numbers[group.members[i]] = next;
    }
    ++next;
  }
}

}  // namespace

std::vector<int> numberGrids(Transport& transport, Span<const Leaf> leaves) {
  ErrorCollector errors;
  const AllParts all = gatherParts(transport, leaves, errors);
  std::vector<PartGroup> groups;
  std::vector<SharedPlace> shared;
  std::vector<int> ofParts, ofLeaves;
  errors.attempt([&] {
    groups = groupParts(all.parts);
    shared = findSharedPlaces(all, leaves, groups);
    ofParts.resize(all.parts.size());
    ofLeaves.resize(leaves.size());
  });
  errors.agree(transport);
  // The same on all ranks, as are the groups.
  if (std::any_of(groups.begin(), groups.end(), mayBeTorn))
    for (const std::int64_t group : findTornGroups(transport, std::move(shared))) {
      if (group < 0 || index(group) >= groups.size()) refuseMessage("a grid that does not exist");
      groups[index(group)].isOneGrid = false;
    }
  numberParts(groups, ofParts);
  std::copy_n(ofParts.begin() + static_cast<std::ptrdiff_t>(all.first), leaves.size(),
              ofLeaves.begin());
  return ofLeaves;
}

}  // namespace tributary
