"""A repository's place in an API, and what is told apart there: one thing missing, or the whole place unseen."""

from __future__ import annotations

from collections.abc import Iterator

from berbench.errors import ForgeError, NotOnForge
from berbench.forge.shapes import Shape
from berbench.forge.transport import Answer, Transport


class Home:
    """`path` is the repository's own address in the API, `name` what people call it.

    Forges answer 404 for whatever a token may not see. So before anything is said to be missing, the repository
    itself is asked for, once; ForgeError when it can't be seen, NotOnForge when only the thing is missing.
    """

    def __init__(self, transport: Transport, path: str, name: str) -> None:
        self._transport = transport
        self._path = path
        self._name = name
        self._seen = False

    def ask(self) -> Answer:
        """The repository itself, past the cache."""
        try:
            answer = self._transport.get(self._path, fresh=True)
        except NotOnForge as cause:
            raise ForgeError(f"{self._name} can't be seen: {cause.message}", remedy=cause.remedy) from cause
        self._seen = True
        return answer

    def one(self, path: str, what: str) -> tuple[Shape, Answer]:
        """One thing below the repository, and the answer it came in."""
        try:
            answer = self._transport.get(f"{self._path}{path}")
        except NotOnForge as cause:
            self._must_be_seen()
            raise NotOnForge(f"{self._name} shows no {what}: {cause.message}", remedy=cause.remedy) from cause
        return Shape(answer.data, what), answer

    def pages(self, path: str) -> Iterator[object]:
        """Every element of a list below the repository."""
        try:
            yield from self._transport.pages(f"{self._path}{path}")
        except NotOnForge:
            self._must_be_seen()
            raise

    def _must_be_seen(self) -> None:
        if not self._seen:
            self.ask()
