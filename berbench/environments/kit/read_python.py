"""Runs while an image is built: reads the manifests of one tree and lists what its tests need.

    python read_python.py TREE SITE_PACKAGES OUT PYTHON_VERSION

TREE is the source tree, SITE_PACKAGES where its own package was installed without its dependencies.
OUT gets one file of requirements per source, in the order to install them (`10-package.txt`, ...), each
with a `.loose` twin without exact pins, all of them in `all.txt`, and what lock files pin in
`constraints.txt`. The Dockerfile draft carries this file as it is.
"""

from __future__ import annotations

import ast
import configparser
import json
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement

try:
    import tomllib
except ImportError:
    import tomli as tomllib  # type: ignore

QUOTES = chr(34) + chr(39) + " "
TESTS = ("tests", "test", "testing", "unittest", "unit-tests", "pytest", "test-deps")
DEV = ("dev", "develop", "development", "all", "ci")
FILES = re.compile(
    r"(requirements[-_.]?/?(ci/)?)?(tests?|testing|dev|develop|development|ci|pytest)([-_]?requirements)?\.(txt|in|pip)"
)
# options and settings of pytest that only work with a plug-in
PLUGINS = {
    "--cov": "pytest-cov", "--no-cov": "pytest-cov", "--numprocesses": "pytest-xdist", "--dist": "pytest-xdist",
    "-n auto": "pytest-xdist", "-nauto": "pytest-xdist", "xdist": "pytest-xdist", "asyncio_mode": "pytest-asyncio",
    "pytest.mark.asyncio": "pytest-asyncio", "trio_mode": "pytest-trio", "pytest.mark.trio": "pytest-trio",
    "pytest.mark.anyio": "anyio", "--timeout": "pytest-timeout", "pytest.mark.timeout": "pytest-timeout",
    "timeout =": "pytest-timeout", "mocker": "pytest-mock", "--benchmark": "pytest-benchmark",
    "DJANGO_SETTINGS_MODULE": "pytest-django", "pytest.mark.django_db": "pytest-django",
    "--hypothesis": "hypothesis", "--reruns": "pytest-rerunfailures", "pytest.mark.flaky": "pytest-rerunfailures",
    "--randomly": "pytest-randomly", "--flake8": "pytest-flake8", "--pylint": "pytest-pylint",
    "--pycodestyle": "pytest-pycodestyle", "--isort": "pytest-isort", "--black": "pytest-black",
    "--mypy-": "pytest-mypy", "--pep8": "pytest-pep8", "--socket": "pytest-socket",
    "--disable-socket": "pytest-socket", "httpx_mock": "pytest-httpx", "httpserver": "pytest-httpserver",
    "--import-mode": "", "subtests": "pytest-subtests", "freezer": "pytest-freezer", "requests_mock": "requests-mock",
    "lazy_fixture": "pytest-lazy-fixture", "pytest.mark.parallel_threads": "pytest-run-parallel",
    "--regressions": "pytest-regressions", "data_regression": "pytest-regressions", "snapshot": "syrupy",
    "--doctest-plus": "pytest-doctestplus", "--sugar": "pytest-sugar", "--forked": "pytest-forked",
}  # fmt: skip
# modules that tests import, and the package that has them: only well-known ones, since a guess is a risk
IMPORTS = {
    "hypothesis": "hypothesis", "mock": "mock", "pretend": "pretend", "freezegun": "freezegun", "six": "six",
    "trio": "trio", "anyio": "anyio", "nose": "nose", "parameterized": "parameterized", "ddt": "ddt",
    "responses": "responses", "requests": "requests", "yaml": "PyYAML", "attr": "attrs", "simplejson": "simplejson",
    "pytz": "pytz", "dateutil": "python-dateutil", "tomli": "tomli", "testfixtures": "testfixtures",
    "pytest_asyncio": "pytest-asyncio", "pytest_trio": "pytest-trio", "pytest_mock": "pytest-mock",
    "ephemeral_port_reserve": "ephemeral-port-reserve", "trustme": "trustme", "numpy": "numpy",
    "typing_extensions": "typing-extensions", "toml": "toml", "sybil": "sybil", "greenlet": "greenlet",
    "flaky": "flaky", "pyfakefs": "pyfakefs", "time_machine": "time-machine", "respx": "respx", "aiohttp": "aiohttp",
    "httpx": "httpx", "coverage": "coverage", "pexpect": "pexpect", "psutil": "psutil", "execnet": "execnet",
    "dirty_equals": "dirty-equals", "inline_snapshot": "inline-snapshot", "asynctest": "asynctest",
    "unittest2": "unittest2", "watchdog": "watchdog", "cloudpickle": "cloudpickle", "zope.interface": "zope.interface",
    "sure": "sure", "expects": "expects", "py": "py", "pkg_resources": "setuptools", "setuptools": "setuptools",
}  # fmt: skip
NOT_FOR_TESTS = re.compile(
    r"^(pip|wheel|twine|build|tox(-.*)?|nox|codecov|coveralls|python-coveralls|cibuildwheel|pre-commit|uv|"
    r"virtualenv|poetry|pdm|hatch|flit|bump2version|bumpversion|sphinx.*|mkdocs.*|furo)$",
    re.I,
)

