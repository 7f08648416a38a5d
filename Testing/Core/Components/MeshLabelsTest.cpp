// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/MeshLabels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "Support/Threads.h"
#include "Support/World.h"
#include "Tributary/Base/CellTypes.h"
#include "Tributary/Components/CoincidentPoints.h"
#include "Tributary/Components/MeshEntities.h"

namespace tributary::testing {
namespace {

constexpr std::int64_t None = NoSet;

/// Cells and what they share, as lists.
using Lists = std::vector<std::vector<std::int64_t>>;

struct Rows {
  std::vector<std::int64_t> offsets{0}, entities;
  std::int64_t count;

  Rows(const Lists& lists, std::int64_t entityCount) : count(entityCount) {
    for (const auto& list : lists) {
      entities.insert(entities.end(), list.begin(), list.end());
      offsets.push_back(std::int64_t(entities.size()));
    }
  }
  CellEntities view() const { return {offsets, entities, count}; }
};

/// Sets by flooding over an adjacency by entity.
std::vector<std::int64_t> flood(const Lists& cells, const std::vector<std::uint8_t>& inRange,
                                const std::vector<std::int64_t>& values) {
  std::map<std::int64_t, std::vector<std::size_t>> of;
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (const auto entity : cells[c]) of[entity].push_back(c);
  std::vector<std::int64_t> set(cells.size(), None);
  std::vector<std::size_t> stack;
  std::int64_t sets = 0;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    if (set[c] != None || (!inRange.empty() && !inRange[c])) continue;
    set[c] = sets;
    stack.push_back(c);
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      for (const auto entity : cells[at])
        for (const auto next : of[entity])
          if (set[next] == None && (inRange.empty() || inRange[next]) &&
              (values.empty() || values[next] == values[at])) {
            set[next] = sets;
            stack.push_back(next);
          }
    }
    ++sets;
  }
  return set;
}

Lists randomCells(std::size_t count, std::int64_t entities, std::uint64_t seed) {
  Lists cells(count);
  for (std::size_t c = 0; c < count; ++c)
    for (std::uint64_t k = 0; k < mix(seed + c) % 5; ++k)
      cells[c].push_back(std::int64_t(mix(seed * 31 + 7 * c + k) % std::uint64_t(entities)));
  return cells;
}

TEST(MeshLabels, EqualFlooding) {
  for (const std::size_t count : {1, 10, 400, 3000})
    for (const double density : {0.3, 1.5, 4.0})
      for (const int values : {0, 1, 2, 100})
        for (const bool all : {true, false}) {
          const auto entities = std::int64_t(double(count) * density) + 1;
          const Lists cells = randomCells(count, entities, count + std::uint64_t(values));
          const Rows rows(cells, entities);
          std::vector<std::uint8_t> inRange;
          std::vector<std::int64_t> value;
          for (std::size_t c = 0; c < count; ++c) {
            if (!all) inRange.push_back(mix(c) % 4 ? 3 : 0);
            if (values) value.push_back(std::int64_t(mix(c + 99) % std::uint64_t(values)) - 1);
          }
          const auto expected = flood(cells, inRange, value);
          for (const auto& loop :
               {ParallelFor(serialFor), onThreads(2, 2), onThreads(3, 7), onThreads(4, 300)}) {
            const auto labels =
                labelMesh(rows.view(), inRange, value.empty() ? nullptr : value.data(), loop);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), labels.setOfCell.begin(),
                                   labels.setOfCell.end()));
            const auto last = std::count_if(expected.begin(), expected.end(),
                                            [](std::int64_t s) { return s != None; });
            const std::set<std::int64_t> different(expected.begin(), expected.end());
            EXPECT_EQ(labels.sets, different.size() - different.count(None));
            EXPECT_LE(labels.sets, last);
          }
        }
}

/// One entity with many cells of few values, and one with as many values as cells.
TEST(MeshLabels, TellValuesApartWhereManyCellsMeet) {
  const Lists cells(5000, {0});
  const Rows rows(cells, 1);
  std::vector<std::int64_t> few, many;
  for (std::int64_t c = 0; c < 5000; ++c) few.push_back(c % 3), many.push_back(c);
  const auto labels = labelMesh(rows.view(), {}, few.data(), onThreads(2, 20));
  EXPECT_EQ(labels.sets, 3u);
  for (std::size_t c = 0; c < 5000; ++c) EXPECT_EQ(labels.setOfCell[c], c % 3);
  EXPECT_EQ(labelMesh(rows.view(), {}, many.data(), onThreads(2, 20)).sets, 5000u);
}

