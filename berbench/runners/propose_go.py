"""go test on the packages of the changed tests, in the module that holds them."""

from __future__ import annotations

import re
from posixpath import dirname

from berbench.model.changes import Snapshot
from berbench.runners.proposal import Proposal, inside, nearest, quoted, relative, within

_BUILD_TAG = re.compile(r"^//go:build +(\w+)\s*$", re.MULTILINE)


def propose_go(snapshot: Snapshot, changed: tuple[str, ...]) -> Proposal:
    """The command for changed Go tests; several modules are chained."""
    with_tests = {dirname(path) for path in snapshot.paths if path.endswith("_test.go")}
    packages = {dirname(path) for path in changed if path.endswith("_test.go")}
    reasons = ["runs the packages of the changed tests"]
    if not packages:
        packages = {found for path in changed if (found := _package_above(path, with_tests)) is not None}
        reasons = ["only helpers or data changed: runs the packages that hold them"]
    if not packages:
        return Proposal("", "", ("no package with tests holds the changed files",))
    modules: dict[str, set[str]] = {}
    for package in packages:
        module = nearest(snapshot, inside(package, "x_test.go"), ("go.mod",)) or ""
        modules.setdefault(module, set()).add(package)
    tags = _tags(snapshot, changed)
    if tags:
        reasons.append(f"with the build tags of the changed tests: {', '.join(tags)}")
    flags = f" -tags {','.join(tags)}" if tags else ""
    commands = [(module, f"go test{flags} {_words(modules[module], module)}") for module in sorted(modules)]
    if len(commands) == 1:
        return Proposal(within(*commands[0]), "go", tuple(reasons))
    chain = " && ".join(f"({within(module, command)})" for module, command in commands)
    return Proposal(chain, "go", (*reasons, "several modules hold them"))


def _words(packages: set[str], module: str) -> str:
    seen = sorted(relative((package or "." for package in packages), module))
    return quoted("." if package == "." else f"./{package}" for package in seen)


def _package_above(path: str, with_tests: set[str]) -> str | None:
    """The innermost folder above a file of test data that has tests; `testdata/` belongs to the folder above."""
    folder = dirname(path)
    while folder:
        if folder in with_tests:
            return folder
        folder = dirname(folder)
    return "" if "" in with_tests else None


def _tags(snapshot: Snapshot, changed: tuple[str, ...]) -> tuple[str, ...]:
    """Simple build tags that keep changed tests from being built; systems and versions are no tags to set."""
    systems = {"linux", "windows", "darwin", "unix", "amd64", "arm64", "ignore", "cgo", "race"}
    found = {
        match[1]
        for path in changed
        if path.endswith("_test.go")
        for match in _BUILD_TAG.finditer(snapshot.text(path)[:4000])
    }
    return tuple(sorted(tag for tag in found if tag not in systems and not tag.startswith("go1")))
