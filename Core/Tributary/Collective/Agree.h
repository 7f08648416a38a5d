// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective: returns if no rank has an error. Otherwise all ranks throw Error: a rank that has an
/// error throws its own text, the others throw the text of the lowest such rank, as "rank N: text".
/// Call it at the end of a phase in which single ranks may fail, so that all ranks leave together.
/// Only ErrorCollector carries more than the text.
/// @param localError  this rank's error, or empty
void agreeOnError(Transport& transport, const std::string& localError);

/// The text of the exception that is being handled, never "". @pre inside of a catch clause
std::string currentExceptionText();

/// The parts of an Error, to be kept and sent to other ranks.
struct ErrorReport {
  std::string text;  ///< Empty if there is no error.
  ErrorKind kind = ErrorKind::Input;
  std::optional<int> rank;
  std::string mpiFunction;  ///< This and the rest: of an MpiError.
  int mpiCode = 0;
  int mpiClass = 0;
};

/// The report of the exception that is being handled: std::bad_alloc is of kind Memory, other
/// exceptions that are no Error are of kind Internal. @pre inside of a catch clause
ErrorReport currentExceptionReport();

/// Throws Error, or MpiError for the kind Mpi.
[[noreturn]] void throwError(const ErrorReport& report);

/// The errors of this rank in a phase that it must not leave alone: they are noted where they
/// occur, and agreed on at the end. Used by one thread.
class ErrorCollector {
 public:
  /// Runs local work and notes what it throws. @return whether it threw nothing
  template <class Work>
  bool attempt(Work&& localWork) {
    try {
      std::forward<Work>(localWork)();
      return true;
    } catch (...) {
      note(currentExceptionReport());
      return false;
    }
  }
  /// Notes an error, if it is the first. @param text  not ""
  void note(const std::string& text, ErrorKind kind = ErrorKind::Input) {
    ErrorReport report;
    report.text = text;
    report.kind = kind;
    note(report);
  }
  void note(const ErrorReport& report) {
    if (report_.text.empty()) report_ = report;
  }
  /// Whether this rank has an error.
  bool any() const { return !report_.text.empty(); }
  /// The first error, or "".
  const std::string& text() const { return report_.text; }

  /// Notes that all ranks know the lowest rank that has an error so far, from an exchange that
  /// carried this: agree() then needs no reduction.
  void noteKnown(int lowestRank) { known_ = lowestRank; }
  /// Whether this rank has an error, or all ranks know of one.
  bool anyKnown() const { return any() || known_.has_value(); }

  /// Collective: see agreeOnError(). Also carries the kind of the error, the rank that detected it,
  /// and of an MpiError the function, code and class; all ranks throw MpiError then.
  void agree(Transport& transport) const;

 private:
  ErrorReport report_;
  std::optional<int> known_;  // the same on all ranks
};

/// Collective. Runs local work that may fail on single ranks (no communication inside); if it threw
/// on any rank, all ranks throw Error, so that none is left waiting for the others.
template <class Work>
void collectively(Transport& transport, Work&& localWork) {
  ErrorCollector errors;
  errors.attempt(std::forward<Work>(localWork));
  errors.agree(transport);
}

}  // namespace tributary
