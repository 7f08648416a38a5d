// SPDX-License-Identifier: BSD-3-Clause
#include "Features/PointNumbers.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Components/Regions.h"
#include "Tributary/Reduction/Sort.h"

namespace tributary {
namespace {

using Place = std::array<std::uint64_t, 3>;

/// A point, and the rank that receives its number.
struct Located {
  Place place;
  std::int64_t rank;
  std::int64_t point;

  bool operator<(const Located& other) const { return place < other.place; }
};

/// A rank's part of the sorted points.
struct Stretch {
  std::int64_t places = 0;  ///< Number of different places.
  Place first{}, last{};
};

/// No rank has more places; the sum over all ranks cannot overflow.
constexpr std::int64_t MostPlaces = std::int64_t(1) << 40;

struct Number {
  std::int64_t point;
  std::int64_t number;
};

}  // namespace

std::vector<std::int64_t> numberByPlace(Transport& transport,
                                        const std::vector<std::array<double, 3>>& points) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  std::vector<std::vector<Located>> mine(1);
  collectively(transport, [&] {
    for (std::size_t p = 0; p < points.size(); ++p) {
      const auto& x = points[p];
      if (std::isnan(x[0]) || std::isnan(x[1]) || std::isnan(x[2]))
        throw Error("a coordinate of a point is not a number; remove or repair such points");
      mine[0].push_back({{orderedBits(x[2]), orderedBits(x[1]), orderedBits(x[0])},
                         transport.rank(),
                         static_cast<std::int64_t>(p)});
    }
  });
  SampleSort<Located> sort(transport, Assignment(std::vector<std::int64_t>(ranks, 1)),
                           AllToAll::defaultKValues(transport.size()));
  const std::vector<Located> sorted = std::move(sort.run(std::move(mine)).front());

  Stretch stretch;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    stretch.places += i == 0 || sorted[i].place != sorted[i - 1].place;
  if (!sorted.empty()) {
    stretch.first = sorted.front().place;
    stretch.last = sorted.back().place;
  }
  const std::vector<Stretch> all = allgather(transport, stretch);
  std::vector<std::int64_t> numbers;
  sendRecords<Number>(
      transport,
      [&](RecordOutbox<Number>& outbox) {
        numbers.assign(points.size(), -1);
        std::int64_t next = -1;  // number of the last place so far
        const Place* last = nullptr;
        for (std::size_t r = 0; r < static_cast<std::size_t>(transport.rank()); ++r) {
          if (all[r].places < 0 || all[r].places > MostPlaces)
            refuseMessage("a number of places of " + std::to_string(all[r].places));
          if (all[r].places == 0) continue;
          next += all[r].places - (last && all[r].first == *last ? 1 : 0);
          last = &all[r].last;
        }
        for (const Located& one : sorted) {
          if (!last || one.place != *last) ++next;
          last = &one.place;
          if (one.rank < 0 || one.rank >= transport.size())
            refuseMessage("a point of a rank that does not exist");
          outbox.add(static_cast<int>(one.rank), {one.point, next});
        }
      },
      [&](const Records<Number>& received) {
        for (const Number& one : received) {
          if (one.point < 0 || index(one.point) >= numbers.size())
            refuseMessage("the number of a point that does not exist");
          numbers[index(one.point)] = one.number;
        }
        if (std::any_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n < 0; }))
          refuseMessage("fewer numbers than points");
      });
  return numbers;
}

}  // namespace tributary
