// SPDX-License-Identifier: BSD-3-Clause
#include "Features/CriticalOutput.h"

#include <vtkNew.h>
#include <vtkPoints.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "Common/FreshArray.h"
#include "Features/TrajectoryCells.h"
#include "Output/NamedArrays.h"
#include "Output/TableColumns.h"

namespace tributary {
namespace {

double lengthOf(const std::array<double, 3>& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

std::string nameOf(CriticalKind kind, bool isVector, int dimension) {
  return isVector ? nameOfVectorKind(kind, dimension) : nameOfScalarKind(kind, dimension);
}

std::int64_t indexOf(CriticalKind kind) {
  return kind.negative == CriticalKind::Unknown ? -1 : kind.negative;
}

bool isAtStep(const SpaceTimeFace& face) {
  return face.upper == 0;
}

}  // namespace

void CriticalOutput::writeTrajectories(const Trajectories& all, vtkPolyData* output) const {
  requireRows(all.points.size(), 16);
  vtkNew<vtkPoints> places;
  places->SetDataTypeToDouble();
  const auto step = numbers("Step"), kind = numbers("Index"), rotation = numbers("Rotation"),
             event = numbers("Event");
  const auto time = values("Time"), value = values("Value"), speed = values("Speed");
  const auto velocity = values("Velocity", 3);
  for (const TrackedCriticalPoint& point : all.points) {
    places->InsertNextPoint(point.place.data());
    step->InsertNextValue(point.face.step);
    time->InsertNextValue(point.time);
    value->InsertNextValue(point.value);
    velocity->InsertNextTuple(point.velocity.data());
    speed->InsertNextValue(lengthOf(point.velocity));
    kind->InsertNextValue(indexOf(point.kind));
    rotation->InsertNextValue(static_cast<vtkIdType>(point.kind.rotation));
    event->InsertNextValue(static_cast<vtkIdType>(point.event));
  }
  makeTrajectoryCells(
      places, all.offsets, all.tracks,
      {step, time, kind, event, velocity, speed,
       isVector_ ? static_cast<vtkDataArray*>(rotation) : static_cast<vtkDataArray*>(value)},
      output);
}

void CriticalOutput::writePoints(const std::vector<TrajectoryPieces>& pieces, std::int64_t step,
                                 vtkTable* table) const {
  const auto track = numbers("TrackId"), number = numbers("Step"), order = numbers("Index");
  const auto time = values("Time"), position = values("Position", 3), value = values("Value");
  const auto velocity = values("Velocity", 3), speed = values("Speed");
  const auto kind = texts("Kind");
  for (const TrajectoryPieces& block : pieces) {
    forPointsOfStep(block, step, [&](std::size_t piece, const CriticalPoint& point) {
      track->InsertNextValue(block.tracks[piece]);
      number->InsertNextValue(step);
      time->InsertNextValue(point.time);
      kind->InsertNextValue(nameOf(point.kind, isVector_, dimension_));
      order->InsertNextValue(indexOf(point.kind));
      position->InsertNextTuple(point.place.data());
      value->InsertNextValue(point.value);
      velocity->InsertNextTuple(point.velocity.data());
      speed->InsertNextValue(lengthOf(point.velocity));
    });
  }
  addColumns(table, {track, number, time, kind, order, position, velocity, speed});
  if (!isVector_) addColumns(table, {value});
}

void CriticalOutput::writeEvents(const Trajectories& all, vtkTable* table) const {
  const auto step = numbers("Step"), track = numbers("TrackId");
  const auto time = values("Time"), position = values("Position", 3);
  const auto name = texts("Event"), before = texts("KindBefore"), after = texts("KindAfter");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto points = all.trajectory(i);
    const bool isClosed = points.size() > 1 && points[0].face == points[points.size() - 1].face;
    for (std::size_t p = 0; p + (isClosed ? 1 : 0) < points.size(); ++p) {
      const TrackedCriticalPoint& point = points[p];
      if (point.event == TrajectoryEvent::None) continue;
      const std::size_t last = p > 0 ? p - 1 : points.size() - 2;
      name->InsertNextValue(point.event == TrajectoryEvent::Birth   ? "Birth"
                            : point.event == TrajectoryEvent::Death ? "Death"
                                                                    : "Kind Change");
      step->InsertNextValue(point.face.step + (point.face.upper > 0 ? 1 : 0));
      time->InsertNextValue(point.time);
      track->InsertNextValue(all.tracks[i]);
      before->InsertNextValue(nameOf(points[last].kind, isVector_, dimension_));
      after->InsertNextValue(nameOf(point.kind, isVector_, dimension_));
      position->InsertNextTuple(point.place.data());
    }
  }
  addColumns(table, {step, time, name, track, before, after, position});
}

void CriticalOutput::writeEdges(const Trajectories& all, vtkTable* table) const {
  const auto step = numbers("Step"), track = numbers("TrackId");
  const auto time = values("Time"), one = values("PositionBefore", 3),
             other = values("PositionAfter", 3);
  const auto kind = texts("Kind");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TrackedCriticalPoint* last = nullptr;
    double earliest = 0, latest = 0;
    std::int64_t between = 0;
    for (const TrackedCriticalPoint& point : all.trajectory(i)) {
      if (last) {
        earliest = std::min(earliest, point.time);
        latest = std::max(latest, point.time);
      }
      if (!isAtStep(point.face)) {
        between = point.face.step;
        continue;
      }
      if (last) {
        const std::int64_t from = last->face.step, to = point.face.step;
        const bool isBirth = from == to && between < from, isDeath = from == to && !isBirth;
        const bool isBackwards = to < from;  // along a trajectory, not in time
        kind->InsertNextValue(isBirth ? "Birth" : isDeath ? "Death" : "Continuation");
        step->InsertNextValue(std::max(from, to) + (isDeath ? 1 : 0));
        time->InsertNextValue(isBirth ? earliest : latest);
        track->InsertNextValue(all.tracks[i]);
        one->InsertNextTuple((isBackwards ? point : *last).place.data());
        other->InsertNextTuple((isBackwards ? *last : point).place.data());
      }
      last = &point;
      earliest = latest = point.time;
    }
  }
  addColumns(table, {step, time, kind, track, one, other});
}

}  // namespace tributary
