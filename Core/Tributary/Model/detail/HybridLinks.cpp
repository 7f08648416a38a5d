// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Model/detail/HybridLinks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Iteration/NonBlockingReduce.h"
#include "Tributary/Iteration/ResidualReduction.h"

namespace tributary::detail {

namespace {

std::uint32_t failed(const ErrorCollector& errors) {
  return errors.any() ? std::uint32_t(HybridJudge::Failed) : 0u;
}

/// The neighbors of a subregion, and the values that are sent and received.
struct Neighborhood {
  std::vector<Neighbor> neighbors;
  std::vector<std::vector<std::size_t>> out, in;

  Neighborhood(const Transport& transport, const Subregion& subregion) {
    for (int other = 0; other < transport.size(); ++other) {
      auto needed = subregion.neededBy(static_cast<std::size_t>(other));
      auto wanted = subregion.neededFrom(static_cast<std::size_t>(other));
      if (needed.empty() && wanted.empty()) continue;
      neighbors.push_back({other, needed.size() + 1, wanted.size() + 1});  // with their epoch
      out.push_back(std::move(needed));
      in.push_back(std::move(wanted));
    }
  }
};

// A rank continues to wait after this many errors, because other ranks wait for its next message.
constexpr int MostErrors = 1000;

/// Calls `step` until it returns true, and collects errors. @return false after too many errors
template <class Step>
bool waitFor(Transport& transport, ErrorCollector& errors, Step&& step) {
  Backoff backoff;
  bool done = false;
  for (int failures = 0; !done && failures <= MostErrors;) {
    if (!errors.attempt([&] { done = step(); })) ++failures;
    if (!done) backoff.pause(transport);
  }
  return done;
}

class NeighborLinks : public HybridLinks {
 public:
  NeighborLinks(Transport& transport, Session session, const Subregion& subregion,
                const HybridJudge& judge, bool waits)
      : transport_(transport),
        neighborhood_(transport, subregion),
        channels_(transport, session, neighborhood_.neighbors, {SendMode::Eager, 2}),
        reduce_(makeTransportReduce(transport)),
        reduction_(*reduce_, Norm::Two),
        halo_(subregion.halo().size()),
        judge_(judge),
        waits_(waits) {}

  void open(const DatedValues& boundary) override {
    if (waits_) return;
    // One synchronous turn, so that every link has values before the first asynchronous one.
    DatedValues halo{std::vector<double>(halo_)};
    swap(boundary, halo);
    channels_.switchAsync();
  }

  bool swap(const DatedValues& boundary, DatedValues& halo) override {
    for (std::size_t n = 0; n < neighborhood_.neighbors.size(); ++n) {
      const Span<double> values = channels_.outgoing(n);
      values[0] = static_cast<double>(boundary.epoch);
      std::size_t to = 1;
      for (const std::size_t from : neighborhood_.out[n]) values[to++] = boundary.values[from];
    }
    channels_.put();
    if (!waitFor(transport_, errors_, [&] { return channels_.get(); })) return false;
    if (neighborhood_.neighbors.empty()) return false;
    bool isNew = false;
    double oldest = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < neighborhood_.neighbors.size(); ++n) {
      const Span<const double> values = channels_.incoming()[n];
      oldest = std::min(oldest, values[0]);
      std::size_t from = 1;
      for (const std::size_t to : neighborhood_.in[n]) {
        const double value = values[from++];
        isNew = isNew || halo.values[to] != value;
        halo.values[to] = value;
      }
    }
    isNew = isNew || halo.epoch != static_cast<std::int64_t>(oldest);
    halo.epoch = static_cast<std::int64_t>(oldest);
    return isNew;
  }

  bool report(const HybridPart& part) override {
    if (!running_) {
      reduction_.start({part.squares, part.reasons | failed(errors_), part.fresh});
      running_ = true;
    }
    if (waits_ ? !waitFor(transport_, errors_, [&] { return reduction_.advance(); })
               : !reduction_.advance())
      return false;
    running_ = false;
    const ResidualReduction::Part all = reduction_.result();
    return judge_.judge(all.residual, all.met, all.reasons);
  }
  std::int64_t epoch() const override { return judge_.epoch(); }
  double residual() const override { return judge_.residual(); }
  bool stagnates() const override { return judge_.stagnates(); }

