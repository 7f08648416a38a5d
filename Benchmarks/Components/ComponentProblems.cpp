// SPDX-License-Identifier: BSD-3-Clause
#include "Components/ComponentProblems.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Components/UnionFind.h"
#include "Tributary/Features/CriticalPoints.h"
#include "Tributary/Features/Trajectories.h"
#include "Tributary/Transport/Simulated.h"

namespace bench {

namespace {

using tributary::Assignment;
using tributary::scramble;
using tributary::SetLink;

/// Voxels with a label; only equal labels connect, 0 is out of range.
struct Volume {
  explicit Volume(int x, int y, int z)
      : size{x, y, z}, labels(std::size_t(x) * std::size_t(y) * std::size_t(z), 0) {}

  std::size_t index(int x, int y, int z) const {
    return (std::size_t(z) * std::size_t(size[1]) + std::size_t(y)) * std::size_t(size[0]) +
           std::size_t(x);
  }
  std::uint8_t& at(int x, int y, int z) { return labels[index(x, y, z)]; }
  bool inside(int x, int y, int z) const {
    return x >= 0 && y >= 0 && z >= 0 && x < size[0] && y < size[1] && z < size[2];
  }

  std::array<int, 3> size;
  std::vector<std::uint8_t> labels;
};

Volume spiral(int n) {
  Volume volume(n, n, 1);
  const auto free = [&](int x, int y) { return volume.inside(x, y, 0) && !volume.at(x, y, 0); };
  int x = 0, y = 0, dx = 1, dy = 0;
  volume.at(0, 0, 0) = 1;
  for (int turns = 0; turns < 2;) {
    // One voxel stays free between the arms.
    const bool ahead = free(x + dx, y + dy) &&
                       (!volume.inside(x + 2 * dx, y + 2 * dy, 0) || free(x + 2 * dx, y + 2 * dy));
    if (!ahead) {
      std::swap(dx, dy);
      dx = -dx;
      ++turns;
      continue;
    }
    turns = 0;
    x += dx;
    y += dy;
    volume.at(x, y, 0) = 1;
  }
  return volume;
}

Volume comb(int n) {
  Volume volume(n, n, 1);
  for (int x = 0; x < n; ++x)
    for (int y = 0; y < n; ++y) volume.at(x, y, 0) = x % 2 == 0 || y == n - 1;
  return volume;
}

double random(std::uint64_t number) {
  return double(scramble(number) >> 11) * 0x1p-53;
}

Volume noise(int n) {
  Volume volume(n, n, n);
  for (std::size_t i = 0; i < volume.labels.size(); ++i) volume.labels[i] = random(i) < 0.3116;
  return volume;
}

/// Random values on a coarse lattice, interpolated.
Volume blobs(int n) {
  Volume volume(n, n, n);
  const int spacing = 8;
  const auto value = [&](int x, int y, int z) {
    return random((std::uint64_t(z) << 40) + (std::uint64_t(y) << 20) + std::uint64_t(x));
  };
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
          double weight = 1;
          int at[3] = {x, y, z};
          for (int a = 0; a < 3; ++a) {
            const double f = double(at[a] % spacing) / spacing;
            weight *= corner >> a & 1 ? f : 1 - f;
            at[a] = at[a] / spacing + (corner >> a & 1);
          }
          sum += weight * value(at[0], at[1], at[2]);
        }
        volume.at(x, y, z) = sum > 0.62;
      }
  return volume;
}

