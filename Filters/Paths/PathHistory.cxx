// SPDX-License-Identifier: BSD-3-Clause
#include "Paths/PathHistory.h"

#include <cstring>

#include "Common/FreshArray.h"

#include "Tributary/Base/Index.h"

namespace tributary {

std::size_t PathSegment::memory() const {
  std::size_t bytes = entries.size() * sizeof(PathEntry);
  for (std::size_t f = 0; f < arrays.size(); ++f)
    bytes += index(arrays[f]->GetNumberOfTuples()) * fields[f].bytes;
  return bytes;
}

void keepLastPoints(PathSegment& segment) {
  std::vector<std::int64_t> last;
  for (PathEntry& entry : segment.entries) {
    const bool isKept =
        entry.points > 0 && (entry.reason == Reason::None || entry.reason == Reason::OutOfTime);
    if (isKept) last.push_back(entry.first + entry.points - 1);
    entry.first = static_cast<std::int64_t>(last.size()) - isKept;
    entry.points = isKept;
  }
  for (std::size_t f = 0; f < segment.arrays.size(); ++f) {
    vtkDataArray* all = segment.arrays[f];
    auto few =
        vtkSmartPointer<vtkDataArray>::Take(vtkDataArray::CreateDataArray(all->GetDataType()));
    few->SetName(all->GetName());
    few->SetNumberOfComponents(all->GetNumberOfComponents());
    setFreshTuples(few, static_cast<vtkIdType>(last.size()));
    const std::size_t bytes = segment.fields[f].bytes;
    const auto* from = static_cast<const std::byte*>(all->GetVoidPointer(0));
    auto* to = static_cast<std::byte*>(few->GetVoidPointer(0));
    for (const std::int64_t point : last) {
      std::memcpy(to, from + index(point) * bytes, bytes);
      to += bytes;
    }
    segment.arrays[f] = few;
  }
}

}  // namespace tributary
