"""What every engine must do: one list of checks, run on the fake and on real containers.

A check takes a `Bench` (an engine and a ready image) and raises AssertionError. `needs` says why the fake
can't be held to a check; "" when it can.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from berbench.engine.door import Engine
from berbench.errors import ConfigError, Refusal
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, Delta, FileEntry
from berbench.model.trial import Facts, Image, ImageRecipe, Limits, Trial

ODD = ("a b.txt", "it's.txt", 'say "x".txt', "new\nline.txt", "tab\t.txt", "-rf", "*.txt", "$HOME", "\\n.txt")
NON_UTF8 = os.fsdecode(b"latin-\xe9.txt")
ALL_BYTES = bytes(range(256))

# The image of a bench holds these.
TREE = (
    FileEntry("kept.txt", REGULAR, b"kept\r\n"),
    FileEntry("run.sh", EXECUTABLE, b"#!/bin/sh\necho ran\n"),
    FileEntry("folder/deep/one.txt", REGULAR, b"one"),
    FileEntry("folder/two.txt", REGULAR, b"two"),
    FileEntry("swap", REGULAR, b"a file"),
    FileEntry("link", SYMLINK, b"kept.txt"),
    FileEntry(NON_UTF8, REGULAR, b"\xe9"),
    FileEntry(".dockerignore", REGULAR, b"folder\n**/*.txt\n.dockerignore\n"),
)


@dataclass(frozen=True, slots=True)
class Bench:
    """An engine with an image whose work tree is TREE."""

    engine: Engine
    image: Image

    def trial(self, command: str, *, timeout_s: float = 60, network: str = "none", **more: object) -> Facts:
        """Run one command."""
        trial = Trial("probe", "conformance", self.image, Delta(), command, timeout_s, network=network)
        return self.engine.run(replace(trial, **more))  # type: ignore[arg-type]

    def says(self, command: str, **more: object) -> bytes:
        """The log of one command that must end well."""
        facts = self.trial(command, **more)  # type: ignore[arg-type]
        assert facts.exit_code == 0, (facts.exit_code, facts.log)
        return facts.log


@dataclass(frozen=True, slots=True)
class Check:
    """One named check."""

    name: str
    run: Callable[[Bench], None]
    needs: str = ""


CHECKS: list[Check] = []


def check(needs: str = "") -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Put a function on the list."""

    def add(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
        CHECKS.append(Check(function.__name__, function, needs))
        return function

    return add


def recipe(dockerfile: str, key: str) -> ImageRecipe:
    """A recipe for a bench's image."""
    return ImageRecipe(key, dockerfile.encode(), "Dockerfile.berbench", (), "0" * 40)


# --- what a command says and how it ends ---


@check()
def exit_codes_are_the_commands_own(bench: Bench) -> None:
    """125 to 127 and 137 are also what clients and shells say; here they are the program's (D23)."""
    for code in (0, 1, 3, 125, 126, 127, 137):
        assert bench.trial(f"exit {code}").exit_code == code
    assert bench.trial("no-such-program-at-all").exit_code == 127


@check()
def a_status_is_not_lost_on_the_way(bench: Bench) -> None:
    """The status is the command's, with output of any kind beside it (V16)."""
    assert bench.trial("echo out; echo err >&2; exit 9").exit_code == 9


@check()
def output_is_bytes_in_the_order_written(bench: Bench) -> None:
    """Both streams interleave as written; no byte is changed or dropped."""
    assert bench.says("echo a; echo b >&2; printf '\\377\\000\\r\\n'; echo c >&2") == b"a\nb\n\xff\0\r\nc\n"


@check()
def nothing_waits_for_input(bench: Bench) -> None:
    """Standard input is empty."""
    assert bench.says("cat; echo end") == b"end\n"


@check()
def a_flood_is_kept_at_both_ends(bench: Bench) -> None:
    """Head and tail survive, and how much there was is told."""
    facts = bench.trial("echo first; head -c 20000000 /dev/zero; echo; echo last; exit 4")
    assert facts.exit_code == 4
    assert facts.log_bytes == len(b"first\n\nlast\n") + 20000000
    assert facts.log_truncated and len(facts.log) < 3 << 20
    assert facts.log.startswith(b"first\n") and facts.log.endswith(b"\nlast\n")


@check()
def a_command_may_be_long(bench: Bench) -> None:
    """One argument of a program has 128 KiB at most; a command has not (P37)."""
    assert bench.says(": '" + "x" * (1 << 20) + "'; echo long") == b"long\n"


@check()
def a_command_may_come_with_carriage_returns(bench: Bench) -> None:
    """A document written on another system runs as well (P11)."""
    assert bench.says("echo a\r\necho b", setup=("true\r\n",)) == b"a\nb\n"


# --- the environment ---


@check()
def the_environment_is_the_same_everywhere(bench: Bench) -> None:
    """Zone, locale, colours and bytecode don't come from the host (N04, N05, V11, V22)."""
    said = bench.says(
        'echo "$TZ $LANG $TERM $NO_COLOR $PYTHONDONTWRITEBYTECODE ${FORCE_COLOR-unset} ${CI-unset}"'
    )
    assert said == b"UTC C.UTF-8 dumb 1 1 unset unset\n"
    assert bench.says("if [ -t 1 ]; then echo tty; else echo none; fi") == b"none\n"


@check()
def a_trials_variables_stand_above(bench: Bench) -> None:
    """`env` is added, odd values unchanged."""
    assert bench.says('printf %s "$A|$TZ"', env=(("A", "x 'y'\n=z"), ("TZ", "Asia/Kolkata"))) == (
        b"x 'y'\n=z|Asia/Kolkata"
    )


@check()
def the_kit_is_there_and_out_of_the_tree(bench: Bench) -> None:
    """Kit files lie in KIT_DIR and none is below the work tree."""
    kit = (
        FileEntry("py/plug.py", REGULAR, ALL_BYTES),
        FileEntry("tool", EXECUTABLE, b"#!/bin/sh\necho tool\n"),
    )
    said = bench.says("cat /berbench/kit/py/plug.py; /berbench/kit/tool; find . -name plug.py", kit=kit)
    assert said == ALL_BYTES + b"tool\n"


# --- the tree ---


@check()
def the_image_holds_the_tree_exactly(bench: Bench) -> None:
    """Every file with its bytes, mode and link; a .dockerignore drops none."""
    facts = bench.trial("find . ! -type d | sort; cat kept.txt; readlink link; ./run.sh; cat .dockerignore")
    assert facts.exit_code == 0, facts.log
    names = sorted(os.fsencode("./" + entry.path) for entry in TREE)
    content = b"kept\r\nkept.txt\nran\n" + TREE[-1].data
    assert sorted(facts.log[: -len(content)].splitlines()) == names
    assert facts.log.endswith(content)


@check()
def the_work_tree_is_told_as_git_names_it(bench: Bench) -> None:
    """Modes and blob ids of the image's files (P31)."""
    found = {entry.path: (entry.mode, entry.id) for entry in bench.engine.work_tree(bench.image)}
    assert found.keys() == {entry.path for entry in TREE}
    assert found["kept.txt"] == (REGULAR, "3eb6b64320c846c6562d385ef39985cfff13723c")
    assert found["run.sh"][0] == EXECUTABLE and found["link"][0] == SYMLINK
    some = list(bench.engine.work_tree(bench.image, {"kept.txt"}))
    assert [entry.path for entry in some] == ["kept.txt"]


@check()
def writes_and_deletions_make_the_other_tree(bench: Bench) -> None:
    """Bytes, modes and links as given; what is deleted is gone, and folders emptied by it."""
    delta = Delta(
        writes=(
            FileEntry("kept.txt", REGULAR, b"new\r\nno end \x0c \xe2\x80\xa8 \xff"),
            FileEntry("run.sh", REGULAR, b"x"),
            FileEntry("added/empty", REGULAR, b""),
            FileEntry("added/tool", EXECUTABLE, b"#!/bin/sh\necho tool\n"),
            FileEntry("link", SYMLINK, b"folder/two.txt"),
        ),
        deletes=("folder/deep/one.txt",),
    )
    said = bench.says(
        "cat kept.txt; [ ! -x run.sh ] && [ -f added/empty ] && added/tool && cat link; test ! -e folder/deep",
        delta=delta,
    )
    assert said == b"new\r\nno end \x0c \xe2\x80\xa8 \xfftool\ntwo"


@check()
def files_and_folders_may_swap(bench: Bench) -> None:
    """A file where a folder was, a folder where a file or a link was."""
    delta = Delta(
        writes=(
            FileEntry("folder", REGULAR, b"now a file"),
            FileEntry("swap/in/side", REGULAR, b"now a folder"),
            FileEntry("link/x", REGULAR, b"no link"),
        ),
        deletes=("folder/deep/one.txt", "folder/two.txt", "swap", "link"),
    )
    assert bench.says("cat folder swap/in/side link/x; cat kept.txt", delta=delta) == (
        b"now a filenow a folderno linkkept\r\n"
    )


@check()
def odd_names_survive(bench: Bench) -> None:
    """Spaces, quotes, newlines, leading dashes, globs and bytes that are no UTF-8, written and deleted."""
    names = (*ODD, os.fsdecode(b"\x81\x82\xff\x88"), *(f"d {n}/{n}" for n in ODD))
    delta = Delta(tuple(FileEntry(n, REGULAR, os.fsencode(n)) for n in names), (NON_UTF8,))
    said = bench.says("find . -type f -print0", delta=delta)
    wanted = {b"./" + os.fsencode(n) for n in (*names, *(e.path for e in TREE if e.mode != SYMLINK))}
    assert set(said.split(b"\0")) - {b""} == wanted - {b"./" + os.fsencode(NON_UTF8)}


@check()
def many_files_arrive_at_once(bench: Bench) -> None:
    """A thousand files in a hundred folders, and as many deletions, are a matter of a second."""
    paths = [f"many/{i % 100}/{i}.txt" for i in range(1000)]
    delta = Delta(tuple(FileEntry(p, REGULAR, b"x") for p in paths), tuple(f"no/{p}" for p in paths))
    assert bench.says("find many -type f | wc -l", delta=delta).strip() == b"1000"


@check()
def a_change_stays_in_the_tree(bench: Bench) -> None:
    """Absolute paths, `..` and ways through a link of the change are refused at once (S10, P19)."""
    bad = (
        Delta((FileEntry("../x", REGULAR, b""),)),
        Delta((FileEntry("a/../../x", REGULAR, b""),)),
        Delta((FileEntry("/etc/x", REGULAR, b""),)),
        Delta((), ("../x",)),
        Delta((FileEntry("l", SYMLINK, b"/etc"), FileEntry("l/passwd", REGULAR, b""))),
    )
    for delta in bad:
        try:
            bench.trial("true", delta=delta)
        except Refusal:
            continue
        raise AssertionError(f"not refused: {delta}")


@check()
def a_link_in_the_image_is_not_followed(bench: Bench) -> None:
    """Where the tree has a folder and the image a link, nothing is written or deleted behind it (P19)."""
    for delta in (Delta((FileEntry("link/x", REGULAR, b""),)), Delta((), ("link/x",))):
        facts = bench.trial("true", delta=delta)
        assert facts.setup_failed and facts.exit_code is None and b"link" in facts.log, facts


# --- set-up ---


@check()
def set_up_runs_first_line_by_line(bench: Bench) -> None:
    """Each line in a shell of its own, in the work tree, with the trial's files in place."""
    setup = ("echo one >made; X=1", 'echo "two ${X-unset}" >>made', "cd folder; true")
    assert bench.says("cat made; cat two.txt 2>/dev/null; true", setup=setup) == b"one\ntwo unset\n"


@check()
def a_failing_set_up_line_is_named(bench: Bench) -> None:
    """The line and its code; the command never runs."""
    facts = bench.trial("echo never", setup=("echo fine", "echo broken; exit 7", "echo later"))
    assert (facts.setup_failed, facts.setup_exit_code) == ("echo broken; exit 7", 7)
    assert facts.exit_code is None and not facts.timed_out
    assert facts.log == b"fine\nbroken\n"


# --- time ---


@check()
def a_command_that_ignores_term_ends(bench: Bench) -> None:
    """No grace beyond a second is waited for (D07)."""
    began = time.monotonic()
    facts = bench.trial("trap '' TERM; echo begun; while :; do sleep 1; done", timeout_s=1)
    assert facts.timed_out and facts.timed_out_in == "verify" and facts.exit_code is None
    assert facts.log.startswith(b"begun\n")
    assert time.monotonic() - began < 12


@check()
def a_child_of_its_own_session_holds_nothing_up(bench: Bench) -> None:
    """A child that leaves the process group ends with the trial (D01, D02)."""
    began = time.monotonic()
    facts = bench.trial("setsid sleep 98765 & sleep 98766", timeout_s=1)
    assert facts.timed_out and time.monotonic() - began < 12
    began = time.monotonic()
    assert bench.trial("setsid sleep 98765 & exit 5").exit_code == 5
    assert time.monotonic() - began < 8


@check()
def set_up_that_hangs_is_told_apart(bench: Bench) -> None:
    """The time limit names set-up."""
    facts = bench.trial("true", setup=("sleep 98765",), timeout_s=1)
    assert (facts.timed_out, facts.timed_out_in, facts.exit_code) == (True, "setup", None)


@check()
def seconds_are_the_commands(bench: Bench) -> None:
    """Set-up and starting don't count."""
    facts = bench.trial("sleep 0.2", setup=("sleep 0.5",))
    assert 0.15 < facts.seconds < 0.5, facts.seconds


# --- reports ---


@check()
def reports_come_back(bench: Bench) -> None:
    """What was written to OUT_DIR, with odd names and any bytes; links and pipes are left."""
    facts = bench.trial(
        "cd /berbench/out && mkdir -p 'sub dir' && printf '\\377\\000' >'sub dir/a\"b' && echo x >r.xml"
        " && ln -s /etc/passwd link && mkfifo pipe && exit 6"
    )
    assert facts.exit_code == 6
    assert {file.name: file.data for file in facts.reports} == {'sub dir/a"b': b"\xff\0", "r.xml": b"x\n"}


@check()
def reports_are_collected_from_the_tree(bench: Bench) -> None:
    """Fresh files that match; stale ones and the tree's own stay where they are."""
    delta = Delta(tuple(FileEntry(f"{d}out/TEST-old.xml", REGULAR, b"old") for d in ("", "m/", "m/n/")))
    facts = bench.trial(
        "for d in . m m/n; do echo new >$d/out/TEST-new.xml; done; mkdir -p m/out/deeper 'o dd'/out;"
        " echo no >m/out/deeper/TEST-x.xml; echo no >m/out/other.txt; echo odd >'o dd/out/TEST-.xml';"
        " cat out/TEST-old.xml; exit 1",
        delta=delta,
        collect=("**/out/TEST-*.xml",),
    )
    assert facts.exit_code == 1 and facts.log == b"old"
    assert {file.name: file.data for file in facts.reports} == {
        "collected/out/TEST-new.xml": b"new\n",
        "collected/m/out/TEST-new.xml": b"new\n",
        "collected/m/n/out/TEST-new.xml": b"new\n",
        "collected/o dd/out/TEST-.xml": b"odd\n",
    }


@check()
def reports_are_collected_after_a_time_out(bench: Bench) -> None:
    """What a runner had written until then is kept."""
    facts = bench.trial("echo part >r.xml; sleep 98765", timeout_s=1, collect=("r.xml",))
    assert facts.timed_out
    assert [(file.name, file.data) for file in facts.reports] == [("collected/r.xml", b"part\n")]


@check()
def a_report_pattern_stays_in_the_tree(bench: Bench) -> None:
    """`/etc/*` and `../*` are refused."""
    for pattern in ("/etc/*", "../*", "a/../../b", ""):
        try:
            bench.trial("true", collect=(pattern,))
        except ConfigError:
            continue
        raise AssertionError(f"not refused: {pattern}")


# --- many at once ---


@check()
def trials_side_by_side_do_not_meet(bench: Bench) -> None:
    """Two trials of one image have a tree each."""
    results: dict[int, bytes] = {}

    def one(number: int) -> None:
        results[number] = bench.says(f"echo {number} >mine; sleep 0.3; cat mine; ls | grep -c mine")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: b"%d\n1\n" % number for number in range(3)}


