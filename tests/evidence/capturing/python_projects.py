"""pytest, unittest, Django's runner, nose and nose2."""

from __future__ import annotations

from project import Project, Run

OLD = {"calc.py": "def add(a, b):\n    return a - b\n"}
NEW = {"calc.py": "def add(a, b):\n    return a + b\n\n\ndef twice(a):\n    return 2 * a\n"}
OTHER = "tests/test_other.py"
CALC = "tests/test_calc.py"

FUNCTIONS = """\
from calc import add


def test_adds():
    assert add(2, 2) == 4


def test_stays():
    assert add(1, 0) == 1
"""
SKIPPED = "import pytest\n\n\n@pytest.mark.skip(reason='not here')\ndef test_adds():\n    pass\n"
EXITS = "import os\n\n\ndef test_adds():\n    pass\n\n\ndef test_stays():\n    os._exit(0)\n"
ODD = """\
import pytest

NAMES = ["a b", "a/b", "a::b", "é", "\\u2028", "line\\nbreak", "\\x1b[31mred", "\\x00", "same", "[", "x" * 10240]


@pytest.mark.parametrize("name", NAMES, ids=NAMES)
def test_names(name):
    print("\\x1b[32mok\\x00")


@pytest.mark.parametrize("name", [b"\\xff", b"\\xff"])
def test_bytes(name):
    pass


@pytest.mark.skipif(True, reason="one core")
def test_skipped():
    pass


@pytest.mark.xfail
def test_expected():
    assert False


@pytest.mark.xfail
def test_unexpected():
    pass


@pytest.mark.xfail(strict=True)
def test_strict():
    pass


@pytest.fixture
def torn():
    yield
    raise RuntimeError("torn \\x00\\x1b\\ufffe down")


def test_teardown(torn):
    pass


@pytest.fixture
def never():
    raise RuntimeError("no set-up")


def test_setup(never):
    pass


def test_subtests(subtests):
    for i in range(3):
        with subtests.test(msg="sub", i=i):
            assert i != 1


TRIES = []


@pytest.mark.flaky(reruns=2)
def test_retried():
    TRIES.append(1)
    assert len(TRIES) == 2
"""
PYTEST = "python -m pytest"


def _python(runner: str, select: str, texts: dict[str, str], crash: Run) -> Project:
    """Projects of one layout; `select` starts a command that takes a file of tests."""
    hidden = {CALC: texts["hidden"]}
    other = {**hidden, OTHER: texts["hidden"].replace("adds", "also")}
    target = {CALC: CALC, OTHER: OTHER, "nope": "tests/test_nope.py"}
    if runner in ("unittest", "nose2"):
        target = {path: name.removesuffix(".py").replace("/", ".") for path, name in target.items()}
    own = f"{select} {target[CALC]}"
    return Project(
        runner=runner,
        hidden=CALC,
        files={"tests/__init__.py": "", "docs/conf.py": "", CALC: texts["hidden"]},
        old=OLD,
        new=NEW,
        runs={
            "base": Run(own, "old"),
            "good": Run(own),
            "broken": Run(own, "old", {CALC: texts["hidden"].replace("import add", "import add, twice")}),
            "mended": Run(own, "new", {CALC: texts["hidden"].replace("import add", "import add, twice")}),
            "none": Run(texts["none"]),
            "absent": Run(f"{select} {target['nope']}"),
            "skipped": Run(own, "new", {CALC: texts["skipped"]}),
            "other-base": Run(f"{select} {target[OTHER]}", "old", other),
            "other-good": Run(f"{select} {target[OTHER]}", "new", other),
            "gone": Run(own, bare=True) if runner != "unittest" else Run(own.replace("python", "python3.99")),
            "crash": crash,
            "lacking": Run(own, "new", {CALC: f"import nowhere_to_be_found\n{texts['hidden']}"}),
            "exits": Run(own, "new", {CALC: texts["exits"]}),
            "odd": Run(own, "new", {CALC: texts["odd"]}),
        },
    )


