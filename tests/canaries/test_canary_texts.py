"""What canaries look like, and what is known of a file before anything is put into it."""

from __future__ import annotations

import ast
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted import entries, planting

from berbench.canaries import cases, golang, python, scanner, script
from berbench.canaries.choices import Choices, camel, snake, title
from berbench.canaries.files import append, beside
from berbench.canaries.words import ADJECTIVES, MOMENTS, NOUNS, RELATIONS, VERBS
from berbench.canaries.write import Writer

SEEDS = [f"{number:02x}" for number in range(60)]
DESCRIBED = "describe('a', () => {\n  it('b', () => {});\n});\n"


def choices(seed: str = "5eed", *seen: str) -> Choices:
    return Choices(seed, list(seen))


def style(text: str, runner: str, path: str = "a.test.js") -> script.Style | None:
    return script.read(path, text.encode(), runner, "spare")


def test_names_have_forty_bits_of_choice_and_no_word_that_tells_what_they_are() -> None:
    words = [VERBS, ADJECTIVES, NOUNS, RELATIONS, ADJECTIVES, NOUNS, MOMENTS]
    many = 1
    for some in words:
        assert len(set(some)) == len(some)
        many *= len(some)
    assert many >= 2**40
    told = " ".join(word for some in words for word in some)
    assert not re.search(r"canar|berbench|plant|cheat|tamper|fake|must|fail|pass\b|slow|skip|only", told)


def test_no_noun_or_adjective_is_a_platform_of_go() -> None:
    names = [beside("a/x_test.go", "go", choices(seed), ()) for seed in SEEDS]
    assert all(golang.read(name, b"package a\n") is not None for name in names)


def test_a_name_is_new_and_no_part_of_another() -> None:
    taken = choices().name("x", snake)
    fresh = choices("5eed", f"def {taken}(): ...").name("x", snake)
    assert taken != fresh
    made = choices()
    names = [made.name(str(number), shape).lower() for number in range(40) for shape in (snake, camel, title)]
    assert not any(one in other or other in one for one, other in combinations(names, 2))


@pytest.mark.parametrize("kind", cases._KINDS)
def test_a_right_literal_holds_and_a_wrong_one_of_its_type_does_not(kind: object) -> None:
    for seed in SEEDS:
        case = kind(choices(seed), "x")  # type: ignore[operator]
        value = eval(case.python)
        assert value == case.right != case.wrong
        assert type(case.right) is type(case.wrong) is type(value)
        assert ast.literal_eval(case.literal(right=False)) == case.wrong
        names = {node.id for node in ast.walk(ast.parse(case.python)) if isinstance(node, ast.Name)}
        assert names <= {"part"}  # nothing that a test file could give another meaning


def test_a_pair_in_python_passes_and_fails_as_it_must_in_every_form() -> None:
    for seed in SEEDS:
        planted = planting("pytest a/test_a.py", {"a/test_a.py": "X = 1\n"}, seed=seed)
        assert planted is not None
        for entry in planted.writes:
            space: dict[str, object] = {}
            exec(entry.data.decode(), space)
            for canary in planted.canaries:
                if canary.file == entry.path:
                    assert holds(space[canary.name]) == canary.passes


def holds(test: object) -> bool:
    try:
        test()  # type: ignore[operator]
    except AssertionError:
        return False
    return True


def test_python_is_written_as_linters_like_it() -> None:
    planted = planting("pytest a/test_a.py", {"a/test_a.py": "def test_a() -> None:\n    assert 1"})
    assert planted is not None
    inside, new = (entry.data.decode() for entry in planted.writes)
    assert inside.startswith("def test_a() -> None:\n    assert 1\n\n\ndef test_")
    assert new.startswith("def test_") and inside.endswith("\n") and not inside.endswith("\n\n")
    assert all(len(re.findall(r"\) -> None:\n    ", text)) >= 2 for text in (inside, new))


