// SPDX-License-Identifier: BSD-3-Clause
#include "Common/PropertyList.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Hash.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

bool PropertyList::isSame(const Value& one, const Value& other) {
  const auto* a = std::get_if<double>(&one);
  const auto* b = std::get_if<double>(&other);
  return one == other || (a && b && std::isnan(*a) && std::isnan(*b));
}

bool PropertyList::operator==(const PropertyList& other) const {
  return std::equal(properties_.begin(), properties_.end(), other.properties_.begin(),
                    other.properties_.end(), [](const Property& a, const Property& b) {
                      return a.name == b.name &&
                             std::equal(a.values.begin(), a.values.end(), b.values.begin(),
                                        b.values.end(), isSame);
                    });
}

std::string PropertyList::difference(const Property& first, const Property& mine) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << mine.name;
  if (first.values.size() != mine.values.size()) {
    text << " has " << mine.values.size() << " values, but " << first.values.size() << " on rank 0";
  } else {
    const auto show = [&](const Value& value) {
      std::visit([&](const auto& some) { text << some; }, value);
    };
    std::size_t i = 0;
    while (i + 1 < mine.values.size() && isSame(first.values[i], mine.values[i])) ++i;
    text << " is ";
    show(mine.values[i]);
    text << ", but ";
    show(first.values[i]);
    text << " on rank 0";
  }
  text << "; set it to the same value on all ranks";
  return text.str();
}

Bytes PropertyList::packed() const {
  Writer writer;
  for (const Property& property : properties_) {
    writer.text(property.name).value(static_cast<std::uint64_t>(property.values.size()));
    for (const Value& value : property.values) {
      writer.value(static_cast<std::uint8_t>(value.index()));
      if (const auto* text = std::get_if<std::string>(&value))
        writer.text(*text);
      else if (const auto* number = std::get_if<double>(&value))
        writer.value(*number);
      else
        writer.value(std::get<std::int64_t>(value));
    }
  }
  return writer.take();
}

std::vector<PropertyList::Property> PropertyList::unpacked(Reader& reader) {
  std::vector<Property> properties;
  while (!reader.atEnd()) {
    Property& property = properties.emplace_back();
    property.name = reader.text();
    for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
      const auto type = reader.value<std::uint8_t>();
      if (type == 2)
        property.values.emplace_back(reader.text());
      else if (type == 1)
        property.values.emplace_back(reader.value<double>());
      else
        property.values.emplace_back(reader.value<std::int64_t>());
    }
  }
  return properties;
}

void PropertyList::agree(Transport& transport, ErrorCollector errors) const {
  std::uint64_t hash = 0;
  if (!errors.any())
    errors.attempt([&] {
      for (const std::byte byte : packed()) hash = scramble(hash ^ std::uint64_t(byte));
    });
  if (sameOnAllRanks(transport, {static_cast<std::int64_t>(hash)}, errors)) return;
  const std::vector<Property> first = broadcastAs(transport, packed(), 0, unpacked);
  collectively(transport, [&] {
    const std::size_t count = std::min(first.size(), properties_.size());
    for (std::size_t n = 0; n < count; ++n) {
      const Property& mine = properties_[n];
      if (!std::equal(mine.values.begin(), mine.values.end(), first[n].values.begin(),
                      first[n].values.end(), isSame))
        throw Error(difference(first[n], mine));
    }
  });
}

}  // namespace tributary
