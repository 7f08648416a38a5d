// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

namespace tributary {

/// The size of a huge page of x86-64.
constexpr std::size_t HugePageBytes = std::size_t(2) << 20;

/// Allocates uninitialized memory, aligned to at least 64 bytes. From 2 MiB on it uses huge pages
/// if the system provides them: page faults of small pages take longer than the computation of the
/// values, and random access misses the translation lookaside buffer less often. The caller
/// releases the memory with free(). Thread-safe. Throws std::bad_alloc.
[[nodiscard]] void* allocatePages(std::size_t bytes);

/// Frees memory of allocatePages(), from 2 MiB on at once for all of the system: free() may keep it
/// for the next allocations. Thread-safe.
/// @param bytes  the size that was passed to allocatePages()
void freePages(void* memory, std::size_t bytes) noexcept;

/// Memory of allocatePages() for random access.
class HugePages {
 public:
  /// Allocates memory. Throws std::bad_alloc.
  explicit HugePages(std::size_t bytes) : memory_(static_cast<std::byte*>(allocatePages(bytes))) {}
  /// The memory, owned by this object.
  std::byte* data() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace tributary
