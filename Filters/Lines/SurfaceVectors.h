// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "Lines/DomainFromVTK.h"

namespace tributary {

/// Local. Whether any vector of this rank has a component along the normal of its cell, in a domain
/// of 2-D cells. Lines then leave the surface that the cells form.
[[nodiscard]] bool vectorsLeaveSurface(const FlowDomain& flow);

}  // namespace tributary
