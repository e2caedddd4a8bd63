"""pytest, Django's runners, nose and unittest: which one a Python project uses, and how it is called."""

from __future__ import annotations

import configparser
import re
import tomllib
from fnmatch import fnmatchcase
from posixpath import basename, dirname

from berbench.model.changes import Snapshot
from berbench.runners.proposal import (
    Proposal,
    ancestors,
    files,
    files_beside,
    inside,
    nearest,
    quoted,
    relative,
    within,
)
from berbench.runners.shell import quote

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini")
_HELPERS = frozenset({"conftest.py", "__init__.py", "__main__.py", "setup.py"})
_MENTIONS = re.compile(r"\b(?:py\.?test)\b")
_NOSE = re.compile(r"\b(nosetests|nose2|nose)\b")


def propose_python(snapshot: Snapshot, changed: tuple[str, ...]) -> Proposal:
    """The command for changed Python tests."""
    patterns = _python_files(snapshot)

    def is_test(path: str) -> bool:
        name = basename(path)
        return path.endswith(".py") and name not in _HELPERS and any(fnmatchcase(name, p) for p in patterns)

    tests = tuple(path for path in changed if is_test(path))
    reasons = []
    if tests:
        reasons.append(f"runs the {files(len(tests))}")
    else:
        tests = files_beside(snapshot, changed, is_test)
        if not tests:
            return Proposal("", "", ("only helpers or data of tests changed, and no test file is near them",))
        reasons.append("only helpers or data changed: runs the tests beside them")
    return _django_itself(snapshot, tests, reasons) or _by_runner(snapshot, tests, reasons)


def _by_runner(snapshot: Snapshot, tests: tuple[str, ...], reasons: list[str]) -> Proposal:
    pytest = _pytest_signal(snapshot, tests)
    manage = _manage_folder(snapshot, tests)
    if manage is not None and not _pytest_django(snapshot):
        return _manage(manage, tests, reasons)
    if pytest:
        return _pytest(snapshot, tests, [*reasons, pytest])
    if "runtests.py" in snapshot.paths:
        labels = " ".join(quote(_dotted(path)) for path in tests)
        return Proposal(f"python runtests.py {labels}", "django", (*reasons, "the root holds runtests.py"))
    nose = _nose(snapshot)
    if nose:
        return Proposal(
            f"{nose} {quoted(tests)}", "nose2" if "nose2" in nose else "nose", (*reasons, "nose is named")
        )
    return _unittest(snapshot, tests, reasons)


def _pytest(snapshot: Snapshot, tests: tuple[str, ...], reasons: list[str]) -> Proposal:
    """In the folder of the one package that holds all tests, as its developers would."""
    homes = {nearest(snapshot, test, _PROJECT_FILES) or "" for test in tests}
    home = homes.pop() if len(homes) == 1 else ""
    flags = ""
    if "--cov" in _addopts(snapshot, home):
        flags = " --no-cov"
        reasons.append("coverage thresholds of the whole suite would fail a narrow run: --no-cov")
    command = f"python -m pytest{flags} {quoted(relative(tests, home))}"
    return Proposal(within(home, command), "pytest", tuple(reasons))


def _django_itself(snapshot: Snapshot, tests: tuple[str, ...], reasons: list[str]) -> Proposal | None:
    """Django's own suite: `tests/runtests.py` takes labels below `tests/`."""
    if "tests/runtests.py" not in snapshot.paths or not all(test.startswith("tests/") for test in tests):
        return None
    labels = " ".join(quote(_dotted(test.removeprefix("tests/"))) for test in tests)
    return Proposal(
        f"python tests/runtests.py {labels}", "django", (*reasons, "the suite has tests/runtests.py")
    )


def _manage_folder(snapshot: Snapshot, tests: tuple[str, ...]) -> str | None:
    """The folder of the manage.py all tests lie below."""
    for folder in ancestors(tests[0]):
        if inside(folder, "manage.py") in snapshot.paths:
            return folder if all(test.startswith(f"{folder}/" if folder else "") for test in tests) else None
    return None


def _manage(folder: str, tests: tuple[str, ...], reasons: list[str]) -> Proposal:
    labels = " ".join(quote(_dotted(path)) for path in relative(tests, folder))
    command = f"python manage.py test {labels}"
    return Proposal(within(folder, command), "django", (*reasons, "the project has manage.py"))


