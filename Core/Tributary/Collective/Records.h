// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Transport/Transport.h"

/// Typed exchanges between ranks.
///
/// All functions are collective. They call the caller's functions, which build the sent records and
/// use the received ones, within the agreement on errors: if one of them or an allocation throws on
/// one rank, or a message is lost or malformed, all ranks throw Error with the text of
/// agreeOnError(), and the transport can be used again. The caller's functions must not
/// communicate.
///
/// The cost is one exchangeBytes() and one agreement, which is a reduction. The exchange itself
/// finds out whether building failed on a rank. In that case no rank uses the incomplete records.
///
/// The overloads with an ErrorCollector neither agree nor throw. They note errors in it, and the
/// caller calls ErrorCollector::agree() after the last exchange. After an error they return no
/// records.
///
/// The result is deterministic: records are in the order of their source ranks, and records of one
/// rank are in the order in which it added them.
namespace tributary {

/// The function that exchanges bytes: exchangeBytes() if each rank sends to few others, allToAll()
/// if it sends to most. It notes errors in the ErrorCollector, or throws on all ranks. A rank that
/// passes no buffers sends nothing.
using ByteExchange = std::vector<Bytes> (*)(Transport&, std::vector<Bytes> toEachRank,
                                            ErrorCollector&);

/// Converts a rank to an index. Throws Error of kind Internal unless it is in [0, ranks).
[[nodiscard]] inline std::size_t checkedRank(int rank, int ranks) {
  if (rank < 0 || rank >= ranks)
    throw Error(ErrorKind::Internal, "a record for rank " + std::to_string(rank) +
                                         ", but ranks are numbered from 0 to " +
                                         std::to_string(ranks - 1));
  return static_cast<std::size_t>(rank);
}

/// Collects the messages that this rank sends, one for each rank. Local.
class MessageOutbox {
 public:
  /// @param ranks  number of ranks of the transport
  explicit MessageOutbox(int ranks) : writers_(static_cast<std::size_t>(ranks)) {}

  /// The number of ranks.
  int ranks() const { return static_cast<int>(writers_.size()); }
  /// The message to a rank, which the caller appends to. Empty messages are not sent.
  Writer& to(int rank) { return writers_[checkedRank(rank, ranks())]; }

  /// Hands over the messages, by rank.
  [[nodiscard]] std::vector<Bytes> take() {
    std::vector<Bytes> messages;
    messages.reserve(writers_.size());
    for (Writer& writer : writers_) messages.push_back(writer.take());
    return messages;
  }

 private:
  std::vector<Writer> writers_;
};

/// Collects the records that this rank sends, by destination, as the bytes of the messages. Local.
template <class Record>
class RecordOutbox {
  static_assert(std::is_trivially_copyable_v<Record>, "use sendMessages() for this type");
  static_assert(!std::is_pointer_v<Record>, "a pointer is not valid on another rank");

 public:
  /// @param ranks  number of ranks of the transport
  explicit RecordOutbox(int ranks) : messages_(static_cast<std::size_t>(ranks)) {}

  /// The number of ranks.
  int ranks() const { return static_cast<int>(messages_.size()); }
  /// Adds a record for a rank. Throws Error if the rank does not exist.
  void add(int rank, const Record& record) { append(to(rank), &record, sizeof record); }
  /// Adds records for a rank.
  void add(int rank, Span<const Record> records) {
    append(to(rank), records.data(), records.size() * sizeof(Record));
  }
  /// Reserves memory for a total number of records for a rank.
  void reserve(int rank, std::size_t records) { to(rank).reserve(records * sizeof(Record)); }
  /// The number of records for a rank.
  [[nodiscard]] std::size_t count(int rank) const {
    return messages_[checkedRank(rank, ranks())].size() / sizeof(Record);
  }

  /// Hands over the messages, by rank.
  [[nodiscard]] std::vector<Bytes> take() { return std::move(messages_); }

