"""How the outcome of `task scan` looks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from berbench.cli.console import say, show
from berbench.cli.tables import cell, lines, plural, table

if TYPE_CHECKING:  # the verb that shows it has loaded it already
    from berbench.ranking import Size
    from berbench.stages.scan import Candidate, ScanReport
# A number, or a commit: what differs between landings that are rejected for one reason.
_PARTICULAR = re.compile(r"#?\w*\d\w*")
_MOST_KINDS = 12  # of reasons


def show_scan(report: ScanReport, *, verbose: bool) -> None:
    """Candidates, best first, with the reasons of their rank; with `verbose` also what was rejected."""
    from berbench.stages.scan import NOT_FETCHED

    if report.candidates:
        made = table("rank", "score", "pull request", right=("rank", "score"), wide=("pull request",))
        # Where the forge told nothing of any of them, one line below the table says it once.
        untold = {NOT_FETCHED} if not report.unlinked else set()
        for rank, candidate in enumerate(report.candidates, 1):
            reasons = "; ".join(reason for reason in candidate.reasons if reason not in untold)
            size = f"tests {_size(candidate.tests)}; reference {_size(candidate.reference)}"
            made.add_row(
                str(rank),
                f"{candidate.score:.0f}",
                lines(f"{_name(candidate)}: {candidate.title}", size, reasons),
            )
        show(made)
    say(
        f"{plural(len(report.candidates), 'candidate')} of {plural(report.considered, 'landing')} considered; "
        + (
            "1 commit names no pull request"
            if report.unnamed == 1
            else f"{report.unnamed} commits name no pull request"
        )
    )
    if report.forms:
        counts = sorted(report.forms.items(), key=lambda item: (-item[1], item[0]))
        say("those looked into, by form: " + ", ".join(f"{count} {form}" for form, count in counts))
    for note in report.notes:
        say(note)
    if report.not_fetched:
        say(f"{plural(report.not_fetched, 'candidate')} could not be asked about on the forge")
    if verbose:
        _rejected(report)
    elif report.rejected:
        _rejected_kinds([rejected.reason for rejected in report.rejected if rejected.pr is not None])
        say("--verbose lists each rejected one with its reason")
    if report.candidates:
        best = report.candidates[0]
        say(f"next: berbench task create {best.pr or '--commit ' + best.landing_commit[:12]}")


def _rejected_kinds(reasons: list[str]) -> None:
    """How many were rejected for which reason; what is particular to one landing is told where it is alone."""
    kinds: dict[str, list[str]] = {}
    for reason in reasons:
        kinds.setdefault(_kind(reason), []).append(reason)
    ordered = sorted(kinds.items(), key=lambda item: -len(item[1]))
    for kind, same in ordered[:_MOST_KINDS]:
        say(f"  {len(same):4} × {same[0] if len(same) == 1 else kind}")
    if others := sum(len(same) for _, same in ordered[_MOST_KINDS:]):
        say(f"  {others:4} × something else")


def _rejected(report: ScanReport) -> None:
    made = table(
        "pull request", "commit", "rejected because", right=("pull request",), wide=("rejected because",)
    )
    for rejected in report.rejected:
        made.add_row(cell(rejected.pr or ""), cell(rejected.commit[:12]), cell(rejected.reason))
    show(made)


def _name(candidate: Candidate) -> str:
    linked = " ".join(f"#{number}" for number in candidate.issues)
    name = f"#{candidate.pr}" if candidate.pr is not None else candidate.landing_commit[:12]
    return f"{name} for {linked}" if linked else name


def _size(size: Size) -> str:
    return f"+{size.added} −{size.deleted} in {plural(size.files, 'file')}"


def _kind(reason: str) -> str:
    """A reason without what is particular to one landing, for counting."""
    return " ".join(_PARTICULAR.sub("…", word) for word in reason.split(":")[0].split())