TEST(MeshLabels, RefuseMalformedMeshes) {
  const auto error = [](std::vector<std::int64_t> offsets, std::vector<std::int64_t> entities,
                        std::int64_t count, std::size_t marks) {
    const std::vector<std::uint8_t> inRange(marks, 1);
    return errorOf([&] {
      static_cast<void>(labelMesh({offsets, entities, count}, inRange, nullptr, serialFor));
    });
  };
  EXPECT_EQ(error({}, {}, 0, 0), "");
  EXPECT_EQ(error({0, 2}, {0, 1}, 2, 1), "");
  EXPECT_NE(error({0, 2}, {0, 2}, 2, 1), "");
  EXPECT_NE(error({0, 2}, {0, -1}, 2, 1), "");
  EXPECT_NE(error({0, 3}, {0, 1}, 2, 1), "");
  EXPECT_NE(error({0, 2, 1}, {0, 1}, 2, 2), "");
  EXPECT_NE(error({-1, 2}, {0, 1}, 2, 1), "");
  EXPECT_NE(error({0, 2}, {0, 1}, 2, 3), "");
  EXPECT_NE(error({}, {0}, 1, 0), "");
  const std::int64_t first = 0;
  const CellEntities tooMany{{&first, (std::size_t(1) << 32) + 1}, {}, 0};
  EXPECT_NE(errorOf([&] {
              static_cast<void>(labelMesh(tooMany, {}, nullptr, serialFor));
            }).find("32 bits"),
            std::string::npos);
}

using Vector3 = std::array<double, 3>;

/// Corners of the 3-D cells as VTK's documentation draws them.
std::vector<Vector3> cornersOf(std::uint8_t type) {
  const auto prism = [](int sides) {
    std::vector<Vector3> points;
    for (const double z : {0.0, 1.0})
      for (int i = 0; i < sides; ++i)
        points.push_back({{std::cos(6.283185307179586 * i / sides),
                           std::sin(6.283185307179586 * i / sides), z}});
    return points;
  };
  switch (type) {
    case Tetra:
      return {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};
    case Voxel:
      return {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{1, 1, 0}},
              {{0, 0, 1}}, {{1, 0, 1}}, {{0, 1, 1}}, {{1, 1, 1}}};
    case Hexahedron:
      return {{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}},
              {{0, 0, 1}}, {{1, 0, 1}}, {{1, 1, 1}}, {{0, 1, 1}}};
    case Wedge:
      return {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{1, 0, 1}}, {{0, 1, 1}}};
    case Pyramid:
      return {{{0, 0, 0}}, {{1, 0, 0}}, {{1, 1, 0}}, {{0, 1, 0}}, {{0.5, 0.5, 1}}};
    case PentagonalPrism:
      return prism(5);
    default:
      return prism(6);
  }
}

