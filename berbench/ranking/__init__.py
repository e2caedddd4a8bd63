"""Which landed pull requests make good tasks, and why: a landing → a score and its reasons.

A good task is small, of one concern, has a problem statement, and hidden tests that fail without the change.
The last can only be proven by validation; ranking foresees it from what the change's lines tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from berbench.model.changes import Landing, LineCount, Split
from berbench.ranking.kinds import Kind, is_test_code, kind_of, module_of
from berbench.ranking.signs import Signs, read_signs
from berbench.ranking.titles import NEVER_A_FIX, housekeeping, other_system, tells_a_fix

__all__ = ["Ranked", "Rejected", "Size", "measure", "rank"]

_START = 40.0


@dataclass(frozen=True, slots=True)
class Size:
    """Files and lines of one side of a change; binary files count no lines."""

    files: int
    added: int
    deleted: int

    @property
    def lines(self) -> int:
        """Added and deleted lines together."""
        return self.added + self.deleted


@dataclass(frozen=True, slots=True)
class Ranked:
    """A score from 0 to 100, and what it stands on, for people."""

    score: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a landing can't become a task."""

    reason: str


@dataclass(slots=True)
class _Tally:
    """A score as it grows, with the reason for each step."""

    score: float
    reasons: list[str]

    def add(self, points: float, reason: str) -> None:
        """Count points, and say why."""
        self.score += points
        self.reasons.append(reason)


def measure(paths: Sequence[str], lines: Sequence[LineCount]) -> Size:
    """The size of those of the counted paths."""
    wanted = set(paths)
    counted = [line for line in lines if line.path in wanted]
    return Size(len(wanted), sum(c.added or 0 for c in counted), sum(c.deleted or 0 for c in counted))


def rank(
    landing: Landing,
    split: Split,
    lines: Sequence[LineCount],
    linked: bool,
    patch: bytes = b"",
    *,
    age_years: float = 0.0,
) -> Ranked | Rejected:
    """Score a landing that has both sides.

    `linked`: an issue is known. `patch`: the change's text, b"" where it was not read. `age_years`: how long before
    the newest commit it landed.
    """
    tests = [change.path for change in split.tests if change.status != "D"]
    code = [change.path for change in split.reference if kind_of(change.path) is Kind.CODE]
    legible = patch and b'\n+++ "' not in patch and b'\n--- "' not in patch  # git quotes odd names
    signs = read_signs(patch, {change.path for change in split.tests}) if legible else None
    reason = _hopeless(split, tests, code, lines, signs)
    if reason:
        return Rejected(reason)
    tally = _Tally(_START, [])
    _judge_statement(tally, landing, linked)
    _judge_size(tally, split, code, lines)
    _judge_tests(tally, split, lines, signs)
    _judge_title(tally, landing.title, signs)
    if age_years >= 3:
        # Beyond ten years little of a day's tools still installs, and interpreters of that day are gone.
        points = min(12.0, 1.5 * age_years) + (25.0 if age_years > 10 else 0.0)
        tally.add(-points, f"{age_years:.0f} years old: its environment may be hard to rebuild")
    return Ranked(round(min(100.0, max(0.0, tally.score)), 1), tuple(tally.reasons))


def _hopeless(
    split: Split, tests: Sequence[str], code: Sequence[str], lines: Sequence[LineCount], signs: Signs | None
) -> str:
    """Why no task can come of it; "" when one can."""
    if not tests:
        return "tests are only deleted"
    new_data = _new_data(split)
    if not new_data and not any(is_test_code(path) for path in tests):
        return "no test is changed, only data that tests read"
    if not code:
        kinds = sorted({kind_of(change.path).value for change in split.reference})
        return f"no implementation code is changed, only {' and '.join(kinds)}"
    if measure(tests, lines).added == 0:
        return "tests gain no line"
    if signs and signs.idle and not measure(code, lines).deleted:
        return "the implementation gains only comments, imports or annotations"
    if signs and signs.idle and not signs.cut and measure(code, lines).added:
        return "the implementation is only reformatted, moved or annotated"
    if signs and not new_data and not signs.rows:
        return "tests are only moved, or import other names"
    return ""


