"""Candidates as patches, cheating and honest: what of them reaches the verifier."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from candidatebench import BASE, LANDED, CandidateBench, Files

from berbench.errors import EmptyPatch, PatchConflict
from berbench.model.task import Environment, Verify
from gitrepo import executable, gitlink, symlink

Build = Callable[..., CandidateBench]
FIX: Files = {"src/app.py": b"x = 1 + 1\n"}


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """A bench of one's own, for a base or landing that differs."""

    def make(base: Files | None = None, landed: Files | None = None, **more: Any) -> CandidateBench:
        return CandidateBench(tmp_path, {**BASE, **(base or {})}, {**LANDED, **(landed or {})}, **more)

    return make


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> CandidateBench:
    """The bench of those who need nothing of their own."""
    return CandidateBench(tmp_path_factory.mktemp("bench"))


def only_the_fix(bench: CandidateBench, changes: Files) -> None:
    """The tree is that of the fix alone, and the other paths are told to be dropped."""
    prepared = bench.prepare({**FIX, **changes})
    assert prepared.tree == bench.tree_with(FIX)
    assert {one.path for one in prepared.dropped} >= set(changes)
    assert [change.path for change in prepared.kept] == ["src/app.py"]
    assert all(one.reason and not one.reason.endswith(".") for one in prepared.dropped)


def test_the_reference_as_a_candidate_is_the_solved_tree(bench: CandidateBench) -> None:
    prepared = bench.prepare(bench.files.reference_patch)
    assert (prepared.tree, prepared.dropped) == (bench.trees.solved, ())


def test_an_honest_fix_is_kept_whole(bench: CandidateBench) -> None:
    changes: Files = {**FIX, "src/new.py": executable(b"1\n"), "README": b"\xff\0", "src/other.py": None}
    prepared = bench.prepare(changes)
    assert (prepared.tree, prepared.dropped) == (bench.tree_with(changes), ())


PLANTED = b"def pytest_runtest_makereport(): ...\n"


def test_V01_a_conftest_never_reaches_the_verifier(bench: CandidateBench) -> None:
    only_the_fix(bench, dict.fromkeys(["conftest.py", "src/conftest.py", "a/b/conftest.py"], PLANTED))


def test_V01_nor_does_the_deletion_of_one(bench: CandidateBench) -> None:
    only_the_fix(bench, {"conftest.py": None})


BEFORE_THE_TESTS = """
sitecustomize.py src/usercustomize.py usercustomize/__init__.py x.pth src/python311._pth pytest.py _pytest/__init__.py
src/pluggy/__init__.py unittest/case.py json.py lib/pytest.cpython-311-x86_64-linux-gnu.so a.dist-info/METADATA
evil.egg-info/entry_points.txt .venv/lib/x.py lib/site-packages/x.py pyvenv.cfg
"""
SETTINGS = """
pytest.ini .pytest.ini src/tox.ini noxfile.py .coveragerc jest.config.ts packages/a/vitest.config.mts vite.config.js
.mocharc.yml .taprc ava.config.js .babelrc .npmrc go.work .cargo/config.toml phpunit.xml.dist .rspec .mvn/jvm.config
gradle.properties .config/nextest.toml src/__mocks__/fs.js node_modules/jest/index.js .ber/bench/config.yaml
src/__snapshots__/a.snap pkg/zz_test.go .env
"""


def test_V04_what_runs_before_the_tests_is_dropped(bench: CandidateBench) -> None:
    only_the_fix(bench, dict.fromkeys(BEFORE_THE_TESTS.split(), b"import os; os._exit(0)\n"))


def test_V05_settings_of_runners_are_dropped(bench: CandidateBench) -> None:
    only_the_fix(bench, dict.fromkeys(SETTINGS.split(), b"addopts = --collect-only\n"))


BUILDS = "Makefile mk/rules.mk pom.xml build.gradle.kts CMakeLists.txt Gemfile setup.py ci/run.sh ci/deps.sh"


def test_V05_what_commands_make_matter_is_dropped_there_alone(build: Build, bench: CandidateBench) -> None:
    old, new = (dict.fromkeys(BUILDS.split(), data) for data in (b"old\n", b"new\n"))
    command = "make check && ./mvnw test && gradle test && ctest && bundle exec rspec && ci/run.sh"
    setup = ("pip install -e .", "sh ci/deps.sh")
    bound = build(old, verify=Verify(command=command), environment=Environment(setup=setup))
    only_the_fix(bound, new)
    prepared = bench.prepare({**FIX, **new})
    assert (prepared.tree, prepared.dropped) == (bench.tree_with({**FIX, **new}), ())


def test_V05_what_the_bases_settings_load_is_dropped(build: Build) -> None:
    bench = build(
        {"jest.config.js": b"module.exports = {setupFiles: ['./tools/setup.js']}", "tools/setup.js": b"1\n"}
    )
    only_the_fix(bench, {"tools/setup.js": b"expect = () => true\n"})


