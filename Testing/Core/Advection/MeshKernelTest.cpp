// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/kernels/MeshKernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "Advection/KernelBits.h"
#include "Advection/MeshPieces.h"
#include "Tributary/Advection/detail/MeshShapes.h"
#include "Tributary/Base/InstructionSet.h"

namespace tributary::testing {

using namespace detail;
namespace {

struct alignas(32) Unit {
  std::byte bytes[MeshView::Unit];
};

/// One of a steady field; of an unsteady one at the beginning and at the end of the interval.
using Flows = std::vector<Flow>;

/// The map and the velocity of a tetrahedron.
template <class Real>
void fillTetrahedron(const WholeMesh& mesh, std::size_t n, const Flows& flows, CellRecord& cell) {
  auto* velocity = reinterpret_cast<Real*>(&cell + 1);
  const auto point = [&](std::size_t i) { return mesh.points[std::size_t(mesh.cells[n][i % 4])]; };
  for (std::size_t i = 0; i < 4; ++i) {
    // The gradient of a barycentric coordinate is normal to the opposite face.
    Vector edge[3];
    for (std::size_t e = 0; e < 3; ++e)
      for (std::size_t a = 0; a < 3; ++a)
        edge[e][a] = e == 2 ? point(i)[a] - point(i + 1)[a] : point(i + 2 + e)[a] - point(i + 1)[a];
    Vector normal;
    double height = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
      normal[a] = edge[0][b] * edge[1][c] - edge[0][c] * edge[1][b];
      height += normal[a] * edge[2][a];
    }
    for (std::size_t a = 0; a < 3; ++a) cell.map[a][i] = normal[a] / height;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const Vector v = flows[f](point(i));
      for (std::size_t a = 0; a < 3; ++a) velocity[16 * f + 4 * i + a] = Real(v[a]);
    }
  }
}

/// The map, the velocity and the geometry of a hexahedron, a wedge or a pyramid.
template <class Real>
void fillPolynomials(const WholeMesh& mesh, std::size_t n, const Flows& flows, CellRecord& cell) {
  auto* velocity = reinterpret_cast<Real*>(&cell + 1);
  const int points = topologyOf(cell.shape).points;
  V4 x[MostPoints], v[MostPoints], terms[8], rows[3];
  const auto point = [&](int i) -> const Vector& {
    return mesh.points[std::size_t(mesh.cells[n][std::size_t(i)])];
  };
  for (int i = 0; i < points; ++i)
    for (std::size_t a = 0; a < 3; ++a) x[i][a] = point(i)[a] - cell.anchor[a];
  for (const Flow& flow : flows) {
    for (int i = 0; i < points; ++i) {
      const Vector there = flow(point(i));
      for (std::size_t a = 0; a < 3; ++a) v[i][a] = there[a];
    }
    termsOf(cell.shape, v, terms);
    for (int i = 0; i < 8; ++i)
      for (int a = 0; a < 3; ++a) velocity[4 * i + a] = Real(terms[i][a]);
    velocity += 32;
  }
  auto* geometry = reinterpret_cast<double*>(velocity);
  geometryOf(cell.shape, x, cell.length, terms);
  for (int i = 0; i < 8; ++i)
    for (int a = 0; a < 3; ++a) geometry[4 * i + a] = terms[i][a];
  const V4 middle = middleOf(cell.shape);
  if (cell.shape == CellShape::Box &&
      std::all_of(terms + 4, terms + 8, [](V4 t) { return t[0] == 0 && t[1] == 0 && t[2] == 0; }))
    cell.shape = CellShape::Parallelepiped;
  double determinant = affineMap(geometry, middle, rows);
  double shares[MostPoints], unused[MostPoints][3];
  shapeFunctions(cell.shape, middle, shares, unused);
  V4 there = middle;
  if (cell.shape == CellShape::Pyramid) {  // its map gives u = r w, v = s w and w = 1 - t
    double byUvw[32] = {};
    for (int a = 0; a < 3; ++a) {
      for (const int i : {1, 2, 4}) byUvw[4 * i + a] = terms[i][a];
      byUvw[12 + a] = -middle[0] * middle[1] * terms[4][a] - terms[3][a];
    }
    determinant = affineMap(byUvw, middle, rows);
    const double w = 1 - middle[2];
    there = V4{middle[0] * w, middle[1] * w, w, 0};
  }
  for (int i = 0; i < 3; ++i) {
    cell.map[i][3] = there[i];
    for (int a = 0; a < 3; ++a) {
      cell.map[i][a] = rows[i][a] / determinant;
      for (int p = 0; p < points; ++p) cell.map[i][3] -= cell.map[i][a] * shares[p] * x[p][a];
    }
  }
}

