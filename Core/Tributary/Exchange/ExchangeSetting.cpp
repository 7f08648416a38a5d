// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/ExchangeSetting.h"

namespace tributary {

std::vector<ExchangeSetting> exchangeSettings() {
  const ExchangeSetting defaults;
  std::vector<ExchangeSetting> settings{defaults};
  for (const std::size_t batchBytes :
       {std::size_t(4) << 10, std::size_t(64) << 10, std::size_t(1) << 20})
    for (const double holdTime : {0.0, 5.0, 100.0})
      if (batchBytes != defaults.batchBytes || holdTime != defaults.holdTime)
        settings.push_back({batchBytes, holdTime});
  return settings;
}

}  // namespace tributary
