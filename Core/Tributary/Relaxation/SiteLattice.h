// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Relaxation/CellGrid.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The sites of a rectilinear grid that carry one value each: its points or its cells. The same on
/// all ranks. Boxes of sites are CellRanges.
struct SiteLattice {
  /// Coordinates along each axis, strictly increasing. An axis along which nothing varies has one.
  std::array<std::vector<double>, 3> places;
  /// Width of each site's control volume along each axis, greater than 0.
  std::array<std::vector<double>, 3> widths;
  /// By axis, the distance from the last site to the image of the first one, which is its neighbor;
  /// 0 if the lattice ends there. Such an axis has at least two sites.
  std::array<double, 3> seam{};

  /// Number of sites along an axis.
  std::int64_t along(std::size_t axis) const {
    return static_cast<std::int64_t>(places[axis].size());
  }
  /// By axis, whether the last sites are neighbors of the first ones.
  std::array<bool, 3> periodic() const { return {seam[0] > 0, seam[1] > 0, seam[2] > 0}; }
};

/// The points of a rectilinear grid. The control volume of a point extends halfway to its
/// neighbors; at the border it is half as wide. Local.
/// @param coordinates  along each axis, strictly increasing, at least one
/// @param seam  see SiteLattice
[[nodiscard]] SiteLattice pointSites(const std::array<std::vector<double>, 3>& coordinates,
                                     const std::array<double, 3>& seam = {});

/// The centers of the cells of a grid. Local.
/// @param periodic  by axis, whether the last cells of the grid are neighbors of the first ones;
///                  they are at least two
[[nodiscard]] SiteLattice cellSites(const CellGrid& grid, const std::array<bool, 3>& periodic = {});

/// The layout of an array for a box of sites and one layer of sites around it (a halo), x fastest.
/// The box may be empty along an axis; the layers are stored nevertheless.
struct SiteRoom {
  SiteRoom() = default;
  /// The array of the sites of a box and their halo.
  explicit SiteRoom(const CellRange& box);

  /// The place of a site in the array.
  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return (k - first[2]) * step[2] + (j - first[1]) * step[1] + i - first[0];
  }

  CellRange box;
  CellRange around;                     ///< the box with the layer
  std::array<std::int64_t, 3> first{};  ///< the site at place 0
  std::array<std::int64_t, 3> step{};   ///< difference of places along each axis
  std::size_t size = 0;                 ///< number of places
};

/// Messages of synchronous iterations: a rank waits for each message that it expects. All ranks
/// must send and receive in the same order. Used by one thread.
class HaloMessenger {
 public:
  /// Local, in the same order on all ranks. @param transport  outlives the object
  explicit HaloMessenger(Transport& transport);

  /// Sends a message without waiting for its receipt.
  void send(int destination, Bytes&& bytes);
  /// Waits for the next message from a rank. Messages of a rank keep their order.
  [[nodiscard]] Bytes receive(int source);

  /// Malformed messages and other errors of this rank. The caller must agree on them with all
  /// ranks.
  ErrorCollector errors;

 private:
  Transport& transport_;
  Session session_;
  std::vector<std::vector<Bytes>> inbox_;  // by source: messages received too early, the last first
};

/// The halo of this rank's box: the sites of other ranks that share a face, an edge or a corner
/// with it, and the images of sites beyond periodic sides. All ranks must call exchange() and
/// accumulate() in the same order.
class SiteHalo {
 public:
  /// A neighbor rank. It may have several boxes of sites in the halo, in their place or as images.
  struct Link {
    int rank = 0;
    std::vector<CellRange> needs;  ///< sites of that rank in this rank's halo
    std::vector<CellRange> gives;  ///< sites of this rank in the halo of that rank

    /// The number of sites in `needs`.
    std::int64_t needed() const { return sitesOf(needs); }
    /// The number of sites in `gives`.
    std::int64_t given() const { return sitesOf(gives); }
  };

  SiteHalo() = default;
  /// Local.
  /// @param boxes  of all ranks, disjoint
  /// @param all  the whole lattice, from (0, 0, 0)
  /// @param periodic  by axis, whether the last sites are neighbors of the first ones
  SiteHalo(const std::vector<CellRange>& boxes, int rank, const CellRange& all,
           const std::array<bool, 3>& periodic = {});

