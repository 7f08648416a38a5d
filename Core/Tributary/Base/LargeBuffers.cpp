// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/LargeBuffers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

#include "Tributary/Base/HugePages.h"

namespace tributary {

namespace {

// The address sanitizer cannot detect the use of freed memory that is kept for reuse.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t MostBytesKept = 0;
#else
constexpr std::size_t MostBytesKept = std::size_t(256) << 20;
#endif
constexpr std::size_t MostBuffersKept = 256;

struct Kept {
  void* memory;
  std::size_t bytes;
};

struct Store {
  Store() { buffers.reserve(MostBuffersKept + 1); }
  std::mutex mutex;
  std::vector<Kept> buffers;  // the oldest first
  std::size_t bytes = 0;
  std::size_t most = MostBytesKept;

  void freeOldest() {
    std::free(buffers.front().memory);
    bytes -= buffers.front().bytes;
    buffers.erase(buffers.begin());
  }
};

/// Never destroyed: buffers may outlive all static objects.
Store& store() {
  static auto* const theStore = new Store;
  return *theStore;
}

/// Rounds up to one of four sizes for each power of two, so that buffers of similar size serve each
/// other, and to whole huge pages.
std::size_t rounded(std::size_t bytes) {
  std::size_t step = LargeBufferBytes / 4;
  while (bytes / step >= 8) step *= 2;
  if (bytes >= HugePageBytes) step = std::max(step, HugePageBytes);
  return (bytes + step - 1) / step * step;
}

}  // namespace

void* largeBuffer(std::size_t bytes) {
  const std::size_t size = rounded(bytes);
  if (size < bytes) throw std::bad_alloc();
  {
    Store& kept = store();
    const std::lock_guard<std::mutex> lock(kept.mutex);
    const auto found = std::find_if(kept.buffers.rbegin(), kept.buffers.rend(),
                                    [&](const Kept& buffer) { return buffer.bytes == size; });
    if (found != kept.buffers.rend()) {
      void* memory = found->memory;
      kept.bytes -= size;
      kept.buffers.erase(std::next(found).base());
      return memory;
    }
  }
  return newBuffer(size);
}

void* newBuffer(std::size_t bytes) {
  try {
    return allocatePages(bytes);
  } catch (const std::bad_alloc&) {
    if (keptBufferBytes() == 0) throw;
  }
  freeKeptBuffers();
  return allocatePages(bytes);
}

void giveBackLargeBuffer(void* memory, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  Store& kept = store();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  if (size > kept.most) {
    std::free(memory);
    return;
  }
  kept.buffers.push_back({memory, size});
  kept.bytes += size;
  while (kept.bytes > kept.most || kept.buffers.size() > MostBuffersKept) kept.freeOldest();
}

void freeKeptBuffers() noexcept {
  Store& kept = store();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  while (!kept.buffers.empty()) kept.freeOldest();
}

void keepBuffers(bool keep) noexcept {
  Store& kept = store();
  {
    const std::lock_guard<std::mutex> lock(kept.mutex);
    kept.most = keep ? MostBytesKept : 0;
  }
  if (!keep) freeKeptBuffers();
}

std::size_t keptBufferBytes() noexcept {
  Store& kept = store();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  return kept.bytes;
}

}  // namespace tributary
