// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/TraceReport.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "Tributary/Base/Index.h"

namespace tributary {
namespace {

/// In bytes; 0 for null.
std::size_t memoryOf(vtkDataArray* array) {
  return array ? index(array->GetNumberOfValues()) * index(array->GetDataTypeSize()) : 0;
}

}  // namespace

void addLendingStatistics(const FlowDomain& flow, const LendingStatistics& lending,
                          RunStatistics& statistics) {
  const auto& blocks = flow.domain->blocks;
  const std::int64_t fixed = std::count_if(blocks.begin(), blocks.end(), [&](const auto& block) {
    return !canBeCopied(*flow.domain, *block);
  });
  statistics.count("BlocksNotLent", fixed);
  statistics.count("Loans", lending.loans);
  statistics.count("LentLines", lending.items);
  statistics.count("LentBlocks", lending.copies);
  statistics.count("LentBytes", lending.bytes);
  statistics.count("LentMemory", lending.copyMemory);
  statistics.amount("LendingGainSeconds", lending.expectedGain);
}

void addPeriods(const PeriodicAxes& axes, RunStatistics& statistics) {
  constexpr const char* Names[] = {"PeriodX", "PeriodY", "PeriodZ"};
  for (std::size_t a = 0; a < 3; ++a)
    if (axes[a].isPeriodic) statistics.amount(Names[a], axes[a].period);
}

std::size_t domainMemory(const FlowDomain& flow, const LendingMemory& lending) {
  std::size_t bytes = 0;
  for (const auto& block : flow.domain->blocks) bytes += block->memory();
  if (flow.isDerived)
    for (const FlowPiece& piece : flow.pieces) {
      bytes += memoryOf(piece.velocity);
      if (piece.laterVelocity != piece.velocity) bytes += memoryOf(piece.laterVelocity);
    }
  for (const auto& [id, copy] : lending.copies) bytes += copy->memory() + copy->copySize().message;
  return bytes;
}

void warnOfArrays(const RunContext& context, const PointArrayList& arrays) {
  for (const std::string& name : arrays.dropped)
    context.warn(
        "The point array \"" + name +
        "\" is not interpolated: its number of components differs between blocks; store it "
        "with the same number in all blocks.");
  for (const std::string& name : arrays.fleeting)
    context.warn(
        "The point array \"" + name +
        "\" is not interpolated: a block lacks it at some time steps, or has it there with "
        "another number of components; store it at all time steps.");
  for (const std::string& name : arrays.missing)
    context.warn("The input has no point array \"" + name +
                 "\" that can be interpolated; remove it from Point Arrays.");
}

void warnOfTrees(const RunContext& context) {
  context.warn(
      "The hyper tree grids of the input are not traced; apply Hyper Tree Grid To Unstructured "
      "Grid to them first.");
}

}  // namespace tributary
