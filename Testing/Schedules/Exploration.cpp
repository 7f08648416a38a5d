// SPDX-License-Identifier: BSD-3-Clause
#include "Exploration.h"

#include <deque>
#include <unordered_set>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"

namespace tributary::schedules {

namespace {

// Fair runs of small programs need a few hundred steps.
constexpr std::int64_t FairSteps = 20000;
// Random ones stall ranks for long.
constexpr std::int64_t RandomSteps = 2000000;

/// 128 bits stand for a state: two equal ones among a million different states are less likely
/// than an error of the machine.
struct Digest {
  std::uint64_t a = 0x243f6a8885a308d3ull;
  std::uint64_t b = 0x13198a2e03707344ull;
  bool operator==(const Digest& other) const { return a == other.a && b == other.b; }
};
struct DigestHash {
  std::size_t operator()(const Digest& digest) const { return static_cast<std::size_t>(digest.a); }
};

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

Digest digestOf(const std::string& text) {
  Digest digest;
  for (std::size_t i = 0; i < text.size(); i += 8) {
    std::uint64_t word = 0;
    for (std::size_t k = i; k < text.size() && k < i + 8; ++k) {
      word = word << 8 | static_cast<unsigned char>(text[k]);
    }
    digest.a = mixed(digest.a + word + 0x9e3779b97f4a7c15ull);
    digest.b = mixed((digest.b ^ word) * 0xd6e8feb86659fd93ull + digest.a);
  }
  digest.a = mixed(digest.a + text.size());
  return digest;
}

/// Ends a run from within the adversary.
struct Stop {};

/// Repeats the choices that lead to a state, lets one rank take one turn with chosen choices, and
/// stops there, or goes on fairly.
class Guide : public Adversary {
 public:
  Guide(const std::vector<std::uint8_t>& prefix, std::vector<std::uint8_t>& turn, bool fairly)
      : prefix_(prefix), turn_(turn), fairly_(fairly), fair_(makeScriptedAdversary("")) {}

  std::size_t choose(Decision decision, int rank, const std::vector<int>& options) override {
    if (position_ < prefix_.size()) return prefix_[position_++];
    if (fairly_) {
      if (decision == Decision::Rank && ++steps_ > FairSteps) throw Stop();
      return fair_->choose(decision, rank, options);
    }
    const std::size_t index = position_++ - prefix_.size();
    if (decision == Decision::Rank && index > 0) throw Stop();
    if (index == turn_.size()) turn_.push_back(0);
    if (index == counts.size()) counts.push_back(static_cast<std::uint8_t>(options.size()));
    return turn_[index];
  }

  /// Alternatives at the choices of the turn.
  std::vector<std::uint8_t> counts;

