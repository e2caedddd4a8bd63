from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from berbench.model.changes import Issue, PullRequest, Repository
from berbench.prompts import Draft, Leaks, find_leaks, scrub, title_of, write_prompt
from berbench.prompts.cleaning import clean
from berbench.prompts.markdown import read_layout

BASE, LANDING, BRANCH = "a1b2c3d" + "0" * 33, "deadbee" + "1" * 33, "feed123" + "2" * 33
HUB = Leaks(
    Repository("github.com", "owner/tool", "github"),
    345,
    (12, 1300),
    (BASE, LANDING, BRANCH),
    "fix-parser-crash",
)
LAB = Leaks(
    Repository("gitlab.example.org", "group/sub/tool", "gitlab"), 77, (12,), (LANDING,), "topic/parser"
)
NOWHERE = Leaks()


def issue(body: str, title: str = "The parser crashes", number: int = 12, **more: bool) -> Issue:
    return Issue(number, title, body, "https://github.com/owner/tool/issues/12", **more)


def described(title: str, body: str) -> PullRequest:
    return PullRequest(345, title, body, "", True, LANDING, BRANCH, "fix-parser-crash", "main", 1)


def written(body: str, leaks: Leaks = HUB) -> str:
    return write_prompt([issue(body)], None, "", "issue", leaks).text


def cleaned(body: str) -> str:
    return clean(body)[0]


# --- the form ------------------------------------------------------------------------------------------------


def test_an_issue_becomes_a_heading_and_its_text() -> None:
    draft = write_prompt([issue("It fails.\r\n\r\nBadly.\r")], None, "", "issue", HUB)
    assert draft == Draft("# The parser crashes\n\nIt fails.\n\nBadly.\n", (), "issue", ())


def test_several_issues_are_joined_and_pull_requests_left_out() -> None:
    issues = [
        issue("One."),
        issue("Two.", "Also slow (#12)", 13),
        issue("Three.", "A change", 14, is_pull_request=True),
    ]
    draft = write_prompt(issues, None, "", "issue", HUB)
    assert draft.text == "# The parser crashes\n\nOne.\n\n# Also slow\n\nTwo.\n"
    assert any("number 14 is a pull request" in warning for warning in draft.warnings)


def test_an_issue_without_a_title_keeps_its_own_heading() -> None:
    assert (
        write_prompt([issue("# Own title\n\nText.", "")], None, "", "issue", HUB).text
        == "# Own title\n\nText.\n"
    )
    assert written("# The parser crashes\n\nText.") == "# The parser crashes\n\nText.\n"


def test_a_missing_issue_gives_way_with_a_warning() -> None:
    draft = write_prompt([], described("Mend it", "It fell over."), "Mend it (#345)", "issue", HUB)
    assert draft.source == "pr_description" and draft.text == "# Mend it\n\nIt fell over.\n"
    assert any("--issue-file" in warning for warning in draft.warnings)
    assert any("tends to tell the answer" in warning for warning in draft.warnings)
    draft = write_prompt([], None, "Mend it (#345)\n\nIt fell over.\n", "issue", HUB)
    assert draft.source == "commit_message" and draft.text == "# Mend it\n\nIt fell over.\n"
    assert any("landing's message tends to tell the answer" in warning for warning in draft.warnings)


def test_no_words_at_all_give_no_prompt() -> None:
    draft = write_prompt([], None, "Merge pull request #345 from me/fix\n", "issue", HUB)
    assert draft.text == "" and "by hand" in draft.warnings[-1]