/// Every face lies in a plane with all other corners on one side, every edge in exactly two faces,
/// and Euler's formula holds: together only the true faces and edges do.
TEST(CellTypes, FacesAndEdgesBoundTheCell) {
  for (const std::uint8_t type :
       {Tetra, Voxel, Hexahedron, Wedge, Pyramid, PentagonalPrism, HexagonalPrism}) {
    const CellTopology& cell = *topologyOf(type);
    const auto corners = cornersOf(type);
    ASSERT_EQ(std::size_t(cell.points), corners.size());
    EXPECT_EQ(cell.points - cell.edges + cell.faces, 2);
    std::set<std::pair<int, int>> edges;
    for (int e = 0; e < cell.edges; ++e)
      edges.insert(std::minmax<int>(cell.edge[e][0], cell.edge[e][1]));
    EXPECT_EQ(int(edges.size()), cell.edges);
    std::map<std::pair<int, int>, int> uses;
    for (int f = 0; f < cell.faces; ++f) {
      const int size = cell.faceSize[f];
      std::set<int> on(cell.face[f], cell.face[f] + size);
      ASSERT_EQ(int(on.size()), size);
      for (int i = 0; i < size; ++i)
        ++uses[std::minmax<int>(cell.face[f][i], cell.face[f][(i + 1) % size])];
      const auto at = [&](int i) { return corners[std::size_t(cell.face[f][i])]; };
      Vector3 normal;
      for (std::size_t a = 0; a < 3; ++a) {
        const std::size_t b = (a + 1) % 3, c = (a + 2) % 3;
        normal[a] = (at(1)[b] - at(0)[b]) * (at(2)[c] - at(0)[c]) -
                    (at(1)[c] - at(0)[c]) * (at(2)[b] - at(0)[b]);
      }
      int before = 0, behind = 0;
      for (int i = 0; i < cell.points; ++i) {
        double distance = 0;
        for (std::size_t a = 0; a < 3; ++a)
          distance += normal[a] * (corners[std::size_t(i)][a] - at(0)[a]);
        if (on.count(i))
          EXPECT_LT(std::fabs(distance), 1e-12);
        else
          (distance > 0 ? before : behind) += std::fabs(distance) > 1e-6;
      }
      EXPECT_EQ(before + behind, cell.points - size);
      EXPECT_TRUE(before == 0 || behind == 0) << int(type) << " face " << f;
    }
    EXPECT_EQ(int(uses.size()), cell.edges);
    for (const auto& [edge, count] : uses) {
      EXPECT_EQ(count, 2);
      EXPECT_EQ(edges.count(edge), 1u);
    }
  }
}

/// A mesh of any cells.
struct Mesh {
  std::vector<std::uint8_t> types;
  std::vector<std::int64_t> offsets{0}, connectivity, faceLocations, faces, canonical;
  std::int64_t points = 0;

  void add(std::uint8_t type, const std::vector<std::int64_t>& ids, const Lists& itsFaces = {}) {
    types.push_back(type);
    connectivity.insert(connectivity.end(), ids.begin(), ids.end());
    offsets.push_back(std::int64_t(connectivity.size()));
    faceLocations.push_back(itsFaces.empty() ? -1 : std::int64_t(faces.size()));
    if (itsFaces.empty()) return;
    faces.push_back(std::int64_t(itsFaces.size()));
    for (const auto& face : itsFaces) {
      faces.push_back(std::int64_t(face.size()));
      faces.insert(faces.end(), face.begin(), face.end());
    }
  }
  MeshCells view() const {
    return {types, offsets, connectivity, faceLocations, faces, points, canonical};
  }
};

/// The entities of each cell as sets of points.
std::vector<std::vector<std::vector<std::int64_t>>> entitiesOf(const MeshEntities& entities) {
  const CellEntities cells = entities.cells();
  std::vector<std::vector<std::vector<std::int64_t>>> all(cells.offsets.size() - 1);
  for (std::size_t c = 0; c < all.size(); ++c) {
    for (auto i = cells.offsets[c]; i < cells.offsets[c + 1]; ++i) {
      all[c].emplace_back();
      entities.pointsOf(cells.entities[std::size_t(i)], all[c].back());
    }
    std::sort(all[c].begin(), all[c].end());
  }
  return all;
}

using Sets = std::vector<std::vector<std::int64_t>>;

