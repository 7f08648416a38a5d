// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// The purpose of a message. A receive matches only messages of its own topic and session.
enum class Topic {
  Work,      ///< data of exchanges, reductions and iterations
  Detector,  ///< messages of termination detectors
  Control,   ///< abort notices and stall reports
  Setup      ///< messages of the blocking functions in Collectives.h
};

/// The completion mode of a send.
enum class SendMode {
  Eager,       ///< finished when the buffer can be reused, whether or not the message is received
  Synchronous  ///< finished only after the destination has begun to receive the message
};

/// The operation of an all-reduce.
enum class ReduceOp { Sum, Min, Max, Or };

/// Identifies the messages of one collective activity: see Transport::openSession().
using Session = std::int64_t;

/// A message that has arrived.
struct Envelope {
  int source = 0;  ///< the rank that sent the message
  Bytes bytes;
};

/// Thrown if a message has arrived but this rank has no memory for it (ErrorKind::Memory). The
/// message is lost. Its send finishes as usual.
class LostMessage : public Error {
 public:
  /// @param source  the rank that sent the message
  LostMessage(int source, const std::string& text)
      : Error(ErrorKind::Memory, text), source_(source) {}
  /// The rank that sent the message.
  int source() const noexcept { return source_; }

 private:
  int source_;
};

/// Handle of a send that is in progress. The handle and the transport share ownership of the
/// buffer: destroying the handle neither cancels the send nor frees the buffer.
class PendingSend {
 public:
  /// Shared with the transport.
  struct State {
    bool done = false;
    Bytes bytes;
  };

  /// A handle without a send. It is done().
  PendingSend() = default;
  /// For transports.
  explicit PendingSend(std::shared_ptr<State> state) : state_(std::move(state)) {}
  PendingSend(PendingSend&&) = default;
  PendingSend& operator=(PendingSend&&) = default;
  PendingSend(const PendingSend&) = delete;
  PendingSend& operator=(const PendingSend&) = delete;

  /// Whether the send is finished. Reads a flag, which Transport::poll() updates.
  [[nodiscard]] bool done() const { return !state_ || state_->done; }
  /// The buffer of a finished send, for reuse. @pre done()
  [[nodiscard]] Bytes takeBuffer() { return state_ ? std::move(state_->bytes) : Bytes(); }

 private:
  std::shared_ptr<State> state_;
};

/// Handle of a non-blocking barrier or all-reduce that is in progress. Owns its buffers like
/// PendingSend.
class PendingReduce {
 public:
  /// Shared with the transport.
  struct State {
    bool done = false;
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> result;
  };

  /// A handle without an operation. It is done().
  PendingReduce() = default;
  /// For transports.
  explicit PendingReduce(std::shared_ptr<State> state) : state_(std::move(state)) {}
  PendingReduce(PendingReduce&&) = default;
  PendingReduce& operator=(PendingReduce&&) = default;
  PendingReduce(const PendingReduce&) = delete;
  PendingReduce& operator=(const PendingReduce&) = delete;

  /// Whether the operation is complete. Reads a flag, which Transport::poll() updates.
  [[nodiscard]] bool done() const { return !state_ || state_->done; }
  /// The reduced values; empty for a barrier. @pre done() and constructed by a transport
  [[nodiscard]] const std::vector<std::int64_t>& result() const { return state_->result; }

 private:
  std::shared_ptr<State> state_;
};

/// A send or receive of fixed size between two fixed ranks, which is set up once and can be started
/// any number of times (MPI_Send_init, MPI_Ssend_init, MPI_Recv_init). Owns its buffer. The
/// transport must outlive it. If it is destroyed while started, a receive is canceled, and the
/// transport completes a send.
class PersistentRequest {
 public:
  /// @param size  of the buffer and of each message, in bytes
  explicit PersistentRequest(std::size_t size) : buffer_(size, std::byte{0}) {}
  virtual ~PersistentRequest() = default;
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;

  /// The message; zeros before the first start(). From start() until done() the buffer belongs to
  /// the transport: the caller must neither write nor read it.
  Span<std::byte> buffer() { return {buffer_.data(), buffer_.size()}; }

