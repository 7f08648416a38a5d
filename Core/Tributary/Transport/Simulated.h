// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// The traffic of a simulated network so far, of all ranks.
struct NetworkTraffic {
  std::int64_t work = 0;              ///< messages of Topic::Work
  std::int64_t detector = 0;          ///< messages of Topic::Detector
  std::int64_t control = 0;           ///< messages of Topic::Control
  std::int64_t setup = 0;             ///< messages of Topic::Setup
  std::int64_t bytes = 0;             ///< bytes of all these messages
  std::int64_t acknowledgements = 0;  ///< acknowledgements of synchronous sends
  std::int64_t collective = 0;        ///< messages within barriers and all-reduces
  std::int64_t sharedOperations = 0;  ///< operations on shared integers

  /// Counts a message.
  /// @param size  in bytes
  void add(Topic topic, std::size_t size);
};

/// A network of virtual ranks in one process and one thread. Each rank has its own transport, and
/// production code runs on it unchanged. The kind of network decides which rank runs and when
/// messages arrive: see makeVirtualTimeNetwork() and makeAdversarialNetwork().
class SimulatedNetwork {
 public:
  virtual ~SimulatedNetwork() = default;

  /// The number of ranks.
  virtual int size() const = 0;
  /// The transport of a rank; owned by the network.
  virtual Transport& transport(int rank) = 0;

  /// Runs `body` on every rank, concurrently from the point of view of the ranks. A body may block,
  /// for instance in Exchange::run() or in the functions of Collectives.h; each has its own stack.
  /// Returns when all bodies have returned. Can be called any number of times; clocks continue.
  ///
  /// Throws the exception of the lowest rank whose body threw one. Throws Error of kind Stall, with
  /// a report on each rank, if the ranks are deadlocked.
  virtual void run(const std::function<void(Transport&)>& body) = 0;

  /// Like run(), with little memory: calls `step`, one non-blocking turn, on each rank repeatedly
  /// until it has returned true there. A step must not block. A step without work calls
  /// Transport::relax() once and returns.
  virtual void runSteps(const std::function<bool(Transport&)>& step) = 0;

  /// The traffic so far.
  virtual const NetworkTraffic& traffic() const = 0;

  /// Describes messages that were not received, synchronous sends that were not seen finished, and
  /// collective operations that did not end on all ranks. "" if there are none.
  [[nodiscard]] virtual std::string left() const = 0;

  /// Sets a function that adds a description of a rank to reports of deadlocks.
  void describeBy(std::function<std::string(int rank)> describe) {
    describe_ = std::move(describe);
  }

 protected:
  std::function<std::string(int rank)> describe_;
};

/// The costs of messages in the LogGP model (A. Alexandrov et al., "LogGP: Incorporating Long
/// Messages into the LogP Model", SPAA 1995). All in seconds.
struct LinkCosts {
  double latency;     ///< L: the latency of a small message
  double overhead;    ///< o: processor time for each message sent and for each received
  double gap;         ///< g: minimum time between two sends, or two receives, of a rank
  double gapPerByte;  ///< G: additional time for each byte
};

/// Parameters of a network in virtual time. The defaults model a current cluster: shared memory
/// within a node, a fast interconnect between nodes.
struct VirtualTimeNetworkOptions {
  int ranks = 1;          ///< at least 1
  int ranksPerNode = 32;  ///< consecutive ranks share a node; at least 1
  LinkCosts within = {0.3e-6, 0.15e-6, 0.1e-6, 0.1e-9};   ///< within a node
  LinkCosts between = {1.2e-6, 0.3e-6, 0.3e-6, 0.08e-9};  ///< between nodes
  double lookSeconds = 50e-9;  ///< cost of poll(), and of tryReceive() or done() without a message
  double sharedSeconds = 50e-9;  ///< cost of an operation on a shared integer, on rank 0
  std::vector<double> speeds;    ///< by rank: spend(s) takes s / speed; if empty, all are 1
  /// Random variation of spend(): standard deviation relative to the mean, in [0, 1], of a shifted
  /// exponential distribution. Default: 0.
  double noise = 0;
  std::uint64_t seed = 1;  ///< of the noise
  /// The network is deadlocked after this time without a message or computation.
  double deadlockSeconds = 1e4;
  std::size_t stackBytes = std::size_t(256) << 10;  ///< address space of each rank's stack in run()
};

