// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncHarmonicFill
 * @brief   Fills what is missing in structured data with the smooth function that its rim
 * determines
 *
 * vtkAsyncHarmonicFill gives values to the points or cells of a grid that have none (holes, blanked
 * cells, gaps of a probe, NaN): the discrete harmonic function, whose value at each of them is the
 * mean of its neighbors', weighted by area over distance; or, if asked for, the biharmonic one,
 * that goes on with the slopes at the rim too (SetSmoothness()). Known values stay as they are.
 *
 * **Input.** vtkImageData, vtkRectilinearGrid, or vtkStructuredGrid whose points lie on lines along
 * the axes; or a composite of these. All are pieces of one extent, cut in any way, but that those
 * of a rank, ghost cells left out, are together a box; ranks may be empty, ghost cells may be
 * there, are not needed, and are not looked at. Of a point that several ranks have, the one with
 * the cell above it decides whether it is known, and all get the same bits.
 *
 * **What is filled.** The numeric arrays that AddPointArray() and AddCellArray() name, or without
 * any those of all points and cells that have something unknown (ghost flags, vtkValidPointMask,
 * global and pedigree ids and the mask left out), each component by itself. Unknown says what is
 * unknown: see Unknowns. A tuple of which a component is unknown is unknown as a whole. If nothing
 * is known in an array that is an error; if everything is, it is passed on. Nothing flows through
 * the grid's border: a hole that touches it is filled from its other sides, at right angles to the
 * border.
 *
 * **How.** Conjugate gradients with a multigrid cycle, in which neighbors wait for each other, then
 * asynchronous Gauss-Seidel iterations (F. Magoules, G. Gbikpi-Benissan, "JACK2: An MPI-based
 * communication library with non-blocking synchronization for asynchronous iterations", Advances in
 * Engineering Software 119, 2018), which end with a residual verified on a consistent snapshot of
 * all ranks.
 *
 * **Biharmonic.** The filled values have the least bending: the sum over points or cells of what
 * belongs to them times their squared Laplacian, of all Laplacians with a filled value in them, so
 * that known values two sites away count and must be finite. A linear function is reproduced by any
 * hole that does not touch the grid's border; on even grids, two sites from it, a polynomial of
 * third order. To what is filled at the border nothing flows through it. There is always one
 * answer; around a single known value it is a constant. Values may leave the range of the known
 * ones, and noise beside a hole goes on as slopes into it. Conjugate gradients on from the harmonic
 * function, with two multigrid cycles each, in which neighbors wait for each other: asynchronous
 * iterations need not converge for this, and there are none. So IterationLimit, SweepsPerExchange,
 * Schedule and ConvergenceDetection have no effect.
 *
 * **What is promised.** Harmonic: no filled value differs from the mean of its neighbors by more
 * than Tolerance times the range of the known values beside unknown ones, before values are rounded
 * to the type of the array. No filled value is outside of that range. Biharmonic: no filled value
 * differs from that which bends least with the others as they are by more than Tolerance times the
 * range of the known values that count, and neither is the correction larger that two more cycles
 * would make, an estimate of the error. If that is not reached it is an error, and there is no
 * output. Bits depend on the number of ranks and, with asynchronous iterations, on timing.
 *
 * **Output.** The input with the arrays filled, of the same names and types; integers are rounded.
 * Field data: that of the input; FilledArrays (names), and for each of these FilledValues (tuples),
 * Residual and with BIHARMONIC Correction (the largest of the components, in units of the array),
 * Cycles and Iterations (those of all components); and statistics (see vtkAsyncAlgorithm).
 *
 * **Collective**, see vtkAsyncAlgorithm. Schedule: ASYNCHRONOUS, or SYNCHRONOUS, in which the
 * iterations wait for neighbors, too; NEIGHBORHOOD is the same as that. Arrivals, Detector,
 * BatchBytes, HoldTime and StallTimeout have no effect. Sweeps are parallel through vtkSMPTools.
 *
 * @sa
 * vtkAsyncAlgorithm
 */

#ifndef vtkAsyncHarmonicFill_h
#define vtkAsyncHarmonicFill_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncAlgorithm.h"

#include <string>  // For PointArrays
#include <vector>  // For PointArrays

