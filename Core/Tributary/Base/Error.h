// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace tributary {

/// The one exception of the library. The text names what was wrong and the cure; it is meant to be
/// shown to a user unchanged. Thrown on the rank that saw the error: whoever runs a collective
/// operation agrees on it (see agreeOnError) so that all ranks leave together.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tributary
