// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Exchange/Timeline.h"

#include <fstream>
#include <iomanip>
#include <new>
#include <ostream>
#include <utility>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Base/Index.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// What an entry of a timeline is called in charts.
std::string nameOf(const TimelineEntry& entry) {
  const std::string block = "block " + std::to_string(entry.block);
  switch (entry.activity) {
    case Activity::Call:
      return entry.block < 0 ? "copies" : block;
    case Activity::Lend:
      return "lends " + block;
    case Activity::Borrow:
      return "borrows " + block;
    case Activity::Idle:
      break;
  }
  return "idle";
}

const char* categoryOf(Activity activity) {
  switch (activity) {
    case Activity::Call:
      return "call";
    case Activity::Lend:
    case Activity::Borrow:
      return "loan";
    case Activity::Idle:
      break;
  }
  return "idle";
}

}  // namespace

void Timeline::start(Transport& transport) {
  entries_.clear();
  dropped_ = 0;
  barrier(transport);
  origin_ = transport.now();
}

void Timeline::add(Activity activity, double begin, double end, BlockId block, int rank,
                   std::int64_t bytes) noexcept {
  if (!(end > begin)) return;
  begin -= origin_;
  end -= origin_;
  if (activity == Activity::Idle && !entries_.empty()) {
    TimelineEntry& last = entries_.back();
    if (last.activity == Activity::Idle && last.end == begin) {
      last.end = end;
      return;
    }
  }
  if (entries_.size() < most_) try {
      entries_.push_back({begin, end, block, bytes, rank, activity});
      return;
    } catch (const std::bad_alloc&) {
      most_ = entries_.size();
    }
  ++dropped_;
}

void Timeline::renumber(std::size_t first, const std::function<BlockId(BlockId)>& blockOf) {
  for (std::size_t i = first; i < entries_.size(); ++i)
    if (entries_[i].activity == Activity::Call) entries_[i].block = blockOf(entries_[i].block);
}

void writeTrace(std::ostream& stream, Span<const std::vector<TimelineEntry>> ranks) {
  stream << std::fixed << std::setprecision(3)
         << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  const char* separator = "\n";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    stream << std::exchange(separator, ",\n") << R"({"name": "process_name", "ph": "M", "pid": )"
           << rank << R"(, "args": {"name": "rank )" << rank << "\"}}";
    for (const TimelineEntry& entry : ranks[rank]) {
      stream << separator << R"({"name": ")" << nameOf(entry) << R"(", "cat": ")"
             << categoryOf(entry.activity) << R"(", "ph": "X", "pid": )" << rank
             << R"(, "tid": 0, "ts": )" << entry.begin * 1e6 << R"(, "dur": )"
             << (entry.end - entry.begin) * 1e6;
      if (entry.rank >= 0)
        stream << R"(, "args": {"rank": )" << entry.rank << R"(, "bytes": )" << entry.bytes << '}';
      stream << '}';
    }
  }
  stream << "\n]}\n";
}

void writeTrace(const std::string& file, Span<const std::vector<TimelineEntry>> ranks,
                const std::string& what) {
  std::ofstream stream(file);
  writeTrace(stream, ranks);
  stream.close();
  if (!stream)
    throw Error(what + " cannot be written to \"" + file +
                "\" on rank 0; choose a file that can be written there");
}

void writeTimeline(Transport& transport, const Timeline& mine, const std::string& file,
                   const std::string& what) {
  std::vector<Bytes> toEachRank;
  collectively(transport, [&] {
    toEachRank.resize(index(transport.size()));
    append(toEachRank[0], mine.entries().data(), mine.entries().size() * sizeof(TimelineEntry));
  });
  const std::vector<Bytes> received = exchangeBytes(transport, std::move(toEachRank));
  collectively(transport, [&] {
    if (transport.rank() != 0) return;
    std::vector<std::vector<TimelineEntry>> ranks;
    for (const Bytes& bytes : received) {
      std::vector<TimelineEntry>& entries = ranks.emplace_back();
      for (Reader reader(bytes); !reader.atEnd();) entries.push_back(reader.value<TimelineEntry>());
    }
    writeTrace(file, {ranks.data(), ranks.size()}, what);
  });
}

}  // namespace tributary
