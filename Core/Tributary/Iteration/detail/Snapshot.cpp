// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Iteration/detail/Snapshot.h"

#include <algorithm>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

namespace {

constexpr std::int64_t Values = 0;  // kind of message; others are those of kinds of snapshots

/// Before the values of a message.
struct Header {
  std::int64_t round;
  std::int64_t kind;
};

Header headerOf(const Bytes& bytes) {
  return Reader(bytes).value<Header>();
}

class GeneralSnapshot : public Snapshot {
 public:
  GeneralSnapshot(Transport& transport, Session session, std::vector<Neighbor> neighbors,
                  SnapshotSource source)
      : Snapshot(transport, session, std::move(neighbors), std::move(source)) {}

  bool advance(bool) override {
    if (!recorded()) record();
    receive();
    return complete();
  }

 private:
  std::string describe() const override { return "general"; }
};

}  // namespace

Snapshot::Snapshot(Transport& transport, Session session, std::vector<Neighbor> neighbors,
                   SnapshotSource source)
    : transport_(transport),
      session_(session),
      neighbors_(std::move(neighbors)),
      source_(std::move(source)),
      values_(neighbors_.size()),
      missing_(neighbors_.size()),
      incoming_(neighbors_.size()) {}

void Snapshot::record() {
  recorded_ = true;
  iterate_.assign(source_.iterate.begin(), source_.iterate.end());
  for (std::size_t i = 0; i < neighbors_.size(); ++i) {
    Bytes bytes = Writer().value(Header{round_, Values}).take();
    bytes.resize(sizeof(Header) + neighbors_[i].sendCount * sizeof(double));
    if (neighbors_[i].sendCount > 0) {
      source_.fill(
          i, {reinterpret_cast<double*>(bytes.data() + sizeof(Header)), neighbors_[i].sendCount});
    }
    ++messages_;
    transport_.send(neighbors_[i].rank, Topic::Detector, session_, SendMode::Eager,
                    std::move(bytes));
  }
}

void Snapshot::receive() {
  // A neighbor's next round is its last message that can come in this one.
  while (!complete()) {
    auto envelope = transport_.tryReceive(Topic::Detector, session_);
    if (!envelope) return;
    const Header header = headerOf(envelope->bytes);
    if (header.round == round_) {
      take(std::move(*envelope));
    } else if (header.round == round_ + 1) {
      deferred_.push_back(std::move(*envelope));
    } else {
      malformed(envelope->source, "an unexpected round, " + std::to_string(header.round));
    }
  }
}

void Snapshot::take(Envelope&& envelope) {
  const Header header = headerOf(envelope.bytes);
  if (header.kind != Values) {
    handle(envelope.source, header.kind);
    return;
  }
  const auto from =
      std::find_if(neighbors_.begin(), neighbors_.end(),
                   [&](const Neighbor& neighbor) { return neighbor.rank == envelope.source; });
  if (from == neighbors_.end()) malformed(envelope.source, "the rank is not a neighbor");
  const auto index = static_cast<std::size_t>(from - neighbors_.begin());
  if (envelope.bytes.size() != sizeof(Header) + from->receiveCount * sizeof(double)) {
    malformed(envelope.source,
              "an unexpected size of " + std::to_string(envelope.bytes.size()) + " bytes");
  }
  if (!values_[index].empty()) malformed(envelope.source, "a duplicate");
  values_[index] = std::move(envelope.bytes);
  const auto* first = reinterpret_cast<const double*>(values_[index].data() + sizeof(Header));
  incoming_[index] = {first, from->receiveCount};
  --missing_;
}

void Snapshot::handle(int source, std::int64_t kind) {
  malformed(source, "an unknown kind, " + std::to_string(kind));
}

void Snapshot::send(int destination, std::int64_t kind) {
  ++messages_;
  transport_.send(destination, Topic::Detector, session_, SendMode::Eager,
                  Writer().value(Header{round_, kind}).take());
}

void Snapshot::next() {
  ++round_;
  recorded_ = false;
  missing_ = neighbors_.size();
  for (Bytes& values : values_) values.clear();
  restart();
  std::deque<Envelope> come;
  come.swap(deferred_);
  for (Envelope& envelope : come) take(std::move(envelope));
}

std::string Snapshot::state() const {
  std::string text = describe() + ", round " + std::to_string(round_) +
                     (recorded_ ? ", recorded" : "") + ", missing";
  for (std::size_t i = 0; i < neighbors_.size(); ++i) {
    if (values_[i].empty()) text += " " + std::to_string(neighbors_[i].rank);
  }
  for (const Envelope& envelope : deferred_) {
    text += ", put by from " + std::to_string(envelope.source);
  }
  return text;
}

void Snapshot::malformed(int source, const std::string& what) const {
  throw Error(ErrorKind::Message,
              "snapshot: malformed message from rank " + std::to_string(source) + " on rank " +
                  std::to_string(transport_.rank()) + ": " + what + "; " + state());
}

std::unique_ptr<Snapshot> makeGeneralSnapshot(Transport& transport, Session session,
                                              std::vector<Neighbor> neighbors,
                                              SnapshotSource source) {
  return std::make_unique<GeneralSnapshot>(transport, session, std::move(neighbors),
                                           std::move(source));
}

}  // namespace tributary::detail
