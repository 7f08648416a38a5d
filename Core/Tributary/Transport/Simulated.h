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

/// What a network of virtual ranks carried so far, all ranks together.
struct NetworkTraffic {
  std::int64_t work = 0;              ///< messages by topic
  std::int64_t detector = 0;          ///< ..
  std::int64_t control = 0;           ///< ..
  std::int64_t setup = 0;             ///< ..
  std::int64_t bytes = 0;             ///< of these messages
  std::int64_t acknowledgements = 0;  ///< of synchronous sends
  std::int64_t collective = 0;        ///< messages that barriers and all-reduces are made of
  std::int64_t sharedOperations = 0;  ///< operations on shared integers

  /// Counts a message of a topic.
  void add(Topic topic, std::size_t size);
};

/// Virtual ranks in one process and one thread, each with a transport of its own that the
/// production code uses unchanged. What a rank does is given as a function, in one of two forms.
/// Everything else, who runs when and when a message arrives, is decided by the kind of network:
/// see makeVirtualTimeNetwork() and makeAdversaryNetwork().
class SimulatedNetwork {
 public:
  virtual ~SimulatedNetwork() = default;

  virtual int size() const = 0;
  virtual Transport& transport(int rank) = 0;

  /// Runs `body` on every rank, all at the same time as it seems to them; it may wait, as
  /// Exchange::run() and the functions of Collectives.h do. Returns when all have returned. Throws
  /// the exception of the lowest rank whose body threw one; and Error, with what is known of each
  /// rank, if nobody can ever move again. To be called as often as wanted, time goes on.
  virtual void run(const std::function<void(Transport&)>& body) = 0;

  /// The same with a light memory: calls `step`, one non-blocking turn, on the ranks again and
  /// again until it has returned true on each. A step must not wait; one that has nothing more to
  /// do for now calls Transport::relax(), once, and returns.
  virtual void runSteps(const std::function<bool(Transport&)>& step) = 0;

  virtual const NetworkTraffic& traffic() const = 0;

  /// What was sent and not received, synchronous sends that were not seen to be finished, and
  /// collective operations that did not end on all ranks, for people; "" if there is nothing.
  virtual std::string left() const = 0;

  /// Told of the rank, adds to the report on ranks that cannot move.
  void describeBy(std::function<std::string(int rank)> describe) {
    describe_ = std::move(describe);
  }

 protected:
  std::function<std::string(int rank)> describe_;
};

/// LogGP: A. Alexandrov et al., "LogGP: Incorporating Long Messages into the LogP Model", SPAA
/// 1995. All in seconds.
struct LinkCosts {
  double latency;     ///< L: of a small message through the network
  double overhead;    ///< o: of the processor for each message sent and for each received
  double gap;         ///< g: between two messages that one rank sends, and that one rank receives
  double gapPerByte;  ///< G
};

/// What a network with a clock is like. The defaults are a cluster's of today: shared memory within
/// a node, a fast interconnect between nodes.
struct VirtualTimeNetworkOptions {
  int ranks = 1;
  int ranksPerNode = 32;  ///< consecutive ranks share a node
  LinkCosts within = {0.3e-6, 0.15e-6, 0.1e-6, 0.1e-9};
  LinkCosts between = {1.2e-6, 0.3e-6, 0.3e-6, 0.08e-9};
  double lookSeconds = 50e-9;    ///< poll(); tryReceive() or done() without a message
  double sharedSeconds = 50e-9;  ///< an operation on a shared integer, at the integer's place
  std::vector<double> speeds;    ///< by rank: spend(s) lasts s / speed; empty: 1
  /// spend(s) varies at random around s / speed: by so many times its mean (standard deviation of
  /// a shifted exponential distribution), from 0 to 1.
  double noise = 0;
  std::uint64_t seed = 1;  ///< of the noise
  /// So long without a message or any computation: nobody will ever move again.
  double deadlockSeconds = 1e4;
  std::size_t stackBytes = std::size_t(256) << 10;  ///< address space of each rank's stack in run()
};

