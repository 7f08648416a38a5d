// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/Queues.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "Tributary/Exchange/Exchange.h"
#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

namespace {

// Reading the clock costs as much as a message. It is read about LooksPerHold times in a hold time,
// and at least once in MostMessagesPerClock messages, because a callback may run for long.
constexpr double LooksPerHold = 4;
constexpr double MostMessagesPerClock = 64;

// The share of the hold time for which the batch after an immediate one is held.
constexpr double FirstHold = 1.0 / 8;

// Limits the length of a turn.
constexpr int BatchesPerTurn = 256;

// The first buffer of a stream, and the largest that is kept between batches.
constexpr std::size_t FirstBuffer = 1 << 10;
constexpr std::size_t KeptBuffer = 4 << 10;

// Larger messages are sent as a batch of their own, whatever the limit of a batch.
constexpr std::size_t LargestInBatch = std::size_t(1) << 30;

constexpr int FirstSlotBits = 4;
constexpr int MostSlotBits = 16;

}  // namespace

Queues::Queues(Transport& transport, Session session, const Assignment& assignment,
               const ExchangeOptions& options, Detector* detector, SendMode mode,
               ExchangeStatistics& statistics)
    : transport_(transport),
      session_(session),
      assignment_(assignment),
      detector_(detector),
      mode_(mode),
      statistics_(statistics),
      batchBytes_(options.batchBytes),
      wholeBytes_(std::min(std::max(batchBytes_, Inbox::Large), LargestInBatch)),
      longestHold_(options.holdTime / 1e6),
      hold_(longestHold_),
      mostInFlight_(options.inFlightBytes),
      first_(assignment.first(transport.rank())),
      slots_(std::size_t(1) << FirstSlotBits, Slot{0, &nowhere_}),
      slotShift_(64 - FirstSlotBits) {
  const auto count = static_cast<std::size_t>(assignment.count(transport.rank()));
  inboxes_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) inboxes_.emplace_back(pool_);
}

Inbox& Queues::wake(BlockId block) {
  const std::uint64_t index = localIndex(block);
  if (inboxes_[index].arrived() == 0) {
    woken_.push_back(static_cast<std::int32_t>(index));
    ++traffic_;
  }
  return inboxes_[index];
}

void Queues::deliver(BlockId from, BlockId to, const void* data, std::size_t size) {
  wake(to).add(from, data, size);
}

void Queues::enqueue(BlockId from, BlockId to, Bytes&& payload) {
  if (localIndex(to) < inboxes_.size()) {
    wake(to).add(from, std::move(payload));
    ++statistics_.localDeliveries;
    return;
  }
  const std::size_t size = payload.size();
  if (size < wholeBytes_) {
    enqueue(from, to, payload.data(), size);
    return;
  }
  // Send the caller's buffer as a batch of its own, after the messages enqueued before it.
  Destination& destination = destinationOf(assignment_.rankOf(to));
  if (!destination.open.empty()) send(destination, BatchKind::Messages);
  ++statistics_.batches;
  ++statistics_.messages;
  statistics_.bytes += static_cast<std::int64_t>(size);
  const WholeRecord record{from, to, size};
  tributary::append(payload, &record, sizeof record);
  start(destination.rank, std::move(payload), BatchKind::Messages, BatchLayout::Whole);
  transport_.poll();
}

Queues::Destination& Queues::destinationOf(int rank) {
  Destination& destination = destinations_[rank];
  destination.rank = rank;
  return destination;
}

void Queues::open(Destination& destination) {
  destination.since = transport_.now();
  open_.push_back(&destination);
}

Queues::Stream& Queues::streamOf(BlockId to) {
  const Slot& slot = slots_[slotOf(to)];
  if (slot.to == to && slot.stream->destination) return *slot.stream;
  Stream& stream = streams_[to];
  if (!stream.destination) {
    stream.destination = &destinationOf(assignment_.rankOf(to));
    stream.to = to;
    if (streams_.size() > slots_.size() && 64 - slotShift_ < MostSlotBits) {
      slots_.assign(2 * slots_.size(), Slot{0, &nowhere_});
      --slotShift_;
    }
  }
  slots_[slotOf(to)] = {to, &stream};
  return stream;
}

