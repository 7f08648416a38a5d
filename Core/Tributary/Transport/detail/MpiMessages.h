// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/MpiErrors.h"

namespace tributary::detail {

// How messages travel as MPI's. A message's last byte tells what it is; parts follow their
// announcement under a tag of their own.
constexpr std::byte WholeMessage{0};
constexpr std::byte Announcement{1};

/// How a message's parts follow: data in parts of one size (the last may be smaller), then its
/// tail.
struct MessageLengths {
  std::uint64_t data;
  std::uint64_t tail;
  std::uint64_t part;
};
constexpr std::size_t LargestPart = std::size_t(1) << 30;

// Above, MPI may need the sender's help to complete a receive, and the sender may be computing.
constexpr int LargestBlockingReceive = 4 << 10;

/// Tags of topics and sessions. Sessions share them again after as many as MPI has tags for,
/// thousands at least and millions with most MPIs: no rank is so far ahead of another with messages
/// under way.
class MpiTags {
 public:
  MpiTags() = default;
  MpiTags(MPI_Comm comm, int rank) {
    void* largest = nullptr;
    int found = 0;
    checkMpi(MPI_Comm_get_attr(comm, MPI_TAG_UB, &largest, &found), "MPI_Comm_get_attr", rank);
    sessions_ = (found ? *static_cast<int*>(largest) : 32767) / PerSession;
  }

  /// @param part  of a message, not the message itself
  int of(Topic topic, Session session, bool part = false) const {
    return static_cast<int>(session % sessions_) * PerSession + static_cast<int>(topic) * 2 +
           (part ? 1 : 0);
  }

 private:
  static constexpr int PerSession = 2 * 4;  // of four topics
  Session sessions_ = 1;
};

}  // namespace tributary::detail
