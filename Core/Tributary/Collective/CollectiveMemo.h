// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Shortens a phase of collective calls that is repeated, such as the set-up for each time step of
/// data on the same mesh. What a rank receives in the phase depends only on what all ranks send: if
/// that is the same on all ranks as the last time, the phase need not communicate.
///
/// The phase then runs with the messages and reductions remembered from the last time, and one
/// reduction confirms that they still hold on all ranks. If they do not, the phase runs again, with
/// communication, and is remembered instead. To do work twice no more often than it pays, that is
/// tried again once all ranks have sent the same two times.
class CollectiveMemo {
 public:
  /// Runs a phase. Collective; each rank must pass the same phase of the same program.
  /// @param phase  called as phase(Transport&) once or twice. It communicates only by the transport
  ///               that it is given, which it must not keep, and throws Error on all ranks or on
  ///               none. A second call must have the effects that it has without the first one,
  ///               which may have ended early by an exception.
  /// @throws what the phase throws
  template <class Phase>
  void run(Transport& transport, Phase&& phase) {
    if (transport.size() == 1) return phase(transport);
    runWith(transport, [&](Transport& through) { phase(through); });
  }

  /// Whether the last phase was run without its communication.
  [[nodiscard]] bool repeated() const { return repeated_; }
  /// The memory that is used, in bytes.
  [[nodiscard]] std::size_t memory() const;

  /// Phases that send and receive more than this number of bytes on a rank are not remembered.
  static constexpr std::size_t MostBytes = std::size_t(1) << 20;

 private:
  class Recorder;
  class Repeater;

  struct Sent {
    int destination;
    Topic topic;
    Session session;
    Bytes bytes;
  };
  struct Reduced {
    ReduceOp op;
    std::vector<std::int64_t> values, result;
  };
  /// The communication of this rank in a phase. Sessions are counted from 0.
  struct Record {
    std::vector<Sent> sent;  ///< In this order, as are the others.
    std::vector<Reduced> reduced;
    std::map<std::pair<Topic, Session>, std::vector<Envelope>> received;
    std::size_t bytes = 0;
    bool isComplete = false;

    /// Whether this rank sends the same.
    [[nodiscard]] bool isLike(const Record& other) const;
  };

  void runWith(Transport& transport, const std::function<void(Transport&)>& phase);
  [[nodiscard]] bool repeats(Transport& transport, const std::function<void(Transport&)>& phase);

  Record record_;
  bool tries_ = true;     // to repeat the next phase
  bool wasLike_ = false;  // this rank sent the same the last two times
  bool repeated_ = false;
};

}  // namespace tributary
