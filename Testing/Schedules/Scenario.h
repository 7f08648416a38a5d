// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "Tributary/Transport/Simulated.h"

namespace tributary::schedules {

/// Something that does what it must not.
struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ranks on a network, step by step, and what must hold after every step.
class Explorable {
 public:
  virtual ~Explorable() = default;

  /// A turn of a rank, or a part of one that others may come between. @return true at its end.
  /// Throws Violation.
  virtual bool step(Transport& transport) = 0;
  /// What must hold when all ranks have ended. Throws Violation.
  virtual void checkEnd() const = 0;
  /// Everything but the network that decides what happens from now on, as bytes.
  virtual void appendState(std::string& state) const = 0;
  /// Whether a fair run from here must come to the end.
  virtual bool quiet() const = 0;
  /// Another number begins another quiet.
  virtual std::size_t stage() const { return 0; }
  /// For people.
  virtual std::string describe(int rank) const = 0;
};

/// What is to be explored.
struct Scenario {
  std::string subject;
  std::string name;
  int ranks = 2;
  /// The ranks at their beginning.
  std::function<std::unique_ptr<Explorable>(SimulatedNetwork&)> make;
};

}  // namespace tributary::schedules
