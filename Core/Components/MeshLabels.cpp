#include "Tributary/Components/MeshLabels.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "Tributary/Components/UnionFind.h"
#include "Tributary/Error.h"

namespace tributary {
namespace {

constexpr std::uint32_t kNone = MeshLabels::NoSet;

/// What the loops over cells share.
struct Labelling {
  CellEntities cells;
  Span<const std::uint8_t> inRange;
  const std::int64_t* values;
  std::uint32_t* parent;  ///< Union-find of the cells.
  std::uint32_t* first;   ///< Per entity: the cell that came first, or kNone.
  std::uint8_t* mixed;    ///< Per entity: whether cells of different values meet there.

  bool takesPart(std::int64_t cell) const {
    return inRange.empty() || inRange[std::size_t(cell)] != 0;
  }
};

/// Unites the cells [begin, end) with what came before. @return whether all entities are in range
/// @tparam Alone  no other thread does so
template <bool Alone, bool Valued>
bool uniteCells(const Labelling& all, std::int64_t begin, std::int64_t end) {
  using Unions = UnionFind<std::uint32_t>;
  const std::int64_t* const entities = all.cells.entities.data();
  const auto entityCount = static_cast<std::uint64_t>(all.cells.entityCount);
  bool good = true;
  for (std::int64_t c = begin; c < end; ++c) {
    if (!all.takesPart(c)) continue;
    const auto cell = static_cast<std::uint32_t>(c);
    for (std::int64_t k = all.cells.offsets[std::size_t(c)];
         k < all.cells.offsets[std::size_t(c) + 1]; ++k) {
      const auto entity = static_cast<std::uint64_t>(entities[k]);
      if (entity >= entityCount) {
        good = false;
        continue;
      }
      std::uint32_t other = kNone;
      if constexpr (Alone) {
        other = all.first[entity];
        if (other == kNone) all.first[entity] = cell;
      } else {
        other = __atomic_load_n(all.first + entity, __ATOMIC_RELAXED);
        // On failure the other thread's cell is in `other`.
        if (other == kNone)
          __atomic_compare_exchange_n(all.first + entity, &other, cell, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
      }
      if (other == kNone) continue;
      if (Valued && all.values[other] != all.values[cell])
        __atomic_store_n(all.mixed + entity, std::uint8_t(1), __ATOMIC_RELAXED);
      else if constexpr (Alone)
        Unions::unite(all.parent, cell, other);
      else
        Unions::uniteConcurrently(all.parent, cell, other);
    }
  }
  return good;
}

template <bool Alone>
bool uniteCells(const Labelling& all, std::int64_t begin, std::int64_t end) {
  return all.values ? uniteCells<Alone, true>(all, begin, end)
                    : uniteCells<Alone, false>(all, begin, end);
}

/// Where cells of different values meet, those of equal value are found by sorting.
void uniteMixed(const Labelling& all, std::int64_t cellCount) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> met;  // entity, value, cell
  for (std::int64_t c = 0; c < cellCount; ++c) {
    if (!all.takesPart(c)) continue;
    for (std::int64_t k = all.cells.offsets[std::size_t(c)];
         k < all.cells.offsets[std::size_t(c) + 1]; ++k) {
      const std::int64_t entity = all.cells.entities[std::size_t(k)];
      if (all.mixed[entity]) met.emplace_back(entity, all.values[c], std::uint32_t(c));
    }
  }
  std::sort(met.begin(), met.end());
  for (std::size_t i = 1; i < met.size(); ++i)
    if (std::get<0>(met[i]) == std::get<0>(met[i - 1]) &&
        std::get<1>(met[i]) == std::get<1>(met[i - 1]))
      UnionFind<std::uint32_t>::unite(all.parent, std::get<2>(met[i]), std::get<2>(met[i - 1]));
}

void check(const CellEntities& cells, Span<const std::uint8_t> inRange) {
  if (cells.offsets.empty()) {
    if (cells.entities.empty() && inRange.empty()) return;
    throw Error("a mesh of cells without offsets");
  }
  const std::size_t count = cells.offsets.size() - 1;
  if (count >= kNone)
    throw Error("a mesh block has " + std::to_string(count) +
                " cells, more than 32 bits can number; cut it into smaller blocks");
  if (!inRange.empty() && inRange.size() != count)
    throw Error("a mesh has " + std::to_string(count) + " cells and " +
                std::to_string(inRange.size()) + " marks of those in range");
  std::int64_t last = 0;
  for (const auto offset : cells.offsets) {
    if (offset < last || offset > std::int64_t(cells.entities.size()))
      throw Error("a mesh has malformed offsets");
    last = offset;
  }
}

}  // namespace

MeshLabels labelMesh(const CellEntities& cells, Span<const std::uint8_t> inRange,
                     const std::int64_t* values, const ParallelFor& parallelFor) {
  check(cells, inRange);
  MeshLabels labels;
  if (cells.offsets.empty()) return labels;
  const auto count = static_cast<std::int64_t>(cells.offsets.size()) - 1;
  UnionFind<std::uint32_t> unions(static_cast<std::size_t>(count));
  std::vector<std::uint32_t> first(static_cast<std::size_t>(cells.entityCount), kNone);
  std::vector<std::uint8_t> mixed(values ? first.size() : 0);
  const Labelling all{cells, inRange, values, unions.parents(), first.data(), mixed.data()};
  bool bad = false;
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    const bool alone = begin == 0 && end == count;
    if (!(alone ? uniteCells<true>(all, begin, end) : uniteCells<false>(all, begin, end)))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
  });
  if (bad)
    throw Error("a cell refers to an entity outside of the " + std::to_string(cells.entityCount) +
                " that the mesh has");
  if (values) uniteMixed(all, count);

  // In place: what is below a cell in the order has its number already.
  labels.setOfCell = std::move(unions).takeParents();
  std::uint32_t* const set = labels.setOfCell.data();
  for (std::int64_t c = 0; c < count; ++c) {
    const std::uint32_t parent = set[c];
    if (parent != c)
      set[c] = set[parent];
    else
      set[c] = all.takesPart(c) ? labels.sets++ : kNone;
  }
  return labels;
}

}  // namespace tributary
