// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/Notices.h"

#include "Tributary/Base/Error.h"

namespace tributary::detail {

void Notices::send(int destination, Notice::Kind kind, const std::string& text) {
  transport_.send(destination, Topic::Control, session_, SendMode::Eager,
                  Writer().value(kind).text(text).take());
}

std::optional<Notice> Notices::receive() {
  Notice notice;
  try {
    const auto envelope = transport_.tryReceive(Topic::Control, session_);
    if (!envelope) return std::nullopt;
    notice.source = envelope->source;
    Reader reader(envelope->bytes);
    notice.kind = reader.value<Notice::Kind>();
    notice.text = reader.text();
    if (notice.kind < Notice::Kind::Stop || notice.kind > Notice::Kind::Moving || !reader.atEnd()) {
      throw Error(ErrorKind::Message, "malformed message: not a notice of an exchange");
    }
  } catch (const LostMessage& lost) {
    notice = {lost.source(), Notice::Kind::Unreadable, lost.what()};
  } catch (const Error& error) {
    notice.kind = Notice::Kind::Unreadable;
    notice.text = error.what() + (", from rank " + std::to_string(notice.source)) +
                  "; do all ranks run the same version of the program?";
  }
  return notice;
}

}  // namespace tributary::detail
