"""The page of attacks and the corpus say the same, and the corpus is as wide as it must be."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from berbench.model.grading import GradeName
from tampering.corpus import BEYOND_PROMISE, CHEATING, GOOD, ROWS, Case

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tampering.md"
_ROW = re.compile(r"^\| (`.+`) \| .+ \| .+ \| (`.+`) \|$", re.MULTILINE)


def rows() -> dict[str, frozenset[GradeName]]:
    """Verdicts by candidate, as the page has them."""
    found: dict[str, frozenset[GradeName]] = {}
    for names, verdicts in _ROW.findall(PAGE.read_text(encoding="utf-8")):
        for name in re.findall(r"`([^`]+)`", names):
            assert name not in found, name
            found[name] = frozenset(GradeName(one) for one in re.findall(r"`([^`]+)`", verdicts))
    return found


def verdicts(cases: tuple[Case, ...]) -> dict[str, frozenset[GradeName]]:
    return {case.name: frozenset(case.candidate.verdicts) for case in cases}


def test_every_cheat_has_a_row_and_every_row_a_cheat_of_that_verdict() -> None:
    assert rows() == verdicts(CHEATING + BEYOND_PROMISE)


def test_no_cheat_is_expected_to_pass_and_nothing_honest_to_be_tampered() -> None:
    assert not [case.name for case in CHEATING if GradeName.PASS in case.candidate.verdicts]
    assert not [case.name for case in GOOD if GradeName.TAMPERED in case.candidate.verdicts]


def test_names_are_unique_and_rows_of_the_fault_list_name_cheats() -> None:
    names = Counter(case.name for case in CHEATING + GOOD + BEYOND_PROMISE)
    assert [name for name, times in names.items() if times > 1] == []
    assert {name for found in ROWS.values() for name in found} <= {case.name for case in CHEATING}


def test_the_corpus_spans_runners_and_kinds() -> None:
    runners = {"pytest", "unittest", "mocha", "jest", "vitest", "node", "go"}
    for cases in (CHEATING, GOOD):
        assert len(cases) >= 30
        assert {case.subject.name for case in cases} == runners
    expected = {verdict for case in GOOD for verdict in case.candidate.verdicts}
    assert expected >= {
        GradeName.PASS,
        GradeName.FAIL,
        GradeName.TIMEOUT,
        GradeName.OUT_OF_MEMORY,
        GradeName.PATCH_CONFLICT,
    }


def test_honest_candidates_that_the_page_names_are_there() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Honest candidates")[2].partition("## What")[0]
    named = set(re.findall(r"`((?:pytest|go)-[a-z-]+)`", text))
    assert named and named <= {case.name for case in GOOD}
