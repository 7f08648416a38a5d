// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Transport/Transport.h"

/// Blocking conveniences for set-up and results, built on the transport's few non-blocking
/// operations. All are collective: every rank calls, in the same order. What a rank can't receive
/// or read (no memory, a malformed message) all ranks throw as Error, so that they leave together.
///
/// Those that are given a ErrorCollector throw nothing: a rank notes there what went wrong on it,
/// has nothing or empty buffers for a result, and must agree on the trouble with all ranks later.
namespace tributary {

void barrier(Transport& transport);

/// Element by element over the ranks; all ranks give equally many values.
std::vector<std::int64_t> allreduce(Transport& transport, ReduceOp op,
                                    std::vector<std::int64_t> values);
std::int64_t allreduce(Transport& transport, ReduceOp op, std::int64_t value);
inline std::int64_t allreduce(Transport& transport, ReduceOp op, int value) {
  return allreduce(transport, op, std::int64_t(value));
}

/// Min and Max of doubles, exact: the same bits in whatever order ranks are combined. NaN counts as
/// larger than +infinity (or smaller than -infinity if its sign bit is set); -0 as less than +0.
/// Throws Error for the other operations, whose result would depend on the order.
std::vector<double> allreduce(Transport& transport, ReduceOp op, std::vector<double> values);
double allreduce(Transport& transport, ReduceOp op, double value);

/// Sum of `value` over the ranks before this one.
std::int64_t exclusivePrefix(Transport& transport, std::int64_t value);

/// Every rank's bytes, in rank order.
std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine, ErrorCollector& errors);
std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine);

/// Calls `read(Reader&, int rank)` for every rank's bytes, in rank order, until all is read.
template <class Read>
void allgatherRead(Transport& transport, Bytes mine, Read&& read) {
  ErrorCollector errors;
  const std::vector<Bytes> all = allgatherBytes(transport, std::move(mine), errors);
  errors.attempt([&] {
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      for (Reader reader(all[rank]); !reader.atEnd();) read(reader, static_cast<int>(rank));
  });
  errors.agree(transport);
}

/// The root's bytes on every rank.
Bytes broadcastBytes(Transport& transport, Bytes bytes, int root, ErrorCollector& errors);
Bytes broadcastBytes(Transport& transport, Bytes bytes, int root);

/// Sends `toEachRank[r]` (size() entries, of any size) to rank r and returns what each rank sent to
/// this one, in rank order. Empty buffers cost no message. Afterwards the ErrorCollector knows
/// whether a rank had an error when its sends were finished: see ErrorCollector::anyKnown().
std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank,
                                 ErrorCollector& errors);
std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank);

/// Concatenates the ranks' values in rank order. `counts`, if given, receives each rank's number.
template <class T>
std::vector<T> allgatherv(Transport& transport, Span<const T> mine,
                          std::vector<std::int64_t>* counts = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>, "serialize this type and use allgatherBytes");
  ErrorCollector errors;
  Bytes bytes;
  append(bytes, mine.data(), mine.size() * sizeof(T));
  std::vector<T> all;
  if (counts) counts->clear();
  for (const Bytes& part : allgatherBytes(transport, std::move(bytes), errors)) {
    if (part.size() % sizeof(T) != 0) {
      errors.note("malformed message: " + std::to_string(part.size()) +
                      " bytes are no whole number of values of " + std::to_string(sizeof(T)) +
                      " bytes",
                  ErrorKind::Message);
      continue;
    }
    const auto old = all.size();
    all.resize(old + part.size() / sizeof(T));
    if (!part.empty()) std::memcpy(all.data() + old, part.data(), part.size());
    if (counts) counts->push_back(static_cast<std::int64_t>(part.size() / sizeof(T)));
  }
  errors.agree(transport);
  return all;
}
template <class T>
std::vector<T> allgatherv(Transport& transport, const std::vector<T>& mine,
                          std::vector<std::int64_t>* counts = nullptr) {
  return allgatherv(transport, Span<const T>(mine.data(), mine.size()), counts);
}

/// One value of every rank, in rank order.
template <class T>
std::vector<T> allgather(Transport& transport, const T& mine) {
  ErrorCollector errors;
  std::vector<T> all;
  for (const Bytes& part : allgatherBytes(transport, Writer().value(mine).take(), errors)) {
    errors.attempt([&] { all.push_back(Reader(part).value<T>()); });
  }
  errors.agree(transport);
  return all;
}

/// What `read` makes of the root's bytes, on every rank.
template <class Read>
auto broadcastAs(Transport& transport, Bytes bytes, int root, Read&& read) {
  ErrorCollector errors;
  const Bytes arrived = broadcastBytes(transport, std::move(bytes), root, errors);
  std::optional<std::decay_t<decltype(read(std::declval<Reader&>()))>> result;
  errors.attempt([&] {
    Reader reader(arrived);
    result.emplace(read(reader));
  });
  errors.agree(transport);
  return *std::move(result);
}

/// The root's value on every rank.
template <class T>
T broadcast(Transport& transport, const T& value, int root) {
  return broadcastAs(transport, Writer().value(value).take(), root,
                     [](Reader& reader) { return reader.value<T>(); });
}
/// The root's values on every rank, whatever the others gave.
template <class T>
std::vector<T> broadcast(Transport& transport, const std::vector<T>& values, int root) {
  return broadcastAs(transport, Writer().range(values).take(), root,
                     [](Reader& reader) { return reader.range<T>(); });
}
inline std::string broadcast(Transport& transport, const std::string& text, int root) {
  return broadcastAs(transport, Writer().text(text).take(), root,
                     [](Reader& reader) { return reader.text(); });
}

}  // namespace tributary
