"""A repository's place in an API, and what is told apart there: one thing missing, or the whole place unseen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from berbench.errors import ForgeError, NotOnForge
from berbench.forge.credentials import Credentials
from berbench.forge.shapes import Shape
from berbench.forge.transport import Answer, Transport
from berbench.model.changes import PullRequest, Repository


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


class Hosted(ABC):
    """What every forge of `forge.door.Forge` does alike. `path` is the repository's own address in its API."""

    def __init__(
        self, repository: Repository, transport: Transport, credentials: Credentials, path: str
    ) -> None:
        self._repository = repository
        self._transport = transport
        self._credentials = credentials
        self._home = Home(transport, path, f"{repository.host}/{repository.slug}")
        self._pulls: dict[int, PullRequest] = {}  # told once a command, so that all of it sees one state

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._repository.host}/{self._repository.slug})"

    @property
    def credentials(self) -> str:
        """Which variable or command gave the token, "" without one."""
        return self._credentials.source

    def pull_request(self, number: int) -> PullRequest:
        """One pull or merge request, with the issues it closed."""
        if number not in self._pulls:
            self._pulls[number] = self._pull_request(number)
        return self._pulls[number]

    def close(self) -> None:
        """Close connections."""
        self._transport.close()

    @abstractmethod
    def _pull_request(self, number: int) -> PullRequest:
        """Read one from the API."""