def test_V07_a_file_planted_at_a_hidden_path_is_replaced(bench: CandidateBench) -> None:
    only_the_fix(bench, {"tests/test_new.py": b"def test_new(): pass\n"})
    assert bench.content(bench.tree_with(FIX), "tests/test_new.py") == LANDED["tests/test_new.py"]


@pytest.mark.parametrize(
    ("landed", "planted"),
    [
        ("checks/unit/new_check.py", "checks"),
        ("checks/unit/new_check.py", "checks/unit"),
        ("checks/new_check.py", "checks/new_check.py/in"),
        ("checks/new_check.py", "checks/new_check.py/deep/er"),
    ],
)
def test_V07_files_and_folders_in_the_way_of_hidden_ones_are_dropped(
    build: Build, landed: str, planted: str
) -> None:
    bench = build(landed={landed: b"1\n"}, patterns=("tests/**", landed))
    only_the_fix(bench, {planted: b"in the way\n"})
    assert bench.content(bench.tree_with(FIX), landed) == b"1\n"


def test_V07_a_hidden_file_that_trades_places_with_a_folder(build: Build) -> None:
    bench = build(
        {"tests/data/a": b"a\n", "tests/data/b": b"b\n", "tests/cases": b"c\n"},
        {
            "tests/data/a": None,
            "tests/data/b": None,
            "tests/data": b"file\n",
            "tests/cases": None,
            "tests/cases/x": b"x",
        },
        patterns=("tests/data", "tests/data/**", "tests/cases/**", "tests/cases", "tests/test_*"),
        verify=Verify(command="pytest"),
    )
    planted: Files = {"tests/data/c": b"c\n", "tests/cases": b"planted\n", "tests/data/a": b"planted\n"}
    only_the_fix(bench, planted)
    assert bench.content(bench.tree_with(FIX), "tests/data") == b"file\n"


def test_V08_changed_and_deleted_tests_are_the_bases(bench: CandidateBench) -> None:
    only_the_fix(bench, {"tests/test_old.py": b"def test_old(): return\n"})
    only_the_fix(bench, {"tests/test_old.py": None})


def test_V08_a_deleted_hidden_test_stays_deleted(build: Build) -> None:
    bench = build(landed={"tests/test_old.py": None})
    only_the_fix(bench, {"tests/test_old.py": b"def test_old(): return\n"})
    assert "tests/test_old.py" not in bench.entries(bench.tree_with(FIX))


def test_V10_protected_paths_and_whatever_the_patterns_call_a_test_are_dropped(build: Build) -> None:
    bench = build(
        {"graders/score.py": b"1\n"},
        patterns=("tests/**", "**/*.spec.js"),
        verify=Verify(command="pytest", protected_paths=("graders/", "data/*.json")),
    )
    only_the_fix(bench, {"graders/score.py": b"100\n", "data/want.json": b"1\n", "src/a.spec.js": b"1\n"})


@pytest.mark.parametrize(
    "path", [b"../x", b"/logs/reward.txt", b"a/../../x", b".git/hooks/post-checkout", b".GIT/config"]
)
def test_V10_S10_a_patch_that_writes_outside_the_tree_does_not_apply(
    bench: CandidateBench, path: bytes
) -> None:
    patch = b"--- /dev/null\n+++ b/" + path + b"\n@@ -0,0 +1 @@\n+x\n"
    with pytest.raises(PatchConflict):
        bench.prepare(patch)


def test_V11_bytecode_is_dropped(bench: CandidateBench) -> None:
    paths = ["src/__pycache__/app.cpython-311.pyc", "src/app.pyc", "__pycache__/x", "src/old.pyo"]
    only_the_fix(bench, dict.fromkeys(paths, b"\xa7\r\r\n\0"))


def test_P19_S10_links_that_leave_the_tree_or_lead_to_tests_are_dropped(bench: CandidateBench) -> None:
    links = {
        "out": "/etc",
        "over": "../../etc",
        "src/out": "../..",
        "src/out2": "a/../../../x",
        "here": ".",
        "src/up": "..",
        "loop": "loop",
        "alias": "tests",
        "alias.py": "tests/test_old.py",
        "src/alias.py": "../conftest.py",
        "to-come": "tests/test_new.py",
        "pytest": "src",
        "node_modules": "src",
    }
    only_the_fix(bench, {path: symlink(target) for path, target in links.items()})


def test_S10_links_are_judged_by_where_they_lead_in_the_end(build: Build) -> None:
    bench = build({"deep/down/file": b"1\n"})
    only_the_fix(bench, {"a": symlink("b/x"), "b": symlink("deep/../.."), "c": symlink("a")})


def test_P19_links_within_the_tree_are_kept(build: Build) -> None:
    bench = build({"cur": symlink("v1"), "v1/a": b"1\n", "v2/a": b"2\n"})
    prepared = bench.prepare(
        {"cur": symlink("v2"), "link.py": symlink("src/app.py"), "v1/b": symlink("../v2/a")}
    )
    assert prepared.dropped == ()
    assert {path: one.mode for path, one in bench.entries(prepared.tree).items() if one.mode == 0o120000} == {
        "cur": 0o120000, "link.py": 0o120000, "v1/b": 0o120000,
    }  # fmt: skip


