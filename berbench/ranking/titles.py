"""What a title admits: words that tell of changes whose tests already pass without them."""

from __future__ import annotations

import re

# (what it is, pattern over the lower-case title). Nothing here rejects by itself: titles are only words.
_ROWS = (
    (
        "a refactoring",
        r"\brefactor|\brestructur|\breorgani[sz]|\bsimplif(y|ies|ied|ication)\b|\binternal(s|ly)?\b",
    ),
    (
        "a clean-up",
        r"\bclean[ -]?(up|ing)\b|\btid(y|ies)\b|\bdead code\b|\bunused\b|\bredundan|\bunnecessar|\bdedup",
    ),
    (
        "a move or rename",
        r"\brenam(e|es|ed|ing)\b|\bmov(e|es|ed|ing)\b .*\b(to|into|out|from)\b|\bextract(s|ed)?\b",
    ),
    (
        "lint or formatting",
        r"\b(lint(er|ing|s)?|flake8|pylint|ruff|eslint|prettier|isort|pyupgrade|pep ?8|gofmt)\b",
    ),
    (
        "lint or formatting",
        r"\bblack(en|ened)?\b|\b(re)?format(ting)? (code|files|with)\b|\bwhite ?space\b|\bcode style\b",
    ),
    (
        "typing",
        r"\b(typing|type (hint|annotation|stub|check)\w*|annotat(e|es|ed|ion|ions)|mypy|pyright|typed)\b",
    ),
    (
        "modernising",
        r"\bmoderni[sz]|\bf-?strings?\b|\buse pathlib\b|\bes6\b|\besm\b|\bcommonjs\b|\bmigrat(e|es|ion)\b",
    ),
    ("modernising", r"\b(drop|remove|end)\w* (support|py(thon)?|node)\b|\bsupport for (python|node) ?[\d.]+"),
    (
        "a deprecation",
        r"\bdeprecat(e[sd]?|ing|ions?)\b",
    ),
    (
        "tests alone",
        r"\b(add|more|improve|extend|update|fix|missing|better)\w* .*\b(tests?|test suite|coverage)\b",
    ),
    ("tests alone", r"^tests?\b|\bflaky\b|\bcoverage\b|\bunskip|\btestsuite\b|\btests? for\b"),
    ("CI", r"\b(ci|github actions?|workflows?|travis|tox|nox|pre-commit|dependabot|azure pipelines)\b"),
    ("a release", r"^(release|prepare|bump)\b|\bversion bump\b|\bbump\w* version\b|^v?\d+\.\d+(\.\d+)?\b"),
    (
        "dependencies",
        r"\b(bump|upgrade|update|pin)\w* .*\b(dependenc(y|ies)|deps|requirements|version|to v?\d)",
    ),
    ("documentation", r"\b(docs?|documentation|docstrings?|typos?|readme|changelog|spelling)\b"),
    (
        "speed alone",
        r"\b(perf(ormance)?|speed ?ups?|faster|fast path|optimi[sz]\w*|benchmarks?|memory usage|cach(e|ing) )\b",
    ),
)
_PATTERNS = tuple((label, re.compile(pattern)) for label, pattern in _ROWS)

_READ = 500  # characters of a title; some commits have all their words in it

# Trials run on Linux, where what is special to another system can't be seen to fail.
_ELSEWHERE = re.compile(r"\b(windows|win32|mac ?os|osx|darwin|cygwin|powershell|ios|android|freebsd)\b")

# "Fix" before these mends no behaviour of the program.
NEVER_A_FIX = frozenset({"lint or formatting", "typing", "tests alone", "CI", "a release", "documentation"})

# A title that names a wrong behaviour is believed over a word that merely sounds like housekeeping.
_FIX = re.compile(
    r"\b(fix(e[sd])?|bugs?|crash\w*|wrong\w*|incorrect\w*|broken|regression|raises?|handle[sd]?|allow[sd]?|error|"
    r"prevent\w*|respect\w*|support\w*|should|don't|do not|does not|doesn't|no longer|correct(ly)?|properly|"
    r"ensure\w*)\b"
)


def housekeeping(title: str) -> str:
    """What kind of housekeeping the title tells of: "a refactoring", "typing", …; "" when none."""
    lower = title[:_READ].lower()
    return next((label for label, pattern in _PATTERNS if pattern.search(lower)), "")


def other_system(title: str) -> str:
    """The operating system other than Linux that the title names; "" when it names none."""
    found = _ELSEWHERE.search(title[:_READ].lower())
    return found[1] if found else ""


def tells_a_fix(title: str) -> bool:
    """Whether the title speaks of behaviour that was wrong or missing."""
    return bool(_FIX.search(title[:_READ].lower()))
