// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "Tributary/Advection/FieldBlock.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/Vector.h"
#include "Tributary/Advection/detail/MeshTopology.h"
#include "Tributary/Advection/detail/kernels/MeshKernel.h"
#include "Tributary/Base/HugePages.h"
#include "Tributary/Base/ParallelFor.h"

namespace tributary::detail {

/// The records of a block, made when particles first visit their cells. They stay in the topology
/// when a block is made again, with other velocities.
struct MeshRecords {
  /// @param size   units of the records of all cells
  /// @param packs  see MeshView::mayPack
  MeshRecords(std::size_t size, bool packs);

  const std::size_t units;
  const bool mayPack;
  HugePages records;  ///< In the order of the first visits.
  HugePages cells;    ///< Their numbers: see MeshBlock::cellAt().

  std::mutex mutex;           ///< Of what follows, and of new records.
  std::size_t usedUnits = 0;  ///< Of the records made.
};

/// Some cells of a piece, as records that the kernels walk through. The record of a cell, its links
/// and the bins for searches are made when they are first needed.
class MeshBlock : public FieldBlock {
 public:
  /// Uses the records that the topology keeps of the block, and their velocities.
  /// @param number  of the block in its piece, from 0
  MeshBlock(std::shared_ptr<const MeshTopology> topology, int number);
  /// Reads the velocities of all records again. Not thread-safe.
  void readVelocities(const ParallelFor& parallelFor);

  Box bounds() const override { return topology_->box(number_); }
  void advance(const StepRules& rules, Span<Particle> particles, std::int64_t extraSteps,
               TrajectoryLog& log) const override;
  bool enter(std::int32_t& cell) const override;
  std::int32_t leave(std::int32_t cell) const override { return cellAt(cell); }
  void find(Span<CellQuery> queries) const override;
  void weights(const StepRules& rules, Span<const TrajectoryPoint> points,
               Weights& out) const override;
  std::vector<BlockId> neighbors() const override { return topology_->neighborsOf(number_); }
  std::size_t memory() const override;
  ArrayView velocity() const override { return piece_.velocity; }
  ArrayView laterVelocity() const override { return piece_.laterVelocity; }
  bool moves() const override { return isMoving(); }
  CopyKind copyKind() const override { return piece_.foreign ? CopyKind::None : CopyKind::Mesh; }
  CopySize copySize() const override;
  void writeCopy(Writer& writer) const override;
  void writePointData(Writer& writer, const void* tuples, std::size_t bytes) const override;
  void writeCellData(Writer& writer, const void* tuples, std::size_t bytes) const override;
  std::int64_t copiedCells() const override { return std::int64_t(piece_.types.size()); }
  std::int64_t copiedPoints() const override { return piece_.points.tuples; }
  /// Reads what writeCopy() has written: a copy of the whole piece.
  /// @param blocks  the number of blocks of all ranks
  [[nodiscard]] static std::unique_ptr<FieldBlock> read(BlockId id, int piece, BlockId blocks,
                                                        const ParallelFor& parallelFor,
                                                        Reader& reader);

 private:
  static MeshRecords& recordsOf(const MeshTopology& topology, int number);

  /// Room for the largest record.
  struct alignas(64) RecordBuffer {
    std::byte bytes[sizeof(CellRecord) + 4 * 8 * 4 * sizeof(double)];
  };

  /// A cell that holds the point of a query.
  struct Holder {
    std::int32_t cell;
    double violation, length;
    bool boxIsKnown;  ///< To contain the point.
  };

  bool isMoving() const { return view_.geometryAt != nullptr; }
  CellRecord& recordAt(std::int32_t number) const {
    return *reinterpret_cast<CellRecord*>(made_.records.data() +
                                          std::size_t(number) * MeshView::Unit);
  }
  std::int32_t& cellAt(std::int32_t number) const;
  std::int32_t recordOf(std::int32_t cell) const;
  CellRecord& fill(std::int32_t cell, RecordBuffer& buffer) const;
  static double fillTetrahedron(CellRecord& record, const V4* x);
  static double fillGeometry(CellRecord& record, std::size_t valueSize, const V4* x);
  void fillPoints(CellRecord& record, std::int32_t cell) const;
  static bool geometryAt(const CellRecord& cell, std::size_t valueSize, double share,
                         MovedCell& moved);
  const CellRecord& geometryOf(const StepRules& rules, const TrajectoryPoint& point,
                               MovedCell& moved) const;
  void fillVelocities(CellRecord& record, std::int32_t cell) const;
  template <class Real>
  void fillVelocitiesAs(CellRecord& record, std::int32_t cell) const;
  template <class Real>
  void fillVelocity(const CellRecord& record, std::int32_t cell, const ArrayView& array,
                    Real* out) const;
  static std::int32_t resolve(const void* self, std::int32_t number, int face, Neighbor& beyond);
  static bool foreignVelocity(const void* self, std::int32_t number, const double point[3],
                              double share, bool accept, double velocity[3]);
  void weightsInBoxes(const StepRules& rules, Span<const TrajectoryPoint> points, std::size_t first,
                      std::size_t end, Weights& out) const;
  void weightsAt(const StepRules& rules, const TrajectoryPoint& point, std::size_t p,
                 Weights& out) const;
  void foreignWeights(std::int32_t cell, const double x[3], std::size_t p, Weights& out) const;
  std::uint64_t contentOf(std::int32_t cell) const;
  void findTogether(Span<CellQuery> queries) const;
  std::optional<Holder> holderOf(std::int32_t cell, const CellQuery& query) const;
  void improve(const Holder& holder, CellQuery& query) const;
  void prefetchCell(std::int32_t cell) const;
  void prefetchPoints(std::int32_t cell) const;
  int maximumPoints() const {
    return std::max(8, piece_.foreign ? piece_.foreign->maximumPoints() : 0);
  }

  std::shared_ptr<const MeshTopology> topology_;
  const MeshPiece& piece_;
  int number_;
  std::size_t valueSize_;  // see geometryTerms()
  MeshView view_;
  MeshRecords& made_;  // kept by the topology
};

}  // namespace tributary::detail
