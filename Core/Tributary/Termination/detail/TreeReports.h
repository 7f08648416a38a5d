// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

/// Reports of counts up a tree, for TreeAps and TreeCounter. A rank that is passive for the first
/// time reports its counts to its node's parent; a node that has the reports of all its children
/// merges them into one for its own parent. Whenever a rank is passive later on and its counts have
/// changed, it reports the change directly to the node above it on the control level, which keeps
/// it until it is complete, and otherwise passes it up towards the root. The root announces the end
/// when it is complete and all counts are zero.
///
/// State of a rank: the change of its own counts since its last report; of its nodes together (they
/// need no messages among themselves): what they have to pass up, and which children's first
/// reports are missing. Reports of one rank reach the root in order: the first is in what a node
/// passes up when it becomes complete, the later ones all take the same way, on which order is
/// kept. Changes that add up to nothing are not passed up, as they would change nothing at the
/// root.
class TreeReports : public MessagingDetector {
 protected:
  /// @param counts  how many there are
  TreeReports(const DetectorTraits& traits, Transport& transport, Session session,
              const DetectorOptions& options, std::size_t counts);

  /// Changes this rank's own count.
  void count(std::size_t index, std::int64_t change) { own_[index] += change; }

  void handle(int source, std::int64_t kind, Reader& body, bool passive) final;
  void step(bool passive) final;
  void restart() final;
  std::string describe() const final;

 private:
  void report(int destination, int kind, std::vector<std::int64_t>& counts);

  std::vector<int> children_;
  int control_;                     // the rank of the node above on the control level
  std::vector<std::int64_t> own_;   // since the last report
  std::vector<std::int64_t> pool_;  // of this rank's nodes, to be passed up
  std::vector<int> missing_;        // the children whose first report has not come
  bool reported_ = false;           // this rank, to its own nodes
  bool complete_ = false;           // its nodes have passed up their first report
};

}  // namespace tributary::detail
