// SPDX-License-Identifier: BSD-3-Clause
// The body of one source file per instruction set: see StructuredKernel.inl for its rules.

#include "Tributary/Advection/detail/kernels/InterpolationKernel.h"
#include "Tributary/Advection/detail/kernels/MeshCell.inl"
#include "Tributary/Advection/detail/kernels/Triples.h"

namespace tributary::detail {
namespace {

/// Weights::Lanes, in vectors of Width.
constexpr int Lanes = 8, Parts = Lanes / Width;

/// Of a group's numbers for one corner.
TRIBUTARY_INLINE double* weightAt(const GroupWeights& out, int corner, int part) {
  return out.weight + corner * Lanes + part * Width;
}
TRIBUTARY_INLINE double* gradientAt(const GroupWeights& out, int corner, int axis, int part) {
  return out.gradient + (3 * corner + axis) * Lanes + part * Width;
}

/// Weights of Width points in a uniform grid. @return lanes that are plainly inside
/// @tparam Flat  whether some axis is flat
template <bool Flat>
TRIBUTARY_INLINE LaneSet uniformWeights(const UniformPiece& piece, const TrajectoryPoint* points,
                                        int part, const GroupWeights& out, std::int64_t* cellOut) {
  points += part * Width;
  Wide x[4];
  gather<4>([&](int l, int i) { return loadRun(points[l].x, i); }, x);
  Wide w[3][2];
  WideInt point{}, cell{}, inside = toCondition(AllLanes);
  for (int a = 0; a < 3; ++a) {
    if (Flat && piece.cells[a] == 0) {
      w[a][0] = all<Wide>(1);
      continue;
    }
    Wide p = x[a];
    const double period = piece.period[a];
    if (period > 0) p -= period * floored((p - piece.periodicOrigin[a]) / period);
    const Wide u = (p - piece.origin[a]) * piece.inverse[a];
    const Wide i = truncated(u + 1) - 1;
    inside &= (u >= 0) & (i >= 0) & (i < piece.cells[a]);
    const Wide f = u - i;
    w[a][0] = 1 - f;
    w[a][1] = f;
    const WideInt stored = toInteger(select(inside, i, all<Wide>(piece.storedLo[a]))) -
                           std::int64_t(piece.storedLo[a]);
    point += stored * piece.pointStride[a];
    cell += stored * piece.cellStride[a];
  }
  int corners[3];
  for (int a = 0; a < 3; ++a) corners[a] = Flat && piece.cells[a] == 0 ? 1 : 2;
  std::memcpy(cellOut + part * Width, &cell, sizeof cell);
  int c = 0;
  for (int k = 0; k < corners[2]; ++k)
    for (int j = 0; j < corners[1]; ++j)
      for (int i = 0; i < corners[0]; ++i, ++c) {
        const WideInt id = point + (i * piece.pointStride[0] + j * piece.pointStride[1] +
                                    k * piece.pointStride[2]);
        std::memcpy(out.id + c * Lanes + part * Width, &id, sizeof id);
        storeWide(weightAt(out, c, part), w[0][i] * w[1][j] * w[2][k]);
        if (!out.gradient) continue;
        double slope[3];
        for (int a = 0; a < 3; ++a) slope[a] = Flat && piece.cells[a] == 0 ? 0 : piece.inverse[a];
        storeWide(gradientAt(out, c, 0, part), (i ? slope[0] : -slope[0]) * w[1][j] * w[2][k]);
        storeWide(gradientAt(out, c, 1, part), (j ? slope[1] : -slope[1]) * w[0][i] * w[2][k]);
        storeWide(gradientAt(out, c, 2, part), (k ? slope[2] : -slope[2]) * w[0][i] * w[1][j]);
      }
  return toLanes(inside);
}

unsigned uniformWeights(const UniformPiece& piece, const TrajectoryPoint* points,
                        const GroupWeights& out, std::int64_t* cell) {
  const bool flat = piece.cells[0] == 0 || piece.cells[1] == 0 || piece.cells[2] == 0;
  unsigned inside = 0;
  for (int part = 0; part < Parts; ++part)
    inside |= (flat ? uniformWeights<true>(piece, points, part, out, cell)
                    : uniformWeights<false>(piece, points, part, out, cell))
              << part * Width;
  return ~inside & ((1u << Lanes) - 1);
}

/// Weights of Width points in boxes and wedges.
TRIBUTARY_INLINE void boxWeights(const CellRecord* const* cells, std::size_t realSize,
                                 const double (*x)[Lanes], int part, const GroupWeights& out) {
  Wide point[3];
  for (int a = 0; a < 3; ++a) point[a] = loadWide(x[a] + part * Width);
  BoxPack pack;
  pack.begin(cells + part * Width, realSize, point, AllLanes, AllLanes);
  solvePacks(&pack, 1);
  pack.shapeFunctions(
      realSize, out.gradient != nullptr,
      [&](int corner, Wide value, const Wide* gradient) __attribute__((always_inline)) {
        storeWide(weightAt(out, corner, part), value);
        if (!gradient) return;
        for (int a = 0; a < 3; ++a) storeWide(gradientAt(out, corner, a, part), gradient[a]);
      });
}

void boxWeights(const CellRecord* const* cells, std::size_t realSize, const double (*x)[Lanes],
                const GroupWeights& out) {
  for (int part = 0; part < Parts; ++part) boxWeights(cells, realSize, x, part, out);
}

/// The fewest and the most corners of the points of a group.
struct Corners {
  int least, most;
};
TRIBUTARY_INLINE Corners cornersOf(const std::int32_t* count) {
  Corners corners{count[0], count[0]};
  for (int l = 1; l < Lanes; ++l) {
    corners.least = count[l] < corners.least ? count[l] : corners.least;
    corners.most = count[l] > corners.most ? count[l] : corners.most;
  }
  return corners;
}

/// Lanes that have a corner.
TRIBUTARY_INLINE WideInt having(const std::int32_t* count, int corner) {
  WideInt has;
  for (int l = 0; l < Width; ++l) has[l] = count[l];
  return has > std::int64_t(corner);
}

template <class Real, bool WithCurl>
TRIBUTARY_INLINE void vectorsOf(const BatchWeights& weights, const Real* data, double* value,
                                double* curl) {
  const std::int64_t perGroup = std::int64_t(weights.corners) * Lanes;
  for (std::int64_t g = 0; g < weights.groups; ++g) {
    const Corners corners = cornersOf(weights.count + g * Lanes);
    for (int part = 0; part < Parts; ++part) {
      const std::int64_t first = g * perGroup + part * Width;
      const std::int32_t* count = weights.count + g * Lanes + part * Width;
      Wide sum[3]{}, turn[3]{};
      for (int j = 0; j < corners.most; ++j) {
        const std::int64_t* id = weights.id + first + j * Lanes;
        Wide u[3];
        gather<3>(
            [&](int l, int i)
                __attribute__((always_inline)) { return loadTriple(data + 3 * id[l], i); },
            u);
        const Wide w = loadWide(weights.weight + first + j * Lanes);
        Wide newSum[3], newTurn[3];
        for (int a = 0; a < 3; ++a) newSum[a] = sum[a] + w * u[a];
        if constexpr (WithCurl) {
          Wide d[3];
          for (int a = 0; a < 3; ++a)
            d[a] = loadWide(weights.gradient + 3 * (first - part * Width + j * Lanes) + a * Lanes +
                            part * Width);
          newTurn[0] = turn[0] + (d[1] * u[2] - d[2] * u[1]);
          newTurn[1] = turn[1] + (d[2] * u[0] - d[0] * u[2]);
          newTurn[2] = turn[2] + (d[0] * u[1] - d[1] * u[0]);
        }
        if (__builtin_expect(j >= corners.least, 0)) {
          const WideInt has = having(count, j);
          for (int a = 0; a < 3; ++a) {
            newSum[a] = select(has, newSum[a], sum[a]);
            if constexpr (WithCurl) newTurn[a] = select(has, newTurn[a], turn[a]);
          }
        }
        for (int a = 0; a < 3; ++a) {
          sum[a] = newSum[a];
          if constexpr (WithCurl) turn[a] = newTurn[a];
        }
      }
      const std::int64_t place = 3 * (g * Lanes + part * Width);
      storeTriples(value + place, sum);
      if constexpr (WithCurl) storeTriples(curl + place, turn);
    }
  }
}

template <class Real>
void vectors(const BatchWeights& weights, const Real* data, double* value, double* curl) {
  if (curl)
    vectorsOf<Real, true>(weights, data, value, curl);
  else
    vectorsOf<Real, false>(weights, data, value, curl);
}

template <class Real>
void scalars(const BatchWeights& weights, const Real* data, Real* value) {
  const std::int64_t perGroup = std::int64_t(weights.corners) * Lanes;
  for (std::int64_t g = 0; g < weights.groups; ++g) {
    const Corners corners = cornersOf(weights.count + g * Lanes);
    for (int part = 0; part < Parts; ++part) {
      const std::int64_t first = g * perGroup + part * Width;
      const std::int32_t* count = weights.count + g * Lanes + part * Width;
      Wide sum{};
      for (int j = 0; j < corners.most; ++j) {
        const std::int64_t* id = weights.id + first + j * Lanes;
        Wide u;
        for (int l = 0; l < Width; ++l) u[l] = data[id[l]];
        Wide next = sum + loadWide(weights.weight + first + j * Lanes) * u;
        if (__builtin_expect(j >= corners.least, 0)) next = select(having(count, j), next, sum);
        sum = next;
      }
      for (int l = 0; l < Width; ++l)
        value[g * Lanes + part * Width + l] = static_cast<Real>(sum[l]);
    }
  }
}

}  // namespace

InterpolationKernels TRIBUTARY_KERNEL() {
  return {uniformWeights,  boxWeights,     vectors<float>,
          vectors<double>, scalars<float>, scalars<double>};
}

}  // namespace tributary::detail
