#include <algorithm>
#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Error.h"
#include "Tributary/Hash.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/SimulatedPrograms.h"

namespace tributary {

namespace {

// now() serves time-outs only: what a look and a nap of everybody last is any small number.
constexpr double LookSeconds = 1e-6;
constexpr double NapSeconds = 50e-6;

// So many naps of all ranks with nothing to be seen between them: nobody will ever move again.
constexpr int FruitlessNaps = 20000;
/// So many turns without a message sent or received end all naps.
constexpr int FruitlessTurns = 500;

constexpr std::size_t StackBytes = std::size_t(256) << 10;

// A mood that lasted for ever could keep everything from ever happening.
constexpr std::int64_t DecisionsPerMood = 1000;

constexpr char Letters[] = "rmhsc";  // by Decision

// ---- Adversaries ----

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

  std::uint64_t next() { return scramble(std::exchange(random_, random_ + 0x9e3779b97f4a7c15ull)); }
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
                  "', is none of the choices that rank " + std::to_string(rank) + " has here");
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

// ---- The network ----

class ChosenNetwork;
class ChosenSend;
class ChosenReceive;

/// Persistent requests of one channel, session and source: letters and receives, each in the order
/// in which they were started. The first letter and the first receive have met, and so on.
struct ChosenLink {
  struct Letter {
    Bytes bytes;
    std::shared_ptr<bool> met;  // some receive
  };
  void meet() {
    for (std::size_t i = 0; i < std::min(letters.size(), receives.size()); ++i) {
      *letters[i].met = true;
    }
  }
  std::deque<Letter> letters;
  std::deque<ChosenReceive*> receives;
};

class ChosenRank : public Transport {
 public:
  ChosenRank(ChosenNetwork& network, int rank) : network_(network), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override;
  double now() const override { return clock; }
  void spend(double seconds) override { clock += seconds; }
  void relax(double seconds) override;
  Session openSession() override { return sessions_++; }
  PendingSend send(int destination, Channel channel, Session session, SendMode mode,
                   Bytes&& bytes) override;
  std::optional<Envelope> tryReceive(Channel channel, Session session) override;
  bool receiving(Channel channel, Session session) const override;
  std::unique_ptr<PersistentRequest> persistentSend(int destination, Channel channel,
                                                    Session session, SendMode mode,
                                                    std::size_t size) override;
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Channel channel, Session session,
                                                       std::size_t size) override;
  void poll() override;
  PendingReduce barrier() override { return allreduce(ReduceOp::Or, {}); }
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override;

  struct Letter {
    Bytes bytes;
    std::shared_ptr<PendingSend::State> send;  // one that may not be finished yet
    bool synchronous = false;
    bool half = false;
  };
  /// The messages of one source, channel and session on their way to this rank.
  struct Flow {
    Channel channel;
    Session session;
    int source;
    std::deque<Letter> letters;
  };
  struct Pending {
    std::int64_t number;
    std::shared_ptr<PendingReduce::State> state;
  };

  // For the network.
  Flow& flow(Channel channel, Session session, int source);
  /// Whether there is anything that the adversary could let this rank see.
  bool hasNews() const;
  /// Sends that could be seen to be finished, as their handles were not dropped.
  std::size_t askedSends() const {
    return static_cast<std::size_t>(
        std::count_if(finishable.begin(), finishable.end(),
                      [](const auto& state) { return state.use_count() > 1; }));
  }
  ChosenLink& link(Channel channel, Session session, int source) {
    return links[{channel, session, source}];
  }
  /// A look at something persistent: others may act before it.
  void look();

  double clock = 0;
  bool relaxed = false;
  std::vector<Flow> flows;  // those with messages, in order
  std::vector<std::shared_ptr<PendingSend::State>> finishable;
  std::vector<Pending> pending;
  std::int64_t entered = 0;
  std::map<std::tuple<Channel, Session, int>, ChosenLink> links;
  std::vector<ChosenSend*> sends;  // persistent ones under way

 private:
  ChosenNetwork& network_;
  int rank_;
  Session sessions_ = 0;
  std::size_t integers_ = 0;
};

/// A collective operation that some rank has entered and not all have seen to be finished.
struct ChosenCollective {
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
  int entered = 0;
  int seen = 0;
};

