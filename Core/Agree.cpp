#include "Tributary/Agree.h"

#include <exception>

#include "Tributary/Error.h"
#include "Tributary/Transport/Collectives.h"

namespace tributary {

void agreeOnError(Transport& transport, const std::string& localError) {
  const std::int64_t none = transport.size();
  const std::int64_t mine = localError.empty() ? none : transport.rank();
  const std::int64_t lowest = allreduce(transport, ReduceOp::Min, mine);
  if (lowest == none) return;
  const std::string text = broadcast(transport, localError, static_cast<int>(lowest));
  if (!localError.empty()) throw Error(localError);
  throw Error("rank " + std::to_string(lowest) + ": " + text);
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
