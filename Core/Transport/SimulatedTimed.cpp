#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Error.h"
#include "Tributary/Hash.h"
#include "Tributary/Transport/Simulated.h"
#include "Tributary/Transport/SimulatedPrograms.h"

namespace tributary {

namespace {

// A nap lasts at least this part of the time for which nothing came: few wake-ups, and time-outs
// are noticed at most half as late again as they are long.
constexpr double NapShare = 0.5;

// What a report names in full.
constexpr int ReportedRanks = 16;

constexpr double Never = std::numeric_limits<double>::infinity();

/// Steele, Lea and Flood's SplitMix64: advances the state and returns the next number.
std::uint64_t nextRandom(std::uint64_t& state) {
  return scramble(std::exchange(state, state + 0x9e3779b97f4a7c15ull));
}

class TimedNetwork;

/// An integer in the memory of rank 0, and when it is free for the next operation.
struct SharedPlace {
  std::int64_t value = 0;
  double freeAt = 0;
};

/// Something on its way to a rank.
struct Arrival {
  enum class Kind {
    Letter,
    Acknowledgement,  // of a synchronous send of this rank
    Sent,             // an eager send of this rank has left its buffer; not a message
    Up,               // a part of a reduction, to the parent
    Down,             // its result, to the children
    Wake              // something about a persistent request can be seen now; not a message
  };
  Arrival(Kind what, int from) : kind(what), source(from) {}

  Kind kind;
  int source;
  bool admitted = false;  // the time is already that of the receiver's gap
  Channel channel = Channel::Work;
  Session session = 0;
  Bytes bytes;
  std::shared_ptr<PendingSend::State> send;
  std::int64_t collective = 0;
  ReduceOp op = ReduceOp::Or;
  std::vector<std::int64_t> values;
};

class TimedReceive;

/// Persistent requests of one channel, session and source. The first letter goes to the receive
/// that was started first, and so on, when both are there, whatever the receiving rank is doing.
struct TimedLink {
  struct Letter {
    double arrives;
    Bytes bytes;
    std::shared_ptr<double> met;  // when it is there and has a receive
    bool synchronous;
  };
  struct Receive {
    double started;
    TimedReceive* request;
  };
  std::deque<Letter> letters;
  std::deque<Receive> receives;
};

class TimedRank : public Transport {
 public:
  TimedRank(TimedNetwork& network, int rank, double speed, std::uint64_t seed);

  int rank() const override { return rank_; }
  int size() const override;
  double now() const override { return clock_; }
  void spend(double seconds) override;
  void relax(double seconds) override;
  Session openSession() override { return sessions_++; }

  PendingSend send(int destination, Channel channel, Session session, SendMode mode,
                   Bytes&& bytes) override;
  std::optional<Envelope> tryReceive(Channel channel, Session session) override;
  bool receiving(Channel, Session) const override { return false; }
  std::unique_ptr<PersistentRequest> persistentSend(int destination, Channel channel,
                                                    Session session, SendMode mode,
                                                    std::size_t size) override;
  std::unique_ptr<PersistentRequest> persistentReceive(int source, Channel channel, Session session,
                                                       std::size_t size) override;
  void poll() override;
  PendingReduce barrier() override { return allreduce(ReduceOp::Or, {}); }
  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override;
  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override;

  std::int64_t fetchAdd(SharedPlace& place, std::int64_t value);

  // For the network.
  double clock() const { return clock_; }
  void beginTurn(double time) { clock_ = std::max(clock_, time); }
  /// After a step: has the next one made when it is due.
  void endStep();
  /// Puts something on its way to this rank.
  void expect(double time, Arrival&& arrival);
  std::string left() const;
  /// For persistent requests: the overhead of a send, and when it leaves its buffer.
  double leave(int destination, std::size_t bytes);
  /// Brings letters and receives of a link to this rank together.
  void meet(TimedLink& link, int source);
  /// A look at a persistent request.
  void observe();
  void pay(double seconds) { clock_ += seconds; }

  // The entry of this rank in the network's queue that counts, and whether an earlier arrival may
  // replace it.
  double wakeAt = 0;
  std::int64_t version = 0;
  bool sleeping = false;

