// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Termination/detail/TreeReports.h"

#include <algorithm>
#include <utility>

namespace tributary::detail {

namespace {

constexpr int First = 1;
constexpr int Later = 2;

bool allZero(const std::vector<std::int64_t>& counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; });
}

void add(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& counts) {
  for (std::size_t i = 0; i < sum.size(); ++i) addTo(sum[i], counts[i]);
}

void clear(std::vector<std::int64_t>& counts) {
  std::fill(counts.begin(), counts.end(), 0);
}

std::string list(const std::vector<std::int64_t>& counts) {
  std::string text;
  for (const std::int64_t count : counts) text += " " + std::to_string(count);
  return text;
}

}  // namespace

TreeReports::TreeReports(const DetectorTraits& traits, Transport& transport, Session session,
                         const DetectorOptions& options, std::size_t counts)
    : MessagingDetector(traits, transport, session, options),
      children_(tree().children(rank())),
      control_(tree().ancestor(rank(), std::max(0, tree().height() - options.controlLevel))),
      own_(counts, 0),
      pool_(counts, 0),
      missing_(children_) {}

void TreeReports::handle(int source, std::int64_t kind, Reader& body, bool) {
  const auto counts = body.range<std::int64_t>();
  if (counts.size() != pool_.size()) malformed(source, "a report of other counts");
  if (kind == First) {
    const auto child = std::find(missing_.begin(), missing_.end(), source);
    if (child == missing_.end())
      malformed(source, "a first report from a rank that is not a child");
    missing_.erase(child);
  } else if (kind != Later) {
    malformed(source, "no report");
  }
  add(pool_, counts);
}

void TreeReports::step(bool passive) {
  if (passive && (!reported_ || !allZero(own_))) {
    if (reported_ && control_ != rank()) {
      report(control_, Later, own_);
    } else {
      add(pool_, own_);
      clear(own_);
      reported_ = true;
    }
  }
  if (!reported_ || !missing_.empty()) return;
  if (rank() == 0) {
    if (!allZero(pool_)) return;
    passCompleted();
    end();
  } else if (!complete_) {
    complete_ = true;
    report(tree().parent(rank()), First, pool_);
  } else if (!allZero(pool_)) {
    report(tree().parent(rank()), Later, pool_);
  }
}

void TreeReports::restart() {
  clear(own_);
  clear(pool_);
  missing_ = children_;
  reported_ = complete_ = false;
}

std::string TreeReports::describe() const {
  std::string text = (reported_ ? "reported, since then" : "not reported,") + list(own_);
  if (!complete_) {
    for (std::size_t i = 0; i < missing_.size(); ++i) {
      text += (i == 0 ? ", no report of ranks " : " ") + std::to_string(missing_[i]);
    }
  } else {
    text += ", complete";
  }
  return text + ", to pass up" + list(pool_);
}

void TreeReports::report(int destination, int kind, std::vector<std::int64_t>& counts) {
  Writer message = compose(kind);
  message.range(counts);
  send(destination, message);
  clear(counts);
}

}  // namespace tributary::detail
