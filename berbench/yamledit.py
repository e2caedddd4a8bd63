"""Edits of a YAML file that touch one block or one value, and no byte beside it.

Every edit is read back before it is given out: when the document would come to say anything but what was
meant, the edit is refused, so a strange layout can cost an error and never a person's text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from berbench.emit import dump, scalar
from berbench.errors import ConfigError
from berbench.yamlio import Path, Span, Tree, decoded, load, load_spans


def replace_block(text: bytes, key: str, new: bytes, *, name: str = "the document") -> bytes:
    """`text` with the top-level block `key` swapped for `new` (whole lines, LF), appended when there is none.

    An empty `new` takes the block out. Every byte above and below stays; only a missing last newline is
    added. ConfigError when the document can't be edited so (flow style at the top, anchors across blocks).
    """
    body = decoded(text, name)
    before, spans = load_spans(body, name)
    newline = _newline(body)
    lines = new.decode().replace("\n", newline)
    span = spans.get((key,))
    if span is None:
        head, tail = _end_of_document(body)
        if lines and head and not head.endswith(("\n", "\r")):
            head += newline
        edited = head + _indented(lines, _root_indent(body, spans, name)) + tail
    else:
        start, stop = _line_start(body, span.key_start), _line_end(body, span.end)
        indent = body[start : span.key_start]
        if indent.strip(" "):
            raise _not_editable(name, key)
        edited = body[:start] + _indented(lines, indent) + body[stop:]
    expected = dict(before) if isinstance(before, dict) else {}
    expected.pop(key, None)
    added = load(new, key)
    expected.update(added if isinstance(added, dict) else {})
    return _verified(edited, expected, key, text, name)


def set_value(
    text: bytes, path: Sequence[str], value: str | Sequence[str], *, name: str = "the document"
) -> bytes:
    """`text` with the value at `path` (keys from the top) set to `value`; only its bytes change.

    Comments stay, and a key that is missing is added. ConfigError when the document can't be edited so.
    """
    body = decoded(text, name)
    tree, spans = load_spans(body, name)
    keys = tuple(path)
    meant: Tree = value if isinstance(value, str) else list(value)
    span, written, newline = spans.get(keys), _flow(meant), _newline(body)
    if span is not None:
        edited = _with_value(body, span, written, newline)
    elif len(keys) == 1 or keys[:-1] not in spans:
        if len(keys) > 2:
            raise _not_editable(name, ".".join(keys))
        block = dump({keys[0]: meant} if len(keys) == 1 else {keys[0]: {keys[1]: meant}})
        return replace_block(text, keys[0], block, name=name)
    else:
        edited = _with_entry(body, spans, keys, f"{scalar(keys[-1])}: {written}", newline)
    return _verified(edited, _planted(tree, keys, meant), ".".join(keys), text, name)


def _flow(value: Tree) -> str:
    """A text, or a list on one line, every text in it quoted: a comma would end a plain one."""
    if isinstance(value, str):
        return scalar(value)
    quoted = (scalar(str(item)) for item in value)
    return "[" + ", ".join(item if item[0] in "'\"" else f"'{item}'" for item in quoted) + "]"


def _with_value(body: str, span: Span, written: str, newline: str) -> str:
    if span.literal:
        header = body[span.start : _line_end(body, span.start)].rstrip("\r\n")
        comment = re.search(r"\s#.*", header)
        return (
            body[: span.start]
            + written
            + (comment[0] if comment else "")
            + newline
            + body[_line_end(body, span.end) :]
        )
    opening = re.search(r":[ \t]*(?:\r?\n[ \t]*)+\Z", body[: span.start])
    if (
        written.startswith("[") and opening is not None
    ):  # a block list: its place is on the lines below the key
        return body[: opening.start() + 1] + " " + written + body[span.end :]
    gap = " " if body[span.start - 1 : span.start] == ":" else ""
    return body[: span.start] + gap + written + body[span.end :]


def _with_entry(
    body: str, spans: Mapping[Path, Span], keys: tuple[str, ...], entry: str, newline: str
) -> str:
    """A new first entry of the mapping around `keys`, in the style it is written in."""
    around = spans[keys[:-1]]
    if around.empty:
        indent = " " * (around.key_start - _line_start(body, around.key_start) + 2)
        return body[: around.start] + newline + indent + entry + body[around.start :]
    if body[around.start] == "{":
        comma = ", " if around.entries else ""
        return body[: around.start + 1] + entry + comma + body[around.start + 1 :]
    if not around.entries:
        return body  # a text or list stands there; the check that follows refuses
    first = spans[(*keys[:-1], around.entries[0])].key_start
    indent = body[_line_start(body, first) : first]
    return body[:first] + entry + newline + indent + body[first:]


def _planted(tree: Tree, keys: tuple[str, ...], value: Tree) -> Tree:
    mapping = dict(tree) if isinstance(tree, dict) else {}
    mapping[keys[0]] = value if len(keys) == 1 else _planted(mapping.get(keys[0], {}), keys[1:], value)
    return mapping


def _verified(edited: str, expected: Tree, key: str, original: bytes, name: str) -> bytes:
    """The edit as bytes, when it says exactly what it should: an edit that says more is never written."""
    bom = original[:3] if original.startswith(b"\xef\xbb\xbf") else b""
    result = bom + edited.encode()
    try:
        said = load(result, name)
    except ConfigError as error:
        raise _not_editable(name, key) from error
    if (said or {}) != expected:
        raise _not_editable(name, key)
    return result


def _not_editable(name: str, key: str) -> ConfigError:
    return ConfigError(
        f"{name} is written so that `{key}` can't be changed without touching what stands beside it.",
        remedy="Write it in block style (`key:` at the start of a line, no braces around the document, "
        "no anchors across blocks) and end the file with a newline.",
    )


def _line_start(body: str, at: int) -> int:
    return max(body.rfind("\n", 0, at), body.rfind("\r", 0, at)) + 1


def _line_end(body: str, at: int) -> int:
    """Where the line after `at` starts. A block scalar ends at a line's start; its blank lines are let go."""
    if at and body[at - 1] in "\r\n":
        while (blank := re.search(r"(?:(?<=\n)|(?<=\r)(?!\n))[ \t]*(?:\r\n|\n|\r)\Z", body[:at])) is not None:
            at = blank.start()
        return at
    ended = re.compile(r"\r\n|\n|\r").search(body, at)
    return ended.end() if ended else len(body)


def _end_of_document(body: str) -> tuple[str, str]:
    ended = re.search(r"^\.\.\.(?=\s|\Z)", body, re.MULTILINE)
    return (body[: ended.start()], body[ended.start() :]) if ended else (body, "")


def _root_indent(body: str, spans: Mapping[Path, Span], name: str) -> str:
    for path, span in spans.items():
        if len(path) == 1:
            indent = body[_line_start(body, span.key_start) : span.key_start]
            if indent.strip(" "):
                raise _not_editable(name, str(path[0]))
            return indent
    return ""


def _indented(lines: str, indent: str) -> str:
    return "".join(indent + line for line in lines.splitlines(keepends=True)) if indent else lines


def _newline(body: str) -> str:
    return "\r\n" if "\r\n" in body else "\n"
