// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/HashCounter.h"

#include <algorithm>
#include <array>
#include <vector>

#include "Tributary/Base/Hash.h"
#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

namespace {

constexpr std::int64_t Prime = (std::int64_t(1) << 42) - 11;

constexpr std::int64_t Contribution = 1;
constexpr std::int64_t NextWave = 2;

const DetectorTraits& hashCounterTraits() {
  static const DetectorTraits traits = {
      "hash-counter",
      WorkModel::AP,
      false,
      "all ranks are passive and no work message is in flight, up to a chance of 2^-84 a wave",
      "O(P) a wave",
      "O(log P): one or two waves",
      2};
  return traits;
}

class HashCounter : public MessagingDetector {
 public:
  HashCounter(Transport& transport, Session session, const DetectorOptions& options)
      : MessagingDetector(hashCounterTraits(), transport, session, options),
        children_(tree().children(rank())),
        seed_(scramble(static_cast<std::uint64_t>(session))),
        own_(coefficients(rank())) {}

  void sent(int destination) override { add(sums_, coefficients(destination)); }
  void received(int) override {
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      sums_[i] -= own_[i];
      if (sums_[i] < 0) sums_[i] += Prime;
    }
  }

 protected:
  void handle(int source, std::int64_t kind, Reader& body, bool) override {
    if (kind == Contribution) {
      const auto sums = body.value<Sums>();
      const bool child = std::find(children_.begin(), children_.end(), source) != children_.end();
      if (!child || heard_ == children_.size()) malformed(source, "an unexpected contribution");
      for (const std::int64_t sum : sums) {
        if (sum < 0 || sum >= Prime) malformed(source, "a contribution out of range");
      }
      add(gathered_, sums);
      ++heard_;
    } else if (kind == NextWave && contributed_ && source == tree().parent(rank())) {
      beginWave();
    } else {
      malformed(source, "a next wave before this one has ended");
    }
  }

  void step(bool passive) override {
    if (!passive || contributed_ || heard_ < children_.size()) return;
    add(gathered_, sums_);
    if (rank() > 0) {
      Writer message = compose(Contribution);
      message.value(gathered_);
      send(tree().parent(rank()), message);
      contributed_ = true;
      return;
    }
    passCompleted();
    if (gathered_ == Sums{}) {
      end();
    } else {
      beginWave();
    }
  }

  void restart() override {
    gathered_ = {};
    heard_ = 0;
    contributed_ = false;
  }

  std::string describe() const override {
    return (contributed_
                ? "contributed"
                : "waiting for " + std::to_string(children_.size() - heard_) + " children") +
           ", sums " + std::to_string(sums_[0]) + " " + std::to_string(sums_[1]) + ", gathered " +
           std::to_string(gathered_[0]) + " " + std::to_string(gathered_[1]);
  }

 private:
  using Sums = std::array<std::int64_t, 2>;

  Sums coefficients(int rank) const {
    const std::uint64_t first = scramble(seed_ + static_cast<std::uint64_t>(rank));
    return {static_cast<std::int64_t>(first % Prime),
            static_cast<std::int64_t>(scramble(first) % Prime)};
  }

  static void add(Sums& sums, const Sums& more) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += more[i];
      if (sums[i] >= Prime) sums[i] -= Prime;
    }
  }

  void beginWave() {
    restart();
    for (const int child : children_) {
      Writer message = compose(NextWave);
      send(child, message);
    }
  }

  std::vector<int> children_;
  std::uint64_t seed_;
  Sums own_;
  Sums sums_ = {0, 0};
  Sums gathered_ = {0, 0};  // in this wave, from the children
  std::size_t heard_ = 0;   // children that contributed to this wave
  bool contributed_ = false;
};

}  // namespace

DetectorType hashCounterDetector() {
  return detectorType<HashCounter>(hashCounterTraits());
}

}  // namespace tributary::detail