@pytest.mark.parametrize(
    ("text", "runner", "takes"),
    [
        ("", "pytest", True),
        ("pytestmark = pytest.mark.django_db\n", "pytest", True),
        ("pytestmark = [pytest.mark.unit, pytest.mark.timeout(3)]\n", "pytest", True),
        ("pytestmark = pytest.mark.skipif(X, reason='')\n", "pytest", False),
        ("pytestmark = [pytest.mark.unit, pytest.mark.parametrize('a', [1])]\n", "pytest", False),
        ("pytestmark = [pytest.mark.property, mark.slow]\n", "pytest", True),
        ("pytestmark = pytest.mark.asyncio\n", "pytest", False),
        ("pytestmark = pytest.mark.usefixtures('a')\n", "pytest", False),
        ("pytestmark = MARK\n", "pytest", False),
        ("if X:\n    pytestmark: object = pytest.mark.asyncio\n", "pytest", False),
        ("__test__ = False\n", "pytest", False),
        ("def f(:\n", "pytest", False),
        ("print 'two'\n", "unittest", False),
        ("x = '\\d'\n", "pytest", True),
        ("def load_tests(*a): ...\n", "unittest", False),
        ("def load_tests(loader, tests, _):\n    tests.addTests(X)\n    return tests\n", "unittest", True),
        ("def load_tests(loader, tests, _):\n    tests = X\n    return tests\n", "unittest", False),
        ("def load_tests(loader, tests, _):\n    return X\n", "unittest", False),
        ("load_tests = make()\n", "unittest", False),
        ("from other import load_tests\n", "unittest", False),
        ("pytestmark = pytest.mark.skipif(X, reason='')\n", "unittest", True),
    ],
)
def test_python_files_that_would_not_run_a_plain_test_are_left(text: str, runner: str, takes: bool) -> None:
    assert python.takes(text.encode(), runner) == takes


def test_a_file_that_is_left_has_canaries_beside_it() -> None:
    planted = planting("pytest a/test_a.py", {"a/test_a.py": "pytestmark = MARK\n"})
    assert planted is not None
    assert [entry.path != "a/test_a.py" for entry in planted.writes] == [True]


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ('import "testing"', True),
        ('import (\n\t"os"\n\n\t"testing" // why\n)', True),
        ('import T "testing"', False),
        ('import (\n\t. "testing"\n)', False),
        ('/*\nimport "testing"\n*/\nimport "os"', False),
        ('import "testing/quick"', False),
    ],
)
def test_go_files_must_import_testing_by_its_name(header: str, takes: bool) -> None:
    assert golang.takes(f"package a\n\n{header}\n\nfunc TestA(t *testing.T) {{}}\n".encode()) == takes


def test_a_go_file_beside_has_its_neighbours_package_and_constraints() -> None:
    text = '// Copyright\n\n//go:build linux && cgo\n// +build linux,cgo\n\npackage a_test\n\nimport T "testing"\n'
    planted = planting("go test ./a", {"a/a_test.go": text})
    assert planted is not None
    (entry,) = planted.writes
    assert entry.data.decode().startswith(
        '//go:build linux && cgo\n// +build linux,cgo\n\npackage a_test\n\nimport "testing"\n\nfunc Test'
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a('it(\"x\"')  // it(", "a('        ')         "),
        ("`a ${b ? `c` : '}'} d` + it", "`                     ` + it"),
        ("x = /['\"`]/g; y = a / b / c", "x =         g; y = a / b / c"),
        ("return /`/.test(x)", "return    .test(x)"),
        ("<p>don't</p>\nit", "<p>don't</p>\nit"),
        ("/* a\nb */ it", "    \n     it"),
        ("'a\\'b' it", "'    ' it"),
    ],
)
def test_only_code_is_left_of_a_script(text: str, code: str) -> None:
    found = scanner.code_of(text)
    assert found is not None and len(found) == len(text)
    assert re.sub(r"[ ]+", " ", found) == re.sub(r"[ ]+", " ", code)


@given(st.text(alphabet="`'\"/*${}\\\n it.(", max_size=60))
def test_whatever_a_script_holds_its_places_stay(text: str) -> None:
    found = scanner.code_of(text)
    assert found is None or (len(found) == len(text) and found.count("\n") == text.count("\n"))


def test_a_script_of_endless_templates_is_not_read() -> None:
    assert scanner.code_of("`${" * 5000 + "}`" * 5000) is None


