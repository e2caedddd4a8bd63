from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from berbench.checks import LEAK_CODES, LintFacts, fix, lint, names_in_question
from berbench.model.changes import LandedBy, Repository
from berbench.model.task import Environment, Source, Task, TaskFiles, Verify
from berbench.model.trial import Problem
from berbench.prompts import Leaks

BASE, LANDING = "a1b2c3d" + "0" * 33, "deadbee" + "1" * 33
LEAKS = Leaks(
    Repository("github.com", "owner/tool", "github"), 345, (12,), (BASE, LANDING), "fix-parser-crash"
)
PROMPT = (
    b"# The parser crashes\n\n"
    b"Call parse() with an empty list: it raises IndexError, and should return an empty tree.\n"
)

TESTS = b"""\
diff --git a/tests/test_parse.py b/tests/test_parse.py
index 1111111111111111111111111111111111111111..2222222222222222222222222222222222222222 100644
--- a/tests/test_parse.py
+++ b/tests/test_parse.py
@@ -1,3 +1,6 @@
 from tool import parse
 def test_one():
     assert parse([1])
+
+def test_empty():
+    assert parse([]) == []
"""
REFERENCE = b"""\
diff --git a/src/tool.py b/src/tool.py
index 3333333333333333333333333333333333333333..4444444444444444444444444444444444444444 100644
--- a/src/tool.py
+++ b/src/tool.py
@@ -1,2 +1,4 @@
 def parse(items):
+    if not items:
+        return build_tree(root=None, children=())
     return items[0]
"""
FACTS = LintFacts(leaks=LEAKS, test_patterns=("tests/",), names_at_base=frozenset())


def make(
    prompt: bytes = PROMPT, tests: bytes = TESTS, reference: bytes = REFERENCE, **changes: Any
) -> TaskFiles:
    """A task with nothing to complain of, but for what is changed; `changes` are keys of `verify` or of the task."""
    verify = {"command": "python -m pytest tests/test_parse.py", "protected_paths": ("tests/",)}
    verify |= {key: changes.pop(key) for key in list(changes) if key in Verify.model_fields}
    task = Task(
        id="345",
        source=Source(base_commit=BASE, landing_commit=LANDING, landed_by=LandedBy.SQUASH),
        verify=Verify(**verify),
        **changes,
    )
    return TaskFiles(task, prompt, tests, reference)


def found(files: TaskFiles, facts: LintFacts = FACTS) -> dict[str, Problem]:
    return {problem.code: problem for problem in lint(files, facts)}


def added(path: str, *lines: str, mode: str = "100644") -> bytes:
    """A patch that adds one file."""
    body = "".join(f"+{line}\n" for line in lines)
    head = f"diff --git a/{path} b/{path}\nnew file mode {mode}\nindex {'0' * 40}..{'5' * 40}\n"
    return f"{head}--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n{body}".encode()


def test_a_good_task_has_no_problem() -> None:
    assert lint(make(), FACTS) == ()


def test_every_message_ends_in_what_to_do_and_errors_come_first() -> None:
    bad = make(
        b"<!-- x -->\nSee #345.\r\n", b"", b"junk", command="", environment=Environment(dockerfile="D")
    )
    problems = lint(
        bad, replace(FACTS, dockerfile_present=False, law_problem="one path is lost", commit_problem="gone")
    )
    severities = [problem.severity for problem in problems]
    assert severities == sorted(severities, key=lambda severity: severity != "error") and len(problems) >= 8
    assert all(";" in problem.message or "`" in problem.message for problem in problems)


