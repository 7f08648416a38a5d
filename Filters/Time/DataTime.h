// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "Tributary/Transport/Transport.h"

class vtkDataObject;

namespace tributary {

/// Collective. The time of data, which ranks without data may not know; none if no rank does.
/// @param data  of this rank
[[nodiscard]] std::optional<double> timeOfData(Transport& transport, vtkDataObject* data);

}  // namespace tributary
