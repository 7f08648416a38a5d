// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/Pieces/LatticeSeams.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Common/SmpFor.h"

#include "Tributary/Base/Box.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Components/UnionFind.h"

namespace tributary {
namespace {

using Index3 = std::array<std::int64_t, 3>;

/// A box of elements, [begin, end) along each axis.
struct Elements {
  Index3 begin, end;

  bool empty() const { return begin[0] >= end[0] || begin[1] >= end[1] || begin[2] >= end[2]; }
  std::int64_t along(std::size_t a) const { return end[a] - begin[a]; }
  std::size_t placeOf(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return index(((k - begin[2]) * along(1) + j - begin[1]) * along(0) + i - begin[0]);
  }
};

Elements common(const Elements& one, const Elements& other) {
  Elements both = one;
  intersect(both.begin, both.end, other.begin, other.end);
  return both;
}

Elements moved(Elements box, const Index3& by) {
  for (std::size_t a = 0; a < 3; ++a) {
    box.begin[a] += by[a];
    box.end[a] += by[a];
  }
  return box;
}

Elements grown(Elements box) {
  for (std::size_t a = 0; a < 3; ++a) {
    --box.begin[a];
    ++box.end[a];
  }
  return box;
}

/// The sets of a box of elements of a part, x fastest, NoSet for none.
std::vector<std::uint32_t> setsIn(const LatticePart& part, const Elements& box) {
  std::vector<std::uint32_t> sets;
  sets.reserve(index(box.along(0) * box.along(1) * box.along(2)));
  const LatticeSize& size = part.labels->size();
  const bool isPlain = part.order[0] == 0 && part.order[1] == 1;
  for (std::int64_t k = box.begin[2]; k < box.end[2]; ++k)
    for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j) {
      if (isPlain && box.along(0) > 1) {
        const std::int64_t row = (k - part.begin[2]) * size[1] + j - part.begin[1];
        const std::int64_t from = box.begin[0] - part.begin[0], to = box.end[0] - part.begin[0];
        const auto at = static_cast<std::ptrdiff_t>(sets.size());
        sets.resize(sets.size() + index(to - from), NoSet);
        part.labels->visitRuns(row, from, to, [&](const Run& run) {
          std::fill(sets.begin() + at + (run.begin - from), sets.begin() + at + (run.end - from),
                    run.set);
        });
        continue;
      }
      for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i) {
        const Index3 here = {i - part.begin[0], j - part.begin[1], k - part.begin[2]};
        const std::int64_t row = here[part.order[2]] * size[1] + here[part.order[1]];
        sets.push_back(part.labels->setAt(row, here[part.order[0]]));
      }
    }
  return sets;
}

/// Calls `visit(offset)` for the places of the neighbors of an element.
template <class Visit>
void forEachNeighbor(const std::array<bool, 3>& flat, Through through, Visit&& visit) {
  const int most = through == Through::Faces ? 1 : through == Through::Edges ? 2 : 3;
  for (std::int64_t z = flat[2] ? 0 : -1; z <= (flat[2] ? 0 : 1); ++z)
    for (std::int64_t y = flat[1] ? 0 : -1; y <= (flat[1] ? 0 : 1); ++y)
      for (std::int64_t x = flat[0] ? 0 : -1; x <= (flat[0] ? 0 : 1); ++x) {
        const int steps = (x != 0) + (y != 0) + (z != 0);
        if (steps > 0 && steps <= most) visit(Index3{x, y, z});
      }
}

/// Unites sets where two parts touch.
class Seams {
 public:
  Seams(const std::vector<LatticePart>& parts, const std::array<bool, 3>& flat, Through through,
        const std::int64_t* values)
      : parts_(parts), flat_(flat), through_(through), values_(values), unions_(count(parts)) {}

