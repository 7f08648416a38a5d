// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Components/Regions.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
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

/// Sends what one rank has for each other, if there are others.
std::vector<Bytes> scatter(Transport& transport, std::vector<Bytes> toRank) {
  if (transport.size() == 1) return toRank;
  return allToAll(transport, std::move(toRank));
}

/// Reads all bytes of all ranks; what one rank can't read, none can go on with.
/// @param trouble  that this rank has had so far
template <class Read>
void readAll(Transport& transport, const std::vector<Bytes>& bytes, Read&& read,
             ErrorCollector errors = {}) {
  errors.attempt([&] {
    for (std::size_t r = 0; r < bytes.size(); ++r)
      for (Reader reader(bytes[r]); !reader.atEnd();) read(r, reader);
  });
  errors.agree(transport);
}

[[noreturn]] void refuse(const char* what) {
  throw Error(std::string("malformed message: ") + what +
              "; do all ranks run the same version of the program?");
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

  void gather() {
    const std::size_t ranks = index(transport_.size());
    std::vector<std::vector<Part>> parts(ranks);
    std::vector<std::vector<ValueFacts>> values(ranks);
    away_.resize(ranks);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const BlockFacts& block = blocks_[b];
      for (std::size_t s = 0; s < block.sets.size(); ++s) {
        const SetName root = roots_[b][s];
        const SetName mine{first_ + static_cast<BlockId>(b), static_cast<std::int64_t>(s)};
        if (root == mine) continue;
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
    std::vector<Bytes> bytes(ranks);
    for (std::size_t r = 0; r < ranks; ++r)
      if (!parts[r].empty()) bytes[r] = Writer().range(parts[r]).range(values[r]).take();
    from_.resize(ranks);
    readAll(transport_, scatter(transport_, std::move(bytes)), [&](std::size_t r, Reader& reader) {
      const auto got = reader.range<Part>();
      const auto gotValues = reader.range<ValueFacts>();
      if (gotValues.size() != got.size() * values_) refuse("regions with other values");
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (!exists(got[i].root)) refuse("a set that does not exist");
        add(got[i].root, got[i].facts, gotValues.data() + i * values_);
        from_[r].push_back(got[i].root);
      }
    });
  }

  /// The regions that were added up here.
  std::vector<Candidate> candidates(RegionOrder order) const {
    std::vector<Candidate> list;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      for (std::size_t s = 0; s < blocks_[b].sets.size(); ++s) {
        const SetName mine{first_ + static_cast<BlockId>(b), static_cast<std::int64_t>(s)};
        const RegionFacts& facts = blocks_[b].sets[s];
        if (!(roots_[b][s] == mine) || facts.cells == 0) continue;
        const std::int64_t rank = order == RegionOrder::MostCells     ? -facts.cells
                                  : order == RegionOrder::FewestCells ? facts.cells
                                                                      : 0;
        list.push_back({rank, facts.key, mine});
      }
    }
    return list;
  }

  /// Tells all sets of a region its number. @param numbers  of the regions added up here
  std::vector<std::vector<RegionOfSet>> spread(
      const std::vector<std::pair<SetName, std::int64_t>>& numbers) {
    std::vector<std::vector<RegionOfSet>> ofSet(blocks_.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) ofSet[b].resize(blocks_[b].sets.size());
    const auto at = [&](const SetName& name) -> RegionOfSet& {
      return ofSet[index(name.block - first_)][index(name.set)];
    };
    for (const auto& [root, number] : numbers) at(root) = {number, factsOf(root).cells};
    std::vector<Bytes> bytes(from_.size());
    for (std::size_t r = 0; r < from_.size(); ++r) {
      std::vector<RegionOfSet> answer;
      for (const SetName& root : from_[r]) answer.push_back(at(root));
      if (!answer.empty()) bytes[r] = Writer().range(answer).take();
    }
    readAll(transport_, scatter(transport_, std::move(bytes)), [&](std::size_t r, Reader& reader) {
      const auto answer = reader.range<RegionOfSet>();
      if (answer.size() != away_[r].size()) refuse("answers to other questions");
      for (std::size_t i = 0; i < answer.size(); ++i)
        ofSet[away_[r][i].first][away_[r][i].second] = answer[i];
    });
    for (std::size_t b = 0; b < blocks_.size(); ++b)
      for (std::size_t s = 0; s < ofSet[b].size(); ++s)
        if (isHere(roots_[b][s])) ofSet[b][s] = at(roots_[b][s]);
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
  const std::size_t ranks = index(transport.size());
  if (ranks == 1) {
    std::sort(candidates.begin(), candidates.end());
  } else {
    const Assignment oneEach(std::vector<std::int64_t>(ranks, 1));
    SampleSort<Candidate> sort(transport, oneEach, AllToAll::defaultKValues(transport.size()));
    std::vector<std::vector<Candidate>> mine(1);
    mine.front() = std::move(candidates);
    candidates = std::move(sort.run(std::move(mine)).front());
  }
  std::int64_t next = exclusivePrefix(transport, static_cast<std::int64_t>(candidates.size()));
  using Numbered = std::pair<SetName, std::int64_t>;
  std::vector<std::vector<SetName>> roots(ranks);
  std::vector<std::vector<std::int64_t>> numbers(ranks);
  ErrorCollector errors;
  errors.attempt([&] {
    for (const Candidate& candidate : candidates) {
      const std::size_t rank = index(assignment.rankOf(candidate.root.block));
      roots[rank].push_back(candidate.root);
      numbers[rank].push_back(next++);
    }
  });
  std::vector<Bytes> bytes(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    if (!roots[r].empty()) bytes[r] = Writer().range(roots[r]).range(numbers[r]).take();
  std::vector<Numbered> list;
  readAll(
      transport, scatter(transport, std::move(bytes)),
      [&](std::size_t, Reader& reader) {
        const auto gotRoots = reader.range<SetName>();
        const auto gotNumbers = reader.range<std::int64_t>();
        if (gotRoots.size() != gotNumbers.size()) refuse("regions without a number");
        for (std::size_t i = 0; i < gotRoots.size(); ++i) {
          if (!gathering.exists(gotRoots[i])) refuse("a set that does not exist");
          if (gotNumbers[i] < 0 || gotNumbers[i] >= total) refuse("a number of no region");
          list.emplace_back(gotRoots[i], gotNumbers[i]);
        }
      },
      errors);
  return list;
}

}  // namespace

