"""S08: what the host's environment knows never reaches output, records or error messages, in no form."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "forge"))

from forgeserver import ForgeServer, Reply, Request

from berbench.engine.building import proxy_arguments, proxy_passwords
from berbench.errors import BerbenchError
from berbench.forge.credentials import Credentials
from berbench.forge.transport import Patience, Transport
from berbench.masking import mask
from samplecopy import sample_at

CANARY = "ghp_canary/+0123456789"
BASIC = b64encode(f"x-access-token:{CANARY}".encode()).decode()
VERBS = (
    "init",
    "doctor --json",
    "task scan --json --no-api",
    "task create 4 --no-api",
    "task create 4",
    "task lint 4",
    "task show 4",
    "task list --json",
)
FORMS = (CANARY, BASIC, b64encode(CANARY.encode()).decode(), quote(CANARY, safe=""))


def shows(text: str) -> list[str]:
    """The forms of the canary that stand in a text; base64 also where it is a part of longer data."""
    return [form for form in FORMS if form in text or form.rstrip("=")[4:-4] in text]


@pytest.mark.parametrize("before", ["", "a", "ab", "user:"])
@pytest.mark.parametrize("after", ["", "z", "yz", "\nmore"])
def test_S08_base64_is_masked_wherever_the_secret_starts(before: str, after: str) -> None:
    encoded = b64encode(f"{before}{CANARY}{after}".encode()).decode()
    masked = mask(f"Authorization: Basic {encoded}.", [CANARY])
    assert "***" in masked and not shows(masked)
    assert masked.startswith("Authorization: Basic ") and masked.endswith(".")


@pytest.mark.parametrize("form", FORMS)
def test_S08_every_form_is_masked(form: str) -> None:
    assert not shows(mask(f"before {form} after", ["other", CANARY]))


@pytest.mark.parametrize("secret", ["", "a", "abc"])
def test_S08_what_is_too_short_for_a_secret_blots_out_nothing(secret: str) -> None:
    assert mask("abc a abcabc", [secret]) == "abc a abcabc"


@pytest.fixture
def echo() -> Iterator[ForgeServer]:
    server = ForgeServer()
    yield server
    server.close()


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418, 422, 500])
@pytest.mark.parametrize("key", ["message", "error"])
def test_S08_a_forge_that_echoes_the_token_makes_no_message_tell_it(
    echo: ForgeServer, status: int, key: str
) -> None:
    def answer(request: Request) -> Reply:
        assert request.headers["authorization"] == f"Bearer {CANARY}"
        return Reply(status, {key: f"bad header {request.headers['authorization']} ({BASIC})"})

    echo.routes["/api/x"] = answer
    transport = Transport(
        f"{echo.url}/api",
        credentials=Credentials("GITHUB_TOKEN", CANARY),
        headers={},
        cache=None,
        patience=Patience(attempts=1, sleep=lambda seconds: None),
    )
    with pytest.raises(BerbenchError) as caught:
        transport.get("x")
    transport.close()
    error = caught.value
    told = "\n".join((error.message, error.remedy, *error.details, str(error), repr(error), repr(transport)))
    assert not shows(told), told


def test_S08_proxies_passwords_are_known_in_every_spelling() -> None:
    proxies = proxy_arguments(
        {"http_proxy": "http://me:p%40ss%2Fword@proxy.example:3128", "HTTPS_PROXY": "proxy:1"}
    )
    assert set(proxy_passwords(proxies)) == {"p%40ss%2Fword", "p@ss/word"}
    assert mask("export http_proxy=http://me:p%40ss%2Fword@proxy", proxy_passwords(proxies)).count("***") == 1


def test_S08_no_verb_shows_or_keeps_a_token_or_the_remotes_password(tmp_path: Path) -> None:
    """Every verb that needs no engine; the remote holds a password, and the environment tokens."""
    root, data = tmp_path / "tally", tmp_path / "data"
    sample_at(root)
    remote = f"https://me:{quote(CANARY, safe='')}@git.example.invalid/acme/tally.git"
    subprocess.run(["git", "-C", str(root), "remote", "add", "origin", remote], check=True)
    env = {"GITHUB_TOKEN": CANARY, "GITLAB_TOKEN": CANARY, "BERBENCH_DATA_DIR": str(data), "SECRET": CANARY}
    code = (
        "import sys\nfrom berbench.cli.app import main\n"
        f"for line in {VERBS!r}:\n"
        f"    sys.argv = ['berbench', '-C', {str(root)!r}, *line.split()]\n"
        "    try:\n        main()\n    except SystemExit as ended:\n        print(line, ended.code)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    out = said.stdout + said.stderr
    assert "task create 4 --no-api 0" in out and "doctor" in out, out
    assert not shows(out), out
    kept = [path for folder in (data, root / ".ber") for path in folder.rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert not shows(path.read_bytes().decode("utf-8", "replace")), path
