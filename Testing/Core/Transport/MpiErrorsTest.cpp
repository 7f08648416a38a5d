// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "Support/World.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"
#include "Tributary/Transport/Mpi.h"

// MPI as it should never be: calls that fail, and messages that no transport sends. The functions
// below take the place of MPI's, which it offers once more under names that begin with P.

namespace {

std::string failing;             // the function whose next call fails
std::vector<std::byte> message;  // what the next eager send of MPI sends instead of its own
bool replacing = false;
int communicators = 0;  // that are duplicated and not freed
int sends = 0;          // that MPI was asked for

bool fails(const char* function) {
  if (failing != function) return false;
  failing.clear();
  return true;
}

int failFirst(int count, MPI_Status* statuses) {
  for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; ++i)
    statuses[i].MPI_ERROR = i == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
  return MPI_ERR_IN_STATUS;
}

}  // namespace

extern "C" {

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int destination, int tag,
              MPI_Comm comm, MPI_Request* request) {
  ++sends;
  if (fails("MPI_Isend")) return MPI_ERR_OTHER;
  if (replacing) {
    replacing = false;
    return PMPI_Isend(message.data(), static_cast<int>(message.size()), type, destination, tag,
                      comm, request);
  }
  return PMPI_Isend(buffer, count, type, destination, tag, comm, request);
}

int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int destination, int tag,
               MPI_Comm comm, MPI_Request* request) {
  ++sends;
  if (fails("MPI_Issend")) return MPI_ERR_OTHER;
  return PMPI_Issend(buffer, count, type, destination, tag, comm, request);
}

int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int destination, int tag,
                  MPI_Comm comm, MPI_Request* request) {
  ++sends;
  return PMPI_Send_init(buffer, count, type, destination, tag, comm, request);
}

int MPI_Ssend_init(const void* buffer, int count, MPI_Datatype type, int destination, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  ++sends;
  return PMPI_Ssend_init(buffer, count, type, destination, tag, comm, request);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  if (fails("MPI_Iallreduce")) return MPI_ERR_TRUNCATE;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

/// The first of the requests that complete fails.
int MPI_Testsome(int requests, MPI_Request all[], int* count, int finished[],
                 MPI_Status statuses[]) {
  const int code = PMPI_Testsome(requests, all, count, finished, statuses);
  if (code != MPI_SUCCESS || *count <= 0 || !fails("MPI_Testsome")) return code;
  return failFirst(*count, statuses);
}

int MPI_Testall(int requests, MPI_Request all[], int* flag, MPI_Status statuses[]) {
  const int code = PMPI_Testall(requests, all, flag, statuses);
  if (code != MPI_SUCCESS || *flag == 0 || !fails("MPI_Testall")) return code;
  return failFirst(requests, statuses);
}

int MPI_Fetch_and_op(const void* value, void* before, MPI_Datatype type, int rank,
                     MPI_Aint displacement, MPI_Op op, MPI_Win window) {
  if (fails("MPI_Fetch_and_op")) return MPI_ERR_OTHER;
  return PMPI_Fetch_and_op(value, before, type, rank, displacement, op, window);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  if (fails("MPI_Comm_dup")) return MPI_ERR_OTHER;
  const int code = PMPI_Comm_dup(comm, copy);
  communicators += code == MPI_SUCCESS;
  return code;
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  if (fails("MPI_Comm_set_errhandler")) return MPI_ERR_ARG;
  return PMPI_Comm_set_errhandler(comm, handler);
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  if (fails("MPI_Comm_rank")) return MPI_ERR_COMM;
  return PMPI_Comm_rank(comm, rank);
}

int MPI_Comm_size(MPI_Comm comm, int* size) {
  if (fails("MPI_Comm_size")) return MPI_ERR_COMM;
  return PMPI_Comm_size(comm, size);
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* flag) {
  if (fails("MPI_Comm_get_attr")) return MPI_ERR_KEYVAL;
  return PMPI_Comm_get_attr(comm, key, value, flag);
}

int MPI_Win_unlock_all(MPI_Win window) {
  const int code = PMPI_Win_unlock_all(window);
  return fails("MPI_Win_unlock_all") ? MPI_ERR_RMA_SYNC : code;
}

int MPI_Win_free(MPI_Win* window) {
  const int code = PMPI_Win_free(window);
  return fails("MPI_Win_free") ? MPI_ERR_WIN : code;
}

int MPI_Request_free(MPI_Request* request) {
  const int code = PMPI_Request_free(request);
  return fails("MPI_Request_free") ? MPI_ERR_REQUEST : code;
}

int MPI_Comm_free(MPI_Comm* comm) {
  --communicators;
  if (fails("MPI_Comm_free")) {
    PMPI_Comm_free(comm);
    return MPI_ERR_COMM;
  }
  return PMPI_Comm_free(comm);
}

int MPI_Finalized(int* flag) {
  if (fails("MPI_Finalized")) return MPI_ERR_OTHER;
  return PMPI_Finalized(flag);
}

int MPI_Initialized(int* flag) {
  if (fails("MPI_Initialized")) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  return PMPI_Initialized(flag);
}

}  // extern "C"

