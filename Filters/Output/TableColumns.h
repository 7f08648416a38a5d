// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

class vtkAbstractArray;
class vtkTable;

namespace tributary {

/// Local. Adds columns to a table. An array of vectors makes a column for each component, whose
/// name ends with X, Y or Z: filters such as Table To Points need one column for each coordinate.
///
/// The columns of the table are then in the order of their names, capital letters first. ParaView
/// shows tables in this order, and joins those of several ranks in it, so that the columns of a
/// file do not depend on the number of ranks.
/// @param columns  with one component or, if numeric, three; one tuple for each row
/// @throws std::bad_alloc
void addColumns(vtkTable* table, const std::vector<vtkAbstractArray*>& columns);

}  // namespace tributary
