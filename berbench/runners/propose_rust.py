"""cargo test on the targets that hold the changed tests."""

from __future__ import annotations

import re
import tomllib
from posixpath import basename, splitext
from typing import Any

from berbench.model.changes import Snapshot
from berbench.runners.proposal import Proposal, ancestors, inside, relative
from berbench.runners.shell import quote


def propose_rust(snapshot: Snapshot, changed: tuple[str, ...]) -> Proposal:
    """The command for changed Rust tests: `--test name` for files of `tests/`, `--lib` for tests in `src/`."""
    crates: dict[str, set[str]] = {}
    for path in changed:
        crate = _crate(snapshot, path)
        if crate is not None:
            crates.setdefault(crate, set()).update(_targets(snapshot, crate, path))
    crates = {crate: targets for crate, targets in crates.items() if targets}
    if not crates:
        return Proposal("", "", ("no crate holds the changed tests",))
    reasons = ["runs the test targets of the changed files"]
    features = " --all-features" if _all_features(snapshot) else ""
    if features:
        reasons.append("CI tests with --all-features")
    commands = []
    for crate in sorted(crates):
        name = _tables(_manifest(snapshot, crate).get("package"))[0].get("name", "")
        package = f" -p {quote(str(name))}" if len(crates) > 1 or crate or _is_workspace(snapshot) else ""
        manifest = (
            "" if _is_member(snapshot, crate) else f" --manifest-path {quote(inside(crate, 'Cargo.toml'))}"
        )
        targets = "" if "--tests" in crates[crate] else " ".join(sorted(crates[crate]))
        commands.append(f"cargo test --offline{manifest or package}{features} {targets or '--tests'}")
    return Proposal(" && ".join(commands), "cargo", tuple(reasons))


def _crate(snapshot: Snapshot, path: str) -> str | None:
    """The innermost folder above a path whose Cargo.toml declares a package."""
    return next((f for f in ancestors(path) if _tables(_manifest(snapshot, f).get("package"))), None)


def _manifest(snapshot: Snapshot, folder: str) -> dict[str, Any]:
    try:
        return tomllib.loads(snapshot.text(inside(folder, "Cargo.toml")))
    except (ValueError, RecursionError):  # numbers too long to be read are ValueErrors too
        return {}


def _tables(value: object) -> list[dict[str, Any]]:
    """A table, or a list of them, as a list; what is neither is left out."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def _is_workspace(snapshot: Snapshot) -> bool:
    return "workspace" in _manifest(snapshot, "")


def _is_member(snapshot: Snapshot, crate: str) -> bool:
    """Whether `-p` from the root reaches the crate: the root crate itself, or a member of the root's workspace."""
    return not crate or _is_workspace(snapshot)


def _targets(snapshot: Snapshot, crate: str, path: str) -> set[str]:
    (inner,) = relative((path,), crate)
    parts = inner.split("/")
    manifest = _manifest(snapshot, crate)
    for target in _tables(manifest.get("test")):
        if str(target.get("path", "")).removeprefix("./") == inner:
            return {f"--test {quote(str(target.get('name', '')))}"}
    if parts[0] == "tests":
        return _integration(snapshot, crate, parts)
    if parts[0] == "src" and inner.endswith(".rs"):
        if parts[1] == "bin" and len(parts) > 2:
            return {f"--bin {quote(splitext(parts[2])[0])}"}
        return (
            {"--bins"} if inner == "src/main.rs" or not _has_library(snapshot, crate, manifest) else {"--lib"}
        )
    return {"--tests"}


def _integration(snapshot: Snapshot, crate: str, parts: list[str]) -> set[str]:
    """`tests/api.rs` and `tests/api/main.rs` are targets; other files belong to one, or to all."""
    if len(parts) == 2 and parts[1].endswith(".rs"):
        return {f"--test {quote(splitext(parts[1])[0])}"}
    for name in (f"tests/{parts[1]}/main.rs", f"tests/{parts[1]}.rs"):
        if inside(crate, name) in snapshot.paths:
            return {f"--test {quote(parts[1])}"}
    return {"--tests"}


def _has_library(snapshot: Snapshot, crate: str, manifest: dict[str, Any]) -> bool:
    return "lib" in manifest or inside(crate, "src/lib.rs") in snapshot.paths


def _all_features(snapshot: Snapshot) -> bool:
    texts = (
        snapshot.text(p)
        for p in snapshot.contents
        if ".github/" in p or basename(p).startswith((".travis", ".gitlab"))
    )
    return any(re.search(r"cargo (?:\+\S+ )?test[^\n]*--all-features", text) for text in texts)
