"""Runs by their records, as reports tell of them: what was planned, what was skipped, what the run itself says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from berbench.reports import Planned, RunFacts, Skipped
from berbench.stages.runrecord import RECORD_SCHEMA, SCHEMA
from berbench.store.cells import RESULT, Cells, experiment_of, is_key
from berbench.store.records import OtherVersion, Unreadable
from berbench.store.shapes import built


def list_runs(cells: Cells) -> tuple[tuple[RunFacts, ...], tuple[str, ...]]:
    """All runs whose records can be read, newest first, and what is wrong with the others."""
    found, damaged = [], []
    for run in reversed(cells.runs()):
        try:
            found.append(run_facts(cells, run))
        except Unreadable as error:
            damaged.append(error.message)
    return tuple(found), tuple(damaged)


def run_facts(cells: Cells, run: str) -> RunFacts:
    """A run by its records. Unreadable when they are damaged, OtherVersion when another berbench wrote them."""
    document, ended = cells.read_run(run) or {}, cells.read_run(run, RESULT)
    for found, schema in ((document, RECORD_SCHEMA), (ended, SCHEMA)):
        if found is not None and found.get("schema") != schema:
            raise _not_ours(run, found.get("schema"), schema)
    ended = ended or {}
    try:
        facts = {
            "id": run,
            "experiment": document["experiment"] or experiment_of(run),
            "started_at": _time(ended.get("started_at")) or _begun(run),
            "finished_at": _time(ended.get("finished_at")),
            "planned": tuple(_planned(one) for one in document["planned"]),
            "skipped": tuple(_skipped(one) for one in document.get("skipped", ())),
            "notes": tuple(_notes(ended)),
        }
        return built(RunFacts, facts)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _damaged(run) from error


def _not_ours(run: str, found: object, schema: str) -> Unreadable:
    if isinstance(found, str) and found.partition("/")[0] == schema.partition("/")[0]:
        return OtherVersion(
            f"The record of run {run} is {found[:60]!r}, and this berbench reads {schema!r}.",
            remedy="Use the version of berbench that wrote it.",
        )
    return _damaged(run)


def _damaged(run: str) -> Unreadable:
    return Unreadable(f"The record of run {run} can't be read.", remedy="Run it again.")


def _planned(row: Mapping[str, Any]) -> Planned:
    values = {name: row[name] for name in ("key", "task", "label", "attempt")}
    if not is_key(values["key"]):
        raise ValueError(values["key"])
    return built(Planned, values)


def _skipped(row: Mapping[str, Any]) -> Skipped:
    state, reason = str(row.get("state", "")), str(row.get("reason", ""))
    values = {
        "task": row["task"],
        "reason": ": ".join(filter(None, (state, reason))),
        "changed": tuple(row.get("changed", ())),
    }
    return built(Skipped, values)


def _notes(ended: Mapping[str, Any]) -> Iterator[str]:
    if not ended:
        yield "The run has not come to its end: what is measured so far is shown."
    elif number := ended.get("not_started"):
        yield f"{number} of its cells were not started: the ceiling of cost was met."
    yield from (f"A gate tripped: {one}" for one in ended.get("gates", ()))


def _begun(run: str) -> datetime | None:
    """When a run began, from its id."""
    with suppress(ValueError):
        return datetime.strptime(run.partition("-")[0], "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
    return None


def _time(text: str | None) -> datetime | None:
    at = datetime.fromisoformat(text) if text else None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
