"""Trials that should end alike: repeats of the same trial, another order of the tests, another date.

Such trials can only refuse. A test whose outcome is not the same in all of them is no measurement, whatever it
was in the first; where single tests can't be told apart, exit codes alone are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from berbench.evidence.names import unstable
from berbench.model.trial import CLOCK_NOTE, ORDER_NOTE, Evidence, Facts, Verdict, VerdictName
from berbench.runners.clock import MOVED
from berbench.verdicts.comparison import NAMES_SHOWN, Comparison, Hidden, Trialed, tests
from berbench.verdicts.judge import disagreements, judge

# A trial that was cut off says nothing of its tests, so it is no disagreement.
CUT_OFF = frozenset({VerdictName.OUT_OF_MEMORY, VerdictName.TIMEOUT, VerdictName.SETUP_FAILED})
_LAST_EXIT_CODE = 127  # above: ended by a signal


@dataclass(frozen=True, slots=True)
class Pair:
    """A base and a reference trial of the same kind. `label` tells the kind in messages."""

    base: Trialed
    reference: Trialed
    label: str = ""


@dataclass(frozen=True, slots=True)
class Unrest:
    """What was not the same in all trials of one tree: tests by name, and a line for each."""

    moved: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lines)


def judge_repeats(pairs: Sequence[Pair], hidden: Hidden) -> Verdict:
    """The verdict on one or more pairs of the same trials: that of the first, unless they disagree."""
    verdicts = [judge(pair.base, pair.reference, hidden, label=pair.label) for pair in pairs]
    cut_off = [verdict for verdict in verdicts if verdict.name in CUT_OFF]
    if cut_off:
        return cut_off[0]
    unrest = _joined(
        _unrest([pair.base for pair in pairs], "at the base"),
        _unrest([pair.reference for pair in pairs], "with the reference"),
    )
    if not unrest:
        return next((each for each in verdicts if each.name is not VerdictName.VALIDATED), verdicts[0])
    remedy = "Find what they depend on: time, chance, the network, what other processes do."
    return _flaky(unrest, pairs, hidden, "repeat", f"in {len(pairs)} repeats of the same trials", remedy)


def judge_order(usual: Pair, other: Pair, hidden: Hidden, *, seed: int) -> Verdict | None:
    """What another order of the tests says against a proof; None when it says nothing."""
    when = f"when the tests run in another order (seed {seed})"
    remedy = f"They share something: `--shuffle --seed {seed}` gives the same order again."
    return _judge_other(usual, other, hidden, "order", when, remedy)


def judge_clock(usual: Pair, other: Pair, hidden: Hidden, *, offset: str) -> Verdict | None:
    """What another date says against a proof; None when it says nothing."""
    when = f"when the clock is moved by {offset}"
    return _judge_other(usual, other, hidden, "clock", when, "They rot with the calendar.")


def _judge_other(usual: Pair, other: Pair, hidden: Hidden, by: str, when: str, remedy: str) -> Verdict | None:
    verdict = judge(other.base, other.reference, hidden, label=other.label)
    if verdict.name in CUT_OFF:
        return verdict
    unrest = _joined(
        # A run that ends at its first failure ends elsewhere in another order: missing tests say nothing there.
        _unrest([usual.base, other.base], "at the base", missing=by != "order"),
        _unrest([usual.reference, other.reference], "with the reference"),
    )
    return _flaky(unrest, [usual, other], hidden, by, when, remedy) if unrest else None


def _flaky(unrest: Unrest, pairs: Sequence[Pair], hidden: Hidden, by: str, when: str, remedy: str) -> Verdict:
    """What moved, and what the tests that did not move show by themselves."""
    cases = [Comparison(pair.base, pair.reference, hidden) for pair in pairs]
    gone = set(unrest.moved)
    fixed = _in_every([case.fail_to_pass for case in cases], gone)
    kept = _in_every([case.pass_to_pass for case in cases], gone)
    what = (
        f"{tests(len(unrest.moved))} changed the outcome" if unrest.moved else "the exit code alone changed"
    )
    if unrest.moved and fixed:
        remedy += (
            f" `--quarantine-flaky` proves the task on what shows the change steadily: {tests(len(fixed))}."
        )
    elif unrest.moved:
        remedy += " No test shows the change steadily, so there is nothing left to prove the task on."
    shown = unrest.lines[:NAMES_SHOWN]
    more = len(unrest.lines) - len(shown)
    return Verdict(
        VerdictName.FLAKY,
        f"{what} {when}",
        remedy,
        (*shown, f"and {more} more") if more else shown,
        fail_to_pass=fixed,
        pass_to_pass=kept,
        moved=unrest.moved,
        moved_by=by,
    )


def _in_every(lists: Sequence[tuple[str, ...]], gone: set[str]) -> tuple[str, ...]:
    others = [set(names) for names in lists[1:]]
    return tuple(name for name in lists[0] if name not in gone and all(name in other for other in others))


def _joined(*parts: Unrest) -> Unrest:
    moved = dict.fromkeys(name for part in parts for name in part.moved)
    return Unrest(tuple(moved), tuple(line for part in parts for line in part.lines))


def _unrest(trials: Sequence[Trialed], where: str, *, missing: bool = True) -> Unrest:
    """`missing`: whether a test that one of the trials lacks has moved."""
    tables = [{result.id: result.outcome.value for result in trial.evidence.results} for trial in trials]
    moved: tuple[str, ...] = ()
    if all(trial.evidence.readable for trial in trials):
        moved = disagreements([trial.evidence for trial in trials])
        moved = tuple(name for name in moved if missing or all(name in table for table in tables))
    lines = [f"{name} {where}: {_tally(table.get(name, 'missing') for table in tables)}" for name in moved]
    codes = [trial.facts.exit_code for trial in trials]
    if len(set(codes)) > 1:
        lines.append(f"exit code {where}: {', '.join(str(code) for code in codes)}")
    return Unrest(moved, tuple(lines))


def _tally(outcomes: Iterable[str]) -> str:
    """`passed 2, failed 1`."""
    return ", ".join(f"{outcome} {number}" for outcome, number in Counter(outcomes).most_common())


def order_unproven(usual: Trialed, other: Trialed) -> str:
    """Why a trial can't count as one in another order; "" when it shows that it was one."""
    note = _note(other.facts, ORDER_NOTE)
    if note or _did_not_start(usual, other):
        return note or "the runner did not start when it was asked to"
    if other.evidence.runner == "vitest":  # its report is in the order of the file, whatever ran first
        return "" if b"with seed" in other.facts.log else "vitest does not say that it used the seed"
    before, after = (_order(trial.evidence) for trial in (usual, other))
    if not (usual.evidence.readable and other.evidence.readable):
        return "no report shows in which order the tests ran"
    if len(before) < 2:
        return "there is only one test"
    return (
        "" if before != after else "with this seed the tests come in their usual order; give another `--seed`"
    )


def _order(evidence: Evidence) -> tuple[str, ...]:
    """Tests in the order in which they ran. Files that run side by side are put next to each other."""
    names = [
        (result.file if evidence.runner in ("go", "jest") else "", result.id) for result in evidence.results
    ]
    files = sorted({file for file, _ in names})
    return tuple(name for wanted in files for file, name in names if file == wanted and not unstable(name))


def clock_unmoved(facts: Facts) -> str:
    """Why a trial can't count as one at another date; "" when the container's own `date` showed it."""
    note = _note(facts, CLOCK_NOTE)
    return "" if note == MOVED else note or "the image has no usable shell or `date`"


def _note(facts: Facts, name: str) -> str:
    data = next((report.data for report in facts.reports if report.name == name), b"")
    return data.decode("utf-8", "replace").strip()


def _did_not_start(usual: Trialed, other: Trialed) -> bool:
    """An option that an old runner does not know ends it before any test, and says nothing of the tests."""
    code = other.facts.exit_code
    ended = code is not None and 0 < code <= _LAST_EXIT_CODE
    return ended and bool(usual.evidence.results) and not other.evidence.results
