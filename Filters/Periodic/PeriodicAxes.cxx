// SPDX-License-Identifier: BSD-3-Clause
#include "Periodic/PeriodicAxes.h"

#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkImageData.h>
#include <vtkMatrix3x3.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "Periodic/Columns.h"
#include "Periodic/WholeLattice.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Base/NumberText.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

constexpr double Infinity = std::numeric_limits<double>::infinity();
constexpr double Degrees = 360;
constexpr double Radians = 6.283185307179586;
/// Columns are equal if their values differ by at most this share of the largest one.
constexpr double EqualValues = 1e-5;
/// A gap may be wider than the widest cell by this factor.
constexpr double WidestGap = 2;
constexpr const char* NoLattice =
    "can only be closed in a single uniform or rectilinear grid with point data: resample them to "
    "such a grid";

std::string axisName(std::size_t axis) {
  return std::string(1, "XYZ"[axis]);
}

[[noreturn]] void refusePeriod(double period, std::size_t axis, const std::string& why) {
  throw Error("Period is " + numberText(period) + " along " + axisName(axis) + why);
}

/// What is known about an axis before its period.
struct AxisFacts {
  double lo = 0, hi = 0;
  double smallest = 0, largest = 0, lastWidth = 0;  ///< Widths of cells; 0 if unknown.
  bool isUniform = false;
  bool decreases = false;  ///< Whether coordinates decrease from column to column.
  double nextColumn = 0;   ///< If it is uniform: the coordinate one cell beyond the last column.

  [[nodiscard]] double length() const { return hi - lo; }
  /// The largest difference of coordinates that is a rounding error. One rule for both sides: it
  /// only depends on the axis.
  [[nodiscard]] double tolerance() const {
    // Four units in the last place of coordinates of type float.
    const double rounding = std::ldexp(std::max(std::fabs(lo), std::fabs(hi)), -21);
    // Without known cells, of a thousandth of the length.
    const double width = smallest > 0 ? smallest : 1e-3 * length();
    return std::min(std::max(1e-3 * width, rounding), width / 4);
  }
};

/// Collective. The box of the data sets of all ranks.
std::array<AxisFacts, 3> boxOfAll(Transport& transport, Span<const Leaf> leaves) {
  std::vector<double> most(6, -Infinity);
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) {
      const double* const b = leaf.dataSet->GetBounds();
      for (std::size_t a = 0; a < 3; ++a) {
        most[2 * a] = std::max(most[2 * a], -b[2 * a]);
        most[2 * a + 1] = std::max(most[2 * a + 1], b[2 * a + 1]);
      }
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  std::array<AxisFacts, 3> facts;
  for (std::size_t a = 0; a < 3; ++a) {
    facts[a].lo = -most[2 * a];
    facts[a].hi = most[2 * a + 1];
  }
  return facts;
}

/// Collective. Throws Error on all ranks if an image is rotated: its columns are not along axes.
void refuseRotated(Transport& transport, Span<const Leaf> leaves) {
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves)
      if (auto* image = vtkImageData::SafeDownCast(leaf.dataSet))
        if (!image->GetDirectionMatrix()->IsIdentity())
          throw Error(
              "Periodic is on, and an image of the input has a direction matrix; set Periodic to "
              "0, or resample the image along the axes");
  });
}

