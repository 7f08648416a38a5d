// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <utility>

#include "Tributary/Base/Error.h"
#include "Tributary/Transport/detail/AdversarialEngine.h"

namespace tributary::detail {

std::unique_ptr<PersistentRequest> AdversarialRank::persistentSend(int destination, Topic topic,
                                                                   Session session, SendMode mode,
                                                                   std::size_t size) {
  checkPersistent(destination, this->size(), size);
  return std::make_unique<AdversarialSend>(
      network_, *this, network_.rank(destination).link(topic, session, rank()), topic, mode, size);
}

std::unique_ptr<PersistentRequest> AdversarialRank::persistentReceive(int source, Topic topic,
                                                                      Session session,
                                                                      std::size_t size) {
  checkPersistent(source, this->size(), size);
  return std::make_unique<AdversarialReceive>(network_, *this, link(topic, session, source), source,
                                              size);
}

void AdversarialSend::start() {
  if (started_)
    throw Error(
        "a persistent send was started before it was done; call done() until it returns true");
  network_.moved();
  network_.counters().add(topic_, buffer_.size());
  if (mode_ == SendMode::Synchronous) ++network_.counters().acknowledgements;
  started_ = true;
  met_ = std::make_shared<bool>(false);
  rank_.sends.push_back(this);
  sent_ = buffer_;
  link_.letters.push_back({buffer_, met_});
  link_.meet();
}

bool AdversarialSend::done() {
  if (!started_) return true;
  rank_.look();
  if (!finishable() || network_.choose(Decision::Sends, rank_.rank(), {0, 1}) == 0) return false;
  network_.moved();
  started_ = false;
  leave();
  if (sent_ != buffer_)
    throw Error("the buffer of a persistent send was changed before done(); change it later");
  return true;
}

void AdversarialReceive::start() {
  if (started_)
    throw Error(
        "a persistent receive was started before it was done; call done() until it returns true");
  network_.moved();
  started_ = true;
  // A program that reads the buffer now sees values that were not sent.
  std::fill(buffer_.begin(), buffer_.end(), std::byte{0xff});
  link_.receives.push_back(this);
  link_.meet();
}

bool AdversarialReceive::done() {
  if (!started_) return true;
  rank_.look();
  const std::size_t index = place();
  if (index >= link_.letters.size()) return false;
  if (network_.choose(Decision::Message, rank_.rank(), {-1, source_}) < 0) return false;
  network_.moved();
  const Bytes bytes = std::move(link_.letters[index].bytes);
  leave();
  checkPersistentSize(bytes.size(), buffer_.size(), source_, rank_.rank());
  std::copy(bytes.begin(), bytes.end(), buffer_.begin());
  return true;
}

bool AdversarialReceive::cancel() {
  if (!started_ || done()) return false;
  link_.receives.erase(link_.receives.begin() + static_cast<std::ptrdiff_t>(place()));
  started_ = false;
  return true;
}

void AdversarialReceive::leave() {
  if (!std::exchange(started_, false)) return;
  const auto index = static_cast<std::ptrdiff_t>(place());
  if (place() < link_.letters.size()) link_.letters.erase(link_.letters.begin() + index);
  link_.receives.erase(link_.receives.begin() + index);
}

}  // namespace tributary::detail
