// SPDX-License-Identifier: BSD-3-Clause
// How many vertices of a random directed graph can be reached from vertex 0? Each rank owns four
// blocks of vertices; a block that reaches a vertex notifies the blocks of its successors, and no
// rank waits for another. Run it as `mpirun -n 4 Reachable`; the count is the same for any -n.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "Tributary/Collective/Collectives.h"
#include "Tributary/Exchange/Exchange.h"
#ifdef TRIBUTARY_WITH_MPI
#include "Tributary/Transport/Mpi.h"
#else
#include "Tributary/Transport/Loopback.h"
#endif

using namespace tributary;

constexpr std::int64_t Vertices = 200'000;

/// The k-th successor of a vertex: any hash will do.
std::int64_t successor(std::int64_t vertex, std::int64_t k) {
  std::uint64_t h = static_cast<std::uint64_t>(2 * vertex + k + 1) * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9u;
  return static_cast<std::int64_t>((h ^ (h >> 29)) % Vertices);
}

std::int64_t countReachable(Transport& transport, Schedule schedule) {
  const auto assignment = Assignment::gather(transport, 4);  // four blocks on every rank
  const auto blocks = assignment.total();
  const auto blockOf = [&](std::int64_t vertex) { return vertex * blocks / Vertices; };
  std::vector<bool> reached(Vertices);
  std::int64_t count = 0;
  bool started = false;

  const Step step = [&](BlockId block, Mailbox& mailbox) {
    const auto reach = [&](std::int64_t vertex) {
      if (reached[vertex]) return;
      reached[vertex] = true;
      ++count;
      for (std::int64_t k = 0; k < 2; ++k) {
        mailbox.enqueue(blockOf(successor(vertex, k)), successor(vertex, k));
      }
    };
    if (block == 0 && !started) reach(0);
    started = true;
    while (auto message = mailbox.dequeueView()) {
      reach(Reader(message->payload).value<std::int64_t>());
    }
    return false;  // no work left: only a message can bring more
  };

  std::vector<BlockId> everyBlock;
  for (BlockId block = 0; block < blocks; ++block) everyBlock.push_back(block);
  ExchangeOptions options;
  options.schedule = schedule;
  Exchange(transport, assignment, std::vector<std::vector<BlockId>>(4, everyBlock), options, step)
      .run();
  return allreduce(transport, ReduceOp::Sum, count);
}

int run(Transport& transport) {
  const auto asynchronous = countReachable(transport, Schedule::Asynchronous);
  const auto synchronous = countReachable(transport, Schedule::Synchronous);
  if (transport.rank() == 0) {
    std::printf("%lld of %lld vertices can be reached, on %d ranks\n",
                static_cast<long long>(asynchronous), static_cast<long long>(Vertices),
                transport.size());
  }
  return asynchronous == synchronous ? 0 : 1;
}

int main(int argc, char** argv) {
#ifdef TRIBUTARY_WITH_MPI
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  const int result = run(*makeMpiTransport(MPI_COMM_WORLD));
  return MPI_Finalize() == MPI_SUCCESS ? result : 1;
#else
  static_cast<void>(argc), static_cast<void>(argv);
  return run(*makeLoopbackTransport());
#endif
}
