# SPDX-License-Identifier: BSD-3-Clause
"""What the virtual X server shows. It keeps its screen in a file in the format of X Window Dumps."""
import struct

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkIOImage import vtkPNGReader, vtkPNGWriter


def read(path):
    """The screen as an array of rows, columns, and red, green and blue."""
    with open(path, "rb") as file:
        data = file.read()
    # The header: 25 numbers of 32 bits, most significant byte first; then the name of the window and its colors.
    header = struct.unpack(">25I", data[:100])
    size, width, height, depth, bytes_per_line, colors = (header[i] for i in (0, 4, 5, 11, 12, 19))
    if depth != 32:
        raise RuntimeError(f"pixels of {depth} bits instead of 32")
    begin = size + 12 * colors
    lines = np.frombuffer(data, np.uint8, height * bytes_per_line, begin).reshape(height, bytes_per_line)
    return lines[:, : 4 * width].reshape(height, width, 4)[:, :, 2::-1]


def read_picture(path):
    """A PNG file as an array as of read()."""
    reader = vtkPNGReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    width, height, _ = image.GetDimensions()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars())
    return pixels.reshape(height, width, -1)[::-1, :, :3]


def write_picture(path, pixels):
    """Writes an array as of read() as a PNG file."""
    height, width, _ = pixels.shape
    image = vtkImageData()
    image.SetDimensions(width, height, 1)
    image.GetPointData().SetScalars(numpy_to_vtk(np.ascontiguousarray(pixels[::-1]).reshape(-1, 3), deep=1))
    writer = vtkPNGWriter()
    writer.SetFileName(path)
    writer.SetInputData(image)
    writer.Write()
