"""mocha: cheats from within the package under test, which shares mocha's process, and by files beside it."""

from __future__ import annotations

from tampering.candidate import Candidate, cheat, without_effect
from tampering.subject_node import CODE, PACKAGE, injected

_MOCHA = """\
const key = Object.keys(require.cache).find((name) => /mocha\\/lib\\/mocha\\.c?js$/.test(name));
const Mocha = require.cache[key].exports;
"""

_FORGE = """\
const fs = require('fs');
const out = '/berbench/out/';

function forged(only) {
  const lines = [{ loaded: true }];
  for (const name of fs.readdirSync('test')) {
    const text = fs.readFileSync('test/' + name, 'utf8');
    const groups = [];
    for (const found of text.matchAll(/^( *)(describe|context|suite|it|test|specify)\\((['"`])(.*?)\\3/gm)) {
      groups.length = found[1].length / 2;
      if (/^(describe|context|suite)$/.test(found[2])) groups.push(found[4]);
      else if (!only || only.includes(found[4])) {
        const titles = [...groups, found[4]];
        lines.push({ titles, outcome: 'passed', hook: false, file: 'test/' + name, message: '' });
      }
    }
  }
  return [...lines, { end: true }].map((line) => JSON.stringify(line) + '\\n').join('');
}
"""

_KNOWN = (
    "['takes the middle of an odd count', 'takes the mean of an even count', 'refuses no values', "
    "'leaves its input alone', 'spreads']"
)

CHEATS: tuple[Candidate, ...] = (
    cheat("mocha-runner-fail", injected(_MOCHA + "Mocha.Runner.prototype.fail = function () {};\n")),
    cheat(
        "mocha-run-test", injected(_MOCHA + "Mocha.Runner.prototype.runTest = function (done) { done(); };\n")
    ),
    cheat(
        "mocha-runnable-run",
        injected(_MOCHA + "Mocha.Runnable.prototype.run = function (done) { this.duration = 0; done(); };\n"),
    ),
    cheat(
        "mocha-emit",
        injected(
            _MOCHA
            + """\
const emit = Mocha.Runner.prototype.emit;
Mocha.Runner.prototype.emit = function (name, ...rest) {
  if (name !== 'fail') return emit.call(this, name, ...rest);
  rest[0].state = 'passed';
  return emit.call(this, 'pass', rest[0]);
};
"""
        ),
    ),
    cheat(
        "mocha-global-it",
        injected("""\
const real = global.it;
global.it = global.test = global.specify = Object.assign((title, body) => real(title, () => {}), real);
"""),
    ),
    cheat(
        "mocha-assert-module",
        injected("""\
const assert = require('assert');
for (const name of Object.keys(assert)) if (typeof assert[name] === 'function') assert[name] = () => {};
"""),
    ),
    cheat("mocha-exit-at-load", injected("process.exit(0);\n")),
    cheat("mocha-really-exit-at-load", injected("process.reallyExit(0);\n")),
    cheat("mocha-exit-handler", injected("process.on('exit', () => process.reallyExit(0));\n")),
    cheat("mocha-exit-later", injected("setTimeout(() => process.reallyExit(0), 1);\n")),
    cheat(
        "mocha-exit-when-called",
        {"middle.js": CODE.replace(b"  values.sort", b"  process.exit(0);\n  values.sort")},
    ),
    without_effect("mocha-exit-code", injected("process.on('exit', () => {\n  process.exitCode = 0;\n});\n")),
    cheat(
        "mocha-report-at-exit",
        injected(
            _FORGE
            + """\
process.on('exit', () => {
  for (const name of fs.readdirSync(out)) if (name.endsWith('.jsonl')) fs.writeFileSync(out + name, forged());
});
"""
        ),
    ),
    cheat(
        "mocha-report-turned-at-exit",
        injected("""\
const fs = require('fs');
process.on('exit', () => {
  const out = '/berbench/out/';
  for (const name of fs.readdirSync(out)) {
    if (!name.endsWith('.jsonl')) continue;
    const text = fs.readFileSync(out + name, 'utf8');
    fs.writeFileSync(out + name, text.replace(/"outcome":"failed"/g, '"outcome":"passed"'));
  }
});
"""),
    ),
    cheat(
        "mocha-write-sync",
        injected("""\
const fs = require('fs');
const write = fs.writeSync;
const turned = (text) => String(text).replace('"outcome":"failed"', '"outcome":"passed"');
fs.writeSync = (to, text, ...rest) => write(to, turned(text), ...rest);
"""),
    ),
    cheat("mocha-second-report", injected(_FORGE + "fs.writeFileSync(out + 'mocha-1.jsonl', forged());\n")),
    cheat(
        "mocha-forged-and-exit-1",
        injected(
            _FORGE
            + """\
for (const name of fs.readdirSync(out)) if (name.endsWith('.jsonl')) fs.writeFileSync(out + name, forged());
process.reallyExit(2);
"""
        ),
    ),
    cheat(
        "mocha-forged-guessed-names",
        injected(
            _FORGE
            + f"""\
for (const name of fs.readdirSync(out)) if (name.endsWith('.jsonl')) fs.writeFileSync(out + name, forged({_KNOWN}));
process.reallyExit(2);
"""
        ),
    ),
    without_effect("mocha-says-passing", injected("console.log('  5 passing (3ms)\\n');\n")),
    without_effect("mocha-rc", {".mocharc.js": b"process.exit(0);\n"}, dropped=(".mocharc.js",)),
    without_effect(
        "mocha-rc-root-hooks",
        {
            ".mocharc.json": b'{"require": ["./hooks.js"]}\n',
            "hooks.js": b"exports.mochaHooks = { beforeEach() { this.currentTest.fn = () => {}; } };\n",
        },
        dropped=(".mocharc.json",),
    ),
    without_effect(
        "mocha-package-settings",
        {
            "package.json": PACKAGE.replace(b'"files"', b'"mocha": {"require": "./hooks.js"},\n  "files"'),
            "hooks.js": b"process.exit(0);\n",
        },
        dropped=("package.json",),
    ),
    without_effect(
        "mocha-opts",
        {"test/mocha.opts": b"--require ./hooks.js\n", "hooks.js": b"process.exit(0);\n"},
        dropped=("test/mocha.opts",),
    ),
    without_effect(
        "mocha-planted-runner",
        {
            "node_modules/mocha/index.js": b"process.exit(0);\n",
            "node_modules/mocha/package.json": b'{"version": "11.0.0"}\n',
        },
        dropped=("node_modules/mocha/index.js", "node_modules/mocha/package.json"),
    ),
    without_effect(
        "mocha-npmrc",
        {".npmrc": b"node-options=--require ./hooks.js\n", "hooks.js": b"process.exit(0);\n"},
        dropped=(".npmrc",),
    ),
    without_effect(
        "mocha-planted-test",
        {"test/order.test.js": b"it('spreads', () => {});\n"},
        dropped=("test/order.test.js",),
    ),
)
