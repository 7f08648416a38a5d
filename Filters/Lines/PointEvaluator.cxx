// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/PointEvaluator.h"

#include <vtkDataArray.h>
#include <vtkMath.h>
#include <vtkSetGet.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "Common/FreshArray.h"
#include "Lines/CellVelocity.h"

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

/// The value as the output's type; integers are rounded as VTK's interpolation does.
template <class T>
T toValue(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    T rounded;
    vtkMath::RoundDoubleToIntegralIfNecessary(value, &rounded);
    return rounded;
  }
}

template <class T>
T missingValue() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::quiet_NaN();
  else
    return T(0);
}

template <class T, int C, class Out>
void interpolateFixed(const T* values, const Weights& weights, std::size_t count, Out* out) {
  const auto stride = static_cast<std::size_t>(weights.stride);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t* ids = &weights.id[i * stride];
    const double* weight = &weights.weight[i * stride];
    const int corners = weights.count[i];
    double sum[C] = {};
    const auto add = [&](int j) {
      for (int c = 0; c < C; ++c) sum[c] += weight[j] * static_cast<double>(values[ids[j] * C + c]);
    };
    if (corners == 8)  // the usual number: unrolled
      for (int j = 0; j < 8; ++j) add(j);
    else
      for (int j = 0; j < corners; ++j) add(j);
    for (int c = 0; c < C; ++c) out[i * C + c] = toValue<Out>(sum[c]);
  }
}

template <class T>
void interpolate(const T* values, int components, const Weights& weights, std::size_t count,
                 T* out) {
  if (!values) {
    std::fill_n(out, count * static_cast<std::size_t>(components), missingValue<T>());
    return;
  }
  if (components == 1) return interpolateFixed<T, 1, T>(values, weights, count, out);
  if (components == 3) return interpolateFixed<T, 3, T>(values, weights, count, out);
  const auto stride = static_cast<std::size_t>(weights.stride);
  for (std::size_t i = 0; i < count; ++i)
    for (int c = 0; c < components; ++c) {
      double sum = 0;
      for (int j = 0; j < weights.count[i]; ++j)
        sum += weights.weight[i * stride + static_cast<std::size_t>(j)] *
               static_cast<double>(
                   values[weights.id[i * stride + static_cast<std::size_t>(j)] * components + c]);
      out[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)] = toValue<T>(sum);
    }
}

/// Curl of the interpolated field, from the gradients of the weights.
template <class T>
void curl(const T* values, const Weights& weights, std::size_t count, double* out) {
  const auto stride = static_cast<std::size_t>(weights.stride);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t* ids = &weights.id[i * stride];
    const double* gradient = &weights.gradient[3 * i * stride];
    const int corners = weights.count[i];
    double x = 0, y = 0, z = 0;
    const auto add = [&](int j) {
      const T* v = values + 3 * ids[j];
      const double* g = gradient + 3 * j;
      const double u0 = v[0], u1 = v[1], u2 = v[2];
      x += g[1] * u2 - g[2] * u1;
      y += g[2] * u0 - g[0] * u2;
      z += g[0] * u1 - g[1] * u0;
    };
    if (corners == 8)
      for (int j = 0; j < 8; ++j) add(j);
    else
      for (int j = 0; j < corners; ++j) add(j);
    out[3 * i] = x;
    out[3 * i + 1] = y;
    out[3 * i + 2] = z;
  }
}

template <class T>
T* bufferOf(std::vector<std::byte>& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}

}  // namespace

PointEvaluator::PointEvaluator(Transport& transport, const FlowDomain& flow,
                               const PointArrayList& arrays, const StepRules& rules,
                               bool computeVorticity, double rotationScale)
    : flow_(flow),
      rules_(rules),
      computeVorticity_(computeVorticity),
      rotationScale_(rotationScale),
      velocities_(flow.pieces.size()) {
  using Kind = PointField::Kind;
  const auto add = [&](Kind kind, const std::string& name, int type, int components,
                       std::size_t array = 0) {
    const auto bytes = static_cast<std::size_t>(vtkDataArray::GetDataTypeSize(type)) *
                       static_cast<std::size_t>(components);
    fields_.push_back({kind, name, type, components, bytes, array});
  };
  add(Kind::Position, "Points", VTK_FLOAT, 3);
  add(Kind::Time, "IntegrationTime", VTK_DOUBLE, 1);
  for (std::size_t a = 0; a < arrays.arrays.size(); ++a) {
    const PointArray& array = arrays.arrays[a];
    if (!flow.cellCentered && array.name == flow.vectorName) velocityField_ = fields_.size();
    add(Kind::Interpolated, array.name, array.type, array.components, a);
    std::vector<Source>& sources = sources_.emplace_back();
    for (vtkDataArray* values : array.perPiece) {
      if (values && (values->GetDataType() != array.type || !values->HasStandardMemoryLayout())) {
        auto copy = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(array.type));
        copyArray(values, copy);
        converted_.push_back(copy);
        values = copy;
      }
      sources.push_back({values ? values->GetVoidPointer(0) : nullptr});
    }
  }
  if (flow.cellCentered) {
    velocityField_ = fields_.size();
    add(Kind::CellVelocity, flow.vectorName, VTK_DOUBLE, 3);
  }
  if (computeVorticity) {
    add(Kind::Vorticity, "Vorticity", VTK_DOUBLE, 3);
    add(Kind::AngularVelocity, "AngularVelocity", VTK_DOUBLE, 1);
  }
  for (const StructuredPiece& piece : flow.structured)
    velocities_[static_cast<std::size_t>(piece.piece)] = piece.velocity;
  for (const MeshPiece& piece : flow.meshes)
    velocities_[static_cast<std::size_t>(piece.piece)] = piece.velocity;
  if (computeVorticity && flow.cellCentered) averaged_ = averageToPoints(transport, flow);
}

