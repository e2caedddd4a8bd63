"""What steers tests in pyproject.toml, setup.cfg, Cargo.toml and go.mod: the part that must stay the base's.

Each function takes a file's bytes and gives that part under names for people, {} for none. Where a format is open
(`tool` tables, sections), what is known to be harmless is let go and all else steers.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from berbench.candidates.mentions import mentions
from berbench.candidates.wordset import word_set

# Tools that look at code or at versions, and take no part in running tests.
_HARMLESS_TOOLS = word_set(
    """
    autoflake autopep8 bandit basedpyright bashate black blue bumpversion bump2version bumpver check-manifest
    cibuildwheel codespell commitizen cruft darker deptry djlint docformatter doc8 docstr_coverage flake8
    flakeheaven flit_scm git-cliff interrogate isort mypy numpydoc_validation pdoc pycln pycodestyle
    pydoc-markdown pydocstyle pyflakes pylint pyright pytype pyupgrade refurb rstcheck ruff scriv
    semantic_release setuptools-git-versioning setuptools_scm sphinx ssort towncrier ty typos unify usort
    versioneer versioningit vulture yamlfix yapf
    """
)
_HARMLESS_SECTIONS = re.compile(
    r"metadata|options(?:\.(?:extras_require|package_data|exclude_package_data|packages\.find|data_files))?"
    r"|bdist_wheel|bdist_rpm|sdist|egg_info|wheel|upload\w*|check-manifest|flake8(?::[\w-]+)?|isort|tool:isort"
    r"|mypy(?:-[^\]]*)?|pycodestyle|pep8|pydocstyle|pylint(?:\.[^\]]*)?|pylint-[^\]]*|yapf|codespell|bumpversion\S*"
    r"|versioneer|semantic_release|pyflakes|doc8|build_sphinx|compile_catalog|extract_messages|init_catalog"
    r"|update_catalog|rstcheck|style|devpi:upload|zest\.releaser|pbr|tool:black|tool:ruff|pyright|darglint"
)
_POETRY_STEERS = word_set("plugins group dev-dependencies build packages source")
_GO_STEERS = word_set("replace toolchain godebug tool exclude ignore")
_TARGET_STEERS = word_set("test harness doctest doc-test bench path")
_CARGO_HARMLESS = word_set(
    """
    package project lib bin example dependencies build-dependencies features lints badges target workspace
    cargo-features
    """
)


class Unreadable(Exception):
    """The file can't be read for sure; the message is a clause."""


def pyproject(data: bytes) -> dict[str, Any]:
    """All tables but those of harmless tools and the project's own description."""
    document = _toml(data)
    tools = _table(document.pop("tool", {}))
    project = _table(document.pop("project", {}))
    poetry = _table(tools.pop("poetry", {}))
    part: dict[str, Any] = dict(document)
    part |= {f"tool.{name}": table for name, table in tools.items() if name not in _HARMLESS_TOOLS}
    part |= {f"tool.poetry.{name}": poetry.pop(name) for name in _POETRY_STEERS & poetry.keys()}
    part |= {f"project.{name}": project.pop(name) for name in {"entry-points"} & project.keys()}
    part |= dict.fromkeys(mentions({"project": project, "tool.poetry": poetry}), True)
    return _shapes(part)


def setup_cfg(data: bytes) -> dict[str, Any]:
    """All sections but harmless ones. Whatever any reader may take for a section's or a line's start is one."""
    part: dict[str, list[str]] = {}
    section = ""
    for line in _text(data).splitlines():
        heading = re.match(r"\s*+\[([^\]]*+)\]", line)
        if heading:
            section = heading[1].strip()
        if not section or _HARMLESS_SECTIONS.fullmatch(section) is None:
            part.setdefault(f"[{section}]", []).append(line.rstrip())
        elif re.match(r"\s*entry_points\s*[:=]", line):
            part.setdefault("entry_points", []).append(line)
    return {name: lines for name, lines in part.items() if any(line.strip() for line in lines)}


def cargo(data: bytes) -> dict[str, Any]:
    """Tests, benches, profiles, development dependencies, patches; and which targets are tested."""
    document = _toml(data)
    part: dict[str, Any] = {name: table for name, table in document.items() if name not in _CARGO_HARMLESS}
    package = _table(document.get("package", document.get("project", {})))
    part |= {f"package.{name}": package[name] for name in package if name.startswith("auto")}
    for kind in ("lib", "bin", "example"):
        targets = document.get(kind, [])
        for number, target in enumerate(targets if isinstance(targets, list) else [targets]):
            table = _table(target)
            name = f"{kind}.{table.get('name', number)}"
            part |= {f"{name}.{key}": table[key] for key in table if key in _TARGET_STEERS}
    for name, table in _table(document.get("target", {})).items():
        if "dev-dependencies" in _table(table):
            part[f"target.{name}.dev-dependencies"] = table["dev-dependencies"]
    return _shapes(part)


def go_mod(data: bytes) -> dict[str, Any]:
    """Directives that put other modules or another Go in place."""
    part: dict[str, list[str]] = {}
    block = ""
    for line in _text(data).splitlines():
        words = line.partition("//")[0].replace("(", " ( ").replace(")", " ) ").split()
        if not words:
            continue
        directive = block or words[0]
        if block and words[0] == ")":
            block = ""
        elif not block and words[1:2] == ["("]:
            block = words[0]
        elif directive in _GO_STEERS:
            part.setdefault(directive, []).append(" ".join(words if block else words[1:]))
    return {directive: sorted(lines) for directive, lines in part.items()}


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("no UTF-8") from error


def _toml(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # decoding errors are ValueErrors too
        raise Unreadable("no TOML") from error


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"": value}


def _shapes(part: dict[str, Any]) -> dict[str, Any]:
    """Equal for equal values: Python holds 1, 1.0 and true for the same. Dates are told by their text."""
    return {name: json.dumps(value, sort_keys=True, default=str) for name, value in part.items()}
