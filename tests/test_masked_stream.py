from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berbench.agents.secrets import secret_words
from berbench.masking import Masked, mask
from berbench.model.agent import SecretFile

SECRETS = ("sk-abcdef", "sk-abcdef-longer", "pass word/1")


def masked(pieces: list[bytes], secrets: tuple[str, ...] = SECRETS) -> bytes:
    out: list[bytes] = []
    stream = Masked(out.append, secrets)
    for piece in pieces:
        stream.feed(piece)
    stream.close()
    return b"".join(out)


def test_a_stream_is_masked_as_a_whole_is():
    text = b"a sk-abcdef b sk-abcdef-longer c pass%20word%2F1 d pass+word%2F1 " + base64.b64encode(
        b"sk-abcdef"
    )
    assert masked([text]) == b"a *** b *** c *** d *** ***"
    assert masked([text[at : at + 1] for at in range(len(text))]) == masked([text])
    assert masked([b"\xff\x00sk-abcdef\xfe"]) == b"\xff\x00***\xfe"
    assert masked([b"sk-abcde"]) == b"sk-abcde" and masked([]) == b""


def test_without_secrets_nothing_is_held_back():
    out: list[bytes] = []
    stream = Masked(out.append, ("", "abc"))
    stream.feed(b"abc")
    assert out == [b"abc"]


@given(
    st.lists(
        st.sampled_from(
            [*(s.encode() for s in SECRETS), b"sk-", b"abcdef", b"-longer", b"x", b"\n", b"pass word"]
        )
    ),
    st.lists(st.integers(0, 60)),
)
def test_where_it_is_cut_makes_no_difference(parts: list[bytes], cuts: list[int]):
    text = b"".join(parts)
    at, pieces = 0, []
    for size in cuts:
        pieces.append(text[at : at + size])
        at += size
    found = masked([*pieces, text[at:]])
    assert found == masked([text])
    assert not any(secret.encode() in found for secret in SECRETS)


@pytest.mark.parametrize("secret", ['pa"ss\\word/1&x', "schlüssel-0123", "a line\nand a second"])
def test_no_usual_way_to_write_a_secret_down_shows_it(secret: str):
    once = json.dumps(secret)
    written = [
        *(secret, once, json.dumps(once), json.dumps(secret, ensure_ascii=False), html.escape(secret)),
        *(quote(secret), quote(secret, safe=""), quote(secret, safe="").lower(), quote(secret, safe="!'()*")),
    ]
    for form in written:
        assert masked([form.encode()], (secret,)).strip(b'"\\') == b"***"
        assert mask(form, [secret]).strip('"\\') == "***"


def test_a_key_inside_a_longer_value_is_masked_by_itself():
    document = (
        '{\n "id": 1,\n "private_key": "MIIEabcdef0123456789",\n "url": "https://auth.example.com/v1"\n}'
    )
    words = secret_words([("CREDENTIALS", document)], [SecretFile("/x", b"token = abcdef0123456789\n")])
    assert words == (document, "MIIEabcdef0123456789", "abcdef0123456789")


def test_a_long_secret_does_not_slow_a_stream_of_single_bytes():
    began = time.process_time()
    assert masked([b"ab"] * 20_000, ("x" * 50_000,)) == b"ab" * 20_000
    assert time.process_time() - began < 5
