#include "Tributary/Relaxation/HybridLinks.h"

#include <cmath>
#include <string>
#include <utility>

#include "Tributary/Agree.h"
#include "Tributary/Bytes.h"
#include "Tributary/Error.h"
#include "Tributary/Iteration/Channels.h"
#include "Tributary/Iteration/NonBlockingReduce.h"
#include "Tributary/Iteration/ResidualReduction.h"

namespace tributary {

namespace {

/// A neighbour of a subregion, and which values travel.
struct Neighborhood {
  std::vector<Neighbor> neighbors;
  std::vector<std::vector<std::size_t>> out, in;

  Neighborhood(const Transport& transport, const Subregion& subregion) {
    for (int other = 0; other < transport.size(); ++other) {
      auto needed = subregion.neededBy(static_cast<std::size_t>(other));
      auto wanted = subregion.neededFrom(static_cast<std::size_t>(other));
      if (needed.empty() && wanted.empty()) continue;
      neighbors.push_back({other, needed.size(), wanted.size()});
      out.push_back(std::move(needed));
      in.push_back(std::move(wanted));
    }
  }
};

class NeighborLinks : public HybridLinks {
 public:
  NeighborLinks(Transport& transport, const Subregion& subregion, double threshold,
                const std::vector<double>& boundary, bool waits)
      : transport_(transport),
        neighborhood_(transport, subregion),
        channels_(transport, transport.openSession(), neighborhood_.neighbors,
                  {SendMode::Eager, 2}),
        reduce_(makeTransportReduce(transport)),
        reduction_(*reduce_, Norm::Two),
        threshold_(threshold),
        waits_(waits) {
    if (waits) return;
    // One turn together, so that the newest values are never those of before the first ones.
    std::vector<double> halo(subregion.halo().size());
    swap(boundary, halo);
    channels_.switchAsync();
  }

  bool swap(const std::vector<double>& boundary, std::vector<double>& halo) override {
    for (std::size_t n = 0; n < neighborhood_.neighbors.size(); ++n) {
      const Span<double> values = channels_.outgoing(n);
      std::size_t to = 0;
      for (const std::size_t from : neighborhood_.out[n]) values[to++] = boundary[from];
    }
    channels_.put();
    Patience patience;
    while (!channels_.get()) patience.rest(transport_);
    for (std::size_t n = 0; n < neighborhood_.neighbors.size(); ++n) {
      const Span<const double> values = channels_.incoming()[n];
      std::size_t from = 0;
      for (const std::size_t to : neighborhood_.in[n]) halo[to] = values[from++];
    }
    return !neighborhood_.neighbors.empty();
  }

  bool report(double squares, std::uint32_t reasons) override {
    if (!running_) {
      reduction_.start({squares, reasons, true});
      running_ = true;
    }
    Patience patience;
    while (!reduction_.advance()) {
      if (!waits_) return false;
      patience.rest(transport_);
    }
    running_ = false;
    const ResidualReduction::Part all = reduction_.result();
    return all.residual <= threshold_ || all.reasons != 0 || !std::isfinite(all.residual);
  }

  void close() override {
    Patience patience;
    while (!channels_.close()) patience.rest(transport_);
  }

 private:
  Transport& transport_;
  Neighborhood neighborhood_;
  Channels channels_;
  std::unique_ptr<NonBlockingReduce> reduce_;
  ResidualReduction reduction_;
  double threshold_;
  bool waits_;
  bool running_ = false;
};

// ---- By way of a master ----

enum MasterKind : std::int64_t { HaloKind = 1, ResidualKind = 2 };

class MasterLinks : public HybridLinks {
 public:
  MasterLinks(Transport& transport, Session session, const Subregion& subregion)
      : transport_(transport), session_(session), halo_(subregion.halo().size()) {}

  bool swap(const std::vector<double>& boundary, std::vector<double>& halo) override {
    if (halo_ == 0) return false;
    const Bytes answer = ask(Writer().value<std::int64_t>(HaloKind).range(boundary).take());
    std::vector<double> values = Reader(answer).range<double>();
    if (values.size() != halo_) throw Error("malformed message: a halo of another size");
    halo = std::move(values);
    return true;
  }
  bool report(double squares, std::uint32_t reasons) override {
    const Bytes answer =
        ask(Writer().value<std::int64_t>(ResidualKind).value(squares).value(reasons).take());
    return Reader(answer).value<std::int64_t>() != 0;
  }
  void close() override {}