class ChosenSend : public PersistentRequest {
 public:
  ChosenSend(ChosenNetwork& network, ChosenRank& rank, ChosenLink& link, Channel channel,
             SendMode mode, std::size_t size)
      : PersistentRequest(size),
        network_(network),
        rank_(rank),
        link_(link),
        channel_(channel),
        mode_(mode) {}
  ~ChosenSend() override { leave(); }
  void start() override;
  bool done() override;
  bool cancel() override { throw Error("a send cannot be taken back"); }
  /// Whether it may be seen to be finished.
  bool finishable() const { return mode_ == SendMode::Eager || *met_; }

 private:
  void leave() {
    const auto here = std::find(rank_.sends.begin(), rank_.sends.end(), this);
    if (here != rank_.sends.end()) rank_.sends.erase(here);
  }

  ChosenNetwork& network_;
  ChosenRank& rank_;
  ChosenLink& link_;
  Channel channel_;
  SendMode mode_;
  bool started_ = false;
  std::shared_ptr<bool> met_;
  Bytes sent_;
};

class ChosenReceive : public PersistentRequest {
 public:
  ChosenReceive(ChosenNetwork& network, ChosenRank& rank, ChosenLink& link, int source,
                std::size_t size)
      : PersistentRequest(size), network_(network), rank_(rank), link_(link), source_(source) {}
  ~ChosenReceive() override { leave(); }
  void start() override;
  bool done() override;
  bool cancel() override;

 private:
  std::size_t place() const {
    const auto here = std::find(link_.receives.begin(), link_.receives.end(), this);
    return static_cast<std::size_t>(here - link_.receives.begin());
  }
  /// Out of the link, with the letter that it has met.
  void leave();

  ChosenNetwork& network_;
  ChosenRank& rank_;
  ChosenLink& link_;
  int source_;
  bool started_ = false;
};

