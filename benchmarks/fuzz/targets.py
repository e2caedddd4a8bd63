"""What is fuzzed: a row a kind of reader, with its seeds, the words of its format, and the laws that are checked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fuzz import (
    bytes_in,
    from_agents,
    from_candidates,
    from_containers,
    from_experiments,
    from_forges,
    from_people,
    from_runners,
    from_stores,
)

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "fuzz" / "corpus"
WORDS = Path(__file__).with_name("words")
_SHARED = {"apply": "patch", "yamledit": "yaml"}  # two laws over the same inputs


@dataclass(frozen=True, slots=True)
class Target:
    """`check` raises what its reader raises, and AssertionError where a law is broken."""

    name: str
    check: Callable[[bytes], None]
    words: tuple[bytes, ...]
    captured: Callable[[], Iterator[bytes]] = lambda: iter(())  # what real programs wrote

    @property
    def corpus(self) -> Path:
        """Where inputs are kept that once broke it, and a few that show its format."""
        return CORPUS / _SHARED.get(self.name, self.name)

    def inputs(self) -> list[bytes]:
        """All that is kept for it."""
        return [*(path.read_bytes() for path in sorted(self.corpus.glob("*"))), *self.captured()]


def _words(*names: str) -> tuple[bytes, ...]:
    """The words of a format: a line each of words/NAME.txt, with Python's escapes."""
    lines = [line for name in names for line in (WORDS / f"{name}.txt").read_text("utf-8").split("\n")]
    plain = (line.encode("latin-1", "backslashreplace").decode("unicode_escape") for line in lines if line)
    return tuple(
        text.encode("latin-1" if names == ("octets",) else "utf-8", "surrogateescape") for text in plain
    )


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("patch", bytes_in.check_patch, _words("diff")),
        Target("apply", bytes_in.check_apply, _words("diff")),
        Target("junit", from_runners.check_junit, _words("reports"), from_runners.reports(".xml")),
        Target("lines", from_runners.check_lines, _words("reports"), from_runners.reports(".jsonl", ".json")),
        Target("go", from_runners.check_go, _words("runners"), from_runners.logs("go")),
        Target(
            "tap", from_runners.check_tap, _words("runners"), from_runners.logs("tap", "tape", "ava", "node")
        ),
        Target("rust", from_runners.check_rust, _words("runners"), from_runners.logs("cargo")),
        Target("summary", from_runners.check_summary, _words("runners"), from_runners.logs("")),
        Target("evidence", from_runners.check_evidence, _words("runners", "reports"), from_runners.trials),
        Target("yaml", from_people.check_yaml, _words("yaml")),
        Target("yamledit", from_people.check_edit, _words("yaml")),
        Target("forge", from_forges.check_forge, _words("answers")),
        Target("addresses", from_forges.check_addresses, _words("answers")),
        Target("archive", bytes_in.check_archive, _words("octets")),
        Target("frames", bytes_in.check_frames, _words("octets")),
        Target("record", bytes_in.check_record, _words("octets")),
        Target("candidates", from_candidates.check_candidates, _words("files", "shell")),
        Target("canaries", from_candidates.check_canaries, _words("shell", "tests")),
        Target("worktree", from_containers.check_worktree, _words("places", "octets")),
        Target("telemetry", from_agents.check_telemetry, _words("answers", "usage"), from_agents.captures),
        Target("egress", from_agents.check_egress, _words("hosts")),
        Target("masking", from_agents.check_masking, _words("shell", "answers")),
        Target("tools", from_experiments.check_tools, _words("tools", "yaml"), from_experiments.built_in),
        Target("labels", from_experiments.check_labels, _words("tools")),
        Target("cells", from_stores.check_cells, _words("stored", "yaml"), from_stores.stored),
        Target("report", from_stores.check_report, _words("stored")),
        Target("shell", from_people.check_shell, _words("shell")),
        Target("landings", from_people.check_landings, _words("texts")),
        Target("prompts", from_people.check_prompts, _words("texts")),
        Target("dockerfile", from_people.check_dockerfile, _words("files")),
        Target("manifests", from_people.check_manifests, _words("files")),
    )
}


def name_of_input(data: bytes) -> str:
    """A file name for an input: its first letters and a hash, so that two of them never meet."""
    letters = re.sub(r"[^a-z0-9]+", "-", data[:24].decode("ascii", "ignore").lower()).strip("-")
    return f"{letters[:20] or 'bytes'}-{hashlib.sha256(data).hexdigest()[:8]}"
