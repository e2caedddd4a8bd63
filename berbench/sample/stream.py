"""A git history as the bytes that `git fast-import` reads.

Format: https://git-scm.com/docs/git-fast-import. Authors, dates and contents are all given, so the commit ids
are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

START = datetime(2024, 3, 4, 9, 0, tzinfo=UTC)
STEP = timedelta(hours=31)  # between two commits: days and times of day both move

Files = Mapping[str, str | None]  # path → new contents; None deletes


@dataclass(slots=True)
class Stream:
    """Commits in the order they are made, each dated one `STEP` after the one before."""

    parts: list[bytes] = field(default_factory=list)
    commits: int = 0

    def commit(
        self, branch: str, message: str, files: Files, *, author: str, parents: Sequence[int] = ()
    ) -> int:
        """Add a commit to a branch; its mark. The first parent's files are where `files` start from.

        Without parents the branch begins anew. A merge is written as its result against the first parent.
        """
        self.commits += 1
        mark = self.commits
        when = f"{int((START + STEP * mark).timestamp())} +0000"
        lines = [b"commit refs/heads/" + branch.encode(), b"mark :%d" % mark]
        lines += [f"{role} {author} {when}".encode() for role in ("author", "committer")]
        lines.append(_data(message))
        lines += [b"%s :%d" % (b"merge" if n else b"from", parent) for n, parent in enumerate(parents)]
        for path, text in files.items():
            if text is None:
                lines.append(b"D " + path.encode())
            else:
                lines += [b"M 100644 inline " + path.encode(), _data(text)]
        self.parts.append(b"\n".join(lines) + b"\n\n")
        return mark

    def tag(self, name: str, mark: int) -> None:
        """Point a light-weight tag at a commit."""
        self.parts.append(b"reset refs/tags/%s\nfrom :%d\n\n" % (name.encode(), mark))

    def drop(self, branch: str) -> None:
        """Delete a branch, as forges do after a merge; merged commits stay."""
        self.parts.append(b"reset refs/heads/%s\nfrom %s\n\n" % (branch.encode(), b"0" * 40))

    def bytes(self) -> bytes:
        """The whole stream."""
        return b"feature done\n" + b"".join(self.parts) + b"done\n"


def _data(text: str) -> bytes:
    data = text.encode()
    return b"data %d\n%s" % (len(data), data)
