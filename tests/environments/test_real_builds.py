"""Drafts build real images of small trees, old and new, and their tests run without a network."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from hashlib import sha256

import pytest

from berbench.engine.docker_engine import DockerEngine
from berbench.environments import draft, recipe
from berbench.model.changes import REGULAR, Delta, FileEntry, LandedBy, Snapshot
from berbench.model.task import Source, Task
from berbench.model.trial import Build, Facts, Trial

pytestmark = pytest.mark.docker

TEST = "from pathlib import Path\nimport pytest\nimport me\n\ndef test_a() -> None:\n    assert me.answer() == 42\n"
MODERN = {
    "pyproject.toml": "[build-system]\nrequires = ['setuptools>=64', 'setuptools-scm']\n"
    "build-backend = 'setuptools.build_meta'\n[project]\nname = 'me'\ndynamic = ['version']\n"
    "dependencies = ['iniconfig']\n[dependency-groups]\ntests = ['pytest', 'pretend']\n"
    "[tool.setuptools_scm]\n[tool.pytest.ini_options]\naddopts = '-p no:randomly'\n",
    "src/me/__init__.py": "import iniconfig\n\ndef answer():\n    return 42\n",
    "tests/test_me.py": "import pretend\n" + TEST,
}
OLD = {
    "setup.py": "from setuptools import setup\nsetup(name='me', version='1', py_modules=['me'])\n",
    "tox.ini": "[testenv]\ndeps =\n    pytest\n    six\n",
    "me.py": "from collections import Mapping\nimport six\n\ndef answer():\n    return 42\n",
    "tests/test_me.py": TEST,
}
NODE = {
    "package.json": '{"name": "me", "version": "1.0.0", "main": "index.js", "scripts": {"test": "mocha"},'
    ' "devDependencies": {"mocha": "^9.0.0"}}',
    "index.js": "module.exports = () => 42;\n",
    "test/me.test.js": "const assert = require('assert');\n"
    "it('answers', () => assert.strictEqual(require('..')(), 42));\n",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[DockerEngine]:
    engine = DockerEngine()
    yield engine
    engine.close()


def build(engine: DockerEngine, files: dict[str, str], landed: datetime, version: str = "") -> Build:
    entries = tuple(FileEntry(path, REGULAR, text.encode()) for path, text in files.items())
    made = draft(
        Snapshot(tuple(files), {entry.path: entry.data for entry in entries}),
        base_image="berbench/base",
        today=date(2026, 1, 1),
    )
    source = Source(
        base_commit="b" * 40,
        landing_commit="c" * 40,
        landed_by=LandedBy.MERGE,
        landed_at=landed,
        version=version,
    )
    tree = sha256(repr(sorted(files.items())).encode()).hexdigest()[:40]
    wanted = recipe(Task(id="1", source=source), made.dockerfile.encode(), tree, {})
    return engine.build(wanted, lambda: entries, timeout_s=600, say=lambda _: None)


def trial(engine: DockerEngine, built: Build, command: str) -> Facts:
    assert built.image is not None, built.log[-3000:]
    try:
        return engine.run(Trial("base", "1", built.image, Delta(), command, 120))
    finally:
        for left in engine.leftovers():
            if left.kind == "image" and left.key == built.image.key:
                engine.remove(left)


def test_a_project_of_now_is_installed_editable_with_its_groups_and_version(engine: DockerEngine) -> None:
    built = build(engine, MODERN, datetime(2024, 3, 1, tzinfo=UTC), "v1.4.0")
    command = "python -m pytest -q && python -c \"import importlib.metadata as m; print(m.version('me'))\" && id -un"
    facts = trial(engine, built, command)
    log = facts.log.decode()
    assert facts.exit_code == 0, log
    assert "1 passed" in log
    assert "1.4.0" in log
    assert "berbench" in log  # not root


def test_N02_packages_are_those_of_the_landing(engine: DockerEngine) -> None:
    built = build(engine, MODERN, datetime(2024, 3, 1, tzinfo=UTC))
    facts = trial(engine, built, "python -m pytest --version")
    assert "pytest 8.0.2" in facts.log.decode()  # 8.1.0 came two days later


def test_a_tree_older_than_the_interpreter_runs_on_later_tools(engine: DockerEngine) -> None:
    built = build(engine, OLD, datetime(2017, 6, 1, tzinfo=UTC))
    assert "NOTE: names that Python 3.10 and 3.11 moved are put back" in built.log
    assert "not all of the landing" in built.log
    facts = trial(engine, built, "python -m pytest -q")
    assert facts.exit_code == 0, facts.log.decode()


def test_a_node_project_gets_the_node_of_its_day(engine: DockerEngine) -> None:
    built = build(engine, NODE, datetime(2021, 8, 1, tzinfo=UTC))
    facts = trial(engine, built, "node --version && npx --no-install mocha test/me.test.js")
    assert facts.exit_code == 0, facts.log.decode()
    assert "v14." in facts.log.decode()
