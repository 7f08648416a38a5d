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
void visitRecord(CrossingFormat format, Crossing& crossing, Field&& field) {
  field(crossing.point.index);
  if (format.content == CrossingContent::Positions) return;
  for (auto& x : crossing.image) field(x);
  field(crossing.point.time);
  field(crossing.length);
  field(crossing.number);
  if (format.hasTargets) field(crossing.target);
  if (format.content == CrossingContent::Times) return;
  field(crossing.point.cell);
  if (format.isPeriodic)
    for (auto& x : crossing.point.x) field(x);
}

/// Of a record: the line, the image or the event, and the fields above.
std::size_t recordBytes(CrossingFormat format) {
  CrossingPoint crossing{};
  const bool isFloat = format.content == CrossingContent::Positions;
  std::size_t bytes = sizeof(std::int32_t) + (isFloat ? 3 * sizeof(float) : sizeof(std::uint8_t));
  visitRecord(format, crossing, [&](auto& value) { bytes += sizeof value; });
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
bool CrossingLog::fits(CrossingFormat format, std::int64_t line) const {
  if (chunks_.empty()) return false;
  const Chunk& last = chunks_.back();
  const std::int64_t difference = line - last.line;
  return last.count < last.capacity && last.format == format &&
         difference >= std::numeric_limits<std::int32_t>::min() &&
         difference <= std::numeric_limits<std::int32_t>::max();
}

void CrossingLog::grow(CrossingFormat format, std::int64_t line) {
  // A chunk that ends early because of a line far away is followed by a small one.
  const bool isFull = !chunks_.empty() && chunks_.back().count == chunks_.back().capacity;
  const std::size_t bytes = nextChunk(isFull ? chunks_.size() : 0);
  std::unique_ptr<std::byte[], Release> records(static_cast<std::byte*>(allocatePages(bytes)),
                                                Release{bytes});
  chunks_.push_back({std::move(records), bytes / recordBytes(format), 0, line, format});
}

void CrossingLog::append(CrossingFormat format, const CrossingPoint& crossing) {
  if (!fits(format, crossing.point.line)) grow(format, crossing.point.line);
  Chunk& chunk = chunks_.back();
  std::byte* at = chunk.records.get() + chunk.count * recordBytes(format);
  put(at, static_cast<std::int32_t>(crossing.point.line - chunk.line));
  if (format.content == CrossingContent::Positions)
    for (const double x : crossing.image) put(at, static_cast<float>(x));
  else
    put(at, static_cast<std::uint8_t>(crossing.event));
  visitRecord(format, crossing, [&](const auto& value) { put(at, value); });
  ++chunk.count;
}

CrossingPoint CrossingLog::read(const Chunk& chunk, std::size_t i) {
  const CrossingFormat format = chunk.format;
  CrossingPoint crossing{};
  const std::byte* at = chunk.records.get() + i * recordBytes(format);
  crossing.point.line = chunk.line + get<std::int32_t>(at);
  crossing.point.cell = -1;
  crossing.target = -1;
  if (format.content == CrossingContent::Positions)
    for (double& x : crossing.image) x = get<float>(at);
  else
    crossing.event = get<std::uint8_t>(at);
  visitRecord(format, crossing,
              [&](auto& value) { value = get<std::remove_reference_t<decltype(value)>>(at); });
  if (format.content != CrossingContent::All || !format.isPeriodic)
    std::memcpy(crossing.point.x, crossing.image, sizeof crossing.point.x);
  return crossing;
}

std::size_t CrossingLog::size() const {
  std::size_t size = 0;
  for (const Chunk& chunk : chunks_) size += chunk.count;
  return size;
}

std::size_t CrossingLog::takeChunk(std::vector<CrossingPoint>& taken) {
  if (chunks_.empty()) return 0;
  const std::size_t count = chunks_.front().count;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(read(chunks_.front(), i));
  chunks_.erase(chunks_.begin());
  return count;
}

void TrajectoryLog::appendCrossing(const CrossingPoint& crossing) {
  crossings_.append(format_, crossing);
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
