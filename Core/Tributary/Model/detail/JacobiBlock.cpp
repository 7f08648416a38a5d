// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/detail/JacobiBlock.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tributary::detail {

namespace {

std::size_t asIndex(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

JacobiBlock::JacobiBlock(const LaplaceProblem& problem, const Subregion& subregion,
                         const CellRange& box, Captures captures, bool streams)
    : stencil_(problem.stencil),
      captures_(captures),
      streams_(streams),
      axis_(dimensionOf(problem.stencil) - 1),
      box_(box),
      report_(captures, Report()),
      halo_(captures, {}) {
  std::array<std::int64_t, 3> sizes{};
  for (std::size_t a = 0; a < 3; ++a) {
    pad_[a] = a <= axis_ ? 1 : 0;
    sizes[a] = box.along(a) + 2 * pad_[a];
  }
  const std::size_t row = asIndex(sizes[0]);
  strides_[0] = 1;
  strides_[1] = streams ? streamStride(row) : row;
  strides_[2] = strides_[1] * asIndex(sizes[1]);
  std::vector<double>& values = values_[0];
  if (box.empty()) return;
  values.assign(strides_[2] * asIndex(sizes[2]), 0);
  const auto isUnknown = [&](const std::array<std::int64_t, 3>& at) {
    for (std::size_t a = 0; a < 3; ++a)
      if (at[a] < 0 || at[a] >= problem.points[a]) return false;
    return true;
  };
  const auto halo = [&](const std::array<std::int64_t, 3>& at) {
    const std::int64_t place = subregion.place(at[0], at[1], at[2]);
    const auto found = std::lower_bound(subregion.halo().begin(), subregion.halo().end(), place);
    return found != subregion.halo().end() && *found == place ? found - subregion.halo().begin()
                                                              : std::ptrdiff_t(-1);
  };
  const CellRange& whole = subregion.box();
  std::array<std::int64_t, 3> at{};
  for (at[2] = box.lo[2] - pad_[2]; at[2] < box.hi[2] + pad_[2]; ++at[2])
    for (at[1] = box.lo[1] - pad_[1]; at[1] < box.hi[1] + pad_[1]; ++at[1])
      for (at[0] = box.lo[0] - pad_[0]; at[0] < box.hi[0] + pad_[0]; ++at[0]) {
        double& value = values[index(at[0], at[1], at[2])];
        if (!isUnknown(at)) {
          value = problem.boundary(at[0], at[1], at[2]);
          continue;
        }
        if (problem.guess) value = problem.guess(at[0], at[1], at[2]);
        const std::ptrdiff_t from = halo(at);
        if (from < 0) continue;
        const bool isNeighbors = at[axis_] < box.lo[axis_] || at[axis_] >= box.hi[axis_];
        const bool isEnd = at[axis_] < whole.lo[axis_] || at[axis_] >= whole.hi[axis_];
        (isEnd         ? endGhosts_
         : isNeighbors ? neighborGhosts_
                       : sideGhosts_)
            .push_back({index(at[0], at[1], at[2]), static_cast<std::size_t>(from)});
      }
  std::vector<std::size_t> endPlaces;
  const auto& boundary = subregion.boundary();
  for (std::size_t b = 0; b < boundary.size(); ++b) {
    const std::int64_t row = boundary[b] / problem.points[0];
    at = {boundary[b] % problem.points[0], row % problem.points[1], row / problem.points[1]};
    if (at[axis_] < box.lo[axis_] || at[axis_] >= box.hi[axis_]) continue;
    const bool isEnd = at[axis_] == whole.lo[axis_] || at[axis_] == whole.hi[axis_] - 1;
    (isEnd ? endPoints_ : sidePoints_).push_back(index(at[0], at[1], at[2]));
    (isEnd ? endPlaces : boundaryPlaces_).push_back(b);
  }
  boundaryPlaces_.insert(boundaryPlaces_.end(), endPlaces.begin(), endPlaces.end());
  values_[1] = values;
}

void JacobiBlock::connect(JacobiBlock& below, JacobiBlock& above) {
  const Captures captures = below.captures_;
  for (const auto& [from, to, side] :
       {std::tuple<JacobiBlock&, JacobiBlock&, std::size_t>(below, above, 1), {above, below, 0}}) {
    auto& outgoing = from.next_[side].outgoing;
    outgoing = std::make_unique<LatestValue<DatedValues>>(
        captures, DatedValues{std::vector<double>(from.layerSize(), 0)});
    to.next_[1 - side].incoming = outgoing.get();
    from.publishNeighbor(side);
  }
}

std::size_t JacobiBlock::index(std::int64_t i, std::int64_t j, std::int64_t k) const {
  return asIndex(i - box_.lo[0] + pad_[0]) * strides_[0] +
         asIndex(j - box_.lo[1] + pad_[1]) * strides_[1] +
         asIndex(k - box_.lo[2] + pad_[2]) * strides_[2];
}

std::size_t JacobiBlock::layer(std::int64_t number) const {
  return asIndex(number - box_.lo[axis_] + pad_[axis_]) * strides_[axis_];
}

std::size_t JacobiBlock::layerSize() const {
  return strides_[axis_];
}

std::size_t JacobiBlock::firstRow(std::int64_t layer) const {
  return axis_ == 1 ? index(box_.lo[0], layer, box_.lo[2]) : index(box_.lo[0], box_.lo[1], layer);
}

std::int64_t JacobiBlock::rowsOfLayer() const {
  return axis_ == 1 ? 1 : box_.along(1);
}

void JacobiBlock::takeGhosts(const std::vector<Ghost>& ghosts) {
  const std::vector<double>& halo = halo_.reading().values;
  for (const Ghost& ghost : ghosts) values_[0][ghost.to] = values_[1][ghost.to] = halo[ghost.from];
}

void JacobiBlock::takeNeighbor(std::size_t side) {
  const std::vector<double>& from = next_[side].incoming->reading().values;
  const std::size_t to = side == 0 ? layer(box_.lo[axis_] - 1) : layer(box_.hi[axis_]);
  for (std::vector<double>& values : values_)
    std::copy(from.begin(), from.end(), values.begin() + static_cast<std::ptrdiff_t>(to));
}

void JacobiBlock::publishNeighbor(std::size_t side) {
  const auto from =
      static_cast<std::ptrdiff_t>(side == 0 ? layer(box_.lo[axis_]) : layer(box_.hi[axis_] - 1));
  LatestValue<DatedValues>& outgoing = *next_[side].outgoing;
  std::copy_n(values_[current_].begin() + from, layerSize(), outgoing.writing().values.begin());
  outgoing.writing().epoch = epoch_;
  outgoing.publish();
}

bool JacobiBlock::take(std::int64_t epoch, OperationTimes* times) {
  epoch_ = epoch;
  bool isNeighborNew = false;
  for (const std::size_t side : {0u, 1u}) {
    if (!next_[side].incoming || !next_[side].incoming->take()) continue;
    timed(times, Operation::CopyNeighbor, [&] { takeNeighbor(side); });
    isNeighborNew = true;
  }
  const bool isHaloNew = halo_.take();
  // The next blocks' layers came with what lies beside them as those blocks last had it.
  if ((isHaloNew || isNeighborNew) && !halo_.reading().values.empty()) takeGhosts(neighborGhosts_);
  if (isHaloNew) {
    timed(times, Operation::CopySideHalo, [&] { takeGhosts(sideGhosts_); });
    if (!endGhosts_.empty()) timed(times, Operation::CopyEndHalo, [&] { takeGhosts(endGhosts_); });
  }
  return isHaloNew || isNeighborNew;
}

void JacobiBlock::computeLayers(std::int64_t first, std::int64_t count, std::vector<double>& to,
                                bool stream) const {
  const RowStrides strides{static_cast<std::ptrdiff_t>(strides_[1]),
                           static_cast<std::ptrdiff_t>(strides_[2])};
  const double* from = values_[current_].data();
  const auto streamFrom = [&](std::size_t row, std::int64_t rows) {
    streamJacobiRows(stencil_, from + row, strides, box_.along(0), rows, to.data() + row);
  };
  // A layer of one row, and the next layer's row is the next row.
  if (stream && axis_ == 1) {
    streamFrom(firstRow(first), count);
    return;
  }
  for (std::int64_t number = first; number < first + count; ++number) {
    std::size_t row = firstRow(number);
    if (stream) {
      streamFrom(row, rowsOfLayer());
      continue;
    }
    for (std::int64_t r = 0; r < rowsOfLayer(); ++r, row += strides_[1])
      jacobiRow(stencil_, from + row, strides, box_.along(0), to.data() + row);
  }
}

void JacobiBlock::compute(OperationTimes* times, OperationTimes* together) {
  std::vector<double>& to = values_[1 - current_];
  const std::int64_t first = box_.lo[axis_], last = box_.hi[axis_] - 1;
  const auto layers = static_cast<double>(last - first + 1);
  const double begin = together ? steadySeconds() : 0;
  double oneByOne = 0;
  for (std::int64_t number = first; number <= last;) {
    const bool isOutermost = number == first || number == last;
    const std::int64_t count = isOutermost || times ? 1 : last - number;
    oneByOne += timed(times, isOutermost ? Operation::ComputeLayer : Operation::ComputeInterior,
                      // The outermost layers are read again at once, to be published.
                      [&] { computeLayers(number, count, to, streams_ && !isOutermost); });
    number += count;
  }
  if (layers > 0 && times) times->layersOneByOne.push_back(oneByOne / layers);
  if (layers > 0 && together)
    together->layersTogether.push_back((steadySeconds() - begin) / layers);
  if (streams_) drainStreams();
  current_ = 1 - current_;
  ++iterations_;
  for (const std::size_t side : {0u, 1u})
    if (next_[side].outgoing) timed(times, Operation::PublishLayer, [&] { publishNeighbor(side); });
}

double JacobiBlock::computeResidual(OperationTimes* times) {
  timed(times, Operation::ComputeResidual, [&] {
    const RowStrides strides{static_cast<std::ptrdiff_t>(strides_[1]),
                             static_cast<std::ptrdiff_t>(strides_[2])};
    residual_ = 0;
    for (std::int64_t number = box_.lo[axis_]; number < box_.hi[axis_]; ++number) {
      const double* row = values_[current_].data() + firstRow(number);
      for (std::int64_t r = 0; r < rowsOfLayer(); ++r, row += strides.y)
        residual_ += squaredResidualOfRow(stencil_, row, strides, box_.along(0));
    }
  });
  std::int64_t oldest = std::numeric_limits<std::int64_t>::max();
  for (const Neighboring& next : next_)
    if (next.incoming) oldest = std::min(oldest, next.incoming->reading().epoch);
  if (!halo_.reading().values.empty()) oldest = std::min(oldest, halo_.reading().epoch);
  if (oldest >= epoch_) {
    if (judged_ != epoch_ || !(residual_ <= largest_)) largest_ = residual_;
    judged_ = epoch_;
  }
  return residual_;
}

void JacobiBlock::publish(OperationTimes* times) {
  Report& report = report_.writing();
  report.boundary.values.resize(boundaryPlaces_.size());
  report.boundary.epoch = epoch_;
  report.residual = residual_;
  report.largest = largest_;
  report.judged = judged_;
  report.iterations = iterations_;
  const std::vector<double>& values = values_[current_];
  const auto copy = [&](const std::vector<std::size_t>& points, std::size_t to) {
    for (const std::size_t point : points) report.boundary.values[to++] = values[point];
  };
  if (!sidePoints_.empty()) timed(times, Operation::PublishSides, [&] { copy(sidePoints_, 0); });
  if (!endPoints_.empty())
    timed(times, Operation::PublishEnds, [&] { copy(endPoints_, sidePoints_.size()); });
  report_.publish();
}

void JacobiBlock::giveHalo(const DatedValues& halo) {
  halo_.writing() = halo;
  halo_.publish();
}

bool JacobiBlock::dependsOnOthers() const {
  return next_[0].incoming || next_[1].incoming || !halo_.reading().values.empty();
}

void JacobiBlock::show() {
  epoch_ = 0;
  for (const std::size_t side : {0u, 1u})
    if (next_[side].outgoing) publishNeighbor(side);
}

}  // namespace tributary::detail
