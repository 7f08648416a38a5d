// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/Mpi.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/detail/MpiArrivals.h"
#include "Tributary/Transport/detail/MpiErrors.h"
#include "Tributary/Transport/detail/MpiMessages.h"
#include "Tributary/Transport/detail/MpiPersistent.h"
#include "Tributary/Transport/detail/OwnMessages.h"
#include "Tributary/Transport/detail/RealTimeTransport.h"

namespace tributary {

using namespace detail;

namespace {

// Larger messages are announced and sent unchanged: appending the last byte could copy them.
constexpr std::size_t LargestWhole = 256 << 10;

// Up to this size a copy costs less than an announcement.
constexpr std::size_t LargestCopy = 64 << 10;

// Seconds between two checks of a waiting rank for an alarm.
constexpr double AlarmInterval = 1e-3;

/// The message of a rank that abandons the transport.
struct Alarm {
  ErrorKind kind = ErrorKind::Internal;
  char text[500] = "";
};

/// A duplicate of a communicator that returns errors. The destructor frees it, also if the
/// constructor of its owner fails later, and writes errors to stderr.
class OwnCommunicator {
 public:
  explicit OwnCommunicator(MPI_Comm comm) {
    checkMpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup", std::nullopt);
  }
  OwnCommunicator(OwnCommunicator&& other) noexcept
      : comm_(std::exchange(other.comm_, MPI_COMM_NULL)), rank_(other.rank_) {}
  OwnCommunicator& operator=(OwnCommunicator&&) = delete;
  ~OwnCommunicator() {
    if (comm_ == MPI_COMM_NULL) return;
    reportErrors("closing the MPI transport",
                 [&] { checkMpi(MPI_Comm_free(&comm_), "MPI_Comm_free", rank_); });
  }

  /// Local. @return the rank of this process
  int open() {
    checkMpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler",
             std::nullopt);
    int rank = 0;
    checkMpi(MPI_Comm_rank(comm_, &rank), "MPI_Comm_rank", std::nullopt);
    rank_ = rank;
    return rank;
  }
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::optional<int> rank_;
};

/// Collective. Throws on all ranks if the transport of one could not be made: the error of MPI on a
/// rank where MPI failed. Allocates nothing before all ranks know.
/// @param failure  what prevents the transport of this rank, or null
void agreeOnTransport(const OwnCommunicator& comm, int rank, const std::exception_ptr& failure) {
  constexpr int NoRank = std::numeric_limits<int>::max();
  const int mine = failure ? rank : NoRank;
  int lowest = NoRank;
  checkMpi(MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce", rank);
  if (lowest == NoRank) return;
  std::exception_ptr ofMpi;
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const MpiError&) {
    ofMpi = failure;
  } catch (...) {  // no memory
  }
  int isMemory = ofMpi ? 0 : 1;
  checkMpi(MPI_Bcast(&isMemory, 1, MPI_INT, lowest, comm), "MPI_Bcast", rank);
  if (ofMpi) std::rethrow_exception(ofMpi);
  throw Error(isMemory ? ErrorKind::Memory : ErrorKind::Mpi,
              "rank " + std::to_string(lowest) +
                  (isMemory ? " lacks memory for messages; use more ranks, or smaller data"
                            : " cannot use the communicator; check the installation of MPI"),
              lowest);
}

/// A window of one integer on rank 0, with a lock epoch from construction to destruction. If the
/// constructor fails, the window is not freed, because freeing is collective and other ranks may
/// not have failed.
class MpiInteger : public SharedInteger {
 public:
  MpiInteger(MPI_Comm comm, int rank, std::int64_t initial) : rank_(rank) {
    const auto bytes = static_cast<MPI_Aint>(rank == 0 ? sizeof(std::int64_t) : 0);
    std::int64_t* value = nullptr;
    check(MPI_Win_allocate(bytes, sizeof(std::int64_t), MPI_INFO_NULL, comm, &value, &window_),
          "MPI_Win_allocate");
    check(MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    if (rank == 0) {
      check(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window_), "MPI_Win_lock");
      *value = initial;
      check(MPI_Win_unlock(0, window_), "MPI_Win_unlock");
    }
    check(MPI_Barrier(comm), "MPI_Barrier");
    check(MPI_Win_lock_all(0, window_), "MPI_Win_lock_all");
  }