@check()
def nothing_of_a_trial_reaches_the_next(bench: Bench) -> None:
    """Each trial is fresh."""
    bench.says("echo x >left; rm kept.txt; echo y >/berbench/out/left")
    facts = bench.trial("ls left 2>/dev/null; cat kept.txt")
    assert facts.log == b"kept\r\n" and facts.reports == ()


# --- what only a container can do ---


@check(needs="a control group")
def memory_that_runs_out_is_told(bench: Bench) -> None:
    """Killed itself, or a child in a pipe whose end is fine: never a mere pass or failure (D11)."""
    hog = 'python3 -c "x = bytearray(400 << 20); print(len(x))"'
    for command in (hog, f"({hog}) | cat; exit 0"):
        facts = bench.trial(command, limits=Limits(memory_bytes=64 << 20))
        assert facts.out_of_memory, facts
    assert not bench.trial("true", limits=Limits(memory_bytes=64 << 20)).out_of_memory


@check(needs="a control group")
def a_fork_bomb_ends(bench: Bench) -> None:
    """The process limit holds, the time limit ends it, and the facts say so."""
    bomb = "f() { f | f & }; f; sleep 98765"
    facts = bench.trial(bomb, limits=Limits(pids=64), timeout_s=2)
    assert facts.timed_out or facts.exit_code not in (0, None)
    assert any("processes" in warning for warning in facts.warnings), facts


