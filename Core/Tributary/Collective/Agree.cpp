// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Collective/Agree.h"

#include <exception>

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {

void agreeOnError(Transport& transport, const std::string& localError) {
  const std::int64_t none = transport.size();
  const std::int64_t mine = localError.empty() ? none : transport.rank();
  const std::int64_t lowest = allreduce(transport, ReduceOp::Min, mine);
  if (lowest == none) return;
  ErrorCollector onTheWay;
  const Bytes reason = broadcastBytes(transport, Writer().text(localError).take(),
                                      static_cast<int>(lowest), onTheWay);
  if (!localError.empty()) throw Error(localError);
  std::string text;
  onTheWay.attempt([&] { text = Reader(reason).text(); });
  throw Error("rank " + std::to_string(lowest) + ": " +
              (onTheWay.any() ? "an error, whose text is lost: " + onTheWay.text() : text));
}

std::string currentExceptionText() {
  std::string text;
  try {
    throw;
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    return "an exception that is not a std::exception";
  }
  return text.empty() ? "an error without a text" : text;
}

}  // namespace tributary