PYTHON: dict[str, str] = {}  # of the tests, which may differ from the one that runs this


def text_of(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def toml_of(path: Path) -> dict[str, Any]:
    try:
        return dict(tomllib.loads(text_of(path)))
    except (ValueError, RecursionError):  # numbers too long to be read are ValueErrors too
        return {}


def ini_of(path: Path) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text_of(path))
    except configparser.Error:
        print("berbench: NOTE: cannot read", path)
    return parser


def chosen(names: Any) -> list[str]:
    """The groups or extras that tests need: the ones named after tests, else those for development."""
    known = {re.sub(r"[-_.]+", "-", str(name)).lower(): str(name) for name in names}
    tests = [known[name] for name in TESTS if name in known]
    return tests or [known[name] for name in DEV if name in known][:1]


def requirement_lines(path: Path, seen: set[Path]) -> list[str]:
    """A requirement file, the files it includes put in; the tree itself, options and hashes left out."""
    if path.resolve() in seen or not path.is_file():
        return []
    seen.add(path.resolve())
    lines: list[str] = []
    for line in text_of(path).replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).split(" --hash")[0].strip()
        included = re.match(r"(-r|--requirement)[ =]*(\S+)", line)
        if included:
            lines += requirement_lines(path.parent / included.group(2), seen)
        elif line and not line.startswith("-") and not re.match(r"\.{1,2}(/|\[|$)|file:", line):
            lines.append(line)
    return lines


def words_to_requirements(tree: Path, words: list[str]) -> list[str]:
    """The arguments of a `pip install`, as requirements. Extras of the tree itself (`.[test]`) are looked up."""
    lines: list[str] = []
    for before, word in zip(["", *words], words):  # noqa: B905
        word = word.strip(QUOTES)
        if before in ("-r", "--requirement"):
            lines += requirement_lines(tree / word, set())
        elif before in (
            "-c",
            "--constraint",
            "-i",
            "--index-url",
            "--extra-index-url",
            "-f",
        ) or word.startswith("-"):
            continue
        elif re.match(r"\.\[", word):
            lines += own_requirements(tree, None, word[2:].rstrip("]").split(","))
        elif re.match(r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?\s*([<>=!~].*)?$", word):
            lines.append(word)
    return lines


def poetry_lines(table: dict[str, Any]) -> list[str]:
    """Poetry constraints as standard ones: a caret is the next breaking release, a tilde the next minor one."""
    lines = []
    for name, wish in table.items():
        options = wish if isinstance(wish, list) else [wish]
        wish = options[-1]
        version = wish if isinstance(wish, str) else wish.get("version", "*")
        if name == "python" or (isinstance(wish, dict) and ("path" in wish or "git" in wish)):
            continue
        extras = ",".join(wish.get("extras", ())) if isinstance(wish, dict) else ""
        parts = []
        for part in version.split("||")[-1].split(","):
            part = part.strip()
            numbers = [int(number) for number in re.findall(r"\d+", part)] or [0]
            if part.startswith("^"):
                index = next((i for i, number in enumerate(numbers) if number), len(numbers) - 1)
                upper = ".".join(map(str, [*numbers[:index], numbers[index] + 1]))
                parts.append(f">={part[1:]},<{upper}")
            elif re.match(r"~\d", part):
                upper = ".".join(
                    map(str, [numbers[0] + 1] if len(numbers) == 1 else [numbers[0], numbers[1] + 1])
                )
                parts.append(f">={part[1:]},<{upper}")
            elif re.match(r"\d", part):
                parts.append("==" + part)
            elif part != "*":
                parts.append(part)
        lines.append(name + (f"[{extras}]" if extras else "") + ",".join(parts))
    return lines


def group_lines(groups: dict[str, Any], name: str, seen: set[str]) -> list[str]:
    """A dependency group with the groups it includes."""
    lines: list[str] = []
    if name in seen:
        return lines
    seen.add(name)
    for item in groups.get(name, ()):
        if isinstance(item, str):
            lines.append(item)
        elif isinstance(item, dict) and "include-group" in item:
            lines += group_lines(groups, str(item["include-group"]), seen)
    return lines


def keyword_lists(path: Path, names: tuple[str, ...]) -> dict[str, Any]:
    """Literal values of keywords in a script such as setup.py, looked up through plain assignments."""
    try:
        module = ast.parse(text_of(path))
    except (SyntaxError, ValueError):
        return {}
    assigned: dict[str, ast.expr] = {}
    found: dict[str, Any] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id] = node.value
    for node in ast.walk(module):
        if isinstance(node, ast.keyword) and node.arg in names:
            value = assigned.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
            try:
                found[node.arg] = ast.literal_eval(value) if value is not None else None
            except ValueError:
                continue
    return found


