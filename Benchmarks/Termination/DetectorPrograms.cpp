// SPDX-License-Identifier: BSD-3-Clause
#include "Termination/DetectorPrograms.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "Tributary/Base/Error.h"

namespace bench {

using tributary::Bytes;
using tributary::PendingSend;
using tributary::Reader;
using tributary::Topic;
using tributary::Transport;
using tributary::Writer;

namespace {

// Messages that a turn takes in, so that a flood does not keep it from ending.
constexpr int MessagesPerTurn = 64;

/// Steele, Lea and Flood's SplitMix64.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

enum class Kind : std::uint8_t { Work, WorkToAnswer, Answer };

}  // namespace

DetectorProgram::DetectorProgram(Transport& transport, const std::string& detector,
                                 const tributary::DetectorOptions& options)
    : transport_(transport),
      session_(transport.openSession()),
      detector_(tributary::makeDetector(detector, transport, session_, options)),
      mode_(detector_->traits().synchronousSends ? tributary::SendMode::Synchronous
                                                 : tributary::SendMode::Eager),
      touched_(true) {}

bool DetectorProgram::turn(tributary::Backoff* backoff) {
  realTime_ = backoff != nullptr;
  bool busy = false;
  for (int i = 0; i < MessagesPerTurn; ++i) {
    auto envelope = transport_.tryReceive(Topic::Work, session_);
    if (!envelope) break;
    busy = true;
    if (envelope->bytes.empty()) throw tributary::Error("a message of the program is malformed");
    if (static_cast<Kind>(envelope->bytes[0]) != Kind::Answer) {
      detector_->received(envelope->source);
    }
    receive(envelope->source, std::move(envelope->bytes));
  }
  transport_.poll();
  const auto finished = std::remove_if(sends_.begin(), sends_.end(),
                                       [](const PendingSend& send) { return send.done(); });
  if (finished != sends_.end()) {
    sends_.erase(finished, sends_.end());
    busy = true;
  }
  const bool passive = done() && sends_.empty() && !transport_.receiving(Topic::Work, session_);
  if (passive && (busy || !wasPassive_)) run_.passiveAt = transport_.now();
  wasPassive_ = passive;
  touched_ = touched_ || busy;
  if (detector_->advance(passive, std::exchange(touched_, false))) {
    run_.firedAt = transport_.now();
    run_.detectorMessages = detector_->messages();
    run_.waves = detector_->waves();
    return true;
  }
  // Last, so that what comes meanwhile by a simulated clock is seen by the next turn.
  if (work()) {
    busy = true;
    touched_ = true;
  }
  if (backoff != nullptr) {
    if (busy) {
      backoff->reset();
    } else {
      backoff->pause(transport_);
    }
  } else if (!busy) {
    transport_.relax(0);
  }
  return false;
}

void DetectorProgram::send(int destination, Bytes&& bytes) {
  PendingSend send = transport_.send(destination, Topic::Work, session_, mode_, std::move(bytes));
  if (!send.done()) sends_.push_back(std::move(send));
  touched_ = true;
}

void DetectorProgram::sendWork(int destination, Bytes&& bytes) {
  ++run_.workMessages;
  detector_->sent(destination);
  send(destination, std::move(bytes));
}

void DetectorProgram::sendAnswer(int destination, Bytes&& bytes) {
  send(destination, std::move(bytes));
}

void DetectorProgram::compute(double seconds) {
  if (!realTime_) {
    transport_.spend(seconds);
    return;
  }
  const double until = transport_.now() + seconds;
  while (transport_.now() < until) {
  }
}

namespace {

class Load : public DetectorProgram {
 public:
  Load(Transport& transport, const std::string& detector,
       const tributary::DetectorOptions& detection, const LoadOptions& options)
      : DetectorProgram(transport, detector, detection),
        options_(options),
        random_(mixed(options.seed * 1000003 + static_cast<std::uint64_t>(transport.rank()))) {
    std::poisson_distribution<std::int64_t> load(options.mean);
    items_ = load(random_) * options.itemsPerUnit;
    toRequest_ = itemsToRequest();
  }

 protected:
  void receive(int source, Bytes&& bytes) override {
    const auto kind = static_cast<Kind>(bytes[0]);
    if (kind == Kind::Answer) {
      waiting_ = false;
    } else {
      requests_.push_back({source, kind == Kind::WorkToAnswer});
    }
  }

  bool work() override {
    if (!requests_.empty()) {
      const Request request = requests_.front();
      compute(options_.itemSeconds);
      requests_.pop_front();
      ++run_.answer;
      if (request.answer) sendAnswer(request.source, Writer().value(Kind::Answer).take());
      return true;
    }
    if (waiting_ || items_ == 0) return false;
    // Looks for requests between any two items, or rather where that could matter to others: at the
    // next request of its own, and now and then.
    const std::int64_t count = std::min({items_, toRequest_, std::int64_t(4)});
    compute(static_cast<double>(count) * options_.itemSeconds);
    items_ -= count;
    toRequest_ -= count;
    run_.answer += static_cast<std::uint64_t>(count);
    if (toRequest_ == 0) {
      toRequest_ = itemsToRequest();
      if (transport_.size() > 1) request();
    }
    return true;
  }

  bool done() const override { return items_ == 0 && !waiting_ && requests_.empty(); }

 private:
  struct Request {
    int source;
    bool answer;
  };

