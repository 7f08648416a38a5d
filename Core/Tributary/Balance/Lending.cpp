// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Balance/Lending.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary {
namespace {

enum class Kind : std::int64_t {
  Request,  // of an idle rank
  Offer,    // of work in `block`, to a rank that has asked
  Accept,   // of the offer, by a rank that has the block
  Need,     // of the offer, by a rank that has room for a copy
  Refuse,   // of the offer; ends the request
  Loan,     // ends the request; a copy of `bytes` bytes and items follow
  Nothing,  // instead of a loan; the request stands
  Receipt,  // of a loan; with the size of its copy
  Remains   // of a copy of `block`, for its owner; bytes follow
};

/// Moves a mean towards a new measurement.
void update(double& mean, double measured) {
  mean = (mean + measured) / 2;
}

template <class Note>
Bytes messageOf(const Note& note) {
  Writer writer;
  writer.value(note);
  return writer.take();
}

}  // namespace

/// The beginning of each message.
struct Lending::Note {
  Kind kind;
  BlockId block = -1;
  std::uint64_t bytes = 0;   ///< Of a copy in the message.
  std::uint64_t memory = 0;  ///< CopySize::memory
  /// Offer, acceptance: what the sender's work is expected to take. Loan: how long the message
  /// before may have waited for its reader. Receipt: how long the loan was on its way, and was
  /// read.
  double seconds = 0;
};

/// A rank that may lend to this one and borrow from it.
struct Lending::Neighbor {
  int rank = -1;
  // This rank as a borrower.
  bool asked = false;      ///< It has been asked, and has not answered.
  bool offers = false;     ///< It waits for the answer to an offer,
  BlockId offer = -1;      ///< which is of work in this block,
  std::size_t memory = 0;  ///< whose copy takes this,
  double seconds = 0;      ///< and all its work is expected to take this.
  // As a lender.
  bool asks = false;     ///< It has asked.
  BlockId offered = -1;  ///< It has an offer of work in this block. -1 if it has none.
  /// Blocks of which it had no copy, and has got none. Others may be there: an answer tells.
  std::set<BlockId> lacks;
  /// The bytes of the copy in a loan of which there is no receipt.
  std::optional<std::uint64_t> lent;
};

Lending::Lending(const Transport& transport, const Assignment& blocks, LendableWork& work,
                 const LendingOptions& options)
    : transport_(transport),
      blocks_(blocks),
      work_(work),
      memory_(options.memory),
      ownPolicy_(options.policy ? nullptr : makeDefaultPolicy(std::uint64_t(transport.rank()))),
      policy_(options.policy ? *options.policy : *ownPolicy_),
      timeline_(options.timeline),
      turn_(transport.now()),
      turnBefore_(turn_),
      rates_(options.rates) {
  int bit = 1;
  while (bit < transport.size()) bit *= 2;
  for (; bit > 0; bit /= 2) {
    const int rank = transport.rank() ^ bit;
    if (rank < transport.size()) neighbors_.emplace_back().rank = rank;
  }
  for (const BlockCopy& copy : work.copies()) copies_[copy.block] = {copy.memory, 0};
}

Lending::~Lending() = default;

Lending::Neighbor& Lending::neighborOf(int rank) {
  for (Neighbor& neighbor : neighbors_)
    if (neighbor.rank == rank) return neighbor;
  refuseMessage("a note about a loan from rank " + std::to_string(rank) + ", which lends nothing");
}

void Lending::receive(int from, Span<const std::byte> message, const Post& post) {
  Reader reader(message);
  const auto note = reader.value<Note>();
  const bool more = note.kind == Kind::Loan || note.kind == Kind::Remains;
  if (!more && !reader.atEnd()) refuseMessage("bytes after a note about a loan");
  if (!(note.seconds >= 0) || !std::isfinite(note.seconds))
    refuseMessage("a note about a loan with a time that is no time");
  switch (note.kind) {
    case Kind::Remains: {
      const int rank = transport_.rank();
      const auto mine = static_cast<std::uint64_t>(blocks_.count(rank));
      if (offsetOf(note.block, blocks_.first(rank)) >= mine)
        refuseMessage("remains of a copy of another rank's block");
      work_.takeBack(note.block, reader);
      if (!reader.atEnd()) refuseMessage("bytes after the remains of a copy");
      return;
    }
    case Kind::Request: {
      Neighbor& neighbor = neighborOf(from);
      if (neighbor.asks) refuseMessage("a second request for a loan");
      neighbor.asks = true;
      ++asking_;
      return;
    }
    case Kind::Offer:
      onOffer(neighborOf(from), note);
      return answerOffers(post);
    case Kind::Accept:
    case Kind::Need:
    case Kind::Refuse:
      return onAnswer(neighborOf(from), note, post);
    case Kind::Loan:
    case Kind::Nothing:
      onLoan(neighborOf(from), note, reader, post);
      return answerOffers(post);
    case Kind::Receipt:
      if (std::exchange(neighborOf(from).lent, std::nullopt) != note.bytes)
        refuseMessage("a receipt for no loan");
      --lent_;
      if (note.bytes > 0)
        update(rates_.transferSecondsPerByte, note.seconds / double(note.bytes));
      else
        update(rates_.latency, note.seconds / 2);  // there and back
      return;
  }
  refuseMessage("a note about a loan of an unknown kind");
}