@check(needs="a network namespace")
def there_is_no_network(bench: Bench) -> None:
    """Only loopback is there, and the own name resolves to it."""
    said = bench.says(
        'ls /sys/class/net; python3 -c "import socket; print(socket.gethostbyname(socket.gethostname()))"'
    )
    assert said.split()[-2:] == [b"lo", b"127.0.0.1"], said


@check(needs="a network namespace")
def a_declared_network_is_there(bench: Bench) -> None:
    """`bridge` gives an address."""
    assert b"eth0" in bench.says("ls /sys/class/net", network="bridge")


@check(needs="capabilities")
def privileges_are_few(bench: Bench) -> None:
    """No mounts, no devices, no raw sockets, no way to more; changing owners and users works."""
    assert bench.trial("mount -t tmpfs none /mnt").exit_code != 0
    assert bench.trial("mknod /x b 7 0").exit_code != 0
    said = bench.says("grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; chown 1000:1000 kept.txt")
    assert b"CapEff:\t00000000000000fb\n" in said and b"NoNewPrivs:\t1\n" in said, said


@check(needs="a mount namespace")
def nothing_of_the_host_is_there(bench: Bench) -> None:
    """No socket of the engine, no folder of the host (S07)."""
    said = bench.says(
        "ls /var/run/docker.sock /run/docker.sock 2>&1 | grep -c 'No such';"
        " cut -d' ' -f5 /proc/self/mountinfo"
    )
    assert said.startswith(b"2\n")
    mounts = {line.decode() for line in said.splitlines()[1:]}
    own = (
        "/proc",
        "/sys",
        "/dev",
        "/etc/host",
        "/etc/resolv.conf",
        "/usr/sbin/docker-init",
        "/sbin/docker-init",
    )
    assert all(mount == "/" or mount.startswith(own) for mount in mounts), mounts


@check(needs="a process of its own as number 1")
def a_trial_that_kills_all_it_can_is_no_pass(bench: Bench) -> None:
    """`kill -9 -1` takes the script that records with it; what is left is not a zero."""
    facts = bench.trial("kill -9 -1; sleep 1; exit 0")
    assert facts.exit_code not in (0, None) and facts.warnings


@check(needs="a record that the engine's exit state can contradict")
def a_forged_record_is_no_pass(bench: Bench) -> None:
    """A zero written into the record does not count against the engine's own account."""
    facts = bench.trial("echo verify ended 99999999 0 >>/berbench/out/.trial/record; kill -9 -1; sleep 1")
    assert facts.exit_code != 0
