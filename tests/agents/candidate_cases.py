"""What agents do to a work tree, as shell, and what must come of it: one list for the fake and for containers."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from agent_bench import FILES, NON_UTF8, OTHER_NON_UTF8

from berbench.model.changes import EXECUTABLE, REGULAR, SYMLINK

GONE = (0, b"")


def file(data: bytes, mode: int = REGULAR) -> tuple[int, bytes]:
    return mode, data


@dataclass(frozen=True)
class Case:
    """`left` are mode and bytes of each path that the candidate touches; `out` are the paths that are left out."""

    name: str
    script: str
    left: dict[str, tuple[int, bytes]]
    out: tuple[str, ...] = ()
    more: dict[str, object] = field(default_factory=dict)
    tops: tuple[
        str, ...
    ] = ()  # first folders that it works in, for telling which cases get along in one tree


NEW_NON_UTF8 = os.fsdecode(b"new-\xff\xfe.txt")
EVERYTHING = {
    **dict.fromkeys(FILES, GONE),
    **dict.fromkeys(("link", NON_UTF8, OTHER_NON_UTF8), GONE),
}

CASES = (
    Case(
        "new_changed_and_deleted",
        "echo new >src/new.py; echo 'one = 2' >src/one.py; rm src/deep/two.py",
        {"src/new.py": file(b"new\n"), "src/one.py": file(b"one = 2\n"), "src/deep/two.py": GONE},
    ),
    Case("touched_is_not_changed", "touch src/one.py kept.txt; cp run.sh x; cat x >run.sh; rm x", {}),
    Case("nothing", "true", {}),
    Case(
        "what_keeps_its_size_and_time_is_changed_all_the_same",
        "t=$(mktemp -d); cp -a src link $t; echo 'one = 2' >src/one.py; ln src/one.py also; ln -sfn data.bin link;"
        " touch -hr $t/link link; touch -r $t/src/one.py src/one.py; rm -r $t",
        {
            "src/one.py": file(b"one = 2\n"),
            "also": file(b"one = 2\n"),
            "link": file(b"data.bin", SYMLINK),
        },
    ),
    Case(
        "P02_programs_and_dumps_beside_the_source_are_taken_whole",
        "echo 'one = 2' >src/one.py; printf '\\177ELF\\0\\1\\2\\377' >prog; chmod +x prog; printf 'REDIS\\0' >dump.rdb",
        {
            "src/one.py": file(b"one = 2\n"),
            "prog": file(b"\x7fELF\0\1\2\xff", EXECUTABLE),
            "dump.rdb": file(b"REDIS\0"),
        },
    ),
    Case("binary_changes", "printf '\\0\\1' >data.bin", {"data.bin": file(b"\0\1")}),
    Case(
        "P28_what_the_tree_ignores_is_left_out_and_told",
        "mkdir -p build/deep; echo 'x = 1' >build/gen.py; echo y >build/deep/y; echo junk >src/a.log; echo z >src/z.py",
        {"src/z.py": file(b"z\n")},
        out=("build/deep/y", "build/gen.py", "src/a.log"),
    ),
    Case(
        "P28_what_is_kept_by_name_is_taken",
        "mkdir build; echo 'x = 1' >build/gen.py; echo junk >a.log",
        {"build/gen.py": file(b"x = 1\n")},
        out=("a.log",),
        more={"keep": ("build/",)},
    ),
    Case(
        "P28_the_agents_own_ignore_rules_hide_nothing",
        "echo '*' >.gitignore; echo new >new.py",
        {".gitignore": file(b"*\n"), "new.py": file(b"new\n")},
    ),
    Case(
        "P29_scratch_files_are_taken_and_caches_are_not",
        "echo fails >test_repro.py; mkdir -p __pycache__ src/node_modules/x .pytest_cache;"
        " echo c >__pycache__/a.pyc; echo c >src/b.pyc; echo n >src/node_modules/x/i.js; echo p >.pytest_cache/v",
        {"test_repro.py": file(b"fails\n")},
        out=(".pytest_cache/v", "__pycache__/a.pyc", "src/b.pyc", "src/node_modules/x/i.js"),
    ),
    Case(
        "P05_renames",
        "mv src/one.py src/uno.py; mv gone left",
        {
            "src/one.py": GONE,
            "src/uno.py": file(b"one = 1\n"),
            "gone/a.txt": GONE,
            "gone/b.txt": GONE,
            "left/a.txt": file(b"a\n"),
            "left/b.txt": file(b"b\n"),
        },
    ),
    Case(
        "P07_modes",
        "chmod +x src/one.py; chmod -x run.sh; chmod 600 kept.txt",
        {"src/one.py": file(b"one = 1\n", EXECUTABLE), "run.sh": file(FILES["run.sh"])},
    ),
    Case(
        "P08_empty_files_are_files",
        "mkdir pkg empty; : >pkg/__init__.py; : >kept.txt",
        {"pkg/__init__.py": file(b""), "kept.txt": file(b"")},
    ),
    Case(
        "names_that_are_no_utf8",
        "printf 'new\\n' >$(printf 'latin-\\351.txt'); rm $(printf 'latin-\\350.txt');"
        " echo n >$(printf 'new-\\377\\376.txt')",
        {NON_UTF8: file(b"new\n"), OTHER_NON_UTF8: GONE, NEW_NON_UTF8: file(b"n\n")},
    ),
    Case(
        "odd_names",
        "echo 1 >'a b'; echo 2 >'tab\t'; echo 3 >\"it's\"; echo 4 >'new\nline';"
        " echo 5 >-rf; echo 6 >'\"q\\'; echo 7 >'é'",
        {
            "a b": file(b"1\n"),
            "tab\t": file(b"2\n"),
            "it's": file(b"3\n"),
            "new\nline": file(b"4\n"),
            "-rf": file(b"5\n"),
            '"q\\': file(b"6\n"),
            "é": file(b"7\n"),
        },
    ),
    Case(
        "links",
        "ln -s src/one.py inside; ln -s deep/two.py src/also;"
        " rm link; ln -s run.sh link; rm kept.txt; ln -s run.sh kept.txt",
        {
            "inside": file(b"src/one.py", SYMLINK),
            "src/also": file(b"deep/two.py", SYMLINK),
            "link": file(b"run.sh", SYMLINK),
            "kept.txt": file(b"run.sh", SYMLINK),
        },
    ),
    Case(
        "links_that_lead_nowhere",
        "ln -s round round; ln -s there back; ln -s back there; ln -s $(printf %04000d 0) far; rm kept.txt;"
        " ln -s kept.txt kept.txt; echo x >x;"
        ' python3 -c \'import os; [(os.mkdir("d"), os.chdir("d")) for _ in range(300)]; open("f", "w").write("f")\'',
        {
            "x": file(b"x\n"),
            "d/" * 300 + "f": file(b"f"),
            "round": file(b"round", SYMLINK),
            "back": file(b"there", SYMLINK),
            "there": file(b"back", SYMLINK),
            "far": file(b"0" * 4000, SYMLINK),
            "kept.txt": file(b"kept.txt", SYMLINK),
        },
    ),
    Case(
        "S10_links_that_leave_the_tree_are_left_out_and_told",
        "ln -s /etc/passwd evil; ln -s ../../etc src/up; ln -s src/../../x back; ln -s . ok; echo x >etc",
        {"ok": file(b".", SYMLINK), "etc": file(b"x\n")},
        out=("back", "evil", "src/up"),
    ),
    Case(
        "S10_links_are_not_followed",
        "ln -s src folder; echo through >folder/through.py; ln -s /tmp out; echo x >out/x",
        {"folder": file(b"src", SYMLINK), "src/through.py": file(b"through\n")},
        out=("out",),
    ),
    Case(
        "files_and_folders_swap",
        "rm -r gone; echo now >gone; rm kept.txt; mkdir kept.txt; echo in >kept.txt/in; rm -r src; ln -s docs src",
        {
            "gone": file(b"now\n"),
            "gone/a.txt": GONE,
            "gone/b.txt": GONE,
            "kept.txt": GONE,
            "kept.txt/in": file(b"in\n"),
            "src": file(b"docs", SYMLINK),
            "src/one.py": GONE,
            "src/deep/two.py": GONE,
        },
    ),
    Case(
        "an_empty_folder_in_a_files_place_is_no_file",
        "rm kept.txt; mkdir kept.txt",
        {"kept.txt": GONE},
    ),
    Case(
        "folders_made_anew_hold_what_is_there_now",
        "rm -r src; mkdir src; echo 'one = 1' >src/one.py; echo x >src/x",
        {"src/deep/two.py": GONE, "src/x": file(b"x\n")},
    ),
    Case(
        "no_files",
        "mkfifo pipe; rm src/one.py; mkfifo src/one.py; echo x >x;"
        " python3 -c 'from socket import *; socket(AF_UNIX).bind(\"socket\")'",
        {"x": file(b"x\n")},
        out=("pipe", "socket", "src/one.py"),
    ),
    Case(
        "second_names",
        "ln src/one.py hard.py; mkdir many; cd many; for i in $(seq 40); do echo $i >f$i; done; ln f7 f7too",
        {
            "hard.py": file(b"one = 1\n"),
            "many/f7too": file(b"7\n"),
            **{f"many/f{i}": file(f"{i}\n".encode()) for i in range(1, 41)},
        },
    ),
    Case(
        "too_large_is_told",
        "truncate -s 101M big; echo x >x; mkdir many;"
        " for i in $(seq 30); do echo $i >many/f$i; done; truncate -s 102M many/a",
        {"x": file(b"x\n"), **{f"many/f{i}": file(f"{i}\n".encode()) for i in range(1, 31)}},
        out=("big", "many/a"),
    ),
    Case(
        "behind_what_is_too_large",
        "mkdir many; for i in $(seq 30); do echo $i >many/f$i; done; ln -s far many/far; ln -s far far;"
        " truncate -s 102M a; printf new >$(printf 'latin-\\351.txt'); echo x >x",
        {
            NON_UTF8: file(b"new"),
            "far": file(b"far", SYMLINK),
            "many/far": file(b"far", SYMLINK),
            "x": file(b"x\n"),
            **{f"many/f{i}": file(f"{i}\n".encode()) for i in range(1, 31)},
        },
        out=("a",),
    ),
    Case(
        "an_agent_that_commits",
        "echo c >c; rm kept.txt; git add -A; git commit -qm mine; echo d >d; git checkout -qb other; git tag x",
        {"c": file(b"c\n"), "kept.txt": GONE, "d": file(b"d\n")},
    ),
    Case("an_agent_that_deletes_git", "rm -rf .git; echo c >c", {"c": file(b"c\n")}),
    Case(
        "an_agent_that_rewrites_git",
        "rm -rf .git; git init -q .; echo c >c; echo c >>.git/info/exclude; git add -A;"
        " git -c user.name=x -c user.email=x commit -qm all",
        {"c": file(b"c\n")},
    ),
    Case("git_as_a_file", "rm -rf .git; echo 'gitdir: /tmp' >.git; echo c >c", {"c": file(b"c\n")}),
    Case(
        "repositories_within",
        "mkdir sub; cd sub; git init -q .; echo s >s; git add s; git commit -qm s;"
        " mkdir -p deep/.GIT; echo x >deep/.GIT/x; mkdir ../.Git; echo x >../.Git/x",
        {"sub/s": file(b"s\n")},
        out=(".Git", "sub/.git", "sub/deep/.GIT"),
    ),
    Case("all_gone", "rm -rf ./* .git .gitignore", EVERYTHING),
    Case("the_work_tree_itself_is_gone", "cd /; rm -rf /work", EVERYTHING),
    Case(
        "a_link_in_place_of_the_work_tree",
        "cd /; mv /work /agent/moved; ln -s work /work",
        EVERYTHING,
    ),
)
