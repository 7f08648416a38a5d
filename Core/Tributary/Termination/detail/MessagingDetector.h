// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Termination/RankTree.h"

namespace tributary::detail {

/// Adds to a counter. A damaged message may hold any number: the sum wraps around.
inline void addTo(std::int64_t& counter, std::int64_t more) {
  counter = static_cast<std::int64_t>(static_cast<std::uint64_t>(counter) +
                                      static_cast<std::uint64_t>(more));
}

/// Common part of the detectors that send messages. Every message has the number of its detection,
/// so that a rank can defer messages that a faster rank sends in the next one. No rank is further
/// ahead: a detection cannot end without all ranks. The rank that decides announces termination
/// along a RankTree rooted there. All messages are eager. Throws Error of kind Message if a message
/// is malformed.
class MessagingDetector : public Detector {
 public:
  const DetectorTraits& traits() const final { return traits_; }
  std::int64_t waves() const final {
    std::int64_t sum = waves_;
    addTo(sum, passes_);
    return sum;
  }
  std::int64_t messages() const final { return messages_; }
  std::string state() const final;
  bool collective() const final { return false; }

 protected:
  /// @param traits  must outlive the detector
  MessagingDetector(const DetectorTraits& traits, Transport& transport, Session session,
                    const DetectorOptions& options);

  [[nodiscard]] bool turn(bool passive, bool touched) final;

  /// Processes a message of this detection. The message is malformed unless all of `body` is read.
  /// @param kind  the argument of compose()
  virtual void handle(int source, std::int64_t kind, Reader& body, bool passive) = 0;
  /// Called once a turn, after all messages, unless termination is known.
  virtual void step(bool passive) = 0;
  /// Resets the state at the end of a detection.
  virtual void restart() = 0;
  /// The state that determines the behavior of this rank, in short: see Detector::state().
  virtual std::string describe() const = 0;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const RankTree& tree() const { return tree_; }

  /// Begins a message of this detection.
  /// @param kind  at least 1, for handle() of the receiver
  [[nodiscard]] Writer compose(std::int64_t kind) const;
  void send(int destination, Writer& message);
  /// Called on the rank that decides: counts a completed pass over all ranks.
  void passCompleted() { ++passes_; }
  /// Called on the rank that decides: announces termination and the number of passes to all ranks.
  void end();
  [[noreturn]] void malformed(int source, const std::string& what) const;

 private:
  [[nodiscard]] std::optional<Envelope> receive();
  void announce(int root);
  void handleEnd(int source, Reader& body);

  const DetectorTraits& traits_;
  Transport& transport_;
  Session session_;
  int rank_;
  int size_;
  RankTree tree_;
  std::int64_t detection_ = 0;
  std::deque<Envelope> deferred_;  // of the next detection, in the order of arrival
  bool ended_ = false;
  std::int64_t passes_ = 0;  // in this detection, as known to this rank
  std::int64_t waves_ = 0;   // in earlier detections
  std::int64_t messages_ = 0;
};

}  // namespace tributary::detail