 private:
  struct Coming {
    double time;
    std::int64_t order;
    std::unique_ptr<Arrival> arrival;
    /// For a heap with the earliest on top.
    bool operator<(const Coming& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  struct Letter {
    int source;
    Bytes bytes;
    std::shared_ptr<PendingSend::State> send;
  };
  struct Collective {
    std::int64_t number;
    ReduceOp op;
    std::vector<std::int64_t> values;
    bool begun = false;  // `values` holds somebody's
    int missing = 0;     // parts, of the children and of this rank
    std::shared_ptr<PendingReduce::State> state;
  };

  double firstComing() const { return coming_.empty() ? Never : coming_.front().time; }
  void admit();
  /// A message to another rank: this rank's overhead and gap, and the way.
  void dispatch(int destination, std::size_t bytes, Arrival&& arrival);
  Collective& collective(std::int64_t number, ReduceOp op);
  void contribute(Collective& collective, ReduceOp op, const std::vector<std::int64_t>& values);
  void finish(std::int64_t number, const std::vector<std::int64_t>& values);
  void forEachChild(const std::function<void(int)>& visit) const;
  int parent() const { return rank_ & (rank_ - 1); }

  TimedNetwork& network_;
  int rank_;
  double speed_;
  std::uint64_t random_;
  double clock_ = 0;
  double sendFreeAt_ = 0;
  double receiveFreeAt_ = 0;
  Session sessions_ = 0;
  std::int64_t collectivesEntered_ = 0;
  std::size_t integers_ = 0;
  std::vector<Coming> coming_;  // a heap
  std::map<std::pair<Channel, Session>, std::deque<Letter>> letters_;
  std::map<std::tuple<Channel, Session, int>, TimedLink> links_;
  std::vector<Arrival> protocol_;  // to be dealt with by poll()
  std::vector<Collective> collectives_;
  double lastArrival_ = 0;
  bool news_ = false;     // something arrived since this rank relaxed
  bool relaxed_ = false;  // in this step
  double napEnd_ = 0;
};

class TimedNetwork : public SimulatedNetwork {
 public:
  explicit TimedNetwork(const TimedNetworkOptions& options) : options_(options) {
    minLatency_ = std::min(options.within.latency, options.between.latency);
    for (int rank = 0; rank < options.ranks; ++rank) {
      const double speed =
          options.speeds.empty() ? 1.0 : options.speeds[static_cast<std::size_t>(rank)];
      std::uint64_t state = options.seed ^ static_cast<std::uint64_t>(rank) << 32;
      ranks_.push_back(std::make_unique<TimedRank>(*this, rank, speed, nextRandom(state)));
      transports_.push_back(ranks_.back().get());
    }
  }

  int size() const override { return options_.ranks; }
  Transport& transport(int rank) override { return *ranks_.at(static_cast<std::size_t>(rank)); }
  const NetworkTraffic& traffic() const override { return traffic_; }

  void run(const std::function<void(Transport&)>& body) override {
    programs_.startBodies(transports_, body, options_.stackBytes);
    begin();
    try {
      while (programs_.running() > 0) {
        TimedRank& rank = nextRank();
        programs_.resume(rank.rank());
      }
    } catch (...) {
      programs_.cancel();
      programs_.rethrow();
      throw;
    }
    programs_.rethrow();
  }

  void runSteps(const std::function<bool(Transport&)>& step) override {
    programs_.startSteps(transports_, step);
    begin();
    while (programs_.running() > 0) {
      TimedRank& rank = nextRank();
      programs_.resume(rank.rank());
      if (!programs_.ended(rank.rank())) {
        rank.endStep();
      }
    }
  }

  std::string left() const override {
    std::string text;
    for (const auto& rank : ranks_) {
      const std::string part = rank->left();
      if (part.empty()) continue;
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank->rank()) + ": " + part;
    }
    return text;
  }

  // For the ranks.
  const TimedNetworkOptions& options() const { return options_; }
  NetworkTraffic& counters() { return traffic_; }
  bool mayWait() const { return programs_.bodies(); }
  TimedRank& rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }
  std::int64_t nextOrder() { return order_++; }
  const LinkCosts& link(int a, int b) const {
    return a / options_.ranksPerNode == b / options_.ranksPerNode ? options_.within
                                                                  : options_.between;
  }

