"""The one door to YAML: text → a tree of texts, and where in the text each of them stands.

No scalar is typed here: `base_commit: 0123456`, `1e10`, `on` and `1:30` stay the text a person wrote, and the
document's model types them (`documents.typed`). Anchors may be used, within bounds; tags may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from berbench.documents import typed
from berbench.emit import dump, unescape_bytes
from berbench.errors import ConfigError

__all__ = ["Path", "Span", "Tree", "decoded", "dump", "load", "load_spans", "typed"]

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"
Path: TypeAlias = "tuple[str | int, ...]"

MAX_BYTES = 32 << 20  # a validation block may list a hundred thousand tests
MAX_VALUES = 1_000_000  # with every alias written out: what keeps a few lines from growing into gigabytes
MAX_DEPTH = 64

_BOM = b"\xef\xbb\xbf"
_PLAIN_KEY = "Use a plain text as the key."
_TOO_DEEP = f"values are nested more than {MAX_DEPTH} deep"

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(slots=True)
class _Open:
    """A mapping or list that is being read. `size` counts its values with aliases written out."""

    value: list[Tree] | dict[str, Tree]
    start: int  # offset in the text, in characters
    flow: bool
    anchor: str | None
    key: str | None = None  # of a mapping: the key whose value comes next
    size: int = 1
    leaf_end: int = 0  # where its last real token ends; the parser's own end lies behind comments


@dataclass(frozen=True, slots=True)
class Span:
    """Where a mapping's value stands. Offsets are in characters."""

    key_start: int
    start: int
    end: int
    empty: bool  # nothing is written there
    flow: bool  # it, or something around it, is written in flow style
    literal: bool  # a block scalar: | or >
    entries: tuple[str, ...] = ()  # keys, when it is a mapping


