// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/ChangedPoints.h"

#include <vtkDataArray.h>
#include <vtkMath.h>
#include <vtkSetGet.h>
#include <vtkType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "Common/FreshArray.h"
#include "Common/SmpFor.h"
#include "Lines/LineAssembly.h"

#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {
namespace {

/// Points between two checks for an abort.
constexpr std::int64_t PointsPerPiece = 65536;

/// The value as the output's type; integers are rounded as VTK's interpolation does, and 0 where
/// the value is missing.
template <class T>
T toValue(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    if (value != value) return T(0);
    T rounded;
    vtkMath::RoundDoubleToIntegralIfNecessary(value, &rounded);
    return rounded;
  }
}

/// How far each point is in the interval. Throws Error if one was not recorded in a mesh that it
/// needs.
std::vector<double> sharesOf(const std::vector<PointField>& fields, const TimeInterval& interval,
                             const LineTable& table, const LineArrays& earlier,
                             const LineArrays& later) {
  const std::size_t f = fieldOf(fields, PointField::Kind::Time);
  const auto* const times = reinterpret_cast<const double*>(earlier.data[f]);
  const auto* const laterTimes = reinterpret_cast<const double*>(later.data[f]);
  std::vector<double> shares(index(table.points));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const bool isEarlier = times[i] == times[i], isLater = laterTimes[i] == laterTimes[i];
    const double share = shareThroughChange(interval, isEarlier ? times[i] : laterTimes[i]);
    if ((share != 1 && !isEarlier) || (share != 0 && !isLater) || !(share >= 0 && share <= 1))
      refuseMessage("a point of a line was not recorded in both meshes");
    shares[i] = share;
  }
  return shares;
}

/// Replaces values of the earlier mesh by those between them and those of the later one.
void blend(const std::vector<double>& shares, std::int64_t begin, std::int64_t end,
           std::size_t components, const double* later, double* values) {
  for (std::size_t i = index(begin); i < index(end); ++i) {
    const double share = shares[i];
    if (share == 0) continue;
    for (std::size_t at = i * components; at < (i + 1) * components; ++at)
      values[at] = share == 1 ? later[at] : (1 - share) * values[at] + share * later[at];
  }
}

/// The angular velocity is not linear in the values of the two meshes: computes it from the
/// velocity and the vorticity.
void setAngularVelocity(const PointEvaluator& evaluator, const std::vector<double>& shares,
                        std::int64_t begin, std::int64_t end, LineArrays& output) {
  const std::vector<PointField>& fields = evaluator.fields();
  const std::size_t at = fieldOf(fields, PointField::Kind::AngularVelocity);
  if (at == fields.size()) return;
  auto* const out = reinterpret_cast<double*>(output.data[at]);
  const auto* const vorticity =
      reinterpret_cast<const double*>(output.data[fieldOf(fields, PointField::Kind::Vorticity)]);
  const auto* const velocity =
      reinterpret_cast<const double*>(output.data[evaluator.velocityField()]);
  for (std::int64_t i = begin; i < end; ++i) {
    if (shares[index(i)] == 0 || shares[index(i)] == 1) continue;
    out[i] = evaluator.angularVelocity(velocity + 3 * i, vorticity + 3 * i);
  }
}

/// Replaces interpolated arrays by those of the types in a list.
void convert(const Transport& transport, const std::vector<PointField>& fields,
             const PointArrayList& list, std::int64_t points, LineArrays& output) {
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const PointField& field = fields[f];
    if (field.kind != PointField::Kind::Interpolated) continue;
    const int type = list.arrays[field.array].type;
    if (type == VTK_DOUBLE) continue;
    const auto array = freshArrayOf(type, field.name.c_str(), field.components, points);
    const auto* const from = reinterpret_cast<const double*>(output.data[f]);
    const std::int64_t values = points * field.components;
    smpForPieces(transport, values, PointsPerPiece, [&](auto begin, auto end) {
      switch (type) {
        vtkTemplateMacro(std::transform(from + begin, from + end,
                                        static_cast<VTK_TT*>(array->GetVoidPointer(0)) + begin,
                                        toValue<VTK_TT>));
      }
    });
    output.data[f] = static_cast<std::byte*>(array->GetVoidPointer(0));
    output.arrays[f] = array;
  }
}

}  // namespace

StepRules rulesOfStep(const StepRules& rules) {
  StepRules alone = rules;
  alone.interval->end = std::numeric_limits<double>::infinity();
  return alone;
}

PointArrayList asDoubles(PointArrayList list) {
  for (PointArray& array : list.arrays) array.type = VTK_DOUBLE;
  return list;
}

std::unique_ptr<LineArrays> collectChangedPoints(Transport& transport, const IntervalField& field,
                                                 const PointEvaluator& evaluator,
                                                 const PointEvaluator& laterEvaluator,
                                                 const PointArrayList& list, const Shares& shares,
                                                 const LineTable& table, MeshChangeTrace& traced) {
  TraceResult laterTraced;
  laterTraced.logs = std::move(traced.laterLogs);
  std::unique_ptr<LineArrays> output =
      collectPoints(transport, *field.flow, evaluator, shares, table, traced.traced, true);
  const std::unique_ptr<LineArrays> later =
      collectPoints(transport, *field.later, laterEvaluator, shares, table, laterTraced, true);
  collectively(transport, [&] {
    const std::vector<PointField>& fields = evaluator.fields();
    const std::vector<double> between =
        sharesOf(fields, *field.options.rules.interval, table, *output, *later);
    smpForPieces(transport, table.points, PointsPerPiece, [&](auto begin, auto end) {
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const PointField& each = fields[f];
        const bool isSame =
            each.kind == PointField::Kind::Position || each.kind == PointField::Kind::Time;
        if (isSame) {
          for (std::size_t i = index(begin); i < index(end); ++i)
            if (between[i] == 1)
              std::memcpy(output->data[f] + i * each.bytes, later->data[f] + i * each.bytes,
                          each.bytes);
          continue;
        }
        blend(between, begin, end, index(each.components),
              reinterpret_cast<const double*>(later->data[f]),
              reinterpret_cast<double*>(output->data[f]));
      }
      setAngularVelocity(evaluator, between, begin, end, *output);
    });
    convert(transport, fields, list, table.points, *output);
  });
  return output;
}

}  // namespace tributary
