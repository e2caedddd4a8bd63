"""From JSON to typed values: fields are checked where they are read, so no page for people passes as data."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from berbench.errors import ForgeError


class Shape:
    """One JSON object with typed access. `what` names it in errors. Errors: ForgeError."""

    def __init__(self, data: object, what: str) -> None:
        if not isinstance(data, Mapping):
            raise _wrong(what, "an object was expected")
        self._data = data
        self._what = what

    def __contains__(self, key: str) -> bool:
        return self._data.get(key) is not None

    def text(self, key: str, default: str | None = None) -> str:
        """A string; null or absent gives `default`, or is an error without one."""
        value = self._data.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise _wrong(self._what, f"{key} is no text")
        return whole_text(value)

    def number(self, key: str) -> int:
        """A whole number."""
        value = self._data.get(key)
        if not isinstance(value, int) or isinstance(value, bool):
            raise _wrong(self._what, f"{key} is no number")
        return value

    def optional_number(self, key: str) -> int | None:
        """A whole number, or None where null or absent."""
        return None if self._data.get(key) is None else self.number(key)

    def flag(self, key: str) -> bool:
        """True or false; absent is an error."""
        value = self._data.get(key)
        if not isinstance(value, bool):
            raise _wrong(self._what, f"{key} is neither true nor false")
        return value

    def items(self, key: str) -> list[object]:
        """A list; null or absent gives an empty one."""
        value = self._data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise _wrong(self._what, f"{key} is no list")
        return value

    def inner(self, key: str) -> Shape:
        """An object inside; null or absent is an error."""
        return Shape(self._data.get(key), f"{self._what}'s {key}")

    def time(self, key: str) -> datetime | None:
        """A moment with its zone, or None where null or absent."""
        value = self.text(key, "")
        if not value:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError as cause:
            raise _wrong(self._what, f"{key} is no time") from cause
        if moment.tzinfo is None:
            raise _wrong(self._what, f"{key} has no zone")
        return moment


def whole_text(text: str) -> str:
    """The text with halves of surrogate pairs replaced: JSON can hold them, no file or terminal can."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _wrong(what: str, why: str) -> ForgeError:
    return ForgeError(
        f"the forge's answer about {what} has another shape than its API documents: {why}",
        remedy="check api_url in the config; it may not be this forge's API",
    )
