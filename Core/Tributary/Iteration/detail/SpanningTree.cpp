// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/detail/SpanningTree.h"

#include <algorithm>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

SpanningTree::SpanningTree(Transport& transport, Session session, std::vector<int> neighbors)
    : transport_(transport), session_(session), graph_(std::move(neighbors)) {}

std::vector<int> SpanningTree::neighbors() const {
  std::vector<int> ranks = children_;
  if (parent_ >= 0) ranks.push_back(parent_);
  return ranks;
}

bool SpanningTree::advance() {
  if (state_ == State::Asleep && transport_.rank() == 0) wake(-1);
  while (state_ != State::Complete) {
    const auto envelope = transport_.tryReceive(Topic::Detector, session_);
    if (!envelope) return false;
    Reader reader(envelope->bytes);
    const auto kind = reader.value<Kind>();
    const auto ranks = reader.value<std::int64_t>();
    check(envelope->source, kind, ranks, reader.atEnd());
    handle(envelope->source, kind, ranks);
  }
  return true;
}

void SpanningTree::send(int destination, Kind kind, std::int64_t ranks) {
  ++messages_;
  transport_.send(destination, Topic::Detector, session_, SendMode::Eager,
                  Writer().value(kind).value(ranks).take());
}

void SpanningTree::wake(int parent) {
  state_ = State::Exploring;
  parent_ = parent;
  missing_ = 0;
  for (const int rank : graph_) {
    if (rank == parent) continue;
    ++missing_;
    send(rank, Kind::Explore);
  }
  explored();
}

/// Throws Error unless a rank can send the message in this state.
void SpanningTree::check(int source, Kind kind, std::int64_t ranks, bool whole) const {
  const bool isNeighbor = std::find(graph_.begin(), graph_.end(), source) != graph_.end();
  const bool isExpected = state_ == State::Exploring && missing_ != 0;
  const auto isPart = [&](std::int64_t others) {
    return ranks >= 1 && ranks <= transport_.size() - others;
  };
  bool isValid = false;
  switch (kind) {
    case Kind::Explore:
      isValid = isNeighbor && (state_ == State::Asleep || isExpected);
      break;
    case Kind::Echo:
      isValid = isNeighbor && isExpected && isPart(ranks_);
      break;
    case Kind::Seek:
      // The search for missing ranks cannot go on after the last rank.
      isValid = isPart(0) &&
                (state_ == State::Asleep ||
                 (state_ == State::Echoed &&
                  (ranks == transport_.size() || transport_.rank() + 1 < transport_.size())));
      break;
    case Kind::Join:
      isValid = state_ == State::Echoed && isPart(reached_);
      break;
    case Kind::Completed:
      isValid = state_ == State::Echoed && source == parent_;
      break;
  }
  if (!isValid || !whole)
    throw Error(ErrorKind::Message,
                "spanning tree: malformed message from rank " + std::to_string(source));
}

void SpanningTree::handle(int source, Kind kind, std::int64_t ranks) {
  switch (kind) {
    case Kind::Explore:
      if (state_ == State::Asleep) {
        wake(source);
      } else {
        --missing_;
        explored();
      }
      return;
    case Kind::Echo:
      children_.push_back(source);
      ranks_ += ranks;
      --missing_;
      explored();
      return;
    case Kind::Seek:
      reached_ = ranks;
      if (state_ == State::Asleep) {
        joined_ = true;
        wake(source);
      } else {
        seek(ranks);
      }
      return;
    case Kind::Join:
      // The search goes on behind the part that has joined.
      children_.push_back(source);
      if (reached_ + ranks == transport_.size()) {
        seek(reached_ + ranks);
      } else {
        send(source, Kind::Seek, reached_ + ranks);
      }
      return;
    case Kind::Completed:
      complete();
      return;
  }
}

void SpanningTree::explored() {
  if (state_ != State::Exploring || missing_ > 0) return;
  state_ = State::Echoed;
  if (parent_ < 0) {
    seek(ranks_);
  } else {
    send(parent_, joined_ ? Kind::Join : Kind::Echo, ranks_);
  }
}

void SpanningTree::seek(std::int64_t reached) {
  reached_ = reached;
  if (reached < transport_.size()) {
    send(transport_.rank() + 1, Kind::Seek, reached);
  } else if (parent_ < 0) {
    complete();
  } else {
    send(0, Kind::Seek, reached);
  }
}

void SpanningTree::complete() {
  state_ = State::Complete;
  for (const int child : children_) send(child, Kind::Completed);
}

std::string SpanningTree::state() const {
  constexpr const char* Names[] = {"asleep", "exploring", "echoed", "complete"};
  std::string text = std::string(Names[static_cast<int>(state_)]) + ", parent " +
                     std::to_string(parent_) + ", children";
  for (const int child : children_) text += " " + std::to_string(child);
  return text + ", missing " + std::to_string(missing_) + ", ranks " + std::to_string(ranks_) +
         ", reached " + std::to_string(reached_) + (joined_ ? ", joined" : "");
}

}  // namespace tributary::detail