  /// What happens elsewhere before this moment is known; nothing sent after it arrives before it.
  double horizon() { return earliest() + minLatency_; }
  /// The clock of the rank that is behind all others, not counting the one that runs.
  double earliest() {
    while (!queue_.empty() && stale(queue_.front())) pop();
    return queue_.empty() ? Never : queue_.front().time;
  }

  void schedule(TimedRank& rank, double time, bool sleeping) {
    rank.wakeAt = time;
    rank.sleeping = sleeping;
    queue_.push_back({time, rank.rank(), ++rank.version});
    std::push_heap(queue_.begin(), queue_.end());
  }
  /// Ends the turn of the rank that runs, until `time` or, if it sleeps, the first arrival.
  void pause(TimedRank& rank, double time, bool sleeping) {
    schedule(rank, time, sleeping);
    programs_.pause();
  }
  void active(double time) { lastActivity_ = std::max(lastActivity_, time); }

  /// The places of the shared integers, in the order in which every rank makes them.
  std::shared_ptr<SharedPlace> place(std::size_t number, std::int64_t initial) {
    while (places_.size() <= number) places_.emplace_back();
    auto place = places_[number].lock();
    if (!place) {
      place = std::make_shared<SharedPlace>();
      place->value = initial;
      places_[number] = place;
    }
    return place;
  }

 private:
  struct Turn {
    double time;
    int rank;
    std::int64_t version;
    bool operator<(const Turn& other) const {
      return time != other.time ? time > other.time : rank > other.rank;
    }
  };

  bool stale(const Turn& turn) const {
    return turn.version != ranks_[static_cast<std::size_t>(turn.rank)]->version ||
           programs_.ended(turn.rank);
  }
  void pop() {
    std::pop_heap(queue_.begin(), queue_.end());
    queue_.pop_back();
  }

  TimedRank& nextRank() {
    earliest();
    const Turn turn = queue_.front();
    if (turn.time > lastActivity_ + options_.deadlockSeconds) reportDeadlock();
    pop();
    TimedRank& next = rank(turn.rank);
    next.sleeping = false;
    next.beginTurn(turn.time);
    return next;
  }

  void begin() {
    queue_.clear();
    for (const auto& rank : ranks_) {
      active(rank->clock());
      schedule(*rank, rank->clock(), false);
    }
  }

  [[noreturn]] void reportDeadlock() const {
    std::string text = "simulated network: no rank can move any more, " +
                       std::to_string(programs_.running()) + " have not ended";
    int reported = 0;
    for (const auto& rank : ranks_) {
      if (programs_.ended(rank->rank())) continue;
      if (++reported > ReportedRanks) continue;
      text += "\n  rank " + std::to_string(rank->rank()) + ": ";
      if (describe_) text += describe_(rank->rank()) + "; ";
      const std::string part = rank->left();
      text += part.empty() ? "nothing comes" : part;
    }
    if (reported > ReportedRanks) {
      text += "\n  and " + std::to_string(reported - ReportedRanks) + " more ranks";
    }
    throw Error(text);
  }

  TimedNetworkOptions options_;
  double minLatency_;
  std::vector<std::unique_ptr<TimedRank>> ranks_;
  std::vector<Transport*> transports_;
  SimulatedPrograms programs_;
  std::vector<Turn> queue_;  // a heap
  NetworkTraffic traffic_;
  std::int64_t order_ = 0;
  double lastActivity_ = 0;
  std::vector<std::weak_ptr<SharedPlace>> places_;
};

class TimedSend : public PersistentRequest {
 public:
  TimedSend(TimedNetwork& network, TimedRank& rank, int destination, TimedLink& link,
            Channel channel, SendMode mode, std::size_t size)
      : PersistentRequest(size),
        network_(network),
        rank_(rank),
        destination_(destination),
        link_(link),
        channel_(channel),
        mode_(mode) {}

  void start() override {
    const bool synchronous = mode_ == SendMode::Synchronous;
    network_.counters().add(channel_, buffer_.size());
    if (synchronous) ++network_.counters().acknowledgements;
    started_ = true;
    gone_ = rank_.leave(destination_, buffer_.size());
    met_ = std::make_shared<double>(Never);
    const double arrives = gone_ + latency();
    link_.letters.push_back({arrives, buffer_, met_, synchronous});
    TimedRank& receiver = network_.rank(destination_);
    receiver.expect(arrives, {Arrival::Kind::Wake, rank_.rank()});
    if (!synchronous) rank_.expect(gone_, {Arrival::Kind::Wake, rank_.rank()});
    receiver.meet(link_, rank_.rank());
  }