namespace tributary {
namespace {

using testing::errorOf;
using testing::makeWorld;
using testing::world;

/// Another rank: messages of a rank to itself do not use MPI.
int rightNeighbor() {
  return (world().rank() + 1) % world().size();
}

TEST(MpiErrors, NameTheCallTheRankAndTheReason) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto transport = makeWorld();
  const std::string rank = " failed on rank " + std::to_string(world().rank()) + " with code ";
  const auto failed = [&](const char* function, int code, const std::function<void()>& action) {
    failing = function;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    ASSERT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
    EXPECT_EQ(errorOf(action), function + rank + std::to_string(code) + ": " + text);
  };
  const Session session = transport->openSession();
  const auto send = [&](SendMode mode) {
    transport->send(rightNeighbor(), Topic::Work, session, mode, Bytes(10));
  };
  failed("MPI_Isend", MPI_ERR_OTHER, [&] { send(SendMode::Eager); });
  failed("MPI_Issend", MPI_ERR_OTHER, [&] { send(SendMode::Synchronous); });
  failed("MPI_Iallreduce", MPI_ERR_TRUNCATE, [&] { transport->allreduce(ReduceOp::Sum, {1}); });
  EXPECT_NE(errorOf([&] {
              transport->allreduce(static_cast<ReduceOp>(9), {1});
            }).find("unknown reduction"),
            std::string::npos);
  const auto integer = transport->shareInteger(0);
  failed("MPI_Fetch_and_op", MPI_ERR_OTHER, [&] { integer->fetchAdd(1); });
}

TEST(MpiErrors, OfOneOfSeveralRequestsHaveItsCode) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  for (const char* function : {"MPI_Testsome", "MPI_Testall"}) {
    // A new transport for each: the messages of both could arrive while the first is tested.
    const auto transport = makeWorld(1000);
    const Session session = transport->openSession();
    failing = function;
    try {
      if (function == std::string("MPI_Testsome"))  // it waits for others: a send may be over
        (void)allreduce(*transport, ReduceOp::Sum, 1);
      transport->send(rightNeighbor(), Topic::Work, session, SendMode::Eager, Bytes(5000));
      const double end = transport->now() + 60;
      while (transport->now() < end) {
        transport->poll();
        static_cast<void>(transport->tryReceive(Topic::Work, session));
      }
      ADD_FAILURE() << "no error of " << function;
    } catch (const MpiError& error) {
      EXPECT_EQ(error.function(), function);
      EXPECT_EQ(error.code(), MPI_ERR_OTHER);
    }
    failing.clear();
  }
}

