// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {

namespace {

// A mood that lasted for ever could keep everything from ever happening.
constexpr std::int64_t DecisionsPerMood = 1000;

constexpr char Letters[] = "rmhsc";  // by Decision

class RandomAdversary : public Adversary {
 public:
  explicit RandomAdversary(std::uint64_t seed) : random_(seed) {}

  std::size_t choose(Decision decision, int rank, const std::vector<int>& options) override {
    if (decisions_++ % DecisionsPerMood == 0) changeMood();
    switch (decision) {
      case Decision::Rank:
        return chooseRank(options);
      case Decision::Message:
        return chooseMessage(rank, options);
      case Decision::Half:
        return options.size() > 1 && unit() < 0.3 ? 1 : 0;
      case Decision::Sends:
      case Decision::Collective:
        return options.size() > 1 && unit() < lateCompletions_ ? 0 : options.size() - 1;
    }
    return 0;
  }

 private:
  void changeMood() {
    constexpr double Lateness[] = {0.0, 0.3, 0.7, 0.95};
    salt_ = next();
    slowRanks_ = next() % 3 == 0;
    slowPairs_ = next() % 3 == 0;
    stalls_ = next() % 3 == 0;
    lateMessages_ = Lateness[next() % 4];
    lateCompletions_ = Lateness[next() % 4];
  }

  std::uint64_t next() { return nextRandom(random_); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// The same number for the same arguments in the same mood.
  double fixed(int a, int b) const {
    const std::uint64_t bits = scramble(salt_ + static_cast<std::uint64_t>(a) * 0x100000001b3ull +
                                        static_cast<std::uint64_t>(b) * 0x9e3779b97f4a7c15ull);
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }

  std::size_t chooseRank(const std::vector<int>& options) {
    for (int attempt = 0; attempt < 50; ++attempt) {
      const std::size_t index = next() % options.size();
      const int rank = options[index];
      if (slowRanks_ && fixed(rank, -1) < 0.4 && unit() > 0.03) continue;
      if (stalls_) {
        const auto stalled = stalledUntil_.find(rank);
        if (stalled != stalledUntil_.end() && stalled->second > decisions_) continue;
        if (unit() < 0.01) {
          stalledUntil_[rank] = decisions_ + static_cast<std::int64_t>(next() % 1000);
          continue;
        }
      }
      return index;
    }
    return next() % options.size();
  }

  std::size_t chooseMessage(int rank, const std::vector<int>& options) {
    if (options.size() == 1 || unit() < lateMessages_) return 0;
    const std::size_t index = 1 + next() % (options.size() - 1);
    if (slowPairs_ && fixed(rank, options[index]) < 0.3 && unit() > 0.02) return 0;
    return index;
  }

  std::uint64_t random_;
  std::uint64_t salt_ = 0;
  std::int64_t decisions_ = 0;
  bool slowRanks_ = false;
  bool slowPairs_ = false;
  bool stalls_ = false;
  double lateMessages_ = 0;
  double lateCompletions_ = 0;
  std::map<int, std::int64_t> stalledUntil_;
};

std::string word(Decision decision, int value) {
  return Letters[static_cast<int>(decision)] + (value < 0 ? "-" : std::to_string(value));
}

bool needsWord(Decision decision, const std::vector<int>& options) {
  return decision == Decision::Rank || options.size() > 1;
}

class ScriptedAdversary : public Adversary {
 public:
  explicit ScriptedAdversary(const std::string& script) {
    std::istringstream stream(script);
    std::string next;
    while (stream >> next) words_.push_back(next);
  }

  std::size_t choose(Decision decision, int rank, const std::vector<int>& options) override {
    if (position_ < words_.size()) {
      if (!needsWord(decision, options)) return 0;
      const std::string& wanted = words_[position_++];
      for (std::size_t i = 0; i < options.size(); ++i) {
        if (word(decision, options[i]) == wanted) return i;
      }
      throw Error("schedule: word " + std::to_string(position_) + ", '" + wanted +
                  "', is not a valid choice for rank " + std::to_string(rank) +
                  "; replay a schedule with the program that recorded it");
    }
    if (decision == Decision::Rank) {
      // The next one after the last.
      const auto after = std::upper_bound(options.begin(), options.end(), last_);
      const std::size_t index =
          after == options.end() ? 0 : static_cast<std::size_t>(after - options.begin());
      last_ = options[index];
      return index;
    }
    // A message is received whole, at once.
    return decision == Decision::Half ? 0 : options.size() - 1;
  }

 private:
  std::vector<std::string> words_;
  std::size_t position_ = 0;
  int last_ = -1;
};

}  // namespace

std::size_t ScheduleRecorder::choose(Decision decision, int rank, const std::vector<int>& options) {
  const std::size_t index = adversary_.choose(decision, rank, options);
  if (needsWord(decision, options) && index < options.size()) {
    choices_.push_back({decision, options[index]});
  }
  return index;
}

std::string ScheduleRecorder::script() const {
  std::string text;
  for (const Choice& choice : choices_) {
    text += (text.empty() ? "" : " ") + word(choice.decision, choice.value);
  }
  return text;
}

std::unique_ptr<Adversary> makeRandomAdversary(std::uint64_t seed) {
  return std::make_unique<RandomAdversary>(seed);
}

std::unique_ptr<Adversary> makeScriptedAdversary(const std::string& script) {
  return std::make_unique<ScriptedAdversary>(script);
}

}  // namespace tributary
