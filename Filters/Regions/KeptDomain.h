// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "Common/DataVersion.h"
#include "Common/Leaves.h"
#include "Common/RunContext.h"
#include "Periodic/PeriodicAxes.h"
#include "Regions/ComponentDomain.h"
#include "Regions/RegionSettings.h"

#include "Tributary/Base/Fingerprint.h"

class vtkDataArray;
class vtkDataObject;

namespace tributary {

/// The domain of an execution, and what it was made from, for the next execution.
class KeptDomain {
 public:
  /// Collective. Makes the domain of the leaves of all ranks, or uses that of the last execution
  /// if its settings were the same and no rank has other cells, points, global ids, ghosts or
  /// labels than then. (Hyper tree grids must be the same objects.) Adds to the statistics whether
  /// it was used again, and its memory.
  /// @param leaves    of this rank; those of `input`, which must exist as long as the result is
  /// used
  /// @param progress  value of the progress bar
  /// @return null after an abort; valid until the next call of update() or release()
  /// @throws Error on all ranks if a data set is invalid
  [[nodiscard]] const ComponentDomain* update(const RegionSettings& settings,
                                              const RunContext& context, vtkDataObject* input,
                                              const std::vector<Leaf>& leaves, double progress);
  /// Local. Frees the domain.
  void release() { *this = KeptDomain(); }

  /// Local. The fingerprints of the meshes of the leaves given to the last update(); see
  /// fingerprintOfMesh(). @pre there are no hyper tree grids
  [[nodiscard]] std::vector<Fingerprint> meshesOf(const std::vector<Leaf>& leaves) const;

 private:
  /// What the domain depends on in a leaf.
  struct Part {
    bool isComparable = false;  ///< False for hyper trees.
    Fingerprint mesh;
    Fingerprint identity;  ///< Of global ids, labels, and the place in a composite.

    bool operator==(const Part& other) const {
      return isComparable && other.isComparable && mesh == other.mesh && identity == other.identity;
    }
  };
  /// The settings of a domain.
  struct Basis {
    int rank = 0, ranks = 0;
    Through through = Through::Points;
    bool withLabels = false;
    double tolerance = 0;
    PeriodicAxes periodic;

    bool operator==(const Basis& other) const {
      return rank == other.rank && ranks == other.ranks && through == other.through &&
             withLabels == other.withLabels && tolerance == other.tolerance &&
             periodic == other.periodic;
    }
  };

  static Part partOf(const Leaf& leaf, vtkDataArray* labels);
  static std::vector<Part> partsOf(const std::vector<Leaf>& leaves,
                                   const std::vector<vtkDataArray*>& labels);

  Basis basis_;
  DataVersion input_;
  std::vector<vtkDataArray*> labels_;  // only compared
  std::vector<Part> parts_;  // of the leaves; none if the domain is not kept for another execution
  std::unique_ptr<ComponentDomain> domain_;
};

}  // namespace tributary
