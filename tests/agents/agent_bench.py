"""A repository, an image of its tree, and agents on it: what tests of agents are made of."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from berbench.agents import Agents
from berbench.diffs import patch_paths
from berbench.engine.door import Engine
from berbench.history import GitHistory
from berbench.model.agent import AgentStep, AgentTrial
from berbench.model.cells import AgentFacts
from berbench.model.trial import Image, ImageRecipe

FILES = {
    "kept.txt": b"kept\r\n",
    "src/one.py": b"one = 1\n",
    "src/deep/two.py": b"two = 2\n",
    "docs/read me.md": b"# read\n",
    "gone/a.txt": b"a\n",
    "gone/b.txt": b"b\n",
    "run.sh": b"#!/bin/sh\necho ran\n",
    "data.bin": bytes(range(256)),
    ".gitignore": b"build/\n*.log\n",
}
NON_UTF8 = os.fsdecode(b"latin-\xe9.txt")
OTHER_NON_UTF8 = os.fsdecode(b"latin-\xe8.txt")  # told by engines under the same name


def make_repository(folder: Path) -> Path:
    """A repository with a history: two commits, a tag, and a file that only the second has."""

    def git(*args: str) -> None:
        subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True)

    folder.mkdir(parents=True)
    git("init", "-q")
    for name, data in FILES.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    for name in (NON_UTF8, OTHER_NON_UTF8):
        (folder / name).write_bytes(b"old\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("kept.txt")
    (folder / ".ber" / "bench").mkdir(parents=True)
    (folder / ".ber" / "bench" / "config.yaml").write_text("secret: of berbench\n", encoding="utf-8")
    git("add", "-A", "-f")
    git("commit", "-q", "-m", "base")
    (folder / "fix.py").write_text("THE_FUTURE = 'canary-of-the-fix'\n", encoding="utf-8")
    git("add", "-A")
    git("commit", "-q", "-m", "the fix")
    git("tag", "v2")
    return folder


@dataclass(frozen=True)
class AgentBench:
    """Agents on an image of the first commit's tree."""

    history: GitHistory
    engine: Engine
    image: Image
    tree: str

    @property
    def agents(self) -> Agents:
        return Agents(self.history, self.engine)

    def trial(self, script: str, *, prompt: bytes = b"do it\n", **more: object) -> AgentTrial:
        step = AgentStep(("/bin/sh", "-c", script), prompt)
        plain = AgentTrial("t1", self.image, self.tree, (step,), timeout_s=60, altered=())
        return replace(plain, **more)  # type: ignore[arg-type]

    def run(self, script: str, **more: object) -> AgentFacts:
        """A shell script as the agent."""
        return self.agents.run(self.trial(script, **more))  # type: ignore[arg-type]

    def left(self, facts: AgentFacts) -> dict[str, tuple[int, bytes]]:
        """Mode and bytes of every path that the candidate touches; (0, b"") for what it deletes."""
        assert facts.candidate is not None
        if not facts.candidate:
            return {}
        tree = self.history.apply(self.tree, facts.candidate)
        entries = {entry.path: entry.mode for entry in self.history.list_tree(tree)}
        texts = self.history.read(tree, list(entries))
        touched = patch_paths(facts.candidate)
        return {path: (entries.get(path, 0), texts.get(path, b"")) for path in sorted(touched)}


def make_bench(engine: Engine, folder: Path, dockerfile: str, key: str) -> AgentBench:
    """A repository below `folder`, and the image of its first commit."""
    from berbench.agents import visible_tree

    history = GitHistory(make_repository(folder / "repository"))
    base = history.tree_of("HEAD~1")
    recipe = ImageRecipe(key, dockerfile.encode(), "Dockerfile.berbench", (), base)
    built = engine.build(
        recipe, lambda: history.files(base, exclude=(".ber/",)), timeout_s=300, say=lambda _: None
    )
    assert built.image is not None, built.log
    return AgentBench(history, engine, built.image, visible_tree(history, base))
