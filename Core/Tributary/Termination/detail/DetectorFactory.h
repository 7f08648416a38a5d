// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "Tributary/Termination/Detector.h"

namespace tributary::detail {

/// The type of the detectors of class D, which is constructible from a transport, or from a
/// transport, a session and options.
template <class D>
[[nodiscard]] DetectorType detectorType(DetectorTraits traits) {
  return {std::move(traits),
          [](Transport& transport, Session session,
             const DetectorOptions& options) -> std::unique_ptr<Detector> {
            if constexpr (std::is_constructible_v<D, Transport&>) {
              static_cast<void>(session), static_cast<void>(options);
              return std::make_unique<D>(transport);
            } else {
              return std::make_unique<D>(transport, session, options);
            }
          }};
}

}  // namespace tributary::detail