@dataclass(slots=True)
class _Reader:
    """Reads one document from parser events, without recursion, so depth can't exhaust the stack."""

    name: str
    root: Tree = ""
    spans: dict[Path, Span] = field(default_factory=dict)
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Tree, int]] = field(default_factory=dict)
    key_starts: list[int] = field(default_factory=list)
    path: list[str | int] = field(default_factory=list)
    documents: int = 0

    def read(self, text: str, *, spans: bool) -> Tree:
        loader = _Loader(text)
        try:
            while loader.check_event():
                self._take(loader.get_event(), spans)
        except yaml.MarkedYAMLError as error:
            raise _syntax_error(self.name, text, error) from error
        except yaml.YAMLError as error:
            raise ConfigError(
                f"{self.name} holds a character that YAML does not allow: {_one_line(error)}.",
                remedy=f"Remove it from {self.name}, or write it as an escape in double quotes.",
            ) from error
        finally:
            loader.dispose()
        return self.root

    def _take(self, event: Any, spans: bool) -> None:
        if getattr(event, "tag", None) is not None:
            raise self._fault(
                event, f"the tag {event.tag} is not used here", "Remove the tag; texts are typed by berbench."
            )
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event, spans)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(event, spans)
        elif isinstance(event, yaml.AliasEvent):
            if self._key_is_next:
                raise self._fault(event, f"*{event.anchor} is used as a key", _PLAIN_KEY)
            if event.anchor not in self.anchors:
                raise self._fault(
                    event, f"*{event.anchor} names no finished anchor above it", "Write the value out."
                )
            value, size = self.anchors[event.anchor]
            self._add(event, value, size, spans)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._fault(event, "a second document starts with ---", "Keep one document in a file.")

    @property
    def _key_is_next(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def _scalar(self, event: Any, spans: bool) -> None:
        if self._key_is_next:
            owner = self.stack[-1]
            key = unescape_bytes(event.value)
            if key in owner.value:
                raise self._fault(
                    event, f"the key {key!r} stands twice in one mapping", "Keep one of the two."
                )
            owner.key = key
            owner.leaf_end = event.end_mark.index
            self.key_starts.append(event.start_mark.index)
            self.path.append(key)
            return
        value = unescape_bytes(event.value)
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        self._add(event, value, 1, spans)

    def _open(self, event: Any) -> None:
        if self._key_is_next:
            raise self._fault(event, "a list or mapping is used as a key", _PLAIN_KEY)
        if len(self.stack) >= MAX_DEPTH:
            raise self._fault(event, _TOO_DEEP, "Flatten the document.")
        value: list[Tree] | dict[str, Tree] = {} if isinstance(event, yaml.MappingStartEvent) else []
        if self.stack and isinstance(self.stack[-1].value, list):
            self.path.append(len(self.stack[-1].value))
        self.stack.append(_Open(value, event.start_mark.index, bool(event.flow_style), event.anchor))
        if event.anchor:
            self.anchors.pop(event.anchor, None)  # until it is finished it can't be used inside itself

    def _close(self, event: Any, spans: bool) -> None:
        done = self.stack.pop()
        if done.anchor:
            self.anchors[done.anchor] = (done.value, done.size)
        if self.stack and isinstance(self.stack[-1].value, list):
            self.path.pop()
        self._add(event, done.value, done.size, spans, done)

    def _add(self, event: Any, value: Tree, size: int, spans: bool, done: _Open | None = None) -> None:
        """Give a value to the collection around it. `done` is set when it is a collection just closed."""
        if not self.stack:
            self.root = value
            return
        owner = self.stack[-1]
        owner.size += size
        end = event.end_mark.index if done is None or done.flow else done.leaf_end
        owner.leaf_end = max(owner.leaf_end, end)
        if owner.size > MAX_VALUES:
            raise self._fault(
                event, f"the document grows beyond {MAX_VALUES:,} values", "Remove the nested aliases."
            )
        if isinstance(owner.value, list):
            owner.value.append(value)
            return
        key_start = self.key_starts.pop()
        if spans:
            start = done.start if done else event.start_mark.index
            self.spans[tuple(self.path)] = Span(
                key_start=key_start,
                start=start,
                end=end,
                empty=start == end,
                flow=any(opened.flow for opened in self.stack) or (done is not None and done.flow),
                literal=getattr(event, "style", None) in ("|", ">"),
                entries=tuple(value) if isinstance(value, dict) else (),
            )
        self.path.pop()
        assert owner.key is not None
        owner.value[owner.key] = value
        owner.key = None

    def _fault(self, event: Any, problem: str, remedy: str) -> ConfigError:
        mark = event.start_mark
        return ConfigError(
            f"{self.name}, line {mark.line + 1}, column {mark.column + 1}: {problem}.", remedy=remedy
        )


def load(text: bytes, name: str) -> Tree:
    """The document as texts, lists and mappings; "" for an empty one. BOM, CRLF, no last newline: all fine.

    ConfigError, with line and column where there is one: no UTF-8, broken syntax, a key twice, a tag, a
    second document, nesting or aliases beyond bounds.
    """
    return _Reader(name).read(decoded(text, name), spans=False)


def load_spans(body: str, name: str) -> tuple[Tree, Mapping[Path, Span]]:
    """The document, and where each mapping's values stand in `body` (decoded, without BOM), by path."""
    reader = _Reader(name)
    return reader.read(body, spans=True), reader.spans


def decoded(text: bytes, name: str) -> str:
    """The text without its BOM. ConfigError when it is no UTF-8, has more than one, or is beyond the limit."""
    if len(text) > MAX_BYTES:
        raise ConfigError(
            f"{name} is larger than {MAX_BYTES >> 20} MiB.", remedy="Check that it is the right file."
        )
    body = text.removeprefix(_BOM)
    if body.startswith(_BOM):  # the parser would pass over it, and count from behind it
        raise ConfigError(f"{name} begins with two byte order marks.", remedy=f"Save {name} as UTF-8 anew.")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"{name} is not UTF-8: byte 0x{body[error.start]:02x} in line {line}.",
            remedy=f"Save {name} as UTF-8.",
        ) from error


def _syntax_error(name: str, text: str, error: yaml.MarkedYAMLError) -> ConfigError:
    mark = error.problem_mark or error.context_mark
    where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
    problem = _one_line(error.problem or error.context or "broken syntax")
    if mark and text[mark.index : mark.index + 1] == "\t":
        return ConfigError(
            f"{name}{where}: a tab stands where YAML wants spaces.", remedy="Indent with spaces."
        )
    if "nesting depth" in problem:  # the scanner looks ahead, so it may be the first to meet it
        return ConfigError(f"{name}{where}: {_TOO_DEEP}.", remedy="Flatten the document.")
    return ConfigError(f"{name}{where}: this is no valid YAML ({problem}).", remedy=_syntax_remedy(problem))


def _syntax_remedy(problem: str) -> str:
    if "mapping values are not allowed" in problem:
        return "Put a text that holds `: ` in quotes, and check the indentation."
    if "could not find expected ':'" in problem:
        return "Write `key: value`, with a space behind the colon, and check quotes and indentation above it."
    return "Check indentation, quotes and brackets at and above that line."


def _one_line(problem: object) -> str:
    return " ".join(str(problem).split())
