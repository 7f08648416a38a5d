// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Agree.h"

#include <exception>
#include <new>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

namespace {

Bytes packed(const ErrorReport& report) {
  return Writer()
      .text(report.text)
      .value(static_cast<int>(report.kind))
      .value(report.rank.value_or(-1))
      .text(report.mpiFunction)
      .value(report.mpiCode)
      .value(report.mpiClass)
      .take();
}

ErrorReport unpacked(const Bytes& bytes) {
  Reader reader(bytes);
  ErrorReport report;
  report.text = reader.text();
  if (report.text.empty()) refuseMessage("an error without a text");
  const int kind = reader.value<int>();
  if (kind < 0 || kind > static_cast<int>(ErrorKind::Internal))
    refuseMessage("an error of unknown kind");
  report.kind = static_cast<ErrorKind>(kind);
  const int rank = reader.value<int>();
  if (rank >= 0) report.rank = rank;
  report.mpiFunction = reader.text();
  report.mpiCode = reader.value<int>();
  report.mpiClass = reader.value<int>();
  return report;
}

}  // namespace

void agreeOnError(Transport& transport, const std::string& localError) {
  ErrorCollector errors;
  if (!localError.empty()) errors.note(localError);
  errors.agree(transport);
}

void ErrorCollector::noteCurrentException() noexcept {
  if (any()) return;
  try {
    note(currentExceptionReport());
  } catch (...) {
    report_ = ErrorReport();
    report_.text = "out of memory";  // short enough for a string that allocates nothing
    report_.kind = ErrorKind::Memory;
  }
}

void ErrorCollector::agree(Transport& transport) const {
  if (!anyKnown() && transport.isInterrupted()) {
    ErrorCollector interrupted;
    interrupted.attempt([&] { throwIfInterrupted(transport); });
    return interrupted.agree(transport);
  }
  // A rank with an error sends empty messages, which others take for malformed ones: errors of this
  // kind come last.
  const int size = transport.size();
  const std::int64_t none = 2 * std::int64_t{size};
  const std::int64_t own =
      any() ? transport.rank() + (report_.kind == ErrorKind::Message ? size : 0) : none;
  const std::int64_t lowest = known_ ? *known_ : allreduce(transport, ReduceOp::Min, own);
  if (lowest == none) return;
  ErrorCollector onTheWay;
  const auto root = static_cast<int>(lowest % size);
  Bytes mine;
  if (root == transport.rank() && !onTheWay.attempt([&] { mine = packed(report_); })) {
    ErrorReport brief;
    brief.kind = report_.kind;
    brief.rank = report_.rank;
    brief.mpiCode = report_.mpiCode;
    brief.mpiClass = report_.mpiClass;
    onTheWay.attempt([&] {
      brief.text = "an error whose text does not fit into memory";
      mine = packed(brief);
    });
  }
  const Bytes reason = broadcastBytes(transport, std::move(mine), root, onTheWay);
  ErrorReport report = report_;
  if (root != transport.rank()) onTheWay.attempt([&] { report = unpacked(reason); });
  // An interruption is reported as one on all ranks or on none.
  const auto isSame = [&](ErrorKind kind) {
    return (report.kind == kind) == (report_.kind == kind);
  };
  if (any() && (onTheWay.any() || (isSame(ErrorKind::Aborted) && isSame(ErrorKind::Message)))) {
    report = report_;
    if (!report.rank) report.rank = transport.rank();
    throwError(report);
  }
  if (!report.rank) report.rank = root;
  report.text = "rank " + std::to_string(root) + ": " +
                (onTheWay.any() ? "an error whose text was lost: " + onTheWay.text() : report.text);
  throwError(report);
}

std::string currentExceptionText() {
  return currentExceptionReport().text;
}

ErrorReport currentExceptionReport() {
  ErrorReport report;
  report.kind = ErrorKind::Internal;
  try {
    throw;
  } catch (const MpiError& error) {
    report = {error.what(),     error.kind(), error.rank(),
              error.function(), error.code(), error.errorClass()};
  } catch (const Error& error) {
    report.text = error.what();
    report.kind = error.kind();
    report.rank = error.rank();
  } catch (const std::bad_alloc&) {
    report.text = "there is not enough memory; use more ranks, or smaller data";
    report.kind = ErrorKind::Memory;
  } catch (const std::exception& error) {
    report.text = error.what();
  } catch (...) {
    report.text = "an exception that is not a std::exception";
  }
  if (report.text.empty()) report.text = "an error without a text";
  return report;
}

void throwError(const ErrorReport& report) {
  if (report.kind == ErrorKind::Mpi)
    throw MpiError(report.text, report.mpiFunction, report.mpiCode, report.mpiClass, report.rank);
  throw Error(report.kind, report.text, report.rank);
}

}  // namespace tributary