def as_lines(value: Any) -> list[str]:
    if isinstance(value, str):
        return [line.strip() for line in value.splitlines() if line.strip()]
    return [str(line) for line in value or ()]


def own_requirements(tree: Path, site: Path | None, extras: list[str] | None) -> list[str]:
    """What the tree's own package asks for, with the extras that tests need when none are given."""
    seeds = ("pip", "setuptools", "wheel", "uv")
    folders = [str(p.parent) for depth in ("", "*/", "*/*/") for p in tree.glob(depth + "*.egg-info")]
    paths = ([str(site)] if site else []) + folders
    lines: list[str] = []
    for package in metadata.distributions(path=paths) if paths else ():
        own = (package.metadata["Name"] or "").lower().replace("_", "-")
        if own in seeds:
            continue
        wanted = (
            list(extras) if extras is not None else chosen(package.metadata.get_all("Provides-Extra") or ())
        )
        seen: set[str] = set()
        queue = ["", *wanted]
        while queue:
            extra = queue.pop(0)
            if extra in seen:
                continue
            seen.add(extra)
            for line in package.requires or ():
                try:
                    requirement = Requirement(line)
                except InvalidRequirement:
                    continue
                marker = requirement.marker
                if marker and (
                    not marker.evaluate({**PYTHON, "extra": extra})
                    or (extra and marker.evaluate({**PYTHON, "extra": ""}))
                ):
                    continue
                if not marker and extra:
                    continue
                if requirement.name.lower().replace("_", "-") == own:
                    queue += sorted(requirement.extras)
                    continue
                requirement.marker = None
                lines.append(str(requirement))
    return lines or static_requirements(tree, extras)


def static_requirements(tree: Path, extras: list[str] | None) -> list[str]:
    """The same as far as it can be read without building: for packages that could not be installed."""
    project = toml_of(tree / "pyproject.toml").get("project", {})
    optional = dict(project.get("optional-dependencies", {}))
    lines = list(project.get("dependencies", ()))
    setup = keyword_lists(tree / "setup.py", ("install_requires", "extras_require"))
    lines += as_lines(setup.get("install_requires"))
    optional.update(setup.get("extras_require") or {})
    config = ini_of(tree / "setup.cfg")
    if config.has_section("options"):
        lines += as_lines(config.get("options", "install_requires", fallback=""))
    if config.has_section("options.extras_require"):
        optional.update(config.items("options.extras_require"))
    for extra in extras if extras is not None else chosen(optional):
        lines += as_lines(optional.get(extra))
    return lines


def from_groups(tree: Path) -> list[str]:
    document = toml_of(tree / "pyproject.toml")
    groups = document.get("dependency-groups", {})
    lines = [line for name in chosen(groups) for line in group_lines(groups, name, set())]
    tools = document.get("tool", {})
    pdm = tools.get("pdm", {}).get("dev-dependencies", {})
    lines += [line for name in chosen(pdm) for line in pdm[name] if not line.startswith("-e")]
    lines += tools.get("uv", {}).get("dev-dependencies", ())
    poetry = tools.get("poetry", {})
    grouped = poetry.get("group", {})
    for name in chosen(grouped):
        lines += poetry_lines(grouped[name].get("dependencies", {}))
    lines += poetry_lines(poetry.get("dev-dependencies", {}))
    for environment in tools.get("hatch", {}).get("envs", {}).values():
        lines += [line for line in environment.get("dependencies", ()) if not NOT_FOR_TESTS.match(line)]
    pipfile = toml_of(tree / "Pipfile")
    return lines + poetry_lines({**pipfile.get("packages", {}), **pipfile.get("dev-packages", {})})