  void close() override {
    waitFor(transport_, errors_, [&] { return channels_.close(); });
    errors_.raise();
  }

 private:
  Transport& transport_;
  Neighborhood neighborhood_;
  Channels channels_;
  std::unique_ptr<NonBlockingReduce> reduce_;
  ResidualReduction reduction_;
  std::size_t halo_;
  HybridJudge judge_;
  bool waits_;
  bool running_ = false;
  ErrorCollector errors_;
};

// ---- Through a master ----

enum MasterKind : std::int64_t { HaloKind = 1, ResidualKind = 2 };

class MasterLinks : public HybridLinks {
 public:
  MasterLinks(Transport& transport, Session session, const Subregion& subregion)
      : transport_(transport), session_(session), halo_(subregion.halo().size()) {}

  void open(const DatedValues&) override {}

  bool swap(const DatedValues& boundary, DatedValues& halo) override {
    if (halo_ == 0) return false;
    const Bytes answer = ask(
        Writer().value<std::int64_t>(HaloKind).value(boundary.epoch).range(boundary.values).take());
    Reader reader(answer);
    const auto epoch = reader.value<std::int64_t>();
    std::vector<double> values = reader.range<double>();
    if (values.size() != halo_) refuseMessage("a halo of another size");
    if (epoch == halo.epoch && values == halo.values) return false;
    halo = {std::move(values), epoch};
    return true;
  }
  bool report(const HybridPart& part) override {
    const Bytes answer = ask(Writer()
                                 .value<std::int64_t>(ResidualKind)
                                 .value(part.squares)
                                 .value<std::int64_t>(part.fresh ? epoch_ : 0)
                                 .value(part.reasons | failed(errors_))
                                 .take());
    Reader reader(answer);
    const bool stop = reader.value<std::int64_t>() != 0;
    epoch_ = reader.value<std::int64_t>();
    residual_ = reader.value<double>();
    return stop;
  }
  std::int64_t epoch() const override { return epoch_; }
  double residual() const override { return residual_; }
  bool stagnates() const override { return false; }
  void close() override { errors_.raise(); }

 private:
  Bytes ask(Bytes question) {
    transport_.send(0, Topic::Work, session_, SendMode::Eager, std::move(question));
    std::optional<Envelope> answer;
    const bool came = waitFor(transport_, errors_, [&] {
      answer = transport_.tryReceive(Topic::Work, session_);
      return answer.has_value();
    });
    if (!came) throwError(errors_.report());
    return std::move(answer->bytes);
  }

  Transport& transport_;
  Session session_;
  std::size_t halo_;
  ErrorCollector errors_;
  std::int64_t epoch_ = 1;
  double residual_ = std::numeric_limits<double>::infinity();
};

}  // namespace

bool HybridJudge::judge(double residual, bool fresh, std::uint32_t reasons) {
  if (reasons != 0 || !std::isfinite(residual)) return true;
  if (!fresh) return false;
  residual_ = residual;
  if (residual <= threshold_) return true;
  ++epoch_;
  judgmentsSinceMinimum_ = residual < least_ ? 0 : judgmentsSinceMinimum_ + 1;
  least_ = std::min(least_, residual);
  return stagnates();
}

std::unique_ptr<HybridLinks> makeNeighborLinks(Transport& transport, Session session,
                                               const Subregion& subregion, const HybridJudge& judge,
                                               bool waits) {
  return std::make_unique<NeighborLinks>(transport, session, subregion, judge, waits);
}

std::unique_ptr<HybridLinks> makeMasterLinks(Transport& transport, Session session,
                                             const Subregion& subregion) {
  return std::make_unique<MasterLinks>(transport, session, subregion);
}

