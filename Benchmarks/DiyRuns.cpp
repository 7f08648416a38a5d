#include "DiyRuns.h"

#include <mpi.h>
#include <vtk_diy2.h>
// clang-format off
#include VTK_DIY2(diy/mpi.hpp)
#include VTK_DIY2(diy/master.hpp)
// clang-format on

#include <functional>

namespace bench {

namespace {

/// Blocks and links as DIY wants them. The blocks stay the caller's.
void addBlocks(diy::Master& master, const SlowBlockFlow& flow,
               const tributary::Assignment& assignment, std::vector<FlowBlock>& blocks) {
  for (FlowBlock& block : blocks) {
    auto* link = new diy::Link;  // owned by the master from add() on
    for (const BlockId id : flow.links(block.id))
      link->add_neighbor(diy::BlockID(static_cast<int>(id), assignment.rankOf(id)));
    master.add(static_cast<int>(block.id), &block, link);
  }
}

/// One callback through DIY's proxy. @return number of tracers sent
long step(const SlowBlockFlow& flow, const tributary::Assignment& assignment, FlowBlock& block,
          const diy::Master::ProxyWithLink& proxy) {
  std::vector<int> sources;
  proxy.incoming(sources);
  std::size_t source = 0;
  long sent = 0;
  flow.step(
      block,
      [&](Tracer& tracer) {
        for (; source < sources.size(); ++source)
          if (proxy.incoming(sources[source])) {
            proxy.dequeue(sources[source], tracer);
            return true;
          }
        return false;
      },
      [&](BlockId target, const Tracer& tracer) {
        proxy.enqueue(diy::BlockID(static_cast<int>(target), assignment.rankOf(target)), tracer);
        ++sent;
      });
  return sent;
}

}  // namespace

double runDiyIexchange(const SlowBlockFlow& flow, const tributary::Assignment& assignment,
                       std::vector<FlowBlock>& blocks, const DiyOptions& options) {
  diy::mpi::communicator world(MPI_COMM_WORLD);
  diy::Master master(world, 1, -1);
  addBlocks(master, flow, assignment, blocks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  master.iexchange(
      [&](FlowBlock* block, const diy::Master::ProxyWithLink& proxy) {
        step(flow, assignment, *block, proxy);
        return true;
      },
      options.minimumQueueBytes, options.holdMilliseconds, options.fine);
  return MPI_Wtime() - begin;
}

double runDiyExchange(const SlowBlockFlow& flow, const tributary::Assignment& assignment,
                      std::vector<FlowBlock>& blocks) {
  diy::mpi::communicator world(MPI_COMM_WORLD);
  diy::Master master(world, 1, -1);
  addBlocks(master, flow, assignment, blocks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  long underWay = 0;
  do {
    master.foreach ([&](FlowBlock* block, const diy::Master::ProxyWithLink& proxy) {
      const long sent = step(flow, assignment, *block, proxy);
      proxy.collectives()->clear();
      proxy.all_reduce(sent, std::plus<long>());
    });
    master.exchange();
    underWay = master.proxy(master.loaded_block()).read<long>();
  } while (underWay > 0);
  return MPI_Wtime() - begin;
}

}  // namespace bench
