#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "Tributary/Bytes.h"
#include "Tributary/Error.h"
#include "Tributary/Exchange/Assignment.h"

namespace tributary {

/// What a batch says besides its messages.
enum class BatchKind : std::int64_t {
  Messages,  ///< nothing
  RoundEnd,  ///< the sender has finished its round (Neighborhood)
  Idle       ///< the sender has nothing to do and should not be waited for (Neighborhood)
};

/// One message in a batch.
struct BatchRecord {
  BlockId from;
  BlockId to;
  std::int64_t size;
};

/// The end of every batch. The format is: the payloads, each padded to 8 bytes; the records, in the
/// same order; the footer. What describes the payloads comes last, so that a buffer with one large
/// payload can be sent and kept without moving it.
struct BatchFooter {
  std::int64_t count;
  std::int64_t round;
  BatchKind kind;
};

constexpr std::size_t paddedPayload(std::size_t size) {
  return (size + 7) & ~std::size_t(7);
}

/// A received batch, every length of it checked. Throws Error if it is malformed.
class BatchReader {
 public:
  BatchReader(const Bytes& bytes, const Assignment& assignment, int source, int rank)
      : bytes_(bytes) {
    if (bytes.size() < sizeof footer_) malformed(source, "it is shorter than its footer");
    const std::size_t beforeFooter = bytes.size() - sizeof footer_;
    std::memcpy(&footer_, bytes.data() + beforeFooter, sizeof footer_);
    if (footer_.count < 0 ||
        static_cast<std::uint64_t>(footer_.count) > beforeFooter / sizeof(BatchRecord)) {
      malformed(source, "it claims " + std::to_string(footer_.count) + " messages");
    }
    if (footer_.kind != BatchKind::Messages && footer_.kind != BatchKind::RoundEnd &&
        footer_.kind != BatchKind::Idle) {
      malformed(source, "it is of no known kind");
    }
    records_ = beforeFooter - static_cast<std::size_t>(footer_.count) * sizeof(BatchRecord);
    std::size_t used = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const BatchRecord r = record(i);
      if (r.size < 0 || static_cast<std::uint64_t>(r.size) > records_ - used ||
          paddedPayload(static_cast<std::size_t>(r.size)) > records_ - used) {
        malformed(source,
                  "message " + std::to_string(i) + " claims " + std::to_string(r.size) + " bytes");
      }
      used += paddedPayload(static_cast<std::size_t>(r.size));
      if (r.to < assignment.first(rank) || r.to >= assignment.first(rank + 1)) {
        malformed(source, "message " + std::to_string(i) + " is for block " + std::to_string(r.to) +
                              ", which is not of this rank");
      }
      if (r.from < assignment.first(source) || r.from >= assignment.first(source + 1)) {
        malformed(source, "message " + std::to_string(i) + " is from block " +
                              std::to_string(r.from) + ", which is not of the sending rank");
      }
    }
    if (used != records_) malformed(source, "its payloads do not fill it");
  }

  std::size_t size() const { return static_cast<std::size_t>(footer_.count); }
  const BatchFooter& footer() const { return footer_; }
  BatchRecord record(std::size_t i) const {
    BatchRecord r;
    std::memcpy(&r, bytes_.data() + records_ + i * sizeof r, sizeof r);
    return r;
  }

 private:
  [[noreturn]] static void malformed(int source, const std::string& why) {
    throw Error("malformed batch from rank " + std::to_string(source) + ": " + why +
                "; do all ranks run the same version of the program?");
  }

  const Bytes& bytes_;
  BatchFooter footer_{};
  std::size_t records_ = 0;  // their offset
};

}  // namespace tributary
