// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureCells.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkIdList.h>
#include <vtkNew.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "Tributary/Base/Hash.h"
#include "Tributary/Base/Index.h"

namespace tributary {

namespace {

/// The mean of vectors at the points of a cell.
std::array<double, 3> meanOfPoints(vtkDataSet* dataSet, std::int64_t cell, vtkDataArray* vectors,
                                   vtkIdList* points) {
  std::array<double, 3> mean{};
  dataSet->GetCellPoints(cell, points);
  const vtkIdType count = points->GetNumberOfIds();
  for (vtkIdType i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a)
      mean[static_cast<std::size_t>(a)] +=
          vectors->GetComponent(points->GetId(i), a) / static_cast<double>(count);
  return mean;
}

/// Calls `visit(begin, end, region)` for the cells in regions that are no ghosts.
template <class Visit>
void visitRegions(const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
                  Visit&& visit) {
  labeled.visitOwnCells([&](std::int64_t begin, std::int64_t end, std::uint32_t set) {
    if (ofSet[set].number >= 0) visit(begin, end, ofSet[set].number);
  });
}

/// Makes room for more samples, at least twice as many as before.
void reserveMore(std::size_t count, std::vector<FeatureSample>& samples) {
  count += samples.size();
  if (count > samples.capacity()) samples.reserve(std::max(count, 2 * samples.capacity()));
}

}  // namespace

void OverlapSums::add(std::int64_t before, std::int64_t after, FixedSum volume) {
  const std::uint64_t hash =
      scramble(scramble(static_cast<std::uint64_t>(before)) ^ static_cast<std::uint64_t>(after));
  std::size_t& at = recent_[hash % Slots];
  if (at < overlaps_.size() && overlaps_[at].before == before && overlaps_[at].after == after) {
    addChecked(overlaps_[at].volume, volume);
    return;
  }
  at = overlaps_.size();
  overlaps_.push_back({before, 0, after, volume});
}

std::vector<FeatureOverlap> OverlapSums::take() {
  addUp(overlaps_);
  return std::exchange(overlaps_, {});
}

bool LatticeCells::fits(const ComponentPiece& piece) {
  const StraightLattice* const lattice = piece.straight();
  if (!lattice || piece.cells() == 0) return false;
  double largest = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    double widest = lattice->spacing ? (*lattice->spacing)[a] : 0;
    for (std::int64_t i = 0; i < lattice->cells(a) && !lattice->isFlat(a); ++i) {
      const double lo = lattice->axes[a][index(i)], hi = lattice->axes[a][index(i + 1)];
      const double middle = lattice->middle(a, i);
      if (!(lo < middle && middle < hi)) return false;
      widest = std::max(widest, hi - lo);
    }
    if (!lattice->isFlat(a)) largest *= widest;
    if (!std::isfinite(lattice->axes[a].front())) return false;
  }
  return std::isfinite(largest);
}

LatticeCells::LatticeCells(std::size_t leaf, const Fingerprint& mesh, const LabeledPiece& labeled,
                           const std::vector<RegionOfSet>& ofSet, const FactScales& scales)
    : leaf_(leaf),
      mesh_(mesh),
      lattice_(*labeled.piece().straight()),
      scale_(scales.measure),
      hasMeasure_(scales.hasMeasure) {
  visitRegions(labeled, ofSet, [&](std::int64_t begin, std::int64_t end, std::int64_t region) {
    runs_.push_back({begin, end, region});
    size_ += index(end - begin);
  });
}

Box LatticeCells::bounds() const {
  Box bounds;
  for (std::size_t a = 0; a < 3; ++a) {
    bounds.lo[a] = lattice_.axes[a].front();
    bounds.hi[a] = lattice_.axes[a].back();
  }
  return bounds;
}

FixedSum LatticeCells::volumeOf(const CellSize& size) const {
  return scale_.fixed(hasMeasure_ ? size.measure : 1);
}

FixedSum LatticeCells::volumeOf(std::int64_t begin, std::int64_t end) const {
  if (!hasMeasure_ || lattice_.spacing) return volumeOf(lattice_.sizeOf(begin)) * (end - begin);
  FixedSum volume = 0;
  for (std::int64_t c = begin; c < end; ++c) volume += volumeOf(lattice_.sizeOf(c));
  return volume;
}

void LatticeCells::addSamples(const RegionRun& run, std::vector<FeatureSample>& samples) const {
  for (std::int64_t c = run.begin; c < run.end; ++c) {
    const CellSize size = lattice_.sizeOf(c);
    samples.push_back({size.centroid, run.region, 0, volumeOf(size)});
  }
}

