// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Properties that must be the same on all ranks, in an order that is: one that says whether or how
/// many others are added comes before them.
class PropertyList {
 public:
  /// A number, compared in its own type, or a text.
  template <class T>
  void add(const char* name, const T& value) {
    properties_.push_back({name, {valueOf(value)}});
  }
  /// Several values, also none.
  template <class List>
  void addAll(const char* name, const List& values) {
    Property& property = properties_.emplace_back();
    property.name = name;
    for (const auto& value : values) property.values.push_back(valueOf(value));
  }

  /// Local. Whether another list has the same properties with the same values.
  bool operator==(const PropertyList& other) const;

  /// Local. The same bytes for the same list.
  Bytes packed() const;

  /// Collective. Ranks with other properties would do other things, and wait for each other for
  /// ever: throws Error on all of them, with the name of the first property that differs.
  void agree(Transport& transport) const;

 private:
  using Value = std::variant<std::int64_t, double, std::string>;
  struct Property {
    std::string name;
    std::vector<Value> values;
  };

  template <class T>
  static Value valueOf(const T& value) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(value);
    else
      return value;
  }
  static bool isSame(const Value& one, const Value& other);
  static std::string difference(const Property& first, const Property& mine, int rank);
  static std::vector<Property> unpacked(Reader& reader);

  std::vector<Property> properties_;
};

}  // namespace tributary
