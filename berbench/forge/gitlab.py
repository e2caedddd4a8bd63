"""GitLab.com and self-managed GitLab over REST API v4, sub-groups included."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from berbench.errors import ForgeDown, ForgeError, NotOnForge, RateLimited
from berbench.forge.credentials import Credentials
from berbench.forge.home import Hosted
from berbench.forge.shapes import Shape, whole_text
from berbench.forge.transport import Transport
from berbench.landings import closing_issues
from berbench.model.changes import Issue, PullRequest, Repository

HEADERS = {"Accept": "application/json"}

# Names that GitLab itself gives to project and group access tokens' users, and its own service accounts.
_BOT = re.compile(
    r"(?:project|group)_\d+_bot.*|.*[-_]bot|ghost|gitlab-bot|support-bot|alert-bot", re.IGNORECASE
)


def api_url_of(host: str) -> str:
    """Where a host's API is."""
    return f"https://{host}/api/v4"


class GitLabForge(Hosted):
    """A GitLab project; implements `forge.door.Forge`."""

    def __init__(self, repository: Repository, transport: Transport, credentials: Credentials) -> None:
        super().__init__(repository, transport, credentials, f"/projects/{quote(repository.slug, safe='')}")

    def check(self) -> str:
        """Ask for the project; one line on the access found."""
        answer = self._home.ask()
        found = Shape(answer.data, self._repository.slug)
        parts = [f"{self._repository.host}/{found.text('path_with_namespace')} can be read"]
        parts.append(f"token from {self.credentials}" if self.credentials else "no token")
        if "ratelimit-remaining" in answer.headers:
            limit = answer.headers.get("ratelimit-limit", "?")
            parts.append(f"{answer.headers['ratelimit-remaining']} of {limit} requests left")
        if self._credentials.note:
            parts.append(self._credentials.note)
        return ", ".join(parts)

    def _pull_request(self, number: int) -> PullRequest:
        found, _ = self._home.one(f"/merge_requests/{number}", f"merge request !{number}")
        title, body = found.text("title"), found.text("description", "")
        merged = found.text("state") == "merged"
        head = found.text("sha", "")
        # A fast-forward leaves neither a merge nor a squash commit: the head itself has landed.
        landing = found.text("merge_commit_sha", "") or found.text("squash_commit_sha", "") or head
        return PullRequest(
            number=number,
            title=title,
            body=body,
            url=found.text("web_url"),
            merged=merged,
            landing_commit=landing if merged else "",
            head_commit=head,
            source_branch=found.text("source_branch"),
            target_branch=found.text("target_branch"),
            commits=None,
            closes=self._closes(number, f"{title}\n\n{body}", found.optional_number("target_project_id")),
            merged_at=found.time("merged_at"),
            labels=tuple(whole_text(label) for label in found.items("labels") if isinstance(label, str)),
        )

    def issue(self, number: int) -> Issue:
        """One issue."""
        found, _ = self._home.one(f"/issues/{number}", f"issue #{number}")
        author = found.inner("author").text("username", "") if "author" in found else ""
        return Issue(
            number=number,
            title=found.text("title"),
            body=found.text("description", ""),
            url=found.text("web_url"),
            author_is_bot=bool(_BOT.fullmatch(author)),
        )

    def branch_commits(self, number: int) -> tuple[tuple[str, str], ...]:
        """(sha, subject) of the merge request's own commits, oldest first (GitLab tells newest first)."""
        path = f"/merge_requests/{number}/commits?per_page=100"
        commits = []
        for item in self._home.pages(path):
            found = Shape(item, f"a commit of merge request !{number}")
            subject = found.text("message", "").partition("\n")[0].rstrip("\r") or found.text("title", "")
            commits.append((found.text("id"), subject))
        return tuple(reversed(commits))

    def pull_requests_of(self, commit: str) -> Sequence[int]:
        """Numbers of merged merge requests that GitLab ties to a commit; none for an unknown one."""
        numbers = []
        try:
            for item in self._home.pages(f"/repository/commits/{commit}/merge_requests?per_page=100"):
                found = Shape(item, f"a merge request of {commit[:10]}")
                if found.text("state", "") == "merged":
                    numbers.append(found.number("iid"))
        except NotOnForge:
            return ()
        return tuple(numbers)

    def _closes(self, number: int, text: str, project: int | None) -> tuple[int, ...]:
        """GitLab's own list, else the closing keywords in title and description."""
        return self._listed(number, project) or closing_issues(text, self._repository.slug)

    def _listed(self, number: int, project: int | None) -> tuple[int, ...]:
        issues = []
        try:
            for item in self._home.pages(f"/merge_requests/{number}/closes_issues?per_page=100"):
                found = Shape(item, f"an issue closed by !{number}")
                # Issues of outside trackers have no number here, those of other projects another one's.
                if "iid" in found and found.optional_number("project_id") in (None, project):
                    issues.append(found.number("iid"))
        except (ForgeDown, RateLimited):
            raise
        except ForgeError:
            return ()
        return tuple(issues)
