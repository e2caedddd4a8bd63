"""Languages and their versions, by manifests and the day."""

from __future__ import annotations

from datetime import date

import pytest

from berbench.environments import language_image, language_of
from berbench.environments.languages import java_version, node_version, python_version, rust_version
from berbench.model.changes import Snapshot


def of(contents: dict[str, str], *more: str) -> Snapshot:
    return Snapshot((*contents, *more), {name: text.encode() for name, text in contents.items()})


@pytest.mark.parametrize(
    ("paths", "language"),
    [
        (("pyproject.toml", "src/a.py", "docs/package.json"), "python"),
        (("package.json", "index.js", "scripts/release.py"), "node"),
        (("package.json", "setup.py", "pkg/a.py", "pkg/b.py", "site.js"), "python"),
        (("go.mod", "main.go"), "go"),
        (("Cargo.toml", "src/lib.rs"), "rust"),
        (("pom.xml", "src/main/java/A.java"), "java"),
        (("backend/setup.py", "backend/x.py"), "python"),
        (("a.py", "b.py", "c.js"), "python"),
        (("README.md",), ""),
    ],
)
def test_language_follows_manifests_and_the_most_files(paths: tuple[str, ...], language: str) -> None:
    assert language_of(Snapshot(paths)) == language


@pytest.mark.parametrize(
    ("contents", "day", "version"),
    [
        ({"setup.py": "setup()"}, date(2021, 6, 1), "3.9"),
        ({"pyproject.toml": "[project]\nrequires-python = '>=3.10'"}, date(2021, 6, 1), "3.10"),
        ({"pyproject.toml": "[project]\nrequires-python = '>=3.7,<3.9'"}, date(2024, 6, 1), "3.8"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\npython = '^3.11'"}, date(2022, 6, 1), "3.11"),
        ({"setup.py": "setup(python_requires='>=3.6, <3.10')"}, date(2023, 6, 1), "3.9"),
        ({"setup.cfg": "[options]\npython_requires = >= 3.12\n"}, date(2023, 6, 1), "3.12"),
        ({".python-version": "3.10.4\n", "setup.py": ""}, date(2024, 6, 1), "3.10"),
        ({"setup.py": "'Programming Language :: Python :: 3.8',"}, date(2024, 6, 1), "3.8"),
        ({"setup.py": "setup()"}, date(2013, 1, 1), "3.8"),  # older ones can't run the draft's tools
    ],
)
def test_python_is_the_newest_of_the_day_that_manifests_allow(
    contents: dict[str, str], day: date, version: str
) -> None:
    assert python_version(of(contents), day) == version


@pytest.mark.parametrize(
    ("contents", "day", "version"),
    [
        ({"package.json": "{}"}, date(2019, 3, 1), "10"),
        ({"package.json": '{"engines": {"node": ">=18"}}'}, date(2021, 3, 1), "18"),
        ({"package.json": '{"engines": {"node": ">= 0.8.0"}}'}, date(2018, 3, 1), "8"),
        ({"package.json": '{"engines": {"node": "^12.20.0 || >=13"}}'}, date(2020, 1, 1), "14"),
        ({"package.json": "{}", ".nvmrc": "v16.13\n"}, date(2024, 1, 1), "16"),
    ],
)
def test_node_is_the_long_term_release_of_the_day(contents: dict[str, str], day: date, version: str) -> None:
    assert node_version(of(contents), day) == version


def test_rust_and_java_follow_their_files_before_the_day() -> None:
    assert (
        rust_version(of({"rust-toolchain.toml": '[toolchain]\nchannel = "1.64.0"'}), date(2024, 1, 1))
        == "1.64"
    )
    assert rust_version(of({"Cargo.toml": ""}), date(2023, 6, 2)) == "1.70"
    assert java_version(of({"pom.xml": "<java.version>1.8</java.version>"}), date(2019, 1, 1)) == "11"
    assert java_version(of({"pom.xml": "<release>19</release>"}), date(2019, 1, 1)) == "21"


def test_the_official_image_of_a_landing() -> None:
    assert language_image(of({"go.mod": "module x\n\ngo 1.21\n"}, "a.go"), date(2020, 1, 1)) == "golang:1.21"
    assert language_image(of({"pom.xml": ""}, "A.java"), date(2022, 1, 1)) == "maven:3-eclipse-temurin-17"
    assert language_image(of({"setup.py": ""}, "a.py"), date(2022, 6, 1)) == "python:3.10-slim"
    assert language_image(Snapshot(("README",)), date(2022, 6, 1)) == ""
