// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <vector>

#include "Lattice.h"

/// A row of nodes, by component, so that the compiler can use vector instructions.
struct Row {
  explicit Row(int nodes);

  /// Computes density and velocity.
  void sum();
  /// Relaxes populations towards equilibrium: what opposite directions share at one rate, their
  /// difference at another.
  void relax(double evenRate, double oddRate);

  std::array<std::vector<double>, lattice::Directions> populations;
  std::vector<double> density;
  std::array<std::vector<double>, 3> velocity;
};
