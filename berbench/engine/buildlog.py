"""What the classic builder says while it builds."""

from __future__ import annotations

import json
import re

from berbench.engine.capture import Capture
from berbench.engine.door import Say


class Output:
    """Reads its stream, one JSON document a line; `step` is the last that began, `error` what ended it."""

    def __init__(self, say: Say) -> None:
        self.step = ""
        self.error = ""
        self._say = say
        self._rest = b""

    def feed(self, piece: bytes, log: Capture) -> None:
        """Take the next bytes; the log gets what a person would read."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            if line.strip():
                self._line(line, log)

    def _line(self, line: bytes, log: Capture) -> None:
        try:
            said = json.loads(line)
        except ValueError:
            return
        text = str(said.get("stream") or "")
        log.feed(text.encode("utf-8", "surrogatepass"))
        if found := re.match(r"Step \d+/\d+ : (.*)", text, re.S):
            self.step = found[1].strip()
            self._say(" ".join(text.split())[:200])
        if "error" in said or "errorDetail" in said:
            self.error = str(said.get("error") or (said.get("errorDetail") or {}).get("message") or "failed")