void Queues::append(BlockId from, BlockId to, const void* data, std::size_t size) {
  if (size >= wholeBytes_) {
    Bytes payload;
    payload.reserve(size + RunWriter::Tail);
    tributary::append(payload, data, size);
    enqueue(from, to, std::move(payload));
    return;
  }
  Stream& stream = streamOf(to);
  Destination& destination = *stream.destination;
  if (stream.writer.empty()) {
    if (destination.open.empty()) open(destination);
    destination.open.push_back(&stream);
    destination.bytes += sizeof(SectionHeader);
  }
  const std::size_t before = stream.writer.bytes();
  makeRoom(stream, size + RunWriter::Overhead);
  if (!stream.writer.tryAdd(from, data, size)) stream.writer.addRun(from, data, size);
  destination.bytes += stream.writer.bytes() - before;
  if (destination.bytes >= batchBytes_ || --untilClock_ <= 0) grown(destination);
}

void Queues::makeRoom(Stream& stream, std::size_t bytes) {
  RunWriter& writer = stream.writer;
  if (writer.room() >= bytes) return;
  const std::size_t used = sizeof(SectionHeader) + writer.bytes();
  const std::size_t capacity =
      std::max({2 * writer.capacity(), FirstBuffer, used + bytes + RunWriter::Tail});
  if (writer.capacity() == 0) {
    writer.begin(pool_.take(capacity));
  } else {
    Bytes larger = pool_.take(capacity);
    larger.resize(used);
    pool_.give(writer.moveTo(std::move(larger)));
  }
}

void Queues::grown(Destination& destination) {
  const bool full = destination.bytes >= batchBytes_;
  if (full) send(destination, BatchKind::Messages);
  const std::int64_t before = statistics_.batches;
  if (untilClock_ <= 0) lookAtClock();
  // Large messages need progress by the sender, and the callback may run for long.
  if (full || statistics_.batches != before) transport_.poll();
}

void Queues::lookAtClock() {
  const double now = transport_.now();
  const double passed = std::max(now - clockAt_, 1e-9);
  messagesPerClock_ = static_cast<int>(
      std::clamp(messagesPerClock_ * (hold_ / LooksPerHold / passed), 1.0, MostMessagesPerClock));
  untilClock_ = messagesPerClock_;
  clockAt_ = now;
  flushDue(now);
}

Bytes Queues::gather(Destination& destination) {
  Bytes batch;
  const auto header = [](Stream& stream) {
    return SectionHeader{stream.to, stream.writer.bytes(), stream.writer.messages()};
  };
  if (destination.open.size() == 1) {
    Stream& stream = *destination.open.front();
    const SectionHeader section = header(stream);
    batch = stream.writer.take();
    std::memcpy(batch.data(), &section, sizeof section);
    return batch;
  }
  batch = pool_.take(destination.bytes + RunWriter::Tail);
  for (Stream* stream : destination.open) {
    const SectionHeader section = header(*stream);
    tributary::append(batch, &section, sizeof section);
    tributary::append(batch, stream->writer.data(), section.bytes);
    if (stream->writer.capacity() <= KeptBuffer) {
      stream->writer.restart();
    } else {
      pool_.give(stream->writer.take());
    }
  }
  return batch;
}

void Queues::send(Destination& destination, BatchKind kind) {
  if (destination.open.empty()) {
    start(destination.rank, Bytes(), kind, BatchLayout::Sections);
    return;
  }
  ++statistics_.batches;
  for (Stream* stream : destination.open) {
    statistics_.messages += static_cast<std::int64_t>(stream->writer.messages());
    statistics_.bytes += static_cast<std::int64_t>(stream->writer.payloadBytes());
  }
  Bytes batch = gather(destination);
  close(destination);
  start(destination.rank, std::move(batch), kind, BatchLayout::Sections);
}

