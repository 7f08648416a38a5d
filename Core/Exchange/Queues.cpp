#include "Tributary/Exchange/Queues.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace tributary {

namespace {

// A callback may run long: the hold time is looked at with every eighth message that it sends.
constexpr unsigned MessagesPerClock = 8;

// A flood of messages must not keep a turn from ending.
constexpr int BatchesPerTurn = 256;

// More than these need no reuse: a rank that has so many sends under way is not short of buffers.
constexpr std::size_t SpareBuffers = 64;

}  // namespace

Queues::Queues(Transport& transport, Session session, const Assignment& assignment,
               const ExchangeOptions& options, Detector& detector, SendMode mode,
               ExchangeStatistics& statistics)
    : transport_(transport),
      session_(session),
      assignment_(assignment),
      options_(options),
      detector_(detector),
      mode_(mode),
      statistics_(statistics),
      first_(assignment.first(transport.rank())),
      last_(assignment.first(transport.rank() + 1)),
      inboxes_(static_cast<std::size_t>(last_ - first_)),
      outgoing_(static_cast<std::size_t>(transport.size())) {}

void Queues::wake(BlockId block) {
  if (inbox(block).arrived() == 1) woken_.push_back(static_cast<std::int32_t>(block - first_));
}

void Queues::enqueue(BlockId from, BlockId to, const void* data, std::size_t size) {
  if (to >= first_ && to < last_) {
    ++statistics_.localDeliveries;
    ++traffic_;
    touched_ = true;
    inbox(to).add(from, data, size);
    wake(to);
    return;
  }
  const int destination = assignment_.rankOf(to);
  Outgoing& outgoing = open(destination);
  const std::size_t old = outgoing.payload.size();
  outgoing.payload.resize(old + paddedPayload(size));
  if (size > 0) std::memcpy(outgoing.payload.data() + old, data, size);
  outgoing.records.push_back({from, to, static_cast<std::int64_t>(size)});
  grown(destination, outgoing);
}

void Queues::enqueue(BlockId from, BlockId to, Bytes&& payload) {
  if (to >= first_ && to < last_) {
    ++statistics_.localDeliveries;
    ++traffic_;
    touched_ = true;
    inbox(to).add(from, std::move(payload));
    wake(to);
    return;
  }
  if (payload.size() < std::max(options_.batchBytes, Inbox::Large)) {
    enqueue(from, to, payload.data(), payload.size());
    return;
  }
  // A batch of its own around the caller's buffer, after what was enqueued before it.
  const int destination = assignment_.rankOf(to);
  if (!outgoing_[static_cast<std::size_t>(destination)].records.empty()) {
    send(destination, BatchKind::Messages);
  }
  Outgoing& outgoing = open(destination);
  const auto size = payload.size();
  payload.resize(paddedPayload(size));
  outgoing.payload = std::move(payload);
  outgoing.records.push_back({from, to, static_cast<std::int64_t>(size)});
  grown(destination, outgoing);
}

Queues::Outgoing& Queues::open(int destination) {
  Outgoing& outgoing = outgoing_[static_cast<std::size_t>(destination)];
  if (outgoing.records.empty()) {
    outgoing.since = transport_.now();
    open_.push_back(destination);
    if (outgoing.payload.capacity() == 0 && !spare_.empty()) {
      outgoing.payload = std::move(spare_.back());
      spare_.pop_back();
      outgoing.payload.clear();
    }
  }
  return outgoing;
}

void Queues::grown(int destination, Outgoing& outgoing) {
  touched_ = true;
  const std::size_t bytes = outgoing.payload.size() + outgoing.records.size() * sizeof(BatchRecord);
  const bool due = ++enqueued_ % MessagesPerClock == 0 &&
                   transport_.now() - outgoing.since >= options_.holdSeconds;
  if (bytes >= options_.batchBytes || due) {
    send(destination, BatchKind::Messages);
    // Large messages need the sender's help to get on their way, and the callback may go on for
    // long.
    transport_.poll();
  }
}

void Queues::send(int destination, BatchKind kind) {
  Outgoing& outgoing = outgoing_[static_cast<std::size_t>(destination)];
  if (!outgoing.records.empty()) {
    open_.erase(std::find(open_.begin(), open_.end(), destination));
    ++statistics_.batches;
    statistics_.messages += static_cast<std::int64_t>(outgoing.records.size());
    for (const BatchRecord& record : outgoing.records) statistics_.bytes += record.size;
    traffic_ += static_cast<std::int64_t>(outgoing.records.size());
  }
  const BatchFooter footer{static_cast<std::int64_t>(outgoing.records.size()), round_, kind};
  append(outgoing.payload, outgoing.records.data(), outgoing.records.size() * sizeof(BatchRecord));
  append(outgoing.payload, &footer, sizeof footer);
  outgoing.records.clear();
  const std::size_t bytes = outgoing.payload.size();
  detector_.sent(destination);
  sends_.push_back({transport_.send(destination, Channel::Work, session_, mode_,
                                    std::exchange(outgoing.payload, Bytes())),
                    bytes, destination});
  touched_ = true;
  inFlightBytes_ += bytes;
  statistics_.peakInFlightBytes =
      std::max(statistics_.peakInFlightBytes, static_cast<std::int64_t>(inFlightBytes_));
}