void LatticeCells::addSamples(std::vector<FeatureSample>& samples) const {
  reserveMore(size_, samples);
  for (const RegionRun& run : runs_) addSamples(run, samples);
}

LatticeCells::Part LatticeCells::partIn(const Box& box) const {
  Part part;
  for (std::size_t a = 0; a < 3; ++a) {
    // The first cell whose middle is not below `from`, or is above it.
    const auto firstCell = [&](double from, bool above) {
      std::int64_t low = 0, high = lattice_.cells(a);
      while (low < high) {
        const std::int64_t number = low + (high - low) / 2;
        const double middle = lattice_.middle(a, number);
        (above ? middle > from : middle >= from) ? high = number : low = number + 1;
      }
      return low;
    };
    part.begin[a] = firstCell(box.lo[a], false);
    part.end[a] = firstCell(box.hi[a], true);
  }
  return part;
}

void LatticeCells::addOverlaps(const LabeledPiece& next, const std::vector<RegionOfSet>& ofSet,
                               const std::vector<Box>& others, OverlapSums& overlaps,
                               std::vector<FeatureSample>& samples) const {
  std::vector<Part> shared;
  for (const Box& box : others) {
    const Part part = partIn(box);
    if (part.begin[0] < part.end[0] && part.begin[1] < part.end[1] && part.begin[2] < part.end[2])
      shared.push_back(part);
  }
  // From left to right, as the sweep over a run.
  std::sort(shared.begin(), shared.end(),
            [](const Part& a, const Part& b) { return a.begin[0] < b.begin[0]; });
  std::int64_t region = -1;  // of the run
  const LabeledPiece::VisitCells addOwn = [&](std::int64_t begin, std::int64_t end,
                                              std::uint32_t set) {
    if (ofSet[set].number >= 0) overlaps.add(region, ofSet[set].number, volumeOf(begin, end));
  };
  const auto overlapItself = [&](std::int64_t begin, std::int64_t end) {
    if (begin < end) next.visitCells(begin, end, addOwn);
  };
  for (const RegionRun& run : runs_) {
    region = run.region;
    const auto [i, j, k] = lattice_.placeOf(run.begin);
    const std::int64_t first = run.begin - i;  // of the row
    std::int64_t begin = run.begin;
    for (const Part& part : shared) {
      if (j < part.begin[1] || j >= part.end[1] || k < part.begin[2] || k >= part.end[2]) continue;
      const std::int64_t from = std::clamp(first + part.begin[0], begin, run.end);
      const std::int64_t to = std::clamp(first + part.end[0], from, run.end);
      overlapItself(begin, from);
      addSamples({from, to, region}, samples);
      begin = to;
    }
    overlapItself(begin, run.end);
  }
}

std::vector<FeatureSample> CellSamples::all() const {
  std::size_t count = samples.size();
  for (const LatticeCells& lattice : lattices) count += lattice.size();
  std::vector<FeatureSample> all;
  all.reserve(count);
  all.insert(all.end(), samples.begin(), samples.end());
  for (const LatticeCells& lattice : lattices) lattice.addSamples(all);
  return all;
}

void addCells(std::size_t leaf, const Fingerprint& mesh, const LabeledPiece& labeled,
              const std::vector<RegionOfSet>& ofSet, const FactScales& scales,
              vtkDataArray* velocity, bool atCells, CellSamples& result) {
  const ComponentPiece& piece = labeled.piece();
  if (!velocity && LatticeCells::fits(piece)) {
    result.lattices.emplace_back(leaf, mesh, labeled, ofSet, scales);
    return;
  }
  std::size_t count = 0;
  visitRegions(labeled, ofSet, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    count += index(end - begin);
  });
  SampledCells& sampled = result.sampled.emplace_back();
  sampled = {leaf, mesh, result.samples.size(), {}};
  sampled.cells.reserve(count);
  reserveMore(count, result.samples);
  vtkNew<vtkIdList> points;
  visitRegions(labeled, ofSet, [&](std::int64_t begin, std::int64_t end, std::int64_t region) {
    for (std::int64_t c = begin; c < end; ++c) {
      const CellSize size = labeled.sizeOf(c);
      if (scales.hasMeasure && !std::isfinite(size.measure)) continue;
      result.samples.push_back(
          {size.centroid, region, 0, scales.measure.fixed(scales.hasMeasure ? size.measure : 1)});
      sampled.cells.push_back(c);
      if (velocity && atCells)
        velocity->GetTuple(c, result.velocities.emplace_back().data());
      else if (velocity)
        result.velocities.push_back(meanOfPoints(piece.dataSet(), c, velocity, points));
    }
  });
}

}  // namespace tributary
