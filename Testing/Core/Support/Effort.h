// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tributary::testing {

/// Whether this build has a sanitizer that slows programs down several times and enlarges stacks.
/// Long tests then run only a part of their cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool Sanitized = true;
#else
inline constexpr bool Sanitized = false;
#endif

/// Whether long tests run all of their cases: Utilities/test --all sets the variable.
inline bool thorough() {
  return std::getenv("TRIBUTARY_TEST_ALL") != nullptr;
}

/// Whether a sanitizer slows a run down that need not be thorough.
inline bool slowed() {
  return Sanitized && !thorough();
}

/// How many of the cases of a long test run here: all of them in Utilities/test --all, otherwise
/// one in four.
inline std::uint64_t someOf(std::uint64_t cases) {
  return thorough() ? cases : (cases + 3) / 4;
}

}  // namespace tributary::testing
