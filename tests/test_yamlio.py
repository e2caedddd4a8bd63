from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from berbench.emit import dump, scalar, unescape_bytes
from berbench.errors import ConfigError
from berbench.yamledit import replace_block, set_value
from berbench.yamlio import MAX_DEPTH, load

# What a YAML 1.2 reader's core schema takes for no text (section 10.3.2 of its specification).
CORE = re.compile(
    r"null|Null|NULL|~||true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"
)

ODD = [
    "1e10",
    "on",
    "1:30",
    "0o17",
    "0123456",
    "~",
    "",
    "2024-01-01",
    "a: b",
    "x #y",
    "- a",
    "é",
    "\x85",
    "\u2028",
]
names = st.binary(max_size=12).map(lambda data: data.decode("utf-8", "surrogateescape"))
lines = st.text(st.sampled_from("ab :#-'\"\t\n\r\\|>&*!%@`{}[],?=~\u2028\U0010fffd"), max_size=30)
texts = st.one_of(
    st.sampled_from(ODD), names, lines, st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
trees = st.recursive(
    texts,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def unescaped(value: object) -> object:
    if isinstance(value, dict):
        return {unescape_bytes(key): unescaped(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [unescaped(inner) for inner in value]
    assert isinstance(value, str), f"a reader took a text for {value!r}"
    return unescape_bytes(value)


@given(st.dictionaries(texts, trees, min_size=1, max_size=5))
@example({"a": ["x\n\n", "\n", " x\ny\n", "x\ny", "\tx\n", "a\n b\n", "#c\nd\n"]})
def test_what_is_dumped_is_loaded_and_every_reader_sees_texts(document: dict[str, object]) -> None:
    written = dump(document)
    assert load(written, "x") == document
    for reader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert unescaped(yaml.load(written.decode(), Loader=reader)) == document


@given(texts)
def test_a_plain_scalar_is_a_text_for_yaml_1_2_too(text: str) -> None:
    written = scalar(text)
    assert written[:1] in "'\"" or not CORE.fullmatch(written)
    assert "\n" not in written


def test_half_a_surrogate_pair_has_no_place_in_a_document() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        dump({"a": "\ud800"})
    with pytest.raises(ValueError, match="no place"):
        dump({"a": float("nan")})
    with pytest.raises(ValueError, match="too long"):
        dump({"k" * 300: "x"})


def test_numbers_and_comments_are_written_plain() -> None:
    written = dump({"a": 1, "b": {"c": 2.5, "d": True, "e": None}, "f": [], "g": {}}, comments={"b.c": "why"})
    assert written == b"a: 1\nb:\n  c: 2.5  # why\n  d: true\n  e: null\nf: []\ng: {}\n"


@pytest.mark.parametrize("text", ["0123456", "1e10", "on", "1:30", "null", "0x1f", "2024-01-01", "1_000"])
def test_no_scalar_is_guessed_at(text: str) -> None:
    assert load(f"a: {text}\n".encode(), "x") == {"a": text}


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfa: 1\r\nb:\r\n  - x\r\n",
        b"a: 1\nb: [x]",
        b"--- # head\na: '1'\nb: [x]\n...\n",
        b"{a: 1, b: [x]}",
    ],
)
def test_bom_crlf_and_a_missing_last_newline_are_fine(text: bytes) -> None:
    assert load(text, "x") == {"a": "1", "b": ["x"]}


BAD = {
    "tab": (b"a:\n\tb: 1\n", "line 2, column 1: a tab stands where"),
    "twice": (b"a: 1\nb:\n  c: 1\n  c: 2\n", "line 4, column 3: the key 'c' stands twice"),
    "documents": (b"a: 1\n---\nb: 1\n", "line 2, column 1: a second document"),
    "indent": (b"a: 1\n  b: 2\n", "line 2, column 4"),
    "colon": (b"a: 1\nbcd\ne: 2\n", "line 3, column 1"),
    "quote": (b"a: 'x\n", "line 2, column 1"),
    "bracket": (b"a: [1, 2\n", "line 2, column 1"),
    "tag": (b"a: !!python/object/apply:os.system [x]\n", "the tag"),
    "number": (b"a: !!int 1\n", "the tag"),
    "list key": (b"? [a]\n: b\n", "list or mapping is used as a key"),
    "alias key": (b"a: &x 1\n*x : 2\n", "*x is used as a key"),
    "alias key inside": (b"-: &x\nt:\n *x : 3", "*x is used as a key"),
    "two marks": (b"\xef\xbb\xbf\xef\xbb\xbfa: 1\n", "begins with two byte order marks"),
    "inside itself": (b"a: &x [1, *x]\n", "names no finished anchor"),
    "no anchor": (b"a: *x\n", "anchor"),
    "latin-1 behind a mark": (b"\xef\xbb\xbfa: caf\xe9\n", "not UTF-8: byte 0xe9 in line 1"),
    "latin-1": (b"a: 1\nb: caf\xe9\n", "not UTF-8: byte 0xe9 in line 2"),
    "utf-16": ("a: 1\n".encode("utf-16"), "not UTF-8"),
    "nul": (b"a: \x00\n", "a character that YAML does not allow"),
    "deep": (b"[" * 100 + b"]" * 100, f"more than {MAX_DEPTH} deep"),
    "bottomless": (b"[" * 1_000_000, f"more than {MAX_DEPTH} deep"),
    "deeper": (b"a:\n" + b"".join(b" " * n + b"- \n" for n in range(1, 200)) + b"x", "line"),
    "huge": (b" " * (40 << 20), "larger than"),
}


@pytest.mark.parametrize("name", BAD)
def test_broken_yaml_is_one_sentence_with_a_place(name: str) -> None:
    text, said = BAD[name]
    with pytest.raises(ConfigError) as caught:
        load(text, "7/task.yaml")
    assert caught.value.message.startswith("7/task.yaml")
    assert said in caught.value.message
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    assert caught.value.remedy


def test_a_billion_laughs_are_not_laughed() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(ConfigError, match="grows beyond"):
        load("\n".join(rows).encode(), "x")
    assert load(b"a: &x [1]\nb: [*x, *x]\n", "x") == {"a": ["1"], "b": [["1"], ["1"]]}


# Edits

NEW = b"validation:\n  seal: new\n"
ABOVE = [
    b"# head\n\n",
    b"a:    1   # odd   spacing \n",
    b"b: [1,\n   2]\n",
    b"c: |\n  text\n\n  # no comment\n\n",
    b"d: >-\n   folded\n   text\n# between\n",
    b"'e': \"x\\ty\"\n",
    b"f:\n- 1\n-   2\n",
    b"g:\n   h: {i: j}\n\n\n",
    "k: é\U0001f600\n".encode(),
    b"l:\n",
]
OLD = [
    b"validation:\n  seal: x\n",
    b"validation: {seal: x}   # mine\n",
    b"validation:\n  # why\n  seal: |\n    long\n    text\n",
    b"'validation':\n- a\n- b\n",
    b"validation:\n",
    b"validation: plain\n   text\n",
]


@given(
    st.lists(st.sampled_from(ABOVE), unique=True, max_size=5),
    st.lists(st.sampled_from(ABOVE), unique=True, max_size=3),
    st.one_of(st.none(), st.sampled_from(OLD)),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.booleans(),
    st.booleans(),
)
def test_replacing_a_block_changes_no_byte_beside_it(
    above: list[bytes], below: list[bytes], old: bytes | None, bom: bytes, crlf: bool, cut: bool
) -> None:
    below = [chunk for chunk in below if chunk not in above] if old is not None else []
    head, tail, new, block = bom + b"".join(above), b"".join(below), NEW, old or b""
    if crlf:
        head, tail, new, block = (part.replace(b"\n", b"\r\n") for part in (head, tail, new, block))
    missing = b"" if not cut or old is not None or not head.endswith(b"\n") else (b"\r\n" if crlf else b"\n")
    head = head.removesuffix(missing) if missing else head
    missing = missing if not head.endswith(b"\n") else b""
    if crlf and b"\r\n" not in head + block + tail:
        new = NEW
        missing = missing and b"\n"
    replaced = replace_block(head + block + tail, "validation", NEW)
    assert replaced == head + missing + new + tail
    assert replace_block(replaced, "validation", NEW) == replaced
    assert replace_block(replaced, "validation", b"") == head + missing + tail


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a: 1\nvalidation:\n  x: 1\n  # inside\n\n# below\n", b"a: 1\n" + NEW + b"  # inside\n\n# below\n"),
        (b"a: 1\n...\n", b"a: 1\n" + NEW + b"...\n"),
        (b"  a: 1\n  b: 2\n", b"  a: 1\n  b: 2\n  validation:\n    seal: new\n"),
        (b"", NEW),
        (b"# only a comment", b"# only a comment\n" + NEW),
    ],
)
def test_a_block_finds_its_place_in_odd_documents(text: bytes, said: bytes) -> None:
    assert replace_block(text, "validation", NEW) == said


