// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/MeshEntities.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/HugePages.h"
#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

/// Who uses an entity, as bits.
constexpr std::uint8_t One = 1, Several = 2;

/// What is wrong with a cell.
enum class Fault { None, Offsets, Point, Type, Size, Faces };

/// The points of one entity, ascending and each once.
class EntityPoints {
 public:
  void clear() { few_ = 0, many_.clear(); }
  void add(std::int64_t point) {
    if (few_ < Few)
      some_[few_++] = point;
    else
      many_.push_back(point);
  }
  /// Sorts the points and removes duplicates. @return the number of points left
  int finish() {
    if (!many_.empty()) {
      many_.insert(many_.end(), some_, some_ + Few);
      std::sort(many_.begin(), many_.end());
      many_.erase(std::unique(many_.begin(), many_.end()), many_.end());
      return static_cast<int>(many_.size());
    }
    for (int i = 1; i < few_; ++i)
      for (int k = i; k > 0 && some_[k] < some_[k - 1]; --k) std::swap(some_[k], some_[k - 1]);
    few_ = static_cast<int>(std::unique(some_, some_ + few_) - some_);
    return few_;
  }
  const std::int64_t* begin() const { return many_.empty() ? some_ : many_.data(); }

 private:
  static constexpr int Few = 8;
  std::int64_t some_[Few];
  int few_ = 0;
  std::vector<std::int64_t> many_;
};

/// Visits the entities of cells. One for each thread.
class CellVisitor {
 public:
  CellVisitor(const MeshCells& mesh, Through through) : mesh_(mesh), through_(through) {}

  /// Calls visit(points, count) for each entity of a cell, always in the same order.
  template <class Visit>
  Fault operator()(std::int64_t cell, const Visit& visit) {
    const std::int64_t begin = mesh_.offsets[std::size_t(cell)];
    const std::int64_t count = mesh_.offsets[std::size_t(cell) + 1] - begin;
    const std::int64_t* const ids = mesh_.connectivity.data() + begin;
    const std::uint8_t type = mesh_.types[std::size_t(cell)];
    if (through_ == Through::Points) return visitPoints(ids, count, visit);
    const std::uint8_t linear = linearType(type);
    if (linear == 0) return type == 0 && count == 0 ? Fault::None : Fault::Type;
    if (linear == Polyhedron) return visitPolyhedron(cell, visit);
    if (dimensionOf(type) < 2) {
      const bool curved = dimensionOf(type) == 1 && linear != type;
      return visitPoints(ids, curved ? std::min<std::int64_t>(count, 2) : count, visit);
    }
    if (dimensionOf(type) == 2) return visitSurface(type, linear, ids, count, visit);
    const CellTopology& cellTopology = *topologyOf(linear);
    if (count < cellTopology.points) return Fault::Size;
    if (through_ == Through::Edges) {
      for (int e = 0; e < cellTopology.edges; ++e)
        if (!entity(visit, ids, cellTopology.edge[e], 2, 2)) return Fault::Point;
    } else {
      for (int f = 0; f < cellTopology.faces; ++f)
        if (!entity(visit, ids, cellTopology.face[f], cellTopology.faceSize[f], 3))
          return Fault::Point;
    }
    return Fault::None;
  }

 private:
  bool isPoint(std::int64_t point) const {
    return std::uint64_t(point) < std::uint64_t(mesh_.pointCount);
  }
  bool add(std::int64_t point) {
    if (!isPoint(point)) return false;
    points_.add(mesh_.canonical.empty() ? point : mesh_.canonical[std::size_t(point)]);
    return true;
  }

  template <class Visit>
  void finish(const Visit& visit, int least) {
    const int count = points_.finish();
    if (count >= least) visit(points_.begin(), count);
  }

