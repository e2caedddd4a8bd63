"""What a log's closing lines say, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from berbench.model.trial import Outcome

Counts = dict[Outcome, int]
MOST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts by outcome; `none_ran` when the runner says that there was nothing to run."""

    runner: str
    counts: tuple[tuple[Outcome, int], ...] = ()
    none_ran: bool = False
    collection_failed: bool = False

    @property
    def failures(self) -> int:
        """How many tests failed or could not run."""
        return sum(n for outcome, n in self.counts if outcome in (Outcome.FAILED, Outcome.ERROR))


def make_summary(runner: str, counts: Counts, *, collection_failed: bool = False) -> Summary:
    """A summary with no counts of zero; nothing counted, and nothing lost, means that nothing ran."""
    kept = tuple((outcome, counts[outcome]) for outcome in Outcome if counts.get(outcome))
    return Summary(runner, kept, not kept and not collection_failed, collection_failed)


def add(counts: Counts, outcome: Outcome, number: str | None) -> None:
    """Add a number as a log writes it; None is a part of the line that was not there."""
    counts[outcome] = counts.get(outcome, 0) + whole(number)


def whole(number: str | None) -> int:
    """Digits as a number; 0 for what was not there. No runner counts further than the most that is given here."""
    digits = (number or "0").lstrip("0") or "0"
    return int(digits) if len(digits) < len(str(MOST)) else MOST