void Lending::settle(const Post& post) {
  turnBefore_ = std::exchange(turn_, transport_.now());
  const bool idle = work_.idle();
  if (!idle) hadWork_ = true;
  if (memory_ > 0 && hadWork_ && policy_.asks(idle)) ask(post);
  if (asking_ > 0 && !idle) offer(post);
}

void Lending::ask(const Post& post) {
  hadWork_ = false;
  for (Neighbor& neighbor : neighbors_) {
    if (neighbor.asked) continue;
    neighbor.asked = true;
    post(neighbor.rank, messageOf(Note{Kind::Request}));
    ++statistics_.requests;
  }
}

LoanTerms Lending::termsOf(const WaitingWork& waiting, std::size_t copyBytes) const {
  LoanTerms terms;
  terms.seconds = work_.expectedSeconds();
  terms.blockSeconds = waiting.seconds;
  terms.items = waiting.items;
  terms.copyBytes = copyBytes;
  terms.latency = rates_.latency;
  terms.writeSecondsPerByte = rates_.writeSecondsPerByte;
  terms.transferSecondsPerByte = rates_.transferSecondsPerByte;
  return terms;
}

/// Offers work to all that ask, as long as there would be enough if those before got theirs.
void Lending::offer(const Post& post) {
  const WaitingWork fullest = work_.fullest();
  if (fullest.block < 0) return;
  const CopySize size = work_.copySize(fullest.block);
  LoanTerms terms = termsOf(fullest, 0);
  const double seconds = terms.seconds;
  const auto halve = [&] {
    terms.seconds /= 2;
    terms.blockSeconds /= 2;
    terms.items /= 2;
  };
  for (int others = offered_; others > 0 && terms.items > 0; --others) halve();
  for (Neighbor& neighbor : neighbors_) {
    if (!neighbor.asks || neighbor.offered >= 0) continue;
    terms.copyBytes = neighbor.lacks.count(fullest.block) > 0 ? size.message : 0;
    if (policy_.plan(terms).items < 1) continue;
    neighbor.offered = fullest.block;
    --asking_;
    ++offered_;
    ++statistics_.offers;
    post(neighbor.rank, messageOf(Note{Kind::Offer, fullest.block, 0, size.memory, seconds}));
    halve();
  }
}

void Lending::onOffer(Neighbor& from, const Note& note) {
  if (!from.asked || from.offers || &from == accepted_)
    refuseMessage("an offer of a loan without a request");
  if (!blocks_.exists(note.block)) refuseMessage("an offer of work in a block that does not exist");
  from.offers = true;
  from.offer = note.block;
  from.memory = note.memory;
  from.seconds = note.seconds;
}

/// Answers offers, that of the rank with the most work first, until one is accepted.
void Lending::answerOffers(const Post& post) {
  while (!accepted_) {
    Neighbor* best = nullptr;
    for (Neighbor& neighbor : neighbors_)
      if (neighbor.offers && (!best || neighbor.seconds > best->seconds)) best = &neighbor;
    if (!best) return;
    best->offers = false;
    const double own = work_.expectedSeconds();
    Kind answer = Kind::Refuse;
    if (policy_.accepts(work_.idle(), best->seconds, own)) {
      if (work_.has(best->offer))
        answer = Kind::Accept;
      else if (reserve(best->offer, best->memory, post))
        answer = Kind::Need;
    }
    if (answer == Kind::Refuse) {
      best->asked = false;
    } else {
      accepted_ = best;
      acceptedAt_ = transport_.now();
    }
    post(best->rank, messageOf(Note{answer, best->offer, 0, 0, own}));
  }
}

/// Makes room for a copy: drops others that nothing waits in, the least recently used first.
/// @return false if there is not enough
bool Lending::reserve(BlockId block, std::size_t memory, const Post& post) {
  if (memory > memory_) return false;
  std::size_t used = 0;
  std::vector<std::pair<std::int64_t, BlockId>> unused;
  for (const auto& [other, copy] : copies_) {
    used += copy.memory;
    if (work_.isUnused(other)) unused.emplace_back(copy.lastUse, other);
  }
  std::sort(unused.begin(), unused.end());
  std::size_t drops = 0;
  for (; used > memory_ - memory && drops < unused.size(); ++drops)
    used -= copies_.at(unused[drops].second).memory;
  if (used > memory_ - memory) return false;
  unused.resize(drops);
  for (const auto& [lastUse, other] : unused) {
    const Bytes remains = work_.drop(other);
    copies_.erase(other);
    ++statistics_.dropped;
    if (remains.empty()) continue;
    Bytes message = messageOf(Note{Kind::Remains, other});
    append(message, remains.data(), remains.size());
    post(blocks_.rankOf(other), std::move(message));
  }
  copies_[block] = {memory, ++uses_};
  statistics_.copyMemory =
      std::max(statistics_.copyMemory, static_cast<std::int64_t>(used + memory));
  return true;
}