TEST(MpiErrors, WhileClosingAreSaidAndNotThrown) {
  auto transport = makeWorld();
  failing = "MPI_Comm_free";
  ::testing::internal::CaptureStderr();
  transport.reset();
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("while closing the MPI transport: MPI_Comm_free failed on rank "),
            std::string::npos)
      << said;
}

/// What `action` writes to stderr while the next call of a function fails.
template <class Action>
std::string saidWhileFailing(const char* function, Action&& action) {
  failing = function;
  ::testing::internal::CaptureStderr();
  action();
  std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(failing, "") << function << " was not called";
  failing.clear();
  return said;
}

TEST(MpiErrors, OfAllDestructorsAreSaid) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto transport = makeWorld();
  const std::string rank = " failed on rank " + std::to_string(world().rank()) + " with code ";
  for (const char* function : {"MPI_Win_unlock_all", "MPI_Win_free"}) {
    auto integer = transport->shareInteger(0);
    const std::string said = saidWhileFailing(function, [&] { integer.reset(); });
    EXPECT_NE(said.find("while closing a shared integer: " + (function + rank)), std::string::npos)
        << said;
  }
  const Session session = transport->openSession();
  auto request =
      transport->persistentSend(rightNeighbor(), Topic::Work, session, SendMode::Eager, 10);
  const std::string said = saidWhileFailing("MPI_Request_free", [&] { request.reset(); });
  EXPECT_NE(said.find("while freeing a persistent request: MPI_Request_free" + rank),
            std::string::npos)
      << said;
}

TEST(MpiErrors, ATransportThatCannotBeMadeLeavesNoCommunicator) {
  const int before = communicators;
  for (const char* function : {"MPI_Comm_dup", "MPI_Comm_set_errhandler", "MPI_Comm_rank",
                               "MPI_Comm_size", "MPI_Comm_get_attr", "MPI_Finalized"}) {
    failing = function;
    try {
      (void)makeMpiTransport(MPI_COMM_WORLD);
      ADD_FAILURE() << "no error of " << function;
    } catch (const MpiError& error) {
      EXPECT_EQ(error.function(), function);
      EXPECT_EQ(std::string(error.what()).find(std::string(function) + " failed"), 0u);
    }
    EXPECT_EQ(communicators, before) << function;
  }
  { const auto transport = makeWorld(); }
  EXPECT_EQ(communicators, before);
}

TEST(MpiErrors, CarryFunctionCodeAndRankToAllRanks) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto transport = makeWorld();
  const Session session = transport->openSession();
  const int last = world().size() - 1;
  try {
    collectively(world(), [&] {
      if (world().rank() != last) return;
      failing = "MPI_Issend";
      transport->send(0, Topic::Work, session, SendMode::Synchronous, Bytes(10));
    });
    ADD_FAILURE() << "no error";
  } catch (const MpiError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Mpi);
    EXPECT_EQ(error.rank(), last);
    EXPECT_EQ(error.function(), "MPI_Issend");
    EXPECT_EQ(error.code(), MPI_ERR_OTHER);
    EXPECT_EQ(error.errorClass(), MPI_ERR_OTHER);
    const std::string mine =
        world().rank() == last ? std::string() : "rank " + std::to_string(last) + ": ";
    EXPECT_EQ(std::string(error.what()).find(mine + "MPI_Issend failed on rank "), 0u);
  }
}

TEST(MpiErrors, ATransportNeedsMpi) {
  failing = "MPI_Initialized";
  EXPECT_NE(
      errorOf([] { (void)makeMpiTransport(MPI_COMM_WORLD); }).find("needs MPI between MPI_Init"),
      std::string::npos);
}