def test_a_bot_issue_is_told_of() -> None:
    draft = write_prompt([issue("x", author_is_bot=True)], None, "", "issue", HUB)
    assert any("written by a bot" in warning for warning in draft.warnings)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Fix it (#345)\n\nWhy.\n", "# Fix it\n\nWhy."),
        ("Merge pull request #345 from me/fix-parser-crash\n\nFix it\n", "# Fix it"),
        (
            "Merge branch 'topic' into 'main'\n\nFix it\n\nWhy.\n\nCloses #12\n\nSee merge request group/tool!77",
            "# Fix it\n\nWhy.",
        ),
        ("Merged in topic (pull request #345)\n\nFix it", "# Fix it"),
        ("Pull request #345: Fix it", "# Fix it"),
        ("Merged PR 345: Fix it", "# Fix it"),
        ("Issue #12: Fix it", "# Fix it"),
        ("Fix it, closing #12\n\nFollow up on #7", "# Fix it"),
        ("Fixes #12 — it fell over", "# it fell over"),
        (
            "Fix it\n\n* one\n* two\n\n---------\n\nCo-authored-by: A <a@example.org>",
            "# Fix it\n\n* one\n* two",
        ),
        ("Fix it\n\n(cherry picked from commit 1234567890)", "# Fix it"),
        ("Merge remote-tracking branch 'origin/main'\n\n# Conflicts:\n#\tsrc/a.py\n", ""),
        ("Fix it\n\nConflicts:\n\tsrc/a.py\n\tsrc/b.py\n", "# Fix it"),
    ],
)
def test_landing_messages_in_every_form(message: str, text: str) -> None:
    assert write_prompt([], None, message, "commit_message", HUB).text.strip() == text


# --- cleaning ------------------------------------------------------------------------------------------------


def test_templates_check_lists_and_comments_go() -> None:
    body = """<!-- Please search
existing issues -->
### Describe the bug

A clear and concise description of what the bug is.

It fails with `--x`.

### Checklist

- [x] I have searched
- [ ] I have read
  the guide

### Expected behavior

_No response_

### Environment

Python 3.11

1.
2.

### Code of Conduct

- [x] I agree
"""
    draft = write_prompt([issue(body)], None, "", "issue", HUB)
    environment = "### Environment\n\nPython 3.11\n\n1.\n2.\n"
    assert (
        draft.text == f"# The parser crashes\n\n### Describe the bug\n\nIt fails with `--x`.\n\n{environment}"
    )
    assert any("3 check-list lines of issue 12" in warning for warning in draft.warnings)


def test_a_check_list_that_tells_what_the_program_must_do_stays_as_a_list() -> None:
    body = "The new `Table` should:\n\n- [ ] accept `width=`\n  and no more\n- [x] reject `-1`\n\nThanks!\n"
    assert clean(body) == (
        "The new `Table` should:\n\n- accept `width=`\n  and no more\n- reject `-1`\n\nThanks!",
        0,
    )
    for lead, item in (
        ("Before you submit:", "it is described"),
        ("This is true:", "I have searched"),
        ("### Tasks:", "accept `width=`"),
        ("No colon", "accept `width=`"),
        ("What was done:", "tests added"),
    ):
        assert clean(f"{lead}\n\n- [x] {item}\n- [ ] more\n\nEnd\n")[1] == 2, (lead, item)


def test_an_unfilled_list_of_steps_goes_with_its_heading() -> None:
    body = "**To Reproduce**\nSteps to reproduce the behavior:\n1. Go to '...'\n2. See error\n\nIt crashes."
    assert (
        cleaned(f"**Bug**\n\nIt crashes.\n\n{body.removesuffix('It crashes.')}") == "**Bug**\n\nIt crashes."
    )
    assert "Steps to reproduce the behavior:\n1. Open it" in cleaned(body.replace("Go to '...'", "Open it"))


def test_a_sender_who_can_be_reached_stays_unknown() -> None:
    body = "### Contact Details\n\njane@example.com\n\n### What happened?\n\nIt crashes."
    assert cleaned(body) == "### What happened?\n\nIt crashes."


def test_empty_sections_go_from_the_inside_out() -> None:
    assert (
        cleaned("# A\n\n## B\n\n### C\n\nN/A\n\n## D\n\ntext\n\n# E\n\n**F**\n\n-\n") == "# A\n\n## D\n\ntext"
    )
    assert cleaned("# A\n\ntext\n\nN/A") == "# A\n\ntext\n\nN/A"


def test_questions_about_the_sender_go_with_their_answer_alone() -> None:
    body = "It fails.\n\n### Are you willing to submit a PR?\n\nYes, gladly.\n\nMore about the failure."
    assert cleaned(body) == "It fails.\n\nMore about the failure."


