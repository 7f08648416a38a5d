// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/SiteLattice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

namespace tributary {
namespace {

/// A box and the layer of sites around it.
CellRange grown(CellRange box) {
  for (std::size_t a = 0; a < 3; ++a) {
    --box.lo[a];
    ++box.hi[a];
  }
  return box;
}

CellRange shifted(CellRange box, const std::array<std::int64_t, 3>& by) {
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] += by[a];
    box.hi[a] += by[a];
  }
  return box;
}

}  // namespace

SiteLattice pointSites(const std::array<std::vector<double>, 3>& coordinates,
                       const std::array<double, 3>& seam) {
  SiteLattice sites;
  sites.places = coordinates;
  sites.seam = seam;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& x = coordinates[a];
    if (x.size() == 1) sites.widths[a] = {1};
    for (std::size_t i = 0; x.size() > 1 && i < x.size(); ++i) {
      const double before = i > 0 ? x[i - 1] : x[i] - seam[a];
      const double after = i + 1 < x.size() ? x[i + 1] : x[i] + seam[a];
      sites.widths[a].push_back(0.5 * (after - before));
    }
  }
  return sites;
}

SiteLattice cellSites(const CellGrid& grid, const std::array<bool, 3>& periodic) {
  SiteLattice sites;
  for (std::size_t a = 0; a < 3; ++a) {
    if (periodic[a]) sites.seam[a] = 0.5 * (grid.width(a, 0) + grid.width(a, grid.along(a) - 1));
    for (std::int64_t i = 0; i < grid.along(a); ++i) {
      sites.places[a].push_back(grid.center(a, i));
      sites.widths[a].push_back(grid.along(a) > 1 ? grid.width(a, i) : 1);
    }
  }
  return sites;
}

SiteRoom::SiteRoom(const CellRange& range) : box(range), around(range) {
  std::int64_t all = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    first[a] = --around.lo[a];
    ++around.hi[a];
    step[a] = all;
    all *= around.along(a);
  }
  size = index(all);
}

HaloMessenger::HaloMessenger(Transport& transport)
    : transport_(transport), session_(transport.openSession()), inbox_(index(transport.size())) {}

void HaloMessenger::send(int destination, Bytes&& bytes) {
  transport_.send(destination, Topic::Work, session_, SendMode::Eager, std::move(bytes));
}

Bytes HaloMessenger::receive(int source) {
  std::vector<Bytes>& early = inbox_[index(source)];
  if (!early.empty()) {
    Bytes bytes = std::move(early.back());
    early.pop_back();
    return bytes;
  }
  for (Backoff backoff;;) {
    transport_.poll();
    std::optional<Envelope> envelope = transport_.tryReceive(Topic::Work, session_);
    if (!envelope) {
      backoff.pause(transport_);
      continue;
    }
    backoff.reset();
    if (envelope->source == source) return std::move(envelope->bytes);
    std::vector<Bytes>& other = inbox_[index(envelope->source)];
    other.insert(other.begin(), std::move(envelope->bytes));
  }
}

SiteHalo::SiteHalo(const std::vector<CellRange>& boxes, int rank, const CellRange& all,
                   const std::array<bool, 3>& periodic)
    : room_(boxes[index(rank)]) {
  const CellRange& mine = room_.box;
  std::vector<std::array<std::int64_t, 3>> shifts;  // the last one is the first one reversed
  const std::array<std::int64_t, 3> most = {periodic[0], periodic[1], periodic[2]};
  for (auto z = -most[2]; z <= most[2]; ++z)
    for (auto y = -most[1]; y <= most[1]; ++y)
      for (auto x = -most[0]; x <= most[0]; ++x)
        shifts.push_back({x * all.hi[0], y * all.hi[1], z * all.hi[2]});
  const std::array<std::int64_t, 3> none{};
  for (std::size_t other = 0; other < boxes.size(); ++other) {
    Link link;  // also of an empty box, which has a halo if it lies among the others
    link.rank = static_cast<int>(other);
    for (std::size_t n = 0; n < shifts.size(); ++n) {
      const CellRange needs = overlapOf(grown(mine), shifted(boxes[other], shifts[n]));
      if (link.rank == rank) {
        if (shifts[n] != none && !needs.empty()) images_.push_back({needs, shifts[n]});
        continue;
      }
      // What is shifted here is shifted back there: both have their boxes in the same order.
      const std::array<std::int64_t, 3>& back = shifts[shifts.size() - 1 - n];
      const CellRange gives = overlapOf(shifted(grown(boxes[other]), back), mine);
      if (!needs.empty()) link.needs.push_back(needs);
      if (!gives.empty()) link.gives.push_back(gives);
    }
    if (!link.needs.empty() || !link.gives.empty()) links_.push_back(std::move(link));
  }
}

bool SiteHalo::fits(HaloMessenger& messenger, std::size_t bytes, std::int64_t sites,
                    std::size_t each) {
  return messenger.errors.attempt([&] {
    if (bytes != index(sites) * each)
      refuseMessage(std::to_string(bytes) + " bytes for " + std::to_string(sites) + " sites");
  });
}

}  // namespace tributary