def from_files(tree: Path, has_package: bool) -> list[str]:
    names = sorted(str(p.relative_to(tree)) for depth in ("", "*/", "*/*/") for p in tree.glob(depth + "*.*"))
    found = [
        name
        for name in names
        if FILES.fullmatch(name) or name in ("tests/requirements.txt", "test/requirements.txt")
    ]
    tests = [name for name in found if "test" in name] or found
    # a pinned .txt beside its .in is the outcome of the same list
    tests = [name for name in tests if not (name.endswith(".in") and name[:-3] + ".txt" in tests)]
    plain = text_of(tree / "requirements.txt")
    if plain and (not has_package or not tests or "pytest" in plain):
        tests.insert(0, "requirements.txt")
    lines = [line for name in tests for line in requirement_lines(tree / name, set())]
    for extras in re.findall(
        r"(?m)^-e *[\x22\x27]?\.\[([\w, -]+)\]", "\n".join(text_of(tree / name) for name in tests)
    ):
        lines += own_requirements(tree, None, [extra.strip() for extra in extras.split(",")])
    return lines


def from_setup(tree: Path) -> list[str]:
    lines = as_lines(keyword_lists(tree / "setup.py", ("tests_require",)).get("tests_require"))
    config = ini_of(tree / "setup.cfg")
    for section in ("options", "metadata"):
        if config.has_option(section, "tests_require"):
            lines += as_lines(config.get(section, "tests_require"))
    return lines


def from_tox(tree: Path) -> list[str]:
    lines: list[str] = []
    words: list[str] = []
    for name in ("tox.ini", "setup.cfg"):
        config = ini_of(tree / name)
        for section in ("testenv", "testenv:tests", "testenv:test", "testenv:py"):
            if not config.has_section(section):
                continue
            for line in as_lines(config.get(section, "deps", fallback="")):
                line = re.sub(r"\s#.*|\{toxinidir\}/", "", line)
                if re.match(r"[\w{},!-]+:\s", line) or "{" in line:
                    continue  # only for one of several environments
                words += re.sub(r"^(-r)(\S)", r"\1 \2", line).split(" ") if line.startswith("-") else [line]
            extras = re.split(r"[,\s]+", config.get(section, "extras", fallback="").strip())
            words += [f".[{extra}]" for extra in extras if extra]
    document = toml_of(tree / "tox.toml") or toml_of(tree / "pyproject.toml").get("tool", {}).get("tox", {})
    base = document.get("env_run_base", {})
    groups = toml_of(tree / "pyproject.toml").get("dependency-groups", {})
    for name in base.get("dependency_groups", ()):
        lines += group_lines(groups, str(name), set())
    words += [str(word) for word in base.get("deps", ())]
    words += [f".[{extra}]" for extra in base.get("extras", ())]
    return lines + words_to_requirements(tree, words)


