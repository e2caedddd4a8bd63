from __future__ import annotations

import pytest

from berbench.engine.dockerfile import excludes_itself, final_base, needs_buildkit


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("# syntax=docker/dockerfile:1\nFROM x\n", "# syntax=docker/dockerfile:1"),
        ("# escape=`\n#syntax = a/b:2\nFROM x\n", "# syntax=a/b:2"),
        ("FROM x\nRUN --mount=type=cache,target=/root/.cache pip install x\n", "RUN --mount"),
        ("FROM x\nRUN \\\n  # why\n  --network=none \\\n  true\n", "RUN --network"),
        ("FROM x\nRUN --security=insecure true\n", "RUN --security"),
        ("FROM x\nCOPY --link a b\n", "COPY --link"),
        ("FROM x\ncopy --chown=1:1 --chmod=755 a b\n", "COPY --chmod"),
        ("FROM x\nADD --checksum=sha256:1 http://x/y /y\n", "ADD --checksum"),
        ("FROM x\nADD https://example.org/a/b.git /b\n", "ADD of https://example.org/a/b.git"),
        ("FROM x\nRUN <<EOF\napt-get update\nEOF\n", "RUN <<"),
        ("FROM x\nCOPY <<-'END' /x\nhello\nEND\n", "COPY <<"),
        ("FROM --platform=$BUILDPLATFORM x\n", "BUILDPLATFORM"),
    ],
)
def test_what_only_buildkit_knows_is_seen(text: str, construct: str):
    assert needs_buildkit(text.encode()) == construct
    assert needs_buildkit(text.replace("\n", "\r\n").encode()) == construct


@pytest.mark.parametrize(
    "text",
    [
        "FROM x\nRUN pip install x\nCOPY --chown=1:1 --from=0 a b\n",
        "FROM x\n# syntax=too/late:1\nRUN true\n",
        "FROM x\n# RUN --mount=type=cache true\nRUN true\n",
        "FROM x\nRUN cat <<<word && echo $((1<<2)) && echo '--mount=x'\n",
        "FROM x\nRUN docker run --mount type=bind x\n",
        "FROM x\nRUN prog --network=none\nADD http://x/y.tar.gz /y\n",
        "",
        "\xff\x00",
    ],
)
def test_what_the_classic_builder_knows_is_left_to_it(text: str):
    assert needs_buildkit(text.encode("latin-1")) == ""


@pytest.mark.parametrize(
    ("ignore", "excluded"),
    [
        (b"tests\n*.snap\n", False),
        (b".dockerignore\n", True),
        (b"/.dockerignore\n", True),
        (b"**/.*\n", True),
        (b"*\n!src\n", True),
        (b"*\n!.dockerignore\n", False),
        (b"# .dockerignore\n", False),
        (b".docker*\r\n", True),
    ],
)
def test_a_dockerignore_that_names_itself_is_seen(ignore: bytes, excluded: bool):
    assert excludes_itself(ignore) is excluded


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("FROM x:1\n", "x:1"),
        ("ARG BASE_IMAGE=berbench/base\nFROM ${BASE_IMAGE}\n", "berbench/base"),
        ("ARG V=1\nARG IMAGE=x:$V\nFROM --platform=linux/amd64 ${IMAGE} AS here\n", "x:1"),
        ("FROM x AS build\nRUN true\nFROM y\nCOPY --from=build /a /b\n", "y"),
        ("FROM x AS Build\nFROM build AS test\nFROM test\n", "x"),
        ("FROM x\nFROM 0\n", "x"),
        ("FROM ${GIVEN:-y}\n", "told"),
        ("FROM ${OTHER:-y}\n", "y"),
        ("FROM scratch\n", ""),
        ("# only a comment\n", ""),
    ],
)
def test_the_image_below_the_last_stage_is_told(text: str, base: str) -> None:
    assert final_base(text.encode(), (("GIVEN", "told"),)) == base