/// Collective. Whether the last column has the values of the first one.
bool columnsAreEqual(Transport& transport, const WholeLattice& lattice, Span<const Leaf> leaves,
                     std::size_t axis, const PointValues& valuesOf) {
  const std::vector<FirstColumn> columns =
      sendFirstColumn(transport, lattice, leaves, axis, valuesOf);
  std::vector<double> most{0, 0};  // difference, magnitude
  const auto compare = [&](double one, double other) {
    for (const double value : {one, other})
      if (std::isfinite(value)) most[1] = std::max(most[1], std::fabs(value));
    if (one == other || (std::isnan(one) && std::isnan(other))) return;
    const double difference = std::fabs(one - other);
    most[0] = std::max(most[0], std::isfinite(difference) ? difference : Infinity);
  };
  collectively(transport, [&] {
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      const auto& extent = lattice.pieces[lattice.first + n];
      if (columns[n].arrays.empty()) continue;
      const ColumnPlaces places(extent, axis);
      for (vtkDataArray* const here : valuesOf(leaves[n].dataSet)) {
        requireTuplePerPoint(here, leaves[n].dataSet);
        vtkDataArray* const there = columns[n].find(here->GetName() ? here->GetName() : "");
        if (!there || here->GetNumberOfComponents() != there->GetNumberOfComponents()) {
          most[0] = Infinity;
          continue;
        }
        for (std::int64_t p = 0; p < places.points(); ++p) {
          if (columns[n].isKnown[index(p)] == 0) continue;
          for (int c = 0; c < here->GetNumberOfComponents(); ++c)
            compare(here->GetComponent(places.pointOf(p, extent[2 * axis + 1]), c),
                    there->GetComponent(p, c));
        }
      }
    }
  });
  most = allreduce(transport, ReduceOp::Max, most);
  return most[0] <= EqualValues * most[1];
}

/// The other cure where a gap cannot be closed.
std::string orLength(double length) {
  return ", or set it to " + numberText(length) + " if the data are as long as their period";
}

/// The axis with a period as long as the data, or longer by a gap.
/// @param whyNoGap  empty if a gap can be closed
PeriodicAxis axisWith(double period, const AxisFacts& facts, std::size_t axis,
                      const std::string& whyNoGap) {
  const double length = facts.length(), tolerance = facts.tolerance();
  PeriodicAxis found;
  found.isPeriodic = true;
  found.origin = facts.lo;
  found.period = length;
  found.tolerance = tolerance;
  found.decreases = facts.decreases;
  const double gap = period - length;
  if (std::fabs(gap) <= tolerance) return found;
  const std::string longer = ", and the data are " + numberText(length) + " long there; ";
  if (gap < 0)
    refusePeriod(period, axis,
                 longer + "set it to their length or more, or to 0 to find it from the data");
  if (!whyNoGap.empty())
    refusePeriod(period, axis, longer + "the gap beyond them " + whyNoGap + orLength(length));
  found.gap = gap;
  found.isEven = facts.isUniform && std::fabs(gap - facts.smallest) <= tolerance;
  if (found.isEven) {
    found.period = facts.decreases ? facts.hi - facts.nextColumn : facts.nextColumn - facts.lo;
    found.gap = found.period - length;
    if (facts.decreases) found.origin = facts.nextColumn;
    return found;
  }
  if (gap > WidestGap * facts.largest * (1 + 1e-9))
    refusePeriod(period, axis,
                 longer + "the first column would follow the last one at a distance of " +
                     numberText(gap) + ", more than twice the widest cell (" +
                     numberText(facts.largest) +
                     "): set it to a shorter length, or to 0 to find it "
                     "from the data");
  found.period = period;
  if (facts.decreases) found.origin = facts.hi - period;
  return found;
}

/// Collective. The period that the data of an axis of a lattice with point data tell.
double periodOf(Transport& transport, const AxisFacts& facts, const WholeLattice& lattice,
                Span<const Leaf> leaves, std::size_t axis, const PointValues& valuesOf) {
  const double length = facts.length(), tolerance = facts.tolerance();
  for (const double circle : {Degrees, Radians})
    for (const double candidate : {length, length + facts.lastWidth})
      if (std::fabs(candidate - circle) <= tolerance) return circle;
  if (columnsAreEqual(transport, lattice, leaves, axis, valuesOf)) return length;
  if (length < Degrees && Degrees - length <= facts.largest * (1 + 1e-3)) return Degrees;
  refusePeriod(0, axis,
               ", and the data do not tell it: their last column differs from the first one, and "
               "their length " +
                   numberText(length) + " is not 360 less a cell; set it to " +
                   numberText(length + facts.lastWidth) +
                   " if the first column follows the last one at the distance of a cell, or to " +
                   numberText(length) + " if they are in the same place");
}

