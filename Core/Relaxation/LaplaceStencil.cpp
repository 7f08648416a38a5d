#include "Tributary/Relaxation/LaplaceStencil.h"

#include "Tributary/Error.h"

namespace tributary {

namespace {

// Each gives the sum of the neighbours of the point that p points to.

struct FivePoint {
  static double sum(const double* p, const RowStrides& s) {
    return (p[-1] + p[1]) + (p[-s.y] + p[s.y]);
  }
};

struct NinePoint {
  static double sum(const double* p, const RowStrides& s) {
    const double below = (p[-s.y - 1] + p[-s.y + 1]) + p[-s.y];
    const double above = (p[s.y - 1] + p[s.y + 1]) + p[s.y];
    return (p[-1] + p[1]) + (below + above);
  }
};

struct SevenPoint {
  static double sum(const double* p, const RowStrides& s) {
    return (p[-1] + p[1]) + ((p[-s.y] + p[s.y]) + (p[-s.z] + p[s.z]));
  }
};

struct TwentySevenPoint {
  static double square(const double* p, const RowStrides& s) { return NinePoint::sum(p, s) + p[0]; }
  static double sum(const double* p, const RowStrides& s) {
    return NinePoint::sum(p, s) + (square(p - s.z, s) + square(p + s.z, s));
  }
};

template <class Visit>
auto withStencil(LaplaceStencil stencil, Visit&& visit) {
  switch (stencil) {
    case LaplaceStencil::FivePoint:
      return visit(FivePoint());
    case LaplaceStencil::NinePoint:
      return visit(NinePoint());
    case LaplaceStencil::SevenPoint:
      return visit(SevenPoint());
    case LaplaceStencil::TwentySevenPoint:
      return visit(TwentySevenPoint());
  }
  throw Error("unknown stencil");
}

}  // namespace

std::size_t dimensionOf(LaplaceStencil stencil) {
  return stencil == LaplaceStencil::FivePoint || stencil == LaplaceStencil::NinePoint ? 2 : 3;
}

int neighborsOf(LaplaceStencil stencil) {
  switch (stencil) {
    case LaplaceStencil::FivePoint:
      return 4;
    case LaplaceStencil::NinePoint:
      return 8;
    case LaplaceStencil::SevenPoint:
      return 6;
    case LaplaceStencil::TwentySevenPoint:
      return 26;
  }
  throw Error("unknown stencil");
}

void jacobiRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
               std::int64_t count, double* out) {
  const double weight = 1.0 / neighborsOf(stencil);
  withStencil(stencil, [&](auto which) {
    // Copied, so that the compiler knows that writing does not change them.
    const RowStrides s = strides;
    double* __restrict to = out;
    for (std::int64_t i = 0; i < count; ++i) to[i] = weight * which.sum(row + i, s);
  });
}

double squaredResidualOfRow(LaplaceStencil stencil, const double* row, const RowStrides& strides,
                            std::int64_t count) {
  const double neighbors = neighborsOf(stencil);
  return withStencil(stencil, [&](auto which) {
    // Four sums side by side, so that additions need not wait for each other.
    double sums[4] = {0, 0, 0, 0};
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (std::int64_t lane = 0; lane < 4; ++lane) {
        const double* p = row + i + lane;
        const double residual = which.sum(p, strides) - neighbors * p[0];
        sums[lane] += residual * residual;
      }
    }
    for (; i < count; ++i) {
      const double residual = which.sum(row + i, strides) - neighbors * row[i];
      sums[i % 4] += residual * residual;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  });
}

}  // namespace tributary
