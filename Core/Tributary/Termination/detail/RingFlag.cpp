// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/RingFlag.h"

#include <algorithm>

#include "Tributary/Termination/detail/MessagingDetector.h"

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

class RingFlag : public MessagingDetector {
 public:
  RingFlag(Transport& transport, Session session, const DetectorOptions& options)
      : MessagingDetector(ringFlagTraits(), transport, session, options),
        initiators_(std::min(options.initiators, transport.size())) {
    restart();
  }

  void sent(int) override {
    ++sends_;
    raiseFlag();
  }
  void received(int) override {
    ++receipts_;
    raiseFlag();
  }

 protected:
  void handle(int source, std::int64_t kind, Reader& body, bool passive) override {
    if (kind != TokenKind || source != (rank() + size() - 1) % size()) {
      malformed(source, "no token of the rank before");
    }
    Token token = body.value<Token>();
    if (token.origin < 0 || token.origin >= initiators_ || (token.dirty != 0 && token.dirty != 1)) {
      malformed(source, "a token");
    }
    if (token.origin == rank()) {
      if (role_ != Role::Out) malformed(source, "a token that was killed");
      comeHome(token);
      return;
    }
    const bool started = role_ == Role::Out || role_ == Role::Home;
    if (started && token.origin > rank()) return;
    role_ = Role::Retired;
    visit(token, passive);
    pass(token);
  }

  void step(bool passive) override {
    if (!passive || role_ == Role::Out || role_ == Role::Retired) return;
    if (role_ == Role::Home) {
      visit(token_, true);
      if (token_.dirty == 0 && token_.sends == token_.receipts) {
        end();
        return;
      }
    }
    token_ = Token();
    token_.origin = rank();
    if (size() == 1) {
      comeHome(token_);
    } else {
      role_ = Role::Out;
      pass(token_);
    }
  }

  void restart() override {
    sends_ = receipts_ = 0;
    flag_ = false;
    resetBy_ = Nobody;
    role_ = rank() < initiators_ ? Role::Idle : Role::Retired;
  }

  std::string describe() const override {
    std::string text =
        std::to_string(sends_) + " sends, " + std::to_string(receipts_) + " receipts, flag ";
    if (flag_) {
      text += "set";
    } else {
      text += resetBy_ == Nobody ? "never set" : "reset by rank " + std::to_string(resetBy_);
    }
    switch (role_) {
      case Role::Idle:
        return text + ", no token yet";
      case Role::Out:
        return text + ", token out";
      case Role::Home:
        return text + ", token home with " +
               (token_.dirty != 0 ? "dirt"
                                  : std::to_string(token_.sends) + " sends, " +
                                        std::to_string(token_.receipts) + " receipts");
      case Role::Retired:
        break;
    }
    return text;
  }

 private:
  static constexpr int TokenKind = 1;
  static constexpr std::int64_t Nobody = -1;
  struct Token {
    std::int64_t origin = 0;
    std::int64_t dirty = 0;
    std::int64_t sends = 0;
    std::int64_t receipts = 0;
  };
  enum class Role { Idle, Out, Home, Retired };

  void raiseFlag() {
    flag_ = true;
    resetBy_ = Nobody;
  }

  void visit(Token& token, bool passive) {
    const bool acted = flag_ || (resetBy_ != Nobody && token.origin < resetBy_);
    if (acted) resetBy_ = token.origin;
    flag_ = false;
    if (token.dirty != 0) return;
    if (acted || !passive) {
      token = {token.origin, 1, 0, 0};
      return;
    }
    token.sends += sends_;
    token.receipts += receipts_;
  }

  void pass(const Token& token) {
    Writer message = compose(TokenKind);
    message.value(token);
    send((rank() + 1) % size(), message);
  }

  void comeHome(const Token& token) {
    token_ = token;
    role_ = Role::Home;
    passCompleted();
  }

  int initiators_;
  std::int64_t sends_ = 0;
  std::int64_t receipts_ = 0;
  bool flag_ = false;              // sent or received since the last visit
  std::int64_t resetBy_ = Nobody;  // whose token's visit that was
  Role role_ = Role::Idle;
  Token token_;  // Home
};

}  // namespace

DetectorType ringFlagDetector() {
  return {ringFlagTraits(),
          [](Transport& transport, Session session, const DetectorOptions& options) {
            return std::make_unique<RingFlag>(transport, session, options);
          }};
}

}  // namespace tributary::detail