class TRIBUTARYFILTERS_EXPORT vtkAsyncHarmonicFill : public vtkAsyncAlgorithm {
 public:
  static vtkAsyncHarmonicFill* New();
  vtkTypeMacro(vtkAsyncHarmonicFill, vtkAsyncAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Unknowns {
    NOT_A_NUMBER = 0,  ///< NaN.
    MASK = 1,          ///< Where the array that SetInputArrayToProcess(0, ...) chooses is not 0.
    BLANKED = 2,       ///< Hidden points, and cells that are hidden or have a hidden point.
    VALUE = 3          ///< UnknownValue.
  };

  enum Smoothnesses {
    HARMONIC = 0,   ///< Values go on across the rim.
    BIHARMONIC = 1  ///< So do slopes.
  };

  enum ConvergenceDetections { SNAPSHOTS = 0, SUPERVISED = 1 };

  ///@{
  /**
   * Which arrays are filled. Default: none named, that is all.
   */
  void AddPointArray(const char* name);
  void AddCellArray(const char* name);
  void ClearPointArrays();
  void ClearCellArrays();
  ///@}

  ///@{
  /**
   * What goes on from the rim into a hole: values, or slopes too. Default: HARMONIC.
   */
  vtkSetClampMacro(Smoothness, int, HARMONIC, BIHARMONIC);
  vtkGetMacro(Smoothness, int);
  ///@}

  ///@{
  /**
   * What is unknown. With MASK those arrays are filled that belong to points or cells as the mask
   * does. Default: NOT_A_NUMBER.
   */
  vtkSetClampMacro(Unknown, int, NOT_A_NUMBER, VALUE);
  vtkGetMacro(Unknown, int);
  ///@}

  ///@{
  /**
   * Whether a mask is 0 where something is unknown, as vtkValidPointMask of a probe is. Default:
   * false.
   */
  vtkSetMacro(InvertMask, bool);
  vtkGetMacro(InvertMask, bool);
  vtkBooleanMacro(InvertMask, bool);
  ///@}

  ///@{
  /**
   * The value that stands for unknown ones, with VALUE. Default: -9999.
   */
  vtkSetMacro(UnknownValue, double);
  vtkGetMacro(UnknownValue, double);
  ///@}

  ///@{
  /**
   * Whether hidden points and cells are shown in the output, with BLANKED. Default: true.
   */
  vtkSetMacro(ShowFilled, bool);
  vtkGetMacro(ShowFilled, bool);
  vtkBooleanMacro(ShowFilled, bool);
  ///@}

  ///@{
  /**
   * Whether each array that was filled gets another one beside it, its name with "Filled" at the
   * end, which is 1 for values that were filled and 0 for others. Default: false.
   */
  vtkSetMacro(MarkFilled, bool);
  vtkGetMacro(MarkFilled, bool);
  vtkBooleanMacro(MarkFilled, bool);
  ///@}

  ///@{
  /**
   * How much a filled value may differ from the mean of its neighbors, or with BIHARMONIC from that
   * which bends least, as a share of the range of the known values that count; more than 0.
   * Default: 1e-6.
   */
  vtkSetMacro(Tolerance, double);
  vtkGetMacro(Tolerance, double);
  ///@}

  ///@{
  /**
   * The most multigrid cycles for a component; at least 1. HARMONIC: after these iterations do the
   * rest. BIHARMONIC: if the tolerance is not reached by then, that is an error. Default: 1000.
   */
  vtkSetMacro(CycleLimit, int);
  vtkGetMacro(CycleLimit, int);
  ///@}

  ///@{
  /**
   * When a rank has iterated so often after the cycles and the residual is still too large, that is
   * an error; at least 1. Default: 10000.
   */
  vtkSetMacro(IterationLimit, int);
  vtkGetMacro(IterationLimit, int);
  ///@}

  ///@{
  /**
   * Gauss-Seidel sweeps over a rank's values in an iteration, before neighbors get theirs; at
   * least 1. Default: 1.
   */
  vtkSetMacro(SweepsPerExchange, int);
  vtkGetMacro(SweepsPerExchange, int);
  ///@}

  ///@{
  /**
   * How asynchronous iterations find out that they may stop: by the residuals of snapshots, one
   * after the other (SNAPSHOTS), or of a snapshot when all ranks have seen their own residuals
   * small (SUPERVISED). Default: SNAPSHOTS.
   */
  vtkSetClampMacro(ConvergenceDetection, int, SNAPSHOTS, SUPERVISED);
  vtkGetMacro(ConvergenceDetection, int);
  ///@}

 protected:
  vtkAsyncHarmonicFill() = default;
  ~vtkAsyncHarmonicFill() override = default;

  int FillOutputPortInformation(int port, vtkInformation* info) override;
  void CheckProperties() override;
  void DescribeProperties(tributary::PropertyList& list) override;
  bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector, tributary::RunStatistics& statistics) override;
  const char* Failure() const override { return "Nothing is filled"; }

 private:
  vtkAsyncHarmonicFill(const vtkAsyncHarmonicFill&) = delete;
  void operator=(const vtkAsyncHarmonicFill&) = delete;

  std::vector<std::string> PointArrays;
  std::vector<std::string> CellArrays;
  int Smoothness = HARMONIC;
  int Unknown = NOT_A_NUMBER;
  bool InvertMask = false;
  double UnknownValue = -9999;
  bool ShowFilled = true;
  bool MarkFilled = false;
  double Tolerance = 1e-6;
  int CycleLimit = 1000;
  int IterationLimit = 10000;
  int SweepsPerExchange = 1;
  int ConvergenceDetection = SNAPSHOTS;
};

#endif
