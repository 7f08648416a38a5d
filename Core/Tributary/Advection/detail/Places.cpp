// SPDX-License-Identifier: BSD-3-Clause
#include "Tributary/Advection/detail/Places.h"

#include <cmath>
#include <utility>

#include "Tributary/Base/Error.h"

namespace tributary::detail {

Places::Places(const Domain& domain, const StepRules& rules, int rank, int stages, int linesPerSeed,
               const TraceLending* lending, ParallelFor parallelFor)
    : domain_(domain),
      rules_(rules),
      first_(domain.assignment.first(rank)),
      stages_(stages),
      linesPerSeed_(linesPerSeed),
      lending_(lending),
      cargo_(lending ? lending->cargo : nullptr),
      parallelFor_(std::move(parallelFor)) {
  for (const auto& block : domain.blocks)
    own_.push_back(std::make_unique<Place>(*block, linesPerSeed, meterOf(block->id())));
  if (lending && lending->memory)
    for (const auto& [block, copy] : lending->memory->copies)
      copies_.emplace(block, std::make_unique<Place>(copy, linesPerSeed, meterOf(block)));
}

/// With what an earlier trace has measured.
WorkMeter Places::meterOf(BlockId block) const {
  if (!lending_ || !lending_->memory) return {};
  const auto& known = lending_->memory->secondsPerLine;
  const auto found = known.find(block);
  return found == known.end() ? WorkMeter() : WorkMeter(found->second);
}

void Places::update(Place& place) {
  const bool waits = place.waiting() > 0;
  const int change = int(waits) - int(std::exchange(place.isWaiting, waits));
  waitingPlaces_ += change;
  if (place.isCopy()) waitingCopies_ += change;
}

Place* Places::nextWaitingCopy() {
  auto at = copies_.upper_bound(lastCopy_);
  for (std::size_t n = 0; n < copies_.size(); ++n, ++at) {
    if (at == copies_.end()) at = copies_.begin();
    if (!at->second->isWaiting) continue;
    lastCopy_ = at->first;
    return at->second.get();
  }
  return nullptr;
}

std::vector<std::unique_ptr<Place>> Places::takeCopies() {
  std::vector<std::unique_ptr<Place>> all;
  for (auto& [block, place] : copies_) all.push_back(std::move(place));
  copies_.clear();
  return all;
}

/// Calls visit(place) for each block and each copy.
template <class Visit>
void Places::forEach(Visit&& visit) const {
  for (const auto& place : own_) visit(*place);
  for (const auto& [block, place] : copies_) visit(*place);
}

double Places::expectedSeconds() const {
  double seconds = 0;
  forEach([&](const Place& place) {
    const std::size_t lines = place.lendable() + place.seeking.size();
    seconds += static_cast<double>(lines) * place.meter.secondsPerItem();
  });
  return seconds;
}

WaitingWork Places::waitingIn(const Place& place) {
  const auto items = static_cast<std::int64_t>(place.lendable());
  return {place.block().id(), items, static_cast<double>(items) * place.meter.secondsPerItem()};
}

WaitingWork Places::fullest() const {
  WaitingWork most;
  forEach([&](const Place& place) {
    const WaitingWork waiting = waitingIn(place);
    const bool isMore = waiting.seconds > most.seconds ||
                        (waiting.seconds == most.seconds && waiting.items > most.items);
    if (isMore && canBeCopied(domain_, place.block())) most = waiting;
  });
  return most;
}

WaitingWork Places::waitingIn(BlockId block) const {
  const Place* place = find(block);
  return place ? waitingIn(*place) : WaitingWork{block};
}

CopySize Places::copySize(BlockId block) const {
  const FieldBlock& source = find(block)->block();
  CopySize size = source.copySize();
  const std::size_t cargo = cargo_ ? cargo_->bytes(source) : 0;
  size.message += cargo + sizeof(FieldBlock::CopyKind);
  size.memory += cargo;
  return size;
}

void Places::writeCopy(BlockId block, Writer& message) const {
  const FieldBlock& source = find(block)->block();
  writeBlock(source, message);
  if (cargo_) cargo_->write(source, message);
}

void Places::readCopy(BlockId block, Reader& message) {
  if (has(block) || !domain_.assignment.exists(block))
    refuseMessage("a copy of block " + std::to_string(block));
  const int piece = cargo_ ? cargo_->add() : 0;
  const std::shared_ptr<const FieldBlock> copy =
      readBlock(domain_, block, piece, message, parallelFor_);
  if (cargo_) cargo_->read(*copy, message);
  copies_.emplace(block, std::make_unique<Place>(copy, linesPerSeed_, meterOf(block)));
}

void Places::lend(BlockId block, std::int64_t items, int borrower, Writer& message) {
  Place& place = *find(block);
  message.value(place.meter.secondsPerItem());
  place.lend(
      index(items), stages_, rules_.events.count,
      [&](std::int64_t line) { return lending_->homeOf && lending_->homeOf(line) == borrower; },
      message);
  update(place);
}

void Places::borrow(BlockId block, Reader& message) {
  Place* place = find(block);
  if (!place) refuseMessage("work of block " + std::to_string(block));
  const auto seconds = message.value<double>();
  if (!(seconds >= 0) || !std::isfinite(seconds))
    refuseMessage("a loan whose lines take a time that is no time");
  place->meter.expect(seconds);
  place->borrow(stages_, rules_.events.count, message);
  update(*place);
  if (!place->isCopy()) refilled_.push_back(block);
}

std::vector<BlockCopy> Places::copies() const {
  std::vector<BlockCopy> list;
  for (const auto& [block, place] : copies_) list.push_back({block, copySize(block).memory});
  return list;
}

bool Places::isUnused(BlockId copy) const {
  return copyOf(copy)->waiting() == 0;
}

Bytes Places::drop(BlockId copy) {
  const auto found = copies_.find(copy);
  Bytes points = found->second->recordedPoints(rules_);
  if (cargo_) cargo_->drop(found->second->block());
  copies_.erase(found);
  return points;
}

void Places::takeBack(BlockId block, Reader& message) {
  if (!isOwn(block)) refuseMessage("points of block " + std::to_string(block));
  ownAt(block).receivePoints(rules_, message);
}

}  // namespace tributary::detail
