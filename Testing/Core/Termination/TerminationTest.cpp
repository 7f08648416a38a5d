// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "Support/Assignments.h"
#include "Support/Effort.h"
#include "Support/World.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Termination/Detector.h"
#include "Tributary/Transport/Loopback.h"
#include "Tributary/Transport/Simulated.h"

namespace tributary {
namespace {

using testing::errorOf;
using testing::mix;
using testing::Sanitized;
using testing::world;

DetectorOptions optionsFor(WorkModel work) {
  DetectorOptions options;
  options.work = work;
  return options;
}

/// The names that an error's text offers.
std::vector<std::string> offered(const std::string& error) {
  const std::string before = "choose one of ";
  std::vector<std::string> names;
  auto at = error.find(before);
  if (at == std::string::npos) return names;
  at += before.size();
  while (at < error.size()) {
    const auto comma = std::min(error.find(", ", at), error.size());
    names.push_back(error.substr(at, comma - at));
    at = comma + 2;
  }
  return names;
}

TEST(Detector, Registry) {
  const std::vector<std::string> expected = {
      "all-reduce",   "consensus", "four-counter",   "hash-counter", "nbx",      "ring-aps",
      "ring-counter", "ring-flag", "shared-counter", "tree-ack",     "tree-aps", "tree-counter"};
  const auto names = detectorNames();
  EXPECT_TRUE(std::includes(names.begin(), names.end(), expected.begin(), expected.end()));
  const std::string error = errorOf([] { static_cast<void>(makeDetector("oracle", world(), 0)); });
  EXPECT_NE(error.find("'oracle'"), std::string::npos);
  EXPECT_EQ(offered(error), detectorNames(WorkModel::AP));
  DetectorType twin;
  twin.traits.name = "consensus";
  EXPECT_THROW(registerDetector(twin), Error);
}

TEST(Detector, IsRefusedWhereItMayFireTooEarly) {
  const std::map<std::string, WorkModel> restricted = {
      {"nbx", WorkModel::Monotone}, {"ring-aps", WorkModel::APS}, {"tree-aps", WorkModel::APS}};
  for (const WorkModel work : {WorkModel::AP, WorkModel::APS, WorkModel::Monotone}) {
    std::vector<std::string> right;
    for (const std::string& name : detectorNames()) {
      const auto found = restricted.find(name);
      if (found == restricted.end() || found->second <= work) right.push_back(name);
    }
    EXPECT_EQ(detectorNames(work), right);
    for (const std::string& name : detectorNames()) {
      const std::string error = errorOf([&] { checkDetector(name, optionsFor(work)); });
      if (std::find(right.begin(), right.end(), name) != right.end()) {
        EXPECT_EQ(error, "");
        continue;
      }
      EXPECT_NE(error.find("'" + name + "'"), std::string::npos) << error;
      EXPECT_EQ(offered(error), right);
      EXPECT_THROW(makeDetector(name, world(), 0, optionsFor(work)), Error);
    }
  }
}

TEST(Detector, BadOptionsAreRefused) {
  const auto error = [](int arity, int controlLevel, int initiators) {
    DetectorOptions options;
    options.arity = arity;
    options.controlLevel = controlLevel;
    options.initiators = initiators;
    return errorOf([&] { static_cast<void>(makeDetector("tree-ack", world(), 0, options)); });
  };
  EXPECT_NE(error(1, 1, 1).find("arity"), std::string::npos);
  EXPECT_NE(error(2, -1, 1).find("controlLevel"), std::string::npos);
  EXPECT_NE(error(2, 1, 0).find("initiators"), std::string::npos);
}

// ---- Conformance: what every detector must do, with programs for each model ----

/// Counts the detector's own messages, independently of the detector.
class CountingTransport : public testing::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    if (topic == Topic::Detector) ++sends;
    return ForwardingTransport::send(destination, topic, session, mode, std::move(bytes));
  }
  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    auto envelope = ForwardingTransport::tryReceive(topic, session);
    if (envelope && topic == Topic::Detector) ++receipts;
    return envelope;
  }

  std::int64_t sends = 0;
  std::int64_t receipts = 0;
};

