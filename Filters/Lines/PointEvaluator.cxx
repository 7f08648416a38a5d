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

/// The value at a share of the interval: exactly one of the two values at its ends, whatever the
/// other one is.
double between(double earlier, double later, double share) {
  if (share == 0) return earlier;
  if (share == 1) return later;
  return (1 - share) * earlier + share * later;
}

/// The velocity in a grid from those of faces: see StructuredPiece::onFaces.
/// @param bounds  of the grid, which is flat where they are
template <class Real>
void interpolateFaces(const Weights& weights, const Real* faces, const Box& bounds, double* value) {
  std::array<int, 3> upper{};  // the corner one step along each axis; 0 along a flat one
  int corners = 1;
  for (std::size_t a = 0; a < 3; ++a)
    if (bounds.lo[a] < bounds.hi[a]) {
      upper[a] = corners;
      corners *= 2;
    }
  for (std::size_t i = 0; i < weights.points; ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const auto at = [&](int corner) {
        return static_cast<double>(faces[3 * weights.id(i, corner) + static_cast<int>(c)]);
      };
      double share = 0;  // how far the point is along the axis
      for (int j = 0; j < weights.count[i]; ++j)
        if ((j & upper[c]) != 0) share += weights.weight(i, j);
      value[3 * i + c] = at(0) + share * (at(upper[c]) - at(0));
    }
}

/// Replaces values by those between them and later ones.
/// @param shares  of the points, in [0, 1]
void blend(std::vector<double>& values, const std::vector<double>& later,
           const std::vector<double>& shares) {
  for (std::size_t i = 0; i < shares.size(); ++i)
    for (std::size_t c = 3 * i; c < 3 * i + 3; ++c)
      values[c] = between(values[c], later[c], shares[i]);
}

/// As interpolateAny(), between the values of two steps. Integers are rounded once.
template <class T>
void interpolateAnyBetween(const T* values, const T* later, int components, const Weights& weights,
                           const std::vector<double>& shares, T* out) {
  for (std::size_t i = 0; i < weights.points; ++i)
    for (int c = 0; c < components; ++c) {
      double sum = 0, laterSum = 0;
      for (int j = 0; j < weights.count[i]; ++j) {
        const double weight = weights.weight(i, j);
        const auto at = weights.id(i, j) * components + c;
        sum += weight * static_cast<double>(values[at]);
        laterSum += weight * static_cast<double>(later[at]);
      }
      out[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)] =
          toValue<T>(between(sum, laterSum, shares[i]));
    }
}

/// As interpolate(), between the values of two steps: both null or none.
/// @param vectors  a buffer for three numbers per point, as is `laterVectors`
template <class T>
void interpolateBetween(const T* values, const T* later, int components, const Weights& weights,
                        const std::vector<double>& shares, std::vector<double>& vectors,
                        std::vector<double>& laterVectors, T* out) {
  const std::size_t count = weights.points * static_cast<std::size_t>(components);
  if (!values || !later) {
    std::fill_n(out, count, missingValue<T>());
    return;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (components == 3) {
      interpolateVectors(weights, values, vectors.data(), nullptr);
      interpolateVectors(weights, later, laterVectors.data(), nullptr);
      blend(vectors, laterVectors, shares);
      std::transform(vectors.data(), vectors.data() + count, out, toValue<T>);
      return;
    }
  }
  interpolateAnyBetween(values, later, components, weights, shares, out);
}

/// See PointEvaluator::valueOf().
template <class T>
double valueAt(const T* values, const Weights& weights, bool ofCell, bool isLabel) {
  if (ofCell) return static_cast<double>(values[weights.cellId[0]]);
  const auto valueOf = [&](std::int64_t point) { return static_cast<double>(values[point]); };
  if (isLabel) return labelAt(weights, 0, valueOf);
  double sum = 0;
  for (int j = 0; j < weights.count[0]; ++j)
    sum += weights.weight(0, j) * valueOf(weights.id(0, j));
  return sum;
}

