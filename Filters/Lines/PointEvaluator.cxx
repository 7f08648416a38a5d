// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/PointEvaluator.h"

#include <vtkDataArray.h>
#include <vtkMath.h>
#include <vtkSetGet.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "Common/FreshArray.h"
#include "Lines/CellVelocity.h"

#include "Tributary/Advection/Interpolation.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"

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

/// Arrays of any type and number of components, in the order of operations of
/// interpolateVectors().
template <class T>
void interpolateAny(const T* values, int components, const Weights& weights, T* out) {
  for (std::size_t i = 0; i < weights.points; ++i)
    for (int c = 0; c < components; ++c) {
      double sum = 0;
      for (int j = 0; j < weights.count[i]; ++j)
        sum +=
            weights.weight(i, j) * static_cast<double>(values[weights.id(i, j) * components + c]);
      out[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)] = toValue<T>(sum);
    }
}

/// @param values  null for a piece without the array
/// @param vectors  a buffer for three numbers per point
template <class T>
void interpolate(const T* values, int components, const Weights& weights, double* vectors, T* out) {
  const std::size_t count = weights.points * static_cast<std::size_t>(components);
  if (!values) {
    std::fill_n(out, count, missingValue<T>());
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (components == 1) return interpolateScalars(weights, values, out);
    if (components == 3) {
      interpolateVectors(weights, values, vectors, nullptr);
      std::transform(vectors, vectors + count, out, toValue<T>);
      return;
    }
  }
  interpolateAny(values, components, weights, out);
}

/// How an array travels with a copy of a block.
enum class Content : std::uint64_t {
  Nothing,   // the piece lacks it
  Velocity,  // it is the vectors, which are in the copy already
  Values     // its tuples follow
};

template <class T>
T* bufferOf(std::vector<std::byte>& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}

}  // namespace

PointEvaluator::PointEvaluator(const FlowDomain& flow, const PointArrayList& arrays,
                               const StepRules& rules, bool computeVorticity, double rotationScale)
    : flow_(flow),
      rules_(rules),
      computeVorticity_(computeVorticity),
      rotationScale_(rotationScale) {
  describeFields(arrays);
}

void PointEvaluator::averageVelocity(Transport& transport) {
  if (averages()) averaged_ = averageToPoints(transport, flow_);
}

void PointEvaluator::describeFields(const PointArrayList& arrays) {
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
    if (!flow_.cellCentered && array.name == flow_.vectorName) velocityField_ = fields_.size();
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
  if (flow_.cellCentered) {
    velocityField_ = fields_.size();
    add(Kind::CellVelocity, flow_.vectorName, VTK_DOUBLE, 3);
  }
  if (computeVorticity_) {
    add(Kind::Vorticity, "Vorticity", VTK_DOUBLE, 3);
    add(Kind::AngularVelocity, "AngularVelocity", VTK_DOUBLE, 1);
  }
}

void PointEvaluator::evaluateVelocity(const FieldBlock& block, Scratch& scratch) const {
  const Weights& weights = scratch.weights;
  const ArrayView velocity = block.velocity();
  const std::size_t room = 3 * weights.groups() * Weights::Lanes;
  scratch.velocity.resize(room);
  scratch.vorticity.resize(computeVorticity_ ? room : 0);
  double* const value = scratch.velocity.data();
  double* const curl = computeVorticity_ ? scratch.vorticity.data() : nullptr;
  if (flow_.cellCentered) {
    if (curl)  // the interpolated velocity is not used
      interpolateVectors(weights, averaged_[index(block.piece())].data(), value, curl);
    for (std::size_t i = 0; i < weights.points; ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t at = 3 * static_cast<std::size_t>(weights.cellId[i]) + c;
        value[3 * i + c] = velocity.isDouble ? static_cast<const double*>(velocity.data)[at]
                                             : double(static_cast<const float*>(velocity.data)[at]);
      }
  } else if (velocity.isDouble) {
    interpolateVectors(weights, static_cast<const double*>(velocity.data), value, curl);
  } else {
    interpolateVectors(weights, static_cast<const float*>(velocity.data), value, curl);
  }
}

void PointEvaluator::prepare(const FieldBlock& block, Span<const TrajectoryPoint> points,
                             Scratch& scratch) const {
  scratch.weights.wantGradients = computeVorticity_;
  block.weights(rules_, points, scratch.weights);
  const std::size_t piece = index(block.piece());
  for (const PointField& field : fields_)
    if (field.kind == PointField::Kind::Interpolated && sources_[field.array][piece].values)
      prefetch(scratch.weights, sources_[field.array][piece].values, field.bytes);
}

