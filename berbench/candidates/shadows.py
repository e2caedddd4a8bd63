"""New modules whose names hide what a Python test run loads: the runner, its plug-ins, the standard library.

A name counts where Python would find it before the real one: in the top folder, in `src` and its like, and in
folders on the way to the hidden tests that are no packages themselves. Where the base has a module of that name
in that folder already, the project means its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from berbench.candidates.folders import all_folders
from berbench.candidates.wordset import word_set

# Runners and what they load, assertion libraries, and what tests commonly make or stop the world with.
LOADED_BY_TESTS = word_set(
    """
    _pytest py pytest pluggy iniconfig exceptiongroup packaging tomli colorama pygments attr attrs
    typing_extensions importlib_metadata zipp more_itertools toml execnet xdist coverage pytest_cov nose nose2
    unittest2 django hypothesis sortedcontainers mock pytest_mock asynctest pytest_asyncio anyio trio
    testtools twisted testscenarios testfixtures fixtures parameterized ddt sure hamcrest assertpy expects
    snapshottest syrupy freezegun time_machine faker factory model_bakery responses requests_mock httpretty
    respx vcr betamax flaky pytest_django pytest_rerunfailures sitecustomize usercustomize tox nox behave
    green ward doctest conftest
    """
)

# `test`, `this` and their like are left out: nothing loads them, and projects use the names.
STANDARD = word_set(
    """
    abc argparse array ast asyncio atexit base64 bdb binascii bisect builtins bz2 cProfile calendar cmath cmd
    code codecs codeop collections compileall concurrent configparser contextlib contextvars copy copyreg csv
    ctypes curses dataclasses datetime dbm decimal difflib dis distutils email encodings enum errno
    faulthandler fcntl filecmp fileinput fnmatch fractions functools gc genericpath getopt getpass gettext
    glob graphlib grp gzip hashlib heapq hmac html http imp importlib inspect io ipaddress itertools json
    keyword linecache locale logging lzma marshal math mimetypes mmap modulefinder multiprocessing ntpath
    numbers opcode operator optparse os pathlib pdb pickle pickletools pkgutil platform plistlib posix
    posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc queue quopri random re readline reprlib
    resource runpy sched secrets select selectors shelve shlex shutil signal site smtplib socket socketserver
    sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess
    symtable sys sysconfig tarfile tempfile termios textwrap threading time timeit token tokenize tomllib
    trace traceback tracemalloc tty types typing unicodedata unittest urllib uuid venv warnings weakref
    webbrowser xml xmlrpc zipapp zipfile zipimport zlib zoneinfo
    """
)

_NAMES = LOADED_BY_TESTS | STANDARD
_CODE = (".py", ".pyc", ".pyo", ".so", ".pyd")
_SOURCES = ("src", "lib", "python")


def importable(hidden: Iterable[str], extra: Iterable[str], *trees: Collection[str]) -> frozenset[str]:
    """Folders where Python may look for modules first; "" is the top. `extra` are such as commands name.

    `src` and its like, and folders on the way to a hidden test, count unless they are packages in each of the trees
    (paths): what stands in a package is found by the package's name alone.
    """
    ways = all_folders(hidden)
    open_ways = {way for way in (*_SOURCES, *ways) if not all(f"{way}/__init__.py" in tree for tree in trees)}
    return frozenset({"", *extra, *open_ways})


class Shadows:
    """Tells whether a path hides a module that test runs load."""

    def __init__(self, folders: Collection[str], base: Iterable[str]) -> None:
        self._taken: Mapping[str, set[str]] = {folder: set() for folder in folders}
        for path in base:
            is_code = path.endswith(_CODE)
            if is_code or "." not in path.rpartition("/")[2]:  # a link without an ending may be a package
                for folder, name, inner in self._places(path):
                    if is_code or not inner:
                        self._taken[folder].add(name)

    def hidden_by(self, path: str, *, is_link: bool = False) -> str:
        """The module's name, "" when the path hides none. A link may stand for a package."""
        for folder, name, inner in self._places(path):
            found = name in _NAMES or name.startswith("pytest_")  # any plug-in's name
            if (
                found
                and name not in self._taken[folder]
                and (path.endswith(_CODE) or (is_link and not inner))
            ):
                return name
        return ""

    def _places(self, path: str) -> Iterable[tuple[str, str, str]]:
        """(folder, module's name, what follows its first segment) for each of the folders above the path."""
        ends = [0, *(at + 1 for at, character in enumerate(path) if character == "/")]
        for start in ends:
            folder = path[: start - 1] if start else ""
            if folder in self._taken:
                segment, _, inner = path[start:].partition("/")
                yield folder, segment.partition(".")[0], inner