CASE = """\
import unittest

from calc import add


class CalcTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(add(2, 2), 4)

    def test_stays(self):
        self.assertEqual(add(1, 0), 1)
"""
CASE_SKIPPED = """\
import unittest


@unittest.skip("not here")
class CalcTest(unittest.TestCase):
    def test_adds(self):
        pass
"""
CASE_EXITS = """\
import os
import unittest


class CalcTest(unittest.TestCase):
    def test_adds(self):
        pass

    def test_stays(self):
        os._exit(0)
"""
CASE_ODD = '''\
import unittest


class CalcTest(unittest.TestCase):
    def test_docstring(self):
        """Two lines
        of one name."""

    def test_docstring_2(self):
        """Two lines
        of one name."""

    @unittest.skip("one core")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    def test_subtests(self):
        for name in ("a b", "a/b", "\\x1b[31m", "\\x00", "line\\nbreak", "x" * 10240):
            with self.subTest(name=name):
                self.assertNotIn("x", name, "\\x00\\x1b")


class Torn(unittest.TestCase):
    def tearDown(self):
        raise RuntimeError("torn down")

    def test_teardown(self):
        pass


class TornClass(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("torn down")

    def test_before_it(self):
        pass


setattr(CalcTest, "test_é a/b", lambda self: None)
'''
CASES = {"hidden": CASE, "skipped": CASE_SKIPPED, "exits": CASE_EXITS, "odd": CASE_ODD}
BAD_INIT = {"tests/__init__.py": "def broken(:\n"}

SETTINGS = "SECRET_KEY = 'x'\nINSTALLED_APPS = ['app']\nDATABASES = {}\nUSE_TZ = True\n"
MANAGE = """\
import os
import sys

os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
"""
_DJANGO_CASE = CASE.replace("import unittest\n", "from django.test import SimpleTestCase\n").replace(
    "unittest.TestCase", "SimpleTestCase"
)
_APP = "app/test_calc.py"
_MANAGE = "python manage.py test"


def _django() -> Project:
    own = f"{_MANAGE} app.test_calc"
    asks = _DJANGO_CASE.replace("import add", "import add, twice")
    other = {"app/test_other.py": _DJANGO_CASE.replace("adds", "also")}
    return Project(
        runner="django",
        hidden=_APP,
        files={"manage.py": MANAGE, "settings.py": SETTINGS, "app/__init__.py": "", _APP: _DJANGO_CASE},
        old=OLD,
        new=NEW,
        runs={
            "base": Run(own, "old"),
            "good": Run(own),
            "broken": Run(own, "old", {_APP: asks}),
            "mended": Run(own, "new", {_APP: asks}),
            "none": Run(f"{own} -k zzz"),
            "absent": Run(f"{_MANAGE} app.test_nope"),
            "skipped": Run(own, "new", {_APP: CASE_SKIPPED}),
            "other-base": Run(f"{_MANAGE} app.test_other", "old", other),
            "other-good": Run(f"{_MANAGE} app.test_other", "new", other),
            "gone": Run(own, bare=True),
            "crash": Run(own, "new", {"settings.py": "INSTALLED_APPS = ['nowhere_at_all']\n"}),
            "lacking": Run(own, "new", {_APP: f"import nowhere_to_be_found\n{_DJANGO_CASE}"}),
            "exits": Run(own, "new", {_APP: CASE_EXITS}),
            "odd": Run(own, "new", {_APP: CASE_ODD}),
        },
    )


PYTHON = (
    _python(
        "pytest",
        f"{PYTEST} -q",
        {
            "hidden": FUNCTIONS,
            "skipped": SKIPPED,
            "exits": EXITS,
            "odd": ODD,
            "none": f"{PYTEST} {CALC} -k zzz",
        },
        Run(f"{PYTEST} {CALC}", "new", {"pytest.ini": "[pytest]\naddopts = --no-such-option\n"}),
    ),
    _python(
        "unittest",
        "python -m unittest",
        {**CASES, "none": "python -m unittest -k zzz tests.test_calc"},
        Run("python -m unittest tests.test_calc", "new", BAD_INIT),
    ),
    _python(
        "nose",
        "nosetests",
        {**CASES, "none": f"nosetests {CALC} -m zzz"},
        Run(f"nosetests {CALC}", "new", {"setup.cfg": "[nosetests]\nno-such-option=1\n"}),
    ),
    _python(
        "nose2",
        "nose2",
        {**CASES, "none": "nose2 -s docs"},
        Run("nose2 tests.test_calc", "new", {"unittest.cfg": "[unittest]\nplugins = nowhere.plugin\n"}),
    ),
    _django(),
)
