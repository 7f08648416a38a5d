// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Common/Leaves.h"
#include "Features/FeatureCells.h"
#include "Features/FeatureHistory.h"
#include "Features/FeatureTracking.h"
#include "Regions/ComponentDomain.h"
#include "Regions/RangeRegions.h"
#include "Regions/RegionWriting.h"

#include "Tributary/Base/FixedSum.h"
#include "Tributary/Features/FeatureGraph.h"

#include <cstdint>
#include <memory>
#include <vector>

/// Regions of connected cells, matched by what they share: see tributary::FeatureGraph.
class vtkAsyncFeatureTracker::vtkRegions : public vtkTracking {
 public:
  using vtkTracking::vtkTracking;

  bool TakeUp(tributary::Transport& transport, vtkDataObject* input, double time,
              tributary::RunStatistics& statistics) override;
  bool Write(tributary::Transport& transport, vtkDataObject* input,
             vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  void Release() override;
  void TakeBack() override;
  tributary::Bytes Save() const override;
  void Load(tributary::Transport& transport, const std::vector<tributary::Bytes>& parts) override;

 private:
  /// After a step all that is needed to take up the next one.
  struct Moment {
    std::int64_t Steps = 0;
    double Time = 0;
    std::vector<tributary::Bytes> Graph;
    std::vector<tributary::FlowingSample> Samples;
    tributary::FixedScale Scale;  ///< Of the samples' volumes.
  };

  bool FindRegions(tributary::Transport& transport, vtkDataObject* input,
                   tributary::RunStatistics& statistics);
  std::vector<tributary::FlowingSample> MakeSamples(tributary::Transport& transport);
  void Follow(tributary::Transport& transport, double time);
  void AddTracks(tributary::Transport& transport, vtkDataObject* output);

  const std::vector<tributary::RegionOfSet>& RegionsOf(std::size_t leaf) const {
    return this->Ranges.front().regions.numbered.ofSet[leaf];
  }

  Moment Before;  ///< The last step, to take it up again.
  Moment Now;
  tributary::FeatureHistory History;

  // Of the step that is being taken up.
  std::vector<tributary::Leaf> Leaves;
  std::unique_ptr<const tributary::ComponentDomain> Domain;
  std::vector<tributary::ShownRange> Ranges;  ///< One.
  std::unique_ptr<tributary::FeatureGraph> Graph;
  tributary::TrackedStep Tracked;
};
