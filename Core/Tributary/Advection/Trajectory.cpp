// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/Trajectory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "Tributary/Base/HugePages.h"
#include "Tributary/Base/LargeBuffers.h"

namespace tributary {
namespace {

/// Chunks double from the smallest size, so that a log allocates little more than the recorded
/// points need, up to one huge page: the first access to fresh memory by small pages would cost as
/// much as computing the points.
constexpr std::size_t LargestChunk = std::size_t(1) << 21;
constexpr std::size_t SmallestChunk = std::size_t(1) << 15;

/// The size of a log's next chunk, in bytes.
std::size_t nextChunk(std::size_t chunks) {
  return std::min(SmallestChunk << std::min<std::size_t>(chunks, 6), LargestChunk);
}

/// Passes what a record has, in order, to a function: written and read by one description.
template <class Crossing, class Field>
void visitRecord(CrossingContent content, bool isPeriodic, Crossing& crossing, Field&& field) {
  field(crossing.point.index);
  if (content == CrossingContent::Positions) return;
  for (auto& x : crossing.image) field(x);
  field(crossing.point.time);
  field(crossing.length);
  field(crossing.number);
  if (content == CrossingContent::Times) return;
  field(crossing.point.cell);
  if (isPeriodic)
    for (auto& x : crossing.point.x) field(x);
}

/// Of a record: the line, the image or the event, and the fields above.
std::size_t recordBytes(CrossingContent content, bool isPeriodic) {
  CrossingPoint crossing{};
  std::size_t bytes = sizeof(std::int32_t) + (content == CrossingContent::Positions
                                                  ? 3 * sizeof(float)
                                                  : sizeof(std::uint8_t));
  visitRecord(content, isPeriodic, crossing, [&](auto& value) { bytes += sizeof value; });
  return bytes;
}

template <class T>
void put(std::byte*& at, const T& value) {
  std::memcpy(at, &value, sizeof value);
  at += sizeof value;
}

template <class T>
T get(const std::byte*& at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  at += sizeof value;
  return value;
}

static_assert(MostEvents <= std::numeric_limits<std::uint8_t>::max(), "events fit in a record");

}  // namespace

void CrossingLog::Release::operator()(std::byte* memory) const {
  freePages(memory, bytes);
}

/// Whether the record of a crossing of this line can be added to the last chunk.
bool CrossingLog::fits(std::int64_t line) const {
  if (chunks_.size() == first_ || chunks_.back().count == chunks_.back().capacity) return false;
  const std::int64_t difference = line - chunks_.back().line;
  return difference >= std::numeric_limits<std::int32_t>::min() &&
         difference <= std::numeric_limits<std::int32_t>::max();
}

void CrossingLog::grow(std::int64_t line) {
  const bool isFull = chunks_.size() > first_ && chunks_.back().count == chunks_.back().capacity;
  const std::size_t bytes = nextChunk(isFull ? chunks_.size() : 0);
  std::unique_ptr<std::byte[], Release> records(static_cast<std::byte*>(allocatePages(bytes)),
                                                Release{bytes});
  chunks_.push_back({std::move(records), bytes / recordBytes(content_, isPeriodic_), 0, line});
}

void CrossingLog::append(const StepRules& rules, const CrossingPoint& crossing) {
  if (size_ == 0) {
    content_ = rules.crossingContent;
    isPeriodic_ = rules.period[0] > 0 || rules.period[1] > 0 || rules.period[2] > 0;
  }
  if (!fits(crossing.point.line)) grow(crossing.point.line);
  Chunk& chunk = chunks_.back();
  std::byte* at = chunk.records.get() + chunk.count * recordBytes(content_, isPeriodic_);
  put(at, static_cast<std::int32_t>(crossing.point.line - chunk.line));
  if (content_ == CrossingContent::Positions)
    for (const double x : crossing.image) put(at, static_cast<float>(x));
  else
    put(at, static_cast<std::uint8_t>(crossing.event));
  visitRecord(content_, isPeriodic_, crossing, [&](const auto& value) { put(at, value); });
  ++chunk.count;
  ++size_;
}

CrossingPoint CrossingLog::read(const Chunk& chunk, std::size_t i) const {
  CrossingPoint crossing{};
  const std::byte* at = chunk.records.get() + i * recordBytes(content_, isPeriodic_);
  crossing.point.line = chunk.line + get<std::int32_t>(at);
  crossing.point.cell = -1;
  if (content_ == CrossingContent::Positions)
    for (double& x : crossing.image) x = get<float>(at);
  else
    crossing.event = get<std::uint8_t>(at);
  visitRecord(content_, isPeriodic_, crossing, [&](auto& value) {
    value = get<std::remove_reference_t<decltype(value)>>(at);
  });
  const bool isImage = content_ != CrossingContent::All || !isPeriodic_;
  if (isImage) std::memcpy(crossing.point.x, crossing.image, sizeof crossing.point.x);
  return crossing;
}

std::size_t CrossingLog::takeChunk(std::vector<CrossingPoint>& taken) {
  if (first_ == chunks_.size()) return 0;
  Chunk& chunk = chunks_[first_];
  const std::size_t count = chunk.count;
  taken.reserve(taken.size() + count);
  for (std::size_t i = 0; i < count; ++i) taken.push_back(read(chunk, i));
  chunk.records.reset();
  ++first_;
  size_ -= count;
  return count;
}

void TrajectoryLog::Release::operator()(TrajectoryPoint* p) const {
  if (bytes >= LargeBufferBytes)
    giveBackLargeBuffer(p, bytes);
  else
    std::free(p);
}

std::size_t TrajectoryLog::size() const {
  std::size_t points = 0;
  for (std::size_t i = 0; i < chunkCount(); ++i) points += chunk(i).size();
  return points;
}

void TrajectoryLog::grow() {
  const std::size_t bytes = nextChunk(chunks_.size());
  void* memory = bytes >= LargeBufferBytes ? largeBuffer(bytes) : allocatePages(bytes);
  // Uninitialized: each point is written once, by the caller of append().
  auto* points = static_cast<TrajectoryPoint*>(memory);
  const std::size_t capacity = bytes / sizeof(TrajectoryPoint);
  chunks_.push_back(
      {std::unique_ptr<TrajectoryPoint[], Release>(points, Release{bytes}), capacity});
  next_ = points;
  end_ = points + capacity;
}

}  // namespace tributary