  /// @return false if a point is not there
  template <class Visit>
  bool entity(const Visit& visit, const std::int64_t* ids, const std::int8_t* corners, int count,
              int least) {
    std::int64_t few[4] = {};
    if (count <= 4) {  // most are, and without branches to be guessed
      bool good = true;
      for (int i = 0; i < count; ++i) {
        few[i] = ids[corners[i]];
        if (!mesh_.canonical.empty() && isPoint(few[i]))
          few[i] = mesh_.canonical[std::size_t(few[i])];
        good &= isPoint(few[i]);
      }
      if (!good) return false;
      const auto order = [&few](int i, int k) {
        const std::int64_t lower = std::min(few[i], few[k]);
        few[k] = std::max(few[i], few[k]);
        few[i] = lower;
      };
      order(0, 1);
      if (count == 3) order(1, 2), order(0, 1);
      if (count == 4) order(2, 3), order(0, 2), order(1, 3), order(1, 2);
      bool different = true;
      for (int i = 1; i < count; ++i) different &= few[i - 1] != few[i];
      if (different) {
        visit(few, count);
        return true;
      }
    }
    points_.clear();
    for (int i = 0; i < count; ++i)
      if (!add(ids[corners[i]])) return false;
    finish(visit, least);
    return true;
  }

  template <class Visit>
  bool edge(const Visit& visit, std::int64_t a, std::int64_t b) {
    points_.clear();
    if (!add(a) || !add(b)) return false;
    finish(visit, 2);
    return true;
  }

  template <class Visit>
  Fault visitPoints(const std::int64_t* ids, std::int64_t count, const Visit& visit) {
    for (std::int64_t i = 0; i < count; ++i) {
      points_.clear();
      if (!add(ids[i])) return Fault::Point;
      finish(visit, 1);
    }
    return Fault::None;
  }

  template <class Visit>
  Fault visitSurface(std::uint8_t type, std::uint8_t linear, const std::int64_t* ids,
                     std::int64_t count, const Visit& visit) {
    bool good = true;
    if (linear == Strip) {
      if (count < 3) return Fault::Size;
      for (std::int64_t i = 0; i + 1 < count; ++i) good = good && edge(visit, ids[i], ids[i + 1]);
      for (std::int64_t i = 0; i + 2 < count; ++i) good = good && edge(visit, ids[i], ids[i + 2]);
      return good ? Fault::None : Fault::Point;
    }
    const std::int64_t corners = linear == Triangle  ? 3
                                 : linear != Polygon ? 4
                                 : type != Polygon   ? count / 2
                                                     : count;
    if (count < corners || corners < 3) return Fault::Size;
    const auto at = [&](std::int64_t i) {  // around the cell
      return ids[linear == Pixel && i >= 2 ? 5 - i : i];
    };
    for (std::int64_t i = 0; i < corners; ++i)
      good = good && edge(visit, at(i), at((i + 1) % corners));
    return good ? Fault::None : Fault::Point;
  }

  template <class Visit>
  Fault visitPolyhedron(std::int64_t cell, const Visit& visit) {
    const std::int64_t size = static_cast<std::int64_t>(mesh_.faces.size());
    std::int64_t at = mesh_.faceLocations.empty() ? -1 : mesh_.faceLocations[std::size_t(cell)];
    if (at < 0 || at >= size) return Fault::Faces;
    edges_.clear();
    for (std::int64_t face = mesh_.faces[std::size_t(at++)]; face > 0; --face) {
      if (at >= size) return Fault::Faces;
      const std::int64_t count = mesh_.faces[std::size_t(at++)];
      if (count < 0 || count > size - at) return Fault::Faces;
      const std::int64_t* const ids = mesh_.faces.data() + at;
      at += count;
      if (through_ == Through::Edges) {
        for (std::int64_t i = 0; i < count; ++i)
          edges_.emplace_back(std::min(ids[i], ids[(i + 1) % count]),
                              std::max(ids[i], ids[(i + 1) % count]));
        continue;
      }
      points_.clear();
      for (std::int64_t i = 0; i < count; ++i)
        if (!add(ids[i])) return Fault::Point;
      finish(visit, 3);
    }
    std::sort(edges_.begin(), edges_.end());  // each is there once per face
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    for (const auto& pair : edges_)
      if (!edge(visit, pair.first, pair.second)) return Fault::Point;
    return Fault::None;
  }

