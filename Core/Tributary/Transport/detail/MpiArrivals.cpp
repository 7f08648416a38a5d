// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Transport/detail/MpiArrivals.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

// With more bytes arriving, a receiver matches no further messages until some have arrived.
constexpr std::size_t MostArriving = std::size_t(256) << 20;

/// Whether there is memory for so many bytes, which are allocated then.
bool tryAllocate(Bytes& bytes, std::uint64_t size) {
  try {
    bytes.resize(static_cast<std::size_t>(size));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

MpiArrivals::MpiArrivals(MPI_Comm comm, int rank, int size, const MpiTags& tags, MpiLedger& ledger)
    : comm_(comm),
      rank_(rank),
      tags_(tags),
      ledger_(ledger),
      arrivingFrom_(static_cast<std::size_t>(size), 0),
      blockedBy_(static_cast<std::size_t>(size), 0) {}

std::optional<Envelope> MpiArrivals::tryReceive(Topic topic, Session session) {
  std::size_t arriving = 0;
  if (!arrivals_.empty()) {
    if (auto envelope = takeArrival(topic, session, arriving)) return envelope;
  }
  while (arriving <= MostArriving) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, tags_.of(topic, session), comm_, &found, &message, &status),
          "MPI_Improbe");
    if (!found) return std::nullopt;
    if (auto envelope = receive(message, status, topic, session)) return envelope;
    const auto arrival = std::prev(arrivals_.end());
    arriving += arrival->bytes.size();
    const bool isNext = arrivingFrom_[static_cast<std::size_t>(arrival->source)] == 1;
    if (isNext && complete(*arrival)) return take(arrival);
  }
  return std::nullopt;
}

bool MpiArrivals::receiving(Topic topic, Session session) const {
  return std::any_of(arrivals_.begin(), arrivals_.end(),
                     [&](const Arrival& a) { return a.topic == topic && a.session == session; });
}

void MpiArrivals::allocate(Arrival& arrival, std::uint64_t size) const {
  if (!tryAllocate(arrival.bytes, size)) arrival.lost = noMemoryFor(size, arrival.source);
}

std::string MpiArrivals::noMemoryFor(std::uint64_t size, int source) const {
  return "rank " + std::to_string(rank_) + " has no memory for a message of " +
         std::to_string(size) + " bytes from rank " + std::to_string(source);
}

