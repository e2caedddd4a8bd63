from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from forgeserver import ForgeServer, Reply, Request

from berbench.errors import ConfigError, ForgeDown, ForgeError, NotOnForge, RateLimited
from berbench.forge import github, gitlab
from berbench.forge.credentials import find_credentials, is_loopback
from berbench.forge.door import Forge
from berbench.forge.opening import open_forge
from berbench.forge.transport import Patience
from berbench.model.changes import Repository

CLICK = Repository("github.com", "pallets/click", "github")
DEEP = Repository("gitlab.example.org", "a/b/project", "gitlab")
TOKENS = {"GITHUB_TOKEN": "token-of-hub", "GITLAB_TOKEN": "token-of-lab"}
LAB = "/api/v4/projects/a%2Fb%2Fproject"


def never(question: Sequence[str]) -> str | None:
    return None


class Opener:
    """Opens forges on the played server, and closes them all."""

    def __init__(self, server: ForgeServer, cache: Path) -> None:
        self.server = server
        self.cache = cache
        self.opened: list[Forge] = []
        server.routes["/repos/pallets/click"] = Reply(data={"full_name": "pallets/click"})
        server.routes[LAB] = Reply(data={"path_with_namespace": "a/b/project"})

    def __call__(self, repository: Repository = CLICK, environ: Mapping[str, str] = TOKENS) -> Forge:
        root = "" if repository.provider == "github" else "/api/v4"
        forge = open_forge(
            repository,
            api_url=self.server.url + root,
            cache=self.cache,
            environ=environ,
            ask=never,
            patience=Patience(sleep=lambda _: None, timeout_s=2),
        )
        self.opened.append(forge)
        return forge


@pytest.fixture
def opener(server: ForgeServer, tmp_path: Path) -> Iterator[Opener]:
    opener = Opener(server, tmp_path / "cache")
    yield opener
    for forge in opener.opened:
        forge.close()


def pull(**changes: object) -> dict[str, object]:
    return {
        "number": 5,
        "title": "Mend the default",
        "body": "closes https://github.com/pallets/click/issues/7, fixes #8 and #9\n\nsee #10",
        "html_url": "https://github.com/pallets/click/pull/5",
        "merged": True,
        "merge_commit_sha": "c" * 40,
        "head": {"sha": "d" * 40, "ref": "mend"},
        "base": {"ref": "main"},
        "commits": 2,
        "merged_at": "2024-05-01T10:00:00Z",
        "labels": [{"name": "bug"}],
        **changes,
    }


def closes(*issues: tuple[int, str]) -> dict[str, object]:
    nodes = [{"number": number, "repository": {"nameWithOwner": slug}} for number, slug in issues]
    return {"data": {"repository": {"pullRequest": {"closingIssuesReferences": {"nodes": nodes}}}}}


def test_a_pull_request_of_github(server: ForgeServer, opener: Opener) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull())
    server.routes["/graphql"] = Reply(
        data=closes((7, "Pallets/Click"), (3, "pallets/flask"), (9, "pallets/click"))
    )
    found = opener().pull_request(5)
    assert (found.title, found.landing_commit, found.head_commit) == ("Mend the default", "c" * 40, "d" * 40)
    assert (found.source_branch, found.target_branch, found.commits, found.labels) == (
        "mend",
        "main",
        2,
        ("bug",),
    )
    assert found.closes == (7, 9) and found.merged_at is not None and found.merged_at.tzinfo is not None
    asked = json.loads(next(request.body for request in server.requests if request.path == "/graphql"))
    assert asked["variables"] == {"owner": "pallets", "name": "click", "number": 5}


def test_M17_closing_keywords_stand_in_where_graphql_cannot_be_asked(
    server: ForgeServer, opener: Opener
) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull())
    assert opener(environ={}).pull_request(5).closes == (7, 8, 9)
    assert server.asked("/graphql") == 0
    for refusal in (
        Reply(403, {"message": "Resource not accessible"}),
        Reply(data={"errors": [{"message": "Field 'closingIssuesReferences' doesn't exist"}]}),
        Reply(data={"data": {"repository": None}}),
        Reply(data=closes()),
    ):
        server.routes["/graphql"] = refusal
        assert opener().pull_request(5).closes == (7, 8, 9)