# --- the prompt ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("https://github.com/owner/tool/pull/345", "prompt-url"),
        ("redirect.github.com/owner/tool/pull/5", "prompt-url"),
        ("owner/tool", "prompt-repository"),
        ("owner/tool@abc1234", "prompt-repository"),
        ("GH-5", "prompt-reference"),
        ("closes #1, closes #2", "prompt-reference"),
        ("refs #3", "prompt-reference"),
        ("#345", "prompt-reference"),
        (LANDING[:9], "prompt-commit"),
        ("fix-parser-crash", "prompt-branch"),
        ("Co-authored-by: A <a@example.org>", "prompt-trailer"),
        ("own\u200ber/to\u200bol", "prompt-repository"),
    ],
)
def test_T01_T02_leaks_are_errors_with_line_and_reason(line: str, code: str) -> None:
    problem = found(make(PROMPT + b"\nMore words.\n" + line.encode() + b"\n"))[code]
    assert (problem.where, problem.severity, problem.fixable) == ("prompt.md:6", "error", True)
    assert code in LEAK_CODES and "take it out" in problem.message


def test_doubtful_places_are_warnings() -> None:
    text = PROMPT + b"\nAs in #77, or https://github.com/other/lib/pull/5, or " + b"0123456789" * 4 + b"ab\n"
    problems = found(make(text))
    assert problems["prompt-reference"].severity == problems["prompt-foreign-change"].severity == "warning"
    assert not LEAK_CODES & {problem.code for problem in problems.values() if problem.severity == "error"}


def test_a_pull_request_number_standing_alone_is_a_warning() -> None:
    facts = replace(FACTS, leaks=replace(LEAKS, pr=13964))
    problem = found(make(PROMPT + b"\nThe file 13964 is lost.\n"), facts)["prompt-number"]
    assert problem.severity == "warning" and not problem.fixable


def test_the_state_of_the_text() -> None:
    assert found(make(b" \n"))["prompt-empty"].severity == "error"
    assert found(make(b"# Broken\n"))["prompt-short"].severity == "warning"
    assert found(make(PROMPT + b"\xff"))["prompt-encoding"].where == "prompt.md:4"
    comment = found(make(PROMPT + b"\n<!-- a form\nsays -->\n"))["prompt-comment"]
    assert (comment.where, comment.fixable) == ("prompt.md:5", True)
    assert "prompt-comment" not in found(make(PROMPT + b"\n`<!-- in code -->`\n"))


def test_P11_carriage_returns_are_told_and_mended() -> None:
    files = make(PROMPT.replace(b"\n", b"\r\n"), command="python -m pytest tests/test_parse.py\r")
    facts = replace(FACTS, task_bytes=b"id: x\r\n")
    problems = lint(files, facts)
    codes = {problem.code: problem.severity for problem in problems}
    assert codes == {"command-crlf": "error", "prompt-crlf": "warning", "task-crlf": "warning"}
    fixes = fix(files, problems, facts)
    assert fixes.prompt == PROMPT and fixes.command == "python -m pytest tests/test_parse.py"
    setup = make(environment=Environment(setup=("make\r",)))
    assert found(setup)["command-crlf"].where == "task.yaml: environment.setup[1]"


def test_a_landing_message_as_prompt_is_told() -> None:
    message = "Mend the parser for empty lists (#345)\n\nThe first item was read before looking whether there is one.\n"
    prompt = (
        b"# Mend the parser for empty lists\n\nThe first item was read before looking whether there is one.\n"
    )
    facts = replace(FACTS, landing_message=message)
    assert found(make(prompt), facts)["prompt-landing-message"].severity == "warning"
    assert "prompt-landing-message" not in found(make(), facts)


@pytest.mark.parametrize(
    "patch", ["```diff\n-a\n+b\n```", "    diff --git a/a.py b/a.py", "> @@ -1,2 +1 @@ def parse():"]
)
def test_a_proposed_patch_in_the_prompt_is_told(patch: str) -> None:
    problem = found(make(PROMPT + b"\nI propose:\n\n" + patch.encode() + b"\n"))["prompt-holds-patch"]
    assert (problem.where, problem.severity) == ("prompt.md:7", "warning")
    assert "prompt-holds-patch" not in found(make(PROMPT + b"\nThe diff is at @@ -a and `diff --git`.\n"))