 private:
  Bytes ask(Bytes question) {
    transport_.send(0, Channel::Work, session_, SendMode::Eager, std::move(question));
    Patience patience;
    for (;;) {
      if (auto envelope = transport_.tryReceive(Channel::Work, session_))
        return std::move(envelope->bytes);
      patience.rest(transport_);
    }
  }

  Transport& transport_;
  Session session_;
  std::size_t halo_;
};

}  // namespace

std::unique_ptr<HybridLinks> makeNeighborLinks(Transport& transport, const Subregion& subregion,
                                               double threshold,
                                               const std::vector<double>& boundary, bool waits) {
  return std::make_unique<NeighborLinks>(transport, subregion, threshold, boundary, waits);
}

std::unique_ptr<HybridLinks> makeMasterLinks(Transport& transport, Session session,
                                             const Subregion& subregion) {
  return std::make_unique<MasterLinks>(transport, session, subregion);
}

HybridMaster::HybridMaster(const LaplaceProblem& problem, const std::vector<CellRange>& boxes,
                           const std::vector<Bytes>& boundaries)
    : clients_(boxes.size()) {
  std::vector<Subregion> subregions;
  for (std::size_t r = 0; r < boxes.size(); ++r) subregions.emplace_back(problem, boxes, r);
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    Client& client = clients_[r];
    client.boundary = Reader(boundaries.at(r)).range<double>();
    if (client.boundary.size() != subregions[r].boundary().size())
      throw Error("malformed message: a boundary of another size");
    client.halo.resize(subregions[r].halo().size());
    for (std::size_t other = 0; other < boxes.size(); ++other) {
      auto in = subregions[r].neededFrom(other);
      if (!in.empty())
        client.routes.push_back({other, subregions[other].neededBy(r), std::move(in)});
    }
  }
}

void HybridMaster::serve(Transport& transport, Session session, double threshold,
                         OperationTimes* times) {
  std::size_t running = clients_.size() - 1;
  clients_[0].squares = 0;  // its own
  bool stop = false;
  Trouble trouble;
  const auto readHalo = [&](Client& client, Reader& reader) {
    std::vector<double> boundary = reader.range<double>();
    if (boundary.size() != client.boundary.size())
      throw Error("malformed message: a boundary of another size");
    client.boundary = std::move(boundary);
  };
  const auto readResidual = [&](Client& client, Reader& reader) {
    client.squares = reader.value<double>();
    const auto reasons = reader.value<std::uint32_t>();
    double sum = 0;
    for (const Client& other : clients_) sum += other.squares;
    stop = stop || reasons != 0 || std::isnan(sum) || std::sqrt(sum) <= threshold;
  };
  Patience patience;
  while (running > 0) {
    auto envelope = transport.tryReceive(Channel::Work, session);
    if (!envelope) {
      patience.rest(transport);
      continue;
    }
    patience.reset();
    Client& client = clients_[static_cast<std::size_t>(envelope->source)];
    const auto answer = [&](Bytes bytes) {
      transport.send(envelope->source, Channel::Work, session, SendMode::Eager, std::move(bytes));
    };
    Reader reader(envelope->bytes);
    std::int64_t kind = ResidualKind;
    trouble.attempt([&] { kind = reader.value<std::int64_t>(); });
    // Who asks waits for the answer, so there is one whatever is wrong with the question.
    if (kind == HaloKind) {
      timed(times, Operation::MasterHalo, [&] {
        trouble.attempt([&] { readHalo(client, reader); });
        for (const Route& route : client.routes)
          for (std::size_t i = 0; i < route.in.size(); ++i)
            client.halo[route.in[i]] = clients_[route.from].boundary[route.out[i]];
        answer(Writer().range(client.halo).take());
      });
    } else {
      timed(times, Operation::MasterResidual, [&] {
        trouble.attempt([&] {
          if (kind != ResidualKind) throw Error("malformed message: no question for a master");
          readResidual(client, reader);
        });
        stop = stop || trouble.any();
        answer(Writer().value<std::int64_t>(stop ? 1 : 0).take());
        if (stop && !std::exchange(client.stopped, true)) --running;
      });
    }
  }
  if (trouble.any()) throw Error(trouble.text());
}

}  // namespace tributary
