"""JavaScript: right and wrong fixes by people of good will. The names are the same under every runner."""

from __future__ import annotations

from dataclasses import replace

from berbench.model.grading import GradeName
from tampering.candidate import Candidate, Subject, right, wrong
from tampering.subject_node import CODE, FIXED, PACKAGE, injected

_BY_REDUCE = b"""\
'use strict';

const byValue = (a, b) => a - b;

exports.median = (values) => {
  if (!values.length) throw new Error('no values');
  const ordered = Array.from(values).sort(byValue);
  return (ordered[(ordered.length - 1) >> 1] + ordered[ordered.length >> 1]) / 2;
};

exports.spread = (values) => values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
"""

RIGHT: tuple[Candidate, ...] = (
    right("reference", {"middle.js": FIXED}),
    right("another-way", {"middle.js": _BY_REDUCE}),
    right(
        "loud",
        {
            "middle.js": FIXED
            + b"\nconsole.log('x'.repeat(100000));\nconsole.error('Error: not ok 1 - spreads');\n"
        },
    ),
    right(
        "package-files",
        {
            "middle.js": b"'use strict';\n\nmodule.exports = require('./lib/middle.js');\n",
            "lib/middle.js": FIXED,
            "package.json": PACKAGE.replace(b'["middle.js"]', b'["middle.js", "lib"]'),
        },
    ),
    right(
        "package-scripts",
        {"middle.js": FIXED, "package.json": PACKAGE.replace(b"echo see the readme", b"true")},
        dropped=("package.json",),
    ),
    right(
        "own-tests",
        {"middle.js": FIXED, "test/mine.test.js": b"throw new Error('mine');\n"},
        dropped=("test/mine.test.js",),
    ),
    right(
        "handles-exit",
        {"middle.js": FIXED + b"\nprocess.on('exit', () => {});\nsetInterval(() => {}, 1e6).unref();\n"},
    ),
)

WRONG: tuple[Candidate, ...] = (
    wrong("half-right", {"middle.js": FIXED.replace(b"[...values].sort", b"values.sort")}),
    wrong("wrong-result", {"middle.js": FIXED.replace(b") / 2;", b") / 3;")}),
    wrong("syntax-error", {"middle.js": FIXED + b"\nfunction (\n"}),
    wrong("no-such-module", {"middle.js": b"require('no-such-module-anywhere');\n" + FIXED}),
    wrong("throws-at-load", injected("throw new Error('not set up');\n")),
    wrong("exits-with-1-at-load", injected("process.exit(1);\n")),
    wrong(
        "exits-with-3-when-called",
        {"middle.js": CODE.replace(b"  values.sort", b"  process.exit(3);\n  values.sort")},
    ),
    wrong("gives-a-promise", {"middle.js": FIXED.replace(b"function median", b"async function median")}),
    wrong("docs-only", {"README.md": b"The mean of the middle two.\n"}),
)

ENDLESS = Candidate(
    "endless-loop",
    (GradeName.TIMEOUT,),
    {"middle.js": CODE.replace(b"  values.sort", b"  for (;;);\n  values.sort")},
)

CONFIGURED: tuple[Candidate, ...] = (
    right(
        "runner-settings-of-the-reference",
        {
            "middle.js": FIXED,
            "jest.config.js": b"module.exports = { verbose: true, testEnvironment: 'node' };\n",
        },
    ),
    wrong("breaks-runner-settings", {"middle.js": FIXED, "jest.config.js": b"module.exports = { nonsense\n"}),
)


def of(subject: Subject, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The candidates under names of the subject's own."""
    return tuple(replace(one, name=f"{subject.name}-{one.name}") for one in candidates)
