// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Relaxation/ConvectionDiffusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/InstructionSet.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Relaxation/detail/ConvectionDiffusionKernel.h"

namespace tributary {

using namespace detail;

namespace {

using Kind = SideCondition::Kind;

const ConvectionDiffusionKernel& kernel() {
  static const ConvectionDiffusionKernel* const selected =
      selectKernel<&convectionDiffusionKernelBaseline, &convectionDiffusionKernelAvx2>();
  return *selected;
}

/// The greater value, or NaN if one was found before.
double worse(double a, double b) {
  return std::isnan(a) || a >= b ? a : b;
}

bool isNumber(double value) {
  return std::isfinite(value);
}

void check(const CellGrid& grid, const ConvectionDiffusionTerms& terms) {
  for (const auto& ends : grid.ends) {
    bool increasing = ends.size() > 1 && isNumber(ends.front()) && isNumber(ends.back());
    for (std::size_t i = 1; i < ends.size(); ++i) increasing = increasing && ends[i] > ends[i - 1];
    if (!increasing)
      throw Error("the grid's coordinates do not increase along each axis; repair them");
  }
  const auto checkTerm = [](const char* name, double value) {
    if (!isNumber(value) || value < 0)
      throw Error(std::string("the ") + name + " is " + numberText(value) +
                  "; give a finite number of at least 0");
  };
  checkTerm("diffusivity", terms.diffusivity);
  checkTerm("decay", terms.decay);
  checkTerm("inverse of the time step", terms.inverseStep);
  for (std::size_t a = 0; a < 3; ++a) {
    const SideCondition &low = terms.sides[2 * a], &high = terms.sides[2 * a + 1];
    if ((low.kind == Kind::Periodic) != (high.kind == Kind::Periodic))
      throw Error("both sides of axis " + std::to_string(a) +
                  " or none must be periodic; set both sides alike");
    if (!isNumber(low.value) || !isNumber(high.value))
      throw Error("a value at a side of axis " + std::to_string(a) +
                  " is not a finite number; set it to a finite number");
  }
}

}  // namespace

ConvectionDiffusion::ConvectionDiffusion(const CellGrid& grid, const CellRange& box,
                                         const ConvectionDiffusionTerms& terms, FaceFlow faces)
    : box_(box), terms_(terms), velocity_(std::move(faces.velocity)) {
  check(grid, terms_);
  if (box_.empty()) return;
  for (std::size_t a = 0; a < 3; ++a) {
    checkFlow(a, grid, faces.closed[a]);
    for (std::size_t i = 0; i < faces.closed[a].size(); ++i)
      if (faces.closed[a][i] != 0) velocity_[a][i] = std::numeric_limits<double>::quiet_NaN();
    atSide_[2 * a] = box_.lo[a] == 0;
    atSide_[2 * a + 1] = box_.hi[a] == grid.along(a);
    addFaces(a, grid);
  }
  findOpenParts();
}

/// Throws Error if the box or the velocities along an axis do not fit.
void ConvectionDiffusion::checkFlow(std::size_t axis, const CellGrid& grid,
                                    const std::vector<std::uint8_t>& closed) const {
  const auto n = box_.along(axis), whole = grid.along(axis);
  const std::vector<double>& velocity = velocity_[axis];
  if (box_.lo[axis] < 0 || box_.hi[axis] > whole)
    throw Error("cells " + std::to_string(box_.lo[axis]) + " to " +
                std::to_string(box_.hi[axis] - 1) + " along axis " + std::to_string(axis) +
                " are not in the grid, which has " + std::to_string(whole) +
                "; give a box inside the grid");
  const auto count = n > 0 ? box_.cells() / n * (n + 1) : 0;
  if (static_cast<std::int64_t>(velocity.size()) != count ||
      (!closed.empty() && closed.size() != velocity.size()))
    throw Error(std::to_string(velocity.size()) + " velocities and " +
                std::to_string(closed.size()) + " flags of closed faces given for " +
                std::to_string(count) + " faces across axis " + std::to_string(axis) +
                "; give one for each face");
  if (!std::all_of(velocity.begin(), velocity.end(), isNumber))
    throw Error("a velocity along axis " + std::to_string(axis) +
                " is not a finite number; set it to a finite number");
}

/// The coefficients of the faces across an axis.
void ConvectionDiffusion::addFaces(std::size_t axis, const CellGrid& grid) {
  const auto whole = grid.along(axis);
  Faces& f = faces_[axis];
  for (auto i = box_.lo[axis]; i <= box_.hi[axis]; ++i) {
    const bool low = i == 0, high = i == whole;
    const SideCondition& side = terms_.sides[2 * axis + (high ? 1 : 0)];
    const double mine = high ? grid.width(axis, whole - 1) : grid.width(axis, i);
    double diffusion = 0, in = 1, out = 1;
    if (!(low || high)) {
      diffusion = terms_.diffusivity / (grid.center(axis, i) - grid.center(axis, i - 1));
    } else if (side.kind == Kind::Periodic) {
      const double other = high ? grid.width(axis, 0) : grid.width(axis, whole - 1);
      diffusion = terms_.diffusivity / (0.5 * (mine + other));
    } else if (side.kind == Kind::Value) {
      diffusion = terms_.diffusivity / (0.5 * mine);
    } else {
      in = 0;
      out = side.kind == Kind::Outflow ? 1 : 0;
    }
    f.diffusion.push_back(diffusion);
    f.in.push_back(in);
    f.out.push_back(out);
    if (i < box_.hi[axis]) f.inverseWidth.push_back(1 / grid.width(axis, i));
  }
}

void ConvectionDiffusion::findOpenParts() {
  const auto isClosed = [](double velocity) { return std::isnan(velocity); };
  bool any = false;
  for (const auto& velocity : velocity_)
    any = any || std::any_of(velocity.begin(), velocity.end(), isClosed);
  if (!any) return;
  const auto nx = box_.along(0), ny = box_.along(1), nz = box_.along(2);
  for (std::int64_t k = 0; k < nz; ++k)
    for (std::int64_t j = 0; j < ny; ++j) {
      const double* const x = velocity_[0].data() + (k * ny + j) * (nx + 1);
      const double* const y = velocity_[1].data() + (k * (ny + 1) + j) * nx;
      const double* const z = velocity_[2].data() + (k * ny + j) * nx;
      std::int64_t first = nx, last = -1;
      for (std::int64_t i = 0; i < nx; ++i) {
        if (isClosed(x[i]) && isClosed(x[i + 1]) && isClosed(y[i]) && isClosed(y[i + nx]) &&
            isClosed(z[i]) && isClosed(z[i + nx * ny]))
          continue;
        first = std::min(first, i);
        last = i;
      }
      openParts_.push_back({last < 0 ? 0 : first, last < 0 ? 0 : last + 1 - first});
    }
}

void ConvectionDiffusion::setSideValues(SideValues& sides) const {
  for (std::size_t side = 0; side < Sides; ++side)
    if (atSide_[side] && terms_.sides[side].kind == Kind::Value)
      std::fill(sides[side].begin(), sides[side].end(), terms_.sides[side].value);
}

void ConvectionDiffusion::rightHandSide(Span<const double> source, Span<const double> old,
                                        Span<double> b) const {
  const auto nx = box_.along(0), ny = box_.along(1), nz = box_.along(2);
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = source[i] + (terms_.inverseStep > 0 ? terms_.inverseStep * old[i] : 0.0);
  for (std::size_t side = 0; side < Sides; ++side) {
    if (!atSide_[side] || terms_.sides[side].kind != Kind::Flux) continue;
    const auto axis = side / 2;
    CellRange layer{{0, 0, 0}, {nx, ny, nz}};
    (side % 2 ? layer.lo : layer.hi)[axis] = side % 2 ? layer.hi[axis] - 1 : 1;
    const auto& widths = faces_[axis].inverseWidth;
    const double gain = terms_.sides[side].value * (side % 2 ? widths.back() : widths.front());
    for (auto k = layer.lo[2]; k < layer.hi[2]; ++k)
      for (auto j = layer.lo[1]; j < layer.hi[1]; ++j)
        for (auto i = layer.lo[0]; i < layer.hi[0]; ++i) {
          std::array<std::int64_t, 3> face{i, j, k}, count{nx, ny, nz};
          face[axis] += side % 2;
          ++count[axis];
          const auto at = index((face[2] * count[1] + face[1]) * count[0] + face[0]);
          if (!std::isnan(velocity_[axis][at])) b[index((k * ny + j) * nx + i)] += gain;
        }
  }
}

ConvectionDiffusionRow ConvectionDiffusion::rowAt(std::int64_t j, std::int64_t k,
                                                  const double* plane, const double* below,
                                                  const double* above,
                                                  const SideValues& beyond) const {
  const auto nx = box_.along(0), ny = box_.along(1), nz = box_.along(2);
  const auto across = [](const Faces& f, std::int64_t at, const double* velocity,
                         std::int64_t toHigh, const double* low, const double* high) {
    const auto i = index(at);
    return RowAcross{f.inverseWidth[i],
                     f.diffusion[i],
                     f.in[i],
                     f.out[i],
                     f.diffusion[i + 1],
                     f.in[i + 1],
                     f.out[i + 1],
                     velocity,
                     velocity + toHigh,
                     low,
                     high};
  };
  ConvectionDiffusionRow row;
  row.count = nx;
  row.velocity = velocity_[0].data() + (k * ny + j) * (nx + 1);
  row.diffusion = faces_[0].diffusion.data();
  row.in = faces_[0].in.data();
  row.out = faces_[0].out.data();
  row.inverseWidth = faces_[0].inverseWidth.data();
  row.west = beyond[0][index(k * ny + j)];
  row.east = beyond[1][index(k * ny + j)];
  row.y = across(faces_[1], j, velocity_[1].data() + (k * (ny + 1) + j) * nx, nx,
                 j > 0 ? plane + (j - 1) * nx : beyond[2].data() + k * nx,
                 j + 1 < ny ? plane + (j + 1) * nx : beyond[3].data() + k * nx);
  row.z = across(faces_[2], k, velocity_[2].data() + (k * ny + j) * nx, ny * nx,
                 k > 0 ? below + j * nx : beyond[4].data() + j * nx,
                 k + 1 < nz ? above + j * nx : beyond[5].data() + j * nx);
  row.base = terms_.inverseStep + terms_.decay;
  return row;
}

ConvectionDiffusionRow ConvectionDiffusion::openPart(ConvectionDiffusionRow row,
                                                     const OpenPart& part, const double* u) const {
  if (part.first > 0) row.west = u[part.first - 1];
  if (part.first + part.count < row.count) row.east = u[part.first + part.count];
  row.count = part.count;
  for (const double** each : {&row.velocity, &row.diffusion, &row.in, &row.out, &row.inverseWidth,
                              &row.y.velocityLow, &row.y.velocityHigh, &row.y.low, &row.y.high,
                              &row.z.velocityLow, &row.z.velocityHigh, &row.z.low, &row.z.high})
    *each += part.first;
  return row;
}

void ConvectionDiffusion::sweep(bool forward, Span<double> u, const SideValues& beyond,
                                Span<const double> b, int slabs, const ParallelFor& parallelFor) {
  if (box_.empty()) return;
  const auto nx = box_.along(0), ny = box_.along(1), nz = box_.along(2), plane = nx * ny;
  const auto count = std::clamp<std::int64_t>(slabs, 1, nz);
  // Planes at the ends of the slabs, as they were before the sweep: two between each pair.
  std::vector<double> ends(index(2 * (count - 1) * plane));
  for (std::int64_t s = 1; s < count; ++s)
    std::copy_n(u.data() + (nz * s / count - 1) * plane, 2 * plane,
                ends.data() + 2 * (s - 1) * plane);
  parallelFor(count, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> share(index(nx)), coupling(index(nx));
    for (auto s = begin; s < end; ++s) {
      const auto first = nz * s / count, last = nz * (s + 1) / count;
      for (std::int64_t n = 0; n < (last - first) * ny; ++n) {
        const auto at = forward ? n : (last - first) * ny - 1 - n;
        const auto j = at % ny, k = first + at / ny;
        const double *below = nullptr, *above = nullptr;
        if (k > 0)
          below =
              k == first && s > 0 ? ends.data() + 2 * (s - 1) * plane : u.data() + (k - 1) * plane;
        if (k + 1 < nz)
          above = k + 1 == last && s + 1 < count ? ends.data() + (2 * s + 1) * plane
                                                 : u.data() + (k + 1) * plane;
        double* const here = u.data() + k * plane;
        const auto row = rowAt(j, k, here, below, above, beyond);
        const double* const rowB = b.data() + k * plane + j * nx;
        double* const rowU = here + j * nx;
        if (openParts_.empty()) {
          kernel().sweep(row, terms_.conservative, forward, rowB, rowU, share.data(),
                         coupling.data());
          continue;
        }
        const OpenPart& part = openParts_[index(k * ny + j)];
        const double inverse = row.base > 0 ? 1 / row.base : 0;
        for (std::int64_t i = 0; i < part.first; ++i) rowU[i] = rowB[i] * inverse;
        for (std::int64_t i = part.first + part.count; i < nx; ++i) rowU[i] = rowB[i] * inverse;
        if (part.count > 0)
          kernel().sweep(openPart(row, part, rowU), terms_.conservative, forward, rowB + part.first,
                         rowU + part.first, share.data(), coupling.data());
      }
    }
  });
}