  MpiInteger(const MpiInteger&) = delete;
  MpiInteger& operator=(const MpiInteger&) = delete;

  ~MpiInteger() override {
    constexpr const char* When = "closing a shared integer";
    reportErrors(When, [&] { check(MPI_Win_unlock_all(window_), "MPI_Win_unlock_all"); });
    // After an error, too: freeing is collective, and the other ranks wait.
    reportErrors(When, [&] { check(MPI_Win_free(&window_), "MPI_Win_free"); });
  }

  std::int64_t fetchAdd(std::int64_t value) override {
    std::int64_t before = 0;
    check(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, 0, MPI_SUM, window_),
          "MPI_Fetch_and_op");
    check(MPI_Win_flush(0, window_), "MPI_Win_flush");
    return before;
  }

 private:
  void check(int code, const char* function) const { checkMpi(code, function, rank_); }

  MPI_Win window_ = MPI_WIN_NULL;
  int rank_;
};

class MpiTransport : public RealTimeTransport {
 public:
  /// @param comm  a communicator of its own, which adopt() gives to it
  MpiTransport(MPI_Comm comm, int rank, std::size_t largestPart)
      : comm_(comm),
        rank_(rank),
        own_(rank_),
        largestPart_(std::clamp<std::size_t>(largestPart, 1, LargestPart)) {
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    tags_ = MpiTags(comm_, rank_);
    ledger_.sentTo.assign(static_cast<std::size_t>(size_), 0);
    arrivals_.emplace(comm_, rank_, size_, tags_, ledger_);
  }

  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  ~MpiTransport() override { MpiTransport::close(); }

  /// Once all ranks have their transports: from now on the destructor is collective.
  void adopt(OwnCommunicator&& comm) noexcept { owner_.emplace(std::move(comm)); }

  void close() noexcept override {
    if (!owner_ || std::exchange(closed_, true)) return;
    try {
      drain();
    } catch (...) {
      // The rank that abandoned the transport reports why.
      if (!abandoned_) reportErrors("closing the MPI transport", [] { throw; });
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  bool threadsMayTakeTurns() const override {
    int provided = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&provided), "MPI_Query_thread");
    return provided >= MPI_THREAD_SERIALIZED;
  }

  PendingSend send(int destination, Topic topic, Session session, SendMode mode,
                   Bytes&& bytes) override {
    checkDestination(destination, size_);
    if (destination == rank_) return own_.send(topic, session, mode, std::move(bytes));
    auto operation = std::make_shared<SendOperation>();
    operation->bytes = std::move(bytes);
    if (operation->bytes.size() <= std::min(LargestWhole, largestPart_)) {
      // One more than the number of MPI sends, until all of them are started.
      operation->unfinished = 1;
      operation->bytes.push_back(WholeMessage);
      operation->trailer = true;
      start(operation, operation->bytes.data(), operation->bytes.size(), destination,
            tags_.of(topic, session), mode);
      finishPart(*operation);
    } else {
      const Span<const std::byte> data(operation->bytes.data(), operation->bytes.size());
      startParts(operation, destination, topic, session, mode, data);
    }
    return PendingSend(std::move(operation));
  }

  PendingSend sendFrom(int destination, Topic topic, Session session, SendMode mode,
                       Span<const std::byte> data, Span<const std::byte> tail) override {
    if (data.size() <= std::min(LargestCopy, largestPart_) || tail.size() > largestPart_ ||
        destination == rank_) {
      return Transport::sendFrom(destination, topic, session, mode, data, tail);
    }
    checkDestination(destination, size_);
    auto operation = std::make_shared<SendOperation>();
    append(operation->bytes, tail.data(), tail.size());
    startParts(operation, destination, topic, session, mode, data);
    return PendingSend(std::move(operation));
  }

  std::optional<Envelope> tryReceive(Topic topic, Session session) override {
    // Own messages and those of other ranks in turns: neither delays the other forever.
    const bool othersFirst = lastSource_ == rank_;
    auto envelope =
        othersFirst ? arrivals_->tryReceive(topic, session) : own_.tryReceive(topic, session);
    if (!envelope) {
      envelope =
          othersFirst ? own_.tryReceive(topic, session) : arrivals_->tryReceive(topic, session);
    }
    if (envelope) lastSource_ = envelope->source;
    return envelope;
  }

