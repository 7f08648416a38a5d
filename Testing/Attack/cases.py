# SPDX-License-Identifier: BSD-3-Clause
"""Cases: which data, with which defects, on which ranks, and which properties. A case depends on its filter,
its key and the seed only. Keys are numbers for random cases and names for known cases.
"""

import random
from dataclasses import dataclass, field, replace

# Pieces of a composite; they do not depend on the number of ranks.
PIECES = 3
ALL = None


@dataclass
class Case:
    """kind        of the data sets; kinds of pieces if these differ
    container   of the data sets; empty for one data set per rank
    defects     names, each with the number of the piece that has it, or ALL
    spread      even, last: all data on the last rank
    late        defects begin with the second time step
    seeds       of the tracer"""

    filter: str
    key: str
    kinds: list
    shape: tuple = (6, 4, 3)
    container: str = ""
    defects: list = field(default_factory=list)
    spread: str = "even"
    late: bool = False
    seeds: str = "some"
    properties: dict = field(default_factory=dict)

    @property
    def is_good(self):
        """Whether only properties are attacked."""
        return not self.defects and self.kinds == ["image"] and self.shape == (6, 4, 3) and self.seeds == "some"

    @property
    def comparable(self):
        """Whether the data are the same on any number of ranks."""
        return bool(self.container)

    def describe(self):
        parts = [f"{'/'.join(self.kinds)} {self.shape}", self.container or "one data set per rank"]
        parts += [name if piece is ALL else f"{name} in piece {piece}" for name, piece in self.defects]
        parts += [f"data on the {self.spread} rank"] if self.spread != "even" else []
        parts += ["from the second step on"] if self.late else []
        parts += [f"seeds: {self.seeds}"] if self.seeds != "some" else []
        parts += [f"{name} = {values}" for name, values in self.properties.items()]
        return ", ".join(parts)


# Name of a case: kind of the data sets of a composite, and their defects. Every filter has them all.
KNOWN = {
    "flat-cells": ("hexahedra", "flat"),
    "flat-tetrahedra": ("tetrahedra", "flat"),
    "flat-quadratic": ("quadratic", "flat"),
    "flat-lagrange": ("lagrange", "flat"),
    "flat-bezier": ("bezier", "flat"),
    "singular-lagrange": ("lagrange", "reversed"),
    "all-points-equal": ("hexahedra", "coordinates 0"),
    "coordinates-nan": ("hexahedra", "coordinates NaN"),
    "coordinates-inf": ("polyhedra", "coordinates Inf"),
    "too-many-points-for-type": ("polyhedra", "cells of type 14"),
    "scale-1e150": ("tetrahedra", "scale 1e150"),
    "scale-1e300": ("tetrahedra", "scale 1e300"),
    "scale-1e300-quadratic": ("quadratic", "scale 1e300"),
    "scale-1e-160": ("hexahedra", "scale 1e-160"),
    "scale-1e-320": ("rectilinear", "scale 1e-320"),
    "offset-1e20": ("hexahedra", "far away"),
    "image-far-away": ("image", "far away"),
    "spacing-zero": ("image", "spacing 0.0"),
    "spacing-nan": ("image", "spacing nan"),
    "spacing-negative": ("image", "spacing -1.0"),
    "direction-zero": ("image", "direction of zeros"),
    "direction-singular": ("image", "direction singular"),
    "direction-nan": ("image", "direction NaN"),
    "rectilinear-flat": ("rectilinear", "coordinates 0"),
    "rectilinear-nan": ("rectilinear", "coordinates NaN"),
    "structured-flat": ("structured", "coordinates 0"),
    "structured-nan": ("structured", "coordinates NaN"),
    "blanked": ("structured", "blanked"),
    "nameless": ("image", "a nameless array"),
    "nameless-mesh": ("hexahedra", "a nameless array"),
    "all-nameless": ("hexahedra", "all arrays nameless"),
    "empty-name": ("image", "an empty name"),
    "no-arrays": ("hexahedra", "no arrays"),
    "text-arrays": ("image", "arrays without numbers"),
    "short-arrays": ("image", "arrays too short"),
    "values-nan": ("image", "all values nan"),
    "values-nan-ahead": ("bezier",),
    "point-id-too-large": ("hexahedra", "a point id too large"),
    "point-id-negative": ("tetrahedra", "a point id negative"),
    "point-id-of-a-polygon": ("polydata", "a point id too large"),
    "point-id-of-a-polyhedron": ("polyhedra", "a point id beyond reason"),
    "faces-broken": ("polyhedra", "broken faces"),
    "face-negative": ("polyhedra", "a negative face"),
    "doubled-polydata": ("polydata", "doubled"),
    "too-few-points": ("structured", "too few points"),
    "too-few-points-of-a-mesh": ("hexahedra", "too few points"),
    "no-points": ("structured", "no points"),
    "too-few-coordinates": ("rectilinear", "too few coordinates"),
    "cell-type-76": ("hexahedra", "cells of type 76"),
    "cell-type-78": ("hexahedra", "cells of type 78"),
    "cell-type-80": ("hexahedra", "cells of type 80"),
    "cell-type-without-class": ("hexahedra", "cells of type 81"),
    "cell-type-without-name": ("hexahedra", "cells of type 200"),
    "too-few-points-for-type": ("hexahedra", "cells of type 29"),
    "empty-polydata-cells": ("polydata", "empty cells"),
    "short-cells": ("hexahedra", "short cells"),
    "strips-of-two-points": ("polyhedra", "cells of type 6"),
    "polyhedron-without-faces": ("hexahedra", "cells of type 42"),
    "empty-cells": ("hexahedra", "empty cells"),
    "flags-255": ("image", "all flags 255"),
    "flags-too-short": ("hexahedra", "flags too short"),
    "global-ids-too-short": ("hexahedra", "global ids too short"),
    "global-ids-odd": ("hexahedra", "odd global ids"),
    # Without defects: types that a filter does not take.
    "only-tetrahedra": ("tetrahedra",),
    "only-polyhedra": ("polyhedra",),
    "only-quadratic": ("quadratic",),
    "only-lagrange": ("lagrange",),
    "only-bezier": ("bezier",),
    "only-polydata": ("polydata",),
    "only-trees": ("trees",),
}
# What known cases do not have by default.
KNOWN_SETTINGS = {
    "strips-of-two-points": {"shape": (6, 0, 0), "seeds": "input"},
    "singular-lagrange": {"seeds": "input"},
    "values-nan-ahead": {"defects": [("all values nan", 2)]},
}
SEEDS = ("some", "one", "many", "empty", "missing", "nan", "outside", "input", "composite")


