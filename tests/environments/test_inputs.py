"""Which files decide an environment, and what a trial builds again."""

from __future__ import annotations

from berbench.environments import propose_inputs, propose_setup
from berbench.model.changes import Snapshot


def of(contents: dict[str, str], *more: str) -> Snapshot:
    return Snapshot((*contents, *more), {name: text.encode() for name, text in contents.items()})


def test_a_pure_python_project_shares_its_image_by_manifests() -> None:
    snapshot = of(
        {"pyproject.toml": "[project]"}, "src/a.py", "uv.lock", "requirements/tests.txt", ".travis.yml"
    )
    inputs = propose_inputs(snapshot)
    assert "pyproject.toml" in inputs
    assert any("uv" in one for one in inputs)
    assert "Pipfile" not in inputs  # nothing there matches it
    assert propose_setup(snapshot) == ()


def test_compiled_extensions_ask_for_an_exact_image_and_a_rebuild() -> None:
    snapshot = of({"setup.py": "setup(ext_modules=[Extension('a', ['a.c'])])"}, "a.py")
    assert propose_inputs(snapshot) == ()
    assert "-e ." in propose_setup(snapshot)[0]


def test_node_sources_are_shared_and_built_output_is_built_again() -> None:
    plain = of({"package.json": '{"main": "lib/index.js", "scripts": {"build": "tsc"}}'}, "lib/index.js")
    assert propose_setup(plain) == ()
    assert propose_inputs(plain)
    built = of({"package.json": '{"main": "./dist/index.js", "scripts": {"build": "tsc"}}'}, "src/index.ts")
    assert propose_setup(built) == ("npm run build",)
    assert propose_inputs(built) == ()
    exports = of(
        {"package.json": '{"exports": {".": {"import": "./dist/a.mjs"}}, "scripts": {"compile": "x"}}'},
        "a.ts",
    )
    assert propose_setup(exports) == ("npm run compile",)


def test_what_a_test_run_builds_first_is_built_in_each_trial() -> None:
    scripts = '"pretest": "npm run compile -- -p tsconfig.test.json", "test": "npm run lint && tsc && mocha"'
    snapshot = of({"package.json": '{"main": "index.js", "scripts": {' + scripts + "}}"}, "index.js")
    assert propose_setup(snapshot) == ("npm run compile -- -p tsconfig.test.json", "npx --no-install tsc")
    assert propose_inputs(snapshot) == ()
    others = '"pretest": "npm run build:docs", "test": "tsc --noEmit && npm run build:reset && mocha"'
    assert propose_setup(of({"package.json": '{"scripts": {' + others + "}}"}, "index.js")) == ()


def test_a_tree_without_manifests_asks_for_an_exact_image() -> None:
    assert propose_inputs(Snapshot(("a.py",))) == ()
    assert propose_inputs(of({"package.json": "no json"}, "a.js")) != ()
    assert propose_inputs(Snapshot(("README",))) == ()
