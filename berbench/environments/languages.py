"""Languages and their versions: what the manifests ask for, and what was current on a day.

The day a version came out decides what a landing could have been written for; the tables hold days on which
a version had been out long enough for test tools to run on it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from berbench.model.changes import Snapshot

Version = tuple[int, ...]

# first day of ordinary use: the release, and three to four months for the packages around it
PYTHON_RELEASES: Sequence[tuple[date, Version]] = (
    (date(2014, 7, 1), (3, 4)),
    (date(2016, 1, 1), (3, 5)),
    (date(2017, 4, 1), (3, 6)),
    (date(2018, 10, 1), (3, 7)),
    (date(2020, 2, 1), (3, 8)),
    (date(2021, 2, 1), (3, 9)),
    (date(2022, 2, 1), (3, 10)),
    (date(2023, 2, 1), (3, 11)),
    (date(2024, 2, 1), (3, 12)),
    (date(2025, 2, 1), (3, 13)),
    (date(2026, 3, 1), (3, 14)),
)
# long-term releases only; the day they became long-term
NODE_RELEASES: Sequence[tuple[date, Version]] = (
    (date(2015, 10, 12), (4,)),
    (date(2016, 10, 18), (6,)),
    (date(2017, 10, 31), (8,)),
    (date(2018, 10, 30), (10,)),
    (date(2019, 10, 21), (12,)),
    (date(2020, 10, 27), (14,)),
    (date(2021, 10, 26), (16,)),
    (date(2022, 10, 25), (18,)),
    (date(2023, 10, 24), (20,)),
    (date(2024, 10, 29), (22,)),
    (date(2025, 10, 28), (24,)),
)
_GO: Sequence[tuple[date, Version]] = (
    (date(2019, 3, 1), (1, 12)),
    (date(2019, 9, 3), (1, 13)),
    (date(2020, 2, 25), (1, 14)),
    (date(2020, 8, 11), (1, 15)),
    (date(2021, 2, 16), (1, 16)),
    (date(2021, 8, 16), (1, 17)),
    (date(2022, 3, 15), (1, 18)),
    (date(2022, 8, 2), (1, 19)),
    (date(2023, 2, 1), (1, 20)),
    (date(2023, 8, 8), (1, 21)),
    (date(2024, 2, 6), (1, 22)),
    (date(2024, 8, 13), (1, 23)),
    (date(2025, 2, 11), (1, 24)),
    (date(2025, 8, 12), (1, 25)),
    (date(2026, 2, 10), (1, 26)),
)
_JAVA: Sequence[tuple[date, Version]] = (
    (date(2014, 3, 18), (8,)),
    (date(2018, 9, 25), (11,)),
    (date(2021, 9, 14), (17,)),
    (date(2023, 9, 19), (21,)),
    (date(2025, 9, 16), (25,)),
)
OLDEST_PYTHON: Version = (3, 8)  # the oldest that the draft's tools run on
_RUST_FIRST = date(2015, 5, 15)  # 1.0; a release every six weeks since


def language_of(snapshot: Snapshot) -> str:
    """python | node | go | rust | java, by manifests, then by the most files; "" when nothing says."""
    manifests = (
        ("go", ("go.mod",)),
        ("rust", ("Cargo.toml",)),
        ("python", ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "requirements.txt", "Pipfile")),
        ("java", ("pom.xml", "build.gradle", "build.gradle.kts")),
        ("node", ("package.json",)),
    )
    suffixes = {
        "python": (".py",),
        "node": (".js", ".ts", ".mjs", ".cjs", ".tsx", ".jsx", ".mts", ".cts"),
        "go": (".go",),
        "rust": (".rs",),
        "java": (".java", ".kt"),
    }
    counts = {name: sum(path.endswith(ends) for path in snapshot.paths) for name, ends in suffixes.items()}
    top = set(snapshot.paths)
    named = [language for language, names in manifests if top.intersection(names)]
    if not named:
        folders = {path.rsplit("/", 1)[-1] for path in snapshot.paths if path.count("/") <= 2}
        named = [language for language, names in manifests if folders.intersection(names)]
    # a documentation site's package.json or a helper script's setup.cfg doesn't make the language
    best = max(named or counts, key=lambda language: counts[language])
    return best if named or counts[best] else ""


def python_version(snapshot: Snapshot, day: date) -> str:
    """`3.11`: the newest in use on that day that the manifests allow."""
    pinned = re.search(r"3\.\d{1,4}", snapshot.text(".python-version") or snapshot.text("runtime.txt"))
    if pinned:
        return _dotted(max(_numbers(pinned[0]), OLDEST_PYTHON))
    project = _toml(snapshot, "pyproject.toml")
    poetry = _table(project, "tool", "poetry", "dependencies")
    bounds = str(_table(project, "project").get("requires-python", "") or poetry.get("python", ""))
    for name in ("setup.py", "setup.cfg"):
        bounds = bounds or "".join(
            re.findall(r"python_requires\s*=\s*[\"']?([^\"'\n#]+)", snapshot.text(name))[:1]
        )
    listed = re.findall(
        r"Programming Language :: Python :: (3\.\d{1,4})",
        "".join(snapshot.text(name) for name in ("pyproject.toml", "setup.py", "setup.cfg")),
    )
    version = _current(PYTHON_RELEASES, day)
    if listed:
        # only versions that the project says it is tested on, when the day's one is newer than all of them
        version = min(version, max(_numbers(name) for name in listed))
    return _dotted(max(_within(version, bounds), OLDEST_PYTHON))


def node_version(snapshot: Snapshot, day: date) -> str:
    """`20`: the long-term release of that day, unless .nvmrc, .node-version or `engines` ask for another."""
    for name in (".nvmrc", ".node-version"):
        pinned = re.match(r"v?(\d{1,4})", snapshot.text(name).strip())
        if pinned:
            return pinned[1]
    engines = re.search(r'"engines"\s*:\s*\{[^}]*"node"\s*:\s*"([^"]+)"', snapshot.text("package.json"))
    version = _current(NODE_RELEASES, day)[0]
    lowest = [int(n) for n in re.findall(r"(?:>=|\^|~|^|\|\|)\s*v?(\d{1,4})", engines[1])] if engines else []
    if lowest and version < max(lowest) and ">=" in (engines[1] if engines else ""):
        version = max(lowest)
    return str(version + version % 2)


def go_version(snapshot: Snapshot, day: date) -> str:
    """`1.22`: the release of that day, or newer when go.mod asks for it."""
    asked = re.search(r"(?m)^(?:go|toolchain go)\s+(\d{1,4}\.\d{1,4})", snapshot.text("go.mod"))
    return _dotted(max(_current(_GO, day), _numbers(asked[1]) if asked else (1, 12)))


def rust_version(snapshot: Snapshot, day: date) -> str:
    """`1.70`: the toolchain file's, else the stable release of that day."""
    pinned = re.search(
        r"\b(1\.\d{1,4})", snapshot.text("rust-toolchain.toml") or snapshot.text("rust-toolchain")
    )
    if pinned:
        return pinned[1]
    return f"1.{max(31, (day - _RUST_FIRST).days // 42)}"


