// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Domain.h"

#include <algorithm>
#include <cmath>

#include "Tributary/Advection/detail/MeshBlock.h"
#include "Tributary/Advection/detail/StructuredBlock.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

BoxIndex::BoxIndex(const std::vector<Box>& boxes) : boxes_(boxes) {
  std::size_t count = 0;
  for (const Box& box : boxes_) {
    if (box.empty()) continue;
    ++count;
    include(bounds_, box);
  }
  constexpr std::size_t Few = 8;  // to test all these takes less time than to find a bin
  bins_ = count <= Few ? 1 : std::llround(std::cbrt(2.0 * static_cast<double>(count)));

  const auto forEachBin = [&](const Box& box, auto&& visit) {
    if (box.empty()) return;
    std::int64_t lo[3], hi[3];
    for (int a = 0; a < 3; ++a) {
      lo[a] = binOf(a, box.lo[static_cast<std::size_t>(a)]);
      hi[a] = binOf(a, box.hi[static_cast<std::size_t>(a)]);
    }
    for (auto k = lo[2]; k <= hi[2]; ++k)
      for (auto j = lo[1]; j <= hi[1]; ++j)
        for (auto i = lo[0]; i <= hi[0]; ++i)
          visit(static_cast<std::size_t>((k * bins_ + j) * bins_ + i));
  };
  const auto bins = static_cast<std::size_t>(bins_ * bins_ * bins_);
  blocks_ = {bins, [&](auto&& visit) {
               for (std::size_t b = 0; b < boxes_.size(); ++b)
                 forEachBin(boxes_[b],
                            [&](std::size_t bin) { visit(bin, static_cast<BlockId>(b)); });
             }};
}

std::int64_t BoxIndex::binOf(int axis, double coordinate) const {
  const auto a = static_cast<std::size_t>(axis);
  const double width = bounds_.hi[a] - bounds_.lo[a];
  if (bins_ == 1 || !(width > 0)) return 0;
  const double bin = (coordinate - bounds_.lo[a]) / width * static_cast<double>(bins_);
  // Limited as a double: the boxes of other ranks may be of any size.
  if (!(bin > 0)) return 0;
  return static_cast<std::int64_t>(std::min(bin, static_cast<double>(bins_ - 1)));
}

BlockId BoxIndex::next(const double point[3], BlockId after) const {
  if (bounds_.empty() || !bounds_.contains(point)) return -1;
  const auto bin = static_cast<std::size_t>(
      (binOf(2, point[2]) * bins_ + binOf(1, point[1])) * bins_ + binOf(0, point[0]));
  const Span<const BlockId> blocks = blocks_[bin];
  for (const BlockId* it = std::upper_bound(blocks.begin(), blocks.end(), after);
       it != blocks.end(); ++it)
    if (boxes_[static_cast<std::size_t>(*it)].contains(point)) return *it;
  return -1;
}

Domain makeDomain(Transport& transport, Assignment assignment,
                  std::vector<std::unique_ptr<FieldBlock>> blocks, StructuredGrids grids) {
  struct Summary {
    Box box;
    std::int64_t unsteady;
  };
  std::vector<Summary> mine;
  collectively(transport, [&] {
    for (const auto& block : blocks)
      mine.push_back({block->bounds(), block->laterVelocity().data != nullptr});
  });
  const std::vector<Summary> all = allgatherv(transport, mine);
  bool anySteady = false, anyUnsteady = false;
  BoxIndex boxes;
  collectively(transport, [&] {
    std::vector<Box> list;
    for (const Summary& block : all) {
      list.push_back(block.box);
      if (block.box.empty()) continue;  // it may have no arrays
      (block.unsteady != 0 ? anyUnsteady : anySteady) = true;
    }
    // The same on all ranks, unless a message was damaged.
    if (anySteady && anyUnsteady)
      throw Error(
          "some blocks have velocities at the end of the interval and others do not; give them for "
          "all pieces or for none");
    boxes = BoxIndex(list);
  });
  return {std::move(blocks), std::move(assignment), std::move(boxes), std::move(grids),
          anyUnsteady};
}

bool canBeCopied(const Domain& domain, const FieldBlock& block) {
  switch (block.copyKind()) {
    case FieldBlock::CopyKind::None:
      return false;
    case FieldBlock::CopyKind::Structured:
      return !domain.grids.empty();
    case FieldBlock::CopyKind::Mesh:
      break;
  }
  return true;
}

void writeBlock(const FieldBlock& block, Writer& writer) {
  writer.value(block.copyKind());
  block.writeCopy(writer);
}

std::unique_ptr<FieldBlock> readBlock(const Domain& domain, BlockId id, int piece, Reader& reader,
                                      const ParallelFor& parallelFor) {
  std::unique_ptr<FieldBlock> block;
  switch (reader.value<FieldBlock::CopyKind>()) {
    case FieldBlock::CopyKind::Structured:
      block = detail::StructuredBlock::read(id, piece, domain.grids, reader);
      break;
    case FieldBlock::CopyKind::Mesh:
      block = detail::MeshBlock::read(id, piece, domain.assignment.total(), parallelFor, reader);
      break;
    case FieldBlock::CopyKind::None:
      break;
  }
  if (!block) refuseMessage("a block of an unknown kind");
  if ((block->laterVelocity().data != nullptr) != domain.unsteady)
    refuseMessage("a block of a field that changes in another way");
  return block;
}

}  // namespace tributary
