// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Lines/DomainFromVTK.h"
#include "Lines/PointArrays.h"

#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// One array of the output that is evaluated where the point's cell lives.
struct PointField {
  enum class Kind { Position, Time, Interpolated, CellVelocity, Vorticity, AngularVelocity };
  Kind kind;
  std::string name;
  int type;  ///< VTK type.
  int components;
  std::size_t bytes;  ///< Of a tuple.
  std::size_t array;  ///< Interpolated: index in the PointArrayList.
};

/// Evaluates recorded points in batches: one buffer of tuples per field.
class PointEvaluator {
 public:
  /// Collective if vorticity of a cell-centered velocity is wanted.
  PointEvaluator(Transport& transport, const FlowDomain& flow, const PointArrayList& arrays,
                 const StepRules& rules, bool computeVorticity, double rotationScale);

  const std::vector<PointField>& fields() const { return fields_; }
  /// The field that has the velocity.
  std::size_t velocityField() const { return velocityField_; }

  /// A thread's room: weights and one buffer per field.
  struct Scratch {
    Weights weights;
    std::vector<std::vector<std::byte>> buffers;
    std::vector<double> velocity;
  };

  /// Thread-safe. Fills scratch.buffers with the tuples of `points`, recorded by `block`.
  void evaluate(const FieldBlock& block, Span<const TrajectoryPoint> points,
                Scratch& scratch) const;

 private:
  /// Contiguous values of the output's type for one array of one piece; null where it is missing.
  struct Source {
    const void* values = nullptr;
  };

  void evaluateVelocity(const ArrayView& velocity, Scratch& scratch, std::size_t count) const;
  void evaluateVorticity(const ArrayView& velocity, int piece, Scratch& scratch, std::size_t count,
                         double* vorticity) const;

  const FlowDomain& flow_;
  StepRules rules_;
  bool computeVorticity_;
  double rotationScale_;
  std::vector<PointField> fields_;
  std::size_t velocityField_ = 0;
  std::vector<std::vector<Source>> sources_;   // [array][piece]
  std::vector<ArrayView> velocities_;          // [piece]
  std::vector<std::vector<double>> averaged_;  // [piece], for the vorticity of cell velocities
  std::vector<vtkSmartPointer<vtkDataArray>> converted_;
};

}  // namespace tributary