def test_new_code_of_the_reference_in_the_prompt_is_told() -> None:
    quoting = PROMPT + b"\nI would write:\n\n    return build_tree(root=None, children=())\n"
    problem = found(make(quoting))["prompt-quotes-answer"]
    assert (problem.where, problem.severity) == ("prompt.md:7", "warning")
    assert "prompt-quotes-answer" not in found(
        make(PROMPT + b"\n    def parse(items):\n    return items[0]\n")
    )


def test_P37_a_megabyte_is_read() -> None:
    assert lint(make(PROMPT * 10_000), FACTS) == ()


# --- the patches ---------------------------------------------------------------------------------------------


def test_patches_must_hold_something() -> None:
    assert {"tests-empty", "reference-empty"} <= set(found(make(tests=b"", reference=b"")))
    assert "patch-unreadable" in found(make(tests=b"only words\n"))
    deleted = (
        b"diff --git a/tests/t.py b/tests/t.py\ndeleted file mode 100644\nindex "
        + b"5" * 40
        + b".."
        + b"0" * 40
        + b"\n"
    )
    assert "tests-only-deleted" in found(make(tests=deleted))


def test_P01_a_stub_is_named() -> None:
    stub = b"diff --git a/tests/x.bin b/tests/x.bin\nindex 1111111..2222222 100644\n"
    stub += b"Binary files a/tests/x.bin and b/tests/x.bin differ\n"
    problem = found(make(tests=TESTS + stub))["patch-stub"]
    assert (problem.where, problem.severity) == ("tests.patch: tests/x.bin", "error")


def test_sides_are_judged_by_the_patterns_as_they_are_now() -> None:
    problem = found(make(tests=TESTS + added("src/help.py", "x = 1")))["tests-hold-implementation"]
    assert problem.severity == "error" and "src/help.py" in problem.message and "--force" in problem.message
    assert found(make(reference=REFERENCE + added("tests/test_more.py", "x = 1")))["reference-holds-tests"]
    no_patterns = replace(FACTS, test_patterns=())
    assert "reference-holds-tests" not in found(
        make(reference=REFERENCE + added("tests/a.py", "x")), no_patterns
    )
    assert "split-overlap" in found(make(reference=REFERENCE + TESTS))


def test_submodules_and_lfs_are_named() -> None:
    link = b"diff --git a/vendor b/vendor\nindex 1111111..2222222 160000\n--- a/vendor\n+++ b/vendor\n"
    link += b"@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"
    assert found(make(reference=REFERENCE + link))["patch-submodule"].where == "reference.patch: vendor"
    pointer = added("tests/data.bin", "version https://git-lfs.github.com/spec/v1", "oid sha256:1")
    assert found(make(tests=TESTS + pointer))["patch-lfs"].where == "tests.patch: tests/data.bin"
    moved = b"diff --git a/tests/d.bin b/tests/d.bin\nindex 1111111..2222222 100644\n"
    moved += b"--- a/tests/d.bin\n+++ b/tests/d.bin\n"
    moved += b"@@ -1,2 +1,2 @@\n version https://git-lfs.github.com/spec/v1\n-oid sha256:1\n+oid sha256:2\n"
    assert "patch-lfs" in found(make(tests=TESTS + moved))
    speaks = added("tests/test_lfs.py", "import x", 'POINTER = "version https://git-lfs.github.com/spec/v1"')
    assert "patch-lfs" not in found(make(tests=TESTS + speaks))
    assert "patch-lfs" in found(make(), replace(FACTS, lfs=frozenset({"src/tool.py"})))


def test_a_reference_of_prose_alone_is_told() -> None:
    assert "reference-no-code" in found(
        make(reference=added("docs/use.md", "words") + added("CHANGES", "words"))
    )


@pytest.mark.parametrize(
    "path",
    [
        "pyproject.toml",
        "requirements/dev-requirements.txt",
        "web/package-lock.json",
        "go.mod",
        "Cargo.lock",
        "a/pom.xml",
    ],
)
def test_V29_a_changed_manifest_is_told(path: str) -> None:
    problem = found(make(reference=REFERENCE + added(path, "x")))["manifest-changed"]
    assert problem.severity == "warning" and path in problem.message


