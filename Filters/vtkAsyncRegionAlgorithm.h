// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncRegionAlgorithm
 * @brief   Superclass of filters that work on regions of connected cells
 *
 * vtkAsyncRegionAlgorithm has the properties that say which cells take part and which of them are
 * connected. What is said of its input by vtkAsyncConnectivity is true of its other subclasses too.
 *
 * **AutoTune** (see vtkAsyncExchangeAlgorithm): the sets of the ranks are united about fifty times
 * more, a small part of the work where cells outnumber sets. The choice holds until Method,
 * Schedule, Arrivals, Detector or the number of ranks changes, or that of data sets with points by
 * more than a factor of two. ExpectedSeconds are those of uniting the sets (in the first range,
 * where there are several); TuningSeconds are contained in those of the phase that unites them.
 * Where no rank has to send anything, nothing is tried. Unions of another kind, as those of points
 * within Tolerance, are done with the defaults.
 */

#ifndef vtkAsyncRegionAlgorithm_h
#define vtkAsyncRegionAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncExchangeAlgorithm.h"

#include <array>       // For ScalarRanges
#include <functional>  // For Finder
#include <memory>      // For MakeDomain
#include <vector>      // For ScalarRanges

namespace tributary {
struct ComponentDomain;
struct Leaf;
struct RangeTest;
struct UnionOptions;
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
   * Whether only cells in a scalar range take part: the array is chosen with
   * SetInputArrayToProcess(0, ...), of points or cells, one component. A cell is in range if its
   * value is, or that of one of its points; see FullScalarConnectivity. Bounds belong to the range;
   * NaN is in none. Default: false.
   */
  vtkSetMacro(ScalarConnectivity, bool);
  vtkGetMacro(ScalarConnectivity, bool);
  vtkBooleanMacro(ScalarConnectivity, bool);
  ///@}

  ///@{
  /**
   * Whether all points of a cell must be in range (as with vtkThreshold's AllScalars), not only
   * one. Default: false.
   */
  vtkSetMacro(FullScalarConnectivity, bool);
  vtkGetMacro(FullScalarConnectivity, bool);
  vtkBooleanMacro(FullScalarConnectivity, bool);
  ///@}

  ///@{
  /**
   * The ranges of ScalarConnectivity; with more than one, each is looked at by itself. Default:
   * one, 0 to 1, which is what ranges are too that come to be because a later one is set.
   */
  void SetScalarRange(double lo, double hi);
  void SetScalarRange(int index, double lo, double hi);
  void GetScalarRange(int index, double range[2]) const;
  void SetNumberOfScalarRanges(int count);
  int GetNumberOfScalarRanges() const { return static_cast<int>(this->ScalarRanges.size()); }
  ///@}

  ///@{
  /**
   * What cells must share to be connected: FACES (what bounds a cell: edges of cells in 2-D, points
   * of cells in 1-D), EDGES or POINTS; on grids 6, 18 and 26 neighbors, in 2-D 4, 4 and 8. Cells of
   * different levels of an AMR hierarchy or a hyper tree grid share what the finer ones have.
   * Default: POINTS.
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
   * Points of two cells that are not further apart than this share of the smaller one's diagonal
   * are the same point, and so on from point to point. 0 to 0.5; 0, the default: only points with
   * exactly the same coordinates. If it is not 0 neither extents nor global ids of points decide,
   * and regions without global cell ids are numbered by place in space. Cells should not differ in
   * size by orders of magnitude then: memory follows the number of points that the largest reaches.
   * Hyper trees have no use for it: their leaves meet exactly.
   */
  vtkSetMacro(Tolerance, double);
  vtkGetMacro(Tolerance, double);
  ///@}

  ///@{
  /**
   * How sets of cells of different blocks are united: labels travel from block to block until
   * nothing changes (LABEL_PROPAGATION, in as many steps as a region has blocks in a row), or the
   * unions of a tree do (TREE_UNION, in the logarithm of that). The regions are the same. Default:
   * TREE_UNION.
   */
  vtkSetClampMacro(Method, int, LABEL_PROPAGATION, TREE_UNION);
  vtkGetMacro(Method, int);
  ///@}

 protected:
  vtkAsyncRegionAlgorithm();
  ~vtkAsyncRegionAlgorithm() override;

  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  void ForgetExecution() override;

  /// For unions; while they go on the progress bar shows `progress`.
  tributary::UnionOptions MakeUnionOptions(tributary::Transport& transport, double progress);
  /// For those that AutoTune is about.
  tributary::UnionOptions MakeTunedUnionOptions(tributary::Transport& transport, double progress);
  /// Local. Adds what AutoTune has to say of these, if it is set.
  void DescribeTuning(tributary::RunStatistics& statistics);
  /// Finds the array of a leaf that SetInputArrayToProcess(index, ...) chose, and its association.
  std::function<vtkDataArray*(const tributary::Leaf&, int&)> Finder(int index);
  /// Collective. The domain of the leaves of all ranks. Use SelectTests() for what is in range.
  std::unique_ptr<tributary::ComponentDomain> MakeDomain(tributary::Transport& transport,
                                                         const std::vector<tributary::Leaf>& leaves,
                                                         double progress);
  /// Collective. For each leaf the array of scalars, if any, with the range left open.
  std::vector<tributary::RangeTest> SelectTests(tributary::Transport& transport,
                                                const std::vector<tributary::Leaf>& leaves);
  /// Local. Closes the range: to that of the number given, or to all if there is none.
  void SetRange(std::vector<tributary::RangeTest>& tests, std::size_t number) const;

  bool ScalarConnectivity = false;
  bool FullScalarConnectivity = false;
  std::vector<std::array<double, 2>> ScalarRanges{{{0.0, 1.0}}};
  int ConnectThrough = POINTS;
  bool LabelConnectivity = false;
  double Tolerance = 0;
  int Method = TREE_UNION;

 private:
  std::unique_ptr<tributary::UnionTuner> Tuner;  // of AutoTune

  vtkAsyncRegionAlgorithm(const vtkAsyncRegionAlgorithm&) = delete;
  void operator=(const vtkAsyncRegionAlgorithm&) = delete;
};

#endif