def test_a_rate_limit_of_graphql_is_no_empty_list(server: ForgeServer, opener: Opener) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull())
    server.routes["/graphql"] = Reply(
        403, {"message": "secondary rate limit"}, headers={"Retry-After": "900"}
    )
    with pytest.raises(RateLimited):
        opener().pull_request(5)


@pytest.mark.parametrize(
    "broken",
    [
        Reply(502, body=b"<html>bad gateway</html>", content_type="text/html"),
        Reply(200, {"errors": [{"type": "RATE_LIMITED", "message": "limit exceeded"}]}),
    ],
)
def test_a_list_of_closed_issues_that_could_not_be_told_is_no_empty_list(
    server: ForgeServer, opener: Opener, broken: Reply
) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull())
    server.routes["/graphql"] = Reply(
        broken.status,
        broken.data,
        broken.body,
        headers={"X-RateLimit-Reset": str(int(time.time()) + 1800)},
    )
    with pytest.raises((RateLimited, ForgeDown)):
        opener().pull_request(5)


def test_nothing_is_called_missing_in_a_repository_that_cannot_be_seen(
    server: ForgeServer, opener: Opener
) -> None:
    hub, lab = opener(environ={}), opener(DEEP, environ={})
    with pytest.raises(NotOnForge):
        hub.pull_request(404)
    with pytest.raises(NotOnForge):
        lab.issue(404)
    server.routes.clear()  # a private repository, for whoever has no token
    for forge, asked in ((opener(environ={}), "pulls/5"), (opener(DEEP, environ={}), "merge_requests/5")):
        with pytest.raises(ForgeError, match="can't be seen") as caught:
            forge.pull_request(5)
        assert not isinstance(caught.value, NotOnForge), asked
        assert "private repository needs a token" in caught.value.remedy


def test_one_command_asks_for_a_pull_request_once(server: ForgeServer, opener: Opener) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull())
    server.routes["/graphql"] = Reply(data=closes((7, "pallets/click")))
    forge = opener()
    assert forge.pull_request(5) is forge.pull_request(5)
    assert (server.asked("/repos/pallets/click/pulls/5"), server.asked("/graphql")) == (1, 1)


def test_the_issues_of_an_unchanged_pull_request_are_not_asked_for_again(
    server: ForgeServer, opener: Opener
) -> None:
    address = "/repos/pallets/click/pulls/5"
    server.routes[address] = Reply(data=pull(), headers={"ETag": '"one"'})
    server.routes["/graphql"] = Reply(data=closes((7, "pallets/click")))
    assert [opener().pull_request(5).closes for _ in range(3)] == [(7,)] * 3
    assert server.asked("/graphql") == 1
    server.routes[address] = Reply(data=pull(), headers={"ETag": '"two"'})
    server.routes["/graphql"] = Reply(data={"errors": [{"message": "no such field"}]})
    assert opener().pull_request(5).closes == (7, 8, 9), "the kept answer belongs to the older state"
    server.routes["/graphql"] = Reply(data=closes((8, "pallets/click")))
    assert opener().pull_request(5).closes == (8,), "what was no answer is not kept"


def test_an_unmerged_pull_request_has_no_landing(server: ForgeServer, opener: Opener) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull(merged=False, merged_at=None, body=None))
    found = opener(environ={}).pull_request(5)
    assert (found.merged, found.landing_commit, found.body, found.merged_at) == (False, "", "", None)


@pytest.mark.parametrize(
    "change",
    [
        {"title": None},
        {"merged": "yes"},
        {"head": None},
        {"merged_at": "soon"},
        {"labels": [1]},
        {"commits": "2"},
    ],
)
def test_M16_answers_of_another_shape_are_errors(
    server: ForgeServer, opener: Opener, change: dict[str, object]
) -> None:
    server.routes["/repos/pallets/click/pulls/5"] = Reply(data=pull(**change))
    with pytest.raises(ForgeError, match="another shape"):
        opener(environ={}).pull_request(5)


