// SPDX-License-Identifier: BSD-3-Clause
#include "Harness.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Tributary/Base/Error.h"

using namespace tributary;

// The entry of libFuzzer, and of Replay.cpp.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    fuzz::decode({reinterpret_cast<const std::byte*>(data), size});
  } catch (const Error& error) {
    // A size that was trusted, or an exception that was not meant for users; unless a peer reports
    // it.
    const bool isReported = std::strncmp(error.what(), "rank ", 5) == 0;
    if (!isReported && (error.kind() == ErrorKind::Memory || error.kind() == ErrorKind::Internal)) {
      std::fprintf(stderr, "an error of kind %d: %s\n", static_cast<int>(error.kind()),
                   error.what());
      std::abort();
    }
  }
  return 0;
}
