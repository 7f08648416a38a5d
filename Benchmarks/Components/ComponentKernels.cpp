// SPDX-License-Identifier: BSD-3-Clause
#include "Components/ComponentKernels.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <thread>

#include "Support/Report.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Components/CoincidentPoints.h"
#include "Tributary/Components/LatticeLabels.h"
#include "Tributary/Components/MeshEntities.h"
#include "Tributary/Components/MeshLabels.h"
#include "Tributary/Components/UnionFind.h"

namespace bench {

namespace {

double threadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Loops on threads, four ranges for each, and the time in which these would be done if each thread
/// had a core of its own: that of the calling thread outside of loops, and in each loop that of the
/// thread with the most work. The machine may be shared, so wall time says little.
class Team {
 public:
  explicit Team(int threads) : threads_(threads) {}

  void loop(std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (threads_ == 1) return body(0, n);
    const std::int64_t ranges = std::min<std::int64_t>(n, 4 * threads_);
    std::vector<double> seconds(static_cast<std::size_t>(threads_));
    const auto work = [&](int t) {
      const double begin = threadSeconds();
      // Fixed shares: a thread that has no core for a while must not lose its work to others.
      for (std::int64_t r = t * ranges / threads_; r < (t + 1) * ranges / threads_; ++r)
        body(n * r / ranges, n * (r + 1) / ranges);
      seconds[static_cast<std::size_t>(t)] = threadSeconds() - begin;
    };
    std::vector<std::thread> team;
    for (int t = 1; t < threads_; ++t) team.emplace_back(work, t);
    work(0);
    for (auto& thread : team) thread.join();
    extra_ += *std::max_element(seconds.begin(), seconds.end()) - seconds[0];
  }

  tributary::ParallelFor parallelFor() {
    return [this](std::int64_t n, const std::function<void(std::int64_t, std::int64_t)>& body) {
      loop(n, body);
    };
  }

  /// @return seconds
  double time(const std::function<void()>& action) {
    extra_ = 0;
    const double begin = threadSeconds();
    action();
    return threadSeconds() - begin + extra_;
  }

 private:
  int threads_;
  double extra_ = 0;
};

using Lattice = tributary::LatticeSize;

std::vector<float> noise(std::int64_t count) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = static_cast<float>(random() >> 8) * 0x1p-24f;
  return values;
}

/// A sum of plane waves in random directions, a tenth of the edge long: about half of it is above
/// 0.
std::vector<float> smooth(int n) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  std::vector<float> values(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) *
                            static_cast<std::size_t>(n));
  for (int wave = 0; wave < 12; ++wave) {
    double k[3], length = 0;
    for (double& x : k) x = normal(random), length += x * x;
    std::vector<std::complex<float>> phase[3];
    for (int a = 0; a < 3; ++a)
      for (int i = 0; i < n; ++i)
        phase[a].push_back(std::complex<float>(std::polar(
            1.0, 2 * M_PI * 10 * k[a] / std::sqrt(length) * i / n + (a == 0 ? wave * 1.7 : 0))));
    auto* v = values.data();
    for (int z = 0; z < n; ++z)
      for (int y = 0; y < n; ++y) {
        const auto yz =
            phase[1][static_cast<std::size_t>(y)] * phase[2][static_cast<std::size_t>(z)];
        for (int x = 0; x < n; ++x, ++v) {
          const auto& px = phase[0][static_cast<std::size_t>(x)];
          *v += px.real() * yz.real() - px.imag() * yz.imag();
        }
      }
  }
  return values;
}

struct Graph {
  std::size_t vertices = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
};

Graph randomGraph(int vertices) {
  std::mt19937_64 random(3);
  Graph graph{static_cast<std::size_t>(vertices), {}};
  for (int i = 0; i < 2 * vertices; ++i) {
    const std::uint64_t r = random();
    graph.edges.emplace_back((r >> 32) * static_cast<std::uint64_t>(vertices) >> 32,
                             (r & 0xffffffff) * static_cast<std::uint64_t>(vertices) >> 32);
  }
  return graph;
}