 private:
  Bytes& to(int rank) { return messages_[checkedRank(rank, ranks())]; }

  std::vector<Bytes> messages_;
};

/// Records that a rank has received, in the order of their source ranks. Local.
template <class Record>
class Records {
 public:
  /// No records.
  Records() = default;
  /// Reads the messages of all ranks, and frees them. Throws Error of kind Message if the size of
  /// one is not a multiple of that of a record.
  explicit Records(std::vector<Bytes>&& messages) {
    std::size_t bytes = 0;
    for (const Bytes& message : messages) bytes += message.size();
    offsets_.reserve(messages.size() + 1);
    offsets_.push_back(0);
    all_.resize(bytes / sizeof(Record));
    for (Bytes& message : messages) {
      const std::size_t count = message.size() / sizeof(Record);
      if (message.size() % sizeof(Record) != 0)
        refuseMessage(std::to_string(sizeof(Record)) + " bytes expected for a record, " +
                      std::to_string(message.size() % sizeof(Record)) + " of " +
                      std::to_string(message.size()) + " left from rank " +
                      std::to_string(offsets_.size() - 1));
      if (count > 0)
        std::memcpy(static_cast<void*>(all_.data() + offsets_.back()), message.data(),
                    message.size());
      offsets_.push_back(offsets_.back() + count);
      message = Bytes();
    }
  }