/// The value of a cell at a share of the interval, or in a steady field.
/// @param values,later  null for a piece without the array, as is `later` in a steady field
template <class T>
T cellValueAt(const T* values, const T* later, vtkIdType cell, bool isLabel, double share) {
  const T* const at = share == 1 ? later : values;
  if (!at || (!later && share > 0)) return missingValue<T>();
  if (isLabel || share == 0 || share == 1) return at[cell];
  return toValue<T>(
      between(static_cast<double>(values[cell]), static_cast<double>(later[cell]), share));
}

/// How an array travels with a copy of a block.
enum class Content : std::uint64_t {
  Nothing,        // the piece lacks it
  Velocity,       // it is the vectors, which are in the copy already
  LaterVelocity,  // it is those at the end of the interval
  Values          // its tuples follow
};

/// How these values travel with a copy of the block.
Content contentOf(const void* values, const FieldBlock& block) {
  return !values                                ? Content::Nothing
         : values == block.velocity().data      ? Content::Velocity
         : values == block.laterVelocity().data ? Content::LaterVelocity
                                                : Content::Values;
}

/// Whether a field has values of a PointArrayList.
bool isOfArray(const PointField& field) {
  return field.kind == PointField::Kind::Interpolated || field.kind == PointField::Kind::CellValue;
}

template <class T>
T* bufferOf(std::vector<std::byte>& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}

}  // namespace

std::size_t fieldOf(const std::vector<PointField>& fields, PointField::Kind kind) {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const PointField& field) { return field.kind == kind; });
  return static_cast<std::size_t>(at - fields.begin());
}

PointEvaluator::PointEvaluator(const FlowDomain& flow, const PointArrayList& arrays,
                               const StepRules& rules, bool computeVorticity, double rotationScale)
    : flow_(flow),
      rules_(rules),
      computeVorticity_(computeVorticity),
      rotationScale_(rotationScale) {
  describeFields(arrays);
}

void PointEvaluator::averageVelocity(Transport& transport) {
  if (!averages()) return;
  averaged_ = averageToPoints(transport, flow_);
  if (isUnsteady()) laterAveraged_ = averageToPoints(transport, flow_, FlowStep::Later);
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
  add(Kind::Time, isUnsteady() ? "SimulationTime" : "IntegrationTime", VTK_DOUBLE, 1);
  firstArray_ = fields_.size();
  for (std::size_t a = 0; a < arrays.arrays.size(); ++a) {
    const PointArray& array = arrays.arrays[a];
    if (!flow_.cellCentered && !flow_.isDerived && array.name == flow_.vectorName && !array.ofCells)
      velocityField_ = fields_.size();
    const bool isHidden =
        array.ofCells && std::any_of(fields_.begin(), fields_.end(), [&](const PointField& field) {
          return field.name == array.name;
        });
    add(array.ofCells ? Kind::CellValue : Kind::Interpolated, array.name, array.type,
        array.components, a);
    fields_.back().isHidden = isHidden;
    fields_.back().isLabel = array.isLabel;
    std::vector<Source>& sources = sources_.emplace_back();
    for (std::size_t piece = 0; piece < array.perPiece.size(); ++piece)
      sources.push_back(
          {valuesOf(array.perPiece[piece], array.type),
           isUnsteady() ? valuesOf(array.laterPerPiece[piece], array.type) : nullptr});
  }
  if (flow_.isDerived) {
    velocityField_ = fields_.size();
    // Of the type that an array of the input would have: frames are computed from its values.
    const bool isFloat = !flow_.isDouble && !flow_.cellCentered && !isUnsteady();
    if (computeVorticity_)
      add(Kind::DerivedVelocity, flow_.vectorName, isFloat ? VTK_FLOAT : VTK_DOUBLE, 3);
  } else if (flow_.cellCentered) {
    velocityField_ = fields_.size();
    add(Kind::CellVelocity, flow_.vectorName, VTK_DOUBLE, 3);
  }
  if (computeVorticity_) {
    add(Kind::Vorticity, "Vorticity", VTK_DOUBLE, 3);
    add(Kind::AngularVelocity, "AngularVelocity", VTK_DOUBLE, 1);
  }
}

