// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncSolverAlgorithm
 * @brief   Superclass of filters that solve equations by iterations on all ranks
 *
 * vtkAsyncSolverAlgorithm adds the properties of the iterations: their schedule, the detection of
 * convergence, the limit of iterations, and the sweeps between exchanges. They must be equal on all
 * ranks.
 *
 * The asynchronous iterations follow F. Magoulès, G. Gbikpi-Benissan, "JACK2: An MPI-based
 * communication library with non-blocking synchronization for asynchronous iterations", Advances
 * in Engineering Software 119, 2018, doi:10.1016/j.advengsoft.2018.01.009.
 *
 * @sa
 * vtkAsyncAlgorithm
 */

#ifndef vtkAsyncSolverAlgorithm_h
#define vtkAsyncSolverAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncAlgorithm.h"

namespace tributary {
struct SolverSettings;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncSolverAlgorithm : public vtkAsyncAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncSolverAlgorithm, vtkAsyncAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  /// With the values of vtkAsyncExchangeAlgorithm::Schedules.
  enum Schedules { SYNCHRONOUS = 0, ASYNCHRONOUS = 2 };

  enum ConvergenceDetections { SNAPSHOTS = 0, SUPERVISED = 1 };

  /// More sweeps between two exchanges gain nothing: a rank would solve its part for old values of
  /// its neighbors.
  enum Limits { MOST_SWEEPS = 1000 };

  ///@{
  /**
   * The order of computation and communication. SYNCHRONOUS: a rank begins an iteration when it has
   * the values of its neighbors from the previous one. ASYNCHRONOUS: ranks do not wait; each
   * iteration uses the newest values that have arrived. Other values are invalid. Default:
   * ASYNCHRONOUS.
   */
  vtkSetMacro(Schedule, int);
  vtkGetMacro(Schedule, int);
  ///@}

  ///@{
  /**
   * How asynchronous iterations detect convergence. SNAPSHOTS: by the residuals of consecutive
   * snapshots of all ranks. SUPERVISED: by the residual of a snapshot that is taken when the local
   * residual of each rank is small. Synchronous iterations do not use it. Default: SNAPSHOTS.
   */
  vtkSetClampMacro(ConvergenceDetection, int, SNAPSHOTS, SUPERVISED);
  vtkGetMacro(ConvergenceDetection, int);
  ///@}

  ///@{
  /**
   * Maximum number of iterations of a rank, at least 1. If a rank reaches it before the residual is
   * small enough, the filter reports an error. In asynchronous iterations a rank with few cells may
   * iterate a million times in seconds while another rank is busy. Default: see the filter.
   */
  vtkSetMacro(IterationLimit, int);
  vtkGetMacro(IterationLimit, int);
  ///@}

  ///@{
  /**
   * Gauss-Seidel sweeps over a rank's values per iteration, before values are sent to the
   * neighbors; in [1, MOST_SWEEPS]. Default: see the filter.
   */
  vtkSetMacro(SweepsPerExchange, int);
  vtkGetMacro(SweepsPerExchange, int);
  ///@}

 protected:
  /// @param iterationLimit, sweepsPerExchange  the defaults of the filter
  vtkAsyncSolverAlgorithm(int iterationLimit, int sweepsPerExchange)
      : IterationLimit(iterationLimit), SweepsPerExchange(sweepsPerExchange) {}
  ~vtkAsyncSolverAlgorithm() override = default;

  void CheckExecutionProperties() override;
  void DescribeExecutionProperties(tributary::PropertyList& list) override;

  /// Local. The settings of a solver with the values of the properties.
  [[nodiscard]] tributary::SolverSettings MakeSolverSettings() const;

  int Schedule = ASYNCHRONOUS;
  int ConvergenceDetection = SNAPSHOTS;
  int IterationLimit;
  int SweepsPerExchange;

 private:
  vtkAsyncSolverAlgorithm(const vtkAsyncSolverAlgorithm&) = delete;
  void operator=(const vtkAsyncSolverAlgorithm&) = delete;
};

#endif
