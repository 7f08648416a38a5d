// SPDX-License-Identifier: BSD-3-Clause
#include "Support/DiyRuns.h"

#include <mpi.h>
#include <vtk_diy2.h>
// clang-format off
#include VTK_DIY2(diy/mpi.hpp)
#include VTK_DIY2(diy/master.hpp)
#include VTK_DIY2(diy/assigner.hpp)
#include VTK_DIY2(diy/decomposition.hpp)
#include VTK_DIY2(diy/reduce.hpp)
#include VTK_DIY2(diy/partners/merge.hpp)
#include VTK_DIY2(diy/partners/swap.hpp)
// clang-format on

#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>

#include "Support/Mpi.h"

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

std::vector<BlockId> linksOf(const LabelWork& labels, const Assignment&, BlockId block) {
  return labels.links(block);
}

/// Work on its blocks, run by DIY.
template <class Work>
class DiyRun {
  using Block = typename Work::Block;
  using Message = typename Work::Message;

 public:
  /// @param blocks  must outlive this object
  DiyRun(const Work& work, const Assignment& assignment, std::vector<Block>& blocks)
      : work_(work), perRank_(assignment.count(0)), world_(MPI_COMM_WORLD), master_(world_, 1, -1) {
    for (Block& block : blocks) {
      auto* link = new diy::Link;  // owned by the master from add() on
      for (const BlockId id : linksOf(work, assignment, block.id)) link->add_neighbor(place(id));
      master_.add(static_cast<int>(block.id), &block, link);
    }
    checkMpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  }

  double iexchange(const DiyOptions& options) {
    const double begin = MPI_Wtime();
    master_.iexchange(
        [&](Block* block, const diy::Master::ProxyWithLink& proxy) {
          step(*block, proxy);
          return true;
        },
        options.minimumQueueBytes, static_cast<std::size_t>(std::ceil(options.holdTime / 1e3)),
        options.fine);
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
  /// All ranks have the same number of blocks.
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

struct DiyImage {
  Pixel* pixels = nullptr;
  tributary::Interval part;
  std::vector<Pixel> received;
};

}  // namespace

struct DiyReduction::State {
  State(const Assignment& assignment, Pattern pattern, int k, int threads,
        const CombinePixels& combineThem, std::int64_t pixelsEach)
      : master(world, threads, -1),
        assigner(world.size(), static_cast<int>(assignment.total())),
        decomposer(1, diy::interval(0, static_cast<int>(assignment.total()) - 1),
                   static_cast<int>(assignment.total())),
        mergePartners(decomposer, k),
        swapPartners(decomposer, k),
        usedPattern(pattern),
        combine(combineThem),
        pixels(pixelsEach) {}

  void merge(DiyImage& image, const diy::ReduceProxy& proxy) const {
    const auto count = static_cast<std::size_t>(pixels);
    for (int i = 0; i < proxy.in_link().size(); ++i) {
      const int from = proxy.in_link().target(i).gid;
      if (from == proxy.gid()) continue;
      proxy.dequeue(from, image.received.data(), count);
      combine(image.pixels, image.received.data(), image.pixels, count);
    }
    for (int i = 0; i < proxy.out_link().size(); ++i) {
      const diy::BlockID to = proxy.out_link().target(i);
      if (to.gid != proxy.gid()) proxy.enqueue(to, image.pixels, count);
    }
    image.part = {0, proxy.gid() == 0 ? pixels : 0};
  }

