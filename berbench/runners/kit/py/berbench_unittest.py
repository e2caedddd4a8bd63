# ruff: noqa: PTH100, PTH109, PTH112, PTH113, PTH118, PTH123, UP031, RUF005
"""Records what unittest reports, one JSON object a line, whatever runner or result class is in use.

`install` waits for `unittest.suite` to be imported. Then every result object's class gets its `add…` methods
wrapped, so results arrive under the test's own id and never through printed text. Only the first process that
runs a test records; its children find their environment as if berbench were not there.

The file ends with an `end` record when the interpreter ended in order: without it, tests may be missing.
"""

import atexit
import importlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

_OUTCOMES = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "error",
    "addSkip": "skipped",
    "addExpectedFailure": "xfailed",
    "addUnexpectedSuccess": "xpassed",
}
_MESSAGE_CHARS = 600


class _Recorder:
    """The state of the recording process. `root` is the result of the outermost run: inner runs, which tests
    of test tools start, are not results."""

    def __init__(self, here: str) -> None:
        self.here = here
        self.pid = os.getpid()
        self.out = os.environ.get("BERBENCH_OUT", "")
        self.root_folder = os.environ.get("BERBENCH_ROOT", "") or os.getcwd()
        self.stream = None  # type: Any
        self.root = None  # type: Any
        self.local = threading.local()
        self.instrumented = set()  # type: Any
        self.failed_by_subtest = set()  # type: Any
        self.reorder = _order()
        self.last = time.perf_counter()

    def claim(self) -> None:
        if self.stream is not None:
            return
        path = os.path.join(self.out, "unittest-%d.jsonl" % self.pid)
        try:
            self.stream = open(path, "a", encoding="utf-8")  # noqa: SIM115 - open until the process ends
        except OSError:  # a report that can't be written must not fail a test
            self.stream = open(os.devnull, "w")  # noqa: SIM115
        entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        kept = [entry for entry in entries if entry and os.path.abspath(entry) != self.here]
        if kept:
            os.environ["PYTHONPATH"] = os.pathsep.join(kept)
        else:
            os.environ.pop("PYTHONPATH", None)
        os.environ.pop("BERBENCH_SHUFFLE", None)
        atexit.register(self.end)

    def write(self, record: dict[str, Any]) -> None:
        if os.getpid() != self.pid:
            return
        self.claim()
        self.stream.write(json.dumps(record) + "\n")
        self.stream.flush()

    def end(self) -> None:
        if os.getpid() == self.pid:
            self.write({"end": True})

    def record(self, test: Any, outcome: str, detail: Any) -> None:
        name = _id_of(test)
        now = time.perf_counter()
        record = {
            "id": name,
            "outcome": outcome,
            "file": self.file_of(test, name),
            "message": _message(detail),
            "seconds": round(now - self.last, 3),  # since the test before it ended
        }
        self.last = now
        self.write(record)

    def file_of(self, test: Any, name: str) -> str:
        test = getattr(test, "test_case", test)  # a subtest's own class is unittest's
        module = sys.modules.get(type(test).__module__)
        path = getattr(module, "__file__", None) or ""
        if type(test).__module__.split(".")[0] in ("unittest", "nose", "django", "doctest"):
            path = self.guess(name)
        if not path:
            return ""
        relative = os.path.relpath(os.path.abspath(path), self.root_folder)
        return "" if relative.startswith(os.pardir) else relative.replace(os.sep, "/")

    def guess(self, name: str) -> str:
        """The file of a dotted name in an error's id: `unittest.loader._FailedTest.tests.test_x`,
        `setUpClass (tests.test_x.TestA)`."""
        dotted = name.split("_FailedTest.", 1)[-1]
        if "(" in dotted and dotted.endswith(")"):
            dotted = dotted[dotted.index("(") + 1 : -1]
        parts = dotted.split(".")
        while parts:
            for folder in [os.getcwd()] + sys.path[:3]:
                path = os.path.join(folder, *parts)
                if os.path.isfile(path + ".py"):
                    return path + ".py"
                if os.path.isfile(os.path.join(path, "__init__.py")):
                    return os.path.join(path, "__init__.py")
            parts = parts[:-1]
        return ""


def _order() -> Callable[[Any], None]:
    """What gives a suite another order, if berbench asked for it."""
    seed = os.environ.get("BERBENCH_SHUFFLE", "")
    if not seed:
        return lambda suite: None
    suites = importlib.import_module("berbench_suites")
    return lambda suite: suites.reorder(suite, seed)


def _id_of(test: Any) -> str:
    identify = getattr(test, "id", None)
    return str(identify()) if callable(identify) else str(test)