/// What is cut into blocks: elements at places of a lattice, and which of them are connected.
struct Elements {
  std::array<int, 3> size;
  std::vector<std::array<int, 3>> at;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

Elements voxelsOf(const Volume& volume) {
  Elements elements{volume.size, {}, {}};
  std::vector<std::uint32_t> number(volume.labels.size());
  for (int z = 0; z < volume.size[2]; ++z)
    for (int y = 0; y < volume.size[1]; ++y)
      for (int x = 0; x < volume.size[0]; ++x) {
        const std::size_t here = volume.index(x, y, z);
        if (volume.labels[here] == 0) continue;
        number[here] = std::uint32_t(elements.at.size());
        elements.at.push_back({x, y, z});
        for (int a = 0; a < 3; ++a) {
          const int px = x - (a == 0), py = y - (a == 1), pz = z - (a == 2);
          if (!volume.inside(px, py, pz)) continue;
          const std::size_t before = volume.index(px, py, pz);
          if (volume.labels[before] == volume.labels[here])
            elements.edges.emplace_back(number[before], number[here]);
        }
      }
  return elements;
}

/// Critical points of cos(u) sin(v) in a frame that turns by a radian, x and y from -16 to 16, on n
/// time steps of n^2 points, without two points at the boundary. With n = 128, the synthetic data
/// of the iexchange paper (doi:10.1109/LDAV53230.2021.00009, section 4.2.1).
Elements critical(int n) {
  constexpr int Left = 2;
  constexpr double Width = 32;
  if (n < 3 * Left)
    throw tributary::Error("the problem 'critical' needs at least 6 points per axis");
  const auto value = [&](int i, int j, double t) {
    const double x = (double(i) / (n - 1) - 0.5) * Width, y = (double(j) / (n - 1) - 0.5) * Width;
    return std::cos(x * std::cos(t) - y * std::sin(t)) *
           std::sin(x * std::sin(t) + y * std::cos(t));
  };
  Elements elements{{n, n, n}, {}, {}};
  tributary::VirtualTimeNetworkOptions alone;
  alone.ranks = 1;
  tributary::makeVirtualTimeNetwork(alone)->run([&](tributary::Transport& transport) {
    const Assignment one(std::vector<std::int64_t>{1});
    tributary::GridAxes axes;
    for (int i = 0; i < n; ++i)
      for (const std::size_t a : {0, 1}) axes.coordinates[a].push_back(i);
    axes.coordinates[2] = {0};
    const std::int64_t last = n - 1 - Left;
    const auto space =
        tributary::makeGridSpace(transport, one, axes, {{{Left, Left, 0}, {last, last, 0}}});
    tributary::CriticalPointTracker tracker(transport, *space);
    std::vector<tributary::TrajectoryPieces> pieces(1);
    for (int step = 0; step < n; ++step) {
      const double t = double(step) / (n - 1);
      std::vector<double> vectors;
      for (int j = Left; j <= last; ++j)
        for (int i = Left; i <= last; ++i)
          vectors.insert(vectors.end(), {value(i + 1, j, t) - value(i - 1, j, t),
                                         value(i, j + 1, t) - value(i, j - 1, t), 0});
      pieces[0].append(tracker.addVectors(step, {vectors}).pieces[0]);
    }
    const auto lines = tributary::joinPieces(transport, one, pieces, {});
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto line = lines.trajectory(i);
      for (std::size_t p = 0; p < line.size(); ++p) {
        const auto number = std::uint32_t(elements.at.size());
        elements.at.push_back({int(line[p].place[0]), int(line[p].place[1]), int(line[p].time)});
        if (p > 0) elements.edges.emplace_back(number - 1, number);
      }
    }
  });
  return elements;
}

/// Tracks through images, with the statistics of the exploding wire in the iexchange paper
/// (doi:10.1109/LDAV53230.2021.00009, section 4.2.2): n^2 pixels (n = 384), 4,745 steps, 52,978
/// tracks of 1 to 11,086 elements, 60 on average. The paper does not give the distribution of
/// sizes; here they are 11,086 to the power v^p with v uniform in [0, 1]. A track begins anywhere
/// and has 2.4 elements per step, so the longest one lasts for most of the steps. It moves in a
/// straight line by up to half a pixel per step and is reflected at the border.
Elements streaks(int n) {
  constexpr int Steps = 4745, Tracks = 52978;
  constexpr double Largest = 11086, Mean = 60, PerStep = 2.4;
  const auto sizeOf = [](int track, double p) {
    return std::int64_t(std::round(std::pow(Largest, std::pow(double(track) / (Tracks - 1), p))));
  };
  double low = 0.1, high = 100;  // of p: the mean falls as it grows
  while (high - low > 1e-9) {
    const double p = (low + high) / 2;
    std::int64_t total = 0;
    for (int track = 0; track < Tracks; ++track) total += sizeOf(track, p);
    (double(total) > Mean * Tracks ? low : high) = p;
  }
  Elements elements{{n, n, Steps}, {}, {}};
  for (int track = 0; track < Tracks; ++track) {
    const auto any = [&](std::uint64_t what) { return random(4 * std::uint64_t(track) + what); };
    const std::int64_t size = sizeOf(track, high);
    const double begin = any(0) * (Steps - double(size) / PerStep);
    const double angle = 2 * std::acos(-1.0) * any(1), speed = 0.5 * any(2);
    const double start[2] = {any(3) * n, random(~std::uint64_t(track)) * n};
    for (std::int64_t i = 0; i < size; ++i) {
      const double time = double(i) / PerStep;
      const auto along = [&](double from, double velocity) {
        const double way = std::fmod(std::fabs(from + velocity * time), 2.0 * n);
        return std::min(int(way < n ? way : 2 * n - way), n - 1);
      };
      const auto number = std::uint32_t(elements.at.size());
      elements.at.push_back({along(start[0], speed * std::cos(angle)),
                             along(start[1], speed * std::sin(angle)), int(begin + time)});
      if (i > 0) elements.edges.emplace_back(number - 1, number);
    }
  }
  return elements;
}

/// How many blocks along each axis: prime factors go where blocks are longest.
std::array<int, 3> latticeOf(std::int64_t blocks, const std::array<int, 3>& size) {
  std::vector<int> factors;
  for (int f = 2; blocks > 1; ++f)
    for (; blocks % f == 0; blocks /= f) factors.push_back(f);
  std::array<int, 3> lattice = {1, 1, 1};
  std::reverse(factors.begin(), factors.end());
  for (const int factor : factors) {
    int longest = 0;
    for (int a = 1; a < 3; ++a)
      if (size[a] / lattice[a] > size[longest] / lattice[longest]) longest = a;
    lattice[longest] *= factor;
  }
  return lattice;
}

