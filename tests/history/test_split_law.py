"""The split law on generated histories: base + tests + reference, in either order, is the landing tree."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from berbench.errors import LandingError
from berbench.history import GitHistory
from berbench.landings import landing_of
from berbench.model.changes import Split
from berbench.split import classify, problems
from berbench.stages.patches import cut, obstacles
from gitrepo import File, RepoBuilder, executable, gitlink, symlink

PATTERNS = ("tests/**", "**/test_*")

SEGMENTS = st.sampled_from(
    [
        b"a",
        b"b",
        b"tests",
        b"test_x",
        b"my file",
        b"\xc3\xa9",
        b'q"',
        b"n\nl",
        b"t\tb",
        b"\xff",
        b"a b",
        b"end ",
        b"b\\s",
        b"...",
    ]
)
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map(b"/".join)
LINES = st.sampled_from(
    [b"x\n", b"y\n", b"\n", b"cr\r\n", b"ff\x0cff\n", b"u\xe2\x80\xa8\n", b"caf\xe9\n", b"--- a/x\n", b"+++ b/x\n",
     b"diff --git a/x b/x\n", b"@@ -1 +1 @@\n", b"\\ No newline\n", b"\0\1\n", b"\r", b"end", b" \n", b"\t \n"]
)  # fmt: skip
CONTENTS = st.lists(LINES, max_size=9).map(b"".join)
ENTRIES = st.one_of(
    CONTENTS,
    CONTENTS.map(executable),
    st.sampled_from(["v1", "v2", "a/b"]).map(symlink),
    st.sampled_from(["1" * 40, "2" * 40]).map(gitlink),
)
STATES = st.dictionaries(PATHS, ENTRIES, max_size=7)


def build(folder: Path, before: dict[bytes, File], after: dict[bytes, File]) -> RepoBuilder:
    """A base that holds `before` and a landing that holds exactly `after`."""
    repo = RepoBuilder(folder / "repo")
    repo.commit("Base", {"keep": b"k\n", **before})
    gone: dict[str | bytes, File] = {path.encode("utf-8", "surrogateescape"): None for path in repo.files()}
    repo.commit("Landing (#1)", {**gone, **after})
    return repo


# Few in every run; `--hypothesis-profile=explore` looks for new ones.
EXAMPLES = max(settings.default.max_examples // 10, 1)


@given(before=STATES, after=STATES)
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_split_law_is_kept_or_refused_by_name(
    before: dict[bytes, File], after: dict[bytes, File]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        repo = build(Path(name), {**before, b"tests/t": b"1\n"}, {**after, b"tests/t": b"2\n"})
        with GitHistory(repo.path, scratch=Path(name)) as history:
            old, new = history.tree_of("main^"), history.tree_of("main")
            assert history.make_tree(old, history.changes(old, new)) == new
            landing = landing_of([next(history.walk("main"))], None)
            split = classify(landing.changes, PATTERNS)
            try:
                done = cut(history, landing, split)
            except LandingError as error:
                assert excused(error, split), error
                event("refused")
                return
            event("kept")
            assert history.apply(old, done.tests_patch + done.reference_patch) == new
            assert history.apply(new, history.diff(new, old)) == old


def excused(error: LandingError, split: Split) -> bool:
    """The three reasons that the law has for a refusal, and whether one of them is there."""
    if "no changes on the side" in error.message:
        return not split.tests or not split.reference
    if "trade places" in error.message:
        return any("trade places" in reason for reason in problems(split))
    # git can't read such a name in the header of a change without lines, if a space stands before a slash
    changed = [change.path for change in (*split.tests, *split.reference)]
    return any(" /" in path and repr(path) in error.message for path in changed)


def test_a_name_that_git_can_not_read_back_is_refused_by_name(tmp_path: Path) -> None:
    repo = build(tmp_path, {b"tests/t": b"1\n"}, {b"tests/t": b"2\n", b"end /a": b""})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        landing = landing_of([next(history.walk("main"))], None)
        with pytest.raises(LandingError, match="'end /a'"):
            cut(history, landing, classify(landing.changes, PATTERNS))


def test_a_split_that_is_not_the_landings_is_refused(tmp_path: Path) -> None:
    repo = build(tmp_path, {b"a": b"1\n", b"tests/t": b"1\n"}, {b"a": b"2\n", b"tests/t": b"2\n"})
    with GitHistory(repo.path, scratch=tmp_path) as history:
        landing = landing_of([next(history.walk("main"))], None)
        split = classify(landing.changes[:-1], PATTERNS)
        with pytest.raises(LandingError, match="does not name the landing's changes"):
            cut(history, landing, split)


def test_P19_P20_contents_tell_more_obstacles(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    after: dict[bytes, File] = {b"a": b"2\n", b"tests/t": b"2\n", b"model": pointer, b"l": symlink("../x")}
    repo = build(
        tmp_path, {b"tests/t": b"1\n"}, {**after, b"sub": gitlink("1" * 40), b"fine": symlink("tests/t")}
    )
    with GitHistory(repo.path, scratch=tmp_path) as history:
        landing = landing_of([next(history.walk("main"))], None)
        found = obstacles(history, landing, classify(landing.changes, PATTERNS))
    assert [word for reason in found for word in ("LFS", "submodule", "points out") if word in reason] == [
        "LFS", "submodule", "points out",
    ]  # fmt: skip
