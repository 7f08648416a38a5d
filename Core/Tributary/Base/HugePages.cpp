// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/HugePages.h"

#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tributary {

void* allocatePages(std::size_t bytes) {
  const std::size_t alignment = bytes >= HugePageBytes ? HugePageBytes : 64;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded < bytes) throw std::bad_alloc();
  void* memory = std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (!memory) throw std::bad_alloc();
#ifdef __linux__
  if (bytes >= HugePageBytes)
    madvise(memory, rounded, MADV_HUGEPAGE);  // advice that may be ignored
#endif
  return memory;
}

void freePages(void* memory, std::size_t bytes) noexcept {
#ifdef __linux__
  if (memory && bytes >= HugePageBytes)
    madvise(memory, bytes / HugePageBytes * HugePageBytes, MADV_DONTNEED);
#endif
  std::free(memory);
}

}  // namespace tributary
