// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/detail/StallWatch.h"

#include <algorithm>
#include <cstddef>

namespace tributary::detail {

namespace {

// The number of ranks whose reports are shown in full.
constexpr std::size_t ReportedRanks = 16;

}  // namespace

StallWatch::StallWatch(Transport& transport, Notices& notices, double seconds)
    : transport_(transport),
      notices_(notices),
      seconds_(seconds),
      progressAt_(transport.now()),
      lookedAt_(progressAt_),
      ranks_(static_cast<std::size_t>(transport.rank() == 0 ? transport.size() : 0)) {}

void StallWatch::tell(bool stalled, const std::string& report) {
  stalled_ = stalled;
  if (transport_.rank() == 0) {
    ranks_[0] = {stalled, report};
  } else {
    notices_.send(0, stalled ? Notice::Kind::Stalled : Notice::Kind::Moving, report);
  }
}

void StallWatch::receive(const Notice& notice) {
  if (ranks_.empty()) return;
  ranks_[static_cast<std::size_t>(notice.source)] = {notice.kind == Notice::Kind::Stalled,
                                                     notice.text};
}

std::string StallWatch::report() const {
  const bool all = !ranks_.empty() && std::all_of(ranks_.begin(), ranks_.end(),
                                                  [](const State& s) { return s.stalled; });
  if (!all) return {};
  std::string text =
      "exchange stalled: no progress on any rank for " + std::to_string(seconds_) +
      " s. A callback waits for a message that no block sends, or leaves messages in its mailbox. "
      "If "
      "all blocks are done, a message takes longer than this time: increase the stall timeout.";
  for (std::size_t rank = 0; rank < ranks_.size() && rank < ReportedRanks; ++rank) {
    text += "\n  rank " + std::to_string(rank) + ": " + ranks_[rank].report;
  }
  if (ranks_.size() > ReportedRanks) {
    text += "\n  and " + std::to_string(ranks_.size() - ReportedRanks) + " more ranks";
  }
  return text;
}

}  // namespace tributary::detail