TEST(MpiErrors, MessagesThatNoTransportSendsAreRefused) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  constexpr std::size_t Part = 1000;
  const auto refusal = [&](std::vector<std::byte> instead) {
    const auto transport = makeWorld(Part);
    const Session session = transport->openSession();
    message = std::move(instead);
    replacing = true;
    transport->send(rightNeighbor(), Topic::Work, session, SendMode::Eager, Bytes(10));
    EXPECT_FALSE(replacing);
    std::string error;
    const double end = transport->now() + 10;
    while (error.empty() && transport->now() < end) {
      transport->poll();
      error = errorOf([&] { transport->tryReceive(Topic::Work, session); });
    }
    return error;
  };
  const auto announcement = [](std::uint64_t data, std::uint64_t tail, std::uint64_t part) {
    const std::uint64_t lengths[] = {data, tail, part};
    std::vector<std::byte> bytes(sizeof lengths);
    std::memcpy(bytes.data(), lengths, sizeof lengths);
    bytes.push_back(std::byte{1});
    return bytes;
  };
  EXPECT_NE(refusal({}).find("malformed message: empty"), std::string::npos);
  EXPECT_NE(refusal({std::byte{2}}).find("malformed message: unknown kind"), std::string::npos);
  EXPECT_NE(refusal({std::byte{1}}).find("malformed message: 24 bytes expected"),
            std::string::npos);
  const auto parts = [&](std::uint64_t data, std::uint64_t tail, std::uint64_t part) {
    return refusal(announcement(data, tail, part)).find("malformed message: parts of ") == 0;
  };
  EXPECT_TRUE(parts(10, 0, 0));
  EXPECT_TRUE(parts(10, 0, std::uint64_t(1) << 40));
  EXPECT_TRUE(parts(10, Part + 1, Part));
  EXPECT_TRUE(parts(~std::uint64_t(0), 1, Part));
}

// Open MPI 5 with cross-memory attach was seen never to complete large sends of a rank to itself.
TEST(MpiTransport, AsksNothingOfMpiForMessagesToItself) {
  const auto transport = makeWorld(1000);
  Transport& t = *transport;
  const Session session = t.openSession();
  const Session persistent = t.openSession();
  const int self = t.rank();
  const int before = sends;
  for (const SendMode mode : {SendMode::Eager, SendMode::Synchronous}) {
    for (const std::size_t size : {std::size_t(10), std::size_t(1) << 20}) {
      const Bytes data(size, std::byte{7});
      const PendingSend moved = t.send(self, Topic::Work, session, mode, Bytes(data));
      const PendingSend copied = t.sendFrom(self, Topic::Work, session, mode,
                                            {data.data(), data.size()}, {data.data(), 3});
      EXPECT_EQ(moved.done(), mode == SendMode::Eager);
      for (const std::size_t wanted : {size, size + 3}) {
        const auto envelope = t.tryReceive(Topic::Work, session);
        ASSERT_TRUE(envelope);
        EXPECT_EQ(envelope->source, self);
        EXPECT_TRUE(envelope->bytes == Bytes(wanted, std::byte{7}));
      }
      EXPECT_TRUE(moved.done() && copied.done());
    }
    const auto send = t.persistentSend(self, Topic::Work, persistent, mode, 5000);
    const auto receive = t.persistentReceive(self, Topic::Work, persistent, 5000);
    send->buffer()[4999] = std::byte{9};
    send->start();
    receive->start();
    EXPECT_TRUE(send->done() && receive->done());
    EXPECT_EQ(receive->buffer()[4999], std::byte{9});
  }
  EXPECT_EQ(sends, before);
}

TEST(MpiTransport, NeitherOwnMessagesNorOthersDelayTheRestForever) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const auto transport = makeWorld();
  Transport& t = *transport;
  const Session session = t.openSession();
  t.send(rightNeighbor(), Topic::Work, session, SendMode::Eager, Bytes(10));
  barrier(t);
  // This rank always has a message for itself.
  bool found = false;
  const double end = t.now() + 60;
  while (!found && t.now() < end) {
    t.send(t.rank(), Topic::Work, session, SendMode::Eager, Bytes(1));
    t.poll();
    const auto envelope = t.tryReceive(Topic::Work, session);
    found = envelope && envelope->source != t.rank();
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tributary
