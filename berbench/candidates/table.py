"""Files that steer a test runner, or what it loads, whole: one row a runner or kind.

Every row holds in every project, for what `npm test` or a script runs in the end is not seen; a row with
`programs` holds only where a command names one of them, because elsewhere such a file is a build's alone.
docs/reference/protected.md shows this table; a test compares them.

A pattern is a path's end, from a folder's start on: `conftest.py` at any depth. One that ends in `/` means a
folder of that name, or a link in its place, and all below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Files of one kind. `why` is a clause that goes on from "the file …"."""

    kind: str
    patterns: tuple[str, ...]
    why: str
    programs: frozenset[str] = frozenset()  # the commands' programs that make it matter; none: always
    new_only: bool = False  # only in a folder that holds nothing in the base


def _row(kind: str, patterns: str, why: str, programs: str = "", *, new_only: bool = False) -> Row:
    return Row(kind, tuple(patterns.split()), why, frozenset(programs.split()), new_only)


TABLE: tuple[Row, ...] = (
    # --- Python
    _row("pytest", "conftest.py", "holds hooks and fixtures that pytest loads by itself"),
    _row(
        "Python runners",
        "pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini noxfile.py unittest.cfg nose2.cfg .noserc nose.cfg"
        " .coveragerc",
        "sets what a runner collects, loads and reports",
    ),
    _row(
        "Python start-up",
        "sitecustomize.py sitecustomize/ usercustomize.py usercustomize/ *.pth *._pth pyvenv.cfg",
        "is read by the interpreter before any test",
    ),
    _row("Python bytecode", "__pycache__/ *.pyc *.pyo", "may run in place of the source beside it"),
    _row(
        "Python packages",
        "site-packages/ dist-packages/ .venv/ venv/bin/ .tox/ .nox/ .eggs/ *.egg-info/ *.dist-info/ *.egg-link",
        "stands for installed packages, and can register plug-ins",
    ),
    _row(
        "Python builds",
        "setup.py",
        "is run by the installation that a command asks for",
        "pip pip3 uv poetry pdm hatch pipenv rye tox nox easy_install",
    ),
    # --- JavaScript and TypeScript
    _row(
        "jest",
        "jest[.-]{config,preset,setup,environment,resolver}* setupTests.* setupJest.* setup-jest.*",
        "sets what jest collects and loads",
    ),
    _row("vitest", "vite.config* vitest[.-]*", "sets what vitest collects and loads"),
    _row("jest and vitest", "__mocks__/", "takes the place of modules without being asked for"),
    _row("mocha", ".mocharc* mocha.opts", "sets what mocha collects and loads"),
    _row(
        "other JavaScript runners",
        ".taprc .tap/ ava.config.* karma.conf* jasmine.{json,js,mjs,cjs} web-test-runner.config.* cypress.config.*"
        " cypress.json playwright*.config.* bunfig.toml node.config.json",
        "sets what a runner collects and loads",
    ),
    _row(
        "JavaScript transforms",
        "babel.config* .babelrc* .swcrc tsconfig*.json jsconfig.json import_map.json import-map.json deno.jsonc",
        "decides what the tests' own text and imports turn into",
    ),
    _row(
        "JavaScript packages",
        "node_modules/ .npmrc .yarnrc* .yarn/ .pnp.* .pnpmfile.* pnpm-workspace.yaml",
        "decides which packages, the runner among them, are loaded",
    ),
    _row("JavaScript coverage", ".nycrc* nyc.config* .c8rc* .istanbul.*", "wraps the run of the tests"),
    _row(
        "JavaScript task runners",
        "nx.json project.json turbo.json lerna.json angular.json Gruntfile.* gulpfile.* wireit.json",
        "says what a task of a command runs",
        "nx turbo lerna ng grunt gulp wireit",
    ),
    # --- Go, Rust
    _row("Go tests", "*_test.go", "is part of its package's tests, where TestMain and init decide all"),
    _row("Go workspaces", "go.work go.work.sum", "decides which modules are built and tested"),
    _row(
        "Go packages",
        "vendor/modules.txt vendor/{gotest.tools,go.uber.org/goleak,pgregory.net}/"
        " vendor/github.com/{stretchr,onsi,google/go-cmp,smartystreets,golang/mock,matryer,frankban,davecgh,pmezard}/"
        " vendor/gopkg.in/check.v1/",
        "stands for packages that tests assert with",
    ),
    _row(
        "cargo",
        ".cargo/ rust-toolchain rust-toolchain.toml .config/nextest*",
        "sets the compiler, and what runs the tests",
    ),
    # --- JVM
    _row(
        "JVM runners",
        "junit-platform.properties testng.xml META-INF/services/org.{junit,testng,spockframework}*",
        "registers listeners and extensions of the runner",
    ),
    _row(
        "JVM wrappers",
        ".mvn/ mvnw mvnw.cmd gradlew gradlew.bat gradle/wrapper/ gradle.properties settings.gradle*"
        " init.gradle* buildSrc/",
        "sets up the build tool that runs the tests",
    ),
    _row("Maven", "pom.xml", "says which tests run and what of their failures counts", "mvn mvnw mvnd"),
    _row(
        "Gradle",
        "*.gradle *.gradle.kts libs.versions.toml",
        "says which tests run and what of their failures counts",
        "gradle gradlew",
    ),
    _row(
        "JVM shadows",
        "org/{junit,hamcrest,assertj,mockito,testng,opentest4j}/** junit/{framework,runner,textui}/**",
        "hides a class of the runner or of its assertions",
        new_only=True,
    ),
    # --- PHP, Ruby, C and C++
    _row(
        "PHP",
        "phpunit.xml* phpunit.dist.xml .phpunit* Pest.php vendor/autoload.php"
        " vendor/{bin,composer,phpunit,pestphp,mockery}/",
        "sets what PHPUnit collects and loads",
    ),
    _row(
        "Ruby",
        ".rspec* spec_helper.rb rails_helper.rb test_helper.rb spec/support/ .bundle/ vendor/bundle/ .simplecov",
        "is loaded with the tests",
    ),
    _row("Bundler", "Gemfile Gemfile.lock gems.rb gems.locked", "is run to choose the gems", "bundle rspec rake rails"),
    _row("Rake", "Rakefile rakefile *.rake", "says what a task of a command runs", "rake rails"),
    _row(
        "CTest",
        "CTestConfig.cmake CTestCustom.cmake CTestTestfile.cmake DartConfiguration.tcl",
        "says which programs are tests",
    ),
    _row("CMake", "CMakeLists.txt *.cmake CMakePresets.json", "says which programs are tests", "cmake ctest"),
    # --- what commands run
    _row("make", "Makefile makefile GNUmakefile *.mk", "says what a target of a command runs", "make gmake"),
    _row(
        "other task runners",
        "justfile .justfile Taskfile.* Taskfile.dist.* tasks.py dodo.py",
        "says what a task of a command runs",
        "just task invoke inv doit",
    ),
    _row(
        "lock files",
        "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock bun.lockb composer.lock poetry.lock"
        " uv.lock pdm.lock Pipfile Pipfile.lock",
        "says where an installation takes packages from, the runner among them",
        "ci i install sync",
    ),
    # --- everywhere
    _row(
        "snapshots",
        "__snapshots__/ __image_snapshots__/ tap-snapshots/ *.snap *.snap.md *.ambr",
        "says what tests expect",
    ),
    _row("environment files", ".env .env.test* .env*.local", "sets variables that runners read"),
    _row("berbench", ".ber/", "belongs to berbench alone"),
)  # fmt: skip


