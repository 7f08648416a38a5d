// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What is known of a checkpoint without its parts; the same on all ranks.
struct CheckpointIndex {
  Bytes basis;                ///< What has to be the same to go on, see PropertyList::packed().
  std::vector<double> steps;  ///< Of the input, as far as they have been executed.
  double time = 0;            ///< Of the last step.

  // Set by Checkpoint.
  std::int64_t generation = 0;
  std::vector<std::int64_t> sizes;       ///< Of the parts, one of each rank that wrote.
  std::vector<std::uint64_t> checksums;  ///< Of these.
};

/// A folder with the state of a filter, in files that all ranks see: "features.index", and a part
/// of each rank that wrote it. A new checkpoint replaces the last one only when it is complete.
class Checkpoint {
 public:
  explicit Checkpoint(std::string folder) : folder_(std::move(folder)) {}

  /// Local. Nothing if the folder has no checkpoint. Throws Error if it is not what this class
  /// writes.
  std::optional<CheckpointIndex> find() const;
  /// Collective. Makes the folder if need be. Throws Error on all ranks if one cannot write.
  /// @param index  without what is set here
  /// @param part   this rank's
  void write(Transport& transport, CheckpointIndex index, const Bytes& part) const;
  /// Collective. The parts of a checkpoint dealt to the ranks in their order. Throws Error on all
  /// ranks if one is missing or is not as it was written.
  std::vector<Bytes> read(Transport& transport, const CheckpointIndex& index) const;

 private:
  std::string indexPath() const;
  std::string partPath(std::int64_t generation, std::int64_t part) const;

  std::string folder_;
};

}  // namespace tributary
