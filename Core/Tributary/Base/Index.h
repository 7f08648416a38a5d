// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary {

/// Converts a number to an index into a container. @pre number >= 0
[[nodiscard]] constexpr std::size_t index(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

}  // namespace tributary
