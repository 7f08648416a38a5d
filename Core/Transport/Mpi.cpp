#include "Tributary/Transport/Mpi.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <list>
#include <new>
#include <string>
#include <utility>

#include "Tributary/Error.h"
#include "Tributary/Transport/Clock.h"

namespace tributary {

namespace {

// A message's last byte tells what it is; parts follow their announcement under a tag of their own.
constexpr std::byte Whole{0};
constexpr std::byte Announcement{1};

// Larger messages are announced and sent as they are: adding the last byte could move them.
constexpr std::size_t LargestWhole = 256 << 10;

// Up to here a copy costs less than an announcement.
constexpr std::size_t LargestCopy = 64 << 10;

/// How a message's parts follow: data in parts of one size (the last may be smaller), then its
/// tail.
struct Lengths {
  std::uint64_t data;
  std::uint64_t tail;
  std::uint64_t part;
};
constexpr std::size_t LargestPart = std::size_t(1) << 30;

// Above, a receiver asks for no further messages until some of those under way have arrived.
constexpr std::size_t MostArriving = std::size_t(256) << 20;

// Above, MPI may need the sender's help to complete a receive, and the sender may be computing.
constexpr int LargestBlockingReceive = 4 << 10;

constexpr int Channels = 4;
constexpr int TagsPerSession = 2 * Channels;

[[noreturn]] void throwMpiError(int code, const char* function, int rank) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  throw Error(std::string(function) + " failed on rank " + std::to_string(rank) + " with code " +
              std::to_string(code) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

/// A window of one integer on rank 0, open from the beginning to the end.
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
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  std::int64_t fetchAdd(std::int64_t value) override {
    std::int64_t before = 0;
    check(MPI_Fetch_and_op(&value, &before, MPI_INT64_T, 0, 0, MPI_SUM, window_),
          "MPI_Fetch_and_op");
    check(MPI_Win_flush(0, window_), "MPI_Win_flush");
    return before;
  }

 private:
  void check(int code, const char* function) const {
    if (code != MPI_SUCCESS) throwMpiError(code, function, rank_);
  }

  MPI_Win window_ = MPI_WIN_NULL;
  int rank_;
};

/// A persistent send that was dropped while it was under way.
struct DroppedSend {
  MPI_Request request;
  Bytes bytes;
};

/// What the transport must know of persistent requests to leave nothing behind at its end.
struct PersistentLedger {
  std::vector<std::int64_t> sentTo;  // MPI messages, parts of others included
  std::int64_t received = 0;         // likewise
  std::list<DroppedSend> dropped;
};

class MpiPersistent : public PersistentRequest {
 public:
  /// Takes over a request that was made for `buffer()`.
  MpiPersistent(PersistentLedger& ledger, int rank, int peer, bool sends, std::size_t size)
      : PersistentRequest(size), ledger_(ledger), rank_(rank), peer_(peer), sends_(sends) {}
  ~MpiPersistent() override {
    if (started_ && sends_) {
      ledger_.dropped.push_back({request_, std::move(buffer_)});
      return;
    }
    if (started_) {
      try {
        cancel();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "Tributary: while taking back a receive: %s\n", error.what());
      }
    }
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }

  MPI_Request& request() { return request_; }

  void start() override {
    check(MPI_Start(&request_), "MPI_Start");
    started_ = true;
    if (sends_) ++ledger_.sentTo[static_cast<std::size_t>(peer_)];
  }

  bool done() override {
    if (!started_) return true;
    int flag = 0;
    MPI_Status status;
    const int code = MPI_Test(&request_, &flag, &status);
    if (code != MPI_SUCCESS || flag) finished();
    check(code, "MPI_Test");
    if (flag && !sends_) checkSize(status);
    return flag != 0;
  }

  bool cancel() override {
    if (sends_) throw Error("a send cannot be taken back");
    if (!started_) return false;
    started_ = false;
    check(MPI_Cancel(&request_), "MPI_Cancel");
    MPI_Status status;
    check(MPI_Wait(&request_, &status), "MPI_Wait");
    int cancelled = 0;
    check(MPI_Test_cancelled(&status, &cancelled), "MPI_Test_cancelled");
    if (cancelled) return true;
    ++ledger_.received;
    checkSize(status);
    return false;
  }

