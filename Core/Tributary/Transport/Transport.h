// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// What a message is about. A receive sees the messages of its own topic and session only.
enum class Topic {
  Work,      ///< the exchange's messages
  Detector,  ///< termination detectors' own messages
  Control,   ///< abort notices and stall reports
  Setup      ///< the blocking conveniences of Collectives.h
};

enum class SendMode {
  Eager,       ///< finished when the buffer is free again, received or not
  Synchronous  ///< finished only after the destination has begun to receive it
};

enum class ReduceOp { Sum, Min, Max, Or };

/// Messages of one collective activity: see Transport::openSession().
using Session = std::int64_t;

/// A message that has arrived.
struct Envelope {
  int source = 0;
  Bytes bytes;
};

/// A message arrived and there was no memory for it (ErrorKind::Memory). The message is lost; the
/// sender's send is finished all the same.
class LostMessage : public Error {
 public:
  LostMessage(int source, const std::string& text)
      : Error(ErrorKind::Memory, text), source_(source) {}
  /// The rank that sent the message.
  int source() const noexcept { return source_; }

 private:
  int source_;
};

/// A send under way. Owns the buffer together with the transport: dropping the handle neither
/// cancels the send nor frees the buffer too early.
class PendingSend {
 public:
  struct State {
    bool done = false;
    Bytes bytes;
  };

  PendingSend() = default;
  explicit PendingSend(std::shared_ptr<State> state) : state_(std::move(state)) {}
  PendingSend(PendingSend&&) = default;
  PendingSend& operator=(PendingSend&&) = default;
  PendingSend(const PendingSend&) = delete;
  PendingSend& operator=(const PendingSend&) = delete;

  /// A flag only: it changes in Transport::poll().
  bool done() const { return !state_ || state_->done; }
  /// The buffer of a finished send, for reuse. @pre done()
  Bytes takeBuffer() { return state_ ? std::move(state_->bytes) : Bytes(); }

 private:
  std::shared_ptr<State> state_;
};

/// A non-blocking barrier or all-reduce under way; owns its buffers like PendingSend.
class PendingReduce {
 public:
  struct State {
    bool done = false;
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> result;
  };

  PendingReduce() = default;
  explicit PendingReduce(std::shared_ptr<State> state) : state_(std::move(state)) {}
  PendingReduce(PendingReduce&&) = default;
  PendingReduce& operator=(PendingReduce&&) = default;
  PendingReduce(const PendingReduce&) = delete;
  PendingReduce& operator=(const PendingReduce&) = delete;

  /// A flag only: it changes in Transport::poll().
  bool done() const { return !state_ || state_->done; }
  /// The reduced values (none for a barrier). @pre done()
  const std::vector<std::int64_t>& result() const { return state_->result; }

 private:
  std::shared_ptr<State> state_;
};

/// A send or receive of one size between two fixed ranks that is set up once and started as often
/// as wanted (MPI_Send_init, MPI_Ssend_init, MPI_Recv_init). Owns its buffer. The transport
/// outlives it. Destroyed while started, a receive is taken back, and a send is finished by the
/// transport.
class PersistentRequest {
 public:
  explicit PersistentRequest(std::size_t size) : buffer_(size, std::byte{0}) {}
  virtual ~PersistentRequest() = default;
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// The message, at first zeros. The transport's from start() until done(): not to be touched
  /// then, not even read.
  Span<std::byte> buffer() { return {buffer_.data(), buffer_.size()}; }

  /// @pre done()
  virtual void start() = 0;
  /// Whether it is finished, or was not started yet; makes progress. Throws Error if a message came
  /// that has not the size of the buffer.
  virtual bool done() = 0;
  /// For receives: takes a started one back. @return false if it was too late, and a message is in
  /// the buffer. Afterwards it is done() in any case.
  virtual bool cancel() = 0;

 protected:
  Bytes buffer_;
};

/// An integer in the memory of rank 0 that any rank changes without the help of rank 0, where the
/// network can do that. MPI does not promise it: with some networks rank 0 has to call the
/// transport, or MPI, for others to get on.
class SharedInteger {
 public:
  virtual ~SharedInteger() = default;
  /// Adds at one moment for all ranks, and returns the value before. Waits for the answer, and so
  /// nothing that this rank sends afterwards can arrive before the sum was made.
  virtual std::int64_t fetchAdd(std::int64_t value) = 0;
};