  bool done() override {
    if (!started_) return true;
    rank_.observe();
    const double end = mode_ == SendMode::Eager ? gone_ : *met_ + latency();
    if (end > rank_.clock()) {
      rank_.pay(network_.options().lookSeconds);
      return false;
    }
    started_ = false;
    return true;
  }

  bool cancel() override { throw Error("a send cannot be taken back"); }

 private:
  double latency() const { return network_.link(rank_.rank(), destination_).latency; }

  TimedNetwork& network_;
  TimedRank& rank_;
  int destination_;
  TimedLink& link_;
  Channel channel_;
  SendMode mode_;
  bool started_ = false;
  double gone_ = 0;
  std::shared_ptr<double> met_;
};

class TimedReceive : public PersistentRequest {
 public:
  TimedReceive(TimedNetwork& network, TimedRank& rank, int source, TimedLink& link,
               std::size_t size)
      : PersistentRequest(size), network_(network), rank_(rank), source_(source), link_(link) {}
  ~TimedReceive() override {
    if (started_) remove();
  }

  void start() override {
    started_ = true;
    link_.receives.push_back({rank_.clock(), this});
    rank_.meet(link_, source_);
  }

  bool done() override {
    if (!started_) return true;
    rank_.observe();
    if (!came()) {
      rank_.pay(network_.options().lookSeconds);
      return false;
    }
    rank_.pay(network_.link(source_, rank_.rank()).overhead);
    const Bytes bytes = std::move(link_.letters[place()].bytes);
    remove();
    checkPersistentSize(bytes.size(), buffer_.size(), source_, rank_.rank());
    std::copy(bytes.begin(), bytes.end(), buffer_.begin());
    return true;
  }

  bool cancel() override {
    if (!started_ || done()) return false;
    remove();
    return true;
  }

 private:
  std::size_t place() const {
    const auto here =
        std::find_if(link_.receives.begin(), link_.receives.end(),
                     [&](const TimedLink::Receive& receive) { return receive.request == this; });
    return static_cast<std::size_t>(here - link_.receives.begin());
  }
  bool came() const {
    const std::size_t index = place();
    return index < link_.letters.size() && *link_.letters[index].met <= rank_.clock();
  }
  /// Out of the link, with its letter if that is there; one on its way stays for the next receive.
  void remove() {
    const std::size_t index = place();
    if (came()) {
      link_.letters.erase(link_.letters.begin() + static_cast<std::ptrdiff_t>(index));
    } else if (index < link_.letters.size()) {
      *link_.letters[index].met = Never;
    }
    link_.receives.erase(link_.receives.begin() + static_cast<std::ptrdiff_t>(index));
    started_ = false;
  }

  TimedNetwork& network_;
  TimedRank& rank_;
  int source_;
  TimedLink& link_;
  bool started_ = false;
};

class TimedInteger : public SharedInteger {
 public:
  TimedInteger(TimedRank& rank, std::shared_ptr<SharedPlace> place)
      : rank_(rank), place_(std::move(place)) {}
  std::int64_t fetchAdd(std::int64_t value) override { return rank_.fetchAdd(*place_, value); }

