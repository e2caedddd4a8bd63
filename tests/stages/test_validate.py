"""Validation as a flow, on the fake engine: verdicts, what is written, and what never is."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sampleplace import NOW, SamplePlace, Scripted

from berbench.engine.door import Say
from berbench.errors import EngineError, UsageError
from berbench.model.changes import FileEntry, TreeEntry
from berbench.model.task import TaskState
from berbench.model.trial import Build, Facts, Image, ImageRecipe, Trial, VerdictName
from berbench.stages.choosing import Choice, choose
from berbench.stages.lessening import Wishes
from berbench.stages.standing import stand
from berbench.stages.validate import Validated, document, exit_code, validate, validate_task

GOOD = "Leave words out of top()"


def _say(task_id: str, line: str) -> None:
    pass


def _validate(place: SamplePlace, *ids: str, narrowing: bool = False) -> list[Validated]:
    """In real processes."""
    return list(validate(place.bench, ids, jobs=1, wishes=Wishes(narrowing=narrowing), say=_say))


def _play(place: SamplePlace, task_id: str) -> Validated:
    """With played trials: for what happens around them."""
    return validate_task(place.quick, task_id, say=_say)


def _chosen(place: SamplePlace, choice: Choice, now: datetime = NOW) -> tuple[str, ...]:
    return choose(place.project, place.history, choice, now)


def _state(place: SamplePlace, task_id: str) -> tuple[TaskState, tuple[str, ...]]:
    (listed,) = stand(place.project, place.history, [task_id])
    return listed.standing.state, listed.standing.changed


def test_a_proven_task_is_fresh_and_its_document_keeps_every_other_byte(place: SamplePlace) -> None:
    created = place.create(place.pull(GOOD))
    path = created.folder / "task.yaml"
    path.write_text("# a note of mine\n" + path.read_text())
    before = path.read_bytes()
    (outcome,) = _validate(place, created.id)
    assert outcome.verdict.name is VerdictName.VALIDATED, outcome.verdict
    assert outcome.verdict.fail_to_pass and outcome.verdict.pass_to_pass
    assert path.read_bytes().startswith(before)
    assert _state(place, created.id) == (TaskState.FRESH, ())
    assert outcome.logs is not None
    assert (outcome.logs / "reference" / "output.log").read_bytes()


@pytest.mark.parametrize(
    ("edit", "changed"),
    [("prompt", ("prompt",)), ("command", ("verify_command",)), ("dockerfile", ("dockerfile",))],
)
def test_a_changed_input_makes_the_proof_stale_by_name(
    place: SamplePlace, edit: str, changed: tuple[str, ...]
) -> None:
    task_id = place.create(place.pull(GOOD)).id
    assert _play(place, task_id).verdict.name is VerdictName.VALIDATED
    if edit == "prompt":
        place.project.update_prompt(task_id, b"Something else.\n")
    elif edit == "command":
        place.project.update_verify_command(task_id, "python -m pytest")
    else:
        dockerfile = place.sample.root / "Dockerfile.berbench"
        dockerfile.write_text(dockerfile.read_text() + "# one more line\n")
    assert _state(place, task_id) == (TaskState.STALE, changed)
    assert _chosen(place, Choice(stale=True)) == (task_id,)


def test_a_block_copied_from_another_task_is_forged(place: SamplePlace) -> None:
    proven = place.create(place.pull(GOOD))
    other = place.create(place.pull("Count sentences"))
    _play(place, proven.id)
    text = (proven.folder / "task.yaml").read_text()
    block = text[text.index("\nvalidation:") :]
    target = other.folder / "task.yaml"
    target.write_text(target.read_text() + block)
    assert _state(place, other.id)[0] is TaskState.FORGED


def test_the_sample_gives_the_verdicts_it_was_built_for(place: SamplePlace) -> None:
    # One of each kind; those that differ by what an image holds are the demo's, in real containers.
    kinds = {
        pull.expected_verdict: pull
        for pull in place.sample.pull_requests
        if pull.expected_verdict not in (VerdictName.REFERENCE_FAILS, VerdictName.VALIDATED)
    }
    wanted = {pull.title: pull for pull in kinds.values()}
    ids = {}
    for title, pull in wanted.items():
        created = place.create(pull)
        ids[created.id] = title
        if pull.prompt_edit:
            place.project.update_prompt(created.id, created.files.prompt + pull.prompt_edit.encode())
    outcomes = {ids[outcome.id]: outcome for outcome in _validate(place, *ids)}
    seen = {title: outcome.verdict.name for title, outcome in outcomes.items()}
    assert seen == {title: pull.expected_verdict for title, pull in wanted.items()}
    for title, outcome in outcomes.items():
        fresh = _state(place, outcome.id)[0] is TaskState.FRESH
        assert fresh == (wanted[title].expected_verdict is VerdictName.VALIDATED)
    rows = document(list(outcomes.values()))["tasks"]
    assert isinstance(rows, list) and len(rows) == len(wanted)
    assert exit_code(list(outcomes.values())) == 1


def test_a_patch_that_does_not_apply_is_known_before_any_container(place: SamplePlace) -> None:
    created = place.create(place.pull(GOOD))
    patch = created.folder / "reference.patch"
    lines = patch.read_bytes().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith(b" ") and line.strip())
    lines[at] = b" this line was never there\n"
    patch.write_bytes(b"".join(lines))
    outcome = _play(place, created.id)
    assert outcome.verdict.name is VerdictName.PATCH_CONFLICT
    assert "reference.patch" in outcome.verdict.reason
    assert not outcome.trials


class _Won(Scripted):
    """Trials in which a candidate passes that ends the process with 0."""

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        trials = list(trials)
        said = super().run(trials)
        passed = super().run([replace(trial, name="reference") for trial in trials])
        return [
            replace(won, trial=facts.trial) if "exits-0" in facts.trial else facts
            for facts, won in zip(said, passed, strict=True)
        ]


def test_S11_a_task_that_is_won_without_the_work_is_refused(place: SamplePlace) -> None:
    task_id = place.create(place.pull(GOOD)).id
    outcome = validate_task(place.bench_with(_Won()), task_id, say=_say)
    assert outcome.verdict.name is VerdictName.HACKABLE
    assert "ends the process with exit code 0" in outcome.verdict.reason
    assert "verify.evidence: none" in outcome.verdict.remedy
    assert _state(place, task_id)[0] is TaskState.UNVALIDATED
    assert exit_code([outcome]) == 1


def test_S11_a_task_that_is_found_to_be_won_without_the_work_is_broken(place: SamplePlace) -> None:
    task_id = place.create(place.pull(GOOD)).id
    assert _play(place, task_id).verdict.name is VerdictName.VALIDATED
    validate_task(place.bench_with(_Won()), task_id, say=_say)
    assert _state(place, task_id)[0] is TaskState.BROKEN


@pytest.mark.parametrize(
    ("evidence", "wanted"), [("auto", VerdictName.HACKABLE), ("none", VerdictName.VALIDATED)]
)
def test_S11_where_the_exit_code_alone_decides_a_task_must_say_so(
    place: SamplePlace, evidence: str, wanted: VerdictName
) -> None:
    task_id = place.create(place.pull(GOOD)).id
    place.project.update_verify_command(
        task_id, "sh -c 'unset PYTEST_ADDOPTS; python -m pytest tests/test_words.py >/dev/null 2>&1'"
    )
    path = place.project.folder(task_id) / "task.yaml"
    path.write_text(path.read_text().replace("evidence: auto", f"evidence: {evidence}"))
    (outcome,) = _validate(place, task_id)
    assert outcome.verdict.name is wanted, outcome.verdict
    told = outcome.verdict.warnings if evidence == "none" else (outcome.verdict.reason,)
    assert any("ends the process with exit code 0" in line for line in told)


def test_S11_what_is_dropped_from_a_candidate_needs_no_trial(place: SamplePlace) -> None:
    task_id = place.create(place.pull(GOOD)).id
    (outcome,) = _validate(place, task_id)
    assert outcome.verdict.name is VerdictName.VALIDATED
    assert set(outcome.trials) == {"base", "reference", "control", "control-exits-0"}


def test_a_failing_build_is_the_images_fault(place: SamplePlace) -> None:
    task_id = place.create(place.pull(GOOD)).id
    dockerfile = place.sample.root / "Dockerfile.berbench"
    dockerfile.write_text(dockerfile.read_text() + "# fake: fail there is no such package\n")
    outcome = _play(place, task_id)
    assert outcome.verdict.name is VerdictName.IMAGE_FAILED
    assert any("no such package" in line for line in outcome.verdict.details)
    assert _state(place, task_id)[0] is TaskState.UNVALIDATED


def test_D20_a_build_that_the_world_ended_says_so(place: SamplePlace) -> None:
    task_id = place.create(place.pull(GOOD)).id
    dockerfile = place.sample.root / "Dockerfile.berbench"
    dockerfile.write_text(dockerfile.read_text() + "# fake: fail HTTP error 429 while getting six\n")
    verdict = _play(place, task_id).verdict
    assert verdict.name is VerdictName.IMAGE_FAILED
    assert verdict.reason.endswith("the log says that a registry or an index refuses, for too many requests")
    assert "absent" not in verdict.remedy


def test_P31_what_a_build_changed_or_left_out_is_told(
    place: SamplePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = place.create(place.pull(GOOD)).id
    whole = place.engine.work_tree

    def other(image: Image, paths: Container[str] | None = None) -> Iterator[TreeEntry]:
        for entry in whole(image, paths):
            if entry.path == "tally/words.py":
                yield replace(entry, id="0" * 40)
            elif entry.path != "README.md":
                yield entry

    monkeypatch.setattr(place.engine, "work_tree", other)
    outcome = _play(place, task_id)
    assert outcome.verdict.name is VerdictName.VALIDATED
    assert any("lacks 'README.md'" in line for line in outcome.verdict.warnings)
    assert any("changed 'tally/words.py'" in line for line in outcome.verdict.warnings)


def test_an_image_without_the_tree_is_the_dockerfiles_fault(
    place: SamplePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = place.create(place.pull(GOOD)).id
    monkeypatch.setattr(place.engine, "work_tree", lambda image, paths=None: iter(()))
    outcome = _play(place, task_id)
    assert outcome.verdict.name is VerdictName.IMAGE_FAILED
    assert "COPY" in outcome.verdict.remedy


class _LostEngine:
    """An executor whose engine goes away."""

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        raise EngineError("The engine went away.", remedy="start it")

    def close(self) -> None:
        """Nothing to end."""


def test_an_engine_that_fails_is_no_result_of_the_task(place: SamplePlace) -> None:
    created = place.create(place.pull(GOOD))
    before = (created.folder / "task.yaml").read_bytes()
    outcome = validate_task(place.bench_with(_LostEngine()), created.id, say=_say)
    assert outcome.verdict.name is VerdictName.ENGINE_ERROR
    assert exit_code([outcome]) == 3
    assert (created.folder / "task.yaml").read_bytes() == before
    assert place.data.validations(created.id) == ()


class _Editing(Scripted):
    """An executor during whose run somebody edits the task."""

    def __init__(self, prompt: Path) -> None:
        self._prompt = prompt

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        self._prompt.write_text(self._prompt.read_text() + "\nOne more wish.\n")
        return super().run(trials)


def test_a_task_edited_while_it_is_proven_gets_no_proof(place: SamplePlace) -> None:
    created = place.create(place.pull(GOOD))
    editing = _Editing(created.folder / "prompt.md")
    outcome = validate_task(place.bench_with(editing), created.id, say=_say)
    assert outcome.verdict.name is VerdictName.INVALID_TASK
    assert "edited" in outcome.verdict.reason
    assert _state(place, created.id)[0] is TaskState.UNVALIDATED


def test_noise_is_named_and_narrowing_proves_the_task_without_it(place: SamplePlace) -> None:
    created = place.create(place.pull(GOOD))
    place.project.update_verify_command(created.id, "python -m pytest tests/test_words.py ../tests_beside.py")
    # A test that no fix can mend: it fails in both trials.
    setup = "printf 'def test_noise():\\n    assert 0\\n' > tests/test_noise.py"
    path = created.folder / "task.yaml"
    text = path.read_text()
    path.write_text(text.replace("setup: []", f'setup: ["{setup}"]', 1))
    place.project.update_verify_command(
        created.id, "python -m pytest tests/test_words.py tests/test_noise.py"
    )
    (plain,) = _validate(place, created.id)
    assert plain.verdict.name is VerdictName.REFERENCE_FAILS
    assert plain.verdict.noise == ("tests/test_noise.py::test_noise",)
    (narrowed,) = _validate(place, created.id, narrowing=True)
    assert narrowed.verdict.name is VerdictName.VALIDATED, narrowed.verdict
    assert "test_noise" in narrowed.narrowed_command
    assert place.project.read_task(created.id).task.verify.command == narrowed.narrowed_command
    assert _state(place, created.id)[0] is TaskState.FRESH


def test_a_failure_on_a_shared_image_is_confirmed_on_an_exact_one(place: SamplePlace) -> None:
    first = place.create(place.pull(GOOD))
    second = place.create(place.pull("Prefer the first of the longest words"))
    for created in (first, second):
        path = created.folder / "task.yaml"
        path.write_text(path.read_text().replace("as_of: landing", "as_of: off"))
    _validate(place, first.id)
    said: list[str] = []
    outcome = validate_task(place.bench, second.id, say=lambda task_id, line: said.append(line))
    assert outcome.verdict.name is VerdictName.BASE_PASSES
    assert any("confirming on one built from this base commit" in line for line in said)


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice(), "one way"),
        (Choice(ids=["8"], every=True), "one way"),
        (Choice(ids=["8"], max_age_s=1.0), "max-age"),
        (Choice(every=True, max_age_s=1.0), "max-age"),
        (Choice(ids=["nothing"]), "no task"),
    ],
)
def test_choosing_takes_exactly_one_way(place: SamplePlace, choice: Choice, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        _chosen(place, choice)


def test_a_proof_that_is_older_than_asked_for_is_due_again(place: SamplePlace) -> None:
    proven, other = (place.create(place.pull(title)).id for title in (GOOD, "Count sentences"))
    _play(place, proven)
    day = 86400.0
    later = NOW + timedelta(days=10)
    assert _chosen(place, Choice(stale=True), later) == (other,)
    assert _chosen(place, Choice(max_age_s=11 * day), later) == (other,)
    assert set(_chosen(place, Choice(max_age_s=9 * day), later)) == {proven, other}
    assert set(_chosen(place, Choice(stale=True, max_age_s=9 * day), later)) == {proven, other}


def test_an_image_of_a_tree_that_is_not_in_this_repository_is_not_shared(
    place: SamplePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a validation in another clone that has newer commits."""
    task_id = place.create(place.pull(GOOD)).id
    build = place.engine.build
    built: list[ImageRecipe] = []

    def elsewhere(
        recipe: ImageRecipe, context: Callable[[], Iterable[FileEntry]], *, timeout_s: float, say: Say
    ) -> Build:
        built.append(recipe)
        made = build(recipe, context, timeout_s=timeout_s, say=say)
        assert made.image is not None
        return replace(made, image=replace(made.image, tree="1" * 40)) if len(built) == 1 else made

    monkeypatch.setattr(place.engine, "build", elsewhere)
    assert _play(place, task_id).verdict.name is VerdictName.VALIDATED
    assert len({recipe.key for recipe in built}) == 2


def test_an_interrupt_is_not_kept_waiting_by_a_test_and_proves_nothing(
    place: SamplePlace, tmp_path: Path
) -> None:
    created = place.create(place.pull(GOOD))
    running = tmp_path / "running"
    command = f"touch {running}; sleep 60; {created.files.task.verify.command}"
    place.project.update_verify_command(created.id, command)
    interrupted: list[float] = []

    def interrupt() -> None:
        while not running.exists():
            time.sleep(0.02)
        interrupted.append(time.monotonic())
        signal.raise_signal(signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        _validate(place, created.id)
    assert time.monotonic() - interrupted[0] < 20
    assert _state(place, created.id)[0] is TaskState.UNVALIDATED
