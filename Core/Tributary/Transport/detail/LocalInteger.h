// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// A SharedInteger that only one rank uses.
class LocalInteger : public SharedInteger {
 public:
  explicit LocalInteger(std::int64_t initial) : value_(initial) {}
  std::int64_t fetchAdd(std::int64_t value) override {
    return std::exchange(value_, value_ + value);
  }

 private:
  std::int64_t value_;
};

}  // namespace tributary::detail
