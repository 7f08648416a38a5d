// SPDX-License-Identifier: BSD-3-Clause
// Notes about loans, particles that are lent, and copies of blocks, while lines are traced.
#include "Harness.h"
#include "SmallFields.h"
#include "Tributary/Advection/Tracer.h"

namespace tributary::fuzz {

namespace {

/// Asks, accepts and lends whenever it can.
class EagerPolicy : public LendingPolicy {
 public:
  bool asks(bool idle) override { return idle; }
  bool accepts(bool, double, double) override { return true; }
  bool isEager() const override { return true; }
  PlannedLoan plan(const LoanTerms& terms) override { return {(terms.items + 1) / 2, 0}; }
};

/// Data of a caller that travel with copies.
class Cargo : public BlockCargo {
 public:
  std::size_t bytes(const FieldBlock&) const override { return sizeof(std::int64_t); }
  void write(const FieldBlock& block, Writer& message) const override {
    message.value(static_cast<std::int64_t>(block.piece()));
  }
  int add() override { return next_++; }
  void read(const FieldBlock&, Reader& message) override { (void)message.value<std::int64_t>(); }
  void drop(const FieldBlock&) override {}

 private:
  int next_ = 100;
};

enum class Kind { Mesh, Grid, UnsteadyMesh };

constexpr TimeInterval Interval{0, 2, 2};

const Domain& domainOf(Kind kind, const Transport& transport) {
  static const SmallMesh mesh(
      [](Transport& all) { return testing::makeMeshDomain(all, smallMesh()); });
  static const SmallGrid grid(
      [](Transport& all) { return testing::makeGridDomain(all, smallGrid()); });
  static const SmallMesh unsteady([](Transport& all) {
    testing::MeshSetup setup = smallMesh();
    setup.laterFlow = testing::abc;
    return testing::makeMeshDomain(all, setup);
  });
  switch (kind) {
    case Kind::Mesh:
      return mesh.of(transport);
    case Kind::Grid:
      return grid.of(transport);
    default:
      return unsteady.of(transport);
  }
}

/// All seeds are on one rank, so that the other one borrows.
void play(Transport& transport, Kind kind, int lender) {
  EagerPolicy policy;
  Cargo cargo;
  TraceOptions options;
  options.rules.integrator = Integrator::RungeKutta2;
  options.rules.maximumSteps = 20;
  options.exchange.detector = "tree-counter";
  options.lending.emplace();
  options.lending->options.policy = &policy;
  options.lending->cargo = &cargo;
  if (kind == Kind::UnsteadyMesh) options.rules.interval = Interval;
  std::vector<tributary::Seed> starts;
  if (transport.rank() == lender)
    for (int i = 0; i < 4; ++i) {
      const double x = 0.1 + 0.1 * i;
      starts.push_back({{x, 0.4 - x, -0.3}, i});
      if (kind == Kind::Grid) starts.back() = {{x, 1 + x, 0.3}, i};
    }
  (void)trace(transport, domainOf(kind, transport), starts, options);
}

Scene scene(const std::string& name, int rank, Kind kind, int lender) {
  return {name, RanksOfScenes, rank, [=](Transport& transport) { play(transport, kind, lender); }};
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      scene("mesh-borrower", 1, Kind::Mesh, 0),
      scene("mesh-lender", 0, Kind::Mesh, 0),
      scene("grid-borrower", 0, Kind::Grid, 1),
      scene("grid-lender", 1, Kind::Grid, 1),
      scene("unsteady-borrower", 1, Kind::UnsteadyMesh, 0),
      scene("unsteady-lender", 0, Kind::UnsteadyMesh, 0),
  };
  return all;
}

}  // namespace tributary::fuzz
