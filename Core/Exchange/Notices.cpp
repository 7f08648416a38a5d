#include "Tributary/Exchange/Notices.h"

#include "Tributary/Error.h"

namespace tributary {

void Notices::send(int destination, Notice::Kind kind, const std::string& text) {
  transport_.send(destination, Channel::Control, session_, SendMode::Eager,
                  Writer().value(kind).text(text).take());
}

std::optional<Notice> Notices::receive() {
  const auto envelope = transport_.tryReceive(Channel::Control, session_);
  if (!envelope) return std::nullopt;
  Reader reader(envelope->bytes);
  Notice notice;
  notice.source = envelope->source;
  notice.kind = reader.value<Notice::Kind>();
  notice.text = reader.text();
  if (notice.kind < Notice::Kind::Stop || notice.kind > Notice::Kind::Moving || !reader.atEnd()) {
    throw Error("malformed message: no notice of an exchange, from rank " +
                std::to_string(notice.source) +
                "; do all ranks run the same version of the program?");
  }
  return notice;
}

}  // namespace tributary