/// Makes a network in virtual time, which is exactly repeatable.
///
/// Each rank has a clock. Calls of the transport and spend() advance it; computing does not. A
/// message leaves after the sender's overhead, at the earliest one gap after the previous message.
/// It arrives after the latency and the time for its bytes, at the earliest one gap after the
/// previous arrival. Messages between two ranks keep their order. A synchronous send costs an
/// acknowledgement.
///
/// Barriers and all-reduces are messages along a binomial tree, which poll() forwards on each rank.
/// A shared integer is on rank 0: fetchAdd() costs a round trip, and operations are served one
/// after the other.
///
/// The message of a persistent send is matched with its receive as soon as both exist, even while
/// the receiving rank computes. The completion of a synchronous persistent send costs only latency.
/// The receiver pays its overhead when it sees the message.
///
/// A rank that relaxes sleeps until an event arrives or its sleep ends. Sleeps grow with the time
/// since the last arrival, so time-outs by now() are noticed after at most 1.5 times their
/// duration.
///
/// Throws Error if an option is out of range.
[[nodiscard]] std::unique_ptr<SimulatedNetwork> makeVirtualTimeNetwork(
    const VirtualTimeNetworkOptions& options);

/// A decision of an adversary.
enum class Decision {
  Rank,       ///< the rank that runs next
  Message,    ///< the source whose next message this rank sees; -1: no message
  Half,       ///< 1: that message only begins to arrive, and its synchronous send may finish
  Sends,      ///< 1: this rank sees that its received sends are finished
  Collective  ///< 1: this rank sees that a collective operation that all have entered is finished
};

/// Chooses the next event in an adversarial network.
class Adversary {
 public:
  virtual ~Adversary() = default;
  /// Decides.
  /// @param rank  the rank concerned; for Decision::Rank the one that ran before
  /// @param options  the values to choose from, at least one, in ascending order
  /// @return an index into `options`
  virtual std::size_t choose(Decision decision, int rank, const std::vector<int>& options) = 0;
};

/// Makes an adversary that decides at random. Its behavior changes from time to time: fair, with
/// slow ranks, slow pairs of ranks, long stalls, or late messages or completions. Every event
/// happens eventually.
/// @param seed  determines all decisions
[[nodiscard]] std::unique_ptr<Adversary> makeRandomAdversary(std::uint64_t seed);

/// Makes an adversary that follows a script of ScheduleRecorder. A script consists of words, each a
/// letter and the chosen value. "r2 m0 m- s1 c1" means: rank 2 runs, sees a message of rank 0, then
/// none, sees its sends finished and a collective operation finished; h is Decision::Half.
/// Decisions with a single option need no word, except for ranks. After the end of the script,
/// ranks take turns and see all events at once. Throws Error from choose() if a word is not an
/// option.
[[nodiscard]] std::unique_ptr<Adversary> makeScriptedAdversary(const std::string& script);

/// Forwards decisions to another adversary and records its choices.
class ScheduleRecorder : public Adversary {
 public:
  /// @param adversary  must outlive the recorder
  explicit ScheduleRecorder(Adversary& adversary) : adversary_(adversary) {}
  std::size_t choose(Decision decision, int rank, const std::vector<int>& options) override;
  /// A script of all choices, for makeScriptedAdversary().
  [[nodiscard]] std::string script() const;

 private:
  struct Choice {
    Decision decision;
    int value;
  };
  Adversary& adversary_;
  std::vector<Choice> choices_;
};

/// A network without time: an adversary decides which rank runs and which events it sees.
///
/// The network guarantees only what MPI guarantees. Messages between two ranks within a topic and
/// session are received in the order in which they were sent. A synchronous send finishes only
/// after its message has begun to be received. A collective operation finishes only after all ranks
/// have entered it. MPI guarantees that an eager send finishes once it is received; the network
/// finishes it immediately or like a synchronous one, as configured. now() advances slightly with
/// every poll.
///
/// Persistent requests detect misuse: done() of a send throws Error if its buffer was changed since
/// start(), and start() of a receive fills its buffer with one bits.
class AdversarialNetwork : public SimulatedNetwork {
 public:
  /// The state of the network that can influence later events, as bytes: equal for equal states.
  /// Handles of sends and reductions belong to the ranks and are not included.
  [[nodiscard]] virtual std::string state() const = 0;
};

/// Makes an adversarial network. Throws Error unless `ranks` is at least 1.
/// @param adversary  must outlive the network
/// @param halfReceived  whether messages may begin to arrive before they are received
/// @param eagerWaits  whether eager sends finish only after their messages have begun to be
///                    received, as large ones do in MPI, instead of immediately
[[nodiscard]] std::unique_ptr<AdversarialNetwork> makeAdversarialNetwork(int ranks,
                                                                         Adversary& adversary,
                                                                         bool halfReceived = false,
                                                                         bool eagerWaits = false);

}  // namespace tributary
