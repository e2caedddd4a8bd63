"""How audits look: a table over all tasks, weakest first, and what is weak in each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from berbench.cli.console import clipped, one_line, say, sentence, show
from berbench.cli.tables import cell, lines, plural, table, verdict_text

if TYPE_CHECKING:  # the verb that shows it has loaded it already
    from berbench.stages.audit import Audited

_MOST = 40  # rows of a kind
_UNMEASURED = ("no-code", "not-separable")
_KINDS = {"names": "name", "texts": "text", "flags": "option", "files": "file"}

Row = Mapping[str, Any]  # one task of the document berbench.audit/1


def show_audits(outcomes: Sequence[Audited], *, in_full: bool) -> None:
    """Each audit in full where tasks were named; then all tasks in a table, and why some have no audit."""
    from berbench.stages.audit import document

    rows: list[Row] = document(outcomes)["tasks"]
    audited = [row for row in rows if row["state"] == "audited"]
    if in_full:
        for row in audited:
            _show_one(row)
    if len(audited) > 1 or (audited and not in_full):
        _show_all(audited)
    for row in rows:
        if row["state"] != "audited":
            say(f"{row['id']}: {row['state']}: {clipped(row['reason'])}")
    for outcome in outcomes:
        if outcome.failed is not None and outcome.failed.remedy:
            say(f"  → {sentence(outcome.failed.remedy)}")
    if not rows:
        say("No tasks yet. next: berbench task scan")
    elif audited and not in_full:
        say("`berbench task show ID` lists what is weak in one of them.")


def show_kept(row: Row, *, outdated: bool) -> None:
    """The last audit of a task in short, beside the task itself."""
    when = f"{row['audited_at'][:16].replace('T', ' ')}"
    say(f"last audit here         score {score_text(row['score'])} ({summary(row)})")
    say(f"                        {when}{', outdated: the task has changed since' if outdated else ''}")
    for line in weaknesses(row):
        say(f"    {line}")


def _show_all(rows: Iterable[Row]) -> None:
    made = table(
        "task",
        "score",
        "hunks noticed",
        "mutants killed",
        "to guess",
        "won by",
        right=("score", "hunks noticed", "mutants killed", "to guess"),
    )
    for row in rows:
        made.add_row(
            cell(row["id"]),
            score_text(row["score"]),
            _share(row["hunks"]),
            _share(row["mutants"]["all"], apart=("does-not-run",)),
            str(_guesses(row) or ""),
            cell(", ".join(one["name"] for one in row["adversaries"] if one["passed"])),
        )
    show(made)


def _show_one(row: Row) -> None:
    say(f"Task {row['id']}: score {score_text(row['score'])} ({summary(row)})")
    say(f"{plural(row['trials'], 'trial')} in {row['seconds']:.1f} s")
    say()
    _show_cuts("hunk of the reference", row["hunks"])
    if len(row["hunks"]) > len(row["files"]):  # otherwise every file is one hunk
        _show_cuts("file of the reference", row["files"])
    if weak := weaknesses(row):
        for line in weak:
            say(line)
        say()
    _show_sides(row["scope"])
    made = table("candidate that solves nothing", "verdict", "", wide=("",))
    for one in row["adversaries"]:
        verdict = "missing" if one["verdict"] == "absent" else one["verdict"]
        shown = cell("PASSES", "bold red") if one["passed"] else cell(verdict, "dim")
        made.add_row(cell(one["name"]), shown, cell(clipped(one["told"])))
    show(made)


def summary(row: Row) -> str:
    """What the score is made of, in a line."""
    parts = []
    if hunks := _share(row["hunks"]):
        parts.append(f"{hunks} {_noun('hunk', hunks)} noticed")
    if mutants := _share(row["mutants"]["all"], apart=("does-not-run",)):
        parts.append(f"{mutants} {_noun('mutant', mutants)} killed")
    guesses = _guesses(row)
    parts.append(f"{plural(guesses, 'thing')} to guess" if guesses else "nothing to guess")
    won = [one["name"] for one in row["adversaries"] if one["passed"]]
    return "; ".join([*parts, *(f"won by {name}" for name in won)])


def weaknesses(row: Row) -> list[str]:
    """What the tests do not notice, and what can only be guessed, as lines of text."""
    found: list[str] = []
    missed = [one for one in row["hunks"] if one["noticed"] == "unnoticed"]
    if missed:
        found.append("The tests pass without these hunks:")
        for one in missed[:_MOST]:
            found.append(f"  {one_line(one['path'])}  {one['header']}")
            found += [f"    │ {clipped(line)}" for line in one["lines"]]
    survivors = row["mutants"]["survivors"]
    if survivors:
        found.append("The tests pass with these lines changed:")
        for one in survivors[:_MOST]:
            found.append(f"  {one_line(one['path'])}:{one['line']}  {one['kind']}")
            found.append(f"    │ {clipped(one['before'].strip())}  →  {clipped(one['after'].strip())}")
    unspecified = row["scope"]["unspecified"]
    if any(unspecified.values()):
        found.append("The tests need these, and neither the prompt nor the base tree mentions them:")
        found += [
            f"  {noun} {one_line(clipped(name))}"
            for kind, noun in _KINDS.items()
            for name in unspecified[kind][:_MOST]
        ]
    return found


def _show_cuts(name: str, cuts: Sequence[Row]) -> None:
    """Every part that was left out, with how that was noticed; the unnoticed first."""
    made = table(name, "left out", "how it was noticed", wide=(name, "how it was noticed"))
    for one in sorted(cuts, key=lambda one: one["noticed"] != "unnoticed")[:_MOST]:
        told = one["told"] if one["noticed"] != "unnoticed" else "the tests pass all the same"
        made.add_row(
            lines(one_line(one["path"]), one["header"]), verdict_text(one["noticed"]), cell(clipped(told))
        )
    show(made)
    if len(cuts) > _MOST:
        say(f"… and {len(cuts) - _MOST} more")


def _show_sides(scope: Row) -> None:
    """The prompt beside the tests; which belongs to which is for the reader to say."""
    made = table(
        "the prompt says", "the hidden tests check", wide=("the prompt says", "the hidden tests check")
    )
    tests = [
        lines(
            f"{one_line(one['name'])} ({one_line(one['file'])})".lstrip(), *map(clipped, one["asserts"][:6])
        )
        for one in scope["tests"]
    ]
    for said, test in zip_longest(scope["prompt"], tests):
        made.add_row(cell(said or ""), test or "")
    show(made)


def score_text(score: float | None) -> str:
    """A score as people read it."""
    return "–" if score is None else f"{score:.2f}"


def _share(found: Sequence[Row], apart: tuple[str, ...] = ()) -> str:
    """`3 of 4`, "" of nothing."""
    measured = [one for one in found if one["noticed"] not in (*_UNMEASURED, *apart)]
    noticed = sum(one["noticed"] != "unnoticed" for one in measured)
    return f"{noticed} of {len(measured)}" if measured else ""


def _noun(name: str, share: str) -> str:
    return name if share.endswith(" of 1") else f"{name}s"


def _guesses(row: Row) -> int:
    return sum(map(len, row["scope"]["unspecified"].values()))
