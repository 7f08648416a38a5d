// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace tributary::detail {

/// A function with a stack of its own that can stop in its midst and go on later. All fibers of a
/// program's thread run on that thread, one at a time; exceptions may be thrown and caught in each.
/// For the simulated transport, in which thousands of ranks take turns.
class Fiber {
 public:
  /// @param body  must not let an exception out
  /// @param stackBytes  address space; memory is taken as the stack is used. Throws Error if there
  ///                    is none.
  Fiber(std::function<void()> body, std::size_t stackBytes);
  /// @pre it was never resumed or has finished: what lies on its stack is not destroyed
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body until it yields or ends. @pre not finished; not called from a fiber
  void resume();
  /// From within the body: returns from resume(), and comes back with the next one.
  void yield();
  bool finished() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace tributary::detail
