// SPDX-License-Identifier: BSD-3-Clause
// Included by the kernels, after MeshCell.inl.

namespace tributary::detail {
inline namespace TRIBUTARY_KERNEL_NAMESPACE {  // see Vector.h

/// Pyramids, one in each lane, and points in them: locateInPyramid() for all lanes together, by the
/// same operations in the same order.
class PyramidPack {
 public:
  static bool takes(CellShape shape) { return shape == CellShape::Pyramid; }

  /// As BoxPack::begin().
  TRIBUTARY_INLINE void begin(const CellRecord* const* cells, std::size_t valueSize,
                              const Wide point[3], LaneSet lanes, LaneSet thorough) {
    Wide anchor[3], map[12], d[3];
    gather<3>([&](int l, int part) { return loadRun(cells[l]->anchor, part); }, anchor);
    gather<12>([&](int l, int part) { return loadWide(mapOf(*cells[l]) + Width * part); }, map);
    for (int a = 0; a < 3; ++a) d[a] = point[a] - anchor[a];
    for (int i = 0; i < 3; ++i) at_[i] = guess_[i] = map[4 * i + 3] + dot(map + 4 * i, d);
    judge();
    sought_ = toCondition(lanes) & (~(violation_ > Plainly) | toCondition(thorough));
    found_ = WideInt{};
    open_ = toLanes(sought_);
    if (open_ == 0) return;
    Wide c[20];
    gather<20>(
        [&](int l, int part) {
          return loadWide(geometryTerms(*cells[l], valueSize) + Width * part);
        },
        c);
    for (int a = 0; a < 3; ++a) {
      for (int i = 0; i < 4; ++i) c_[i][a] = c[4 * (i + 1) + a];
      fromApex_[a] = d[a] - c[a] - c_[2][a];
    }
  }

  /// As BoxPack::open().
  LaneSet open() const { return open_; }
  /// As BoxPack::iterate().
  TRIBUTARY_INLINE LaneSet iterate(int) {
    WideInt open = toCondition(open_);
    const Wide r = ratio(at_[0], at_[2]), s = ratio(at_[1], at_[2]);
    Wide miss[3], du[3], dv[3], dw[3], change[3];
    for (int a = 0; a < 3; ++a) {
      miss[a] = at_[0] * c_[0][a] + at_[1] * c_[1][a] - at_[2] * c_[2][a] +
                r * s * at_[2] * c_[3][a] - fromApex_[a];
      du[a] = c_[0][a] + s * c_[3][a];
      dv[a] = c_[1][a] + r * c_[3][a];
      dw[a] = -r * s * c_[3][a] - c_[2][a];
    }
    open &= solveFor(change, du, dv, dw, miss);
    for (int a = 0; a < 3; ++a) at_[a] = select(open, at_[a] - change[a], at_[a]);
    const Wide size = magnitude(change[0]) + magnitude(change[1]) + magnitude(change[2]);
    open &= size < Diverged;
    const WideInt converged = size < PyramidConverged;
    found_ |= open & converged;
    open &= ~converged;
    return open_ = toLanes(open);
  }
  /// As BoxPack::end(); computes r, s, t.
  TRIBUTARY_INLINE void end() {
    const WideInt guessFace = face_;
    const Wide guessViolation = violation_;
    judge();
    for (int a = 0; a < 3; ++a) at_[a] = select(found_, at_[a], guess_[a]);
    const WideInt lost = sought_ & ~found_ & (guessFace == Inside);
    face_ = found_ ? face_ : (lost ? WideInt{} + Unknown : guessFace);
    violation_ = select(found_, violation_, guessViolation);
    const Wide r = ratio(at_[0], at_[2]), s = ratio(at_[1], at_[2]), t = 1 - at_[2];
    at_[0] = r;
    at_[1] = s;
    at_[2] = t;
  }

  /// The result in one lane.
  TRIBUTARY_INLINE InCell operator[](int l) const {
    return {V4{at_[0][l], at_[1][l], at_[2][l], 0}, static_cast<int>(face_[l]), violation_[l]};
  }

 private:
  static TRIBUTARY_INLINE Wide ratio(Wide a, Wide w) {
    const Wide q = a / w;
    return select(q >= -1, select(q <= 2, q, all<Wide>(2)),
                  select(q < -1, all<Wide>(-1), all<Wide>(0.5)));
  }

  TRIBUTARY_INLINE void judge() {
    face_ = WideInt{} + Inside;
    violation_ = Wide{};
    const auto worse = [&](std::int64_t face, Wide violation) __attribute__((always_inline)) {
      detail::worse(face_, violation_, face, violation);
    };
    worse(0, -at_[0]);
    worse(1, at_[0] - at_[2]);
    worse(2, -at_[1]);
    worse(3, at_[1] - at_[2]);
    worse(4, at_[2] - 1);
  }

  Wide at_[3];  ///< u, v, w; at the end r, s, t.
  WideInt face_;
  Wide violation_;
  Wide fromApex_[3], c_[4][3], guess_[3];  ///< While the exact coordinates are sought.
  WideInt sought_, found_;
  LaneSet open_;
};

}  // namespace TRIBUTARY_KERNEL_NAMESPACE
}  // namespace tributary::detail
