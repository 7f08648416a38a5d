// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncRegionAlgorithm
 * @brief   Superclass of filters that work on regions of connected cells
 *
 * vtkAsyncRegionAlgorithm has the properties that select cells and define which of them are
 * connected. The description of the input of vtkAsyncConnectivity holds for its other subclasses
 * too.
 *
 * **AutoTune** (see vtkAsyncExchangeAlgorithm): the sets of the ranks are united about fifty more
 * times, which is a small part of the work if cells outnumber sets. The choice holds until Method,
 * Schedule, Arrivals, Detector or the number of ranks changes, or the number of data sets with
 * points changes by more than a factor of two. ExpectedSeconds refers to uniting the sets (of the
 * first range, if there are several); TuningSeconds is contained in the time of the phase that
 * unites them. If no rank has to send a message, no trials are made. Unions of another kind, such
 * as those of points within Tolerance, use the defaults.
 */

#ifndef vtkAsyncRegionAlgorithm_h
#define vtkAsyncRegionAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncExchangeAlgorithm.h"

#include <array>       // For ScalarRanges
#include <functional>  // For Finder
#include <memory>      // For Tuner
#include <string>      // For ClassOfOutput
#include <vector>      // For ScalarRanges

namespace tributary {
class KeptDomain;
struct Leaf;
struct PeriodicSettings;
struct RegionSettings;
class UnionTuner;
}  // namespace tributary
class vtkDataArray;

