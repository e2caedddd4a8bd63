from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.fingerprint import fingerprint, inputs_of, make_validation, seal, standing
from berbench.model.task import LimitsDocument, TaskFiles, TaskState, TrialSummary, Validation
from berbench.model.trial import Evidence, Facts, Verdict, VerdictName
from berbench.store.taskfolder import read_task_document, task_text
from taskfiles import BASE_TREE, BUILD_ARGS, DOCKERFILE, Trialed, make_block, make_files, make_inputs, proven


def changed(files: TaskFiles, **parts: dict[str, Any]) -> TaskFiles:
    """The task with keys of its sub-documents replaced."""
    updates = {name: getattr(files.task, name).model_copy(update=keys) for name, keys in parts.items()}
    return replace(files, task=files.task.model_copy(update=updates))


def plain(files: TaskFiles, **keys: object) -> TaskFiles:
    return replace(files, task=files.task.model_copy(update=keys))


CHANGES = {
    "prompt": lambda f: replace(f, prompt=f.prompt + b"\n"),
    "tests_patch": lambda f: replace(f, tests_patch=f.tests_patch.rstrip()),
    "reference_patch": lambda f: replace(f, reference_patch=f.reference_patch.rstrip()),
    "setup": lambda f: changed(f, environment={"setup": ("make",)}),
    "as_of": lambda f: changed(f, environment={"as_of": "month"}),
    "environment_inputs": lambda f: changed(f, environment={"inputs": ("setup.py",)}),
    "verify_command": lambda f: changed(f, verify={"command": "python -m pytest tests/test_y.py"}),
    "evidence": lambda f: changed(f, verify={"evidence": "tap"}),
    "protected_paths": lambda f: changed(f, verify={"protected_paths": ("tests/", "conftest.py")}),
    "network": lambda f: changed(f, verify={"network": "bridge"}),
    "timeouts": lambda f: changed(f, verify={"timeout_s": 601}),
    "limits": lambda f: changed(f, limits={"pids": 1}),
    "hide": lambda f: plain(f, hide=("docs/",)),
    "assertions": lambda f: plain(f, assert_=({"kind": "lint"},)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_input_makes_the_task_stale_by_its_name(name: str) -> None:
    files = proven(make_files())
    after = CHANGES[name](files)
    stands = standing(after, make_inputs(after))
    assert (stands.state, stands.changed) == (TaskState.STALE, (name,))
    assert name in stands.reason


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("base_tree", {"base_tree": "5" * 40}),
        ("dockerfile", {"dockerfile": DOCKERFILE + b"\n"}),
        ("build_args", {"build_args": (("BERBENCH_AS_OF", "2024-01-02"),)}),
    ],
)
def test_what_lies_outside_the_task_counts_too(name: str, given: dict[str, Any]) -> None:
    files = proven(make_files())
    outside = {"base_tree": BASE_TREE, "dockerfile": DOCKERFILE, "build_args": BUILD_ARGS, **given}
    stands = standing(files, inputs_of(files, **outside))
    assert (stands.state, stands.changed) == (TaskState.STALE, (name,))


