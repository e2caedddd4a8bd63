"""jest, vitest, mocha, Node's own runner, ava, tap, tape and qunit."""

from __future__ import annotations

from collections.abc import Callable

from project import Project, Run

CALC = "test/calc.test.js"
OTHER = "test/other.test.js"
_OLD = "const add = (a, b) => a - b;\n"
_NEW = "const add = (a, b) => a + b;\nconst twice = (a) => 2 * a;\n"
COMMON = (
    {"calc.js": f"{_OLD}module.exports = {{ add }};\n"},
    {"calc.js": f"{_NEW}module.exports = {{ add, twice }};\n"},
)
MODULES = ({"calc.js": f"{_OLD}export {{ add }};\n"}, {"calc.js": f"{_NEW}export {{ add, twice }};\n"})
PACKAGE = '{"name": "calc", "version": "1.0.0"}\n'
MODULE_PACKAGE = '{"name": "calc", "version": "1.0.0", "type": "module"}\n'
# Titles that a report must carry, each a test's name. A lone surrogate is legal in JavaScript's strings.
TITLES = (
    r"""["a b", "a/b", "a > b", "é", "\u2028", "line\nbreak", "\x1b[31mred", "\x00", "\ud800", "same", "same","""
    r""" "# todo", "x".repeat(10240)]"""
)


def _common(head: str, suite: Callable[[str], str]) -> dict[str, str]:
    """Texts of a CommonJS runner. `suite` wraps lines of tests; `head` brings `test` and `equal` into view."""
    uses = "const { add } = require('../calc.js');\n"
    two = "test('adds', () => equal(add(2, 2), 4));\ntest('stays', () => equal(add(1, 0), 1));\n"
    return {
        "hidden": head + uses + suite(two),
        "broken": head + "require('../twice.js');\n" + uses + suite(two),
        "lacking": head + "require('nowhere-to-be-found');\n" + uses + suite(two),
        "exits": head + suite("test('adds', () => {});\ntest('stays', () => { process.exit(0); });\n"),
    }


def _suite(lines: str) -> str:
    return f"describe('calc', () => {{\n{lines}}});\n"


def _plain(lines: str) -> str:
    return lines


def _project(
    runner: str,
    command: str,
    texts: dict[str, str],
    *,
    none: str,
    crash: Run,
    states: tuple[dict[str, str], dict[str, str]] = COMMON,
    package: str = PACKAGE,
    files: dict[str, str] | None = None,
) -> Project:
    own = f"{command} {CALC}"
    other = {OTHER: texts["hidden"].replace("adds", "also")}
    twice = {"twice.js": "" if package == PACKAGE else "export const twice = (a) => 2 * a;\n"}
    return Project(
        runner=runner,
        hidden=CALC,
        files={"package.json": package, CALC: texts["hidden"], **(files or {})},
        old=states[0],
        new={**states[1], **twice},
        runs={
            "base": Run(own, "old"),
            "good": Run(own),
            "broken": Run(own, "old", {CALC: texts["broken"]}),
            "mended": Run(own, "new", {CALC: texts["broken"]}),
            "none": Run(none),
            "absent": Run(f"{command} test/nope.test.js"),
            "skipped": Run(own, "new", {CALC: texts["skipped"]}),
            "other-base": Run(f"{command} {OTHER}", "old", other),
            "other-good": Run(f"{command} {OTHER}", "new", other),
            "gone": Run(own, bare=True) if runner != "node" else Run(own.replace("node", "nodejs99", 1)),
            "crash": crash,
            "lacking": Run(own, "new", {CALC: texts["lacking"]}),
            "exits": Run(own, "new", {CALC: texts["exits"]}),
            "odd": Run(own, "new", {CALC: texts["odd"]}),
        },
    )


_BAD = "throw new Error('a broken configuration');\n"

