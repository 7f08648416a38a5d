// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// How far in an interval a time is. Exactly 0 or 1 where the time differs from an end of the
/// interval by no more than rounding errors. Local.
[[nodiscard]] double shareThroughChange(const TimeInterval& interval, double time);

/// The result of traceThroughChange() on this rank. An accepted point is recorded in each mesh that
/// gave a part of its velocity: in the earlier one unless shareThroughChange() of its time is 1, in
/// the later one unless it is 0. Logs may hold one more point of a line, which was not accepted:
/// its index is LineEnd::points or more.
struct MeshChangeTrace {
  /// Its logs are those of the blocks of the earlier mesh. TraceResult::points are the accepted
  /// ones. Nothing is borrowed, and LineEnd does not tell blocks and cells.
  TraceResult traced;
  std::vector<std::vector<TrajectoryLog>> laterLogs;  ///< Per block of the later mesh.
};

/// Traces particles through an interval between two steps of an unsteady field that have different
/// meshes, cut and distributed in any way. Collective.
///
/// The velocity at a place is linear in time between those that the two meshes have there. At a
/// time where only one of them counts, only its mesh must hold the place; in between both must, or
/// the particle ends with Reason::OutOfDomain (a seed with Reason::NotInitialized). Cells are found
/// in each mesh as trace() finds them. The unit of steps in cell lengths is the smaller one of the
/// lengths of the two cells. Particles and results are those of trace(), and do not depend on ranks
/// or blocks either. There are no events and no lending, and hand-overs are counted between ranks.
/// In a timeline, a call is that of a rank, whose number it has. Takes about 6 times as long as
/// trace() of a mesh of tetrahedra that stays, and up to 20 times as long as of an image.
///
/// Throws Error on all ranks if an option or a seed is not valid on one.
/// @param earlier  the mesh at the beginning of the interval, with velocities at two times, of
///                 which the first one counts; must outlive the call, as must `later`
/// @param later  the mesh at the end of the interval, whose first velocities count, too
/// @param seeds  of this rank; Seed::block and Seed::cell are not used
/// @param options  the rules, with an interval, and directions are the same on all ranks
[[nodiscard]] MeshChangeTrace traceThroughChange(Transport& transport, const Domain& earlier,
                                                 const Domain& later, Span<const Seed> seeds,
                                                 const TraceOptions& options);

}  // namespace tributary
