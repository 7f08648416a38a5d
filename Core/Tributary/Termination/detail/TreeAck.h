// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Tree with acknowledgements for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch,
/// "Termination Detection: Models and Algorithms for SPMD Computing Paradigms", IPPS/SPDP 1999,
/// section 3, Algorithm Tree_ACK, after D. P. Bertsekas, J. N. Tsitsiklis, "Parallel and
/// Distributed Computation", 1989, section 8.1 (E. W. Dijkstra, C. S. Scholten 1980,
/// doi:10.1016/0020-0190(80)90021-6).
///
/// A rank is engaged, with a parent, or free. All ranks start engaged, with the parents of a tree
/// (DetectorOptions::arity). Every work message is acknowledged once: immediately if the receiver
/// is engaged; otherwise the sender becomes the receiver's parent, the receiver becomes engaged,
/// and the acknowledgement is deferred. An engaged rank becomes free when it is passive, all its
/// own messages are acknowledged, and all its children in the tree have reported. It then informs
/// its parent, the first time by a report, later by the deferred acknowledgement. When this
/// condition holds at the root (rank 0), which has no parent, the root announces termination along
/// the tree. A message to the same rank needs no message to be acknowledged, and as it keeps the
/// rank engaged, no parent.
///
/// Correctness: at any moment the engaged ranks and their parents form a tree rooted at rank 0. A
/// parent is engaged as long as its child is: it waits for the child's report, or for the
/// acknowledgement of a message. A rank joins below an engaged rank, and leaves only without
/// children, that is, if it waits for nothing. For each message, acknowledgement or report in
/// flight an engaged rank waits. An active rank is engaged: at the beginning, and later because a
/// message engages its receiver before it activates it. So when the root waits for nothing and is
/// passive, all ranks are free and passive, and nothing is in flight, including the detector's
/// messages. Conversely, once all ranks stay passive, the leaves of the tree become free one after
/// the other, up to the root.
///
/// Messages: m acknowledgements (of messages to other ranks), P - 1 reports, P - 1 announcements.
[[nodiscard]] DetectorType treeAckDetector();

}  // namespace tributary::detail
