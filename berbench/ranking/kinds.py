"""What a path holds, told by its name: code, or one of the things whose change proves nothing."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache


class Kind(StrEnum):
    """Only CODE can change what a program does; TYPES never do at run time."""

    CODE = "code"
    TYPES = "type stubs"
    DOCS = "documentation"
    CI = "CI and tool settings"
    MANIFEST = "manifests"
    LOCK = "lock files"
    GENERATED = "generated or vendored files"


# The first row whose pattern is found decides. Patterns see the path in lower case.
_ROWS = (
    (Kind.LOCK, r"(^|/)(package-lock\.json|npm-shrinkwrap\.json|[^/]*\.lock|pnpm-lock\.yaml|go\.sum)$"),
    (
        Kind.GENERATED,
        r"(^|/)(_?vendor(ed)?|third[_-]?party|node_modules|dist|extern(al)?s?|bower_components)/",
    ),
    (
        Kind.GENERATED,
        r"(\.min\.(js|css)|\.map|_pb2(_grpc)?\.pyi?|\.pb\.go|\.g\.dart|[._]generated\.\w+|\.snap)$",
    ),
    (Kind.CI, r"^(\.github|\.circleci|\.gitlab|\.azure|\.ci|\.vscode|\.devcontainer)/|^\.[^/]+$"),
    (
        Kind.CI,
        r"(^|/)(tox\.ini|noxfile\.py|makefile|justfile|jenkinsfile|azure-pipelines\.ya?ml|appveyor\.ya?ml)$",
    ),
    (
        Kind.CI,
        r"(^|/)(codecov\.ya?ml|mypy\.ini|pytest\.ini|ruff\.toml|dockerfile[^/]*|[^/]*\.config\.(js|cjs|mjs|ts))$",
    ),
    (
        Kind.CI,
        r"(^|/)\.(eslint|prettier|babel|npm|nyc|mocha|editor|git|pre-commit|coverage|flake8|pylint)[^/]*$",
    ),
    (
        Kind.MANIFEST,
        r"(^|/)(pyproject\.toml|setup\.(py|cfg)|manifest\.in|pipfile|[^/]*requirements[^/]*\.(txt|in))$",
    ),
    (
        Kind.MANIFEST,
        r"(^|/)requirements/|(^|/)(package\.json|cargo\.toml|go\.mod|pom\.xml|build\.gradle(\.kts)?)$",
    ),
    (Kind.TYPES, r"\.(pyi|d\.[cm]?ts|flow)$"),
    (
        Kind.DOCS,
        r"\.(md|rst|adoc|txt|tex|png|jpe?g|gif|svg|pdf|po|pot)$|^(docs?|documentation|website|changes|news)/",
    ),
    (
        Kind.DOCS,
        r"(^|/)(changes|changelog|history|news|authors|contributors|license|copying|readme|notice)[^/]*$",
    ),
    (Kind.DOCS, r"^(examples?|benchmarks?|newsfragments|changelog(\.d)?)/"),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _ROWS)

# Text that a test reads, rather than a test.
_DATA = re.compile(r"\.(json|ya?ml|toml|csv|tsv|xml|html?|txt|snap|golden|out|in|bin|gz|zip|png|svg|md|rst)$")


@lru_cache(maxsize=8192)
def kind_of(path: str) -> Kind:
    """The kind of an implementation path."""
    lower = path.lower()
    return next((kind for kind, pattern in _PATTERNS if pattern.search(lower)), Kind.CODE)


def is_test_code(path: str) -> bool:
    """Whether a path on the tests side can hold tests, rather than data they read."""
    return not _DATA.search(path.lower())


def module_of(path: str) -> str:
    """The folder a file belongs to: changes in few of them are of one concern."""
    return path.rpartition("/")[0]
