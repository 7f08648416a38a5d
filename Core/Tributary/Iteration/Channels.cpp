// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/Channels.h"

#include <algorithm>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Records.h"

namespace tributary {

namespace {

// Limits the length of a turn if a neighbor sends as fast as this rank receives.
constexpr int MessagesPerTurn = 256;

constexpr std::size_t MostValues = (std::size_t(1) << 30) / sizeof(double);

Span<double> valuesOf(PersistentRequest& request) {
  const Span<std::byte> bytes = request.buffer();
  return {reinterpret_cast<double*>(bytes.data()), bytes.size() / sizeof(double)};
}

std::string badNeighbor(const Transport& transport, const std::vector<Neighbor>& neighbors) {
  std::vector<int> ranks;
  for (const Neighbor& neighbor : neighbors) {
    const std::string name = "channels: neighbor " + std::to_string(neighbor.rank);
    if (neighbor.rank < 0 || neighbor.rank >= transport.size()) {
      return name + " does not exist: ranks are in [0, " + std::to_string(transport.size() - 1) +
             "]";
    }
    if (neighbor.rank == transport.rank()) return name + " is the rank itself";
    if (neighbor.sendCount > MostValues || neighbor.receiveCount > MostValues) {
      return name + " has more than " + std::to_string(MostValues) + " values";
    }
    ranks.push_back(neighbor.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  const auto twice = std::adjacent_find(ranks.begin(), ranks.end());
  if (twice == ranks.end()) return {};
  return "channels: neighbor " + std::to_string(*twice) +
         " is given twice; combine its values in one message";
}

/// The numbers of values that a rank sends to a neighbor and expects from it.
struct Counts {
  std::uint64_t sends, receives;
};

/// Throws Error if this rank and its neighbors do not match.
/// @param counts  one by each rank that has this rank as a neighbor
void compareCounts(const Transport& transport, const std::vector<Neighbor>& neighbors,
                   const Records<Counts>& counts) {
  const std::string here = "rank " + std::to_string(transport.rank());
  std::vector<bool> isNeighbor(index(transport.size()), false);
  for (const Neighbor& neighbor : neighbors) {
    isNeighbor[index(neighbor.rank)] = true;
    const std::string name = "channels: neighbor " + std::to_string(neighbor.rank);
    const Span<const Counts> theirs = counts.from(neighbor.rank);
    if (theirs.empty())
      throw Error(name + " does not have " + here +
                  " as a neighbor; give both ranks each other as neighbors");
    if (theirs[0].sends != neighbor.receiveCount)
      throw Error(name + " sends " + std::to_string(theirs[0].sends) + " values, but " + here +
                  " expects " + std::to_string(neighbor.receiveCount) +
                  "; give both ranks the same count");
    if (theirs[0].receives != neighbor.sendCount)
      throw Error(name + " expects " + std::to_string(theirs[0].receives) + " values, but " + here +
                  " sends " + std::to_string(neighbor.sendCount) +
                  "; give both ranks the same count");
  }
  for (int rank = 0; rank < transport.size(); ++rank)
    if (!counts.from(rank).empty() && !isNeighbor[index(rank)])
      throw Error("channels: rank " + std::to_string(rank) + " has " + here +
                  " as a neighbor, but not vice versa; give both ranks each other as neighbors");
}

}  // namespace

void agreeOnNeighbors(Transport& transport, const std::vector<Neighbor>& neighbors) {
  sendRecords<Counts>(
      transport,
      [&](RecordOutbox<Counts>& outbox) {
        const std::string error = badNeighbor(transport, neighbors);
        if (!error.empty()) throw Error(error);
        for (const Neighbor& neighbor : neighbors)
          outbox.add(neighbor.rank, {neighbor.sendCount, neighbor.receiveCount});
      },
      [&](const Records<Counts>& counts) { compareCounts(transport, neighbors, counts); });
}

Channels::Channels(Transport& transport, Session session, std::vector<Neighbor> neighbors,
                   const ChannelOptions& options, bool ahead)
    : transport_(transport),
      session_(session),
      neighbors_(std::move(neighbors)),
      links_(neighbors_.size()),
      incoming_(neighbors_.size()),
      mode_(options.sendMode),
      ahead_(ahead) {
  if (options.receives < 1) throw Error("channels: receives must be at least 1");
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Neighbor& neighbor = neighbors_[i];
    Link& link = links_[i];
    if (neighbor.sendCount > 0) {
      for (auto& send : link.sends) {
        send = transport.persistentSend(neighbor.rank, Topic::Work, session, mode_,
                                        neighbor.sendCount * sizeof(double));
      }
    }
    if (neighbor.receiveCount == 0) continue;
    for (int k = 0; k <= (ahead ? options.receives : 1); ++k) {
      link.receives.push_back(transport.persistentReceive(neighbor.rank, Topic::Work, session,
                                                          neighbor.receiveCount * sizeof(double)));
      if (k > 0 && ahead) startReceive(link, link.receives.size() - 1);
    }
    incoming_[i] = valuesOf(*link.receives[link.held]);
  }
}

void Channels::switchAsync() {
  if (!ahead_)
    throw Error("channels: asynchronous mode requires receives ahead; construct with ahead = true");
  synchronous_ = false;
}

void Channels::switchSync() {
  if (synchronous_) return;
  synchronous_ = true;
  tell();
}

Span<double> Channels::outgoing(std::size_t neighbor) {
  Link& link = links_[neighbor];
  return link.sends[0] ? valuesOf(*link.sends[link.writing]) : Span<double>();
}

void Channels::start(Link& link) {
  link.sends[link.writing]->start();
  link.writing = 1 - link.writing;
  link.waiting = false;
  ++link.sent;
  ++statistics_.sent;
  statistics_.bytes += static_cast<std::int64_t>(link.sends[0]->buffer().size());
}

void Channels::startReceive(Link& link, std::size_t receive) {
  link.receives[receive]->start();
  link.started.push_back(receive);
}

void Channels::put() {
  for (Link& link : links_) {
    if (!ahead_ && !link.receives.empty()) startReceive(link, 1 - link.held);
    if (!link.sends[0]) continue;
    if (link.waiting) ++statistics_.unsent;
    // In synchronous mode a second send may be started while the first one is under way: get()
    // waits for the first.
    if (synchronous_ || link.sends[1 - link.writing]->done()) {
      start(link);
    } else {
      link.waiting = true;
    }
  }
}

bool Channels::take(std::size_t neighbor) {
  Link& link = links_[neighbor];
  if (link.started.empty() || !link.receives[link.started.front()]->done()) return false;
  const std::size_t newest = link.started.front();
  link.started.pop_front();
  if (ahead_) startReceive(link, link.held);
  link.held = newest;
  incoming_[neighbor] = valuesOf(*link.receives[newest]);
  ++link.received;
  ++statistics_.received;
  return true;
}

bool Channels::get() {
  if (!synchronous_) {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      Link& link = links_[i];
      if (link.waiting && link.sends[1 - link.writing]->done()) start(link);
      for (int taken = 0; taken < MessagesPerTurn && take(i); ++taken) {
        if (taken > 0) ++statistics_.superseded;
      }
    }
    return true;
  }
  if (told_ > 0) {
    if (!countsKnown()) return false;
    useCounts();
  }
  bool all = sendsDone();
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    if (link.receives.empty()) continue;
    while (link.received < link.wanted && take(i)) ++statistics_.superseded;
    if (link.received <= link.wanted) take(i);
    all = all && link.received > link.wanted;
  }
  if (!all) return false;
  for (Link& link : links_) ++link.wanted;
  return true;
}

