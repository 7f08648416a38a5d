// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "Tributary/Exchange/Exchange.h"

namespace tributary::detail {

/// Collective: throws Error on all ranks if what one rank gave an exchange is wrong, or not the
/// same on all where it must be.
void checkExchangeArguments(Transport& transport, const Assignment& assignment,
                            const std::vector<std::vector<BlockId>>& links,
                            const ExchangeOptions& options, const Step& step);

}  // namespace tributary::detail
