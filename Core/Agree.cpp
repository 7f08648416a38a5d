#include "Tributary/Agree.h"

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

}  // namespace tributary
