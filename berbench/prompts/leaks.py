"""What leads to the answer: finds every place of a text that names the change, its pages, or its commits. Pure.

A place is an error where it surely leads there (an address of this repository, the pull request's number, a
commit of the branch), a warning where it may (`#7` of unknown meaning, another project's change). Code is looked
at for sure places alone, so that a colour or a comment in it stays what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from berbench.model.changes import Repository
from berbench.prompts.addresses import Page, find_addresses, judge_address
from berbench.prompts.markdown import Layout, read_layout

# Words in front of a number that make it a reference, whichever number it is.
_REFERS = (
    r"(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|implement(?:s|ed)?|address(?:es)?|see(?: also)?|refs?|references"
    r"|related to|relates to|duplicate of|dup(?:licate)? of|follow[- ]?up (?:to|of|on)|superseded by|part of|cf\.?"
    r"|(?:the |this |that |a |my |our |in )?(?:pull[- ]requests?|merge[- ]requests?|prs?|mrs?|issues?|tickets?|bugs?))"
)
_THING = (
    r"(?:(?:the|this|that|a|an|my|our)[ \t]+)?(?:pull[- ]requests?|merge[- ]requests?|prs?|mrs?|issues?|tickets?|bugs?)"
    r"(?:[ \t]+(?:number|no\.?))?[ \t:]*"
)
# In scripts that write no spaces a reference stands between letters, so words end where ASCII ends.
_SCRIPT = re.IGNORECASE | re.ASCII
_MARKED = re.compile(
    rf"(?P<thing>(?<!\w){_THING})?(?<![\w&/.#!-])(?P<mark>[#№＃]|GH-|!)(?P<number>[1-9][0-9]{{0,6}})(?:\+s?)?(?![\w-]|\.\d)",
    _SCRIPT,
)
_BEFORE = re.compile(rf"(?<!\w){_REFERS}[ \t:]*$", re.IGNORECASE)
_CHAIN = re.compile(r"(?:#|GH-|!)\d+[ \t]*(?:,|and|or|&|/|,[ \t]*and)[ \t]*$", re.IGNORECASE)
_COUNTS = re.compile(
    r"(?<!\w)(?:step|line|case|example|test|attempt|option|point|item|solution|question|part|scenario|row|column|page"
    r"|version|try|run|thread|worker|frame|method|approach|problem|rule|note|footnote|argument|arg|param|the|no\.?)"
    r"[ \t]*$",
    re.IGNORECASE,
)
_WORDED = re.compile(
    r"(?<!\w)(?:(?:the|this|that|a|my|our)[ \t]+)?"
    r"(?P<word>pull[- ]requests?|merge[- ]requests?|prs?|mrs?|issues?|tickets?|bugs?|gh|pull|pulls|merge_requests)"
    r"(?P<gap>[ \t]*+[-_/:#]?[ \t]*+(?:number|no\.?)?[ \t]*+)(?P<number>[1-9][0-9]{0,6})(?![\w]|\.\d)",
    _SCRIPT,
)
_CHANGE_WORDS = ("pull", "merge", "pr", "mr")
_HEX = re.compile(
    r"(?:(?<!\w)(?:(?:an?|the)[ \t]+)?(?:commits?|revisions?|rev|sha|changeset)[ \t:]+)?"
    r"(?<![0-9A-Za-z_])(?P<before>g|@)?(?P<id>[0-9a-f]{7,64}+)(?![0-9A-Za-z_])",
    re.IGNORECASE,
)
_CHECKSUM = re.compile(
    r"(?<![a-z])(?:sha-?\d+|md5|blake\w*|digest|checksum|integrity|etag)\b[^\n.;]{0,30}$",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^[ \t>*-]*+(?:Co-authored-by|Co-developed-by|Signed-off-by|Reviewed-by|Acked-by|Approved-by|Tested-by|Reported-by"
    r"|Suggested-by|Helped-by|Merged-by|Committed-by|Change-Id|PR-URL|Pull-Request|Merge-Request|Reviewed-on|Backport-of"
    r"|Cherry-picked-from|Differential[ -]Revision|git-svn-id|Closes-Bug|Related-Bug|Partial-Bug)[ \t]*:[^\n]*$"
    r"|^[ \t]*+\(cherry picked from commit [^\n()]*\)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_PLAIN_BRANCHES = re.compile(r"[a-z]+|patch-?\d*|v?\d+(?:[.x]+\d*)*|.{0,5}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Leaks:
    """What must not be told: where the repository is, which change and issues these are, its commits and branch.

    `commits` are full ids of the base, the landing and the branch. `module_path` is the name by which code imports
    this repository (Go's `github.com/owner/name`); inside code it stays, for the agent's own tree holds it.
    """

    repository: Repository = field(default_factory=Repository)
    pr: int | None = None
    issues: tuple[int, ...] = ()
    commits: tuple[str, ...] = ()
    branch: str = ""
    module_path: str = ""

    @property
    def numbers(self) -> frozenset[int]:
        """The numbers of the change and its issues."""
        return frozenset((*self.issues, *(() if self.pr is None else (self.pr,))))


@dataclass(frozen=True, slots=True)
class Leak:
    """One place, as offsets; `instead` is what a reader loses least by, `sure` tells errors from warnings."""

    start: int
    end: int
    code: str  # the lint code
    reason: str
    instead: str
    sure: bool = True


def find_leaks(text: str, leaks: Leaks, layout: Layout | None = None) -> tuple[Leak, ...]:
    """Every place that leads to the answer, in order, none overlapping another."""
    layout = layout or read_layout(text)
    taken: list[Leak] = []
    covered = bytearray(len(text) + 1)
    # Ordered from the widest form to the barest, so `owner/name#5` is one place and not two.
    for finder in (
        _addresses,
        _slugs,
        _trailers,
        _marked_numbers,
        _worded_numbers,
        _commits,
        _branch,
        _bare_numbers,
    ):
        for leak in finder(text, leaks, layout):
            if not any(covered[leak.start : leak.end]):
                covered[leak.start : leak.end] = b"\x01" * (leak.end - leak.start)
                taken.append(leak)
    return tuple(sorted(taken, key=lambda leak: leak.start))


def _addresses(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    for start, end in find_addresses(text):
        address = text[start:end]
        if leaks.module_path and layout.in_code(start) and _is_import(address, leaks.module_path):
            continue
        page = judge_address(address, leaks.repository, leaks.numbers, leaks.commits)
        sure = page is not Page.FOREIGN_CHANGE
        # In code, another project's address is what the code is about.
        if page is not Page.NONE and (sure or not layout.in_code(start)):
            code = "prompt-url" if sure else "prompt-foreign-change"
            yield Leak(start, end, code, page.value, page.instead(address), sure)


def _is_import(address: str, module_path: str) -> bool:
    """Whether code names a package of this repository, and no page of it."""
    rest = address.lower().removeprefix(module_path.lower())
    pages = r"(?:/-)?/(?:pull|pulls|issues|commits?|compare|blob|tree|raw|releases|tags|archive|discussions|wiki)\b"
    return rest != address.lower() and not re.match(pages, rest) and not rest.startswith(".git")


def _slugs(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    slug = leaks.repository.slug
    if not slug:
        return
    name = re.escape(slug.rpartition("/")[2])
    tail = (
        r"(?:\.git\b)?(?:[#!](?P<number>\d+)(?:\+s?)?|@(?P<ref>[\w./-]+)"
        r"|(?:/-)?/(?P<page>issues|pull|pulls|merge_requests|commits?|compare|discussions|actions)\b[\w./-]*)?"
    )
    own = re.compile(
        rf"(?:(?<![\w./-])|(?<=/builds/)|(?<=\]com/))(?:\w[\w.-]{{0,60}}@[\w.-]{{1,100}}:|github:|gitlab:|gh:)?"
        rf"{re.escape(slug)}{tail}(?![\w-])(?!\.\w)",
        _SCRIPT,
    )
    other = re.compile(
        rf"(?<![\w./-])(?:[\w.-]{{1,60}}/)?{name}(?:[#!](?P<number>\d+)|@(?P<ref>[0-9a-f]{{7,64}}))(?!\w)",
        re.IGNORECASE,
    )
    for pattern, reason in (
        (own, "names this repository"),
        (other, "names a change of this repository or a fork"),
    ):
        for match in pattern.finditer(text):
            # `@scope/name` in code is a package's name, as the agent's own tree holds it.
            if text[match.start() - 1 : match.start()] == "@" and layout.in_code(match.start()):
                continue
            instead = _instead_of_slug(match.groupdict())
            yield Leak(match.start(), match.end(), "prompt-repository", reason, instead)


def _instead_of_slug(found: dict[str, str | None]) -> str:
    page = found.get("page")
    if found["number"] or page in ("issues", "discussions"):
        return "another issue"
    if page in ("pull", "pulls", "merge_requests", "compare"):
        return "another change"
    if re.fullmatch(r"v?\d+(?:\.\d+)+\w*", found["ref"] or ""):
        return f"version {found['ref']}"
    return "an earlier commit" if found["ref"] or page in ("commit", "commits") else "this repository"


def _trailers(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    for match in _TRAILER.finditer(text):
        if not layout.in_block(match.start()):
            yield Leak(match.start(), match.end(), "prompt-trailer", "is a commit's trailer", "")


def _marked_numbers(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    """`#5`, `GH-5`, `!5`: known numbers everywhere, others in prose."""
    chained_end = -1
    for match in _MARKED.finditer(text):
        number, mark, at = int(match["number"]), match["mark"].upper(), match.start("mark")
        known = number in leaks.numbers
        before = text[max(0, at - 40) : at]
        chained = bool(_CHAIN.search(before)) and chained_end >= 0 and at - chained_end <= 8
        explicit = mark == "GH-" or bool(match["thing"]) or bool(_BEFORE.search(before)) or chained
        if not known and (layout.in_code(at) or _is_count(text, match, before, explicit)):
            continue
        if mark == "!" and not known and not explicit and leaks.repository.provider != "gitlab":
            continue
        if explicit:
            chained_end = match.end()
        is_change = mark == "!" or (match["thing"] or "").strip().lower().split(" ")[-1].startswith(
            _CHANGE_WORDS
        )
        instead = "another change" if is_change else "another issue"
        reason = "is this change's or its issue's number" if known else "refers to an issue or a change"
        yield Leak(match.start(), match.end(), "prompt-reference", reason, instead, known or explicit)


def _is_count(text: str, match: re.Match[str], before: str, explicit: bool) -> bool:
    """`step #2`, `the #1 reason`, a debugger's `#1  0x4005`, a colour: numbers that refer to no issue."""
    if explicit:
        return False
    digits = match["number"]
    after = text[match.end() : match.end() + 40]
    starts_line = not before.rpartition("\n")[2].strip()
    backtrace = starts_line and re.match(r"[ \t]+0x[0-9a-f]|[ \t]{2,}[\w:<>~]+ ?\(", after)
    return bool(backtrace) or len(digits) > 6 or (len(digits) < 3 and bool(_COUNTS.search(before)))


def _worded_numbers(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    """`PR 5`, `pull/5`, `issue_5`: known numbers after any word, others after a change's name in prose."""
    for match in _WORDED.finditer(text):
        known = int(match["number"]) in leaks.numbers
        word = match["word"].lower()
        is_change = word.startswith(_CHANGE_WORDS)
        named = (
            is_change and not layout.in_code(match.start()) and word not in ("prs", "mrs", "pull", "pulls")
        )
        if known or named:
            instead = "another change" if is_change else "another issue"
            reason = "is this change's or its issue's number" if known else "refers to a change"
            yield Leak(match.start(), match.end(), "prompt-reference", reason, instead, known)


def _commits(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    known_ids = tuple(commit.lower() for commit in leaks.commits if len(commit) >= 7)
    for match in _HEX.finditer(text):
        found = match["id"].lower()
        known = any(commit.startswith(found) or found.startswith(commit) for commit in known_ids)
        whole = (
            len(found) == 40
            and not layout.in_code(match.start())
            and not found.isdigit()
            and not _CHECKSUM.search(text[max(0, match.start() - 60) : match.start()])
        )
        if known:
            yield Leak(
                match.start(), match.end(), "prompt-commit", "is a commit of this change", "an earlier commit"
            )
        elif whole:
            yield Leak(
                match.start(), match.end(), "prompt-hash", "looks like a commit", "an earlier commit", False
            )


def _branch(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    """The branch's name, unless it is a plain word or version that anybody may write."""
    if not leaks.branch:
        return
    name, said = re.escape(leaks.branch), r"(?:the[ \t]+)?branch[ \t]+[`'\"]?"
    if _PLAIN_BRANCHES.fullmatch(leaks.branch):
        name = rf"(?:{said}{name}[`'\"]?|[\w-]{{1,60}}:{name})"
    else:
        name = rf"(?:(?<![\w]){said})?(?:[\w-]{{1,60}}:)?{name}"
    for match in re.finditer(rf"(?<![\w/.-]){name}(?![\w/-])", text, _SCRIPT):
        yield Leak(match.start(), match.end(), "prompt-branch", "is the branch of this change", "a branch")


def _bare_numbers(text: str, leaks: Leaks, layout: Layout) -> Iterator[Leak]:
    """A known number standing alone; small ones and years say nothing."""
    for number in sorted(leaks.numbers):
        if number < 1000 or 1900 <= number <= 2100:
            continue
        for match in re.finditer(rf"(?<![\w.#-]){number}(?![\w]|[.-]\d)", text, re.ASCII):
            if not layout.in_code(match.start()):
                yield Leak(
                    match.start(),
                    match.end(),
                    "prompt-number",
                    "is this change's or its issue's number",
                    "",
                    False,
                )
