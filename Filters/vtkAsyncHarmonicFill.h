// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncHarmonicFill
 * @brief   Fills missing values of structured data with a smooth function
 *
 * vtkAsyncHarmonicFill computes values for the points or cells of a grid that have none: holes,
 * blanked cells, gaps of a probe, NaN. By default the values are the discrete harmonic function:
 * the value of each point or cell is the mean of its neighbors' values, weighted by area over
 * distance. With SetSmoothness(), they are the biharmonic function, whose slopes are continuous
 * across the rim of a hole as well. Known values are not changed.
 *
 * **Input.** vtkImageData, vtkRectilinearGrid, or vtkStructuredGrid whose points lie on lines along
 * the axes; or a composite of these. All data sets must be pieces of one extent. The cells of a
 * rank, without ghost cells, must form a box; the decomposition is arbitrary otherwise. Ranks may
 * be empty. Ghost cells are allowed, are not needed, and are not read. If several ranks have a
 * point, the rank with the cell above it decides whether it is known, and all ranks get the same
 * bits.
 *
 * **Arrays.** The filter fills the numeric arrays that AddPointArray() and AddCellArray() name. If
 * none are named, it fills all point and cell arrays with unknown values, except for ghost flags,
 * vtkValidPointMask, global and pedigree ids, and the mask. Each component is filled separately.
 * Unknown defines which values are unknown, see Unknowns. A tuple with an unknown component is
 * unknown as a whole. An array without known values is passed through with a warning, and is an
 * error if there are no others; an array without unknown values is passed through, with a warning
 * if no array has any. No flux crosses the border of the grid, except for periodic axes: a hole at
 * the border is filled from its other sides, at right angles to the border.
 *
 * **Method.** Conjugate gradients with a multigrid preconditioner, in which neighbors wait for each
 * other, are followed by asynchronous Gauss-Seidel iterations: F. Magoulès, G. Gbikpi-Benissan,
 * "JACK2: An MPI-based communication library with non-blocking synchronization for asynchronous
 * iterations", Advances in Engineering Software 119, 2018, doi:10.1016/j.advengsoft.2018.01.009,
 * Section 5. They end with a residual that is verified on a consistent snapshot of all ranks.
 *
 * **Biharmonic.** The filled values minimize the bending energy: the sum of volume times squared
 * Laplacian, over all points or cells whose Laplacian contains a filled value. Known values up to
 * two sites away affect the result and must be finite. A linear function is reproduced in each hole
 * that does not touch the border of the grid; on uniform grids, a cubic polynomial is reproduced in
 * each hole at least two sites from it. No flux crosses the border to a filled value. The result is
 * unique; around a single known value it is constant. Values may leave the range of the known
 * values, and noise at the rim of a hole changes the slopes in it. The method is conjugate
 * gradients from the harmonic function, with two multigrid cycles for each correction, in which
 * neighbors wait for each other: asynchronous iterations need not converge for this problem.
 * IterationLimit, SweepsPerExchange, Schedule and ConvergenceDetection thus have no effect.
 *
 * **Guarantees.** Harmonic: a filled value differs from the mean of its neighbors by at most
 * Tolerance times the range of the known values beside unknown ones, before it is rounded to the
 * type of the array. It is in that range. Biharmonic: a filled value differs from the one that
 * minimizes the bending energy for the given other values by at most Tolerance times the range of
 * the known values that affect the result. The correction by two further cycles, an estimate of the
 * error, is within this limit, too. If the limit is not reached, the filter reports an error and
 * has no output. Bits depend on the number of ranks and, with asynchronous iterations, on timing.
 *
 * **Output.** The input with the filled arrays, of the same names and types; integers are rounded.
 * Field data: that of the input; FilledArrays (names), and for each of them FilledValues (tuples),
 * Residual and, with BIHARMONIC, Correction (the largest of all components, in units of the array),
 * Cycles and Iterations (the sums over components); and statistics (see vtkAsyncAlgorithm).
 *
 * **Collective**, see vtkAsyncAlgorithm. Sweeps are parallel through vtkSMPTools.
 *
 * @sa
 * vtkAsyncSolverAlgorithm
 */

#ifndef vtkAsyncHarmonicFill_h
#define vtkAsyncHarmonicFill_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncSolverAlgorithm.h"

#include <string>  // For PointArrays
#include <vector>  // For PointArrays

