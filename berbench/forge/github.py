"""GitHub and GitHub Enterprise over the REST API, and GraphQL for the issues a pull request closed."""

from __future__ import annotations

from collections.abc import Sequence

from berbench.errors import ForgeDown, ForgeError, NotOnForge, RateLimited
from berbench.forge.credentials import Credentials
from berbench.forge.home import Hosted
from berbench.forge.shapes import Shape
from berbench.forge.transport import Transport
from berbench.landings import closing_issues
from berbench.model.changes import Issue, PullRequest, Repository

HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}

_CLOSES = """query($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      closingIssuesReferences(first: 50) { nodes { number repository { nameWithOwner } } }
    }
  }
}"""


def api_url_of(host: str) -> str:
    """Where a host's API is: api.github.com, api.<name>.ghe.com, or /api/v3 of an enterprise server."""
    if host == "github.com" or host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def graphql_url_of(api_url: str) -> str:
    """Where GraphQL is beside the REST API."""
    return f"{api_url.removesuffix('/v3')}/graphql"


class GitHubForge(Hosted):
    """A GitHub repository; implements `forge.door.Forge`."""

    def __init__(self, repository: Repository, transport: Transport, credentials: Credentials) -> None:
        super().__init__(repository, transport, credentials, f"/repos/{repository.slug}")

    def check(self) -> str:
        """Ask for the repository; one line on the access found."""
        answer = self._home.ask()
        found = Shape(answer.data, self._repository.slug)
        parts = [f"{self._repository.host}/{found.text('full_name')} can be read"]
        parts.append(f"token from {self.credentials}" if self.credentials else "no token")
        if scopes := answer.headers.get("x-oauth-scopes"):
            parts.append(f"scopes {scopes}")
        if "x-ratelimit-remaining" in answer.headers:
            limit = answer.headers.get("x-ratelimit-limit", "?")
            parts.append(f"{answer.headers['x-ratelimit-remaining']} of {limit} requests left")
        if self._credentials.note:
            parts.append(self._credentials.note)
        return ", ".join(parts)

    def _pull_request(self, number: int) -> PullRequest:
        found, answer = self._home.one(f"/pulls/{number}", f"pull request #{number}")
        title, body = found.text("title"), found.text("body", "")
        merged = found.flag("merged")
        return PullRequest(
            number=number,
            title=title,
            body=body,
            url=found.text("html_url"),
            merged=merged,
            landing_commit=found.text("merge_commit_sha", "") if merged else "",
            head_commit=found.inner("head").text("sha"),
            source_branch=found.inner("head").text("ref", ""),
            target_branch=found.inner("base").text("ref"),
            commits=found.optional_number("commits"),
            closes=self._closes(number, f"{title}\n\n{body}", answer.headers.get("etag", "")),
            merged_at=found.time("merged_at"),
            labels=tuple(Shape(label, "a label").text("name") for label in found.items("labels")),
        )

    def issue(self, number: int) -> Issue:
        """One issue. A transferred one is followed and keeps the number asked for."""
        found, _ = self._home.one(f"/issues/{number}", f"issue #{number}")
        bot = "user" in found and found.inner("user").text("type", "") == "Bot"
        return Issue(
            number=number,
            title=found.text("title"),
            body=found.text("body", ""),
            url=found.text("html_url"),
            author_is_bot=bot,
            is_pull_request="pull_request" in found,
        )

    def branch_commits(self, number: int) -> tuple[tuple[str, str], ...]:
        """(sha, subject) of the pull request's own commits, oldest first. GitHub lists 250 at most."""
        commits = []
        for item in self._home.pages(f"/pulls/{number}/commits?per_page=100"):
            found = Shape(item, f"a commit of pull request #{number}")
            message = found.inner("commit").text("message", "")
            commits.append((found.text("sha"), message.partition("\n")[0].rstrip("\r")))
        return tuple(commits)

    def pull_requests_of(self, commit: str) -> Sequence[int]:
        """Numbers of merged pull requests that GitHub ties to a commit; none for a commit it doesn't know."""
        numbers = []
        try:
            for item in self._home.pages(f"/commits/{commit}/pulls?per_page=100"):
                found = Shape(item, f"a pull request of {commit[:10]}")
                if "merged_at" in found:
                    numbers.append(found.number("number"))
        except NotOnForge:
            return ()
        return tuple(numbers)

    def _closes(self, number: int, text: str, etag: str) -> tuple[int, ...]:
        """GitHub's own list (it knows hand-made links too), else the closing keywords in title and body."""
        listed = self._listed(number, etag) if self.credentials else ()
        return listed or tuple(n for n in closing_issues(text, self._repository.slug) if n != number)

    def _listed(self, number: int, etag: str) -> tuple[int, ...]:
        owner, _, name = self._repository.slug.partition("/")
        body = {"query": _CLOSES, "variables": {"owner": owner, "name": name, "number": number}}
        try:
            answer = self._transport.post(graphql_url_of(self._transport.api_url), body, etag=etag)
            data = Shape(answer.data, "GraphQL").inner("data").inner("repository").inner("pullRequest")
            nodes = data.inner("closingIssuesReferences").items("nodes")
            issues = [Shape(node, "a closed issue") for node in nodes if node is not None]
            slug = self._repository.slug.lower()
            return tuple(
                issue.number("number")
                for issue in issues
                if issue.inner("repository").text("nameWithOwner").lower() == slug
            )
        except (ForgeDown, RateLimited):
            raise
        except ForgeError:
            # Older enterprise servers lack the field, narrow tokens may not use GraphQL: the keywords remain.
            return ()
