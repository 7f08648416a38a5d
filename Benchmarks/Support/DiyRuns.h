// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "Components/ComponentProblems.h"
#include "Exchange/SlowBlockFlow.h"
#include "Support/Images.h"
#include "Support/RandomWalks.h"
#include "Tributary/Reduction/Rounds.h"

namespace bench {

/// DIY's own settings of its asynchronous exchange, with its defaults.
struct DiyOptions {
  std::size_t minimumQueueBytes = 0;
  std::size_t holdMilliseconds = 0;
  bool fine = false;  ///< Send after every enqueue.
};

/// Runs the flow's callback under DIY's iexchange on MPI_COMM_WORLD. Collective.
/// @param blocks  this rank's, seeded
/// @return this rank's seconds
double runDiyIexchange(const SlowBlockFlow& flow, const tributary::Assignment& assignment,
                       std::vector<FlowBlock>& blocks, const DiyOptions& options);
double runDiyIexchange(const RandomWalks& walks, const tributary::Assignment& assignment,
                       std::vector<WalkBlock>& blocks, const DiyOptions& options);
double runDiyIexchange(const LabelWork& labels, const tributary::Assignment& assignment,
                       std::vector<LabelBlock>& blocks, const DiyOptions& options);

/// The same in rounds of DIY's exchange, ended by its all-reduce of the messages under way.
double runDiyExchange(const SlowBlockFlow& flow, const tributary::Assignment& assignment,
                      std::vector<FlowBlock>& blocks);
double runDiyExchange(const RandomWalks& walks, const tributary::Assignment& assignment,
                      std::vector<WalkBlock>& blocks);
double runDiyExchange(const LabelWork& labels, const tributary::Assignment& assignment,
                      std::vector<LabelBlock>& blocks);

/// DIY's merge or swap reduction of images, as often as wanted with the same master and buffers.
class DiyReduction {
 public:
  /// Collective over MPI_COMM_WORLD.
  /// @param assignment  the same number of blocks on each rank
  /// @param images  of this rank's blocks; stay the caller's and are combined in place
  DiyReduction(const tributary::Assignment& assignment, Pattern pattern, int k, int threads,
               const CombinePixels& combine, const std::vector<Pixel*>& images,
               std::int64_t pixels);
  ~DiyReduction();

  void run();
  /// What a local block has of the result. @pre run()
  tributary::Interval part(std::size_t localBlock) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bench
