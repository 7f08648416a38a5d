// SPDX-License-Identifier: BSD-3-Clause
#include "Advection/Kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <random>

#include "Support/Report.h"
#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Loopback.h"

namespace bench {

namespace {

constexpr double Side = 6.283185307179586;           // the flow's period
constexpr std::uint8_t Tetra = 10, Hexahedron = 12;  // VTK's cell types

/// The Arnold-Beltrami-Childress flow.
std::array<float, 3> abc(double x, double y, double z) {
  const double a = std::sqrt(3.0), b = std::sqrt(2.0), c = 1;
  return {{static_cast<float>(a * std::sin(z) + c * std::cos(y)),
           static_cast<float>(b * std::sin(x) + a * std::cos(z)),
           static_cast<float>(c * std::sin(y) + b * std::cos(x))}};
}

double uniformRandom(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

/// A field and the arrays that it views.
struct Case {
  std::string name;
  double edge = 0;  ///< Mean length of a cell's edge.
  std::vector<float> points, velocity;
  std::vector<std::uint8_t> types;
  std::vector<std::int64_t> offsets, connectivity;
  std::vector<std::unique_ptr<tributary::FieldBlock>> blocks;
};

tributary::ArrayView view(const std::vector<float>& values) {
  return {values.data(), false, static_cast<std::int64_t>(values.size() / 3)};
}

std::unique_ptr<Case> makeStructured(tributary::Transport& transport, int n, bool uniform) {
  auto result = std::make_unique<Case>();
  result->name = std::string(uniform ? "uniform " : "rectilinear ") + std::to_string(n) + "^3";
  result->edge = Side / (n - 1);
  std::vector<double> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / (n - 1);
    x[static_cast<std::size_t>(i)] =
        uniform ? result->edge * i : Side * t + 0.3 * std::sin(Side * t);
  }
  result->velocity.reserve(x.size() * x.size() * x.size() * 3);
  for (const double pz : x)
    for (const double py : x)
      for (const double px : x)
        for (const float v : abc(px, py, pz)) result->velocity.push_back(v);
  tributary::StructuredPiece piece;
  piece.extent = {{0, n - 1, 0, n - 1, 0, n - 1}};
  piece.uniform = uniform;
  piece.spacing = {{result->edge, result->edge, result->edge}};
  if (!uniform) piece.coordinates = {{x, x, x}};
  piece.velocity = view(result->velocity);
  result->blocks = tributary::makeStructuredBlocks(transport, {piece}, 1, {0});
  return result;
}

/// Cubes with their inner points moved by up to a fifth of an edge; each is one hexahedron or the
/// six tetrahedra of Kuhn's cut.
std::unique_ptr<Case> makeMesh(tributary::Transport& transport, int cubes, bool tetrahedra) {
  auto result = std::make_unique<Case>();
  result->edge = Side / cubes;
  const std::int64_t n = cubes + 1;
  std::mt19937_64 random(7);
  const auto jitter = [&](std::int64_t i) {
    const double moved = 0.4 * (uniformRandom(random) - 0.5);
    return result->edge * (static_cast<double>(i) + (i == 0 || i == cubes ? 0 : moved));
  };
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = jitter(i), y = jitter(j), z = jitter(k);
        for (const double c : {x, y, z}) result->points.push_back(static_cast<float>(c));
        for (const float v : abc(x, y, z)) result->velocity.push_back(v);
      }
  const auto point = [n](std::int64_t i, std::int64_t j, std::int64_t k) {
    return i + n * (j + n * k);
  };
  const auto add = [&](std::uint8_t type, std::initializer_list<std::int64_t> corners) {
    result->offsets.push_back(static_cast<std::int64_t>(result->connectivity.size()));
    result->connectivity.insert(result->connectivity.end(), corners);
    result->types.push_back(type);
  };
  const std::array<std::array<int, 3>, 6> paths{
      {{{0, 1, 2}}, {{1, 2, 0}}, {{2, 0, 1}}, {{0, 2, 1}}, {{2, 1, 0}}, {{1, 0, 2}}}};
  for (std::int64_t k = 0; k < cubes; ++k)
    for (std::int64_t j = 0; j < cubes; ++j)
      for (std::int64_t i = 0; i < cubes; ++i) {
        if (!tetrahedra) {
          add(Hexahedron, {point(i, j, k), point(i + 1, j, k), point(i + 1, j + 1, k),
                           point(i, j + 1, k), point(i, j, k + 1), point(i + 1, j, k + 1),
                           point(i + 1, j + 1, k + 1), point(i, j + 1, k + 1)});
          continue;
        }
        for (std::size_t p = 0; p < paths.size(); ++p) {
          std::array<std::int64_t, 3> q{{i, j, k}};
          ++q[static_cast<std::size_t>(paths[p][0])];
          std::int64_t second = point(q[0], q[1], q[2]);
          ++q[static_cast<std::size_t>(paths[p][1])];
          std::int64_t third = point(q[0], q[1], q[2]);
          if (p >= 3) std::swap(second, third);  // odd: keeps the volume positive
          add(Tetra, {point(i, j, k), second, third, point(i + 1, j + 1, k + 1)});
        }
      }
  result->offsets.push_back(static_cast<std::int64_t>(result->connectivity.size()));
  result->name = std::to_string(result->types.size() / 1000) + "k " +
                 (tetrahedra ? "tetrahedra" : "hexahedra");
  tributary::MeshPiece piece;
  piece.points = view(result->points);
  piece.velocity = view(result->velocity);
  piece.types = result->types;
  piece.offsets = result->offsets;
  piece.connectivity = result->connectivity;
  result->blocks = tributary::makeMeshBlocks(transport, {piece}, 1, 3, {0});
  return result;
}

std::vector<tributary::Seed> makeSeeds(int count, bool sorted) {
  std::mt19937_64 random(1);
  std::vector<tributary::Seed> seeds(static_cast<std::size_t>(count));
  for (tributary::Seed& seed : seeds)
    for (double& x : seed.x) x = Side * (0.05 + 0.9 * uniformRandom(random));
  if (sorted) {
    const auto morton = [](const tributary::Seed& seed) {
      std::uint32_t code = 0;
      for (int bit = 9; bit >= 0; --bit)
        for (const double x : seed.x)
          code = code << 1 | (static_cast<std::uint32_t>(x / Side * 1024) >> bit & 1);
      return code;
    };
    std::sort(seeds.begin(), seeds.end(),
              [&](const auto& a, const auto& b) { return morton(a) < morton(b); });
  }
  std::int64_t id = 0;
  for (tributary::Seed& seed : seeds) seed.id = id++;
  return seeds;
}

tributary::StepRules rulesFor(const std::string& integrator, const KernelsOptions& options,
                              double edge) {
  tributary::StepRules rules;
  rules.maximumSteps = options.steps;
  if (integrator == "RK45") return rules;  // ParaView's defaults
  rules.integrator =
      integrator == "RK2" ? tributary::Integrator::RungeKutta2 : tributary::Integrator::RungeKutta4;
  rules.unit = tributary::StepUnit::Length;
  rules.initialStep = options.step * edge;
  return rules;
}

}  // namespace

