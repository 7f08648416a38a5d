// SPDX-License-Identifier: BSD-3-Clause
#include "Advection/Kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <random>
#include <utility>

#include "Support/Report.h"
#include "Tributary/Advection/Domain.h"
#include "Tributary/Advection/MeshField.h"
#include "Tributary/Advection/StructuredField.h"
#include "Tributary/Advection/Tracer.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Transport/Loopback.h"

namespace bench {

namespace {

constexpr double Side = 6.283185307179586;                                     // the flow's period
constexpr std::uint8_t Tetra = 10, Hexahedron = 12, Wedge = 13, Pyramid = 14;  // VTK's cell types

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
  std::vector<float> laterVelocity;  ///< Empty in a steady field.
  std::vector<std::uint8_t> types;
  std::vector<std::int64_t> offsets, connectivity;
  std::vector<std::unique_ptr<tributary::FieldBlock>> blocks;
};

tributary::ArrayView view(const std::vector<float>& values) {
  return {values.data(), false, static_cast<std::int64_t>(values.size() / 3)};
}

/// Makes the field unsteady: it is multiplied by 1.25 until the end of the interval.
tributary::ArrayView makeLater(Case& field) {
  for (const float v : field.velocity) field.laterVelocity.push_back(1.25f * v);
  return view(field.laterVelocity);
}

std::unique_ptr<Case> makeStructured(tributary::Transport& transport, int n, bool uniform,
                                     bool unsteady) {
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
  if (unsteady) piece.laterVelocity = makeLater(*result);
  result->blocks = tributary::makeStructuredBlocks(transport, {piece}, 1, {0});
  return result;
}

/// Cubes that are cut into cells of a kind.
class CutCubes {
 public:
  /// @param kind  a mesh of KernelsOptions::fields
  CutCubes(Case& mesh, const std::string& kind, std::int64_t cubes)
      : mesh_(mesh), kind_(kind), points_(cubes + 1) {}

  void cut(std::int64_t i, std::int64_t j, std::int64_t k) {
    const auto at = [&](int x, int y, int z) {
      return i + x + points_ * (j + y + points_ * (k + z));
    };
    const std::array<std::int64_t, 8> q{{at(0, 0, 0), at(1, 0, 0), at(1, 1, 0), at(0, 1, 0),
                                         at(0, 0, 1), at(1, 0, 1), at(1, 1, 1), at(0, 1, 1)}};
    if (kind_ == "tetrahedra")  // Kuhn's cut, with positive volumes
      for (const auto& [b, c] : {std::pair(1, 2), {2, 3}, {3, 7}, {7, 4}, {4, 5}, {5, 1}})
        add(Tetra, {q[0], q[std::size_t(b)], q[std::size_t(c)], q[6]});
    else if (kind_ == "wedges")
      for (const auto& [b, c] : {std::pair(1, 2), {2, 3}})
        add(Wedge, {q[0], q[std::size_t(b)], q[std::size_t(c)], q[4], q[std::size_t(b + 4)],
                    q[std::size_t(c + 4)]});
    else if (kind_ == "pyramids")
      cutToPyramids(q);
    else
      add(Hexahedron, {q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]});
  }

 private:
  void cutToPyramids(const std::array<std::int64_t, 8>& q) {
    const auto center = static_cast<std::int64_t>(mesh_.points.size() / 3);
    const auto addMean = [&](std::vector<float>& values) {
      for (std::size_t a = 0; a < 3; ++a) {
        float sum = 0;
        for (const std::int64_t point : q) sum += values[3 * std::size_t(point) + a];
        values.push_back(sum / 8);
      }
    };
    addMean(mesh_.points);
    addMean(mesh_.velocity);
    const std::array<std::array<std::size_t, 4>, 6> bases{{{{0, 1, 2, 3}},
                                                           {{4, 7, 6, 5}},
                                                           {{0, 4, 5, 1}},
                                                           {{1, 5, 6, 2}},
                                                           {{2, 6, 7, 3}},
                                                           {{3, 7, 4, 0}}}};
    for (const auto& base : bases)
      add(Pyramid, {q[base[0]], q[base[1]], q[base[2]], q[base[3]], center});
  }

  void add(std::uint8_t type, std::initializer_list<std::int64_t> corners) {
    mesh_.offsets.push_back(static_cast<std::int64_t>(mesh_.connectivity.size()));
    mesh_.connectivity.insert(mesh_.connectivity.end(), corners);
    mesh_.types.push_back(type);
  }

  Case& mesh_;
  const std::string& kind_;
  std::int64_t points_;  // along an edge
};

/// Cubes cut into cells of a kind, with their inner points moved by up to a fifth of an edge,
/// except for parallelepipeds.
std::unique_ptr<Case> makeMesh(tributary::Transport& transport, int cubes, const std::string& kind,
                               bool unsteady) {
  auto result = std::make_unique<Case>();
  result->edge = Side / cubes;
  const std::int64_t n = cubes + 1;
  std::mt19937_64 random(7);
  const double most = kind == "parallelepipeds" ? 0 : 0.4;
  const auto jitter = [&](std::int64_t i) {
    const double moved = most * (uniformRandom(random) - 0.5);
    return result->edge * (static_cast<double>(i) + (i == 0 || i == cubes ? 0 : moved));
  };
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const double x = jitter(i), y = jitter(j), z = jitter(k);
        for (const double c : {x, y, z}) result->points.push_back(static_cast<float>(c));
        for (const float v : abc(x, y, z)) result->velocity.push_back(v);
      }
  CutCubes cells(*result, kind, cubes);
  for (std::int64_t k = 0; k < cubes; ++k)
    for (std::int64_t j = 0; j < cubes; ++j)
      for (std::int64_t i = 0; i < cubes; ++i) cells.cut(i, j, k);
  result->offsets.push_back(static_cast<std::int64_t>(result->connectivity.size()));
  result->name = std::to_string(result->types.size() / 1000) + "k " + kind;
  tributary::MeshPiece piece;
  piece.points = view(result->points);
  piece.velocity = view(result->velocity);
  if (unsteady) piece.laterVelocity = makeLater(*result);
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
        const bool unsteady = !field.laterVelocity.empty();
        Row row{{"field", field.name},
                {"flow", unsteady ? "unsteady" : "steady"},
                {"integrator", integrator},
                {"seeds", sorted ? "Morton" : "random"}};
        std::int64_t steps = 0;  // of the recorded run; the other makes the same
        for (const bool record : {true, false}) {
          tributary::TraceOptions trace;
          trace.rules = rulesFor(integrator, options, field.edge);
          trace.rules.record = record;
          // Long enough for all steps.
          if (unsteady) trace.rules.interval = {0, 1e6, 1e6};
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
  const auto measureField = [&](const std::string& name, bool unsteady) {
    if (name == "uniform" || name == "rectilinear") {
      for (const int n : options.points) {
        const auto field = makeStructured(*transport, n, name == "uniform", unsteady);
        const auto domain = asDomain(*field);
        measure(*field, domain);
      }
    } else {
      const auto field = makeMesh(*transport, options.meshCells, name, unsteady);
      const auto domain = asDomain(*field);
      measure(*field, domain);
    }
  };
  for (const std::string& name : options.fields)
    for (const std::string& flow : options.flows) {
      std::cerr << "measuring " << name << ", " << flow << " ..." << std::endl;
      measureField(name, flow == "unsteady");
    }
  report.publish(options.json);
}

}  // namespace bench
