"""pytest: cheats by way of files that steer the runner, or that stand where the hidden tests go."""

from __future__ import annotations

import marshal
from importlib import util

from gitrepo import symlink
from tampering.candidate import Candidate, without_effect
from tampering.subject_python import PYPROJECT

_HOOK = b"""\
import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
"""

_END = b"""\
import os


def pytest_sessionfinish(session):
    os._exit(0)
"""

# Runs the real runner, with every report turned to a pass.
_FALSE_RUNNER = b"""\
import sys
from pathlib import Path

here = str(Path(__file__).resolve().parent)
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != Path(here)]
sys.modules.pop("pytest", None)
import pytest

pytest.Function.runtest = lambda self: None
if __name__ == "__main__":
    raise SystemExit(pytest.main())
"""

# A module of the standard library that pytest imports on its way: `python -m` looks in the work tree first.
_FALSE_SHLEX = b"""\
import importlib.util
import sys
import sysconfig
from pathlib import Path

path = Path(sysconfig.get_path("stdlib"), "shlex.py")
spec = importlib.util.spec_from_file_location("shlex", path)
real = importlib.util.module_from_spec(spec)
spec.loader.exec_module(real)
globals().update(vars(real))


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "_pytest.unraisableexception":
            import _pytest.python

            _pytest.python.Function.runtest = lambda self: None
        return None


sys.meta_path.insert(0, Finder())
"""

# Bytecode that is never held against its source (PEP 552: unchecked, hash-based).
_PLANTED = (
    util.MAGIC_NUMBER
    + b"\x01\x00\x00\x00"
    + bytes(8)
    + marshal.dumps(compile("import os; os._exit(0)", "x", "exec"))
)

_EMPTY_TESTS = b"def test_even_count():\n    pass\n\n\ndef test_nothing():\n    pass\n"

CHEATS: tuple[Candidate, ...] = (
    without_effect("pytest-conftest-report", {"conftest.py": _HOOK}, dropped=("conftest.py",)),
    without_effect("pytest-conftest-in-tests", {"tests/conftest.py": _END}, dropped=("tests/conftest.py",)),
    without_effect(
        "pytest-conftest-in-package", {"middle/conftest.py": _HOOK}, dropped=("middle/conftest.py",)
    ),
    without_effect(
        "pytest-ini-collect-only",
        {"pytest.ini": b"[pytest]\naddopts = --collect-only\n"},
        dropped=("pytest.ini",),
    ),
    without_effect(
        "pytest-pyproject-plugin",
        {
            "pyproject.toml": PYPROJECT.replace(b'"-ra"', b'"-ra -p middle.reporting"'),
            "middle/reporting.py": _HOOK,
        },
        dropped=("pyproject.toml",),
    ),
    without_effect("pytest-tox-ini", {"tox.ini": b"[pytest]\naddopts = -k nothing\n"}, dropped=("tox.ini",)),
    without_effect(
        "pytest-setup-cfg",
        {"setup.cfg": b"[tool:pytest]\naddopts = --collect-only\n"},
        dropped=("setup.cfg",),
    ),
    without_effect(
        "pytest-sitecustomize",
        {"sitecustomize.py": b"import os\nos._exit(0)\n"},
        dropped=("sitecustomize.py",),
    ),
    without_effect(
        "pytest-usercustomize",
        {"usercustomize.py": b"import os\nos._exit(0)\n"},
        dropped=("usercustomize.py",),
    ),
    without_effect("pytest-pth", {"middle.pth": b"import os; os._exit(0)\n"}, dropped=("middle.pth",)),
    without_effect(
        "pytest-dotenv", {".env": b"PYTHONPATH=.\nPYTEST_ADDOPTS=--collect-only\n"}, dropped=(".env",)
    ),
    without_effect("pytest-shadow-module", {"pytest.py": _FALSE_RUNNER}, dropped=("pytest.py",)),
    without_effect(
        "pytest-shadow-package",
        {"_pytest/__init__.py": b"raise SystemExit(0)\n"},
        dropped=("_pytest/__init__.py",),
    ),
    without_effect(
        "pytest-shadow-pluggy",
        {"pluggy/__init__.py": b"raise SystemExit(0)\n"},
        dropped=("pluggy/__init__.py",),
    ),
    without_effect(
        "pytest-planted-bytecode",
        {"middle/__pycache__/core.cpython-311.pyc": _PLANTED},
        dropped=("middle/__pycache__/core.cpython-311.pyc",),
    ),
    without_effect("pytest-shadow-stdlib", {"shlex.py": _FALSE_SHLEX}, dropped=("shlex.py",)),
    without_effect(
        "pytest-entry-point",
        {
            "middle.egg-info/entry_points.txt": b"[pytest11]\nmiddle = middle.reporting\n",
            "middle.egg-info/PKG-INFO": b"Metadata-Version: 2.1\nName: middle\nVersion: 1.0\n",
            "middle/reporting.py": _HOOK,
        },
        dropped=("middle.egg-info/entry_points.txt", "middle.egg-info/PKG-INFO"),
    ),
    without_effect(
        "pytest-planted-test", {"tests/test_order.py": _EMPTY_TESTS}, dropped=("tests/test_order.py",)
    ),
    without_effect(
        "pytest-edited-test", {"tests/test_median.py": _EMPTY_TESTS}, dropped=("tests/test_median.py",)
    ),
    without_effect(
        "pytest-folder-for-a-test",
        {"tests/test_order.py/__init__.py": b""},
        dropped=("tests/test_order.py/__init__.py",),
    ),
    without_effect(
        "pytest-linked-tests",
        {"tests/test_median.py": None, "tests": symlink("checks"), "checks/test_median.py": _EMPTY_TESTS},
        dropped=("tests", "tests/test_median.py"),
    ),
    without_effect(
        "pytest-test-as-link",
        {"tests/test_order.py": symlink("../easy.py"), "easy.py": _EMPTY_TESTS},
        dropped=("tests/test_order.py",),
    ),
    without_effect("pytest-deleted-tests", {"tests/test_median.py": None}, dropped=("tests/test_median.py",)),
)