void PointEvaluator::evaluate(const FieldBlock& block, Span<const TrajectoryPoint> points,
                              Scratch& scratch) const {
  using Kind = PointField::Kind;
  const std::size_t count = points.size();
  const std::size_t piece = index(block.piece());
  const std::size_t room = scratch.weights.groups() * Weights::Lanes;
  const bool hasVelocity = computeVorticity_ || flow_.cellCentered;
  if (hasVelocity) evaluateVelocity(block, scratch);
  scratch.vectors.resize(3 * room);

  scratch.buffers.resize(fields_.size());
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const PointField& field = fields_[f];
    std::vector<std::byte>& buffer = scratch.buffers[f];
    buffer.resize(room * field.bytes);
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
            vtkTemplateMacro(std::transform(scratch.velocity.data(),
                                            scratch.velocity.data() + 3 * count,
                                            bufferOf<VTK_TT>(buffer), toValue<VTK_TT>));
          }
          break;
        }
        const void* values = sources_[field.array][piece].values;
        switch (field.type) {
          vtkTemplateMacro(interpolate(static_cast<const VTK_TT*>(values), field.components,
                                       scratch.weights, scratch.vectors.data(),
                                       bufferOf<VTK_TT>(buffer)));
          default:
            throw Error("the array \"" + field.name +
                        "\" is of a type that cannot be interpolated; remove it from Point Arrays");
        }
        break;
      }
      case Kind::CellVelocity:
        std::copy_n(scratch.velocity.data(), 3 * count, bufferOf<double>(buffer));
        break;
      case Kind::Vorticity:
        std::copy_n(scratch.vorticity.data(), 3 * count, bufferOf<double>(buffer));
        break;
      case Kind::AngularVelocity: {
        auto* out = bufferOf<double>(buffer);
        for (std::size_t i = 0; i < count; ++i) {
          const double* v = &scratch.velocity[3 * i];
          const double* w = &scratch.vorticity[3 * i];
          const double speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
          out[i] =
              speed > 0 ? (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) / speed * rotationScale_ : 0.0;
        }
        break;
      }
    }
  }
}

/// Calls visit(values, bytes of a tuple) for each array that copies of a block need.
template <class Visit>
void PointEvaluator::forEachArray(const FieldBlock& block, Visit&& visit) const {
  const std::size_t piece = index(block.piece());
  for (const PointField& field : fields_)
    if (field.kind == PointField::Kind::Interpolated)
      visit(sources_[field.array][piece].values, field.bytes);
  if (averages()) visit(averaged_[piece].data(), 3 * sizeof(double));
}

std::size_t PointEvaluator::memory() const {
  std::size_t bytes = 0;
  for (const std::vector<double>& averaged : averaged_) bytes += averaged.size() * sizeof(double);
  for (const std::vector<Bytes>& arrays : cargo_)
    for (const Bytes& array : arrays) bytes += array.size();
  for (const auto& array : converted_) bytes += std::size_t(array->GetActualMemorySize()) << 10;
  return bytes;
}

std::size_t PointEvaluator::bytes(const FieldBlock& block) const {
  std::size_t bytes = 0;
  forEachArray(block, [&](const void* values, std::size_t tuple) {
    const bool travels = values && values != block.velocity().data;
    bytes += sizeof(Content) + (travels ? index(block.copiedPoints()) * tuple : 0);
  });
  return bytes;
}

void PointEvaluator::write(const FieldBlock& block, Writer& message) const {
  forEachArray(block, [&](const void* values, std::size_t tuple) {
    const bool isVelocity = values && values == block.velocity().data;
    message.value(isVelocity ? Content::Velocity : values ? Content::Values : Content::Nothing);
    if (values && !isVelocity) block.writePointData(message, values, tuple);
  });
}

int PointEvaluator::add() {
  for (std::vector<Source>& sources : sources_) sources.emplace_back();
  if (averages()) averaged_.emplace_back();
  cargo_.emplace_back();
  return static_cast<int>(flow_.pieces.size() + cargo_.size()) - 1;
}

void PointEvaluator::read(const FieldBlock& copy, Reader& message) {
  const std::size_t piece = index(copy.piece()), points = index(copy.copiedPoints());
  const auto valuesOf = [&](std::size_t tuple) {
    if (points > message.remaining() / tuple) refuseMessage("an array of fewer points");
    return message.raw(points * tuple);
  };
  for (const PointField& field : fields_) {
    if (field.kind != PointField::Kind::Interpolated) continue;
    const void*& values = sources_[field.array][piece].values;
    const ArrayView velocity = copy.velocity();
    switch (message.value<Content>()) {
      case Content::Nothing:
        continue;
      case Content::Velocity:
        if (flow_.cellCentered || field.components != 3 ||
            field.type != (velocity.isDouble ? VTK_DOUBLE : VTK_FLOAT))
          refuseMessage("vectors of another type");
        values = velocity.data;
        continue;
      case Content::Values: {
        Bytes& array = cargo_[piece - flow_.pieces.size()].emplace_back();
        const auto raw = valuesOf(field.bytes);
        append(array, raw.data(), raw.size());
        values = array.data();
        continue;
      }
    }
    refuseMessage("an array of an unknown kind");
  }
  if (!averages()) return;
  if (message.value<Content>() != Content::Values) refuseMessage("no averaged vectors");
  const auto raw = valuesOf(3 * sizeof(double));
  averaged_[piece].resize(3 * points);
  if (points > 0) std::memcpy(averaged_[piece].data(), raw.data(), raw.size());
}

void PointEvaluator::drop(const FieldBlock& copy) {
  const std::size_t piece = index(copy.piece());
  for (std::vector<Source>& sources : sources_) sources[piece] = {};
  if (averages()) averaged_[piece] = {};
  cargo_[piece - flow_.pieces.size()] = {};
}

}  // namespace tributary
