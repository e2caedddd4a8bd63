"""Repeats, another order, another date and drift as parts of a validation: what is run, written and told."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sampleplace import NOW, SamplePlace, Scripted, is_unsolved, sample_place

from berbench.fingerprint import seal
from berbench.model.task import Standing, TaskState
from berbench.model.trial import Facts, ReportFile, Trial, VerdictName
from berbench.stages.lessening import Wishes
from berbench.stages.luck import Luck
from berbench.stages.standing import document, stand
from berbench.stages.validate import Validated, validate_task
from berbench.verdicts import Trialed

GOOD = "Leave words out of top()"
FILE = "tests/test_words.py"
NEW, OLD = f"{FILE}::test_new", f"{FILE}::test_old"


def report(**tests: bool) -> ReportFile:
    cases = "".join(
        f'<testcase classname="tests.test_words" name="test_{name}" file="{FILE}">'
        + ("" if passed else '<failure message="assert 0">no</failure>')
        + "</testcase>"
        for name, passed in tests.items()
    )
    return ReportFile(
        "pytest.xml", f'<testsuites><testsuite name="pytest">{cases}</testsuite></testsuites>'.encode()
    )


class Played(Scripted):
    """A sound task, in which some trials go another way. Remembers the trials it was given."""

    def __init__(self, played: Callable[[Trial], dict[str, bool] | None] = lambda trial: None) -> None:
        self.played = played
        self.trials: list[Trial] = []
        self.notes: dict[str, bytes] = {}
        self.installed: tuple[str, ...] = ("pip==23.0", "six==1.15")

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        trials = list(trials)
        self.trials += trials
        return [self._one(facts, trial) for facts, trial in zip(super().run(trials), trials, strict=True)]

    def _one(self, facts: Facts, trial: Trial) -> Facts:
        facts = replace(facts, installed=self.installed)
        tests = self.played(trial)
        if tests is not None:
            facts = replace(facts, exit_code=int(not all(tests.values())), reports=(report(**tests),))
        notes = tuple(
            ReportFile(name, text)
            for name, text in self.notes.items()
            if trial.name.endswith("clock" if name == "clock" else "shuffled")
        )
        return replace(facts, reports=(*facts.reports, *notes))


def prove(place: SamplePlace, task_id: str, executor: Scripted, wishes: Wishes | None = None) -> Validated:
    said = wishes or Wishes()
    return validate_task(place.bench_with(executor), task_id, wishes=said, say=lambda *line: None)


def standing(place: SamplePlace, task_id: str) -> Standing:
    (listed,) = stand(place.project, place.history, [task_id])
    return listed.standing


def sometimes(trial: Trial) -> dict[str, bool] | None:
    """An old test that fails in the second repeat with the reference."""
    return {"old": False, "new": True} if trial.name == "reference-2" else None


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SamplePlace]:
    with sample_place(tmp_path_factory.mktemp("luck")) as one:
        created = one.create(one.pull(GOOD))
        one.project.update_verify_command(created.id, f"python -m pytest {FILE}")
        shutil.copytree(created.folder, one.sample.root.parent / "as-created")
        yield one


@pytest.fixture
def place(opened: SamplePlace) -> SamplePlace:
    """One place for all tests here: the task is as it was created, and nothing is recorded yet."""
    shutil.rmtree(opened.project.tasks_folder)
    shutil.rmtree(opened.data.folder / "validations", ignore_errors=True)
    shutil.copytree(opened.sample.root.parent / "as-created", opened.project.tasks_folder / "8")
    return opened


@pytest.fixture
def task_id(place: SamplePlace) -> str:
    return "8"


def test_every_repeat_is_run_recorded_and_counted_in_the_proof(place: SamplePlace, task_id: str) -> None:
    outcome = prove(place, task_id, Played(), Wishes(luck=Luck(repeat=3)))
    assert outcome.verdict.name is VerdictName.VALIDATED, outcome.verdict
    usual = {"base", "reference", "base-2", "reference-2", "base-3", "reference-3"}
    assert usual <= set(outcome.trials)
    assert outcome.logs is not None
    assert usual <= {path.name for path in outcome.logs.iterdir()}
    block = place.project.read_task(task_id).task.validation
    assert block is not None and block.repeats == 3
    assert standing(place, task_id).state is TaskState.FRESH


def test_repeats_that_disagree_are_flaky_and_prove_nothing(place: SamplePlace, task_id: str) -> None:
    outcome = prove(place, task_id, Played(sometimes), Wishes(luck=Luck(repeat=2)))
    assert (outcome.verdict.name, outcome.verdict.moved) == (VerdictName.FLAKY, (OLD,))
    assert standing(place, task_id).state is TaskState.UNVALIDATED


def test_a_disagreement_is_not_made_good_by_a_lucky_run_on_another_image(
    place: SamplePlace, task_id: str
) -> None:
    other = place.create(place.pull("Prefer the first of the longest words")).id
    for each in (task_id, other):
        path = place.project.folder(each) / "task.yaml"
        path.write_text(path.read_text().replace("as_of: landing", "as_of: off"))
    prove(place, task_id, Played())
    shared = Played(sometimes)
    assert prove(place, other, shared, Wishes(luck=Luck(repeat=2))).verdict.name is VerdictName.FLAKY
    assert len({trial.image.id for trial in shared.trials}) == 1
    # Any other refusal on a shared image is tried again on one of the task's own.
    refused = Played(lambda trial: {"old": True, "new": True})
    prove(place, other, refused)
    assert len({trial.image.id for trial in refused.trials}) == 2


def _steady_without_old(trial: Trial) -> dict[str, bool] | None:
    if "--deselect" in trial.command and OLD in trial.command:
        return {"new": not is_unsolved(trial.name)}
    return sometimes(trial)


def test_quarantine_proves_the_task_on_the_other_tests_and_names_those_left_out(
    place: SamplePlace, task_id: str
) -> None:
    wishes = Wishes(quarantining=True, luck=Luck(repeat=2))
    outcome = prove(place, task_id, Played(_steady_without_old), wishes)
    assert outcome.verdict.name is VerdictName.VALIDATED, outcome.verdict
    assert outcome.quarantined == (OLD,)
    files = place.project.read_task(task_id)
    assert f"--deselect={OLD}" in files.task.verify.command == outcome.narrowed_command
    block = files.task.validation
    assert block is not None and (block.quarantined, block.repeats) == ((OLD,), 2)
    assert standing(place, task_id).state is TaskState.FRESH
    # As long as the command leaves them out, every later proof says so.
    prove(place, task_id, Played(_steady_without_old))
    again = place.project.read_task(task_id).task.validation
    assert again is not None and again.quarantined == (OLD,)
    place.project.update_verify_command(task_id, f"python -m pytest {FILE}")
    prove(place, task_id, Played())
    whole = place.project.read_task(task_id).task.validation
    assert whole is not None and whole.quarantined == ()


def test_quarantine_stays_flaky_where_all_that_shows_the_change_is_flaky(
    place: SamplePlace, task_id: str
) -> None:
    def lucky(trial: Trial) -> dict[str, bool] | None:
        return {"old": True, "new": False} if trial.name == "reference-2" else None

    outcome = prove(place, task_id, Played(lucky), Wishes(quarantining=True, luck=Luck(repeat=2)))
    assert (outcome.verdict.name, outcome.verdict.moved) == (VerdictName.FLAKY, (NEW,))
    assert "nothing left to prove" in outcome.verdict.remedy
    assert place.project.read_task(task_id).task.verify.command == f"python -m pytest {FILE}"


def test_quarantine_stays_flaky_where_the_runner_has_no_exact_way(place: SamplePlace, task_id: str) -> None:
    command = f"sh -c 'python -m pytest {FILE}'"
    place.project.update_verify_command(task_id, command)
    outcome = prove(place, task_id, Played(sometimes), Wishes(quarantining=True, luck=Luck(repeat=2)))
    assert outcome.verdict.name is VerdictName.FLAKY
    assert any("no exact way" in line for line in outcome.verdict.warnings)
    assert "--quarantine-flaky" not in outcome.verdict.remedy  # it has just been tried, in vain
    assert place.project.read_task(task_id).task.verify.command == command


def test_quarantine_ends_after_a_few_rounds(place: SamplePlace, task_id: str) -> None:
    """New tests turn out flaky in every round: that is no fair measurement."""

    def worse(trial: Trial) -> dict[str, bool] | None:
        gone = trial.command.count("--deselect")
        tests = {"new": not trial.name.startswith("base")}
        return tests | {f"t{n}": trial.name != "reference-2" for n in range(gone, gone + 1)} | {"old": True}

    executor = Played(worse)
    outcome = prove(place, task_id, executor, Wishes(quarantining=True, luck=Luck(repeat=2)))
    assert outcome.verdict.name is VerdictName.FLAKY
    assert len({trial.command for trial in executor.trials if trial.name == "base"}) == 4
    assert standing(place, task_id).state is TaskState.UNVALIDATED


# --- another order, another date ---


def shaken(order: dict[str, bool] | None = None, date: dict[str, bool] | None = None) -> Played:
    """What the extra trials with the reference show; at the base the new test fails in each."""

    def played(trial: Trial) -> dict[str, bool] | None:
        if trial.name == "reference-shuffled":
            return order or {"new": True, "old": True}
        if trial.name == "reference-clock":
            return date
        return None

    executor = Played(played)
    executor.notes = {"clock": b"moved\n"}
    return executor


def test_another_order_and_another_date_that_change_nothing_leave_the_proof(
    place: SamplePlace, task_id: str
) -> None:
    executor = shaken()
    outcome = prove(place, task_id, executor, Wishes(luck=Luck(seed=7, clock="+400d")))
    assert (outcome.verdict.name, outcome.verdict.warnings) == (VerdictName.VALIDATED, ())
    commands = {trial.name: trial.command for trial in executor.trials}
    assert {"base-shuffled", "reference-shuffled", "base-clock", "reference-clock"} <= set(commands)
    assert "BERBENCH_SHUFFLE=7" in commands["base-shuffled"]
    assert "FAKETIME=+400d" in commands["reference-clock"]
    assert "BERBENCH_SHUFFLE" not in commands["base"] + commands["base-clock"]
    assert outcome.logs is not None and (outcome.logs / "reference-clock" / "facts.json").exists()


def test_they_are_no_inputs_of_the_fingerprint(place: SamplePlace, task_id: str) -> None:
    plain = prove(place, task_id, Played()).fingerprint
    assert prove(place, task_id, shaken(), Wishes(luck=Luck(3, 7, "+400d"))).fingerprint == plain


@pytest.mark.parametrize(
    ("executor", "by", "words"),
    [
        (shaken(order={"new": True, "old": False}), "order", "seed 7"),
        (shaken(date={"new": True, "old": False}), "clock", "+400d"),
    ],
    ids=["order", "clock"],
)
def test_tests_that_need_their_order_or_their_date_refuse_the_task(
    place: SamplePlace, task_id: str, executor: Played, by: str, words: str
) -> None:
    outcome = prove(place, task_id, executor, Wishes(luck=Luck(seed=7, clock="+400d")))
    assert (outcome.verdict.name, outcome.verdict.moved_by) == (VerdictName.FLAKY, by)
    assert outcome.verdict.moved == (OLD,) and words in outcome.verdict.reason
    assert standing(place, task_id).state is TaskState.UNVALIDATED


def test_what_could_not_be_tried_is_a_warning_on_the_proof(place: SamplePlace, task_id: str) -> None:
    executor = Played()  # the same order, and nothing that says that the clock moved
    executor.notes = {"clock": b"install libfaketime in the Dockerfile\n"}
    outcome = prove(place, task_id, executor, Wishes(luck=Luck(seed=7, clock="+400d")))
    assert outcome.verdict.name is VerdictName.VALIDATED
    order, clock = outcome.verdict.warnings
    assert order.startswith("the order could not be changed: ") and "another `--seed`" in order
    assert clock == "could not move the clock: install libfaketime in the Dockerfile"


def test_where_the_runner_has_no_way_no_trial_is_run_for_it(place: SamplePlace, task_id: str) -> None:
    path = place.project.folder(task_id) / "task.yaml"
    path.write_text(path.read_text().replace("evidence: auto", "evidence: none"))
    executor = Played()
    outcome = prove(place, task_id, executor, Wishes(luck=Luck(seed=7)))
    assert outcome.verdict.name is VerdictName.VALIDATED
    assert any("verify.evidence is none" in line for line in outcome.verdict.warnings)
    assert not any("shuffled" in trial.name for trial in executor.trials)


def test_a_task_that_is_refused_already_is_not_shaken(place: SamplePlace, task_id: str) -> None:
    executor = Played(lambda trial: {"old": True, "new": True})
    outcome = prove(place, task_id, executor, Wishes(luck=Luck(seed=7, clock="+400d")))
    assert outcome.verdict.name is VerdictName.BASE_PASSES
    assert not any("shuffled" in trial.name or "clock" in trial.name for trial in executor.trials)


# --- drift ---


def drifted(trial: Trial) -> dict[str, bool] | None:
    """Since the proof, an old test fails with the reference."""
    return {"old": False, "new": True} if trial.name.startswith("reference") else None


def test_N02_a_fresh_task_that_does_not_reproduce_is_broken_and_says_what_differs(
    place: SamplePlace, task_id: str
) -> None:
    proven = prove(place, task_id, Played())
    # A later record of another image is not the proof's.
    facts = replace(proven.trials["reference"].facts, image="sha256:other", installed=("six==0.1",))
    other = {"reference": Trialed(facts, proven.trials["reference"].evidence)}
    place.data.save_validation(task_id, NOW + timedelta(days=1), proven.verdict, other)
    drift = Played(drifted)
    drift.installed = ("pip==23.0", "six==1.16")
    outcome = prove(place, task_id, drift)
    assert outcome.verdict.name is VerdictName.REFERENCE_FAILS
    assert any("broken now" in line for line in outcome.verdict.warnings)
    stands = standing(place, task_id)
    assert stands.state is TaskState.BROKEN and "reference-fails" in stands.reason
    block = place.project.read_task(task_id).task.validation
    assert block is not None and block.broken is not None and block.seal == seal(block)
    assert block.fail_to_pass == (NEW,)  # the proof is still there to be read
    assert block.broken.difference == (
        f"passed with the reference, now failed: {OLD}",
        "exit code of the reference trial: 0 → 1",
        "package six: 1.15 → 1.16",
    )
    rows = document(stand(place.project, place.history, [task_id]))["tasks"]
    assert isinstance(rows, list) and rows[0]["broken"]["difference"] == list(block.broken.difference)


class OnAnOlderImage(Played):
    """Trials of a time when the image was another one."""

    def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
        return [replace(facts, image="sha256:older") for facts in super().run(trials)]


def test_N02_a_later_proof_tells_what_moved_although_it_still_holds(place: SamplePlace, task_id: str) -> None:
    prove(place, task_id, OnAnOlderImage())
    later = Played()
    later.installed = ("pip==23.0", "six==1.16")
    outcome = prove(place, task_id, later)
    assert outcome.verdict.name is VerdictName.VALIDATED
    told = outcome.verdict.warnings
    assert any(
        line.startswith("the image was built again since the last proof: sha256:older") for line in told
    )
    assert "package six: 1.15 → 1.16" in told
    assert not any(
        "package" in line or "again" in line for line in prove(place, task_id, later).verdict.warnings
    )


def test_a_later_proof_mends_a_broken_task(place: SamplePlace, task_id: str) -> None:
    for executor in (Played(), Played(drifted), Played()):
        prove(place, task_id, executor)
    block = place.project.read_task(task_id).task.validation
    assert block is not None and block.broken is None
    assert standing(place, task_id) == Standing(TaskState.FRESH)


def test_a_broken_task_keeps_the_first_reason_and_its_bytes(place: SamplePlace, task_id: str) -> None:
    path = place.project.folder(task_id) / "task.yaml"
    prove(place, task_id, Played())
    prove(place, task_id, Played(drifted))
    before = path.read_bytes()
    prove(place, task_id, Played(lambda trial: {"old": True, "new": True}))
    assert path.read_bytes() == before


def test_a_broken_task_that_is_edited_stays_broken_and_names_what_changed(
    place: SamplePlace, task_id: str
) -> None:
    prove(place, task_id, Played())
    prove(place, task_id, Played(drifted))
    place.project.update_prompt(task_id, b"Something else.\n")
    stands = standing(place, task_id)
    assert (stands.state, stands.changed) == (TaskState.BROKEN, ("prompt",))
    assert "changed since the proof: prompt" in stands.reason


def test_the_reason_why_a_task_is_broken_is_under_the_seal(place: SamplePlace, task_id: str) -> None:
    prove(place, task_id, Played())
    prove(place, task_id, Played(drifted))
    path = place.project.folder(task_id) / "task.yaml"
    text = path.read_text()
    path.write_text(text.replace("verdict: reference-fails", "verdict: base-passes"))
    assert standing(place, task_id).state is TaskState.FORGED


def test_a_stale_task_that_is_refused_keeps_its_older_proof(place: SamplePlace, task_id: str) -> None:
    prove(place, task_id, Played())
    place.project.update_prompt(task_id, b"Leave some words out of top(), please.\n")
    before = (place.project.folder(task_id) / "task.yaml").read_bytes()
    outcome = prove(place, task_id, Played(drifted))
    assert any("stays stale" in line for line in outcome.verdict.warnings)
    assert (place.project.folder(task_id) / "task.yaml").read_bytes() == before
    assert standing(place, task_id).state is TaskState.STALE


def test_repeats_that_disagree_break_a_proof_and_another_order_does_not(
    place: SamplePlace, task_id: str
) -> None:
    prove(place, task_id, Played())
    executor = shaken(order={"new": True, "old": False})
    outcome = prove(place, task_id, executor, Wishes(luck=Luck(seed=7)))
    assert outcome.verdict.name is VerdictName.FLAKY
    assert any("not contradicted" in line for line in outcome.verdict.warnings)
    assert standing(place, task_id).state is TaskState.FRESH
    prove(place, task_id, Played(sometimes), Wishes(luck=Luck(repeat=2)))
    stands = standing(place, task_id)
    assert stands.state is TaskState.BROKEN and "flaky" in stands.reason


def test_a_task_edited_during_the_refusal_is_left_alone(place: SamplePlace, task_id: str) -> None:
    prove(place, task_id, Played())

    class Editing(Played):
        def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
            place.project.update_prompt(task_id, b"One more wish.\n")
            return super().run(trials)

    outcome = prove(place, task_id, Editing(drifted))
    assert any("edited meanwhile" in line for line in outcome.verdict.warnings)
    block = place.project.read_task(task_id).task.validation
    assert block is not None and block.broken is None


def test_without_a_record_of_the_proof_packages_are_not_compared(place: SamplePlace, task_id: str) -> None:
    prove(place, task_id, Played())
    for record in place.data.validations(task_id):
        (record / "verdict.json").write_text("{")
    drift = Played(drifted)
    drift.installed = ("six==1.16",)
    prove(place, task_id, drift)
    block = place.project.read_task(task_id).task.validation
    assert block is not None and block.broken is not None
    assert not any(line.startswith("package") for line in block.broken.difference)
    assert block.broken.at - NOW == timedelta(0)
