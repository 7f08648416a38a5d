# SPDX-License-Identifier: BSD-3-Clause
"""Writes small files in the classic format of NetCDF, without a library."""

import struct

DOUBLE, VARIABLE, DIMENSION = 6, 11, 10


def write(path, dimensions, variables):
    """Writes variables of doubles.

    dimensions  name to length
    variables   name to (names of its dimensions, array)
    """
    names = list(dimensions)
    header = b"CDF\x01" + struct.pack(">i", 0)
    header += struct.pack(">ii", DIMENSION, len(names))
    header += b"".join(_name(name) + struct.pack(">i", dimensions[name]) for name in names)
    header += struct.pack(">ii", 0, 0)  # no attributes
    header += struct.pack(">ii", VARIABLE, len(variables))

    def described(begins):
        text = b""
        for (name, (axes, values)), begin in zip(variables.items(), begins):
            text += _name(name) + struct.pack(f">{len(axes) + 1}i", len(axes), *map(names.index, axes))
            text += struct.pack(">iiiii", 0, 0, DOUBLE, 8 * values.size, begin)
        return text

    begin = len(header) + len(described([0] * len(variables)))
    begins = []
    for _, values in variables.values():
        begins.append(begin)
        begin += 8 * values.size
    with open(path, "wb") as file:
        file.write(header + described(begins))
        file.writelines(values.astype(">f8").tobytes() for _, values in variables.values())


def _name(name):
    text = name.encode()
    return struct.pack(">i", len(text)) + text + b"\0" * (-len(text) % 4)
