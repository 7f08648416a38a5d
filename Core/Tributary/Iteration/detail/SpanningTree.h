// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A spanning tree of the communication graph by the echo algorithm: E. J. H. Chang, "Echo
/// algorithms: depth parallel operations on general graphs", IEEE Trans. Software Eng. SE-8(4),
/// 1982. Links that are fast at the time come into the tree, as the first message to reach a rank
/// makes its sender the parent.
///
///   Asleep --explored by a neighbor (rank 0: at once) / that is the parent; explore the others-->
///   Exploring --all others have explored or echoed / those that echoed are children; echo-->
///   Echoed --told by the parent that the tree is complete / tell the children--> Complete
///
/// Rank 0 has no parent. When its last neighbor has answered it knows how many ranks were reached.
/// If not all, the graph is in several parts: it seeks the others, rank by rank. A rank that the
/// search finds asleep becomes the child of the rank before it, although there is no link between
/// them, explores its own part, and joins; then the search goes on behind it.
///
/// Messages: two on each link, one to each rank but the first for the completion, and O(P) one
/// after the other if the graph is in parts. All have been received when the last rank is complete.
class SpanningTree {
 public:
  /// Local. @param session  for this tree alone
  /// @param neighbors  ranks, symmetric
  SpanningTree(Transport& transport, Session session, std::vector<int> neighbors);

  /// One non-blocking turn. @return whether the tree is complete
  bool advance();

  /// -1 on rank 0. @pre complete
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
  std::int64_t ranks_ = 1;    // of the subtree, as far as is known
  std::int64_t reached_ = 0;  // by the search, when it was here
  bool joined_ = false;       // found asleep by the search
  std::int64_t messages_ = 0;
};

}  // namespace tributary::detail