def _new_data(split: Split) -> int:
    """New files that tests read: in many projects a file more is a test more."""
    return sum(1 for change in split.tests if change.status == "A" and not is_test_code(change.path))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _judge_statement(tally: _Tally, landing: Landing, linked: bool) -> None:
    if linked:
        tally.add(12, "an issue states the problem")
        return
    body = landing.message.partition("\n")[2].strip()
    tally.add(
        0 if len(body) > 120 else -6,
        "no linked issue is known" + ("" if body else ", and the landing has no description"),
    )


def _judge_size(tally: _Tally, split: Split, code: Sequence[str], lines: Sequence[LineCount]) -> None:
    size = measure(code, lines)
    text = f"{_count(size.files, 'implementation file')}, {_count(size.lines, 'line')}"
    steps = ((80, 10, "small"), (200, 4, "moderate"), (500, -8, "large"))
    points, word = next(((p, w) for most, p, w in steps if size.lines <= most), (-22, "very large"))
    tally.add(points, f"{word}: {text}")
    if size.files >= 6 and size.lines / size.files <= 6:
        tally.add(-20, "a sweep: a few lines in each of many files")
    elif size.files > 8:
        tally.add(-10, "many files")
    modules = len({module_of(path) for path in code})
    if modules > 3:
        tally.add(-3.0 * (modules - 3), f"touches {modules} modules")
    churn = {kind_of(c.path) for c in split.reference} & {Kind.LOCK, Kind.GENERATED, Kind.MANIFEST}
    if Kind.GENERATED in churn or Kind.LOCK in churn:
        tally.add(-12, "carries " + " and ".join(sorted(churn - {Kind.MANIFEST})))
    if Kind.MANIFEST in churn:
        # The image is built from the base: what the change newly depends on is not in it.
        tally.add(-12, "changes manifests, which the image of the base does not follow")


def _judge_tests(tally: _Tally, split: Split, lines: Sequence[LineCount], signs: Signs | None) -> None:
    new_files = [change for change in split.tests if change.status == "A" and is_test_code(change.path)]
    size = measure([change.path for change in split.tests], lines)
    if size.files > 8:
        tally.add(-8, f"tests in {size.files} files")
    if signs is None:
        if new_files:
            tally.add(8, "a new test file")
        elif size.added < 2 * size.deleted:
            tally.add(-6, "tests are rewritten more than added")
        return
    if signs.cases:
        tally.add(14, _count(signs.cases, "new test"))
    elif signs.checks:
        tally.add(6, f"{_count(signs.checks, 'new assertion')}, but no new test by name")
    elif new_data := _new_data(split):
        tally.add(2, f"no new test by name, but {_count(new_data, 'new file')} that tests read")
    elif signs.rows > signs.lost:
        tally.add(
            2,
            f"{_count(signs.rows, 'new line')} in tests, such as rows of a table, but no new test or assertion",
        )
    else:
        tally.add(-20, "lines of tests are rewritten, none added: they may pass at the base")
    if signs.fresh_names:
        names = ", ".join(signs.fresh_names[:3])
        tally.add(16, f"the tests use what only the change defines: {names}")
    elif signs.shared_texts:
        tally.add(9, "tests and change share new texts")
    if signs.idle:
        tally.add(-16, "the implementation only loses lines")
    elif signs.regrouped:
        tally.add(-16, "the implementation differs by parentheses alone: it may be only reformatted")


def _judge_title(tally: _Tally, title: str, signs: Signs | None) -> None:
    fix, chore = tells_a_fix(title), housekeeping(title)
    if fix:
        tally.add(6, "the title names a behaviour")
    if system := other_system(title):
        tally.add(-25, f"the title names {system}: on Linux its tests may pass at the base")
    if not chore:
        return
    # Names that only the change defines are proof enough that the tests can't pass without it.
    certain = signs is not None and bool(signs.fresh_names)
    points = -8 if certain else -30 if not fix else -20 if chore in NEVER_A_FIX else -8
    tally.add(points, f"the title sounds like {chore}: its tests may pass at the base")
