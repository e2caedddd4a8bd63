"""What the reader in a Python draft finds in the manifests of a tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from berbench.environments.kit import read_python as reader


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def names(lines: list[str]) -> list[str]:
    return sorted(reader.Requirement(line).name for line in reader.usable(lines))


def test_groups_for_tests_win_over_those_for_development(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "pyproject.toml": '[dependency-groups]\ndev = ["ruff", {include-group = "tests"}]\n'
            'tests = ["pytest>=8", {include-group = "base"}]\nbase = ["attrs", {include-group = "tests"}]\n'
        },
    )
    assert names(reader.from_groups(tree)) == ["attrs", "pytest"]


def test_poetry_constraints_become_standard_ones() -> None:
    table = {
        "python": "^3.9",
        "a": "^1.2.3",
        "b": "^0.3",
        "c": "~2.1",
        "d": "*",
        "e": {"version": "^4", "extras": ["x"]},
        "f": "1.5",
        "g": {"path": "../g"},
        "h": ">=1,<2",
    }
    assert reader.poetry_lines(table) == [
        "a>=1.2.3,<2", "b>=0.3,<0.4", "c>=2.1,<2.2", "d", "e[x]>=4,<5", "f==1.5", "h>=1,<2",
    ]  # fmt: skip


def test_requirement_files_are_followed_and_the_tree_itself_left_out(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "requirements/tests.txt": "-r base.txt\n-e .\n.\n--index-url https://x\npytest==7.0 --hash=sha256:0\n",
            "requirements/base.txt": "attrs  # why\n-r tests.txt\n./local\nlong==\\\n1.0\n",
            "requirements/docs.txt": "sphinx\n",
            "requirements.txt": "flask\n",
        },
    )
    assert names(reader.from_files(tree, has_package=True)) == ["attrs", "long", "pytest"]
    assert names(reader.from_files(tree, has_package=False)) == ["attrs", "flask", "long", "pytest"]


def test_a_requirements_file_that_is_the_only_list_serves_the_tests(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "requirements.txt": "-e .[http2,cli]\npytest==8\nuvicorn==0.3\n",
            "pyproject.toml": '[project]\nname = "me"\ndependencies = ["idna"]\n'
            '[project.optional-dependencies]\nhttp2 = ["h2"]\ncli = ["rich"]\n',
        },
    )
    assert names(reader.from_files(tree, has_package=True)) == ["h2", "idna", "pytest", "rich", "uvicorn"]


@pytest.mark.parametrize(
    "name",
    ["requirements-dev.txt", "requirements_test.txt", "test-requirements.txt", "dev-requirements.txt",
     "requirements/testing.in", "tests/requirements.txt", "requirements.dev.txt"],
)  # fmt: skip
def test_usual_names_of_requirement_files(tmp_path: Path, name: str) -> None:
    assert names(reader.from_files(write(tmp_path, {name: "pytest\n"}), has_package=True)) == ["pytest"]


def test_tox_nox_setup_and_ci_are_read(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "tox.ini": "[testenv]\ndeps =\n    pytest>=3\n    -rextra.txt\n    py27: mock\n    {env:X}\n"
            "extras = tests\n[testenv:docs]\ndeps = sphinx\n",
            "extra.txt": "hypothesis\n",
            "setup.py": "NEEDED = ['pretend']\nsetup(tests_require=NEEDED, extras_require={'tests': ['six']})\n",
            "noxfile.py": "def tests(session):\n    session.install('-r', 'extra.txt', 'xmltodict')\n"
            "def docs(session):\n    session.install('furo')\n",
            ".github/workflows/ci.yml": "- run: python -m pip install --upgrade pip tox requests && tox\n",
        },
    )
    assert names(reader.from_tox(tree)) == ["hypothesis", "pytest", "six"]
    assert names(reader.from_setup(tree)) == ["pretend"]
    assert names(reader.from_nox(tree)) == ["hypothesis", "xmltodict"]
    assert names(reader.from_ci(tree)) == ["requests"]


def test_plugins_follow_settings_and_well_known_imports_follow_tests(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--cov=pkg -n auto"\nasyncio_mode = "auto"\n',
            "tests/test_a.py": "import freezegun\nimport unknown_package\nfrom six import b\n"
            "def test_a(mocker, requests_mock): ...\n",
            "tests/six.py": "",
        },
    )
    found = names(reader.from_tests(tree))
    assert found == [
        "freezegun",
        "pytest",
        "pytest-asyncio",
        "pytest-cov",
        "pytest-mock",
        "pytest-xdist",
        "requests-mock",
    ]


def test_a_plain_project_gets_pytest_alone(tmp_path: Path) -> None:
    tree = write(
        tmp_path, {"setup.cfg": "[tool:pytest]\ntestpaths = tests\n", "tests/test_a.py": "import os\n"}
    )
    assert names(reader.from_tests(tree)) == ["pytest"]


def test_locks_become_constraints_but_not_the_tree_itself(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "uv.lock": '[[package]]\nname = "me"\nversion = "1"\nsource = { editable = "." }\n'
            '[[package]]\nname = "a"\nversion = "1.0"\n[[package]]\nname = "twice"\nversion = "1"\n'
            '[[package]]\nname = "twice"\nversion = "2"\n',
            "Pipfile.lock": '{"default": {"b": {"version": "==2.0"}}, "develop": {}}',
        },
    )
    assert reader.locked(tree) == ["a==1.0", "b==2.0"]


def test_metadata_gives_runtime_needs_and_the_extras_of_tests(tmp_path: Path) -> None:
    tree, site = tmp_path / "tree", tmp_path / "site"
    tree.mkdir()
    write(
        site / "me-1.0.dist-info",
        {
            "METADATA": "Metadata-Version: 2.1\nName: me\nVersion: 1.0\nProvides-Extra: test\nProvides-Extra: docs\n"
            "Provides-Extra: http\nRequires-Dist: always\nRequires-Dist: never; python_version < '3'\n"
            "Requires-Dist: pytest>=7; extra == 'test'\nRequires-Dist: me[http]; extra == 'test'\n"
            "Requires-Dist: h11; extra == 'http'\nRequires-Dist: sphinx; extra == 'docs'\n"
        },
    )
    assert reader.own_requirements(tree, site, []) == ["always"]
    assert sorted(reader.own_requirements(tree, site, None)) == ["always", "h11", "pytest>=7"]


def test_packages_that_could_not_be_built_are_read_from_their_sources(tmp_path: Path) -> None:
    setup = "setup(install_requires=['a', 'b>=1'], extras_require={'dev': ['c'], 'docs': ['d']})\n"
    assert reader.own_requirements(write(tmp_path, {"setup.py": setup}), None, None) == ["a", "b>=1", "c"]


def test_loosening_takes_pins_and_addresses_and_keeps_bounds() -> None:
    assert reader.loosened("a==1.0") == "a"
    assert reader.loosened("b[x]>=1,<2,==1.5") == "b[x]<2,>=1"
    assert reader.loosened("c @ git+https://example.org/c") == "c"
    assert reader.loosened("d==1; python_version < '3.8'") == 'd; python_version < "3.8"'


def test_broken_manifests_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    tree = write(
        tmp_path,
        {
            "pyproject.toml": "[[",
            "setup.cfg": "no section",
            "setup.py": "(",
            "tox.ini": "=",
            "Pipfile.lock": "{",
        },
    )
    out = tmp_path / "out"
    reader.main(tree, tmp_path / "site", out)
    assert (out / "all.txt").read_text() == "pytest\n"
