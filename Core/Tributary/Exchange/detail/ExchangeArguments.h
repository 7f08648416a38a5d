// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Tributary/Exchange/Exchange.h"

namespace tributary::detail {

/// Collective. Throws Error on all ranks if an argument of an exchange is invalid on any rank, or
/// if an argument that must be equal on all ranks differs.
void checkExchangeArguments(Transport& transport, const Assignment& assignment,
                            const std::vector<std::vector<BlockId>>& links,
                            const ExchangeOptions& options, const Step& step);

}  // namespace tributary::detail