/// A rank that has asked answers an offer.
void Lending::onAnswer(Neighbor& from, const Note& note, const Post& post) {
  if (from.offered < 0 || from.offered != note.block)
    refuseMessage("an answer to an offer that was not made");
  from.offered = -1;
  --offered_;
  if (note.kind == Kind::Refuse) {
    from.asks = false;
    return;
  }
  const bool copies = note.kind == Kind::Need;
  if (copies) from.lacks.insert(note.block);
  // The offer may be of work in a copy that has made room for another one since.
  const WaitingWork waiting = work_.has(note.block) ? work_.waitingIn(note.block) : WaitingWork();
  PlannedLoan loan;
  if (waiting.items > 0) {
    const CopySize size = work_.copySize(note.block);
    LoanTerms terms = termsOf(waiting, copies ? size.message : 0);
    terms.borrowerSeconds = note.seconds;
    loan = policy_.plan(terms);
  }
  if (loan.items < 1) {
    ++asking_;
    return post(from.rank, messageOf(Note{Kind::Nothing, note.block}));
  }
  from.asks = false;
  post(from.rank, loanOf(from, note.block, copies, std::min(loan.items, waiting.items)));
  statistics_.expectedGain += loan.gain;
}

/// @param copies  whether it contains a copy
Bytes Lending::loanOf(Neighbor& to, BlockId block, bool copies, std::int64_t items) {
  // The answer may have arrived just after this rank last looked.
  const double start = transport_.now();
  Note note{Kind::Loan, block, 0, 0, start - turnBefore_};
  Writer message;
  message.value(note);
  if (copies) {
    to.lacks.erase(block);
    const double begin = transport_.now();
    message.reserve(sizeof note + work_.copySize(block).message);
    work_.writeCopy(block, message);
    note.bytes = message.size() - sizeof note;
    const double seconds = transport_.now() - begin;
    note.seconds += seconds;
    update(rates_.writeSecondsPerByte, seconds / double(note.bytes));
    ++statistics_.copies;
    statistics_.bytes += static_cast<std::int64_t>(note.bytes);
  }
  work_.lend(block, items, to.rank, message);
  to.lent = note.bytes;
  ++lent_;
  ++statistics_.loans;
  statistics_.items += items;
  Bytes bytes = message.take();
  std::memcpy(bytes.data(), &note, sizeof note);
  if (timeline_)
    timeline_->add(Activity::Lend, start, transport_.now(), block, to.rank,
                   static_cast<std::int64_t>(note.bytes));
  return bytes;
}

/// The answer to an acceptance of this rank.
void Lending::onLoan(Neighbor& from, const Note& note, Reader& rest, const Post& post) {
  if (&from != accepted_ || note.block != from.offer) refuseMessage("a loan that was not accepted");
  accepted_ = nullptr;
  const bool had = work_.has(note.block);
  if (note.kind == Kind::Nothing) {
    if (!had) copies_.erase(note.block);
    return;
  }
  from.asked = false;
  hadWork_ = true;
  if (had != (note.bytes == 0)) refuseMessage("a loan with another copy than was needed");
  const double arrived = transport_.now();
  if (!had) {
    Reader copy(rest.raw(note.bytes));
    work_.readCopy(note.block, copy);
    if (!copy.atEnd()) refuseMessage("bytes after a copy of a block");
  }
  const double traveled = std::max(0.0, arrived - acceptedAt_ - note.seconds);
  post(from.rank, messageOf(Note{Kind::Receipt, note.block, note.bytes, 0,
                                 traveled + transport_.now() - arrived}));
  if (const auto copy = copies_.find(note.block); copy != copies_.end())
    copy->second.lastUse = ++uses_;
  work_.borrow(note.block, rest);
  if (timeline_)
    timeline_->add(Activity::Borrow, arrived, transport_.now(), note.block, from.rank,
                   static_cast<std::int64_t>(note.bytes));
}

std::string Lending::state() const {
  std::string text = std::to_string(hadWork_) + (accepted_ ? std::to_string(accepted_->rank) : "");
  for (const Neighbor& n : neighbors_)
    for (const std::int64_t value :
         {std::int64_t(n.asked), std::int64_t(n.offers), n.offer, std::int64_t(n.asks), n.offered,
          std::int64_t(n.lent.has_value())})
      text += ' ' + std::to_string(value);
  for (const Neighbor& n : neighbors_)
    for (const BlockId block : n.lacks)
      text += " l" + std::to_string(n.rank) + ':' + std::to_string(block);
  for (const auto& [block, copy] : copies_) {
    std::int64_t later = 0;  // only the order of uses matters
    for (const auto& other : copies_) later += other.second.lastUse > copy.lastUse;
    text += " c" + std::to_string(block) + ':' + std::to_string(later);
  }
  return text;
}

}  // namespace tributary
