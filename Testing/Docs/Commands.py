# SPDX-License-Identifier: BSD-3-Clause
"""What the shell commands in the pages name exists: presets, folders of builds, targets, tests, scripts and their
options, options of CMake, subcommands of tributary-bench, and options that one of its subcommands has. Nothing is run.

    python3 Testing/Docs/Commands.py    # fails with a list of what does not exist

Commands are indented blocks, fenced blocks without a language or of the shell, and spans of code type.
"""

import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SKIPPED = re.compile(r"^(build.*|__pycache__|\..*)$")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def files(matches):
    """Paths, relative to the repository, whose names match."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if not SKIPPED.match(name)]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names if matches(name)]
    return sorted(found)


def commands_of(page):
    """The commands of a page, without comments and in one line each."""
    text = read(page)

    def indented(match):
        if match.group(1) not in ("", "sh", "bash", "console"):
            return ""
        return re.sub("^", "    ", match.group(2), flags=re.MULTILINE)

    text = re.sub(r"^```(\w*)\n(.*?)^```$", indented, text, flags=re.MULTILINE | re.DOTALL)
    text = text.replace("\\\n", " ")
    lines = re.findall(r"^    (\S.*)$", text, re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", text)]
    for line in lines + spans:
        for command in re.split(r"&&|;", re.sub(r"\s#\s.*", "", line)):
            yield command.strip()


def presets():
    """Names of presets by kind, without hidden ones."""
    parsed = json.loads(read("CMakePresets.json"))
    return {
        kind: {preset["name"] for preset in parsed[kind + "Presets"] if not preset.get("hidden")}
        for kind in ("configure", "build", "test")
    }


class Names:
    """What a command may name."""

    def __init__(self):
        lists = "".join(read(f) for f in files(lambda name: name == "CMakeLists.txt"))
        self.presets = presets()
        self.targets = set(re.findall(r"(?:add_executable|add_library|tributary_add_core_test)\(([\w-]+)", lists))
        self.tests = set(re.findall(r"(?:tributary_add_\w+_test|add_test)\((?:NAME )?([\w.]+)", lists))
        self.tests |= {"Replay" + name for name in re.findall(r"tributary_add_harness\((\w+)", lists)}
        self.variables = set(re.findall(r"(?:option|set)\(\s*(TRIBUTARY_\w+)", lists))
        bench = "".join(read(f) for f in files(lambda n: n.endswith(".cpp")) if f.startswith("Benchmarks/"))
        self.subcommands = set(re.findall(r'add_subcommand\(\s*"(\w+)"', bench))
        self.bench_options = set(re.findall(r'"(--[a-z-]+)', bench))


def has_option(script, option):
    """Whether a script, or a Python module beside it, reads an option: mentioning it in a comment is not enough."""
    if not script.endswith(".py"):
        text = read(script)
        if "python" in text.partition("\n")[0]:
            return f'"{option}"' in text
        # Of the shell: a case, or a comparison.
        return re.search(rf"{option}(?:=\S*)?\)|= \"?{option}\"?(?![\w-])", text)
    folder = os.path.dirname(script)
    beside = files(lambda name: name.endswith(".py"))
    return any(f'"{option}"' in read(path) for path in beside if os.path.dirname(path) == folder)


def missing(command, names):
    """What a command names that does not exist, and the number of names that were compared."""
    wrong, count = [], 0

    def expect(exists, what):
        nonlocal count
        count += 1
        if not exists:
            wrong.append(what)

    for preset in re.findall(r"--preset[ =]([\w-]+)", command):
        kind = "test" if "ctest" in command else "build" if "--build" in command else "configure"
        expect(preset in names.presets[kind], f"no {kind} preset {preset}")
    for preset in re.findall(r"(?:--build|--install|--test-dir|^)[ ]*build/([\w-]+)", command):
        if command.startswith(("cmake", "ctest")):
            expect(preset in names.presets["configure"], f"no preset builds in build/{preset}")
    for target in re.findall(r"--target ([\w-]+)", command):
        expect(target in names.targets, f"no target {target}")
    if command.startswith("ctest"):
        for pattern in re.findall(r" -R '?([^' ]+)", command):
            expect(any(re.search(pattern, test) for test in names.tests), f"no test matches {pattern}")
    for variable in re.findall(r"-D(TRIBUTARY_\w+)", command):
        expect(variable in names.variables, f"no option {variable}")
    for script, rest in re.findall(r"(?:^|\s|/)(Utilities/[\w-]+|(?:\w+/)+\w+\.py)\b(?!\.)([^|>]*)", command):
        exists = os.path.isfile(os.path.join(ROOT, script))
        expect(exists, f"no {script}")
        for option in re.findall(r"(?<=\s)--[a-z-]+", rest) if exists else ():
            expect(has_option(script, option), f"{script} has no option {option}")
    bench = re.search(r"\btributary-bench ([a-z]\w*)(.*)", command)
    if bench:
        expect(bench.group(1) in names.subcommands, f"tributary-bench has no {bench.group(1)}")
        for option in re.findall(r"--[a-z-]+", bench.group(2)):
            expect(option in names.bench_options, f"tributary-bench has no option {option}")
    return wrong, count


def main():
    names, errors, total = Names(), [], 0
    for page in files(lambda name: name.endswith(".md") and name != "CHANGELOG.md"):
        for command in commands_of(page):
            wrong, count = missing(command, names)
            total += count
            errors += [f"{page}: {command}: {what}" for what in wrong]
    if total < 60:
        errors.append(f"only {total} names found: where are the commands?")
    if errors:
        sys.exit("\n".join(errors))
    print(f"{total} names in shell commands exist")


if __name__ == "__main__":
    main()