namespace tributary {
struct PeriodicSettings;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncHarmonicFill : public vtkAsyncSolverAlgorithm {
 public:
  static vtkAsyncHarmonicFill* New();
  vtkTypeMacro(vtkAsyncHarmonicFill, vtkAsyncSolverAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Unknowns {
    NOT_A_NUMBER = 0,  ///< Values that are NaN.
    MASK = 1,          ///< Where the array that SetInputArrayToProcess(0, ...) chooses is not 0.
    BLANKED = 2,       ///< Hidden points, hidden cells, and cells with a hidden point.
    VALUE = 3,         ///< Values equal to UnknownValue.
    /// Values that are NaN or blanked, and those of points where vtkValidPointMask is 0: the points
    /// that probes mark as outside of their source.
    MISSING = 4
  };

  enum Smoothnesses {
    HARMONIC = 0,   ///< Values are continuous across the rim of a hole.
    BIHARMONIC = 1  ///< Values and slopes are continuous.
  };

  ///@{
  /**
   * Arrays to be filled. Default: none named, which selects all arrays with unknown values, but
   * with MISSING and NOT_A_NUMBER no arrays of integers, which may be labels.
   */
  void AddPointArray(const char* name);
  void AddCellArray(const char* name);
  void ClearPointArrays();
  void ClearCellArrays();
  ///@}

  ///@{
  /**
   * Continuity of the filled values across the rim of a hole. Default: HARMONIC.
   */
  vtkSetClampMacro(Smoothness, int, HARMONIC, BIHARMONIC);
  vtkGetMacro(Smoothness, int);
  ///@}

  ///@{
  /**
   * Definition of unknown values. With MASK, only arrays of the mask's kind (point or cell data)
   * can be filled. Default: MISSING.
   */
  vtkSetClampMacro(Unknown, int, NOT_A_NUMBER, MISSING);
  vtkGetMacro(Unknown, int);
  ///@}

  ///@{
  /**
   * Whether the mask is 0 where values are unknown, as vtkValidPointMask is. Default: false.
   */
  vtkSetMacro(InvertMask, bool);
  vtkGetMacro(InvertMask, bool);
  vtkBooleanMacro(InvertMask, bool);
  ///@}

  ///@{
  /**
   * The value that marks unknown values, with VALUE. Default: -9999.
   */
  vtkSetMacro(UnknownValue, double);
  vtkGetMacro(UnknownValue, double);
  ///@}

  ///@{
  /**
   * Whether hidden points and cells become visible in the output, with BLANKED. Default: true.
   */
  vtkSetMacro(ShowFilled, bool);
  vtkGetMacro(ShowFilled, bool);
  vtkBooleanMacro(ShowFilled, bool);
  ///@}

  ///@{
  /**
   * Whether to add an array for each filled array, with "Filled" appended to its name, that is 1
   * for filled values and 0 for others. Default: false.
   */
  vtkSetMacro(MarkFilled, bool);
  vtkGetMacro(MarkFilled, bool);
  vtkBooleanMacro(MarkFilled, bool);
  ///@}

  ///@{
  /**
   * Maximum difference of a filled value from the mean of its neighbors, or with BIHARMONIC from
   * the value of minimum bending energy, relative to the range of the known values that affect the
   * result; greater than 0. Default: 1e-6.
   */
  vtkSetMacro(Tolerance, double);
  vtkGetMacro(Tolerance, double);
  ///@}

  ///@{
  /**
   * Maximum number of multigrid cycles for a component, at least 1. With HARMONIC, iterations
   * continue afterwards. With BIHARMONIC, the filter reports an error if Tolerance is not reached.
   * Default: 1000.
   */
  vtkSetMacro(CycleLimit, int);
  vtkGetMacro(CycleLimit, int);
  ///@}

  ///@{
  /**
   * For each axis, 1 if the grid is periodic along it: the last points or cells are neighbors of
   * the first ones. Points on both sides are one; the one on the lower side decides whether it is
   * known. Not for BIHARMONIC. Default: (0, 0, 0).
   */
  vtkSetVector3Macro(Periodic, int);
  vtkGetVector3Macro(Periodic, int);
  ///@}

  ///@{
  /**
   * The period along each periodic axis. If only point arrays are filled, it may be longer than an
   * image or a rectilinear grid: the last points are then neighbors of the first ones at the
   * distance that the period leaves. 0: found from the data. Default: (0, 0, 0).
   */
  vtkSetVector3Macro(Period, double);
  vtkGetVector3Macro(Period, double);
  ///@}

 protected:
  vtkAsyncHarmonicFill() : vtkAsyncSolverAlgorithm(10000, 1) {}
  ~vtkAsyncHarmonicFill() override = default;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "No filled values"; }

 private:
  vtkAsyncHarmonicFill(const vtkAsyncHarmonicFill&) = delete;
  void operator=(const vtkAsyncHarmonicFill&) = delete;

  tributary::PeriodicSettings MakePeriodicSettings() const;

  std::vector<std::string> PointArrays;
  std::vector<std::string> CellArrays;
  int Smoothness = HARMONIC;
  int Unknown = MISSING;
  bool InvertMask = false;
  double UnknownValue = -9999;
  bool ShowFilled = true;
  bool MarkFilled = false;
  double Tolerance = 1e-6;
  int CycleLimit = 1000;
  int Periodic[3] = {0, 0, 0};
  double Period[3] = {0, 0, 0};
};

#endif
