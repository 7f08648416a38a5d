// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "Support/World.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Loopback.h"

#ifdef TRIBUTARY_WITH_MPI
#include "Tributary/Transport/Mpi.h"
#endif

namespace tributary::testing {

namespace {

std::unique_ptr<Transport>& owner() {
  static std::unique_ptr<Transport> transport;
  return transport;
}

#ifdef TRIBUTARY_WITH_MPI
bool withMpi = true;
#endif

/// Prints the failures of ranks other than 0, where GoogleTest's own printer is switched off.
class RankPrinter : public ::testing::EmptyTestEventListener {
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", world().rank(),
                 result.file_name() ? result.file_name() : "?", result.line_number(),
                 result.message());
  }
};

/// A test that fails on one rank fails on all; it also keeps the ranks in the same test.
class Agreement : public ::testing::EmptyTestEventListener {
 public:
  /// @param transport  not the tests' own: a rank that left its test early owes operations there
  explicit Agreement(Transport& transport) : transport_(transport) {}

 private:
  void OnTestEnd(const ::testing::TestInfo& info) override {
    const bool failed = info.result()->Failed();
    const std::int64_t ranks = allreduce(transport_, ReduceOp::Sum, failed ? 1 : 0);
    if (ranks > 0 && !failed) ADD_FAILURE() << "failed on " << ranks << " other ranks";
  }

  Transport& transport_;
};

}  // namespace

Transport& world() {
  return *owner();
}

std::unique_ptr<Transport> makeWorld(std::size_t largestPart) {
#ifdef TRIBUTARY_WITH_MPI
  if (withMpi) return makeMpiTransport(MPI_COMM_WORLD, largestPart);
#endif
  static_cast<void>(largestPart);
  return makeLoopbackTransport();
}

}  // namespace tributary::testing

/// `--loopback`: one rank without MPI, in a build with MPI too.
int main(int argc, char** argv) {
  using namespace tributary::testing;
#ifdef TRIBUTARY_WITH_MPI
  for (int i = 1; i < argc; ++i) withMpi = withMpi && argv[i] != std::string("--loopback");
  int provided = 0;  // what a test needs it asks the transport for
  if (withMpi) MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
#endif
  ::testing::InitGoogleTest(&argc, argv);
  owner() = makeWorld();
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (world().rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new RankPrinter);
  }
  auto forAgreement = makeWorld();
  listeners.Append(new Agreement(*forAgreement));
  const std::int64_t here = RUN_ALL_TESTS();
  const auto result =
      static_cast<int>(tributary::allreduce(world(), tributary::ReduceOp::Max, here));
  forAgreement.reset();
  owner().reset();
#ifdef TRIBUTARY_WITH_MPI
  if (withMpi) MPI_Finalize();
#endif
  return result;
}
