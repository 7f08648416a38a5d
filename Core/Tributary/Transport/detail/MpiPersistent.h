// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"
#include "Tributary/Transport/detail/MpiErrors.h"

namespace tributary::detail {

/// A persistent send that was destroyed while it was in progress.
struct DroppedMpiSend {
  MPI_Request request = MPI_REQUEST_NULL;
  Bytes bytes;
};

/// Counts of MPI messages and sends without an owner, from which the transport completes all
/// communication when it is destroyed.
struct MpiLedger {
  std::vector<std::int64_t> sentTo;  // MPI messages by destination, parts of messages included
  std::int64_t received = 0;         // likewise
  std::list<DroppedMpiSend> dropped;
};

/// A persistent send or receive of MPI.
class MpiPersistent : public PersistentRequest {
 public:
  /// The caller then makes the request, for `buffer()`.
  /// @param peer  the other rank
  /// @param sends  whether this is a send
  MpiPersistent(MpiLedger& ledger, int rank, int peer, bool sends, std::size_t size)
      : PersistentRequest(size),
        ledger_(ledger),
        dropped_(sends ? 1 : 0),
        rank_(rank),
        peer_(peer),
        sends_(sends) {}
  ~MpiPersistent() override;

  MPI_Request& request() { return request_; }

  void start() override;
  [[nodiscard]] bool done() override;
  [[nodiscard]] bool cancel() override;

 private:
  void check(int code, const char* function) const { checkMpi(code, function, rank_); }
  void finished();
  void checkSize(const MPI_Status& status) const;

  MpiLedger& ledger_;
  std::list<DroppedMpiSend> dropped_;  // allocated early: the destructor must not allocate
  MPI_Request request_ = MPI_REQUEST_NULL;
  int rank_;
  int peer_;
  bool sends_;
  bool started_ = false;
};

}  // namespace tributary::detail