  const MeshCells& mesh_;
  Through through_;
  EntityPoints points_;
  std::vector<std::pair<std::int64_t, std::int64_t>> edges_;  // of a polyhedron
};

/// What tells entities with the same least point apart: the other points of an edge or a triangle
/// as they are, or a hash of them (the mixing of Steele's SplitMix64).
std::uint64_t restOf(const std::int64_t* points, int count) {
  if (count <= 2) return count == 2 ? static_cast<std::uint64_t>(points[1]) : 0;
  if (count == 3 && points[2] < std::int64_t(1) << 32)
    return static_cast<std::uint64_t>(points[1]) << 32 | static_cast<std::uint64_t>(points[2]);
  auto x = static_cast<std::uint64_t>(count);
  for (int i = 1; i < count; ++i) {
    x = (x ^ static_cast<std::uint64_t>(points[i])) + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return x;
}

/// One cell's entity, in the list of its least point.
struct Listed {
  std::uint64_t rest;
  std::int64_t slot;  // position in the cells' entities
  bool operator<(const Listed& other) const {
    return rest != other.rest ? rest < other.rest : slot < other.slot;
  }
};

void sortListed(Listed* begin, Listed* end) {
  if (end - begin > 32) {
    std::sort(begin, end);
    return;
  }
  for (Listed* i = begin; i < end; ++i) {
    const Listed moved = *i;
    Listed* to = i;
    for (; to > begin && moved < to[-1]; --to) *to = to[-1];
    *to = moved;
  }
}

/// counter++, for several threads or for one.
std::int64_t next(std::int64_t& counter, bool alone) {
  return alone ? counter++ : __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
}

void check(const MeshCells& mesh, Span<const std::uint8_t> inRange) {
  const std::size_t count = mesh.types.size();
  if (mesh.offsets.size() != count + 1)
    throw Error("a mesh of " + std::to_string(count) + " cells has " +
                std::to_string(mesh.offsets.size()) +
                " offsets; give one for each cell and one more");
  if (!inRange.empty() && inRange.size() != count)
    throw Error("a mesh has " + std::to_string(count) + " cells and " +
                std::to_string(inRange.size()) + " range flags given; give one for each cell");
  if (!mesh.faceLocations.empty() && mesh.faceLocations.size() != count)
    throw Error("a mesh of " + std::to_string(count) + " cells has " +
                std::to_string(mesh.faceLocations.size()) +
                " positions of faces; give one for each cell");
  if (!mesh.canonical.empty() && std::int64_t(mesh.canonical.size()) != mesh.pointCount)
    throw Error(std::to_string(mesh.canonical.size()) + " canonical points for " +
                std::to_string(mesh.pointCount) + "; give one for each point");
  for (const auto point : mesh.canonical)
    if (point < 0 || point >= mesh.pointCount)
      throw Error("canonical point " + std::to_string(point) + " of " +
                  std::to_string(mesh.pointCount) + "; give the number of a point");
  std::int64_t last = 0;
  for (const auto offset : mesh.offsets) {
    if (offset < last || offset > std::int64_t(mesh.connectivity.size()))
      throw Error("a mesh has malformed offsets; give ascending offsets within the connectivity");
    last = offset;
  }
}

[[noreturn]] void refuse(const MeshCells& mesh, std::int64_t cell, Fault fault) {
  const std::string name =
      "cell " + std::to_string(cell) + " of type " + std::to_string(mesh.types[std::size_t(cell)]);
  switch (fault) {
    case Fault::Type:
      throw Error(name + " has no known faces and edges; connect through points");
    case Fault::Size:
      throw Error(name + " has too few points; repair or remove the cell");
    case Fault::Faces:
      throw Error(name + " has a malformed list of faces; repair or remove the cell");
    default:
      throw Error(name + " refers to a point outside of the " + std::to_string(mesh.pointCount) +
                  " that the mesh has; give the numbers of points of the mesh");
  }
}

}  // namespace

std::size_t MeshEntities::memory() const {
  return (offsets_.capacity() + entities_.capacity() + ownerSlot_.capacity()) *
             sizeof(std::int64_t) +
         uses_.capacity();
}

