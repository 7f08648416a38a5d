// SPDX-License-Identifier: BSD-3-Clause
#include "Features/FeatureCells.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkIdList.h>
#include <vtkNew.h>

#include <algorithm>
#include <cmath>

#include "Common/DataVersion.h"

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

/// Adds a volume to the last overlap, if that is of the same regions, or adds an overlap.
void addOverlap(std::int64_t before, std::int64_t after, FixedSum volume,
                std::vector<FeatureOverlap>& overlaps) {
  if (!overlaps.empty() && overlaps.back().before == before && overlaps.back().after == after)
    overlaps.back().volume += volume;
  else
    overlaps.push_back({before, 0, after, volume});
}

}  // namespace

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

LatticeCells::LatticeCells(std::size_t leaf, const LabeledPiece& labeled,
                           const std::vector<RegionOfSet>& ofSet, const FactScales& scales)
    : leaf_(leaf),
      mesh_(fingerprintOfMesh(labeled.piece().dataSet())),
      lattice_(*labeled.piece().straight()),
      scale_(scales.measure),
      hasMeasure_(scales.hasMeasure) {
  visitRegions(labeled, ofSet, [&](std::int64_t begin, std::int64_t end, std::int64_t region) {
    runs_.push_back({begin, end, region});
  });
}

FixedSum LatticeCells::volumeOf(std::int64_t cell) const {
  return scale_.fixed(hasMeasure_ ? lattice_.sizeOf(cell).measure : 1);
}

FixedSum LatticeCells::volumeOf(std::int64_t begin, std::int64_t end) const {
  if (!hasMeasure_ || lattice_.spacing) return volumeOf(begin) * (end - begin);
  FixedSum volume = 0;
  for (std::int64_t c = begin; c < end; ++c) volume += volumeOf(c);
  return volume;
}

void LatticeCells::addSamples(const RegionRun& run, std::vector<FeatureSample>& samples) const {
  for (std::int64_t c = run.begin; c < run.end; ++c)
    samples.push_back({lattice_.sizeOf(c).centroid, run.region, 0, volumeOf(c)});
}

void LatticeCells::addSamples(std::vector<FeatureSample>& samples) const {
  std::size_t count = samples.size();
  for (const RegionRun& run : runs_) count += index(run.end - run.begin);
  samples.reserve(count);
  for (const RegionRun& run : runs_) addSamples(run, samples);
}

LatticeCells::Part LatticeCells::partIn(const Box& box) const {
  Part part;
  for (std::size_t a = 0; a < 3; ++a) {
    std::int64_t& begin = part.begin[a] = 0;
    std::int64_t& end = part.end[a] = lattice_.cells(a);
    while (begin < end && !(lattice_.middle(a, begin) >= box.lo[a])) ++begin;
    while (begin < end && !(lattice_.middle(a, end - 1) <= box.hi[a])) --end;
  }
  return part;
}

void LatticeCells::addOverlaps(const LabeledPiece& next, const std::vector<RegionOfSet>& ofSet,
                               const std::vector<Box>& others,
                               std::vector<FeatureOverlap>& overlaps,
                               std::vector<FeatureSample>& samples) const {
  std::vector<Part> shared;
  for (const Box& box : others) {
    const Part part = partIn(box);
    if (part.begin[0] < part.end[0] && part.begin[1] < part.end[1] && part.begin[2] < part.end[2])
      shared.push_back(part);
  }
  // From the left, so that a row is left to right, too.
  std::sort(shared.begin(), shared.end(),
            [](const Part& a, const Part& b) { return a.begin[0] < b.begin[0]; });
  const auto overlapItself = [&](std::int64_t begin, std::int64_t end, std::int64_t region) {
    next.visitCells(begin, end, [&](std::int64_t from, std::int64_t to, std::uint32_t set) {
      if (ofSet[set].number >= 0)
        addOverlap(region, ofSet[set].number, volumeOf(from, to), overlaps);
    });
  };
  for (const RegionRun& run : runs_) {
    const auto [i, j, k] = lattice_.placeOf(run.begin);
    const std::int64_t first = run.begin - i;  // of the row
    std::int64_t begin = run.begin;
    for (const Part& part : shared) {
      if (j < part.begin[1] || j >= part.end[1] || k < part.begin[2] || k >= part.end[2]) continue;
      const std::int64_t from = std::clamp(first + part.begin[0], begin, run.end);
      const std::int64_t to = std::clamp(first + part.end[0], from, run.end);
      overlapItself(begin, from, run.region);
      addSamples({from, to, run.region}, samples);
      begin = to;
    }
    overlapItself(begin, run.end, run.region);
  }
}

std::vector<FeatureSample> CellSamples::all() const {
  std::vector<FeatureSample> all = samples;
  for (const LatticeCells& lattice : lattices) lattice.addSamples(all);
  return all;
}

void addCells(std::size_t leaf, const LabeledPiece& labeled, const std::vector<RegionOfSet>& ofSet,
              const FactScales& scales, vtkDataArray* velocity, bool atCells, CellSamples& result) {
  const ComponentPiece& piece = labeled.piece();
  if (!velocity && LatticeCells::fits(piece)) {
    result.lattices.emplace_back(leaf, labeled, ofSet, scales);
    return;
  }
  std::size_t count = result.samples.size();
  visitRegions(labeled, ofSet, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
    count += index(end - begin);
  });
  if (count > result.samples.capacity())
    result.samples.reserve(std::max(count, 2 * result.samples.capacity()));
  vtkNew<vtkIdList> points;
  visitRegions(labeled, ofSet, [&](std::int64_t begin, std::int64_t end, std::int64_t region) {
    for (std::int64_t c = begin; c < end; ++c) {
      const CellSize size = piece.sizeOf(c);
      if (scales.hasMeasure && !std::isfinite(size.measure)) continue;
      result.samples.push_back(
          {size.centroid, region, 0, scales.measure.fixed(scales.hasMeasure ? size.measure : 1)});
      if (velocity && atCells)
        velocity->GetTuple(c, result.velocities.emplace_back().data());
      else if (velocity)
        result.velocities.push_back(meanOfPoints(piece.dataSet(), c, velocity, points));
    }
  });
}

}  // namespace tributary