class ChosenNetwork : public AdversaryNetwork {
 public:
  ChosenNetwork(int ranks, Adversary& adversary, bool halfReceived, bool eagerWaits)
      : adversary_(adversary), halfReceived_(halfReceived), eagerWaits_(eagerWaits) {
    for (int rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<ChosenRank>(*this, rank));
      transports_.push_back(ranks_.back().get());
    }
  }

  int size() const override { return static_cast<int>(ranks_.size()); }
  Transport& transport(int rank) override { return *ranks_.at(static_cast<std::size_t>(rank)); }
  const NetworkTraffic& traffic() const override { return traffic_; }

  void run(const std::function<void(Transport&)>& body) override {
    programs_.startBodies(transports_, body, StackBytes);
    try {
      go();
    } catch (...) {
      programs_.cancel();
      programs_.rethrow();
      throw;
    }
    programs_.rethrow();
  }

  void runSteps(const std::function<bool(Transport&)>& step) override {
    programs_.startSteps(transports_, step);
    go();
  }

  std::string left() const override {
    std::string text;
    for (const auto& rank : ranks_) {
      const std::string part = leftTo(*rank);
      if (part.empty()) continue;
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank->rank()) + ": " + part;
    }
    return text;
  }

  std::string state() const override {
    Bytes bytes;
    const auto put = [&](std::int64_t value) { append(bytes, &value, sizeof value); };
    for (const auto& rank : ranks_) {
      put(static_cast<std::int64_t>(rank->flows.size()));
      for (const ChosenRank::Flow& flow : rank->flows) {
        put(static_cast<std::int64_t>(flow.channel));
        put(flow.session);
        put(flow.source);
        put(static_cast<std::int64_t>(flow.letters.size()));
        for (const ChosenRank::Letter& letter : flow.letters) {
          put((letter.half ? 1 : 0) + (letter.send ? 2 : 0));
          put(static_cast<std::int64_t>(letter.bytes.size()));
          append(bytes, letter.bytes.data(), letter.bytes.size());
        }
      }
      put(static_cast<std::int64_t>(rank->finishable.size()));
      put(static_cast<std::int64_t>(rank->pending.size()));
      for (const auto& pending : rank->pending) put(pending.number - firstCollective_);
      put(rank->entered - firstCollective_);
      for (const auto& [key, link] : rank->links) {
        put(static_cast<std::int64_t>(link.receives.size()));
        put(static_cast<std::int64_t>(link.letters.size()));
        for (const ChosenLink::Letter& letter : link.letters) {
          put(*letter.met ? 1 : 0);
          append(bytes, letter.bytes.data(), letter.bytes.size());
        }
      }
      for (const ChosenSend* send : rank->sends) put(send->finishable() ? 1 : 0);
    }
    put(static_cast<std::int64_t>(collectives_.size()));
    for (const ChosenCollective& collective : collectives_) {
      put(static_cast<std::int64_t>(collective.op));
      for (const std::int64_t value : collective.values) put(value);
    }
    for (const auto& place : places_) {
      if (const auto value = place.lock()) put(*value);
    }
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  // For the ranks.
  NetworkTraffic& counters() { return traffic_; }
  ChosenRank& rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }
  bool halfReceived() const { return halfReceived_; }
  bool eagerWaits() const { return eagerWaits_; }
  int choose(Decision decision, int rank, const std::vector<int>& options) {
    const std::size_t index = adversary_.choose(decision, rank, options);
    if (index >= options.size()) throw Error("an adversary chose none of the options");
    return options[index];
  }
  /// Something is on its way, or was seen.
  void moved() { naps_ = turns_ = 0; }
  void pause() {
    if (programs_.bodies()) programs_.pause();
  }
  bool mayWait() const { return programs_.bodies(); }

  ChosenCollective& collective(std::int64_t number) {
    const auto index = static_cast<std::size_t>(number - firstCollective_);
    if (collectives_.size() <= index) collectives_.resize(index + 1);
    return collectives_[index];
  }
  bool complete(std::int64_t number) const {
    return collectives_[static_cast<std::size_t>(number - firstCollective_)].entered == size();
  }
  void seen(std::int64_t number) {
    ++collective(number).seen;
    while (!collectives_.empty() && collectives_.front().seen == size()) {
      collectives_.pop_front();
      ++firstCollective_;
    }
  }
  std::shared_ptr<std::int64_t> place(std::size_t number, std::int64_t initial) {
    if (places_.size() <= number) places_.resize(number + 1);
    auto place = places_[number].lock();
    if (!place) places_[number] = place = std::make_shared<std::int64_t>(initial);
    return place;
  }

 private:
  void go() {
    for (const auto& rank : ranks_) rank->relaxed = false;
    moved();
    int last = 0;
    std::vector<int> options;
    while (programs_.running() > 0) {
      options.clear();
      for (const auto& rank : ranks_) {
        if (!programs_.ended(rank->rank()) && (!rank->relaxed || rank->hasNews())) {
          options.push_back(rank->rank());
        }
      }
      // Naps end when nobody else can go on, and when those who can do not get anywhere: what has
      // come for them may be of use only once somebody who naps has gone on.
      if (options.empty() || ++turns_ > FruitlessTurns) {
        turns_ = 0;
        if (++naps_ > FruitlessNaps) reportDeadlock();
        for (const auto& rank : ranks_) {
          rank->clock += NapSeconds;
          rank->relaxed = false;
        }
        continue;
      }
      last = choose(Decision::Rank, last, options);
      rank(last).relaxed = false;
      programs_.resume(last);
    }
  }

  static std::string leftTo(const ChosenRank& rank) {
    std::size_t letters = 0;
    for (const ChosenRank::Flow& flow : rank.flows) letters += flow.letters.size();
    for (const auto& [key, link] : rank.links) letters += link.letters.size();
    std::string text;
    const auto add = [&](std::size_t count, const char* what) {
      if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
    };
    add(letters, " messages not received");
    add(rank.askedSends(), " sends not seen to be finished");
    add(rank.sends.size(), " persistent sends not seen to be finished");
    add(rank.pending.size(), " collective operations not ended");
    return text;
  }

  [[noreturn]] void reportDeadlock() const {
    std::string text = "simulated network: no rank can move any more, " +
                       std::to_string(programs_.running()) + " have not ended";
    for (const auto& rank : ranks_) {
      if (programs_.ended(rank->rank())) continue;
      text += "\n  rank " + std::to_string(rank->rank()) + ": ";
      if (describe_) text += describe_(rank->rank()) + "; ";
      const std::string part = leftTo(*rank);
      text += part.empty() ? "nothing comes" : part;
    }
    throw Error(text);
  }

  Adversary& adversary_;
  bool halfReceived_;
  bool eagerWaits_;
  std::vector<std::unique_ptr<ChosenRank>> ranks_;
  std::vector<Transport*> transports_;
  SimulatedPrograms programs_;
  NetworkTraffic traffic_;
  std::deque<ChosenCollective> collectives_;
  std::int64_t firstCollective_ = 0;
  std::vector<std::weak_ptr<std::int64_t>> places_;
  int naps_ = 0;   // since something moved
  int turns_ = 0;  // since then or the last nap
};

