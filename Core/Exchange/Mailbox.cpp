#include "Tributary/Exchange/Mailbox.h"

#include "Tributary/Exchange/Queues.h"

namespace tributary {

std::optional<Message> Mailbox::dequeue() {
  return queues_.inbox(block_).dequeue();
}

std::optional<MessageView> Mailbox::dequeueView() {
  return queues_.inbox(block_).dequeueView();
}

void Mailbox::enqueue(BlockId target, Bytes&& payload) {
  queues_.enqueue(block_, target, std::move(payload));
}

void Mailbox::enqueueRaw(BlockId target, const void* data, std::size_t size) {
  queues_.enqueue(block_, target, data, size);
}

}  // namespace tributary