/// How bytes move between ranks, and what time it is. Used by one thread, or by several in turns
/// where threadsMayTakeTurns(). Errors of the layer below are thrown as Error with the rank and the
/// failed call.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Whether other threads than the one that began may call, one at a time.
  virtual bool threadsMayTakeTurns() const { return false; }

  /// Seconds since some moment in the past, never running backwards.
  virtual double now() const = 0;
  /// Tells the transport that `seconds` of computation have passed: moves a simulated clock, and
  /// does nothing where time passes by itself.
  virtual void spend(double seconds) = 0;
  /// Gives the core away for about `seconds`, or for one turn of the scheduler if 0.
  virtual void relax(double seconds) = 0;

  /// A number for the messages of one collective activity. Collective in the sense that all ranks
  /// open their sessions in the same order and so get the same number; no communication. It keeps
  /// a fast rank's next activity apart from what a slow rank is still receiving.
  virtual Session openSession() = 0;

  /// Starts to send `bytes` (any size, 0 and over 2 GiB included) to a rank, itself included.
  /// Messages from one rank to another within a topic and session arrive in order.
  virtual PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                           Bytes&& bytes) = 0;
  /// The same for a message whose bytes are `data` and, after it, `tail`. `data` stays the caller's
  /// and must neither change nor go before the send is done, wanted or not: a large message is not
  /// copied then, where the transport can help it.
  virtual PendingSend sendFrom(int destination, Topic topic, Session session, SendMode mode,
                               Span<const std::byte> data, Span<const std::byte> tail) {
    Bytes bytes;
    bytes.reserve(data.size() + tail.size() + 1);
    append(bytes, data.data(), data.size());
    append(bytes, tail.data(), tail.size());
    return send(destination, topic, session, mode, std::move(bytes));
  }
  /// The next message that has fully arrived, from any rank; nothing if there is none now. Throws
  /// LostMessage, once for each, where there is no memory for it.
  virtual std::optional<Envelope> tryReceive(Topic topic, Session session) = 0;
  /// Whether messages of this topic and session have begun to arrive (their synchronous sends may
  /// be finished) but were not yet returned by tryReceive().
  virtual bool receiving(Topic topic, Session session) const = 0;

  /// Local. Messages of persistent sends are received by persistent receives of the same topic
  /// and session, in the order in which those were started; such a session is not used for anything
  /// else. Sends are finished as their mode says, seen in done() only. Throws Error for a rank that
  /// there is not, and above 2^30 bytes.
  virtual std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic,
                                                            Session session, SendMode mode,
                                                            std::size_t size) = 0;
  virtual std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic,
                                                               Session session,
                                                               std::size_t size) = 0;

  /// Makes progress and brings the done() flags of sends and reductions up to date.
  virtual void poll() = 0;

  /// Collective, non-blocking; reductions and barriers are started in the same order on all ranks.
  virtual PendingReduce barrier() = 0;
  /// Element by element; all ranks give the same number of values and the same operation.
  virtual PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) = 0;

  /// Collective to make and to destroy; the transport outlives it.
  virtual std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) = 0;
};

/// Element by element, `values` into `sum`. Throws Error if they are not equally many.
void reduceInto(ReduceOp op, std::vector<std::int64_t>& sum,
                const std::vector<std::int64_t>& values);

/// Throws Error if `rank` is none of `ranks` ranks, or a persistent request must not be so large.
void checkPersistent(int rank, int ranks, std::size_t size);
/// Throws Error if a message of another size came for a persistent receive. @param here  this rank
void checkPersistentSize(std::size_t came, std::size_t expected, int source, int here);

/// How to wait without keeping a core from those who have work: some empty polls at full speed,
/// then turns of the scheduler, then naps that grow to a bound.
class Backoff {
 public:
  /// Something happened.
  void reset() { empty_ = 0; }
  /// Nothing happened in this turn.
  void pause(Transport& transport);

 private:
  int empty_ = 0;
};

}  // namespace tributary
