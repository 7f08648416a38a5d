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

/// Calls `visit(Span<Item>)` for each group of items with equal keys. Local. The order of
/// groups is a function of the items.
/// @param hashOf  a 64-bit hash of an item's key, with random upper bits
/// @param less  orders items by key, and items of a group as the visitor needs them
/// @param same  whether two items have the same key
/// @param visit  may change the items of its group
template <class Item, class HashOf, class Less, class Same, class Visit>
void forEachGroup(const std::vector<Item>& items, HashOf&& hashOf, Less&& less, Same&& same,
                  Visit&& visit) {
  // Distribute the items by the upper bits of their hashes to buckets of a few items, which are
  // sorted in the cache.
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

/// A record on the rank at which all records with its key meet.
template <class Record>
struct Met {
  Record record;
  int rank;  ///< the rank that the record belongs to
};

/// Matches records of all ranks by key. Collective. Each record is sent to a rank that the hash of
/// its key determines. That rank processes the group of each key and sends answers. Throws Error on
/// all ranks if one fails. If the hash distributes keys evenly, the memory of each rank is
/// proportional to the average number of records.
///
/// @param errors  receives errors, which the caller agrees on; after one there are no answers
/// @param mine  the records of this rank
/// @param hashOf  see forEachGroup()
/// @param less  see forEachGroup(); the order of equal records is undefined
/// @param same  see forEachGroup()
/// @param reply  called as `reply(Span<Met<Record>> group, send)`, once for each group, on one
///               rank; answers with `send(int rank, const Answer&)`; may throw
/// @return the answers to this rank, in the order of their source ranks
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
