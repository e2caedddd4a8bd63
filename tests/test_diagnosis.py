"""What a log says of the environment, and what it does not say."""

from __future__ import annotations

import pytest

from berbench.diagnosis import code_is_to_blame, diagnose_build, diagnose_log, is_environment

CAUSES = [
    (
        "npm error request to https://npm.example.org/jest failed, reason: getaddrinfo EAI_AGAIN",
        "Node package jest",
    ),
    ("npm ERR! request to https://npm.example.org/@scope%2fava failed", "Node package"),
    (
        "error: failed to get `serde` as a dependency of package `x`\nCould not resolve host: x",
        "the crates are not",
    ),
    ("error: no matching package named `serde` found", "the crates are not all in the image"),
    ("E   socket.gaierror: Temporary failure in name resolution", "the network or name resolution is needed"),
    (
        "Error: Failed to load url left-pad (resolved id: left-pad) in /app/a.test.js.",
        "Node package left-pad",
    ),
    ('Error: Failed to resolve import "left-pad" from "a.test.js".', "Node package left-pad"),
    ("LoadError:\n  cannot load such file -- rack/test", "the Ruby file rack/test"),
    (
        'PHP Fatal error:  Uncaught Error: Class "Acme\\Kit" not found in /app/a.php:2',
        "the PHP class Acme\\Kit",
    ),
    ("> Could not find org.acme:kit:1.", "the Maven or Gradle dependencies"),
    ("ModuleNotFoundError: No module named 'zmq'", "the Python package zmq"),
    ("sh: 1: sendmail: not found", "the command sendmail"),
]


@pytest.mark.parametrize(("log", "words"), CAUSES)
def test_a_cause_is_told_in_a_clause(log: str, words: str) -> None:
    assert words in diagnose_log(f"before\n{log}\nafter\n".encode())


@pytest.mark.parametrize(
    "log",
    [
        "",
        "1 failed, 3 passed in 0.1s",
        "Failed to load url ./missing.js (resolved id: /app/missing.js)",
        "AssertionError: cannot load such file -- ",
        "Could not find the answer.",
        "error: failed to get up",
    ],
)
def test_plain_failures_are_given_no_cause(log: str) -> None:
    assert diagnose_log(log.encode()) == ""


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: HTTP error 429 while getting https://index.example/simple/six/",
        "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x",
        "npm ERR! code E429",
        "error: HTTP status client error (429 Too Many Requests) for url (https://index.example/simple/six/)",
    ],
)
def test_D20_a_limit_of_requests_is_told_of_a_build_and_of_no_test(line: str) -> None:
    assert "too many requests" in diagnose_build(f"Step 3/4 : RUN pip install six\n{line}\nfailed\n")
    assert diagnose_log(f"{line}\n".encode()) == ""


def test_only_the_end_of_a_build_tells_what_ended_it() -> None:
    assert "the network" in diagnose_build("curl: (6) Could not resolve host: x.example\nfailed\n")
    long_ago = "Could not resolve host: x.example\n" + "and it went on\n" * 50
    assert diagnose_build(long_ago) == diagnose_build("No module named 'six'\nfailed\n") == ""


def test_only_what_lies_outside_the_code_makes_a_base_worthless() -> None:
    told = {words: is_environment(diagnose_log(log.encode())) for log, words in CAUSES}
    assert [words for words, outside in told.items() if outside] == [
        "the crates are not",
        "the crates are not all in the image",
        "the network or name resolution is needed",
    ]


@pytest.mark.parametrize(
    "log",
    [
        "src/a.ts(3,1): error TS2339: Property 'x' does not exist",
        "PHP Fatal error:  Uncaught Error: Failed opening required 'x.php'",
        "NoMethodError: undefined method `twice'",
        "error[E0432]: unresolved import `calc::twice`",
        "panic: runtime error\n",
    ],
)
def test_code_that_can_not_be_loaded_is_to_blame(log: str) -> None:
    assert code_is_to_blame(log.encode())


@pytest.mark.parametrize("log", ["", "Killed\n", "a.py:1:1: E501 line too long", "make: *** [test] Error 1"])
def test_other_ends_are_not_the_codes(log: str) -> None:
    assert not code_is_to_blame(log.encode())
