// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/Loopback.h"

#include <optional>
#include <utility>

#include "Tributary/Transport/detail/LocalInteger.h"
#include "Tributary/Transport/detail/OwnMessages.h"
#include "Tributary/Transport/detail/RealTimeTransport.h"

namespace tributary {

using namespace detail;

namespace {

class LoopbackTransport : public RealTimeTransport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  bool threadsMayTakeTurns() const override { return true; }

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    checkDestination(destination, 1);
    return own_.send(topic, session, mode, std::move(bytes));
  }

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    return own_.tryReceive(topic, session);
  }

  bool receiving(Topic, Session) const override { return false; }
  void poll() override {}

  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override {
    checkPersistent(destination, 1, size);
    return own_.persistentSend(topic, session, mode, size);
  }
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override {
    checkPersistent(source, 1, size);
    return own_.persistentReceive(topic, session, size);
  }

  PendingReduce allreduce(ReduceOp, std::vector<std::int64_t> values) override {
    auto state = std::make_shared<PendingReduce::State>();
    state->result = std::move(values);
    state->done = true;
    return PendingReduce(std::move(state));
  }

  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    return std::make_unique<LocalInteger>(initial);
  }

 private:
  OwnMessages own_{0};
};

}  // namespace

std::unique_ptr<Transport> makeLoopbackTransport() {
  return std::make_unique<LoopbackTransport>();
}

}  // namespace tributary