double ConvectionDiffusion::residual(Span<const double> u, const SideValues& beyond,
                                     Span<const double> b, const ParallelFor& parallelFor) const {
  if (box_.empty()) return 0;
  const auto nx = box_.along(0), ny = box_.along(1), nz = box_.along(2), plane = nx * ny;
  std::vector<double> largest(index(nz), 0.0);
  parallelFor(nz, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> room(index(nx));
    for (auto k = begin; k < end; ++k)
      for (std::int64_t j = 0; j < ny; ++j) {
        const double* const here = u.data() + k * plane;
        const auto row = rowAt(j, k, here, k > 0 ? here - plane : nullptr,
                               k + 1 < nz ? here + plane : nullptr, beyond);
        const double* const rowB = b.data() + k * plane + j * nx;
        const double* const rowU = here + j * nx;
        const auto note = [&](double r) { largest[index(k)] = worse(largest[index(k)], r); };
        if (openParts_.empty()) {
          note(kernel().residual(row, terms_.conservative, rowB, rowU, room.data()));
          continue;
        }
        const OpenPart& part = openParts_[index(k * ny + j)];
        const auto closed = [&](std::int64_t i) { note(std::fabs(rowB[i] - row.base * rowU[i])); };
        for (std::int64_t i = 0; i < part.first; ++i) closed(i);
        for (std::int64_t i = part.first + part.count; i < nx; ++i) closed(i);
        if (part.count > 0)
          note(kernel().residual(openPart(row, part, rowU), terms_.conservative, rowB + part.first,
                                 rowU + part.first, room.data()));
      }
  });
  double result = 0;
  for (const double r : largest) result = worse(result, r);
  return result;
}

}  // namespace tributary
