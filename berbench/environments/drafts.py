"""Dockerfile drafts: one file that builds any landing of the repository, old or new.

What differs between days is decided while the image is built, from the tree of that day. The texts are in
`kit/`; this module fills them in from the manifests of one snapshot and says what was guessed.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from importlib import resources

from berbench.environments.inputs import propose_inputs, propose_setup
from berbench.environments.languages import (
    NODE_RELEASES,
    OLDEST_PYTHON,
    PYTHON_RELEASES,
    language_image,
    language_of,
)
from berbench.errors import UsageError
from berbench.model.changes import Snapshot

# contents that drafts, versions and inputs read; a Snapshot without them gives poorer guesses
ENVIRONMENT_GLOBS = (
    "{pyproject.toml,setup.py,setup.cfg,tox.ini,runtime.txt,.python-version}",
    "{package.json,.nvmrc,.node-version,.npmrc}",
    "{go.mod,rust-toolchain,rust-toolchain.toml,Cargo.toml}",
    "{pom.xml,build.gradle,build.gradle.kts}",
)

# Debian packages and the test that tells they are there; what tests call without saying so comes first
_COMMON = {
    "git": "command -v git >/dev/null",
    "less": "command -v less >/dev/null",
    "make": "command -v make >/dev/null",
    "procps": "command -v ps >/dev/null",
}
_PACKAGES = {
    "python": {"python3 python3-venv": "python3 -c 'import venv, ensurepip' 2>/dev/null"},
    "node": {
        "python3 python3-venv": "command -v npm >/dev/null || python3 -c 'import venv, ensurepip' 2>/dev/null"
    },
    "go": {"golang-go": "command -v go >/dev/null"},
    "rust": {"cargo rustc": "command -v cargo >/dev/null"},
    "java": {"default-jdk-headless": "command -v javac >/dev/null"},
}
_SETTLED = timedelta(days=120)  # after that test tools have shed what they needed for older interpreters
_NAMES = {"python": "Python", "node": "Node", "go": "Go", "rust": "Rust", "java": "Java"}


@dataclass(frozen=True, slots=True)
class Draft:
    """A Dockerfile to review. `inputs` are globs for `environment.inputs`, `reasons` what was guessed and why."""

    dockerfile: str
    language: str
    inputs: tuple[str, ...]
    reasons: tuple[str, ...]


def draft(snapshot: Snapshot, *, base_image: str = "", today: date) -> Draft:
    """Draft the Dockerfile of a repository from its manifests. UsageError when no language can be told."""
    language = language_of(snapshot)
    if not language:
        raise UsageError(
            "no Dockerfile can be drafted: no manifest of Python, Node, Go, Rust or Java was found",
            remedy="write Dockerfile.berbench by hand; docs/guides/environments.md says what it must do",
        )
    image = base_image or language_image(snapshot, today)
    reasons = _reasons(snapshot, language, image, given=bool(base_image))
    text = "\n".join(
        (
            "# DRAFT, made by `berbench init`: review it, then remove this line. It builds every landing, old and new.",
            *(f"#   {reason}" for reason in reasons),
            "",
            _fill("system", image=image, checks=_checks(snapshot, language)),
            _steps(language),
        )
    )
    return Draft(text, language, propose_inputs(snapshot), reasons)


def _steps(language: str) -> str:
    if language == "python":
        eras = " ".join(
            f"{version[1]}) era={(day + _SETTLED).isoformat()};;"
            for day, version in PYTHON_RELEASES
            if version >= OLDEST_PYTHON
        )
        reader = resources.files("berbench.environments").joinpath("kit/read_python.py").read_text("utf-8")
        return _fill("python", eras=eras, reader=_printed(reader))
    if language == "node":
        releases = ", ".join(f'"{day.isoformat()}": {version[0]}' for day, version in NODE_RELEASES)
        return _fill("node", releases="{" + releases + "}")
    return _fill(language)


def _printed(text: str) -> str:
    """Lines as arguments of printf: a Dockerfile without BuildKit has no here-documents."""
    quoted = (line.replace("'", "'\\''") for line in text.splitlines())
    return "\n".join(f"    '{line}' \\" for line in quoted)


def _checks(snapshot: Snapshot, language: str) -> str:
    packages = _COMMON | _PACKAGES[language]
    if language == "java":
        packages |= {"maven": "command -v mvn >/dev/null"} if "pom.xml" in snapshot.paths else {}
    if propose_setup(snapshot) and language == "python":
        packages["build-essential python3-dev"] = "command -v cc >/dev/null"
    if language == "node" and any(path.endswith("binding.gyp") for path in snapshot.paths):
        packages["build-essential python3"] = "command -v cc >/dev/null"
    return "\n".join(f'    {check} || missing="$missing {names}"; \\' for names, check in packages.items())


def _reasons(snapshot: Snapshot, language: str, image: str, *, given: bool) -> tuple[str, ...]:
    reasons = [
        f"language: {_NAMES[language]}, by the manifests and most of the files",
        f"base image: {image}, "
        + ("as asked with --base-image" if given else "by the manifests and today's date"),
    ]
    setup = propose_setup(snapshot)
    if setup:
        reasons.append(f"built output is made again in each trial: environment.setup: {'; '.join(setup)}")
    if language in ("rust", "java"):
        reasons.append("package versions as of a day: only as far as lock and build files pin them")
    return tuple(reasons)


def _fill(name: str, **values: str) -> str:
    text = resources.files("berbench.environments").joinpath(f"kit/{name}.dockerfile").read_text("utf-8")
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    return text
