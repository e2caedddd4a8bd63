"""berbench's own reporters, which run inside containers, as files for a trial's kit."""

from __future__ import annotations

from importlib.resources import files

from berbench.model.changes import REGULAR, FileEntry


def kit_files(*names: str) -> tuple[FileEntry, ...]:
    """Files of the package's `kit` folder by their path in it, which is their path below KIT_DIR too."""
    folder = files("berbench.runners") / "kit"
    return tuple(FileEntry(name, REGULAR, folder.joinpath(name).read_bytes()) for name in names)
