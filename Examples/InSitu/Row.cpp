// SPDX-License-Identifier: BSD-3-Clause
#include "Row.h"

#include <cstddef>

Row::Row(int nodes) : density(static_cast<std::size_t>(nodes)) {
  for (auto& values : populations) values.resize(density.size());
  for (auto& values : velocity) values.resize(density.size());
}

void Row::sum() {
  const auto nodes = density.size();
  density = populations[0];
  for (auto& values : velocity) values.assign(nodes, 0);
  for (unsigned q = 1; q < lattice::Directions; ++q) {
    const double* f = populations[q].data();
    double* rho = density.data();
    for (std::size_t i = 0; i < nodes; ++i) rho[i] += f[i];
    for (unsigned axis = 0; axis < 3; ++axis) {
      const int c = lattice::Velocity[q][axis];
      double* u = velocity[axis].data();
      if (c > 0)
        for (std::size_t i = 0; i < nodes; ++i) u[i] += f[i];
      else if (c < 0)
        for (std::size_t i = 0; i < nodes; ++i) u[i] -= f[i];
    }
  }
  for (auto& values : velocity)
    for (std::size_t i = 0; i < nodes; ++i) values[i] /= density[i];
}

void Row::relax(double rate) {
  sum();
  const double *rho = density.data(), *u = velocity[0].data(), *v = velocity[1].data(),
               *w = velocity[2].data();
  for (unsigned q = 0; q < lattice::Directions; ++q) {
    double* f = populations[q].data();
    for (std::size_t i = 0; i < density.size(); ++i)
      f[i] -= rate * (f[i] - lattice::equilibrium(q, rho[i], u[i], v[i], w[i]));
  }
}