@pytest.mark.parametrize(
    "line",
    [
        "/label ~bug",
        "/assign @me",
        "On Tue, 5 Mar 2024 at 10:00, Bob wrote:",
        "> Reply to this email directly, view it on GitHub, or unsubscribe.",
        "> You are receiving this because you authored the thread.Message ID: <owner/tool/issues/12@github.com>",
        "_This issue was originally reported on Google Code by jdoe@example.com_",
        "Co-authored-by: A <a@example.org>",
        "Signed-off-by: A <a@example.org>",
        "Closes #1, #2 and #3",
        "Fixes: owner/tool#5",
        "Fixes https://github.com/owner/tool/issues/5",
        "This fixes #5.",
        "PR-URL: https://github.com/owner/tool/pull/5",
        "(cherry picked from commit abcdef1234567890)",
        "This issue has been automatically marked as stale.",
        "🤖 Generated with [Some Code](https://example.org)",
        "Sent from my iPhone",
        "*Originally created by @somebody*",
        "Thanks for taking the time to fill out this bug report!",
        "- OS: [e.g. iOS]",
        "1. Go to '...'",
    ],
)
def test_lines_for_people_and_from_robots_go(line: str) -> None:
    assert cleaned(f"before\n\n{line}\n\nafter") == "before\n\nafter"


@pytest.mark.parametrize(
    "line",
    [
        "Drive-by:",
        "see https://docs.python.org/3/library/re.html",
        "Fixes the thing that broke",
        "Closes the file too early",
        "- [link](https://example.org) to a page",
        "Please read the output below: it says 5",
        "Version: 3.11",
    ],
)
def test_lines_about_the_problem_stay(line: str) -> None:
    assert cleaned(f"before\n\n{line}\n\nafter") == f"before\n\n{line}\n\nafter"


def test_images_become_their_alt_text_and_details_stay() -> None:
    body = (
        "![A red traceback](https://x.example/a.png) ![image](https://x.example/b.png)\n"
        '<img width="10" alt="The broken table" src="https://x.example/c.png">\n\n'
        "[![badge](https://x.example/d.svg)](https://ci.example)\n\n"
        "<details><summary>Log</summary>\n\nlong text\n\n</details>"
    )
    text = cleaned(body)
    assert (
        "[image: A red traceback]" in text
        and "[image: The broken table]" in text
        and "[image: badge]" in text
    )
    assert "x.example" not in text and "<" not in text and "**Log**\n\nlong text" in text


CODE = "x = 1   \n# <!-- kept -->\n- [x] kept\n\n\n\nCloses #999\n\f\u2028![a](b)\n"


@pytest.mark.parametrize(
    ("opening", "closing"), [("```py", "```"), ("~~~", "~~~~"), ("````", "````"), ("> ```", "> ```")]
)
def test_code_stays_byte_for_byte(opening: str, closing: str) -> None:
    assert f"{opening}\n{CODE}{closing}" in written(f"Look:\n\n{opening}\n{CODE}{closing}\n\nend")


def test_indented_and_inline_code_stay() -> None:
    body = "Look:\n\n    a  =  1\n    <!-- kept -->\n\nand `<!-- kept -->` and ``a ` b <!-- kept -->``."
    assert cleaned(body) == body


def test_an_open_fence_or_comment_ends_with_the_text() -> None:
    assert cleaned("a\n\n```\n<!-- kept") == "a\n\n```\n<!-- kept"
    assert cleaned("a\n\n<!-- gone\n\nall of it") == "a"
    assert cleaned("when I write <!-- in a page, it fails") == "when I write <!-- in a page, it fails"
    assert cleaned("<!-- ``` -->\ntext\n<!-- ``` -->") == "text"


def test_the_layout_of_lists_is_no_code() -> None:
    text = "- item\n\n    continued #12\n\npara\n\n    code\n"
    assert [text[a:b] for a, b in read_layout(text).blocks] == ["    code\n"]


# --- leaks ---------------------------------------------------------------------------------------------------