def java_version(snapshot: Snapshot, day: date) -> str:
    """`17`: the long-term release of that day, or the newer one that the build files ask for."""
    text = snapshot.text("pom.xml") + snapshot.text("build.gradle") + snapshot.text("build.gradle.kts")
    asked = re.search(
        r"(?:maven\.compiler\.release>|maven\.compiler\.target>|<release>|<java\.version>|JavaLanguageVersion\.of\()"
        r"\s*(?:1\.)?(\d{1,4})",
        text,
    )
    least = int(asked[1]) if asked else 8
    return str(max(_current(_JAVA, day)[0], min((v[0] for _, v in _JAVA if v[0] >= least), default=least)))


def language_image(snapshot: Snapshot, landed_on: date) -> str:
    """The language's official image for a landing, e.g. `python:3.11-slim`; "" when the language is unknown."""
    images: dict[str, Callable[[], str]] = {
        "python": lambda: f"python:{python_version(snapshot, landed_on)}-slim",
        "node": lambda: f"node:{node_version(snapshot, landed_on)}",
        "go": lambda: f"golang:{go_version(snapshot, landed_on)}",
        "rust": lambda: f"rust:{rust_version(snapshot, landed_on)}",
        "java": lambda: f"{_java_image(snapshot)}{java_version(snapshot, landed_on)}",
    }
    language = language_of(snapshot)
    return images[language]() if language else ""


def _java_image(snapshot: Snapshot) -> str:
    return "maven:3-eclipse-temurin-" if "pom.xml" in snapshot.paths else "eclipse-temurin:"


def _toml(snapshot: Snapshot, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(snapshot.text(path))
    except (ValueError, RecursionError):  # numbers too long to be read are ValueErrors too
        return {}


def _table(document: dict[str, Any], *path: str) -> dict[str, Any]:
    """The table at a path of keys; an empty one where something else stands."""
    for key in path:
        inner = document.get(key)
        document = inner if isinstance(inner, dict) else {}
    return document


def _current(table: Sequence[tuple[date, Version]], day: date) -> Version:
    return next((version for since, version in reversed(table) if since <= day), table[0][1])


def _numbers(text: str) -> Version:
    return tuple(int(number) for number in re.findall(r"\d{1,4}", text)[:2])


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))


def _within(version: Version, bounds: str) -> Version:
    """The version moved into simple bounds such as `>=3.8,<3.12`, `^3.7` or `!=3.0.*`."""
    for sign, number in re.findall(r"(>=|<=|<|>|~=|\^|==)\s*(\d{1,4}\.\d{1,4})", bounds):
        limit = _numbers(number)
        if limit[0] != 3:
            continue
        if sign in (">=", "^", "~=", ">") and version < limit:
            version = limit
        if sign == "==":
            version = limit
        if sign == "<" and version >= limit:
            version = (3, limit[1] - 1)
        if sign == "<=" and version > limit:
            version = limit
    return version