/// The values of an array, or of a copy of this type; null for null.
const void* PointEvaluator::valuesOf(vtkDataArray* array, int type) {
  if (!array) return nullptr;
  if (array->GetDataType() != type || !array->HasStandardMemoryLayout()) {
    auto copy = vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(type));
    copyArray(array, copy);
    converted_.push_back(copy);
    array = copy;
  }
  return array->GetVoidPointer(0);
}

void PointEvaluator::evaluateVelocity(const FieldBlock& block, const ArrayView& velocity,
                                      const std::vector<std::vector<double>>& averaged,
                                      const Weights& weights, std::vector<double>& values,
                                      std::vector<double>& vorticity) const {
  const std::size_t room = 3 * weights.groups() * Weights::Lanes;
  values.resize(room);
  vorticity.resize(computeVorticity_ ? room : 0);
  double* const value = values.data();
  double* const curl = computeVorticity_ ? vorticity.data() : nullptr;
  if (flow_.cellCentered) {
    if (curl)  // the interpolated velocity is not used
      interpolateVectors(weights, averaged[index(block.piece())].data(), value, curl);
    if (flow_.onFaces) {
      const auto faces = [&](const auto* numbers) {
        interpolateFaces(weights, numbers, flow_.bounds, value);
      };
      velocity.isDouble ? faces(static_cast<const double*>(velocity.data))
                        : faces(static_cast<const float*>(velocity.data));
      return;
    }
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

void PointEvaluator::evaluateVelocity(const FieldBlock& block, Scratch& scratch) const {
  evaluateVelocity(block, block.velocity(), averaged_, scratch.weights, scratch.velocity,
                   scratch.vorticity);
  if (!isUnsteady()) return;
  evaluateVelocity(block, block.laterVelocity(), laterAveraged_, scratch.weights,
                   scratch.laterVelocity, scratch.laterVorticity);
  blend(scratch.velocity, scratch.laterVelocity, scratch.shares);
  if (computeVorticity_) blend(scratch.vorticity, scratch.laterVorticity, scratch.shares);
}

double PointEvaluator::valueOf(std::size_t array, bool isLabel, const FieldBlock& block,
                               const Weights& weights, double time) const {
  const PointField& field = fields_[firstArray_ + array];
  const Source& source = sources_[array][index(block.piece())];
  const auto valueIn = [&](const void* values) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (values) switch (field.type) {
        vtkTemplateMacro(value = valueAt(static_cast<const VTK_TT*>(values), weights,
                                         field.kind == PointField::Kind::CellValue, isLabel));
      }
    return value;
  };
  const double share = isUnsteady() ? shareAt(time) : 0;
  if (share == 0 || (isLabel && share != 1)) return valueIn(source.values);
  if (share == 1) return valueIn(source.later);
  return between(valueIn(source.values), valueIn(source.later), share);
}

double PointEvaluator::angularVelocity(const double v[3], const double w[3]) const {
  const double speed = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return speed > 0 ? (w[0] * v[0] + w[1] * v[1] + w[2] * v[2]) / speed * rotationScale_ : 0.0;
}

void PointEvaluator::prepare(const FieldBlock& block, Span<const TrajectoryPoint> points,
                             Scratch& scratch) const {
  scratch.weights.wantGradients = computeVorticity_;
  block.weights(rules_, points, scratch.weights);
  const std::size_t piece = index(block.piece());
  for (const PointField& field : fields_) {
    if (field.kind != PointField::Kind::Interpolated) continue;
    const Source& source = sources_[field.array][piece];
    for (const void* values : {source.values, source.later})
      if (values) prefetch(scratch.weights, values, field.bytes);
  }
}

void PointEvaluator::evaluate(const FieldBlock& block, Span<const TrajectoryPoint> points,
                              Scratch& scratch) const {
  using Kind = PointField::Kind;
  const std::size_t count = points.size();
  const std::size_t piece = index(block.piece());
  const std::size_t room = scratch.weights.groups() * Weights::Lanes;
  const bool hasVelocity = computeVorticity_ || (flow_.cellCentered && !flow_.isDerived);
  if (isUnsteady()) {
    scratch.shares.resize(count);
    for (std::size_t i = 0; i < count; ++i) scratch.shares[i] = shareAt(points[i].time);
    scratch.laterVectors.resize(3 * room);
  }
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
        const Source& source = sources_[field.array][piece];
        switch (field.type) {
          vtkTemplateMacro(const auto* values = static_cast<const VTK_TT*>(source.values);
                           auto* out = bufferOf<VTK_TT>(buffer); if (isUnsteady())
                               interpolateBetween(values, static_cast<const VTK_TT*>(source.later),
                                                  field.components, scratch.weights, scratch.shares,
                                                  scratch.vectors, scratch.laterVectors, out);
                           else interpolate(values, field.components, scratch.weights,
                                            scratch.vectors.data(), out));
          default:
            throw Error("the array \"" + field.name +
                        "\" is of a type that cannot be interpolated; remove it from Point Arrays");
        }
        break;
      }
      case Kind::CellValue: {
        const Source& source = sources_[field.array][piece];
        switch (field.type) {
          vtkTemplateMacro(const auto* values = static_cast<const VTK_TT*>(source.values);
                           const auto* later = static_cast<const VTK_TT*>(source.later);
                           auto* out = bufferOf<VTK_TT>(buffer);
                           for (std::size_t i = 0; i < count; ++i) out[i] =
                               cellValueAt(values, later, scratch.weights.cellId[i], field.isLabel,
                                           isUnsteady() ? scratch.shares[i] : 0));
        }
        break;
      }
      case Kind::CellVelocity:
      case Kind::DerivedVelocity:
        if (field.type == VTK_FLOAT)
          std::transform(scratch.velocity.data(), scratch.velocity.data() + 3 * count,
                         bufferOf<float>(buffer), toValue<float>);
        else
          std::copy_n(scratch.velocity.data(), 3 * count, bufferOf<double>(buffer));
        break;
      case Kind::Crossing:
        break;
      case Kind::Vorticity:
        std::copy_n(scratch.vorticity.data(), 3 * count, bufferOf<double>(buffer));
        break;
      case Kind::AngularVelocity: {
        auto* out = bufferOf<double>(buffer);
        for (std::size_t i = 0; i < count; ++i)
          out[i] = angularVelocity(&scratch.velocity[3 * i], &scratch.vorticity[3 * i]);
        break;
      }
    }
  }
}