def rows_for(programs: frozenset[str]) -> tuple[Row, ...]:
    """The rows that hold where the commands run these programs."""
    return tuple(row for row in TABLE if not row.programs or row.programs & programs)


def _expression(patterns: Sequence[str]) -> re.Pattern[str]:
    """One expression for whole paths. One lead for all the patterns: most of a tree's paths match none."""
    return re.compile(rf"(?s:(?:.*/)?(?:{'|'.join(map(_translated, patterns))}))")


def _translated(pattern: str) -> str:
    text = "".join(_SIGNS.get(piece) or re.escape(piece) for piece in _PIECES.findall(pattern))
    return text.removesuffix("/") + "(?:/.*)?" if text.endswith("/") else text


_PIECES = re.compile(r"\*\*|\[\.-\]|[*{,}]|[^*{,}\[]+")
_SIGNS = {"**": ".*", "*": "[^/]*", "{": "(?:", ",": "|", "}": ")", "[.-]": "[.-]"}


class Lookup:
    """Finds the row of a path, quickly where there is none."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._any = _expression([pattern for row in rows for pattern in row.patterns])
        self._rows = [(row, _expression(row.patterns)) for row in rows]

    def __call__(self, path: str) -> Row | None:
        """The first row that the path falls under."""
        if not self._any.fullmatch(path):
            return None
        return next((row for row, expression in self._rows if expression.fullmatch(path)), None)
