// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace bench {

/// A transport of a simulated network whose rank sleeps until something arrives. Without it, a rank
/// that waits looks at the network at increasing intervals, which is most of the work of simulating
/// synchronous rounds. Only for programs that wait for nothing but arrivals: not for the schedule
/// Asynchronous, which sends batches after a hold time.
class PatientTransport : public tributary::Transport {
 public:
  /// @param inner  must outlive the object
  explicit PatientTransport(tributary::Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  double now() const override { return inner_.now(); }
  void spend(double seconds) override { inner_.spend(seconds); }
  void relax(double seconds) override { inner_.relax(std::max(seconds, LongestWait)); }
  tributary::Session openSession() override { return inner_.openSession(); }
  tributary::PendingSend send(int destination, tributary::Topic topic, tributary::Session session,
                              tributary::SendMode mode, tributary::Bytes&& bytes) override {
    return inner_.send(destination, topic, session, mode, std::move(bytes));
  }
  std::optional<tributary::Envelope> tryReceive(tributary::Topic topic,
                                                tributary::Session session) override {
    return inner_.tryReceive(topic, session);
  }
  bool receiving(tributary::Topic topic, tributary::Session session) const override {
    return inner_.receiving(topic, session);
  }
  std::unique_ptr<tributary::PersistentRequest> persistentSend(int destination,
                                                               tributary::Topic topic,
                                                               tributary::Session session,
                                                               tributary::SendMode mode,
                                                               std::size_t size) override {
    return inner_.persistentSend(destination, topic, session, mode, size);
  }
  std::unique_ptr<tributary::PersistentRequest> persistentReceive(int source,
                                                                  tributary::Topic topic,
                                                                  tributary::Session session,
                                                                  std::size_t size) override {
    return inner_.persistentReceive(source, topic, session, size);
  }
  void poll() override { inner_.poll(); }
  tributary::PendingReduce allreduce(tributary::ReduceOp op,
                                     std::vector<std::int64_t> values) override {
    return inner_.allreduce(op, std::move(values));
  }
  std::unique_ptr<tributary::SharedInteger> shareInteger(std::int64_t initial) override {
    return inner_.shareInteger(initial);
  }

 private:
  // Longer than a round; a missed arrival would show in the result.
  static constexpr double LongestWait = 1e3;

  tributary::Transport& inner_;
};

}  // namespace bench
