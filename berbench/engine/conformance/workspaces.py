"""Workspaces: what an agent is given, how its commands end, and what is seen of it from outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from berbench.engine.conformance.bench import ALL_BYTES, NON_UTF8, Bench, check
from berbench.engine.members import as_told
from berbench.engine.workspace import STDOUT, Ran, Workspace, WorkspaceSpec
from berbench.model.agent import PROMPT_FILE, SecretFile
from berbench.model.changes import EXECUTABLE, REGULAR, Delta, FileEntry

_PROMPT = PROMPT_FILE.lstrip("/")


@contextmanager
def opened(bench: Bench, delta: Delta = Delta(), **more: object) -> Iterator[Workspace]:  # noqa: B008
    """A workspace on the bench's image."""
    spec = WorkspaceSpec("conformance", "", bench.image, delta, **more)  # type: ignore[arg-type]
    with bench.engine.workspace(spec) as workspace:
        yield workspace


def said(workspace: Workspace, script: str, **more: object) -> tuple[Ran, bytes]:
    """How a script ended, and what it said."""
    heard = bytearray()
    argv = ("/bin/sh", "-c", script)
    ran = workspace.run(argv, lambda _, piece: heard.extend(piece), **{"timeout_s": 30, **more})  # type: ignore[arg-type]
    return ran, bytes(heard)


@check()
def a_workspace_holds_the_tree_and_what_it_is_given(bench: Bench) -> None:
    """Files of the image, of the delta and beside it; `.git` is a folder like any other."""
    delta = Delta(
        (FileEntry("new/x", EXECUTABLE, b"#!/bin/sh\necho new\n"), FileEntry(".git/HEAD", REGULAR, b"ref\n")),
        ("folder/two.txt", ".git"),
    )
    with opened(bench, delta, files=(FileEntry(_PROMPT, REGULAR, ALL_BYTES),)) as workspace:
        script = f"cat kept.txt .git/HEAD; new/x; ls folder; wc -c <{PROMPT_FILE}; cat - | wc -c"
        ran, out = said(workspace, script, stdin=PROMPT_FILE)
        assert ran.code == 0 and out.split() == [b"kept", b"ref", b"new", b"deep", b"256", b"256"], out
        workspace.put([FileEntry(_PROMPT, REGULAR, b"another\n")])
        assert said(workspace, "cat", stdin=PROMPT_FILE)[1] == b"another\n"


@check()
def commands_of_a_workspace_share_it_and_end_as_they_like(bench: Bench) -> None:
    """Exit codes and output are the command's own; a missing program is a value; variables are for one command."""
    with opened(bench, env=(("ALL", "for all"),)) as workspace:
        ran, out = said(workspace, "echo one >mine; echo $ALL $ONE; exit 7", env=(("ONE", "for one"),))
        assert (ran.code, ran.timed_out, out) == (7, False, b"for all for one\n"), (ran, out)
        assert said(workspace, "cat mine; echo $ONE")[1] == b"one\n\n"
        heard: list[int] = []
        ran = workspace.run(("no-such-program",), lambda stream, _: heard.append(stream), timeout_s=30)
        assert ran.code == 127 and heard


@check()
def secrets_are_there_for_the_agent(bench: Bench) -> None:
    """Variables and files; files are its own, to be read by nobody else."""
    home = bench.engine.home(bench.image)
    file = SecretFile(f"{home}/.tool/auth.json", b'{"key": "it\'s $a\\n%s"}')
    with opened(bench, secrets=(("KEY", "va'lue $x"),), secret_files=(file,)) as workspace:
        ran, out = said(
            workspace, 'printf "%s\\n" "$KEY"; cat ~/.tool/auth.json; stat -Lc %a ~/.tool/auth.json'
        )
        assert ran.code == 0 and out == b"va'lue $x\n" + file.data + b"400\n", out


@check()
def a_workspaces_time_is_kept(bench: Bench) -> None:
    """TERM for all, and what is written then is still there."""
    with opened(bench) as workspace:
        ran, _ = said(
            workspace, "trap 'echo late >late; exit 0' TERM; while :; do sleep 0.1; done", timeout_s=1
        )
        assert ran.timed_out and ran.code is None and ran.seconds < 20
        changed = {one.path for one in workspace.end()}
        assert "late" in changed, changed


@check()
def what_changed_in_a_workspace_is_seen_from_outside(bench: Bench) -> None:
    """Paths as told, bytes as they are, also when everything in it has ended; absolute files can be read."""
    with opened(bench) as workspace:
        script = "rm folder/two.txt; printf 'a\\0b' >bin; ln -s /etc/passwd out; mkfifo pipe"
        script += "; printf new >$(printf 'latin-\\351.txt'); mkdir -p made/empty"
        ran, out = said(workspace, script)
        assert ran.code == 0, out
        assert workspace.read("/no/such/file", 10) is None
        changed = {one.path: one for one in workspace.end()}
        assert changed["folder/two.txt"].gone and changed["bin"].added and not changed["bin"].gone
        assert not changed[as_told(NON_UTF8)].gone
        asked = ("bin", "out", "pipe", as_told(NON_UTF8), "made/empty", "no/such")
        found = {
            one.path: (one.mode, one.target, one.body.read() if one.body else None, one.is_folder)
            for one in workspace.fetch(asked)
        }
        assert found == {
            "bin": (REGULAR, "", b"a\0b", False),
            "out": (0o120000, "/etc/passwd", None, False),
            "pipe": (0, "", None, False),
            NON_UTF8: (REGULAR, "", b"new", False),
            "made/empty": (0, "", None, True),
        }, found


@check(needs="streams apart from one another")
def both_outputs_are_told_apart(bench: Bench) -> None:
    """Standard output is 1, standard error is 2."""
    with opened(bench) as workspace:
        heard: dict[int, bytes] = {}

        def sink(stream: int, piece: bytes) -> None:
            heard[stream] = heard.get(stream, b"") + piece

        workspace.run(("/bin/sh", "-c", "echo out; echo err >&2"), sink, timeout_s=30)
        assert heard == {STDOUT: b"out\n", 2: b"err\n"}, heard


@check(needs="a container")
def a_file_of_a_workspace_is_read_after_its_end(bench: Bench) -> None:
    """The end of a file by its absolute path, while it runs and afterwards."""
    with opened(bench) as workspace:
        said(workspace, "echo 12345 >/tmp/told")
        assert workspace.read("/tmp/told", 4) == b"345\n"
        workspace.end()
        assert workspace.read("/tmp/told", 400) == b"12345\n"
        assert said(workspace, "echo more")[0].code is None


@check()
def what_is_no_file_is_read_as_none(bench: Bench) -> None:
    """A folder and a link that leads to itself, where a file was to be."""
    with opened(bench) as workspace:
        said(workspace, "mkdir /agent/folder; ln -s round /agent/round")
        assert [workspace.read(f"/agent/{name}", 4) for name in ("folder", "round", "none")] == [None] * 3