_JEST_HEAD = "const equal = (a, b) => expect(a).toBe(b);\n"
_JEST_ODD = (
    "jest.retryTimes(2);\nlet tries = 0;\n"
    + _suite(
        f"for (const title of {TITLES}) test(title, () => {{}});\n"
        "test('fails', () => { throw new Error('no \\x00 \\x1b[31m \\ud800'); });\n"
        "test.skip('skipped', () => {});\ntest.todo('later');\n"
        "test.failing('expected', () => { throw new Error('known'); });\n"
        "test.failing('unexpected', () => {});\n"
        "test('retried', () => { tries += 1; expect(tries).toBe(2); });\n"
    )
    + "describe('torn', () => { afterEach(() => { throw new Error('torn'); }); test('down', () => {}); });\n"
    + "describe('torn all', () => { afterAll(() => { throw new Error('torn'); }); test('down', () => {}); });\n"
)
JEST = _project(
    "jest",
    "npx --no-install jest",
    {
        **_common(_JEST_HEAD, _suite),
        "skipped": "test.skip('adds', () => {});\n",
        "odd": _JEST_ODD,
    },
    none=f"npx --no-install jest {CALC} -t zzz",
    crash=Run(f"npx --no-install jest {CALC}", "new", {"jest.config.js": _BAD}),
)

_VITEST_HEAD = "import { test, describe, expect, afterEach } from 'vitest';\n"
_VITEST_ODD = (
    _VITEST_HEAD
    + "let tries = 0;\n"
    + _suite(
        f"for (const title of {TITLES}) test(title, () => {{}});\n"
        "test('fails', () => { throw new Error('no \\x00 \\x1b[31m'); });\n"
        "test.skip('skipped', () => {});\ntest.todo('later');\n"
        "test.fails('expected', () => { throw new Error('known'); });\n"
        "test.fails('unexpected', () => {});\n"
        "test('retried', { retry: 2 }, () => { tries += 1; expect(tries).toBe(2); });\n"
    )
    + "describe('torn', () => { afterEach(() => { throw new Error('torn'); }); test('down', () => {}); });\n"
)


def _modules(head: str, body: str, uses: str = "import { add } from '../calc.js';\n") -> dict[str, str]:
    return {
        "hidden": head + uses + body,
        "broken": head + "import { twice } from '../twice.js';\n" + uses + body + "void twice;\n",
        "lacking": head + "import 'nowhere-to-be-found';\n" + uses + body,
    }


VITEST = _project(
    "vitest",
    "npx --no-install vitest run",
    {
        **_modules(
            _VITEST_HEAD,
            _suite(
                "test('adds', () => expect(add(2, 2)).toBe(4));\ntest('stays', () => expect(add(1, 0)).toBe(1));\n"
            ),
        ),
        "skipped": f"{_VITEST_HEAD}test.skip('adds', () => {{}});\n",
        "exits": f"{_VITEST_HEAD}test('adds', () => {{}});\ntest('stays', () => {{ process.reallyExit(0); }});\n",
        "odd": _VITEST_ODD,
    },
    none=f"npx --no-install vitest run {CALC} -t zzz",
    crash=Run(f"npx --no-install vitest run {CALC}", "new", {"vitest.config.js": _BAD}),
    states=MODULES,
    package=MODULE_PACKAGE,
)

_ASSERT = "const equal = require('assert').strictEqual;\n"
_MOCHA_HEAD = f"{_ASSERT}const test = it;\n"
MOCHA = _project(
    "mocha",
    "npx --no-install mocha",
    {
        **_common(_MOCHA_HEAD, _suite),
        "skipped": "it.skip('adds', () => {});\n",
        "odd": "let tries = 0;\n"
        + _suite(
            f"for (const title of {TITLES}) it(title, () => {{}});\n"
            "it('fails', () => { throw new Error('no \\x00 \\x1b[31m \\ud800'); });\n"
            "it.skip('skipped', () => {});\nit('later');\n"
            "it('skips itself', function () { this.skip(); });\n"
            "it('retried', function () { this.retries(2); tries += 1; if (tries < 2) throw new Error('again'); });\n"
        )
        + "describe('torn', () => { afterEach(() => { throw new Error('torn'); }); it('down', () => {}); });\n",
    },
    none=f"npx --no-install mocha {CALC} -g zzz",
    crash=Run(f"npx --no-install mocha {CALC}", "new", {".mocharc.js": _BAD}),
)