def test_issues_of_github(server: ForgeServer, opener: Opener) -> None:
    issue = {"number": 7, "title": "Broken", "body": None, "html_url": "https://x", "user": None}
    server.routes["/repos/pallets/click/issues/7"] = Reply(data=issue)
    found = opener().issue(7)
    assert (found.title, found.body, found.author_is_bot, found.is_pull_request) == (
        "Broken",
        "",
        False,
        False,
    )
    server.routes["/repos/pallets/click/issues/8"] = Reply(
        data={**issue, "number": 8, "user": {"type": "Bot"}, "pull_request": {"url": "x"}}
    )
    assert opener().issue(8).author_is_bot and opener().issue(8).is_pull_request
    server.routes["/repos/pallets/click/issues/9"] = Reply(
        301, {}, headers={"Location": "/repositories/1/issues/3"}
    )
    server.routes["/repositories/1/issues/3"] = Reply(data={**issue, "number": 3})
    assert opener().issue(9).number == 9
    with pytest.raises(NotOnForge, match="issue #404"):
        opener().issue(404)


def test_commits_and_ties_of_github(server: ForgeServer, opener: Opener) -> None:
    def commits(request: Request) -> Reply:
        second = "page=2" in request.path
        link = {"Link": f'<{server.url}/repos/pallets/click/pulls/5/commits?per_page=100&page=2>; rel="next"'}
        commit = {
            "sha": ("b" if second else "a") * 40,
            "commit": {"message": "Two\r\n\r\nbody" if second else "One"},
        }
        return Reply(data=[commit], headers={} if second else link)

    server.routes["/repos/pallets/click/pulls/5/commits"] = commits
    assert opener().branch_commits(5) == (("a" * 40, "One"), ("b" * 40, "Two"))
    ties = [{"number": 5, "merged_at": "2024-01-01T00:00:00Z"}, {"number": 6, "merged_at": None}]
    server.routes[f"/repos/pallets/click/commits/{'c' * 40}/pulls"] = Reply(data=ties)
    assert opener().pull_requests_of("c" * 40) == (5,)
    assert opener().pull_requests_of("e" * 40) == ()
    server.routes[f"/repos/pallets/click/commits/{'f' * 40}/pulls"] = Reply(
        422, {"message": "No commit found for SHA"}
    )
    assert opener().pull_requests_of("f" * 40) == ()


def test_check_tells_the_access_found(server: ForgeServer, opener: Opener) -> None:
    headers = {"X-RateLimit-Remaining": "4990", "X-RateLimit-Limit": "5000", "X-OAuth-Scopes": "repo"}
    server.routes["/repos/pallets/click"] = Reply(data={"full_name": "pallets/click"}, headers=headers)
    line = opener().check()
    assert (
        line
        == "github.com/pallets/click can be read, token from GITHUB_TOKEN, scopes repo, 4990 of 5000 requests left"
    )
    assert "no token" in opener(environ={}).check()
    server.routes[LAB] = Reply(data={"path_with_namespace": "a/b/project"})
    assert "a/b/project can be read, token from GITLAB_TOKEN" in opener(DEEP).check()
    assert "token-of" not in repr(opener()) + line


def merge(**changes: object) -> dict[str, object]:
    return {
        "iid": 5,
        "title": "Mend",
        "description": "Closes #7",
        "web_url": "https://gitlab.example.org/a/b/project/-/merge_requests/5",
        "state": "merged",
        "merge_commit_sha": None,
        "squash_commit_sha": None,
        "sha": "d" * 40,
        "source_branch": "mend",
        "target_branch": "main",
        "target_project_id": 12,
        "merged_at": "2024-05-01T10:00:00.123+02:00",
        "labels": ["bug"],
        **changes,
    }


