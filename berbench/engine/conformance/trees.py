"""The tree of a trial, and what comes back from it."""

from __future__ import annotations

import os
import threading

from berbench.engine.conformance.bench import NON_UTF8, ODD, TREE, Bench, check
from berbench.errors import ConfigError, Refusal
from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK, Delta, FileEntry


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
