// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Transport/Transport.h"

namespace tributary::detail {

/// The persistent requests of a rank to itself, of one topic and session: messages and receives,
/// each in the order in which they were started.
struct OwnLink {
  struct Letter {
    Bytes bytes;
    std::shared_ptr<bool> sent;
  };
  std::deque<Letter> letters;
  std::deque<class OwnReceive*> receives;
  void match();
};

/// The messages of a rank to itself. They stay in memory: no network has to make progress for them,
/// and none has to hold a large message until it is received.
class OwnMessages {
 public:
  explicit OwnMessages(int rank) : rank_(rank) {}

  /// See Transport::send().
  PendingSend send(Topic topic, Session session, SendMode mode, Bytes&& bytes);
  /// See Transport::tryReceive().
  [[nodiscard]] std::optional<Envelope> tryReceive(Topic topic, Session session);
  /// See Transport::persistentSend(). This object must outlive the request.
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentSend(Topic topic, Session session,
                                                                  SendMode mode, std::size_t size);
  /// See Transport::persistentReceive(). This object must outlive the request.
  [[nodiscard]] std::unique_ptr<PersistentRequest> persistentReceive(Topic topic, Session session,
                                                                     std::size_t size);

 private:
  struct Letter {
    Topic topic;
    Session session;
    Bytes bytes;
    std::shared_ptr<PendingSend::State> state;
  };

  int rank_;
  std::deque<Letter> letters_;
  std::map<std::pair<Topic, Session>, OwnLink> links_;
};

}  // namespace tributary::detail