  /// The array with the sites of this rank and their halo.
  const SiteRoom& room() const { return room_; }
  /// The ranks with which sites are exchanged.
  const std::vector<Link>& links() const { return links_; }

  /// Fills the halo with the values of the ranks that own its sites.
  /// @param values  by place in room()
  template <class T>
  void exchange(HaloMessenger& messenger, T* values) const {
    for (const Link& link : links_) send(messenger, link.rank, link.gives, values);
    copyImages(values);
    for (const Link& link : links_) {
      const Bytes bytes = messenger.receive(link.rank);
      if (!fits(messenger, bytes.size(), link.needed(), sizeof(T))) continue;
      visit(link.needs, [&, at = std::size_t(0)](std::int64_t first, std::size_t count) mutable {
        std::memcpy(values + first, bytes.data() + at, count * sizeof(T));
        at += count * sizeof(T);
      });
    }
  }

  /// The part of exchange() for the images of this rank's own sites. Local.
  template <class T>
  void copyImages(T* values) const {
    forEachImage([&](std::int64_t image, std::int64_t site) { values[image] = values[site]; });
  }

  /// The transpose of exchange(): adds the values in the halo to those of the ranks that own the
  /// sites.
  template <class T>
  void accumulate(HaloMessenger& messenger, T* values) const {
    for (const Link& link : links_) send(messenger, link.rank, link.needs, values);
    forEachImage([&](std::int64_t image, std::int64_t site) { values[site] += values[image]; });
    for (const Link& link : links_) {
      const Bytes bytes = messenger.receive(link.rank);
      if (!fits(messenger, bytes.size(), link.given(), sizeof(T))) continue;
      visit(link.gives, [&, at = std::size_t(0)](std::int64_t first, std::size_t count) mutable {
        for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) {
          T value;
          std::memcpy(&value, bytes.data() + at, sizeof(T));
          values[first + static_cast<std::int64_t>(i)] += value;
        }
      });
    }
  }

  /// Calls visit(place of the first site, number of sites) for each row of a box in room().
  template <class Visit>
  void visit(const CellRange& range, Visit&& visit) const {
    if (range.empty()) return;
    for (auto k = range.lo[2]; k < range.hi[2]; ++k)
      for (auto j = range.lo[1]; j < range.hi[1]; ++j)
        visit(room_.at(range.lo[0], j, k), index(range.along(0)));
  }
  /// The same for the rows of several boxes, one box after the other.
  template <class Visit>
  void visit(const std::vector<CellRange>& ranges, Visit&& visit) const {
    for (const CellRange& range : ranges) this->visit(range, visit);
  }

 private:
  /// Sites of this rank that are images of sites of the same rank.
  struct Images {
    CellRange range;                    ///< In the halo.
    std::array<std::int64_t, 3> shift;  ///< From the sites.
  };

  static std::int64_t sitesOf(const std::vector<CellRange>& ranges) {
    std::int64_t sites = 0;
    for (const CellRange& range : ranges) sites += range.cells();
    return sites;
  }
  /// Calls visit(place of an image, place of the site).
  template <class Visit>
  void forEachImage(Visit&& visit) const {
    for (const Images& images : images_) {
      const std::int64_t back = images.shift[0] * room_.step[0] + images.shift[1] * room_.step[1] +
                                images.shift[2] * room_.step[2];
      this->visit(images.range, [&](std::int64_t first, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
          visit(first + static_cast<std::int64_t>(i), first + static_cast<std::int64_t>(i) - back);
      });
    }
  }
  template <class T>
  void send(HaloMessenger& messenger, int rank, const std::vector<CellRange>& ranges,
            const T* values) const {
    Bytes bytes;
    bytes.reserve(index(sitesOf(ranges)) * sizeof(T));
    visit(ranges, [&](std::int64_t first, std::size_t count) {
      append(bytes, values + first, count * sizeof(T));
    });
    messenger.send(rank, std::move(bytes));
  }
  static bool fits(HaloMessenger& messenger, std::size_t bytes, std::int64_t sites,
                   std::size_t each);

  SiteRoom room_;
  std::vector<Link> links_;
  std::vector<Images> images_;
};

}  // namespace tributary
