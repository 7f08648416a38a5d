// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bench {

struct KernelsOptions {
  std::vector<int> points{96, 256};  ///< Per axis of the structured grids.
  int meshCells =
      49;  ///< Cubes per axis of the meshes: 1 hexahedron, 2 wedges, 6 pyramids or tetrahedra each.
  int seeds = 20000;
  int steps = 250;     ///< Limit per line.
  double step = 0.25;  ///< RK2 and RK4: length of a step in units of the mean cell edge.
  int repeat = 3;
  std::vector<std::string> fields{"uniform", "rectilinear", "parallelepipeds", "hexahedra",
                                  "wedges",  "pyramids",    "tetrahedra"};
  std::vector<std::string> integrators{"RK2", "RK4", "RK45"};
  std::vector<std::string> flows{"steady", "unsteady"};
  std::string json;
};

/// Speed of the advection kernels on the ABC flow, one rank and one thread. Prints, writes JSON.
void measureKernels(const KernelsOptions& options);

}  // namespace bench
