#pragma once

#include <string>

#include "Tributary/Transport/Transport.h"

namespace tributary {

/// Collective: returns if no rank has an error. Otherwise all ranks throw Error: a rank that has
/// one its own text, the others the text of the lowest such rank, as "rank N: text".
/// Call it at the end of a phase in which single ranks may fail, so that all leave together.
/// @param localError  this rank's error, or empty
void agreeOnError(Transport& transport, const std::string& localError);

}  // namespace tributary