def known_keys():
    return list(KNOWN)


def _known(target, key):
    kind, *defects = KNOWN[key]
    case = Case(target.name, key, [kind], container="multiblock", defects=[(name, ALL) for name in defects])
    case = replace(case, **KNOWN_SETTINGS.get(key, {}))
    return case if target.seeds else replace(case, seeds="some")


def make(target, key, seed):
    """The case of a filter (filters.Filter) and a key."""
    if key in KNOWN:
        return _known(target, key)
    # The driver, which needs the keys only, has no VTK.
    import datasets
    import defects
    import properties

    rng = random.Random(f"{seed} {target.name} {key}")
    kinds = list(datasets.MAKERS)
    if target.grids and rng.random() < 0.7:
        kinds = ["image", "uniform", "rectilinear", "structured"]
    case = Case(target.name, key, [rng.choice(kinds)])
    case.shape = rng.choice((datasets.SHAPES[0], datasets.SHAPES[0], *datasets.SHAPES))
    case.container = rng.choice(("", "", *datasets.CONTAINERS))
    if case.container in ("multiblock", "nested", "nulls") and rng.random() < 0.15:
        case.kinds = [rng.choice(kinds) for _ in range(PIECES)]
    elif not case.container and rng.random() < 0.1:
        case.kinds = [rng.choice(kinds) for _ in range(PIECES)]
    if "amr" in case.kinds:
        case.container = ""  # composites do not take it
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 3))):
        table = defects.KINDS[rng.choice(list(defects.KINDS))]
        case.defects.append((rng.choice(list(table)), rng.choice((ALL, *range(PIECES)))))
    case.spread = rng.choice(("even",) * 7 + ("last",))
    late = rng.random() < 0.3
    case.late = late and len(target.times) > 1
    if target.seeds:
        case.seeds = rng.choice(SEEDS + ("some",) * 6)
    if not case.defects and rng.random() < 0.7:
        case.kinds, case.shape, case.seeds = ["image"], datasets.SHAPES[0], "some"
        case.container = rng.choice(("", "multiblock"))
    if not case.defects or rng.random() < 0.3:
        case.properties = properties.random_properties(target.proxy, target.spared, rng)
    return case
