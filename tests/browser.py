"""Headless Chromium over its debugging pipe: no driver, no port. What a page does wrong is recorded."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
REMEDY = "install Chromium (on Debian: apt-get install chromium), or name it in BERBENCH_CHROMIUM"
_PATIENCE_S = 60.0

# The protocol's pipes are the descriptors 3 and 4, whatever they are here.
_PLUMBING = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3), os.dup2(write, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find() -> str:
    """The browser's program, "" when there is none."""
    named = os.environ.get("BERBENCH_CHROMIUM", "")
    found = (shutil.which(name) for name in ((named,) if named else NAMES))
    return next((path for path in found if path), "")


class Gone(Exception):
    """The browser's pipe was closed."""


class Page:
    """One page. `complaints` are errors of its console, `requests` all addresses that it asked for."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._rest = b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.file = ""  # the address of what is open
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._ask(f"{domain}.enable")

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            told = self._next()
            if told.get("id") == self._number:
                if "error" in told:
                    raise AssertionError(f"{method}: {told['error']}")
                return told["result"]

    def _next(self) -> Any:
        until = time.monotonic() + _PATIENCE_S
        while b"\0" not in self._rest:
            if not select.select([self._back], [], [], max(0.0, until - time.monotonic()))[0]:
                raise AssertionError("the browser does not answer")
            read = os.read(self._back, 1 << 20)
            if not read:
                raise Gone
            self._rest += read
        message, _, self._rest = self._rest.partition(b"\0")
        told = json.loads(message)
        self._note(told.get("method", ""), told.get("params", {}))
        return told

    def _note(self, method: str, params: Any) -> None:
        if method == "Runtime.exceptionThrown":
            self.complaints.append(str(params["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.complaints.append(str(params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.complaints.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def open(self, path: Path, anchor: str = "") -> None:
        """Load a file and wait until it is there."""
        self._ask("Page.navigate", url="about:blank")  # else only the anchor would change
        self.file = path.as_uri()
        self._ask("Page.navigate", url=self.file + anchor)
        until = time.monotonic() + _PATIENCE_S
        while self.run("document.readyState + location.protocol") != "completefile:":
            assert time.monotonic() < until, "the page never finished loading"
            time.sleep(0.02)

    def run(self, expression: str) -> Any:
        """The value of an expression, a promise's too."""
        told = self._ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def size(self, width: int, height: int) -> None:
        """How much of the page is seen."""
        self._ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def media(self, *, scheme: str = "light", kind: str = "") -> None:
        """Light or dark; `print` or the screen."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._ask("Emulation.setEmulatedMedia", media=kind, features=features)

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A PNG of what is seen, or of the whole page."""
        told = self._ask("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(told["data"]))


@contextmanager
def page() -> Iterator[Page]:
    """A page of a browser of its own, which ends with it."""
    program = find()
    assert program, f"there is no browser: {REMEDY}"
    for_it, to = os.pipe()
    back, from_it = os.pipe()
    folder = tempfile.mkdtemp(prefix="bb-browser-")
    command = [sys.executable, "-c", _PLUMBING, str(for_it), str(from_it)]
    command += [program, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"]
    command += ["--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
    command += [f"--user-data-dir={folder}", "about:blank"]
    log = Path(folder) / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            pass_fds=(for_it, from_it),
            start_new_session=True,
        )
    os.close(for_it)
    os.close(from_it)
    try:
        yield Page(to, back)
    except Gone as gone:
        raise AssertionError(f"the browser has ended: {log.read_text(errors='replace')[-2000:]}") from gone
    finally:
        os.close(to)
        os.close(back)
        with_group = process.pid  # its own session: the browser and all its children
        try:
            process.wait(10)  # it ends by itself when the pipe does
        except subprocess.TimeoutExpired:
            os.killpg(with_group, signal.SIGKILL)
            process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)
