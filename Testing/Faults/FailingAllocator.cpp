// SPDX-License-Identifier: BSD-3-Clause
// A library for LD_PRELOAD whose allocations fail when a test asks for it: every operator new, and
// malloc and its kin when VTK or Tributary calls them. Those of MPI, Python and the C library never
// fail: they end the process, whatever the filters do.

#include <dlfcn.h>

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
std::atomic<std::size_t> chosen{Nothing};  // its value while a filter executes
std::atomic<long> counted{0};
std::atomic<long> first{0}, last{-1};  // of those that fail
std::atomic<long> failed{0};

/// Whether an allocation is to fail.
bool fails(std::size_t bytes) {
  if (bytes < least) return false;
  const long number = counted++;
  const bool isChosen = number >= first && number <= last;
  if (isChosen) ++failed;
  return isChosen;
}

/// Whether code at this address belongs to VTK or Tributary.
bool isOurs(void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || !info.dli_fname) return false;
  return std::strstr(info.dli_fname, "libvtk") || std::strstr(info.dli_fname, "Tributary");
}

bool fails(std::size_t bytes, void* caller) {
  return bytes >= least && isOurs(caller) && fails(bytes);
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

/// Chooses the allocations of at least `bytes` bytes that fail, from number `from` to `to`.
void tributary_choose_allocations(std::size_t bytes, long from, long to) {
  counted = failed = 0;
  first = from;
  last = to;
  chosen = bytes;
}
/// Lets the chosen allocations fail from now on, or no longer.
void tributary_fail_allocations(int fail) {
  least = fail ? chosen.load() : Nothing;
}
/// The number of allocations since they were chosen.
long tributary_counted_allocations() {
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
