// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/MpiPersistent.h"

#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

MpiPersistent::~MpiPersistent() {
  if (started_ && sends_) {
    dropped_.front().request = request_;
    dropped_.front().bytes = std::move(buffer_);
    ledger_.dropped.splice(ledger_.dropped.end(), dropped_);
    return;
  }
  if (started_)
    reportErrors("canceling a receive", [&] { static_cast<void>(MpiPersistent::cancel()); });
  if (request_ == MPI_REQUEST_NULL) return;
  reportErrors("freeing a persistent request",
               [&] { check(MPI_Request_free(&request_), "MPI_Request_free"); });
}

void MpiPersistent::start() {
  check(MPI_Start(&request_), "MPI_Start");
  started_ = true;
  if (sends_) ++ledger_.sentTo[static_cast<std::size_t>(peer_)];
}

bool MpiPersistent::done() {
  if (!started_) return true;
  int flag = 0;
  MPI_Status status;
  const int code = MPI_Test(&request_, &flag, &status);
  if (code != MPI_SUCCESS || flag) finished();
  check(code, "MPI_Test");
  if (flag && !sends_) checkSize(status);
  return flag != 0;
}

bool MpiPersistent::cancel() {
  if (sends_) throw Error("a persistent send cannot be canceled; wait until it is done");
  if (!started_) return false;
  started_ = false;
  check(MPI_Cancel(&request_), "MPI_Cancel");
  MPI_Status status;
  check(MPI_Wait(&request_, &status), "MPI_Wait");
  int canceled = 0;
  check(MPI_Test_cancelled(&status, &canceled), "MPI_Test_cancelled");
  if (canceled) return true;
  ++ledger_.received;
  checkSize(status);
  return false;
}

void MpiPersistent::finished() {
  started_ = false;
  if (!sends_) ++ledger_.received;
}

void MpiPersistent::checkSize(const MPI_Status& status) const {
  int count = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  checkPersistentSize(static_cast<std::size_t>(count), buffer_.size(), peer_, rank_);
}

}  // namespace tributary::detail
