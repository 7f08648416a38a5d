// SPDX-License-Identifier: BSD-3-Clause
// Batches, announcements of rounds and notices of an Exchange, and the messages of its detector.
#include "Harness.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/Exchange.h"

namespace tributary::fuzz {

namespace {

constexpr int Ranks = 3;

/// Two blocks a rank. Each sends a few messages to the next blocks, which are passed on twice.
void play(Transport& transport, Schedule schedule, const std::string& detector) {
  const Assignment assignment(std::vector<std::int64_t>(Ranks, 2));
  const BlockId blocks = assignment.total();
  std::vector<std::vector<BlockId>> links;
  for (int i = 0; i < 2; ++i) {
    const BlockId block = assignment.first(transport.rank()) + i;
    links.push_back({(block + 1) % blocks, (block + 2) % blocks});
  }
  ExchangeOptions options;
  options.schedule = schedule;
  options.detector = detector;
  options.batchBytes = 128;
  std::vector<bool> begun(2, false);
  const auto step = [&](BlockId block, Mailbox& mailbox) {
    const auto at = static_cast<std::size_t>(block - assignment.first(transport.rank()));
    if (!begun[at]) {
      begun[at] = true;
      for (std::uint8_t i = 0; i < 2; ++i)
        mailbox.enqueue((block + 1 + i % 2) % blocks, Bytes(std::size_t(1) + 9 * i, std::byte{2}));
    }
    while (auto message = mailbox.dequeue()) {
      // Each byte is read: a view beyond the batch is seen.
      unsigned sum = 0;
      for (const std::byte byte : message->payload) sum += static_cast<unsigned>(byte);
      if (message->payload.empty() || message->payload[0] == std::byte{0} || sum > 100) continue;
      message->payload[0] = std::byte(static_cast<unsigned>(message->payload[0]) / 2);
      mailbox.enqueue((block + 2) % blocks, std::move(message->payload));
    }
    return false;
  };
  Exchange(transport, assignment, links, options, step).run();
}

Scene scene(const std::string& name, int rank, Schedule schedule, const std::string& detector) {
  return {name, Ranks, rank, [=](Transport& transport) { play(transport, schedule, detector); }};
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      scene("asynchronous", 1, Schedule::Asynchronous, "hash-counter"),
      scene("consensus", 0, Schedule::Asynchronous, "consensus"),
      scene("ring", 2, Schedule::Asynchronous, "ring-counter"),
      scene("neighborhood", 1, Schedule::Neighborhood, "tree-counter"),
      scene("synchronous", 0, Schedule::Synchronous, "hash-counter"),
  };
  return all;
}

}  // namespace tributary::fuzz
