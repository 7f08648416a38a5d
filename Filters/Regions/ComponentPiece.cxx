// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/ComponentPiece.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "Common/CellLists.h"
#include "Common/SmpFor.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Components/LatticeMask.h"

namespace tributary {

MeasuredValues::MeasuredValues(vtkDataArray* array, int component, bool atCells)
    : array_(contiguous(array)),
      stride_(array->GetNumberOfComponents()),
      component_(component),
      atCells_(atCells) {
  if (array_->GetDataType() == VTK_DOUBLE)
    doubles_ = static_cast<const double*>(array_->GetVoidPointer(0));
  else
    floats_ = static_cast<const float*>(array_->GetVoidPointer(0));
}

std::array<int, 6> ComponentPiece::extent() const {
  std::array<int, 6> extent = {0, -1, 0, -1, 0, -1};
  extentOf(leaf_.dataSet, extent.data());
  return extent;
}

std::vector<LoosePoint> ComponentPiece::loosePoints(double) const {
  return {};
}

void ComponentPiece::identify(const std::vector<SetName>&) {}

std::array<std::int64_t, 3> ComponentPiece::indexOf(std::int64_t) const {
  return {};
}

void ComponentPiece::share(std::vector<std::int64_t> points, std::vector<EntityKey> keys) {
  shared_ = std::move(points);
  sharedKeys_ = std::move(keys);
  sharedBits_.clear();
  sharedBefore_.clear();
  if (shared_.empty()) return;
  sharedBits_.resize(static_cast<std::size_t>((this->points() + 63) / 64));
  for (const std::int64_t point : shared_)
    sharedBits_[static_cast<std::size_t>(point >> 6)] |= std::uint64_t(1) << (point & 63);
  sharedBefore_.reserve(sharedBits_.size());
  std::uint32_t before = 0;
  for (const std::uint64_t word : sharedBits_) {
    sharedBefore_.push_back(before);
    before += static_cast<std::uint32_t>(__builtin_popcountll(word));
  }
}

std::int64_t ComponentPiece::sharedIndex(std::int64_t point) const {
  if (!isShared(point)) return -1;
  const auto word = static_cast<std::size_t>(point >> 6);
  const std::uint64_t below = sharedBits_[word] & ((std::uint64_t(1) << (point & 63)) - 1);
  return sharedBefore_[word] + __builtin_popcountll(below);
}

std::vector<std::uint32_t> ComponentPiece::setsOfShared() const {
  std::vector<std::uint32_t> sets(shared_.size(), NoSet);
  for (const SetAtPoint& at : setsAtShared()) sets[static_cast<std::size_t>(at.shared)] = at.set;
  return sets;
}

void ComponentPiece::Nearest::add(const std::array<double, 3>& where,
                                  const std::array<double, 3>& point, std::uint32_t set) {
  double squares = 0;
  for (std::size_t a = 0; a < 3; ++a) squares += (point[a] - where[a]) * (point[a] - where[a]);
  if (!(squares <= distance2)) return;
  if (squares < distance2) sets.clear();
  distance2 = squares;
  if (sets.empty() || sets.back() != set) sets.push_back(set);
}

void addValues(const MeasuredValues& array, std::int64_t cell, std::int64_t count,
               const std::int64_t* points, double weight, const FixedScale& scale,
               ValueFacts& facts) {
  const auto consider = [&](double value) {
    facts.least = std::min(facts.least, value);
    facts.most = std::max(facts.most, value);
  };
  double mean = 0;
  if (array.atCells()) {
    mean = array.at(cell);
    if (std::isfinite(mean)) consider(mean);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const double value = array.at(points[i]);
      mean += value;
      if (std::isfinite(value)) consider(value);
    }
    mean /= static_cast<double>(count);
  }
  const double product = weight * mean;
  if (std::isfinite(product))
    facts.integral += scale.fixed(product);
  else
    ++facts.notFinite;
}

void considerValues(const MeasuredValues& array, std::int64_t cell, Span<const std::int64_t> points,
                    double& largest) {
  const auto consider = [&](double value) {
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  };
  if (array.atCells()) {
    consider(array.at(cell));
  } else {
    for (const std::int64_t point : points) consider(array.at(point));
  }
}

std::vector<std::uint64_t> rangeBits(const RangeTest& test) {
  if (!test.scalars) return {};
  const vtkSmartPointer<vtkDataArray> array = plain(test.scalars);
  // As rows of a word each, and a shorter one.
  const std::int64_t count = array->GetNumberOfTuples();
  const std::int64_t rows = count / 64;
  std::vector<std::uint64_t> mask(static_cast<std::size_t>(rows + 1));
  switch (array->GetDataType()) {
    vtkTemplateMacro({
      const auto* values = static_cast<const VTK_TT*>(array->GetVoidPointer(0));
      rangeMask(values, 64, rows, test.lo, test.hi, mask.data(), smpFor);
      if (count % 64 != 0)
        rangeMask(values + 64 * rows, count % 64, 1, test.lo, test.hi,
                  &mask[static_cast<std::size_t>(rows)], smpFor);
    });
    default:
      throw Error("the scalars are of a type that has no order");
  }
  return mask;
}

EntityKey withValue(const EntityKey& key, std::int64_t value) {
  return keyOfStructured(key.high, static_cast<std::int64_t>(key.low), value, 0, -1);
}

}  // namespace tributary
