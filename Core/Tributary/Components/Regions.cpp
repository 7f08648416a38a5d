// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/Regions.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Collective/Records.h"
#include "Tributary/Collective/Shares.h"
#include "Tributary/Reduction/AllToAll.h"
#include "Tributary/Reduction/Sort.h"

namespace tributary {
namespace {

/// A region on its way to its number.
struct Candidate {
  std::int64_t rank;  // by number of cells, or 0
  RegionKey key;
  SetName root;

  bool operator<(const Candidate& other) const {
    return std::tie(rank, key, root) < std::tie(other.rank, other.key, other.root);
  }
};

/// Rows that this rank sends, each with the values of a region, by destination.
template <class Row>
class RowsByRank {
 public:
  /// @param values  of each row
  RowsByRank(int ranks, std::size_t values) : lists_(index(ranks)), values_(values) {}

  void add(int rank, const Row& row, const ValueFacts* values) {
    List& list = lists_[index(rank)];
    list.rows.push_back(row);
    list.values.insert(list.values.end(), values, values + values_);
  }
  void write(MessageOutbox& outbox) const {
    for (int rank = 0; rank < outbox.ranks(); ++rank) {
      const List& list = lists_[index(rank)];
      if (!list.rows.empty()) outbox.to(rank).range(list.rows).range(list.values);
    }
  }
  /// Calls visit(row, values) for the rows that a rank has written.
  template <class Visit>
  static void read(Reader& reader, std::size_t values, Visit&& visit) {
    const auto rows = reader.range<Row>();
    const auto ofRows = reader.range<ValueFacts>();
    if (ofRows.size() != rows.size() * values) refuseMessage("an unexpected number of values");
    for (std::size_t i = 0; i < rows.size(); ++i) visit(rows[i], ofRows.data() + i * values);
  }

 private:
  struct List {
    std::vector<Row> rows;
    std::vector<ValueFacts> values;
  };

  std::vector<List> lists_;
  std::size_t values_;
};

/// Adds up regions at the owner of their root, in the root's own place.
class Gathering {
 public:
  Gathering(Transport& transport, const Assignment& assignment,
            const std::vector<std::vector<SetName>>& roots, std::vector<BlockFacts>& blocks,
            std::size_t values, const RegionSides& sides)
      : transport_(transport),
        assignment_(assignment),
        roots_(roots),
        blocks_(blocks),
        values_(values),
        sides_(sides),
        first_(assignment.first(transport.rank())) {}

  /// @return the regions that were added up here
  std::vector<Candidate> gather(RegionOrder order) {
    std::vector<Candidate> list;
    sendMessages<allToAll>(
        transport_, [&](MessageOutbox& outbox) { sendParts(outbox); },
        [&](std::vector<Reader>& readers) {
          from_.resize(readers.size());
          readAll(readers, [&](int rank, Reader& reader) { addParts(rank, reader); });
          list = candidates(order);
        });
    return list;
  }

  /// Tells all sets of a region its number. @param numbers  of the regions added up here
  std::vector<std::vector<RegionOfSet>> spread(
      const std::vector<std::pair<SetName, std::int64_t>>& numbers) {
    std::vector<std::vector<RegionOfSet>> ofSet;
    const auto at = [&](const SetName& name) -> RegionOfSet& {
      return ofSet[index(name.block - first_)][index(name.set)];
    };
    ErrorCollector errors;
    const auto answers = answerRanks<RegionOfSet, allToAll>(
        transport_, errors,
        [&](RecordOutbox<RegionOfSet>& outbox) {
          ofSet.resize(blocks_.size());
          for (std::size_t b = 0; b < blocks_.size(); ++b) ofSet[b].resize(blocks_[b].sets.size());
          for (const auto& [root, number] : numbers) {
            const RegionFacts& facts = factsOf(root);
            at(root) = {number, facts.cells, reachesOf(facts)};
          }
          for (int rank = 0; rank < outbox.ranks(); ++rank)
            for (const SetName& root : from_[index(rank)]) outbox.add(rank, at(root));
        },
        [&](int rank) { return away_[index(rank)].size(); });
    if (!errors.anyKnown()) {
      auto answer = answers.begin();
      for (const auto& asked : away_)
        for (const auto& [block, set] : asked) ofSet[block][set] = *answer++;
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        for (std::size_t s = 0; s < ofSet[b].size(); ++s)
          if (isHere(roots_[b][s])) ofSet[b][s] = at(roots_[b][s]);
    }
    errors.agree(transport_);
    return ofSet;
  }

  const RegionFacts& factsOf(const SetName& name) const {
    return blocks_[index(name.block - first_)].sets[index(name.set)];
  }
  const ValueFacts* valuesOf(const SetName& name) const {
    return blocks_[index(name.block - first_)].values.data() + index(name.set) * values_;
  }
  bool exists(const SetName& name) const {
    return isHere(name) && name.set >= 0 &&
           index(name.set) < blocks_[index(name.block - first_)].sets.size();
  }

