// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace bench {

struct ComponentKernelsOptions {
  int voxels = 256;                   ///< Per axis of the lattice.
  std::vector<int> threads{1, 2};     ///< Numbers of threads, each measured.
  std::vector<int> neighbors{6, 26};  ///< Of a voxel.
  int vertices = 10000000;            ///< Of the graphs; twice as many edges.
  int meshCubes = 80;                 ///< Cubes per axis of the mesh, six tetrahedra each.
  int points = 5000000;               ///< To merge.
  int repeat = 5;
  std::vector<std::string> cases;  ///< Names of rows, or empty: all.
  std::string json;
};

/// Speed of labeling connected sets on one rank. Prints, writes JSON.
void measureComponentKernels(const ComponentKernelsOptions& options);

}  // namespace bench
