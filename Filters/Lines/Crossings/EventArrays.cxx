// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/Crossings/EventArrays.h"

#include <vtkBitArray.h>
#include <vtkCellData.h>
#include <vtkDataArray.h>
#include <vtkDataSet.h>
#include <vtkType.h>

#include <algorithm>
#include <array>
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
  std::int64_t fleeting = 0;                    ///< Those that have it at cells, at one step only.
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

/// The arrays of a piece at cells: that of the earlier step and that of the later one, which are
/// the same in a steady field. Null if a step lacks it.
std::array<vtkDataArray*, 2> cellArrays(const FlowPiece& piece, const std::string& name) {
  vtkDataArray* const array = cellArray(piece.dataSet, name);
  return {array, piece.laterDataSet ? cellArray(piece.laterDataSet, name) : array};
}

/// Local.
Account accountOf(const EventArray& event, const PointArrayList& all, const FlowDomain& flow) {
  Account account;
  const PointArray* const atPoints = find(all.arrays, event.name);
  if (atPoints) account.pointComponents = atPoints->components;
  account.pieces = static_cast<std::int64_t>(flow.pieces.size());
  for (std::size_t piece = 0; piece < flow.pieces.size(); ++piece) {
    account.atPoints += atPoints && atPoints->perPiece[piece];
    const std::array<vtkDataArray*, 2> arrays = cellArrays(flow.pieces[piece], event.name);
    if (!arrays[0] && !arrays[1]) continue;
    for (vtkDataArray* array : arrays) {
      if (!array) continue;
      const int type = array->GetDataType();
      account.cellType = account.cellType == 0 || type == account.cellType ? type : VTK_DOUBLE;
      account.cellComponents = std::max(account.cellComponents, array->GetNumberOfComponents());
    }
    account.fleeting += !arrays[0] || !arrays[1];
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
      writer.value(a.pieces).value(a.atCells).value(a.atPoints).value(a.fleeting);
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
    sum.fleeting += reader.value<std::int64_t>();
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
  // Also if there is the other array: paths would take this one in some intervals, and that in
  // others.
  const bool comesAndGoes =
      !(event.isLabel && ofCells) &&
      std::find(all.fleeting.begin(), all.fleeting.end(), event.name) != all.fleeting.end();
  demand(!comesAndGoes && !(ofCells && account.fleeting > 0),
         "use an array that data sets have at all time steps: ", name,
         comesAndGoes ? " at points" : " at cells", " is missing at some");
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
      array.isLabel = std::any_of(events.begin(), events.end(), [&](const EventArray& event) {
        return event.name == array.name && event.isLabel;
      });
      for (const FlowPiece& piece : flow.pieces) {
        const std::array<vtkDataArray*, 2> steps = cellArrays(piece, array.name);
        array.perPiece.push_back(steps[0]);
        if (piece.laterDataSet) array.laterPerPiece.push_back(steps[1]);
      }
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
    values[f] = evaluator_.valueOf(places_[f], events_[f].isLabel, block, weights, point.time);
}

}  // namespace tributary
