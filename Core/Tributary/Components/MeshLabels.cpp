// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/MeshLabels.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Components/UnionFind.h"

namespace tributary {
namespace {

constexpr std::uint32_t None = NoSet;

using Unions = UnionFind<std::uint32_t>;

/// What the loops over cells share.
struct Labeling {
  CellEntities cells;
  const std::int64_t* values;
  std::uint32_t* parent;  ///< Union-find of the cells; None out of range.
  std::uint32_t* first;   ///< Per entity: the cell that came first, or None.
  std::uint8_t* mixed;    ///< Per entity: whether cells of different values meet there.
};

/// Unites the cells [begin, end) with what came before. @return whether all entities are in range
/// @tparam Alone  no other thread does so
template <bool Alone, bool Valued>
bool uniteCells(const Labeling& all, std::int64_t begin, std::int64_t end) {
  const std::int64_t* const entities = all.cells.entities.data();
  const auto entityCount = static_cast<std::uint64_t>(all.cells.entityCount);
  bool good = true;
  for (std::int64_t c = begin; c < end; ++c) {
    // No other thread makes it None or takes None away.
    if (__atomic_load_n(all.parent + c, __ATOMIC_RELAXED) == None) continue;
    const auto cell = static_cast<std::uint32_t>(c);
    const std::int64_t last = all.cells.offsets[std::size_t(c) + 1];
    for (std::int64_t k = all.cells.offsets[std::size_t(c)]; k < last; ++k) {
      const auto entity = static_cast<std::uint64_t>(entities[k]);
      if (entity >= entityCount) {
        good = false;
        continue;
      }
      std::uint32_t other = __atomic_load_n(all.first + entity, __ATOMIC_RELAXED);
      if (other == None) {
        if constexpr (Alone) {
          all.first[entity] = cell;
          continue;
        } else if (__atomic_compare_exchange_n(all.first + entity, &other, cell, false,
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
          continue;
        }  // else another thread's cell came first, which `other` is now
      }
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
bool uniteCells(const Labeling& all, std::int64_t begin, std::int64_t end) {
  return all.values ? uniteCells<Alone, true>(all, begin, end)
                    : uniteCells<Alone, false>(all, begin, end);
}

/// Where cells of different values meet, those of equal value are found by sorting.
void uniteMixed(const Labeling& all, std::int64_t cellCount) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::uint32_t>> met;  // entity, value, cell
  for (std::int64_t c = 0; c < cellCount; ++c) {
    if (all.parent[c] == None) continue;
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
      Unions::unite(all.parent, std::get<2>(met[i]), std::get<2>(met[i - 1]));
}

/// Numbers the sets of a forest whose trees hang from their lowest cells, in the order of these
/// cells. One thread made the forest, so a cell's parent comes before it.
std::uint32_t numberInOrder(const std::uint32_t* parent, std::int64_t count, std::uint32_t* set) {
  // Without branches: which cells are in range, and which are roots, cannot be guessed.
  std::uint32_t next = 0;
  for (std::int64_t c = 0; c < count; ++c) {
    const std::uint32_t p = parent[c];
    const bool in = p != None, root = p == c;
    const std::uint32_t above = set[in ? p : c];
    set[c] = !in ? None : root ? next : above;
    next += root;
  }
  return next;
}

/// The same for a forest that several threads made. Flattens it.
std::uint32_t numberInParallel(std::uint32_t* parent, std::int64_t count, std::uint32_t* set,
                               const ParallelFor& parallelFor) {
  std::uint32_t sets = 0;
  // Roots first, which must be counted for that, then the others.
  constexpr std::int64_t Chunks = 64;
  const auto firstOf = [&](std::int64_t chunk) { return count * chunk / Chunks; };
  std::array<std::uint32_t, Chunks> number{};  // of each chunk's next root
  const auto forRoots = [&](const auto& visit) {
    parallelFor(Chunks, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t chunk = begin; chunk < end; ++chunk) {
        std::uint32_t next = number[std::size_t(chunk)];
        for (std::int64_t c = firstOf(chunk); c < firstOf(chunk + 1); ++c)
          if (parent[c] == c) visit(c, next);
        number[std::size_t(chunk)] = next;
      }
    });
  };
  forRoots([](std::int64_t, std::uint32_t& next) { ++next; });
  for (auto& n : number) sets += std::exchange(n, sets);
  forRoots([&](std::int64_t c, std::uint32_t& next) { set[c] = next++; });
  const auto at = [parent](std::uint32_t c) {
    return __atomic_load_n(parent + c, __ATOMIC_RELAXED);
  };
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      const std::uint32_t p = at(static_cast<std::uint32_t>(c));
      if (p == c) continue;
      if (p == None) {
        set[c] = None;
        continue;
      }
      // Two steps without asking: more are rare, as the cells before this one point to their roots.
      std::uint32_t root = at(at(p));
      for (std::uint32_t q; (q = at(root)) != root;) root = q;
      __atomic_store_n(parent + c, root, __ATOMIC_RELAXED);
      set[c] = set[root];
    }
  });
  return sets;
}

void check(const CellEntities& cells, Span<const std::uint8_t> inRange) {
  if (cells.offsets.empty()) {
    if (cells.entities.empty() && inRange.empty()) return;
    throw Error("a mesh of cells without offsets; give one for each cell and one more");
  }
  const std::size_t count = cells.offsets.size() - 1;
  if (count >= None)
    throw Error("a mesh block has " + std::to_string(count) +
                " cells, more than 32 bits can number; cut it into smaller blocks");
  if (!inRange.empty() && inRange.size() != count)
    throw Error("a mesh has " + std::to_string(count) + " cells and " +
                std::to_string(inRange.size()) + " range flags given; give one for each cell");
  std::int64_t last = 0;
  for (const auto offset : cells.offsets) {
    if (offset < last || offset > std::int64_t(cells.entities.size()))
      throw Error("a mesh has malformed offsets; give ascending offsets within the entities");
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
  // Not zeroed: the threads touch the memory first.
  const std::unique_ptr<std::uint32_t[]> parents(new std::uint32_t[std::size_t(count)]);
  const std::unique_ptr<std::uint32_t[]> first(
      new std::uint32_t[static_cast<std::size_t>(cells.entityCount)]);
  std::vector<std::uint8_t> mixed(values ? static_cast<std::size_t>(cells.entityCount) : 0);
  std::uint32_t* const parent = parents.get();
  const Labeling all{cells, values, parent, first.get(), mixed.data()};
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    const std::uint8_t* const in = inRange.empty() ? nullptr : inRange.data();
    for (std::int64_t c = begin; c < end; ++c)
      parent[c] = !in || in[c] ? static_cast<std::uint32_t>(c) : None;
  });
  parallelFor(cells.entityCount, [&](std::int64_t begin, std::int64_t end) {
    std::fill(all.first + begin, all.first + end, None);
  });

  bool bad = false, alone = false;
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    const bool whole = begin == 0 && end == count;
    if (whole) alone = true;
    if (!(whole ? uniteCells<true>(all, begin, end) : uniteCells<false>(all, begin, end)))
      __atomic_store_n(&bad, true, __ATOMIC_RELAXED);
  });
  if (bad)
    throw Error("a cell refers to an entity outside of the " + std::to_string(cells.entityCount) +
                " that the mesh has; give the numbers of entities of the mesh");
  if (values) uniteMixed(all, count);

  labels.setOfCell.resize(std::size_t(count));
  std::uint32_t* const set = labels.setOfCell.data();
  labels.sets =
      alone ? numberInOrder(parent, count, set) : numberInParallel(parent, count, set, parallelFor);
  return labels;
}

}  // namespace tributary
