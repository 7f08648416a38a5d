// SPDX-License-Identifier: BSD-3-Clause
// A library for LD_PRELOAD whose allocations fail when a test asks for it: each operator new while
// a filter of Tributary executes, and each malloc of its own. Others never fail, because they end
// the process, whatever a filter does: those of MPI, of Python, of the pipeline around a filter,
// and of VTK's arrays (Debian's VTK aborts where an array cannot grow).

#include <dlfcn.h>
#include <execinfo.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

constexpr std::size_t Nothing = std::numeric_limits<std::size_t>::max();

std::atomic<std::size_t> least{Nothing};  // bytes of the allocations that count; Nothing: none does
std::atomic<long> counted{0};
std::atomic<long> first{0}, last{-1};  // of those that fail
std::atomic<long> failed{0};

/// Whether a filter of Tributary executes, and not MPI or Python called by it.
bool isOurs() {
  static thread_local bool isLooking = false;
  if (isLooking) return false;  // backtrace() allocates, too
  isLooking = true;
  void* frames[64];
  const int count = backtrace(frames, 64);
  bool is = false;
  for (int i = 2; i < count && !is; ++i) {
    Dl_info info;
    if (dladdr(frames[i], &info) == 0 || !info.dli_fname) continue;
    const char* const file = info.dli_fname;
    if (std::strstr(file, "ython") || std::strstr(file, "libmpi") || std::strstr(file, "libopen") ||
        std::strstr(file, "openmpi") || std::strstr(file, "pmix"))
      break;
    is = info.dli_sname && std::strstr(info.dli_sname, "vtkAsyncAlgorithm11RequestData");
  }
  isLooking = false;
  return is;
}

/// Whether an allocation is to fail.
bool fails(std::size_t bytes) {
  if (bytes < least || !isOurs()) return false;
  const long number = counted++;
  const bool isChosen = number >= first && number <= last;
  if (isChosen) ++failed;
  return isChosen;
}

/// As above, for malloc and its kin.
bool fails(std::size_t bytes, void* caller) {
  if (bytes < least) return false;
  Dl_info info;
  const bool is =
      dladdr(caller, &info) != 0 && info.dli_fname && std::strstr(info.dli_fname, "Tributary");
  return is && fails(bytes);
}

/// As the standard demands it: the new-handler may free memory.
template <class Allocate>
void* allocateOrThrow(std::size_t bytes, Allocate&& allocate) {
  while (true) {
    void* memory = fails(bytes) ? nullptr : allocate();
    if (memory) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (!handler) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

extern "C" {

/// Counts allocations of at least `bytes` bytes; those from number `from` to `to` fail.
void tributary_fail_allocations(std::size_t bytes, long from, long to) {
  least = Nothing;
  counted = failed = 0;
  first = from;
  last = to;
  least = bytes;
}
/// Ends that. @return the number of allocations that were counted
long tributary_stop_failing() {
  least = Nothing;
  return counted;
}
/// The number of allocations that have failed.
long tributary_failed_allocations() {
  return failed;
}

void* malloc(std::size_t bytes) {
  if (!fails(bytes, __builtin_return_address(0))) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t count, std::size_t bytes) {
  if (!fails(count * bytes, __builtin_return_address(0))) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
void* realloc(void* old, std::size_t bytes) {
  if (!fails(bytes, __builtin_return_address(0))) return __libc_realloc(old, bytes);
  errno = ENOMEM;
  return nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  if (!fails(bytes, __builtin_return_address(0))) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = fails(bytes, __builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}

}  // extern "C"

void* operator new(std::size_t bytes) {
  return allocateOrThrow(bytes, [&] { return __libc_malloc(bytes > 0 ? bytes : 1); });
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocateOrThrow(
      bytes, [&] { return __libc_memalign(std::size_t(alignment), bytes > 0 ? bytes : 1); });
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return operator new(bytes, alignment);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
