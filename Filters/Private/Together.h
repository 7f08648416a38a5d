#pragma once

#include <exception>
#include <string>
#include <utility>

#include "Tributary/Agree.h"

namespace tributary {

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
  }
  agreeOnError(transport, error);
}

}  // namespace tributary
