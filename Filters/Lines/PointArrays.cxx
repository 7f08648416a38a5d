// SPDX-License-Identifier: BSD-3-Clause
#include "Lines/PointArrays.h"

#include <vtkBitArray.h>
#include <vtkDataSetAttributes.h>
#include <vtkPointData.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "Periodic/Columns.h"

#include "Tributary/Base/Error.h"
#include "Tributary/Collective/Agree.h"
#include "Tributary/Collective/Collectives.h"

namespace tributary {
namespace {

/// One piece's account of one of its arrays.
struct Account {
  std::string name;
  int place = 0;
  int type = 0;
  int components = 0;
  std::vector<std::string> componentNames;
  bool isScalars = false, isVectors = false;
  bool isFleeting = false;  ///< Whether the piece lacks it at the other step.
};

bool isInterpolated(vtkDataSet* dataSet, int index, const std::string& except) {
  vtkPointData* data = dataSet->GetPointData();
  vtkDataArray* array = data->GetArray(index);
  if (!array || !array->GetName() || vtkBitArray::SafeDownCast(array) ||
      array->GetNumberOfTuples() != dataSet->GetNumberOfPoints())
    return false;
  const std::string name = array->GetName();
  return !name.empty() && name != except && name != vtkDataSetAttributes::GhostArrayName() &&
         array != data->GetGlobalIds() && array != data->GetPedigreeIds();
}

/// The array of a data set that is interpolated under this name, or null.
vtkDataArray* interpolatedArray(vtkDataSet* dataSet, const std::string& name,
                                const std::string& except) {
  int index = -1;
  vtkDataArray* values = dataSet->GetPointData()->GetArray(name.c_str(), index);
  return values && isInterpolated(dataSet, index, except) ? values : nullptr;
}

Account accountOf(vtkPointData* data, int index) {
  vtkDataArray* array = data->GetArray(index);
  Account account;
  account.name = array->GetName();
  account.place = index;
  account.type = array->GetDataType();
  account.components = array->GetNumberOfComponents();
  if (array->HasAComponentName())
    for (int c = 0; c < account.components; ++c)
      account.componentNames.emplace_back(array->GetComponentName(c) ? array->GetComponentName(c)
                                                                     : "");
  account.isScalars = array == data->GetScalars();
  account.isVectors = array == data->GetVectors();
  return account;
}

void write(Writer& writer, const Account& a) {
  writer.text(a.name).value(a.place).value(a.type).value(a.components);
  writer.value(a.isScalars).value(a.isVectors).value(a.isFleeting);
  writer.value(static_cast<std::uint64_t>(a.componentNames.size()));
  for (const auto& name : a.componentNames) writer.text(name);
}

Account readAccount(Reader& reader) {
  Account a;
  a.name = reader.text();
  a.place = reader.value<int>();
  a.type = reader.value<int>();
  a.components = reader.value<int>();
  if (!isNumeric(a.type) || a.components < 1) refuseMessage("an array of an unknown type");
  for (bool* const flag : {&a.isScalars, &a.isVectors, &a.isFleeting})
    *flag = reader.value<std::uint8_t>() != 0;
  for (auto left = reader.value<std::uint64_t>(); left > 0; --left)
    a.componentNames.push_back(reader.text());
  return a;
}

bool isReal(int type) {
  return type == VTK_FLOAT || type == VTK_DOUBLE;
}

/// The smallest type that holds the values of both, in whatever order they are given.
int promote(int a, int b) {
  if (a == b) return a;
  if (isReal(a) && isReal(b)) return VTK_DOUBLE;
  // A missing or an integer value beside real ones: double holds 53 bits of it.
  if (isReal(a) || isReal(b)) return VTK_DOUBLE;
  const auto bytes = [](int type) { return vtkDataArray::GetDataTypeSize(type); };
  const auto isSigned = [](int type) { return vtkDataArray::GetDataTypeMin(type) < 0; };
  if (isSigned(a) == isSigned(b))
    return bytes(a) != bytes(b) ? (bytes(a) > bytes(b) ? a : b) : std::max(a, b);
  return VTK_LONG_LONG;
}

/// Writes the accounts of a data set.
/// @param other  the data set of the other step, or null
void writeAccounts(Writer& writer, vtkDataSet* dataSet, vtkDataSet* other,
                   const std::string& except) {
  vtkPointData* data = dataSet->GetPointData();
  for (int i = 0; i < data->GetNumberOfArrays(); ++i) {
    if (!isInterpolated(dataSet, i, except)) continue;
    Account account = accountOf(data, i);
    account.isFleeting = other && !interpolatedArray(other, account.name, except);
    write(writer, account);
  }
}

}  // namespace

PointArrayList agreeOnPointArrays(Transport& transport, const FlowDomain& flow) {
  std::string except;
  Bytes mine;
  collectively(transport, [&] {
    if (flow.cellCentered && !flow.isDerived) except = flow.vectorName;
    Writer writer;
    for (const FlowPiece& piece : flow.pieces) {
      writeAccounts(writer, piece.dataSet, piece.laterDataSet, except);
      if (piece.laterDataSet) writeAccounts(writer, piece.laterDataSet, piece.dataSet, except);
    }
    mine = writer.take();
  });
  // Keyed by name, so that the result does not depend on the order of ranks and pieces.
  std::map<std::string, Account> known;
  std::map<std::string, bool> differing;
  allgatherRead(transport, std::move(mine), [&](Reader& reader, int) {
    const Account a = readAccount(reader);
    const auto [at, isNew] = known.emplace(a.name, a);
    if (isNew) return;
    Account& k = at->second;
    k.place = std::min(k.place, a.place);
    k.type = promote(k.type, a.type);
    k.isScalars = k.isScalars || a.isScalars;
    k.isVectors = k.isVectors || a.isVectors;
    k.isFleeting = k.isFleeting || a.isFleeting;
    if (k.components != a.components) differing[a.name] = true;
    if (k.componentNames != a.componentNames) k.componentNames.clear();
  });
  PointArrayList list;
  collectively(transport, [&] {
    std::vector<Account> order;
    for (const auto& [name, account] : known) {
      if (differing[name])
        list.dropped.push_back(name);
      else if (account.isFleeting)
        list.fleeting.push_back(name);
      else
        order.push_back(account);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Account& a, const Account& b) { return a.place < b.place; });
    for (const Account& a : order) {
      PointArray& array = list.arrays.emplace_back();
      array.name = a.name;
      array.type = a.type;
      array.components = a.components;
      array.componentNames = a.componentNames;
      array.isScalars = a.isScalars;
      array.isVectors = a.isVectors;
      for (const FlowPiece& piece : flow.pieces) {
        array.perPiece.push_back(interpolatedArray(piece.dataSet, a.name, except));
        if (piece.laterDataSet)
          array.laterPerPiece.push_back(interpolatedArray(piece.laterDataSet, a.name, except));
      }
    }
  });
  const auto isVelocity = [&](const PointArray& array) { return array.name == flow.vectorName; };
  if (!flow.cellCentered && !flow.isDerived &&
      std::none_of(list.arrays.begin(), list.arrays.end(), isVelocity))
    throw Error("the vectors \"" + flow.vectorName +
                "\" are ids, bits or flags, which are not interpolated; choose another array with "
                "Vectors");
  return list;
}

