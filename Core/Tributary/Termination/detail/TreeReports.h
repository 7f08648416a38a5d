// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

/// Common part of TreeAps and TreeCounter: reports of counts up a tree. A rank that is passive for
/// the first time reports its counts to the parent of its node. A node that has the reports of all
/// its children merges them into one report for its own parent. Whenever a rank is passive later
/// and its counts have changed, it reports the change directly to its ancestor on the control
/// level. That node keeps the change until it is complete, and otherwise sends it on toward the
/// root. The root announces termination when it is complete and all counts are zero.
///
/// State of a rank: the change of its own counts since its last report; for all its nodes (which
/// need no messages among themselves), the counts that they have to send up, and the children whose
/// first reports are missing. The reports of one rank reach the root in order: the first is
/// included in what a node sends when it becomes complete, and later ones all take the same path,
/// on which order is preserved. Changes that add up to zero are not sent, because they do not
/// change the sums of the root.
class TreeReports : public MessagingDetector {
 protected:
  /// @param counts  the number of counts of a report
  TreeReports(const DetectorTraits& traits, Transport& transport, Session session,
              const DetectorOptions& options, std::size_t counts);

  /// Changes a count of this rank.
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
  std::vector<std::int64_t> pool_;  // of this rank's nodes, to be sent up
  std::vector<int> missing_;        // the children whose first report has not come
  bool reported_ = false;           // this rank, to its own nodes
  bool complete_ = false;           // its nodes have sent their first report
};

}  // namespace tributary::detail
