// SPDX-License-Identifier: BSD-3-Clause
#include "Run.h"

#include <algorithm>
#include <utility>

#include "Tributary/Base/Bytes.h"

namespace tributary::schedules {

namespace {

/// What travels on the topic Work: the item, or an answer.
constexpr std::int32_t Answer = -1;

template <class T>
void put(std::string& state, T value) {
  state.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::vector<Subject> subjects(WorkModel model) {
  std::vector<Subject> list;
  for (const std::string& name : detectorNames(model)) {
    const auto add = [&](const std::string& suffix, DetectorOptions options) {
      options.work = model;
      DetectorType type;
      type.traits = checkDetector(name, options);
      type.make = [name](Transport& transport, Session session, const DetectorOptions& asked) {
        return makeDetector(name, transport, session, asked);
      };
      list.push_back({name + suffix, std::move(type), options});
    };
    add("", {});
    DetectorOptions options;
    if (name == "ring-flag") {
      options.initiators = 1000;
      add(", all initiate", options);
    } else if (name == "tree-aps" || name == "tree-counter") {
      options.arity = 2;
      for (const int level : {0, 2}) {
        options.controlLevel = level;
        add(", arity 2, control level " + std::to_string(level), options);
      }
    } else if (name == "tree-ack" || name == "hash-counter") {
      options.arity = 2;
      add(", arity 2", options);
    }
  }
  return list;
}

Run::Run(const Subject& subject, const Program& program, SimulatedNetwork& network)
    : subject_(subject),
      program_(program),
      network_(network),
      mode_(subject.type.traits.synchronousSends && !subject.eagerOnly ? SendMode::Synchronous
                                                                       : SendMode::Eager),
      ranks_(static_cast<std::size_t>(program.ranks)),
      inFlight_(program.begin.size(), std::vector<std::int64_t>(ranks_.size(), 0)) {
  for (int number = 0; number < program.ranks; ++number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    // The detector's session, then one for the messages of each detection.
    Transport& transport = network.transport(number);
    const Session session = transport.openSession();
    for (std::size_t i = 0; i < program.begin.size(); ++i) transport.openSession();
    rank.detector = subject.type.make(transport, session, subject.options);
    begin(rank, number);
  }
}

void Run::begin(Rank& rank, int number) {
  for (const int item : program_.begin[rank.detection][static_cast<std::size_t>(number)]) {
    rank.work.push_back({item, program_.items[static_cast<std::size_t>(item)].steps});
  }
  rank.passive = false;
}

void Run::execute(Rank& rank, Transport& transport) {
  rank.touched = true;
  if (--rank.work.front().steps > 0) return;
  const Item& item = program_.items[static_cast<std::size_t>(rank.work.front().item)];
  rank.work.erase(rank.work.begin());
  rank.answers += item.answers;
  for (const Send& send : item.sends) {
    if (!send.answer) rank.detector->sent(send.to);
    ++inFlight_[rank.detection][static_cast<std::size_t>(send.to)];
    rank.sends.push_back(
        transport.send(send.to, Topic::Work, sessionOf(rank), mode_,
                       Writer().value(std::int32_t(send.answer ? Answer : send.item)).take()));
  }
}

bool Run::work(Rank& rank, Transport& transport) {
  const bool busy = !rank.work.empty();
  bool received = false;
  if (const auto envelope = transport.tryReceive(Topic::Work, sessionOf(rank))) {
    --inFlight_[rank.detection][static_cast<std::size_t>(transport.rank())];
    received = rank.touched = true;
    rank.passive = false;
    const auto item = Reader(envelope->bytes).value<std::int32_t>();
    if (item == Answer) {
      --rank.answers;
    } else {
      rank.detector->received(envelope->source);
      rank.work.push_back({item, program_.items[static_cast<std::size_t>(item)].steps});
    }
  }
  if (busy) execute(rank, transport);
  while (program_.atOnce && !busy && !rank.work.empty()) execute(rank, transport);
  return busy || received;
}

bool Run::step(Transport& transport) {
  const int number = transport.rank();
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  rank.worked = !rank.worked && work(rank, transport);
  if (rank.worked) return false;
  transport.poll();
  rank.sends.erase(std::remove_if(rank.sends.begin(), rank.sends.end(),
                                  [](const PendingSend& send) { return send.done(); }),
                   rank.sends.end());
  rank.passive = rank.work.empty() && rank.answers == 0 && rank.sends.empty() &&
                 !transport.receiving(Topic::Work, sessionOf(rank));
  const bool end = rank.detector->advance(rank.passive, std::exchange(rank.touched, false));
  update();
  if (!end) return false;
  fired(number);
  if (++rank.detection < program_.begin.size()) begin(rank, number);
  const auto slowest =
      std::min_element(ranks_.begin(), ranks_.end(),
                       [](const Rank& a, const Rank& b) { return a.detection < b.detection; });
  if (slowest->detection != slowest_) {
    slowest_ = slowest->detection;
    wavesAtEnd_.reset();
    quiet_ = false;
    if (!ended()) update();
  }
  return rank.detection == program_.begin.size();
}

std::int64_t Run::inFlight() const {
  std::int64_t messages = 0;
  for (const std::int64_t toRank : inFlight_[slowest_]) messages += toRank;
  return messages;
}

void Run::update() {
  const auto passive = [&](const Rank& rank) { return rank.detection > slowest_ || rank.passive; };
  const bool quiet = inFlight() == 0 && std::all_of(ranks_.begin(), ranks_.end(), passive);
  std::int64_t waves = 0;
  for (const Rank& rank : ranks_) {
    if (rank.detection == slowest_) waves = std::max(waves, rank.detector->waves());
  }
  if (quiet && !quiet_) wavesAtQuiet_ = waves;
  quiet_ = quiet;
  if (!quiet) return;
  if (waves - wavesAtQuiet_ > subject_.type.traits.passes) {
    violated(0, std::to_string(waves - wavesAtQuiet_) +
                    " passes were completed since all are passive, more than " +
                    std::to_string(subject_.type.traits.passes));
  }
}

void Run::fired(int number) {
  const Rank& rank = ranks_[static_cast<std::size_t>(number)];
  if (rank.detection != slowest_) violated(number, "fired again before it had fired on all ranks");
  const bool own = subject_.type.traits.model == WorkModel::Monotone;
  const std::int64_t messages =
      own ? inFlight_[slowest_][static_cast<std::size_t>(number)] : inFlight();
  if (messages > 0) {
    violated(number, "fired with " + std::to_string(messages) + " messages in flight");
  }
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].detection > slowest_) continue;
    if (!ranks_[i].work.empty() || ranks_[i].answers > 0) {
      violated(number, "fired while rank " + std::to_string(i) + " has work");
    }
  }
  const std::int64_t waves = rank.detector->waves();
  if (wavesAtEnd_ && *wavesAtEnd_ != waves) {
    violated(number, "counts " + std::to_string(waves) + " passes, another rank " +
                         std::to_string(*wavesAtEnd_));
  }
  wavesAtEnd_ = waves;
}

