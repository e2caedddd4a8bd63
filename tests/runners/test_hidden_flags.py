"""Flags that jest and mocha were given are out of sight before a test runs: commands, and what the kits look for.

The kits' own patterns are read from their text and held against the words that commands are given.
"""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest

from berbench.runners import instrument
from berbench.runners.kits import kit_files

PRELOAD = "--require /berbench/kit/jest.cjs"


def pattern(kit: str, name: str) -> re.Pattern[str]:
    """A regular expression of a kit, by the constant's name; what it uses means the same in Python."""
    (entry,) = kit_files(kit)
    found = re.search(rf"^const {name} = /(.*)/;$", entry.data.decode(), re.MULTILINE)
    assert found, name
    return re.compile(found[1])


def seen_by_jest(command: str, held: str | None) -> list[str]:
    """NODE_OPTIONS as each jest of the command gets it; a stand-in for npx prints it."""
    asked = instrument(command)
    lines = [line for line in asked.command.splitlines() if not line.startswith("pwd >")]
    stand_in = "npx() { printenv NODE_OPTIONS; }\n"
    done = subprocess.run(
        ["sh", "-c", stand_in + "\n".join(lines)],
        env={"PATH": "/usr/bin:/bin", **({} if held is None else {"NODE_OPTIONS": held})},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("command", "held", "seen"),
    [
        ("npx jest a", None, [PRELOAD]),
        ("npx jest a", "", [f" {PRELOAD}"]),
        ("npx jest a", "--no-warnings", [f"--no-warnings {PRELOAD}"]),
        ("npx jest a && npx jest b", "--trace-gc", [f"--trace-gc {PRELOAD}"] * 2),
        ('NODE_OPTIONS="--x --y" npx jest a', "--z", [f"--x --y {PRELOAD}"]),
        ("NODE_OPTIONS= npx jest a && npx jest b", None, [f" {PRELOAD}", PRELOAD]),
    ],
)
def test_jest_is_preloaded_beside_what_image_and_user_preload(
    command: str, held: str | None, seen: list[str]
) -> None:
    assert seen_by_jest(command, held) == seen


@pytest.mark.parametrize(
    ("seen", "left"),
    [
        (PRELOAD, ""),
        (f" {PRELOAD}", ""),
        (f"--no-warnings {PRELOAD}", "--no-warnings"),
        (f"--require /x/.pnp.cjs {PRELOAD}", "--require /x/.pnp.cjs"),
        (f"{PRELOAD} --later", "--later"),
        (f"--x {PRELOAD} --later", "--x --later"),
        ("--require /x/kit/jest.cjs.other", "--require /x/kit/jest.cjs.other"),
        ("--require /x/jest.cjs", "--require /x/jest.cjs"),
    ],
)
def test_the_preload_takes_itself_and_no_other_word_out_of_node_options(seen: str, left: str) -> None:
    me = pattern("jest.cjs", "ME")
    assert me.sub("", seen, count=1) == left


@pytest.mark.parametrize(
    "command", ["npx jest a", "yarn jest", "node node_modules/jest/bin/jest.js a && npx jest b"]
)
def test_the_preload_knows_the_words_that_jest_is_given(command: str) -> None:
    words = shlex.split(instrument(command).command.splitlines()[-1])
    report = pattern("jest.cjs", "REPORT")
    given = [at for at, word in enumerate(words) if report.search(word)]
    assert len(given) == command.count("&&") + 1
    assert all(words[at - 1] == "--json" for at in given)


@pytest.mark.parametrize(
    "word", ["--outputFile=out/jest-1.json", "--outputFile=/x/report.json", "--outputFile"]
)
def test_a_report_of_the_users_own_stays_in_sight(word: str) -> None:
    assert not pattern("jest.cjs", "REPORT").search(word)


@pytest.mark.parametrize(
    ("request_", "file"),
    [
        ("..", "/repo/node_modules/jest-cli/build/index.js"),  # by newer versions
        ("../build/cli", "/repo/node_modules/jest-cli/build/cli/index.js"),  # by older ones
        ("jest-cli", "/.yarn/cache/jest-cli-29.zip/node_modules/jest-cli/build/index.js"),  # in a zip
        ("./cli", "/repo/node_modules/.pnpm/jest-cli@26.6.3/node_modules/jest-cli/build/cli/index.js"),
    ],
)
def test_the_preload_knows_where_every_jest_keeps_its_run(request_: str, file: str) -> None:
    assert pattern("jest.cjs", "REQUEST").search(request_)
    assert pattern("jest.cjs", "JEST").search(file)


@pytest.mark.parametrize("kit", ["jest.cjs", "mocha.cjs"])
def test_kits_keep_to_what_old_versions_of_node_can_read(kit: str) -> None:
    (entry,) = kit_files(kit)
    code = re.sub(r"//.*", "", entry.data.decode())
    assert not re.search(r"\?\.|\?\?|catch \{|\bimport\b|\{ \.\.\.|\.at\(|\.flat", code)


def test_mocha_is_given_two_words_and_its_kit_takes_out_those_two() -> None:
    words = shlex.split(instrument("npx mocha --require assert a.js").command.splitlines()[-1])
    assert words[2:4] == ["--require", "/berbench/kit/mocha.cjs"]
    (entry,) = kit_files("mocha.cjs")
    code = entry.data.decode()
    found = re.search(r"findIndex\(\(word\) => /(.*)/\.test\(word\)\)", code)
    assert found and [at for at, word in enumerate(words) if re.search(found[1], word)] == [3]
    assert "process.argv[mine - 1] === '--require') process.argv.splice(mine - 1, 2)" in code
