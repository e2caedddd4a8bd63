"""Another order of the tests, told by a seed: by the runner's own option where it has one, else by a kit.

Whether the order really changed is for the evidence to show. Where an installed runner turns out to be too old
for its option, it runs as usual and a file says so (`ORDER_NOTE`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from berbench.model.trial import KIT_DIR, ORDER_NOTE, OUT_DIR
from berbench.runners.altered import Altered, extended, is_deaf
from berbench.runners.recognise import Found, find_runners
from berbench.runners.shell import parse

_PLUGIN = "-p berbench_order"
_PLUGIN_PATH = f"{KIT_DIR}/pytest"
_PYTEST_KIT = ("pytest/berbench_order.py",)
_SUITES_KIT = ("py/berbench_suites.py",)
_NOTE = f"{OUT_DIR}/{ORDER_NOTE}"


def order_trouble(command: str, evidence: str = "auto") -> str:
    """Why the command's tests can't be run in another order; "" when they can, or when only a trial tells."""
    if evidence == "none":
        return "verify.evidence is none, so nothing would show which tests changed"
    found = find_runners(parse(command))
    if not found:
        return ""
    runner = found[-1].runner
    if runner not in _WAYS:
        return f"{runner} has no option for it"
    if runner == "pytest" and any(is_deaf(one) for one in found):
        return "Python is started with -E or -I, so a plug-in can't reach it"
    return ""


def reorder(found: Sequence[Found], seed: int) -> Altered:
    """The reordering of runs of one runner; of an unknown command, of those that hear of it by the environment."""
    if not found:
        pytest, suites = _pytest(found, seed), _suites(found, seed)
        return Altered((*pytest.before, *suites.before), (), (*pytest.kit, *suites.kit))
    way = _WAYS.get(found[-1].runner)
    return way(found, seed) if way else Altered()


def _seed(seed: int) -> str:
    return f"export BERBENCH_SHUFFLE={seed}"


def _pytest(found: Sequence[Found], seed: int) -> Altered:
    """Variables that the command sets itself are extended in place."""
    before = (
        f'{_seed(seed)} PYTHONPATH="{_PLUGIN_PATH}${{PYTHONPATH:+:$PYTHONPATH}}" '
        f'PYTEST_ADDOPTS="${{PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }}{_PLUGIN}"'
    )
    edits = extended(found, {"PYTEST_ADDOPTS": f" {_PLUGIN}", "PYTHONPATH": f":{_PLUGIN_PATH}"})
    return Altered((before,), edits, _PYTEST_KIT)


def _suites(found: Sequence[Found], seed: int) -> Altered:
    return Altered((_seed(seed),), kit=_SUITES_KIT)


def _kit(found: Sequence[Found], seed: int) -> Altered:
    """The kit that makes the report changes the order as well."""
    return Altered((_seed(seed),))


def _go(found: Sequence[Found], seed: int) -> Altered:
    """Go before 1.17 knows no -shuffle: a flag it does not know would end it, so it is asked first."""
    ask = (
        'case "$(go help testflag 2>/dev/null)" in\n'
        f"*-shuffle*) BERBENCH_SHUFFLE=-shuffle={seed} ;;\n"
        f"*) BERBENCH_SHUFFLE=; echo 'go test has -shuffle from Go 1.17 on' >{_NOTE} ;;\n"
        "esac"
    )
    return Altered((ask,), tuple((one.insert_at, " $BERBENCH_SHUFFLE") for one in found))


def _vitest(found: Sequence[Found], seed: int) -> Altered:
    flags = f" --sequence.shuffle --sequence.seed={seed}"
    return Altered(edits=tuple((one.command.words[-1].end, flags) for one in found))


_WAYS: dict[str, Callable[[Sequence[Found], int], Altered]] = {
    "pytest": _pytest,
    "unittest": _suites,
    "django": _suites,
    "nose2": _suites,
    "go": _go,
    "jest": _kit,
    "mocha": _kit,
    "vitest": _vitest,
}
