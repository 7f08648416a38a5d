// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// Tree with acknowledgements for the AP model: E. Kocalar, A. Khokhar, S. E. Hambrusch,
/// "Termination Detection: Models and Algorithms for SPMD Computing Paradigms", 1999, section 3,
/// Algorithm Tree_ACK, after D. P. Bertsekas, J. N. Tsitsiklis, "Parallel and Distributed
/// Computation", 1989, section 8.1 (E. W. Dijkstra, C. S. Scholten 1980).
///
/// States of a rank: engaged, with a parent, or free. All begin engaged, with the parents of a tree
/// (DetectorOptions::arity). Every work message is acknowledged once: at once if the receiver is
/// engaged; otherwise its sender becomes the receiver's parent, the receiver is engaged, and that
/// message's acknowledgement is kept back. An engaged rank becomes free when it is passive, all its
/// own messages are acknowledged, and all its children in the tree have reported; it then tells its
/// parent, the first time by a report, later by the acknowledgement that it kept back. When that
/// comes to the root (rank 0), which has no parent, it announces the end, down the tree. A message
/// to oneself needs no message to be acknowledged, and as it keeps the rank engaged, no parent.
///
/// Why it is right: engaged ranks and their parents are a tree rooted at rank 0 at any moment. A
/// parent is engaged as long as its child is: it waits for the child's report, or for the
/// acknowledgement of a message. A rank joins below an engaged one, and leaves only without
/// children, that is with nothing to wait for. A message, an acknowledgement or a report in flight
/// is waited for by an engaged rank, and an active rank is engaged: at the beginning, and later
/// because a message engages before it can make active. So when the root has nothing to wait for
/// and is passive, all are free and passive, and nothing is in flight, of the detector's messages
/// neither. Conversely, once all is quiet the tree's leaves become free one after the other, up to
/// the root.
///
/// Messages: m acknowledgements (of messages to others), P - 1 reports, P - 1 announcements.
DetectorType treeAckDetector();

}  // namespace tributary::detail