ComponentProblem cut(const Elements& elements, const Assignment& assignment) {
  const auto lattice = latticeOf(assignment.total(), elements.size);
  const int ranks = assignment.ranks();
  std::vector<BlockId> blockOf;
  for (const auto& at : elements.at) {
    std::int64_t position = 0;
    for (int a = 2; a >= 0; --a)
      position = position * lattice[a] + std::int64_t(at[a]) * lattice[a] / elements.size[a];
    blockOf.push_back(assignment.first(int(position % ranks)) + position / ranks);
  }
  tributary::UnionFind<std::uint32_t> sets(elements.at.size());
  for (const auto& [a, b] : elements.edges)
    if (blockOf[a] == blockOf[b]) sets.unite(a, b);
  ComponentProblem problem;
  problem.lattice = lattice;
  problem.elements = std::int64_t(elements.at.size());
  problem.sets.assign(std::size_t(assignment.total()), 0);
  problem.links.resize(problem.sets.size());
  std::vector<std::int64_t> number(elements.at.size(), -1);
  for (std::uint32_t i = 0; i < elements.at.size(); ++i) {
    const std::size_t root = sets.find(i);
    if (number[root] < 0) number[root] = problem.sets[std::size_t(blockOf[i])]++;
    number[i] = number[root];
  }
  for (const auto& [a, b] : elements.edges) {
    if (blockOf[a] == blockOf[b]) continue;
    problem.links[std::size_t(blockOf[a])].push_back({number[a], blockOf[b], number[b]});
    problem.links[std::size_t(blockOf[b])].push_back({number[b], blockOf[a], number[a]});
    sets.unite(a, b);
  }
  for (std::uint32_t i = 0; i < elements.at.size(); ++i) problem.regions += sets.find(i) == i;
  for (auto& links : problem.links) {
    const auto key = [](const SetLink& l) { return std::make_tuple(l.local, l.block, l.remote); };
    std::sort(links.begin(), links.end(),
              [&](const SetLink& a, const SetLink& b) { return key(a) < key(b); });
    links.erase(std::unique(links.begin(), links.end(),
                            [&](const SetLink& a, const SetLink& b) { return key(a) == key(b); }),
                links.end());
    for (std::size_t i = 0; i < links.size(); ++i)
      problem.linked += i == 0 || links[i].local != links[i - 1].local;
  }
  return problem;
}

}  // namespace

std::vector<BlockId> ComponentProblem::neighbors(BlockId block) const {
  std::set<BlockId> blocks;
  for (const SetLink& link : links[std::size_t(block)]) blocks.insert(link.block);
  return {blocks.begin(), blocks.end()};
}

std::vector<BlockId> ComponentProblem::surrounding(BlockId block) const {
  std::vector<BlockId> blocks;
  const std::int64_t middle[3] = {block % lattice[0], block / lattice[0] % lattice[1],
                                  block / lattice[0] / lattice[1]};
  for (int offset = 0; offset < 27; ++offset) {
    const std::int64_t at[3] = {middle[0] + offset % 3 - 1, middle[1] + offset / 3 % 3 - 1,
                                middle[2] + offset / 9 - 1};
    bool inside = offset != 13;
    for (std::size_t a = 0; a < 3; ++a) inside = inside && at[a] >= 0 && at[a] < lattice[a];
    if (inside) blocks.push_back(at[0] + lattice[0] * (at[1] + lattice[1] * at[2]));
  }
  return blocks;
}

const std::vector<std::string>& componentProblems() {
  static const std::vector<std::string> names = {"spiral", "comb",     "noise",
                                                 "blobs",  "critical", "streaks"};
  return names;
}

ComponentProblem makeComponentProblem(const std::string& name, int size,
                                      const Assignment& assignment) {
  if (name == "spiral") return cut(voxelsOf(spiral(size ? size : 256)), assignment);
  if (name == "comb") return cut(voxelsOf(comb(size ? size : 256)), assignment);
  if (name == "noise") return cut(voxelsOf(noise(size ? size : 96)), assignment);
  if (name == "blobs") return cut(voxelsOf(blobs(size ? size : 128)), assignment);
  if (name == "critical") return cut(critical(size ? size : 128), assignment);
  if (name == "streaks") return cut(streaks(size ? size : 384), assignment);
  throw tributary::Error("unknown problem '" + name + "'");
}

std::vector<LabelBlock> LabelWork::blocksOf(int rank) const {
  std::vector<LabelBlock> blocks;
  for (BlockId id = assignment_.first(rank); id < assignment_.first(rank + 1); ++id) {
    const auto b = std::size_t(id);
    blocks.push_back(
        {id, tributary::detail::LabelPropagation(id, problem_.sets[b], problem_.links[b])});
  }
  return blocks;
}

}  // namespace bench
