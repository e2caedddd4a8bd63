"""The files door: the repository's `.ber/bench/`, and the user's data folder beside it."""

from berbench.store.datadir import DataDir, Last
from berbench.store.files import read_named_file, read_text_file
from berbench.store.project import Project, checked_id

__all__ = ["DataDir", "Last", "Project", "checked_id", "read_named_file", "read_text_file"]
