// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary {

/// Buffers of at least this size, in bytes, are worth reusing: largeBuffer() is for them.
constexpr std::size_t LargeBufferBytes = std::size_t(128) << 10;

/// Allocates uninitialized memory as allocatePages() does, but reuses buffers that were given back
/// if possible. Memory that was not used before costs page faults, which take longer than sending
/// or computing what it holds: a message of 4 MB took twice as long. If there is no more memory,
/// the buffers kept are freed first. Thread-safe. Throws std::bad_alloc.
[[nodiscard]] void* largeBuffer(std::size_t bytes);

/// Allocates memory as allocatePages() does. If there is none, the buffers kept are freed first.
/// Thread-safe. Throws std::bad_alloc.
[[nodiscard]] void* newBuffer(std::size_t bytes);

/// Frees memory of largeBuffer(). The process keeps at most 256 MiB for reuse, the most recent
/// buffers. Thread-safe.
/// @param memory  a result of largeBuffer()
/// @param bytes  the size that was passed to largeBuffer()
void giveBackLargeBuffer(void* memory, std::size_t bytes) noexcept;

/// Frees the buffers that are kept for reuse. Thread-safe.
void freeKeptBuffers() noexcept;

/// Sets whether the process keeps buffers for reuse. Default: true. If not, those kept are freed.
/// Thread-safe.
void keepBuffers(bool keep) noexcept;

/// The size of the buffers that are kept for reuse, in bytes. Thread-safe.
[[nodiscard]] std::size_t keptBufferBytes() noexcept;

}  // namespace tributary
