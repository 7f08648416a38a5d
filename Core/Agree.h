#pragma once

#include <exception>
#include <string>
#include <utility>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective: returns if no rank has an error. Otherwise all ranks throw Error: a rank that has
/// one its own text, the others the text of the lowest such rank, as "rank N: text".
/// Call it at the end of a phase in which single ranks may fail, so that all leave together.
/// @param localError  this rank's error, or empty
void agreeOnError(Transport& transport, const std::string& localError);

/// Collective. Runs local work that may fail on single ranks (no communication inside); if it threw
/// on any rank, all ranks throw Error, so that none is left waiting for the others.
template <class Work>
void together(Transport& transport, Work&& localWork) {
  std::string error;
  try {
    std::forward<Work>(localWork)();
  } catch (const std::exception& e) {
    error = e.what();
    if (error.empty()) error = "an error without a text";
  } catch (...) {
    error = "an error of an unknown kind";
  }
  agreeOnError(transport, error);
}

}  // namespace tributary