  /// All records, those of rank 0 first.
  std::vector<Record>& all() { return all_; }
  /// @overload
  const std::vector<Record>& all() const { return all_; }
  std::size_t size() const { return all_.size(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  /// The records of one source rank. @pre all() was not resized or reordered
  [[nodiscard]] Span<const Record> from(int rank) const {
    const auto place = static_cast<std::size_t>(rank);
    if (place + 1 >= offsets_.size()) return {};
    return {all_.data() + offsets_[place], offsets_[place + 1] - offsets_[place]};
  }

 private:
  std::vector<Record> all_;
  std::vector<std::size_t> offsets_;  // of the ranks' first records, and the end
};

/// Sends records to ranks. Collective; errors and order: see the top of this file.
/// @param fill  called as fill(RecordOutbox<Record>&): adds the records; local
/// @return the records for this rank
template <class Record, ByteExchange Exchange = exchangeBytes, class Fill>
[[nodiscard]] Records<Record> sendRecords(Transport& transport, ErrorCollector& errors,
                                          Fill&& fill) {
  std::vector<Bytes> messages;
  if (!errors.anyKnown()) {
    errors.attempt([&] {
      RecordOutbox<Record> outbox(transport.size());
      fill(outbox);
      messages = outbox.take();
    });
  }
  messages = Exchange(transport, std::move(messages), errors);
  Records<Record> records;
  if (!errors.anyKnown()) errors.attempt([&] { records = Records<Record>(std::move(messages)); });
  return records;
}

/// The same, and agrees on errors.
template <class Record, ByteExchange Exchange = exchangeBytes, class Fill>
[[nodiscard]] Records<Record> sendRecords(Transport& transport, Fill&& fill) {
  ErrorCollector errors;
  Records<Record> records =
      sendRecords<Record, Exchange>(transport, errors, std::forward<Fill>(fill));
  errors.agree(transport);
  return records;
}

/// The same, and processes the received records before the agreement.
/// @param use  called as use(Records<Record>&): checks bounds and processes the records; local;
///             refuses a record with refuseMessage()
template <class Record, ByteExchange Exchange = exchangeBytes, class Fill, class Use>
void sendRecords(Transport& transport, Fill&& fill, Use&& use) {
  ErrorCollector errors;
  Records<Record> records =
      sendRecords<Record, Exchange>(transport, errors, std::forward<Fill>(fill));
  if (!errors.anyKnown()) errors.attempt([&] { use(records); });
  errors.agree(transport);
}

/// Sends messages of any content to ranks, such as records of several types or of variable length.
/// Collective; errors: see the top of this file.
/// @param fill  called as fill(MessageOutbox&): writes the messages; local
/// @param read  called as read(std::vector<Reader>&) with a reader for each source rank; local;
///              must read all messages to their ends
template <ByteExchange Exchange = exchangeBytes, class Fill, class Read>
void sendMessages(Transport& transport, ErrorCollector& errors, Fill&& fill, Read&& read) {
  std::vector<Bytes> messages;
  if (!errors.anyKnown()) {
    errors.attempt([&] {
      MessageOutbox outbox(transport.size());
      fill(outbox);
      messages = outbox.take();
    });
  }
  messages = Exchange(transport, std::move(messages), errors);
  if (errors.anyKnown()) return;
  errors.attempt([&] {
    std::vector<Reader> readers(messages.begin(), messages.end());
    read(readers);
    for (std::size_t rank = 0; rank < readers.size(); ++rank)
      if (!readers[rank].atEnd())
        refuseMessage(std::to_string(readers[rank].remaining()) + " bytes too many from rank " +
                      std::to_string(rank));
  });
}

/// The same, and agrees on errors.
template <ByteExchange Exchange = exchangeBytes, class Fill, class Read>
void sendMessages(Transport& transport, Fill&& fill, Read&& read) {
  ErrorCollector errors;
  sendMessages<Exchange>(transport, errors, std::forward<Fill>(fill), std::forward<Read>(read));
  errors.agree(transport);
}

/// Calls visit(int rank, Reader&) for each source rank, in order, until its message is read. Local.
template <class Visit>
void readAll(std::vector<Reader>& readers, Visit&& visit) {
  for (std::size_t rank = 0; rank < readers.size(); ++rank)
    while (!readers[rank].atEnd()) visit(static_cast<int>(rank), readers[rank]);
}

/// Answers the questions that ranks asked in an earlier exchange. Collective; errors: see the top
/// of this file.
/// @param fill  called as fill(RecordOutbox<Answer>&): adds an answer to each question that this
///              rank was asked, in their order; local
/// @param countOf  called as countOf(int rank): returns the number of questions that this rank
///                 asked a rank; local
/// @return for each rank, the answers to the questions that it was asked, in their order
template <class Answer, ByteExchange Exchange = exchangeBytes, class Fill, class CountOf>
[[nodiscard]] Records<Answer> answerRanks(Transport& transport, ErrorCollector& errors, Fill&& fill,
                                          CountOf&& countOf) {
  Records<Answer> answers =
      sendRecords<Answer, Exchange>(transport, errors, std::forward<Fill>(fill));
  if (errors.anyKnown()) return {};
  const bool isWhole = errors.attempt([&] {
    for (int rank = 0; rank < transport.size(); ++rank)
      if (answers.from(rank).size() != countOf(rank))
        refuseMessage("the number of answers from rank " + std::to_string(rank) +
                      " differs from the number of questions");
  });
  if (!isWhole) return {};
  return answers;
}

/// Sends questions to ranks and returns their answers. Collective; errors: see the top of this
/// file.
/// @param fill  called as fill(RecordOutbox<Question>&): adds the questions; local
/// @param answerTo  called as answerTo(const Question&, int asker) on the rank that is asked, in
///                  the order of askers: returns an Answer, or throws to refuse; local
/// @return for each rank, the answers to the questions that it was asked, in their order
template <class Answer, class Question, ByteExchange Exchange = exchangeBytes, class Fill,
          class AnswerTo>
[[nodiscard]] Records<Answer> askRanks(Transport& transport, ErrorCollector& errors, Fill&& fill,
                                       AnswerTo&& answerTo) {
  std::vector<std::size_t> asked;
  const Records<Question> questions =
      sendRecords<Question, Exchange>(transport, errors, [&](RecordOutbox<Question>& outbox) {
        fill(outbox);
        for (int rank = 0; rank < outbox.ranks(); ++rank) asked.push_back(outbox.count(rank));
      });
  return answerRanks<Answer, Exchange>(
      transport, errors,
      [&](RecordOutbox<Answer>& outbox) {
        for (int rank = 0; rank < transport.size(); ++rank) {
          const Span<const Question> of = questions.from(rank);
          outbox.reserve(rank, of.size());
          for (const Question& question : of) outbox.add(rank, answerTo(question, rank));
        }
      },
      [&](int rank) { return asked[static_cast<std::size_t>(rank)]; });
}

/// The same, and agrees on errors.
template <class Answer, class Question, ByteExchange Exchange = exchangeBytes, class Fill,
          class AnswerTo>
[[nodiscard]] Records<Answer> askRanks(Transport& transport, Fill&& fill, AnswerTo&& answerTo) {
  ErrorCollector errors;
  Records<Answer> answers = askRanks<Answer, Question, Exchange>(
      transport, errors, std::forward<Fill>(fill), std::forward<AnswerTo>(answerTo));
  errors.agree(transport);
  return answers;
}

/// Sends questions to the ranks that own their keys. Collective; errors: see the top of this file.
/// @param questions  of this rank, in any order, possibly with duplicates
/// @param ownerOf  called as ownerOf(const Question&): returns the rank to ask; throws Error if
///                 there is none; local
/// @param answerTo  called as answerTo(const Question&, int asker) on the owner: returns an Answer,
///                  or throws to refuse; local
/// @return an answer to each question, in their order
template <class Answer, ByteExchange Exchange = exchangeBytes, class Question, class OwnerOf,
          class AnswerTo>
[[nodiscard]] std::vector<Answer> askOwners(Transport& transport,
                                            const std::vector<Question>& questions,
                                            OwnerOf&& ownerOf, AnswerTo&& answerTo) {
  ErrorCollector errors;
  std::vector<int> owners;
  const Records<Answer> answers = askRanks<Answer, Question, Exchange>(
      transport, errors,
      [&](RecordOutbox<Question>& outbox) {
        owners.reserve(questions.size());
        for (const Question& question : questions) {
          owners.push_back(ownerOf(question));
          outbox.add(owners.back(), question);
        }
      },
      std::forward<AnswerTo>(answerTo));
  std::vector<Answer> inOrder;
  if (!errors.anyKnown()) {
    errors.attempt([&] {
      inOrder.reserve(questions.size());
      std::vector<std::size_t> next(static_cast<std::size_t>(transport.size()), 0);
      for (const int owner : owners)
        inOrder.push_back(answers.from(owner)[next[static_cast<std::size_t>(owner)]++]);
    });
  }
  errors.agree(transport);
  return inOrder;
}

/// The same for keys in [0, shares.total), which ranks own by shares. Throws Error on all ranks if
/// a key is out of range.
/// @param shares  the same on all ranks
/// @param answerOf  called as answerOf(std::size_t place) on the owner, with the key's place in the
///                  share of this rank; local
template <class Answer, ByteExchange Exchange = exchangeBytes, class AnswerOf>
[[nodiscard]] std::vector<Answer> askOwners(Transport& transport, const Shares& shares,
                                            const std::vector<std::int64_t>& keys,
                                            AnswerOf&& answerOf) {
  const auto exists = [&](std::int64_t key) { return key >= 0 && key < shares.total; };
  return askOwners<Answer, Exchange>(
      transport, keys,
      [&](std::int64_t key) {
        if (!exists(key))
          throw Error("key " + std::to_string(key) + " is out of the range [0, " +
                      std::to_string(shares.total) + "); use a key in this range");
        return shares.ownerOf(key);
      },
      [&](std::int64_t key, int) -> Answer {
        if (!exists(key) || shares.ownerOf(key) != transport.rank())
          refuseMessage("key " + std::to_string(key) + " of another rank");
        return answerOf(static_cast<std::size_t>(key - shares.first(transport.rank())));
      });
}

}  // namespace tributary