def test_a_merge_request_of_gitlab(server: ForgeServer, opener: Opener) -> None:
    page = f"{LAB}/merge_requests/5"
    server.routes[page] = Reply(data=merge())
    closed = [
        {"iid": 8, "project_id": 12},
        {"iid": 3, "project_id": 99},
        {"id": "JIRA-1", "title": "outside"},
    ]
    server.routes[f"{page}/closes_issues"] = Reply(data=closed)
    found = opener(DEEP).pull_request(5)
    assert (found.landing_commit, found.closes, found.commits, found.labels) == (
        "d" * 40,
        (8,),
        None,
        ("bug",),
    )
    assert server.requests[0].path == page, "the project's slashes travel encoded"
    server.routes[page] = Reply(data=merge(squash_commit_sha="5" * 40))
    assert opener(DEEP).pull_request(5).landing_commit == "5" * 40
    server.routes[page] = Reply(data=merge(squash_commit_sha="5" * 40, merge_commit_sha="6" * 40))
    assert opener(DEEP).pull_request(5).landing_commit == "6" * 40
    server.routes[page] = Reply(data=merge(state="opened"))
    server.routes[f"{page}/closes_issues"] = Reply(data=[])
    found = opener(DEEP).pull_request(5)
    assert (found.merged, found.landing_commit, found.closes) == (False, "", (7,))


def test_issues_commits_and_ties_of_gitlab(server: ForgeServer, opener: Opener) -> None:
    issue = {"iid": 7, "title": "Broken", "description": None, "web_url": "x", "author": {"username": "ann"}}
    server.routes[f"{LAB}/issues/7"] = Reply(data=issue)
    assert opener(DEEP).issue(7).author_is_bot is False
    server.routes[f"{LAB}/issues/7"] = Reply(data={**issue, "author": {"username": "project_12_bot_9f"}})
    assert opener(DEEP).issue(7).author_is_bot
    newest_first = [
        {"id": "b" * 40, "title": "Two", "message": "Two\n\nmore"},
        {"id": "a" * 40, "title": "One"},
    ]
    server.routes[f"{LAB}/merge_requests/5/commits"] = Reply(data=newest_first)
    assert opener(DEEP).branch_commits(5) == (("a" * 40, "One"), ("b" * 40, "Two"))
    ties = [{"iid": 5, "state": "merged"}, {"iid": 6, "state": "closed"}]
    server.routes[f"{LAB}/repository/commits/{'c' * 40}/merge_requests"] = Reply(data=ties)
    assert opener(DEEP).pull_requests_of("c" * 40) == (5,)
    assert opener(DEEP).pull_requests_of("e" * 40) == ()
    with pytest.raises(NotOnForge, match="merge request !404"):
        opener(DEEP).pull_request(404)


def test_api_addresses_of_hosts() -> None:
    assert github.api_url_of("github.com") == "https://api.github.com"
    assert github.api_url_of("corp.ghe.com") == "https://api.corp.ghe.com"
    assert github.api_url_of("github.example.com") == "https://github.example.com/api/v3"
    assert (
        github.graphql_url_of("https://github.example.com/api/v3") == "https://github.example.com/api/graphql"
    )
    assert github.graphql_url_of("https://api.github.com") == "https://api.github.com/graphql"
    assert gitlab.api_url_of("gitlab.example.com:8443") == "https://gitlab.example.com:8443/api/v4"


def test_gitlab_below_a_folder_of_its_host(server: ForgeServer, tmp_path: Path) -> None:
    server.routes["/git/api/v4/projects/a%2Fb"] = Reply(data={"path_with_namespace": "a/b"})
    repository = Repository("gitlab.example.org", "git/a/b", "gitlab")
    forge = open_forge(repository, api_url=f"{server.url}/git/api/v4/", cache=tmp_path, environ={}, ask=never)
    assert "a/b can be read" in forge.check()
    forge.close()


