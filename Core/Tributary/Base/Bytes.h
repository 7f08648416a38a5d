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

/// An allocator whose containers leave new elements uninitialized, which avoids writing a buffer
/// twice if a message fills it. Large blocks of memory are reused: see LargeBuffers.h.
template <class T>
class UninitializedAllocator : public std::allocator<T> {
 public:
  /// The same allocator for another type.
  template <class U>
  struct rebind {
    /// The allocator of U.
    using other = UninitializedAllocator<U>;
  };
  UninitializedAllocator() = default;
  /// Allocators of all types are equal.
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) {}
  /// Memory for `count` values, from largeBuffer() if it is large.
  T* allocate(std::size_t count) {
    if (count < LargeBufferBytes / sizeof(T)) return std::allocator<T>::allocate(count);
    if (count > std::size_t(-1) / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(largeBuffer(count * sizeof(T)));
  }
  /// Frees memory of allocate(), or keeps it for reuse if it is large.
  void deallocate(T* memory, std::size_t count) {
    if (count < LargeBufferBytes / sizeof(T)) {
      std::allocator<T>::deallocate(memory, count);
    } else {
      giveBackLargeBuffer(memory, count * sizeof(T));
    }
  }
  /// Leaves the value uninitialized.
  template <class U>
  void construct(U* p) {
    ::new (static_cast<void*>(p)) U;
  }
  /// Constructs the value from arguments.
  template <class U, class... Args>
  void construct(U* p, Args&&... args) {
    ::new (static_cast<void*>(p)) U(std::forward<Args>(args)...);
  }
};

/// The buffer of a message. `resize` leaves new bytes uninitialized.
using Bytes = std::vector<std::byte, UninitializedAllocator<std::byte>>;

/// Appends `size` bytes at `data` to a buffer.
inline void append(Bytes& bytes, const void* data, std::size_t size) {
  if (size == 0) return;
  const auto* first = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), first, first + size);
}

/// Serializes trivially copyable values and contiguous ranges, without padding. A range is its
/// length (64 bits) and its elements. All ranks must have the same architecture: values are written
/// as they are in memory.
class Writer {
 public:
  Writer() = default;
  /// Appends to an existing buffer.
  explicit Writer(Bytes&& bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  Writer& value(Span<T>) = delete;  // use range(), which writes the elements
  /// Writes a value.
  template <class T>
  Writer& value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>, "write the members of this type one by one");
    static_assert(!std::is_pointer_v<T>, "a pointer is not valid on another rank");
    append(bytes_, &value, sizeof(T));
    return *this;
  }
  /// Writes a range: its length and its elements.
  template <class T>
  Writer& range(Span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "write the elements of this range one by one");
    value(static_cast<std::uint64_t>(values.size()));
    append(bytes_, values.data(), values.size() * sizeof(T));
    return *this;
  }
  /// @overload
  template <class T, class A>
  Writer& range(const std::vector<T, A>& values) {
    return range(Span<const T>(values.data(), values.size()));
  }
  /// Writes a string, as a range.
  Writer& text(const std::string& text) {
    return range(Span<const char>(text.data(), text.size()));
  }

  /// Appends `size` uninitialized bytes, which the caller writes in any order.
  /// @return the first of them, valid until the next call of a member function that writes
  [[nodiscard]] std::byte* extend(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return bytes_.data() + bytes_.size() - size;
  }

  /// Reserves memory for a total number of bytes.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  /// The number of bytes written.
  std::size_t size() const { return bytes_.size(); }
  /// Returns the buffer, and empties the writer.
  [[nodiscard]] Bytes take() { return std::exchange(bytes_, Bytes()); }

 private:
  Bytes bytes_;
};

/// Deserializes the output of a Writer. Every read throws Error of kind Message if it exceeds the
/// buffer, in all build types. Lengths are checked before memory is allocated. The buffer must
/// outlive the reader.
class Reader {
 public:
  /// Reads from a view of bytes.
  explicit Reader(Span<const std::byte> bytes) : bytes_(bytes) {}
  /// Reads from `size` bytes.
  Reader(const std::byte* data, std::size_t size) : bytes_(data, size) {}
  /// Reads from a buffer.
  explicit Reader(const Bytes& bytes) : bytes_(bytes.data(), bytes.size()) {}

  /// Reads a value.
  template <class T>
  [[nodiscard]] T value() {
    static_assert(std::is_trivially_copyable_v<T>, "read the members of this type one by one");
    std::remove_const_t<T> result;
    std::memcpy(&result, advance(sizeof(T)), sizeof(T));
    return result;
  }
  /// Reads a range.
  template <class T>
  [[nodiscard]] std::vector<T> range() {
    std::vector<T> result;
    const auto count = length(sizeof(T));
    result.resize(count);
    copy(result.data(), count * sizeof(T));
    return result;
  }
  /// Reads a range and appends it to `values`.
  template <class T, class A>
  void rangeInto(std::vector<T, A>& values) {
    const auto count = length(sizeof(T));
    const auto old = values.size();
    values.resize(old + count);
    copy(values.data() + old, count * sizeof(T));
  }
  /// Reads a string.
  [[nodiscard]] std::string text() {
    const auto count = length(1);
    const auto* first = reinterpret_cast<const char*>(advance(count));
    return std::string(first, count);
  }
  /// Reads the next `size` bytes without copying them. The span refers to the buffer.
  [[nodiscard]] Span<const std::byte> raw(std::size_t size) { return {advance(size), size}; }

  /// The number of bytes that were not read yet.
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  /// Whether all bytes were read.
  [[nodiscard]] bool atEnd() const { return remaining() == 0; }

 private:
  const std::byte* advance(std::size_t size) {
    if (size > remaining()) {
      refuseMessage(std::to_string(size) + " bytes expected, " + std::to_string(remaining()) +
                    " of " + std::to_string(bytes_.size()) + " left");
    }
    const std::byte* here = bytes_.data() + position_;
    position_ += size;
    return here;
  }
  std::size_t length(std::size_t elementSize) {
    const auto count = value<std::uint64_t>();
    if (count > remaining() / elementSize) {
      refuseMessage("a range of " + std::to_string(count) + " elements of " +
                    std::to_string(elementSize) + " bytes where " + std::to_string(remaining()) +
                    " bytes are left");
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