std::optional<Envelope> MpiArrivals::receive(MPI_Message& message, const MPI_Status& status,
                                             Topic topic, Session session) {
  int count = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
  ++ledger_.received;
  const int source = status.MPI_SOURCE;
  if (count > LargestBlockingReceive) {
    Arrival& arrival = addArrival(source, topic, session);
    reserveRequests(arrival, 1);
    arrival.trailer = true;
    allocate(arrival, static_cast<std::uint64_t>(count));
    if (!arrival.lost.empty()) {
      receiveNothing(message);
      return std::nullopt;
    }
    arrival.requests.push_back(MPI_REQUEST_NULL);
    check(MPI_Imrecv(arrival.bytes.data(), count, MPI_BYTE, &message, &arrival.requests.back()),
          "MPI_Imrecv");
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(count);
  Bytes bytes;
  const bool lost = !tryAllocate(bytes, size);
  // What has been matched must be received all the same.
  std::byte* const buffer = lost ? spare_.data() : bytes.data();
  check(MPI_Mrecv(buffer, count, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  if (size == 0) refuseMessage("empty on the transport's own communicator");
  const std::byte kind = buffer[size - 1];
  if (kind == Announcement) {
    receiveParts({buffer, size - 1}, source, topic, session);
    return std::nullopt;
  }
  if (kind != WholeMessage) refuseMessage("unknown kind");
  if (lost) throw LostMessage(source, noMemoryFor(size - 1, source));
  bytes.pop_back();
  const bool overtakes = arrivingFrom_[static_cast<std::size_t>(source)] > 0 &&
                         std::any_of(arrivals_.begin(), arrivals_.end(), [&](const Arrival& a) {
                           return a.source == source && a.topic == topic && a.session == session;
                         });
  if (!overtakes) return Envelope{source, std::move(bytes)};
  addArrival(source, topic, session).bytes = std::move(bytes);
  return std::nullopt;
}

MpiArrivals::Arrival& MpiArrivals::addArrival(int source, Topic topic, Session session) {
  arrivals_.emplace_back();
  Arrival& arrival = arrivals_.back();
  arrival.source = source;
  arrival.topic = topic;
  arrival.session = session;
  ++arrivingFrom_[static_cast<std::size_t>(source)];
  return arrival;
}

void MpiArrivals::reserveRequests(Arrival& arrival, std::size_t count) {
  arrival.requests.reserve(count);
  if (statuses_.size() < count) statuses_.resize(count);
}

void MpiArrivals::receiveParts(Span<const std::byte> announcement, int source, Topic topic,
                               Session session) {
  const auto lengths = Reader(announcement).value<MessageLengths>();
  if (lengths.part < 1 || lengths.part > LargestPart || lengths.tail > lengths.part ||
      lengths.data > ~std::uint64_t(0) - lengths.tail) {
    refuseMessage("parts of " + std::to_string(lengths.part) + " bytes and a tail of " +
                  std::to_string(lengths.tail));
  }
  Arrival& arrival = addArrival(source, topic, session);
  reserveRequests(arrival, static_cast<std::size_t>(lengths.data / lengths.part) + std::size_t(2));
  allocate(arrival, lengths.data + lengths.tail);
  const int tag = tags_.of(topic, session, true);
  const bool lost = !arrival.lost.empty();
  const auto receivePart = [&](std::uint64_t offset, std::uint64_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(lost ? nullptr : arrival.bytes.data() + offset,
                    lost ? 0 : static_cast<int>(size), MPI_BYTE, source, tag, comm_, &request),
          "MPI_Irecv");
    ++ledger_.received;
    if (lost) {
      forget(request);
    } else {
      arrival.requests.push_back(request);
    }
  };
  for (std::uint64_t offset = 0; offset < lengths.data; offset += lengths.part) {
    receivePart(offset, std::min(lengths.part, lengths.data - offset));
  }
  if (lengths.tail > 0) receivePart(lengths.data, lengths.tail);
}

void MpiArrivals::receiveNothing(MPI_Message& message) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Imrecv(nullptr, 0, MPI_BYTE, &message, &request), "MPI_Imrecv");
  forget(request);
}

void MpiArrivals::forget(MPI_Request& request) const {
  check(MPI_Request_free(&request), "MPI_Request_free");
}

std::optional<Envelope> MpiArrivals::takeArrival(Topic topic, Session session,
                                                 std::size_t& arriving) {
  ++scans_;
  arriving = 0;
  for (auto arrival = arrivals_.begin(); arrival != arrivals_.end(); ++arrival) {
    if (arrival->topic != topic || arrival->session != session) continue;
    std::int64_t& blocked = blockedBy_[static_cast<std::size_t>(arrival->source)];
    if (blocked != scans_ && complete(*arrival)) return take(arrival);
    blocked = scans_;
    arriving += arrival->bytes.size();
  }
  return std::nullopt;
}

Envelope MpiArrivals::take(std::list<Arrival>::iterator place) {
  Arrival arrival = std::move(*place);
  arrivals_.erase(place);
  --arrivingFrom_[static_cast<std::size_t>(arrival.source)];
  if (!arrival.lost.empty()) throw LostMessage(arrival.source, arrival.lost);
  if (arrival.trailer) {
    if (arrival.bytes.back() != WholeMessage) refuseMessage("unknown kind");
    arrival.bytes.pop_back();
  }
  return Envelope{arrival.source, std::move(arrival.bytes)};
}

bool MpiArrivals::complete(Arrival& arrival) {
  if (arrival.requests.empty()) return true;
  int flag = 0;
  const int code = MPI_Testall(static_cast<int>(arrival.requests.size()), arrival.requests.data(),
                               &flag, statuses_.data());
  check(codeOfRequest(code, {statuses_.data(), arrival.requests.size()}), "MPI_Testall");
  if (flag) arrival.requests.clear();
  return flag != 0;
}

void MpiArrivals::dropComplete() {
  arrivals_.remove_if([&](Arrival& arrival) { return complete(arrival); });
}

}  // namespace tributary::detail
