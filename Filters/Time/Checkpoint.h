// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The description of a checkpoint, without its parts; the same on all ranks.
struct CheckpointIndex {
  Bytes basis;  ///< The properties that must be the same to resume, see PropertyList::packed().
  std::vector<double> steps;  ///< Time steps of the input that have been executed.
  double time = 0;            ///< Of the last step.
  Bytes common;               ///< The part of the state that is the same on all ranks.

  // Set by Checkpoint.
  std::int64_t generation = 0;
  std::vector<std::int64_t> sizes;       ///< Of the parts, one of each rank that wrote.
  std::vector<std::uint64_t> checksums;  ///< Of these.
};

/// Local. The checksum of a file of a checkpoint, which is at the end of an index.
[[nodiscard]] std::uint64_t checksumOf(Span<const std::byte> bytes);

/// A folder with the state of a filter, in files that all ranks can access: "<name>.index", and a
/// part of each rank that wrote it. A new checkpoint replaces the last one when it is complete.
class Checkpoint {
 public:
  /// @param name  of the kind of filter, at the beginning of the names of all files
  Checkpoint(std::string folder, std::string name)
      : folder_(std::move(folder)), name_(std::move(name)) {}

  /// Local. Finds the checkpoint in the folder, if there is one. Throws Error if the index was not
  /// written by this class or is damaged.
  [[nodiscard]] std::optional<CheckpointIndex> find() const;
  /// Collective. Writes a checkpoint, and creates the folder if it does not exist. Throws Error on
  /// all ranks if one cannot write.
  /// @param index  generation, sizes and checksums are set here
  /// @param part   this rank's
  void write(Transport& transport, CheckpointIndex index, const Bytes& part) const;
  /// Collective. Reads a checkpoint: distributes its parts over the ranks, in order. Throws Error
  /// on all ranks if a part is missing or damaged; the text names no cure.
  [[nodiscard]] std::vector<Bytes> read(Transport& transport, const CheckpointIndex& index) const;

 private:
  std::string indexPath() const;
  std::string partPath(std::int64_t generation, std::int64_t part) const;
  std::string title() const;
  void removeOtherParts(std::int64_t generation) const;

  std::string folder_;
  std::string name_;
};

}  // namespace tributary
