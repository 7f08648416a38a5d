#include "Tributary/Transport/Loopback.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>

#include "Tributary/Error.h"
#include "Tributary/Transport/Clock.h"

namespace tributary {

namespace {

class LoopbackInteger : public SharedInteger {
 public:
  explicit LoopbackInteger(std::int64_t initial) : value_(initial) {}
  std::int64_t fetchAdd(std::int64_t value) override {
    return std::exchange(value_, value_ + value);
  }

 private:
  std::int64_t value_;
};

class LoopbackTransport : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  double now() const override { return steadySeconds(); }
  void spend(double) override {}
  void relax(double seconds) override { leaveCore(seconds); }
  Session openSession() override { return sessions_++; }

  PendingSend send(int destination, Channel channel, Session session, SendMode mode,
                   Bytes&& bytes) override {
    if (destination != 0) {
      throw Error("send to rank " + std::to_string(destination) +
                  " on a loopback transport, which has rank 0 only");
    }
    auto state = std::make_shared<PendingSend::State>();
    state->done = mode == SendMode::Eager;
    letters_.push_back({channel, session, std::move(bytes), state});
    return PendingSend(std::move(state));
  }

  std::optional<Envelope> tryReceive(Channel channel, Session session) override {
    const auto letter = std::find_if(letters_.begin(), letters_.end(), [&](const Letter& l) {
      return l.channel == channel && l.session == session;
    });
    if (letter == letters_.end()) return std::nullopt;
    Envelope envelope{0, std::move(letter->bytes)};
    letter->state->done = true;
    letters_.erase(letter);
    return envelope;
  }

  bool receiving(Channel, Session) const override { return false; }
  void poll() override {}

  PendingReduce barrier() override { return allreduce(ReduceOp::Or, {}); }
  PendingReduce allreduce(ReduceOp, std::vector<std::int64_t> values) override {
    auto state = std::make_shared<PendingReduce::State>();
    state->result = std::move(values);
    state->done = true;
    return PendingReduce(std::move(state));
  }

  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    return std::make_unique<LoopbackInteger>(initial);
  }

 private:
  struct Letter {
    Channel channel;
    Session session;
    Bytes bytes;
    std::shared_ptr<PendingSend::State> state;
  };

  std::deque<Letter> letters_;
  Session sessions_ = 0;
};

}  // namespace

std::unique_ptr<Transport> makeLoopbackTransport() {
  return std::make_unique<LoopbackTransport>();
}

}  // namespace tributary
