// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary {

/// Buffers of messages of at least this size, in bytes, are allocated by largeBuffer().
constexpr std::size_t LargeBufferBytes = std::size_t(128) << 10;

/// Allocates memory like operator new, but reuses buffers that were given back if possible. New
/// memory costs a page fault every 4 KiB, which takes longer than sending the bytes: a message of
/// 4 MB took twice as long. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] void* largeBuffer(std::size_t bytes);

/// Frees memory of largeBuffer(). The process keeps at most 64 MiB for reuse, the most recent
/// buffers. Thread-safe.
/// @param memory  a result of largeBuffer()
/// @param bytes  the size that was passed to largeBuffer()
void giveBackLargeBuffer(void* memory, std::size_t bytes) noexcept;

}  // namespace tributary