/// Calls visit(values, bytes of a tuple, whether it is cell data) for each array that copies of a
/// block need.
template <class Visit>
void PointEvaluator::forEachArray(const FieldBlock& block, Visit&& visit) const {
  const std::size_t piece = index(block.piece());
  for (const PointField& field : fields_) {
    if (!isOfArray(field)) continue;
    const bool ofCells = field.kind == PointField::Kind::CellValue;
    const Source& source = sources_[field.array][piece];
    visit(source.values, field.bytes, ofCells);
    if (isUnsteady()) visit(source.later, field.bytes, ofCells);
  }
  if (!averages()) return;
  visit(averaged_[piece].data(), 3 * sizeof(double), false);
  if (isUnsteady()) visit(laterAveraged_[piece].data(), 3 * sizeof(double), false);
}

std::size_t PointEvaluator::memory() const {
  std::size_t bytes = 0;
  for (const auto* all : {&averaged_, &laterAveraged_})
    for (const std::vector<double>& averaged : *all) bytes += averaged.size() * sizeof(double);
  for (const std::vector<Bytes>& arrays : cargo_)
    for (const Bytes& array : arrays) bytes += array.size();
  for (const auto& array : converted_) bytes += std::size_t(array->GetActualMemorySize()) << 10;
  return bytes;
}