/// Two thirds of the edges of a cubic lattice, in its order.
Graph meshGraph(int vertices) {
  std::mt19937 random(4);
  const auto n = static_cast<std::uint32_t>(std::cbrt(vertices));
  Graph graph{std::size_t(n) * n * n, {}};
  std::uint32_t v = 0;
  for (std::uint32_t z = 0; z < n; ++z)
    for (std::uint32_t y = 0; y < n; ++y)
      for (std::uint32_t x = 0; x < n; ++x, ++v) {
        if (x > 0 && random() % 3) graph.edges.emplace_back(v, v - 1);
        if (y > 0 && random() % 3) graph.edges.emplace_back(v, v - n);
        if (z > 0 && random() % 3) graph.edges.emplace_back(v, v - n * n);
      }
  return graph;
}

struct Tetrahedra {
  std::vector<std::uint8_t> types, inRange;
  std::vector<std::int64_t> offsets{0}, connectivity;
  std::int64_t points = 0;
};

/// Kuhn's six tetrahedra of each cube, half of them in range.
Tetrahedra tetrahedra(int cubes) {
  std::mt19937 random(5);
  Tetrahedra mesh;
  const std::int64_t n = cubes + 1, step[3] = {1, n, n * n};
  mesh.points = n * n * n;
  constexpr int Paths[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  for (std::int64_t z = 0; z < cubes; ++z)
    for (std::int64_t y = 0; y < cubes; ++y)
      for (std::int64_t x = 0; x < cubes; ++x)
        for (const auto& path : Paths) {
          std::int64_t p = x + n * (y + n * z);
          mesh.connectivity.push_back(p);
          for (const int axis : path) mesh.connectivity.push_back(p += step[axis]);
          mesh.offsets.push_back(static_cast<std::int64_t>(mesh.connectivity.size()));
          mesh.types.push_back(tributary::Tetra);
          mesh.inRange.push_back(random() % 2);
        }
  return mesh;
}

}  // namespace

