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

void Row::relax(double evenRate, double oddRate) {
  sum();
  const auto nodes = density.size();
  const double *rho = density.data(), *u = velocity[0].data(), *v = velocity[1].data(),
               *w = velocity[2].data();
  double* rest = populations[0].data();
  for (std::size_t i = 0; i < nodes; ++i)
    rest[i] -= evenRate * (rest[i] - lattice::evenEquilibrium(0, rho[i], u[i], v[i], w[i]));
  for (unsigned q = 1; q < lattice::Directions; q += 2) {
    double *one = populations[q].data(), *other = populations[lattice::opposite(q)].data();
    for (std::size_t i = 0; i < nodes; ++i) {
      const double even =
          0.5 * (one[i] + other[i]) - lattice::evenEquilibrium(q, rho[i], u[i], v[i], w[i]);
      const double odd =
          0.5 * (one[i] - other[i]) - lattice::oddEquilibrium(q, rho[i], u[i], v[i], w[i]);
      one[i] -= evenRate * even + oddRate * odd;
      other[i] -= evenRate * even - oddRate * odd;
    }
  }
}