class ChosenInteger : public SharedInteger {
 public:
  ChosenInteger(ChosenNetwork& network, std::shared_ptr<std::int64_t> place)
      : network_(network), place_(std::move(place)) {}
  std::int64_t fetchAdd(std::int64_t value) override {
    network_.pause();
    network_.moved();
    ++network_.counters().sharedOperations;
    return std::exchange(*place_, *place_ + value);
  }

 private:
  ChosenNetwork& network_;
  std::shared_ptr<std::int64_t> place_;
};

int ChosenRank::size() const {
  return network_.size();
}

ChosenRank::Flow& ChosenRank::flow(Channel channel, Session session, int source) {
  const auto key = std::make_tuple(channel, session, source);
  const auto place =
      std::lower_bound(flows.begin(), flows.end(), key, [](const Flow& flow, const auto& wanted) {
        return std::tie(flow.channel, flow.session, flow.source) < wanted;
      });
  if (place != flows.end() && std::tie(place->channel, place->session, place->source) == key) {
    return *place;
  }
  return *flows.insert(place, Flow{channel, session, source, {}});
}

bool ChosenRank::hasNews() const {
  return !flows.empty() || askedSends() > 0 ||
         std::any_of(pending.begin(), pending.end(),
                     [&](const Pending& p) { return network_.complete(p.number); }) ||
         std::any_of(links.begin(), links.end(),
                     [](const auto& entry) {
                       return !entry.second.letters.empty() && !entry.second.receives.empty();
                     }) ||
         std::any_of(sends.begin(), sends.end(),
                     [](const ChosenSend* send) { return send->finishable(); });
}

void ChosenRank::look() {
  network_.pause();
  clock += LookSeconds;
}

std::unique_ptr<PersistentRequest> ChosenRank::persistentSend(int destination, Channel channel,
                                                              Session session, SendMode mode,
                                                              std::size_t size) {
  checkPersistent(destination, this->size(), size);
  return std::make_unique<ChosenSend>(network_, *this,
                                      network_.rank(destination).link(channel, session, rank_),
                                      channel, mode, size);
}

std::unique_ptr<PersistentRequest> ChosenRank::persistentReceive(int source, Channel channel,
                                                                 Session session,
                                                                 std::size_t size) {
  checkPersistent(source, this->size(), size);
  return std::make_unique<ChosenReceive>(network_, *this, link(channel, session, source), source,
                                         size);
}

void ChosenSend::start() {
  if (started_) throw Error("a persistent send was started before it was done");
  network_.moved();
  network_.counters().add(channel_, buffer_.size());
  if (mode_ == SendMode::Synchronous) ++network_.counters().acknowledgements;
  started_ = true;
  met_ = std::make_shared<bool>(false);
  rank_.sends.push_back(this);
  sent_ = buffer_;
  link_.letters.push_back({buffer_, met_});
  link_.meet();
}

bool ChosenSend::done() {
  if (!started_) return true;
  rank_.look();
  if (!finishable() || network_.choose(Decision::Sends, rank_.rank(), {0, 1}) == 0) return false;
  network_.moved();
  started_ = false;
  leave();
  if (sent_ != buffer_) throw Error("a buffer was changed while it was being sent");
  return true;
}

void ChosenReceive::start() {
  if (started_) throw Error("a persistent receive was started before it was done");
  network_.moved();
  started_ = true;
  // Whoever reads it now sees what nobody has sent.
  std::fill(buffer_.begin(), buffer_.end(), std::byte{0xff});
  link_.receives.push_back(this);
  link_.meet();
}

bool ChosenReceive::done() {
  if (!started_) return true;
  rank_.look();
  const std::size_t index = place();
  if (index >= link_.letters.size()) return false;
  if (network_.choose(Decision::Message, rank_.rank(), {-1, source_}) < 0) return false;
  network_.moved();
  const Bytes bytes = std::move(link_.letters[index].bytes);
  leave();
  checkPersistentSize(bytes.size(), buffer_.size(), source_, rank_.rank());
  std::copy(bytes.begin(), bytes.end(), buffer_.begin());
  return true;
}

bool ChosenReceive::cancel() {
  if (!started_ || done()) return false;
  link_.receives.erase(link_.receives.begin() + static_cast<std::ptrdiff_t>(place()));
  started_ = false;
  return true;
}