@pytest.mark.parametrize(
    ("repository", "api_url", "words"),
    [
        (Repository("git.example.org", "a/b", ""), "", "no forge is known for git.example.org"),
        (Repository(), "", "no forge is known for this repository"),
        (CLICK, "ftp://github.com", "no plain web address"),
        (CLICK, "https://me:pw@api.github.com", "no plain web address"),
        (CLICK, "https://[bad", "no plain web address"),
        (CLICK, "http://api.github.com", "plain http"),
    ],
)
def test_addresses_that_cannot_serve_are_refused(repository: Repository, api_url: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        open_forge(repository, api_url=api_url, cache=None, environ=TOKENS, ask=never)
    assert caught.value.remedy and "me:pw" not in str(caught.value)


GHES = Repository("github.example.com", "a/b", "github")
GHES_API = "https://github.example.com/api/v3"
LAB_COM = Repository("gitlab.com", "a/b", "gitlab")
DEEP_API = "https://gitlab.example.org/api/v4"


@pytest.mark.parametrize(
    ("repository", "api_url", "environ", "source"),
    [
        (CLICK, "https://api.github.com", {"GITHUB_TOKEN": "t"}, "GITHUB_TOKEN"),
        (CLICK, "https://api.github.com", {"GITHUB_TOKEN": "t", "GH_TOKEN": "u"}, "GH_TOKEN"),
        (
            CLICK,
            "https://api.github.com",
            {"GITHUB_TOKEN": "t", "GH_HOST": "github.example.com"},
            "GITHUB_TOKEN",
        ),
        (CLICK, "https://api.github.com", {"GH_ENTERPRISE_TOKEN": "t"}, ""),
        (GHES, GHES_API, {"GITHUB_TOKEN": "t"}, ""),
        (GHES, GHES_API, {"GITHUB_ENTERPRISE_TOKEN": "t"}, "GITHUB_ENTERPRISE_TOKEN"),
        (GHES, GHES_API, {"GH_ENTERPRISE_TOKEN": "t", "GH_HOST": "other.example.com"}, ""),
        (LAB_COM, "https://gitlab.com/api/v4", {"GITLAB_TOKEN": "t"}, "GITLAB_TOKEN"),
        (LAB_COM, "https://gitlab.com/api/v4", {"GL_TOKEN": "t"}, "GL_TOKEN"),
        (DEEP, DEEP_API, {"GITLAB_TOKEN": "t"}, "GITLAB_TOKEN"),
        (DEEP, DEEP_API, {"GITLAB_TOKEN": "t", "GITLAB_HOST": "https://gitlab.example.org"}, "GITLAB_TOKEN"),
        (DEEP, DEEP_API, {"GITLAB_TOKEN": "t", "GITLAB_HOST": "gitlab.com"}, ""),
        (DEEP, "https://evil.example.net/api/v4", {"GITLAB_TOKEN": "t"}, ""),
        (
            DEEP,
            "https://api.example.net/v4",
            {"GITLAB_TOKEN": "t", "GITLAB_HOST": "api.example.net"},
            "GITLAB_TOKEN",
        ),
        (CLICK, "https://api.github.com", {"GITHUB_TOKEN": "two words"}, ""),
        (CLICK, "https://api.github.com", {"GITHUB_TOKEN": "  "}, ""),
    ],
)
def test_tokens_go_only_where_they_belong(
    repository: Repository, api_url: str, environ: dict[str, str], source: str
) -> None:
    found = find_credentials(repository, api_url, environ, never)
    assert found.source == source and bool(found.token) == bool(source)


def test_a_token_for_another_host_is_told_of() -> None:
    found = find_credentials(GHES, GHES_API, {"GITHUB_TOKEN": "t"}, never)
    assert found.token == "" and "set GH_ENTERPRISE_TOKEN" in found.note


def test_the_forges_own_tools_are_asked_last() -> None:
    asked: list[tuple[str, ...]] = []

    def ask(question: Sequence[str]) -> str | None:
        asked.append(tuple(question))
        return "gho_fromtool\n"

    found = find_credentials(GHES, GHES_API, {}, ask)
    assert (found.source, found.token) == ("gh auth token", "gho_fromtool")
    assert asked == [("gh", "auth", "token", "--hostname", "github.example.com")]
    assert find_credentials(DEEP, DEEP_API, {}, ask).source == "glab config get"
    assert find_credentials(DEEP, DEEP_API, {}, lambda _: "no token found").token == ""
    asked.clear()
    assert (
        find_credentials(CLICK, "https://api.github.com", {"GH_TOKEN": "t"}, ask).source == "GH_TOKEN"
        and not asked
    )


def test_loopback_is_told_by_address_and_not_by_looks() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.0.0.1:80", "localhost:8080", "[::1]:80", "127.3.2.1")))
    assert not any(
        map(is_loopback, ("127.example.com", "localhost.example.com", "10.0.0.1", "", "::1.example"))
    )
