# SPDX-License-Identifier: BSD-3-Clause
"""Tables of all ranks, and the statistics of filters."""

import numpy as np
from paraview import servermanager
from tributary.proxies import is_symmetric
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkParallelCore import vtkMultiProcessController


def table(proxy, port, time=None):
    """All rows of a table, on any number of ranks, as a structured NumPy array.

    A field of the array is a column, with the type of the column: table(regions, 1)["Cells"]. Columns of
    several components are fields with a shape, columns of strings have the type U. Rows are in the order
    of the filter: those of the first rank, then those of the second one.

    proxy  a source or filter
    port   the number or the name of the output
    time   at which the filter is updated; without it, the last one
    """
    number = _port_number(proxy, port)
    proxy.UpdatePipeline(time)
    if proxy.GetDataInformation(number).GetDataSetTypeAsString() != "vtkTable":
        raise ValueError(f"output {port} of {proxy.SMProxy.GetXMLLabel()} is no table")
    merged = servermanager.filters.ReductionFilter(Input=servermanager.OutputPort(proxy, number))
    merged.PostGatherHelperName = "vtkPVMergeTables"
    return _structured(_delivered(merged, time))


def statistics(proxy, time=None):
    """What the filter counted and measured, by name: an array with a value for each rank.

    statistics(lines)["Messages"] are the values of the array "AsyncStreamTracer Messages" in the field data
    of the first output. No other data are moved.
    """
    # The field data are also those of this filter's output, without points, cells and their arrays.
    fields = servermanager.filters.ExtractAttributes(Input=_data_set(proxy, time), FieldAssociation="Field Data")
    first = servermanager.filters.ReductionFilter(Input=fields, PassThrough=0)
    prefix = proxy.SMProxy.GetVTKClassName()[len("vtk"):] + " "
    columns = _columns(_delivered(first, time).GetFieldData())
    return {
        name[len(prefix):]: values for name, values in columns.items() if name.startswith(prefix)
    }


def text(rows):
    """A table to print, as lines of text: the names, then a line for each row.

    rows  a structured array as of table(), or a dictionary as of statistics(), whose names become rows
    """
    if isinstance(rows, dict):
        ranks = range(max(map(len, rows.values()), default=0))
        lines = [["rank", *map(str, ranks)]]
        lines += [[name, *map(_cell, values)] for name, values in rows.items()]
    else:
        lines = [list(rows.dtype.names or ())] + [[_cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines if line
    )


def _cell(value):
    """A value as text."""
    if isinstance(value, np.ndarray):
        return " ".join(map(_cell, value))
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)


def _data_set(proxy, time):
    """The filter, or of a hyper tree grid, which is no data set, the centers of its cells: its field data are theirs."""
    proxy.UpdatePipeline(time)
    if proxy.GetDataInformation().GetDataSetTypeAsString() != "vtkHyperTreeGrid":
        return proxy
    return servermanager.filters.HyperTreeGridCellCenters(Input=proxy)


def _port_number(proxy, port):
    """The number of an output that is given by number or name."""
    names = [proxy.SMProxy.GetOutputPortName(i) for i in range(proxy.SMProxy.GetNumberOfOutputPorts())]
    if port in names:
        return names.index(port)
    if port in range(len(names)):
        return port
    raise ValueError(f"{proxy.SMProxy.GetXMLLabel()} has no output {port}; its outputs are {', '.join(names)}")


def _delivered(reduced, time):
    """The output of a reduction, which the first rank has, where the script runs."""
    reduced.UpdatePipeline(time)
    information = reduced.GetDataInformation()
    moved = servermanager.filters.ClientServerMoveData(Input=reduced)
    composite = information.GetCompositeDataSetType()
    moved.OutputDataType = composite if composite > 0 else information.GetDataSetType()
    moved.UpdatePipeline(time)
    output = moved.GetClientSideObject().GetOutputDataObject(0)
    copy = output.NewInstance()
    copy.UnRegister(None)
    copy.ShallowCopy(output)
    if is_symmetric():
        vtkMultiProcessController.GetGlobalController().Broadcast(copy, 0)
    return copy


def _columns(fields):
    """Arrays of field data, or of those of rows, by name."""
    arrays = map(fields.GetAbstractArray, range(fields.GetNumberOfArrays()))
    return {array.GetName(): _values(array) for array in arrays}


def _values(array):
    if array.IsA("vtkStringArray"):
        return np.array([array.GetValue(i) for i in range(array.GetNumberOfValues())], str)
    return vtk_to_numpy(array).copy()


def _structured(table):
    """A vtkTable as a structured array."""
    columns = _columns(table.GetRowData())
    rows = np.empty(
        table.GetNumberOfRows(), [(name, values.dtype, values.shape[1:]) for name, values in columns.items()]
    )
    for name, values in columns.items():
        rows[name] = values
    return rows