void PointEvaluator::evaluateVelocity(const ArrayView& velocity, Scratch& scratch,
                                      std::size_t count) const {
  scratch.velocity.resize(3 * count);
  double* out = scratch.velocity.data();
  const Weights& weights = scratch.weights;
  if (flow_.cellCentered) {
    for (std::size_t i = 0; i < count; ++i)
      for (int c = 0; c < 3; ++c) {
        const std::int64_t at = 3 * weights.cellId[i] + c;
        out[3 * i + static_cast<std::size_t>(c)] =
            velocity.isDouble ? static_cast<const double*>(velocity.data)[at]
                              : double(static_cast<const float*>(velocity.data)[at]);
      }
    return;
  }
  if (velocity.isDouble)
    interpolateFixed<double, 3>(static_cast<const double*>(velocity.data), weights, count, out);
  else
    interpolateFixed<float, 3>(static_cast<const float*>(velocity.data), weights, count, out);
}

void PointEvaluator::evaluateVorticity(const ArrayView& velocity, int piece, Scratch& scratch,
                                       std::size_t count, double* vorticity) const {
  if (flow_.cellCentered)
    curl(averaged_[static_cast<std::size_t>(piece)].data(), scratch.weights, count, vorticity);
  else if (velocity.isDouble)
    curl(static_cast<const double*>(velocity.data), scratch.weights, count, vorticity);
  else
    curl(static_cast<const float*>(velocity.data), scratch.weights, count, vorticity);
}

void PointEvaluator::evaluate(const FieldBlock& block, Span<const TrajectoryPoint> points,
                              Scratch& scratch) const {
  using Kind = PointField::Kind;
  const std::size_t count = points.size();
  const int piece = block.piece();
  const ArrayView& velocity = velocities_[static_cast<std::size_t>(piece)];
  scratch.weights.wantGradients = computeVorticity_;
  block.weights(rules_, points, scratch.weights);
  const bool hasVelocity = computeVorticity_ || flow_.cellCentered;
  if (hasVelocity) evaluateVelocity(velocity, scratch, count);

  scratch.buffers.resize(fields_.size());
  const double* vorticity = nullptr;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const PointField& field = fields_[f];
    std::vector<std::byte>& buffer = scratch.buffers[f];
    buffer.resize(count * field.bytes);
    switch (field.kind) {
      case Kind::Position: {
        auto* out = bufferOf<float>(buffer);
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t c = 0; c < 3; ++c) out[3 * i + c] = static_cast<float>(points[i].x[c]);
        break;
      }
      case Kind::Time: {
        auto* out = bufferOf<double>(buffer);
        for (std::size_t i = 0; i < count; ++i) out[i] = points[i].time;
        break;
      }
      case Kind::Interpolated: {
        if (hasVelocity && f == velocityField_) {  // done already
          switch (field.type) {
            vtkTemplateMacro(std::transform(scratch.velocity.begin(), scratch.velocity.end(),
                                            bufferOf<VTK_TT>(buffer), toValue<VTK_TT>));
          }
          break;
        }
        const void* values = sources_[field.array][static_cast<std::size_t>(piece)].values;
        switch (field.type) {
          vtkTemplateMacro(interpolate(static_cast<const VTK_TT*>(values), field.components,
                                       scratch.weights, count, bufferOf<VTK_TT>(buffer)));
          default:
            throw Error("the array \"" + field.name +
                        "\" is of a type that cannot be interpolated");
        }
        break;
      }
      case Kind::CellVelocity:
        std::copy_n(scratch.velocity.data(), 3 * count, bufferOf<double>(buffer));
        break;
      case Kind::Vorticity:
        evaluateVorticity(velocity, piece, scratch, count, bufferOf<double>(buffer));
        vorticity = bufferOf<double>(buffer);
        break;
      case Kind::AngularVelocity: {
        auto* out = bufferOf<double>(buffer);
        for (std::size_t i = 0; i < count; ++i) {
          const double* v = &scratch.velocity[3 * i];
          const double* w = vorticity + 3 * i;
          const double speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
          out[i] =
              speed > 0 ? (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) / speed * rotationScale_ : 0.0;
        }
        break;
      }
    }
  }
}

}  // namespace tributary
