// SPDX-License-Identifier: BSD-3-Clause
// The messages by which ranks find out how their grids and meshes fit together.
#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Harness.h"

namespace tributary::fuzz {

namespace {

void grid(Transport& transport, bool uniform) {
  testing::GridSetup setup;
  setup.points = {{4, 3, 3}};
  setup.uniform = uniform;
  setup.pieces = 2;
  (void)testing::makeGridDomain(transport, setup);
}

void mesh(Transport& transport) {
  testing::MeshSetup setup;
  setup.mesh = testing::makeMesh(testing::MeshKind::Tetrahedra, 1, 0);
  setup.flow = testing::rotation;
  setup.pieces = 2;
  (void)testing::makeMeshDomain(transport, setup);
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"uniform", 2, 0, [](Transport& transport) { grid(transport, true); }},
      {"rectilinear", 2, 1, [](Transport& transport) { grid(transport, false); }},
      {"mesh-0", 2, 0, mesh},
      {"mesh-1", 2, 1, mesh},
  };
  return all;
}

}  // namespace tributary::fuzz
