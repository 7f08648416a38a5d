#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What a detector is and asks for.
struct DetectorTraits {
  /// AP: a process is active or passive. APS: an active process that only answers others' requests
  /// is a server, told apart from one with work of its own.
  enum class Model { AP, APS };

  std::string name;
  Model model = Model::AP;
  /// Whether it relies on sends whose completion proves receipt.
  bool synchronousSends = false;
  std::string guarantee;  ///< what is true when it fires
  std::string messages;   ///< number of its own messages, big-O
  std::string delay;      ///< from the last passive moment to the known end, big-O
};

/// Decides that every rank is passive and no message is in flight. One object per rank, a
/// non-blocking state machine. A detector never makes a rank active.
class Detector {
 public:
  virtual ~Detector() = default;

  virtual const DetectorTraits& traits() const = 0;

  /// One non-blocking turn, after the caller has received what there is and polled the transport.
  /// @param passive  now: no local work, nothing half received, every synchronous send finished
  /// @param touched  since the last call this rank sent, received or worked at some moment
  /// @return true once, when the end is known; the next call then begins a new detection.
  virtual bool advance(bool passive, bool touched) = 0;

  /// Passes over all ranks that were completed so far.
  virtual std::int64_t waves() const = 0;

  /// Called for every work message, for the detectors that count.
  virtual void sent(int destination) { static_cast<void>(destination); }
  virtual void received(int source) { static_cast<void>(source); }
};

using DetectorFactory = std::function<std::unique_ptr<Detector>(Transport&, Session)>;

/// Adds a detector to those that can be chosen by name. Throws Error if the name is taken.
void registerDetector(const std::string& name, DetectorFactory factory);
/// The names that makeDetector knows, in alphabetical order.
std::vector<std::string> detectorNames();
/// Makes a detector for one session. Throws Error, listing the known names, if there is none.
std::unique_ptr<Detector> makeDetector(const std::string& name, Transport& transport,
                                       Session session);

}  // namespace tributary
