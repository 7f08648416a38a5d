// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vtkType.h>

#include <optional>
#include <utility>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Transport/Transport.h"

class vtkAlgorithm;
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

/// Local. When the pipeline of each input of a filter was last modified, by port; 0 without one.
[[nodiscard]] std::vector<vtkMTimeType> modificationTimes(vtkAlgorithm& filter);

/// Local. The algorithms, or null, and the ports that the first connections of a filter's input
/// ports come from.
[[nodiscard]] std::vector<std::pair<const vtkAlgorithm*, int>> producersOf(vtkAlgorithm& filter);

}  // namespace tributary
