"""What the house asks of a container engine.

A failed build, set-up line or test is a value (`Build`, `Facts`). Errors: EngineError when the engine itself
is missing, lost or failing; Refusal when a trial's change leaves the work tree; Interrupted after
`interrupt`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from berbench.engine.workspace import Workspace, WorkspaceSpec
from berbench.model.changes import FileEntry, TreeEntry
from berbench.model.trial import Build, Facts, Image, ImageRecipe, Trial

Say = Callable[[str], None]  # progress, one line at a time


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What an engine says of itself."""

    name: str  # "Docker 20.10.24"
    api_version: str
    client_version: str
    platform: str  # linux/amd64
    storage: str
    address: str  # socket or URL that answered
    free_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Leftover:
    """A container, network or image that berbench made. `in_use` while its owner process lives."""

    kind: str  # container | network | image
    id: str
    name: str
    created_s: float  # seconds since the epoch
    size_bytes: int
    in_use: bool
    key: str = ""  # of an image: the content hash of its recipe
    owner: str = ""  # of a container or network: host, boot, process and its start


class Engine(Protocol):
    """Builds images and runs trials, each in one fresh container."""

    def info(self) -> EngineInfo:
        """Versions and platform; EngineError with the remedy when nothing answers."""

    def find_image(self, key: str) -> Image | None:
        """The image built from the recipe with this key, if it is still there."""

    def build(
        self,
        recipe: ImageRecipe,
        context: Callable[[], Iterable[FileEntry]],
        *,
        timeout_s: float,
        say: Say,
    ) -> Build:
        """The image of a recipe: the one that is there, or a new one. Two callers share one build."""

    def run(self, trial: Trial) -> Facts:
        """One fresh container, removed whatever happens."""

    def work_tree(self, image: Image, paths: Container[str] | None = None) -> Iterator[TreeEntry]:
        """Files and links of the image's work tree with git modes and blob ids: all, or those in `paths`.
        For telling whether a build changed what it was given."""

    def workspace(self, wanted: WorkspaceSpec) -> AbstractContextManager[Workspace]:
        """One fresh container for an agent, laid out and waiting, removed whatever happens. EngineError also when
        something outside could be reached past the proxy; Refusal when the image can't serve."""

    def home(self, image: Image) -> str:
        """The home folder that an agent has in a workspace on this image."""

    def interrupt(self) -> None:
        """End every build and trial that this object runs, from any thread; they raise Interrupted."""

    def sweep(self) -> tuple[Leftover, ...]:
        """Remove containers and networks whose owner process is gone; what was removed."""

    def leftovers(self) -> tuple[Leftover, ...]:
        """All that carries berbench's label."""

    def remove(self, leftover: Leftover) -> None:
        """Remove one of them."""

    def close(self) -> None:
        """Close the connection."""
