// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/Fiber.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"

// swapcontext() sets the signal mask, a system call at each switch, which may take longer than the
// work between switches. Jumps leave the mask alone, but the sanitizers do not follow them.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRIBUTARY_FIBERS_JUMP 0
#else
#define TRIBUTARY_FIBERS_JUMP 1
#endif

// The sanitizers must be told that the stack changes.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace tributary::detail {

namespace {

/// The exceptions being handled on a stack: the C++ run-time keeps them by thread, as its ABI
/// prescribes (Itanium C++ ABI: Exception Handling, 2.2.2).
struct ExceptionState {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

void swapExceptions(ExceptionState& other) {
  ExceptionState current;
  void* globals = abi::__cxa_get_globals();
  std::memcpy(&current, globals, sizeof current);
  std::memcpy(globals, &other, sizeof other);
  other = current;
}

}  // namespace

struct Fiber::Context {
  std::function<void()> body;
  void* memory = nullptr;  // a guard page, then the stack
  std::size_t memoryBytes = 0;
  char* stack = nullptr;
  std::size_t stackBytes = 0;
  ucontext_t own;
#if TRIBUTARY_FIBERS_JUMP
  std::jmp_buf ownPlace;
  std::jmp_buf callerPlace;
  bool started = false;
#else
  ucontext_t caller;
#endif
  ExceptionState exceptions;
  bool finished = false;
#ifdef __SANITIZE_ADDRESS__
  const void* callerStack = nullptr;
  std::size_t callerStackBytes = 0;
#endif
#ifdef __SANITIZE_THREAD__
  void* ownFiber = __tsan_create_fiber(0);
  void* callerFiber = nullptr;
#endif

  void switchToOwn() {
#if TRIBUTARY_FIBERS_JUMP
    if (_setjmp(callerPlace) != 0) return;
    if (started) _longjmp(ownPlace, 1);
    started = true;
    setcontext(&own);
#else
    swapcontext(&caller, &own);
#endif
  }

  void switchToCaller() {
#if TRIBUTARY_FIBERS_JUMP
    if (_setjmp(ownPlace) == 0) _longjmp(callerPlace, 1);
#else
    swapcontext(&own, &caller);
#endif
  }

  void enter() {
    swapExceptions(exceptions);
#ifdef __SANITIZE_THREAD__
    callerFiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(ownFiber, 0);
#endif
#ifdef __SANITIZE_ADDRESS__
    void* fakeStack = nullptr;
    __sanitizer_start_switch_fiber(&fakeStack, stack, stackBytes);
#endif
    switchToOwn();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fakeStack, nullptr, nullptr);
#endif
    swapExceptions(exceptions);
  }

  void leave() {
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(callerFiber, 0);
#endif
#ifdef __SANITIZE_ADDRESS__
    void* fakeStack = nullptr;
    __sanitizer_start_switch_fiber(finished ? nullptr : &fakeStack, callerStack, callerStackBytes);
#endif
    switchToCaller();
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fakeStack, &callerStack, &callerStackBytes);
#endif
  }

  // makecontext() passes integers only.
  static void start(unsigned int high, unsigned int low) {
    auto* self = reinterpret_cast<Context*>(static_cast<std::uintptr_t>(high) << 32 | low);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(nullptr, &self->callerStack, &self->callerStackBytes);
#endif
    self->body();
    self->finished = true;
    self->leave();
  }
};

Fiber::Fiber(std::function<void()> body, std::size_t stackBytes)
    : context_(std::make_unique<Context>()) {
  Context& context = *context_;
  context.body = std::move(body);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  context.stackBytes = (stackBytes + page - 1) / page * page;
  context.memoryBytes = context.stackBytes + page;
  context.memory = mmap(nullptr, context.memoryBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (context.memory == MAP_FAILED) {
    throw Error("no address space for a fiber's stack of " + std::to_string(stackBytes) +
                " bytes: " + std::strerror(errno) + "; use fewer ranks or smaller stacks");
  }
  // Without it an overflow would write into the next fiber's stack.
  if (mprotect(context.memory, page, PROT_NONE) != 0) {
    const int error = errno;
    munmap(context.memory, context.memoryBytes);
    throw Error(std::string("cannot guard a fiber's stack (see vm.max_map_count): ") +
                std::strerror(error) + "; use fewer ranks, or raise the limit");
  }
  context.stack = static_cast<char*>(context.memory) + page;
  getcontext(&context.own);
  context.own.uc_stack.ss_sp = context.stack;
  context.own.uc_stack.ss_size = context.stackBytes;
  context.own.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(&context);
  static_assert(sizeof self <= 8);
  makecontext(&context.own, reinterpret_cast<void (*)()>(&Context::start), 2,
              static_cast<unsigned int>(static_cast<std::uint64_t>(self) >> 32),
              static_cast<unsigned int>(self));
}

Fiber::~Fiber() {
  munmap(context_->memory, context_->memoryBytes);
#ifdef __SANITIZE_THREAD__
  __tsan_destroy_fiber(context_->ownFiber);
#endif
}

void Fiber::resume() {
  context_->enter();
}

void Fiber::yield() {
  context_->leave();
}

bool Fiber::finished() const {
  return context_->finished;
}

}  // namespace tributary::detail
