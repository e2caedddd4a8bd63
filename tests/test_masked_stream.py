from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st

from berbench.masking import Masked

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
