"""What the lines of a change tell: whether its tests check anything new, and would fail without it.

Reads the text of a patch only as a hint for ranking. Nothing here decides a verdict.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from berbench.ranking.kinds import Kind, is_test_code, kind_of

_LONGEST = 1000  # bytes of a line that are looked at; what is longer was written by a program
_CASE = re.compile(
    r"^\s*(async\s+)?def\s+test|^\s*(it|test|specify|scenario)(\.\w+)*\s*[(`]|^\s*func\s+(Test|Example|Fuzz)|"
    r"#\[(\w+::)?test|@(\w+\.)?(Parameterized)?Test\b|\bt\.(test|Run)\(|^\s*(public\s+)?void\s+test|\bfn\s+test"
)
_CHECK = re.compile(
    r"assert|expect|raises|should|Equal|\bt\.(is|ok|same|equal|deepEqual|throws|Error|Fatal)|require\.|>>> "
)
_NAME = re.compile(r"[A-Za-z_$][\w$]{2,}")
# Where a test uses a name of the program: called, taken from something, given by keyword or key.
_USED = re.compile(r"\.([A-Za-z_$][\w$]{2,})|\b([A-Za-z_$][\w$]{2,})(?:\(|=(?!=)|:(?![:/]))")
_BRINGS_IN = re.compile(r"^\s*(?:from\s+\S+\s+)?import\b|\brequire\(|^\s*use\s")
# Documentation inside code: some words, and nothing that programs are made of.
_PROSE = re.compile(
    r"^\s*(?!(?:return|raise|yield|if|elif|else|for|while|with|try|except|assert|del|async|await|def|class|case|throw"
    r"|new|const|let|var|func|function|fn|pub|type|interface|struct|enum|import|from|use|export|package|go|defer)\b)"
    r"(?::\w+|\.\.\s|[\w`*'\"-]+[,.]?(?:\s+[\w`*'\"(-][^=\[{;]*){2})"
)
_DEFINES = re.compile(
    r"^\s*(?:export\s+|default\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|pub(?:\(\w+\))?\s+)*"
    r"(?:(class|const|let|var|struct|enum|interface|trait|type)|def|function\*?|func(?:\s*\([^)]*\))?|fn|get|set)\s+(.*)"
)
# What a definition's line borrows: the value of a parameter or of a variable; bases stand after a name alone.
_BORROWED = re.compile(r"=[^,)]*")
_ONE_NAME = re.compile(r"\s*(\{[^}]*\}?|\[[^\]]*\]?|[\w$]+)")
_SETS = re.compile(
    r"(?:^|[\s,({.])([A-Za-z_$][\w$]{2,})\s*(?:=(?!=)|:(?![:\]/]))|^\s+([A-Za-z_$][\w$]{2,})\s*\([^)]*\)\s*\{"
)
_COMMENT = re.compile(r"^\s*(#(?!\[)|//|/?\*|\"\"\"|''')|\s+#\s.*$|\s+//\s.*$")
_IDLE = re.compile(
    r"^\s*(from\s+[\w.]+\s+import|import\b|\}?\s*from\s+['\"]|if (t\.|typing\.)?TYPE_CHECKING|use\s+[\w:]+;)"
    r"|^\W*$"
)
_ANNOTATION = re.compile(r"\s*->\s*[^:]+(?=:\s*$)|(?<=\w):\s*[\w\[\]., |\"'*]+?(?=\s*[=,)]|$)")
# Parentheses stay: `f(a * b)` and `f(a) * b` differ. Where they are all that differs, it may be a formatter's work.
_LAYOUT = str.maketrans({**dict.fromkeys(" \t\f\v\r,;"), "'": '"'})
_GROUPING = str.maketrans(dict.fromkeys("()"))
_TEXT = re.compile(r"(['\"`])(?:\\.|(?!\1)[^\\])*+\1")
_QUOTED = re.compile(r"(['\"`])((?:(?!\1).){4,}?)\1")
# Words that any program holds, so that a new line with one brings nothing new.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "self this return none true false null else args kwargs argv error err string str int bool float bytes"
        " list dict set map tuple object number undefined void any type value values key keys name names data"
        " result get len",
    )
)


@dataclass(slots=True)
class Side:
    """Lines of code added and deleted, by path."""

    added: dict[str, list[str]] = field(default_factory=dict)
    deleted: dict[str, list[str]] = field(default_factory=dict)

    def all_added(self) -> list[str]:
        """Added lines of every path."""
        return [line for lines in self.added.values() for line in lines]

    def all_deleted(self) -> list[str]:
        """Deleted lines of every path."""
        return [line for lines in self.deleted.values() for line in lines]


@dataclass(frozen=True, slots=True)
class Signs:
    """`cases` and `checks` are new tests and new assertions, moves not counted.

    `fresh_names` are names that new test lines use and that only the implementation's new lines define.
    `new_code` counts implementation lines that do something and are not just reformatted; `idle` says that there
    are none, and `cut` then counts such lines that are gone. `rows` counts new lines of tests, moves not counted, and
    `lost` those that are gone; `regrouped` says that the implementation differs by parentheses alone.
    `shared_texts` are literals that both the new tests and the new implementation hold.
    """

    cases: int
    checks: int
    fresh_names: tuple[str, ...]
    shared_texts: int
    new_code: int
    idle: bool
    cut: int = 0
    rows: int = 0
    lost: int = 0
    regrouped: bool = False


def read_signs(patch: bytes, tests: Collection[str]) -> Signs:
    """The signs of a whole change; `tests` are the paths on the tests side."""
    test_side, code_side = Side(), Side()
    around: list[str] = []
    for path, sign, line in changed_lines(patch):
        if sign == " ":
            around.append(line)
            continue
        if path in tests:
            side = test_side if is_test_code(path) else None
        else:
            side = code_side if kind_of(path) is Kind.CODE else None
        if side is not None:
            (side.added if sign == "+" else side.deleted).setdefault(path, []).append(line)
    new_tests = _net(test_side.all_added(), test_side.all_deleted())
    new_code = [line for line in _net_plain(code_side) if not _IDLE.match(line)]
    turned = Side(code_side.deleted, code_side.added)
    used = _used(test_side.all_added())
    known = set(_NAME.findall("\n".join([*code_side.all_deleted(), *test_side.all_deleted(), *around])))
    fresh = {name for name in (used & _defined(new_code)) - known if name.lower() not in _COMMON}
    fresh = {name for name in fresh if not name.startswith("__")}
    texts = _literals(new_tests) & _literals(new_code) if not fresh else ()
    return Signs(
        cases=sum(1 for line in new_tests if _CASE.search(line)),
        checks=sum(1 for line in new_tests if _CHECK.search(line)),
        fresh_names=tuple(sorted(fresh, key=lambda name: (-len(name), name))),
        shared_texts=len(texts),
        new_code=len(new_code),
        idle=not new_code,
        cut=0 if new_code else sum(1 for line in _net_plain(turned) if not _IDLE.match(line)),
        rows=len(new_tests),
        lost=len(_net(test_side.all_deleted(), test_side.all_added())),
        regrouped=bool(new_code) and _ungrouped(code_side.all_added()) == _ungrouped(code_side.all_deleted()),
    )


def changed_lines(patch: bytes) -> Iterator[tuple[str, str, str]]:
    """(path, +, - or space, line): what stays as it was, hunk headers included, has a space.

    Paths that git quotes are left out: a hint can do without them.
    """
    path, in_hunk = "", False
    for raw in patch.split(b"\n"):
        if raw.startswith(b"diff --git "):
            path, in_hunk = "", False
        elif raw.startswith(b"@@"):
            in_hunk = True
            yield path, " ", raw.split(b"@@", 2)[-1][:_LONGEST].decode("utf-8", "replace")
        elif not in_hunk:
            if raw.startswith((b"--- a/", b"+++ b/")):
                path = raw[6:].rstrip(b"\t").decode("utf-8", "surrogateescape")
        elif path and raw[:1] in (b"+", b"-", b" "):
            yield path, raw[:1].decode(), raw[1:_LONGEST].decode("utf-8", "replace").rstrip()


def _net(these: list[str], those: list[str]) -> list[str]:
    """These lines without those: moved and re-indented ones are gone, and so are idle ones."""
    gone = Counter(line.strip() for line in those)
    kept = []
    for line in these:
        text = line.strip()
        if gone[text] > 0:
            gone[text] -= 1
        elif text and not _IDLE.match(line):
            kept.append(line)
    return kept


def _joined(lines: Iterable[str]) -> str:
    """Code as one text without layout; lines of brackets alone count here."""
    return "".join(
        _plain(line) or ("" if re.search(r"\w", line) else line.translate(_LAYOUT)) for line in lines
    )


def _ungrouped(lines: Iterable[str]) -> str:
    return _joined(lines).translate(_GROUPING)


def _net_plain(side: Side) -> list[str]:
    """Added lines that differ from all deleted ones even without layout, comments and annotations."""
    deleted = {path: [_plain(line) for line in lines] for path, lines in side.deleted.items()}
    gone = Counter(text for texts in deleted.values() for text in texts)
    kept: list[str] = []
    for path, all_lines in side.added.items():
        lines = list(_without_overloads(all_lines))
        texts = [_plain(line) for line in lines]
        if _joined(lines) == _joined(side.deleted.get(path, ())):
            continue  # the same text, broken into other lines
        for line, text in zip(lines, texts, strict=True):
            if gone[text] > 0:
                gone[text] -= 1
            elif text:
                kept.append(_COMMENT.sub("", line))
    return kept


def _without_overloads(lines: list[str]) -> Iterator[str]:
    """Signatures for type checkers alone are no code."""
    inside = False
    for line in lines:
        inside = inside or line.lstrip().startswith(("@overload", "@t.overload", "@typing.overload"))
        if not inside:
            yield line
        inside = inside and not line.endswith("...")


@lru_cache(maxsize=1 << 14)  # each line is looked at from several sides
def _plain(line: str) -> str:
    """What a line does, however it is laid out; "" for comments, imports and documentation."""
    if "#" in line or "/" in line or "*" in line or '"""' in line or "'''" in line:
        line = _COMMENT.sub("", line)
    if ":" in line:
        line = _ANNOTATION.sub("", line)
    if _IDLE.match(line) or _PROSE.match(line):
        return ""
    return line.translate(_LAYOUT)


def _defined(lines: list[str]) -> set[str]:
    names: set[str] = set()
    for line in (_TEXT.sub("''", line) for line in lines):  # what a message says is no definition
        definition = _DEFINES.match(line)
        if definition:
            alone, rest = definition.groups()
            rest = _ANNOTATION.sub("", rest)
            one = _ONE_NAME.match(rest) if alone else None
            names.update(_NAME.findall(_BORROWED.sub("", one[1] if one else rest)))
            if not alone:
                continue  # `other: Counter = None` gives no Counter
        names.update(name for pair in _SETS.findall(line) for name in pair if name)
    return names


def _used(lines: list[str]) -> set[str]:
    names = {name for pair in _USED.findall("\n".join(lines)) for name in pair}
    for line in lines:
        if _BRINGS_IN.search(line):
            names.update(_NAME.findall(line))
    return names


def _literals(lines: list[str]) -> set[str]:
    """Quoted texts of some length: messages, option names, keys."""
    return {text for line in lines for _, text in _QUOTED.findall(line)}