std::size_t PointEvaluator::bytes(const FieldBlock& block) const {
  std::size_t bytes = 0;
  forEachArray(block, [&](const void* values, std::size_t tuple, bool ofCells) {
    const bool travels = contentOf(values, block) == Content::Values;
    const std::size_t tuples = index(ofCells ? block.copiedCells() : block.copiedPoints());
    bytes += sizeof(Content) + (travels ? tuples * tuple : 0);
  });
  return bytes;
}

void PointEvaluator::write(const FieldBlock& block, Writer& message) const {
  forEachArray(block, [&](const void* values, std::size_t tuple, bool ofCells) {
    const Content content = contentOf(values, block);
    message.value(content);
    if (content != Content::Values) return;
    if (ofCells)
      block.writeCellData(message, values, tuple);
    else
      block.writePointData(message, values, tuple);
  });
}

int PointEvaluator::add() {
  for (std::vector<Source>& sources : sources_) sources.emplace_back();
  if (averages()) averaged_.emplace_back();
  if (averages() && isUnsteady()) laterAveraged_.emplace_back();
  cargo_.emplace_back();
  return static_cast<int>(flow_.pieces.size() + cargo_.size()) - 1;
}

void PointEvaluator::read(const FieldBlock& copy, Reader& message) {
  const std::size_t piece = index(copy.piece()), points = index(copy.copiedPoints());
  const auto tuplesOf = [&](std::size_t tuples, std::size_t tuple) {
    if (tuples > message.remaining() / tuple) refuseMessage("an array of fewer points or cells");
    return message.raw(tuples * tuple);
  };
  const auto readArray = [&](const PointField& field, const void*& values) {
    const Content content = message.value<Content>();
    switch (content) {
      case Content::Nothing:
        return;
      case Content::Velocity:
      case Content::LaterVelocity: {
        const ArrayView velocity =
            content == Content::Velocity ? copy.velocity() : copy.laterVelocity();
        if (!velocity.data || flow_.cellCentered || field.components != 3 ||
            field.type != (velocity.isDouble ? VTK_DOUBLE : VTK_FLOAT))
          refuseMessage("vectors of another type");
        values = velocity.data;
        return;
      }
      case Content::Values: {
        Bytes& array = cargo_[piece - flow_.pieces.size()].emplace_back();
        const bool ofCells = field.kind == PointField::Kind::CellValue;
        const auto raw = tuplesOf(ofCells ? index(copy.copiedCells()) : points, field.bytes);
        append(array, raw.data(), raw.size());
        values = array.data();
        return;
      }
    }
    refuseMessage("an array of an unknown kind");
  };
  for (const PointField& field : fields_) {
    if (!isOfArray(field)) continue;
    Source& source = sources_[field.array][piece];
    readArray(field, source.values);
    if (isUnsteady()) readArray(field, source.later);
  }
  if (!averages()) return;
  const auto readAveraged = [&](std::vector<double>& averaged) {
    if (message.value<Content>() != Content::Values) refuseMessage("no averaged vectors");
    const auto raw = tuplesOf(points, 3 * sizeof(double));
    averaged.resize(3 * points);
    if (points > 0) std::memcpy(averaged.data(), raw.data(), raw.size());
  };
  readAveraged(averaged_[piece]);
  if (isUnsteady()) readAveraged(laterAveraged_[piece]);
}

void PointEvaluator::drop(const FieldBlock& copy) {
  const std::size_t piece = index(copy.piece());
  for (std::vector<Source>& sources : sources_) sources[piece] = {};
  if (averages()) averaged_[piece] = {};
  if (averages() && isUnsteady()) laterAveraged_[piece] = {};
  cargo_[piece - flow_.pieces.size()] = {};
}

}  // namespace tributary