HybridMaster::HybridMaster(const LaplaceProblem& problem, const std::vector<CellRange>& boxes,
                           const Records<double>& boundaries)
    : clients_(boxes.size()) {
  std::vector<Subregion> subregions;
  for (std::size_t r = 0; r < boxes.size(); ++r) subregions.emplace_back(problem, boxes, r);
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    Client& client = clients_[r];
    const Span<const double> boundary = boundaries.from(static_cast<int>(r));
    if (boundary.size() != subregions[r].boundary().size())
      refuseMessage("a boundary of another size");
    client.boundary.values.assign(boundary.begin(), boundary.end());
    client.halo.values.resize(subregions[r].halo().size());
    for (std::size_t other = 0; other < boxes.size(); ++other) {
      auto in = subregions[r].neededFrom(other);
      if (!in.empty())
        client.routes.push_back({other, subregions[other].neededBy(r), std::move(in)});
    }
  }
}

Bytes HybridMaster::answerOf(bool stop, const HybridJudge& judge) {
  return Writer()
      .value<std::int64_t>(stop ? 1 : 0)
      .value(judge.epoch())
      .value(judge.residual())
      .take();
}

void HybridMaster::readBoundary(Client& client, Reader& reader) {
  const auto epoch = reader.value<std::int64_t>();
  std::vector<double> values = reader.range<double>();
  if (values.size() != client.boundary.values.size()) refuseMessage("a boundary of another size");
  client.boundary = {std::move(values), epoch};
}

std::uint32_t HybridMaster::readResidual(Client& client, Reader& reader) {
  client.squares = reader.value<double>();
  client.judged = reader.value<std::int64_t>();
  return reader.value<std::uint32_t>();
}

bool HybridMaster::judgeResidual(HybridJudge& judge, std::uint32_t reasons) const {
  double sum = 0;
  bool fresh = true;
  for (std::size_t r = 1; r < clients_.size(); ++r) {
    sum += clients_[r].squares;
    fresh = fresh && clients_[r].judged == judge.epoch();
  }
  return judge.judge(std::sqrt(sum), fresh, reasons);
}

Bytes HybridMaster::updateHalo(Client& client, const HybridJudge& judge) {
  client.halo.epoch = judge.epoch();
  for (const Route& route : client.routes) {
    const DatedValues& boundary = clients_[route.from].boundary;
    client.halo.epoch = std::min(client.halo.epoch, boundary.epoch);
    for (std::size_t i = 0; i < route.in.size(); ++i)
      client.halo.values[route.in[i]] = boundary.values[route.out[i]];
  }
  return Writer().value(client.halo.epoch).range(client.halo.values).take();
}

bool HybridMaster::serve(Transport& transport, Session session, HybridJudge judge,
                         OperationTimes* times) {
  std::size_t running = clients_.size() - 1;
  bool stop = false;
  ErrorCollector errors;
  Backoff backoff;
  while (running > 0) {
    auto envelope = transport.tryReceive(Topic::Work, session);
    if (!envelope) {
      backoff.pause(transport);
      continue;
    }
    backoff.reset();
    Client& client = clients_[static_cast<std::size_t>(envelope->source)];
    const auto answer = [&](Bytes bytes) {
      transport.send(envelope->source, Topic::Work, session, SendMode::Eager, std::move(bytes));
    };
    Reader reader(envelope->bytes);
    std::int64_t kind = ResidualKind;
    errors.attempt([&] { kind = reader.value<std::int64_t>(); });
    // The client waits for an answer, so it gets one also to a malformed question.
    if (kind == HaloKind) {
      timed(times, Operation::MasterHalo, [&] {
        errors.attempt([&] { readBoundary(client, reader); });
        answer(updateHalo(client, judge));
      });
      continue;
    }
    timed(times, Operation::MasterResidual, [&] {
      errors.attempt([&] {
        if (kind != ResidualKind) refuseMessage("an unknown question to the master");
        const std::uint32_t reasons = readResidual(client, reader);
        stop = stop || judgeResidual(judge, reasons);
      });
      stop = stop || errors.any();
      answer(answerOf(stop, judge));
      if (stop && !std::exchange(client.stopped, true)) --running;
    });
  }
  errors.raise();
  return judge.stagnates();
}

}  // namespace tributary::detail