@pytest.mark.parametrize("text", ["x = `a ${b", "/* a", "`${`}"])
def test_a_script_that_has_no_end_is_not_read(text: str) -> None:
    assert scanner.code_of(text) is None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("import test from 'node:test'", {("test", "default")}),
        ("import t, { it as spec, type X } from 'node:test'", {("t", "default"), ("spec", "it"), ("X", "X")}),
        ('import {\n  test,\n  it\n} from "node:test"', {("test", "test"), ("it", "it")}),
        ("import * as all from 'node:test'", {("all", "*")}),
        ("const { test: t } = require('node:test')", {("t", "test")}),
        ("const test = require('node:test')", {("test", "*")}),
        ("import type { it } from 'node:test'", set()),
        ("export { it } from 'node:test'", set()),
        ("  const { test } = require('node:test')", set()),
        ("`import { test } from 'node:test'`", set()),
        ("import('node:test')", set()),
    ],
)
def test_what_a_module_gives_is_known_by_its_local_name(line: str, found: set[tuple[str, str]]) -> None:
    code = scanner.code_of(line)
    assert code is not None
    assert {(one.local, one.imported) for one in scanner.bindings(line, code)} == found


@pytest.mark.parametrize(
    ("text", "runner", "call", "head"),
    [
        ("import test from 'node:test';\n", "node", "test", "import { test } from 'node:test';\n\n"),
        ('const { it } = require("node:test")\n', "node", "it", 'const { it } = require("node:test")\n\n'),
        ("const t = require('node:test');\n", "node", "t", "const { test: t } = require('node:test');\n\n"),
        (
            "import { describe } from 'node:test';\n",
            "node",
            "spare",
            "import { test as spare } from 'node:test';\n\n",
        ),
        ("it('a', () => {});\ntest('b', f);\nit('c', f);\n", "jest", "it", ""),
        ("const test = make();\n", "jest", "it", ""),
        (
            "import { test, expect } from '@jest/globals';\nexpect(1);\n",
            "jest",
            "test",
            "import { expect, test } from '@jest/globals';\n\n",
        ),
        (
            "import { test } from './own';\nimport { it } from './own';\n",
            "jest",
            "spare",
            "import { test as spare } from '@jest/globals';\n\n",
        ),
        ("test('a', () => {});\n", "vitest", "test", ""),
        (
            "import { check } from './own';\ncheck(1);\n",
            "vitest",
            "spare",
            "import { test as spare } from 'vitest';\n\n",
        ),
        ("'use strict';\n" + DESCRIBED, "mocha", "it", "'use strict';\n\n"),
        ("suite('a', () => { test('b', () => {}) })\n", "mocha", "test", ""),
        ("const suite = f;\nsuite('a', () => test('b', f))\n", "mocha", "it", ""),
        ("ruleTester.run('a', rule, { valid: [] });\n", "mocha", "it", ""),
        ("module.exports = (test) => { test('a', f) }\n", "mocha", "it", ""),
        ("import { it } from './own'\n" + DESCRIBED, "mocha", "specify", ""),
        (
            "import { it } from 'mocha'\nit('a', () => {})\n",
            "mocha",
            "it",
            "import { it } from 'mocha'\n\n",
        ),
    ],
)
def test_a_script_calls_what_its_file_calls(text: str, runner: str, call: str, head: str) -> None:
    found = style(text, runner)
    assert found is not None
    assert (found.call, found.head) == (call, head)


@pytest.mark.parametrize(
    ("text", "runner"),
    [
        ("suite('a', () => check('b', f))\n", "mocha"),
        ("suite('a', () => test('b', f))\nconst { test } = require('./own')\n", "mocha"),
        ("run(`a", "mocha"),
        ("run(`a", "node"),
        ("test('a', () => {})\n", "node"),
        ("const { check } = require('./own')\ncheck(1)\n", "vitest"),
    ],
)
def test_a_script_whose_functions_are_not_known_gets_none(text: str, runner: str) -> None:
    assert style(text, runner) is None


def test_a_script_that_can_not_be_read_has_canaries_beside_it_where_that_needs_no_knowledge() -> None:
    for runner, head in (("jest", ""), ("vitest", "import { test } from 'vitest';\n\n")):
        found = style("run(`a", runner)
        assert found is not None
        assert (found.head, found.inside) == (head, False)


