"""What a command says, how it ends, what it finds around it."""

from __future__ import annotations

import time

from berbench.engine.conformance.bench import ALL_BYTES, Bench, check
from berbench.model.changes import EXECUTABLE, REGULAR, FileEntry


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