class TRIBUTARYFILTERS_EXPORT vtkAsyncRegionAlgorithm : public vtkAsyncExchangeAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncRegionAlgorithm, vtkAsyncExchangeAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Connections { FACES = 0, EDGES = 1, POINTS = 2 };

  enum Methods { LABEL_PROPAGATION = 0, TREE_UNION = 1 };

  ///@{
  /**
   * Whether only cells in a scalar range take part. The array, of points or cells and with one
   * component, is chosen with SetInputArrayToProcess(0, ...). A cell is in range if its value is,
   * or the value at one of its points; see FullScalarConnectivity. Bounds belong to the range; NaN
   * is in no range. Default: false; of vtkAsyncFeatureTracker, true.
   */
  vtkSetMacro(ScalarConnectivity, bool);
  vtkGetMacro(ScalarConnectivity, bool);
  vtkBooleanMacro(ScalarConnectivity, bool);
  ///@}

  ///@{
  /**
   * Whether all points of a cell must be in range (as with AllScalars of vtkThreshold), instead of
   * at least one. Default: false.
   */
  vtkSetMacro(FullScalarConnectivity, bool);
  vtkGetMacro(FullScalarConnectivity, bool);
  vtkBooleanMacro(FullScalarConnectivity, bool);
  ///@}

  ///@{
  /**
   * The ranges of ScalarConnectivity. If there are several, each is processed by itself. Setting a
   * range beyond the last one adds ranges [0, 1] in between. Default: one range, [0, 1].
   */
  void SetScalarRange(double lo, double hi);
  void SetScalarRange(int index, double lo, double hi);
  void GetScalarRange(int index, double range[2]) const;
  void SetNumberOfScalarRanges(int count);
  int GetNumberOfScalarRanges() const { return static_cast<int>(this->ScalarRanges.size()); }
  ///@}

  ///@{
  /**
   * What cells must share to be connected: FACES (edges of 2-D cells, points of 1-D cells), EDGES
   * or POINTS. On grids these are 6, 18 and 26 neighbors, in 2-D 4, 4 and 8. Cells of different
   * levels of an AMR hierarchy or a hyper tree grid share the faces, edges and points of the finer
   * ones. Default: POINTS.
   */
  vtkSetClampMacro(ConnectThrough, int, FACES, POINTS);
  vtkGetMacro(ConnectThrough, int);
  ///@}

  ///@{
  /**
   * Whether only cells of equal labels are connected; the array of cells is chosen with
   * SetInputArrayToProcess(1, ...). Default: false.
   */
  vtkSetMacro(LabelConnectivity, bool);
  vtkGetMacro(LabelConnectivity, bool);
  vtkBooleanMacro(LabelConnectivity, bool);
  ///@}

  ///@{
  /**
   * Maximum distance of points of two cells that coincide, as a fraction of the smaller cell's
   * diagonal, in [0, 0.5]. Coincidence is transitive. With 0, points coincide only if their
   * coordinates are equal. Otherwise extents and global ids of points are not used, and regions
   * without global cell ids are numbered by place in space. The sizes of cells should then not
   * differ by orders of magnitude: memory is proportional to the number of points within reach of
   * the largest cells. Hyper tree grids ignore this property, because their leaves meet exactly.
   * Default: 0.
   */
  vtkSetMacro(Tolerance, double);
  vtkGetMacro(Tolerance, double);
  ///@}

  ///@{
  /**
   * For each axis, 1 if the domain is periodic along it: regions continue at the opposite side.
   * Points of opposite sides are the same points. They are found by their position in the extent
   * if all data sets are pieces of one uniform or rectilinear grid or of one AMR hierarchy,
   * otherwise by coordinates that are equal after a shift by the period. Tolerance must be 0, and
   * there must be no hyper tree grids. Default: (0, 0, 0).
   */
  vtkSetVector3Macro(Periodic, int);
  vtkGetVector3Macro(Periodic, int);
  ///@}

  ///@{
  /**
   * The period along each periodic axis. It may be longer than a single uniform or rectilinear grid
   * if the scalars of ScalarConnectivity are those of points and there are no labels. Then the
   * points of the last and the first column have an element between them, which connects cells as a
   * cell with these points would, but is no cell of the output. 0: found from the data. Default:
   * (0, 0, 0).
   */
  vtkSetVector3Macro(Period, double);
  vtkGetVector3Macro(Period, double);
  ///@}

  ///@{
  /**
   * Whether output 0 has only the cells in regions, instead of the complete input: as
   * vtkUnstructuredGrid, or as vtkPolyData for poly data; in a hyper tree grid all other leaves are
   * masked. Of vtkAsyncConnectivity these are the selected regions. Default: false.
   */
  vtkSetMacro(ExtractRegions, bool);
  vtkGetMacro(ExtractRegions, bool);
  vtkBooleanMacro(ExtractRegions, bool);
  ///@}

  ///@{
  /**
   * How sets of cells of different blocks are united. With LABEL_PROPAGATION, labels travel from
   * block to block until none changes; the number of steps is that of the blocks along a region.
   * With TREE_UNION, unions travel along a forest; the number of steps is the logarithm of that.
   * The regions are the same. Default: TREE_UNION.
   */
  vtkSetClampMacro(Method, int, LABEL_PROPAGATION, TREE_UNION);
  vtkGetMacro(Method, int);
  ///@}

  ///@{
  /**
   * Whether to keep what was found out about cells and points, such as those that ranks share, for
   * the next execution. The next execution uses it if ConnectThrough, labels, Tolerance and the
   * period are the same and no rank has other cells, points, global ids or ghosts: with another
   * range or array, or at the next time step of a mesh that stays. Hyper tree grids must be the
   * same objects. Nothing is kept with ReleaseDataFlag, or of critical points. The result does not
   * change. The value may differ between ranks. Default: true.
   */
  vtkSetMacro(KeepDomain, bool);
  vtkGetMacro(KeepDomain, bool);
  vtkBooleanMacro(KeepDomain, bool);
  ///@}

 protected:
  vtkAsyncRegionAlgorithm();
  ~vtkAsyncRegionAlgorithm() override;

  std::string ClassOfOutput(int port, vtkDataObject* input) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  void ForgetExecution() override;

  /// Local. The properties of this class as plain values, for an execution.
  tributary::RegionSettings MakeRegionSettings();
  /// Local. Finds the array of a leaf that SetInputArrayToProcess(index, ...) chose, and its
  /// association.
  std::function<vtkDataArray*(const tributary::Leaf&, int&)> Finder(int index);

  bool ScalarConnectivity = false;
  bool FullScalarConnectivity = false;
  std::vector<std::array<double, 2>> ScalarRanges{{{0.0, 1.0}}};
  int ConnectThrough = POINTS;
  bool LabelConnectivity = false;
  double Tolerance = 0;
  int Periodic[3] = {0, 0, 0};
  double Period[3] = {0, 0, 0};
  bool ExtractRegions = false;
  int Method = TREE_UNION;
  bool KeepDomain = true;

 private:
  tributary::PeriodicSettings MakePeriodicSettings() const;

  std::unique_ptr<tributary::UnionTuner> Tuner;  // of AutoTune
  std::unique_ptr<tributary::KeptDomain> Kept;

  vtkAsyncRegionAlgorithm(const vtkAsyncRegionAlgorithm&) = delete;
  void operator=(const vtkAsyncRegionAlgorithm&) = delete;
};

#endif
