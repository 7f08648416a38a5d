// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/ExchangeSetting.h"

namespace tributary {

std::vector<ExchangeSetting> exchangeSettings() {
  const ExchangeSetting defaults;
  std::vector<ExchangeSetting> settings{defaults};
  for (const std::size_t batchBytes :
       {std::size_t(4) << 10, std::size_t(64) << 10, std::size_t(1) << 20})
    for (const double holdSeconds : {0.0, 5e-6, 100e-6})
      if (batchBytes != defaults.batchBytes || holdSeconds != defaults.holdSeconds)
        settings.push_back({batchBytes, holdSeconds});
  return settings;
}

}  // namespace tributary
