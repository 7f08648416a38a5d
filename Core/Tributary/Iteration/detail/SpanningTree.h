// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// Builds a spanning tree of the communication graph by the echo algorithm: E. J. H. Chang, "Echo
/// algorithms: depth parallel operations on general graphs", IEEE Trans. Software Eng. SE-8(4),
/// 1982. The sender of the first message that reaches a rank becomes its parent, so the tree
/// prefers the links that are fast at the time.
///
///   Asleep --explored by a neighbor (rank 0: at once) / it is the parent; explore the others-->
///   Exploring --all others have explored or echoed / those that echoed are children; echo-->
///   Echoed --parent reports that the tree is complete / notify the children--> Complete
///
/// Rank 0 has no parent. When all of its neighbors have answered, it knows how many ranks were
/// reached. If ranks are missing, the graph is not connected, and rank 0 starts a search that
/// visits rank after rank. A rank that the search finds asleep becomes the child of the preceding
/// rank, although no link connects them. It explores its own component and joins the tree; then the
/// search continues with the next rank.
///
/// Number of messages: two per link, one to each rank except rank 0 for the completion, and O(P)
/// sequential messages if the graph is not connected. All messages have been received when the last
/// rank is complete.
class SpanningTree {
 public:
  /// Local.
  /// @param session    used by this tree only
  /// @param neighbors  ranks, symmetric
  SpanningTree(Transport& transport, Session session, std::vector<int> neighbors);

  /// Performs one non-blocking turn. @return whether the tree is complete
  [[nodiscard]] bool advance();

  /// The parent; -1 on rank 0. @pre complete
  int parent() const { return parent_; }
  const std::vector<int>& children() const { return children_; }
  /// The parent, if there is one, and the children.
  std::vector<int> neighbors() const;

  std::int64_t messages() const { return messages_; }
  /// See Detector::state().
  std::string state() const;

 private:
  enum class State { Asleep, Exploring, Echoed, Complete };
  enum class Kind : std::int64_t { Explore, Echo, Seek, Join, Completed };

  void send(int destination, Kind kind, std::int64_t ranks = 0);
  void wake(int parent);
  void check(int source, Kind kind, std::int64_t ranks, bool whole) const;
  void handle(int source, Kind kind, std::int64_t ranks);
  void explored();
  void seek(std::int64_t reached);
  void complete();

  Transport& transport_;
  Session session_;
  std::vector<int> graph_;
  State state_ = State::Asleep;
  int parent_ = -1;
  std::vector<int> children_;
  std::size_t missing_ = 0;   // neighbors that have not answered
  std::int64_t ranks_ = 1;    // in the subtree, as far as known
  std::int64_t reached_ = 0;  // ranks, when the search visited this rank
  bool joined_ = false;       // found asleep by the search
  std::int64_t messages_ = 0;
};

}  // namespace tributary::detail
