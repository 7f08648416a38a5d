// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

class vtkDataObject;
class vtkInformation;
class vtkInformationVector;

namespace tributary {

/// Collective. The time of data, which ranks without data may not know; none if no rank does.
/// @param data  of this rank
[[nodiscard]] std::optional<double> timeOfData(Transport& transport, vtkDataObject* data);

/// Local. The times of the steps that an input reports; none if it does not.
[[nodiscard]] Span<const double> reportedTimes(vtkInformation* input);

/// Local. The time that a request to a filter is for; NaN if none is.
/// @param outputs  of the filter
[[nodiscard]] double requestedTime(vtkInformation* request, vtkInformationVector* outputs);

}  // namespace tributary