def test_a_name_as_long_as_names_get_is_read_in_no_time() -> None:
    began = time.process_time()
    assert "manifest-changed" not in found(make(reference=REFERENCE + added("requirements" + "_" * 240, "x")))
    assert time.process_time() - began < 2


# --- names ---------------------------------------------------------------------------------------------------


NEW_TESTS = added(
    "tests/test_new.py", "from tool import render_tree", "def test_it():", "    assert render_tree(1) == 'x'"
)
NEW_CODE = REFERENCE + added(
    "src/render.py", "def render_tree(node):", "    raise ValueError('no such node in the tree')"
)


def test_T04_names_that_nothing_tells_are_listed() -> None:
    files = make(tests=NEW_TESTS, reference=NEW_CODE, command="pytest tests/test_new.py")
    assert names_in_question(files) == {"render_tree"}
    problem = found(files)["unspecified-name"]
    assert (
        problem.severity == "warning"
        and "unspecified name" in problem.message
        and "render_tree" in problem.message
    )
    assert "unspecified-name" not in found(files, replace(FACTS, names_at_base=frozenset({"render_tree"})))
    assert "unspecified-name" not in found(files, replace(FACTS, names_at_base=None))
    told = replace(files, prompt=PROMPT + b"\nAdd `render_tree` for it.\n")
    assert "unspecified-name" not in found(told) and names_in_question(told) == frozenset()


def test_T04_new_modules_and_exact_texts_count() -> None:
    tests = added("tests/test_new.py", "import render", 'match = "no such node in the tree"')
    code = added("src/render.py", "raise ValueError('no such node in the tree')")
    problems = found(make(tests=tests, reference=code, command="pytest tests/test_new.py"))
    assert "render" in problems["unspecified-name"].message
    assert "no such node in the tree" in problems["unspecified-text"].message
    told = make(
        PROMPT + b'\nIt says "no such node in the tree" when we render.\n',
        tests,
        code,
        command="pytest tests/test_new.py",
    )
    assert not {"unspecified-name", "unspecified-text"} & set(found(told))


def test_names_in_comments_texts_and_old_code_do_not_count() -> None:
    tests = added("tests/test_new.py", "# build_tree", "x = 'build_tree'", "assert parse and items")
    assert names_in_question(make(tests=tests)) == frozenset()
    tests = added("tests/test_new.py", '"""It forwards, and divide too."""', "divide=1", "forwards(1)")
    prose = added("docs/a.md", "`divide`") + added(
        "src/a.py", '"""Whatever divides forwards what."""', "divide = 1"
    )
    assert names_in_question(make(tests=tests, reference=prose)) == {"divide"}


def test_errors_of_the_language_are_nobodys_to_guess() -> None:
    tests = added("tests/test_new.py", "with raises(ValueError):", "expect(f).toThrow(RangeError)")
    code = added("src/a.py", "raise ValueError(x)", "throw new RangeError(x)")
    assert names_in_question(make(tests=tests, reference=code)) == frozenset()


# --- the contract --------------------------------------------------------------------------------------------


def test_the_command() -> None:
    assert found(make(command=" "))["command-empty"].severity == "error"
    assert found(make(command="pytest tests/test_parse.py || true"))["command-hides-status"]
    assert found(make(command="pytest"))["command-unwise"]
    assert found(make(command="pytest tests/test_other.py"))["command-misses-tests"]
    assert found(make(command="./check tests/test_parse.py"))["command-unknown-runner"]
    assert "command-unknown-runner" not in found(make(command="./check tests/test_parse.py", evidence="tap"))


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("python -m unittest tests.test_parse -v", "tests/test_parse.py"),
        ("cd src && python -m unittest tool.tests.test_parse", "src/tool/tests/test_parse.py"),
        ("go test ./pkg/a ./pkg/b", "pkg/b/x_test.go"),
        ("mvn -q -pl core -Dtest=ParseTest test", "core/src/test/java/org/ParseTest.java"),
        ("npx jest test/parse.test.js", "test/parse.test.js"),
        ("cd web && npx vitest run src/a.test.ts", "web/src/a.test.ts"),
        ("cargo test --test parse", "tests/parse.rs"),
        ("pytest 'tests/my file.py'", "tests/my file.py"),
    ],
)
def test_hidden_files_are_known_in_every_runners_words(command: str, path: str) -> None:
    files = make(tests=added(path, "x"), command=command, protected_paths=("**",))
    assert "command-misses-tests" not in found(files, replace(FACTS, test_patterns=("**",)))


