// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/OrderedDouble.h"
#include "Tributary/Collective/Agree.h"

namespace tributary {

namespace {

std::vector<std::int64_t> wait(Transport& transport, const PendingReduce& reduce) {
  Backoff backoff;
  while (true) {
    transport.poll();
    if (reduce.done()) return reduce.result();
    backoff.pause(transport);
  }
}

/// The messages of one session, by source. A rank sends each other rank at most one message at a
/// time. A lost message is noted as an error and delivered empty.
class Post {
 public:
  Post(Transport& transport, ErrorCollector& errors)
      : transport_(transport), errors_(errors), session_(transport.openSession()) {}

  void send(int destination, SendMode mode, Bytes&& bytes) {
    sends_.push_back(transport_.send(destination, Topic::Setup, session_, mode, std::move(bytes)));
  }
  /// Reserves memory for a number of sends, so that send() does not fail once one has started.
  void reserve(std::size_t sends) { sends_.reserve(sends); }
  /// Waits for the next message of one source.
  Bytes receive(int source) {
    Backoff backoff;
    while (arrived_[source].empty()) {
      if (take()) {
        backoff.reset();
      } else {
        transport_.poll();
        backoff.pause(transport_);
      }
    }
    Bytes bytes = std::move(arrived_[source].front());
    arrived_[source].erase(arrived_[source].begin());
    return bytes;
  }
  /// Receives one message, if one has arrived, and calls deliver(int source, Bytes&&).
  template <class Deliver>
  bool take(Deliver&& deliver) {
    std::optional<Envelope> envelope;
    try {
      envelope = transport_.tryReceive(Topic::Setup, session_);
      if (!envelope) return false;
    } catch (const LostMessage& lost) {
      errors_.noteCurrentException();
      envelope = Envelope{lost.source(), {}};
    }
    deliver(envelope->source, std::move(envelope->bytes));
    return true;
  }
  bool receiving() const { return transport_.receiving(Topic::Setup, session_); }
  bool sent() {
    transport_.poll();
    return std::all_of(sends_.begin(), sends_.end(), [](const PendingSend& s) { return s.done(); });
  }
  void waitSent() {
    Backoff backoff;
    while (!sent()) {
      if (take()) {
        backoff.reset();
      } else {
        backoff.pause(transport_);
      }
    }
  }

 private:
  bool take() {
    return take([&](int source, Bytes&& bytes) { arrived_[source].push_back(std::move(bytes)); });
  }

  Transport& transport_;
  ErrorCollector& errors_;
  Session session_;
  std::vector<PendingSend> sends_;
  std::map<int, std::vector<Bytes>> arrived_;
};

}  // namespace

void barrier(Transport& transport) {
  wait(transport, transport.barrier());
}

std::vector<std::int64_t> allreduce(Transport& transport, ReduceOp op,
                                    std::vector<std::int64_t> values) {
  return wait(transport, transport.allreduce(op, std::move(values)));
}

std::int64_t allreduce(Transport& transport, ReduceOp op, std::int64_t value) {
  return allreduce(transport, op, std::vector<std::int64_t>{value})[0];
}

std::vector<double> allreduce(Transport& transport, ReduceOp op, std::vector<double> values) {
  if (op != ReduceOp::Min && op != ReduceOp::Max) {
    throw Error(
        "doubles can only be reduced by Min and Max: use allgather() and add in rank order");
  }
  std::vector<std::int64_t> orders(values.size());
  std::transform(values.begin(), values.end(), orders.begin(), orderedInteger);
  orders = allreduce(transport, op, std::move(orders));
  std::transform(orders.begin(), orders.end(), values.begin(), fromOrderedInteger);
  return values;
}

double allreduce(Transport& transport, ReduceOp op, double value) {
  return allreduce(transport, op, std::vector<double>{value})[0];
}

bool sameOnAllRanks(Transport& transport, std::vector<std::int64_t> values) {
  return sameOnAllRanks(transport, std::move(values), ErrorCollector());
}

bool sameOnAllRanks(Transport& transport, std::vector<std::int64_t> values,
                    const ErrorCollector& errors) {
  // The complements give the maxima.
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(~values[i]);
  values.push_back(errors.any() ? 0 : 1);
  const std::vector<std::int64_t> least = allreduce(transport, ReduceOp::Min, std::move(values));
  if (least.back() == 0) errors.agree(transport);
  return std::equal(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(count),
                    least.begin() + static_cast<std::ptrdiff_t>(count),
                    [](std::int64_t low, std::int64_t high) { return low == ~high; });
}

std::int64_t exclusivePrefix(Transport& transport, std::int64_t count) {
  // Recursive doubling: after step d, `before` is the sum of the 2d - 1 ranks before this one. A
  // rank with an error sends empty messages.
  ErrorCollector errors;
  Post post(transport, errors);
  const int rank = transport.rank();
  const int size = transport.size();
  std::int64_t before = 0;
  const auto addTo = [](std::int64_t sum, std::int64_t part) {
    if (part < 0 || sum > MostCounted - part)
      throw Error("counts of " + std::to_string(sum) + " and " + std::to_string(part) +
                  " cannot be added; give counts of at least 0 whose sum is at most " +
                  std::to_string(MostCounted));
    return sum + part;
  };
  errors.attempt([&] { (void)addTo(0, count); });
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    const auto step = static_cast<int>(distance);
    if (rank + step < size) {
      Bytes message;
      if (!errors.any())
        errors.attempt([&] { message = Writer().value(addTo(before, count)).take(); });
      post.send(rank + step, SendMode::Eager, std::move(message));
    }
    if (rank - step < 0) continue;
    const Bytes received = post.receive(rank - step);
    errors.attempt([&] { before = addTo(before, Reader(received).value<std::int64_t>()); });
  }
  post.waitSent();
  errors.agree(transport);
  return before;
}