@pytest.mark.parametrize(
    "text",
    [
        "it.only('a', f)\nit('b', f)\n",
        "fdescribe('a', f)\nit('b', f)\n",
        "beforeEach(() => { expect.hasAssertions() })\nit('b', f)\n",
    ],
)
def test_scripts_in_which_a_plain_test_would_not_pass_have_canaries_beside_them(text: str) -> None:
    planted = planting("npx jest", {"a.test.js": text})
    assert planted is not None
    assert [entry.path != "a.test.js" for entry in planted.writes] == [True]


def test_mocha_picks_tests_of_all_files_so_that_one_only_leaves_no_canary() -> None:
    hidden = {"test/a.js": DESCRIBED, "test/b.js": DESCRIBED.replace("describe(", "describe.only(")}
    assert planting("npx mocha test", hidden) is None


def test_a_script_keeps_the_manner_of_its_file() -> None:
    planted = planting("npx jest", {"a.test.js": 'test("a", () => {\n\tcheck("b")\n})\n// the end'})
    assert planted is not None
    inside, new = (entry.data.decode() for entry in planted.writes)
    added = inside.removeprefix('test("a", () => {\n\tcheck("b")\n})\n// the end\n\n')
    for text in (added, new):
        assert re.match(r'test\("[a-z ]+", \(\) => \{\n\tconst ', text)
        assert "'" not in text and not re.search(r";$", text, re.MULTILINE)


def test_a_typescript_file_beside_is_a_module_as_its_neighbour_is() -> None:
    text = "import { add } from './add';\n\ntest('a', () => { add(); });\n"
    for files, modular in (({"a.test.ts": text}, True), ({"a.test.js": text}, False)):
        planted = planting("npx jest", files)
        assert planted is not None
        assert planted.writes[-1].data.endswith(b"\nexport {};\n") == modular


@pytest.mark.parametrize(
    ("path", "runner", "pattern"),
    [
        ("t/test_a.py", "pytest", r"t/test_[a-z]+_[a-z]+\.py"),
        ("t/a_test.py", "pytest", r"t/[a-z]+_[a-z]+_test\.py"),
        ("t/tests.py", "django", r"t/test_[a-z]+_[a-z]+\.py"),
        ("a/x_test.go", "go", r"a/[a-z]+_[a-z]+_test\.go"),
        ("a.test.ts", "jest", r"[a-z]+-[a-z]+\.test\.ts"),
        ("a.unit.spec.tsx", "jest", r"[a-z]+-[a-z]+\.unit\.spec\.tsx"),
        ("MyThing.test.jsx", "jest", r"[A-Z][a-z]+[A-Z][a-z]+\.test\.jsx"),
        ("my_thing-test.js", "node", r"[a-z]+_[a-z]+-test\.js"),
        ("test-a.mjs", "node", r"test-[a-z]+-[a-z]+\.mjs"),
        ("test.js", "node", r"test-[a-z]+-[a-z]+\.js"),
        ("test.js", "jest", r"[a-z]+-[a-z]+\.test\.js"),
        ("__tests__/myThing.js", "jest", r"__tests__/[a-z]+[A-Z][a-z]+\.js"),
    ],
)
def test_a_file_beside_is_named_as_its_neighbour_is(path: str, runner: str, pattern: str) -> None:
    assert re.fullmatch(pattern, beside(path, runner, choices(), ()))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\n", b"a\n\nb\nc\n"),
        (b"a", b"a\n\nb\nc\n"),
        (b"a\r\nx\r\n", b"a\r\nx\r\n\r\nb\r\nc\r\n"),
        (b"\xff\xfea\n", b"\xff\xfea\n\nb\nc\n"),
    ],
)
def test_the_files_own_bytes_and_line_ends_stay(data: bytes, expected: bytes) -> None:
    assert append(data, "b\nc\n", 1) == expected


def test_a_mode_stays_and_a_new_file_is_a_plain_one() -> None:
    hidden = entries({"t/test_a.py": "X = 1\n"})
    writer = Writer("pytest", choices(), True)
    assert writer.inside(hidden["t/test_a.py"]) is not None
    planted = planting("pytest t/test_a.py", {"t/test_a.py": "X = 1\n"})
    assert planted is not None
    assert {entry.mode for entry in planted.writes} == {0o100644}