void MeshEntities::pointsOf(std::int64_t entity, std::vector<std::int64_t>& points) const {
  if (through_ == Through::Points) {
    points.assign(1, entity);
    return;
  }
  const std::int64_t slot = ownerSlot_[std::size_t(entity)];
  const std::int64_t cell =
      std::upper_bound(offsets_.begin(), offsets_.end(), slot) - offsets_.begin() - 1;
  std::int64_t at = offsets_[std::size_t(cell)];
  CellVisitor(mesh_, through_)(cell, [&](const std::int64_t* p, int count) {
    if (at++ == slot) points.assign(p, p + count);
  });
}

/// The stages of numberEntities().
class MeshEntities::Numbering {
 public:
  Numbering(const MeshCells& mesh, Through through, Span<const std::uint8_t> inRange,
            const ParallelFor& parallelFor)
      : mesh_(mesh),
        through_(through),
        inRange_(inRange),
        parallelFor_(parallelFor),
        cellCount_(static_cast<std::int64_t>(mesh.types.size())),
        pointCount_(index(mesh.pointCount)) {}

  MeshEntities run() {
    out_.mesh_ = mesh_;
    out_.through_ = through_;
    countEntities();
    out_.entities_.resize(slots());
    if (through_ == Through::Points) {
      numberPoints();
      return std::move(out_);
    }
    const HugePages memory(slots() * sizeof(Listed));
    auto* const listed = reinterpret_cast<Listed*>(memory.data());
    listEntities(listed);
    const std::vector<std::int64_t> first = sortLists(listed);
    numberLists(listed, first);
    return std::move(out_);
  }

 private:
  std::size_t slots() const { return index(out_.offsets_.back()); }

  /// Calls visit(CellVisitor&, cell, alone) for each cell in range; a thread ends at its first cell
  /// for which that is false. `alone`: no other thread visits cells.
  template <class Visit>
  void forEachCell(const Visit& visit) const {
    parallelFor_(cellCount_, [&](std::int64_t first, std::int64_t last) {
      const bool alone = first == 0 && last == cellCount_;
      CellVisitor visitCell(mesh_, through_);
      for (std::int64_t cell = first; cell < last; ++cell) {
        if (!inRange_.empty() && !inRange_[std::size_t(cell)]) continue;
        if (!visit(visitCell, cell, alone)) break;
      }
    });
  }

  /// Counts the entities per cell and per least point. Throws Error for the first faulty cell.
  void countEntities() {
    out_.offsets_.assign(std::size_t(cellCount_) + 1, 0);
    begin_.assign(pointCount_ + 1, 0);
    std::int64_t bad = cellCount_;  // the first that is
    forEachCell([&](CellVisitor& visitCell, std::int64_t cell, bool alone) {
      std::int64_t count = 0;
      const Fault fault = visitCell(cell, [&](const std::int64_t* points, int) {
        ++count;
        next(begin_[std::size_t(points[0])], alone);
      });
      out_.offsets_[std::size_t(cell) + 1] = count;
      if (fault == Fault::None) return true;
      std::int64_t seen = __atomic_load_n(&bad, __ATOMIC_RELAXED);
      while (cell < seen && !__atomic_compare_exchange_n(&bad, &seen, cell, false, __ATOMIC_RELAXED,
                                                         __ATOMIC_RELAXED)) {
      }
      return false;
    });
    if (bad < cellCount_)
      refuse(mesh_, bad, CellVisitor(mesh_, through_)(bad, [](const std::int64_t*, int) {}));
    for (std::size_t c = 0; c < std::size_t(cellCount_); ++c)
      out_.offsets_[c + 1] += out_.offsets_[c];
  }

