"""Documents → YAML text that every reader takes the same way.

Readers of YAML 1.1 and 1.2 disagree on what `off`, `1e10`, `0o17`, `1:30` or `2024-01-01` are, so a text is
written plain only where none of them could take it for anything but text. A name that is no UTF-8 reaches us
with lone surrogates (`surrogateescape`), which YAML can't hold: such a byte is written as the private
character U+10FFFD and two hex digits, and `unescape_bytes` takes it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

_PLAIN = re.compile(r"(?:[A-Za-z_/]|\./)(?:[A-Za-z0-9_./@%+=()~^$*-]|:(?=[^\s])| (?=[^\s#:]))*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0", '"': '\\"', "\\": "\\\\"}
_MARK = "\U0010fffd"
_MARKED = re.compile(f"{_MARK}(?:([89a-f][0-9a-f])|{_MARK})")
_LOOSE_BYTE = re.compile(f"[\udc80-\udcff{_MARK}]")
_KEY_LIMIT = 256  # YAML takes a key on one line of at most 1024 characters


def escape_bytes(text: str) -> str:
    """`text` with undecodable bytes written as the mark and two hex digits; see the module's head."""
    return _LOOSE_BYTE.sub(lambda m: _MARK * 2 if m[0] == _MARK else f"{_MARK}{ord(m[0]) - 0xDC00:02x}", text)


def unescape_bytes(text: str) -> str:
    """The inverse of `escape_bytes`."""
    if _MARK not in text:
        return text
    return _MARKED.sub(lambda m: chr(0xDC00 + int(m[1], 16)) if m[1] else _MARK, text)


def scalar(text: str) -> str:
    """One line of YAML that any reader takes as this very text. ValueError for half of a surrogate pair."""
    if any("\ud800" <= char <= "\udfff" and not "\udc80" <= char <= "\udcff" for char in text):
        raise ValueError("a text holds half of a surrogate pair, which no YAML can hold")
    text = escape_bytes(text)
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if text.isprintable() and _MARK not in text:
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in _SHORT:
        return _SHORT[char]
    if char.isprintable() and char != _MARK:
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def dump(document: Mapping[str, object], *, comments: Mapping[str, str] | None = None) -> bytes:
    """A document as YAML: keys in the order given, block style, multi-line texts as literals, LF, unfolded.

    Values are None, bool, int, float, str, sequences and mappings of them. `comments` go to the end of the
    line of the key whose dotted path they carry. ValueError for a value that has no place in a document.
    """
    return "".join(f"{line}\n" for line in _mapping(document, 0, "", comments or {})).encode()


def _mapping(
    document: Mapping[str, object], indent: int, path: str, comments: Mapping[str, str]
) -> Iterator[str]:
    for key, value in document.items():
        here = f"{path}.{key}" if path else key
        written = scalar(key)
        if len(written) > _KEY_LIMIT:
            raise ValueError(f"the key {key[:40]!r}… is too long for a document")
        head, *rest = _value(value, indent, here, comments)
        comment = f"  # {comments[here]}" if here in comments else ""
        yield f"{' ' * indent}{written}:{' ' if head else ''}{head}{comment}"
        yield from rest


def _value(value: object, indent: int, path: str, comments: Mapping[str, str]) -> Iterator[str]:
    """What stands behind the colon or dash, then the lines below it, two deeper than `indent`."""
    deeper = indent + 2
    if isinstance(value, str):
        yield from _text(value, deeper)
    elif isinstance(value, Mapping):
        yield "" if value else "{}"
        yield from _mapping(value, deeper, path, comments)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        yield "" if value else "[]"
        for item in value:
            head, *rest = _value(item, deeper, path, comments)
            if not head:  # a collection: its first line goes behind the dash
                head, *rest = rest
                head = head.lstrip(" ")
            yield f"{' ' * deeper}- {head}"
            yield from rest
    else:
        yield _atom(value)


def _atom(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)) and value == value and abs(value) != float("inf"):
        return repr(value)
    raise ValueError(f"{value!r} has no place in a document")


def _text(text: str, indent: int) -> Iterator[str]:
    """One line, or a literal block where it shows the text as it is."""
    body = text.removesuffix("\n")
    lines = body.split("\n")
    fits = (
        "\n" in text
        and not body.startswith((" ", "\t", "\n"))
        and not body.endswith("\n")
        and body != ""
        and all(line.replace("\t", "").isprintable() for line in lines)
        and _MARK not in body
    )
    if not fits:
        yield scalar(text)
        return
    yield "|" if text.endswith("\n") else "|-"
    for line in lines:
        yield f"{' ' * indent}{line}" if line else ""
