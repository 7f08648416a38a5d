// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary::testing {

/// The transport of a test program, valid until the program ends: all MPI ranks, or Loopback in a
/// build without MPI and with the argument `--loopback`.
Transport& world();

/// Makes another transport for the same ranks. Construction and destruction are collective.
std::unique_ptr<Transport> makeWorld(std::size_t largestPart = std::size_t(1) << 30);

/// Forwards all calls to another transport. Tests override the functions that they disturb.
class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  bool threadsMayTakeTurns() const override { return inner_.threadsMayTakeTurns(); }
  double now() const override { return inner_.now(); }
  void spend(double seconds) override { inner_.spend(seconds); }
  void relax(double seconds) override { inner_.relax(seconds); }
  Session openSession() override { return inner_.openSession(); }
  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    return inner_.send(destination, topic, session, mode, std::move(bytes));
  }
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    return inner_.tryReceive(topic, session);
  }
  bool receiving(Topic topic, Session session) const override {
    return inner_.receiving(topic, session);
  }
  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override {
    return inner_.persistentSend(destination, topic, session, mode, size);
  }
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override {
    return inner_.persistentReceive(source, topic, session, size);
  }
  void poll() override { inner_.poll(); }
  PendingReduce barrier() override { return inner_.barrier(); }
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override {
    return inner_.allreduce(op, std::move(values));
  }
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    return inner_.shareInteger(initial);
  }

 private:
  Transport& inner_;
};

/// The text of the exception that `action` throws, or "" if it throws none.
template <class Action>
std::string errorOf(Action&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// A hash for pseudo-random decisions of tests, the same on all ranks (Steele's SplitMix64).
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

}  // namespace tributary::testing
