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

/// The parameters of DIY's asynchronous exchange, with its defaults.
struct DiyOptions {
  std::size_t minimumQueueBytes = 0;
  double holdTime = 0;  ///< In microseconds; rounded up to milliseconds, the unit of DIY.
  bool fine = false;    ///< Send after every enqueue.
};

/// Runs the callback of some work under DIY's iexchange on MPI_COMM_WORLD. Collective. `Work` is
/// SlowBlockFlow, RandomWalks or LabelWork.
/// @param blocks  the blocks of this rank with their initial data
/// @return the seconds of this rank
template <class Work>
double runDiyIexchange(const Work& work, const tributary::Assignment& assignment,
                       std::vector<typename Work::Block>& blocks, const DiyOptions& options);

/// The same in rounds of DIY's exchange, which ends when an all-reduce finds no message in flight.
template <class Work>
double runDiyExchange(const Work& work, const tributary::Assignment& assignment,
                      std::vector<typename Work::Block>& blocks);

/// DIY's merge or swap reduction of images. Can be run repeatedly with the same master and buffers.
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
