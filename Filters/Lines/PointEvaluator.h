// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "Lines/DomainFromVTK.h"
#include "Lines/PointArrays.h"

#include "Tributary/Advection/Tracer.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/Weights.h"
#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Local. The label of a position in a cell whose points have labels: that of the point with the
/// largest weight; of equal weights, the lowest label.
/// @param i  the position's number in `weights`
/// @param valueOf  returns the label of a point of the piece
template <class ValueOf>
[[nodiscard]] double labelAt(const Weights& weights, std::size_t i, ValueOf&& valueOf) {
  double label = std::numeric_limits<double>::quiet_NaN();
  double most = -std::numeric_limits<double>::infinity();
  for (int j = 0; j < weights.count[i]; ++j) {
    const double value = valueOf(weights.id(i, j)), weight = weights.weight(i, j);
    if (weight < most || (weight == most && !(value < label))) continue;
    most = weight;
    label = value;
  }
  return label;
}

/// An array of the output that is evaluated on the rank of the block that recorded the point.
struct PointField {
  enum class Kind {
    Position,
    Time,
    Interpolated,
    /// That of the cell: PointArray::ofCells. In time, labels are those of the earlier step until
    /// the end of the interval.
    CellValue,
    CellVelocity,
    Vorticity,
    AngularVelocity,
    /// Vectors that are not an array of the input: see isOutput().
    DerivedVelocity,
    Crossing  ///< Known to those who record a crossing, and not evaluated.
  };
  Kind kind;
  std::string name;
  int type;  ///< VTK type.
  int components;
  std::size_t bytes;      ///< Size of a tuple.
  std::size_t array;      ///< With Kind::Interpolated and CellValue: index in the PointArrayList.
  bool isHidden = false;  ///< Values of cells under the name of another field.
  bool isLabel = false;   ///< PointArray::isLabel.
};

/// Whether a field is an array of the output. Derived vectors are not: frames need them.
[[nodiscard]] inline bool isOutput(const PointField& field) {
  return field.kind != PointField::Kind::DerivedVelocity && !field.isHidden;
}

/// Index of the first field of a kind; their number if there is none.
[[nodiscard]] std::size_t fieldOf(const std::vector<PointField>& fields, PointField::Kind kind);

/// Evaluates recorded points in batches, with one buffer of tuples per field. The arrays that this
/// takes travel with copies of blocks, so that points are evaluated where they were recorded. In an
/// unsteady field (StepRules::interval), values are linear in time between those of the two steps.
class PointEvaluator : public BlockCargo {
 public:
  /// Local. averageVelocity() must follow.
  PointEvaluator(const FlowDomain& flow, const PointArrayList& arrays, const StepRules& rules,
                 bool computeVorticity, double rotationScale);
  /// Prepares the vorticity of cell-centered velocities, if it is wanted. Collective.
  void averageVelocity(Transport& transport);

  std::size_t bytes(const FieldBlock& block) const override;
  void write(const FieldBlock& block, Writer& message) const override;
  int add() override;
  void read(const FieldBlock& copy, Reader& message) override;
  void drop(const FieldBlock& copy) override;

  /// The memory in bytes that it uses, beyond the arrays that it views.
  [[nodiscard]] std::size_t memory() const;

  const std::vector<PointField>& fields() const { return fields_; }
  /// Index of the field with the velocity. Derived vectors have one only with vorticity.
  std::size_t velocityField() const { return velocityField_; }

  /// Thread-safe. An array of one component at a point, not rounded to the type of the array; not a
  /// number if the piece lacks it.
  /// @param array  index in the PointArrayList
  /// @param isLabel  do not interpolate: take the value of the cell's point with the largest
  ///                 weight, of points with equal weights the smallest value. In an unsteady field,
  ///                 take it from the earlier step until the end of the interval
  /// @param time  of the point, in an unsteady field
  [[nodiscard]] double valueOf(std::size_t array, bool isLabel, const FieldBlock& block,
                               const Weights& weights, double time) const;

  /// The angular velocity about the direction of a velocity.
  double angularVelocity(const double velocity[3], const double vorticity[3]) const;

  /// Buffers of one thread: weights, vectors, and the tuples of each field.
  struct Scratch {
    Weights weights;
    std::vector<std::vector<std::byte>> buffers;
    std::vector<double> velocity, vorticity, vectors;
    // In an unsteady field: how far each point is in the interval, in [0, 1], and values at its
    // end.
    std::vector<double> shares, laterVelocity, laterVorticity, laterVectors;
  };

  /// Thread-safe. Computes the weights of `points`, which `block` recorded, and starts to load what
  /// evaluate() interpolates: best some time before that.
  void prepare(const FieldBlock& block, Span<const TrajectoryPoint> points, Scratch& scratch) const;
  /// Thread-safe. Writes the tuples of the points of the last prepare() to scratch.buffers.
  void evaluate(const FieldBlock& block, Span<const TrajectoryPoint> points,
                Scratch& scratch) const;

 private:
  /// Contiguous values, of the output's type, of one array of one piece; null if the piece lacks
  /// the array. In an unsteady field also those at the end of the interval.
  struct Source {
    const void* values = nullptr;
    const void* later = nullptr;
  };

  void describeFields(const PointArrayList& arrays);
  const void* valuesOf(vtkDataArray* array, int type);
  bool isUnsteady() const { return rules_.interval.has_value(); }
  /// How far in the interval a time is, in [0, 1].
  double shareAt(double time) const {
    const TimeInterval& interval = *rules_.interval;
    return (time - interval.begin) / (interval.end - interval.begin);
  }
  /// The velocity, and the vorticity if it is wanted.
  void evaluateVelocity(const FieldBlock& block, Scratch& scratch) const;
  void evaluateVelocity(const FieldBlock& block, const ArrayView& velocity,
                        const std::vector<std::vector<double>>& averaged, const Weights& weights,
                        std::vector<double>& values, std::vector<double>& vorticity) const;
  /// Whether the vorticity is that of averaged vectors.
  bool averages() const { return computeVorticity_ && flow_.cellCentered; }
  template <class Visit>
  void forEachArray(const FieldBlock& block, Visit&& visit) const;

  const FlowDomain& flow_;
  StepRules rules_;
  bool computeVorticity_;
  double rotationScale_;
  std::vector<PointField> fields_;
  std::size_t velocityField_ = 0, firstArray_ = 0;
  // By piece: first those of this rank, then those of copies.
  std::vector<std::vector<Source>> sources_;   // [array][piece]
  std::vector<std::vector<double>> averaged_;  // [piece], if averages()
  std::vector<std::vector<double>> laterAveraged_;
  std::vector<std::vector<Bytes>> cargo_;  // [copy], the arrays of `sources_`
  std::vector<vtkSmartPointer<vtkDataArray>> converted_;
};

}  // namespace tributary