@pytest.mark.parametrize(
    "text",
    [
        b"{a: 1}\n",
        b"- a\n",
        b"text\n",
        b"? validation\n: x\n",
        b"a: |+\n  the text has no newline",
        b"validation: &x 1\nb: *x\n",
    ],
)
def test_a_document_that_would_come_to_say_something_else_is_refused(text: bytes) -> None:
    with pytest.raises(ConfigError, match="can't be changed"):
        replace_block(text, "validation", NEW, name="7/task.yaml")


COMMANDS = {
    b"verify:\n  command: old text # why\n  b: 1\n": b"verify:\n  command: NEW # why\n  b: 1\n",
    b"verify:\n  command:   'old'\n": b"verify:\n  command:   NEW\n",
    b"verify: {command: a b, b: 1}\n": b"verify: {command: NEW, b: 1}\n",
    b"verify: {b: 1}\n": b"verify: {command: NEW, b: 1}\n",
    b"verify: {}\n": b"verify: {command: NEW}\n",
    b"verify:\n": b"verify:\n  command: NEW\n",
    b"verify:\r\n  # c\r\n  b: 1\r\n": b"verify:\r\n  # c\r\n  command: NEW\r\n  b: 1\r\n",
    b"verify:\n  command: # soon\n  b: 1\n": b"verify:\n  command: NEW # soon\n  b: 1\n",
    b"verify:\n  command:\n  b: 1": b"verify:\n  command: NEW\n  b: 1",
    b"verify:\n  command: |  # two\n    a\n\n  # c\n  b: 1\n": b"verify:\n  command: NEW # two\n\n  # c\n  b: 1\n",
    b"verify:\n  command: >-\n    a\n    b\n": b"verify:\n  command: NEW\n",
    b"verify:\n  command:\n    a b\n    c\n  d: 1\n": b"verify:\n  command:\n    NEW\n  d: 1\n",
    b"a: b": b"a: b\nverify:\n  command: NEW\n",
}