/// What the ranks do during one detection. Its messages have sessions of their own, so that a rank
/// which has begun the next detection already does not disturb one that is still in this.
class Program {
 public:
  Program(Transport& transport, Detector& detector)
      : transport_(transport),
        detector_(detector),
        mode_(detector.traits().synchronousSends ? SendMode::Synchronous : SendMode::Eager),
        session_(transport.openSession()) {}
  virtual ~Program() = default;

  /// Runs until the detector fires.
  void run() {
    Backoff backoff;
    while (true) {
      const bool busy = turn();
      touched_ = touched_ || busy;
      transport_.poll();
      sends_.erase(std::remove_if(sends_.begin(), sends_.end(),
                                  [](const PendingSend& send) { return send.done(); }),
                   sends_.end());
      if (detector_.advance(passive(), std::exchange(touched_, false))) break;
      if (busy) {
        backoff.reset();
      } else {
        backoff.pause(transport_);
      }
    }
    EXPECT_TRUE(passive());
  }

  /// Of what all ranks have to do, what this one did.
  std::int64_t handled() const { return handled_; }
  /// The work messages that this rank sent to others.
  std::int64_t sentToOthers() const { return sentToOthers_; }
  /// Whether a work message is still there after the end.
  virtual bool leftOver() { return transport_.tryReceive(Topic::Work, session_).has_value(); }

 protected:
  virtual bool turn() = 0;
  virtual bool hasWork() const = 0;

  void sendWork(int destination, std::uint64_t value) {
    detector_.sent(destination);
    if (destination != transport_.rank()) ++sentToOthers_;
    sends_.push_back(
        transport_.send(destination, Topic::Work, session_, mode_, Writer().value(value).take()));
  }
  std::optional<std::pair<int, std::uint64_t>> receiveWork() {
    const auto envelope = transport_.tryReceive(Topic::Work, session_);
    if (!envelope) return std::nullopt;
    detector_.received(envelope->source);
    return std::make_pair(envelope->source, Reader(envelope->bytes).value<std::uint64_t>());
  }
  bool passive() const {
    return !hasWork() && sends_.empty() && !transport_.receiving(Topic::Work, session_);
  }

  Transport& transport_;
  Detector& detector_;
  SendMode mode_;
  Session session_;
  std::vector<PendingSend> sends_;
  bool touched_ = false;
  std::int64_t handled_ = 0;

 private:
  std::int64_t sentToOthers_ = 0;
};

/// AP: tokens that hop to random ranks, this one too, and split; most ranks begin without work.
class Splitting : public Program {
 public:
  static constexpr WorkModel Model = WorkModel::AP;

  Splitting(Transport& transport, Detector& detector, std::uint64_t repetition)
      : Program(transport, detector) {
    if (transport.rank() == static_cast<int>(repetition % size())) {
      tokens_.assign(3, (repetition + 1) << 16 | hops(repetition));
    }
  }
  static std::int64_t expected(int, std::uint64_t repetition) {
    return static_cast<std::int64_t>(3 * ((std::uint64_t(2) << hops(repetition)) - 1));
  }

 protected:
  bool turn() override {
    bool busy = false;
    while (const auto token = receiveWork()) {
      tokens_.push_back(token->second);
      busy = true;
    }
    if (tokens_.empty()) return busy;
    const std::uint64_t token = tokens_.back();
    tokens_.pop_back();
    ++handled_;
    for (std::uint64_t child = 0; child < 2 && (token & 0xffff) > 0; ++child) {
      const auto target = static_cast<int>(mix(token * 2 + child) % size());
      sendWork(target, (mix(token + child) << 16) | ((token & 0xffff) - 1));
    }
    return true;
  }
  bool hasWork() const override { return !tokens_.empty(); }

 private:
  static std::uint64_t hops(std::uint64_t repetition) { return 3 + mix(repetition) % 5; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(transport_.size()); }

  std::vector<std::uint64_t> tokens_;  // hops left, below 16 bits; above: identity
};

/// APS: every rank has work of its own, some of which is requests to random ranks; for half of them
/// it waits for the answer. A request is served in a later turn. The detector is not told of
/// answers.
class Serving : public Program {
 public:
  static constexpr WorkModel Model = WorkModel::APS;

