# SPDX-License-Identifier: BSD-3-Clause
"""python3 CompareHashes.py FILE...: check that all runs of a test have the same hashes."""

import json
import sys


def main(paths):
    runs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            runs[path] = json.load(file)
    first = paths[0]
    wrong = 0
    for path in paths[1:]:
        if runs[path].keys() != runs[first].keys():
            print(f"{path} and {first} have other cases")
            wrong += 1
        for name in runs[first].keys() & runs[path].keys():
            if runs[path][name] != runs[first][name]:
                print(f"{name}: {path} and {first} differ")
                wrong += 1
    print(f"{len(runs[first])} cases in {len(paths)} runs, {wrong} differences")
    return 1 if wrong or len(paths) < 2 or not runs[first] else 0


sys.exit(main(sys.argv[1:]))
