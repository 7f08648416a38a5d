// SPDX-License-Identifier: BSD-3-Clause
#include "Output/ActiveScalars.h"

#include <vtkDataObject.h>
#include <vtkDataSetAttributes.h>

#include "Common/Leaves.h"

namespace tributary {

void setActiveScalars(vtkDataObject* output, int association, const char* name) {
  forEachDataSet(output, [&](vtkDataObject* object) {
    vtkDataSetAttributes* const chosen = object->GetAttributes(association);
    if (!chosen || !chosen->HasArray(name)) return;
    for (const int type : {vtkDataObject::POINT, vtkDataObject::CELL})
      if (vtkDataSetAttributes* attributes = object->GetAttributes(type))
        attributes->SetActiveScalars(attributes == chosen ? name : nullptr);
  });
}

}  // namespace tributary
