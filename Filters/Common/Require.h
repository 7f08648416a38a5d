// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sstream>

#include "Tributary/Base/Error.h"

namespace tributary {

/// Throws Error unless the value is good, naming the property, its value and what it should be.
/// @param cure  what is put together to a sentence
template <class T, class... Cure>
void require(bool isGood, const char* property, const T& value, const Cure&... cure) {
  if (isGood) return;
  std::ostringstream text;
  text << property << " is " << value << "; ";
  (text << ... << cure);
  throw Error(text.str());
}

}  // namespace tributary
