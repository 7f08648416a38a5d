// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sstream>

#include "Tributary/Base/Error.h"

namespace tributary {

/// Throws Error with the property, its value and the cure if the value is invalid.
/// @param isGood  whether the value is valid
/// @param cure  the parts of an imperative sentence, for example "set it to ", 1
template <class T, class... Cure>
void require(bool isGood, const char* property, const T& value, const Cure&... cure) {
  if (isGood) return;
  std::ostringstream text;
  text << property << " is " << value << "; ";
  (text << ... << cure);
  throw Error(text.str());
}

}  // namespace tributary
