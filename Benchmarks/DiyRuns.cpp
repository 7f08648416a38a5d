#include "DiyRuns.h"

#include <mpi.h>
#include <vtk_diy2.h>
// clang-format off
#include VTK_DIY2(diy/mpi.hpp)
#include VTK_DIY2(diy/master.hpp)
// clang-format on

#include <functional>
#include <numeric>

namespace bench {

namespace {

using tributary::Assignment;

/// The blocks that a block may send to.
std::vector<BlockId> linksOf(const SlowBlockFlow& flow, const Assignment&, BlockId block) {
  return flow.links(block);
}
std::vector<BlockId> linksOf(const RandomWalks&, const Assignment& assignment, BlockId) {
  std::vector<BlockId> links(static_cast<std::size_t>(assignment.total()));
  std::iota(links.begin(), links.end(), 0);
  return links;
}

/// Some work on its blocks, run by DIY. `Work` is a SlowBlockFlow or RandomWalks.
template <class Work, class Block, class Message>
class DiyRun {
 public:
  /// The blocks stay the caller's.
  DiyRun(const Work& work, const Assignment& assignment, std::vector<Block>& blocks)
      : work_(work), perRank_(assignment.count(0)), world_(MPI_COMM_WORLD), master_(world_, 1, -1) {
    for (Block& block : blocks) {
      auto* link = new diy::Link;  // owned by the master from add() on
      for (const BlockId id : linksOf(work, assignment, block.id)) link->add_neighbor(place(id));
      master_.add(static_cast<int>(block.id), &block, link);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  double iexchange(const DiyOptions& options) {
    const double begin = MPI_Wtime();
    master_.iexchange(
        [&](Block* block, const diy::Master::ProxyWithLink& proxy) {
          step(*block, proxy);
          return true;
        },
        options.minimumQueueBytes, options.holdMilliseconds, options.fine);
    return MPI_Wtime() - begin;
  }

  double exchange() {
    const double begin = MPI_Wtime();
    long underWay = 0;
    do {
      master_.foreach ([&](Block* block, const diy::Master::ProxyWithLink& proxy) {
        const long sent = step(*block, proxy);
        proxy.collectives()->clear();
        proxy.all_reduce(sent, std::plus<long>());
      });
      master_.exchange();
      underWay = master_.proxy(master_.loaded_block()).template read<long>();
    } while (underWay > 0);
    return MPI_Wtime() - begin;
  }

 private:
  /// Every rank has as many blocks.
  diy::BlockID place(BlockId block) const {
    return {static_cast<int>(block), static_cast<int>(block / perRank_)};
  }

  /// One callback through DIY's proxy. @return number of messages sent
  long step(Block& block, const diy::Master::ProxyWithLink& proxy) {
    std::vector<int> sources;
    proxy.incoming(sources);
    std::size_t source = 0;
    long sent = 0;
    work_.step(
        block,
        [&](Message& message) {
          for (; source < sources.size(); ++source)
            if (proxy.incoming(sources[source])) {
              proxy.dequeue(sources[source], message);
              return true;
            }
          return false;
        },
        [&](BlockId target, const Message& message) {
          proxy.enqueue(place(target), message);
          ++sent;
        });
    return sent;
  }

  const Work& work_;
  BlockId perRank_;
  diy::mpi::communicator world_;
  diy::Master master_;
};

using FlowRun = DiyRun<SlowBlockFlow, FlowBlock, Tracer>;
using WalkRun = DiyRun<RandomWalks, WalkBlock, Walker>;

}  // namespace

double runDiyIexchange(const SlowBlockFlow& flow, const Assignment& assignment,
                       std::vector<FlowBlock>& blocks, const DiyOptions& options) {
  return FlowRun(flow, assignment, blocks).iexchange(options);
}

double runDiyIexchange(const RandomWalks& walks, const Assignment& assignment,
                       std::vector<WalkBlock>& blocks, const DiyOptions& options) {
  return WalkRun(walks, assignment, blocks).iexchange(options);
}

double runDiyExchange(const SlowBlockFlow& flow, const Assignment& assignment,
                      std::vector<FlowBlock>& blocks) {
  return FlowRun(flow, assignment, blocks).exchange();
}

double runDiyExchange(const RandomWalks& walks, const Assignment& assignment,
                      std::vector<WalkBlock>& blocks) {
  return WalkRun(walks, assignment, blocks).exchange();
}

}  // namespace bench
