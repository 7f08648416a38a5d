// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Events.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {
namespace {

void requireFinite(const double numbers[3], const char* what) {
  for (int a = 0; a < 3; ++a)
    if (!std::isfinite(numbers[a]))
      throw Error(std::string("the ") + what + " of an event is (" + numberText(numbers[0]) + ", " +
                  numberText(numbers[1]) + ", " + numberText(numbers[2]) +
                  "); set it to finite numbers");
}

void requirePositive(double size, const char* what) {
  if (!(size > 0) || !std::isfinite(size))
    throw Error(std::string("the ") + what + " of an event is " + numberText(size) +
                "; set it to a positive number");
}

double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// Divides a vector by its length.
void normalize(double v[3], const char* what) {
  requireFinite(v, what);
  const double most = std::max({std::fabs(v[0]), std::fabs(v[1]), std::fabs(v[2])});
  if (!(most > 0))
    throw Error(std::string("the ") + what +
                " of an event is (0, 0, 0); set it to a direction other than 0");
  for (int a = 0; a < 3; ++a) v[a] /= most;
  const double length = std::sqrt(dot(v, v));
  for (int a = 0; a < 3; ++a) v[a] /= length;
}

Event eventAt(EventKind kind, const double origin[3], const char* what) {
  requireFinite(origin, what);
  Event event;
  event.kind = kind;
  std::copy_n(origin, 3, event.origin);
  return event;
}

void requireField(std::int32_t field) {
  if (field < 0 || field >= MostEvents)
    throw Error("an event is of field " + std::to_string(field) + "; set Event::field to [0, " +
                std::to_string(MostEvents - 1) + "]");
}

Event eventOfField(EventKind kind, std::int32_t field, double value, const char* what) {
  requireField(field);
  if (!std::isfinite(value))
    throw Error(std::string("the ") + what + " of an event is " + numberText(value) +
                "; set it to a finite number");
  Event event;
  event.kind = kind;
  event.size = value;
  event.field = field;
  return event;
}

Event eventOf(EventKind kind, double size, const char* what) {
  requirePositive(size, what);
  Event event;
  event.kind = kind;
  event.size = size;
  return event;
}

}  // namespace

Event planeEvent(const double origin[3], const double normal[3]) {
  Event event = eventAt(EventKind::Plane, origin, "origin");
  std::copy_n(normal, 3, event.normal);
  normalize(event.normal, "normal");
  return event;
}

Event halfPlaneEvent(const double origin[3], const double axis[3], const double direction[3]) {
  Event event = eventAt(EventKind::HalfPlane, origin, "origin");
  double along[3] = {axis[0], axis[1], axis[2]};
  double side[3] = {direction[0], direction[1], direction[2]};
  normalize(along, "axis");
  normalize(side, "direction");
  const double parallel = dot(along, side);
  for (int a = 0; a < 3; ++a) event.side[a] = side[a] - parallel * along[a];
  if (dot(event.side, event.side) < 1e-12)
    throw Error("the direction of an event is parallel to its axis; set it to another direction");
  normalize(event.side, "direction");
  for (int a = 0; a < 3; ++a) {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    event.normal[a] = along[b] * event.side[c] - along[c] * event.side[b];
  }
  return event;
}

Event sphereEvent(const double center[3], double radius) {
  Event event = eventAt(EventKind::Sphere, center, "center");
  requirePositive(radius, "radius");
  event.size = radius;
  return event;
}

Event boxEvent(const double lower[3], const double upper[3]) {
  Event event = eventAt(EventKind::Box, lower, "lower corner");
  requireFinite(upper, "upper corner");
  for (int a = 0; a < 3; ++a) {
    if (!(lower[a] < upper[a]))
      throw Error("the box of an event reaches from " + numberText(lower[a]) + " to " +
                  numberText(upper[a]) + " along axis " + std::to_string(a) +
                  "; set the upper corner above the lower one");
    event.normal[a] = upper[a];
  }
  return event;
}

Event lengthEvent(double length) {
  return eventOf(EventKind::Length, length, "length");
}

Event timeEvent(double time) {
  return eventOf(EventKind::Time, time, "time");
}

Event isovalueEvent(std::int32_t field, double value) {
  return eventOfField(EventKind::Isovalue, field, value, "value");
}

Event labelEvent(std::int32_t field, double label) {
  return eventOfField(EventKind::Label, field, label, "label");
}

Event labelEvent(std::int32_t field) {
  return eventOfField(EventKind::AnyLabel, field, 0, "label");
}

bool haveFields(const EventList& events) {
  for (int e = 0; e < events.count; ++e)
    if (isOfField(events.event[e].kind)) return true;
  return false;
}

bool haveSurface(const EventList& events) {
  return std::any_of(events.event, events.event + events.count,
                     [](const Event& event) { return event.kind == EventKind::Surface; });
}

Event surfaceEvent(const EventSurface& surface) {
  Event event;
  event.kind = EventKind::Surface;
  event.surface = &surface;
  return event;
}

void requireValid(const EventList& events) {
  if (events.count < 0 || events.count > MostEvents)
    throw Error("there are " + std::to_string(events.count) + " events; use at most " +
                std::to_string(MostEvents));
  for (int e = 0; e < events.count; ++e) {
    const Event& event = events.event[e];
    requireFinite(event.origin, "origin");
    requireFinite(event.normal, "normal");
    requireFinite(event.side, "direction");
    if (!std::isfinite(event.size)) requirePositive(event.size, "size");
    requireField(event.field);
    if (event.kind == EventKind::AnyLabel && event.direction != EventDirection::Any)
      throw Error(
          "an event of any label has a direction; set Event::direction to EventDirection::Any");
    if (event.kind == EventKind::Surface && !event.surface)
      throw Error("an event at a surface has none; set Event::surface");
    if (event.endsLine < 0)
      throw Error("crossing " + std::to_string(event.endsLine) +
                  " of an event ends lines; set Event::endsLine to 0 or a positive number");
  }
}

}  // namespace tributary
