"""Facts and verdicts ↔ files: JSON documents beside the raw bytes of logs and reports.

`berbench.facts/1` holds every field of `Facts` but the bytes, which no encoding touches: `output.log` is the
log, and each report names its file. Names that are no UTF-8 survive, because JSON here is ASCII with escapes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from berbench.errors import StoreError
from berbench.model.trial import Facts, ReportFile, Verdict, VerdictName

FACTS_SCHEMA = "berbench.facts/1"
VERDICT_SCHEMA = "berbench.verdict/1"

FACTS = "facts.json"
LOG = "output.log"
VERDICT = "verdict.json"


def facts_files(facts: Facts) -> dict[str, bytes]:
    """The files that hold a trial's facts, by name."""
    document: dict[str, Any] = {"schema": FACTS_SCHEMA}
    for field in fields(facts):
        if field.name not in ("log", "reports"):
            document[field.name] = getattr(facts, field.name)
    if facts.started_at is not None:
        document["started_at"] = facts.started_at.isoformat()
    names = [f"reports/{number:03d}" for number in range(len(facts.reports))]
    document["reports"] = [
        {"name": report.name, "file": name, "truncated": report.truncated}
        for name, report in zip(names, facts.reports, strict=True)
    ]
    data = dict(zip(names, (report.data for report in facts.reports), strict=True))
    return {FACTS: _json(document), LOG: facts.log, **data}


def facts_from(read: Callable[[str], bytes]) -> Facts:
    """The facts that `facts_files` wrote; `read` gives a file's bytes. StoreError when they can't be read."""
    document = read_document(read(FACTS), FACTS_SCHEMA, _unreadable)
    try:
        reports = tuple(
            ReportFile(str(entry["name"]), read(_report_name(entry["file"])), bool(entry["truncated"]))
            for entry in document.pop("reports")
        )
        started = document.pop("started_at")
        known = {field.name for field in fields(Facts)}
        values = {name: value for name, value in tupled(document).items() if name in known}
        started_at = datetime.fromisoformat(started) if started else None
        return Facts(**values, log=read(LOG), reports=reports, started_at=started_at)
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(FACTS) from error


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict, and the fingerprint of the task that it was given to; "" where that was not noted."""

    verdict: Verdict
    fingerprint: str = ""


def verdict_file(judged: Judged) -> bytes:
    """A verdict as a document."""
    return _json({"schema": VERDICT_SCHEMA, "of": judged.fingerprint, **asdict(judged.verdict)})


def verdict_from(data: bytes) -> Judged:
    """What `verdict_file` wrote. StoreError when the document is no such."""
    document = read_document(data, VERDICT_SCHEMA, _unreadable)
    try:
        values = tupled(document)
        of = str(values.pop("of", ""))
        return Judged(Verdict(name=VerdictName(values.pop("name")), **values), of)
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(VERDICT) from error


def tupled(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same with tuples for lists: JSON knows lists only, and the values hold tuples."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in document.items()}


def _report_name(name: str) -> str:
    if not name.removeprefix("reports/").isdigit():
        raise ValueError(name)
    return name


class Unreadable(StoreError):
    """What a record holds is damaged. The file system gave it, so another may take its place."""


class OtherVersion(Unreadable):
    """A record is whole, and another version of berbench wrote it: no damage, and nothing to be replaced."""


def read_document(data: bytes, schema: str, unreadable: Callable[[str], StoreError]) -> dict[str, Any]:
    """A JSON document of this schema, without its schema's name; else what `unreadable` says of it.

    OtherVersion for another number of the same schema.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise unreadable(schema) from error
    if not isinstance(document, dict):
        raise unreadable(schema)
    found = document.pop("schema", None)
    if found != schema:
        if isinstance(found, str) and found.partition("/")[0] == schema.partition("/")[0]:
            raise OtherVersion(
                f"A record is {found[:60]!r}, and this berbench reads {schema!r}.",
                remedy="Use the version of berbench that wrote it.",
            )
        raise unreadable(schema)
    return document


def _unreadable(what: str) -> StoreError:
    return StoreError(
        f"A record is no {what} that this berbench can read.", remedy="Validate the task again."
    )


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=True, default=str) + "\n").encode("ascii")
