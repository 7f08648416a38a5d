// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tributary {

/// A time foretold.
struct TimeForecast {
  double seconds = 0;
  double spread = 0;  ///< One standard error of `seconds` and the noise of a single run together.

  /// How much longer it took, as a share of what was expected; negative if it was quicker.
  double offBy(double actualSeconds) const { return actualSeconds / seconds - 1; }
};

struct RaceOptions {
  /// What all trials together may cost, as a share of a full sweep: all of the work, once with each
  /// candidate. More than 1 where all of the work is little, or cannot be done in parts.
  double budget = 0.1;
  /// The smallest part of the work that still behaves like it, above 0; 1 if there is none.
  double smallestShare = 1.0 / 1024;
  /// How long all of the work took with the default, if that was measured; no part of the budget.
  /// Then a winner has to show itself in all of the work, too, which is no part of it either.
  std::optional<double> defaultSeconds;
};

/// One measurement to make: a part of the work with a candidate's settings.
struct Trial {
  std::size_t candidate = 0;
  double share = 0;  ///< Of the work, above 0, up to 1.
};

/// Which of some settings is the fastest for a work that can be done in part? Successive halving
/// (K. Jamieson, A. Talwalkar, "Non-stochastic Best Arm Identification and Hyperparameter
/// Optimization", 2016), in thirds: all candidates with a small share, in turns, then the best
/// third with a larger one, until the best and the default are left. Only asks for trials, and
/// is told how long they took; it decides by these numbers alone, so that ranks that report the
/// same seconds (the slowest rank's) decide alike.
///
/// A candidate must beat the default by more than the noise of the last round, else the default
/// stays; with RaceOptions::defaultSeconds also in all of the work, where it is tried once, and the
/// default once more after it, as a single run of the default that was disturbed would cost it its
/// place. Where the budget does not buy one trial of each candidate nothing is tried.
class SettingsTrial {
 public:
  /// @param candidates  how many, at least 1; number 0 is the default
  /// Throws Error if an argument is impossible.
  explicit SettingsTrial(std::size_t candidates, const RaceOptions& options = {});

  /// The trial to make now, the same until it is reported; none at the end.
  std::optional<Trial> next() const;
  /// How long the trial of next() took. Throws Error if that is not a positive number, or if there
  /// is no trial to report.
  void report(double seconds);

  /// The choice: final once next() has nothing more.
  std::size_t best() const { return best_; }
  /// How long all of the work takes with the choice: as long as it took; while the winner was not
  /// tried on it, RaceOptions::defaultSeconds, by as much shorter as its last trials were than the
  /// default's. Without that, a + b * share fitted to its trials; none before trials of two shares,
  /// or of all of the work.
  std::optional<TimeForecast> forecast() const;

  double spentSeconds() const { return spent_; }
  std::size_t trials() const { return measured_.size(); }

 private:
  struct Measured {
    Trial trial;
    double seconds;
    std::size_t round;  // 0: those that find out what trials cost
  };

  std::size_t keptAfter(std::size_t count) const;
  std::size_t roundsFrom(std::size_t count) const;
  double overDefault() const;
  void planRound();
  void endRound();
  void prove(const Trial& trial, double seconds);
  std::vector<double> secondsOf(std::size_t candidate, std::size_t round) const;

  std::size_t candidates_;
  RaceOptions options_;
  std::vector<std::size_t> running_;  // candidates that are left, the default first
  std::vector<Trial> plan_;           // of this round
  std::size_t at_ = 0;                // in the plan
  std::size_t round_ = 0;
  std::vector<Measured> measured_;
  double spent_ = 0;
  double allowed_ = 0;           // seconds of all trials
  std::optional<double> noise_;  // of scores, relative, in the last round that tells
  std::size_t best_ = 0;
  bool isProof_ = false;            // rounds are over, and the winner is tried on all of the work
  double ofDefault_ = 0;            // seconds of all of the work, the least of its runs
  std::optional<double> ofWinner_;  // the same, of the winner
};

}  // namespace tributary
