"""Build arguments and image keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from berbench.environments import (
    as_of_value,
    build_arguments,
    declared_arguments,
    matching_inputs,
    recipe,
)
from berbench.model.changes import REGULAR, LandedBy, TreeEntry
from berbench.model.task import Environment, Source, Task

LANDED = datetime(2024, 12, 31, 23, 30, tzinfo=timezone(-timedelta(hours=2)))  # 2025 already, in UTC
DOCKERFILE = b"ARG BASE_IMAGE=python:3.12-slim\nFROM ${BASE_IMAGE}\nARG BERBENCH_AS_OF\nCOPY . .\n"


def task(base: str = "b" * 40, **environment: object) -> Task:
    source = Source(
        base_commit=base,
        landing_commit="c" * 40,
        landed_by=LandedBy.SQUASH,
        landed_at=LANDED,
        version="v1.2",
    )
    return Task(id="1", source=source, environment=Environment.model_validate(environment))


def test_as_of_is_the_landing_in_utc_or_the_end_of_its_month() -> None:
    assert as_of_value(LANDED, "landing") == "2025-01-01T01:30:00Z"
    assert as_of_value(LANDED, "month") == "2025-02-01T00:00:00Z"
    assert as_of_value(datetime(2024, 12, 5, tzinfo=UTC), "month") == "2025-01-01T00:00:00Z"
    assert as_of_value(LANDED, "off") == ""
    assert as_of_value(None, "landing") == ""


def test_builds_are_offered_the_day_the_version_and_the_commit() -> None:
    assert dict(build_arguments(task().source, "landing")) == {
        "BERBENCH_AS_OF": "2025-01-01T01:30:00Z",
        "BERBENCH_VERSION": "v1.2",
        "BERBENCH_BASE_COMMIT": "b" * 40,
    }


@pytest.mark.parametrize(
    ("dockerfile", "names"),
    [
        (b"FROM x\nARG A\narg B=1\nARG C = 2", ("A", "B", "C")),
        (b'ARG A="x y" B=2\nFROM x', ("A", "B")),
        (b"FROM x\n# ARG NO\nRUN echo \\\n ARG NO2\nARG \\\n# a comment in between\n  LATE=1\n", ("LATE",)),
        (b"# escape=`\nFROM x\nRUN dir `\n ARG NO\nARG YES\n", ("YES",)),
        (b"\xef\xbb\xbfARG A\r\nFROM x\r\nARG A\r\n", ("A",)),
        (b"FROM x\nENV ARG=1\nLABEL a=ARG\n", ()),
    ],
)
def test_only_arg_instructions_declare_arguments(dockerfile: bytes, names: tuple[str, ...]) -> None:
    assert declared_arguments(dockerfile) == names


def test_an_argument_counts_only_when_the_dockerfile_declares_it() -> None:
    mine = recipe(task(), DOCKERFILE, "t1", {"setup.py": "i1"})
    assert mine.build_args == (("BERBENCH_AS_OF", "2025-01-01T01:30:00Z"),)
    assert mine.tree == "t1"
    # another base commit and tree with the same manifests on the same day: one image serves both
    assert recipe(task("d" * 40), DOCKERFILE, "t2", {"setup.py": "i1"}).key == mine.key
    asks = DOCKERFILE + b"ARG BERBENCH_BASE_COMMIT\n"
    assert (
        recipe(task("d" * 40), asks, "t1", {"setup.py": "i1"}).key
        != recipe(task(), asks, "t1", {"setup.py": "i1"}).key
    )


def test_C02_everything_that_goes_into_an_image_changes_its_key() -> None:
    keys = [
        recipe(task(), DOCKERFILE, "t1", {}),
        recipe(task(), DOCKERFILE, "t2", {}),
        recipe(task(), DOCKERFILE + b"\n", "t1", {}),
        recipe(task(as_of="month"), DOCKERFILE, "t1", {}),
        recipe(task(build_args={"BASE_IMAGE": "berbench/base"}), DOCKERFILE, "t1", {}),
        recipe(task(), DOCKERFILE, "t1", {"setup.py": "i1"}),
        recipe(task(), DOCKERFILE, "t1", {"setup.py": "i2"}),
        recipe(task(), DOCKERFILE, "t1", {"setup.cfg": "i1"}),
        recipe(task(), DOCKERFILE, "t1", {"setup.py": "i1", "tox.ini": "i1"}),
    ]
    assert len({one.key for one in keys}) == len(keys)


def test_written_arguments_win_over_offered_ones() -> None:
    pinned = task(build_args={"BERBENCH_AS_OF": "2020-01-01", "UNUSED": "1"})
    assert recipe(pinned, DOCKERFILE, "t", {}).build_args == (("BERBENCH_AS_OF", "2020-01-01"),)


def test_inputs_are_globs_over_whole_paths() -> None:
    names = ("setup.py", "src/setup.py", "requirements/tests.txt", ".github/workflows/ci.yml", "SETUP.PY")
    entries = [TreeEntry(name, REGULAR, f"id-{name}") for name in names]
    assert matching_inputs((), entries) == {}
    found = matching_inputs(("setup.py", "{requirements,tests}/*.txt", ".github/**"), entries)
    assert sorted(found) == [".github/workflows/ci.yml", "requirements/tests.txt", "setup.py"]
    assert found["setup.py"] == "id-setup.py"
