// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/detail/AdversarialEngine.h"

namespace tributary::detail {

namespace {

// now() only serves time-outs: a poll takes an arbitrary small time.
constexpr double LookSeconds = 1e-6;

class AdversarialInteger : public SharedInteger {
 public:
  AdversarialInteger(AdversarialEngine& network, std::shared_ptr<std::int64_t> place)
      : network_(network), place_(std::move(place)) {}
  std::int64_t fetchAdd(std::int64_t value) override {
    network_.pause();
    network_.moved();
    ++network_.counters().sharedOperations;
    return std::exchange(*place_, *place_ + value);
  }

 private:
  AdversarialEngine& network_;
  std::shared_ptr<std::int64_t> place_;
};

}  // namespace

AdversarialRank::AdversarialRank(AdversarialEngine& network, int rank)
    : SimulatedRank(network, rank), network_(network) {}

AdversarialRank::Flow& AdversarialRank::flow(Topic topic, Session session, int source) {
  const auto key = std::make_tuple(topic, session, source);
  const auto place =
      std::lower_bound(flows.begin(), flows.end(), key, [](const Flow& flow, const auto& wanted) {
        return std::tie(flow.topic, flow.session, flow.source) < wanted;
      });
  if (place != flows.end() && std::tie(place->topic, place->session, place->source) == key) {
    return *place;
  }
  return *flows.insert(place, Flow{topic, session, source, {}});
}

bool AdversarialRank::hasNews() const {
  return !flows.empty() || askedSends() > 0 ||
         std::any_of(pending.begin(), pending.end(),
                     [&](const Pending& p) { return network_.complete(p.number); }) ||
         std::any_of(links.begin(), links.end(),
                     [](const auto& entry) {
                       return !entry.second.letters.empty() && !entry.second.receives.empty();
                     }) ||
         std::any_of(sends.begin(), sends.end(),
                     [](const AdversarialSend* send) { return send->finishable(); });
}

void AdversarialRank::look() {
  network_.pause();
  clock += LookSeconds;
}

void AdversarialRank::relax(double) {
  clock += LookSeconds;
  relaxed = true;
  network_.pause();
}

PendingSend AdversarialRank::send(int destination, Topic topic, Session session, SendMode mode,
                                  Bytes&& bytes) {
  checkDestination(destination, size());
  network_.moved();
  network_.counters().add(topic, bytes.size());
  auto state = std::make_shared<PendingSend::State>();
  const bool synchronous = mode == SendMode::Synchronous;
  state->done = !synchronous && !network_.eagerWaits();
  network_.rank(destination)
      .flow(topic, session, rank())
      .letters.push_back({std::move(bytes), state->done ? nullptr : state, synchronous, false});
  return PendingSend(std::move(state));
}

std::optional<Envelope> AdversarialRank::tryReceive(Topic topic, Session session) {
  network_.pause();
  clock += LookSeconds;
  std::vector<int> sources = {-1};
  for (const Flow& flow : flows) {
    if (flow.topic == topic && flow.session == session) sources.push_back(flow.source);
  }
  if (sources.size() == 1) return std::nullopt;
  const int source = network_.choose(Decision::Message, rank(), sources);
  if (source < 0) return std::nullopt;
  network_.moved();
  Flow& from = flow(topic, session, source);
  Letter& letter = from.letters.front();
  if (letter.send) {
    if (letter.synchronous) ++network_.counters().acknowledgements;
    network_.rank(source).finishable.push_back(std::move(letter.send));
    letter.send = nullptr;
  }
  if (network_.halfReceived() && !letter.half &&
      network_.choose(Decision::Half, rank(), {0, 1}) == 1) {
    letter.half = true;
    return std::nullopt;
  }
  Envelope envelope{source, std::move(letter.bytes)};
  from.letters.pop_front();
  if (from.letters.empty()) flows.erase(flows.begin() + (&from - flows.data()));
  return envelope;
}

bool AdversarialRank::receiving(Topic topic, Session session) const {
  return std::any_of(flows.begin(), flows.end(), [&](const Flow& flow) {
    return flow.topic == topic && flow.session == session && flow.letters.front().half;
  });
}

void AdversarialRank::poll() {
  network_.pause();
  clock += LookSeconds;
  if (!finishable.empty() && network_.choose(Decision::Sends, rank(), {0, 1}) == 1) {
    network_.moved();
    for (const auto& state : finishable) state->done = true;
    finishable.clear();
  }
  for (std::size_t i = 0; i < pending.size();) {
    const std::int64_t number = pending[i].number;
    if (!network_.complete(number) || network_.choose(Decision::Collective, rank(), {0, 1}) == 0) {
      ++i;
      continue;
    }
    network_.moved();
    pending[i].state->result = network_.collective(number).values;
    pending[i].state->done = true;
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
    network_.seen(number);
  }
}

PendingReduce AdversarialRank::allreduce(ReduceOp op, std::vector<std::int64_t> values) {
  network_.moved();
  auto state = std::make_shared<PendingReduce::State>();
  pending.push_back({entered, state});
  AdversarialCollective& collective = network_.collective(entered++);
  if (collective.entered++ == 0) {
    collective.op = op;
    collective.values = std::move(values);
  } else {
    combineReduced(collective.op, collective.values, op, values);
  }
  return PendingReduce(std::move(state));
}

std::unique_ptr<SharedInteger> AdversarialRank::makeInteger(std::size_t number,
                                                            std::int64_t initial) {
  return std::make_unique<AdversarialInteger>(network_, network_.place(number, initial));
}

std::string AdversarialRank::left() const {
  std::size_t letters = 0;
  for (const Flow& flow : flows) letters += flow.letters.size();
  for (const auto& [key, link] : links) letters += link.letters.size();
  return LeftText()
      .add(letters, "messages not received")
      .add(askedSends(), "sends not seen to be finished")
      .add(sends.size(), "persistent sends not seen to be finished")
      .add(pending.size(), "collective operations not ended")
      .text();
}

}  // namespace tributary::detail