SURE = [
    "https://github.com/owner/tool/pull/345",
    "https://github.com/Owner/Tool/issues/9#issuecomment-1",
    "github.com/owner/tool",
    "http://www.github.com/owner/tool/compare/v1...v2",
    "redirect.github.com/owner/tool/pull/5",
    "https://api.github.com/repos/owner/tool/pulls/345/files",
    "https://raw.githubusercontent.com/owner/tool/main/src/a.py",
    "https://codeload.github.com/owner/tool/zip/main",
    "https://patch-diff.githubusercontent.com/raw/owner/tool/pull/345.diff",
    "https://github.dev/owner/tool",
    "https://sourcegraph.com/github.com/owner/tool@main",
    "https://cdn.jsdelivr.net/gh/owner/tool@1/a.js",
    "https://web.archive.org/web/2020/https://github.com/owner/tool/pull/345",
    "https://safelinks.example/?url=https%3A%2F%2Fgithub.com%2Fowner%2Ftool%2Fpull%2F345",
    "https://safelinks.example/?url=https%253A%252F%252Fgithub.com%252Fowner%252Ftool",
    "https://codecov.io/gh/owner/tool/pull/345",
    "https://deploy-preview-345--tool.example.app/x",
    "https://tool--345.org.readthedocs.build/en/345/",
    "https://github.com/somebody/tool/commit/1234567",
    "git+https://github.com/owner/tool.git@main",
    "git@github.com:owner/tool.git",
    "owner/tool",
    "Owner/Tool#5",
    "owner/tool@abc1234",
    "somebody/tool#8",
    "tool#8",
    "#345",
    "PR 345",
    "pull request #400",
    "pull/345",
    "issue 12",
    "issue #12",
    "GH-5",
    "gh-12",
    "issue_12",
    "fixes #8",
    "closes #1, closes #2",
    "see #7",
    "refs #7",
    LANDING,
    BASE[:7],
    LANDING[:12].upper(),
    f"v1.2-5-g{LANDING[:8]}",
    f"commit {BRANCH[:10]}",
    "fix-parser-crash",
    "somebody:fix-parser-crash",
    "\nCo-authored-by: A <a@example.org>",
    "\nSigned-off-by: A <a@example.org>",
    "own\u200ber/tool#\u200b5",
]


@pytest.mark.parametrize("place", SURE)
def test_T01_what_leads_to_the_answer_goes(place: str) -> None:
    text, removed = scrub(f"It fails like in {place} when run.\n", HUB)
    assert removed
    assert not [leak for leak in find_leaks(text, HUB) if leak.sure]
    assert not re.search(r"owner.{0,3}/tool|345|deadbee|a1b2c3d|feed123|fix-parser", text, re.IGNORECASE)
    assert text.lower().startswith("it fails like in")


@pytest.mark.parametrize(
    "line",
    [
        "see redirect.github.com/owner/tool/pull/5",
        "GH-5",
        "Co-authored-by: A <a@example.org>",
        "it came with owner/tool@abc1234",
        "closes #1, closes #2",
        "refs #3",
        "Reviewed-by: B <b@example.org>",
    ],
)
def test_T02_each_shape_is_found_on_its_line(line: str) -> None:
    text = f"# Title\n\nwords\n{line}\nwords\n"
    sure = [leak for leak in find_leaks(text, HUB) if leak.sure]
    assert sure and all(text.count("\n", 0, leak.start) == 3 for leak in sure)


def test_T02_every_number_of_a_list_is_one_of_those_it_begins_with() -> None:
    for text in ("fixes #8, #9 and #10", "see #8 and #9, #10"):
        assert [leak.sure for leak in find_leaks(text, HUB)] == [True, True, True], text
    # Far from the list, a number stands for itself.
    later = find_leaks("fixes #8. There are words enough in between, and then #900 comes.", HUB)
    assert [leak.sure for leak in later] == [True, False]


def test_an_exclamation_mark_before_a_number_is_a_reference_on_gitlab_alone() -> None:
    assert not find_leaks("then !6 again", HUB)
    assert [leak.code for leak in find_leaks("then !6 again", LAB)] == ["prompt-reference"]


@pytest.mark.parametrize("page", ["", "/tree/fixed", "/commit/1234567", ".git"])
def test_T01_a_fork_holds_the_answer_whatever_page_of_it_is_named(page: str) -> None:
    for leaks, place in ((HUB, "github.com/somebody/tool"), (LAB, "gitlab.example.org/me/mine/tool")):
        told = find_leaks(f"Look at https://{place}{page} for it.", leaks)
        assert [leak.sure for leak in told] == [True], place
    assert not find_leaks(f"Look at https://github.com/somebody/other{page and '/tree/main'} for it.", HUB)


@pytest.mark.parametrize(("number", "told"), [(7, 0), (999, 0), (1000, 1), (2024, 0), (2101, 1), (31415, 1)])
def test_a_number_alone_is_told_where_it_is_no_count_and_no_year(number: int, told: int) -> None:
    leaks = Leaks(Repository("github.com", "owner/tool", "github"), number)
    assert len(find_leaks(f"It takes {number} of them.", leaks)) == told


