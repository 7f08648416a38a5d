// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "Advection/GridPieces.h"
#include "Advection/MeshPieces.h"
#include "Tributary/Transport/Simulated.h"

/// Small fields for scenes with particles.
namespace tributary::fuzz {

constexpr int RanksOfScenes = 2;

/// A domain on each rank of a scene, made once by all ranks together: in a scene, the peers exist
/// only as messages.
template <class Field>
class FieldOfRanks {
 public:
  /// @param make  collective
  explicit FieldOfRanks(const std::function<std::unique_ptr<Field>(Transport&)>& make)
      : fields_(RanksOfScenes) {
    VirtualTimeNetworkOptions options;
    options.ranks = RanksOfScenes;
    options.stackBytes = std::size_t(1) << 20;
    makeVirtualTimeNetwork(options)->run([&](Transport& transport) {
      fields_[static_cast<std::size_t>(transport.rank())] = make(transport);
    });
  }

  /// The domain of a rank.
  [[nodiscard]] const Domain& of(const Transport& transport) const {
    return fields_[static_cast<std::size_t>(transport.rank())]->domain;
  }

 private:
  std::vector<std::unique_ptr<Field>> fields_;
};

using SmallMesh = FieldOfRanks<testing::MeshDomain>;
using SmallGrid = FieldOfRanks<testing::GridDomain>;

/// The box [-1, 1]^3 as six tetrahedra.
inline testing::MeshSetup smallMesh() {
  testing::MeshSetup mesh;
  mesh.mesh = testing::makeMesh(testing::MeshKind::Tetrahedra, 1, 0);
  mesh.flow = testing::rotation;
  mesh.pieces = RanksOfScenes;
  return mesh;
}

/// 12 cells.
inline testing::GridSetup smallGrid() {
  testing::GridSetup grid;
  grid.points = {{4, 3, 3}};
  grid.pieces = RanksOfScenes;
  return grid;
}

}  // namespace tributary::fuzz
