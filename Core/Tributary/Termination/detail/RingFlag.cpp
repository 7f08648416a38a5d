// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/RingFlag.h"

#include <algorithm>

#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/RingDetector.h"

namespace tributary::detail {

namespace {

const DetectorTraits& ringFlagTraits() {
  static const DetectorTraits traits = {
      "ring-flag",
      WorkModel::AP,
      false,
      "all ranks are passive and no work message is in flight",
      "O(P) a pass, one pass after the other; at first as many tokens as initiators",
      "O(P): three passes",
      3};
  return traits;
}

struct Token {
  std::int64_t origin = 0;  // the initiator
  std::int64_t dirty = 0;
  std::int64_t sends = 0;
  std::int64_t receipts = 0;
};

class RingFlag : public SummingRing<Token> {
 public:
  RingFlag(Transport& transport, Session session, const DetectorOptions& options)
      : SummingRing(ringFlagTraits(), transport, session, options,
                    transport.rank() < options.initiators),
        initiators_(std::min(options.initiators, transport.size())) {}

  void sent(int destination) override {
    SummingRing::sent(destination);
    raiseFlag();
  }
  void received(int source) override {
    SummingRing::received(source);
    raiseFlag();
  }

 protected:
  bool isOwn(const Token& token) const override { return token.origin == rank(); }

  bool isValid(const Token& token) const override {
    return token.origin >= 0 && token.origin < initiators_ &&
           (token.dirty == 0 || token.dirty == 1);
  }

  bool accepts(const Token& token) override {
    const bool started = role() == Role::Out || role() == Role::Home;
    if (started && token.origin > rank()) return false;
    retire();
    return true;
  }

  void visit(Token& token, bool passive) override {
    const bool acted = flag_ || (resetBy_ != None && token.origin < resetBy_);
    if (acted) resetBy_ = token.origin;
    flag_ = false;
    if (token.dirty != 0) return;
    if (acted || !passive) {
      token = {token.origin, 1, 0, 0};
      return;
    }
    addCounts(token);
  }

  Token nextPass(Token&&) const override { return {rank(), 0, 0, 0}; }

  void restart() override {
    flag_ = false;
    resetBy_ = None;
    beginSums();
  }

  std::string describe() const override {
    std::string text = describeCounts() + ", flag ";
    if (flag_) {
      text += "set";
    } else {
      text += resetBy_ == None ? "never set" : "reset by rank " + std::to_string(resetBy_);
    }
    return text + describeRole();
  }

 private:
  static constexpr std::int64_t None = -1;

  void raiseFlag() {
    flag_ = true;
    resetBy_ = None;
  }

  int initiators_;
  bool flag_ = false;            // sent or received since the last visit
  std::int64_t resetBy_ = None;  // the origin of the token that reset the flag
};

}  // namespace

DetectorType ringFlagDetector() {
  return detectorType<RingFlag>(ringFlagTraits());
}

}  // namespace tributary::detail
