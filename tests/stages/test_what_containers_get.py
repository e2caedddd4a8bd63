"""What goes into images and trials: the tree and the change, and nothing that tells the answer."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable, Sequence

import pytest
from sampleplace import SamplePlace, Scripted

from berbench.engine.door import Say
from berbench.model.changes import FileEntry
from berbench.model.trial import Build, Facts, ImageRecipe, Limits, Trial
from berbench.stages.create import Doors, Request, create
from berbench.stages.validate import validate_task


def _bytes_of(recipe: ImageRecipe, entries: Iterable[FileEntry]) -> bytes:
    parts = [recipe.dockerfile, *(f"{name}={value}".encode() for name, value in recipe.build_args)]
    for entry in entries:
        parts += [entry.path.encode(), entry.data]
    return b"\n".join(parts)


def test_S01_S05_T01_an_image_holds_no_history_and_nothing_of_any_task(
    place: SamplePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build context is the base tree alone: no `.git`, no `.ber/`, no later commit's id, no pull request."""
    created = place.create(place.pull("Count sentences"))
    contexts: list[tuple[ImageRecipe, list[FileEntry]]] = []
    trials: list[Trial] = []
    build = place.engine.build

    def watch_build(
        recipe: ImageRecipe, context: Callable[[], Iterable[FileEntry]], *, timeout_s: float, say: Say
    ) -> Build:
        contexts.append((recipe, list(context())))
        return build(recipe, context, timeout_s=timeout_s, say=say)

    class Watching(Scripted):
        def run(self, trials_: Iterable[Trial]) -> Sequence[Facts]:
            given = list(trials_)
            trials.extend(given)
            return super().run(given)

    monkeypatch.setattr(place.engine, "build", watch_build)
    validate_task(place.bench_with(Watching()), created.id, say=lambda task_id, line: None)

    ((recipe, entries),) = contexts
    assert not [entry.path for entry in entries if entry.path.startswith((".git/", ".ber/"))]
    everything = _bytes_of(recipe, entries)
    source = created.files.task.source
    assert source.landing_commit.encode() not in everything
    assert b"sentence_count" not in everything  # what the reference adds and the hidden tests use
    assert b"test_sentences" not in everything
    for trial in trials:
        assert not [entry.path for entry in trial.delta.writes if entry.path.startswith(".ber/")]
        told = repr((trial.command, trial.env, trial.setup, trial.kit))
        assert source.landing_commit not in told
        assert source.base_commit not in told


def test_S05_tasks_that_are_committed_reach_no_image_and_no_trial(
    place: SamplePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository may keep its tasks, and a landing may bring some: later images hold none all the same."""
    root = place.sample.root

    def commit(message: str, **files: str) -> str:
        for name, text in files.items():
            path = root / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for words in (("add", "-A"), ("commit", "-qm", message)):
            subprocess.run(["git", "-C", str(root), *words], check=True)
        return place.history.resolve("HEAD")

    place.create(place.pull("Count sentences"))
    commit("Keep the tasks")
    with_ber = {".ber__bench__tasks__note": "brought along\n", ".ber__bench__config.more": "gone later\n"}
    fixed = {"tally__more.py": "ONE = 1\n", "tests__test_more.py": "from tally.more import ONE\n"}
    landing = commit("Bring one", **with_ber, **fixed)
    created = create(Doors(place.lint, None), Request(None, landing), lambda line: None)
    assert b".ber/bench/tasks/note" in created.files.reference_patch  # the split law keeps every path

    contexts: list[str] = []
    trials: list[Trial] = []
    build = place.engine.build

    def watch_build(
        recipe: ImageRecipe, context: Callable[[], Iterable[FileEntry]], *, timeout_s: float, say: Say
    ) -> Build:
        contexts.extend(entry.path for entry in context())
        return build(recipe, context, timeout_s=timeout_s, say=say)

    class Watching(Scripted):
        def run(self, trials_: Iterable[Trial]) -> Sequence[Facts]:
            trials.extend(given := list(trials_))
            return super().run(given)

    monkeypatch.setattr(place.engine, "build", watch_build)
    validate_task(place.bench_with(Watching()), created.id, say=lambda task_id, line: None)
    assert "tally/words.py" in contexts
    assert not [path for path in contexts if path.startswith((".git/", ".ber/"))]
    assert any(entry.path == "tally/more.py" for trial in trials for entry in trial.delta.writes)
    for trial in trials:
        written = [*(entry.path for entry in trial.delta.writes), *trial.delta.deletes]
        assert not [path for path in written if path.startswith(".ber/")]


@pytest.mark.parametrize("asked", ["none", "bridge"])
def test_S07_a_trial_asks_for_no_network_unless_the_task_says_so(place: SamplePlace, asked: str) -> None:
    created = place.create(place.pull("Count sentences"))
    document = place.sample.root / ".ber" / "bench" / "tasks" / created.id / "task.yaml"
    text = document.read_text(encoding="utf-8")
    assert "network: none  #" in text
    document.write_text(text.replace("network: none  #", f"network: {asked}  #"), encoding="utf-8")
    networks: list[str] = []

    class Watching(Scripted):
        def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
            trials = list(trials)
            networks.extend(trial.network for trial in trials)
            return super().run(trials)

    validate_task(place.bench_with(Watching()), created.id, say=lambda task_id, line: None)
    assert networks and set(networks) == {asked}


def test_a_trial_is_bounded_and_set_up_as_the_task_says(place: SamplePlace) -> None:
    created = place.create(place.pull("Count sentences"))
    document = place.sample.root / ".ber" / "bench" / "tasks" / created.id / "task.yaml"
    task = place.project.read_task(created.id).task
    text = document.read_text(encoding="utf-8")
    for old, new in (
        ("memory: '4g'", "memory: 123m"),
        ("cpus: 2.0", "cpus: 1.5"),
        ("pids: 1024", "pids: 77"),
        ("setup: []", "setup: [make it]"),
    ):
        assert text.count(old) == 1, (old, text)
        text = text.replace(old, new)
    document.write_text(
        text.replace(f"timeout_s: {task.verify.timeout_s}", "timeout_s: 41"), encoding="utf-8"
    )
    seen: list[Trial] = []

    class Watching(Scripted):
        def run(self, trials: Iterable[Trial]) -> Sequence[Facts]:
            trials = list(trials)
            seen.extend(trials)
            return super().run(trials)

    validate_task(place.bench_with(Watching()), created.id, say=lambda task_id, line: None)
    assert len(seen) >= 2
    assert {trial.limits for trial in seen} == {Limits(123 << 20, 1.5, 77)}
    assert {(trial.timeout_s, trial.setup) for trial in seen} == {(41, ("make it",))}
    assert all("python -m pytest" in trial.command for trial in seen)