@pytest.mark.parametrize(
    "text",
    [
        "https://docs.python.org/3/library/re.html#re.compile",
        "https://owner.example.org/tool/changes",
        "https://packages.example.org/project/tool/",
        "https://github.com/python/cpython/issues/345678",
        "python/cpython#99",
        "src/owner/tool/core.py and owner/tools and owner/tool.py",
        "the #1 reason, step #2, example #3, line #14",
        "colour #1234567, &#39; and page#12",
        "HTTP 345 or 1.345 or 12",
        "x = 0x1234567 and cafe123 and 1234567",
        "fix parser crash",
        "a!1 and !important",
        "#0  0x00 in main\n#1  0x01 in start",
        "pandas DataFrame of 12 rows",
    ],
)
def test_what_leads_nowhere_stays(text: str) -> None:
    assert scrub(f"Look: {text}\n", HUB) == (f"Look: {text}\n", ())


@pytest.mark.parametrize(
    "text",
    [
        f"sha256:{'9f86d081' * 8} is the image",
        f"the sha1 checksum is {'da39a3ee' * 5}",
        "a package `@owner/tool` and `import x from '@owner/tool/table'`",
        '`linkify("https://github.com/foo/bar/pull/99")` is wrong',
    ],
)
def test_what_a_problem_is_about_stays(text: str) -> None:
    assert scrub(f"Look: {text}\n", HUB) == (f"Look: {text}\n", ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Sent to owner/tool/issues/12/9@github.com", "Sent to another issue@github.com"),
        ("Look at owner/tool/src/core.py now", "Look at this repository/src/core.py now"),
        ("As owner/tool/-/merge_requests/77 did", "As another change did"),
        ("A fix is http://tracker.example.com/attachment/5/fix.diff", "A fix is a change in another project"),
        ("the commit hash is " + "da39a3ee" * 5, "the commit hash is an earlier commit"),
    ],
)
def test_T02_the_repository_s_name_and_patches_hide_in_longer_words(text: str, left: str) -> None:
    assert scrub(f"{text}\n", HUB)[0] == f"{left}\n"


def test_code_loses_only_what_is_sure() -> None:
    code = "```\nassert colour == '#123' # see #99 and #345\npip install git+https://github.com/owner/tool\n```\n"
    text, _ = scrub(code, HUB)
    assert text == "```\nassert colour == '#123' # see #99 and <removed>\npip install <removed>\n```\n"


def test_import_paths_stay_in_code_when_the_tree_holds_them() -> None:
    go = Leaks(HUB.repository, 345, module_path="github.com/owner/tool")
    code = '```go\nimport "github.com/owner/tool/doc"\n// github.com/owner/tool/pull/9\n```\n'
    assert scrub(code, go)[0] == '```go\nimport "github.com/owner/tool/doc"\n// <removed>\n```\n'
    assert "<removed>/doc" not in scrub(code, HUB)[0] and "owner/tool" not in scrub(code, HUB)[0]
    assert "owner/tool" not in scrub("See github.com/owner/tool/doc.\n", go)[0]


def test_sentences_stay_readable() -> None:
    body = (
        "See #12, #13 and #14. It broke in #15 (see #16).\n"
        "The PR #17 and [this commit](https://github.com/owner/tool/commit/1234567) too.\n"
        "In [core](https://github.com/owner/tool/blob/main/src/core.py#L12) or\n"
        "https://github.com/owner/tool/blob/main/src/core.py#L12-L14 it says so.\n"
        "Same <https://github.com/owner/tool/issues/9>, as in [the report][1].\n\n"
        "[1]: https://github.com/owner/tool/issues/9\n\nRefs #44\n"
    )
    assert written(body) == (
        "# The parser crashes\n\nSee other issues. It broke in another issue.\n"
        "Another change and this commit too.\n"
        "In core or\nsrc/core.py (line 12) it says so.\n"
        "Same another issue, as in the report.\n"
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("この問題は#345と#12に関連", "この問題はanother issueとanother issueに関連"),
        ("PR345を参照", "Another changeを参照"),
        ("リポジトリowner/toolで", "リポジトリthis repositoryで"),
        ("Смотри №345", "Смотри another issue"),
        ("It fails in owner/tool@v1.2.3 too", "It fails in version v1.2.3 too"),
        ("Docs: https://owner.github.io/tool/a.html", "Docs: this repository"),
        ("In /builds/owner/tool/src/a.py", "In /builds/this repository/src/a.py"),
        ("Try the branch fix-parser-crash or bob:fix-parser-crash now", "Try a branch or a branch now"),
        ("Fixes #12. It crashes.", "It crashes."),
    ],
)
def test_T02_references_between_letters_and_in_other_dress_go(text: str, left: str) -> None:
    assert scrub(f"{text}\n", HUB)[0] == f"{left}\n"
    assert not [leak for leak in find_leaks(left, HUB) if leak.sure]


