#pragma once

#include <cstddef>
#include <vector>

#include "RandomWalks.h"
#include "SlowBlockFlow.h"

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

/// The same in rounds of DIY's exchange, ended by its all-reduce of the messages under way.
double runDiyExchange(const SlowBlockFlow& flow, const tributary::Assignment& assignment,
                      std::vector<FlowBlock>& blocks);
double runDiyExchange(const RandomWalks& walks, const tributary::Assignment& assignment,
                      std::vector<WalkBlock>& blocks);

}  // namespace bench
