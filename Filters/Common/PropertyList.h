// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Properties that must be equal on all ranks. All ranks add them in the same order. A property
/// that determines whether others are added must be added before these.
class PropertyList {
 public:
  /// Adds a number, which is compared in its own type, or a text.
  template <class T>
  void add(const char* name, const T& value) {
    properties_.push_back({name, {valueOf(value)}});
  }
  /// Adds a property with any number of values.
  template <class List>
  void addAll(const char* name, const List& values) {
    Property& property = properties_.emplace_back();
    property.name = name;
    for (const auto& value : values) property.values.push_back(valueOf(value));
  }

  /// Local. Whether another list has the same properties with the same values. NaN equals NaN.
  [[nodiscard]] bool operator==(const PropertyList& other) const;

  /// Local. A serialization, equal for equal lists.
  [[nodiscard]] Bytes packed() const;

  /// Collective. Throws Error on all ranks if a property differs between ranks, because these would
  /// then wait for different messages. The text names the first property that differs, its values,
  /// and the lowest rank on which it differs from rank 0.
  /// @param errors  on which the same reduction agrees; see ErrorCollector::agree()
  void agree(Transport& transport, ErrorCollector errors) const;

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
  static std::string difference(const Property& first, const Property& mine);
  static std::vector<Property> unpacked(Reader& reader);

  std::vector<Property> properties_;
};

}  // namespace tributary
