// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

#include "Tributary/Termination/RankTree.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Ends the work of all ranks of an execution after the user has asked one of them to abort. A rank
/// that knows of it notifies its neighbors in a tree of ranks, so ranks learn of it while they
/// compute, too. They leave together at the next agreement: see Transport::setInterruption().
class Interruption {
 public:
  /// Collective, without communication. Installs itself in the transport, until it is destroyed.
  /// @param transport  must outlive this object
  /// @param isAborted  processes events, and returns whether the user has asked to abort; called at
  ///                   most 50 times a second; must not throw
  Interruption(Transport& transport, std::function<bool()> isAborted);
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() { transport_.setInterruption({}); }

 private:
  bool look();
  void spread();

  Transport& transport_;
  std::function<bool()> isAborted_;
  Session session_;
  RankTree tree_;
  bool isKnown_ = false;
  bool isLooking_ = false;
  double lastLook_;
};

}  // namespace tributary
