// SPDX-License-Identifier: BSD-3-Clause
#include "Regions/ConnectivityRun.h"

#include <vtkDataObject.h>
#include <vtkFieldData.h>
#include <vtkIdTypeArray.h>
#include <vtkNew.h>
#include <vtkTable.h>

#include <limits>

#include "Common/RunStatistics.h"
#include "Output/ActiveScalars.h"
#include "Regions/KeptDomain.h"

#include "Tributary/Collective/Agree.h"

namespace tributary {
namespace {

/// Fraction of the progress bar when all data sets are known.
constexpr double SetupDone = 0.1;

}  // namespace

RegionSelection ConnectivityRun::select(const RangeRegions& regions) {
  using Extraction = ConnectivitySettings::Extraction;
  Transport& transport = context_.transport;
  switch (settings_.extraction) {
    case Extraction::PointSeeded:
      return selectAtPoints(transport, *domain_, regions, settings_.seeds);
    case Extraction::CellSeeded:
      return selectAtCells(transport, *domain_, regions, settings_.seeds);
    case Extraction::Specified:
      return selectSpecified(regions.numbered.table, settings_.specified);
    case Extraction::Largest:
      return selectLargest(transport, regions.numbered.table);
    case Extraction::ClosestPoint:
      return selectNearest(transport, regions, settings_.closestPoint);
    case Extraction::SizeRange:
      return selectBySize(settings_.leastCells, settings_.mostCells == 0
                                                    ? std::numeric_limits<std::int64_t>::max()
                                                    : settings_.mostCells);
    case Extraction::All:
      break;
  }
  RegionSelection all;
  all.all = true;
  return all;
}

bool ConnectivityRun::labelRange(std::size_t number) {
  const double step = (1 - SetupDone) / static_cast<double>(ranges_.size());
  const double done = SetupDone + step * static_cast<double>(number);
  ShownRange& range = ranges_[number];
  setRange(settings_.regions, number, tests_);
  range.regions = findRegions(
      context_.transport, *domain_, tests_, measured_.arrays, measured_.names.size(),
      settings_.order, makeTunedUnionOptions(settings_.regions, context_, done + 0.5 * step));
  if (context_.agreeOnAbort(range.regions.aborted)) return false;
  range.selection = select(range.regions);
  showRegions(context_.transport, *domain_, leaves_, nameOfRange(number), measured_.names,
              settings_.colorRegions || settings_.regions.extractRegions, settings_.colorRegions,
              range);
  range.regions.labeled.clear();  // their memory is for the next range
  context_.monitor(done + step);
  return true;
}

void ConnectivityRun::write(vtkDataObject* input, vtkDataObject* output, vtkTable* table) {
  collectively(context_.transport, [&] {
    std::vector<const ElementIds*> ids;
    for (const ShownRange& range : ranges_) ids.push_back(&range.ids);
    const std::vector<const ElementIds*> none;
    writeData(input, settings_.colorRegions ? ids : none,
              settings_.regions.extractRegions ? ids : none, output);
    if (settings_.colorRegions)
      setActiveScalars(output, vtkDataObject::CELL, nameOfRange(0).c_str());
    writeTable(ranges_, table);
  });
  vtkNew<vtkIdTypeArray> total;
  total->SetName("NumberOfRegions");
  ExchangeStatistics exchange;
  for (const ShownRange& range : ranges_) {
    total->InsertNextValue(range.regions.numbered.table.total);
    exchange.add(range.regions.statistics);
  }
  output->GetFieldData()->AddArray(total);
  RunStatistics& statistics = context_.statistics;
  statistics.count("Blocks", static_cast<std::int64_t>(leaves_.size()));
  statistics.add(exchange);
  describeTuning(settings_.regions, statistics);
}

bool ConnectivityRun::execute(vtkDataObject* input, vtkDataObject* output, vtkTable* table) {
  const RegionSettings& regions = settings_.regions;
  collectively(context_.transport, [&] { leaves_ = leavesAndTreesOf(input); });
  tests_ = selectTests(regions, context_.transport, leaves_);
  measured_ = findMeasured(context_.transport, leaves_, settings_.measuredNames);
  domain_ = regions.kept->update(regions, context_, input, leaves_, 0.5 * SetupDone);
  if (context_.agreeOnAbort(!domain_)) return false;
  context_.statistics.phase("SetupSeconds");
  context_.monitor(SetupDone);

  ranges_.resize(regions.scalarConnectivity ? regions.scalarRanges.size() : 1);
  for (std::size_t r = 0; r < ranges_.size(); ++r)
    if (!labelRange(r)) return false;
  context_.statistics.phase("LabelingSeconds");
  write(input, output, table);
  if (!regions.keepDomain) regions.kept->release();
  context_.statistics.phase("WritingSeconds");
  return true;
}

}  // namespace tributary