void Queues::close(Destination& destination) {
  open_.erase(std::find(open_.begin(), open_.end(), &destination));
  destination.open.clear();
  destination.bytes = 0;
}

void Queues::start(int rank, Bytes&& batch, BatchKind kind, BatchLayout layout) {
  const BatchFooter footer{round_, kind, layout};
  tributary::append(batch, &footer, sizeof footer);
  const std::size_t bytes = batch.size();
  ++traffic_;
  touched_ = true;
  if (detector_ != nullptr) detector_->sent(rank);
  sends_.push_back(
      {transport_.send(rank, Topic::Work, session_, mode_, std::move(batch)), bytes, rank});
  inFlightBytes_ += bytes;
  statistics_.peakInFlightBytes =
      std::max(statistics_.peakInFlightBytes, static_cast<std::int64_t>(inFlightBytes_));
}

void Queues::sendRemark(int destination, BatchKind kind) {
  send(destinationOf(destination), kind);
}

void Queues::flushDue(double now) {
  for (std::size_t i = 0; i < open_.size();) {
    if (now - open_[i]->since >= hold_ * static_cast<double>(open_.size())) {
      send(*open_[i], BatchKind::Messages);
      hold_ = std::min(std::max(2 * hold_, FirstHold * longestHold_), longestHold_);
    } else {
      ++i;
    }
  }
}

void Queues::flushAll() {
  while (!open_.empty()) send(*open_.front(), BatchKind::Messages);
}

bool Queues::retire() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    if (sends_[i].send.done()) {
      inFlightBytes_ -= sends_[i].bytes;
      pool_.give(sends_[i].send.takeBuffer());
    } else {
      if (kept != i) sends_[kept] = std::move(sends_[i]);
      ++kept;
    }
  }
  const bool any = kept != sends_.size();
  sends_.resize(kept);
  return any;
}

void Queues::note(int source) {
  touched_ = true;
  if (detector_ != nullptr) detector_->received(source);
}

int Queues::receive(const BatchHook& hook) {
  int batches = 0;
  while (batches < BatchesPerTurn) {
    std::optional<Envelope> envelope;
    try {
      envelope = transport_.tryReceive(Topic::Work, session_);
    } catch (const LostMessage& lost) {
      // A detector that counts messages would wait for it forever.
      note(lost.source());
      throw;
    }
    if (!envelope) break;
    ++batches;
    note(envelope->source);
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
  statistics_.received += static_cast<std::int64_t>(batch.messages());
  ++traffic_;
  if (batch.footer().layout == BatchLayout::Whole) {
    const WholeRecord record = batch.whole();
    bytes.resize(static_cast<std::size_t>(record.size));
    wake(record.to).add(record.from, std::move(bytes));
    return;
  }
  // Sections may stay in the buffer: moving it to the heap keeps their addresses.
  std::shared_ptr<Bytes> shared;
  batch.forSections([&](const SectionHeader& section, const std::byte* runs) {
    if (section.messages == 0) return;
    if (section.bytes >= Inbox::Large && !shared) shared = std::make_shared<Bytes>();
    wake(section.to)
        .addRuns(shared, runs, static_cast<std::size_t>(section.bytes),
                 static_cast<std::size_t>(section.messages));
  });
  if (shared) {
    *shared = std::move(bytes);
  } else {
    pool_.give(std::move(bytes));
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
  for (Destination* destination : open_) {
    for (Stream* stream : destination->open) stream->writer = RunWriter();
    destination->open.clear();
    destination->bytes = 0;
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
  if (receiving()) text += ", a message received in part";
  if (!kept_.empty()) text += ", " + std::to_string(kept_.size()) + " batches of a later round";
  return text;
}

}  // namespace tributary::detail