/// Layers of hexahedra and of wedges, half of which are not warped: packs of all shapes.
WholeMesh makePartlyWarpedMesh(std::size_t n) {
  WholeMesh mesh = makeMesh(MeshKind::Hexahedra, int(n));
  const WholeMesh wedges = makeMesh(MeshKind::Wedges, int(n));
  const WholeMesh plain = makeMesh(MeshKind::Hexahedra, int(n), 0);
  for (std::size_t p = 0; p < mesh.points.size(); ++p)
    if (plain.points[p][0] < 0) mesh.points[p] = plain.points[p];
  const WholeMesh hexahedra = std::exchange(mesh, {mesh.points, {}, {}});
  for (std::size_t cube = 0; cube < n * n * n; ++cube) {
    const bool isHexahedron = cube / (n * n) % 2 == 0;
    const WholeMesh& from = isHexahedron ? hexahedra : wedges;
    for (std::size_t c = isHexahedron ? cube : 2 * cube;
         c < (isHexahedron ? cube + 1 : 2 * cube + 2); ++c) {
      mesh.types.push_back(from.types[c]);
      mesh.cells.push_back(from.cells[c]);
    }
  }
  return mesh;
}

/// Of the largest record.
template <class Real>
constexpr std::size_t UnitsOfCell =
    (sizeof(CellRecord) + 2 * 32 * sizeof(Real) + 32 * sizeof(double)) / MeshView::Unit;

/// The records of all cells, linked through their faces, as a kernel wants them.
template <class Real>
std::vector<Unit> recordsOf(const WholeMesh& mesh, const Flows& flows = {abc}) {
  constexpr std::size_t units = UnitsOfCell<Real>;
  std::vector<Unit> records(units * mesh.cells.size());
  const auto record = [&](std::size_t cell) -> CellRecord& {
    return *reinterpret_cast<CellRecord*>(&records[units * cell]);
  };
  std::map<std::vector<std::int64_t>, std::pair<std::size_t, int>> unmatched;
  for (std::size_t n = 0; n < mesh.cells.size(); ++n) {
    CellRecord& cell = record(n);
    cell = {};
    cell.shape = shapeOf(mesh.types[n]);
    cell.terms = cell.shape == CellShape::Tetra ? 4 : 8;
    cell.length = 0.3;
    std::fill(std::begin(cell.link), std::end(cell.link), CellRecord::NoLink);
    for (std::size_t a = 0; a < 3; ++a)
      cell.anchor[a] = mesh.points[std::size_t(mesh.cells[n][0])][a];
    if (cell.shape == CellShape::Tetra)
      fillTetrahedron<Real>(mesh, n, flows, cell);
    else
      fillPolynomials<Real>(mesh, n, flows, cell);
    const CellTopology& topology = topologyOf(cell.shape);
    for (int f = 0; f < topology.faces; ++f) {
      std::vector<std::int64_t> face;
      for (int i = 0; i < topology.faceSize[f]; ++i)
        face.push_back(mesh.cells[n][std::size_t(topology.face[f][i])]);
      std::sort(face.begin(), face.end());
      const auto [at, isNew] = unmatched.emplace(face, std::make_pair(n, f));
      if (isNew) continue;
      const auto [other, otherFace] = at->second;
      cell.link[f] = std::int32_t(units * other);
      cell.entry[f] = std::int8_t(otherFace);
      record(other).link[otherFace] = std::int32_t(units * n);
      record(other).entry[otherFace] = std::int8_t(f);
    }
  }
  return records;
}

