"""Does an image hold the tree it was built from? Trials bring changes alone, so what a build left out stays out."""

from __future__ import annotations

from dataclasses import dataclass

from berbench.engine.door import Engine
from berbench.history.door import History
from berbench.model.changes import GITLINK
from berbench.model.trial import Image
from berbench.store import DataDir

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ImageTree:
    """How an image's work tree differs from the tree of its build. Counts are of the tree's files."""

    files: int
    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()  # of which the mode alone is another, as after `chmod -R`

    @property
    def absent(self) -> bool:
        """Whether the image's working folder holds nothing of the tree at all."""
        return self.files > 0 and len(self.missing) == self.files

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each kind of difference."""
        said = []
        if self.missing:
            said.append(f"the image lacks {_some(self.missing)} of the base tree: see COPY and .dockerignore")
        if self.changed:
            said.append(f"the build changed {_some(self.changed)} of the base tree")
        return tuple(said)


def read_image_tree(engine: Engine, history: History, data: DataDir, image: Image) -> ImageTree:
    """Compare an image with its tree; once an image, since reading it takes a while."""
    known = data.image_differences(image.id)
    files = {entry.path: entry for entry in history.list_tree(image.tree) if entry.mode != GITLINK}
    if known is None or "modes" not in known:
        held = {entry.path: entry for entry in engine.work_tree(image, files.keys())}
        missing = [path for path in files if path not in held]
        # Ids of a sha256 repository can't be compared with those that are computed here.
        changed = [
            path for path, entry in held.items() if entry.id != files[path].id and len(files[path].id) == 40
        ]
        modes = [
            path
            for path, entry in held.items()
            if entry.id == files[path].id and entry.mode != files[path].mode
        ]
        known = {"missing": missing, "changed": changed, "modes": modes}
        data.keep_image_differences(image.id, known)
    return ImageTree(len(files), *(tuple(known[kind]) for kind in ("missing", "changed", "modes")))


def _some(paths: tuple[str, ...]) -> str:
    names = ", ".join(repr(path) for path in paths[:_SHOWN])
    return names if len(paths) <= _SHOWN else f"{names} and {len(paths) - _SHOWN} more files"
