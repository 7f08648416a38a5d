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
    handle(envelope->source, kind, reader.value<std::int64_t>());
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
  throw Error(ErrorKind::Message,
              "spanning tree: malformed message from rank " + std::to_string(source));
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