def _unittest(snapshot: Snapshot, tests: tuple[str, ...], reasons: list[str]) -> Proposal:
    """By module name where the folder is a package; else from the folder itself, as discovery does, since such
    tests import their neighbours."""
    reasons = [*reasons, "no other runner is named anywhere"]
    folders = {dirname(test) for test in tests}
    packaged = all(not f or inside(f, "__init__.py") in snapshot.paths for f in folders)
    if packaged or len(tests) > 1:
        words = " ".join(quote(_dotted(test)) for test in tests) if packaged else quoted(tests)
        return Proposal(f"python -m unittest -v {words}", "unittest", tuple(reasons))
    start, pattern = quote(folders.pop()), quote(basename(tests[0]))
    return Proposal(f"python -m unittest discover -v -s {start} -p {pattern}", "unittest", tuple(reasons))


def _dotted(path: str) -> str:
    return path.removesuffix(".py").replace("/", ".")


def _pytest_signal(snapshot: Snapshot, tests: tuple[str, ...]) -> str:
    """Why the project is taken to use pytest, "" when nothing says so."""
    for path in snapshot.paths:
        if basename(path) in ("pytest.ini", ".pytest.ini", "conftest.py"):
            return f"{path} says pytest"
    if _ini(snapshot, "setup.cfg", "tool:pytest") or _ini(snapshot, "tox.ini", "pytest"):
        return "setup.cfg or tox.ini configures pytest"
    if _toml_pytest(snapshot, "pyproject.toml"):
        return "pyproject.toml configures pytest"
    for test in tests:
        if re.search(r"^[^\S\n]*+(?:import pytest|from pytest\b)", snapshot.text(test), re.MULTILINE):
            return f"{test} imports pytest"
    for path in sorted(snapshot.contents):
        if (
            path not in tests
            and not path.endswith((".py", ".json"))
            and _MENTIONS.search(snapshot.text(path))
        ):
            return f"{path} names pytest"
    for path in ("setup.py", "noxfile.py", "tasks.py"):
        if _MENTIONS.search(snapshot.text(path)):
            return f"{path} names pytest"
    return ""


def _pytest_django(snapshot: Snapshot) -> bool:
    """Whether a Django project runs its tests with pytest: then pytest knows the settings."""
    texts = (snapshot.text(p) for p in snapshot.contents if basename(p) in (*_PROJECT_FILES, "tox.ini"))
    joined = "\n".join(texts)
    return (
        "DJANGO_SETTINGS_MODULE" in joined and _MENTIONS.search(joined) is not None
    ) or "pytest-django" in joined


def _nose(snapshot: Snapshot) -> str:
    for path in sorted(snapshot.contents):
        if match := _NOSE.search(snapshot.text(path)):
            return "nose2" if match[1] == "nose2" else "nosetests"
    return ""


def _ini(snapshot: Snapshot, path: str, section: str) -> dict[str, str]:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        # The library's expressions take squares of a run of blanks.
        parser.read_string(re.sub(r"[^\S\n]{20,}", " " * 20, snapshot.text(path)))
        return (
            {key: value or "" for key, value in parser.items(section)} if parser.has_section(section) else {}
        )
    except (
        configparser.Error,
        ValueError,
        AttributeError,
    ):  # the last: a value continued below a key without one
        return {}


def _toml_pytest(snapshot: Snapshot, path: str) -> dict[str, object]:
    try:
        tool = tomllib.loads(snapshot.text(path)).get("tool", {})
        table = tool.get("pytest", {})
        found = table.get("ini_options", table)
    except (ValueError, AttributeError, RecursionError):
        return {}
    return dict(found) if isinstance(found, dict) else {}


def _option(snapshot: Snapshot, folder: str, key: str) -> str:
    """A pytest option as its configuration files give it, lists joined by spaces."""
    value: object = (
        _ini(snapshot, inside(folder, "pytest.ini"), "pytest").get(key)
        or _toml_pytest(snapshot, inside(folder, "pyproject.toml")).get(key)
        or _ini(snapshot, inside(folder, "tox.ini"), "pytest").get(key)
        or _ini(snapshot, inside(folder, "setup.cfg"), "tool:pytest").get(key)
        or ""
    )
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _addopts(snapshot: Snapshot, folder: str) -> str:
    return _option(snapshot, folder, "addopts")


def _python_files(snapshot: Snapshot) -> tuple[str, ...]:
    """Globs of test files: the project's own, and the habits of pytest, unittest and Django."""
    return (*_option(snapshot, "", "python_files").split(), "test*.py", "*_test.py", "*_tests.py", "tests.py")
