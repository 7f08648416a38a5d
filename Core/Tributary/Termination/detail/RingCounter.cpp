// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/RingCounter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Index.h"
#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/RingDetector.h"

namespace tributary::detail {

namespace {

const DetectorTraits& ringCounterTraits() {
  static const DetectorTraits traits = {"ring-counter",
                                        WorkModel::AP,
                                        false,
                                        "all ranks are passive and no work message is in flight",
                                        "O(P) a pass, one pass after the other, each of O(P) bytes",
                                        "O(P^2): two passes of a token of O(P) bytes",
                                        2};
  return traits;
}

struct Token {
  std::int64_t ranks = 0;              // that have added at least once
  std::vector<std::int64_t> counters;  // by rank
};

class RingCounter : public RingDetector<Token> {
 public:
  RingCounter(Transport& transport, Session session, const DetectorOptions& options)
      : RingDetector(ringCounterTraits(), transport, session, options, transport.rank() == 0) {
    restart();
  }

  void sent(int destination) override { ++counters_[index(destination)]; }
  void received(int) override { --counters_[index(rank())]; }

 protected:
  bool isValid(const Token& token) const override {
    return token.ranks >= 0 && token.ranks <= size() && token.counters.size() == counters_.size();
  }

  void visit(Token& token, bool passive) override {
    if (passive) add(token);
  }

  bool provesEnd(const Token& token) const override {
    const bool balanced = std::all_of(token.counters.begin(), token.counters.end(),
                                      [](std::int64_t counter) { return counter == 0; });
    return balanced && token.ranks == size();
  }

  Token nextPass(Token&& token) const override { return std::move(token); }

  Token read(Reader& body) const override {
    const auto ranks = body.value<std::int64_t>();
    return {ranks, body.range<std::int64_t>()};
  }
  void write(Writer& message, const Token& token) const override {
    message.value(token.ranks).range(token.counters);
  }

  void restart() override {
    counters_.assign(index(size()), 0);
    added_ = false;
    beginRing({0, counters_});
  }

  std::string describe() const override {
    return (added_ ? "counters" : "first counters") + list(counters_) + describeRole();
  }
  std::string describeToken(const Token& token) const override {
    return "counters of " + std::to_string(token.ranks) + " ranks:" + list(token.counters);
  }

 private:
  static std::string list(const std::vector<std::int64_t>& counters) {
    std::string text;
    for (const std::int64_t counter : counters) text += " " + std::to_string(counter);
    return text;
  }

  void add(Token& token) {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      addTo(token.counters[i], std::exchange(counters_[i], 0));
    }
    if (!std::exchange(added_, true)) ++token.ranks;
  }

  std::vector<std::int64_t> counters_;  // by rank, since this rank last added them
  bool added_ = false;                  // at least once
};

}  // namespace

DetectorType ringCounterDetector() {
  return detectorType<RingCounter>(ringCounterTraits());
}

}  // namespace tributary::detail
