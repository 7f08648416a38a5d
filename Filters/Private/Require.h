#pragma once

#include <sstream>

#include "Tributary/Error.h"

namespace tributary {

/// Throws Error unless the value is good, naming the property, its value and what it should be.
template <class T>
void require(bool isGood, const char* property, const T& value, const char* cure) {
  if (isGood) return;
  std::ostringstream text;
  text << property << " is " << value << "; " << cure;
  throw Error(text.str());
}

}  // namespace tributary