std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine, ErrorCollector& errors) {
  // Dissemination: at distance d each rank holds the bytes of ranks rank .. rank + d - 1 and sends
  // them to rank - d. A rank with an error sends empty messages.
  Post post(transport, errors);
  const int rank = transport.rank();
  const int size = transport.size();
  std::vector<Bytes> held;
  errors.attempt([&] {
    held.reserve(static_cast<std::size_t>(size));
    held.push_back(std::move(mine));
  });
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    const auto step = static_cast<int>(distance);
    const auto count = static_cast<std::size_t>(std::min(step, size - step));
    Bytes message;
    if (!errors.any()) {
      errors.attempt([&] {
        Writer writer;
        for (std::size_t i = 0; i < count; ++i) writer.range(held[i]);
        message = writer.take();
      });
    }
    post.send((rank - step + size) % size, SendMode::Eager, std::move(message));
    const Bytes received = post.receive((rank + step) % size);
    errors.attempt([&] {
      Reader reader(received);
      for (std::size_t i = 0; i < count; ++i) {
        held.emplace_back();
        reader.rangeInto(held.back());
      }
    });
  }
  post.waitSent();
  if (errors.any()) return {};
  std::rotate(held.begin(), held.begin() + (size - rank) % size, held.end());
  return held;
}

std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine) {
  ErrorCollector errors;
  std::vector<Bytes> all = allgatherBytes(transport, std::move(mine), errors);
  errors.agree(transport);
  return all;
}

Bytes broadcastBytes(Transport& transport, Bytes bytes, int root, ErrorCollector& errors) {
  // A binomial tree over the ranks counted from the root.
  Post post(transport, errors);
  const int size = transport.size();
  const int place = (transport.rank() - root + size) % size;
  std::int64_t step = 1;
  while (step < size && (place & step) == 0) step *= 2;
  if (place != 0) bytes = post.receive(static_cast<int>((place - step + root) % size));
  for (step /= 2; step > 0; step /= 2) {
    if (place + step < size) {
      Bytes copy;
      errors.attempt([&] { copy = bytes; });
      post.send(static_cast<int>((place + step + root) % size), SendMode::Eager, std::move(copy));
    }
  }
  post.waitSent();
  return bytes;
}

Bytes broadcastBytes(Transport& transport, Bytes bytes, int root) {
  ErrorCollector errors;
  bytes = broadcastBytes(transport, std::move(bytes), root, errors);
  errors.agree(transport);
  return bytes;
}

std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank,
                                 ErrorCollector& errors) {
  const auto size = static_cast<std::size_t>(transport.size());
  Post post(transport, errors);
  // All memory that grows with the number of ranks is allocated here: a rank that has none sends
  // nothing, discards what it receives, and reports its error.
  std::vector<Bytes> result;
  const auto self = static_cast<std::size_t>(transport.rank());
  const bool isReady = errors.attempt([&] {
    if (toEachRank.size() != size && !toEachRank.empty())
      throw Error("exchangeBytes: " + std::to_string(toEachRank.size()) + " buffers for " +
                  std::to_string(size) + " ranks; pass one for each rank");
    const auto isSent = [](const Bytes& bytes) { return !bytes.empty(); };
    post.reserve(
        static_cast<std::size_t>(std::count_if(toEachRank.begin(), toEachRank.end(), isSent)));
    result.resize(size);
  });
  if (!isReady) toEachRank.clear();
  const auto deliver = [&](int source, Bytes&& bytes) {
    if (isReady) result[static_cast<std::size_t>(source)] = std::move(bytes);
  };
  // NBX: a rank enters a barrier once its synchronous sends are finished. When the barrier is
  // complete, all messages have begun to arrive.
  if (!toEachRank.empty()) result[self] = std::move(toEachRank[self]);
  for (std::size_t step = 1; step < toEachRank.size(); ++step) {
    const std::size_t destination = (self + step) % size;
    Bytes& bytes = toEachRank[destination];
    if (!bytes.empty()) {
      post.send(static_cast<int>(destination), SendMode::Synchronous, std::move(bytes));
    }
  }
  // A reduction replaces the barrier: it also finds the lowest rank with an error.
  PendingReduce all;
  bool entered = false;
  Backoff backoff;
  while (true) {
    const bool ended = entered && all.done();
    if (post.take(deliver)) {
      backoff.reset();
      continue;
    }
    if (ended && !post.receiving()) break;
    const bool sent = post.sent();
    if (!entered && sent) {
      const int lowest = errors.any() ? transport.rank() : transport.size();
      all = transport.allreduce(ReduceOp::Min, {lowest});
      entered = true;
    }
    backoff.pause(transport);
  }
  if (all.result()[0] < transport.size()) errors.noteKnown(static_cast<int>(all.result()[0]));
  return result;
}

std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank) {
  ErrorCollector errors;
  std::vector<Bytes> result = exchangeBytes(transport, std::move(toEachRank), errors);
  errors.agree(transport);
  return result;
}

}  // namespace tributary