def _message(detail: Any) -> str:
    if isinstance(detail, tuple) and len(detail) == 3:
        text = "".join(traceback.format_exception_only(detail[0], detail[1]))
        cause = getattr(detail[1], "__cause__", None)
        if isinstance(cause, ImportError):  # what nose2 could not load, it tells of in its own words
            text = "".join(traceback.format_exception_only(type(cause), cause)) + text
    else:
        text = "" if detail is None else str(detail)
    return text[:_MESSAGE_CHARS]


def _wrap_add(recorder: _Recorder, original: Callable[..., Any], outcome: str) -> Callable[..., Any]:
    def add(self: Any, test: Any, *details: Any, **named: Any) -> Any:
        depth = getattr(recorder.local, "depth", 0)
        if depth == 0 and (recorder.root is None or recorder.root is self):
            recorder.record(test, outcome, details[0] if details else None)
        recorder.local.depth = depth + 1
        try:
            return original(self, test, *details, **named)
        finally:
            recorder.local.depth = depth

    return add


def _wrap_subtest(recorder: _Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """A failed subtest is recorded beside its test, which then has no outcome of its own and failed too."""

    def add(self: Any, test: Any, subtest: Any, err: Any) -> Any:
        depth = getattr(recorder.local, "depth", 0)
        if depth == 0 and err is not None and (recorder.root is None or recorder.root is self):
            recorder.record(subtest, "failed", err)
            if id(test) not in recorder.failed_by_subtest:
                recorder.failed_by_subtest.add(id(test))
                recorder.record(test, "failed", err)
        recorder.local.depth = depth + 1
        try:
            return original(self, test, subtest, err)
        finally:
            recorder.local.depth = depth

    return add


def _instrument(recorder: _Recorder, result: Any) -> None:
    kind = type(result)
    if kind in recorder.instrumented:
        return
    recorder.instrumented.add(kind)
    for name, outcome in _OUTCOMES.items():
        original = getattr(kind, name, None)
        if original is not None:
            setattr(kind, name, _wrap_add(recorder, original, outcome))
    original = getattr(kind, "addSubTest", None)
    if original is not None:
        kind.addSubTest = _wrap_subtest(recorder, original)


def _wrap_run(recorder: _Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    def run(self: Any, result: Any = None, *rest: Any, **named: Any) -> Any:
        if result is None or os.getpid() != recorder.pid:
            return original(self, result, *rest, **named)
        outermost = recorder.root is None
        if outermost:
            recorder.claim()
            recorder.root = result
            recorder.last = time.perf_counter()
            recorder.reorder(self)
        _instrument(recorder, result)
        try:
            return original(self, result, *rest, **named)
        finally:
            if outermost:
                recorder.root = None

    run.__name__ = original.__name__
    run.__doc__ = original.__doc__
    return run


def _wrap_init(recorder: _Recorder, original: Callable[..., Any]) -> Callable[..., Any]:
    """Runners that hand tests to other processes replay the outcomes on their own result object."""

    def __init__(self: Any, *positional: Any, **named: Any) -> None:
        if os.getpid() == recorder.pid:
            _instrument(recorder, self)
        original(self, *positional, **named)

    return __init__


def _hook(recorder: _Recorder) -> None:
    case = sys.modules["unittest.case"]  # type: Any
    result = sys.modules["unittest.result"]  # type: Any
    suite = sys.modules["unittest.suite"]  # type: Any
    case.TestCase.run = _wrap_run(recorder, case.TestCase.run)
    suite.TestSuite.run = _wrap_run(recorder, suite.TestSuite.run)
    result.TestResult.__init__ = _wrap_init(recorder, result.TestResult.__init__)


class _Finder:
    """Waits for the import of `unittest.suite`, which comes after those of `case` and `result`."""

    def __init__(self, recorder: _Recorder) -> None:
        self.recorder = recorder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "unittest.suite":
            return None
        finders = sys.meta_path  # type: Any
        finders.remove(self)
        for finder in finders:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return self.watch(spec)
        return None

    def watch(self, spec: Any) -> Any:
        load = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            load(module)
            _hook(self.recorder)

        spec.loader.exec_module = exec_module
        return spec


def install(here: str) -> None:
    """Record from now on, if berbench asked for it. `here` is the folder to take off PYTHONPATH."""
    if not os.environ.get("BERBENCH_OUT") or not os.path.isdir(os.environ["BERBENCH_OUT"]):
        return
    recorder = _Recorder(here)
    if "unittest.suite" in sys.modules:
        _hook(recorder)
    else:
        finders = sys.meta_path  # type: Any
        finders.insert(0, _Finder(recorder))
