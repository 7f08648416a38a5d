// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/MpiMessages.h"
#include "Tributary/Transport/detail/MpiPersistent.h"

namespace tributary::detail {

/// The receiving side of the MPI transport. Holds messages that have begun to arrive, whole or in
/// parts, and preserves the order of messages of one source.
class MpiArrivals {
 public:
  MpiArrivals(MPI_Comm comm, int rank, int size, const MpiTags& tags, MpiLedger& ledger);

  /// See Transport::tryReceive().
  [[nodiscard]] std::optional<Envelope> tryReceive(Topic topic, Session session);
  /// See Transport::receiving().
  [[nodiscard]] bool receiving(Topic topic, Session session) const;

  [[nodiscard]] bool empty() const { return arrivals_.empty(); }
  /// Discards complete messages.
  void dropComplete();
  /// Receives nothing of a matched message for which there is no memory, so that its send finishes.
  void receiveNothing(MPI_Message& message) const;

 private:
  /// A message that has begun to arrive.
  struct Arrival {
    int source = 0;
    Topic topic = Topic::Work;
    Session session = 0;
    bool trailer = false;
    Bytes bytes;
    std::vector<MPI_Request> requests;
    std::string lost;  // the error, if there is no memory; then without bytes and requests
  };

  void check(int code, const char* function) const { checkMpi(code, function, rank_); }
  /// Allocates memory for a message that begins to arrive, or marks the message as lost. A lost
  /// message is received nevertheless, into a buffer of no bytes, so that its send finishes. The
  /// buffer must be null: if processes read each other's memory, Open MPI 4 was seen to request the
  /// whole message otherwise.
  void allocate(Arrival& arrival, std::uint64_t size) const;
  /// Receives a matched message. If it is not complete at once, it becomes the last of arrivals_.
  [[nodiscard]] std::optional<Envelope> receive(MPI_Message& message, const MPI_Status& status,
                                                Topic topic, Session session);
  Arrival& addArrival(int source, Topic topic, Session session);
  void receiveParts(Span<const std::byte> announcement, int source, Topic topic, Session session);
  /// Also reserves the memory with which complete() tests the requests.
  void reserveRequests(Arrival& arrival, std::size_t count);
  /// Frees the request of a lost message before it is truncated. Open MPI 4 and MPICH 4 then do not
  /// report the truncation. They would to a test of the request, and MPICH 4 to all processes,
  /// because the request of a matched message lacks the error handler of the communicator.
  void forget(MPI_Request& request) const;
  std::string noMemoryFor(std::uint64_t size, int source) const;
  /// The oldest complete message that no incomplete one of the same source precedes.
  /// @param arriving  set to the bytes of incomplete messages, if nothing is returned
  [[nodiscard]] std::optional<Envelope> takeArrival(Topic topic, Session session,
                                                    std::size_t& arriving);
  /// @pre complete
  [[nodiscard]] Envelope take(std::list<Arrival>::iterator place);
  [[nodiscard]] bool complete(Arrival& arrival);

  MPI_Comm comm_;
  int rank_;
  MpiTags tags_;
  MpiLedger& ledger_;
  std::list<Arrival> arrivals_;
  std::vector<std::int64_t> arrivingFrom_;  // how many of arrivals_, by source
  std::vector<std::int64_t> blockedBy_;     // the last scan that met an incomplete one, by source
  std::int64_t scans_ = 0;
  std::vector<MPI_Status> statuses_;  // of the requests of an arrival
  // For a message that there is no memory for.
  std::array<std::byte, LargestBlockingReceive> spare_;
};

}  // namespace tributary::detail