/// A network in virtual time, exactly repeatable. Each rank has its clock; calls of the transport
/// and spend() move it, computing does not. A message leaves after the sender's overhead and when
/// the gap since the one before is over, and arrives after latency and the time of its bytes, and
/// when the receiver's gap is over; messages of a rank to another keep their order. A synchronous
/// send costs an acknowledgement back. Barriers and all-reduces go up and down a binomial tree,
/// carried on by poll() on each rank, at a message's costs. A shared integer lies on rank 0:
/// fetchAdd() costs the way there and back and waits while operations that came before are served,
/// one after the other. The message of a persistent send is matched with its receive when both are
/// there, while the receiving rank computes, as by a network that does so by itself; the sign that
/// a synchronous one gets back costs its latency only, and the receiver pays its overhead when it
/// sees the message. A rank that relaxes sleeps until something arrives or its nap is over; naps
/// grow with the time for which nothing came, so that time-outs by now() are noticed, at most half
/// as late again as they are long.
///
/// Throws Error for options that make no sense.
std::unique_ptr<SimulatedNetwork> makeVirtualTimeNetwork(const VirtualTimeNetworkOptions& options);

/// What an adversary decides.
enum class Decision {
  Rank,       ///< which rank goes on
  Message,    ///< which source's next message this rank sees, -1: none of those on their way
  Half,       ///< 1: that message begins to arrive only, and its synchronous send may be finished
  Sends,      ///< 1: this rank sees that its received sends are finished
  Collective  ///< 1: this rank sees that a barrier or all-reduce which all have entered is finished
};

/// Chooses what happens next in a network without time.
class Adversary {
 public:
  virtual ~Adversary() = default;
  /// @param rank  the rank concerned; for Decision::Rank the one that went on before
  /// @param options  values to choose from, at least one, in ascending order
  /// @return an index into `options`
  virtual std::size_t choose(Decision decision, int rank, const std::vector<int>& options) = 0;
};

/// An adversary of moods that its seed decides and that change now and then: even-handed, with slow
/// ranks, slow pairs, long stalls, with messages or completions that are seen late. Sooner or later
/// everything happens.
std::unique_ptr<Adversary> makeRandomAdversary(std::uint64_t seed);

/// Follows a script as written by ScheduleRecorder: words of a letter and the value chosen, such as
/// "r2 m0 m- s1 c1" (rank 2 goes on, sees a message of rank 0, then none, sees its sends and a
/// collective operation finished; h: half). Decisions without an alternative need no word, except
/// for ranks. At the script's end it becomes fair: ranks take turns and see everything at once. An
/// empty script is fair from the beginning. Throws Error where the script does not fit.
std::unique_ptr<Adversary> makeScriptedAdversary(const std::string& script);

/// Passes decisions on to another adversary and writes down what it chose.
class ScheduleRecorder : public Adversary {
 public:
  explicit ScheduleRecorder(Adversary& adversary) : adversary_(adversary) {}
  std::size_t choose(Decision decision, int rank, const std::vector<int>& options) override;
  /// What makeScriptedAdversary() repeats.
  std::string script() const;

 private:
  struct Choice {
    Decision decision;
    int value;
  };
  Adversary& adversary_;
  std::vector<Choice> choices_;
};

/// A network in which nothing has a time: an adversary decides who goes on and what is seen when.
/// Kept is only what MPI promises: messages of one rank to another, within topic and session, are
/// seen in the order in which they were sent; a synchronous send is not finished before it has
/// begun to be received, a collective operation not before all have entered it. Eager sends, of
/// which MPI promises no more than that they are finished once they are received, are finished at
/// once or like synchronous ones, as it is made. now() moves a
/// little with every look. A persistent send throws Error if its buffer was changed while it was
/// under way; that of a started receive has all bits set.
class AdversaryNetwork : public SimulatedNetwork {
 public:
  /// Everything in the network that can change what happens from now on, as bytes: equal for equal
  /// states. What lies in the ranks (send and reduction handles) is not in it.
  virtual std::string state() const = 0;
};

/// @param ranks  1 or more
/// @param adversary  outlives the network
/// @param halfReceived  whether messages may begin to arrive before they are received
/// @param eagerWaits  whether eager sends are finished like synchronous ones, after their messages
///                    have begun to be received, as MPI does with large ones, instead of at once
std::unique_ptr<AdversaryNetwork> makeAdversaryNetwork(int ranks, Adversary& adversary,
                                                       bool halfReceived = false,
                                                       bool eagerWaits = false);

}  // namespace tributary
