// SPDX-License-Identifier: BSD-3-Clause
#include "Exchange/SlowBlockFlow.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "Support/RandomWalks.h"
#include "Tributary/Base/Error.h"

namespace bench {

std::uint64_t hashOf(const Tracer& tracer) {
  std::uint64_t h = scatter(static_cast<std::uint64_t>(tracer.id) + 1);
  for (const float x : tracer.x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    h = scatter(h ^ bits);
  }
  return scatter(h ^ static_cast<std::uint32_t>(tracer.steps));
}

namespace {

/// Trilinear interpolation in a block; points outside are moved to its surface.
struct Sampler {
  explicit Sampler(const FlowBlock& block) : velocity(block.velocity.data()) {
    for (int a = 0; a < 3; ++a) {
      lo[a] = static_cast<float>(block.lo[a]);
      cells[a] = block.hi[a] - block.lo[a];
    }
    row = std::int64_t(cells[0] + 1) * 3;
    slab = row * (cells[1] + 1);
  }

  void operator()(const float x[3], float v[3]) const {
    std::int64_t offset = 0;
    float f[3];
    const std::int64_t strides[3] = {3, row, slab};
    for (int a = 0; a < 3; ++a) {
      const float local = std::min(std::max(x[a] - lo[a], 0.0f), static_cast<float>(cells[a]));
      const int cell = std::min(static_cast<int>(local), cells[a] - 1);
      f[a] = local - static_cast<float>(cell);
      offset += strides[a] * cell;
    }
    const float* p = velocity + offset;
    for (int c = 0; c < 3; ++c, ++p) {
      const float v00 = p[0] + f[0] * (p[3] - p[0]);
      const float v10 = p[row] + f[0] * (p[row + 3] - p[row]);
      const float v01 = p[slab] + f[0] * (p[slab + 3] - p[slab]);
      const float v11 = p[slab + row] + f[0] * (p[slab + row + 3] - p[slab + row]);
      const float v0 = v00 + f[1] * (v10 - v00), v1 = v01 + f[1] * (v11 - v01);
      v[c] = v0 + f[2] * (v1 - v0);
    }
  }

