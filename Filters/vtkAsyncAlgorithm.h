// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncAlgorithm
 * @brief   Superclass of filters whose ranks work together without waiting for each other
 *
 * vtkAsyncAlgorithm has what all filters on Tributary's exchange have in common: how work and
 * communication are interleaved, which ranks take part, progress and abort, statistics, and the way
 * an error is reported once and left by all ranks together. A subclass says what its properties
 * must be (CheckProperties), which of them all ranks must have alike (DescribeProperties) and does
 * the work (Execute).
 *
 * **Collective.** All ranks of the controller must execute a filter together, with the same
 * properties. Those that only say how a rank shares out its own work may differ: Arrivals,
 * BatchBytes, HoldTime, StallTimeout, and those that say so. If anything is wrong on one rank, one
 * error is reported on rank 0, ErrorCode is set and the outputs are empty on all ranks, and the
 * pipeline can be used again. An abort on one rank is obeyed by all and leaves empty outputs; as
 * with VTK's own filters, AbortExecute stays set until it is switched off. A rank that does not
 * execute at all leaves the others waiting.
 *
 * **Statistics.** The field data of output 0 get numbers about the execution, arrays with one tuple
 * per rank, the same table on every rank. Their names begin with the filter's, as in
 * "AsyncStreamTracer Messages", so that those of several filters can be told apart.
 */

#ifndef vtkAsyncAlgorithm_h
#define vtkAsyncAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkDataObjectAlgorithm.h"

#include <string>  // For Detector

namespace tributary {
class PropertyList;
class RunStatistics;
struct RunContext;
class Transport;
struct ExchangeOptions;
}  // namespace tributary
class vtkMultiProcessController;