  Serving(Transport& transport, Detector& detector, std::uint64_t repetition)
      : Program(transport, detector),
        answers_(transport.openSession()),
        repetition_(repetition),
        units_(units(transport.rank(), repetition)) {}
  static std::int64_t expected(int ranks, std::uint64_t repetition) {
    std::int64_t total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      for (std::uint64_t unit = 0; unit < units(rank, repetition); ++unit) {
        const std::uint64_t kind = draw(rank, repetition, unit);
        total += isRequest(kind) ? (wantsAnswer(kind) ? 2 : 1) : 1;
      }
    }
    return total;
  }
  bool leftOver() override {
    return Program::leftOver() || transport_.tryReceive(Topic::Work, answers_).has_value();
  }

 protected:
  bool turn() override {
    bool busy = false;
    if (!requests_.empty()) {
      const auto [source, wanted] = requests_.front();
      requests_.pop_front();
      ++handled_;
      if (wanted != 0) {
        sends_.push_back(transport_.send(source, Topic::Work, answers_, mode_, Bytes()));
      }
      busy = true;
    }
    while (const auto request = receiveWork()) {
      requests_.push_back(*request);
      busy = true;
    }
    while (transport_.tryReceive(Topic::Work, answers_)) {
      waiting_ = false;
      ++handled_;
      busy = true;
    }
    if (waiting_ || done_ == units_) return busy;
    const std::uint64_t kind = draw(transport_.rank(), repetition_, done_++);
    if (isRequest(kind)) {
      waiting_ = wantsAnswer(kind);
      const auto size = static_cast<std::uint64_t>(transport_.size());
      sendWork(static_cast<int>(kind / 64 % size), waiting_ ? 1 : 0);
    } else {
      ++handled_;
    }
    return true;
  }
  bool hasWork() const override { return done_ < units_ || waiting_ || !requests_.empty(); }

 private:
  static std::uint64_t units(int rank, std::uint64_t repetition) {
    return mix(repetition * 64 + static_cast<std::uint64_t>(rank)) % 12;
  }
  static std::uint64_t draw(int rank, std::uint64_t repetition, std::uint64_t unit) {
    return mix((repetition * 64 + static_cast<std::uint64_t>(rank)) * 64 + unit);
  }
  static bool isRequest(std::uint64_t kind) { return kind % 4 < 2; }
  static bool wantsAnswer(std::uint64_t kind) { return kind / 4 % 2 == 0; }

  Session answers_;
  std::uint64_t repetition_;
  std::uint64_t units_;
  std::uint64_t done_ = 0;
  bool waiting_ = false;
  std::deque<std::pair<int, std::uint64_t>> requests_;
};

/// Monotone: every rank sends notes to random ranks, dealt with on receipt.
class Telling : public Program {
 public:
  static constexpr WorkModel Model = WorkModel::Monotone;

  Telling(Transport& transport, Detector& detector, std::uint64_t repetition)
      : Program(transport, detector), left_(notes(transport.rank(), repetition)) {}
  static std::int64_t expected(int ranks, std::uint64_t repetition) {
    std::int64_t total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      total += static_cast<std::int64_t>(notes(rank, repetition));
    }
    return total;
  }

 protected:
  bool turn() override {
    bool busy = false;
    while (const auto note = receiveWork()) {
      ++handled_;
      busy = true;
    }
    if (left_ == 0) return busy;
    const auto size = static_cast<std::uint64_t>(transport_.size());
    sendWork(static_cast<int>(mix(static_cast<std::uint64_t>(session_) * 64 + left_) % size),
             left_);
    --left_;
    return true;
  }
  bool hasWork() const override { return left_ > 0; }

 private:
  static std::uint64_t notes(int rank, std::uint64_t repetition) {
    return mix(repetition * 64 + static_cast<std::uint64_t>(rank)) % 9;
  }

  std::uint64_t left_;
};

struct Case {
  std::string detector;
  std::string label;
  DetectorOptions options;
};

std::ostream& operator<<(std::ostream& stream, const Case& c) {
  return stream << c.label;
}

