#include "ComponentProblems.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "Tributary/Components/UnionFind.h"
#include "Tributary/Error.h"
#include "Tributary/Hash.h"

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

/// 280 helices around centres on a lattice, of three types that do not connect, from 4 to 574
/// voxels long: the numbers of the iexchange paper's synthetic data (section 4.2.1), which it
/// describes no further. `n` is 128 there.
Volume critical(int n) {
  Volume volume(n, n, n);
  constexpr int Trajectories = 280, PerRow = 17, Shortest = 4, Longest = 574;
  const double spacing = double(n) / PerRow;
  for (int i = 0; i < Trajectories; ++i) {
    const auto draw = [&](int k) { return random(std::uint64_t(i) * 16 + std::uint64_t(k)); };
    const double cx = (i % PerRow + 0.5) * spacing, cy = (i / PerRow + 0.5) * spacing;
    const double radius = spacing * (0.15 + 0.2 * draw(0));
    const double phase = 6.283185307179586 * draw(1), turns = 8 + 18 * draw(2);
    // Most live from the first to the last time step; a few are short.
    const double begin = draw(3) < 0.8 ? 0 : draw(4) * 0.8 * n;
    const double life = i == 0 ? Shortest : draw(5) < 0.1 ? (0.1 + 0.9 * draw(6)) * n : n;
    const auto type = std::uint8_t(1 + i % 3);
    int last[3] = {-1, -1, -1}, length = 0;
    constexpr int Samples = 256;
    const int end = int(std::min<double>(n, begin + life) * Samples);
    for (int s = int(begin * Samples); s < end && length < Longest; ++s) {
      const double t = double(s) / Samples, angle = phase + turns * 6.283185307179586 * t / n;
      const int at[3] = {int(cx + radius * std::cos(angle)), int(cy + radius * std::sin(angle)),
                         int(t)};
      // From face to face.
      for (int a = 0; a < 3 && length < Longest && (i > 0 || length < Shortest); ++a) {
        if (last[a] == at[a]) continue;
        const bool first = last[0] < 0;
        if (first) std::copy(at, at + 3, last);
        last[a] = at[a];
        auto& voxel = volume.at(last[0], last[1], last[2]);
        length += voxel == 0;
        voxel = type;
      }
    }
  }
  return volume;
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

ComponentProblem cut(const Volume& volume, const Assignment& assignment) {
  const auto lattice = latticeOf(assignment.total(), volume.size);
  const int ranks = assignment.ranks();
  std::array<std::vector<int>, 3> place;  // of a coordinate, in the lattice of blocks
  for (int a = 0; a < 3; ++a)
    for (int i = 0; i < volume.size[a]; ++i)
      place[a].push_back(int(std::int64_t(i) * lattice[a] / volume.size[a]));
  const auto blockOf = [&](int x, int y, int z) {
    const std::int64_t position =
        (std::int64_t(place[2][z]) * lattice[1] + place[1][y]) * lattice[0] + place[0][x];
    return assignment.first(int(position % ranks)) + position / ranks;
  };
  const auto forPairs = [&](auto&& visit) {
    for (int z = 0; z < volume.size[2]; ++z)
      for (int y = 0; y < volume.size[1]; ++y)
        for (int x = 0; x < volume.size[0]; ++x) {
          const std::size_t here = volume.index(x, y, z);
          if (volume.labels[here] == 0) continue;
          for (int a = 0; a < 3; ++a) {
            const int nx = x + (a == 0), ny = y + (a == 1), nz = z + (a == 2);
            if (!volume.inside(nx, ny, nz)) continue;
            const std::size_t next = volume.index(nx, ny, nz);
            if (volume.labels[next] == volume.labels[here])
              visit(here, blockOf(x, y, z), next, blockOf(nx, ny, nz));
          }
        }
  };
  tributary::UnionFind<std::uint32_t> sets(volume.labels.size());
  forPairs([&](std::size_t a, BlockId blockA, std::size_t b, BlockId blockB) {
    if (blockA == blockB) sets.unite(std::uint32_t(a), std::uint32_t(b));
  });
  ComponentProblem problem;
  problem.sets.assign(std::size_t(assignment.total()), 0);
  problem.links.resize(problem.sets.size());
  std::vector<std::int64_t> number(volume.labels.size(), -1);
  for (int z = 0; z < volume.size[2]; ++z)
    for (int y = 0; y < volume.size[1]; ++y)
      for (int x = 0; x < volume.size[0]; ++x) {
        const std::size_t i = volume.index(x, y, z);
        if (volume.labels[i] == 0) continue;
        ++problem.voxels;
        const std::size_t root = sets.find(std::uint32_t(i));
        if (number[root] < 0) number[root] = problem.sets[std::size_t(blockOf(x, y, z))]++;
        number[i] = number[root];
      }
  forPairs([&](std::size_t a, BlockId blockA, std::size_t b, BlockId blockB) {
    if (blockA == blockB) return;
    problem.links[std::size_t(blockA)].push_back({number[a], blockB, number[b]});
    problem.links[std::size_t(blockB)].push_back({number[b], blockA, number[a]});
    sets.unite(std::uint32_t(a), std::uint32_t(b));
  });
  for (std::size_t i = 0; i < volume.labels.size(); ++i)
    problem.regions += volume.labels[i] != 0 && sets.find(std::uint32_t(i)) == i;
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

std::vector<BlockId> ComponentProblem::neighbours(BlockId block) const {
  std::set<BlockId> blocks;
  for (const SetLink& link : links[std::size_t(block)]) blocks.insert(link.block);
  return {blocks.begin(), blocks.end()};
}

const std::vector<std::string>& componentProblems() {
  static const std::vector<std::string> names = {"spiral", "comb", "noise", "blobs", "critical"};
  return names;
}

ComponentProblem makeComponentProblem(const std::string& name, int size,
                                      const Assignment& assignment) {
  if (name == "spiral") return cut(spiral(size ? size : 256), assignment);
  if (name == "comb") return cut(comb(size ? size : 256), assignment);
  if (name == "noise") return cut(noise(size ? size : 96), assignment);
  if (name == "blobs") return cut(blobs(size ? size : 128), assignment);
  if (name == "critical") return cut(critical(size ? size : 128), assignment);
  throw tributary::Error("there is no problem '" + name + "'");
}

std::vector<LabelBlock> LabelWork::blocksOf(int rank) const {
  std::vector<LabelBlock> blocks;
  for (BlockId id = assignment_.first(rank); id < assignment_.first(rank + 1); ++id) {
    const auto b = std::size_t(id);
    blocks.push_back({id, tributary::LabelPropagation(id, problem_.sets[b], problem_.links[b])});
  }
  return blocks;
}

}  // namespace bench
