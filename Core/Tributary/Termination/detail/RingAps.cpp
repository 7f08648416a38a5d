// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/RingAps.h"

#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

namespace {

const DetectorTraits& ringApsTraits() {
  static const DetectorTraits traits = {"ring-aps",
                                        WorkModel::APS,
                                        false,
                                        "all ranks are passive and no work message is in flight",
                                        "O(P) a pass, one pass after the other",
                                        "O(P): two passes",
                                        2};
  return traits;
}

class RingAps : public MessagingDetector {
 public:
  RingAps(Transport& transport, Session session, const DetectorOptions& options)
      : MessagingDetector(ringApsTraits(), transport, session, options) {}

  void sent(int) override { ++sends_; }
  void received(int) override { ++receipts_; }

 protected:
  void handle(int source, std::int64_t kind, Reader& body, bool passive) override {
    if (kind != TokenKind || source != (rank() + size() - 1) % size()) {
      malformed(source, "no token of the rank before");
    }
    Token token = body.value<Token>();
    if (token.dirty != 0 && token.dirty != 1) malformed(source, "a token");
    if (rank() == 0) {
      if (place_ != Place::Out) malformed(source, "a second token");
      comeHome(token);
    } else {
      visit(token, passive);
      pass(token);
    }
  }

  void step(bool passive) override {
    if (rank() != 0 || !passive || place_ == Place::Out) return;
    if (place_ == Place::Home) {
      visit(token_, true);
      if (token_.dirty == 0 && token_.sends == token_.receipts) {
        end();
        return;
      }
    }
    token_ = Token();
    if (size() == 1) {
      comeHome(token_);
    } else {
      place_ = Place::Out;
      pass(token_);
    }
  }

  void restart() override {
    sends_ = receipts_ = 0;
    place_ = Place::Idle;
  }

  std::string describe() const override {
    std::string text =
        std::to_string(sends_) + " sends, " + std::to_string(receipts_) + " receipts";
    if (rank() != 0) return text;
    if (place_ == Place::Idle) return text + ", no token yet";
    if (place_ == Place::Out) return text + ", token out";
    return text + ", token home with " +
           (token_.dirty != 0 ? "dirt"
                              : std::to_string(token_.sends) + " sends, " +
                                    std::to_string(token_.receipts) + " receipts");
  }

 private:
  static constexpr int TokenKind = 1;
  struct Token {
    std::int64_t dirty = 0;
    std::int64_t sends = 0;
    std::int64_t receipts = 0;
  };
  enum class Place { Idle, Out, Home };

  void visit(Token& token, bool passive) const {
    if (token.dirty != 0) return;
    if (!passive) {
      token = {1, 0, 0};
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
    place_ = Place::Home;
    passCompleted();
  }

  std::int64_t sends_ = 0;
  std::int64_t receipts_ = 0;
  Place place_ = Place::Idle;  // rank 0
  Token token_;                // rank 0, Home
};

}  // namespace

DetectorType ringApsDetector() {
  return {ringApsTraits(),
          [](Transport& transport, Session session, const DetectorOptions& options) {
            return std::make_unique<RingAps>(transport, session, options);
          }};
}

}  // namespace tributary::detail