_NODE_HEAD = f"const {{ test, describe, it, afterEach }} = require('node:test');\n{_ASSERT}"
NODE_TEST = _project(
    "node",
    "node --test",
    {
        **_common(_NODE_HEAD, _suite),
        "skipped": f"{_NODE_HEAD}test('adds', {{ skip: 'not here' }}, () => {{}});\n",
        "odd": _NODE_HEAD
        + _suite(
            f"for (const title of {TITLES}) it(title, () => {{}});\n"
            "it('fails', () => { throw new Error('no \\x00 \\x1b[31m'); });\n"
            "it.skip('skipped', () => {});\nit.todo('later', () => { throw new Error('known'); });\n"
            "it.todo('done', () => {});\n"
        )
        + "test('parent', async (t) => { await t.test('child', () => { throw new Error('no'); }); });\n"
        + "describe('torn', () => { afterEach(() => { throw new Error('torn'); }); it('down', () => {}); });\n",
    },
    none=f"node --test --test-name-pattern=zzz {CALC}",
    crash=Run(f"node --require ./setup.js --test {CALC}", "new", {"setup.js": _BAD}),
)

_AVA_HEAD = "import test from 'ava';\n"
AVA = _project(
    "ava",
    "npx --no-install ava",
    {
        **_modules(
            _AVA_HEAD,
            "test('adds', (t) => t.is(add(2, 2), 4));\ntest('stays', (t) => t.is(add(1, 0), 1));\n",
        ),
        "skipped": f"{_AVA_HEAD}test.skip('adds', (t) => t.pass());\n",
        "exits": f"{_AVA_HEAD}test('adds', (t) => t.pass());\ntest('stays', () => {{ process.exit(0); }});\n",
        "odd": _AVA_HEAD
        + "for (const title of ['a b', 'a/b', 'é', 'line\\nbreak', '\\x1b[31mred', '# todo', 'x'.repeat(10240)])"
        " test(title, (t) => t.pass());\n"
        "test('fails', (t) => t.fail('no \\x1b[31m'));\ntest.skip('skipped', (t) => t.pass());\ntest.todo('later');\n"
        "test.failing('expected', (t) => t.fail());\ntest.failing('unexpected', (t) => t.pass());\n"
        "test.afterEach(() => { throw new Error('torn'); });\n",
    },
    none=f"npx --no-install ava {CALC} --match zzz",
    crash=Run(f"npx --no-install ava {CALC}", "new", {"ava.config.js": _BAD}),
    states=MODULES,
    package=MODULE_PACKAGE,
)

_TAP_HEAD = "const t = require('tap');\nconst test = (name, body) => t.test(name, async (t) => body(t));\n"
_TAP_BODY = "test('adds', (t) => t.equal(add(2, 2), 4));\ntest('stays', (t) => t.equal(add(1, 0), 1));\n"
_TAP_TEXTS = {
    **_common(_TAP_HEAD, _plain),
    "hidden": f"{_TAP_HEAD}const {{ add }} = require('../calc.js');\n{_TAP_BODY}",
    "broken": f"{_TAP_HEAD}require('../twice.js');\nconst {{ add }} = require('../calc.js');\n{_TAP_BODY}",
    "lacking": f"{_TAP_HEAD}require('nowhere-to-be-found');\nconst {{ add }} = require('../calc.js');\n{_TAP_BODY}",
    "skipped": "const t = require('tap');\nt.test('adds', { skip: 'not here' }, async () => {});\n",
    "odd": _TAP_HEAD
    + "for (const title of ['a b', 'a/b', 'é', 'line\\nbreak', '\\x1b[31mred', '# todo', 'x'.repeat(10240)])"
    " test(title, (t) => t.pass());\n"
    "test('fails', (t) => t.fail('no \\x1b[31m'));\nt.test('skipped', { skip: true }, async () => {});\n"
    "t.test('later', { todo: true }, async () => {});\nt.test('known', async (t) => t.fail('bad', { todo: true }));\n"
    "t.teardown(() => { throw new Error('torn'); });\n",
}
TAP = _project(
    "tap",
    "npx --no-install tap --disable-coverage",
    _TAP_TEXTS,
    none=f"npx --no-install tap --disable-coverage {CALC} --grep=zzz",
    crash=Run(f"npx --no-install tap --disable-coverage {CALC}", "new", {".taprc": "no-such-option: true\n"}),
)