/// Throws Error if a lattice whose gap cannot be closed ends one cell before 360 or 2 pi, so that
/// its length is hardly its period.
void refuseOpenCircle(const AxisFacts& facts, const LatticeAxis& lattice, std::size_t axis,
                      const std::string& whyNoGap) {
  AxisFacts known = facts;
  known.smallest = lattice.smallest;
  for (const double circle : {Degrees, Radians})
    if (std::fabs(facts.length() + lattice.lastWidth - circle) <= known.tolerance())
      refusePeriod(0, axis,
                   ", and the data are " + numberText(facts.length()) + " long there, " +
                       numberText(circle) + " less a cell; the gap beyond them " + whyNoGap +
                       orLength(facts.length()));
}

/// Whether a length may be that of a circle less a cell.
bool mayBeOpenCircle(double length) {
  for (const double circle : {Degrees, Radians})
    if (length < circle && length >= circle / 2) return true;
  return false;
}

}  // namespace

PeriodicSettings PeriodicSettings::of(const int periodic[3], const double period[3]) {
  PeriodicSettings settings;
  for (std::size_t a = 0; a < 3; ++a) {
    settings.periodic[a] = periodic[a] != 0;
    settings.period[a] = period[a];
  }
  return settings;
}

void checkPeriodic(const PeriodicSettings& settings) {
  for (std::size_t a = 0; a < 3; ++a)
    if (!(settings.period[a] >= 0) || !std::isfinite(settings.period[a]))
      refusePeriod(settings.period[a], a,
                   "; set it to a positive length, or to 0 to find it from the data");
}

PeriodicAxes findPeriodicAxes(Transport& transport, Span<const Leaf> leaves,
                              const PeriodicSettings& settings, const PointValues& valuesOf,
                              const std::string& whyNoGap) {
  PeriodicAxes axes;
  if (!settings.any()) return axes;
  refuseRotated(transport, leaves);
  std::array<AxisFacts, 3> facts = boxOfAll(transport, leaves);
  if (!(facts[0].hi >= facts[0].lo)) return axes;  // no data on any rank
  std::int64_t atPoints = 1;
  collectively(transport, [&] {
    for (const Leaf& leaf : leaves) atPoints = atPoints && !valuesOf(leaf.dataSet).empty();
  });
  const bool mayHaveGap = allreduce(transport, ReduceOp::Min, atPoints) != 0 && whyNoGap.empty();
  bool mayBeOpen = false;
  for (std::size_t a = 0; a < 3; ++a)
    mayBeOpen = mayBeOpen || (settings.periodic[a] && settings.period[a] == 0 &&
                              mayBeOpenCircle(facts[a].length()));
  std::optional<WholeLattice> lattice, open;  // with values in gaps, and without
  if (mayHaveGap)
    lattice = findWholeLattice(transport, leaves);
  else if (mayBeOpen)
    open = findWholeLattice(transport, leaves);
  const std::string reason = lattice ? "" : !whyNoGap.empty() ? whyNoGap : NoLattice;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!settings.periodic[a]) continue;
    AxisFacts& fact = facts[a];
    // The same on all ranks, as are the errors below.
    if (!(fact.length() > 0))
      throw Error("Periodic is on along " + axisName(a) +
                  ", where the input is flat; set it to 0 there");
    if (!std::isfinite(fact.length()))
      throw Error("Periodic is on along " + axisName(a) +
                  ", where the input has coordinates that are not finite; repair its points");
    if (lattice) {
      const LatticeAxis& axis = lattice->axes[a];
      fact.smallest = axis.smallest;
      fact.largest = axis.largest;
      fact.lastWidth = axis.lastWidth;
      fact.isUniform = lattice->isUniform;
      fact.decreases = axis.decreases;
      fact.nextColumn = axis.next;
    }
    double period = settings.period[a];
    if (period == 0 && open) refuseOpenCircle(fact, open->axes[a], a, reason);
    if (period == 0)
      period = lattice ? periodOf(transport, fact, *lattice, leaves, a, valuesOf) : fact.length();
    axes[a] = axisWith(period, fact, a, reason);
  }
  return axes;
}

}  // namespace tributary
