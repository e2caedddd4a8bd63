"""Files that steer tests in a part: compared by that part, put together again where that can be exact."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berbench.candidates.partly import PARTLY, Kept, compare, partly_steering

PYPROJECT = b"""\
[project]
name = "app"
dependencies = ["click>=8"]

[tool.pytest.ini_options]
addopts = "-ra"

[tool.ruff]
line-length = 100
"""
SETUP_CFG = (
    b"[metadata]\nname = app\n\n[options]\ninstall_requires =\n    click\n\n[tool:pytest]\naddopts = -ra\n"
)
CARGO = b'[package]\nname = "app"\n\n[dependencies]\nserde = "1"\n\n[profile.test]\nopt-level = 1\n'
GO_MOD = b"module example.org/app\n\ngo 1.21\n\nrequire example.org/x v1.0.0\n"
PACKAGE = (
    b'{\n  "name": "app",\n  "scripts": {"test": "jest"},\n  "dependencies": {"left-pad": "^1.0.0"}\n}\n'
)

PY, CFG, RS = ("pyproject.toml", PYPROJECT), ("setup.cfg", SETUP_CFG), ("Cargo.toml", CARGO)
GO, JS = ("go.mod", GO_MOD), ("package.json", PACKAGE)


def outcome(path: str, old: bytes | None, new: bytes | None) -> Kept | str:
    kind = partly_steering(path)
    assert kind is not None
    return compare(kind, old, new)


@pytest.mark.parametrize(
    ("path", "old", "this", "that"),
    [
        (*PY, b"click>=8", b"click>=9"),
        (*PY, b"line-length = 100", b"line-length = 90"),
        (*PY, b'"click>=8"', b'"click>=8", "packaging>=20", "pytest>=8"'),
        (*PY, b'name = "app"', b'name = "app"\nscripts = {app = "app:main"}'),
        (*PY, b'pytest.ini_options]\naddopts = "-ra"', b"pytest]\nini_options={addopts='-ra'}"),
        (*CFG, b"click", b"click\n    rich"),
        (*CFG, b"[options]", b"[flake8]\nmax-line-length = 100\n\n[options]"),
        (*RS, b'serde = "1"', b'serde = "2"'),
        (*RS, b'name = "app"', b'name = "app"\nversion = "1.0.0"\nbuild = "build.rs"'),
        (*GO, b"v1.0.0", b"v1.2.0 // replace me"),
        (*GO, b"require example.org/x v1.0.0", b"require (\n\texample.org/x v1.0.0\n\ty.org/y v1.0.0\n)"),
        (*JS, b"^1.0.0", b"^2.0.0"),
        (*JS, b'"name": "app"', b'"name": "app", "type": "module", "exports": "./a.js"'),
        (*JS, b'"left-pad": "^1.0.0"', b'"left-pad": "^1.0.0", "jest": "^29.0.0"'),
        ("a/composer.json", b'{"require": {}}', b"{}", b'{"php": "^8"}'),
        ("deno.json", b'{"version": "1"}', b'"1"', b'"2"'),
    ],
)  # fmt: skip
def test_a_file_whose_steering_part_is_the_bases_is_kept_as_written(
    path: str, old: bytes, this: bytes, that: bytes
) -> None:
    new = old.replace(this, that)
    assert new != old
    assert outcome(path, old, new) == Kept()
    assert outcome(path, new, old) == Kept()


@pytest.mark.parametrize(
    ("path", "old", "this", "that", "why"),
    [
        (*PY, b'"-ra"', b'"--collect-only"', "tool.pytest"),
        (*PY, b"[tool.ruff]", b"[tool.coverage.run]\nplugins=['x']\n[tool.ruff]", "tool.coverage"),
        (*PY, b"[tool.ruff]", b"[tool.poe.tasks]\ntest='true'\n[tool.ruff]", "tool.poe"),
        (*PY, b"[tool.ruff]", b"[build-system]\nbackend-path=['.']\n[tool.ruff]", "build-system"),
        (*PY, b"[tool.ruff]", b"[project.entry-points.pytest11]\nx='y'\n[tool.ruff]", "entry-points"),
        (*PY, b"[tool.ruff]", b"[project.scripts]\npytest='evil:main'\n[tool.ruff]", "pytest"),
        (*PY, b"click>=8", b"pytest @ file:./evil", "pytest"),
        (*PY, b"[tool.ruff]", b"[tool.poetry.dependencies]\npytest={path='x'}\n[tool.ruff]", "pytest"),
        (*PY, b"[tool.ruff]", b"[tool.poetry.plugins.pytest11]\nx='y'\n[tool.ruff]", "plugins"),
        (*PY, b"[project]", b"[project", "can't be read"),
        (*CFG, b"-ra", b"--collect-only", "tool:pytest"),
        (*CFG, b"[metadata]", b"[flake8]\nx = 1\x0b[tool:pytest]\naddopts = -x\n[metadata]", "tool:pytest"),
        (*CFG, b"[metadata]", b"[metadata]\n [DEFAULT]\n addopts = 1\n", "DEFAULT"),
        (*CFG, b"[options]", b"[options]\nentry_points =\n  [pytest11]\n  x = y", "entry_points"),
        (*CFG, b"app", b"\xff", "can't be read"),
        (*RS, b"opt-level = 1", b"opt-level = 1\ndebug-assertions = false", "profile"),
        (*RS, b"[dependencies]", b"[lib]\ntest = false\n[dependencies]", "lib.0.test"),
        (*RS, b"[dependencies]", b"[[test]]\nname='t'\nharness=false\n[dependencies]", "test"),
        (*RS, b"[dependencies]", b"[dev-dependencies]\nx={path='e'}\n[dependencies]", "dev-dependencies"),
        (*RS, b"[dependencies]", b"[target.'cfg(unix)'.dev-dependencies]\nx='1'\n[dependencies]", "target"),
        (*RS, b"[package]", b"[package]\nautotests = false", "package.autotests"),
        (*RS, b"[dependencies]", b"[patch.crates-io]\nx={path='e'}\n[dependencies]", "patch"),
        (*GO, b"go 1.21", b"go 1.21\ntoolchain go1.99", "toolchain"),
        (*GO, b"go 1.21", b"go 1.21\nreplace github.com/stretchr/testify => ./evil", "replace"),
        (*GO, b"go 1.21", b"go 1.21\nreplace ( // why\n\n a.org/a => ./b\n)", "replace"),
        (*GO, b"go 1.21", b"go 1.21\nreplace(\n a.org/a => ./b\n)", "replace"),
        (*JS, b'"^1.0.0"', b'"^1.0.0", "jest": "file:./evil"', "jest"),
        (*JS, b'"name": "app"', b'"name": "jest"', "name"),
        (*JS, b'"name": "app"', b'"name": "app", "bin": {"mocha": "./true.js"}', "mocha"),
        (*JS, b'"name": "app"', b'"scripts": {"test": "true"}, "name": "app"', "can't be read"),
        (*JS, b'"^1.0.0"', b"NaN", "can't be read"),
        (*JS, b'"^1.0.0"', b"1e999", "can't be read"),
        (*JS, b"}\n}", b"}\n}}", "can't be read"),
        (*JS, PACKAGE, b"[]", "can't be read"),
        (*JS, PACKAGE, b"[" * 200_000, "can't be read"),
        (*PY, PYPROJECT, b"a." * 3000 + b"a = 1", "nested|can't be read"),
    ],
)  # fmt: skip
def test_V05_a_file_that_steers_otherwise_is_dropped(
    path: str, old: bytes, this: bytes, that: bytes, why: str
) -> None:
    new = old.replace(this, that)
    assert new != old
    found = outcome(path, old, new)
    assert isinstance(found, str)
    assert any(word in found for word in why.split("|")), found


@pytest.mark.parametrize(("path", "old"), [PY, CFG, RS, JS])
def test_a_file_that_steers_can_not_be_deleted(path: str, old: bytes) -> None:
    assert isinstance(outcome(path, old, None), str)


def test_one_that_steers_nothing_comes_and_goes() -> None:
    assert outcome("a/go.mod", GO_MOD, None) == outcome("a/go.mod", None, GO_MOD) == Kept()
    assert outcome("pyproject.toml", None, b"[tool.black]\n") == Kept()


def test_numbers_and_truth_are_told_apart() -> None:
    assert isinstance(outcome("pyproject.toml", b"[tool.x]\na = 1\n", b"[tool.x]\na = true\n"), str)
    assert isinstance(outcome("Cargo.toml", b"[profile.test]\na = 1\n", b"[profile.test]\na = 1.0\n"), str)


def test_V05_scripts_are_put_back_and_the_rest_is_kept() -> None:
    new = (
        PACKAGE.replace(b'"jest"', b'"true"')
        .replace(b"^1.0.0", b"^2.0.0")
        .replace(b'"name"', b'"jest": {}, "name"')
    )
    found = outcome(*JS, new)
    assert isinstance(found, Kept) and found.data is not None
    assert json.loads(found.data) == json.loads(PACKAGE.replace(b"^1.0.0", b"^2.0.0"))
    assert found.note == "jest, scripts: put back as in the base; the rest is kept"
    assert found.data.startswith(b'{\n  "name"')


def test_where_nothing_but_the_steering_differs_the_base_stays() -> None:
    found = outcome(*JS, PACKAGE.replace(b'"jest"', b'"true"'))
    assert found == "steers the tests by scripts"


def test_a_new_package_comes_without_its_scripts() -> None:
    found = outcome("packages/new/package.json", None, PACKAGE)
    assert isinstance(found, Kept) and found.data is not None
    assert json.loads(found.data) == {"name": "app", "dependencies": {"left-pad": "^1.0.0"}}


KEYS = st.sampled_from(["scripts", "jest", "name", "version", "dependencies", "devDependencies", "é", "type"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)


@given(old=OBJECTS, new=OBJECTS)
@settings(max_examples=max(settings.default.max_examples // 4, 1))
def test_what_is_put_together_holds_the_bases_steering_and_the_candidates_rest(
    old: dict[str, object], new: dict[str, object]
) -> None:
    steering = {"scripts", "jest", "devDependencies"}
    found = outcome("package.json", json.dumps(old).encode(), json.dumps(new).encode())
    assert not isinstance(found, Kept) or found.data is not None or part(old, steering) == part(new, steering)
    if isinstance(found, Kept) and found.data is not None:
        merged = json.loads(found.data)
        assert part(merged, steering) == part(old, steering)
        assert part(merged, merged.keys() - steering) == part(new, new.keys() - steering)
        assert outcome("package.json", json.dumps(old).encode(), found.data) == Kept()


def part(document: dict[str, object], keys: set[str]) -> str:
    return json.dumps({key: document[key] for key in sorted(keys) if key in document})


@given(kind=st.sampled_from(PARTLY), old=st.binary(max_size=60), new=st.binary(max_size=60))
def test_any_bytes_give_an_answer(kind: object, old: bytes, new: bytes) -> None:
    assert isinstance(compare(kind, old, new), str | Kept)  # type: ignore[arg-type]