_TAPE_HEAD = "const test = require('tape');\n"
_TAPE_BODY = (
    "test('adds', (t) => { t.equal(add(2, 2), 4); t.end(); });\n"
    "test('stays', (t) => { t.equal(add(1, 0), 1); t.end(); });\n"
)
TAPE = _project(
    "tape",
    "npx --no-install tape",
    {
        "hidden": f"{_TAPE_HEAD}const {{ add }} = require('../calc.js');\n{_TAPE_BODY}",
        "broken": f"{_TAPE_HEAD}require('../twice.js');\nconst {{ add }} = require('../calc.js');\n{_TAPE_BODY}",
        "lacking": f"{_TAPE_HEAD}require('nowhere-to-be-found');\n"
        f"const {{ add }} = require('../calc.js');\n{_TAPE_BODY}",
        "skipped": f"{_TAPE_HEAD}test('adds', {{ skip: true }}, (t) => t.end());\n",
        "exits": f"{_TAPE_HEAD}test('adds', (t) => {{ t.pass(); t.end(); }});\n"
        "test('stays', () => process.reallyExit(0));\n",
        "odd": _TAPE_HEAD
        + "for (const title of ['a b', 'a/b', 'é', 'line\\nbreak', '\\x1b[31mred', '# todo', 'x'.repeat(10240)])"
        " test(title, (t) => { t.pass(); t.end(); });\n"
        "test('fails', (t) => { t.fail('no \\x1b[31m'); t.end(); });\n"
        "test('skipped', { skip: true }, (t) => t.end());\n"
        "test('known', { todo: true }, (t) => { t.fail('bad'); t.end(); });\n",
    },
    none="npx --no-install tape 'test/zzz*.js'",
    crash=Run(f"npx --no-install tape -r ./setup.js {CALC}", "new", {"setup.js": _BAD}),
)

_QUNIT_HEAD = "const test = (name, body) => QUnit.test(name, body);\n"
_QUNIT_BODY = (
    "QUnit.module('calc');\n"
    "test('adds', (assert) => assert.equal(add(2, 2), 4));\ntest('stays', (assert) => assert.equal(add(1, 0), 1));\n"
)
QUNIT = _project(
    "qunit",
    "npx --no-install qunit",
    {
        "hidden": f"{_QUNIT_HEAD}const {{ add }} = require('../calc.js');\n{_QUNIT_BODY}",
        "broken": f"{_QUNIT_HEAD}require('../twice.js');\nconst {{ add }} = require('../calc.js');\n{_QUNIT_BODY}",
        "lacking": f"{_QUNIT_HEAD}require('nowhere-to-be-found');\n"
        f"const {{ add }} = require('../calc.js');\n{_QUNIT_BODY}",
        "skipped": "QUnit.skip('adds', () => {});\n",
        "exits": f"{_QUNIT_HEAD}test('adds', (assert) => assert.ok(true));\n"
        "test('stays', () => process.reallyExit(0));\n",
        "odd": "const torn = () => QUnit.config.current.testName === 'down';\n"
        "QUnit.module('calc', { afterEach() { if (torn()) throw new Error('torn'); } });\n"
        "for (const title of ['a b', 'a/b', 'é', 'line\\nbreak', '\\x1b[31mred', '# todo', 'x'.repeat(10240)])"
        " QUnit.test(title, (assert) => assert.ok(true));\n"
        "QUnit.test('fails', (assert) => assert.ok(false, 'no \\x1b[31m'));\nQUnit.skip('skipped', () => {});\n"
        "QUnit.todo('known', (assert) => assert.ok(false));\nQUnit.todo('done', (assert) => assert.ok(true));\n"
        "QUnit.test('down', (assert) => assert.ok(true));\n",
    },
    none=f"npx --no-install qunit {CALC} --filter zzz",
    crash=Run(f"npx --no-install qunit --require ./setup.js {CALC}", "new", {"setup.js": _BAD}),
)

NODE = (JEST, VITEST, MOCHA, NODE_TEST, AVA, TAP, TAPE, QUNIT)
