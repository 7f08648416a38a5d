// Included by one source file per instruction set, with TRIBUTARY_KERNEL naming the table. See
// Advection/StructuredKernel.inl for what must be kept out of here.

#include <cstdint>

#include "Tributary/Relaxation/LaplaceKernel.h"

namespace tributary {
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

// So far ahead of what is computed the row that nobody has read yet is fetched: more than the
// processor does on its own where it reads several rows at once.
constexpr std::int64_t Ahead = 256;

// Each gives the sum of the neighbours of the points that p points to, and of these the one that is
// read for the first time when points are visited in their order.

struct FivePoint {
  static constexpr int Neighbors = 4;
  template <class T>
  static T sum(const double* p, const RowStrides& s) {
    return (at<T>(p - 1) + at<T>(p + 1)) + (at<T>(p - s.y) + at<T>(p + s.y));
  }
  static const double* last(const double* p, const RowStrides& s) { return p + s.y; }
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
};

struct SevenPoint {
  static constexpr int Neighbors = 6;
  template <class T>
  static T sum(const double* p, const RowStrides& s) {
    return (at<T>(p - 1) + at<T>(p + 1)) +
           ((at<T>(p - s.y) + at<T>(p + s.y)) + (at<T>(p - s.z) + at<T>(p + s.z)));
  }
  static const double* last(const double* p, const RowStrides& s) { return p + s.z; }
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
  constexpr double weight = 1.0 / Stencil::Neighbors;
  return weight * Stencil::template sum<T>(p, s);
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

void stream(LaplaceStencil stencil, const double* row, const RowStrides& strides,
            std::int64_t count, double* out) {
  withStencil(stencil, [&](auto which) {
    using Stencil = decltype(which);
    const RowStrides s = strides;
    double* __restrict to = out;
    std::int64_t i = 0;
    for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % sizeof(Four) != 0; ++i)
      to[i] = mean<Stencil, double>(row + i, s);
    for (; i + 2 * Width <= count; i += 2 * Width) {
      __builtin_prefetch(Stencil::last(row + i, s) + Ahead);
      storePast(to + i, mean<Stencil, Four>(row + i, s));
      storePast(to + i + Width, mean<Stencil, Four>(row + i + Width, s));
    }
    for (; i < count; ++i) to[i] = mean<Stencil, double>(row + i, s);
  });
}

void drain() {
#ifdef __SSE2__
  __builtin_ia32_sfence();
#endif
}

template <class Stencil, class T>
inline T squared(const double* p, const RowStrides& s) {
  constexpr double neighbors = Stencil::Neighbors;
  const T residual = Stencil::template sum<T>(p, s) - neighbors * at<T>(p);
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

}  // namespace tributary
