#include "Tributary/Termination/HashCounter.h"

#include <array>
#include <utility>

namespace tributary {

namespace {

// Sums of less than two million ranks' residues fit into 64 bits.
constexpr std::int64_t Prime = (std::int64_t(1) << 42) - 11;

const DetectorTraits& hashCounterTraits() {
  static const DetectorTraits traits = {
      "hash-counter",
      WorkModel::AP,
      false,
      "all ranks are passive and no work message is in flight, up to a chance of 2^-84 a wave",
      "O(P log P) a wave",
      "O(log P): one or two waves",
      2};
  return traits;
}

/// Steele, Lea and Flood's SplitMix64.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class HashCounter : public Detector {
 public:
  HashCounter(Transport& transport, Session session)
      : transport_(transport),
        seed_(mixed(static_cast<std::uint64_t>(session))),
        own_(coefficients(transport.rank())) {}

  const DetectorTraits& traits() const override { return hashCounterTraits(); }
  std::int64_t waves() const override { return waves_; }

  void sent(int destination) override {
    const Pair to = coefficients(destination);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] += to[i];
      if (sums_[i] >= Prime) sums_[i] -= Prime;
    }
  }

  void received(int) override {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] -= own_[i];
      if (sums_[i] < 0) sums_[i] += Prime;
    }
  }

  std::string state() const override {
    return (contributed_ ? "waiting, sums " : "working, sums ") + std::to_string(sums_[0]) +
           " and " + std::to_string(sums_[1]);
  }

 protected:
  bool turn(bool passive, bool) override {
    if (!contributed_) {
      if (!passive) return false;
      wave_ = transport_.allreduce(ReduceOp::Sum, {sums_[0], sums_[1]});
      contributed_ = true;
    }
    if (!wave_.done()) return false;
    const PendingReduce wave = std::exchange(wave_, PendingReduce());
    contributed_ = false;
    ++waves_;
    return wave.result()[0] % Prime == 0 && wave.result()[1] % Prime == 0;
  }

 private:
  using Pair = std::array<std::int64_t, 2>;

  Pair coefficients(int rank) const {
    const std::uint64_t first = mixed(seed_ + static_cast<std::uint64_t>(rank));
    return {static_cast<std::int64_t>(first % Prime),
            static_cast<std::int64_t>(mixed(first) % Prime)};
  }

  Transport& transport_;
  std::uint64_t seed_;
  Pair own_;
  Pair sums_ = {0, 0};
  PendingReduce wave_;
  bool contributed_ = false;
  std::int64_t waves_ = 0;
};

}  // namespace

DetectorType hashCounterDetector() {
  return {hashCounterTraits(), [](Transport& transport, Session session, const DetectorOptions&) {
            return std::make_unique<HashCounter>(transport, session);
          }};
}

}  // namespace tributary
