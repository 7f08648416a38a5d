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
  bool has(const Index3& at) const {
    return at[0] >= begin[0] && at[0] < end[0] && at[1] >= begin[1] && at[1] < end[1] &&
           at[2] >= begin[2] && at[2] < end[2];
  }
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
  std::vector<std::uint32_t> sets(index(box.along(0) * box.along(1) * box.along(2)), NoSet);
  const Index3 strides = {1, box.along(0), box.along(0) * box.along(1)};
  const std::size_t u = part.order[0], v = part.order[1], w = part.order[2];
  const std::int64_t from = box.begin[u] - part.begin[u], to = box.end[u] - part.begin[u];
  smpFor(box.along(w) * box.along(v), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t n = begin; n < end; ++n) {
      const std::int64_t j = box.begin[v] + n % box.along(v), k = box.begin[w] + n / box.along(v);
      const std::int64_t row = (k - part.begin[w]) * part.labels->size()[1] + j - part.begin[v];
      std::uint32_t* const out =
          sets.data() + (k - box.begin[w]) * strides[w] + (j - box.begin[v]) * strides[v];
      if (to - from == 1) {
        *out = part.labels->setAt(row, from);
        continue;
      }
      part.labels->visitRuns(row, from, to, [&, stride = strides[u]](const Run& run) {
        for (std::int64_t i = run.begin; i < run.end; ++i) out[(i - from) * stride] = run.set;
      });
    }
  });
  return sets;
}

/// The most axes along which neighbors are beside each other.
int mostSteps(Through through) {
  return through == Through::Faces ? 1 : through == Through::Edges ? 2 : 3;
}

int stepsOf(const Index3& step) {
  return (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
}

/// The places of the neighbors of an element in another part, that straight across first.
/// @param across  where both parts have a common range along an axis 0, otherwise 1 or -1
std::vector<Index3> neighborsAcross(const Index3& across, const std::array<bool, 3>& flat,
                                    Through through) {
  std::vector<Index3> neighbors;
  if (stepsOf(across) > mostSteps(through)) return neighbors;
  neighbors.push_back(across);
  const auto low = [&](std::size_t a) { return across[a] != 0 || flat[a] ? across[a] : -1; };
  const auto high = [&](std::size_t a) { return across[a] != 0 || flat[a] ? across[a] : 1; };
  Index3 step;
  for (step[2] = low(2); step[2] <= high(2); ++step[2])
    for (step[1] = low(1); step[1] <= high(1); ++step[1])
      for (step[0] = low(0); step[0] <= high(0); ++step[0])
        if (step != across && stepsOf(step) <= mostSteps(through)) neighbors.push_back(step);
  return neighbors;
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
    Index3 across{};
    for (std::size_t n = 0; n < 3; ++n) {
      if (far.begin[n] >= near.end[n]) across[n] = 1;
      if (near.begin[n] >= far.end[n]) across[n] = -1;
    }
    const std::vector<Index3> neighbors = neighborsAcross(across, flat_, through_);
    if (neighbors.empty()) return;
    const Index3 back = {-shift[0], -shift[1], -shift[2]};
    const auto ofNear = setsIn(parts_[a], near), ofFar = setsIn(parts_[b], moved(far, back));
    std::uint32_t lastNear = NoSet, lastFar = NoSet;  // mostly the same again
    std::size_t place = 0;
    for (std::int64_t k = near.begin[2]; k < near.end[2]; ++k)
      for (std::int64_t j = near.begin[1]; j < near.end[1]; ++j)
        for (std::int64_t i = near.begin[0]; i < near.end[0]; ++i) {
          const std::uint32_t one = ofNear[place++];
          if (one == NoSet) continue;
          for (const Index3& step : neighbors) {
            const Index3 to = {i + step[0], j + step[1], k + step[2]};
            if (!far.has(to)) continue;
            const std::uint32_t other = ofFar[far.placeOf(to[0], to[1], to[2])];
            if (other == NoSet) continue;
            if (values_ &&
                valueAt({i, j, k}) != valueAt({to[0] + back[0], to[1] + back[1], to[2] + back[2]}))
              continue;
            if (one != lastNear || other != lastFar)
              unions_.unite(first_[a] + one, first_[b] + other);
            lastNear = one;
            lastFar = other;
            // The other neighbors are beside that one, and so of its set if they connect.
            if (step == across) break;
          }
        }
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
