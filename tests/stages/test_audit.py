"""Audits as a flow: what is run, what is seen, what is kept, and what stops only one task."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sampleplace import SamplePlace, Scripted, sample_place

from auditplace import CHECKED, PROMPT, git, land_unchecked
from berbench.errors import EngineError, Refusal
from berbench.model.grading import Grade, GradeName
from berbench.model.trial import Facts, Trial, VerdictName
from berbench.stages.audit import (
    Audited,
    audit,
    audit_task,
    choose,
    document,
    exit_code,
    unspecified,
    weakest_first,
)
from berbench.stages.auditplan import Saw, Wanted, make_plan
from berbench.stages.create import Doors, Request, create
from berbench.stages.show import document as shown
from berbench.stages.show import overview
from berbench.stages.trees import trees_of
from berbench.stages.validate import validate_task
from berbench.strength.audit import Audit, unnoticed
from berbench.strength.cuts import HUNK
from berbench.strength.seen import Noticed, Sight

WORDS = "tally/words.py"
ALONE = "Leave words out of top()"  # its reference has one hunk


def _quiet(line: str) -> None:
    pass


def _create(place: SamplePlace) -> str:
    """The task with a hunk that nobody checks."""
    commit = land_unchecked(place.sample.root)
    return create(Doors(place.lint, None), Request(None, commit, PROMPT), _quiet).id


def _prove(place: SamplePlace, task_id: str) -> str:
    """Prove it by played trials."""
    proven = validate_task(place.quick, task_id, say=lambda of, line: None)
    assert proven.verdict.name is VerdictName.VALIDATED, proven.verdict
    return task_id


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamplePlace]:
    """A place with two proven tasks, for tests that change neither."""
    with sample_place(tmp_path_factory.mktemp("audit")) as opened:
        _prove(opened, opened.create(opened.pull(ALONE), force=True).id)
        _prove(opened, _create(opened))
        yield opened


@pytest.fixture
def single(shared: SamplePlace) -> str:
    """The task whose reference has one hunk."""
    assert "8" in shared.project.task_ids()
    return "8"


@pytest.fixture
def several(shared: SamplePlace) -> str:
    """The task with a hunk that nobody checks."""
    return next(name for name in shared.project.task_ids() if name != "8")


class _ByContent(Scripted):
    """Plays trials by what is in words.py: the hidden test passes when `solves` says so of it."""

    def __init__(self, solves: Callable[[str], bool], **odd: Facts) -> None:
        self.solves, self.odd = solves, odd
        self.names: list[str] = []
        self.most = self.now = 0
        self._lock = threading.Lock()

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        trials = list(trials)
        with self._lock:
            self.now += len(trials)
            self.most = max(self.most, self.now)
            self.names += [trial.name for trial in trials]
        try:
            return [self._play(trial) for trial in trials]
        finally:
            with self._lock:
                self.now -= len(trials)

    def _play(self, trial: Trial) -> Facts:
        if trial.name in self.odd:
            return replace(self.odd[trial.name], trial=trial.name)
        texts = {entry.path: entry.data.decode() for entry in trial.delta.writes}
        like = "reference" if self.solves(texts.get(WORDS, "")) else "base"
        [facts] = super().run([replace(trial, name=like)])
        return replace(facts, trial=trial.name)


def _audit(place: SamplePlace, task_id: str, executor: Scripted, wanted: Wanted | None = None) -> Audit:
    return audit_task(place.bench_with(executor), task_id, wanted or Wanted(), _quiet)


def test_V26_S11_in_real_processes(place: SamplePlace) -> None:
    task_id = _create(place)
    proven = validate_task(place.bench, task_id, say=lambda of, line: None)
    assert proven.verdict.name is VerdictName.VALIDATED, proven.verdict
    found = audit_task(place.bench, task_id, Wanted(jobs=4), _quiet)
    assert [(seen.thing.path, seen.sight.noticed) for seen in found.hunks] == [
        ("README.md", Noticed.NO_CODE),
        (WORDS, Noticed.NO),
        (WORDS, Noticed.NO_CODE),
        (WORDS, Noticed.TESTS),
    ]
    [missed] = unnoticed(found.hunks)
    assert missed.thing.lines == ('+    text = text or ""',)
    assert {seen.thing.path: seen.sight.noticed for seen in found.files} == {
        "README.md": Noticed.NO_CODE,
        WORDS: Noticed.TESTS,
    }
    assert [one.name for one in found.adversaries if one.passed] == []
    verdicts = {one.name: one.verdict for one in found.adversaries}
    assert verdicts["deletes-tests"] == verdicts["edits-conftest"] == verdicts["stubs"] == "fail"
    assert verdicts["exits-0"] != "pass"
    assert found.score.hunks == 0.5


def test_equal_trees_run_once_and_never_more_than_asked_at_a_time(shared: SamplePlace, several: str) -> None:
    played = _ByContent(lambda text: CHECKED in text)
    lines: list[str] = []
    found = audit_task(shared.bench_with(played), several, Wanted(jobs=2), lines.append)
    # The file without its last hunk is no tree of any hunk; README and docstring ask for no trial.
    assert sorted(played.names) == ["exits-0", "file-1", "hunk-1", "hunk-2", "reference", "stubs"]
    assert found.trials == 6 and played.most <= 2
    assert lines[-1].startswith("trials: 6 of 6 (")
    assert [line.partition(" (")[0] for line in lines[1:]] == [f"trials: {n} of 6" for n in range(7)]


def test_a_single_hunk_needs_no_trial(shared: SamplePlace, single: str) -> None:
    played = _ByContent(lambda text: "ignore=()" in text)
    found = _audit(shared, single, played)
    assert [seen.sight.noticed for seen in (*found.hunks, *found.files)] == [Noticed.WHOLE, Noticed.WHOLE]
    assert sorted(played.names) == ["exits-0", "reference", "stubs"]
    assert found.score.hunks == 1.0


def test_how_a_change_is_noticed_is_told(shared: SamplePlace, several: str) -> None:
    slow = Facts("x", None, timed_out=True, timed_out_in="verify")
    full = Facts("x", 137, out_of_memory=True)
    found = _audit(
        shared, several, _ByContent(lambda text: CHECKED in text, **{"hunk-1": slow, "hunk-2": full})
    )
    noticed = [seen.sight.noticed for seen in found.hunks]
    assert noticed == [Noticed.NO_CODE, Noticed.TIMEOUT, Noticed.NO_CODE, Noticed.OUT_OF_MEMORY]


def test_S11_an_adversary_that_wins_is_told_and_the_task_is_worth_nothing(
    shared: SamplePlace, several: str
) -> None:
    found = _audit(shared, several, _ByContent(lambda text: "_exit(0)" in text or CHECKED in text))
    assert [one.name for one in found.adversaries if one.passed] == ["exits-0"]
    assert found.score.total == 0


def test_annotations_that_nothing_reads_are_no_weakness(shared: SamplePlace, several: str) -> None:
    files = shared.project.read_task(several)
    trees = trees_of(shared.history, files)
    plan = make_plan(shared.history, files, trees, (), Wanted())
    passing = Saw(Grade(GradeName.PASS), Sight(Noticed.NO))
    [asked] = [(cut, run) for cut, run in plan.cuts if cut.lines == ('+    text = text or ""',)]
    hinted = replace(plan, cuts=((replace(asked[0], only_hints=True), asked[1]), asked))
    seen = hinted.seen_cuts(HUNK, dict.fromkeys(plan.runs, passing))
    assert [one.sight.noticed for one in seen] == [Noticed.NO_CODE, Noticed.NO]


def test_surviving_mutants_are_listed_with_their_line(shared: SamplePlace, single: str) -> None:

    def solves(text: str) -> bool:
        return "not in ignore" in text and "reverse" not in text and "return None" not in text

    wanted = Wanted(mutants=6, seed=3)
    found = _audit(shared, single, _ByContent(solves), wanted)
    assert len(found.mutants) == 6
    text = (shared.sample.root / WORDS).read_text().splitlines()
    for seen in found.mutants:
        assert seen.thing.before in text
        flipped = "not in" in seen.thing.before and "not in" not in seen.thing.after
        changed = flipped or "return None" in seen.thing.after
        assert (seen.sight.noticed is Noticed.TESTS) == changed, seen
    assert 0 < len(unnoticed(found.mutants)) < 6
    again = _audit(shared, single, _ByContent(solves), wanted)
    assert [seen.thing for seen in again.mutants] == [seen.thing for seen in found.mutants]
    other = _audit(shared, single, _ByContent(solves), replace(wanted, seed=4))
    assert [seen.thing for seen in other.mutants] != [seen.thing for seen in found.mutants]


def test_only_a_task_whose_proof_holds_is_audited(place: SamplePlace) -> None:
    first = _prove(place, place.create(place.pull(ALONE)).id)
    second = place.create(place.pull("Count sentences")).id
    with pytest.raises(Refusal, match="unvalidated"):
        choose(place.project, place.history, [first, second])
    chosen, skipped = choose(place.project, place.history, [])
    assert chosen == (first,)
    assert [(one.id, one.skipped) for one in skipped] == [(second, "unvalidated: it was never proven")]
    with pytest.raises(Refusal):
        audit_task(place.quick, second, Wanted(), _quiet)


class _Lost(_ByContent):
    """An engine that goes away at the first task."""

    def __init__(self, task: str) -> None:
        super().__init__(lambda text: True)
        self._task = task

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        trials = list(trials)
        if trials[0].task == self._task:
            raise EngineError("The engine went away.", remedy="start it")
        return super().run(trials)


def test_one_tasks_trouble_is_never_anothers(shared: SamplePlace, single: str, several: str) -> None:
    said: list[tuple[str, str]] = []
    kept = shared.data.last_audit(single)
    outcomes = list(
        audit(
            shared.bench_with(_Lost(single)),
            [single, several],
            Wanted(),
            lambda of, line: said.append((of, line)),
        )
    )
    assert [(one.id, one.audit is not None) for one in outcomes] == [(single, False), (several, True)]
    assert exit_code(outcomes) == 3
    assert {of for of, _ in said} == {single, several}
    rows = document(outcomes)["tasks"]
    assert [(row["id"], row["state"]) for row in rows] == [(several, "audited"), (single, "failed")]
    assert "went away" in rows[1]["reason"]
    assert shared.data.last_audit(single) == kept


def test_nothing_is_told_of_changes_when_the_reference_itself_fails(
    shared: SamplePlace, several: str
) -> None:
    kept = shared.data.last_audit(several)
    with pytest.raises(Refusal, match="reference itself does not pass now"):
        _audit(shared, several, _ByContent(lambda text: False))
    assert shared.data.last_audit(several) == kept


class _Stopped(_ByContent):
    """Somebody presses Ctrl-C while a trial runs."""

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        raise KeyboardInterrupt


def test_ctrl_c_ends_the_trials(shared: SamplePlace, several: str, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted: list[bool] = []
    monkeypatch.setattr(shared.engine, "interrupt", lambda: interrupted.append(True))
    with pytest.raises(KeyboardInterrupt):
        _audit(shared, several, _Stopped(lambda text: True))
    assert interrupted == [True]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("audit")]


def test_the_last_audit_is_kept_and_shown_as_outdated_when_the_task_changes(place: SamplePlace) -> None:
    task_id = _prove(place, _create(place))
    assert overview(place.project, place.history, place.data, task_id).audit is None
    found = _audit(place, task_id, _ByContent(lambda text: CHECKED in text))
    view = overview(place.project, place.history, place.data, task_id)
    assert view.audit is not None and not view.audit_outdated
    assert view.audit["score"] == found.score.total
    assert shown(view)["audit"]["outdated"] is False  # type: ignore[index]
    place.project.update_prompt(task_id, b"Something else.\n")
    view = overview(place.project, place.history, place.data, task_id)
    assert view.audit is not None and view.audit_outdated


def test_what_the_base_tree_mentions_is_no_guess(place: SamplePlace) -> None:
    created = place.create(place.pull(ALONE))
    files = replace(created.files, prompt=b"Mend it.\n")
    base = files.task.source.base_commit
    assert unspecified(place.history, files, place.history.tree_of(base)).names == ("ignore",)
    git(place.sample.root, "checkout", "--quiet", "-b", "with-the-name", base)
    (place.sample.root / "NOTES").write_text("what we ignore\n")
    git(place.sample.root, "add", "NOTES")
    git(place.sample.root, "commit", "--quiet", "-m", "Notes")
    assert unspecified(place.history, files, place.history.tree_of("with-the-name")).count == 0


def test_scores_and_exit_codes(shared: SamplePlace, several: str) -> None:
    weak = _audit(shared, several, _ByContent(lambda text: True))
    nothing = replace(weak, id="nothing", hunks=(), mutants=(), adversaries=())
    outcomes = [
        Audited("skipped", skipped="stale: the prompt changed"),
        Audited("nothing", nothing),
        Audited("weak", replace(weak, id="weak", adversaries=())),
    ]
    assert [one.id for one in weakest_first(outcomes)] == ["weak", "nothing", "skipped"]
    assert exit_code(outcomes) == 0
    assert exit_code(outcomes, min_score=0.9) == 1
    assert exit_code(outcomes[:2], min_score=0.9) == 0
    assert exit_code([*outcomes, Audited("x", failed=Refusal("no"))]) == 1


def test_an_unreadable_record_is_no_audit(shared: SamplePlace, single: str, tmp_path: Path) -> None:
    shared.data.keep_audit(single, b"{")
    assert shared.data.last_audit(single) is None
    shared.data.keep_audit(single, b'{"schema": "berbench.audit/0"}')
    assert overview(shared.project, shared.history, shared.data, single).audit is None
