// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "vtkAsyncFeatureTracker.h"

#include <cstdint>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"

/// One way to find features in a step and to follow them from one step to the next, with what it
/// has to remember: two steps, and on each rank a part of what all steps came to. Every member
/// function is collective unless it says otherwise, and throws tributary::Error on all ranks or on
/// none; one that threw is not used any more.
class vtkAsyncFeatureTracker::vtkTracking {
 public:
  enum Ports { MESH_PORT, TRAJECTORIES_PORT, FEATURES_PORT, EVENTS_PORT, EDGES_PORT, PORT_COUNT };

  explicit vtkTracking(vtkAsyncFeatureTracker* self) : Self(self) {}
  virtual ~vtkTracking() = default;

  /// Takes up the next step. @param time  later than that of the last one
  /// @return false after an abort
  virtual bool TakeUp(tributary::Transport& transport, vtkDataObject* input, double time,
                      tributary::RunStatistics& statistics) = 0;
  /// Fills the outputs with what is known after the step just taken up.
  /// @return false after an abort
  virtual bool Write(tributary::Transport& transport, vtkDataObject* input,
                     vtkInformationVector* outputVector, tributary::RunStatistics& statistics) = 0;
  /// Local. Lets go of the input's data.
  virtual void Release() = 0;
  /// Local. Forgets the last step, so that another can be taken up in its place; once.
  virtual void TakeBack() = 0;

  /// Local. This rank's part of all that is remembered.
  virtual tributary::Bytes Save() const = 0;
  /// Goes on from what all ranks of some run had saved, on as many ranks or on others, instead of
  /// taking up a first step.
  /// @param parts  some here, those that were written after them on later ranks
  virtual void Load(tributary::Transport& transport,
                    const std::vector<tributary::Bytes>& parts) = 0;

 protected:
  /// Collective. What the parts on all ranks have in common, on each; throws Error if they differ.
  template <class Head>
  static Head Common(tributary::Transport& transport, const std::vector<Head>& ofParts) {
    const std::vector<Head> all = tributary::allgatherv(transport, ofParts);
    for (const Head& one : all) {
      if (!(one == all.front())) {
        throw tributary::Error("the parts of the checkpoint are not those of one step");
      }
    }
    if (all.empty()) {
      throw tributary::Error("the checkpoint has no parts");
    }
    return all.front();
  }

  vtkAsyncFeatureTracker* Self;
};
