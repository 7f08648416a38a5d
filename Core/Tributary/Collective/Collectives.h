// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Transport/Transport.h"

/// Blocking collective operations for set-up and results, on top of the non-blocking operations of
/// the transport. All ranks must call them in the same order. If a rank has no memory for a
/// message or the result, or a message is malformed, all ranks throw Error.
///
/// The overloads with an ErrorCollector do not throw these errors. They note them in it, and on
/// ranks with an error what they return must not be used; functions that gather return nothing
/// there. The caller must call ErrorCollector::agree() later.
///
/// Ranks cannot agree on errors of the communication itself: an MpiError, and std::bad_alloc if
/// there is no memory for the state of a send or a receipt or for the values of a reduction, which
/// are small. These are thrown on one rank, and others may wait for it: the caller must end the
/// work with Transport::abandon().
namespace tributary {

/// Blocks until all ranks have called it.
void barrier(Transport& transport);

/// Element-wise all-reduce. All ranks must pass the same number of values.
[[nodiscard]] std::vector<std::int64_t> allreduce(Transport& transport, ReduceOp op,
                                                  std::vector<std::int64_t> values);
/// All-reduce of one value.
[[nodiscard]] std::int64_t allreduce(Transport& transport, ReduceOp op, std::int64_t value);
/// @overload
[[nodiscard]] inline std::int64_t allreduce(Transport& transport, ReduceOp op, int value) {
  return allreduce(transport, op, std::int64_t(value));
}

/// Element-wise minimum or maximum of doubles. The result has the same bits for any order of ranks.
/// NaN is greater than +infinity, or less than -infinity if its sign bit is set. -0 is less than
/// +0. Throws Error for other operations, whose result would depend on the order.
[[nodiscard]] std::vector<double> allreduce(Transport& transport, ReduceOp op,
                                            std::vector<double> values);
/// Minimum or maximum of one double.
[[nodiscard]] double allreduce(Transport& transport, ReduceOp op, double value);

/// Whether all ranks pass the same values, by one reduction. All ranks must pass the same number of
/// values.
[[nodiscard]] bool sameOnAllRanks(Transport& transport, std::vector<std::int64_t> values);
/// The same reduction also agrees on errors: see ErrorCollector::agree(). The values of a rank with
/// an error do not matter.
[[nodiscard]] bool sameOnAllRanks(Transport& transport, std::vector<std::int64_t> values,
                                  const ErrorCollector& errors);

/// The sum of `count` over all lower ranks.
/// @param count  at least 0; if one is not, or if a sum exceeds MostCounted, all ranks throw Error
[[nodiscard]] std::int64_t exclusivePrefix(Transport& transport, std::int64_t count);
/// The largest sum of exclusivePrefix(). No memory holds as many things, and the sum of a few such
/// numbers does not overflow.
constexpr std::int64_t MostCounted = std::int64_t(1) << 60;

/// Gathers the bytes of all ranks on all ranks. @return by rank
[[nodiscard]] std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine,
                                                ErrorCollector& errors);
/// Throws Error on all ranks instead of collecting errors.
[[nodiscard]] std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine);

/// Gathers the bytes of all ranks on all ranks and reads them.
/// @param read  called as `read(Reader&, int rank)` until the bytes of each rank are read, in the
///              order of ranks; may throw
template <class Read>
void allgatherRead(Transport& transport, Bytes mine, ErrorCollector& errors, Read&& read) {
  const std::vector<Bytes> all = allgatherBytes(transport, std::move(mine), errors);
  if (errors.any()) return;
  errors.attempt([&] {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      for (Reader reader(all[rank]); !reader.atEnd();) read(reader, static_cast<int>(rank));
  });
}
/// Throws Error on all ranks instead of collecting errors.
template <class Read>
void allgatherRead(Transport& transport, Bytes mine, Read&& read) {
  ErrorCollector errors;
  allgatherRead(transport, std::move(mine), errors, std::forward<Read>(read));
  errors.agree(transport);
}

/// Sends bytes of the root to all ranks. @return the bytes of the root
[[nodiscard]] Bytes broadcastBytes(Transport& transport, Bytes bytes, int root,
                                   ErrorCollector& errors);
/// Throws Error on all ranks instead of collecting errors.
[[nodiscard]] Bytes broadcastBytes(Transport& transport, Bytes bytes, int root);

/// Sends `toEachRank[r]` to rank r: a sparse, dynamic data exchange. Empty buffers are not sent.
/// For dense exchanges see allToAll(). Also finds out whether a rank had an error before its sends
/// were finished: see ErrorCollector::anyKnown().
///
/// Algorithm: T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable Communication Protocols for Dynamic
/// Sparse Data Exchange", PPoPP 2010, doi:10.1145/1693453.1693476 (NBX), with a reduction in place
/// of the barrier.
/// @param toEachRank  one buffer for each rank, of any size, or none: then this rank sends nothing
/// @return the bytes from each rank, by rank
[[nodiscard]] std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank,
                                               ErrorCollector& errors);
/// Throws Error on all ranks instead of collecting errors.
[[nodiscard]] std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank);