@pytest.mark.parametrize("text", COMMANDS)
@pytest.mark.parametrize("command", ["go", "pytest 'a b' # x", "a\nb", "tests/\udce9.py"])
def test_setting_a_value_changes_only_its_bytes(text: bytes, command: str) -> None:
    edited = set_value(text, ("verify", "command"), command)
    written = scalar(command).encode()
    if command == "a\nb" and text == b"a: b":
        written = b"|-\n    a\n    b"
    assert edited == COMMANDS[text].replace(b"NEW", written)
    read = load(edited, "x")
    assert isinstance(read, dict) and isinstance(read["verify"], dict)
    assert read["verify"]["command"] == command


@pytest.mark.parametrize(
    "text",
    [
        b"v:\n  p: [a]  # c\n",
        b"v:\n  p:\n    - a\n    - b\n  q: 1\n",
        b"v:\n  p:\n  - a\n",
        b"v: {p: [], q: 1}\n",
        b"v:\n  q: 1\n",
    ],
)
def test_setting_a_list_keeps_what_stands_beside_it(text: bytes) -> None:
    edited = set_value(text, ("v", "p"), ["tests/", "a, b", "it's"])
    before, after = load(text, "x"), load(edited, "x")
    assert isinstance(before, dict) and isinstance(after, dict)
    assert isinstance(before["v"], dict) and isinstance(after["v"], dict)
    assert after["v"]["p"] == ["tests/", "a, b", "it's"]
    assert after["v"].get("q") == before["v"].get("q")
    assert edited.count(b"#") == text.count(b"#")


def test_a_value_that_has_no_place_is_refused() -> None:
    for text in (b"verify: x\n", b"verify: [a]\n"):
        with pytest.raises(ConfigError, match=r"verify\.command"):
            set_value(text, ("verify", "command"), "x")
