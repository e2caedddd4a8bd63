"""No piece repeated to the end of a long input makes a reader slow: each of these once took minutes, or would have."""

from __future__ import annotations

import pytest

from benchmarks.fuzz.limits import try_input
from benchmarks.fuzz.targets import TARGETS

SIZE = 1 << 15
SECONDS = 2.0  # of processor time: squares of the length take far longer

# target, what stands before, the piece, what stands behind
ROWS = (
    ("summary", "Tests: ", "1", " x"),
    ("summary", "Tests:", " ", "x"),
    ("summary", "Tests", "\n", "x"),
    ("summary", "1 passed, ", "1", " in 1s"),
    ("summary", "Ran 1 test in 1s\nFAILED (", "a", ")"),
    ("summary", "Ran 1 test in 1s\n", "\n", "x"),
    ("summary", "", "  1 passing (\n", ""),
    ("summary", "# pass", " ", "x"),
    ("summary", "", "     Summary [\n", ""),
    ("summary", "", "Execution failed for task ':", ""),
    ("summary", "Execution failed for task ':", "compile", "!"),
    ("summary", "Tests: 1, Assertions: ", "1", "x"),
    ("summary", "Tests: 1, Assertions: 1", "a", "."),
    ("summary", "", "lib", ""),
    ("summary", "", "EACCES", ""),
    ("summary", "", "error: ", ""),
    ("summary", "Could not find ", ":", "!"),
    ("rust", "        PASS [ 0.1s] bin a", " ", "b"),
    ("tap", "ok 1 - #", " ", "x"),
    ("lines", '{"end":true,"titles":["', '","', '"]}'),
    ("lines", '{"file":"a","titles":["a","', '","', '"]}'),
    ("go", '{"Action":', "[", "]}"),
    ("landings", "a", " ", "b)"),
    ("landings", "Add\n\nfixes ", "a/", "x"),
    ("landings", "Add\n\nfixes ", "a", "x"),
    ("landings", "Backport ", "a", " #1 (#2)"),
    ("landings", "Add (#1)\n\n#1", "<!--", ""),
    ("landings", "Add (#1)\n\n#1\n", "```\n~~~\n", ""),
    ("landings", "bump", " release", "! (#1)"),
    ("landings", "1.2", ".a", " ! (#1)"),
    ("landings", "", "move ", "(#1)"),
    ("landings", 'Revert "', " ", 'b" (#1)'),
    ("landings", "Merge pull request #", "1", " from a/b"),
    ("prompts", "", "(#1)", "x"),
    ("prompts", "see issue", " ", "x"),
    ("prompts", "see the issue number", "\t", "x"),
    ("prompts", "", "#7", "/x"),
    ("candidates", "[a]\nx = 1\n%%%%\n[", " ", "x"),
    ("candidates", "[a]\nx = 1\n%%%%\n", " ", "["),
    ("canaries", "npx jest\n%%%%\n", "\n", "x"),
    ("canaries", "npx jest\n%%%%\n", "\nimport ", "x"),
    ("canaries", "npx jest\n%%%%\nit('a', () => {;", "/a/ ", "})"),
    ("canaries", "npx jest\n%%%%\nit('a', () => {;", "'\\", "})"),
    ("canaries", "npx jest\n%%%%\nit('a', () => {;", "=/[", "})"),
    ("canaries", "npx jest '(a", "*", ")'\n%%%%\nit('a', () => {})"),
    ("candidates", "[a]\n%%%%\n", "pytest_plugins = [\n", "x"),
    ("candidates", "[a]\n%%%%\n", "setupFiles: [\n", "x"),
    ("masking", "abcdefgh-0123456789\n%%%%\n", "abcdefgh-", "x"),
    ("egress", 'Proxying refused on filtered url "', "[", '"'),
    ("telemetry", "Tokens: ", "1", " sent"),
    ("telemetry", "", "litellm.AError", ": status"),
    ("telemetry", '{"type":"result","is_error":true,"result":"', "error ", '"}'),
    ("telemetry", '{"a":', "[", "]}"),
    ("telemetry", "", "\n{", ""),
    ("labels", "a/", "/", "b"),
    ("labels", "", "a+", "b"),
    ("tools", "invoke: [a]\nefforts: [", "a, ", "b]\n%%%%\ntools: [{tool: mine}]"),
    ("shell", "", "coverage run -m ", "pytest"),
    ("prompts", "", "(#1)\n", "x"),
    ("record", "", "-", ""),
    ("record", "", "a", "@"),
    ("dockerfile", "", "[", ""),
    ("dockerfile", "ARG A=xxxxxxxx\nARG B=", "$A", "\nFROM $B\n"),
    ("dockerfile", "ARG A=xxxxxxxx\n", "ARG A=$A$A$A$A$A$A$A$A\n", "FROM $A\n"),
    ("manifests", '2{"exports":', '{"a":', "1"),
    ("manifests", "3[pytest]\ntestpaths", " ", "x"),
    ("manifests", "\x0cimport os\n", "\n", "x"),
    ("patch", "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+a", " ", "#b\n"),
    ("patch", "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+", "->", " :b\n"),
    ("manifests", "0a=", "[", ""),
    ("patch", 'diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+x = "', "\\253", "\n"),
)


@pytest.mark.parametrize(("name", "before", "piece", "behind"), ROWS)
def test_no_piece_makes_a_reader_slow(name: str, before: str, piece: str, behind: str) -> None:
    many = piece * ((SIZE - len(before) - len(behind)) // len(piece))
    assert try_input(TARGETS[name].check, (before + many + behind).encode(), seconds=SECONDS) is None
