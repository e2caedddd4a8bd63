from __future__ import annotations

import pytest

from berbench.errors import UsageError
from berbench.forge.remote import parse_pull_request, parse_remote, provider_of
from berbench.model.changes import Repository

CLICK = Repository("github.com", "pallets/click", "github")
DEEP = Repository("git.example.com:8443", "a/b/c/project", "gitlab")


@pytest.mark.parametrize(
    ("url", "host", "slug", "provider"),
    [
        ("https://github.com/pallets/click.git", "github.com", "pallets/click", "github"),
        ("https://github.com/pallets/click/", "github.com", "pallets/click", "github"),
        ("https://user:secret@github.com/pallets/click", "github.com", "pallets/click", "github"),
        ("https://WWW.GitHub.com/Pallets/Click", "github.com", "Pallets/Click", "github"),
        ("git@github.com:pallets/click.git", "github.com", "pallets/click", "github"),
        ("github.com:pallets/click", "github.com", "pallets/click", "github"),
        ("org-123@github.com:pallets/click", "github.com", "pallets/click", "github"),
        ("ssh://git@github.com:22/pallets/click.git", "github.com", "pallets/click", "github"),
        ("ssh://git@ssh.github.com:443/pallets/click.git", "github.com", "pallets/click", "github"),
        ("git+ssh://git@github.com/pallets/click.git", "github.com", "pallets/click", "github"),
        ("git://github.com/pallets/click", "github.com", "pallets/click", "github"),
        ("https://corp.ghe.com/team/app", "corp.ghe.com", "team/app", "github"),
        ("git@github.example.com:team/app.git", "github.example.com", "team/app", "github"),
        ("https://gitlab.com/a/b/c/d.git", "gitlab.com", "a/b/c/d", "gitlab"),
        ("git@altssh.gitlab.com:a/b.git", "gitlab.com", "a/b", "gitlab"),
        ("https://gitlab.example.org:8443/a/b", "gitlab.example.org:8443", "a/b", "gitlab"),
        ("https://gitlab.example.org:443/a/b", "gitlab.example.org", "a/b", "gitlab"),
        ("ssh://git@my.gitlab.example.org:2222/a/b/c.git", "my.gitlab.example.org", "a/b/c", "gitlab"),
        ("https://git.example.org/a/b", "git.example.org", "a/b", ""),
        ("git@bitbucket.org:team/app.git", "bitbucket.org", "team/app", ""),
        ("git@[::1]:team/app.git", "[::1]", "team/app", ""),
        ("https://github.com/a/b/c", "github.com", "a/b/c", ""),
    ],
)
def test_remotes_in_every_form(url: str, host: str, slug: str, provider: str) -> None:
    assert parse_remote(url) == Repository(host, slug, provider)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/git/app.git",
        "../app",
        "file:///srv/app",
        r"C:\work\app",
        "C:/work/app",
        "https://github.com/",
        "https://[bad/x/y",
    ],
)
def test_what_is_on_no_forge_is_empty(url: str) -> None:
    assert parse_remote(url) == Repository()


def test_the_config_may_name_the_provider() -> None:
    assert parse_remote("https://git.example.org/a/b", "gitlab").provider == "gitlab"
    assert parse_remote("https://github.com/a/b", "none") == Repository("github.com", "a/b", "")
    assert provider_of("mygitlabserver.example.org") == ""


@pytest.mark.parametrize(
    "argument",
    [
        "2800",
        " #2800 ",
        "!2800",
        "GH-2800",
        "pallets/click#2800",
        "https://github.com/pallets/click/pull/2800",
        "https://github.com/Pallets/Click/pull/2800/files#diff-0",
        "http://www.github.com/pallets/click/pull/2800?w=1",
        "github.com/pallets/click/pull/2800/commits/abc1234",
        "https://github.com/pallets/click/pull/2800.diff",
        "https://api.github.com/repos/pallets/click/pulls/2800",
    ],
)
def test_pull_requests_by_number_and_address(argument: str) -> None:
    assert parse_pull_request(argument, CLICK) == 2800


@pytest.mark.parametrize(
    "tail", ["/-/merge_requests/7", "/merge_requests/7/diffs", "/-/merge_requests/7#note_1"]
)
def test_merge_requests_below_sub_groups_and_ports(tail: str) -> None:
    assert parse_pull_request(f"https://git.example.com:8443/a/b/c/project{tail}", DEEP) == 7


@pytest.mark.parametrize(
    ("argument", "named"),
    [
        ("https://github.com/pallets/flask/pull/5", "github.com/pallets/flask"),
        ("https://gitlab.com/pallets/click/-/merge_requests/5", "gitlab.com/pallets/click"),
        ("https://github.example.com/pallets/click/pull/5", "github.example.com/pallets/click"),
        ("pallets/flask#5", "github.com/pallets/flask"),
    ],
)
def test_another_repository_is_refused_and_both_are_named(argument: str, named: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_pull_request(argument, CLICK)
    assert named in caught.value.message and "github.com/pallets/click" in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    "argument",
    ["", "0", "-1", "1.5", "abc", "٣", "99999999999", "https://github.com/pallets/click", "two words/x"],
)
def test_what_is_no_pull_request_is_refused(argument: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_pull_request(argument, CLICK)
    assert caught.value.remedy


def test_an_issue_or_commit_page_is_told_apart() -> None:
    for kind, path in (("issue", "issues/5"), ("commit", "commit/abc1234"), ("compare", "compare/a...b")):
        with pytest.raises(UsageError, match=f"of kind {kind}"):
            parse_pull_request(f"https://github.com/pallets/click/{path}", CLICK)


def test_an_address_says_nothing_without_a_remote_and_hides_its_password() -> None:
    with pytest.raises(UsageError) as caught:
        parse_pull_request("https://me:secret@github.com/pallets/click/pull/5", Repository())
    assert "secret" not in caught.value.message and "number alone" in caught.value.remedy