 private:
  void check(int code, const char* function) const {
    if (code != MPI_SUCCESS) throwMpiError(code, function, rank_);
  }
  void finished() {
    started_ = false;
    if (!sends_) ++ledger_.received;
  }
  void checkSize(const MPI_Status& status) const {
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    checkPersistentSize(static_cast<std::size_t>(count), buffer_.size(), peer_, rank_);
  }

  PersistentLedger& ledger_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  int rank_;
  int peer_;
  bool sends_;
  bool started_ = false;
};

class MpiTransport : public Transport {
 public:
  MpiTransport(MPI_Comm comm, std::size_t largestPart)
      : largestPart_(std::clamp<std::size_t>(largestPart, 1, LargestPart)) {
    check(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    taggedSessions_ = tagged();
    ledger_.sentTo.assign(static_cast<std::size_t>(size_), 0);
    arrivingFrom_.assign(static_cast<std::size_t>(size_), 0);
    blockedBy_.assign(static_cast<std::size_t>(size_), 0);
  }

  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  ~MpiTransport() override {
    try {
      drain();
      check(MPI_Comm_free(&comm_), "MPI_Comm_free");
    } catch (const std::exception& error) {
      std::fprintf(stderr, "Tributary: while closing the MPI transport: %s\n", error.what());
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  double now() const override { return steadySeconds(); }
  void spend(double) override {}
  void relax(double seconds) override { leaveCore(seconds); }
  Session openSession() override { return sessions_++; }

  PendingSend send(int destination, Channel channel, Session session, SendMode mode,
                   Bytes&& bytes) override {
    checkDestination(destination);
    auto operation = std::make_shared<SendOperation>();
    operation->bytes = std::move(bytes);
    if (operation->bytes.size() <= std::min(LargestWhole, largestPart_)) {
      // One more than there are MPI sends until all of them are started.
      operation->unfinished = 1;
      operation->bytes.push_back(Whole);
      operation->trailer = true;
      start(operation, operation->bytes.data(), operation->bytes.size(), destination,
            tagOf(channel, session, false), mode);
      finishPart(*operation);
    } else {
      const Span<const std::byte> data(operation->bytes.data(), operation->bytes.size());
      startParts(operation, destination, channel, session, mode, data);
    }
    return PendingSend(std::move(operation));
  }

  PendingSend sendFrom(int destination, Channel channel, Session session, SendMode mode,
                       Span<const std::byte> data, Span<const std::byte> tail) override {
    if (data.size() <= std::min(LargestCopy, largestPart_) || tail.size() > largestPart_) {
      return Transport::sendFrom(destination, channel, session, mode, data, tail);
    }
    checkDestination(destination);
    auto operation = std::make_shared<SendOperation>();
    append(operation->bytes, tail.data(), tail.size());
    startParts(operation, destination, channel, session, mode, data);
    return PendingSend(std::move(operation));
  }

  std::optional<Envelope> tryReceive(Channel channel, Session session) override {
    std::size_t arriving = 0;
    if (!arrivals_.empty()) {
      if (auto envelope = takeArrival(channel, session, arriving)) return envelope;
    }
    while (arriving <= MostArriving) {
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, tagOf(channel, session, false), comm_, &found, &message,
                        &status),
            "MPI_Improbe");
      if (!found) return std::nullopt;
      if (auto envelope = receive(message, status, channel, session)) return envelope;
      const auto arrival = std::prev(arrivals_.end());
      arriving += arrival->bytes.size();
      const bool isNext = arrivingFrom_[static_cast<std::size_t>(arrival->source)] == 1;
      if (isNext && complete(*arrival)) return take(arrival);
    }
    return std::nullopt;
  }

  bool receiving(Channel channel, Session session) const override {
    return std::any_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& a) {
      return a.channel == channel && a.session == session;
    });
  }

