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

/// What detectors with messages of their own have in common. Every message carries the number of
/// its detection, so that this rank can put off what a faster one sends in the next (no rank is
/// further ahead: a detection cannot end without all ranks). The end is announced by the rank that
/// decides it, down a RankTree rooted there. All messages are eager. A message that makes no sense
/// throws Error.
class MessagingDetector : public Detector {
 public:
  const DetectorTraits& traits() const final { return traits_; }
  std::int64_t waves() const final { return waves_ + passes_; }
  std::int64_t messages() const final { return messages_; }
  std::string state() const final;
  bool collective() const final { return false; }

 protected:
  /// @param traits  outlives the detector
  MessagingDetector(const DetectorTraits& traits, Transport& transport, Session session,
                    const DetectorOptions& options);

  bool turn(bool passive, bool touched) final;

  /// A message of this detection has come; `kind` as given to compose(). What is left of `body`
  /// afterwards makes it malformed.
  virtual void handle(int source, std::int64_t kind, Reader& body, bool passive) = 0;
  /// Once a turn, after all messages, unless the end is known.
  virtual void step(bool passive) = 0;
  /// The detection has ended: back to the beginning.
  virtual void restart() = 0;
  /// What decides this rank's acts, in a few words: see Detector::state().
  virtual std::string describe() const = 0;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const RankTree& tree() const { return tree_; }

  /// Begins a message of this detection. @param kind  1 or more, for handle() of the receiver
  Writer compose(std::int64_t kind) const;
  void send(int destination, Writer& message);
  /// For the rank that knows: one more pass over all ranks is done.
  void passCompleted() { ++passes_; }
  /// For the rank that decides the end: tells the others, with the number of passes.
  void end();
  [[noreturn]] void malformed(int source, const std::string& what) const;

 private:
  std::optional<Envelope> receive();
  void announce(int root);
  void handleEnd(int source, Reader& body);

  const DetectorTraits& traits_;
  Transport& transport_;
  Session session_;
  int rank_;
  int size_;
  RankTree tree_;
  std::int64_t detection_ = 0;
  std::deque<Envelope> deferred_;  // of the next detection, in the order of their coming
  bool ended_ = false;
  std::int64_t passes_ = 0;  // in this detection, as far as this rank knows
  std::int64_t waves_ = 0;   // in the detections before
  std::int64_t messages_ = 0;
};

}  // namespace tributary::detail
