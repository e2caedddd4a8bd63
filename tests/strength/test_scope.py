"""What can only be guessed, and the prompt beside the tests."""

from __future__ import annotations

from dataclasses import replace

from berbench.checks import Demands, demands_of
from berbench.diffs import read_patch
from berbench.model.task import TaskFiles
from berbench.strength.sides import checked, sentences
from taskfiles import make_files


def _patch(path: str, *lines: str, old: tuple[str, ...] = ()) -> bytes:
    body = "".join(f" {line}\n" for line in old) + "".join(f"+{line}\n" for line in lines)
    if not old:
        start = f"new file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{len(lines)} @@\n"
    else:
        start = f"--- a/{path}\n+++ b/{path}\n@@ -1,{len(old)} +1,{len(old) + len(lines)} @@\n"
    return f"diff --git a/{path} b/{path}\n{start}{body}".encode()


def _files(tests: bytes, reference: bytes, prompt: str = "Mend it.") -> TaskFiles:
    return replace(make_files(), prompt=prompt.encode(), tests_patch=tests, reference_patch=reference)


TESTS = _patch(
    "tests/test_cli.py",
    "from tool import render_tree",
    "def test_it(tmp_path):",
    '    out = run("--as-tree", "--verbose")',
    '    assert out["node_total"] == 3',
    '    with raises(ValueError, match="node 7 is not"):',
    "        render_tree(7)",
    '    assert (tmp_path / "tree.json").exists()',
    '    assert "could not be drawn" in str(err)',
    '    assert x == "some input"',
)
REFERENCE = _patch(
    "src/tool.py",
    "def render_tree(node):",
    '    parser.add_argument("--as-tree")',
    '    raise ValueError(f"node {node} is not in the tree")',
    '    Path("tree.json").write_text(json.dumps({"node_total": n}))',
    '    log("The tree could not be drawn.")',
    old=("import json",),
)


def test_T04_V26_names_texts_flags_and_files_that_nothing_tells() -> None:
    assert demands_of(_files(TESTS, REFERENCE)) == Demands(
        names=("render_tree",),
        texts=("could not be drawn", "node_total"),
        flags=("--as-tree",),
        files=("tree.json",),
    )


def test_what_the_prompt_says_is_no_guess() -> None:
    prompt = (
        "Add `render_tree` and --as-tree: it writes tree.json with node_total, and says 'could not be drawn'."
    )
    assert demands_of(_files(TESTS, REFERENCE, prompt)).count == 0


def test_what_the_base_holds_is_no_guess() -> None:
    left = demands_of(_files(TESTS, REFERENCE)).without(
        frozenset({"render_tree"}), frozenset({"node_total", "--as-tree"})
    )
    assert left == Demands(texts=("could not be drawn",), files=("tree.json",))
    assert left.count == 2


def test_a_message_that_is_filled_in_is_demanded_by_its_parts() -> None:
    tests = _patch("tests/test_a.py", 'assert str(e) == "field colour is not allowed here"')
    code = _patch("src/a.py", 'raise E(f"field {name} is not allowed here")')
    assert demands_of(_files(tests, code)).texts == ("is not allowed here",)


def test_pieces_of_code_are_no_messages() -> None:
    tests = _patch("tests/test_a.py", 'assert repr(v) == "<URL(relative=True, absolute=False)>"')
    code = _patch("src/a.py", 'return f"<URL(relative={r}, absolute={a})>"', 'x = "a == b"')
    assert demands_of(_files(tests, code)).texts == ()


def test_what_only_one_side_holds_is_not_demanded() -> None:
    assert demands_of(_files(TESTS, _patch("src/other.py", "x = 1"))).count == 0
    assert demands_of(_files(_patch("tests/test_a.py", "assert 1"), REFERENCE)).count == 0
    assert demands_of(_files(b"", b"words only")).count == 0


def test_a_new_file_of_the_reference_is_known_by_its_name() -> None:
    tests = _patch("tests/test_a.py", 'load("data/schema_v2.json")')
    assert demands_of(_files(tests, _patch("data/schema_v2.json", "{}"))).files == ("data/schema_v2.json",)


PROMPT = """\
# Wrong totals

The total is wrong. It should be 3, e.g. for
two files! "Why" is unclear.

- first wish
- second wish. With more.

```python
x = 1. And 2
```
<!-- hidden. Text. -->
Last words
"""


def test_a_prompt_is_read_by_its_sentences() -> None:
    assert sentences(PROMPT) == (
        "Wrong totals",
        "The total is wrong.",
        "It should be 3, e.g. for two files!",
        '"Why" is unclear.',
        "first wish",
        "second wish.",
        "With more.",
        "```python\nx = 1. And 2\n```",
        "Last words",
    )
    assert sentences("") == ()


def test_tests_are_listed_with_what_they_assert() -> None:
    patch = _patch(
        "tests/test_a.py",
        "    def test_two(self):",
        "        x = f()",
        "        self.assertEqual(x, 2)",
        "        assert x",
        "async def test_three():",
        "    pass",
        old=("import a", "def test_one():", "    assert f() == 1"),
    )
    found = [(one.name, one.asserts) for one in checked(read_patch(patch))]
    assert found == [("test_two", ("self.assertEqual(x, 2)", "assert x")), ("test_three", ())]


def test_a_changed_test_is_known_by_the_name_above_it() -> None:
    patch = (
        b"diff --git a/t/a.test.js b/t/a.test.js\n--- a/t/a.test.js\n+++ b/t/a.test.js\n"
        b"@@ -10,4 +10,4 @@ test('adds two numbers', () => {\n   const a = 1;\n-  expect(add(a, 1)).toBe(1);\n"
        b"+  expect(add(a, 1)).toBe(2);\n });\n test('other', () => {\n"
        b"@@ -30,2 +30,5 @@ describe('x', () => {\n a\n+it(\"keeps it's order\", async () => {\n"
        b"+  expect(order()).toEqual([1]);\n+});\n b\n"
    )
    assert [(one.name, one.asserts) for one in checked(read_patch(patch))] == [
        ("adds two numbers", ("expect(add(a, 1)).toBe(2);",)),
        ("keeps it's order", ("expect(order()).toEqual([1]);",)),
    ]


def test_what_decorates_a_test_belongs_to_it() -> None:
    patch = _patch(
        "tests/test_a.py",
        "",
        "@mark.parametrize(",
        '    "x", [1, 2]',
        ")",
        "def test_new(x):",
        "    assert x",
        old=("def test_old():", "    assert 1"),
    )
    assert [one.name for one in checked(read_patch(patch))] == ["test_new"]


def test_names_of_other_languages() -> None:
    go = _patch("a_test.go", "func TestAdd(t *testing.T) {", '\tt.Errorf("no")', "}")
    java = _patch("ATest.java", "    @Test", "    public void addsTwo() {", "        assertEquals(2, add());")
    rust = _patch("tests/a.rs", "#[test]", "fn adds() {", "    assert_eq!(2, add());")
    ruby = _patch("a_spec.rb", "  it 'adds' do", "    expect(add).to eq 2")
    found = [one for patch in (go, java, rust, ruby) for one in checked(read_patch(patch))]
    assert [one.name for one in found if one.name] == ["TestAdd", "addsTwo", "adds", "adds"]
    assert all(one.asserts for one in found if one.name)
