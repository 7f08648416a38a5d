// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/MpiErrors.h"

namespace tributary::detail {

// The last byte of an MPI message states its kind. The parts of a large message follow its
// announcement under a separate tag.
constexpr std::byte WholeMessage{0};
constexpr std::byte Announcement{1};

/// The content of an announcement, in bytes: data in parts of equal size (the last may be smaller),
/// then a tail.
struct MessageLengths {
  std::uint64_t data;
  std::uint64_t tail;
  std::uint64_t part;
};
constexpr std::size_t LargestPart = std::size_t(1) << 30;

// A blocking receive of a larger message may need progress by the sender, which may be computing.
constexpr int LargestBlockingReceive = 4 << 10;

/// MPI tags of topics and sessions. Sessions reuse tags cyclically, after at least 4,095 sessions
/// (MPI_TAG_UB is at least 32,767) and after millions in most implementations. No rank is that far
/// ahead of another one while messages are in flight.
class MpiTags {
 public:
  MpiTags() = default;
  MpiTags(MPI_Comm comm, int rank) {
    void* largest = nullptr;
    int found = 0;
    checkMpi(MPI_Comm_get_attr(comm, MPI_TAG_UB, &largest, &found), "MPI_Comm_get_attr", rank);
    sessions_ = (found ? *static_cast<int*>(largest) : 32767) / PerSession;
  }

  /// @param part  whether the tag is for the parts of messages
  int of(Topic topic, Session session, bool part = false) const {
    return static_cast<int>(session % sessions_) * PerSession + static_cast<int>(topic) * 2 +
           (part ? 1 : 0);
  }
  /// Of no topic and session: see Transport::abandon().
  int alarm() const { return static_cast<int>(sessions_) * PerSession; }

 private:
  static constexpr int PerSession = 2 * 4;  // for four topics
  Session sessions_ = 1;
};

}  // namespace tributary::detail
