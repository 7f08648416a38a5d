// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "Tributary/Base/Bytes.h"
#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Assignment.h"
#include "Tributary/Exchange/detail/Runs.h"

namespace tributary::detail {

/// The announcement that a batch carries besides its messages.
enum class BatchKind : std::int32_t {
  Messages,  ///< no announcement
  RoundEnd,  ///< the sender has ended its round (Neighborhood)
  Idle       ///< the sender has no work, and its neighbors must not wait for it (Neighborhood)
};

/// The contents of a batch before its footer.
enum class BatchLayout : std::int32_t {
  Sections,  ///< any number of sections: a SectionHeader and runs (RunHeader, padded payloads)
  Whole      ///< one payload, then a WholeRecord
};

/// Describes the message of a batch with a single message. It follows the payload, so that a large
/// buffer is sent and received without a copy.
struct WholeRecord {
  BlockId from;
  BlockId to;
  std::uint64_t size;
};

/// The last bytes of every batch.
struct BatchFooter {
  std::int64_t round;
  BatchKind kind;
  BatchLayout layout;
};

static_assert(sizeof(WholeRecord) + sizeof(BatchFooter) < RunWriter::Tail);

/// Throws Error of kind Message.
[[noreturn]] inline void refuseBatch(int source, const std::string& why) {
  throw Error(ErrorKind::Message, "malformed batch from rank " + std::to_string(source) + ": " +
                                      why + "; do all ranks run the same version of the program?");
}

/// A received batch. Checks every length and block number, once per run. Throws Error of kind
/// Message if the batch is malformed.
class BatchReader {
 public:
  BatchReader(const Bytes& bytes, const Assignment& assignment, int source, int rank)
      : bytes_(bytes), assignment_(assignment), source_(source), rank_(rank) {
    if (bytes.size() < sizeof footer_) malformed("it is shorter than its footer");
    end_ = bytes.size() - sizeof footer_;
    footer_ = get<BatchFooter>(end_);
    if (footer_.kind != BatchKind::Messages && footer_.kind != BatchKind::RoundEnd &&
        footer_.kind != BatchKind::Idle) {
      malformed("its kind is unknown");
    }
    if (footer_.layout == BatchLayout::Whole) {
      checkWhole();
    } else if (footer_.layout == BatchLayout::Sections) {
      checkSections();
    } else {
      malformed("its layout is unknown");
    }
  }

  const BatchFooter& footer() const { return footer_; }
  std::uint64_t messages() const { return messages_; }
  /// @pre the layout is Whole
  WholeRecord whole() const { return get<WholeRecord>(end_ - sizeof(WholeRecord)); }
  /// Calls `action(const SectionHeader&, const std::byte* runs)` for each section.
  template <class Action>
  void forSections(Action&& action) const {
    for (std::size_t at = 0; at < end_;) {
      const auto section = get<SectionHeader>(at);
      at += sizeof section;
      action(section, bytes_.data() + at);
      at += section.bytes;
    }
  }

 private:
  template <class T>
  T get(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  void checkWhole() {
    if (end_ < sizeof(WholeRecord)) malformed("it is shorter than its record");
    const WholeRecord record = whole();
    if (record.size != end_ - sizeof record) {
      malformed("its message claims " + std::to_string(record.size) + " bytes");
    }
    checkTo(record.to);
    checkFrom(record.from);
    messages_ = 1;
  }

  void checkSections() {
    for (std::size_t at = 0; at < end_;) {
      if (end_ - at < sizeof(SectionHeader)) malformed("it ends within the header of a section");
      const auto section = get<SectionHeader>(at);
      at += sizeof section;
      if (section.bytes > end_ - at) {
        malformed("a section claims " + std::to_string(section.bytes) + " bytes");
      }
      checkTo(section.to);
      const std::size_t sectionEnd = at + static_cast<std::size_t>(section.bytes);
      std::uint64_t messages = 0;
      while (at < sectionEnd) {
        if (sectionEnd - at < sizeof(RunHeader))
          malformed("a section ends within the header of a run");
        const auto run = get<RunHeader>(at);
        at += sizeof run;
        const std::size_t stride = paddedPayload(run.size);
        if (run.count == 0 || run.count > (sectionEnd - at) / stride) {
          malformed("a run claims " + std::to_string(run.count) + " messages of " +
                    std::to_string(run.size) + " bytes");
        }
        checkFrom(run.from);
        at += run.count * stride;
        messages += run.count;
      }
      if (messages != section.messages) {
        malformed("a section of " + std::to_string(messages) + " messages claims " +
                  std::to_string(section.messages));
      }
      messages_ += messages;
    }
  }

  void checkTo(BlockId block) const {
    if (block < assignment_.first(rank_) || block >= assignment_.first(rank_ + 1)) {
      malformed("a message is for block " + std::to_string(block) +
                ", which this rank does not own");
    }
  }
  void checkFrom(BlockId block) const {
    if (block < assignment_.first(source_) || block >= assignment_.first(source_ + 1)) {
      malformed("a message is from block " + std::to_string(block) +
                ", which the sending rank does not own");
    }
  }

  [[noreturn]] void malformed(const std::string& why) const { refuseBatch(source_, why); }

  const Bytes& bytes_;
  const Assignment& assignment_;
  int source_;
  int rank_;
  BatchFooter footer_{};
  std::size_t end_ = 0;  // where the footer begins
  std::uint64_t messages_ = 0;
};

}  // namespace tributary::detail