/// Every detector that is right for `work`, with the parameters that change what it does.
std::vector<Case> casesFor(WorkModel work) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, const std::string& suffix,
                       DetectorOptions options) {
    options.work = work;
    std::string label = name + suffix;
    std::replace(label.begin(), label.end(), '-', '_');
    cases.push_back({name, label, options});
  };
  for (const std::string& name : detectorNames(work)) {
    add(name, "", {});
    DetectorOptions options;
    if (name.rfind("tree-", 0) == 0) {
      options.arity = 3;
      options.controlLevel = 0;
      add(name, "_arity_3_control_0", options);
      options.arity = 2;
      options.controlLevel = 2;
      add(name, "_arity_2_control_2", options);
      options.arity = 1000000000;
      options.controlLevel = 1000000000;
      add(name, "_star", options);
    } else if (name == "hash-counter") {
      options.arity = 2;
      add(name, "_arity_2", options);
      options.arity = 1000000000;
      add(name, "_star", options);
    } else if (name == "ring-flag") {
      options.initiators = 2;
      add(name, "_2_initiators", options);
      options.initiators = 1000;
      add(name, "_all_initiators", options);
    }
  }
  return cases;
}

/// Those that send messages of their own, not collective operations only.
std::vector<Case> casesWithMessages() {
  const auto transport = makeLoopbackTransport();
  std::vector<Case> cases;
  for (const Case& c : casesFor(WorkModel::Monotone)) {
    if (!makeDetector(c.detector, *transport, 0, c.options)->collective()) cases.push_back(c);
  }
  return cases;
}

constexpr std::uint64_t Repetitions = Sanitized ? 10 : 60;

/// Sixty detections, each begun by a rank as soon as it has seen the end of the one before. What a
/// rank had done when the detector fired there is compared, added up over ranks, with what was to
/// be done: so nothing was left to do, held or in flight, for any rank at its end.
template <class ProgramType>
void conforms(const Case& c, Transport& inner) {
  CountingTransport transport(inner);
  const Session session = transport.openSession();
  const auto detector = makeDetector(c.detector, transport, session, c.options);
  EXPECT_EQ(detector->traits().name, c.detector);
  std::vector<std::unique_ptr<ProgramType>> programs;
  std::vector<std::int64_t> handled;
  std::vector<std::int64_t> waves;
  std::int64_t sentToOthers = 0;
  for (std::uint64_t repetition = 0; repetition < Repetitions; ++repetition) {
    programs.push_back(std::make_unique<ProgramType>(transport, *detector, repetition));
    programs.back()->run();
    handled.push_back(programs.back()->handled());
    waves.push_back(detector->waves());
    sentToOthers += programs.back()->sentToOthers();
    EXPECT_GT(waves.back(), repetition == 0 ? 0 : waves[repetition - 1]);
  }
  barrier(transport);
  handled = allreduce(transport, ReduceOp::Sum, handled);
  for (std::uint64_t repetition = 0; repetition < Repetitions; ++repetition) {
    EXPECT_EQ(handled[repetition], ProgramType::expected(transport.size(), repetition));
  }
  EXPECT_EQ(allreduce(transport, ReduceOp::Min, waves), allreduce(transport, ReduceOp::Max, waves));
  for (const auto& program : programs) EXPECT_FALSE(program->leftOver());
  EXPECT_EQ(detector->messages(), transport.sends);
  const auto total =
      allreduce(transport, ReduceOp::Sum,
                std::vector<std::int64_t>{transport.sends, transport.receipts, sentToOthers});
  EXPECT_EQ(total[0], total[1]) << "detector messages sent and received";
  EXPECT_FALSE(transport.tryReceive(Topic::Detector, session));
  if (c.detector == "tree-ack") {
    const auto repetitions = static_cast<std::int64_t>(Repetitions);
    EXPECT_EQ(total[0], total[2] + repetitions * 2 * (transport.size() - 1));
  }
}

/// Runs `body` on the program's ranks, and in a program of one rank on simulated ones too: as many
/// as MPI's tests have, and more.
template <class Body>
void onEachNetwork(Body&& body) {
  body(world());
  if (world().size() > 1) return;
  for (const int ranks : {2, 3, 4, 8, Sanitized ? 16 : 50}) {
    if (testing::slowed() && (ranks == 4 || ranks == 8)) continue;
    VirtualTimeNetworkOptions options;
    options.ranks = ranks;
    options.ranksPerNode = 3;
    const auto network = makeVirtualTimeNetwork(options);
    network->run(body);
    EXPECT_EQ(network->left(), "") << ranks << " simulated ranks";
  }
}