class TRIBUTARYFILTERS_EXPORT vtkAsyncAlgorithm : public vtkDataObjectAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncAlgorithm, vtkDataObjectAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Schedules { SYNCHRONOUS = 0, NEIGHBORHOOD = 1, ASYNCHRONOUS = 2 };

  ///@{
  /**
   * How work and communication are interleaved: in rounds in which all ranks wait for each other
   * (SYNCHRONOUS), in rounds in which a rank waits for a share of its neighbors (NEIGHBORHOOD, see
   * Arrivals), or without waiting (ASYNCHRONOUS, the default). The result is the same.
   */
  vtkSetClampMacro(Schedule, int, SYNCHRONOUS, ASYNCHRONOUS);
  vtkGetMacro(Schedule, int);
  ///@}

  ///@{
  /**
   * NEIGHBORHOOD only: the share of its neighbors, 0 to 1, that a rank waits for in each round.
   * Default: 1.
   */
  vtkSetMacro(Arrivals, double);
  vtkGetMacro(Arrivals, double);
  ///@}

  ///@{
  /**
   * Name of the algorithm that detects that all work is done and no message is under way: one of
   * tributary::detectorNames(WorkModel::AP), or "default", which is the one that the environment
   * variable TRIBUTARY_DETECTOR names and otherwise the fastest. Default: "default".
   */
  void SetDetector(const char* name);
  const char* GetDetector() const { return this->Detector.c_str(); }
  ///@}

  ///@{
  /**
   * What goes to one rank is collected into a message of about this size, in bytes; at least 1.
   * Default: 65536.
   */
  vtkSetMacro(BatchBytes, int);
  vtkGetMacro(BatchBytes, int);
  ///@}

  ///@{
  /**
   * A message that is not full leaves after this time, in microseconds; at least 0. Default: 5.
   */
  vtkSetMacro(HoldTime, double);
  vtkGetMacro(HoldTime, double);
  ///@}

  ///@{
  /**
   * Whether BatchBytes and HoldTime, which are then not read, are chosen by trials with several
   * values of them. Subclasses say what trials do and how long a choice holds. That costs several
   * executions' exchanges in the first one: it is for filters that are executed often, as in situ.
   * On one rank nothing is tried, and the defaults stay. The result is the same. Statistics:
   * TunedBatchBytes, TunedHoldTime, TuningTrials (0 where a choice is used again) and
   * TuningSeconds, and if there were trials ExpectedSeconds and ExpectedSpread, from when all ranks
   * had begun until the last one ended, and OffBy, how much longer it took, as a share of what was
   * expected. The solvers, which send no batches, do not read it. Default: false.
   */
  vtkSetMacro(AutoTune, bool);
  vtkGetMacro(AutoTune, bool);
  vtkBooleanMacro(AutoTune, bool);
  ///@}

  ///@{
  /**
   * When no rank got on and no message moved in the exchange for this time, in seconds, the filter
   * ends on all ranks with a report of who is not done, instead of hanging. It is not looked at
   * outside of the exchange: a rank that does not execute the filter is waited for without an end.
   * 0: wait for ever. Default: 120.
   */
  vtkSetMacro(StallTimeout, double);
  vtkGetMacro(StallTimeout, double);
  ///@}

  ///@{
  /**
   * The ranks that work together. MPI is used if it has more than one process. Default: the global
   * controller.
   */
  virtual void SetController(vtkMultiProcessController* controller);
  vtkGetObjectMacro(Controller, vtkMultiProcessController);
  ///@}

 protected:
  vtkAsyncAlgorithm();
  ~vtkAsyncAlgorithm() override;

  int FillInputPortInformation(int port, vtkInformation* info) override;
  int RequestDataObject(vtkInformation*, vtkInformationVector** inputVector,
                        vtkInformationVector* outputVector) override;
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
                          vtkInformationVector* outputVector) override;

  int RequestData(vtkInformation* request, vtkInformationVector** inputVector,
                  vtkInformationVector* outputVector) final;

  /// Local. The class of an output: by default what FillOutputPortInformation() says, and that of
  /// the first input where this is "vtkDataObject".
  virtual std::string ClassOfOutput(int port, vtkDataObject* input);
  /// Local. Throws tributary::Error if a property of the subclass has an impossible value.
  virtual void CheckProperties() = 0;
  /// Local. Adds the properties of the subclass that must be the same on all ranks.
  virtual void DescribeProperties(tributary::PropertyList& list) = 0;
  /// For DescribeProperties(): the array that SetInputArrayToProcess(index, ...) chose, if any.
  void DescribeArray(tributary::PropertyList& list, const char* name, int index);
  /// Collective. Does the work: the properties are good and the same on all ranks.
  /// Throws on all ranks, or on none; then the outputs become empty, ErrorCode is set, and rank 0
  /// reports the error.
  /// @return false after an abort, which leaves empty outputs
  virtual bool Execute(tributary::Transport& transport, vtkInformationVector** inputVector,
                       vtkInformationVector* outputVector,
                       tributary::RunStatistics& statistics) = 0;
  /// Local. Forgets what was to be said of an execution that failed or was aborted.
  virtual void ForgetExecution() {}
  /// What there is not after an error, for its message.
  virtual const char* Failure() const = 0;

  tributary::ExchangeOptions MakeExchangeOptions();

  /// Local. What the object that does the work of one execution needs of this filter.
  tributary::RunContext MakeRunContext(tributary::Transport& transport,
                                       tributary::RunStatistics& statistics);

  /// Local. Shows progress, looks for an abort if the last look was a while ago.
  /// @return false if the user asked to abort
  bool Monitor(tributary::Transport& transport, double progress);
  /// Collective. Whether any rank was asked to abort; if so all are marked as aborted.
  /// @param mine  whether the work of this rank was interrupted
  bool AbortedTogether(tributary::Transport& transport, bool mine);

  int Schedule = ASYNCHRONOUS;
  double Arrivals = 1.0;
  std::string Detector = "default";
  int BatchBytes = 65536;
  double HoldTime = 5.0;
  bool AutoTune = false;
  double StallTimeout = 120.0;
  vtkMultiProcessController* Controller = nullptr;

  /// Whether the last execution neither failed nor was aborted, on all ranks.
  bool IsWhole = false;
  /// Execute() sets it if the filter is to be executed again with what it then asks the input for,
  /// before the outputs are what was asked for.
  bool IsUnderWay = false;

 private:
  void CheckExchangeProperties();
  void GiveUp(vtkInformationVector* outputVector);

  vtkAsyncAlgorithm(const vtkAsyncAlgorithm&) = delete;
  void operator=(const vtkAsyncAlgorithm&) = delete;

  double LastLook = -1;
};

#endif
