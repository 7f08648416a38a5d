// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "Tributary/Advection/Events.h"

namespace tributary {

/// Why a line ended. The values up to Stagnation are those of vtkStreamTracer.
enum class Reason : std::uint8_t {
  None = 0,
  OutOfDomain = 1,
  NotInitialized = 2,   ///< The seed is outside all cells: there is no line.
  UnexpectedValue = 3,  ///< The velocity is not finite.
  OutOfLength = 4,
  OutOfSteps = 5,
  Stagnation = 6,
  OutOfTime = 7,
  Event = 8  ///< See Event::endsLine.
};

/// The next operation of a particle.
enum class Status : std::uint8_t {
  Active,   ///< An evaluation at `target` in a known block and cell (`block`, `cell`).
  Seeking,  ///< A search for the cell of `target`: of a seed, or after a face without a link.
  Finished  ///< None; see `reason`.
};

/// What a particle does about the events that its step crosses.
enum class EventPhase : std::uint8_t {
  None,     ///< It takes steps.
  Search,   ///< It takes a part of the step again, to find the zero of an event's function.
  Arrive,   ///< It takes the part of the step that ends at the crossing.
  Return,   ///< It goes on from the end of the step.
  Fallback  ///< The same, after the search for a crossing has failed.
};

/// The crossings of a line, and the state of the search for one. A step that crosses an event waits
/// at its end, where the velocity is known. From its beginning, the particle takes parts of the
/// step, as any other step, until one ends at the crossing.
struct EventProgress {
  // The step, and what is known at its end.
  double fullStep;  ///< Its Particle::h.
  double end[3];
  double slope[3];    ///< Unit direction of the velocity.
  double speed;       ///< Its magnitude.
  double cellLength;  ///< See Particle.
  // Events of fields: the values of EventFields at the beginning of the step, and at its end.
  double startField[MostEvents];
  double endField[MostEvents];

  // The search. Lengths are those of parts of the step, with the sign of fullStep.
  double low, lowValue;    ///< One end of the bracket, and the value of the function.
  double high, highValue;  ///< The other one, where the function has the other sign.
  double bestStep;         ///< Of the earliest crossing found so far.

  // Events at surfaces: see EventTest.h.
  double reached;                  ///< Part of the step up to the crossing recorded last.
  std::int32_t hit[MostEvents];    ///< The triangle that the straight line to `end` crosses, or -1.
  std::int32_t plane[MostEvents];  ///< That in whose plane the crossing is.
  std::uint8_t way[MostEvents];    ///< How the line crosses the first one.

  double begun;                    ///< In an unsteady field the time at which the line began.
  std::int64_t endBlock;           ///< The block of `endCell`, if the particle is in another one.
  std::int32_t endCell;            ///< The cell of `end`; for FieldBlock::enter() in another block.
  std::int32_t count[MostEvents];  ///< Crossings of each event so far.
  std::uint16_t handled;           ///< Set of the candidates that are dealt with in this step.
  std::uint16_t tried;             ///< Those searched for since.
  std::uint16_t failed;            ///< Those that are recorded at the end of the step.
  std::int8_t candidate;           ///< What is searched for: see EventTest.h.
  std::int8_t best;                ///< That of `bestStep`; -1 for none.
  std::int8_t lastSide;            ///< The end of the bracket that was moved last: -1, 1 or 0.
  std::uint8_t trials;
  std::uint8_t moves;  ///< From one plane of a surface to another one.
  EventPhase phase;
};

/// Owns the EventProgress of a particle, or nothing, if no events are traced: then particles stay
/// small. Copies are deep.
class OwnedEventProgress {
 public:
  OwnedEventProgress() = default;
  OwnedEventProgress(const OwnedEventProgress& other)
      : progress_(other ? std::make_unique<EventProgress>(*other) : nullptr) {}  ///< Deep copy.
  OwnedEventProgress(OwnedEventProgress&&) noexcept = default;
  OwnedEventProgress& operator=(OwnedEventProgress other) noexcept {
    progress_ = std::move(other.progress_);
    return *this;
  }
  ~OwnedEventProgress() = default;

  /// Begins anew: no crossings, and no search.
  EventProgress& emplace() { return *(progress_ = std::make_unique<EventProgress>()); }
  explicit operator bool() const { return progress_ != nullptr; }  ///< Whether it owns any.
  EventProgress& operator*() { return *progress_; }
  const EventProgress& operator*() const { return *progress_; }
  EventProgress* operator->() { return progress_.get(); }
  const EventProgress* operator->() const { return progress_.get(); }

 private:
  std::unique_ptr<EventProgress> progress_;
};

/// A particle with the complete state of its integrator, also in the middle of a step.
///
/// A step of a scheme with S stages consists of evaluations of the velocity, one at a time, each
/// made by the block that owns the cell at that point. `stage` is the next evaluation and `target`
/// its position: stage 0 is the seed, stages 1 to S - 1 give the slope k[stage], and stage S is the
/// evaluation at the end of the step, which gives the first slope of the next step. All later
/// operations read only this struct, so a particle can be handed over before any evaluation, and
/// its line is the same bit by bit.
struct alignas(32) Particle {
  // Positions and slopes have a fourth, unused lane: x, y, z are loaded as one vector.
  double x[4];       ///< The start of the step.
  double target[4];  ///< The point of the next evaluation; a function of x, k, h and stage.
  double k[6][4];    ///< Unit directions computed so far in this step.

  double h;           ///< Arc length of the attempted step; negative if backward.
  double next;        ///< Size that error control proposes for the next step.
  double minimum;     ///< Bounds of |h|, from the cell in which the step began.
  double maximum;     //
  double cellLength;  ///< Diagonal of the bounding box of that cell.
  double speed;       ///< Magnitude of the velocity at x.
  double time;        ///< Integration time at x; decreases if h is negative.
  double length;      ///< Arc length traveled so far; in an unsteady field only with events.

  std::int64_t line;       ///< 2 * seed + (1 if backward).
  std::int64_t block;      ///< The block of the next evaluation.
  std::int32_t cell;       ///< Cell of that block, by a number of its own: see FieldBlock::enter().
  std::int32_t steps;      ///< Steps accepted so far; steps + 1 points were recorded.
  std::int32_t crossings;  ///< Faces crossed in search of `target`.
  std::int8_t face;        ///< Face of `cell` through which it was entered, or AnyFace, Accept.
  std::uint8_t stage;
  Status status;
  Reason reason;
  bool lastTry;  ///< The step size was clipped: accept the result for any error (RK4-5).

  OwnedEventProgress events;

  static constexpr std::int8_t AnyFace = -1;
  /// Evaluate in `cell` although `target` may be outside by a rounding error: a global search found
  /// no better cell.
  static constexpr std::int8_t Accept = -2;

  /// Whether the line is integrated against the flow.
  bool backward() const { return line & 1; }
  /// Whether the particle is about an event, and takes no step.
  bool isAtEvent() const { return events && events->phase != EventPhase::None; }
};
// Where lines are short, the first touch of the memory of particles is a good part of the time.
static_assert(sizeof(Particle) <= 384, "what only some traces need is kept elsewhere");

}  // namespace tributary
