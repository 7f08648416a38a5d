// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which events a step crosses, and where: see "Events" in README.md.

#include <cstdint>
#include <limits>

#include "Tributary/Advection/Particle.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Targets/EventSurface.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Advection/Vector.h"

namespace tributary::detail {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {  // see Vector.h

/// The images of a step in a periodic domain in which events are tested: along each axis, that of
/// its beginning, or that of its end (bit of the axis).
constexpr int EventImages = 8;
/// An event in an image: event + MostEvents * image. A surface is in one image at a time, that of
/// the crossing which comes next (EventProgress::way), and its candidate has the number of image 0.
constexpr int EventCandidates = EventImages * MostEvents;
/// In EventProgress::way, beside the image: the step goes along the normal.
constexpr int AlongNormal = EventImages;
/// A crossing of a surface is moved so often to the plane of the triangle that is closest to it.
constexpr int MostMoves = 4;

/// What leads from a point to its image in the periodic box, along an axis.
template <class Number>
TRIBUTARY_INLINE Number shiftOf(const StepRules& rules, Number x, int a) {
  const double period = rules.period[a];
  return period > 0 ? period * floored((x - rules.periodicOrigin[a]) / period) : all<Number>(0);
}

/// The direction from one number to another one: 1, -1 or 0.
template <class Number>
TRIBUTARY_INLINE Number directionFrom(Number from, Number to) {
  return select(to > from, all<Number>(1), select(to < from, all<Number>(-1), all<Number>(0)));
}

/// The shift of the image of an end of a step. An end on a side of the box, within its rounding
/// error, belongs to both images there. So all steps test a surface on a side in the same image,
/// and the one in which its function changes its sign is seen, however positions and quotients are
/// rounded.
/// @param outward  from the step, along the axis
template <class Number>
TRIBUTARY_INLINE Number shiftOfEnd(const StepRules& rules, Number x, Number outward, int a) {
  const double period = rules.period[a], origin = rules.periodicOrigin[a];
  if (!(period > 0)) return all<Number>(0);
  const Number rounding =
      4 * std::numeric_limits<double>::epsilon() * (magnitude(x) + (magnitude(origin) + period));
  return period * floored((x - origin + outward * rounding) / period);
}

/// The time after a step, or a part of it, in an unsteady field. The last step in an interval ends
/// exactly where particles stop.
template <class Number>
TRIBUTARY_INLINE Number timeAfter(const StepRules& rules, Number time, Number h) {
  const TimeInterval& interval = *rules.interval;
  const double begin = magnitude(interval.begin), end = magnitude(interval.end);
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * (begin > end ? begin : end);
  const Number after = time + h;
  return select(magnitude(after - interval.stop) <= rounding, all<Number>(interval.stop), after);
}

/// The distance of two points.
template <class Number>
TRIBUTARY_INLINE Number distance(const Number a[3], const Number b[3]) {
  Number d[3];
  for (int i = 0; i < 3; ++i) d[i] = b[i] - a[i];
  return root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/// The time of a line since its seed. In an unsteady field it is the difference of two times, and
/// the rounding error of the first one is added: what is reached within it has been reached. This
/// depends on no interval, so all steps have the same sign at a stored time.
template <class Number>
TRIBUTARY_INLINE Number ageOf(const StepRules& rules, Number begun, Number time) {
  if (!rules.interval) return magnitude(time);
  return magnitude(time - begun) + 4 * std::numeric_limits<double>::epsilon() * magnitude(begun);
}

/// Whether an event depends on the position alone.
TRIBUTARY_INLINE bool isPlace(const Event& event) {
  return event.kind != EventKind::Length && event.kind != EventKind::Time && !isOfField(event.kind);
}

/// Whether an event depends on the coordinate along an axis, and is therefore another one in
/// another image.
inline bool dependsOn(const Event& event, int a) {
  if (event.kind == EventKind::Plane || event.kind == EventKind::HalfPlane)
    return event.normal[a] != 0 || event.side[a] != 0;
  return isPlace(event);
}

/// The function whose zeros are the event.
template <class Number>
TRIBUTARY_INLINE Number eventValue(const Event& event, const Number x[3], Number age,
                                   Number length) {
  Number d[3];
  for (int a = 0; a < 3; ++a) d[a] = x[a] - event.origin[a];
  switch (event.kind) {
    case EventKind::Plane:
    case EventKind::HalfPlane:
      return d[0] * event.normal[0] + d[1] * event.normal[1] + d[2] * event.normal[2];
    case EventKind::Sphere:
      return root(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - event.size;
    case EventKind::Box: {
      Number most = -d[0];
      for (int a = 0; a < 3; ++a) {
        const Number above = x[a] - event.normal[a], below = -d[a];
        most = select(above > most, above, most);
        most = select(below > most, below, most);
      }
      return most;
    }
    case EventKind::Length:
      return length - event.size * Reached;
    case EventKind::Surface:  // see candidateValue()
    case EventKind::Time:
    case EventKind::Isovalue:  // see fieldValue()
    case EventKind::Label:
    case EventKind::AnyLabel:
      break;
  }
  return age - event.size * Reached;
}

/// The same of an event of a field.
/// @param value,start  of the field: here, and at the beginning of the step
inline double fieldValue(const Event& event, double value, double start) {
  if (event.kind == EventKind::Isovalue) return value - event.size;
  const bool isLabel = event.kind == EventKind::Label;
  if (value != value || (!isLabel && start != start)) return value + start;  // not a number
  return (value == event.size && isLabel) || (value != start && !isLabel) ? 1 : -1;
}

/// Evaluates the fields of events at p.target.
/// @param cell  that holds it, for the log
/// @param time  at which the particle is there
inline void evaluateFields(const StepRules& rules, const Particle& p, std::int32_t cell,
                           double time, double* values) {
  if (!rules.fields) return;
  TrajectoryPoint point;
  for (int a = 0; a < 3; ++a) point.x[a] = p.target[a];
  point.time = time;
  point.line = p.line;
  point.index = p.steps;
  point.cell = cell;
  rules.fields->evaluate(*rules.block, point, values);
}

/// Whether a crossing from one value to another one counts. Zero is positive.
template <class Condition, class Number>
TRIBUTARY_INLINE Condition isCrossing(const Event& event, Number before, Number after) {
  const Condition isUp = after >= 0, wasUp = before >= 0, changes = wasUp ^ isUp;
  if (event.direction == EventDirection::Positive) return changes & isUp;
  if (event.direction == EventDirection::Negative) return changes & (isUp == 0);
  return changes;
}

/// The lanes of a pack whose steps cross a surface, by the straight lines between their ends.
TRIBUTARY_INLINE WideInt crossSurface(const EventSurface& surface, const Wide first[3],
                                      const Wide last[3]) {
  const Box& bounds = surface.bounds();
  WideInt meets = toCondition(bounds.empty() ? 0 : AllLanes);
  for (std::size_t a = 0; a < 3; ++a)
    meets &= ((first[a] >= bounds.lo[a]) | (last[a] >= bounds.lo[a])) &
             ((first[a] <= bounds.hi[a]) | (last[a] <= bounds.hi[a]));
  LaneSet crossing = 0;
  forEach(toLanes(meets), [&](int l) {
    const double from[3] = {first[0][l], first[1][l], first[2][l]};
    const double to[3] = {last[0][l], last[1][l], last[2][l]};
    if (surface.isCrossed(from, to)) crossing |= LaneSet(1) << l;
  });
  return toCondition(crossing);
}

/// The lanes of a pack whose steps may cross an event.
/// @param end,time,length  those at the ends of the steps
template <class P>
TRIBUTARY_INLINE WideInt mayCross(const StepRules& rules, const P& p, const Wide end[3], Wide time,
                                  Wide length) {
  WideInt any{};
  if (rules.fields) return toCondition(AllLanes);  // each particle evaluates them alone
  Wide first[3], last[3];
  for (int a = 0; a < 3; ++a) {
    const Wide direction = directionFrom<Wide>(p.x[a], end[a]);
    const Wide shift = shiftOfEnd<Wide>(rules, p.x[a], -direction, a);
    first[a] = p.x[a] - shift;
    last[a] = end[a] - shift;
    if (rules.period[a] > 0) any |= shift != shiftOfEnd<Wide>(rules, end[a], direction, a);
  }
  Wide begun{};
  if (rules.interval) forEach(p.alive, [&](int l) { begun[l] = p.particle[l]->events->begun; });
  const Wide before = ageOf(rules, begun, p.time), after = ageOf(rules, begun, time);
  for (int e = 0; e < rules.events.count; ++e) {
    const Event& event = rules.events.event[e];
    if (event.kind == EventKind::Surface) {
      any |= crossSurface(*event.surface, first, last);
      continue;
    }
    any |= isCrossing<WideInt>(event, eventValue(event, first, before, p.length),
                               eventValue(event, last, after, length));
  }
  return any;
}

/// The surface of a candidate; null if it is another event.
inline const EventSurface* surfaceOf(const StepRules& rules, int candidate) {
  const Event& event = rules.events.event[candidate % MostEvents];
  return event.kind == EventKind::Surface ? event.surface : nullptr;
}

/// What leads to an image of the step, along an axis: that of its beginning, or that of its end.
inline double shiftOfImage(const StepRules& rules, const Particle& p, int image, int a) {
  const double direction = directionFrom(p.x[a], p.events->end[a]);
  return image >> a & 1 ? shiftOfEnd(rules, p.events->end[a], direction, a)
                        : shiftOfEnd(rules, p.x[a], -direction, a);
}

/// The same for the image in which a candidate is tested.
inline double shiftOfCandidate(const StepRules& rules, const Particle& p, int candidate, int a) {
  const int image = surfaceOf(rules, candidate)
                        ? p.events->way[candidate % MostEvents] % EventImages
                        : candidate / MostEvents;
  return shiftOfImage(rules, p, image, a);
}

/// Whether the ends of the step are in different images along an axis.
inline bool leavesImage(const StepRules& rules, const Particle& p, int a) {
  const double direction = directionFrom(p.x[a], p.events->end[a]);
  return shiftOfEnd(rules, p.x[a], -direction, a) !=
         shiftOfEnd(rules, p.events->end[a], direction, a);
}

/// The time at the end of a part of a step. @param h  length of the part
inline double timeOfPart(const StepRules& rules, const Particle& p, double h) {
  return rules.interval ? timeAfter(rules, p.time, h) : p.time + h / p.speed;
}

/// The length of the line at the end of a part of a step. In an unsteady field, that of straight
/// lines between the points of the line. @param x  the end
inline double lengthOfPart(const StepRules& rules, const Particle& p, const double x[3], double h) {
  return p.length + (rules.interval ? distance(p.x, x) : magnitude(h));
}

/// The value of a candidate's function at a point of the step of a particle.
/// @pre EventProgress::end is the end of the step
/// @param h  length of the part of the step that leads to x
/// @param fields  their values there; null if no event is of a field
inline double candidateValue(const StepRules& rules, const Particle& p, int candidate,
                             const double x[3], double h, const double* fields) {
  const Event& event = rules.events.event[candidate % MostEvents];
  if (isOfField(event.kind))
    return fieldValue(event, fields[event.field], p.events->startField[event.field]);
  double image[3];
  for (int a = 0; a < 3; ++a) image[a] = x[a] - shiftOfCandidate(rules, p, candidate, a);
  if (const EventSurface* const surface = surfaceOf(rules, candidate))
    return surface->distance(p.events->plane[candidate % MostEvents], image);
  return eventValue(event, image, ageOf(rules, p.events->begun, timeOfPart(rules, p, h)),
                    lengthOfPart(rules, p, x, h));
}

/// The same at the beginning of the step.
inline double valueAtStart(const StepRules& rules, const Particle& p, int candidate) {
  return candidateValue(rules, p, candidate, p.x, 0, p.events->startField);
}

/// The same at the end of the step. @pre EventProgress::fullStep and endField are those of the step
inline double valueAtEnd(const StepRules& rules, const Particle& p, int candidate) {
  return candidateValue(rules, p, candidate, p.events->end, p.events->fullStep, p.events->endField);
}

/// Whether the function of an event jumps between -1 and 1, so that secants are of no use.
inline bool jumps(const Event& event) {
  return event.kind == EventKind::Label || event.kind == EventKind::AnyLabel;
}

/// The rounding error of the function of an event at a point of the step of a particle.
inline double eventRounding(const Event& event, const Particle& p, const double x[3]) {
  if (jumps(event)) return 0;
  double sum = magnitude(event.size);
  if (event.kind == EventKind::Time) sum += magnitude(p.events->begun);
  if (event.kind == EventKind::Isovalue) {
    // Interpolated from values that may be larger. One end may be beside a fill value.
    const double start = magnitude(p.events->startField[event.field]);
    const double end = magnitude(p.events->endField[event.field]);
    sum = 4 * (sum + (start < end ? start : end));
  }
  if (event.kind == EventKind::Surface) {
    const Box& bounds = event.surface->bounds();
    for (std::size_t a = 0; a < 3; ++a) sum += magnitude(bounds.lo[a]) + magnitude(bounds.hi[a]);
  }
  if (isPlace(event))
    for (int a = 0; a < 3; ++a)
      sum += magnitude(x[a]) + magnitude(event.origin[a]) +
             (event.kind == EventKind::Box ? magnitude(event.normal[a]) : 0);
  return 4 * std::numeric_limits<double>::epsilon() * sum;
}

/// How far outside of the periodic box a crossing may be, in periods: a plane on the side of the
/// box is found in one image.
constexpr double Slack = 1e-9;

/// The straight line of the step of a particle, in the images that it has.
inline StepChord chordOf(const StepRules& rules, const Particle& p) {
  StepChord chord;
  bool leaves[3];
  for (int a = 0; a < 3; ++a) {
    leaves[a] = leavesImage(rules, p, a);
    const double origin = rules.periodicOrigin[a], period = rules.period[a];
    const double most = std::numeric_limits<double>::max();
    chord.low[a] = leaves[a] ? origin - Slack * period : -most;
    chord.high[a] = leaves[a] ? origin + (1 + Slack) * period : most;
  }
  for (int number = 0; number < EventImages; ++number) {
    bool exists = true;
    for (int a = 0; a < 3; ++a) exists = exists && (leaves[a] || (number >> a & 1) == 0);
    if (!exists) continue;
    StepChord::Image& image = chord.image[chord.images++];
    image.number = number;
    for (int a = 0; a < 3; ++a) {
      const double shift = shiftOfImage(rules, p, number, a);
      image.from[a] = p.x[a] - shift;
      image.to[a] = p.events->end[a] - shift;
    }
  }
  return chord;
}

/// Goes on to the next crossing of a surface in the step of a particle.
/// @param isFirst  whether it is the first one
/// @return false if there is none, or if the event is another one
/// @pre EventProgress::end and fullStep are those of the step
inline bool goToNextHit(const StepRules& rules, Particle& p, int candidate, bool isFirst) {
  const EventSurface* const surface = surfaceOf(rules, candidate);
  if (!surface) return false;
  const int e = candidate % MostEvents;
  EventProgress& events = *p.events;
  StepChord chord = chordOf(rules, p);
  if (p.length == 0) chord.seedRounding = eventRounding(rules.events.event[e], p, p.x);
  SurfaceHit after, next;
  if (!isFirst) {
    after.triangle = events.hit[e];
    after.image = static_cast<std::int8_t>(events.way[e] % EventImages);
  }
  if (!surface->findNext(chord, rules.events.event[e].direction, after, next)) return false;
  events.hit[e] = events.plane[e] = next.triangle;
  events.way[e] = static_cast<std::uint8_t>(next.image + (next.alongNormal ? AlongNormal : 0));
  return true;
}

/// Finds the first crossings of surfaces in the step of a particle.
/// @pre as for goToNextHit()
inline void findFirstHits(const StepRules& rules, Particle& p) {
  for (int e = 0; e < rules.events.count; ++e) {
    p.events->hit[e] = p.events->plane[e] = -1;
    goToNextHit(rules, p, e, true);
  }
}

/// The label of the triangle that is crossed; -1 if the event is not at a surface.
inline std::int64_t targetOf(const StepRules& rules, const Particle& p) {
  const EventSurface* const surface = surfaceOf(rules, p.events->candidate);
  return surface ? surface->label(p.events->plane[p.events->candidate % MostEvents]) : -1;
}

/// A value of a candidate's function at an end of the bracket: of a surface on the side of the
/// plane on which the end is, which its rounding error may hide.
inline double valueOnSide(const StepRules& rules, const Particle& p, int candidate, double value,
                          bool isEnd) {
  if (!surfaceOf(rules, candidate)) return value;
  const bool isUp = ((p.events->way[candidate % MostEvents] & AlongNormal) != 0) == isEnd;
  if (isUp) return value >= 0 ? value : 0;
  return value < 0 ? value : -std::numeric_limits<double>::min();
}

/// Whether the step of a particle crosses an event, in an image that it has.
/// @pre EventProgress::end and fullStep are those of the step, and findFirstHits() was called
inline bool isCandidate(const StepRules& rules, const Particle& p, int candidate) {
  const int e = candidate % MostEvents, image = candidate / MostEvents;
  const Event& event = rules.events.event[e];
  if (e >= rules.events.count) return false;
  if (event.kind == EventKind::Surface) return image == 0 && p.events->hit[e] >= 0;
  for (int a = 0; a < 3; ++a)
    if ((image >> a & 1) != 0 && !(dependsOn(event, a) && leavesImage(rules, p, a))) return false;
  const double before = valueAtStart(rules, p, candidate);
  const double after = valueAtEnd(rules, p, candidate);
  if (before != before || after != after) return false;  // a field that is not a number
  if (!isCrossing<bool>(event, before, after)) return false;
  // Where a line is still at its seed, values of fields may change in time.
  if (isOfField(event.kind) && rules.interval && p.time != p.events->begun) return true;
  // A seed on the surface. One on a length or at a time does not exist.
  return p.length > 0 || !(isPlace(event) || event.kind == EventKind::Isovalue) ||
         magnitude(before) > eventRounding(event, p, p.x);
}

/// The candidates of a step that can be told apart, the first ones; no step crosses as many.
constexpr unsigned LastCandidate = 1u << 15;

/// The member of sets that stands for a candidate: candidates of a step are numbered in order. 0 if
/// the step does not cross it.
inline unsigned memberOf(const StepRules& rules, const Particle& p, int candidate) {
  if (!isCandidate(rules, p, candidate)) return 0;
  unsigned member = 1;
  for (int other = 0; other < candidate && member <= LastCandidate; ++other)
    if (isCandidate(rules, p, other)) member <<= 1;
  return member <= LastCandidate ? member : 0;
}

/// The first candidate that the step of a particle crosses before a point of it; -1 if there is
/// none.
/// @pre as for isCandidate()
/// @param h  length of the part of the step that leads to x
/// @param fields  as in candidateValue()
/// @param without  a set of candidates that are left out
inline int nextCandidate(const StepRules& rules, const Particle& p, const double x[3], double h,
                         const double* fields, unsigned without) {
  unsigned member = 1;
  for (int candidate = 0; candidate < EventCandidates && member <= LastCandidate; ++candidate) {
    if (!isCandidate(rules, p, candidate)) continue;
    const bool isLeftOut = (without & member) != 0;
    member <<= 1;
    if (isLeftOut) continue;
    if (h == p.events->fullStep) return candidate;
    const double there = candidateValue(rules, p, candidate, x, h, fields);
    const double after = valueOnSide(rules, p, candidate, valueAtEnd(rules, p, candidate), true);
    if (there != there || (there >= 0) != (after >= 0)) continue;
    // Of crossings at one place, that of the event that comes first in the list is found.
    const int e = candidate % MostEvents;
    const bool isLater = p.events->best >= 0 && e > p.events->best % MostEvents;
    if (isLater && magnitude(there) <= eventRounding(rules.events.event[e], p, x)) continue;
    return candidate;
  }
  return -1;
}

/// Whether the zero at a point counts: it lies in the periodic box, and in the half plane.
inline bool isCrossingAt(const StepRules& rules, const Particle& p, int candidate,
                         const double x[3]) {
  const Event& event = rules.events.event[candidate % MostEvents];
  if (event.kind == EventKind::Surface) return true;  // findNext() has looked
  double along = 0;
  for (int a = 0; a < 3; ++a) {
    const double image = x[a] - shiftOfCandidate(rules, p, candidate, a);
    along += (image - event.origin[a]) * event.side[a];
    if (!dependsOn(event, a) || !leavesImage(rules, p, a)) continue;
    const double from = (image - rules.periodicOrigin[a]) / rules.period[a];
    if (!(from >= -Slack && from <= 1 + Slack)) return false;
  }
  return event.kind != EventKind::HalfPlane || along > 0;
}

/// Whether a zero counts that no part of the step could find. Its place is approximated by that of
/// the zero of a linear function on the straight line between the ends of the step.
inline bool isCrossingBetweenEnds(const StepRules& rules, const Particle& p, int candidate) {
  const double* const end = p.events->end;
  const double before = valueAtStart(rules, p, candidate);
  const double after = valueAtEnd(rules, p, candidate);
  const double share = before / (before - after);
  double x[3];
  for (int a = 0; a < 3; ++a) x[a] = p.x[a] + share * (end[a] - p.x[a]);
  return isCrossingAt(rules, p, candidate, x);
}

/// The image, in the periodic box, of the crossing at p.target.
inline void imageOfCrossing(const StepRules& rules, const Particle& p, double image[3]) {
  const int candidate = p.events->candidate;
  const Event& event = rules.events.event[candidate % MostEvents];
  const bool isFound =
      p.events->phase == EventPhase::Arrive;  // else recorded at the end of the step
  for (int a = 0; a < 3; ++a)
    image[a] =
        p.target[a] - (isFound && dependsOn(event, a) ? shiftOfCandidate(rules, p, candidate, a)
                                                      : shiftOf(rules, p.target[a], a));
}

/// Where the secant through the ends of the bracket is zero.
inline double secantZero(const EventProgress& e) {
  const double at = e.high - e.highValue * ((e.high - e.low) / (e.highValue - e.lowValue));
  const double low = e.low < e.high ? e.low : e.high, high = e.low < e.high ? e.high : e.low;
  return at >= low && at <= high ? at : e.low + 0.5 * (e.high - e.low);
}

/// After this many trials by secants, brackets are halved.
constexpr std::uint8_t SecantTrials = 20;
/// After this many, the zero is taken for found: a function with a jump.
constexpr std::uint8_t MostTrials = 80;

/// Narrows the bracket by a trial (method of Anderson and Bjorck).
/// @param h,value  of the trial
/// @param rounding  a value that is zero
/// @param halves  whether brackets are halved from the first trial on
/// @return the next trial; h if it has found the zero
inline double narrow(EventProgress& e, double h, double value, double rounding, bool halves) {
  if (magnitude(value) <= rounding || ++e.trials >= MostTrials) return h;
  if ((value >= 0) == (e.highValue >= 0)) {
    const double factor = 1 - value / e.highValue;
    if (e.lastSide > 0) e.lowValue *= factor > 0 ? factor : 0.5;
    e.high = h;
    e.highValue = value;
    e.lastSide = 1;
  } else {
    const double factor = 1 - value / e.lowValue;
    if (e.lastSide < 0) e.highValue *= factor > 0 ? factor : 0.5;
    e.low = h;
    e.lowValue = value;
    e.lastSide = -1;
  }
  const double next =
      e.trials < SecantTrials && !halves ? secantZero(e) : e.low + 0.5 * (e.high - e.low);
  const double least = std::numeric_limits<double>::epsilon() * magnitude(e.fullStep);
  if (magnitude(next - h) > least) return next;
  // The secant of values that are very different lies on an end of the bracket.
  return magnitude(e.high - e.low) > 4 * least ? e.low + 0.5 * (e.high - e.low) : h;
}

/// Begins the search for the zero of a candidate in a part of the step.
/// @param end,h  the end of the part, and its length
/// @param fields  as in candidateValue()
inline void bracket(const StepRules& rules, Particle& p, int candidate, const double end[3],
                    double h, const double* fields) {
  EventProgress& e = *p.events;
  e.phase = EventPhase::Search;
  e.candidate = static_cast<std::int8_t>(candidate);
  e.tried = static_cast<std::uint16_t>(e.tried | memberOf(rules, p, candidate));
  e.trials = 0;
  e.lastSide = 0;
  e.low = 0;
  e.lowValue = valueOnSide(rules, p, candidate, valueAtStart(rules, p, candidate), false);
  e.high = h;
  e.highValue =
      valueOnSide(rules, p, candidate, candidateValue(rules, p, candidate, end, h, fields), true);
}

/// Whether a crossing that was found in a part of the step comes before one of the same step that
/// has been recorded: the step is curved where it meets a fold of a surface. It is then recorded at
/// the same place.
inline bool isLate(const StepRules& rules, const EventProgress& e, double h) {
  return surfaceOf(rules, e.candidate) && magnitude(h) < magnitude(e.reached);
}

/// The crossing that was found may be beside its triangle: goes on to search for it in the plane of
/// the triangle that is closest there, if the ends of the step are on different sides of it.
/// @param x  where it was found
/// @return whether it does
inline bool moveToClosest(const StepRules& rules, Particle& p, const double x[3]) {
  EventProgress& e = *p.events;
  const int candidate = e.candidate;
  const EventSurface* const surface = surfaceOf(rules, candidate);
  if (!surface || e.moves >= MostMoves) return false;
  double image[3], first[3], last[3];
  for (int a = 0; a < 3; ++a) {
    const double shift = shiftOfCandidate(rules, p, candidate, a);
    image[a] = x[a] - shift;
    first[a] = p.x[a] - shift;
    last[a] = e.end[a] - shift;
  }
  std::int32_t& plane = e.plane[candidate % MostEvents];
  const std::int32_t closest = surface->closest(plane, image);
  if (closest == plane) return false;
  const bool isUp = surface->distance(closest, last) >= 0;
  if ((surface->distance(closest, first) >= 0) == isUp ||
      isUp != ((e.way[candidate % MostEvents] & AlongNormal) != 0))
    return false;
  plane = closest;
  ++e.moves;
  bracket(rules, p, candidate, e.end, e.fullStep, e.endField);
  return true;
}

/// Keeps the earlier of the crossing that was found and those before; of crossings at one place,
/// that of the event that comes first.
inline void keepEarliest(EventProgress& e, double h) {
  const double least = 8 * std::numeric_limits<double>::epsilon() * magnitude(e.fullStep);
  const double lead = magnitude(e.bestStep) - magnitude(h);
  const bool isFirst = e.candidate % MostEvents < e.best % MostEvents;
  if (e.best >= 0 && !(isFirst ? lead >= -least : lead > least)) return;
  e.best = e.candidate;
  e.bestStep = h;
}

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary::detail