def from_nox(tree: Path) -> list[str]:
    try:
        module = ast.parse(text_of(tree / "noxfile.py"))
    except (SyntaxError, ValueError):
        return []
    words: list[str] = []
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef) or "test" not in function.name:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "install":
                words += [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
    return words_to_requirements(tree, words)


def from_ci(tree: Path) -> list[str]:
    lines: list[str] = []
    files = [*sorted(tree.glob(".github/workflows/*.y*ml")), tree / ".travis.yml", tree / ".gitlab-ci.yml"]
    for path in [*files, tree / ".circleci/config.yml", tree / "azure-pipelines.yml", tree / "appveyor.yml"]:
        for match in re.finditer(r"pip3?\s+install\s+([^\n|&;#]+)", text_of(path).replace("\\\n", " ")):
            lines += words_to_requirements(tree, match.group(1).split())
    return lines


def from_tests(tree: Path) -> list[str]:
    """pytest, the plug-ins that its configuration and the tests name, and well-known modules the tests import."""
    settings = "".join(text_of(tree / name) for name in ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"))
    document = toml_of(tree / "pyproject.toml").get("tool", {}).get("pytest", {})
    settings += "".join(
        f"{key} = {value}\n" for key, value in {**document, **document.get("ini_options", {})}.items()
    )
    section = "\n".join(re.findall(r"(?ms)^\[(?:tool:)?pytest\]$(.*?)(?=^\[|\Z)", settings)) + str(document)
    files = [p for depth in ("*test*", "*/*test*", "*test*/**/*") for p in tree.glob(depth + ".py")]
    files += list(tree.glob("**/conftest.py"))
    body = "\n".join(text_of(p) for p in sorted(set(files))[:2000])
    lines = ["pytest"]
    for sign, package in PLUGINS.items():
        named = sign in section or (
            re.search(r"\W" + re.escape(sign) + r"\W", body) if sign[0] not in "-t" else None
        )
        if named and package:
            lines.append(package)
    imported = set(re.findall(r"(?m)^\s*(?:from|import)\s+([\w.]+)", body))
    roots = {name.split(".")[0] for name in imported} | imported
    here = {p.name for depth in ("", "src/", "lib/", "tests/", "test/") for p in tree.glob(depth + "*")}
    for name, package in IMPORTS.items():
        if name in roots and name not in here and name + ".py" not in here:
            lines.append(package)
    return lines + as_lines(document.get("ini_options", {}).get("required_plugins"))


def locked(tree: Path) -> list[str]:
    """The exact versions of lock files, as constraints; packages locked more than once are left open."""
    pins: dict[str, set[str]] = {}
    for name in ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"):
        document = toml_of(tree / name)
        for package in [*document.get("package", ()), *document.get("packages", ())]:
            if package.get("version") and not any(
                key in package.get("source", {}) for key in ("editable", "virtual")
            ):
                pins.setdefault(package["name"], set()).add(package["version"])
    try:
        pipfile = json.loads(text_of(tree / "Pipfile.lock") or "{}")
    except ValueError:
        pipfile = {}
    for part in ("default", "develop"):
        for name, entry in pipfile.get(part, {}).items():
            if entry.get("version"):
                pins.setdefault(name, set()).add(entry["version"].lstrip("="))
    return [
        f"{name}=={next(iter(versions))}" for name, versions in sorted(pins.items()) if len(versions) == 1
    ]


def usable(lines: list[str]) -> list[str]:
    """Without repeats, lines that are no requirement, and packages that test runs never need."""
    kept: list[str] = []
    for line in lines:
        try:
            requirement = Requirement(line.split(" #")[0].strip())
        except InvalidRequirement:
            continue
        if not NOT_FOR_TESTS.match(requirement.name) and str(requirement) not in kept:
            kept.append(str(requirement))
    return kept


def loosened(line: str) -> str:
    """A requirement with its exact pins and addresses taken off; lower and upper bounds stay."""
    requirement = Requirement(line)
    requirement.url = None
    requirement.specifier = type(requirement.specifier)(
        ",".join(str(s) for s in requirement.specifier if s.operator not in ("==", "==="))
    )
    return str(requirement)


def write(path: Path, lines: list[str]) -> None:
    path.with_suffix(".txt").write_text("\n".join(lines) + "\n")
    path.with_suffix(".loose").write_text("\n".join(map(loosened, lines)) + "\n")


def main(tree: Path, site: Path, out: Path) -> None:
    """Write the lists."""
    own = usable(own_requirements(tree, site, []))
    has_package = bool(own) or (tree / "setup.py").is_file() or "project" in toml_of(tree / "pyproject.toml")
    sources = {
        "10-package": own,
        "15-extras": [line for line in usable(own_requirements(tree, site, None)) if line not in own],
        "20-groups": usable(from_groups(tree)),
        "30-files": usable(from_files(tree, has_package)),
        "40-setup": usable(from_setup(tree)),
        "50-tox": usable(from_tox(tree)),
        "60-nox": usable(from_nox(tree)),
    }
    if not any(lines for name, lines in sources.items() if name not in ("10-package", "15-extras")):
        sources["70-ci"] = usable(from_ci(tree))
    named = {Requirement(line).name.lower().replace("_", "-") for lines in sources.values() for line in lines}
    sources["80-tests"] = [line for line in usable(from_tests(tree)) if line.lower() not in named]
    out.mkdir(parents=True, exist_ok=True)
    everything: list[str] = []
    for name, lines in sources.items():
        if lines:
            print(f"berbench: {name}: {len(lines)} requirements")
            everything += lines
            write(out / name, lines)
    write(out / "all", list(dict.fromkeys(everything)))
    (out / "constraints.txt").write_text("".join(line + "\n" for line in locked(tree)))


if __name__ == "__main__":
    PYTHON.update(python_version=sys.argv[4], python_full_version=sys.argv[4] + ".0")
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3]))
