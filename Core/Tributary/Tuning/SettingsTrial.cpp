// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Tuning/SettingsTrial.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Median.h"
#include "Tributary/Base/NumberText.h"

namespace tributary {

namespace {

/// Runs of a candidate in a round. Odd, so that the median is one of them.
constexpr std::size_t Turns = 3;
/// The same in the last round, with two candidates.
constexpr std::size_t LastTurns = 5;
/// The share of the first trial, relative to the budget.
constexpr double First = 1.0 / 100;
/// Runs of the first trial: one to warm up caches, and several so that one disturbed run does not
/// make trials appear too expensive.
constexpr std::size_t FirstTurns = 4;
/// The ratio of the share of the trial after these to theirs.
constexpr double Further = 4;
/// A candidate that is slower than the default by this factor is dropped at once, to save budget.
constexpr double Hopeless = 4;

struct Sample {
  double share, seconds;
};

/// The trials of a candidate, without the very first trial, which warms up.
template <class Measurements>
std::vector<Sample> samplesOf(const Measurements& measured, std::size_t candidate) {
  std::vector<Sample> samples;
  for (std::size_t i = 1; i < measured.size(); ++i)
    if (measured[i].trial.candidate == candidate)
      samples.push_back({measured[i].trial.share, measured[i].seconds});
  return samples;
}

/// seconds = constant + slope * share, by least squares of relative errors; neither is negative.
struct Line {
  double constant = 0, slope = 0;
  double spread = 0;  ///< of a run of all of the work

