"""What the house asks of a code forge.

Errors: ForgeError and its kinds NotOnForge and RateLimited.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from berbench.model.changes import Issue, PullRequest


class Forge(Protocol):
    """A GitHub or GitLab repository over its API."""

    @property
    def credentials(self) -> str:
        """What gave the token ("GITHUB_TOKEN", "gh auth token"), "" without one; never the value."""

    def check(self) -> str:
        """Ask the API for the repository; one line on the access found (scopes, rate limit left)."""

    def pull_request(self, number: int) -> PullRequest:
        """One pull request, with the issues it closed."""

    def issue(self, number: int) -> Issue:
        """One issue."""

    def branch_commits(self, number: int) -> tuple[tuple[str, str], ...]:
        """(sha, subject) of the pull request's own commits, oldest first: what a rebased series is matched with."""

    def pull_requests_of(self, commit: str) -> Sequence[int]:
        """Numbers of merged pull requests that the forge ties to a commit."""

    def close(self) -> None:
        """Close connections."""
