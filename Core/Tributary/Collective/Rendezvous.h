// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Transport/Transport.h"

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
/// @param errors  receives errors, which the caller agrees on; after one there are no answers
/// @return what this rank was answered
template <class Answer, class Record, class HashOf, class Less, class Same, class Reply>
[[nodiscard]] std::vector<Answer> rendezvous(Transport& transport, ErrorCollector& errors,
                                             std::vector<Record> mine, HashOf&& hashOf, Less&& less,
                                             Same&& same, Reply&& reply) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  Records<Record> questions =
      sendRecords<Record>(transport, errors, [&](RecordOutbox<Record>& outbox) {
        for (const Record& record : mine)
          outbox.add(static_cast<int>(hashOf(record) % ranks), record);
        mine = {};
      });
  Records<Answer> answers =
      sendRecords<Answer>(transport, errors, [&](RecordOutbox<Answer>& outbox) {
        std::vector<Met<Record>> met;
        met.reserve(questions.size());
        for (int rank = 0; rank < transport.size(); ++rank)
          for (const Record& record : questions.from(rank)) met.push_back({record, rank});
        questions = {};
        forEachGroup(
            met, [&](const auto& m) { return hashOf(m.record); },
            [&](const auto& a, const auto& b) { return less(a.record, b.record); },
            [&](const auto& a, const auto& b) { return same(a.record, b.record); },
            [&](Span<Met<Record>> group) {
              reply(group, [&](int rank, const Answer& answer) { outbox.add(rank, answer); });
            });
      });
  return std::move(answers.all());
}

/// The same, and agrees on errors.
template <class Answer, class Record, class HashOf, class Less, class Same, class Reply>
[[nodiscard]] std::vector<Answer> rendezvous(Transport& transport, std::vector<Record> mine,
                                             HashOf&& hashOf, Less&& less, Same&& same,
                                             Reply&& reply) {
  ErrorCollector errors;
  std::vector<Answer> answers = rendezvous<Answer>(
      transport, errors, std::move(mine), std::forward<HashOf>(hashOf), std::forward<Less>(less),
      std::forward<Same>(same), std::forward<Reply>(reply));
  errors.agree(transport);
  return answers;
}

}  // namespace tributary