TEST(MeshEntities, OfEachCellType) {
  const auto of = [](std::uint8_t type, const std::vector<std::int64_t>& ids, Through through,
                     const Lists& faces = {}) {
    Mesh mesh;
    mesh.points = 100;
    mesh.add(type, ids, faces);
    return entitiesOf(numberEntities(mesh.view(), through, {}, serialFor)).front();
  };
  EXPECT_EQ(of(Triangle, {4, 9, 2}, Through::Faces), (Sets{{2, 4}, {2, 9}, {4, 9}}));
  EXPECT_EQ(of(Triangle, {4, 9, 2}, Through::Edges), (Sets{{2, 4}, {2, 9}, {4, 9}}));
  EXPECT_EQ(of(Triangle, {4, 9, 2}, Through::Points), (Sets{{2}, {4}, {9}}));
  EXPECT_EQ(of(Quad, {0, 1, 2, 3}, Through::Faces), (Sets{{0, 1}, {0, 3}, {1, 2}, {2, 3}}));
  EXPECT_EQ(of(Pixel, {0, 1, 2, 3}, Through::Faces), (Sets{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(of(Polygon, {0, 1, 2, 3, 4}, Through::Faces),
            (Sets{{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(of(Strip, {0, 1, 2, 3}, Through::Faces),
            (Sets{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(of(Line, {3, 1}, Through::Faces), (Sets{{1}, {3}}));
  EXPECT_EQ(of(PolyLine, {3, 1, 8}, Through::Edges), (Sets{{1}, {3}, {8}}));
  EXPECT_EQ(of(Vertex, {7}, Through::Faces), (Sets{{7}}));
  EXPECT_EQ(of(PolyVertex, {7, 6}, Through::Faces), (Sets{{6}, {7}}));
  EXPECT_EQ(of(21, {3, 1, 8}, Through::Faces), (Sets{{1}, {3}}));  // quadratic edge
  EXPECT_EQ(of(22, {0, 1, 2, 3, 4, 5}, Through::Faces), (Sets{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(of(36, {0, 1, 2, 3, 4, 5}, Through::Faces), (Sets{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(of(Tetra, {0, 1, 2, 3}, Through::Faces),
            (Sets{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}));
  EXPECT_EQ(of(24, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, Through::Faces),  // quadratic tetrahedron
            (Sets{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}));
  EXPECT_EQ(of(Tetra, {0, 1, 2, 3}, Through::Edges),
            (Sets{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  const Lists tetra{{5, 6, 7}, {5, 6, 8}, {6, 7, 8}, {7, 5, 8}};
  EXPECT_EQ(of(Polyhedron, {5, 6, 7, 8}, Through::Faces, tetra),
            (Sets{{5, 6, 7}, {5, 6, 8}, {5, 7, 8}, {6, 7, 8}}));
  EXPECT_EQ(of(Polyhedron, {5, 6, 7, 8}, Through::Edges, tetra),
            (Sets{{5, 6}, {5, 7}, {5, 8}, {6, 7}, {6, 8}, {7, 8}}));
  EXPECT_EQ(of(Polyhedron, {5, 6, 7, 8}, Through::Points, tetra), (Sets{{5}, {6}, {7}, {8}}));
  const Lists many{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};  // a face of twelve points
  EXPECT_EQ(of(Polyhedron, {0}, Through::Faces, many), Sets(many));
  // Degenerate: a hexahedron that is a wedge has triangles; an edge that is a point is none.
  EXPECT_EQ(of(Hexahedron, {0, 1, 2, 2, 4, 5, 6, 6}, Through::Faces),
            (Sets{{0, 1, 2}, {0, 1, 4, 5}, {0, 2, 4, 6}, {1, 2, 5, 6}, {4, 5, 6}}));
  EXPECT_EQ(of(Triangle, {4, 4, 2}, Through::Faces), (Sets{{2, 4}, {2, 4}}));
}

/// A mesh of random cells over few points, so that many share entities.
Mesh randomMesh(int cells) {
  Mesh mesh;
  mesh.points = 40;
  const std::pair<std::uint8_t, int> kinds[] = {
      {Tetra, 4},     {Hexahedron, 8}, {Voxel, 8},  {Wedge, 6},   {Pyramid, 5},
      {Triangle, 3},  {Quad, 4},       {Pixel, 4},  {Polygon, 7}, {Line, 2},
      {PolyLine, 5},  {Strip, 6},      {Vertex, 1}, {25, 20},     {PentagonalPrism, 10},
      {Polyhedron, 0}};
  for (int c = 0; c < cells; ++c) {
    const auto random = [&](int k, int n) {
      return std::int64_t(mix(std::uint64_t(100 * c + k)) % std::uint64_t(n));
    };
    const auto& kind = kinds[random(99, 16)];
    std::vector<std::int64_t> ids;
    // Near each other, so that cells meet in edges and faces.
    for (int i = 0; i < kind.second; ++i) ids.push_back(random(98, 20) + random(i, 20));
    if (kind.first != Polyhedron) {
      mesh.add(kind.first, ids);
      continue;
    }
    Lists faces;
    for (int f = 0; f < 5; ++f) {
      faces.emplace_back();
      for (int i = 0; i < 3 + f % 2; ++i)
        faces.back().push_back(random(98, 20) + random(10 * f + i, 6));
    }
    mesh.add(Polyhedron, ids, faces);
  }
  for (std::int64_t p = 0; p < mesh.points; ++p) mesh.canonical.push_back(p % 5 == 4 ? p - 1 : p);
  return mesh;
}

TEST(MeshEntities, AreTheSameIfTheirPointsAre) {
  const Mesh mesh = randomMesh(2000);
  std::vector<std::uint8_t> inRange;
  for (std::size_t c = 0; c < mesh.types.size(); ++c) inRange.push_back(mix(c) % 5 != 0);
  for (const Through through : {Through::Faces, Through::Edges, Through::Points}) {
    const MeshEntities entities = numberEntities(mesh.view(), through, inRange, serialFor);
    const CellEntities cells = entities.cells();
    std::map<std::vector<std::int64_t>, std::int64_t> numbers;
    std::map<std::int64_t, std::set<std::size_t>> users;
    std::vector<std::int64_t> points;
    for (std::size_t c = 0; c < mesh.types.size(); ++c) {
      std::multiset<std::vector<std::int64_t>> listed;
      for (auto i = cells.offsets[c]; i < cells.offsets[c + 1]; ++i) {
        const auto entity = cells.entities[std::size_t(i)];
        ASSERT_GE(entity, 0);
        ASSERT_LT(entity, entities.count());
        entities.pointsOf(entity, points);
        for (std::size_t k = 0; k < points.size(); ++k) {
          EXPECT_NE(points[k] % 5, 4) << "not canonical";
          EXPECT_TRUE(k == 0 || points[k - 1] < points[k]);
        }
        EXPECT_EQ(numbers.emplace(points, entity).first->second, entity);
        users[entity].insert(c);
        listed.insert(points);
      }
      if (c % 50 != 0) continue;
      // The cell alone, without canonical points: no other can be mistaken for its own entities.
      Mesh alone = mesh;
      alone.canonical.clear();
      std::vector<std::uint8_t> only(mesh.types.size(), 0);
      only[c] = inRange[c];
      std::multiset<std::vector<std::int64_t>> expected;
      const auto own = entitiesOf(numberEntities(alone.view(), through, only, serialFor))[c];
      for (const auto& list : own) {
        std::set<std::int64_t> canonical;
        for (const auto p : list) canonical.insert(mesh.canonical[std::size_t(p)]);
        const int dimension = dimensionOf(mesh.types[c]);
        const std::size_t least = through == Through::Points || dimension < 2   ? 1
                                  : through == Through::Edges || dimension == 2 ? 2
                                                                                : 3;
        if (canonical.size() >= least) expected.emplace(canonical.begin(), canonical.end());
      }
      EXPECT_EQ(listed, expected);
    }
    EXPECT_EQ(numbers.size(), users.size()) << "one number, one list of points";
    for (std::int64_t e = 0; e < entities.count(); ++e)
      EXPECT_EQ(entities.single(e), users.count(e) && users[e].size() == 1);
    for (const int ranges : {2, 9, 100}) {
      const MeshEntities again =
          numberEntities(mesh.view(), through, inRange, onThreads(3, ranges));
      const CellEntities same = again.cells();
      EXPECT_TRUE(std::equal(cells.entities.begin(), cells.entities.end(), same.entities.begin(),
                             same.entities.end()));
      for (std::int64_t e = 0; e < entities.count(); ++e)
        EXPECT_EQ(entities.single(e), again.single(e));
    }
  }
}

TEST(MeshEntities, RefuseWhatTheyDoNotKnow) {
  const auto error = [](std::uint8_t type, const std::vector<std::int64_t>& ids,
                        const Lists& faces = {}) {
    Mesh mesh;
    mesh.points = 10;
    mesh.add(Tetra, {0, 1, 2, 3});
    mesh.add(type, ids, faces);
    return errorOf([&] { (void)numberEntities(mesh.view(), Through::Faces, {}, serialFor); });
  };
  EXPECT_EQ(error(Tetra, {1, 2, 3, 4}), "");
  EXPECT_EQ(error(0, {}), "");
  EXPECT_NE(error(41, {1, 2, 3, 4}).find("through points"), std::string::npos);
  EXPECT_NE(error(Tetra, {1, 2, 3}), "");
  EXPECT_NE(error(Tetra, {1, 2, 3, 10}), "");
  EXPECT_NE(error(Triangle, {1, 2, -1}), "");
  EXPECT_NE(error(Polygon, {1, 2}), "");
  EXPECT_NE(error(Polyhedron, {1, 2, 3, 4}), "");
  EXPECT_NE(error(Polyhedron, {1, 2, 3, 4}, {{1, 2, 3}, {1, 2, 11}}), "");
  Mesh mesh;
  mesh.points = 10;
  mesh.add(Polyhedron, {1, 2, 3, 4}, {{1, 2, 3}});
  mesh.faces[1] = 4;  // longer than the list
  EXPECT_NE(errorOf([&] { (void)numberEntities(mesh.view(), Through::Faces, {}, serialFor); }), "");
  // Arrays that do not fit together.
  const auto misfit = [](const std::function<void(Mesh&)>& spoil,
                         const std::vector<std::uint8_t>& inRange = {}) {
    Mesh good;
    good.points = 4;
    good.add(Tetra, {0, 1, 2, 3});
    spoil(good);
    return errorOf([&] { (void)numberEntities(good.view(), Through::Faces, inRange, serialFor); });
  };
  EXPECT_EQ(misfit([](Mesh&) {}), "");
  EXPECT_NE(misfit([](Mesh& m) { m.offsets.pop_back(); }).find("1 offsets"), std::string::npos);
  EXPECT_NE(misfit([](Mesh&) {}, {1, 1}).find("2 range flags"), std::string::npos);
  EXPECT_NE(misfit([](Mesh& m) {
              m.faceLocations = {-1, -1};
            }).find("positions of faces"),
            std::string::npos);
  EXPECT_NE(misfit([](Mesh& m) { m.canonical = {0}; }).find("1 canonical points"),
            std::string::npos);
  EXPECT_NE(misfit([](Mesh& m) {
              m.canonical = {0, 1, 2, 4};
            }).find("canonical point 4"),
            std::string::npos);
  EXPECT_NE(misfit([](Mesh& m) {
              m.offsets = {0, 5};
            }).find("malformed offsets"),
            std::string::npos);
}

template <class Real>
void testCoincident() {
  using Bits = std::array<std::uint64_t, 3>;
  for (const std::int64_t count : {0, 1, 33, 20000}) {
    std::vector<Real> points;
    for (std::int64_t i = 0; i < count; ++i)
      for (std::uint64_t a = 0; a < 3; ++a) {
        const auto random = mix(std::uint64_t(i) * 3 + a) % 22;
        points.push_back(random == 0   ? -Real(0)
                         : random == 1 ? std::numeric_limits<Real>::quiet_NaN()
                         : random == 2 ? std::numeric_limits<Real>::infinity()
                         : random == 3 ? std::nextafter(Real(0.5), Real(1))
                                       : Real(random - 4) / 2);
      }
    std::map<Bits, std::int64_t> first;
    std::vector<std::int64_t> expected;
    for (std::int64_t i = 0; i < count; ++i) {
      Bits key{};
      for (std::size_t a = 0; a < 3; ++a) {
        Real x = points[std::size_t(3 * i) + a];
        if (x == 0) x = 0;
        std::memcpy(&key[a], &x, sizeof x);
      }
      expected.push_back(first.emplace(key, i).first->second);
    }
    for (const auto& loop : {ParallelFor(serialFor), onThreads(2, 2), onThreads(4, 50)})
      EXPECT_EQ(mergeCoincident<Real>(points, loop), expected);
  }
  EXPECT_NE(errorOf([] { return mergeCoincident<Real>(std::vector<Real>(4), serialFor); }), "");
  // Refused before any of them is read.
  const Span<const Real> tooMany(nullptr, std::size_t(3) << 31);
  EXPECT_NE(errorOf([&] { return mergeCoincident<Real>(tooMany, serialFor); }).find("too many"),
            std::string::npos);
}

TEST(MergeCoincident, FindsTheFirst) {
  testCoincident<float>();
  testCoincident<double>();
}

}  // namespace
}  // namespace tributary::testing
