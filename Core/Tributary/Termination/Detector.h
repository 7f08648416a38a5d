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

/// What a program's ranks may do, from the most general to the most restricted. A rank is active
/// while it has work, passive otherwise; all begin active.
enum class WorkModel {
  /// A message may make a passive rank active, and it may send work again (Kocalar, Khokhar and
  /// Hambrusch 1999: the AP model).
  AP,
  /// A message may make a passive rank serve a request, but a rank that was passive once sends no
  /// work any more. Answers may be sent if the rank that waits for one stays active until it has
  /// it; they are not told to the detector (ibid.: the APS model).
  APS,
  /// A rank that was passive once neither works nor sends any more: what it receives is dealt with
  /// on receipt (Hoefler, Siebert and Lumsdaine 2010).
  Monotone
};

/// What a detector is and asks for.
struct DetectorTraits {
  std::string name;
  WorkModel model = WorkModel::AP;  ///< the most general program that it is right for
  /// Whether it relies on sends whose completion proves receipt.
  bool synchronousSends = false;
  std::string guarantee;  ///< what is true when it fires
  std::string messages;   ///< number of its own messages for P ranks and m work messages, big-O
  std::string delay;      ///< from the last passive moment to the known end, big-O
  int passes = 2;         ///< at most so many are completed after the last passive moment
};

/// What a detector must know of the program, and parameters of some.
struct DetectorOptions {
  WorkModel work = WorkModel::AP;  ///< what the program's ranks may do
  int arity = 4;                   ///< trees: children of a node, at least 2
  int controlLevel = 1;            ///< TreeAps, TreeCounter: levels below the root, at least 0
  int initiators = 1;              ///< RingFlag: so many of the lowest ranks send tokens
};

/// Decides that every rank is passive and no message is in flight. One object per rank, a
/// non-blocking state machine. A detector never makes a rank active. After it has fired it can be
/// used for the next detection; ranks may begin that while others have not yet fired. The work
/// messages of a detection have to be kept apart from the next one's (by a session of their own, if
/// nothing else does): a rank takes none up before the detector has fired on it for the last one.
class Detector {
 public:
  virtual ~Detector() = default;

  virtual const DetectorTraits& traits() const = 0;

  /// A condition beyond quiet: the detector does not fire before `condition` holds on all ranks
  /// that set one. It is asked on this rank when there is no work; there, only a message may change
  /// its answer from true to false, as only a message may bring work.
  void require(std::function<bool()> condition) { condition_ = std::move(condition); }

  /// One non-blocking turn, after the caller has received what there is and polled the transport.
  /// @param passive  now: no local work, nothing half received, every send finished
  /// @param touched  since the last call this rank sent, received or worked at some moment
  /// @return true once, when the end is known; the next call then begins a new detection.
  bool advance(bool passive, bool touched) {
    return turn(passive && (!condition_ || condition_()), touched);
  }

  /// Passes over all ranks that were completed so far, at the end of a detection the same number on
  /// all ranks.
  virtual std::int64_t waves() const = 0;
  /// Its own messages that this rank sent so far (none for what runs on collective operations).
  virtual std::int64_t messages() const { return 0; }
  /// For people, in stall reports; and for the exploration of schedules: detectors that say the
  /// same act the same from now on (apart from the counters above).
  virtual std::string state() const = 0;

  /// Whether its turns enter collective operations: then a rank that stops early has to go on until
  /// it fires, as the others wait for it there. Without, it may be left at any time.
  virtual bool collective() const { return true; }

  /// Called for every work message, a send before it leaves, a receipt before it is acted on.
  virtual void sent(int destination) { static_cast<void>(destination); }
  virtual void received(int source) { static_cast<void>(source); }

 protected:
  virtual bool turn(bool passive, bool touched) = 0;

 private:
  std::function<bool()> condition_;
};

/// A kind of detector: what can be known before there is one, and how to make one.
struct DetectorType {
  DetectorTraits traits;
  std::function<std::unique_ptr<Detector>(Transport&, Session, const DetectorOptions&)> make;
};

/// Adds a detector to those that can be chosen by name. Throws Error if the name is taken.
void registerDetector(DetectorType type);
/// The names of all detectors, in alphabetical order; with `work`, of those that are right for it.
std::vector<std::string> detectorNames(WorkModel work = WorkModel::Monotone);
/// The name that "default" stands for: the environment variable TRIBUTARY_DETECTOR if it is set,
/// otherwise the detector that was measured to be best (see Core/Termination/README.md).
std::string defaultDetector();
/// What is known of the detector `name`. Throws Error if there is none of that name, listing those
/// that there are, if options are out of range, and if it is not right for what the program's ranks
/// may do. Local.
const DetectorTraits& checkDetector(const std::string& name, const DetectorOptions& options = {});
/// Makes a detector for one session. Collective to make and to destroy: all ranks make the same
/// one. Throws Error like checkDetector().
std::unique_ptr<Detector> makeDetector(const std::string& name, Transport& transport,
                                       Session session, const DetectorOptions& options = {});

}  // namespace tributary
