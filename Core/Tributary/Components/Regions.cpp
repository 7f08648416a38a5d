// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/Regions.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
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

/// As allToAll(), at no cost on one rank.
std::vector<Bytes> scatter(Transport& transport, std::vector<Bytes> toRank,
                           ErrorCollector& errors) {
  if (transport.size() == 1) return toRank;
  return allToAll(transport, std::move(toRank), errors);
}

/// Adds up regions at the owner of their root, in the root's own place.
class Gathering {
 public:
  Gathering(Transport& transport, const Assignment& assignment,
            const std::vector<std::vector<SetName>>& roots, std::vector<BlockFacts>& blocks,
            std::size_t values)
      : transport_(transport),
        assignment_(assignment),
        roots_(roots),
        blocks_(blocks),
        values_(values),
        first_(assignment.first(transport.rank())) {}

  /// @return the regions that were added up here
  std::vector<Candidate> gather(RegionOrder order) {
    std::vector<Candidate> list;
    sendMessages<scatter>(
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
    const auto fill = [&](MessageOutbox& outbox) {
      ofSet.resize(blocks_.size());
      for (std::size_t b = 0; b < blocks_.size(); ++b) ofSet[b].resize(blocks_[b].sets.size());
      for (const auto& [root, number] : numbers) at(root) = {number, factsOf(root).cells};
      for (std::size_t r = 0; r < from_.size(); ++r) {
        std::vector<RegionOfSet> answer;
        for (const SetName& root : from_[r]) answer.push_back(at(root));
        if (!answer.empty()) outbox.to(static_cast<int>(r)).range(answer);
      }
    };
    sendMessages<scatter>(transport_, fill, [&](std::vector<Reader>& readers) {
      readAll(readers, [&](int rank, Reader& reader) {
        const auto& asked = away_[index(rank)];
        const auto answer = reader.range<RegionOfSet>();
        if (answer.size() != asked.size())
          refuseMessage("the number of answers differs from the number of questions");
        for (std::size_t i = 0; i < answer.size(); ++i)
          ofSet[asked[i].first][asked[i].second] = answer[i];
      });
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        for (std::size_t s = 0; s < ofSet[b].size(); ++s)
          if (isHere(roots_[b][s])) ofSet[b][s] = at(roots_[b][s]);
    });
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
    const std::size_t ranks = index(outbox.ranks());
    std::vector<std::vector<Part>> parts(ranks);
    std::vector<std::vector<ValueFacts>> values(ranks);
    away_.resize(ranks);
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
        const std::size_t rank = index(assignment_.rankOf(root.block));
        parts[rank].push_back({root, block.sets[s]});
        values[rank].insert(values[rank].end(), own, own + values_);
        away_[rank].push_back({b, s});
      }
    }
    for (std::size_t r = 0; r < ranks; ++r)
      if (!parts[r].empty()) outbox.to(static_cast<int>(r)).range(parts[r]).range(values[r]);
  }

  void addParts(int rank, Reader& reader) {
    const auto got = reader.range<Part>();
    const auto gotValues = reader.range<ValueFacts>();
    if (gotValues.size() != got.size() * values_) refuseMessage("regions with other values");
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!exists(got[i].root)) refuseMessage("a set that does not exist");
      add(got[i].root, got[i].facts, gotValues.data() + i * values_);
      from_[index(rank)].push_back(got[i].root);
    }
  }

  std::vector<Candidate> candidates(RegionOrder order) const {
    std::vector<Candidate> list;
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
    const Assignment oneEach(std::vector<std::int64_t>(index(transport.size()), 1));
    SampleSort<Candidate> sort(transport, oneEach, AllToAll::defaultKValues(transport.size()));
    std::vector<std::vector<Candidate>> mine(1);
    mine.front() = std::move(candidates);
    candidates = std::move(sort.run(std::move(mine)).front());
  }
  std::int64_t next = exclusivePrefix(transport, static_cast<std::int64_t>(candidates.size()));
  struct Numbered {
    SetName root;
    std::int64_t number;
  };
  std::vector<std::pair<SetName, std::int64_t>> list;
  sendRecords<Numbered, scatter>(
      transport,
      [&](RecordOutbox<Numbered>& outbox) {
        for (const Candidate& candidate : candidates)
          outbox.add(assignment.rankOf(candidate.root.block), {candidate.root, next++});
      },
      [&](const Records<Numbered>& received) {
        list.reserve(received.size());
        for (const Numbered& one : received) {
          if (!gathering.exists(one.root)) refuseMessage("a set that does not exist");
          if (one.number < 0 || one.number >= total) refuseMessage("a number that no region has");
          list.emplace_back(one.root, one.number);
        }
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
    std::vector<std::vector<Row>> rows(index(outbox.ranks()));
    std::vector<std::vector<ValueFacts>> rowValues(rows.size());
    for (const auto& [root, number] : numbers) {
      const Row row{number, gathering.factsOf(root)};
      const int rank = shares.ownerOf(number);
      const ValueFacts* own = gathering.valuesOf(root);
      if (rank == transport.rank()) {
        place(row, own);
      } else {
        rows[index(rank)].push_back(row);
        rowValues[index(rank)].insert(rowValues[index(rank)].end(), own, own + values);
      }
    }
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (!rows[r].empty()) outbox.to(static_cast<int>(r)).range(rows[r]).range(rowValues[r]);
  };
  sendMessages<scatter>(transport, fill, [&](std::vector<Reader>& readers) {
    readAll(readers, [&](int, Reader& reader) {
      const auto got = reader.range<Row>();
      const auto gotValues = reader.range<ValueFacts>();
      if (gotValues.size() != got.size() * values) refuseMessage("regions with other values");
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].number < table.first || index(got[i].number - table.first) >= count)
          refuseMessage("a region of another rank");
        place(got[i], gotValues.data() + i * values);
      }
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
  cells += part.cells;
  points += part.points;
  measure += part.measure;
  for (std::size_t a = 0; a < 3; ++a) {
    moment[a] += part.moment[a];
    lo[a] = std::min(lo[a], part.lo[a]);
    hi[a] = std::max(hi[a], part.hi[a]);
  }
}

void ValueFacts::add(const ValueFacts& part) {
  least = std::min(least, part.least);
  most = std::max(most, part.most);
  integral += part.integral;
  notFinite += part.notFinite;
}

NumberedRegions numberRegions(Transport& transport, const Assignment& assignment,
                              const std::vector<std::vector<SetName>>& roots,
                              std::vector<BlockFacts> blocks, std::size_t values,
                              RegionOrder order) {
  Gathering gathering(transport, assignment, roots, blocks, values);
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

void addPoints(Transport& transport, RegionTable& table, std::vector<RegionCount> counts) {
  const Shares shares{table.total, transport.size()};
  sendRecords<RegionCount, scatter>(
      transport,
      [&](RecordOutbox<RegionCount>& outbox) {
        for (const RegionCount& count : counts) {
          if (count.region < 0 || count.region >= table.total)
            throw Error("points of region " + std::to_string(count.region) +
                        ", which does not exist");
          outbox.add(shares.ownerOf(count.region), count);
        }
      },
      [&](const Records<RegionCount>& received) {
        for (const RegionCount& count : received)
          if (count.region < table.first ||
              index(count.region - table.first) >= table.regions.size())
            refuseMessage("points of a region of another rank");
        for (const RegionCount& count : received)
          table.regions[index(count.region - table.first)].points += count.count;
      });
}

}  // namespace tributary