  /// Starts the send or receive. Local. @pre done()
  virtual void start() = 0;
  /// Makes progress. @return whether the request is finished or was never started. Throws Error if
  /// the size of the received message differs from that of the buffer.
  [[nodiscard]] virtual bool done() = 0;
  /// Cancels a started receive. The request is done() afterwards. Throws Error for a send.
  /// @return whether the receive was canceled; false if the request was not started, or if a
  ///         message had arrived, which is in the buffer then
  [[nodiscard]] virtual bool cancel() = 0;

 protected:
  Bytes buffer_;
};

/// An integer in the memory of rank 0 that all ranks can change without action by rank 0, if the
/// network supports it. MPI does not guarantee this: with some networks, operations progress only
/// while rank 0 calls the transport or MPI.
class SharedInteger {
 public:
  virtual ~SharedInteger() = default;
  /// Adds a value atomically. Blocks until the result has arrived, so messages that this rank sends
  /// afterwards arrive after the addition. @return the value before the addition
  virtual std::int64_t fetchAdd(std::int64_t value) = 0;
};

/// Communication between ranks, and the clock. All operations except SharedInteger::fetchAdd() are
/// non-blocking. Errors of the communication layer are thrown as Error with the rank and the
/// function that failed.
///
/// Not thread-safe. Only the thread that made the transport may call it, or several threads, one
/// at a time, if threadsMayTakeTurns().
class Transport {
 public:
  virtual ~Transport() = default;

  /// The number of this rank, in [0, size()).
  virtual int rank() const = 0;
  /// The number of ranks.
  virtual int size() const = 0;
  /// Whether threads other than the first may call the transport, one at a time.
  [[nodiscard]] virtual bool threadsMayTakeTurns() const { return false; }

  /// Seconds since an arbitrary time in the past. Never decreases.
  [[nodiscard]] virtual double now() const = 0;
  /// Reports `seconds` of computation. Advances a simulated clock; has no effect in real time.
  virtual void spend(double seconds) = 0;
  /// Releases the core for about `seconds`, or for one turn of the scheduler if `seconds` is 0.
  virtual void relax(double seconds) = 0;

  /// Opens a session, which separates the messages of one collective activity from those of the
  /// next: a fast rank may start the next activity while a slow rank still receives. Local, but all
  /// ranks must open their sessions in the same order, and then get the same numbers.
  [[nodiscard]] virtual Session openSession() { return sessions_++; }

