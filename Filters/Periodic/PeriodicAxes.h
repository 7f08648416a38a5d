// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "Common/Leaves.h"

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

class vtkDataArray;
class vtkDataSet;

namespace tributary {

/// The properties Periodic and Period.
struct PeriodicSettings {
  std::array<bool, 3> periodic{};  ///< By axis.
  std::array<double, 3> period{};  ///< By axis; 0 for one that the data tell.

  /// The properties of a filter.
  [[nodiscard]] static PeriodicSettings of(const int periodic[3], const double period[3]);
  /// Whether an axis is periodic.
  [[nodiscard]] bool any() const { return periodic[0] || periodic[1] || periodic[2]; }
};

/// Local. Throws Error if a period is negative or not finite.
void checkPeriodic(const PeriodicSettings& settings);

/// How the data of all ranks continue along an axis.
struct PeriodicAxis {
  bool isPeriodic = false;
  double origin = 0;  ///< The coordinate of the lower side, at the end of a gap that lies there.
  double period = 0;  ///< A place and the one at this distance are the same.
  /// The distance from the last column of the data to the image of the first one; 0 if they meet.
  double gap = 0;
  /// Whether coordinates decrease from column to column: a gap then lies at the lower side.
  bool decreases = false;
  /// Whether the gap is as wide as the cells of a uniform grid.
  bool isEven = false;
  /// Coordinates that differ by at most this are those of one column.
  double tolerance = 0;

  [[nodiscard]] bool hasGap() const { return gap > 0; }
  [[nodiscard]] bool operator==(const PeriodicAxis& other) const {
    return isPeriodic == other.isPeriodic && origin == other.origin && period == other.period &&
           gap == other.gap && decreases == other.decreases && isEven == other.isEven &&
           tolerance == other.tolerance;
  }
};

/// By axis; the same on all ranks.
using PeriodicAxes = std::array<PeriodicAxis, 3>;

/// Returns the point data of a data set that continue along periodic axes; none if these are cell
/// data or the mesh alone.
using PointValues = std::function<std::vector<vtkDataArray*>(vtkDataSet*)>;

/// Collective. Finds the periods of the data of all ranks.
///
/// With one uniform or rectilinear grid and point data on all ranks, the first column follows the
/// last one at the distance that the period leaves, up to twice the width of the widest cell.
/// Coordinates may also decrease along axes. Other data are as long as their period. A period that
/// differs from the length of the data by a rounding error (1e-3 of the smallest cell, or that of
/// coordinates of type float, but at most a quarter of the smallest cell) is this length, and one
/// that is longer by a cell of a uniform grid, with the same tolerance, is longer by exactly one
/// cell.
///
/// The period 0 stands for the first of these that applies:
/// 1. for such a grid, 360 or 2 pi, if this is the length of the data, or the length and one cell;
/// 2. the length of the data, unless they are such a grid whose last column has other values than
///    the first one (by more than 1e-5 of the largest magnitude in them);
/// 3. 360, if the data are shorter by less than the width of their widest cell.
/// It is refused where no gap can be closed, but the lattice of the data ends one cell before 360
/// or 2 pi.
/// @param leaves  of this rank, all of the highest dimension of all ranks
/// @param valuesOf  called on ranks with leaves
/// @param whyNoGap  if the caller cannot close a gap: the reason and a cure, the same on all ranks;
///                  goes on after "the gap beyond them"
/// @throws Error on all ranks if the data are flat along a periodic axis; if a period is shorter
///         than the data, or longer where no gap can be closed or by more than twice a cell; if
///         period 0 stands for none; or if an image is rotated
[[nodiscard]] PeriodicAxes findPeriodicAxes(Transport& transport, Span<const Leaf> leaves,
                                            const PeriodicSettings& settings,
                                            const PointValues& valuesOf,
                                            const std::string& whyNoGap = {});

}  // namespace tributary