  /// @param shift  of the second part, which is `b` again beyond the sides
  void unite(std::size_t a, std::size_t b, const Index3& shift) {
    const Elements mine = boxOf(a), image = moved(boxOf(b), shift);
    const Elements near = common(mine, grown(image)), far = common(image, grown(mine));
    if (near.empty() || far.empty()) return;
    const Index3 back = {-shift[0], -shift[1], -shift[2]};
    const auto ofNear = setsIn(parts_[a], near), ofFar = setsIn(parts_[b], moved(far, back));
    forEachNeighbor(flat_, through_, [&](const Index3& step) {
      const Elements box = common(near, moved(far, {-step[0], -step[1], -step[2]}));
      std::uint32_t lastNear = NoSet, lastFar = NoSet;  // mostly the same again
      for (std::int64_t k = box.begin[2]; k < box.end[2]; ++k)
        for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j)
          for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i) {
            const std::uint32_t one = ofNear[near.placeOf(i, j, k)];
            const std::uint32_t other = ofFar[far.placeOf(i + step[0], j + step[1], k + step[2])];
            if (one == NoSet || other == NoSet || (one == lastNear && other == lastFar)) continue;
            if (values_ &&
                valueAt({i, j, k}) != valueAt({i + step[0] - shift[0], j + step[1] - shift[1],
                                               k + step[2] - shift[2]}))
              continue;
            lastNear = one;
            lastFar = other;
            unions_.unite(first_[a] + one, first_[b] + other);
          }
    });
  }

  /// Gives the parts their names. @return the number of sets
  std::uint32_t name() && {
    std::size_t sets = 0;
    const std::vector<std::uint32_t> names = std::move(unions_).number(sets);
    const Span<const std::uint32_t> all(names);
    for (std::size_t n = 0; n < parts_.size(); ++n)
      parts_[n].labels->rename(all.subspan(first_[n], parts_[n].labels->sets()),
                               static_cast<std::uint32_t>(sets), smpFor);
    return static_cast<std::uint32_t>(sets);
  }

 private:
  std::size_t count(const std::vector<LatticePart>& parts) {
    std::size_t sets = 0;
    for (const LatticePart& part : parts) {
      first_.push_back(static_cast<std::uint32_t>(sets));
      sets += part.labels->sets();
    }
    if (sets >= NoSet)
      throw Error("a lattice has " + std::to_string(sets) +
                  " sets, more than 32 bits can number; cut it into smaller blocks");
    return sets;
  }
  Elements boxOf(std::size_t part) const { return {parts_[part].begin, parts_[part].end}; }
  std::int64_t valueAt(const Index3& at) const {
    return values_[boxOf(0).placeOf(at[0], at[1], at[2])];
  }

  const std::vector<LatticePart>& parts_;
  std::array<bool, 3> flat_;
  Through through_;
  const std::int64_t* values_;
  std::vector<std::uint32_t> first_;  // set of each part
  UnionFind<std::uint32_t> unions_;
};

}  // namespace

std::uint32_t unitePartsOf(const std::vector<LatticePart>& parts, const Index3& around,
                           const std::array<bool, 3>& flat, Through through,
                           const std::int64_t* values) {
  Seams seams(parts, flat, through, values);
  const Index3 origin{};
  for (std::size_t a = 0; a < parts.size(); ++a)
    for (std::size_t b = a; b < parts.size(); ++b)
      for (std::int64_t z = around[2] > 0 ? -1 : 0; z <= (around[2] > 0 ? 1 : 0); ++z)
        for (std::int64_t y = around[1] > 0 ? -1 : 0; y <= (around[1] > 0 ? 1 : 0); ++y)
          for (std::int64_t x = around[0] > 0 ? -1 : 0; x <= (around[0] > 0 ? 1 : 0); ++x) {
            const Index3 shift = {x * around[0], y * around[1], z * around[2]};
            // A part touches its image on one side as on the other.
            if (a != b || shift > origin) seams.unite(a, b, shift);
          }
  return std::move(seams).name();
}

}  // namespace tributary
