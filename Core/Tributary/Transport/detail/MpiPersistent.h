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

/// A persistent send that was dropped while it was under way.
struct DroppedMpiSend {
  MPI_Request request = MPI_REQUEST_NULL;
  Bytes bytes;
};

/// What the transport must know to leave nothing behind at its end.
struct MpiLedger {
  std::vector<std::int64_t> sentTo;  // MPI messages, parts of others included
  std::int64_t received = 0;         // likewise
  std::list<DroppedMpiSend> dropped;
};

/// A persistent send or receive of MPI.
class MpiPersistent : public PersistentRequest {
 public:
  /// Takes over a request that was made for `buffer()`.
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
  bool done() override;
  bool cancel() override;

 private:
  void check(int code, const char* function) const { checkMpi(code, function, rank_); }
  void finished();
  void checkSize(const MPI_Status& status) const;

  MpiLedger& ledger_;
  std::list<DroppedMpiSend> dropped_;  // made early: the destructor must not need memory
  MPI_Request request_ = MPI_REQUEST_NULL;
  int rank_;
  int peer_;
  bool sends_;
  bool started_ = false;
};

}  // namespace tributary::detail
