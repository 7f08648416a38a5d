// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Agrees on whether a rank has an error. Collective. Returns if no rank has one. Otherwise all
/// ranks throw Error: ranks with an error throw their own text, the others the text of the lowest
/// rank with an error, as "rank N: text". Call it at the end of a phase in which single ranks may
/// fail. ErrorCollector also preserves the kind of the error.
/// @param localError  the error of this rank, or ""
void agreeOnError(Transport& transport, const std::string& localError);

/// The text of the exception that is being handled, never "". @pre called in a catch clause
[[nodiscard]] std::string currentExceptionText();

/// The content of an Error, which can be stored and sent to other ranks.
struct ErrorReport {
  std::string text;  ///< Empty if there is no error.
  ErrorKind kind = ErrorKind::Input;
  std::optional<int> rank;  ///< See Error::rank().
  std::string mpiFunction;  ///< See MpiError::function().
  int mpiCode = 0;          ///< See MpiError::code().
  int mpiClass = 0;         ///< See MpiError::errorClass().
};

/// The report of the exception that is being handled. std::bad_alloc is of kind Memory; other
/// exceptions not derived from Error are of kind Internal. @pre called in a catch clause
[[nodiscard]] ErrorReport currentExceptionReport();

/// Throws the error of a report: MpiError for the kind Mpi, otherwise Error.
[[noreturn]] void throwError(const ErrorReport& report);

/// Collects errors of this rank in a phase that all ranks must leave together. Errors are noted
/// where they occur, and all ranks agree on them at the end of the phase:
///
///     ErrorCollector errors;
///     errors.attempt([&] { ... });  // local work, which may throw
///     messages = exchangeBytes(transport, std::move(messages), errors);  // all ranks take part
///     errors.attempt([&] { ... });
///     errors.agree(transport);  // throws on all ranks if one has an error
///
/// Keeps the first error. Not thread-safe.
class ErrorCollector {
 public:
  /// Runs local work, which must not communicate, and notes an exception that it throws.
  /// @return whether it threw none; may be ignored
  template <class Work>
  bool attempt(Work&& localWork) {
    try {
      std::forward<Work>(localWork)();
      return true;
    } catch (...) {
      noteCurrentException();
      return false;
    }
  }
  /// Notes the exception that is being handled, with a short text if there is no memory for its
  /// own. @pre called in a catch clause
  void noteCurrentException() noexcept;
  /// Notes an error. Has no effect after the first error.
  /// @param text  not ""
  /// @param kind  Default: ErrorKind::Input.
  void note(const std::string& text, ErrorKind kind = ErrorKind::Input) {
    ErrorReport report;
    report.text = text;
    report.kind = kind;
    note(report);
  }
  /// Notes an error. Has no effect after the first error.
  void note(const ErrorReport& report) {
    if (report_.text.empty()) report_ = report;
  }
  /// Whether this rank has an error.
  [[nodiscard]] bool any() const { return !report_.text.empty(); }
  /// The first error. Its text is empty if there is none.
  [[nodiscard]] const ErrorReport& report() const { return report_; }
  /// Throws the first error of this rank, if any. Local.
  void raise() const {
    if (any()) throwError(report_);
  }
  /// The text of the first error, or "".
  const std::string& text() const { return report_.text; }

  /// Called by an exchange that also found the lowest rank with an error: agree() then needs no
  /// reduction.
  /// @param lowestRank  the same on all ranks
  void noteKnown(int lowestRank) { known_ = lowestRank; }
  /// Whether this rank has an error, or an exchange found that another rank has one.
  [[nodiscard]] bool anyKnown() const { return any() || known_.has_value(); }

  /// Agrees on errors: see agreeOnError(). Collective. A rank without an error that is interrupted
  /// (Transport::isInterrupted()) has one of kind Aborted. The error on each rank has the kind of
  /// the original one and the rank that detected it. An MpiError is thrown as MpiError on all
  /// ranks, with function, code and class.
  void agree(Transport& transport) const;

 private:
  ErrorReport report_;
  std::optional<int> known_;  // the same on all ranks
};

/// Runs local work that may fail on single ranks. Collective. If the work throws on one rank, all
/// ranks throw Error: see ErrorCollector::agree(). The work must not communicate.
template <class Work>
void collectively(Transport& transport, Work&& localWork) {
  ErrorCollector errors;
  errors.attempt(std::forward<Work>(localWork));
  errors.agree(transport);
}

}  // namespace tributary
