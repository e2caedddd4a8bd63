"""Which files decide an environment, and what must be rebuilt in the container after patches go in."""

from __future__ import annotations

import json
import re
from typing import Any

from berbench.environments.languages import language_of
from berbench.model.changes import Snapshot
from berbench.split import matcher

_PYTHON = (
    "pyproject.toml",
    "setup.py",
    "setup.cfg",
    "tox.ini",
    "tox.toml",
    "pytest.ini",
    "noxfile.py",
    "Pipfile",
    "Pipfile.lock",
    "{uv,poetry,pdm}.lock",
    "pylock.toml",
    "*requirements*.{txt,in,pip}",
    "{requirements,tests,test}/*.{txt,in,pip}",
    "{.github/workflows/*.{yml,yaml},.travis.yml,.gitlab-ci.yml,azure-pipelines.yml,appveyor.yml}",
)
_NODE = (
    "{package.json,package-lock.json,npm-shrinkwrap.json,yarn.lock,pnpm-lock.yaml,pnpm-workspace.yaml}",
    "{.npmrc,.yarnrc,.yarnrc.yml,.nvmrc,.node-version}",
    "**/package.json",
)
_GO = ("{go.mod,go.sum,go.work,go.work.sum}", "**/{go.mod,go.sum}")
_RUST = ("**/Cargo.toml", "Cargo.lock", "{rust-toolchain,rust-toolchain.toml}", ".cargo/*")
_JAVA = ("**/pom.xml", "**/*.{gradle,gradle.kts}", "gradle.properties", "gradle/**", ".mvn/**")

_EXTENSION = re.compile(
    r"ext_modules|cythonize|setuptools[-_]rust|cffi_modules|maturin|scikit[-_]build|mesonpy|meson-python|pybind11|"
    r"\bExtension\("
)

_BUILDS = re.compile(
    r"(npm run(-script)? \S*(build|compile|transpile|tsc|bundle)|(tsc|babel|rollup|esbuild|tsup|webpack)\b)"
)
_NO_BUILD = re.compile(r"lint|docs|reset|clean|check|noEmit|watch|types\b|[|;&]")


def propose_inputs(snapshot: Snapshot) -> tuple[str, ...]:
    """Globs of the files that decide the environment, for `environment.inputs`; () asks for an exact image.

    Sharing is safe only where the image holds the sources as they are: a compiled extension, or built output,
    would stay at the first task's base commit. Only globs that match something are given.
    """
    language = language_of(snapshot)
    if (language == "python" and _compiles(snapshot)) or (language == "node" and node_builds(snapshot)):
        return ()
    patterns = {"python": _PYTHON, "node": _NODE, "go": _GO, "rust": _RUST, "java": _JAVA}.get(language, ())
    return tuple(pattern for pattern in patterns if any(map(matcher((pattern,)), snapshot.paths)))


def propose_setup(snapshot: Snapshot) -> tuple[str, ...]:
    """Set-up lines that rebuild what the image built from the base tree, since a trial changes sources afterwards."""
    language = language_of(snapshot)
    if language == "python" and _compiles(snapshot):
        return ("uv pip install --no-deps --no-build-isolation --offline -e .",)
    return node_builds(snapshot) if language == "node" else ()


def node_builds(snapshot: Snapshot) -> tuple[str, ...]:
    """The building steps of the project's own test run, else the script that makes missing entry points."""
    scripts = _scripts(_package(snapshot))
    named = [step.strip() for name in ("pretest", "test") for step in str(scripts.get(name, "")).split("&&")]
    steps = [step for step in named if _BUILDS.match(step) and not _NO_BUILD.search(step)]
    lines = dict.fromkeys(step if step.startswith("npm ") else f"npx --no-install {step}" for step in steps)
    script = _missing_entries(snapshot)
    return tuple(lines) or ((f"npm run {script}",) if script else ())


def _missing_entries(snapshot: Snapshot) -> str:
    """The script that makes files which the package's entry points name and the tree lacks; "" when none is."""
    package = _package(snapshot)
    scripts = _scripts(package)
    script = next(
        (name for name in ("build", "compile", "prepublish", "prepack", "prepare") if name in scripts), ""
    )
    held = set(snapshot.paths)
    entries = [str(package.get(key, "")) for key in ("main", "module")] + _leaves(package.get("exports"))
    missing = [
        path
        for path in (entry.removeprefix("./") for entry in entries if entry)
        if "*" not in path
        and not path.endswith((".d.ts", ".json"))
        and not held.intersection((path, f"{path}.js", f"{path}/index.js", f"{path}index.js"))
    ]
    return script if missing else ""


def _leaves(value: Any) -> list[str]:
    leaves, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            leaves.append(item)
        elif isinstance(item, dict):
            waiting += reversed(item.values())
    return leaves


def _scripts(package: dict[str, Any]) -> dict[str, Any]:
    scripts = package.get("scripts")
    return scripts if isinstance(scripts, dict) else {}


def _package(snapshot: Snapshot) -> dict[str, Any]:
    try:
        document = json.loads(snapshot.text("package.json") or "{}")
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _compiles(snapshot: Snapshot) -> bool:
    return any(_EXTENSION.search(snapshot.text(name)) for name in ("pyproject.toml", "setup.py", "setup.cfg"))