  double at(double share) const { return constant + slope * share; }
};

Line fitted(const std::vector<Sample>& samples) {
  double s0 = 0, s1 = 0, s2 = 0, t0 = 0, t1 = 0;
  for (const Sample& sample : samples) {
    const double weight = 1 / (sample.seconds * sample.seconds);
    s0 += weight;
    s1 += weight * sample.share;
    s2 += weight * sample.share * sample.share;
    t0 += weight * sample.seconds;
    t1 += weight * sample.share * sample.seconds;
  }
  const double determinant = s0 * s2 - s1 * s1;
  Line line{(s2 * t0 - s1 * t1) / determinant, (s0 * t1 - s1 * t0) / determinant};
  double variance = (s2 - 2 * s1 + s0) / determinant;  // of the line at 1, in units of the noise
  std::size_t parameters = 2;
  if (!(determinant > 0) || line.constant < 0) {  // 0: all of the work, each time
    line = {0, t1 / s2};
    variance = 1 / s2;
    parameters = 1;
  } else if (line.slope < 0) {
    line = {t0 / s0, 0};
    variance = 1 / s0;
    parameters = 1;
  }
  double squares = 0;
  for (const Sample& sample : samples) {
    const double error = 1 - line.at(sample.share) / sample.seconds;
    squares += error * error;
  }
  const double noise =  // squared, of a sample, relative
      squares / static_cast<double>(std::max<std::size_t>(1, samples.size() - parameters));
  line.spread = std::sqrt(noise * (variance + line.at(1) * line.at(1)));
  return line;
}

}  // namespace

SettingsTrial::SettingsTrial(std::size_t candidates, const TrialOptions& options)
    : candidates_(candidates), options_(options), ofDefault_(options.defaultSeconds.value_or(0)) {
  if (candidates == 0) throw Error("settings trial: there are no candidates; give at least one");
  if (!(options.budget > 0 && std::isfinite(options.budget)))
    throw Error("settings trial: the budget is " + numberText(options.budget) +
                " of a full sweep, but must be positive and finite");
  if (!(options.smallestShare > 0 && options.smallestShare <= 1))
    throw Error("settings trial: the smallest share is " + numberText(options.smallestShare) +
                ", but must be in (0, 1]");
  if (options.defaultSeconds &&
      !(*options.defaultSeconds > 0 && std::isfinite(*options.defaultSeconds)))
    throw Error("settings trial: the default took " + numberText(*options.defaultSeconds) +
                " seconds, but this time must be positive and finite");
  if (candidates == 1) return;
  for (std::size_t c = 0; c < candidates; ++c) running_.push_back(c);
  const double all = static_cast<double>(candidates);
  const double first =
      std::max(options.smallestShare, std::min(1 / Further, First * options.budget * all));
  const double further = std::min(1.0, Further * first);
  const double asked =
      static_cast<double>(FirstTurns) * first + further + all * options.smallestShare;
  if (asked > options.budget * all) return;
  plan_.assign(FirstTurns, {0, first});
  plan_.push_back({0, further});
}

std::optional<Trial> SettingsTrial::next() const {
  if (at_ == plan_.size()) return std::nullopt;
  return plan_[at_];
}

void SettingsTrial::report(double seconds) {
  if (at_ == plan_.size())
    throw Error("settings trial: a time is reported, but next() has no trial; call next() first");
  if (!(seconds > 0) || !std::isfinite(seconds))
    throw Error("settings trial: a trial took " + std::to_string(seconds) +
                " seconds, but its time must be a positive, finite number");
  const Trial trial = plan_[at_++];
  measured_.push_back({trial, seconds, round_});
  spent_ += seconds;
  if (isProof_) {
    prove(trial, seconds);
    return;
  }
  if (round_ > 0) {
    const auto ofDefault = secondsOf(0, round_);
    if (trial.candidate != 0 && !ofDefault.empty() && seconds > Hopeless * median(ofDefault)) {
      const auto isOut = [&](const Trial& t) { return t.candidate == trial.candidate; };
      plan_.erase(
          std::remove_if(plan_.begin() + static_cast<std::ptrdiff_t>(at_), plan_.end(), isOut),
          plan_.end());
      running_.erase(std::find(running_.begin(), running_.end(), trial.candidate));
    }
    // The budget is spent: end the round, unless a candidate has had no turn.
    if (spent_ > allowed_ && !secondsOf(running_.back(), round_).empty()) at_ = plan_.size();
  }
  if (at_ < plan_.size()) return;
  if (round_ > 0) endRound();
  planRound();
  if (plan_.empty() && options_.defaultSeconds && best_ != 0) {
    isProof_ = true;
    ++round_;
    plan_ = {{best_, 1}};
  }
}

/// Takes the duration of all of the work with the winner, and then with the default again.
void SettingsTrial::prove(const Trial& trial, double seconds) {
  plan_.clear();
  at_ = 0;
  if (trial.candidate != 0)
    ofWinner_ = seconds;
  else
    ofDefault_ = std::min(ofDefault_, seconds);
  if (!(*ofWinner_ < ofDefault_ * (1 - noise_.value_or(1))))
    best_ = 0;
  else if (trial.candidate != 0)
    plan_ = {{0, 1}};
}

/// The number of candidates, with the default, that remain after a round of `count`.
std::size_t SettingsTrial::keptAfter(std::size_t count) const {
  return std::max<std::size_t>(2, (count + 2) / 3);
}

std::size_t SettingsTrial::roundsFrom(std::size_t count) const {
  std::size_t rounds = 1;
  for (; count > 2; count = keptAfter(count)) ++rounds;
  return rounds;
}

std::vector<double> SettingsTrial::secondsOf(std::size_t candidate, std::size_t round) const {
  std::vector<double> seconds;
  for (const Measured& m : measured_)
    if (m.round == round && m.trial.candidate == candidate) seconds.push_back(m.seconds);
  return seconds;
}

/// The time of the chosen candidate relative to the default, in the last round that had both.
double SettingsTrial::overDefault() const {
  if (best_ == 0) return 1;
  std::size_t round = 0;
  for (const Measured& m : measured_)
    if (m.trial.candidate == best_) round = m.round;
  return median(secondsOf(best_, round)) / median(secondsOf(0, round));
}

/// Plans as many turns and as large a share as the part of the budget for this round allows; none
/// if it does not allow one turn, or if only one candidate remains.
void SettingsTrial::planRound() {
  plan_.clear();
  at_ = 0;
  if (running_.size() < 2) return;
  std::vector<Sample> samples = samplesOf(measured_, 0);
  if (options_.defaultSeconds) samples.push_back({1, *options_.defaultSeconds});
  const Line line = fitted(samples);
  allowed_ = options_.budget * static_cast<double>(candidates_) *
             options_.defaultSeconds.value_or(line.at(1));
  const double count = static_cast<double>(running_.size());
  const double allowance = (allowed_ - spent_) / static_cast<double>(roundsFrom(running_.size()));
  ++round_;
  for (std::size_t turns = running_.size() > 2 ? Turns : LastTurns; turns > 0; --turns) {
    const double seconds = allowance / (count * static_cast<double>(turns));
    double share = std::min(1.0, (seconds - line.constant) / line.slope);
    if (!(line.slope > 0)) share = seconds >= line.constant ? 1 : 0;
    if (!(share >= options_.smallestShare)) continue;
    for (std::size_t turn = 0; turn < turns; ++turn) {
      // Every second turn backwards, so that no candidate always follows the same one.
      for (std::size_t i = 0; i < running_.size(); ++i)
        plan_.push_back({running_[turn % 2 ? running_.size() - 1 - i : i], share});
    }
    return;
  }
}

/// Keeps the best candidates of the round, and updates the choice.
void SettingsTrial::endRound() {
  std::vector<double> deviations;
  std::vector<std::pair<double, std::size_t>> scores;
  for (const std::size_t candidate : running_) {
    const std::vector<double> seconds = secondsOf(candidate, round_);
    const double score = median(seconds);
    scores.emplace_back(score, candidate);
    std::vector<double> mine;
    for (const double s : seconds) mine.push_back(std::abs(s - score) / score);
    std::sort(mine.begin(), mine.end());
    // The deviation of the median itself is zero.
    if (mine.size() > 1) deviations.insert(deviations.end(), mine.begin() + 1, mine.end());
  }
  if (!deviations.empty()) noise_ = median(deviations);
  const double ofDefault = scores.front().first;
  std::sort(scores.begin(), scores.end());
  const std::size_t leader = scores.front().second;
  // With many candidates, the best one is more likely to lead by luck.
  const double margin = (running_.size() > 2 ? 2 : 1) * noise_.value_or(1);
  best_ = scores.front().first < ofDefault * (1 - margin) ? leader : 0;
  if (running_.size() <= 2) {
    running_ = {0};
    return;
  }
  const std::size_t kept = keptAfter(running_.size());
  running_ = {0};
  for (const auto& [score, candidate] : scores)
    if (candidate != 0 && running_.size() < kept) running_.push_back(candidate);
}

std::optional<TimeForecast> SettingsTrial::forecast() const {
  if (options_.defaultSeconds) {
    const double seconds = ofWinner_ && best_ != 0 ? *ofWinner_ : ofDefault_ * overDefault();
    return TimeForecast{seconds, seconds * noise_.value_or(1)};
  }
  const auto lineOf = [&](std::size_t candidate) -> std::optional<Line> {
    const std::vector<Sample> samples = samplesOf(measured_, candidate);
    const auto [least, largest] =
        std::minmax_element(samples.begin(), samples.end(),
                            [](const Sample& a, const Sample& b) { return a.share < b.share; });
    if (samples.empty() || (least->share == largest->share && least->share < 1))
      return std::nullopt;
    return fitted(samples);
  };
  if (const auto line = lineOf(best_)) return TimeForecast{line->at(1), line->spread};
  const auto line = lineOf(0);
  if (!line) return std::nullopt;
  // Trials of one share only: use the ratio to the default in that round.
  return TimeForecast{line->at(1) * overDefault(), line->spread * overDefault()};
}

}  // namespace tributary