  bool receiving(Topic topic, Session session) const override {
    return arrivals_->receiving(topic, session);
  }

  void poll() override {
    if (requests_.empty()) return;
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                  finished_.data(), statuses_.data());
    // After an error, too, `finished_` lists finished requests.
    if (count > 0) removeFinished(count);
    const auto known = static_cast<std::size_t>(std::max(count, 0));
    check(codeOfRequest(code, {statuses_.data(), known}), "MPI_Testsome");
  }

  std::unique_ptr<PersistentRequest> persistentSend(int destination, Topic topic, Session session,
                                                    SendMode mode, std::size_t size) override {
    checkPersistent(destination, size_, size);
    if (destination == rank_) return own_.persistentSend(topic, session, mode, size);
    auto send = std::make_unique<MpiPersistent>(ledger_, rank_, destination, true, size);
    const Span<std::byte> buffer = send->buffer();
    const int count = static_cast<int>(size);
    const int tag = tags_.of(topic, session);
    if (mode == SendMode::Synchronous) {
      check(
          MPI_Ssend_init(buffer.data(), count, MPI_BYTE, destination, tag, comm_, &send->request()),
          "MPI_Ssend_init");
    } else {
      check(
          MPI_Send_init(buffer.data(), count, MPI_BYTE, destination, tag, comm_, &send->request()),
          "MPI_Send_init");
    }
    return send;
  }

  std::unique_ptr<PersistentRequest> persistentReceive(int source, Topic topic, Session session,
                                                       std::size_t size) override {
    checkPersistent(source, size_, size);
    if (source == rank_) return own_.persistentReceive(topic, session, size);
    auto receive = std::make_unique<MpiPersistent>(ledger_, rank_, source, false, size);
    check(MPI_Recv_init(receive->buffer().data(), static_cast<int>(size), MPI_BYTE, source,
                        tags_.of(topic, session), comm_, &receive->request()),
          "MPI_Recv_init");
    return receive;
  }

  PendingReduce barrier() override {
    auto state = std::make_shared<PendingReduce::State>();
    makeRoom();
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
    record(request, {nullptr, state});
    return PendingReduce(std::move(state));
  }

  PendingReduce allreduce(ReduceOp op, std::vector<std::int64_t> values) override {
    auto state = std::make_shared<PendingReduce::State>();
    state->values = std::move(values);
    state->result.resize(state->values.size());
    makeRoom();
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(state->values.data(), state->result.data(),
                         static_cast<int>(state->values.size()), MPI_INT64_T, mpiOp(op), comm_,
                         &request),
          "MPI_Iallreduce");
    record(request, {nullptr, state});
    return PendingReduce(std::move(state));
  }

  /// Looks for an alarm of another rank, which only a rank that waits needs.
  void relax(double seconds) override {
    RealTimeTransport::relax(seconds);
    const double time = now();
    if (time < alarmLook_) return;
    alarmLook_ = time + AlarmInterval;
    int found = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, tags_.alarm(), comm_, &found, &status), "MPI_Iprobe");
    if (!found) return;
    abandoned_ = true;
    check(MPI_Recv(&alarm_, sizeof alarm_, MPI_BYTE, status.MPI_SOURCE, tags_.alarm(), comm_,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    throwAlarm(status.MPI_SOURCE);
  }

  void abandon(ErrorKind kind, const char* why) noexcept override {
    if (std::exchange(abandoned_, true)) return;
    alarm_.kind = kind;
    std::strncpy(alarm_.text, why, sizeof alarm_.text - 1);
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == rank_) continue;
      reportErrors("abandoning the MPI transport", [&] {
        MPI_Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(&alarm_, sizeof alarm_, MPI_BYTE, rank, tags_.alarm(), comm_, &request),
              "MPI_Isend");
        check(MPI_Request_free(&request), "MPI_Request_free");  // it completes nevertheless
      });
    }
  }
  bool isAbandoned() const override { return abandoned_; }

  std::unique_ptr<SharedInteger> shareInteger(std::int64_t initial) override {
    return std::make_unique<MpiInteger>(comm_, rank_, initial);
  }

 private:
  struct SendOperation : PendingSend::State {
    Bytes announcement;
    int unfinished = 0;
    bool trailer = false;
  };
  struct Owner {
    std::shared_ptr<SendOperation> send;
    std::shared_ptr<PendingReduce::State> reduce;
  };

  void check(int code, const char* function) const { checkMpi(code, function, rank_); }

  /// Reserves memory for one more request before MPI starts it: afterwards neither record() nor
  /// poll() needs memory.
  void makeRoom() {
    if (requests_.size() == requests_.capacity()) requests_.reserve(2 * requests_.size() + 16);
    if (owners_.size() == owners_.capacity()) owners_.reserve(2 * owners_.size() + 16);
    if (finished_.size() <= requests_.size()) finished_.resize(requests_.capacity());
    if (statuses_.size() <= requests_.size()) statuses_.resize(requests_.capacity());
  }
  /// @pre makeRoom()
  void record(MPI_Request request, Owner&& owner) noexcept {
    requests_.push_back(request);
    owners_.push_back(std::move(owner));
  }

  void removeFinished(int count) {
    for (int i = 0; i < count; ++i) finish(owners_[static_cast<std::size_t>(finished_[i])]);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (kept != i) {
        requests_[kept] = requests_[i];
        owners_[kept] = std::move(owners_[i]);
      }
      ++kept;
    }
    requests_.resize(kept);
    owners_.resize(kept);
  }

  static MPI_Op mpiOp(ReduceOp op) {
    switch (op) {
      case ReduceOp::Sum:
        return MPI_SUM;
      case ReduceOp::Min:
        return MPI_MIN;
      case ReduceOp::Max:
        return MPI_MAX;
      case ReduceOp::Or:
        return MPI_BOR;
    }
    throw Error(ErrorKind::Internal, "unknown reduction");
  }

  /// Sends an announcement, the data in parts, and the operation's bytes unless they are the data.
  void startParts(const std::shared_ptr<SendOperation>& operation, int destination, Topic topic,
                  Session session, SendMode mode, Span<const std::byte> data) {
    const bool own = data.data() == operation->bytes.data();
    const Bytes& tail = operation->bytes;
    const MessageLengths lengths = {data.size(), own ? 0 : tail.size(), largestPart_};
    operation->unfinished = 1;
    append(operation->announcement, &lengths, sizeof lengths);
    operation->announcement.push_back(Announcement);
    start(operation, operation->announcement.data(), operation->announcement.size(), destination,
          tags_.of(topic, session), mode);
    const int tag = tags_.of(topic, session, true);
    for (std::size_t offset = 0; offset < data.size(); offset += largestPart_) {
      start(operation, data.data() + offset, std::min(largestPart_, data.size() - offset),
            destination, tag, SendMode::Eager);
    }
    if (lengths.tail > 0) {
      start(operation, tail.data(), tail.size(), destination, tag, SendMode::Eager);
    }
    finishPart(*operation);
  }

  void start(const std::shared_ptr<SendOperation>& operation, const std::byte* data,
             std::size_t size, int destination, int tag, SendMode mode) {
    makeRoom();
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = static_cast<int>(size);
    if (mode == SendMode::Synchronous) {
      check(MPI_Issend(data, count, MPI_BYTE, destination, tag, comm_, &request), "MPI_Issend");
    } else {
      check(MPI_Isend(data, count, MPI_BYTE, destination, tag, comm_, &request), "MPI_Isend");
    }
    ++operation->unfinished;
    ++ledger_.sentTo[static_cast<std::size_t>(destination)];
    if (mode == SendMode::Eager && count <= LargestBlockingReceive) {
      // A small send is usually finished now, and poll() need not test it.
      int finished = 0;
      check(MPI_Test(&request, &finished, MPI_STATUS_IGNORE), "MPI_Test");
      if (finished) {
        finishPart(*operation);
        return;
      }
    }
    record(request, {operation, nullptr});
  }

  static void finish(Owner& owner) {
    if (owner.reduce) {
      owner.reduce->done = true;
    } else {
      finishPart(*owner.send);
    }
    owner = Owner();
  }

  static void finishPart(SendOperation& send) {
    if (--send.unfinished > 0) return;
    if (send.trailer) send.bytes.pop_back();
    send.done = true;
  }

  bool complete(DroppedMpiSend& send) const {
    int flag = 0;
    check(MPI_Test(&send.request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (flag) check(MPI_Request_free(&send.request), "MPI_Request_free");
    return flag != 0;
  }

  /// Throws the error of the rank that has sent the alarm.
  [[noreturn]] void throwAlarm(int source) {
    alarm_.text[sizeof alarm_.text - 1] = 0;
    if (alarm_.kind < ErrorKind::Input || alarm_.kind > ErrorKind::Internal)
      alarm_.kind = ErrorKind::Internal;
    throw Error(alarm_.kind, "rank " + std::to_string(source) + ": " + alarm_.text, source);
  }

  /// Receives and discards messages that were not received, and completes the sends of this rank.
  /// Throws if a rank has abandoned the transport.
  void drain() {
    Backoff backoff;
    sentToMe_.resize(static_cast<std::size_t>(size_));
    MPI_Request counting = MPI_REQUEST_NULL;
    check(MPI_Ialltoall(ledger_.sentTo.data(), 1, MPI_INT64_T, sentToMe_.data(), 1, MPI_INT64_T,
                        comm_, &counting),
          "MPI_Ialltoall");
    for (int counted = 0; !counted;) {
      check(MPI_Test(&counting, &counted, MPI_STATUS_IGNORE), "MPI_Test");
      if (!counted) backoff.pause(*this);
    }
    std::int64_t expected = 0;
    for (const auto count : sentToMe_) expected += count;
    backoff.reset();
    while (ledger_.received < expected || !requests_.empty() || !arrivals_->empty() ||
           !ledger_.dropped.empty()) {
      backoff.pause(*this);
      arrivals_->dropComplete();
      ledger_.dropped.remove_if([&](DroppedMpiSend& send) { return complete(send); });
      MpiTransport::poll();
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, &message, &status),
            "MPI_Improbe");
      if (!found) continue;
      backoff.reset();
      if (status.MPI_TAG == tags_.alarm()) {
        abandoned_ = true;
        check(MPI_Mrecv(&alarm_, sizeof alarm_, MPI_BYTE, &message, MPI_STATUS_IGNORE),
              "MPI_Mrecv");
        throwAlarm(status.MPI_SOURCE);
      }
      int count = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
      Bytes dropped;
      try {
        dropped.resize(static_cast<std::size_t>(count));
        check(MPI_Mrecv(dropped.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
      } catch (const std::bad_alloc&) {
        arrivals_->receiveNothing(message);
      }
      ++ledger_.received;
    }
  }

  std::optional<OwnCommunicator> owner_;  // of comm_; freed last
  MPI_Comm comm_;
  Alarm alarm_;  // sent and received without an allocation
  bool abandoned_ = false;
  bool closed_ = false;
  double alarmLook_ = 0;
  std::vector<std::int64_t> sentToMe_;  // outlives a drain() that an alarm ends
  int rank_;
  OwnMessages own_;
  int lastSource_ = -1;
  int size_ = 1;
  std::size_t largestPart_;
  MpiTags tags_;
  std::vector<MPI_Request> requests_;
  std::vector<Owner> owners_;         // of requests_, one each
  std::vector<int> finished_;         // room for requests_
  std::vector<MPI_Status> statuses_;  // likewise
  MpiLedger ledger_;
  std::optional<MpiArrivals> arrivals_;
};

}  // namespace

std::unique_ptr<Transport> makeMpiTransport(MPI_Comm comm, std::size_t largestPart) {
  int initialized = 0;
  int finalized = 0;
  checkMpi(MPI_Initialized(&initialized), "MPI_Initialized", std::nullopt);
  checkMpi(MPI_Finalized(&finalized), "MPI_Finalized", std::nullopt);
  if (!initialized || finalized) {
    throw Error(
        "an MPI transport needs MPI between MPI_Init and MPI_Finalize: call MPI_Init first");
  }
  OwnCommunicator own(comm);
  int rank = 0;
  std::unique_ptr<MpiTransport> transport;
  std::exception_ptr failure;
  try {
    rank = own.open();
    transport = std::make_unique<MpiTransport>(own, rank, largestPart);
  } catch (...) {
    failure = std::current_exception();
  }
  agreeOnTransport(own, rank, failure);
  transport->adopt(std::move(own));
  return transport;
}

}  // namespace tributary
