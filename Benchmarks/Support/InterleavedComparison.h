// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "Support/Report.h"
#include "Tributary/Exchange/Exchange.h"

namespace bench {

/// A variant of the measured work.
struct Variant {
  std::string name;
  /// Does the work. Fills in the counters if `ours`. @return the seconds of this rank
  std::function<double(tributary::ExchangeStatistics&)> run;
  bool ours = true;               ///< Whether it has counters.
  std::vector<double> seconds{};  ///< Of the slowest rank, by repetition.
  tributary::ExchangeStatistics statistics{};
};

/// Measures variants of the same work in interleaved repetitions. Collective.
class InterleavedComparison {
 public:
  /// @param wanted  names of the variants to measure; all if empty
  InterleavedComparison(tributary::Transport& transport, const std::vector<std::string>& wanted)
      : transport_(transport), wanted_(wanted) {}

  /// Adds a variant, unless it is not wanted.
  void add(Variant variant);

  /// Runs all variants `repeat` times, every second time in reverse order, so that no variant
  /// always follows the same one.
  /// @param prepare  called before each run
  /// @param check    called after each run with the name of the variant; throws if its result is
  ///                 wrong
  void run(int repeat, const std::function<void()>& prepare,
           const std::function<void(const std::string&)>& check);

  /// The median seconds of a variant, or NaN if it is not measured.
  double seconds(const std::string& name) const;
  const std::vector<Variant>& variants() const { return variants_; }
  /// Adds all single times and counters, which are written to JSON only.
  void addDetails(Row& row) const;

 private:
  tributary::Transport& transport_;
  const std::vector<std::string>& wanted_;
  std::vector<Variant> variants_;
};

/// Runs an exchange. @return its seconds, from construction to end
double timeExchange(tributary::Transport& transport, const tributary::Assignment& assignment,
                    const std::vector<std::vector<tributary::BlockId>>& links,
                    const tributary::ExchangeOptions& options, const tributary::Step& step,
                    tributary::ExchangeStatistics& statistics);

/// The sum of hashes over all ranks, modulo 2^64. Collective.
std::uint64_t sumOfHashes(tributary::Transport& transport, std::uint64_t mine);

}  // namespace bench