template <class Real>
MeshView viewOf(const std::vector<Unit>& records) {
  MeshView view;
  view.records = records.data()->bytes;
  view.isDouble = sizeof(Real) == 8;
  return view;
}

/// Advances the same particles with one kernel and returns everything they became and left behind,
/// the recorded points line by line.
/// @param extraSteps  of a call; calls follow each other until no particle is left
template <class Real>
std::vector<unsigned char> bitsFrom(MeshKernel kernel, MeshKind kind, const StepRules& rules,
                                    std::int64_t extraSteps) {
  const WholeMesh mesh = kind == MeshKind::Mixed ? makePartlyWarpedMesh(8) : makeMesh(kind, 6);
  const std::vector<Unit> records =
      recordsOf<Real>(mesh, rules.interval ? Flows{abc, rotation} : Flows{abc});
  std::vector<Particle> particles(101);
  for (std::size_t i = 0; i < particles.size(); ++i) {
    Particle& p = particles[i];
    p = {};
    p.line = std::int64_t(i);
    if (rules.interval) p.time = rules.interval->begin;
    p.face = Particle::AnyFace;
    // Walks to its seed from a cell somewhere else.
    p.cell = std::int32_t(UnitsOfCell<Real> * (mix(i) % std::uint64_t(mesh.cells.size())));
    for (std::size_t a = 0; a < 3; ++a)
      p.x[a] = p.target[a] = 0.9 * (double(mix(3 * i + a) >> 11) / double(1ull << 52) - 1);
    if (i % 3 > 0) continue;
    // On the corner of cells, where coordinates are exactly 0.
    const Vector& corner = mesh.points[std::size_t(mesh.cells[7 * i % mesh.cells.size()][0])];
    for (std::size_t a = 0; a < 3; ++a) p.x[a] = p.target[a] = corner[a];
  }
  KernelBits result = advanceAll(kernel, viewOf<Real>(records), rules, particles, extraSteps);
  for (const Particle& p : particles) addBits(result.bits, p.cell);
  EXPECT_GT(result.points, rules.interval ? 300u : 500u);
  return result.bits;
}

/// The kernels that this processor runs.
std::vector<MeshKernel> meshKernels() {
  std::vector<MeshKernel> kernels{meshKernel(), advanceMeshBaseline};
#ifdef __x86_64__
  if (hasAvx2()) kernels.push_back(advanceMeshAvx2);
#endif
  return kernels;
}

template <class Real>
void compareKernels(MeshKind kind) {
  for (const StepRules& rules : kernelRules()) {
    const auto baseline = bitsFrom<Real>(advanceMeshBaseline, kind, rules, FieldBlock::ToTheEnd);
    for (const MeshKernel kernel : meshKernels())
      for (const std::int64_t extraSteps : {std::int64_t(1), std::int64_t(7), FieldBlock::ToTheEnd})
        EXPECT_TRUE(bitsFrom<Real>(kernel, kind, rules, extraSteps) == baseline)
            << "kind " << int(kind);
  }
}

TEST(MeshKernels, GiveTheSameBitsOnEveryInstructionSetAndInPieces) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Hexahedra, MeshKind::Wedges,
                              MeshKind::Pyramids, MeshKind::Mixed}) {
    compareKernels<float>(kind);
    compareKernels<double>(kind);
  }
}

/// A particle whose seed is sought in a cell.
template <class Real>
Particle seededIn(std::size_t cell, const Vector& seed, std::size_t number) {
  Particle p{};
  p.line = 2 * std::int64_t(number);
  p.face = Particle::AnyFace;
  p.cell = std::int32_t(UnitsOfCell<Real> * cell);
  std::copy(seed.begin(), seed.end(), p.x);
  std::copy(seed.begin(), seed.end(), p.target);
  return p;
}

