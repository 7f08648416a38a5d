#include "Tributary/Exchange/Inbox.h"

#include <cstring>
#include <utility>

namespace tributary {

namespace {

std::size_t padded(std::size_t size) {
  return (size + 7) & ~std::size_t(7);
}

}  // namespace

void Inbox::add(BlockId from, const void* data, std::size_t size) {
  if (size >= Large) {
    Bytes payload;
    append(payload, data, size);
    add(from, std::move(payload));
    return;
  }
  const Header header{from, size};
  const std::size_t old = incoming_.size();
  incoming_.resize(old + sizeof header + padded(size));
  std::memcpy(incoming_.data() + old, &header, sizeof header);
  if (size > 0) std::memcpy(incoming_.data() + old + sizeof header, data, size);
  ++arrived_;
}

void Inbox::add(BlockId from, Bytes&& payload) {
  if (payload.size() < Large) {
    add(from, payload.data(), payload.size());
    return;
  }
  const Header header{from, payload.size()};
  append(incoming_, &header, sizeof header);
  large_.push_back(std::move(payload));
  ++arrived_;
}

void Inbox::open() {
  if (arrived_ == 0) return;
  if (position_ == reading_.size()) {
    reading_.clear();
    reading_.swap(incoming_);
    position_ = 0;
  } else {
    // What the last calls left comes first; drop what they took once it is the larger part.
    if (position_ > reading_.size() / 2) {
      reading_.erase(reading_.begin(), reading_.begin() + static_cast<std::ptrdiff_t>(position_));
      position_ = 0;
    }
    append(reading_, incoming_.data(), incoming_.size());
    incoming_.clear();
  }
  visible_ += arrived_;
  arrived_ = 0;
}

void Inbox::close() {
  if (viewed_.capacity() > 0) viewed_ = Bytes();
}

Inbox::Header Inbox::nextHeader() {
  Header header;
  std::memcpy(&header, reading_.data() + position_, sizeof header);
  position_ += sizeof header;
  --visible_;
  return header;
}

std::optional<Message> Inbox::dequeue() {
  close();
  if (visible_ == 0) return std::nullopt;
  const Header header = nextHeader();
  Message message{header.from, {}};
  if (header.size >= Large) {
    message.payload = std::move(large_.front());
    large_.pop_front();
  } else {
    append(message.payload, reading_.data() + position_, header.size);
    position_ += padded(header.size);
  }
  return message;
}

std::optional<MessageView> Inbox::dequeueView() {
  close();
  if (visible_ == 0) return std::nullopt;
  const Header header = nextHeader();
  if (header.size >= Large) {
    viewed_ = std::move(large_.front());
    large_.pop_front();
    return MessageView{header.from, {viewed_.data(), viewed_.size()}};
  }
  const MessageView view{header.from, {reading_.data() + position_, header.size}};
  position_ += padded(header.size);
  return view;
}

void Inbox::clear() {
  *this = Inbox();
}

}  // namespace tributary