 private:
  TimedRank& rank_;
  std::shared_ptr<SharedPlace> place_;
};

TimedRank::TimedRank(TimedNetwork& network, int rank, double speed, std::uint64_t seed)
    : network_(network), rank_(rank), speed_(speed), random_(seed) {}

int TimedRank::size() const {
  return network_.size();
}

void TimedRank::spend(double seconds) {
  double factor = 1;
  if (network_.options().noise > 0) {
    const double uniform = (static_cast<double>(nextRandom(random_) >> 11) + 0.5) * 0x1p-53;
    factor += network_.options().noise * (-std::log(uniform) - 1);
  }
  clock_ += seconds / speed_ * factor;
  network_.active(clock_);
}

void TimedRank::observe() {
  if (network_.mayWait()) {
    while (clock_ > network_.horizon()) network_.pause(*this, clock_, false);
  }
  admit();
}

void TimedRank::admit() {
  while (firstComing() <= clock_) {
    std::pop_heap(coming_.begin(), coming_.end());
    Coming first = std::move(coming_.back());
    coming_.pop_back();
    Arrival& arrival = *first.arrival;
    if (arrival.kind == Arrival::Kind::Wake) {
      news_ = true;
      lastArrival_ = clock_;
      continue;
    }
    if (!arrival.admitted && arrival.kind != Arrival::Kind::Sent) {
      arrival.admitted = true;
      const double time = std::max(first.time, receiveFreeAt_);
      receiveFreeAt_ = time + network_.link(arrival.source, rank_).gap;
      if (time > first.time) {  // behind others that wait, maybe of the same source
        first.time = time;
        coming_.push_back(std::move(first));
        std::push_heap(coming_.begin(), coming_.end());
        continue;
      }
    }
    news_ = true;
    lastArrival_ = clock_;
    if (arrival.kind == Arrival::Kind::Letter) {
      letters_[{arrival.channel, arrival.session}].push_back(
          {arrival.source, std::move(arrival.bytes), std::move(arrival.send)});
    } else {
      protocol_.push_back(std::move(arrival));
    }
  }
}

void TimedRank::expect(double time, Arrival&& arrival) {
  coming_.push_back({time, network_.nextOrder(), std::make_unique<Arrival>(std::move(arrival))});
  std::push_heap(coming_.begin(), coming_.end());
  network_.active(time);
  if (sleeping && time < wakeAt) network_.schedule(*this, std::max(clock_, time), true);
}

double TimedRank::leave(int destination, std::size_t bytes) {
  const LinkCosts& link = network_.link(rank_, destination);
  clock_ += link.overhead;
  const double leaves = std::max(clock_, sendFreeAt_);
  const double long_ = bytes > 1 ? static_cast<double>(bytes - 1) * link.gapPerByte : 0;
  sendFreeAt_ = leaves + long_ + link.gap;
  return leaves + long_;
}

void TimedRank::dispatch(int destination, std::size_t bytes, Arrival&& arrival) {
  arrival.source = rank_;
  const double left = leave(destination, bytes);
  network_.rank(destination)
      .expect(left + network_.link(rank_, destination).latency, std::move(arrival));
}

void TimedRank::meet(TimedLink& link, int source) {
  for (std::size_t i = 0; i < std::min(link.letters.size(), link.receives.size()); ++i) {
    TimedLink::Letter& letter = link.letters[i];
    if (*letter.met != Never) continue;
    *letter.met = std::max(letter.arrives, link.receives[i].started);
    if (letter.synchronous) {
      const double seen = *letter.met + network_.link(source, rank_).latency;
      network_.rank(source).expect(seen, {Arrival::Kind::Wake, rank_});
    }
    expect(*letter.met, {Arrival::Kind::Wake, rank_});
  }
}

std::unique_ptr<PersistentRequest> TimedRank::persistentSend(int destination, Channel channel,
                                                             Session session, SendMode mode,
                                                             std::size_t size) {
  checkPersistent(destination, this->size(), size);
  TimedLink& link = network_.rank(destination).links_[{channel, session, rank_}];
  return std::make_unique<TimedSend>(network_, *this, destination, link, channel, mode, size);
}

std::unique_ptr<PersistentRequest> TimedRank::persistentReceive(int source, Channel channel,
                                                                Session session, std::size_t size) {
  checkPersistent(source, this->size(), size);
  TimedLink& link = links_[{channel, session, source}];
  return std::make_unique<TimedReceive>(network_, *this, source, link, size);
}

PendingSend TimedRank::send(int destination, Channel channel, Session session, SendMode mode,
                            Bytes&& bytes) {
  if (destination < 0 || destination >= size()) {
    throw Error("send to rank " + std::to_string(destination) +
                ": the simulated network has ranks 0 to " + std::to_string(size() - 1));
  }
  network_.counters().add(channel, bytes.size());
  auto state = std::make_shared<PendingSend::State>();
  Arrival letter{Arrival::Kind::Letter, rank_};
  letter.channel = channel;
  letter.session = session;
  letter.bytes = std::move(bytes);
  if (mode == SendMode::Synchronous) letter.send = state;
  const std::size_t size = letter.bytes.size();
  dispatch(destination, size, std::move(letter));
  if (mode == SendMode::Eager) {
    const double gone = sendFreeAt_ - network_.link(rank_, destination).gap;
    if (gone <= clock_) {
      state->done = true;
    } else {
      Arrival sent{Arrival::Kind::Sent, rank_};
      sent.send = state;
      expect(gone, std::move(sent));
    }
  }
  return PendingSend(std::move(state));
}

std::optional<Envelope> TimedRank::tryReceive(Channel channel, Session session) {
  observe();
  const auto found = letters_.empty() ? letters_.end() : letters_.find({channel, session});
  if (found == letters_.end()) {
    clock_ += network_.options().lookSeconds;
    return std::nullopt;
  }
  Letter letter = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) letters_.erase(found);
  clock_ += network_.link(letter.source, rank_).overhead;
  if (letter.send) {
    ++network_.counters().acknowledgements;
    Arrival acknowledgement{Arrival::Kind::Acknowledgement, rank_};
    acknowledgement.send = std::move(letter.send);
    dispatch(letter.source, 0, std::move(acknowledgement));
  }
  return Envelope{letter.source, std::move(letter.bytes)};
}

void TimedRank::poll() {
  observe();
  std::vector<Arrival> arrivals;
  arrivals.swap(protocol_);
  for (Arrival& arrival : arrivals) {
    if (arrival.kind != Arrival::Kind::Sent) {
      clock_ += network_.link(arrival.source, rank_).overhead;
    }
    switch (arrival.kind) {
      case Arrival::Kind::Acknowledgement:
      case Arrival::Kind::Sent:
        arrival.send->done = true;
        break;
      case Arrival::Kind::Up:
        contribute(collective(arrival.collective, arrival.op), arrival.op, arrival.values);
        break;
      case Arrival::Kind::Down:
        finish(arrival.collective, arrival.values);
        break;
      case Arrival::Kind::Letter:
      case Arrival::Kind::Wake:
        break;
    }
  }
  clock_ += network_.options().lookSeconds;
}

void TimedRank::relax(double seconds) {
  observe();
  if (relaxed_) {
    throw Error("simulated network: a step relaxes once at most, it must not wait");
  }
  napEnd_ = clock_ +
            std::max({seconds, network_.options().lookSeconds, NapShare * (clock_ - lastArrival_)});
  if (!network_.mayWait()) {
    relaxed_ = true;
    return;
  }
  while (!news_ && clock_ < napEnd_) {
    network_.pause(*this, std::min(napEnd_, firstComing()), true);
    admit();
  }
  news_ = false;
}

void TimedRank::endStep() {
  const bool rests = std::exchange(relaxed_, false) && !std::exchange(news_, false);
  const double due =
      rests ? std::min(napEnd_, firstComing()) : clock_ + network_.options().lookSeconds;
  network_.schedule(*this, std::max(clock_, due), rests);
}

void TimedRank::forEachChild(const std::function<void(int)>& visit) const {
  std::int64_t step = 1;
  while (step < size() && (rank_ & step) == 0) step *= 2;
  // The largest part of the tree first: it has the longest way to go.
  for (step /= 2; step > 0; step /= 2) {
    if (rank_ + step < size()) visit(static_cast<int>(rank_ + step));
  }
}

TimedRank::Collective& TimedRank::collective(std::int64_t number, ReduceOp op) {
  for (Collective& collective : collectives_) {
    if (collective.number != number) continue;
    return collective;
  }
  Collective collective{number, op, {}, false, 1, nullptr};
  forEachChild([&](int) { ++collective.missing; });
  collectives_.push_back(std::move(collective));
  return collectives_.back();
}

void TimedRank::contribute(Collective& collective, ReduceOp op,
                           const std::vector<std::int64_t>& values) {
  if (collective.begun) {
    combineReduced(collective.op, collective.values, op, values);
  } else {
    collective.values = values;
    collective.begun = true;
  }
  if (--collective.missing > 0) return;
  if (rank_ == 0) {
    finish(collective.number, std::vector<std::int64_t>(collective.values));
    return;
  }
  ++network_.counters().collective;
  Arrival up{Arrival::Kind::Up, rank_};
  up.collective = collective.number;
  up.op = collective.op;
  up.values = collective.values;
  const std::size_t bytes = up.values.size() * sizeof(std::int64_t);
  dispatch(parent(), bytes, std::move(up));
}

void TimedRank::finish(std::int64_t number, const std::vector<std::int64_t>& values) {
  forEachChild([&](int child) {
    ++network_.counters().collective;
    Arrival down{Arrival::Kind::Down, rank_};
    down.collective = number;
    down.values = values;
    dispatch(child, values.size() * sizeof(std::int64_t), std::move(down));
  });
  const auto ended =
      std::find_if(collectives_.begin(), collectives_.end(),
                   [&](const Collective& collective) { return collective.number == number; });
  ended->state->result = values;
  ended->state->done = true;
  collectives_.erase(ended);
}

PendingReduce TimedRank::allreduce(ReduceOp op, std::vector<std::int64_t> values) {
  auto state = std::make_shared<PendingReduce::State>();
  Collective& entered = collective(collectivesEntered_++, op);
  entered.state = state;
  contribute(entered, op, values);
  return PendingReduce(std::move(state));
}

std::unique_ptr<SharedInteger> TimedRank::shareInteger(std::int64_t initial) {
  return std::make_unique<TimedInteger>(*this, network_.place(integers_++, initial));
}

std::int64_t TimedRank::fetchAdd(SharedPlace& place, std::int64_t value) {
  if (network_.mayWait()) {
    while (clock_ > network_.earliest()) network_.pause(*this, clock_, false);
  }
  ++network_.counters().sharedOperations;
  const LinkCosts& link = network_.link(rank_, 0);
  const double way = rank_ == 0 ? 0 : link.latency;
  const double served =
      std::max(clock_ + link.overhead + way, place.freeAt) + network_.options().sharedSeconds;
  place.freeAt = served;
  clock_ = served + way;
  network_.active(clock_);
  return std::exchange(place.value, place.value + value);
}

std::string TimedRank::left() const {
  std::size_t letters = 0;
  std::size_t sends = 0;
  for (const auto& [key, queue] : letters_) letters += queue.size();
  for (const auto& [key, link] : links_) letters += link.letters.size();
  for (const Coming& coming : coming_) {
    if (coming.arrival->kind == Arrival::Kind::Letter) ++letters;
    if (coming.arrival->kind == Arrival::Kind::Acknowledgement) ++sends;
  }
  for (const Arrival& arrival : protocol_) {
    if (arrival.kind == Arrival::Kind::Acknowledgement) ++sends;
  }
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
  };
  add(letters, " messages not received");
  add(sends, " synchronous sends not seen to be finished");
  add(collectives_.size(), " collective operations not ended");
  return text;
}

}  // namespace

