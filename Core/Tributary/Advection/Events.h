// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary {

class EventSurface;
class FieldBlock;
struct TrajectoryPoint;

/// The most events of a trace.
constexpr int MostEvents = 8;

/// The function of the position, the time and the length of a line whose zeros are an event.
enum class EventKind : std::uint8_t {
  Plane,      ///< The signed distance from a plane, positive on the side of the normal.
  HalfPlane,  ///< The same; only crossings on one side of an axis in the plane count.
  Sphere,     ///< The signed distance from a sphere, negative inside.
  Box,        ///< Negative inside of a box, positive outside.
  Length,     ///< The length of the line, minus a length.
  Time,       ///< |time since the seed|, minus a time.
  Isovalue,   ///< A field of EventFields, minus a value.
  Label,      ///< 1 where a field has a value, -1 elsewhere.
  AnyLabel,   ///< -1 where a field has its value at the beginning of the step, 1 elsewhere.
  Surface     ///< The signed distance from a triangle, positive on the side of its normal.
};

/// The crossings that count, by the sign of the function along the line, from the seed on.
enum class EventDirection : std::uint8_t {
  Any,
  Positive,  ///< From negative to positive.
  Negative   ///< From positive to negative.
};

/// Whether an event is of a field: see EventFields.
constexpr bool isOfField(EventKind kind) {
  return kind == EventKind::Isovalue || kind == EventKind::Label || kind == EventKind::AnyLabel;
}

/// A surface, a length or a time that lines cross. Each crossing is recorded.
///
/// A step crosses it if the function is negative at one end of the step, and zero or positive at
/// the other one. So each zero is counted once, whichever step begins or ends there. A step that
/// crosses a surface twice, or touches it, is not seen. A seed on the surface, within the rounding
/// error of its position, is no crossing. An event of a field is not crossed by a step at one of
/// whose ends the field is not a number.
///
/// Crossings of a triangulated surface are those of the straight line between the ends of a step,
/// all of them, in its order; see EventSurface. The crossing is then found in the plane of the
/// triangle, as that of any plane. If it is beside the triangle, it is sought in the plane of the
/// one that is closest there.
struct Event {
  EventKind kind = EventKind::Plane;
  EventDirection direction = EventDirection::Any;
  /// The crossing that ends a line, counted from 1 in each direction from the seed; 0 for none.
  std::int32_t endsLine = 0;
  double origin[3] = {0, 0, 0};  ///< A point of the plane, the center, or the lower corner.
  double normal[3] = {0, 0, 1};  ///< Of length 1; or the upper corner.
  double side[3] = {0, 0, 0};    ///< HalfPlane: from the axis into the half plane, of length 1.
  double size = 0;               ///< The radius, the length, the time, or the value of a field.
  std::int32_t field = 0;        ///< The number of the field: see EventFields.
  /// Surface: the same on all ranks. Not owned, and must outlive the trace.
  const EventSurface* surface = nullptr;
};

/// The events of a trace, numbered in this order.
struct EventList {
  Event event[MostEvents];
  int count = 0;
};

/// Scalar fields of the caller, whose values are functions of events.
class EventFields {
 public:
  virtual ~EventFields() = default;
  /// Evaluates the fields that events have at a point that the velocity was evaluated at. Local and
  /// thread-safe. For the promise that lines and crossings do not depend on the cut, a value is a
  /// function of the cell, the position and, in an unsteady field, the time. If it jumps between
  /// the end of one interval and the beginning of the next one, no crossing is found there.
  /// @param block  that evaluates the point: of this rank, or a copy
  /// @param values  Out: by the number of the field; room for MostEvents numbers
  virtual void evaluate(const FieldBlock& block, const TrajectoryPoint& point,
                        double* values) const = 0;
};

// All functions are local. They throw Error if a number is not finite or does not define the event.

/// A plane through a point.
/// @param normal  of any length but 0
[[nodiscard]] Event planeEvent(const double origin[3], const double normal[3]);
/// The half plane from an axis in a direction: a poloidal section of a torus. The function grows
/// with the angle about the axis.
/// @param direction  not parallel to the axis
[[nodiscard]] Event halfPlaneEvent(const double origin[3], const double axis[3],
                                   const double direction[3]);
/// A sphere.
[[nodiscard]] Event sphereEvent(const double center[3], double radius);
/// A box with sides along the axes.
[[nodiscard]] Event boxEvent(const double lower[3], const double upper[3]);
/// A length of the line from its seed.
[[nodiscard]] Event lengthEvent(double length);
/// A time from the seed, in each direction of integration.
[[nodiscard]] Event timeEvent(double time);
/// A value of a field, which is continuous in each cell.
/// @param field  its number, in [0, MostEvents - 1]
[[nodiscard]] Event isovalueEvent(std::int32_t field, double value);
/// The boundary of the region in which a field has a value; positive is the way into it.
/// @param field  as in isovalueEvent()
[[nodiscard]] Event labelEvent(std::int32_t field, double label);
/// All boundaries of the regions of a field.
/// @param field  as in isovalueEvent()
[[nodiscard]] Event labelEvent(std::int32_t field);
/// A triangulated surface, which must outlive the trace.
[[nodiscard]] Event surfaceEvent(const EventSurface& surface);

/// Whether any of the events is at a surface.
[[nodiscard]] bool haveSurface(const EventList& events);

/// Throws Error if events are not what the functions above make.
void requireValid(const EventList& events);
/// Whether any event is of a field.
[[nodiscard]] bool haveFields(const EventList& events);

}  // namespace tributary
