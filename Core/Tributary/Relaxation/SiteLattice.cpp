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

CellRange grown(CellRange box, const CellRange& all) {
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = std::max(box.lo[a] - 1, all.lo[a]);
    box.hi[a] = std::min(box.hi[a] + 1, all.hi[a]);
  }
  return box;
}

}  // namespace

SiteLattice pointSites(const std::array<std::vector<double>, 3>& coordinates) {
  SiteLattice sites;
  sites.places = coordinates;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::vector<double>& x = coordinates[a];
    if (x.size() == 1) sites.widths[a] = {1};
    for (std::size_t i = 0; x.size() > 1 && i < x.size(); ++i) {
      const std::size_t before = i > 0 ? i - 1 : i, after = std::min(i + 1, x.size() - 1);
      sites.widths[a].push_back(0.5 * (x[after] - x[before]));
    }
  }
  return sites;
}

SiteLattice cellSites(const CellGrid& grid) {
  SiteLattice sites;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::int64_t i = 0; i < grid.along(a); ++i) {
      sites.places[a].push_back(grid.center(a, i));
      sites.widths[a].push_back(grid.along(a) > 1 ? grid.width(a, i) : 1);
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

SiteHalo::SiteHalo(const std::vector<CellRange>& boxes, int rank, const CellRange& all)
    : room_(boxes[index(rank)]) {
  const CellRange& mine = room_.box;
  for (std::size_t other = 0; other < boxes.size(); ++other) {
    if (static_cast<int>(other) == rank) continue;
    Link link{static_cast<int>(other), overlapOf(grown(mine, all), boxes[other]),
              overlapOf(grown(boxes[other], all), mine)};
    if (!link.needs.empty() || !link.gives.empty()) links_.push_back(link);
  }
}

bool SiteHalo::fits(HaloMessenger& messenger, std::size_t bytes, const CellRange& range,
                    std::size_t each) {
  return messenger.errors.attempt([&] {
    if (bytes != index(range.cells()) * each)
      refuseMessage(std::to_string(bytes) + " bytes for " + std::to_string(range.cells()) +
                    " sites");
  });
}

}  // namespace tributary