std::unique_ptr<SimulatedNetwork> makeTimedNetwork(const TimedNetworkOptions& options) {
  if (options.ranks < 1 || options.ranksPerNode < 1) {
    throw Error("simulated network: there must be at least one rank, and one rank on a node");
  }
  if (!options.speeds.empty() && options.speeds.size() != static_cast<std::size_t>(options.ranks)) {
    throw Error("simulated network: " + std::to_string(options.speeds.size()) + " speeds for " +
                std::to_string(options.ranks) + " ranks");
  }
  for (const double speed : options.speeds) {
    if (!(speed > 0)) throw Error("simulated network: speeds must be positive");
  }
  for (const LinkCosts& link : {options.within, options.between}) {
    if (!(link.latency >= 0 && link.overhead >= 0 && link.gap >= 0 && link.gapPerByte >= 0)) {
      throw Error("simulated network: costs must not be negative");
    }
  }
  if (!(options.lookSeconds > 0)) {
    throw Error("simulated network: lookSeconds must be positive, or time would stand still");
  }
  if (!(options.sharedSeconds >= 0)) {
    throw Error("simulated network: sharedSeconds must not be negative");
  }
  if (!(options.noise >= 0 && options.noise <= 1)) {
    throw Error("simulated network: noise must be between 0 and 1");
  }
  return std::make_unique<TimedNetwork>(options);
}

}  // namespace tributary