 private:
  struct Part {
    SetName root;
    RegionFacts facts;
  };

  /// Adds up the regions whose root is here, and sends the parts of others.
  void sendParts(MessageOutbox& outbox) {
    RowsByRank<Part> parts(outbox.ranks(), values_);
    away_.resize(index(outbox.ranks()));
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const BlockFacts& block = blocks_[b];
      for (std::size_t s = 0; s < block.sets.size(); ++s) {
        const SetName root = roots_[b][s];
        if (root == nameOf(b, s)) continue;
        const ValueFacts* own = block.values.data() + s * values_;
        if (isHere(root)) {
          add(root, block.sets[s], own);
          continue;
        }
        const int rank = assignment_.rankOf(root.block);
        parts.add(rank, {root, block.sets[s]}, own);
        away_[index(rank)].push_back({b, s});
      }
    }
    parts.write(outbox);
  }

  void addParts(int rank, Reader& reader) {
    RowsByRank<Part>::read(reader, values_, [&](const Part& part, const ValueFacts* values) {
      if (!exists(part.root)) refuseMessage("a set that does not exist");
      if (part.facts.cells < 0) refuseMessage("a negative number of cells");
      add(part.root, part.facts, values);
      from_[index(rank)].push_back(part.root);
    });
  }

  std::vector<Candidate> candidates(RegionOrder order) const {
    std::vector<Candidate> list;
    std::size_t sets = 0;
    for (const BlockFacts& block : blocks_) sets += block.sets.size();
    list.reserve(sets);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::size_t s = 0; s < blocks_[b].sets.size(); ++s) {
        const RegionFacts& facts = blocks_[b].sets[s];
        if (!(roots_[b][s] == nameOf(b, s)) || facts.cells == 0) continue;
        const std::int64_t rank = order == RegionOrder::MostCells     ? -facts.cells
                                  : order == RegionOrder::FewestCells ? facts.cells
                                                                      : 0;
        list.push_back({rank, facts.key, nameOf(b, s)});
      }
    }
    return list;
  }

  SetName nameOf(std::size_t block, std::size_t set) const {
    return {first_ + static_cast<BlockId>(block), static_cast<std::int64_t>(set)};
  }
  std::int64_t reachesOf(const RegionFacts& facts) const {
    std::int64_t reaches = 0;
    for (std::size_t a = 0; a < 3; ++a)
      if (facts.lo[a] <= sides_.lower[a] && facts.hi[a] >= sides_.upper[a])
        reaches |= std::int64_t(1) << a;
    return reaches;
  }
  bool isHere(const SetName& name) const {
    return name.block >= first_ && name.block < first_ + static_cast<BlockId>(blocks_.size());
  }
  void add(const SetName& root, const RegionFacts& facts, const ValueFacts* values) {
    BlockFacts& block = blocks_[index(root.block - first_)];
    block.sets[index(root.set)].add(facts);
    for (std::size_t v = 0; v < values_; ++v)
      block.values[index(root.set) * values_ + v].add(values[v]);
  }

  Transport& transport_;
  const Assignment& assignment_;
  const std::vector<std::vector<SetName>>& roots_;
  std::vector<BlockFacts>& blocks_;
  std::size_t values_;
  RegionSides sides_;
  BlockId first_;
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> away_;  // sets whose root is there
  std::vector<std::vector<SetName>> from_;  // roots here of sets that are there
};

/// Puts the regions of all ranks in order.
/// @param total  of all ranks' candidates
/// @return the numbers of this rank's candidates
std::vector<std::pair<SetName, std::int64_t>> numbersOf(Transport& transport,
                                                        const Assignment& assignment,
                                                        const Gathering& gathering,
                                                        std::int64_t total,
                                                        std::vector<Candidate> candidates) {
  if (transport.size() == 1) {
    std::sort(candidates.begin(), candidates.end());
  } else {
    std::optional<Assignment> oneEach;
    KValues kValues;
    std::vector<std::vector<Candidate>> mine;
    collectively(transport, [&] {
      oneEach.emplace(std::vector<std::int64_t>(index(transport.size()), 1));
      kValues = AllToAll::defaultKValues(transport.size());
      mine.push_back(std::move(candidates));
    });
    SampleSort<Candidate> sort(transport, *oneEach, std::move(kValues));
    candidates = std::move(sort.run(std::move(mine)).front());
  }
  std::int64_t next = exclusivePrefix(transport, static_cast<std::int64_t>(candidates.size()));
  struct Numbered {
    SetName root;
    std::int64_t number;
  };
  std::vector<std::pair<SetName, std::int64_t>> list;
  const auto take = [&](const SetName& root, std::int64_t number) {
    if (!gathering.exists(root)) refuseMessage("a set that does not exist");
    if (number < 0 || number >= total) refuseMessage("a number that no region has");
    list.emplace_back(root, number);
  };
  sendRecords<Numbered, allToAll>(
      transport,
      [&](RecordOutbox<Numbered>& outbox) {
        list.reserve(candidates.size());
        for (const Candidate& candidate : candidates) {
          // Those of this rank, on one rank all, need no message.
          if (gathering.exists(candidate.root))
            take(candidate.root, next);
          else
            outbox.add(assignment.rankOf(candidate.root.block), {candidate.root, next});
          ++next;
        }
      },
      [&](const Records<Numbered>& received) {
        list.reserve(list.size() + received.size());
        for (const Numbered& one : received) take(one.root, one.number);
      });
  return list;
}

