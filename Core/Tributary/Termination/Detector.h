// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The behavior of the ranks of a program, from the most general to the most restricted model. A
/// rank is active while it has work, and passive otherwise. All ranks start active. AP and APS:
/// E. Kocalar, A. Khokhar, S. E. Hambrusch, "Termination Detection: Models and Algorithms for SPMD
/// Computing Paradigms", IPPS/SPDP 1999.
enum class WorkModel {
  /// Active-passive. A message may make a passive rank active, and the rank may send work again.
  AP,
  /// Active-passive-server. A message may make a passive rank serve a request. A rank that was
  /// passive once sends no more work. It may send answers, which are not reported to the detector,
  /// if the rank that waits for an answer stays active until it has received it.
  APS,
  /// A rank that was passive once neither works nor sends again. It processes messages immediately
  /// when they are received (T. Hoefler, C. Siebert, A. Lumsdaine, PPoPP 2010,
  /// doi:10.1145/1693453.1693476).
  Monotone
};

/// The properties of a detector.
struct DetectorTraits {
  std::string name;                 ///< for makeDetector()
  WorkModel model = WorkModel::AP;  ///< the most general model for which it is correct
  /// Whether work must be sent synchronously: completion of a send proves that it is being
  /// received.
  bool synchronousSends = false;
  std::string guarantee;  ///< the condition that holds when it reports termination
  std::string messages;   ///< complexity of its messages, for P ranks and m work messages
  std::string delay;      ///< complexity of the time from the last active moment to the report
  int passes = 2;         ///< upper bound of the passes completed after the last active moment
};

/// Parameters of detectors.
struct DetectorOptions {
  WorkModel work = WorkModel::AP;  ///< the behavior of the program's ranks
  int arity = 4;                   ///< trees: children of a node, at least 2. Default: 4.
  /// tree-aps and tree-counter: number of levels between the root and the control level, at least
  /// 0. Default: 1.
  int controlLevel = 1;
  /// ring-flag: number of ranks that send tokens, the lowest ones, at least 1. Default: 1.
  int initiators = 1;
};

/// A termination detector: decides that all ranks are passive and no message is in flight.
///
/// Each rank has its own object, a non-blocking state machine. A detector never makes a rank
/// active. After it has reported termination it can be used for the next detection. Ranks may start
/// the next detection while others have not finished the previous one. The work messages of
/// consecutive detections must be kept apart, for instance by sessions: a rank must not receive a
/// message of the next detection before the detector has reported the end of the current one there.
class Detector {
 public:
  virtual ~Detector() = default;

  /// The properties of this detector.
  [[nodiscard]] virtual const DetectorTraits& traits() const = 0;

  /// Sets an additional condition: the detector does not report termination before the conditions
  /// of all ranks that set one hold. The condition is evaluated while this rank has no work. On a
  /// rank without work, only a message may change it from true to false.
  void require(std::function<bool()> condition) { condition_ = std::move(condition); }

  /// Performs one non-blocking turn. Local. Call it after receiving all available messages and
  /// polling the transport.
  /// @param passive  whether this rank now has no work, no partly received message, and no
  ///                 unfinished send
  /// @param touched  whether this rank sent, received or worked since the last call
  /// @return true once when termination is known; the next call then starts a new detection
  [[nodiscard]] bool advance(bool passive, bool touched) {
    return turn(passive && (!condition_ || condition_()), touched);
  }

  /// The number of completed passes over all ranks. At the end of a detection it is the same on all
  /// ranks.
  [[nodiscard]] virtual std::int64_t waves() const = 0;
  /// The number of the detector's own messages that this rank has sent; 0 for detectors based on
  /// collective operations.
  [[nodiscard]] virtual std::int64_t messages() const { return 0; }
  /// A description of the state, for reports of stalls and for the exploration of schedules.
  /// Detectors with equal descriptions behave equally from now on, except for the counters above.
  [[nodiscard]] virtual std::string state() const = 0;

  /// Whether turns start collective operations. If so, a rank that stops early must continue until
  /// the detector reports termination, because other ranks wait for it. Otherwise a rank may stop
  /// at any time.
  [[nodiscard]] virtual bool collective() const { return true; }

  /// Must be called for every work message before it is sent.
  virtual void sent(int destination) { static_cast<void>(destination); }
  /// Must be called for every work message after it is received, before it is processed.
  virtual void received(int source) { static_cast<void>(source); }

 protected:
  /// See advance(); `passive` includes the condition.
  [[nodiscard]] virtual bool turn(bool passive, bool touched) = 0;

 private:
  std::function<bool()> condition_;
};

/// A kind of detector, for registerDetector().
struct DetectorType {
  DetectorTraits traits;
  /// Makes a detector. Collective.
  std::function<std::unique_ptr<Detector>(Transport&, Session, const DetectorOptions&)> make;
};

/// Registers a detector, which can then be selected by its name. Local. Throws Error if the name is
/// registered already.
void registerDetector(DetectorType type);
/// The names of all detectors that are correct for a work model, in alphabetical order. Local.
/// Default: all detectors.
[[nodiscard]] std::vector<std::string> detectorNames(WorkModel work = WorkModel::Monotone);
/// The name that "default" stands for: the environment variable TRIBUTARY_DETECTOR if it is set,
/// otherwise "hash-counter", the best in measurements (see Termination/README.md).
[[nodiscard]] std::string defaultDetector();
/// The properties of a detector. Local. Throws Error if the name is unknown, an option is out of
/// range, or the detector is not correct for `options.work`.
const DetectorTraits& checkDetector(const std::string& name, const DetectorOptions& options = {});
/// Makes a detector for one session. Collective; all ranks must pass the same arguments. Its
/// destruction is collective, too. The transport must outlive it. Throws Error like
/// checkDetector().
[[nodiscard]] std::unique_ptr<Detector> makeDetector(const std::string& name, Transport& transport,
                                                     Session session,
                                                     const DetectorOptions& options = {});

}  // namespace tributary
