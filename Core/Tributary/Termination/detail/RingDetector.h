// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "Tributary/Termination/detail/MessagingDetector.h"

namespace tributary::detail {

/// Common part of the detectors that send tokens around the ring of ranks. An initiator that is
/// passive sends a token. Each rank that it visits updates it and passes it on to the next. When
/// the token has returned and the initiator is passive, the initiator updates it as well, and
/// decides by its content: either the end, or another pass.
///
/// The roles of a rank:
///   Idle     an initiator that has not sent a token in this detection. Once passive  -> Out
///   Out      its token is in flight. When the token returns                          -> Home
///   Home     the token is back. Once passive, decides: the end, or another pass      -> Out
///   Retired  sends no token in this detection
/// @tparam Token  the content of a token
template <class Token>
class RingDetector : public MessagingDetector {
 protected:
  enum class Role { Idle, Out, Home, Retired };

  RingDetector(const DetectorTraits& traits, Transport& transport, Session session,
               const DetectorOptions& options, bool initiates)
      : MessagingDetector(traits, transport, session, options), initiates_(initiates) {
    beginRing(Token());
  }

  /// To be called by restart().
  /// @param first  the token for the first pass
  void beginRing(Token first) {
    role_ = initiates_ ? Role::Idle : Role::Retired;
    token_ = std::move(first);
  }

  /// Whether this rank sent the visiting token.
  virtual bool isOwn(const Token&) const { return initiates_; }
  /// Whether the content of a received token is possible.
  virtual bool isValid(const Token& token) const = 0;
  /// Decides whether a token of another rank is passed on, or discarded.
  virtual bool accepts(const Token&) { return true; }
  /// Updates a token that visits this rank.
  virtual void visit(Token& token, bool passive) = 0;
  /// Whether an own token, after visit(), proves that the detection has ended.
  virtual bool provesEnd(const Token& token) const = 0;
  /// Makes the token of the next pass from that of the previous one.
  virtual Token nextPass(Token&& token) const = 0;
  virtual Token read(Reader& body) const = 0;
  virtual void write(Writer& message, const Token& token) const = 0;
  /// The content of a token that is Home: see describeRole().
  virtual std::string describeToken(const Token& token) const = 0;

  void handle(int source, std::int64_t kind, Reader& body, bool passive) final {
    if (kind != TokenKind || source != (rank() + size() - 1) % size()) {
      malformed(source, "a message that is not the token of the previous rank");
    }
    Token token = read(body);
    if (!isValid(token)) malformed(source, "a token with impossible content");
    if (isOwn(token)) {
      if (role_ != Role::Out) malformed(source, "a token that was not sent");
      comeHome(std::move(token));
    } else if (accepts(token)) {
      visit(token, passive);
      pass(token);
    }
  }

  void step(bool passive) final {
    if (!passive || role_ == Role::Out || role_ == Role::Retired) return;
    if (role_ == Role::Home) {
      visit(token_, true);
      if (provesEnd(token_)) {
        end();
        return;
      }
    }
    Token token = nextPass(std::move(token_));
    if (size() == 1) {
      comeHome(std::move(token));
    } else {
      role_ = Role::Out;
      pass(token);
    }
  }

  Role role() const { return role_; }
  void retire() { role_ = Role::Retired; }
  /// The state of this rank's own token, to be appended to describe(); "" if it is retired.
  std::string describeRole() const {
    switch (role_) {
      case Role::Idle:
        return ", no token yet";
      case Role::Out:
        return ", token out";
      case Role::Home:
        return ", token home with " + describeToken(token_);
      case Role::Retired:
        break;
    }
    return {};
  }

 private:
  static constexpr int TokenKind = 1;

  void pass(const Token& token) {
    Writer message = compose(TokenKind);
    write(message, token);
    send((rank() + 1) % size(), message);
  }

  void comeHome(Token&& token) {
    token_ = std::move(token);
    role_ = Role::Home;
    passCompleted();
  }

  bool initiates_;
  Role role_ = Role::Idle;
  Token token_;  // Idle and Home
};

/// Common part of the rings whose tokens are trivially copyable and sum the numbers of sends and
/// receipts: members `dirty` (0 or 1), `sends` and `receipts`. A dirty token proves nothing. Counts
/// the sends and receipts of this rank.
template <class Token>
class SummingRing : public RingDetector<Token> {
 public:
  void sent(int) override { ++sends_; }
  void received(int) override { ++receipts_; }

 protected:
  using RingDetector<Token>::RingDetector;

  /// To be called by restart() in place of beginRing().
  void beginSums() {
    sends_ = receipts_ = 0;
    this->beginRing(Token());
  }
  /// Adds the counts of this rank.
  void addCounts(Token& token) const {
    addTo(token.sends, sends_);
    addTo(token.receipts, receipts_);
  }

  bool provesEnd(const Token& token) const final {
    return token.dirty == 0 && token.sends == token.receipts;
  }
  Token read(Reader& body) const final { return body.value<Token>(); }
  void write(Writer& message, const Token& token) const final { message.value(token); }
  std::string describeToken(const Token& token) const final {
    return token.dirty != 0 ? "dirt" : textOf(token.sends, token.receipts);
  }
  /// The counts of this rank, for describe().
  std::string describeCounts() const { return textOf(sends_, receipts_); }

 private:
  static std::string textOf(std::int64_t sends, std::int64_t receipts) {
    return std::to_string(sends) + " sends, " + std::to_string(receipts) + " receipts";
  }

  std::int64_t sends_ = 0;
  std::int64_t receipts_ = 0;
};

}  // namespace tributary::detail
