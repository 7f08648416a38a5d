// SPDX-License-Identifier: BSD-3-Clause
/**
 * @class   vtkAsyncExchangeAlgorithm
 * @brief   Superclass of filters whose blocks exchange messages until no work remains
 *
 * vtkAsyncExchangeAlgorithm adds the properties of the exchange: its schedule, the detection of
 * termination, batches of messages, and the timeout. The values of these properties do not change
 * the result. Arrivals, BatchBytes, HoldTime and StallTimeout may differ between ranks; Schedule,
 * Detector and AutoTune must be equal on all ranks.
 *
 * The asynchronous exchange follows D. Morozov et al., "IExchange: Asynchronous Communication and
 * Termination Detection for Iterative Algorithms", LDAV 2021, doi:10.1109/LDAV53230.2021.00009.
 *
 * @sa
 * vtkAsyncAlgorithm
 */

#ifndef vtkAsyncExchangeAlgorithm_h
#define vtkAsyncExchangeAlgorithm_h

#include "TributaryFiltersModule.h"  // For export macro
#include "vtkAsyncAlgorithm.h"

#include <memory>  // For the timeline
#include <string>  // For Detector

namespace tributary {
struct ExchangeOptions;
class Timeline;
}  // namespace tributary

class TRIBUTARYFILTERS_EXPORT vtkAsyncExchangeAlgorithm : public vtkAsyncAlgorithm {
 public:
  vtkAbstractTypeMacro(vtkAsyncExchangeAlgorithm, vtkAsyncAlgorithm);
  void PrintSelf(ostream& os, vtkIndent indent) override;

  enum Schedules { SYNCHRONOUS = 0, NEIGHBORHOOD = 1, ASYNCHRONOUS = 2 };

  ///@{
  /**
   * The order of computation and communication. SYNCHRONOUS: in rounds; in each round, all ranks
   * wait for each other. NEIGHBORHOOD: in rounds; in each round, a rank waits for messages from a
   * fraction of its neighbors (see Arrivals). ASYNCHRONOUS: ranks do not wait. The result does not
   * depend on the schedule. Default: ASYNCHRONOUS.
   */
  vtkSetClampMacro(Schedule, int, SYNCHRONOUS, ASYNCHRONOUS);
  vtkGetMacro(Schedule, int);
  ///@}

  ///@{
  /**
   * The fraction of its neighbors that a rank waits for in each round of the schedule NEIGHBORHOOD,
   * in [0, 1]. Other schedules do not use it. Default: 1.
   */
  vtkSetMacro(Arrivals, double);
  vtkGetMacro(Arrivals, double);
  ///@}

  ///@{
  /**
   * The name of the algorithm that detects termination: that no rank has work and no message is in
   * flight. Valid names are those of tributary::detectorNames(WorkModel::AP), and "default": the
   * algorithm named by the environment variable TRIBUTARY_DETECTOR, or the fastest one if that is
   * not set. Default: "default".
   */
  void SetDetector(const char* name);
  const char* GetDetector() const { return this->Detector.c_str(); }
  ///@}

  ///@{
  /**
   * The size of a batch in bytes, at least 1. Messages to the same rank are collected and sent as
   * one batch of about this size. Default: 65536.
   */
  vtkSetMacro(BatchBytes, int);
  vtkGetMacro(BatchBytes, int);
  ///@}

  ///@{
  /**
   * The time in microseconds, at least 0, after which a batch is sent although it has not reached
   * BatchBytes. Default: 5.
   */
  vtkSetMacro(HoldTime, double);
  vtkGetMacro(HoldTime, double);
  ///@}

  ///@{
  /**
   * Whether to choose BatchBytes and HoldTime by trials; the values of these properties are then
   * not used. Subclasses document the trials and when they are repeated. The trials take several
   * times as long as one exchange, so tuning pays off for filters that are executed often, for
   * example in situ. On one rank no trials are made and the defaults are used. The result does not
   * change. Statistics: TunedBatchBytes, TunedHoldTime, TuningTrials (0 if a previous choice is
   * used), TuningSeconds; after trials also ExpectedSeconds and ExpectedSpread, the expected time
   * from when all ranks had begun until the last one ended, and OffBy, the relative error of that
   * expectation. Default: false.
   */
  vtkSetMacro(AutoTune, bool);
  vtkGetMacro(AutoTune, bool);
  vtkBooleanMacro(AutoTune, bool);
  ///@}

  ///@{
  /**
   * The time in seconds, at least 0. If no rank makes progress and no message is delivered for this
   * time, the filter stops on all ranks and reports the ranks that are not done. Only the exchange
   * is monitored: if a rank does not execute the filter, the other ranks wait for it without a
   * limit. 0: no timeout. Default: 120.
   */
  vtkSetMacro(StallTimeout, double);
  vtkGetMacro(StallTimeout, double);
  ///@}

  ///@{
  /**
   * The name of a file that rank 0 writes after each execution: what each rank did, and when, as
   * JSON in the trace event format, which Perfetto (ui.perfetto.dev) shows as a chart. Calls of
   * blocks, idle time, and loans of blocks are recorded, of trials of AutoTune, too; the time
   * between them is that of communication and of the rest of the filter. At most four million
   * entries of all ranks are kept. There is a warning if some are left out, or if the file cannot
   * be written. Empty: no file. Default: empty.
   */
  void SetTimelineFile(const char* name);
  const char* GetTimelineFile() const { return this->TimelineFile.c_str(); }
  ///@}

 protected:
  vtkAsyncExchangeAlgorithm();
  ~vtkAsyncExchangeAlgorithm() override;

  void CheckExecutionProperties() override;
  void DescribeExecutionProperties(tributary::PropertyList& list) override;
  void BeginExecution(tributary::Transport& transport, bool continues) override;
  void EndExecution(tributary::Transport& transport) override;

  /// Local. The options of an exchange with the values of the properties.
  [[nodiscard]] tributary::ExchangeOptions MakeExchangeOptions() const;

  int Schedule = ASYNCHRONOUS;
  double Arrivals = 1.0;
  std::string Detector = "default";
  int BatchBytes = 65536;
  double HoldTime = 5.0;
  bool AutoTune = false;
  double StallTimeout = 120.0;
  std::string TimelineFile;

 private:
  std::unique_ptr<tributary::Timeline> Timeline;  // null unless it is recorded

  vtkAsyncExchangeAlgorithm(const vtkAsyncExchangeAlgorithm&) = delete;
  void operator=(const vtkAsyncExchangeAlgorithm&) = delete;
};

#endif
