// SPDX-License-Identifier: BSD-3-Clause
// Included by one source file per instruction set, with TRIBUTARY_KERNEL naming the table. See
// Advection/detail/kernels/StructuredKernel.inl for what must be kept out of here.

#include <cstdint>

#include "Tributary/Model/detail/LaplaceKernel.h"

namespace tributary::detail {
namespace {

/// Four points side by side: one register, or two.
typedef double Four __attribute__((vector_size(32)));
constexpr std::int64_t Width = 4;

/// The value of a point, or of four in a row.
template <class T>
inline T at(const double* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

// Each gives the sum of the neighbors of the points that p points to, and of these the one that is
// read for the first time when points are visited in their order. A window goes from row to row
// with what it has read and added already, in the same order: the sums have the same bits.

struct FivePoint {
  static constexpr int Neighbors = 4;
  template <class T>
  static T sum(const double* p, const RowStrides& s) {
    return (at<T>(p - 1) + at<T>(p + 1)) + (at<T>(p - s.y) + at<T>(p + s.y));
  }
  static const double* last(const double* p, const RowStrides& s) { return p + s.y; }

  template <class T>
  struct Window {
    T below, here;
    Window(const double* p, const RowStrides& s) : below(at<T>(p - s.y)), here(at<T>(p)) {}
    /// Of the points of this row; then the next one is meant.
    T next(const double* p, const RowStrides& s) {
      const T above = at<T>(p + s.y);
      const T sum = (at<T>(p - 1) + at<T>(p + 1)) + (below + above);
      below = here;
      here = above;
      return sum;
    }
  };
};

struct NinePoint {
  static constexpr int Neighbors = 8;
  template <class T>
  static T sum(const double* p, const RowStrides& s) {
    const T below = (at<T>(p - s.y - 1) + at<T>(p - s.y + 1)) + at<T>(p - s.y);
    const T above = (at<T>(p + s.y - 1) + at<T>(p + s.y + 1)) + at<T>(p + s.y);
    return (at<T>(p - 1) + at<T>(p + 1)) + (below + above);
  }
  static const double* last(const double* p, const RowStrides& s) { return p + s.y; }

  template <class T>
  struct Window {
    T below;  // all three of the row
    T beside, here;
    Window(const double* p, const RowStrides& s)
        : below((at<T>(p - s.y - 1) + at<T>(p - s.y + 1)) + at<T>(p - s.y)),
          beside(at<T>(p - 1) + at<T>(p + 1)),
          here(at<T>(p)) {}
    T next(const double* p, const RowStrides& s) {
      const T besideAbove = at<T>(p + s.y - 1) + at<T>(p + s.y + 1);
      const T centerAbove = at<T>(p + s.y);
      const T sum = beside + (below + (besideAbove + centerAbove));
      below = beside + here;
      beside = besideAbove;
      here = centerAbove;
      return sum;
    }
  };
};

struct SevenPoint {
  static constexpr int Neighbors = 6;
  template <class T>
  static T sum(const double* p, const RowStrides& s) {
    return (at<T>(p - 1) + at<T>(p + 1)) +
           ((at<T>(p - s.y) + at<T>(p + s.y)) + (at<T>(p - s.z) + at<T>(p + s.z)));
  }
  static const double* last(const double* p, const RowStrides& s) { return p + s.z; }

  template <class T>
  struct Window {
    T below, here;
    Window(const double* p, const RowStrides& s) : below(at<T>(p - s.y)), here(at<T>(p)) {}
    T next(const double* p, const RowStrides& s) {
      const T above = at<T>(p + s.y);
      const T sum =
          (at<T>(p - 1) + at<T>(p + 1)) + ((below + above) + (at<T>(p - s.z) + at<T>(p + s.z)));
      below = here;
      here = above;
      return sum;
    }
  };
};

struct TwentySevenPoint {
  static constexpr int Neighbors = 26;
  template <class T>
  static T square(const double* p, const RowStrides& s) {
    return NinePoint::sum<T>(p, s) + at<T>(p);
  }
  template <class T>
  static T sum(const double* p, const RowStrides& s) {
    return NinePoint::sum<T>(p, s) + (square<T>(p - s.z, s) + square<T>(p + s.z, s));
  }
  static const double* last(const double* p, const RowStrides& s) { return p + s.z + s.y; }

  template <class T>
  struct Window {
    NinePoint::Window<T> deep, plane, high;
    Window(const double* p, const RowStrides& s)
        : deep(p - s.z, s), plane(p, s), high(p + s.z, s) {}
    static T square(NinePoint::Window<T>& window, const double* p, const RowStrides& s) {
      const T here = window.here;
      return window.next(p, s) + here;
    }
    T next(const double* p, const RowStrides& s) {
      const T around = plane.next(p, s);
      return around + (square(deep, p - s.z, s) + square(high, p + s.z, s));
    }
  };
};

template <class Visit>
inline auto withStencil(LaplaceStencil stencil, Visit&& visit) {
  switch (stencil) {
    case LaplaceStencil::FivePoint:
      return visit(FivePoint());
    case LaplaceStencil::NinePoint:
      return visit(NinePoint());
    case LaplaceStencil::SevenPoint:
      return visit(SevenPoint());
    case LaplaceStencil::TwentySevenPoint:
      break;
  }
  return visit(TwentySevenPoint());
}

template <class Stencil, class T>
inline T mean(const double* p, const RowStrides& s) {
  constexpr double Weight = 1.0 / Stencil::Neighbors;
  return Weight * Stencil::template sum<T>(p, s);
}

/// Past the caches. @pre `to` is a multiple of 32
inline void storePast(double* to, Four value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, reinterpret_cast<Four*>(to));
#elif defined(__AVX__)
  __builtin_ia32_movntpd256(to, value);
#elif defined(__SSE2__)
  typedef double Two __attribute__((vector_size(16)));
  __builtin_ia32_movntpd(to, Two{value[0], value[1]});
  __builtin_ia32_movntpd(to + 2, Two{value[2], value[3]});
#else
  __builtin_memcpy(to, &value, sizeof value);
#endif
}

void step(LaplaceStencil stencil, const double* row, const RowStrides& strides, std::int64_t count,
          double* out) {
  withStencil(stencil, [&](auto which) {
    using Stencil = decltype(which);
    // Copied, so that the compiler knows that writing does not change them.
    const RowStrides s = strides;
    double* __restrict to = out;
    std::int64_t i = 0;
    for (; i + Width <= count; i += Width) {
      const Four value = mean<Stencil, Four>(row + i, s);
      __builtin_memcpy(to + i, &value, sizeof value);
    }
    for (; i < count; ++i) to[i] = mean<Stencil, double>(row + i, s);
  });
}

/// Several rows go on side by side, so that what they have in common is read once. One by one each
/// row would come from the second cache twice more, which takes longer than memory does.
/// @pre with more than one row, s.y is a multiple of two vectors
template <class Stencil, int Rows>
inline void streamRows(const double* row, const RowStrides& strides, std::int64_t count,
                       double* out) {
  const RowStrides s = strides;
  double* __restrict to = out;
  // So far ahead of what is computed the row that nobody has read yet is fetched: more than the
  // processor does on its own where it reads several rows at once.
  constexpr std::int64_t Ahead = Rows > 1 ? 64 : 256;
  constexpr double Weight = 1.0 / Stencil::Neighbors;
  const auto single = [&](std::int64_t i) {
    for (int r = 0; r < Rows; ++r) to[i + r * s.y] = mean<Stencil, double>(row + i + r * s.y, s);
  };
  // Whole lines, as parts of many that wait for their other parts would be written one by one.
  constexpr std::size_t Line = 2 * sizeof(Four);
  std::int64_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % Line != 0; ++i) single(i);
  for (; i + 2 * Width <= count; i += 2 * Width) {
    typename Stencil::template Window<Four> left(row + i, s), right(row + i + Width, s);
    for (int r = 0; r < Rows; ++r) {
      const double* from = row + i + r * s.y;
      __builtin_prefetch(Stencil::last(from, s) + Ahead);
      storePast(to + i + r * s.y, Weight * left.next(from, s));
      storePast(to + i + r * s.y + Width, Weight * right.next(from + Width, s));
    }
  }
  for (; i < count; ++i) single(i);
}

void stream(LaplaceStencil stencil, const double* row, const RowStrides& strides,
            std::int64_t count, std::int64_t rows, double* out) {
  withStencil(stencil, [&](auto which) {
    using Stencil = decltype(which);
    constexpr int Together = 8;
    std::int64_t r = 0;
    if (strides.y % (2 * Width) == 0) {
      for (; r + Together <= rows; r += Together)
        streamRows<Stencil, Together>(row + r * strides.y, strides, count, out + r * strides.y);
    }
    for (; r < rows; ++r)
      streamRows<Stencil, 1>(row + r * strides.y, strides, count, out + r * strides.y);
  });
}

void drain() {
#ifdef __SSE2__
  __builtin_ia32_sfence();
#endif
}

template <class Stencil, class T>
inline T squared(const double* p, const RowStrides& s) {
  constexpr double Neighbors = Stencil::Neighbors;
  const T residual = Stencil::template sum<T>(p, s) - Neighbors * at<T>(p);
  return residual * residual;
}

double squares(LaplaceStencil stencil, const double* row, const RowStrides& strides,
               std::int64_t count) {
  return withStencil(stencil, [&](auto which) {
    using Stencil = decltype(which);
    const RowStrides s = strides;
    // Four sums side by side, so that additions need not wait for each other.
    Four sums = {0, 0, 0, 0};
    std::int64_t i = 0;
    for (; i + Width <= count; i += Width) sums += squared<Stencil, Four>(row + i, s);
    for (; i < count; ++i) sums[i % Width] += squared<Stencil, double>(row + i, s);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  });
}

}  // namespace

const LaplaceKernel TRIBUTARY_KERNEL = {step, stream, drain, squares};

}  // namespace tributary::detail