  /// Entities are points, which have numbers already.
  void numberPoints() {
    out_.uses_.resize(pointCount_);
    std::vector<std::int64_t> lastCell(pointCount_, -1);
    forEachCell([&](CellVisitor& visitCell, std::int64_t cell, bool) {
      std::int64_t slot = out_.offsets_[std::size_t(cell)];
      visitCell(cell, [&](const std::int64_t* points, int) {
        out_.entities_[std::size_t(slot++)] = points[0];
        // A cell may have a point twice. If another thread comes between, there are two cells.
        const auto last =
            __atomic_exchange_n(&lastCell[std::size_t(points[0])], cell, __ATOMIC_RELAXED);
        if (last != cell)
          __atomic_fetch_or(&out_.uses_[std::size_t(points[0])], last < 0 ? One : Several,
                            __ATOMIC_RELAXED);
      });
      return true;
    });
  }

  /// Lists the entities by their least points.
  void listEntities(Listed* listed) {
    std::int64_t sum = 0;
    for (auto& b : begin_) sum += std::exchange(b, sum);
    forEachCell([&](CellVisitor& visitCell, std::int64_t cell, bool alone) {
      std::int64_t slot = out_.offsets_[std::size_t(cell)];
      visitCell(cell, [&](const std::int64_t* points, int count) {
        const auto at = next(begin_[std::size_t(points[0])], alone);
        listed[at] = {restOf(points, count), slot++};
      });
      return true;
    });
    // Now begin_[p] is the end of p's list, and so the beginning of the next one's.
  }

  std::pair<Listed*, Listed*> listOf(Listed* listed, std::int64_t p) const {
    return {listed + (p == 0 ? 0 : begin_[std::size_t(p) - 1]), listed + begin_[std::size_t(p)]};
  }

  /// Sorts the lists, so that equal entities are beside each other.
  /// @return the number of the first entity of each list, and of all entities
  std::vector<std::int64_t> sortLists(Listed* listed) const {
    std::vector<std::int64_t> number(pointCount_ + 1, 0);
    parallelFor_(mesh_.pointCount, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const auto list = listOf(listed, p);
        sortListed(list.first, list.second);
        std::int64_t count = 0;
        for (const Listed* i = list.first; i != list.second; ++i)
          count += i == list.first || i->rest != i[-1].rest;
        number[std::size_t(p) + 1] = count;
      }
    });
    for (std::size_t p = 0; p < pointCount_; ++p) number[p + 1] += number[p];
    return number;
  }

  void numberLists(Listed* listed, const std::vector<std::int64_t>& number) {
    // A degenerate cell may have an entity twice. The bits mark the cells' first slots.
    std::vector<std::uint64_t> starts(slots() / 64 + 1);
    for (const auto slot : out_.offsets_)
      starts[std::size_t(slot) / 64] |= std::uint64_t(1) << slot % 64;
    const auto sameCell = [&](std::int64_t slot, std::int64_t later) {
      for (std::int64_t i = slot + 1; i <= later; ++i)
        if (starts[std::size_t(i) / 64] >> i % 64 & 1) return false;
      return true;
    };
    out_.uses_.resize(std::size_t(number.back()));
    out_.ownerSlot_.resize(std::size_t(number.back()));
    parallelFor_(mesh_.pointCount, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const auto list = listOf(listed, p);
        std::int64_t entity = number[std::size_t(p)] - 1;
        for (const Listed* i = list.first; i != list.second; ++i) {
          if (i == list.first || i->rest != i[-1].rest) {
            ++entity;
            out_.uses_[std::size_t(entity)] = One;
            out_.ownerSlot_[std::size_t(entity)] = i->slot;
          } else if (!sameCell(i[-1].slot, i->slot)) {
            out_.uses_[std::size_t(entity)] = Several;
          }
          out_.entities_[std::size_t(i->slot)] = entity;
        }
      }
    });
  }

  const MeshCells& mesh_;
  Through through_;
  Span<const std::uint8_t> inRange_;
  const ParallelFor& parallelFor_;
  std::int64_t cellCount_;
  std::size_t pointCount_;
  MeshEntities out_;
  std::vector<std::int64_t> begin_;  // of each point's list
};

MeshEntities numberEntities(const MeshCells& mesh, Through through,
                            Span<const std::uint8_t> inRange, const ParallelFor& parallelFor) {
  check(mesh, inRange);
  return MeshEntities::Numbering(mesh, through, inRange, parallelFor).run();
}

}  // namespace tributary