  std::int64_t itemsToRequest() {
    if (options_.remote <= 0) return std::int64_t(1) << 60;
    std::geometric_distribution<std::int64_t> gap(options_.remote);
    return 1 + gap(random_);
  }

  void request() {
    std::uniform_int_distribution<int> other(1, transport_.size() - 1);
    const int target = (transport_.rank() + other(random_)) % transport_.size();
    waiting_ = std::bernoulli_distribution(options_.answered)(random_);
    sendWork(target, Writer().value(waiting_ ? Kind::WorkToAnswer : Kind::Work).take());
  }

  LoadOptions options_;
  std::mt19937_64 random_;
  std::int64_t items_ = 0;
  std::int64_t toRequest_ = 0;
  bool waiting_ = false;
  std::deque<Request> requests_;
};

class Walks : public DetectorProgram {
 public:
  Walks(Transport& transport, const std::string& detector,
        const tributary::DetectorOptions& detection, const WalkOptions& options)
      : DetectorProgram(transport, detector, detection), options_(options) {
    for (int i = 0; i < options.walkers; ++i) {
      const auto id =
          static_cast<std::uint64_t>(transport.rank()) * 1000003u + static_cast<std::uint64_t>(i);
      here_.push_back({mixed(options.seed + id), options.hops});
    }
  }

 protected:
  void receive(int, Bytes&& bytes) override {
    Reader reader(bytes);
    static_cast<void>(reader.value<Kind>());  // all messages are of one kind
    here_.push_back(reader.value<Walker>());
  }

  bool work() override {
    if (here_.empty()) return false;
    for (int i = 0; i < MessagesPerTurn && !here_.empty(); ++i) {
      Walker walker = here_.front();
      here_.pop_front();
      if (options_.hopSeconds > 0) compute(options_.hopSeconds);
      walker.state = mixed(walker.state);
      run_.answer += walker.state;
      if (--walker.hops <= 0) continue;
      Bytes bytes = Writer().value(Kind::Work).value(walker).take();
      bytes.resize(std::max(bytes.size(), static_cast<std::size_t>(options_.bytes)));
      sendWork(static_cast<int>(walker.state % static_cast<std::uint64_t>(transport_.size())),
               std::move(bytes));
    }
    return true;
  }

  bool done() const override { return here_.empty(); }

 private:
  struct Walker {
    std::uint64_t state;
    std::int64_t hops;
  };

  WalkOptions options_;
  std::deque<Walker> here_;
};

// Longer than a report needs to the root of a simulated tree.
constexpr double SettlingSeconds = 1e-3;
constexpr double ServingSeconds = 10e-6;

class Diffusion : public DetectorProgram {
 public:
  Diffusion(Transport& transport, const std::string& detector,
            const tributary::DetectorOptions& detection, const DiffusionOptions& options)
      : DetectorProgram(transport, detector, detection), options_(options) {
    const int level = levelOf(transport.rank());
    serving_ = options.gapSeconds > 0 ? ServingSeconds
                                      : ServingSeconds + level * (level + 1) * SettlingSeconds;
    if (transport.rank() > 0) return;
    for (int rank = 1; rank < transport.size(); ++rank) targets_.push_back(rank);
    // Those who gather reports are busy before the first report comes.
    std::stable_sort(targets_.begin(), targets_.end(),
                     [this](int a, int b) { return levelOf(a) > levelOf(b); });
    left_ = targets_.size() * static_cast<std::size_t>(options.rounds);
  }

 protected:
  void receive(int, Bytes&&) override { ++requests_; }

  bool work() override {
    if (requests_ > 0) {
      compute(serving_);
      --requests_;
      ++run_.answer;
      return true;
    }
    if (left_ == 0) return false;
    compute(options_.gapSeconds > 0 ? options_.gapSeconds : SettlingSeconds);
    do {
      const int target = targets_[targets_.size() - 1 - --left_ % targets_.size()];
      sendWork(target, Writer().value(Kind::Work).take());
    } while (left_ > 0 && options_.gapSeconds <= 0);
    return true;
  }

  bool done() const override { return requests_ == 0 && left_ == 0; }

 private:
  /// Of the highest node of a rank in the tree.
  int levelOf(int rank) const {
    int level = 0;
    for (std::int64_t width = options_.arity; width < transport_.size() && rank % width == 0;
         width *= options_.arity) {
      ++level;
    }
    return level;
  }

  DiffusionOptions options_;
  std::vector<int> targets_;
  std::size_t left_ = 0;
  std::int64_t requests_ = 0;
  double serving_;
};

}  // namespace

std::unique_ptr<DetectorProgram> makeLoad(Transport& transport, const std::string& detector,
                                          const tributary::DetectorOptions& detection,
                                          const LoadOptions& options) {
  return std::make_unique<Load>(transport, detector, detection, options);
}

std::unique_ptr<DetectorProgram> makeWalks(Transport& transport, const std::string& detector,
                                           const tributary::DetectorOptions& detection,
                                           const WalkOptions& options) {
  return std::make_unique<Walks>(transport, detector, detection, options);
}

std::unique_ptr<DetectorProgram> makeDiffusion(Transport& transport, const std::string& detector,
                                               const tributary::DetectorOptions& detection,
                                               const DiffusionOptions& options) {
  return std::make_unique<Diffusion>(transport, detector, detection, options);
}

}  // namespace bench