/// Moves the regions added up here to the rows of the table, wherever they are. Collective.
void fillTable(Transport& transport, const Gathering& gathering,
               const std::vector<std::pair<SetName, std::int64_t>>& numbers, std::size_t values,
               RegionTable& table) {
  struct Row {
    std::int64_t number;
    RegionFacts facts;
  };
  const Shares shares{table.total, transport.size()};
  table.first = shares.first(transport.rank());
  const std::size_t count = index(shares.count(transport.rank()));
  const auto place = [&](const Row& row, const ValueFacts* own) {
    const std::size_t at = index(row.number - table.first);
    table.regions[at] = row.facts;
    std::copy_n(own, values, table.values.begin() + static_cast<std::ptrdiff_t>(at * values));
  };
  const auto fill = [&](MessageOutbox& outbox) {
    table.regions.resize(count);
    table.values.resize(count * values);
    RowsByRank<Row> rows(outbox.ranks(), values);
    for (const auto& [root, number] : numbers) {
      const Row row{number, gathering.factsOf(root)};
      const int rank = shares.ownerOf(number);
      const ValueFacts* own = gathering.valuesOf(root);
      if (rank == transport.rank())
        place(row, own);
      else
        rows.add(rank, row, own);
    }
    rows.write(outbox);
  };
  sendMessages<allToAll>(transport, fill, [&](std::vector<Reader>& readers) {
    readAll(readers, [&](int, Reader& reader) {
      RowsByRank<Row>::read(reader, values, [&](const Row& row, const ValueFacts* own) {
        if (row.number < table.first || index(row.number - table.first) >= count)
          refuseMessage("a region of another rank");
        place(row, own);
      });
    });
  });
}

}  // namespace

std::uint64_t orderedBits(double value) {
  if (value == 0) value = 0;  // -0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr std::uint64_t Sign = std::uint64_t(1) << 63;
  return (bits & Sign) != 0 ? ~bits : bits | Sign;
}

void RegionFacts::add(const RegionFacts& part) {
  key = std::min(key, part.key);
  addChecked(cells, part.cells);
  addChecked(measure, part.measure);
  for (std::size_t a = 0; a < 3; ++a) {
    addChecked(moment[a], part.moment[a]);
    lo[a] = std::min(lo[a], part.lo[a]);
    hi[a] = std::max(hi[a], part.hi[a]);
  }
}

void ValueFacts::add(const ValueFacts& part) {
  least = std::min(least, part.least);
  most = std::max(most, part.most);
  addChecked(integral, part.integral);
  addChecked(notFinite, part.notFinite);
}

NumberedRegions numberRegions(Transport& transport, const Assignment& assignment,
                              const std::vector<std::vector<SetName>>& roots,
                              std::vector<BlockFacts> blocks, std::size_t values, RegionOrder order,
                              const RegionSides& sides) {
  Gathering gathering(transport, assignment, roots, blocks, values, sides);
  auto candidates = gathering.gather(order);
  NumberedRegions regions;
  RegionTable& table = regions.table;
  table.total = allreduce(transport, ReduceOp::Sum, static_cast<std::int64_t>(candidates.size()));
  const auto numbers =
      numbersOf(transport, assignment, gathering, table.total, std::move(candidates));
  regions.ofSet = gathering.spread(numbers);
  fillTable(transport, gathering, numbers, values, table);
  return regions;
}

std::vector<std::int64_t> addPoints(Transport& transport, std::int64_t total,
                                    std::vector<RegionCount> counts) {
  const Shares shares{total, transport.size()};
  const std::int64_t first = shares.first(transport.rank());
  std::vector<std::int64_t> points;
  sendRecords<RegionCount, allToAll>(
      transport,
      [&](RecordOutbox<RegionCount>& outbox) {
        points.resize(index(shares.count(transport.rank())));
        for (const RegionCount& count : counts) {
          if (count.region < 0 || count.region >= total)
            throw Error("points of region " + std::to_string(count.region) +
                        ", which does not exist; give one in [0, " + std::to_string(total - 1) +
                        "]");
          // Most are of this rank, on one rank all.
          if (const int owner = shares.ownerOf(count.region); owner != transport.rank())
            outbox.add(owner, count);
          else
            points[index(count.region - first)] += count.count;
        }
      },
      [&](const Records<RegionCount>& received) {
        for (const RegionCount& count : received) {
          if (count.region < first || index(count.region - first) >= points.size())
            refuseMessage("points of a region of another rank");
          addChecked(points[index(count.region - first)], count.count);
        }
      });
  return points;
}

}  // namespace tributary
