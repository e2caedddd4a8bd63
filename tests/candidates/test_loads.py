"""Set-up files and plug-ins that a runner's settings name are told from code that they only speak of."""

from __future__ import annotations

import pytest

from berbench.candidates import read_loads

PRODUCT = ("src/index.ts", "src/app.js", "app/core.py", "src/version.js", "lib/index.js")


@pytest.mark.parametrize(
    ("settings", "text", "loaded"),
    [
        ("jest.config.js", "module.exports = {setupFiles: ['<rootDir>/tools/setup.js']}", "tools/setup.js"),
        (
            "jest.config.ts",
            'export default {\n  setupFilesAfterEnv: [\n    "./tools/setup",\n  ],\n}',
            "tools/setup.js",
        ),
        ("pk/jest.config.json", '{"testEnvironment": "./env.cjs"}', "pk/env.cjs"),
        ("pk/jest.config.js", "globalSetup: '<rootDir>/../tools/setup.js'", "tools/setup.js"),
        (
            "jest.config.js",
            "transform: {'^.+\\\\.ts$': '<rootDir>/tools/transform.js'}",
            "tools/transform.js",
        ),
        ("package.json", '{"jest": {"setupFiles": ["./tools/setup.js"]}}', "tools/setup.js"),
        ("package.json", '{"mocha": {"require": "./tools/setup"}}', "tools/setup.js"),
        (".mocharc.yml", "require:\n  - ts-node/register\n  - ./tools/setup.js\nspec: x\n", "tools/setup.js"),
        (".mocharc.yaml", "require: tools/setup\n", "tools/setup.js"),
        (".mocharc.cjs", "module.exports = {file: './tools/setup.js'}", "tools/setup.js"),
        (
            "vitest.config.mts",
            "test: { environment: 'node', setupFiles: './tools/setup.js' }",
            "tools/setup.js",
        ),
        ("vite.config.ts", "test: { globalSetup: [`./tools/setup.js`] }", "tools/setup.js"),
        ("conftest.py", "pytest_plugins = ['app.testing', 'other']\n", "app/testing.py"),
        ("tests/conftest.py", 'pytest_plugins: list[str] = (\n    "plug",\n)\n', "tests/plug.py"),
        ("pytest.ini", "[pytest]\naddopts = -ra\n    -p app.testing\n", "app/testing.py"),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-p", "app.testing"]\n', "app/testing.py"),
        ("phpunit.xml.dist", '<phpunit colors="true" bootstrap="tools/boot.php">', "tools/boot.php"),
    ],
)
def test_V05_what_settings_load_is_found(settings: str, text: str, loaded: str) -> None:
    assert read_loads((settings, loaded, *PRODUCT), {settings: text.encode()}.get) == {loaded}


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (
            "jest.config.js",
            "x = require('./src/version'); moduleNameMapper: {'^app$': '<rootDir>/src/index.ts'}",
        ),
        (
            "vite.config.ts",
            "build: {lib: {entry: './src/index.ts', fileName: 'app'}}, alias: {'@': './src/app.js'}",
        ),
        (
            "package.json",
            '{"main": "lib/index.js", "files": ["src/app.js"], "scripts": {"test": "node lib/index.js"}}',
        ),
        ("package.json", '{"exports": {"require": "./lib/index.js"}, "jest": {"preset": "ts-jest"}}'),
        ("package.json", '{"jest": {"setupFiles": ["./lib/index.js"]}'),
        ("conftest.py", "from app.core import thing\n"),
        ("pyproject.toml", '[project]\nname = "app"\n[project.scripts]\napp = "app.core:main"\n'),
        ("jest.config.js", "setupFiles: ['../../../etc/passwd', '/etc/passwd', '']"),
        ("node_modules/x/package.json", '{"jest": {"setupFiles": ["../../src/app.js"]}}'),
        ("jest.config.js", "setupFiles: [" + "'x'," * 5000),
        ("pytest.ini", "addopts = " + "\n " * 5000),
    ],
)
def test_code_that_settings_only_speak_of_is_free(settings: str, text: str) -> None:
    assert read_loads((settings, *PRODUCT), {settings: text.encode()}.get) == frozenset()