/// Concatenates the values of all ranks, in the order of ranks. After an error returns none.
/// @param counts  if not null, set to the number of values of each rank
template <class T>
[[nodiscard]] std::vector<T> allgatherv(Transport& transport, Span<const T> mine,
                                        ErrorCollector& errors,
                                        std::vector<std::int64_t>* counts = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "serialize this type and use allgatherBytes");
  Bytes bytes;
  errors.attempt([&] { append(bytes, mine.data(), mine.size() * sizeof(T)); });
  const std::vector<Bytes> parts = allgatherBytes(transport, std::move(bytes), errors);
  if (errors.any()) return {};
  std::vector<T> all;
  errors.attempt([&] {
    if (counts) counts->clear();
    for (const Bytes& part : parts) {
      if (part.size() % sizeof(T) != 0) {
        refuseMessage(std::to_string(part.size()) +
                      " bytes is not a multiple of the size of a value, " +
                      std::to_string(sizeof(T)) + " bytes");
      }
      const auto old = all.size();
      all.resize(old + part.size() / sizeof(T));
      if (!part.empty()) std::memcpy(all.data() + old, part.data(), part.size());
      if (counts) counts->push_back(static_cast<std::int64_t>(part.size() / sizeof(T)));
    }
  });
  if (errors.any()) all.clear();
  return all;
}
/// The same, if this rank knows the numbers of values.
/// @param countOf  called as countOf(int rank): returns the number of values of a rank. Another
///                 number is an error of kind Message.
template <class T, class CountOf, class = std::enable_if_t<std::is_invocable_v<CountOf, int>>>
[[nodiscard]] std::vector<T> allgatherv(Transport& transport, Span<const T> mine,
                                        ErrorCollector& errors, CountOf&& countOf) {
  std::vector<std::int64_t> counts;
  std::vector<T> all = allgatherv(transport, mine, errors, &counts);
  if (errors.any()) return {};
  errors.attempt([&] {
    for (int rank = 0; rank < transport.size(); ++rank) {
      const std::int64_t count = counts[static_cast<std::size_t>(rank)], expected = countOf(rank);
      if (count != expected)
        refuseMessage(std::to_string(expected) + " values expected from rank " +
                      std::to_string(rank) + ", which sent " + std::to_string(count));
    }
  });
  if (errors.any()) all.clear();
  return all;
}
/// Concatenates the values of all ranks, in the order of ranks, and agrees on errors.
/// @param counts  if not null, set to the number of values of each rank
template <class T>
[[nodiscard]] std::vector<T> allgatherv(Transport& transport, Span<const T> mine,
                                        std::vector<std::int64_t>* counts = nullptr) {
  ErrorCollector errors;
  std::vector<T> all = allgatherv(transport, mine, errors, counts);
  errors.agree(transport);
  return all;
}
/// @overload
template <class T>
[[nodiscard]] std::vector<T> allgatherv(Transport& transport, const std::vector<T>& mine,
                                        std::vector<std::int64_t>* counts = nullptr) {
  return allgatherv(transport, Span<const T>(mine.data(), mine.size()), counts);
}

/// Gathers one value of each rank on all ranks. @return by rank
template <class T>
[[nodiscard]] std::vector<T> allgather(Transport& transport, const T& mine) {
  ErrorCollector errors;
  Bytes bytes;
  errors.attempt([&] { bytes = Writer().value(mine).take(); });
  const std::vector<Bytes> parts = allgatherBytes(transport, std::move(bytes), errors);
  std::vector<T> all;
  errors.attempt([&] {
    for (const Bytes& part : parts) all.push_back(Reader(part).value<T>());
  });
  errors.agree(transport);
  return all;
}

/// Sends bytes of the root to all ranks and reads them.
/// @param write  `write()` returns the bytes; called on the root only; may throw
/// @param read  `read(Reader&)`; may throw
/// @return the result of `read`
template <class Write, class Read, class = std::enable_if_t<std::is_invocable_r_v<Bytes, Write>>>
[[nodiscard]] auto broadcastAs(Transport& transport, Write&& write, int root, Read&& read) {
  ErrorCollector errors;
  Bytes bytes;
  if (transport.rank() == root) errors.attempt([&] { bytes = write(); });
  const Bytes arrived = broadcastBytes(transport, std::move(bytes), root, errors);
  std::optional<std::decay_t<decltype(read(std::declval<Reader&>()))>> result;
  errors.attempt([&] {
    Reader reader(arrived);
    result.emplace(read(reader));
  });
  errors.agree(transport);
  return *std::move(result);
}
/// @overload
template <class Read>
[[nodiscard]] auto broadcastAs(Transport& transport, Bytes bytes, int root, Read&& read) {
  return broadcastAs(
      transport, [&] { return std::move(bytes); }, root, std::forward<Read>(read));
}

/// Sends a value of the root to all ranks. @return the value of the root
template <class T>
[[nodiscard]] T broadcast(Transport& transport, const T& value, int root) {
  return broadcastAs(
      transport, [&] { return Writer().value(value).take(); }, root,
      [](Reader& reader) { return reader.value<T>(); });
}
/// Sends values of the root to all ranks. Other ranks may pass any values.
template <class T>
[[nodiscard]] std::vector<T> broadcast(Transport& transport, const std::vector<T>& values,
                                       int root) {
  return broadcastAs(
      transport, [&] { return Writer().range(values).take(); }, root,
      [](Reader& reader) { return reader.range<T>(); });
}
/// @overload
[[nodiscard]] inline std::string broadcast(Transport& transport, const std::string& text,
                                           int root) {
  return broadcastAs(
      transport, [&] { return Writer().text(text).take(); }, root,
      [](Reader& reader) { return reader.text(); });
}

}  // namespace tributary
