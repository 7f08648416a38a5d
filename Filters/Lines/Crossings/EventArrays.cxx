// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Crossings/EventArrays.h"

#include <vtkBitArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkType.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "Common/Require.h"

#include "Tributary/Base/Bytes.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// What all pieces on all ranks have under the name of an event.
struct Account {
  std::int64_t pieces = 0, atCells = 0, atPoints = 0;  ///< Pieces, and those that have the array.
  int cellType = 0;                             ///< VTK type that represents the values of all.
  int cellComponents = 1, pointComponents = 1;  ///< The largest number.
};

vtkDataArray* cellArray(vtkDataSet* dataSet, const std::string& name) {
  vtkDataArray* const array = dataSet->GetCellData()->GetArray(name.c_str());
  const bool isNumeric = array && !vtkBitArray::SafeDownCast(array);
  return isNumeric && array->GetNumberOfTuples() == dataSet->GetNumberOfCells() ? array : nullptr;
}

const PointArray* find(const std::vector<PointArray>& arrays, const std::string& name) {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const PointArray& array) { return array.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

/// Local.
Account accountOf(const EventArray& event, const PointArrayList& all, const FlowDomain& flow) {
  Account account;
  const PointArray* const atPoints = find(all.arrays, event.name);
  if (atPoints) account.pointComponents = atPoints->components;
  account.pieces = static_cast<std::int64_t>(flow.pieces.size());
  for (std::size_t piece = 0; piece < flow.pieces.size(); ++piece) {
    account.atPoints += atPoints && atPoints->perPiece[piece];
    vtkDataArray* const array = cellArray(flow.pieces[piece].dataSet, event.name);
    if (!array) continue;
    const int type = array->GetDataType();
    account.cellType = account.atCells == 0 || type == account.cellType ? type : VTK_DOUBLE;
    account.cellComponents = std::max(account.cellComponents, array->GetNumberOfComponents());
    ++account.atCells;
  }
  return account;
}

/// Collective. The sums over all ranks.
std::vector<Account> accountsOf(Transport& transport, const std::vector<EventArray>& events,
                                const PointArrayList& all, const FlowDomain& flow) {
  Bytes mine;
  collectively(transport, [&] {
    Writer writer;
    for (const EventArray& event : events) {
      const Account a = accountOf(event, all, flow);
      writer.value(a.pieces).value(a.atCells).value(a.atPoints);
      writer.value(a.cellType).value(a.cellComponents).value(a.pointComponents);
    }
    mine = writer.take();
  });
  std::vector<Account> sums(events.size());
  std::size_t next = 0;  // each rank has as many
  allgatherRead(transport, std::move(mine), [&](Reader& reader, int) {
    Account& sum = sums[next++ % sums.size()];
    sum.pieces += reader.value<std::int64_t>();
    const auto atCells = reader.value<std::int64_t>();
    sum.atPoints += reader.value<std::int64_t>();
    const int type = reader.value<int>();
    if (atCells > 0) sum.cellType = sum.atCells == 0 || type == sum.cellType ? type : VTK_DOUBLE;
    sum.atCells += atCells;
    sum.cellComponents = std::max(sum.cellComponents, reader.value<int>());
    sum.pointComponents = std::max(sum.pointComponents, reader.value<int>());
  });
  return sums;
}

/// Local. Whether an event takes the array of cells.
bool isOfCells(const EventArray& event, const Account& account) {
  return event.isLabel ? account.atCells > 0 : account.atPoints == 0 && account.atCells > 0;
}

/// Local. Throws Error if an array is not one that an event can have.
void check(const EventArray& event, const Account& account, const PointArrayList& all) {
  if (account.pieces == 0) return;
  const auto demand = [&](bool isGood, const auto&... cure) {
    require(isGood, "Events", '"' + event.text + '"', cure...);
  };
  const std::string name = '"' + event.name + '"';
  const bool ofCells = isOfCells(event, account);
  const bool isMixed =
      std::find(all.dropped.begin(), all.dropped.end(), event.name) != all.dropped.end();
  demand(ofCells || account.atPoints > 0 || !isMixed,
         "use an array with one component: the numbers of components of ", name, " differ");
  demand(ofCells || account.atPoints > 0, "use an array of the input: there is no ", name,
         " at points or cells");
  const int components = ofCells ? account.cellComponents : account.pointComponents;
  demand(components == 1, "use an array with one component: ", name, " has ", components);
  demand((ofCells ? account.atCells : account.atPoints) == account.pieces,
         "use an array that all data sets have: ", name, ofCells ? " at cells" : " at points",
         " is missing in some; cells that close a gap of a periodic domain have no cell arrays");
}

}  // namespace

PointArrayList selectWithEvents(Transport& transport, const PointArrayList& all,
                                const FlowDomain& flow, std::set<std::string> names,
                                const std::vector<EventArray>& events,
                                std::vector<std::size_t>& places) {
  std::vector<Account> accounts;
  if (!events.empty()) accounts = accountsOf(transport, events, all, flow);
  PointArrayList arrays;
  collectively(transport, [&] {
    for (std::size_t e = 0; e < events.size(); ++e) {
      check(events[e], accounts[e], all);
      if (!names.empty() && !isOfCells(events[e], accounts[e])) names.insert(events[e].name);
    }
    arrays = selectArrays(all, flow, names);
    places.clear();
    for (std::size_t e = 0; e < events.size(); ++e) {
      const bool ofCells = isOfCells(events[e], accounts[e]);
      const auto found =
          std::find_if(arrays.arrays.begin(), arrays.arrays.end(), [&](const PointArray& array) {
            return array.name == events[e].name && array.ofCells == ofCells;
          });
      places.push_back(static_cast<std::size_t>(found - arrays.arrays.begin()));
      if (found != arrays.arrays.end() || !ofCells) continue;
      PointArray& array = arrays.arrays.emplace_back();
      array.name = events[e].name;
      array.type = accounts[e].cellType;
      array.ofCells = true;
      for (const FlowPiece& piece : flow.pieces)
        array.perPiece.push_back(cellArray(piece.dataSet, array.name));
    }
  });
  return arrays;
}

void EventArrayFields::evaluate(const FieldBlock& block, const TrajectoryPoint& point,
                                double* values) const {
  thread_local Weights weights;
  weights.wantGradients = false;
  block.weights(rules_, {&point, 1}, weights);
  for (std::size_t f = 0; f < events_.size(); ++f)
    values[f] = evaluator_.valueOf(places_[f], events_[f].isLabel, block, weights);
}

}  // namespace tributary
