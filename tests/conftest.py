"""What every test stands on: a process environment of its own, and real containers only when asked for.

`pytest` runs all that needs no engine, in a process for each core (cores.py says when); tests marked `docker` are
deselected. `pytest --docker` (or `BERBENCH_REQUIRE_DOCKER=1`) adds them, and then an engine that does not answer
fails each of them. In the same way `--browser` (or `BERBENCH_REQUIRE_BROWSER=1`) adds the tests marked `browser`.
Either runs in one process: those tests share what they need.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

import browser
import cores
import engine_probe

# A suite that gives the same answer twice; `--hypothesis-profile=explore` looks for new examples.
settings.register_profile("berbench", deadline=None, database=None, derandomize=True)
settings.register_profile("explore", deadline=None, database=None, max_examples=1000)
settings.load_profile("berbench")

LAST_FILE = "test_leftovers.py"

# No test may reach a forge by an account of whoever runs it, nor see their git or berbench.
UNWANTED = ("GH_", "GITHUB_", "GITLAB_", "GL_", "CI_", "OAUTH_TOKEN", "GIT_", "BERBENCH_", "XDG_")
KEPT = (
    *("BERBENCH_REQUIRE_DOCKER", "BERBENCH_REQUIRE_BROWSER", "BERBENCH_CHROMIUM"),
    *("BERBENCH_LAW_REPOSITORY", "GIT_SSL_CAINFO"),
)

GITCONFIG = """\
[user]
\tname = A Person
\temail = person@example.org
[init]
\tdefaultBranch = main
"""

_room = pytest.StashKey[Path]()
_saved = pytest.StashKey[dict[str, str]]()
_numbers = count()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--docker", action="store_true", help="also run the tests that need a container engine")
    parser.addoption("--browser", action="store_true", help="also run the tests that need Chromium")


def wants_docker(config: pytest.Config) -> bool:
    """Whether tests that need an engine are part of this run."""
    return _wants(config, "docker")


def _wants(config: pytest.Config, mark: str) -> bool:
    required = os.environ.get(f"BERBENCH_REQUIRE_{mark.upper()}", "0") not in ("", "0")
    return required or bool(config.getoption(f"--{mark}"))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Ask for workers before xdist looks whether someone did."""
    shared = _wants(config, "docker") or _wants(config, "browser")
    if not shared and (number := cores.processes(config)):
        config.option.numprocesses = number
        config.option.dist = "worksteal"


def pytest_configure(config: pytest.Config) -> None:
    """Give the session a home, a config and a temp folder of its own, before any test module is imported."""
    # A shell that starts this in the background has Ctrl-C ignored, here and in every child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_saved] = dict(os.environ)
    # Beside the room of the process that started this one, where tests run in several, and not inside it.
    # An engine may be unable to mount what lies in memory.
    usual = tempfile.gettempdir()
    temp_root = os.environ.get("PYTEST_DEBUG_TEMPROOT") or (
        usual if "TMPDIR" in os.environ or wants_docker(config) else cores.temp_root(usual)
    )
    room = Path(tempfile.mkdtemp(prefix="bb-tests-", dir=temp_root))  # short: unix sockets live below it
    config.stash[_room] = room
    # Contexts and credentials of the engine's client stay where they are.
    os.environ.setdefault("DOCKER_CONFIG", str(Path.home() / ".docker"))
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", temp_root)
    for name in [name for name in os.environ if name.startswith(UNWANTED) and name not in KEPT]:
        del os.environ[name]
    (room / "gitconfig").write_text(GITCONFIG, encoding="utf-8")
    folders = {
        "HOME": "home",
        "XDG_CONFIG_HOME": "config",
        "XDG_CACHE_HOME": "cache",
        "XDG_DATA_HOME": "data",
        "XDG_STATE_HOME": "state",
        "GH_CONFIG_DIR": "gh",
        "GLAB_CONFIG_DIR": "glab",
        "TMPDIR": "tmp",
    }
    for variable, folder in folders.items():
        (room / folder).mkdir()
        os.environ[variable] = str(room / folder)
    os.environ["GIT_CONFIG_GLOBAL"] = str(room / "gitconfig")
    os.environ["GIT_CONFIG_NOSYSTEM"] = "1"
    os.environ["GIT_TERMINAL_PROMPT"] = "0"
    tempfile.tempdir = None  # read TMPDIR again


def pytest_unconfigure(config: pytest.Config) -> None:
    if _room not in config.stash:
        return
    os.environ.clear()
    os.environ.update(config.stash[_saved])
    tempfile.tempdir = None
    shutil.rmtree(config.stash[_room], ignore_errors=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs an engine or a browser unless asked for, and look for leftovers at the very end."""
    for mark in ("docker", "browser"):
        if not _wants(config, mark):
            dropped = [item for item in items if item.get_closest_marker(mark)]
            config.hook.pytest_deselected(items=dropped)
            items[:] = [item for item in items if not item.get_closest_marker(mark)]
    items.sort(key=lambda item: item.path.name == LAST_FILE)


def pytest_collection_finish(session: pytest.Session) -> None:
    """What was collected stays to the end: nobody need look through it for garbage again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_sessionstart(session: pytest.Session) -> None:
    if wants_docker(session.config):
        engine_probe.remember_what_is_there()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without an engine or a browser, a test that needs one fails and says how to get one. It is never skipped."""
    if item.get_closest_marker("browser") and not browser.find():
        pytest.fail(f"there is no browser: {browser.REMEDY}", pytrace=False)
    if item.get_closest_marker("docker"):
        trouble = engine_probe.trouble()
        if trouble:
            remedy = "run `make engine base`, or set DOCKER_HOST"
            pytest.fail(f"no container engine answers ({trouble}); {remedy}", pytrace=False)


@pytest.fixture(scope="session", autouse=True)
def plain_pytests() -> Iterator[None]:
    """Each pytest that a test starts loads what its own project asks for, not whatever is installed beside us.

    Not earlier than here: the workers of this very run do need their plug-ins.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def no_temp_folder_is_left() -> Iterator[None]:
    """In each process that runs tests; test_leftovers.py looks in one."""
    yield
    left = sorted(path.name for path in Path(tempfile.gettempdir()).glob("berbench-*"))
    assert left == [], "a test left what berbench made"


@pytest.fixture(autouse=True)
def own_data_dir(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder that no other test has seen, made by whoever writes into it; and a page as wide as any."""
    folder = request.config.stash[_room] / "berbench-data" / str(next(_numbers))
    monkeypatch.setenv("BERBENCH_DATA_DIR", str(folder))
    monkeypatch.setenv("COLUMNS", "80")  # as where nobody looks, however wide the terminal is
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
