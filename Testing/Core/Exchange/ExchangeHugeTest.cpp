// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <string>

#include "Support/Huge.h"
#include "Support/World.h"
#include "Tributary/Exchange/Exchange.h"

namespace tributary {
namespace {

using testing::HugeBytes;
using testing::mix;
using testing::whyNotHuge;
using testing::world;

// More than an int counts, between two blocks of different ranks (or of one, if there is one only).
TEST(ExchangeHuge, AMessageOverTwoGibibytes) {
  const std::string whyNot = whyNotHuge(10);
  if (!whyNot.empty()) GTEST_SKIP() << whyNot;
  const int size = world().size();
  const BlockId target = size - 1;
  bool sent = false;
  std::size_t received = 0;
  std::size_t wrong = 0;
  Exchange exchange(world(),
                    Assignment(std::vector<std::int64_t>(static_cast<std::size_t>(size), 1)), {{}},
                    {}, [&](BlockId block, Mailbox& mailbox) {
                      if (block == 0 && !sent) {
                        sent = true;
                        Bytes bytes;
                        bytes.reserve(HugeBytes + 64);
                        bytes.resize(HugeBytes);
                        for (std::size_t i = 0; i < HugeBytes; i += 4096) {
                          bytes[i] = static_cast<std::byte>(mix(i));
                        }
                        bytes.back() = std::byte{99};
                        mailbox.enqueue(target, std::move(bytes));
                      }
                      while (auto message = mailbox.dequeueView()) {
                        const auto payload = message->payload;
                        received = payload.size();
                        for (std::size_t i = 0; i + 1 < received; i += 4096) {
                          wrong += payload[i] != static_cast<std::byte>(mix(i));
                        }
                        wrong += payload[received - 1] != std::byte{99};
                      }
                      return false;
                    });
  exchange.run();
  EXPECT_EQ(received, world().rank() == target ? HugeBytes : 0u);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace tributary
