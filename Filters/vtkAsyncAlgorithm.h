// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncAlgorithm
 * @brief   Superclass of all filters of Tributary
 *
 * vtkAsyncAlgorithm provides what all filters share: the controller, agreement of all ranks on
 * properties, errors and aborts, progress, and statistics. A subclass checks the values of its
 * properties (CheckProperties), lists the properties that must be equal on all ranks
 * (DescribeProperties) and does the work (Execute).
 *
 * Filters that exchange messages between blocks derive from vtkAsyncExchangeAlgorithm; iterative
 * solvers derive from vtkAsyncSolverAlgorithm.
 *
 * **Collective.** All ranks of the controller must execute a filter, with the same properties. A
 * property that may differ between ranks is documented as such. If an error occurs on any rank,
 * rank 0 reports one error. On all ranks ErrorCode is set and the outputs are empty, and the
 * pipeline can be used again. If any rank is asked to abort, all ranks abort and their outputs are
 * empty. AbortExecute remains set until the caller resets it, as for VTK's filters. If a rank does
 * not execute the filter, the other ranks wait for it.
 *
 * **Statistics.** The field data of output 0 contain statistics of the execution: arrays with one
 * tuple per rank, equal on all ranks. Array names begin with the name of the filter, for example
 * "AsyncStreamTracer Messages", to distinguish the statistics of several filters. These, and all
 * other arrays that a filter adds to the field data, have the key vtkAbstractArray::GUI_HIDE():
 * ParaView does not offer them for coloring.
 */

#ifndef vtkAsyncAlgorithm_h
#define vtkAsyncAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkDataObjectAlgorithm.h"

#include <memory>  // For CheckedInputs
#include <set>     // For Warned
#include <string>  // For ClassOfOutput
#include <vector>  // For CheckedInputs

namespace tributary {
class DataVersion;
class PropertyList;
class RunStatistics;
struct RunContext;
class Transport;
}  // namespace tributary
class vtkMultiProcessController;

class TRIBUTARYFILTERS_EXPORT vtkAsyncAlgorithm : public vtkDataObjectAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncAlgorithm, vtkDataObjectAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  ///@{
  /**
   * The controller of the ranks that execute the filter. A controller with more than one process
   * must use MPI. Default: the global controller.
   */
  virtual void SetController(vtkMultiProcessController* controller);
  vtkGetObjectMacro(Controller, vtkMultiProcessController);
  ///@}

  /**
   * Handles requests of the pipeline. If an input fails on the way to a time step, the filter fails
   * too: VTK would request that input without end.
   */
  vtkTypeBool ProcessRequest(vtkInformation* request, vtkInformationVector** inputVector,
                             vtkInformationVector* outputVector) override;

 protected:
  vtkAsyncAlgorithm();
  ~vtkAsyncAlgorithm() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector** inputVector,
                        vtkInformationVector* outputVector) override;
  int RequestInformation(vtkInformation*, vtkInformationVector** inputVector,
                         vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;

  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
                  vtkInformationVector* outputVector) final;

  /// Local. The class of an output. The default is the class that FillOutputPortInformation()
  /// specifies, or the class of the first input if that is "vtkDataObject".
  virtual std::string ClassOfOutput(int port, vtkDataObject* input);

  ///@{
  /// Local. The properties that determine how ranks execute the filter, not what it computes.
  /// CheckExecutionProperties() throws tributary::Error if a value is invalid.
  /// DescribeExecutionProperties() adds those that must be equal on all ranks.
  virtual void CheckExecutionProperties() {}
  virtual void DescribeExecutionProperties(tributary::PropertyList&) {}
  ///@}

  ///@{
  /// Collective. Called before each call of Execute(), and after it if the filter has neither
  /// failed nor was aborted.
  /// @param continues  whether the execution completes the outputs of the one before
  virtual void BeginExecution(tributary::Transport&, bool /*continues*/) {}
  virtual void EndExecution(tributary::Transport&) {}
  ///@}

  ///@{
  /// Local. The properties that determine what the filter computes. CheckProperties() throws
  /// tributary::Error if a value is invalid. DescribeProperties() adds those that must be equal on
  /// all ranks.
  virtual void CheckProperties() = 0;
  virtual void DescribeProperties(tributary::PropertyList& list) = 0;
  ///@}

  /// Local. Whether the filter takes an input of this type: data sets and composites by default.
  virtual bool CanProcess(vtkDataObject* input);

  /// Local. For DescribeProperties(): adds the array selected with SetInputArrayToProcess(index,
  /// ...), or no array.
  /// @param name  of the property that selects the array
  void DescribeArray(tributary::PropertyList& list, const char* name, int index);

  /// Local. The name of the array selected with SetInputArrayToProcess(index, ...); empty if none
  /// is selected by its name.
  std::string NameOfArray(int index);

  /// Collective. Does the work. Properties are valid and equal on all ranks. Throws on all ranks or
  /// on none; after an exception the outputs are emptied, ErrorCode is set, and rank 0 reports the
  /// error.
  /// @return false after an abort; the outputs are then emptied
  [[nodiscard]] virtual bool Execute(tributary::Transport& transport,
                                     vtkInformationVector** inputVector,
                                     vtkInformationVector* outputVector,
                                     tributary::RunStatistics& statistics) = 0;

  /// Local. Discards the state of an execution that failed or was aborted.
  virtual void ForgetExecution() {}

  /// The consequence of an error, the beginning of its message, for example "no streamlines".
  virtual const char* Failure() const = 0;

  /// Local. The context of one execution, for the object that does the work.
  [[nodiscard]] tributary::RunContext MakeRunContext(tributary::Transport& transport,
                                                     tributary::RunStatistics& statistics);

  /// Local. Reports progress and processes events, at most 50 times a second.
  /// @param progress  in [0, 1]
  /// @return false if the user asked to abort
  [[nodiscard]] bool Monitor(tributary::Transport& transport, double progress);

  /// Collective. Agrees on whether to abort, and then marks the filter as aborted on all ranks.
  /// @param interrupted  whether the work of this rank was interrupted
  /// @return whether any rank was interrupted or asked to abort
  [[nodiscard]] bool AgreeOnAbort(tributary::Transport& transport, bool interrupted);

  vtkMultiProcessController* Controller = nullptr;

  /// Whether the last execution completed on all ranks, without an error or an abort.
  bool IsWhole = false;
  /// Set by Execute() if the outputs are not yet complete: the pipeline then executes the filter
  /// again, with the next request to its inputs.
  bool IsUnderWay = false;

 private:
  void EndLoop(vtkInformation* request, vtkInformationVector** inputVector,
               vtkInformationVector* outputVector);
  void CheckInput(vtkDataObject* input);
  void CheckInputs(vtkInformationVector** inputVector);
  void GiveUp(vtkInformationVector* outputVector);
  /// Warns, unless it has since the filter was last modified.
  void WarnOnce(const std::string& text);
  /// @return whether the user asked to abort
  bool ProcessEvents(tributary::Transport& transport);

  vtkAsyncAlgorithm(const vtkAsyncAlgorithm&) = delete;
  void operator=(const vtkAsyncAlgorithm&) = delete;

  /// The inputs of the last execution, which need not be checked again as long as they stay.
  std::unique_ptr<std::vector<tributary::DataVersion>> CheckedInputs;
  bool HasExecuted = false;      // since the executive last requested a time
  bool HasFailedInput = false;   // instead of data
  std::set<std::string> Warned;  // texts of WarnOnce()
  vtkMTimeType WarnedTime = 0;   // of the filter, for Warned
  double LastEvents = -1;
  double NextProgress = 0;  // to report when events are processed
};

#endif