void advanceToTheEnd(MeshKernel kernel, const MeshView& view, const StepRules& rules,
                     std::vector<Particle>& particles, TrajectoryLog& log) {
  const auto isActive = [](const Particle& p) { return p.status == Status::Active; };
  while (std::any_of(particles.begin(), particles.end(), isActive))
    kernel(view, rules, particles.data(), std::int64_t(particles.size()), FieldBlock::ToTheEnd,
           log);
}

template <class Real>
void seedOnNodes(MeshKind kind) {
  const WholeMesh mesh = makeMesh(kind, 4, 0);  // all coordinates are exact
  const std::vector<Unit> records = recordsOf<Real>(mesh);
  std::vector<Particle> seeds;
  for (std::size_t cell = 0; cell < mesh.cells.size(); ++cell)
    for (const std::int64_t node : mesh.cells[cell])
      seeds.push_back(seededIn<Real>(cell, mesh.points[std::size_t(node)], seeds.size()));
  StepRules rules;
  rules.terminalSpeed = std::numeric_limits<double>::infinity();
  for (const MeshKernel kernel : meshKernels()) {
    std::vector<Particle> particles = seeds;
    TrajectoryLog log;
    advanceToTheEnd(kernel, viewOf<Real>(records), rules, particles, log);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < seeds.size(); ++i)
      kept += particles[i].cell == seeds[i].cell && particles[i].reason == Reason::Stagnation;
    EXPECT_EQ(kept, seeds.size()) << "kind " << int(kind);
  }
}

TEST(MeshKernels, KeepSeedsOnNodesInTheCellsWhereTheyAreSought) {
  for (const MeshKind kind : {MeshKind::Tetrahedra, MeshKind::Hexahedra}) {
    seedOnNodes<float>(kind);
    seedOnNodes<double>(kind);
  }
}

/// Lines along the edges of cubes, in steps of half an edge: the cell of each point is known.
template <class Real>
void walkAlongEdges() {
  constexpr std::size_t n = 4;
  const WholeMesh mesh = makeMesh(MeshKind::Hexahedra, int(n), 0);
  const std::vector<Unit> records = recordsOf<Real>(mesh, {[](const Vector&) {
                                                      return Vector{{1, 0, 0}};
                                                    }});
  std::vector<Particle> seeds;
  for (std::size_t cell = 0; cell < mesh.cells.size(); cell += n)
    for (const std::size_t node : {0, 3, 4, 7})
      seeds.push_back(
          seededIn<Real>(cell, mesh.points[std::size_t(mesh.cells[cell][node])], seeds.size()));
  StepRules rules;
  rules.integrator = Integrator::RungeKutta2;
  rules.unit = StepUnit::Length;
  rules.initialStep = 1.0 / n;
  for (const MeshKernel kernel : meshKernels()) {
    std::vector<Particle> particles = seeds;
    TrajectoryLog log;
    advanceToTheEnd(kernel, viewOf<Real>(records), rules, particles, log);
    std::size_t points = 0, right = 0;
    for (std::size_t c = 0; c < log.chunkCount(); ++c)
      for (const TrajectoryPoint& p : log.chunk(c)) {
        const std::int32_t crossed = std::max(p.index - 1, 0) / 2;
        const std::int32_t first = seeds[std::size_t(p.line / 2)].cell;
        ++points;
        right += p.cell == first + crossed * std::int32_t(UnitsOfCell<Real>);
      }
    EXPECT_EQ(points, seeds.size() * (2 * n + 1));
    EXPECT_EQ(right, points);
  }
}

TEST(MeshKernels, KeepPointsOnEdgesInTheCellsWhereTheyCome) {
  walkAlongEdges<float>();
  walkAlongEdges<double>();
}

}  // namespace
}  // namespace tributary::testing
