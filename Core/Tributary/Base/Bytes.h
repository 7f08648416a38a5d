// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/Error.h"
#include "Tributary/Base/LargeBuffers.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// Allocator whose containers leave new elements uninitialized: a buffer that a message is about to
/// fill would otherwise be written twice. Large memory is used again: see LargeBuffers.h.
template <class T>
class UninitializedAllocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  UninitializedAllocator() = default;
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) {}
  T* allocate(std::size_t count) {
    if (count < LargeBufferBytes / sizeof(T)) return std::allocator<T>::allocate(count);
    if (count > std::size_t(-1) / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(largeBuffer(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) {
    if (count < LargeBufferBytes / sizeof(T)) {
      std::allocator<T>::deallocate(memory, count);
    } else {
      giveBackLargeBuffer(memory, count * sizeof(T));
    }
  }
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

/// A message's buffer. Note: `resize` leaves the new bytes uninitialized.
using Bytes = std::vector<std::byte, UninitializedAllocator<std::byte>>;

/// Appends `size` bytes to a buffer.
inline void append(Bytes& bytes, const void* data, std::size_t size) {
  if (size == 0) return;
  const auto* first = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

/// Writes trivially copyable values and contiguous ranges, one after the other, without padding.
/// A range is written as its length (64 bits) and its elements. Ranks are of one processor kind, so
/// the bytes are the memory's.
class Writer {
 public:
  Writer() = default;
  /// Goes on at the end of an existing buffer.
  explicit Writer(Bytes&& bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  Writer& value(Span<T>) = delete;  // write its elements, with range()
  template <class T>
  Writer& value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "write the parts of this type one by one");
    static_assert(!std::is_pointer_v<T>, "a pointer means nothing on another rank");
    append(bytes_, &value, sizeof(T));
    return *this;
  }
  template <class T>
  Writer& range(Span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "write the elements of this range one by one");
    value(static_cast<std::uint64_t>(values.size()));
    append(bytes_, values.data(), values.size() * sizeof(T));
    return *this;
  }
  template <class T, class A>
  Writer& range(const std::vector<T, A>& values) {
    return range(Span<const T>(values.data(), values.size()));
  }
  Writer& text(const std::string& text) {
    return range(Span<const char>(text.data(), text.size()));
  }

  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  std::size_t size() const { return bytes_.size(); }
  /// Hands the buffer over; the writer is empty afterwards.
  Bytes take() { return std::exchange(bytes_, Bytes()); }

 private:
  Bytes bytes_;
};

/// Reads what a Writer wrote. Every read is checked against the buffer's end, in release too, and
/// throws Error; a length is checked before memory is asked for. The buffer must outlive the
/// reader.
class Reader {
 public:
  explicit Reader(Span<const std::byte> bytes) : bytes_(bytes) {}
  Reader(const std::byte* data, std::size_t size) : bytes_(data, size) {}
  explicit Reader(const Bytes& bytes) : bytes_(bytes.data(), bytes.size()) {}

  template <class T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>, "read the parts of this type one by one");
    std::remove_const_t<T> result;
    std::memcpy(&result, advance(sizeof(T)), sizeof(T));
    return result;
  }
  template <class T>
  std::vector<T> range() {
    std::vector<T> result;
    const auto count = length(sizeof(T));
    result.resize(count);
    copy(result.data(), count * sizeof(T));
    return result;
  }
  /// Appends a range to `values`; no other allocation than its growth.
  template <class T, class A>
  void rangeInto(std::vector<T, A>& values) {
    const auto count = length(sizeof(T));
    const auto old = values.size();
    values.resize(old + count);
    copy(values.data() + old, count * sizeof(T));
  }
  std::string text() {
    const auto count = length(1);
    const auto* first = reinterpret_cast<const char*>(advance(count));
    return std::string(first, count);
  }
  /// The next `size` bytes in place.
  Span<const std::byte> raw(std::size_t size) { return {advance(size), size}; }

  std::size_t remaining() const { return bytes_.size() - position_; }
  bool atEnd() const { return remaining() == 0; }

 private:
  const std::byte* advance(std::size_t size) {
    if (size > remaining()) {
      throw Error(ErrorKind::Message,
                  "malformed message: " + std::to_string(size) + " bytes wanted, " +
                      std::to_string(remaining()) + " of " + std::to_string(bytes_.size()) +
                      " left; do all ranks run the same version of the program?");
    }
    const std::byte* here = bytes_.data() + position_;
    position_ += size;
    return here;
  }
  std::size_t length(std::size_t elementSize) {
    const auto count = value<std::uint64_t>();
    if (count > remaining() / elementSize) {
      throw Error(ErrorKind::Message,
                  "malformed message: a range of " + std::to_string(count) + " elements of " +
                      std::to_string(elementSize) + " bytes where " + std::to_string(remaining()) +
                      " bytes are left; do all ranks run the same version of the program?");
    }
    return static_cast<std::size_t>(count);
  }
  void copy(void* to, std::size_t size) {
    const auto* from = advance(size);
    if (size > 0) std::memcpy(to, from, size);
  }

  Span<const std::byte> bytes_;
  std::size_t position_ = 0;
};

}  // namespace tributary