  const float* velocity;
  float lo[3];
  int cells[3];
  std::int64_t row, slab;
};

/// @return -1
BlockId retire(FlowBlock& block, const Tracer& tracer) {
  ++block.retired;
  block.hash += hashOf(tracer);
  return -1;
}

}  // namespace

std::array<int, 3> nearCube(int count) {
  std::array<int, 3> best{{count, 1, 1}};
  for (int a = 1; a * a * a <= count; ++a)
    if (count % a == 0)
      for (int b = a; a * b * b <= count; ++b)
        if (count / a % b == 0 && count / a / b - a < best[0] - best[2])
          best = {{count / a / b, b, a}};
  return best;
}

SlowBlockFlow::SlowBlockFlow(const FlowSettings& settings, int ranks) : settings_(settings) {
  const auto& n = settings_.blocks;
  for (int a = 0; a < 3; ++a) {
    if (n[a] < 1 || settings_.voxels[a] < n[a])
      throw tributary::Error("cannot cut " + std::to_string(settings_.voxels[a]) + " voxels into " +
                             std::to_string(n[a]) +
                             " blocks: choose a larger grid or fewer blocks");
    auto& blockOf = blockOf_[a];
    blockOf.resize(static_cast<std::size_t>(settings_.voxels[a]));
    for (int i = 0; i < n[a]; ++i)
      std::fill(blockOf.begin() + firstVoxel(a, i), blockOf.begin() + firstVoxel(a, i + 1), i);
  }
  if (!(settings_.stepVoxels > 0 && settings_.fastSpeed > 0 && settings_.slowSpeed > 0))
    throw tributary::Error("the step length and both speeds must be positive");
  duration_ = settings_.stepVoxels / settings_.fastSpeed;

  const std::int64_t count = std::int64_t(n[0]) * n[1] * n[2];
  if (settings_.dealt && count % ranks != 0)
    throw tributary::Error("blocks are assigned to ranks in turn: their number (" +
                           std::to_string(count) + ") must be a multiple of the number of ranks");
  ids_.resize(static_cast<std::size_t>(count));
  places_.resize(ids_.size());
  for (std::int64_t b = 0; b < count; ++b) {
    const BlockId id = settings_.dealt ? b % ranks * (count / ranks) + b / ranks : b;
    ids_[static_cast<std::size_t>(b)] = id;
    places_[static_cast<std::size_t>(id)] = {{static_cast<int>(b % n[0]),
                                              static_cast<int>(b / n[0] % n[1]),
                                              static_cast<int>(b / n[0] / n[1])}};
  }
}

std::array<int, 3> SlowBlockFlow::place(BlockId block) const {
  return places_[static_cast<std::size_t>(block)];
}

// A lattice with unequal sides has a diagonal too: one block of each layer of its longest side.
bool SlowBlockFlow::slow(const std::array<int, 3>& place) const {
  if (settings_.laps > 0) return false;
  const auto& n = settings_.blocks;
  const int longest = static_cast<int>(std::max_element(n.begin(), n.end()) - n.begin());
  for (int a = 0; a < 3; ++a)
    if (place[a] != place[longest] * n[a] / n[longest]) return false;
  return true;
}

std::int64_t SlowBlockFlow::slowBlocks() const {
  return std::count_if(places_.begin(), places_.end(), [&](const auto& p) { return slow(p); });
}

std::int64_t SlowBlockFlow::seedCount() const {
  const int part = settings_.seeds == FlowSeeds::Sixteenth ? 4 : 1;
  const auto along = [&](int axis) { return std::int64_t((seedsAlong(axis) + part - 1) / part); };
  return along(1) * along(2);
}

std::vector<BlockId> SlowBlockFlow::links(BlockId block) const {
  std::vector<BlockId> result;
  for (int a = 0; a < 3; ++a)
    for (const int side : {-1, 1}) {
      auto p = place(block);
      const int n = settings_.blocks[a];
      p[a] += side;
      if (a == 0 && settings_.laps > 0) p[a] = (p[a] + n) % n;
      if (p[a] < 0 || p[a] >= n) continue;
      const BlockId neighbor = at(p[0], p[1], p[2]);
      if (neighbor != block && std::find(result.begin(), result.end(), neighbor) == result.end())
        result.push_back(neighbor);
    }
  return result;
}

FlowBlock SlowBlockFlow::outline(BlockId id) const {
  FlowBlock block;
  block.id = id;
  const auto p = place(id);
  for (int a = 0; a < 3; ++a) {
    block.lo[a] = firstVoxel(a, p[a]);
    block.hi[a] = firstVoxel(a, p[a] + 1);
  }
  return block;
}

std::size_t SlowBlockFlow::fieldSize(const FlowBlock& block) {
  std::size_t values = 3;
  for (int a = 0; a < 3; ++a) values *= static_cast<std::size_t>(block.hi[a] - block.lo[a] + 1);
  return values;
}

FlowBlock SlowBlockFlow::makeBlock(BlockId id) const {
  FlowBlock block = outline(id);
  block.velocity.assign(fieldSize(block), 0.0f);
  const float along = speed(place(id));
  for (std::size_t i = 0; i < block.velocity.size(); i += 3) block.velocity[i] = along;
  return block;
}

void SlowBlockFlow::seed(FlowBlock& block) const {
  block.hash = 0;
  block.retired = block.steps = 0;
  block.waiting.clear();
  const auto p = place(block.id);
  const FlowSeeds seeds = settings_.seeds;
  const auto add = [&](int j, int k, float x, float y, float z) {
    Tracer tracer{};
    const auto rate = static_cast<float>(settings_.seedsPerVoxel);
    tracer.x[0] = x;
    tracer.x[1] = (static_cast<float>(j) + 0.5f) * y / rate;
    tracer.x[2] = (static_cast<float>(k) + 0.5f) * z / rate;
    tracer.id = j + std::int64_t(seedsAlong(1)) * k;
    block.waiting.push_back(tracer);
  };
  if (seeds == FlowSeeds::Block) {  // the seeds of the plane, closer together
    if (block.id != at(0, 0, 0)) return;
    const auto share = [&](int a) {
      return static_cast<float>(block.hi[a]) / static_cast<float>(settings_.voxels[a]);
    };
    for (int k = 0; k < seedsAlong(2); ++k)
      for (int j = 0; j < seedsAlong(1); ++j) add(j, k, 0, share(1), share(2));
    return;
  }
  const float x = seeds == FlowSeeds::Even ? 0.5f * static_cast<float>(block.lo[0] + block.hi[0])
                                           : static_cast<float>(block.lo[0]);
  const auto beginsHere = [&](int j, int k, int index) {
    switch (seeds) {
      case FlowSeeds::Sixteenth:
        return p[0] == 0 && 4 * j < seedsAlong(1) && 4 * k < seedsAlong(2);
      case FlowSeeds::Even:
        return p[0] == index % settings_.blocks[0];
      case FlowSeeds::Plane:
      case FlowSeeds::Block:
        break;
    }
    return p[0] == 0;
  };
  const int rate = settings_.seedsPerVoxel;
  int index = 0;
  for (int k = block.lo[2] * rate; k < block.hi[2] * rate; ++k)
    for (int j = block.lo[1] * rate; j < block.hi[1] * rate; ++j)
      if (beginsHere(j, k, index++)) add(j, k, x, 1, 1);
}

BlockId SlowBlockFlow::advance(FlowBlock& block, Tracer& tracer) const {
  const Sampler sample(block);
  const float h = duration_;
  float lo[3], hi[3];
  for (int a = 0; a < 3; ++a) {
    lo[a] = static_cast<float>(block.lo[a]);
    hi[a] = static_cast<float>(block.hi[a]);
  }
  const auto inside = [&](const float x[3]) {
    return x[0] >= lo[0] && x[0] < hi[0] && x[1] >= lo[1] && x[1] < hi[1] && x[2] >= lo[2] &&
           x[2] < hi[2];
  };
  const int stepLimit = settings_.laps > 0 ? settings_.laps * settings_.blocks[0] : 0;
  float* x = tracer.x;
  const std::int32_t before = tracer.steps;
  bool spent = false;
  do {
    float k1[3], k2[3], k3[3], k4[3], y[3];
    sample(x, k1);
    for (int a = 0; a < 3; ++a) y[a] = x[a] + 0.5f * h * k1[a];
    sample(y, k2);
    for (int a = 0; a < 3; ++a) y[a] = x[a] + 0.5f * h * k2[a];
    sample(y, k3);
    for (int a = 0; a < 3; ++a) y[a] = x[a] + h * k3[a];
    sample(y, k4);
    for (int a = 0; a < 3; ++a) x[a] += h / 6 * (k1[a] + 2 * (k2[a] + k3[a]) + k4[a]);
    ++tracer.steps;
    spent = stepLimit > 0 && tracer.steps >= stepLimit;
  } while (!spent && inside(x));
  block.steps += tracer.steps - before;

  int target[3];
  bool outside = spent;
  for (int a = 0; a < 3 && !outside; ++a) {
    const int n = settings_.voxels[a];
    if (a == 0 && settings_.laps > 0 && x[0] >= static_cast<float>(n))
      x[0] -= static_cast<float>(n);
    outside = !(x[a] >= 0 && x[a] < static_cast<float>(n));
    if (!outside) target[a] = blockOf_[a][static_cast<std::size_t>(x[a])];
  }
  return outside ? retire(block, tracer) : at(target[0], target[1], target[2]);
}

BlockId SlowBlockFlow::pass(FlowBlock& block, Tracer& tracer, std::int32_t most) const {
  const auto p = place(block.id);
  const auto end = static_cast<float>(block.hi[0]);
  const float step = speed(p) * duration_;
  // Within rounding, which stops on the way must not change.
  const auto needed =
      std::max(1, static_cast<std::int32_t>(std::ceil((end - tracer.x[0]) / step - 0.01f)));
  const std::int32_t steps = std::min(needed, most);
  tracer.x[0] = steps < needed ? tracer.x[0] + static_cast<float>(steps) * step : end;
  tracer.steps += steps;
  block.steps += steps;
  if (steps < needed) return block.id;
  return p[0] + 1 < settings_.blocks[0] ? at(p[0] + 1, p[1], p[2]) : retire(block, tracer);
}

}  // namespace bench