  void swap(DiyImage& image, const diy::ReduceProxy& proxy) const {
    const auto count = static_cast<std::size_t>(image.part.size());
    Pixel* own = image.pixels + image.part.begin;
    const diy::Link& senders = proxy.in_link();
    const int position = positionIn(senders, proxy.gid());
    // Outwards from this block's own, which keeps the order.
    for (int i = position + 1; i < senders.size(); ++i) {
      proxy.dequeue(senders.target(i).gid, image.received.data(), count);
      combine(own, image.received.data(), own, count);
    }
    for (int i = position - 1; i >= 0; --i) {
      proxy.dequeue(senders.target(i).gid, image.received.data(), count);
      combine(image.received.data(), own, own, count);
    }
    const diy::Link& receivers = proxy.out_link();
    const tributary::Interval before = image.part;
    for (int i = 0; i < receivers.size(); ++i) {
      const tributary::Interval share{before.begin + before.size() * i / receivers.size(),
                                      before.begin + before.size() * (i + 1) / receivers.size()};
      const diy::BlockID to = receivers.target(i);
      if (to.gid == proxy.gid()) {
        image.part = share;
      } else {
        proxy.enqueue(to, image.pixels + share.begin, static_cast<std::size_t>(share.size()));
      }
    }
  }

  static int positionIn(const diy::Link& link, int gid) {
    int position = 0;
    while (position < link.size() && link.target(position).gid != gid) ++position;
    return position;
  }

  diy::mpi::communicator world{MPI_COMM_WORLD};
  diy::Master master;
  diy::ContiguousAssigner assigner;
  diy::RegularDecomposer<diy::DiscreteBounds> decomposer;
  diy::RegularMergePartners mergePartners;
  diy::RegularSwapPartners swapPartners;
  Pattern usedPattern;
  CombinePixels combine;
  std::int64_t pixels;
  std::vector<DiyImage> images;
};

DiyReduction::DiyReduction(const Assignment& assignment, Pattern pattern, int k, int threads,
                           const CombinePixels& combine, const std::vector<Pixel*>& images,
                           std::int64_t pixels)
    : state_(std::make_unique<State>(assignment, pattern, k, threads, combine, pixels)) {
  const int rank = worldRank();
  state_->images.resize(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    DiyImage& image = state_->images[i];
    image.pixels = images[i];
    image.received.resize(static_cast<std::size_t>(pixels));
    state_->master.add(static_cast<int>(assignment.first(rank)) + static_cast<int>(i), &image,
                       new diy::Link);  // owned by the master
  }
}

DiyReduction::~DiyReduction() = default;

void DiyReduction::run() {
  for (DiyImage& image : state_->images) image.part = {0, state_->pixels};
  if (state_->usedPattern == Pattern::Merge) {
    diy::reduce(state_->master, state_->assigner, state_->mergePartners,
                [this](DiyImage* image, const diy::ReduceProxy& proxy,
                       const diy::RegularMergePartners&) { state_->merge(*image, proxy); });
  } else {
    diy::reduce(state_->master, state_->assigner, state_->swapPartners,
                [this](DiyImage* image, const diy::ReduceProxy& proxy,
                       const diy::RegularSwapPartners&) { state_->swap(*image, proxy); });
  }
}

tributary::Interval DiyReduction::part(std::size_t localBlock) const {
  return state_->images[localBlock].part;
}

template <class Work>
double runDiyIexchange(const Work& work, const Assignment& assignment,
                       std::vector<typename Work::Block>& blocks, const DiyOptions& options) {
  return DiyRun<Work>(work, assignment, blocks).iexchange(options);
}

template <class Work>
double runDiyExchange(const Work& work, const Assignment& assignment,
                      std::vector<typename Work::Block>& blocks) {
  return DiyRun<Work>(work, assignment, blocks).exchange();
}

#define INSTANTIATE_DIY_RUNS(Work)                                                           \
  template double runDiyIexchange(const Work&, const Assignment&, std::vector<Work::Block>&, \
                                  const DiyOptions&);                                        \
  template double runDiyExchange(const Work&, const Assignment&, std::vector<Work::Block>&)

INSTANTIATE_DIY_RUNS(SlowBlockFlow);
INSTANTIATE_DIY_RUNS(RandomWalks);
INSTANTIATE_DIY_RUNS(LabelWork);

}  // namespace bench
