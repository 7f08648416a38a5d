// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

/// Calls `visit(Span<Item>)` for each group of items with equal keys.
/// @param hashOf  of an item: well mixed, equal for equal keys
/// @param less  orders items by key, and within a key as the visitor wants them
/// @param same  whether two items have the same key
template <class Item, class HashOf, class Less, class Same, class Visit>
void forEachGroup(const std::vector<Item>& items, HashOf&& hashOf, Less&& less, Same&& same,
                  Visit&& visit) {
  // By the hash's upper bits into buckets of a few items each, which are sorted in the cache.
  int shift = 63;
  while (shift > 32 && (std::size_t(4) << (63 - shift)) < items.size()) --shift;
  std::vector<std::size_t> begin((std::size_t(1) << (64 - shift)) + 1, 0);
  for (const Item& item : items) ++begin[(hashOf(item) >> shift) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<Item, UninitializedAllocator<Item>> sorted(items.size());
  for (const Item& item : items) sorted[begin[hashOf(item) >> shift]++] = item;
  // Now begin[i] is the end of bucket i.
  std::size_t at = 0;
  for (const std::size_t end : begin) {
    if (end == at) continue;
    if (end - at > 1) std::sort(sorted.data() + at, sorted.data() + end, less);
    for (std::size_t stop = at; at < end; at = stop) {
      while (++stop < end && same(sorted[at], sorted[stop])) {
      }
      visit(Span<Item>(sorted.data() + at, stop - at));
    }
  }
}

/// A record at the place where those of its key meet.
template <class Record>
struct Met {
  Record record;
  int rank;  ///< whose it is
};

/// Brings together records of all ranks that have the same key: each travels to the rank that its
/// hash names, which looks at the groups and answers. Memory follows a rank's own records as far as
/// the hash spreads them evenly. Collective. Throws Error on all ranks if one fails.
///
/// @param hashOf, less, same  of records, as for forEachGroup(); ties of `less` are arbitrary
/// @param reply  `reply(Span<Met<Record>> group, send)` for each group on some rank, where
///               `send(int rank, const Answer&)` answers; may throw
/// @return what this rank was answered
template <class Answer, class Record, class HashOf, class Less, class Same, class Reply>
std::vector<Answer> rendezvous(Transport& transport, std::vector<Record> mine, HashOf&& hashOf,
                               Less&& less, Same&& same, Reply&& reply) {
  static_assert(std::is_trivially_copyable_v<Record> && std::is_trivially_copyable_v<Answer>);
  const auto ranks = static_cast<std::size_t>(transport.size());
  ErrorCollector errors;
  std::vector<Writer> outgoing(ranks);
  const auto exchange = [&] {
    std::vector<Bytes> messages;
    for (Writer& writer : outgoing) messages.push_back(writer.take());
    return exchangeBytes(transport, std::move(messages), errors);
  };
  for (const Record& record : mine) outgoing[hashOf(record) % ranks].value(record);
  mine = {};

  const std::vector<Bytes> questions = exchange();
  errors.attempt([&] {
    std::vector<Met<Record>> met;
    std::size_t bytes = 0;
    for (const Bytes& question : questions) bytes += question.size();
    met.reserve(bytes / sizeof(Record));
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      Reader reader(questions[rank]);
      while (!reader.atEnd()) met.push_back({reader.value<Record>(), static_cast<int>(rank)});
    }
    forEachGroup(
        met, [&](const auto& m) { return hashOf(m.record); },
        [&](const auto& a, const auto& b) { return less(a.record, b.record); },
        [&](const auto& a, const auto& b) { return same(a.record, b.record); },
        [&](Span<Met<Record>> group) {
          reply(group, [&](int rank, const Answer& answer) {
            outgoing[static_cast<std::size_t>(rank)].value(answer);
          });
        });
  });
  const std::vector<Bytes> replies = exchange();
  std::vector<Answer> answers;
  errors.attempt([&] {
    for (const Bytes& bytes : replies) {
      Reader reader(bytes);
      while (!reader.atEnd()) answers.push_back(reader.value<Answer>());
    }
  });
  errors.agree(transport);
  return answers;
}

}  // namespace tributary
