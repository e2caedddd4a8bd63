"""What a log tells about a failure that is not the tested code's: a missing package, no network, no display."""

from __future__ import annotations

import re

from berbench.evidence.reading import plain_text

_TAIL_LINES = 15
_TAIL_CHARS = 2000
_READ_BYTES = 1 << 20

# In order of how much they explain; `{}` takes the first group.
_CRATES = "the crates are not all in the image"
_CAUSES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (sentence, re.compile(pattern, re.MULTILINE))
    for sentence, pattern in (
        (  # what npx asks the registry for, because it is not there
            "the Node package {} is not installed in the image",
            r"^npm (?:error|ERR!)[^\n]{0,40} request to [^\s]{1,200}/([\w.@%-]+) failed",
        ),
        (_CRATES, r"^error: failed to (?:download|get `)|^error: no matching package named"),
        (
            "the network or name resolution is needed and not there",
            r"Temporary failure in name resolution|Name or service not known|Could not resolve host"
            r"|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|Network is unreachable|ENETUNREACH|nodename nor servname"
            r"|dial tcp: lookup |NameResolutionError|no such host|UnknownHostException",
        ),
        ("the disk is full", r"No space left on device|ENOSPC"),
        ("the command {} is not in the image", r"(?:^|: )([\w./+-]+): (?:command )?not found[ \t]*$"),
        ("the command {} is not in the image", r"exec: \"?([\w./+-]+)\"?: executable file not found"),
        (
            "the Python package {} is not installed in the image",
            r"No module named '?([\w.]+?)(?:\.__main__)?'?(?:;.*)?$",
        ),
        (
            "the Node package {} is not installed in the image",
            r"Cannot find (?:module|package) '([^'./][^']*)'",
        ),
        (
            "the Node package {} is not installed in the image",
            r"Failed to (?:load url|resolve import) \"?([^\s\"./][^\s\"]*)\"?",
        ),
        ("the Ruby file {} is not in the image", r"cannot load such file -- ([^\s/]\S*)$"),
        (
            "the PHP class {} is not in the image",
            r"PHP Fatal error: .{0,40}(?:Class|Interface|Trait) \"([^\"]+)\" not found",
        ),
        ("the file {} is missing; a build step may have to make it", r"Cannot find module '([./][^']*)'"),
        (
            "a package of the test command is not installed in the image",
            r"could not determine executable to run",
        ),
        (
            "the fixture '{}' comes from a pytest plug-in that is not installed",
            r"fixture '([^']+)' not found",
        ),
        (
            "pytest does not know the arguments {}; a plug-in is not installed",
            r"unrecognized arguments: (.+)$",
        ),
        ("pytest could not import the plug-in {}", r"Error importing plugin \"([^\"]+)\""),
        (
            "the program {} is not in the image",
            r"FileNotFoundError: \[Errno 2\] No such file or directory: '([\w.+-]+)'$",
        ),
        ("the program {} is not in the image", r"spawn ([\w.+-]+) ENOENT"),
        (
            "the Go modules are not all in the image",
            r"no required module provides package|cannot find module providing",
        ),
        (_CRATES, r"failed to (?:download|get `)|no matching package named"),
        (
            "the Maven or Gradle dependencies are not all in the image",
            r"in offline mode and the artifact|No cached version"
            r"|Could not find [^\s:]{1,300}:[^\s:]{1,300}:\S{1,300}\.$",
        ),
        (
            "a shared library is missing: {}",
            r"\b(lib[\w.+-]{1,100}\.so[\w.]{0,50}): cannot open shared object file",
        ),
        (
            "a display is needed",
            r"cannot open display|no display name|Missing X server|DISPLAY environment variable",
        ),
        (
            "a privilege is needed that no trial has: {}",
            r"\b(unshare|setns|pivot_root|ptrace|bwrap|mount)[:(][^\n]{0,120}"
            r"(?:Operation not permitted|[Pp]ermission denied|No permissions)",
        ),
        (
            "a browser's sandbox needs a privilege that no trial has; start it with --no-sandbox",
            r"No usable sandbox!|Failed to move to new namespace|Running as root without --no-sandbox",
        ),
        (
            "a path is not permitted to the container's user: {}",
            r"(?:PermissionError|EACCES)[^\n]{0,300}?'([^'\n]+)'",
        ),
        ("permission was denied", r"Permission denied|EACCES"),
        ("git does not trust the folder's owner", r"detected dubious ownership"),
        ("the tests need a git repository, and a trial's tree has no .git", r"not a git repository"),
        ("the locale is not UTF-8", r"ascii' codec can't decode|unsupported locale setting"),
        ("a service does not answer: connection refused", r"Connection refused|ECONNREFUSED"),
    )
)
_ENVIRONMENT = frozenset(
    sentence
    for sentence, _ in _CAUSES
    if sentence.startswith(("the network", "the disk")) or sentence == _CRATES
)