def test_another_way_to_grade_makes_every_proof_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control of a proof says how canaries do in its command: not those of another berbench."""
    files = proven(make_files())
    monkeypatch.setattr("berbench.fingerprint.GRADING", -1)
    stands = standing(files, make_inputs(files))
    assert (stands.state, stands.changed) == (TaskState.STALE, ("grading",))


def test_every_input_is_tried_above() -> None:
    assert {*CHANGES, "base_tree", "dockerfile", "build_args", "grading"} == set(make_inputs(make_files()))


def test_words_for_people_and_equal_limits_change_nothing() -> None:
    files = proven(make_files())
    after = plain(files, description="new", tags=("x",), weight=2.0, limits=LimitsDocument(memory="4096m"))
    assert standing(after, make_inputs(after)).state is TaskState.FRESH


def test_the_order_of_build_arguments_means_nothing() -> None:
    files, pairs = make_files(), (("B", "2"), ("A", "1"))
    one, other = (
        inputs_of(files, base_tree=BASE_TREE, dockerfile=DOCKERFILE, build_args=given)
        for given in (pairs, pairs[::-1])
    )
    assert one == other


@given(st.lists(st.text(st.sampled_from("ab1:,\udce9"), max_size=4), max_size=4), st.integers(0, 4))
def test_no_two_lists_hash_alike(parts: list[str], cut: int) -> None:
    joined = [*parts[:cut], "".join(parts[cut:])]
    one, other = (make_inputs(plain(make_files(), hide=tuple(hide)))["hide"] for hide in (parts, joined))
    assert (one == other) == (parts == joined)


def test_a_task_that_was_never_proven_is_unvalidated() -> None:
    assert standing(make_files(), make_inputs(make_files())).state is TaskState.UNVALIDATED


def forged(files: TaskFiles, block: Validation) -> str:
    files = plain(files, validation=block)
    stands = standing(files, make_inputs(files))
    assert stands.state is TaskState.FORGED
    return stands.reason


def test_a_block_copied_from_another_task_is_forged() -> None:
    assert "written for task 7" in forged(make_files("8"), make_block(make_files("7")))
    renamed = make_block(make_files("7")).model_copy(update={"task": "8"})
    assert "edited by hand" in forged(make_files("8"), renamed)


@pytest.mark.parametrize(
    "edit",
    [
        {"fail_to_pass": ("t::a", "t::b")},
        {"pass_to_pass": ("t::c",)},
        {"fingerprint": "sha256:" + "0" * 64},
        {"inputs": {"prompt": "0"}},
        {"base": TrialSummary(exit_code=2, seconds=1.235, failed=1)},
        {"stands_on": "my word"},
        {"base_failure": "collection"},
        {"image": "sha256:2"},
        {"engine": ""},
        {"berbench": "9"},
        {"validated_at": make_block(make_files()).validated_at + timedelta(microseconds=1)},
        {"seal": ""},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_an_edited_block_is_forged(edit: dict[str, object]) -> None:
    assert forged(make_files(), make_block(make_files()).model_copy(update=edit))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"fingerprint": "sha256:" + "0" * 64}, "hash of its own inputs"),
        ({"base": TrialSummary(exit_code=0, seconds=1)}, "base trial did not fail"),
        ({"base": TrialSummary(exit_code=None, seconds=1)}, "base trial did not fail"),
        ({"reference": TrialSummary(exit_code=1, seconds=1)}, "reference trial did not pass"),
        ({"inputs": {}, "fingerprint": fingerprint({})}, "binds no inputs"),
    ],
)
def test_a_block_that_was_sealed_by_hand_must_still_be_a_proof(edit: dict[str, object], said: str) -> None:
    block = make_block(make_files()).model_copy(update=edit)
    assert said in forged(make_files(), block.model_copy(update={"seal": seal(block)}))


@pytest.mark.parametrize(
    "block", [b"validation: yes\n", b"validation: {fingerprint: x}\n", b"validation: [a]\n"]
)
def test_a_hand_written_block_is_forged_and_the_task_stays_readable(block: bytes) -> None:
    files = make_files()
    task, problem = read_task_document(task_text(files.task) + block, "7/task.yaml")
    assert task == files.task
    stands = standing(replace(files, validation_problem=problem), make_inputs(files))
    assert stands.state is TaskState.FORGED
    assert "validation" in stands.reason


def test_a_proof_outlives_the_way_to_the_disk_and_back() -> None:
    files = proven(make_files())
    odd = make_block(files, "t::[\udce9]", "a\nb", "1e10", "\x00").model_dump()
    block = Validation.model_validate(odd)
    files = plain(files, validation=block.model_copy(update={"seal": seal(block)}))
    task, problem = read_task_document(task_text(files.task), "7/task.yaml")
    assert (task, problem) == (files.task, "")
    assert standing(replace(files, task=task), make_inputs(files)).state is TaskState.FRESH


def test_a_newer_recipe_makes_a_proof_stale_not_forged() -> None:
    files = proven(make_files())
    inputs = make_inputs(files)
    more = {**{name: value for name, value in inputs.items() if name != "hide"}, "platform": "0"}
    stands = standing(files, more)
    assert (stands.state, stands.changed) == (TaskState.STALE, ("hide", "platform"))


def test_a_block_counts_what_the_trials_showed() -> None:
    block = make_block(make_files())
    assert block.base == TrialSummary(exit_code=1, seconds=1.235, failed=1)
    assert block.reference == TrialSummary(exit_code=0, seconds=0, passed=1, other=2)


@pytest.mark.parametrize(
    ("name", "base", "reference", "said"),
    [
        (VerdictName.FLAKY, 1, 0, "verdict is flaky"),
        (VerdictName.VALIDATED, 0, 0, "base trial did not fail"),
        (VerdictName.VALIDATED, 1, 1, "reference trial did not pass"),
        (VerdictName.VALIDATED, None, 0, "base trial did not fail"),
    ],
)
def test_nothing_but_a_proof_is_sealed(
    name: VerdictName, base: int | None, reference: int, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        make_validation(
            "7",
            make_inputs(make_files()),
            verdict=Verdict(name, ""),
            base=Trialed(Facts("base", base), Evidence()),
            reference=Trialed(Facts("reference", reference), Evidence()),
            validated_at=make_block(make_files()).validated_at,
        )


def test_the_recipe_is_what_it_was() -> None:
    """A change here makes every proof that people hold stale: raise RECIPE and say so in the changelog."""
    assert (
        fingerprint(make_inputs(make_files()))
        == "sha256:656ab913d479fb758afb0f5790bfa39a16118d8cf9cba8446c8fc665cd43de5c"
    )
