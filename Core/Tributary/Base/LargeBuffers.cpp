// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Base/LargeBuffers.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>
#include <vector>

namespace tributary {

namespace {

// The address sanitizer cannot detect the use of freed memory that is kept for reuse.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t MostBytesKept = 0;
#else
constexpr std::size_t MostBytesKept = std::size_t(64) << 20;
#endif
constexpr std::size_t MostBuffersKept = 64;

struct Kept {
  void* memory;
  std::size_t bytes;
};

struct Store {
  Store() { buffers.reserve(MostBuffersKept + 1); }
  std::mutex mutex;
  std::vector<Kept> buffers;  // the oldest first
  std::size_t bytes = 0;
};

/// Never destroyed: buffers may outlive all static objects.
Store& store() {
  static auto* const theStore = new Store;
  return *theStore;
}

/// Rounds up to one of four sizes for each power of two, so that messages of similar size share
/// buffers.
std::size_t rounded(std::size_t bytes) {
  std::size_t step = LargeBufferBytes / 4;
  while (bytes / step >= 8) step *= 2;
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
  return ::operator new(size);
}

void giveBackLargeBuffer(void* memory, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  if (size > MostBytesKept) {
    ::operator delete(memory);
    return;
  }
  Store& kept = store();
  const std::lock_guard<std::mutex> lock(kept.mutex);
  kept.buffers.push_back({memory, size});
  kept.bytes += size;
  while (kept.bytes > MostBytesKept || kept.buffers.size() > MostBuffersKept) {
    ::operator delete(kept.buffers.front().memory);
    kept.bytes -= kept.buffers.front().bytes;
    kept.buffers.erase(kept.buffers.begin());
  }
}

}  // namespace tributary