void ChosenReceive::leave() {
  if (!std::exchange(started_, false)) return;
  const auto index = static_cast<std::ptrdiff_t>(place());
  if (place() < link_.letters.size()) link_.letters.erase(link_.letters.begin() + index);
  link_.receives.erase(link_.receives.begin() + index);
}

void ChosenRank::relax(double) {
  clock += LookSeconds;
  relaxed = true;
  network_.pause();
}

PendingSend ChosenRank::send(int destination, Channel channel, Session session, SendMode mode,
                             Bytes&& bytes) {
  if (destination < 0 || destination >= size()) {
    throw Error("send to rank " + std::to_string(destination) +
                ": the simulated network has ranks 0 to " + std::to_string(size() - 1));
  }
  network_.moved();
  network_.counters().add(channel, bytes.size());
  auto state = std::make_shared<PendingSend::State>();
  const bool synchronous = mode == SendMode::Synchronous;
  state->done = !synchronous && !network_.eagerWaits();
  network_.rank(destination)
      .flow(channel, session, rank_)
      .letters.push_back({std::move(bytes), state->done ? nullptr : state, synchronous, false});
  return PendingSend(std::move(state));
}

std::optional<Envelope> ChosenRank::tryReceive(Channel channel, Session session) {
  network_.pause();
  clock += LookSeconds;
  std::vector<int> sources = {-1};
  for (const Flow& flow : flows) {
    if (flow.channel == channel && flow.session == session) sources.push_back(flow.source);
  }
  if (sources.size() == 1) return std::nullopt;
  const int source = network_.choose(Decision::Message, rank_, sources);
  if (source < 0) return std::nullopt;
  network_.moved();
  Flow& from = flow(channel, session, source);
  Letter& letter = from.letters.front();
  if (letter.send) {
    if (letter.synchronous) ++network_.counters().acknowledgements;
    network_.rank(source).finishable.push_back(std::move(letter.send));
    letter.send = nullptr;
  }
  if (network_.halfReceived() && !letter.half &&
      network_.choose(Decision::Half, rank_, {0, 1}) == 1) {
    letter.half = true;
    return std::nullopt;
  }
  Envelope envelope{source, std::move(letter.bytes)};
  from.letters.pop_front();
  if (from.letters.empty()) flows.erase(flows.begin() + (&from - flows.data()));
  return envelope;
}

bool ChosenRank::receiving(Channel channel, Session session) const {
  return std::any_of(flows.begin(), flows.end(), [&](const Flow& flow) {
    return flow.channel == channel && flow.session == session && flow.letters.front().half;
  });
}

void ChosenRank::poll() {
  network_.pause();
  clock += LookSeconds;
  if (!finishable.empty() && network_.choose(Decision::Sends, rank_, {0, 1}) == 1) {
    network_.moved();
    for (const auto& state : finishable) state->done = true;
    finishable.clear();
  }
  for (std::size_t i = 0; i < pending.size();) {
    const std::int64_t number = pending[i].number;
    if (!network_.complete(number) || network_.choose(Decision::Collective, rank_, {0, 1}) == 0) {
      ++i;
      continue;
    }
    network_.moved();
    pending[i].state->result = network_.collective(number).values;
    pending[i].state->done = true;
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
    network_.seen(number);
  }
}

PendingReduce ChosenRank::allreduce(ReduceOp op, std::vector<std::int64_t> values) {
  network_.moved();
  auto state = std::make_shared<PendingReduce::State>();
  pending.push_back({entered, state});
  ChosenCollective& collective = network_.collective(entered++);
  if (collective.entered++ == 0) {
    collective.op = op;
    collective.values = std::move(values);
  } else {
    combineReduced(collective.op, collective.values, op, values);
  }
  return PendingReduce(std::move(state));
}

std::unique_ptr<SharedInteger> ChosenRank::shareInteger(std::int64_t initial) {
  return std::make_unique<ChosenInteger>(network_, network_.place(integers_++, initial));
}

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

std::unique_ptr<AdversaryNetwork> makeAdversaryNetwork(int ranks, Adversary& adversary,
                                                       bool halfReceived, bool eagerWaits) {
  if (ranks < 1) throw Error("simulated network: there must be at least one rank");
  return std::make_unique<ChosenNetwork>(ranks, adversary, halfReceived, eagerWaits);
}

}  // namespace tributary
