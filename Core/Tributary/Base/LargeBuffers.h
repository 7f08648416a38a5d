// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary {

/// Memory for messages of this many bytes and more comes from largeBuffer().
constexpr std::size_t LargeBufferBytes = std::size_t(128) << 10;

/// Memory as of operator new, if possible that of a buffer which was given back: memory fresh from
/// the system costs a page fault every 4 KB, which takes longer than sending the bytes (a message
/// of 4 MB took twice as long). By any thread. Throws std::bad_alloc.
void* largeBuffer(std::size_t bytes);

/// Gives such memory back. The process keeps 64 MB of it at most, those given back last.
/// @param bytes  as asked for
void giveBackLargeBuffer(void* memory, std::size_t bytes) noexcept;

}  // namespace tributary
