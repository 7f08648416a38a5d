// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "Tributary/Base/Span.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Transport/Transport.h"

namespace tributary {

/// What a rank does for some time. The time between entries is that of communication.
enum class Activity : std::int32_t {
  Call,   ///< A call of the callback for a block.
  Idle,   ///< Turns without a call or a message.
  Lend,   ///< A loan is written, within a call.
  Borrow  ///< A loan is read, within a call.
};

/// An entry of a timeline.
struct TimelineEntry {
  double begin = 0, end = 0;  ///< Seconds since Timeline::start().
  BlockId block = -1;         ///< The block that is called or lent; -1 if none is, or if the call
                              ///< works in copies of other ranks' blocks.
  std::int64_t bytes = 0;     ///< Of the copy in a loan.
  std::int32_t rank = -1;     ///< That borrows or lends; else -1.
  Activity activity = Activity::Idle;
};

/// What one rank does in its exchanges, and when, for a chart of all ranks: see
/// ExchangeOptions::timeline. Members are local unless they say otherwise.
class Timeline {
 public:
  /// @param most  entries that are kept, if there is memory; later ones are only counted. An entry
  ///              takes 40 bytes.
  explicit Timeline(std::size_t most = std::size_t(1) << 20) : most_(most) {}

  /// Collective. Removes all entries, and sets the time 0: that at which all ranks have called it,
  /// within the time that a barrier takes to end.
  void start(Transport& transport);
  /// Adds what the rank has done. Idle times that follow each other are joined. Without a
  /// duration, nothing is added.
  /// @param begin, end  by Transport::now()
  /// @param rank, bytes  see TimelineEntry
  void add(Activity activity, double begin, double end, BlockId block = -1, int rank = -1,
           std::int64_t bytes = 0) noexcept;
  /// Replaces the blocks of entries of calls.
  /// @param first  the entry to begin with
  /// @param blockOf  called with the number of each block
  void renumber(std::size_t first, const std::function<BlockId(BlockId)>& blockOf);

  /// In the order in which they ended.
  const std::vector<TimelineEntry>& entries() const { return entries_; }
  /// The number of entries that were not kept.
  std::int64_t dropped() const { return dropped_; }

 private:
  std::size_t most_;
  double origin_ = 0;
  std::vector<TimelineEntry> entries_;
  std::int64_t dropped_ = 0;
};

/// Writes entries in the trace event format, JSON that Perfetto (ui.perfetto.dev) and Chrome's
/// about:tracing show: a process for each rank, and complete events ("ph": "X") whose times are in
/// microseconds. Local.
/// @param ranks  the entries of each rank
void writeTrace(std::ostream& stream, Span<const std::vector<TimelineEntry>> ranks);

/// Writes them to a file. Local, on rank 0. Throws Error if it cannot be written.
/// @param what  what the error calls the file
void writeTrace(const std::string& file, Span<const std::vector<TimelineEntry>> ranks,
                const std::string& what = "the timeline");

/// Collective. Writes the timelines of all ranks with writeTrace() to a file of rank 0. Throws
/// Error on all ranks if it cannot be written.
/// @param file  a path on rank 0; not used on others
/// @param what  what the error calls the file
void writeTimeline(Transport& transport, const Timeline& mine, const std::string& file,
                   const std::string& what = "the timeline");

}  // namespace tributary