void measureKernels(const KernelsOptions& options) {
  const auto transport = tributary::makeLoopbackTransport();
  Report report("Advection kernels on the ABC flow, one core (median million steps per second)",
                {{"seeds", options.seeds},
                 {"steps per line", options.steps},
                 {"step of RK2 and RK4 in cells", options.step},
                 {"repetitions", options.repeat}});

  const auto measure = [&](const Case& field, const tributary::Domain& domain) {
    for (const std::string& integrator : options.integrators)
      for (const bool sorted : {false, true}) {
        const auto seeds = makeSeeds(options.seeds, sorted);
        Row row{{"field", field.name},
                {"integrator", integrator},
                {"seeds", sorted ? "Morton" : "random"}};
        std::int64_t steps = 0;  // of the recorded run; the other makes the same
        for (const bool record : {true, false}) {
          tributary::TraceOptions trace;
          trace.rules = rulesFor(integrator, options, field.edge);
          trace.rules.record = record;
          std::vector<double> rates;
          for (int r = 0; r < options.repeat; ++r) {
            const double begin = transport->now();
            const auto result = tributary::trace(*transport, domain, seeds, trace);
            const double seconds = transport->now() - begin;
            if (record) steps = result.points - static_cast<std::int64_t>(seeds.size());
            rates.push_back(static_cast<double>(steps) / seconds * 1e-6);
          }
          row[record ? "recorded" : "unrecorded"] = median(rates);
        }
        row["steps"] = steps;
        report.add(row);
      }
  };

  const auto asDomain = [&](Case& field) {
    return tributary::makeDomain(*transport, tributary::Assignment({1}), std::move(field.blocks));
  };
  for (const std::string& name : options.fields) {
    std::cerr << "measuring " << name << " ..." << std::endl;
    if (name == "uniform" || name == "rectilinear") {
      for (const int n : options.points) {
        const auto field = makeStructured(*transport, n, name == "uniform");
        const auto domain = asDomain(*field);
        measure(*field, domain);
      }
    } else {
      const auto field = makeMesh(*transport, options.meshCells, name == "tetrahedra");
      const auto domain = asDomain(*field);
      measure(*field, domain);
    }
  }
  report.publish(options.json);
}

}  // namespace bench