void Queues::sendRemark(int destination, BatchKind kind) {
  send(destination, kind);
}

void Queues::flushDue(double now) {
  for (std::size_t i = 0; i < open_.size();) {
    const int destination = open_[i];
    if (now - outgoing_[static_cast<std::size_t>(destination)].since >= options_.holdSeconds) {
      send(destination, BatchKind::Messages);
    } else {
      ++i;
    }
  }
}

void Queues::flushAll() {
  while (!open_.empty()) send(open_.front(), BatchKind::Messages);
}

bool Queues::retire() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    if (sends_[i].send.done()) {
      inFlightBytes_ -= sends_[i].bytes;
      Bytes buffer = sends_[i].send.takeBuffer();
      if (spare_.size() < SpareBuffers && buffer.capacity() <= 2 * options_.batchBytes) {
        spare_.push_back(std::move(buffer));
      }
    } else {
      if (kept != i) sends_[kept] = std::move(sends_[i]);
      ++kept;
    }
  }
  const bool any = kept != sends_.size();
  sends_.resize(kept);
  return any;
}

int Queues::receive(const BatchHook& hook) {
  int batches = 0;
  while (batches < BatchesPerTurn) {
    auto envelope = transport_.tryReceive(Channel::Work, session_);
    if (!envelope) break;
    ++batches;
    touched_ = true;
    detector_.received(envelope->source);
    if (dropping_) continue;
    const BatchReader batch(envelope->bytes, assignment_, envelope->source, transport_.rank());
    if (hook(envelope->source, batch.footer())) {
      deliver(std::move(envelope->bytes), batch);
    } else {
      kept_.push_back({envelope->source, std::move(envelope->bytes)});
    }
  }
  return batches;
}

void Queues::deliver(Bytes&& bytes, const BatchReader& batch) {
  const std::size_t count = batch.size();
  statistics_.received += static_cast<std::int64_t>(count);
  traffic_ += static_cast<std::int64_t>(count);
  if (count == 1 && static_cast<std::size_t>(batch.record(0).size) >= Inbox::Large) {
    const BatchRecord record = batch.record(0);
    bytes.resize(static_cast<std::size_t>(record.size));
    inbox(record.to).add(record.from, std::move(bytes));
    wake(record.to);
    return;
  }
  const std::byte* payload = bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    const BatchRecord record = batch.record(i);
    inbox(record.to).add(record.from, payload, static_cast<std::size_t>(record.size));
    wake(record.to);
    payload += paddedPayload(static_cast<std::size_t>(record.size));
  }
}

void Queues::deliverKept() {
  for (Kept& kept : std::exchange(kept_, {})) {
    const BatchReader batch(kept.bytes, assignment_, kept.source, transport_.rank());
    deliver(std::move(kept.bytes), batch);
  }
}

bool Queues::quiet() const {
  return open_.empty() && sends_.empty() && kept_.empty() && !receiving();
}

void Queues::drop() {
  dropping_ = true;
  for (Inbox& inbox : inboxes_) inbox.clear();
  for (const int destination : open_) {
    Outgoing& outgoing = outgoing_[static_cast<std::size_t>(destination)];
    outgoing.payload.clear();
    outgoing.records.clear();
  }
  open_.clear();
  kept_.clear();
  woken_.clear();
}

std::string Queues::describe() const {
  std::set<int> destinations;
  for (const Sending& sending : sends_) destinations.insert(sending.destination);
  std::string text = std::to_string(sends_.size()) + " unfinished sends of " +
                     std::to_string(inFlightBytes_) + " bytes";
  int listed = 0;
  for (const int destination : destinations) {
    if (listed == 8) {
      text += " ...";
      break;
    }
    text += (listed++ == 0 ? " to ranks " : " ") + std::to_string(destination);
  }
  if (!open_.empty()) text += ", " + std::to_string(open_.size()) + " batches not sent";
  if (receiving()) text += ", a message half received";
  if (!kept_.empty()) text += ", " + std::to_string(kept_.size()) + " batches of a later round";
  return text;
}

}  // namespace tributary