void Run::checkEnd() const {
  const std::string left = network_.left();
  if (!left.empty()) throw Violation(subject_.name + " leaves something in the network: " + left);
}

void Run::appendState(std::string& state) const {
  for (const Rank& rank : ranks_) {
    put(state, rank.detection);
    put(state, rank.work.size());
    for (const Working& working : rank.work) {
      put(state, working.item);
      put(state, working.steps);
    }
    put(state, rank.sends.size());
    put(state, rank.answers);
    put(state, rank.passive);
    put(state, rank.touched);
    put(state, rank.worked);
    const std::string detector = rank.detector->state();
    put(state, detector.size());
    state += detector;
  }
  // Of the counters only what the checks still need.
  std::int64_t waves = 0;
  if (quiet_) {
    for (const Rank& rank : ranks_) {
      if (rank.detection == slowest_) waves = std::max(waves, rank.detector->waves());
    }
    waves = std::max<std::int64_t>(waves - wavesAtQuiet_, 0);
  }
  put(state, waves);
}

std::string Run::describe(int number) const {
  const Rank& rank = ranks_[static_cast<std::size_t>(number)];
  std::string text = "in detection " + std::to_string(rank.detection) + ", ";
  text += rank.passive ? "passive" : "active";
  text += ", work:";
  for (const Working& working : rank.work) text += " " + std::to_string(working.item);
  return text + "; " + subject_.name + ": " + rank.detector->state();
}

void Run::violated(int rank, const std::string& what) const {
  std::string text = subject_.name + " on rank " + std::to_string(rank) + " " + what + ", in '" +
                     program_.name + "'";
  for (int other = 0; other < program_.ranks; ++other) {
    text += "\n  rank " + std::to_string(other) + " " + describe(other);
  }
  throw Violation(text);
}

Scenario scenarioOf(const Subject& subject, const Program& program) {
  return {subject.name, program.name, program.ranks, [&](SimulatedNetwork& network) {
            return std::make_unique<Run>(subject, program, network);
          }};
}

}  // namespace tributary::schedules
