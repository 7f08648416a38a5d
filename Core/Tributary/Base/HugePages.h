// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {

/// Uninitialized memory for random access, aligned to at least 64 bytes. Uses huge pages if the
/// system provides them, which reduces misses of the translation lookaside buffer.
class HugePages {
 public:
  /// Allocates memory. Throws std::bad_alloc.
  explicit HugePages(std::size_t bytes) {
    constexpr std::size_t Huge = std::size_t(1) << 21;
    const std::size_t alignment = bytes >= Huge ? Huge : 64;
    bytes = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)));
    if (!memory_) throw std::bad_alloc();
#ifdef __linux__
    if (bytes >= Huge) madvise(memory_.get(), bytes, MADV_HUGEPAGE);
#endif
  }
  /// The memory, owned by this object.
  std::byte* data() const {
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace tributary
