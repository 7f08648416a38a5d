// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/RingAps.h"

#include "Tributary/Termination/detail/DetectorFactory.h"
#include "Tributary/Termination/detail/RingDetector.h"

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

struct Token {
  std::int64_t dirty = 0;
  std::int64_t sends = 0;
  std::int64_t receipts = 0;
};

class RingAps : public SummingRing<Token> {
 public:
  RingAps(Transport& transport, Session session, const DetectorOptions& options)
      : SummingRing(ringApsTraits(), transport, session, options, transport.rank() == 0) {}

 protected:
  bool isValid(const Token& token) const override { return token.dirty == 0 || token.dirty == 1; }

  void visit(Token& token, bool passive) override {
    if (token.dirty != 0) return;
    if (!passive) {
      token = {1, 0, 0};
      return;
    }
    addCounts(token);
  }

  Token nextPass(Token&&) const override { return Token(); }

  void restart() override { beginSums(); }

  std::string describe() const override { return describeCounts() + describeRole(); }
};

}  // namespace

DetectorType ringApsDetector() {
  return detectorType<RingAps>(ringApsTraits());
}

}  // namespace tributary::detail