def test_P19_a_link_can_not_give_a_steering_name_to_a_harmless_one(build: Build) -> None:
    bench = build({"lib/a": b"1\n"})
    prepared = bench.prepare({"lib/a": None, "lib": symlink("src/evil"), "src/evil/pytest.py": b"1\n"})
    assert [one.path for one in prepared.dropped] == ["lib"]
    assert "'lib/pytest.py'" in prepared.dropped[0].reason


def test_P19_a_link_in_the_place_of_a_settings_file_is_dropped(bench: CandidateBench) -> None:
    only_the_fix(bench, {"pyproject.toml": symlink("mine.toml")})


def test_S10_a_link_that_the_reference_brings_is_the_references_alone(build: Build) -> None:
    bench = build(landed={"out": symlink("/dev/null")})
    assert bench.prepare(bench.files.reference_patch).tree == bench.trees.solved
    only_the_fix(bench, {"out": symlink("/etc/passwd")})
    only_the_fix(bench, {"out": gitlink("1" * 40)})


def test_submodules_are_dropped_and_stay(build: Build) -> None:
    bench = build({"sub": gitlink("1" * 40)})
    only_the_fix(bench, {"sub": gitlink("2" * 40), "more": gitlink("3" * 40)})
    only_the_fix(bench, {"sub": None})
    only_the_fix(bench, {"sub": None, "sub/gtest.h": b"1\n"})


def test_files_of_the_base_that_stay_leave_no_room(build: Build) -> None:
    bench = build({"a/b/conftest.py": b"1\n", "a/x": b"1\n"})
    prepared = bench.prepare(
        {"a/b/conftest.py": None, "a/x": None, "a": b"file\n", "conftest.py": None, "conftest.py/x": b""}
    )
    assert {one.path for one in prepared.dropped} == {"a", "a/b/conftest.py", "conftest.py", "conftest.py/x"}
    assert bench.entries(prepared.tree).keys() == bench.entries(bench.trees.with_tests).keys() - {"a/x"}


@pytest.mark.parametrize("nothing", [b"", b"\n\n", b"I could not reproduce it.\n"])
def test_P26_an_empty_patch_is_told_apart(bench: CandidateBench, nothing: bytes) -> None:
    with pytest.raises(EmptyPatch):
        bench.prepare(nothing)


def test_P26_a_candidate_of_nothing_but_tests_leaves_the_base(bench: CandidateBench) -> None:
    prepared = bench.prepare({"tests/test_mine.py": b"1\n", "conftest.py": b"2\n"})
    assert (prepared.tree, prepared.kept) == (bench.trees.with_tests, ())


def test_a_patch_that_does_not_apply_says_where(bench: CandidateBench) -> None:
    with pytest.raises(PatchConflict, match=r"src/app\.py") as caught:
        bench.prepare(b"--- a/src/app.py\n+++ b/src/app.py\n@@ -1 +1 @@\n-other\n+new\n")
    assert caught.value.path == "src/app.py"


def test_what_the_reference_changes_is_the_candidates(build: Build) -> None:
    bench = build(
        {"setup.cfg": b"[tool:pytest]\naddopts = -q\n", "Makefile": b"a\n"},
        {
            "setup.cfg": b"[tool:pytest]\naddopts = -v\n",
            "tox.ini": b"1\n",
            "conftest.py": None,
            "Makefile": b"b\n",
        },
        verify=Verify(command="make check", protected_paths=("tests/", "tox.ini")),
    )
    prepared = bench.prepare(
        {"setup.cfg": b"[tool:pytest]\naddopts = -x\n", "tox.ini": b"2\n", "conftest.py": b"3\n"}
    )
    assert prepared.dropped == ()
    assert bench.content(prepared.tree, "setup.cfg") == b"[tool:pytest]\naddopts = -x\n"


def test_what_an_agent_is_not_shown_may_come_back_as_new(build: Build) -> None:
    bench = build({"HINTS.md": b"the answer\n"}, hide=("HINTS.md",), verify=Verify(command="pytest"))
    patch = bench.patch({**FIX, "HINTS.md": None})
    new = b"--- /dev/null\n+++ b/HINTS.md\n@@ -0,0 +1 @@\n+mine\n"
    section = patch[patch.index(b"diff --git a/src/app.py") :]
    prepared = bench.prepare(new + section)
    assert (prepared.dropped, bench.content(prepared.tree, "HINTS.md")) == ((), b"mine\n")
    with pytest.raises(PatchConflict):
        bench.prepare(new.replace(b"HINTS.md", b"src/app.py"))


def test_attributes_and_names_of_any_kind_are_kept(bench: CandidateBench) -> None:
    prepared = bench.prepare({".gitattributes": b"* eol=crlf\n", b"src/\xff n\n.py": b"1\n", "a\tb": b"\r\n"})
    assert prepared.dropped == ()
    assert bench.content(prepared.tree, "a\tb") == b"\r\n"
    prepared = bench.prepare({b"src/\xff\n/conftest.py": b"1\n"})
    assert prepared.tree == bench.trees.with_tests
