// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective: returns if no rank has an error. Otherwise all ranks throw Error: a rank that has
/// one its own text, the others the text of the lowest such rank, as "rank N: text".
/// Call it at the end of a phase in which single ranks may fail, so that all leave together.
/// @param localError  this rank's error, or empty
void agreeOnError(Transport& transport, const std::string& localError);

/// What the exception that is being handled says, never "". @pre inside of a catch clause
std::string currentExceptionText();

/// The errors of this rank in a phase that it must not leave alone: noted where they come, and
/// agreed on at the end. Used by one thread.
class ErrorCollector {
 public:
  /// Runs local work and notes what it throws. @return whether it threw nothing
  template <class Work>
  bool attempt(Work&& localWork) {
    try {
      std::forward<Work>(localWork)();
      return true;
    } catch (...) {
      note(currentExceptionText());
      return false;
    }
  }
  /// Notes an error, if it is the first. @param text  not ""
  void note(const std::string& text) {
    if (text_.empty()) text_ = text;
  }
  bool any() const { return !text_.empty(); }
  /// The first error, or "".
  const std::string& text() const { return text_; }
  /// Collective: see agreeOnError().
  void agree(Transport& transport) const { agreeOnError(transport, text_); }

 private:
  std::string text_;
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