bool Channels::sendsDone() {
  bool all = true;
  for (Link& link : links_) {
    if (link.sends[0] && !link.sends[link.writing]->done()) all = false;
  }
  return all;
}

void Channels::tell() {
  ++told_;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    Link& link = links_[i];
    if (std::exchange(link.waiting, false)) ++statistics_.unsent;
    transport_.send(neighbors_[i].rank, Topic::Setup, session_, SendMode::Eager,
                    Writer().value(link.sent).take());
  }
}

bool Channels::countsKnown() {
  const auto known = [&] {
    return std::all_of(links_.begin(), links_.end(), [&](const Link& link) {
      return link.counts.size() >= static_cast<std::size_t>(told_);
    });
  };
  while (!known()) {
    const auto envelope = transport_.tryReceive(Topic::Setup, session_);
    if (!envelope) return false;
    const auto from =
        std::find_if(neighbors_.begin(), neighbors_.end(),
                     [&](const Neighbor& neighbor) { return neighbor.rank == envelope->source; });
    if (from == neighbors_.end()) {
      refuseMessage("a count of rank " + std::to_string(envelope->source) +
                    ", which is not a neighbor");
    }
    Reader reader(envelope->bytes);
    links_[static_cast<std::size_t>(from - neighbors_.begin())].counts.push_back(
        reader.value<std::int64_t>());
  }
  return true;
}

void Channels::useCounts() {
  for (Link& link : links_) {
    link.wanted = link.counts[static_cast<std::size_t>(told_ - 1)];
    link.counts.erase(link.counts.begin(), link.counts.begin() + told_);
  }
  told_ = 0;
}

bool Channels::close() {
  switch (closing_) {
    case Closing::Open:
      tell();
      closing_ = Closing::Draining;
      [[fallthrough]];
    case Closing::Draining: {
      bool all = sendsDone();
      for (Link& link : links_) {
        if (link.sends[0] && !link.sends[1 - link.writing]->done()) all = false;
      }
      // Receives must go on while counts are on their way: the neighbor's sends wait for them.
      if (told_ > 0 && countsKnown()) useCounts();
      for (std::size_t i = 0; i < links_.size(); ++i) {
        Link& link = links_[i];
        for (int taken = 0; taken < MessagesPerTurn; ++taken) {
          if (told_ == 0 && link.received >= link.wanted) break;
          if (!take(i)) break;
          ++statistics_.superseded;
        }
        all = all && (link.receives.empty() || link.received == link.wanted);
      }
      if (told_ > 0 || !all) return false;
      for (Link& link : links_) {
        // All messages of the neighbor were received, so no receive has one.
        for (const std::size_t receive : link.started)
          static_cast<void>(link.receives[receive]->cancel());
        link.started.clear();
      }
      closing_ = Closing::Closed;
      return true;
    }
    case Closing::Closed:
      break;
  }
  return true;
}

std::string Channels::state() const {
  std::string text = synchronous_ ? "synchronous" : "asynchronous";
  text += ", told " + std::to_string(told_);
  if (closing_ == Closing::Draining) text += ", closing";
  if (closing_ == Closing::Closed) text += ", closed";
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    text += "; rank " + std::to_string(neighbors_[i].rank) + ": sent " + std::to_string(link.sent) +
            (link.waiting ? " waiting" : "") + " from " + std::to_string(link.writing) +
            ", received " + std::to_string(link.received) + " of " + std::to_string(link.wanted) +
            " in " + std::to_string(link.held);
    for (const std::int64_t count : link.counts) text += ", told " + std::to_string(count);
  }
  return text;
}

}  // namespace tributary