  /// Starts a send to a rank, which may be this rank. Messages between two ranks within a topic and
  /// session arrive in the order in which they were sent.
  /// @param bytes  of any size, including 0 and more than 2 GiB
  /// @return may be discarded: the send completes nevertheless
  virtual PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                           Bytes&& bytes) = 0;
  /// Starts a send of a message that consists of `data` followed by `tail`. If the transport
  /// supports it, a large message is not copied.
  /// @param data  owned by the caller; must neither change nor be freed before the send is done(),
  ///              even if the handle is discarded
  /// @param tail  copied
  [[nodiscard]] virtual PendingSend sendFrom(int destination, Topic topic, Session session,
                                             SendMode mode, Span<const std::byte> data,
                                             Span<const std::byte> tail) {
    Bytes bytes;
    bytes.reserve(data.size() + tail.size() + 1);
    append(bytes, data.data(), data.size());
    append(bytes, tail.data(), tail.size());
    return send(destination, topic, session, mode, std::move(bytes));
  }
  /// Receives the next message from any rank. @return nothing if no message has arrived completely.
  /// Throws LostMessage, once for each message, if there is no memory for it.
  [[nodiscard]] virtual std::optional<Envelope> tryReceive(Topic topic, Session session) = 0;
  /// Whether messages of this topic and session have begun to arrive, so that their synchronous
  /// sends may be finished, but tryReceive() has not returned them yet.
  [[nodiscard]] virtual bool receiving(Topic topic, Session session) const = 0;

  /// Sets up a persistent send. Local. Its messages match persistent receives of the same topic and
  /// session, in the order in which both are started. Such a session must not be used for other
  /// messages. Completion follows `mode` and is reported by PersistentRequest::done() only. Throws
  /// Error if the rank does not exist or `size` exceeds 2^30 bytes.
  [[nodiscard]] virtual std::unique_ptr<PersistentRequest> persistentSend(
      int destination, Topic topic, Session session, SendMode mode, std::size_t size) = 0;
  /// Sets up a persistent receive: see persistentSend().
  [[nodiscard]] virtual std::unique_ptr<PersistentRequest> persistentReceive(int source,
                                                                             Topic topic,
                                                                             Session session,
                                                                             std::size_t size) = 0;

  /// Makes progress, and updates the done() flags of sends and reductions.
  virtual void poll() = 0;

  /// Starts a barrier. Collective, non-blocking. All ranks must start barriers and reductions in
  /// the same order.
  [[nodiscard]] virtual PendingReduce barrier() { return allreduce(ReduceOp::Or, {}); }
  /// Starts an element-wise all-reduce. Collective, non-blocking. All ranks must pass the same
  /// operation and number of values.
  [[nodiscard]] virtual PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) = 0;

  /// Installs a function that tells whether the work of this rank should end early, or removes it.
  /// Local. Without one the work is never interrupted.
  /// @param isRequested  returns true at once and from then on if so; called very often, by waiting
  ///                     functions too; must neither throw nor wait for other ranks
  void setInterruption(std::function<bool()> isRequested) {
    interruption_ = std::move(isRequested);
  }
  /// Whether the work of this rank should end early. Local. Local work that takes more than a few
  /// milliseconds calls throwIfInterrupted() between pieces. ErrorCollector::agree() always checks
  /// this function, so all ranks leave together.
  [[nodiscard]] bool isInterrupted() const { return interruption_ && interruption_(); }

  /// Ends the work of all ranks after an error of this rank, if the other ranks are in different
  /// calls and cannot take part in an agreement. Local. If the transport supports it, calls on
  /// other ranks that wait for a message or a reduction throw Error. Afterwards, communication by
  /// this transport is undefined. It must not be destroyed, because messages may still arrive in
  /// its buffers.
  /// @param kind  of the error
  /// @param why   text of the error; it may be truncated
  virtual void abandon(ErrorKind kind, const char* why) noexcept {
    static_cast<void>(kind);
    static_cast<void>(why);
  }
  /// Completes the communication of this rank, as the destructor does otherwise. Collective; no
  /// other function may be called afterwards but isAbandoned(). Writes errors to stderr.
  virtual void close() noexcept {}
  /// Whether this rank has abandoned the transport, or has learned that another rank has.
  [[nodiscard]] virtual bool isAbandoned() const { return false; }

  /// Makes a shared integer. Collective, and so is its destruction. The transport must outlive it.
  [[nodiscard]] virtual std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) = 0;

 private:
  Session sessions_ = 0;
  std::function<bool()> interruption_;
};

/// Throws Error of kind Aborted if the work should end early: see Transport::isInterrupted().
/// Local; for work within collectively(), ErrorCollector::attempt() or a callback of an exchange.
void throwIfInterrupted(const Transport& transport);

/// Reduces `values` into `sum`, element by element. Throws Error if their sizes differ.
void reduceInto(ReduceOp op, std::vector<std::int64_t>& sum,
                const std::vector<std::int64_t>& values);

/// Throws Error unless `destination` is in [0, ranks).
void checkDestination(int destination, int ranks);
/// Throws Error unless `rank` is in [0, ranks) and `size` is valid for a persistent request.
void checkPersistent(int rank, int ranks, std::size_t size);
/// Throws Error if a persistent receive got a message of another size.
/// @param source  the rank that sent the message
/// @param here  this rank
void checkPersistentSize(std::size_t received, std::size_t expected, int source, int here);

/// Waiting strategy of a polling loop, which also checks for an interruption. Polls that
/// make no progress first repeat immediately, then yield to the scheduler, then sleep for
/// increasing times of at most 100 microseconds, so that a waiting rank does not take the core from
/// a working one.
class Backoff {
 public:
  /// Call after a poll that made progress.
  void reset() { empty_ = 0; }
  /// Call after a poll that made no progress.
  void pause(Transport& transport);

 private:
  int empty_ = 0;
};

}  // namespace tributary
