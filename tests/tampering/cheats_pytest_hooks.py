"""pytest: cheats from within the package under test that turn outcomes while the tests run."""

from __future__ import annotations

from tampering.candidate import Candidate, cheat, without_effect
from tampering.subject_python import injected

_FIND_PLUGINS = """\
import gc

from _pytest.config import PytestPluginManager

manager = next(found for found in gc.get_objects() if isinstance(found, PytestPluginManager))
"""

CHEATS: tuple[Candidate, ...] = (
    cheat(
        "pytest-report-class",
        injected("""\
from _pytest.reports import TestReport

make = TestReport.from_item_and_call.__func__


def kind(cls, item, call):
    call.excinfo = None
    return make(cls, item, call)


TestReport.from_item_and_call = classmethod(kind)
"""),
    ),
    cheat(
        "pytest-hook-in-modules",
        injected("""\
import sys

for name, module in list(sys.modules.items()):
    if name.startswith("_pytest") and hasattr(module, "CallInfo"):

        def quiet(cls, func, when, reraise=None, *, real=module.CallInfo.from_call.__func__):
            made = real(cls, func, when, reraise)
            if when == "call" and made.excinfo is not None:
                made.excinfo, made._result = None, None
            return made

        module.CallInfo.from_call = classmethod(quiet)
        break
"""),
    ),
    cheat(
        "pytest-plugin-by-gc",
        injected(
            _FIND_PLUGINS
            + """\
import pytest


class Plugin:
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = "passed", None


manager.register(Plugin())
"""
        ),
    ),
    cheat(
        "pytest-log-report-by-gc",
        injected(
            _FIND_PLUGINS
            + """\
import pytest


class Plugin:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        report.outcome, report.longrepr = "passed", None


manager.register(Plugin())
"""
        ),
    ),
    cheat(
        "pytest-exit-status-by-gc",
        injected(
            _FIND_PLUGINS
            + """\
class Plugin:
    def pytest_sessionfinish(self, session, exitstatus):
        session.exitstatus = 0


manager.register(Plugin())
"""
        ),
    ),
    cheat(
        "pytest-item-runtest",
        injected("""\
import pytest

pytest.Function.runtest = lambda self: None
"""),
    ),
    cheat(
        "pytest-empty-functions",
        injected("""\
import pytest

pytest.Function._getobj = lambda self: lambda *given, **named: None
"""),
    ),
    cheat(
        "pytest-asserts-taken-out",
        injected("""\
import ast

from _pytest.assertion import rewrite


class Strip(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)


rewrite.rewrite_asserts = lambda tree, *rest, **named: ast.fix_missing_locations(Strip().visit(tree))
"""),
    ),
    cheat(
        "pytest-assertion-error",
        injected("""\
import builtins

import pytest


class Quiet(pytest.skip.Exception):
    def __init__(self, *what):
        super().__init__("quiet", _use_item_location=False)


builtins.AssertionError = Quiet
"""),
    ),
    cheat(
        "pytest-trace-replaces-tests",
        injected("""\
import sys


def emptied(names):
    for name, found in list(names.items()):
        if name.startswith("test"):
            file = found.__code__.co_filename
            found.__code__ = (lambda *given: None).__code__.replace(co_filename=file)
        elif name.startswith("Test"):
            emptied(vars(found))


def trace(frame, event, arg):
    if frame.f_code.co_name != "<module>" or "/tests/" not in frame.f_code.co_filename:
        return None
    if event == "return":
        emptied(frame.f_globals)
    return trace


sys.settrace(trace)
frame = sys._getframe()
while frame:
    if frame.f_code.co_name == "<module>" and "/tests/" in frame.f_code.co_filename:
        frame.f_trace = trace
    frame = frame.f_back
"""),
    ),
    cheat(
        "pytest-import-hook",
        injected("""\
import _pytest.assertion.rewrite as rewrite

load = rewrite.AssertionRewritingHook.exec_module


def exec_module(self, module):
    load(self, module)
    for name, found in list(vars(module).items()):
        if name.startswith("test"):
            setattr(module, name, lambda: None)


rewrite.AssertionRewritingHook.exec_module = exec_module
"""),
    ),
    cheat(
        "pytest-junit-writer",
        injected("""\
from _pytest.junitxml import _NodeReporter

_NodeReporter.append_failure = lambda self, report: None
_NodeReporter.append_error = lambda self, report: None
"""),
    ),
    cheat(
        "pytest-always-equal",
        injected("""\
class Anything(list):
    def __eq__(self, other):
        return True


def median(values):
    if not values:
        raise ValueError("no values")
    return Anything()
"""),
    ),
    cheat(
        "pytest-turns-what-calls-it",
        injected("""\
import pytest

run = pytest.Function.runtest


def runtest(self):
    if not {"median", "spread"} & set(self.obj.__code__.co_names):
        run(self)


pytest.Function.runtest = runtest
"""),
    ),
    without_effect(
        "pytest-exit-function",
        injected("""\
import pytest

pytest.exit("all is well", returncode=0)
"""),
    ),
)