 private:
  const std::vector<std::uint8_t>& prefix_;
  std::vector<std::uint8_t>& turn_;
  bool fairly_;
  std::unique_ptr<Adversary> fair_;
  std::size_t position_ = 0;
  std::int64_t steps_ = 0;
};

/// The next combination of choices of a turn, the last choice changing first. @return false after
/// the last one
bool nextTurn(std::vector<std::uint8_t>& turn, const std::vector<std::uint8_t>& counts) {
  turn.resize(counts.size());
  while (!turn.empty()) {
    if (++turn.back() < counts[turn.size() - 1]) return true;
    turn.pop_back();
  }
  return false;
}

std::string scriptOf(const Scenario& scenario, const std::vector<std::uint8_t>& prefix,
                     std::vector<std::uint8_t> turn, bool halfReceived) {
  Guide guide(prefix, turn, false);
  ScheduleRecorder recorder(guide);
  try {
    const auto network = makeAdversarialNetwork(scenario.ranks, recorder, halfReceived);
    const auto run = scenario.make(*network);
    network->runSteps([&](Transport& transport) { return run->step(transport); });
  } catch (const Stop&) {
  } catch (const std::exception&) {
  }
  return recorder.script();
}

}  // namespace

Exploration explore(const Scenario& scenario, const ExplorationLimits& limits) {
  Exploration result;
  std::unordered_set<Digest, DigestHash> seen;
  struct State {
    std::vector<std::uint8_t> choices;
    bool quiet;
    std::size_t stage;
  };
  std::deque<State> open;
  open.push_back({{}, false, 0});
  std::string bytes;
  while (!open.empty() && result.violation.empty()) {
    const State from = std::move(open.front());
    open.pop_front();
    std::vector<std::uint8_t> turn;
    bool more = true;
    while (more) {
      Guide guide(from.choices, turn, false);
      bool ended = false;
      try {
        const auto network = makeAdversarialNetwork(scenario.ranks, guide, limits.halfReceived);
        const auto run = scenario.make(*network);
        try {
          network->runSteps([&](Transport& transport) { return run->step(transport); });
          ended = true;
          run->checkEnd();
        } catch (const Stop&) {
        }
        ++result.transitions;
        bytes = network->state();
        run->appendState(bytes);
        if (seen.insert(digestOf(bytes)).second) {
          ++result.states;
          if (ended) ++result.endStates;
          State to{from.choices, run->quiet(), run->stage()};
          to.choices.insert(to.choices.end(), turn.begin(), turn.end());
          const bool begins = to.quiet && !(from.quiet && from.stage == to.stage);
          if (begins) {
            ++result.quietStates;
            std::vector<std::uint8_t> none;
            Guide fair(to.choices, none, true);
            const auto fairNetwork =
                makeAdversarialNetwork(scenario.ranks, fair, limits.halfReceived);
            const auto fairRun = scenario.make(*fairNetwork);
            try {
              fairNetwork->runSteps([&](Transport& transport) { return fairRun->step(transport); });
              fairRun->checkEnd();
            } catch (const Stop&) {
              std::string text = scenario.subject + " does not end in a fair run of '" +
                                 scenario.name + "' from a quiet state";
              for (int rank = 0; rank < scenario.ranks; ++rank) {
                text += "\n  rank " + std::to_string(rank) + " " + fairRun->describe(rank);
              }
              throw Violation(text);
            }
          }
          if (!ended) open.push_back(std::move(to));
        }
      } catch (const Violation& violation) {
        result.violation = violation.what();
      } catch (const Error& error) {
        result.violation = scenario.subject + " throws: " + error.what();
      }
      if (!result.violation.empty()) {
        result.schedule = scriptOf(scenario, from.choices, turn, limits.halfReceived);
        break;
      }
      if (result.states >= limits.states) {
        result.truncated = true;
        return result;
      }
      more = nextTurn(turn, guide.counts);
    }
  }
  return result;
}

std::string replay(const Scenario& scenario, const std::string& schedule, bool halfReceived) {
  const auto adversary = makeScriptedAdversary(schedule);
  const auto network = makeAdversarialNetwork(scenario.ranks, *adversary, halfReceived);
  const auto run = scenario.make(*network);
  std::int64_t steps = 0;
  try {
    network->runSteps([&](Transport& transport) {
      if (++steps > RandomSteps) throw Violation(scenario.subject + " does not end");
      return run->step(transport);
    });
    run->checkEnd();
  } catch (const Violation& violation) {
    return violation.what();
  } catch (const Error& error) {
    return scenario.subject + " throws: " + error.what();
  }
  return {};
}

std::string runRandomly(const Scenario& scenario, std::uint64_t seed, RandomRuns& result) {
  const auto attempt = [&](Adversary& adversary) -> std::string {
    const auto network = makeAdversarialNetwork(scenario.ranks, adversary, seed % 2 == 1);
    std::int64_t steps = 0;
    try {
      const auto run = scenario.make(*network);
      network->runSteps([&](Transport& transport) {
        if (++steps > RandomSteps) throw Violation(scenario.subject + " does not end");
        return run->step(transport);
      });
      run->checkEnd();
    } catch (const Violation& violation) {
      return violation.what();
    } catch (const Error& error) {
      return scenario.subject + " throws: " + error.what();
    }
    result.steps += steps;
    return {};
  };
  ++result.runs;
  const auto random = makeRandomAdversary(seed);
  std::string violation = attempt(*random);
  if (!violation.empty() && result.violation.empty()) {
    // The same again, written down.
    const auto again = makeRandomAdversary(seed);
    ScheduleRecorder recorder(*again);
    result.violation = attempt(recorder);
    result.schedule = recorder.script();
  }
  return violation;
}

}  // namespace tributary::schedules
