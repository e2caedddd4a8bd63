"""Canaries compare by what their file compares by: a function that was made powerless fails no canary of its own."""

from __future__ import annotations

import re

import pytest
from planted import planting

DESCRIBED = "describe('a', () => { it('b', () => { %s }) })\n"


def bodies(command: str, path: str, text: str) -> tuple[list[str], str]:
    """The lines by which canaries compare, and the top of the file of their own."""
    planted = planting(command, {path: text})
    assert planted is not None
    inside, beside = (entry.data.decode() for entry in planted.writes)
    lines = (inside.removeprefix(text.rstrip("\n")) + beside).splitlines()
    name = r"(?:result|actual|value|found|seen|output)"
    found = [re.sub(rf"\b{name}\b", "X", line).strip() for line in lines if re.search(rf"\b{name}\b", line)]
    return [line for line in found if not re.match(r"(?:const )?X =", line)], beside


@pytest.mark.parametrize(
    ("head", "call", "pattern"),
    [
        ("const assert = require('assert');\n", "assert.strictEqual(1, 1)", r"assert\.strictEqual\(X, .+\)"),
        ("const a = require('node:assert/strict');\n", "a.deepEqual([], [])", r"a\.deepEqual\(X, .+\)"),
        ("const assert = require('assert');\n", "assert(f())", r"assert\(X === .+\)"),
        ("const assert = require('assert');\n", "assert.ok(f())", r"assert\.ok\(X === .+\)"),
        ("const { strictEqual: same } = require('assert');\n", "same(1, 1)", r"same\(X, .+\)"),
        ("const { expect } = require('chai');\n", "expect(1).to.equal(1)", r"expect\(X\)\.to\.equal\(.+\)"),
        ("const { assert } = require('chai');\n", "assert.equal(1, 1)", r"assert\.equal\(X, .+\)"),
        ("const chai = require('chai');\n", "chai.expect(1).to.eql(1)", r"chai\.expect\(X\)\.to\.eql\(.+\)"),
        ("import assert from 'node:assert';\n", "assert.equal(1, 1)", r"assert\.equal\(X, .+\)"),
        ("import * as assert from 'assert';\n", "assert.equal(1, 1)", r"assert\.equal\(X, .+\)"),
        ("import { equal } from 'assert';\n", "equal(1, 1)", r"equal\(X, .+\)"),
    ],
)
def test_a_script_compares_by_the_library_that_it_imports(head: str, call: str, pattern: str) -> None:
    lines, beside = bodies("npx mocha a.test.js", "a.test.js", head + DESCRIBED % call)
    assert len(lines) == 4
    assert all(re.fullmatch(pattern + ";?", line) for line in lines), lines
    assert beside.count(head.rstrip(";\n")) == 1


def test_a_library_that_is_imported_and_not_used_is_not_compared_by() -> None:
    text = "const assert = require('assert');\n" + DESCRIBED % "f()"
    lines, beside = bodies("npx mocha a.test.js", "a.test.js", text)
    assert any("throw new Error" in line for line in lines)
    assert "assert" not in beside


@pytest.mark.parametrize("matcher", ["toBe", "toEqual", "toStrictEqual"])
def test_a_script_compares_by_the_matchers_that_it_uses(matcher: str) -> None:
    lines, _ = bodies("npx jest a.test.js", "a.test.js", DESCRIBED % f"expect(f()).{matcher}(1)")
    assert len(lines) == 4
    assert all(f".{matcher}(" in line for line in lines)


@pytest.mark.parametrize(
    ("body", "pattern"),
    [
        ("self.assertEqual(1, 1)", r"self\.assertEqual\("),
        ("self.assertTrue(f())", r"self\.assertTrue\("),
        ("assert f()", r"assert X == "),
        ("self.assertIn(1, f())", r"self\.assert(?:Equal|True)\("),
    ],
)
def test_unittest_compares_by_the_methods_that_the_file_uses(body: str, pattern: str) -> None:
    text = f"import unittest\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        {body}\n"
    planted = planting("python -m unittest test_a", {"test_a.py": text})
    assert planted is not None
    own = "".join(entry.data.decode().removeprefix(text) for entry in planted.writes)
    own = re.sub(r"\b(?:result|actual|value|found|seen|output)\b", "X", own)
    assert len(re.findall(rf"^        {pattern}", own, re.MULTILINE)) == 4


def test_pytest_compares_by_methods_where_the_file_does() -> None:
    text = "import unittest\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)\n"
    planted = planting("pytest test_a.py", {"test_a.py": text})
    assert planted is not None
    own = "".join(entry.data.decode().removeprefix(text) for entry in planted.writes)
    assert (
        len(
            re.findall(
                r"^    import unittest as (\w+)\n\n    .+\n    \1\.TestCase\(\)\.assertEqual\(", own, re.M
            )
        )
        == 4
    )