def test_a_reference_that_gitlab_expands_goes_whole() -> None:
    assert scrub("It is due to #14+ here.\n", LAB)[0] == "It is due to another issue here.\n"


def test_gitlab_marks_and_sub_groups() -> None:
    body = "As in !77 and !5, group/sub/tool!9 and https://gitlab.example.org/group/sub/tool/-/merge_requests/77\n"
    text, removed = scrub(body, LAB)
    assert not re.search(r"!\d|group/sub", text) and len(removed) >= 4
    assert scrub("topic/parser is the branch", LAB)[0] == "A branch is the branch"


def test_without_a_remote_pages_of_forges_still_go() -> None:
    text, removed = scrub(
        "See https://github.com/a/b/pull/5 and https://gitlab.com/a/b/-/issues/5 now.", NOWHERE
    )
    assert "http" not in text and len(removed) == 2


def test_changes_of_other_projects_are_doubtful() -> None:
    (leak,) = find_leaks("see https://github.com/python/cpython/pull/99 there", HUB)
    assert not leak.sure and leak.code == "prompt-foreign-change"


def test_a_plain_word_as_branch_is_a_leak_only_when_called_one() -> None:
    plain = Leaks(HUB.repository, 345, branch="typing")
    assert scrub("typing is broken", plain) == ("typing is broken", ())
    assert "typing" not in scrub("it is on branch `typing`, from me:typing", plain)[0]


LOOSE = [
    "text",
    "and",
    "see",
    "another issue",
    "fixes ",
    "owner",
    "tool",
    "345",
    "%2F",
    "https://",
    "<a href=",
    ", ",
    ".",
]
MARKS = [
    "`",
    "```",
    "\n",
    "\n\n",
    " ",
    "(",
    ")",
    "[",
    "](",
    "<!--",
    "-->",
    "/",
    "#",
    "- ",
    "# ",
    ">",
    "\u200b",
]
PIECES = st.sampled_from([*SURE, "#7", *LOOSE, *MARKS])


@given(st.lists(PIECES, max_size=25).map("".join))
@example("[[owner/tool]](https://github.com/owner/tool)")
@settings(max_examples=250)
def test_nothing_sure_is_left_whatever_the_text(text: str) -> None:
    once, _ = scrub(text, HUB)
    assert not [leak for leak in find_leaks(once, HUB) if leak.sure]
    drafted = write_prompt([issue(text)], None, "", "issue", HUB).text
    assert not [leak for leak in find_leaks(drafted, HUB) if leak.sure]


def test_P37_a_prompt_of_a_megabyte_is_written_in_seconds() -> None:
    started = time.monotonic()
    line = (
        "The `parser` fails on *this* line, see https://docs.example.org/page?x=1 for more; value is 0x1f.\n"
    )
    text = written(line * 10_000)
    assert len(text) > 900_000 and text.count("0x1f") == 10_000
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    "bit", ["`a", "<!-- ", "![a](", " ", "- ", "*", "> ", "a.", "#\n", "fixes ", "commit ", "[x](", "<a "]
)
def test_no_text_takes_time_out_of_proportion(bit: str) -> None:
    started = time.monotonic()
    scrub(f"x{bit * (100_000 // len(bit))}y", HUB)
    clean(f"x{bit * (100_000 // len(bit))}y")
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        (b"# Digits vanish from words\n\n`words()` drops them.\n", "Digits vanish from words"),
        (b"\n\n  #\nNo heading here\r\nmore", "No heading here"),
        (b"", ""),
        (b"#\n \n", ""),
        (b"\xff" + b"a" * 200, "\ufffd" + "a" * 88 + "…"),
    ],
)
def test_a_prompt_is_called_by_its_first_words(prompt: bytes, title: str) -> None:
    assert title_of(prompt) == title
