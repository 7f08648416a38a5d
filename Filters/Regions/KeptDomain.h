// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "Common/DataVersion.h"
#include "Common/Leaves.h"
#include "Common/RunContext.h"
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
  /// if no rank has other cells, points, global ids, ghosts or labels than then. Adds to the
  /// statistics whether it was used again, and its memory.
  /// @param leaves    of this rank; those of `input`, which must exist as long as the result is
  /// used
  /// @param progress  value of the progress bar
  /// @return null after an abort; valid until the next call
  /// @throws Error on all ranks if a data set is invalid
  [[nodiscard]] const ComponentDomain* update(const RegionSettings& settings,
                                              const RunContext& context, vtkDataObject* input,
                                              const std::vector<Leaf>& leaves, double progress);
  /// Local. Frees the domain.
  void release() { *this = KeptDomain(); }

  /// The fingerprint of the mesh of each leaf; see fingerprintOfMesh().
  [[nodiscard]] std::vector<Fingerprint> meshes() const;

 private:
  /// What the domain depends on in a leaf.
  struct Part {
    bool isComparable = false;  ///< False for hyper trees.
    Fingerprint mesh;
    Fingerprint names;  ///< Of what identifies cells and points, and of labels.

    bool operator==(const Part& other) const {
      return isComparable && other.isComparable && mesh == other.mesh && names == other.names;
    }
  };
  /// What a domain is made with.
  struct Rules {
    int rank = 0, ranks = 0;
    Through through = Through::Points;
    bool withLabels = false;
    double tolerance = 0;

    bool operator==(const Rules& other) const {
      return rank == other.rank && ranks == other.ranks && through == other.through &&
             withLabels == other.withLabels && tolerance == other.tolerance;
    }
  };

  static Part partOf(const Leaf& leaf, vtkDataArray* labels);
  static std::vector<Part> partsOf(const std::vector<Leaf>& leaves,
                                   const std::vector<vtkDataArray*>& labels);

  Rules rules_;
  DataVersion input_;
  std::vector<vtkDataArray*> labels_;  // only compared
  std::vector<Part> parts_;            // of the leaves
  std::unique_ptr<ComponentDomain> domain_;
};

}  // namespace tributary
