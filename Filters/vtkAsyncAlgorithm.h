/**
 * @class   vtkAsyncAlgorithm
 * @brief   Superclass of filters whose ranks work together without waiting for each other
 *
 * vtkAsyncAlgorithm has what all filters on Tributary's exchange have in common: how work and
 * communication are interleaved, which ranks take part, progress and abort, and the way an error is
 * reported once and left by all ranks together.
 *
 * All ranks of the controller must execute a filter together, with the same properties (those that
 * only say how a rank shares out its own work may differ: Arrivals, BatchBytes, HoldTime,
 * StallTimeout).
 */

#ifndef vtkAsyncAlgorithm_h
#define vtkAsyncAlgorithm_h

#include "TributaryFiltersModule.h" // For export macro
#include "vtkDataObjectAlgorithm.h"

#include <functional> // For Collectively
#include <string>     // For Detector
#include <utility>    // For AgreeOn
#include <vector>     // For AgreeOn

namespace tributary
{
class Transport;
struct ExchangeOptions;
}
class vtkMultiProcessController;

class TRIBUTARYFILTERS_EXPORT vtkAsyncAlgorithm : public vtkDataObjectAlgorithm
{
public:
  vtkAbstractTypeMacro(vtkAsyncAlgorithm, vtkDataObjectAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Schedules
  {
    SYNCHRONOUS = 0,
    NEIGHBORHOOD = 1,
    ASYNCHRONOUS = 2
  };

  ///@{
  /**
   * How work and communication are interleaved: in rounds in which all ranks wait for each other
   * (SYNCHRONOUS), in rounds in which a rank waits for a share of its neighbours (NEIGHBORHOOD, see
   * Arrivals), or without waiting (ASYNCHRONOUS, the default). The result is the same.
   */
  vtkSetClampMacro(Schedule, int, SYNCHRONOUS, ASYNCHRONOUS);
  vtkGetMacro(Schedule, int);
  ///@}

  ///@{
  /**
   * NEIGHBORHOOD only: the share of its neighbours, 0 to 1, that a rank waits for in each round.
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
   * When nothing moved for this time, in seconds, the filter ends on all ranks with a report of who
   * is not done, instead of hanging. 0: wait for ever. Default: 120.
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
  int RequestUpdateExtent(vtkInformation*, vtkInformationVector** inputVector,
    vtkInformationVector* outputVector) override;

  /// Collective. Does the work with the controller's ranks. If it throws, which it must on all
  /// ranks, the outputs become empty, ErrorCode is set, and rank 0 reports the error after
  /// `failure`.
  void Collectively(const std::function<void(tributary::Transport&)>& work, const char* failure,
    vtkInformationVector* outputVector);

  /// Local. Throws Error if a property of this class has an impossible value.
  void CheckExchangeProperties();
  /// Properties of this class that must be the same on all ranks, for AgreeOn.
  std::vector<std::pair<const char*, double>> ExchangeProperties();
  /// Collective. Ranks with other properties would do other things, and wait for each other for
  /// ever: throws Error on all of them, with the property's name.
  static void AgreeOn(
    tributary::Transport& transport, const std::vector<std::pair<const char*, double>>& properties);
  tributary::ExchangeOptions MakeExchangeOptions();

  /// Local. Shows progress, looks for an abort if the last look was a while ago.
  /// @return false if the user asked to abort
  bool Monitor(tributary::Transport& transport, double progress);
  /// Collective. Whether any rank was asked to abort; if so all are marked as aborted.
  bool AbortedTogether(tributary::Transport& transport, bool mine);

  int Schedule = ASYNCHRONOUS;
  double Arrivals = 1.0;
  std::string Detector = "default";
  int BatchBytes = 65536;
  double HoldTime = 5.0;
  double StallTimeout = 120.0;
  vtkMultiProcessController* Controller = nullptr;

private:
  vtkAsyncAlgorithm(const vtkAsyncAlgorithm&) = delete;
  void operator=(const vtkAsyncAlgorithm&) = delete;

  double LastLook = -1;
};

#endif