def test_hidden_tests_must_be_protected() -> None:
    files = make(tests=TESTS + added("spec/[a] b.py", "x"), protected_paths=("tests/test_parse.py",))
    facts = replace(FACTS, test_patterns=("tests/", "spec/"))
    problem = found(files, facts)["tests-unprotected"]
    assert problem.severity == "error" and problem.fixable and "spec/[a] b.py" in problem.message
    fixes = fix(files, lint(files, facts), facts)
    assert fixes.protected_paths is not None and fixes.protected_paths[0] == "tests/test_parse.py"
    mended = make(tests=files.tests_patch, protected_paths=fixes.protected_paths)
    assert "tests-unprotected" not in found(mended, facts)


def test_globs_that_match_nothing_and_a_missing_dockerfile() -> None:
    files = make(hide=("docs/", "secret/**"), environment=Environment(inputs=("*.lock", "setup.py")))
    problems = lint(
        files, replace(FACTS, base_paths=frozenset({"docs/a.md", "pyproject.toml", "src/tool.py"}))
    )
    assert [problem.where for problem in problems] == ["task.yaml: environment.inputs", "task.yaml: hide"]
    some = make(environment=Environment(inputs=("*.lock", "pyproject.toml")))
    assert not found(some, replace(FACTS, base_paths=frozenset({"pyproject.toml"})))
    assert found(make(), replace(FACTS, dockerfile_present=False))["dockerfile-missing"].severity == "error"


def test_N01_use_of_the_network_is_told() -> None:
    away = added("tests/test_net.py", "r = requests.get('https://httpbin.org/get')")
    assert found(make(tests=TESTS + away))["network-use"].severity == "warning"
    assert found(make(tests=TESTS + away, network="bridge")).keys() == {"network-open"}
    for line in (
        "requests.get('http://localhost:80')",
        "url = 'https://example.com/x'",
        "fetch('http://127.0.0.1')",
    ):
        assert "network-use" not in found(make(tests=TESTS + added("tests/test_net.py", line)))


# --- mends ---------------------------------------------------------------------------------------------------


def test_what_is_fixable_is_gone_after_the_fix() -> None:
    prompt = (
        PROMPT
        + b"\n<!-- form -->\nIt came with #345, see https://github.com/owner/tool/pull/345 and `x`.\n\nGH-12\n"
    )
    files = make(prompt)
    problems = lint(files, FACTS)
    fixes = fix(files, problems, FACTS)
    assert fixes.prompt is not None and fixes.command is None and fixes.protected_paths is None
    assert set(fixes.done) == {problem.code for problem in problems if problem.fixable}
    assert lint(replace(files, prompt=fixes.prompt), FACTS) == ()
    assert b"`x`" in fixes.prompt and fixes.prompt.startswith(PROMPT)


def test_nothing_to_fix_changes_nothing() -> None:
    fixes = fix(make(), lint(make(), FACTS), FACTS)
    assert (fixes.prompt, fixes.command, fixes.protected_paths, fixes.done) == (None, None, None, ())


def test_lint_facts_of_nothing_known_switch_checks_off() -> None:
    assert lint(make(), LintFacts()) == ()


def test_checks_that_nothing_runs_are_refused() -> None:
    """They would be taken for a part of every pass."""
    problem = found(make(assert_=({"id": "x", "type": "absent", "pattern": "TODO"},)))[
        "assertions-unsupported"
    ]
    assert (problem.severity, problem.where) == ("error", "task.yaml: assert")
