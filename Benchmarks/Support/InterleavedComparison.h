// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "Support/Report.h"
#include "Tributary/Exchange/Exchange.h"

namespace bench {

/// One way to do the work that is measured.
struct Variant {
  std::string name;
  /// @return this rank's seconds; fills in the counters if it is one of our schedules.
  std::function<double(tributary::ExchangeStatistics&)> run;
  bool ours = true;
  std::vector<double> seconds{};  ///< Of the slowest rank.
  tributary::ExchangeStatistics statistics{};
};

/// Variants that do the same work, one after the other. Collective.
class InterleavedComparison {
 public:
  /// @param wanted  names of the variants that take part; all if empty
  InterleavedComparison(tributary::Transport& transport, const std::vector<std::string>& wanted)
      : transport_(transport), wanted_(wanted) {}

  void add(Variant variant);

  /// Every other time backwards, so that no variant always follows the same one.
  /// @param prepare  called before each run
  /// @param check    called after each with the variant's name; throws if the work is not done
  void run(int repeat, const std::function<void()>& prepare,
           const std::function<void(const std::string&)>& check);

  /// Median seconds, or NaN if no variant of this name takes part.
  double seconds(const std::string& name) const;
  const std::vector<Variant>& variants() const { return variants_; }
  /// Adds all single times and our schedules' counters, for JSON.
  void addDetails(Row& row) const;

 private:
  tributary::Transport& transport_;
  const std::vector<std::string>& wanted_;
  std::vector<Variant> variants_;
};

/// The time of one exchange, from its construction to its known end.
double timeExchange(tributary::Transport& transport, const tributary::Assignment& assignment,
                    const std::vector<std::vector<tributary::BlockId>>& links,
                    const tributary::ExchangeOptions& options, const tributary::Step& step,
                    tributary::ExchangeStatistics& statistics);

/// The sum over all ranks, modulo 2^64. Collective.
std::uint64_t sumOfHashes(tributary::Transport& transport, std::uint64_t mine);

}  // namespace bench
