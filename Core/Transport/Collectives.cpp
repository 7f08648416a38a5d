#include "Tributary/Transport/Collectives.h"

#include <algorithm>
#include <map>
#include <utility>

#include "Tributary/Agree.h"
#include "Tributary/Error.h"
#include "Tributary/OrderedDouble.h"

namespace tributary {

namespace {

std::vector<std::int64_t> wait(Transport& transport, const PendingReduce& reduce) {
  Patience patience;
  while (true) {
    transport.poll();
    if (reduce.done()) return reduce.result();
    patience.rest(transport);
  }
}

/// The set-up messages of one session, by source: each rank sends another at most one at a time.
/// A message that is lost arrives empty, and is noted.
class Post {
 public:
  Post(Transport& transport, Trouble& trouble)
      : transport_(transport), trouble_(trouble), session_(transport.openSession()) {}

  void send(int destination, SendMode mode, Bytes&& bytes) {
    sends_.push_back(
        transport_.send(destination, Channel::Setup, session_, mode, std::move(bytes)));
  }
  /// Waits for the next message of one source.
  Bytes receive(int source) {
    Patience patience;
    while (arrived_[source].empty()) {
      if (take()) {
        patience.reset();
      } else {
        transport_.poll();
        patience.rest(transport_);
      }
    }
    Bytes bytes = std::move(arrived_[source].front());
    arrived_[source].erase(arrived_[source].begin());
    return bytes;
  }
  /// Takes in one message, if there is one.
  bool take() {
    try {
      auto envelope = transport_.tryReceive(Channel::Setup, session_);
      if (!envelope) return false;
      arrived_[envelope->source].push_back(std::move(envelope->bytes));
    } catch (const LostMessage& lost) {
      arrived_[lost.source()].emplace_back();
      trouble_.note(lost.what());
    }
    return true;
  }
  bool receiving() const { return transport_.receiving(Channel::Setup, session_); }
  bool sent() {
    transport_.poll();
    return std::all_of(sends_.begin(), sends_.end(), [](const PendingSend& s) { return s.done(); });
  }
  void waitSent() {
    Patience patience;
    while (!sent()) {
      if (take()) {
        patience.reset();
      } else {
        patience.rest(transport_);
      }
    }
  }
  std::map<int, std::vector<Bytes>>& arrived() { return arrived_; }

 private:
  Transport& transport_;
  Trouble& trouble_;
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
    throw Error("doubles can be reduced by Min and Max only: gather them and add in rank order");
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

std::int64_t exclusivePrefix(Transport& transport, std::int64_t value) {
  // Recursive doubling: after step d, `before` is the sum of the 2d - 1 ranks before this one. A
  // rank in trouble passes on nothing.
  Trouble trouble;
  Post post(transport, trouble);
  const int rank = transport.rank();
  const int size = transport.size();
  std::int64_t before = 0;
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    const auto step = static_cast<int>(distance);
    if (rank + step < size) {
      post.send(rank + step, SendMode::Eager,
                trouble.any() ? Bytes() : Writer().value(before + value).take());
    }
    if (rank - step < 0) continue;
    const Bytes received = post.receive(rank - step);
    trouble.attempt([&] { before += Reader(received).value<std::int64_t>(); });
  }
  post.waitSent();
  trouble.agree(transport);
  return before;
}

std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine, Trouble& trouble) {
  // Dissemination: at distance d each rank holds the bytes of ranks rank .. rank + d - 1 and passes
  // them on to rank - d. A rank in trouble passes on nothing.
  Post post(transport, trouble);
  const int rank = transport.rank();
  const int size = transport.size();
  std::vector<Bytes> held;
  held.push_back(std::move(mine));
  for (std::int64_t distance = 1; distance < size; distance *= 2) {
    const auto step = static_cast<int>(distance);
    const auto count = static_cast<std::size_t>(std::min(step, size - step));
    Writer writer;
    for (std::size_t i = 0; i < count && !trouble.any(); ++i) writer.range(held[i]);
    post.send((rank - step + size) % size, SendMode::Eager, writer.take());
    const Bytes received = post.receive((rank + step) % size);
    trouble.attempt([&] {
      Reader reader(received);
      for (std::size_t i = 0; i < count; ++i) {
        held.emplace_back();
        reader.rangeInto(held.back());
      }
    });
  }
  post.waitSent();
  held.resize(static_cast<std::size_t>(size));
  std::rotate(held.begin(), held.begin() + (size - rank) % size, held.end());
  return held;
}

std::vector<Bytes> allgatherBytes(Transport& transport, Bytes mine) {
  Trouble trouble;
  std::vector<Bytes> all = allgatherBytes(transport, std::move(mine), trouble);
  trouble.agree(transport);
  return all;
}

Bytes broadcastBytes(Transport& transport, Bytes bytes, int root, Trouble& trouble) {
  // A binomial tree over the ranks counted from the root.
  Post post(transport, trouble);
  const int size = transport.size();
  const int place = (transport.rank() - root + size) % size;
  std::int64_t step = 1;
  while (step < size && (place & step) == 0) step *= 2;
  if (place != 0) bytes = post.receive(static_cast<int>((place - step + root) % size));
  for (step /= 2; step > 0; step /= 2) {
    if (place + step < size) {
      post.send(static_cast<int>((place + step + root) % size), SendMode::Eager, Bytes(bytes));
    }
  }
  post.waitSent();
  return bytes;
}

Bytes broadcastBytes(Transport& transport, Bytes bytes, int root) {
  Trouble trouble;
  bytes = broadcastBytes(transport, std::move(bytes), root, trouble);
  trouble.agree(transport);
  return bytes;
}

std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank,
                                 Trouble& trouble) {
  const auto size = static_cast<std::size_t>(transport.size());
  Post post(transport, trouble);
  if (toEachRank.size() != size) {
    trouble.note("exchangeBytes: " + std::to_string(toEachRank.size()) + " buffers for " +
                 std::to_string(size) + " ranks");
    toEachRank.assign(size, {});
  }
  // Hoefler, Siebert, Lumsdaine 2010: once a rank's synchronous sends are finished it enters a
  // barrier, and when that is complete, everything has begun to arrive.
  std::vector<Bytes> result(size);
  const auto self = static_cast<std::size_t>(transport.rank());
  result[self] = std::move(toEachRank[self]);
  for (std::size_t step = 1; step < size; ++step) {
    const std::size_t destination = (self + step) % size;
    Bytes& bytes = toEachRank[destination];
    if (!bytes.empty()) {
      post.send(static_cast<int>(destination), SendMode::Synchronous, std::move(bytes));
    }
  }
  PendingReduce all;
  bool entered = false;
  Patience patience;
  while (true) {
    const bool ended = entered && all.done();
    if (post.take()) {
      patience.reset();
      continue;
    }
    if (ended && !post.receiving()) break;
    const bool sent = post.sent();
    if (!entered && sent) {
      all = transport.barrier();
      entered = true;
    }
    patience.rest(transport);
  }
  for (auto& [source, messages] : post.arrived()) {
    result[static_cast<std::size_t>(source)] = std::move(messages.front());
  }
  return result;
}

std::vector<Bytes> exchangeBytes(Transport& transport, std::vector<Bytes> toEachRank) {
  Trouble trouble;
  std::vector<Bytes> result = exchangeBytes(transport, std::move(toEachRank), trouble);
  trouble.agree(transport);
  return result;
}

}  // namespace tributary
