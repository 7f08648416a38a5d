// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/MpiMessages.h"
#include "Tributary/Transport/detail/MpiPersistent.h"

namespace tributary::detail {

/// The receiving side of the MPI transport: messages that have begun to arrive, whole or in parts,
/// and the order of those of one source.
class MpiArrivals {
 public:
  MpiArrivals(MPI_Comm comm, int rank, int size, const MpiTags& tags, MpiLedger& ledger);

  /// As Transport's.
  std::optional<Envelope> tryReceive(Topic topic, Session session);
  bool receiving(Topic topic, Session session) const;

  bool empty() const { return arrivals_.empty(); }
  /// Forgets those that are complete.
  void dropComplete();

 private:
  /// A message that has begun to arrive.
  struct Arrival {
    int source = 0;
    Topic topic = Topic::Work;
    Session session = 0;
    bool trailer = false;
    Bytes bytes;
    std::vector<MPI_Request> requests;
    std::string lost;  // why there are no bytes, and what comes is cut off
  };

  void check(int code, const char* function) const { checkMpi(code, function, rank_); }
  /// Makes room for a message that begins to arrive, or notes that there is none. It is received
  /// all the same, cut off, so that its sender finishes; and without an address: where processes
  /// read each other's memory, Open MPI 4 was seen to ask for all of it there.
  void allocate(Arrival& arrival, std::uint64_t size) const;
  /// Receives a matched message; one that cannot be finished at once becomes the last of arrivals_.
  std::optional<Envelope> receive(MPI_Message& message, const MPI_Status& status, Topic topic,
                                  Session session);
  Arrival& addArrival(int source, Topic topic, Session session);
  void receiveParts(const Bytes& announcement, int source, Topic topic, Session session);
  /// The oldest complete arrival that no incomplete one of the same source precedes.
  /// @param arriving  becomes the bytes of those under way, if there is none
  std::optional<Envelope> takeArrival(Topic topic, Session session, std::size_t& arriving);
  /// @pre complete
  Envelope take(std::list<Arrival>::iterator place);
  bool complete(Arrival& arrival) const;

  MPI_Comm comm_;
  int rank_;
  MpiTags tags_;
  MpiLedger& ledger_;
  std::list<Arrival> arrivals_;
  std::vector<std::int64_t> arrivingFrom_;  // how many of arrivals_, by source
  std::vector<std::int64_t> blockedBy_;     // the last scan that met an incomplete one, by source
  std::int64_t scans_ = 0;
};

}  // namespace tributary::detail