class ForAP : public ::testing::TestWithParam<Case> {};
class ForAPS : public ::testing::TestWithParam<Case> {};
class ForMonotone : public ::testing::TestWithParam<Case> {};
class WithMessages : public ::testing::TestWithParam<Case> {};

TEST_P(ForAP, FiresOnceAllIsQuietAndCanBeReused) {
  onEachNetwork([](Transport& transport) { conforms<Splitting>(GetParam(), transport); });
}
TEST_P(ForAPS, FiresOnceAllIsQuietAndCanBeReused) {
  onEachNetwork([](Transport& transport) { conforms<Serving>(GetParam(), transport); });
}
TEST_P(ForMonotone, FiresOnceAllIsQuietAndCanBeReused) {
  onEachNetwork([](Transport& transport) { conforms<Telling>(GetParam(), transport); });
}

/// Gives the detector passive turns until it fires.
void runQuiet(Transport& transport, Detector& detector) {
  Backoff backoff;
  while (!detector.advance(true, false)) {
    transport.poll();
    backoff.pause(transport);
  }
}

// Without work the number of passes has its bound, and most detectors a known number of messages.
void takesTheMessagesThatItSays(const Case& c, Transport& inner) {
  CountingTransport transport(inner);
  const auto detector = makeDetector(c.detector, transport, transport.openSession(), c.options);
  const std::int64_t others = transport.size() - 1;
  for (int repetition = 0; repetition < 10; ++repetition) {
    const std::int64_t wavesBefore = detector->waves();
    const std::int64_t messagesBefore = detector->messages();
    runQuiet(transport, *detector);
    EXPECT_GE(detector->waves() - wavesBefore, 1);
    EXPECT_LE(detector->waves() - wavesBefore, detector->traits().passes);
    const std::int64_t messages =
        allreduce(transport, ReduceOp::Sum, detector->messages() - messagesBefore);
    const std::string& label = c.label;
    if (label.rfind("tree_", 0) == 0 || label.rfind("hash_counter", 0) == 0) {
      EXPECT_EQ(messages, 2 * others);
    } else if (label == "ring_aps" || label == "ring_counter" || label == "ring_flag") {
      EXPECT_EQ(messages, others > 0 ? transport.size() + others : 0);
    } else if (label == "shared_counter") {
      EXPECT_EQ(messages, others);
    } else if (label.rfind("ring_", 0) != 0) {
      EXPECT_EQ(messages, 0);
    }
  }
  EXPECT_EQ(detector->messages(), transport.sends);
}

TEST_P(ForMonotone, WithoutWorkTakesTheMessagesThatItSays) {
  onEachNetwork([](Transport& transport) { takesTheMessagesThatItSays(GetParam(), transport); });
}

// The last rank's condition comes true late; no rank may see the end before.
void waitsForARequiredCondition(const Case& c, Transport& transport) {
  const auto detector = makeDetector(c.detector, transport, transport.openSession(), c.options);
  const auto met = transport.shareInteger(0);
  const bool last = transport.rank() == transport.size() - 1;
  int asked = 0;
  if (last) {
    detector->require([&] {
      if (++asked == 100) met->fetchAdd(1);
      return asked >= 100;
    });
  }
  runQuiet(transport, *detector);
  EXPECT_EQ(met->fetchAdd(0), 1);
  barrier(transport);
}

TEST_P(ForMonotone, WaitsForARequiredConditionOfOneRank) {
  onEachNetwork([](Transport& transport) { waitsForARequiredCondition(GetParam(), transport); });
}