void measureComponentKernels(const ComponentKernelsOptions& options) {
  Report report(
      "Labeling of connected sets on one rank (median millions per second, for one core per "
      "thread)",
      {{"voxels", options.voxels},
       {"vertices", options.vertices},
       {"mesh cubes", options.meshCubes},
       {"points", options.points},
       {"repetitions", options.repeat}});

  const auto wanted = [&](const std::string& name) {
    return options.cases.empty() ||
           std::find(options.cases.begin(), options.cases.end(), name) != options.cases.end();
  };
  // One row: millions of `unit` a second for each number of threads.
  // `prepare` is not timed; `action` returns what to print as the number of sets.
  const auto measure =
      [&](const std::string& name, const std::string& what, const std::string& unit, double count,
          const std::function<void()>& prepare, const std::function<std::int64_t(Team&)>& action) {
        Row row{{"case", name}, {"what", what}, {"unit", unit}};
        std::int64_t sets = 0;
        std::vector<std::vector<double>> rates(options.threads.size());
        for (int r = 0; r < options.repeat; ++r)
          for (std::size_t t = 0; t < options.threads.size(); ++t) {
            Team team(options.threads[t]);
            prepare();
            rates[t].push_back(count * 1e-6 / team.time([&] { sets = action(team); }));
          }
        for (std::size_t t = 0; t < options.threads.size(); ++t)
          row[std::to_string(options.threads[t]) + " threads"] = median(rates[t]);
        row["sets"] = sets;
        report.add(row);
      };
  const auto nothing = [] {};

  const int n = options.voxels;
  const Lattice size{n, n, n};
  const double voxels = std::pow(n, 3);
  struct Field {
    const char* name;
    double lo, hi;
  };
  for (const Field& field :
       {Field{"noise 0.3116", 0, 0.3116}, Field{"noise 0.5", 0, 0.5}, Field{"blobs", 3, 1e30}}) {
    if (!wanted(field.name)) continue;
    std::cerr << "measuring " << field.name << " ..." << std::endl;
    const auto values = field.hi > 1 ? smooth(n) : noise(std::int64_t(voxels));
    std::vector<std::uint64_t> mask(static_cast<std::size_t>(tributary::maskWords(size)));
    measure(field.name, "mask", "voxels", voxels, nothing, [&](Team& team) {
      tributary::rangeMask(values.data(), n, std::int64_t(n) * n, field.lo, field.hi, mask.data(),
                           team.parallelFor());
      return std::int64_t(0);
    });
    for (const int neighbors : options.neighbors) {
      const auto through = neighbors == 6    ? tributary::Through::Faces
                           : neighbors == 18 ? tributary::Through::Edges
                                             : tributary::Through::Points;
      const std::string suffix = ", " + std::to_string(neighbors) + " neighbors";
      measure(field.name, "label" + suffix, "voxels", voxels, nothing, [&](Team& team) {
        return std::int64_t(
            tributary::labelLattice(size, mask, through, nullptr, team.parallelFor()).sets());
      });
      std::vector<std::uint32_t> out(values.size());
      const auto write = [&](const tributary::LatticeLabels& labels, Team& team) {
        std::vector<std::uint32_t> numbers(labels.sets());
        for (std::uint32_t i = 0; i < labels.sets(); ++i) numbers[i] = i;
        tributary::writeLabels<std::uint32_t>(labels, numbers, 0xffffffff, out.data(),
                                              team.parallelFor());
        return std::int64_t(labels.sets());
      };
      measure(field.name, "label and write" + suffix, "voxels", voxels, nothing, [&](Team& team) {
        return write(tributary::labelLattice(size, mask, through, nullptr, team.parallelFor()),
                     team);
      });
    }
  }
  for (const bool ordered : {false, true}) {
    const std::string name = ordered ? "mesh-ordered edges" : "random edges";
    if (!wanted(name)) continue;
    std::cerr << "measuring " << name << " ..." << std::endl;
    const Graph graph = ordered ? meshGraph(options.vertices) : randomGraph(options.vertices);
    std::optional<tributary::UnionFind<std::uint32_t>> unions;
    measure(
        name, "unite", "edges", double(graph.edges.size()), [&] { unions.emplace(graph.vertices); },
        [&](Team& team) {
          const auto merges = unions->uniteAll(graph.edges, team.parallelFor());
          return std::int64_t(graph.vertices) - merges;
        });
  }
  if (wanted("tetrahedra")) {
    std::cerr << "measuring tetrahedra ..." << std::endl;
    const Tetrahedra mesh = tetrahedra(options.meshCubes);
    const double cells = double(mesh.types.size());
    measure("tetrahedra", "label through points", "cells", cells, nothing, [&](Team& team) {
      return std::int64_t(tributary::labelMesh({mesh.offsets, mesh.connectivity, mesh.points},
                                               mesh.inRange, nullptr, team.parallelFor())
                              .sets);
    });
    tributary::MeshCells view;
    view.types = mesh.types;
    view.offsets = mesh.offsets;
    view.connectivity = mesh.connectivity;
    view.pointCount = mesh.points;
    measure("tetrahedra", "number faces", "cells", cells, nothing, [&](Team& team) {
      return tributary::numberEntities(view, tributary::Through::Faces, {}, team.parallelFor())
          .count();
    });
    const auto faces =
        tributary::numberEntities(view, tributary::Through::Faces, {}, tributary::serialFor);
    measure("tetrahedra", "label through faces", "cells", cells, nothing, [&](Team& team) {
      return std::int64_t(
          tributary::labelMesh(faces.cells(), mesh.inRange, nullptr, team.parallelFor()).sets);
    });
  }
  if (wanted("coincident points")) {
    std::cerr << "measuring coincident points ..." << std::endl;
    std::mt19937 random(6);
    std::vector<float> points;
    const auto side = static_cast<std::int64_t>(std::cbrt(options.points));
    for (std::int64_t i = 0; i < options.points; ++i) {
      const std::int64_t at = i % 2 ? i : static_cast<std::int64_t>(random()) % options.points;
      for (const auto x : {at % side, at / side % side, at / side / side})
        points.push_back(static_cast<float>(x) * 0.1f);
    }
    measure("coincident points", "merge", "points", options.points, nothing, [&](Team& team) {
      const auto first = tributary::mergeCoincident<float>(points, team.parallelFor());
      std::int64_t different = 0;
      for (std::size_t i = 0; i < first.size(); ++i) different += first[i] == std::int64_t(i);
      return different;
    });
  }
  report.publish(options.json);
}

}  // namespace bench