def diagnose_log(log: bytes) -> str:
    """One clause that names a common cause in the environment ("the Python package x is not …"), or ""."""
    text = plain_text(log[-_READ_BYTES:])
    for sentence, pattern in _CAUSES:
        if match := pattern.search(text):
            return sentence.format(match[1].strip()) if match.groups() else sentence
    return ""


def is_environment(cause: str) -> bool:
    """Whether a diagnosis is of the machine, so that a failing base trial proves nothing about the code."""
    return cause in _ENVIRONMENT


_LIMITED = re.compile(
    r"\b429\b[^\n]{0,40}Too Many Requests|HTTP (?:error|status)[^\n]{0,40} 429\b"
    r"|^npm (?:error|ERR!) code E429|toomanyrequests",
    re.MULTILINE | re.IGNORECASE,
)
_BUILD_LINES = 40


def diagnose_build(log: str) -> str:
    """What outside the Dockerfile ended a build, by the last lines of its log; "" when nothing there tells.

    Other causes are not looked for: a build names many that it went around. And a limit of requests is looked for here
    alone: in a trial, which has no network, only tests speak of one.
    """
    tail = "\n".join(log.splitlines()[-_BUILD_LINES:])
    if _LIMITED.search(plain_text(tail.encode("utf-8", "surrogateescape"))):
        return "a registry or an index refuses, for too many requests"
    cause = diagnose_log(tail.encode("utf-8", "surrogateescape"))
    return cause if is_environment(cause) else ""


_CODE = re.compile(
    r"error TS\d+|\b(?:Syntax|Import|ModuleNotFound|Attribute|Name|Type|Reference|Indentation)Error\b"
    r"|error\[E\d+\]|could not compile|COMPILATION ERROR|cannot find symbol|Compilation failed"
    r"|error: [^\n]{1,200} does not exist"
    r"|undefined: |Cannot find (?:module|name)|is not exported by|has no exported member|No matching export"
    r"|Segmentation fault|core dumped|Fatal Python error|^panic: |fatal error: |undefined reference to"
    r"|\.[ch]\w*:\d+:\d+: error|PHP (?:Fatal|Parse) error|\b(?:Load|NoMethod)Error\b",
    re.MULTILINE,
)


def code_is_to_blame(log: bytes) -> bool:
    """Whether a log shows code that can't be compiled, loaded or run: a failure before any test, and a real one."""
    return _CODE.search(plain_text(log[-_READ_BYTES:])) is not None


def log_tail(log: bytes, lines: int = _TAIL_LINES) -> tuple[str, ...]:
    """The last lines of a log that say something, capped."""
    text = plain_text(log[-(_TAIL_CHARS * 8) :])
    kept = [line.rstrip()[:300] for line in text.splitlines() if line.strip()][-lines:]
    while kept and sum(map(len, kept)) > _TAIL_CHARS:
        kept.pop(0)
    return tuple(kept)