// What a rank of another program or version might send must not be believed.
/// What a detector says of a message that its rank sends to itself; looks for it so many times.
std::string saidOf(const Case& detected, Bytes bytes, int turns) {
  Transport& transport = world();
  const Session session = transport.openSession();
  const auto detector = makeDetector(detected.detector, transport, session, detected.options);
  transport.send(transport.rank(), Topic::Detector, session, SendMode::Eager, std::move(bytes));
  const std::string error = errorOf([&] {
    Backoff backoff;
    for (int turn = 0; turn < turns; ++turn) {
      (void)detector->advance(false, false);
      transport.poll();
      backoff.pause(transport);
    }
  });
  barrier(transport);
  return error;
}

Writer header(std::int64_t detection, std::int64_t kind) {
  Writer writer;
  writer.value(detection).value(kind);
  return writer;
}

TEST_P(WithMessages, RefusesMalformedOnes) {
  const auto lonely = [](Bytes bytes) { return saidOf(GetParam(), std::move(bytes), 1000); };
  EXPECT_NE(lonely({}), "");
  EXPECT_NE(lonely(header(0, 99).take()), "");
  EXPECT_NE(lonely(header(2, 1).take()), "");
  EXPECT_NE(lonely(header(-1, 1).take()), "");
  EXPECT_NE(lonely(header(0, 0).value(std::int64_t(1)).take()), "");
  const int next = (world().rank() + 1) % world().size();
  EXPECT_NE(lonely(header(0, 0).value(std::int64_t(next)).value(std::int64_t(1)).take()), "");
  EXPECT_NE(lonely(header(0, 0).value(std::int64_t(-5)).value(std::int64_t(1)).take()), "");
  EXPECT_NE(lonely(header(0, 0).value(std::int64_t(1 << 20)).value(std::int64_t(1)).take()), "");
  for (std::int64_t kind = 1; kind <= 2; ++kind) {
    EXPECT_NE(lonely(header(0, kind).take()), "");
    EXPECT_NE(lonely(header(0, kind).value(std::int64_t(7)).take()), "");
    EXPECT_NE(lonely(header(0, kind).value(~std::uint64_t(0)).take()), "");
  }
}

TEST_P(WithMessages, UnderstandsOrRefusesAnyNumbers) {
  std::string all;
  for (std::int64_t kind = 1; kind <= 2; ++kind) {
    for (const std::int64_t number : {0, -1, 1 << 30}) {
      Writer message = header(0, kind);
      for (int count = 1; count <= 6; ++count) {
        message.value(number);
        Writer copy = message;
        const std::string said = saidOf(GetParam(), copy.take(), 40);
        EXPECT_TRUE(said.empty() || said.find("malformed message") != std::string::npos) << said;
        all += said;
      }
    }
  }
  EXPECT_NE(all, "");
}

const auto labelOf = [](const ::testing::TestParamInfo<Case>& test) { return test.param.label; };
INSTANTIATE_TEST_SUITE_P(Termination, ForAP, ::testing::ValuesIn(casesFor(WorkModel::AP)), labelOf);
INSTANTIATE_TEST_SUITE_P(Termination, ForAPS, ::testing::ValuesIn(casesFor(WorkModel::APS)),
                         labelOf);
INSTANTIATE_TEST_SUITE_P(Termination, ForMonotone,
                         ::testing::ValuesIn(casesFor(WorkModel::Monotone)), labelOf);
INSTANTIATE_TEST_SUITE_P(Termination, WithMessages, ::testing::ValuesIn(casesWithMessages()),
                         labelOf);

// Each rank tells all others before it is passive for the first time, having heard from all: the
// first reports already balance, and nobody reports again.
TEST(Detectors, BeginTheNextDetectionWithNothingOfTheLast) {
  // The second detection begins on some ranks while the first has not ended on others; in it the
  // last rank sends one message to rank 0.
  if (world().size() > 1) GTEST_SKIP() << "has ranks of its own";
  for (const std::string& name : detectorNames(WorkModel::AP)) {
    testing::underAdversaries(Sanitized ? 10 : 100, [&](std::uint64_t seed, Transport& transport) {
      const Session session = transport.openSession();
      const auto detector = makeDetector(name, transport, session);
      const bool synchronous = detector->traits().synchronousSends;
      int got = 0;
      for (int detection = 0; detection < 2; ++detection) {
        // Work of the next detection is not looked for in this one.
        const Session work = transport.openSession();
        PendingSend send;
        bool sent = detection == 0 || transport.rank() + 1 < transport.size();
        Backoff backoff;
        while (true) {
          bool touched = false;
          if (!std::exchange(sent, true)) {
            touched = true;
            detector->sent(0);
            send = transport.send(0, Topic::Work, work,
                                  synchronous ? SendMode::Synchronous : SendMode::Eager, Bytes(8));
          }
          if (const auto envelope = transport.tryReceive(Topic::Work, work)) {
            touched = true;
            detector->received(envelope->source);
            ++got;
          }
          transport.poll();
          const bool passive = send.done() && !transport.receiving(Topic::Work, work);
          if (detector->advance(passive, touched)) break;
          backoff.pause(transport);
        }
      }
      EXPECT_EQ(got, transport.rank() == 0 ? 1 : 0) << name << ", seed " << seed;
      barrier(transport);
    });
  }
}

