#include "Tributary/Termination/Consensus.h"

#include <utility>

namespace tributary {

namespace {

class Consensus : public Detector {
 public:
  explicit Consensus(Transport& transport) : transport_(transport) {
    traits_.name = "consensus";
    traits_.model = DetectorTraits::Model::AP;
    traits_.synchronousSends = true;
    traits_.guarantee = "all ranks are passive and no work message is in flight";
    traits_.messages = "O(P log P) per wave";
    traits_.delay = "O(log P)";
  }

  const DetectorTraits& traits() const override { return traits_; }
  std::int64_t waves() const override { return waves_; }

  bool advance(bool passive, bool touched) override {
    switch (state_) {
      case State::Working:
        if (!passive) return false;
        dirty_ = false;
        pending_ = transport_.barrier();
        state_ = State::Entering;
        return false;
      case State::Entering:
        dirty_ = dirty_ || touched || !passive;
        if (!pending_.done()) return false;
        pending_ = transport_.allreduce(ReduceOp::Or, {dirty_ ? 1 : 0});
        state_ = State::Agreeing;
        return false;
      case State::Agreeing:
        if (!pending_.done()) return false;
        ++waves_;
        state_ = State::Working;
        return std::exchange(pending_, PendingReduce()).result()[0] == 0;
    }
    return false;
  }

 private:
  enum class State { Working, Entering, Agreeing };

  Transport& transport_;
  DetectorTraits traits_;
  State state_ = State::Working;
  PendingReduce pending_;
  bool dirty_ = false;
  std::int64_t waves_ = 0;
};

}  // namespace

std::unique_ptr<Detector> makeConsensus(Transport& transport, Session) {
  return std::make_unique<Consensus>(transport);
}

}  // namespace tributary
