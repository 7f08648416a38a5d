# SPDX-License-Identifier: BSD-3-Clause
"""Where the client test is: macros share this module, which stays loaded between them. The client shows what macros
print; so they write it to files."""
import os

from cases import CASES

_begun = []


def begin():
    """The next case of the list."""
    _begun.append(CASES[len(_begun)])
    return current()


def current():
    return _begun[-1]


def report(name, text):
    """Adds a line to a file of the output."""
    with open(os.path.join(os.environ["TRIBUTARY_OUTPUT"], name), "a") as file:
        file.write(text + "\n")


def expect(condition, what):
    """As of checks.py, but the events go on: one run reports all failures."""
    if not condition:
        report("failed", "NOT TRUE: " + what)
