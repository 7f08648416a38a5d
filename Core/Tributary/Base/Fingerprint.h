// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "Tributary/Base/ParallelFor.h"
#include "Tributary/Base/Span.h"

namespace tributary {

/// A hash of 128 bits of a sequence of arrays, to recognize equal data without keeping them. Not
/// for untrusted data. Depends on the byte order of the machine.
class Fingerprint {
 public:
  /// Adds bytes; the order of calls matters. The result does not depend on `parallelFor`.
  void add(const void* data, std::size_t bytes, const ParallelFor& parallelFor = serialFor);
  /// Adds the bytes of values.
  template <class T>
  void add(Span<const T> values, const ParallelFor& parallelFor = serialFor) {
    add(values.data(), values.size() * sizeof(T), parallelFor);
  }
  /// Adds the bytes of a value, which must have no padding.
  template <class T>
  void addValue(const T& value) {
    add(&value, sizeof value);
  }

  bool operator==(const Fingerprint& other) const {
    return low_ == other.low_ && high_ == other.high_;
  }
  bool operator!=(const Fingerprint& other) const { return !(*this == other); }

 private:
  std::uint64_t low_ = 0, high_ = 0;
};

}  // namespace tributary
