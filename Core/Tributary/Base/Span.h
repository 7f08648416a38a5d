// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

namespace tributary {

/// A view of contiguous values, which it does not own; like std::span of C++20.
template <class T>
class Span {
 public:
  constexpr Span() = default;
  /// A view of `size` values from `data` on.
  constexpr Span(T* data, std::size_t size) : data_(data), size_(size) {}
  /// A view of all values of a vector.
  template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
  Span(std::vector<U>& v) : data_(v.data()), size_(v.size()) {}
  /// A view of all values of a vector.
  template <class U, class = std::enable_if_t<std::is_convertible_v<const U (*)[], T (*)[]>>>
  Span(const std::vector<U>& v) : data_(v.data()), size_(v.size()) {}
  /// A view of const values from one of values that are not const.
  template <class U, class = std::enable_if_t<std::is_convertible_v<U (*)[], T (*)[]>>>
  constexpr Span(Span<U> other) : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](std::size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }
  /// The view of `count` values from `offset` on. @pre offset + count <= size()
  [[nodiscard]] constexpr Span subspan(std::size_t offset, std::size_t count) const {
    return {data_ + offset, count};
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The end of the run of values that equal the one at `begin`. @pre begin < values.size()
template <class T>
std::size_t endOfRun(Span<const T> values, std::size_t begin) {
  static_assert(std::is_integral_v<T>, "blocks are compared bit by bit");
  constexpr std::size_t Block = 16;  // compared at once, by vector instructions
  const T value = values[begin];
  std::size_t end = begin + 1;
  const auto isBlockEqual = [&] {
    T differences = 0;
    for (std::size_t i = 0; i < Block; ++i) differences |= values[end + i] ^ value;
    return differences == 0;
  };
  while (end + Block <= values.size() && isBlockEqual()) end += Block;
  while (end < values.size() && values[end] == value) ++end;
  return end;
}

}  // namespace tributary