std::uint64_t orderedBits(double value) {
  if (value == 0) value = 0;  // -0
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr std::uint64_t sign = std::uint64_t(1) << 63;
  return (bits & sign) != 0 ? ~bits : bits | sign;
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
  gathering.gather();
  auto candidates = gathering.candidates(order);
  NumberedRegions regions;
  RegionTable& table = regions.table;
  table.total = allreduce(transport, ReduceOp::Sum, static_cast<std::int64_t>(candidates.size()));
  const auto numbers =
      numbersOf(transport, assignment, gathering, table.total, std::move(candidates));
  regions.ofSet = gathering.spread(numbers);
  const Shares shares{table.total, transport.size()};
  table.first = shares.first(transport.rank());
  const std::size_t count = index(shares.count(transport.rank()));
  table.regions.resize(count);
  table.values.resize(count * values);

  const std::size_t ranks = index(transport.size());
  struct Row {
    std::int64_t number;
    RegionFacts facts;
  };
  std::vector<std::vector<Row>> rows(ranks);
  std::vector<std::vector<ValueFacts>> rowValues(ranks);
  const auto place = [&](const Row& row, const ValueFacts* own) {
    const std::size_t at = index(row.number - table.first);
    table.regions[at] = row.facts;
    std::copy_n(own, values, table.values.begin() + static_cast<std::ptrdiff_t>(at * values));
  };
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
  std::vector<Bytes> bytes(ranks);
  for (std::size_t r = 0; r < ranks; ++r)
    if (!rows[r].empty()) bytes[r] = Writer().range(rows[r]).range(rowValues[r]).take();
  readAll(transport, scatter(transport, std::move(bytes)), [&](std::size_t, Reader& reader) {
    const auto got = reader.range<Row>();
    const auto gotValues = reader.range<ValueFacts>();
    if (gotValues.size() != got.size() * values) refuse("regions with other values");
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i].number < table.first || index(got[i].number - table.first) >= count)
        refuse("a region of another rank");
      place(got[i], gotValues.data() + i * values);
    }
  });
  return regions;
}

void addPoints(Transport& transport, RegionTable& table, std::vector<RegionCount> counts) {
  const Shares shares{table.total, transport.size()};
  std::vector<std::vector<RegionCount>> toRank(index(transport.size()));
  std::string error;
  for (const RegionCount& count : counts) {
    if (count.region >= 0 && count.region < table.total)
      toRank[index(shares.ownerOf(count.region))].push_back(count);
    else
      error = "points of region " + std::to_string(count.region) + ", which does not exist";
  }
  agreeOnError(transport, error);
  std::vector<Bytes> bytes(toRank.size());
  for (std::size_t r = 0; r < bytes.size(); ++r)
    if (!toRank[r].empty()) bytes[r] = Writer().range(toRank[r]).take();
  readAll(transport, scatter(transport, std::move(bytes)), [&](std::size_t, Reader& reader) {
    for (const RegionCount& count : reader.range<RegionCount>()) {
      if (count.region < table.first || index(count.region - table.first) >= table.regions.size())
        refuse("points of a region of another rank");
      table.regions[index(count.region - table.first)].points += count.count;
    }
  });
}

}  // namespace tributary
