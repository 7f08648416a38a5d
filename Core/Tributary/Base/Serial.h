// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "Tributary/Base/Bytes.h"

namespace tributary {

/// Serialization of a type in messages. Specialize it for your types:
///
///   template <> struct tributary::Serial<Mine> {
///     static void write(Writer& writer, const Mine& mine);
///     static Mine read(Reader& reader);  // throws Error if the bytes are not valid
///   };
///
/// Provided for trivially copyable types (written as they are in memory), strings, and vectors,
/// pairs and maps of types with a Serial. Bytes are sent without a copy.
template <class T, class = void>
struct Serial;

template <class T>
struct Serial<T, std::enable_if_t<std::is_trivially_copyable_v<T>>> {
  static_assert(!std::is_pointer_v<T>, "a pointer is not valid on another rank");
  static constexpr bool AsInMemory = true;
  static void write(Writer& writer, const T& value) { writer.value(value); }
  [[nodiscard]] static T read(Reader& reader) { return reader.value<T>(); }
};

template <>
struct Serial<std::string> {
  static void write(Writer& writer, const std::string& text) { writer.text(text); }
  [[nodiscard]] static std::string read(Reader& reader) { return reader.text(); }
};

/// Not provided: a view does not own its characters.
template <>
struct Serial<std::string_view>;

/// Whether values of a type are written as they are in memory, so that arrays are copied at once.
template <class T, class = void>
struct IsAsInMemory : std::false_type {};
template <class T>
struct IsAsInMemory<T, std::enable_if_t<Serial<T>::AsInMemory>> : std::true_type {};
/// Whether a vector of T is serialized as the bytes of its elements.
template <class T>
constexpr bool isAsInMemory() {
  return IsAsInMemory<T>::value && !std::is_same_v<T, bool>;  // std::vector<bool> has bits
}

template <class T, class A>
struct Serial<std::vector<T, A>> {
  using Vector = std::vector<T, A>;
  static void write(Writer& writer, const Vector& values) {
    if constexpr (isAsInMemory<T>()) {
      writer.range(values);
    } else {
      writer.value(static_cast<std::uint64_t>(values.size()));
      for (const auto& value : values) Serial<T>::write(writer, value);
    }
  }
  [[nodiscard]] static Vector read(Reader& reader) {
    Vector values;
    if constexpr (isAsInMemory<T>()) {
      reader.rangeInto(values);
    } else {
      // No reserve(): a wrong number must fail at the end of the message, not by lack of memory.
      for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
        if (reader.atEnd()) static_cast<void>(reader.raw(1));  // throws
        values.push_back(Serial<T>::read(reader));
      }
    }
    return values;
  }
};

// std::pair is not trivially copyable even where its parts are.
template <class A, class B>
struct Serial<std::pair<A, B>, std::enable_if_t<!std::is_trivially_copyable_v<std::pair<A, B>>>> {
  static void write(Writer& writer, const std::pair<A, B>& pair) {
    Serial<A>::write(writer, pair.first);
    Serial<B>::write(writer, pair.second);
  }
  [[nodiscard]] static std::pair<A, B> read(Reader& reader) {
    A first = Serial<A>::read(reader);
    return {std::move(first), Serial<B>::read(reader)};
  }
};

template <class K, class V, class C, class A>
struct Serial<std::map<K, V, C, A>> {
  using Map = std::map<K, V, C, A>;
  static void write(Writer& writer, const Map& map) {
    writer.value(static_cast<std::uint64_t>(map.size()));
    for (const auto& [key, value] : map) {
      Serial<K>::write(writer, key);
      Serial<V>::write(writer, value);
    }
  }
  [[nodiscard]] static Map read(Reader& reader) {
    Map map;
    for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
      if (reader.atEnd()) static_cast<void>(reader.raw(1));  // throws
      K key = Serial<K>::read(reader);
      map.emplace_hint(map.end(), std::move(key), Serial<V>::read(reader));
    }
    return map;
  }
};

/// A lower bound of the serialized size of a value, in bytes.
template <class T>
std::size_t knownSize(const T&) {
  return std::is_trivially_copyable_v<T> ? sizeof(T) : 0;
}
/// @overload
inline std::size_t knownSize(const std::string& text) {
  return sizeof(std::uint64_t) + text.size();
}
/// @overload
template <class T, class A>
std::size_t knownSize(const std::vector<T, A>& values) {
  return isAsInMemory<T>() ? sizeof(std::uint64_t) + values.size() * sizeof(T) : 0;
}

/// Serializes a value to a message.
/// @param room  reserved at the end, in bytes: appending up to this number does not reallocate
template <class T>
[[nodiscard]] Bytes packed(T&& value, std::size_t room = 0) {
  using Value = std::decay_t<T>;
  if constexpr (std::is_same_v<Value, Bytes>) {
    return std::forward<T>(value);
  } else {
    Writer writer;
    writer.reserve(knownSize(value) + room);
    Serial<Value>::write(writer, value);
    return writer.take();
  }
}

/// Deserializes a message of packed(). Throws Error of kind Message unless the bytes are one value.
template <class T>
[[nodiscard]] T unpacked(Bytes&& bytes) {
  if constexpr (std::is_same_v<T, Bytes>) {
    return std::move(bytes);
  } else {
    const Bytes mine = std::move(bytes);
    Reader reader(mine);
    T value = Serial<T>::read(reader);
    if (!reader.atEnd()) refuseMessage(std::to_string(reader.remaining()) + " bytes too many");
    return value;
  }
}

}  // namespace tributary
