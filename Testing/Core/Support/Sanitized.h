// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::testing {

/// Whether this build has a sanitizer that slows programs down several times and enlarges stacks.
/// Long tests then run only a part of their cases.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool Sanitized = true;
#else
inline constexpr bool Sanitized = false;
#endif

}  // namespace tributary::testing
