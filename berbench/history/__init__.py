"""The history door: git, read-only. `GitHistory` is the real thing behind the protocol in `door`."""

from berbench.history.repository import GitHistory

__all__ = ["GitHistory"]
