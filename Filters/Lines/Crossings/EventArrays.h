// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "Lines/Crossings/EventText.h"
#include "Lines/DomainFromVTK.h"
#include "Lines/PointArrays.h"
#include "Lines/PointEvaluator.h"

#include "Tributary/Advection/Events.h"
#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/StepRules.h"
#include "Tributary/Advection/Trajectory.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective. Selects the arrays that lines carry, and those of events: labels at cells before
/// labels at points, values at points before values at cells. In an unsteady field, data sets have
/// them at both steps.
/// @param all  see agreeOnPointArrays()
/// @param names  as in selectArrays()
/// @param places  Out: of the arrays of events in the list
/// @throws Error on all ranks if an array of an event is missing in a data set, or has more than
///         one component
[[nodiscard]] PointArrayList selectWithEvents(Transport& transport, const PointArrayList& all,
                                              const FlowDomain& flow, std::set<std::string> names,
                                              const std::vector<EventArray>& events,
                                              std::vector<std::size_t>& places);

/// The arrays of events as fields of a trace.
class EventArrayFields : public EventFields {
 public:
  /// @param evaluator  of the list that selectWithEvents() has returned; must outlive this
  /// @param rules  of the trace; only the period and the interval are used
  EventArrayFields(const PointEvaluator& evaluator, const StepRules& rules,
                   const std::vector<EventArray>& events, const std::vector<std::size_t>& places)
      : evaluator_(evaluator), rules_(rules), events_(events), places_(places) {}

  void evaluate(const FieldBlock& block, const TrajectoryPoint& point,
                double* values) const override;

 private:
  const PointEvaluator& evaluator_;
  StepRules rules_;
  std::vector<EventArray> events_;
  std::vector<std::size_t> places_;
};

}  // namespace tributary