TEST(Trees, ReportOnceInTheBestCase) {
  for (const char* name : {"tree-aps", "tree-counter"}) {
    Transport& transport = world();
    DetectorOptions options;
    options.work = WorkModel::APS;
    const Session session = transport.openSession();
    const auto detector = makeDetector(name, transport, session, options);
    for (int rank = 0; rank < transport.size(); ++rank) {
      detector->sent(rank);
      transport.send(rank, Topic::Work, session, SendMode::Eager, Bytes());
    }
    int heard = 0;
    Backoff backoff;
    while (true) {
      while (const auto envelope = transport.tryReceive(Topic::Work, session)) {
        detector->received(envelope->source);
        ++heard;
      }
      transport.poll();
      if (detector->advance(heard == transport.size(), true)) break;
      backoff.pause(transport);
    }
    EXPECT_EQ(heard, transport.size());
    EXPECT_EQ(allreduce(transport, ReduceOp::Sum, detector->messages()),
              2 * (transport.size() - 1));
  }
}

// A rank that is served one request after it has reported sends the change to the control level,
// and that passes it up: 1 + controlLevel messages, or less where a rank holds several nodes.
TEST(Trees, ALateReceiptIsReportedFromTheControlLevelUp) {
  for (const char* name : {"tree-aps", "tree-counter"}) {
    Transport& transport = world();
    const int last = transport.size() - 1;
    for (int controlLevel = 0; controlLevel < 5; ++controlLevel) {
      DetectorOptions options;
      options.work = WorkModel::APS;
      options.arity = 2;
      options.controlLevel = controlLevel;
      const Session session = transport.openSession();
      const auto detector = makeDetector(name, transport, session, options);
      if (transport.rank() == 0) detector->sent(last);
      // Long enough for the first reports to arrive, and the end not to be known without the
      // receipt.
      for (int turn = 0; turn < 20; ++turn) {
        EXPECT_FALSE(detector->advance(true, false));
        transport.poll();
        barrier(transport);
      }
      if (transport.rank() == last) detector->received(0);
      runQuiet(transport, *detector);
      std::int64_t hops = 0;
      if (last > 0) {
        // The way of the change: to the node above the last rank, and from parent to parent.
        int height = 0;
        while ((1 << height) < transport.size()) ++height;
        int width = 1 << std::max(0, height - controlLevel);
        int at = last - last % width;
        if (at != last) ++hops;
        for (; at != 0; at &= at - 1) ++hops;
      }
      EXPECT_LE(hops, 1 + controlLevel);
      EXPECT_EQ(allreduce(transport, ReduceOp::Sum, detector->messages()), 2 * last + hops)
          << name << ", control level " << controlLevel;
    }
  }
}

// A rank that is touched again after it has entered the barrier must spoil that wave.
TEST(Consensus, ARankTouchedInAWaveSpoilsIt) {
  Transport& transport = world();
  const auto detector = makeDetector("consensus", transport, transport.openSession());
  const bool last = transport.rank() == transport.size() - 1;
  EXPECT_FALSE(detector->advance(true, false));
  EXPECT_FALSE(detector->advance(true, last));
  bool fired = false;
  while (!fired) {
    transport.poll();
    fired = detector->advance(true, false);
  }
  EXPECT_EQ(detector->waves(), 2);
}

}  // namespace
}  // namespace tributary
