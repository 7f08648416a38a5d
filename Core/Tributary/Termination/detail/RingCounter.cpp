// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/RingCounter.h"

#include <algorithm>
#include <utility>

#include "Tributary/Termination/detail/MessagingDetector.h"

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

class RingCounter : public MessagingDetector {
 public:
  RingCounter(Transport& transport, Session session, const DetectorOptions& options)
      : MessagingDetector(ringCounterTraits(), transport, session, options) {
    restart();
  }

  void sent(int destination) override { ++counters_[static_cast<std::size_t>(destination)]; }
  void received(int) override { --counters_[static_cast<std::size_t>(rank())]; }

 protected:
  void handle(int source, std::int64_t kind, Reader& body, bool passive) override {
    if (kind != TokenKind || source != (rank() + size() - 1) % size()) {
      malformed(source, "no token of the rank before");
    }
    Token token{body.value<std::int64_t>(), body.range<std::int64_t>()};
    if (token.ranks < 0 || token.ranks > size() || token.counters.size() != counters_.size()) {
      malformed(source, "a token");
    }
    if (rank() == 0) {
      if (place_ != Place::Out) malformed(source, "a second token");
      comeHome(std::move(token));
    } else {
      if (passive) add(token);
      pass(token);
    }
  }

  void step(bool passive) override {
    if (rank() != 0 || !passive || place_ == Place::Out) return;
    if (place_ == Place::Home) {
      add(token_);
      const bool balanced = std::all_of(token_.counters.begin(), token_.counters.end(),
                                        [](std::int64_t counter) { return counter == 0; });
      if (balanced && token_.ranks == size()) {
        end();
        return;
      }
    }
    if (size() == 1) {
      comeHome(std::move(token_));
    } else {
      place_ = Place::Out;
      pass(token_);
    }
  }

  void restart() override {
    counters_.assign(static_cast<std::size_t>(size()), 0);
    added_ = false;
    place_ = Place::Idle;
    token_ = Token{0, counters_};
  }

  std::string describe() const override {
    std::string text = (added_ ? "counters" : "first counters") + list(counters_);
    if (rank() != 0) return text;
    if (place_ == Place::Idle) return text + ", no token yet";
    if (place_ == Place::Out) return text + ", token out";
    return text + ", token home from " + std::to_string(token_.ranks) + " ranks with" +
           list(token_.counters);
  }

 private:
  static constexpr int TokenKind = 1;
  struct Token {
    std::int64_t ranks = 0;  // that have added at least once
    std::vector<std::int64_t> counters;
  };
  enum class Place { Idle, Out, Home };

  static std::string list(const std::vector<std::int64_t>& counters) {
    std::string text;
    for (const std::int64_t counter : counters) text += " " + std::to_string(counter);
    return text;
  }

  void add(Token& token) {
    for (std::size_t i = 0; i < counters_.size(); ++i) {
      token.counters[i] += std::exchange(counters_[i], 0);
    }
    if (!std::exchange(added_, true)) ++token.ranks;
  }

  void pass(const Token& token) {
    Writer message = compose(TokenKind);
    message.value(token.ranks).range(token.counters);
    send((rank() + 1) % size(), message);
  }

  void comeHome(Token token) {
    token_ = std::move(token);
    place_ = Place::Home;
    passCompleted();
  }

  std::vector<std::int64_t> counters_;  // by rank, since this rank last added them
  bool added_ = false;                  // at least once
  Place place_ = Place::Idle;           // rank 0
  Token token_;                         // rank 0, when not Out
};

}  // namespace

DetectorType ringCounterDetector() {
  return {ringCounterTraits(),
          [](Transport& transport, Session session, const DetectorOptions& options) {
            return std::make_unique<RingCounter>(transport, session, options);
          }};
}

}  // namespace tributary::detail
