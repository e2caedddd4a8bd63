"""A task's set-up lines in an agent's container: what a trial has before its command, an agent has too.

They run as the image's user, without the secrets and without a way out, on the tree that the agent sees. A trial's tree
holds the hidden tests as well, and its network may be open, so a line may fail here and not there: that is told, and
the agent works with what there is.
"""

from __future__ import annotations

from collections.abc import Iterable

from berbench.engine.capture import Capture
from berbench.engine.workspace import Workspace
from berbench.errors import EngineError


def set_up(workspace: Workspace, lines: Iterable[str], limit_s: float) -> tuple[str, ...]:
    """Run the lines until one fails; a sentence on that one. EngineError when one does not end."""
    for line in lines:
        log = Capture(head=0, tail=2000)

        def sink(_: int, piece: bytes, log: Capture = log) -> None:
            log.feed(piece)

        ran = workspace.run(("/bin/sh", "-c", line), sink, bare=True, timeout_s=limit_s)
        if ran.code is None:
            how = f"did not end within {limit_s:.0f} s" if ran.timed_out else "ended the container"
            raise EngineError(
                f"A set-up line of the task {how} where an agent was to work: {line}",
                remedy="see `environment.setup` of the task",
            )
        if ran.code:
            said = log.value().decode("utf-8", "replace").strip().splitlines() or [""]
            return (f"the set-up line {line!r} failed (exit code {ran.code}): {said[-1]}",)
    return ()
