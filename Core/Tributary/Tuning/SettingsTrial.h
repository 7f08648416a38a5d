// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tributary {

/// A predicted duration.
struct TimeForecast {
  double seconds = 0;
  /// Standard error of `seconds` combined with the noise of a single run.
  double spread = 0;

  /// The relative error of the prediction: actual over predicted time, minus 1.
  [[nodiscard]] double offBy(double actualSeconds) const { return actualSeconds / seconds - 1; }
};

/// The parameters of a SettingsTrial.
struct TrialOptions {
  /// Limit of the total time of all trials, relative to a full sweep: all of the work once with
  /// each candidate. May exceed 1 if the work is small or cannot be divided. Default: 0.1.
  double budget = 0.1;
  /// The smallest share of the work that is representative of it, in (0, 1]; 1 if the work cannot
  /// be divided. Default: 1 / 1024.
  double smallestShare = 1.0 / 1024;
  /// The duration of all of the work with the default, if it was measured; not part of the budget.
  /// Then the winner must also be faster on all of the work, which is not part of the budget
  /// either.
  std::optional<double> defaultSeconds;
};

/// A measurement to make: a share of the work with the settings of a candidate.
struct Trial {
  std::size_t candidate = 0;
  double share = 0;  ///< of the work, in (0, 1]
};

/// Finds the fastest of several settings for work that can be done in part, by successive halving:
/// K. Jamieson, A. Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter
/// Optimization", AISTATS 2016; with thirds instead of halves. The first round runs a small share
/// of the work with all candidates in turns. Each further round runs a larger share with the best
/// third, until the best candidate and the default remain.
///
/// The object requests trials, and the caller reports their durations. Decisions depend only on
/// these numbers, so ranks that report the same durations (those of the slowest rank) make the same
/// decisions.
///
/// The default is replaced only by a candidate that is faster by more than the noise of the last
/// round. With TrialOptions::defaultSeconds, the winner is also run once on all of the work, and
/// the default once more after it, because its first run may have been disturbed. If the budget
/// does not allow one trial of each candidate, no trial is made.
class SettingsTrial {
 public:
  /// Local. Throws Error if an argument is invalid.
  /// @param candidates  the number of candidates, at least 1. Candidate 0 is the default.
  explicit SettingsTrial(std::size_t candidates, const TrialOptions& options = {});

  /// The next trial to make; the same until its duration is reported. None at the end.
  [[nodiscard]] std::optional<Trial> next() const;
  /// Reports the duration of the trial of next(). Throws Error if it is not positive and finite, or
  /// if there is no trial to report.
  void report(double seconds);

  /// The chosen candidate. Final once next() returns none.
  [[nodiscard]] std::size_t best() const { return best_; }
  /// The predicted duration of all of the work with the chosen candidate. If the winner was run on
  /// all of the work: this duration. Else, with TrialOptions::defaultSeconds: this time scaled by
  /// the ratio of the last trials of the candidate and the default. Else a + b * share, fitted to
  /// the trials of the candidate; none before trials of two different shares, or of all of the
  /// work.
  [[nodiscard]] std::optional<TimeForecast> forecast() const;

  /// The total duration of all trials.
  [[nodiscard]] double spentSeconds() const { return spent_; }
  /// The number of trials made.
  [[nodiscard]] std::size_t trials() const { return measured_.size(); }

 private:
  struct Measured {
    Trial trial;
    double seconds;
    std::size_t round;  // 0: trials that measure the cost of trials
  };

  std::size_t keptAfter(std::size_t count) const;
  std::size_t roundsFrom(std::size_t count) const;
  double overDefault() const;
  void planRound();
  void endRound();
  void prove(const Trial& trial, double seconds);
  std::vector<double> secondsOf(std::size_t candidate, std::size_t round) const;

  std::size_t candidates_;
  TrialOptions options_;
  std::vector<std::size_t> running_;  // remaining candidates, the default first
  std::vector<Trial> plan_;           // of this round
  std::size_t at_ = 0;                // in the plan
  std::size_t round_ = 0;
  std::vector<Measured> measured_;
  double spent_ = 0;
  double allowed_ = 0;  // limit of spent_, in seconds
  std::optional<double>
      noise_;  // relative deviation of scores in the last round with several turns
  std::size_t best_ = 0;
  bool isProof_ = false;            // rounds are over; the winner is run on all of the work
  double ofDefault_ = 0;            // seconds of all of the work, minimum over its runs
  std::optional<double> ofWinner_;  // the same for the winner
};

}  // namespace tributary