  void poll() override {
    if (requests_.empty()) return;
    finished_.resize(requests_.size());
    int count = 0;
    const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                  finished_.data(), MPI_STATUSES_IGNORE);
    // With an error in one of them, too, these are finished.
    if (count > 0) removeFinished(count);
    check(code, "MPI_Testsome");
  }

  std::unique_ptr<PersistentRequest> persistentSend(int destination, Channel channel,
                                                    Session session, SendMode mode,
                                                    std::size_t size) override {
    checkPersistent(destination, size_, size);
    auto send = std::make_unique<MpiPersistent>(ledger_, rank_, destination, true, size);
    const Span<std::byte> buffer = send->buffer();
    const int count = static_cast<int>(size);
    const int tag = tagOf(channel, session, false);
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

  std::unique_ptr<PersistentRequest> persistentReceive(int source, Channel channel, Session session,
                                                       std::size_t size) override {
    checkPersistent(source, size_, size);
    auto receive = std::make_unique<MpiPersistent>(ledger_, rank_, source, false, size);
    check(MPI_Recv_init(receive->buffer().data(), static_cast<int>(size), MPI_BYTE, source,
                        tagOf(channel, session, false), comm_, &receive->request()),
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
  /// A message that has begun to arrive.
  struct Arrival {
    int source = 0;
    Channel channel = Channel::Work;
    Session session = 0;
    bool trailer = false;
    Bytes bytes;
    std::vector<MPI_Request> requests;
    std::string lost;  // why there are no bytes, and what comes is cut off
  };

  void check(int code, const char* function) const {
    if (code != MPI_SUCCESS) throwMpiError(code, function, rank_);
  }

  /// For one more request, before MPI knows of it: what MPI works on must not be lost for want of
  /// memory.
  void makeRoom() {
    if (requests_.size() == requests_.capacity()) requests_.reserve(2 * requests_.size() + 16);
    if (owners_.size() == owners_.capacity()) owners_.reserve(2 * owners_.size() + 16);
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
    throw Error("unknown reduction");
  }

  /// Sessions share tags again after as many as MPI has tags for, thousands at least and millions
  /// with most MPIs: no rank is so far ahead of another with messages under way.
  int tagOf(Channel channel, Session session, bool part) const {
    return static_cast<int>(session % taggedSessions_) * TagsPerSession +
           static_cast<int>(channel) * 2 + (part ? 1 : 0);
  }
  Session tagged() const {
    void* largest = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(comm_, MPI_TAG_UB, &largest, &found), "MPI_Comm_get_attr");
    return found ? *static_cast<int*>(largest) / TagsPerSession : 32767 / TagsPerSession;
  }

  void checkDestination(int destination) const {
    if (destination >= 0 && destination < size_) return;
    throw Error("send to rank " + std::to_string(destination) + ": the transport has ranks 0 to " +
                std::to_string(size_ - 1));
  }

  /// An announcement, the data in parts, and the operation's bytes if the data is not these.
  void startParts(const std::shared_ptr<SendOperation>& operation, int destination, Channel channel,
                  Session session, SendMode mode, Span<const std::byte> data) {
    const bool own = data.data() == operation->bytes.data();
    const Bytes& tail = operation->bytes;
    const Lengths lengths = {data.size(), own ? 0 : tail.size(), largestPart_};
    operation->unfinished = 1;
    append(operation->announcement, &lengths, sizeof lengths);
    operation->announcement.push_back(Announcement);
    start(operation, operation->announcement.data(), operation->announcement.size(), destination,
          tagOf(channel, session, false), mode);
    const int tag = tagOf(channel, session, true);
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
      // A small one is mostly finished by now, and need not be looked for in each poll.
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

  /// Makes room for a message that begins to arrive, or notes that there is none. It is received
  /// all the same, cut off, so that its sender finishes; and without an address: where processes
  /// read each other's memory, Open MPI 4 was seen to ask for all of it there.
  void allocate(Arrival& arrival, std::uint64_t size) const {
    try {
      arrival.bytes.resize(static_cast<std::size_t>(size));
    } catch (const std::exception&) {
      arrival.lost = "rank " + std::to_string(rank_) + " has no memory for a message of " +
                     std::to_string(size) + " bytes from rank " + std::to_string(arrival.source);
    }
  }

  /// Receives a matched message; one that cannot be finished at once becomes the last of arrivals_.
  std::optional<Envelope> receive(MPI_Message& message, const MPI_Status& status, Channel channel,
                                  Session session) {
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    ++ledger_.received;
    if (count < 1) throw Error("malformed message: empty on the transport's own communicator");
    const int source = status.MPI_SOURCE;
    if (count > LargestBlockingReceive) {
      Arrival& arrival = addArrival(source, channel, session);
      arrival.requests.push_back(MPI_REQUEST_NULL);
      arrival.trailer = true;
      allocate(arrival, static_cast<std::uint64_t>(count));
      const bool lost = !arrival.lost.empty();
      check(MPI_Imrecv(lost ? nullptr : arrival.bytes.data(), lost ? 0 : count, MPI_BYTE, &message,
                       &arrival.requests.back()),
            "MPI_Imrecv");
      return std::nullopt;
    }
    Bytes bytes(static_cast<std::size_t>(count));
    check(MPI_Mrecv(bytes.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
    const std::byte kind = bytes.back();
    bytes.pop_back();
    if (kind == Announcement) {
      receiveParts(bytes, source, channel, session);
      return std::nullopt;
    }
    if (kind != Whole) throw Error("malformed message: unknown kind");
    const bool overtakes =
        arrivingFrom_[static_cast<std::size_t>(source)] > 0 &&
        std::any_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& a) {
          return a.source == source && a.channel == channel && a.session == session;
        });
    if (!overtakes) return Envelope{source, std::move(bytes)};
    addArrival(source, channel, session).bytes = std::move(bytes);
    return std::nullopt;
  }

  Arrival& addArrival(int source, Channel channel, Session session) {
    arrivals_.emplace_back();
    Arrival& arrival = arrivals_.back();
    arrival.source = source;
    arrival.channel = channel;
    arrival.session = session;
    ++arrivingFrom_[static_cast<std::size_t>(source)];
    return arrival;
  }

  void receiveParts(const Bytes& announcement, int source, Channel channel, Session session) {
    const auto lengths = Reader(announcement).value<Lengths>();
    if (lengths.part < 1 || lengths.part > LargestPart || lengths.tail > lengths.part ||
        lengths.data > ~std::uint64_t(0) - lengths.tail) {
      throw Error("malformed message: parts of " + std::to_string(lengths.part) +
                  " bytes and a tail of " + std::to_string(lengths.tail));
    }
    Arrival& arrival = addArrival(source, channel, session);
    arrival.requests.reserve(static_cast<std::size_t>(lengths.data / lengths.part) +
                             std::size_t(2));
    allocate(arrival, lengths.data + lengths.tail);
    const int tag = tagOf(channel, session, true);
    const auto receivePart = [&](std::uint64_t offset, std::uint64_t size) {
      const bool lost = !arrival.lost.empty();
      arrival.requests.push_back(MPI_REQUEST_NULL);
      check(MPI_Irecv(lost ? nullptr : arrival.bytes.data() + offset,
                      lost ? 0 : static_cast<int>(size), MPI_BYTE, source, tag, comm_,
                      &arrival.requests.back()),
            "MPI_Irecv");
      ++ledger_.received;
    };
    for (std::uint64_t offset = 0; offset < lengths.data; offset += lengths.part) {
      receivePart(offset, std::min(lengths.part, lengths.data - offset));
    }
    if (lengths.tail > 0) receivePart(lengths.data, lengths.tail);
  }

  /// The oldest complete arrival that no incomplete one of the same source precedes.
  /// @param arriving  becomes the bytes of those under way, if there is none
  std::optional<Envelope> takeArrival(Channel channel, Session session, std::size_t& arriving) {
    ++scans_;
    arriving = 0;
    for (auto arrival = arrivals_.begin(); arrival != arrivals_.end(); ++arrival) {
      if (arrival->channel != channel || arrival->session != session) continue;
      std::int64_t& blocked = blockedBy_[static_cast<std::size_t>(arrival->source)];
      if (blocked != scans_ && complete(*arrival)) return take(arrival);
      blocked = scans_;
      arriving += arrival->bytes.size();
    }
    return std::nullopt;
  }

  /// @pre complete
  Envelope take(std::list<Arrival>::iterator place) {
    Arrival arrival = std::move(*place);
    arrivals_.erase(place);
    --arrivingFrom_[static_cast<std::size_t>(arrival.source)];
    if (!arrival.lost.empty()) throw LostMessage(arrival.source, arrival.lost);
    if (arrival.trailer) {
      if (arrival.bytes.back() != Whole) throw Error("malformed message: unknown kind");
      arrival.bytes.pop_back();
    }
    return Envelope{arrival.source, std::move(arrival.bytes)};
  }

  bool complete(Arrival& arrival) const {
    if (arrival.requests.empty()) return true;
    int flag = 0;
    if (arrival.lost.empty()) {
      check(MPI_Testall(static_cast<int>(arrival.requests.size()), arrival.requests.data(), &flag,
                        MPI_STATUSES_IGNORE),
            "MPI_Testall");
    } else {
      flag = 1;
      for (MPI_Request& request : arrival.requests) {
        int finished = 0;
        const int code = MPI_Test(&request, &finished, MPI_STATUS_IGNORE);
        if (!isTruncated(code)) check(code, "MPI_Test");
        if (request != MPI_REQUEST_NULL) flag = 0;
      }
    }
    if (flag) arrival.requests.clear();
    return flag != 0;
  }

  bool complete(DroppedSend& send) const {
    int flag = 0;
    check(MPI_Test(&send.request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (flag) check(MPI_Request_free(&send.request), "MPI_Request_free");
    return flag != 0;
  }

  /// Whether more has come than there was room for, where that is known.
  static bool isTruncated(int code) {
    int kind = MPI_SUCCESS;
    return code != MPI_SUCCESS && MPI_Error_class(code, &kind) == MPI_SUCCESS &&
           kind == MPI_ERR_TRUNCATE;
  }

  /// Receives what others sent and nobody asked for, then finishes this rank's sends.
  void drain() {
    std::vector<std::int64_t> sentToMe(static_cast<std::size_t>(size_), 0);
    check(
        MPI_Alltoall(ledger_.sentTo.data(), 1, MPI_INT64_T, sentToMe.data(), 1, MPI_INT64_T, comm_),
        "MPI_Alltoall");
    std::int64_t expected = 0;
    for (const auto count : sentToMe) expected += count;
    Patience patience;
    while (ledger_.received < expected || !requests_.empty() || !arrivals_.empty() ||
           !ledger_.dropped.empty()) {
      patience.rest(*this);
      arrivals_.remove_if([&](Arrival& arrival) { return complete(arrival); });
      ledger_.dropped.remove_if([&](DroppedSend& send) { return complete(send); });
      poll();
      int found = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &found, &message, &status),
            "MPI_Improbe");
      if (!found) continue;
      patience.reset();
      int count = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
      Bytes dropped;
      try {
        dropped.resize(static_cast<std::size_t>(count));
      } catch (const std::bad_alloc&) {
        count = 0;  // its sender must get rid of it all the same
      }
      const int code = MPI_Mrecv(dropped.data(), count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      if (!isTruncated(code)) check(code, "MPI_Mrecv");
      ++ledger_.received;
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  std::size_t largestPart_;
  Session taggedSessions_ = 1;
  Session sessions_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Owner> owners_;  // of requests_, one each
  std::vector<int> finished_;
  std::list<Arrival> arrivals_;
  std::vector<std::int64_t> arrivingFrom_;  // how many of arrivals_, by source
  std::vector<std::int64_t> blockedBy_;     // the last scan that met an incomplete one, by source
  std::int64_t scans_ = 0;
  PersistentLedger ledger_;
};

}  // namespace

std::unique_ptr<Transport> makeMpiTransport(MPI_Comm comm, std::size_t largestPart) {
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized) {
    throw Error("an MPI transport needs MPI between MPI_Init and MPI_Finalize");
  }
  return std::make_unique<MpiTransport>(comm, largestPart);
}

}  // namespace tributary
