// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Places with a value each, on the lines of a rectilinear grid, the same on every rank: the points
/// or the cells of a grid. Boxes of sites are CellRanges.
struct SiteLattice {
  /// Along each axis, increasing; one if nothing varies along it.
  std::array<std::vector<double>, 3> places;
  /// Along each axis: how much of it belongs to each site, more than 0.
  std::array<std::vector<double>, 3> widths;

  std::int64_t along(std::size_t axis) const {
    return static_cast<std::int64_t>(places[axis].size());
  }
};

/// The points on the lines with these coordinates, increasing; each has what is nearer to it than
/// to others, so that those at the border have half as much.
SiteLattice pointSites(const std::array<std::vector<double>, 3>& coordinates);

/// The centers of the cells.
SiteLattice cellSites(const CellGrid& grid);

/// A box with room for one more site on all sides, x fastest. The box may be empty along an axis
/// and has room for its neighbors all the same.
struct SiteRoom {
  SiteRoom() = default;
  explicit SiteRoom(const CellRange& box);

  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k - first[2]) * step[2] + (j - first[1]) * step[1] + i - first[0];
  }

  CellRange box;
  CellRange around;  ///< with the sites beside it
  std::array<std::int64_t, 3> first{}, step{};
  std::size_t size = 0;
};

/// Messages of iterations in step: everyone waits for those it expects.
class SitePost {
 public:
  /// Local; all ranks in the same order. @param transport  outlives it
  explicit SitePost(Transport& transport);

  void send(int destination, Bytes&& bytes);
  /// Waits. Messages of a rank come in their order.
  Bytes receive(int source);

  /// What was wrong with messages, to be agreed on with all ranks.
  ErrorCollector errors;

 private:
  Transport& transport_;
  Session session_;
  std::vector<std::vector<Bytes>> inbox_;  // of each rank, those that came too early; last first
};

/// The sites beside this rank's box that others have, edges and corners too. All ranks exchange in
/// the same order.
class SiteHalo {
 public:
  struct Link {
    int rank = 0;
    CellRange needs, gives;
  };

  SiteHalo() = default;
  /// Local. @param boxes  of all ranks  @param all  the whole lattice
  SiteHalo(const std::vector<CellRange>& boxes, int rank, const CellRange& all);

  const SiteRoom& room() const { return room_; }
  const std::vector<Link>& links() const { return links_; }

  /// Values beside the box from those that own them.
  template <class T>
  void exchange(SitePost& post, T* values) const {
    for (const Link& link : links_) send(post, link.rank, link.gives, values);
    for (const Link& link : links_) {
      const Bytes bytes = post.receive(link.rank);
      if (!fits(post, bytes.size(), link.needs, sizeof(T))) continue;
      visit(link.needs, [&, at = std::size_t(0)](std::int64_t first, std::size_t count) mutable {
        std::memcpy(values + first, bytes.data() + at, count * sizeof(T));
        at += count * sizeof(T);
      });
    }
  }

  /// The other way: what was added up beside the box is added to the values of those that own them.
  template <class T>
  void giveBack(SitePost& post, T* values) const {
    for (const Link& link : links_) send(post, link.rank, link.needs, values);
    for (const Link& link : links_) {
      const Bytes bytes = post.receive(link.rank);
      if (!fits(post, bytes.size(), link.gives, sizeof(T))) continue;
      visit(link.gives, [&, at = std::size_t(0)](std::int64_t first, std::size_t count) mutable {
        for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {
          T value;
          std::memcpy(&value, bytes.data() + at, sizeof(T));
          values[first + static_cast<std::int64_t>(i)] += value;
        }
      });
    }
  }

  /// The rows of a box in the room: where each begins and its length.
  template <class Visit>
  void visit(const CellRange& range, Visit&& visit) const {
    if (range.empty()) return;
    for (auto k = range.lo[2]; k < range.hi[2]; ++k)
      for (auto j = range.lo[1]; j < range.hi[1]; ++j)
        visit(room_.at(range.lo[0], j, k), static_cast<std::size_t>(range.along(0)));
  }

 private:
  template <class T>
  void send(SitePost& post, int rank, const CellRange& range, const T* values) const {
    Bytes bytes;
    bytes.reserve(static_cast<std::size_t>(range.cells()) * sizeof(T));
    visit(range, [&](std::int64_t first, std::size_t count) {
      append(bytes, values + first, count * sizeof(T));
    });
    post.send(rank, std::move(bytes));
  }
  static bool fits(SitePost& post, std::size_t came, const CellRange& range, std::size_t each);

  SiteRoom room_;
  std::vector<Link> links_;
};

}  // namespace tributary
