"""Answers kept with their ETag, so that asking again costs no rate limit. Losing it loses nothing.

One small file an address; no header and no token is kept. Files are for their owner's eyes, since issues of
private repositories stand in them.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

_SCHEMA = "berbench.forge-cache/1"


@dataclass(frozen=True, slots=True)
class Cached:
    """An answer as it was: its ETag, its JSON and the next page's address."""

    etag: str
    data: object
    next_url: str


class EtagCache:
    """A folder of answers. A folder of None, or one that can't be written, keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def load(self, url: str) -> Cached | None:
        """The answer kept for an address; None when there is none, or it can't be read."""
        if self._folder is None:
            return None
        try:
            kept = json.loads(self._path(self._folder, url).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or kept.get("schema") != _SCHEMA or kept.get("url") != url:
            return None
        etag, next_url = kept.get("etag"), kept.get("next")
        if (
            not isinstance(etag, str)
            or not isinstance(next_url, str)
            or not isinstance(kept.get("data"), (dict, list))
        ):
            return None
        return Cached(etag, kept["data"], next_url)

    def store(self, url: str, answer: Cached) -> None:
        """Keep an answer; a reader sees the old file or the new one."""
        if self._folder is None:
            return
        kept = {
            "schema": _SCHEMA,
            "url": url,
            "etag": answer.etag,
            "next": answer.next_url,
            "data": answer.data,
        }
        temporary = ""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".berbench-", suffix=".part")
            with os.fdopen(handle, "w", encoding="ascii") as file:
                json.dump(kept, file)
            Path(temporary).replace(self._path(self._folder, url))
        except OSError:
            if temporary:
                Path(temporary).unlink(missing_ok=True)

    @staticmethod
    def _path(folder: Path, url: str) -> Path:
        return folder / f"{hashlib.sha256(url.encode()).hexdigest()[:40]}.json"
