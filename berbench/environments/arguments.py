"""Build arguments and image recipes: what decides an image, and nothing else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from berbench.model.changes import TreeEntry
from berbench.model.task import AsOf, Source, Task
from berbench.model.trial import ImageRecipe
from berbench.split import matcher

_RECIPE = "berbench.image/1"


def as_of_value(landed_at: datetime | None, mode: AsOf) -> str:
    """The day packages are resolved for, as RFC 3339 in UTC; "" for today's packages.

    `landing` is the moment of the landing. `month` is the first instant of the month after: everything that
    the landing could name exists by then, and what came later is at most a month newer. The start of the
    landing's own month would lose a package that the landing raises its lower bound to.
    """
    # A commit can bear any date: the calendar's first and last years say nothing of packages.
    if landed_at is None or mode == "off" or not 1 < landed_at.year < 9999:
        return ""
    moment = landed_at.astimezone(UTC)
    if mode == "month":
        years, month = divmod(moment.year * 12 + moment.month, 12)
        moment = datetime(years, month + 1, 1, tzinfo=UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def build_arguments(source: Source, mode: AsOf) -> tuple[tuple[str, str], ...]:
    """What every build is offered. A Dockerfile takes the ones it names in ARG."""
    return (
        ("BERBENCH_AS_OF", as_of_value(source.landed_at, mode)),
        ("BERBENCH_VERSION", source.version),
        ("BERBENCH_BASE_COMMIT", source.base_commit),
    )


def declared_arguments(dockerfile: bytes) -> tuple[str, ...]:
    """Names that ARG instructions of a Dockerfile declare, in order, each once."""
    text = dockerfile.decode("utf-8", "replace").removeprefix("\ufeff")
    escape = re.match(r"(?:#[^\n]*\n)*?#\s*escape\s*=\s*(\S)", text)
    joined: list[str] = []
    pending = ""
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            continue  # comments also stand between the lines of one instruction
        stripped = line.rstrip()
        if stripped.endswith(escape.group(1) if escape else "\\"):
            pending += stripped[:-1] + " "
            continue
        joined.append(pending + stripped)
        pending = ""
    names: dict[str, None] = {}
    for line in [*joined, pending]:
        instruction = re.match(r"\s*ARG\s+(.*)", line, re.IGNORECASE)
        for name in (
            re.findall(r"(?:^|\s)([A-Za-z_]\w*)(?:=(?:\"[^\"]*\"|'[^']*'|\S)*)?", instruction[1])
            if instruction
            else ()
        ):
            names[name] = None
    return tuple(names)


def matching_inputs(patterns: Sequence[str], entries: Iterable[TreeEntry]) -> Mapping[str, str]:
    """Blob ids of the tree's files that `environment.inputs` names."""
    if not patterns:
        return {}
    decides = matcher(patterns)
    return {entry.path: entry.id for entry in entries if decides(entry.path)}


def recipe(task: Task, dockerfile: bytes, base_tree: str, inputs: Mapping[str, str]) -> ImageRecipe:
    """The image of a task. `inputs` are path and blob id of what `environment.inputs` matched in the base tree.

    Arguments count when the Dockerfile declares them, so tasks of one day share an image unless it asks for
    more. With no inputs the whole base tree decides. Written `build_args` win over the offered ones.
    """
    offered = dict(build_arguments(task.source, task.environment.as_of)) | task.environment.build_args
    declared = declared_arguments(dockerfile)
    arguments = tuple((name, offered[name]) for name in sorted(declared) if name in offered)
    key = hashlib.sha256()
    listing = [("recipe", _RECIPE.encode()), ("dockerfile", dockerfile)]
    listing += [(f"arg:{name}", value.encode("utf-8", "surrogateescape")) for name, value in arguments]
    if inputs:
        listing += [(f"input:{path}", blob.encode()) for path, blob in sorted(inputs.items())]
    else:
        listing.append(("tree", base_tree.encode()))
    for name, value in listing:
        encoded = name.encode("utf-8", "surrogateescape")
        key.update(b"%d:%s%d:%s" % (len(encoded), encoded, len(value), value))
    return ImageRecipe(key.hexdigest(), dockerfile, task.environment.dockerfile, arguments, base_tree)