void matchSteps(PointArrayList& earlier, PointArrayList& later) {
  std::vector<PointArray> kept, laterKept;
  std::set<std::string> fleeting(earlier.fleeting.begin(), earlier.fleeting.end());
  fleeting.insert(later.fleeting.begin(), later.fleeting.end());
  fleeting.insert(later.dropped.begin(), later.dropped.end());
  for (const PointArray& array : later.arrays) fleeting.insert(array.name);
  for (const PointArray& array : earlier.arrays) {
    const auto match =
        std::find_if(later.arrays.begin(), later.arrays.end(), [&](const PointArray& other) {
          return other.name == array.name && other.components == array.components;
        });
    if (match == later.arrays.end()) {
      fleeting.insert(array.name);
      continue;
    }
    fleeting.erase(array.name);
    kept.push_back(array);
    laterKept.push_back(*match);
    kept.back().type = laterKept.back().type = promote(array.type, match->type);
    if (array.componentNames != match->componentNames) kept.back().componentNames.clear();
  }
  for (const std::string& name : earlier.dropped) fleeting.erase(name);
  earlier.arrays = std::move(kept);
  later.arrays = std::move(laterKept);
  earlier.fleeting.assign(fleeting.begin(), fleeting.end());
  later.fleeting = earlier.fleeting;
}

PointArrayList selectArrays(const PointArrayList& all, const FlowDomain& flow,
                            const std::set<std::string>& names) {
  if (names.empty()) return all;
  PointArrayList list;
  std::set<std::string> missing = names;
  if (!flow.isDerived) missing.erase(flow.vectorName);  // cell-centered vectors are carried, too
  for (const PointArray& array : all.arrays) {
    missing.erase(array.name);
    if (names.count(array.name) > 0 || (!flow.cellCentered && array.name == flow.vectorName))
      list.arrays.push_back(array);
  }
  for (const std::string& name : all.dropped)
    if (missing.erase(name) > 0) list.dropped.push_back(name);
  for (const std::string& name : all.fleeting)
    if (missing.erase(name) > 0) list.fleeting.push_back(name);
  list.missing.assign(missing.begin(), missing.end());
  return list;
}

}  // namespace tributary
