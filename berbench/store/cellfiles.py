"""Cells ↔ files: `cell.json` and what lies beside it.

cell.json            the outcome, `berbench.cell/1`
configuration.json   the tool's document and what was chosen of it; no secret is in it
prompt.md            what the agent was told
agent.json           what its container recorded; log and telemetry are files of their own
transcript.log       what it printed, head and tail
telemetry/NN         of each step: where it told its usage
steps/NN.log         of each step of several: what it printed
candidate.patch      what it left
egress.json          requests that were not let through
egress.log           the proxy's log, head and tail
grade.json           the grade, `berbench.verify/1`
trials/<name>/       facts, log and reports of the verifier's trials
earlier/NNN.json     outcomes of gradings that a newer one took the place of
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from berbench.errors import ConfigError, StoreError
from berbench.model.cells import AgentFacts, CellOutcome, CellResult, Refused, StepFacts, Usage
from berbench.model.trial import Facts
from berbench.store import records
from berbench.store.shapes import built

CELL_SCHEMA = "berbench.cell/1"
AGENT_SCHEMA = "berbench.agent/1"

CELL = "cell.json"
CONFIGURATION = "configuration.json"
PROMPT = "prompt.md"
AGENT = "agent.json"
TRANSCRIPT = "transcript.log"
CANDIDATE = "candidate.patch"
EGRESS = "egress.json"
EGRESS_LOG = "egress.log"
GRADE = "grade.json"
TRIALS = "trials"
EARLIER = "earlier"

DIGEST = "candidate_sha256"  # in `agent.json`; older ones have none

Read = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class CellRecord:
    """`cell.json`: a result, and what it can be told by later.

    `inputs` are the named hashes behind the cell's key, `task_inputs` those behind the task's fingerprint. `run` is
    the run that paid for the agent's work; `regraded_from` the key under which that work was done, when the grade is
    a newer one.
    """

    result: CellResult
    inputs: Mapping[str, str] = field(default_factory=dict)
    task_inputs: Mapping[str, str] = field(default_factory=dict)
    run: str = ""
    regraded_from: str = ""


def cell_file(record: CellRecord) -> bytes:
    """`cell.json`."""
    result = record.result
    document: dict[str, Any] = {"schema": CELL_SCHEMA, **asdict(result), "outcome": result.outcome.value}
    for name in ("started_at", "finished_at"):
        at = document[name]
        document[name] = at.isoformat() if at else None
    document |= {
        "run": record.run,
        "regraded_from": record.regraded_from,
        "inputs": dict(record.inputs),
        "task_inputs": dict(record.task_inputs),
    }
    return _json(document)


def cell_from(data: bytes) -> CellRecord:
    """The record that `cell_file` wrote. StoreError when it is none."""
    document = records.read_document(data, CELL_SCHEMA, _unreadable)
    try:
        apart = {name: document.pop(name) for name in ("inputs", "task_inputs", "run", "regraded_from")}
        used = document.pop("usage")
        values = {
            **records.tupled(document),
            "outcome": CellOutcome(document["outcome"]),
            "usage": built(Usage, used),
            "started_at": _time(document["started_at"]),
            "finished_at": _time(document["finished_at"]),
        }
        hashes = [text for name in ("inputs", "task_inputs") for item in apart[name].items() for text in item]
        if not all(isinstance(text, str) for text in (apart["run"], apart["regraded_from"], *hashes)):
            raise TypeError(CELL)
        return CellRecord(built(CellResult, values), **apart)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unreadable(CELL) from error


def agent_files(facts: AgentFacts) -> dict[str, bytes]:
    """The files that hold what an agent's container recorded, by name."""
    document = asdict(facts)
    for name in ("log", "telemetry", "candidate", "refused", "egress"):
        del document[name]
    files = {TRANSCRIPT: facts.log, EGRESS: _json([_refused(one) for one in facts.refused])}
    if facts.candidate is not None:
        files[CANDIDATE] = facts.candidate
    if facts.egress:
        files[EGRESS_LOG] = facts.egress
    if not facts.steps:
        files["telemetry/00"] = facts.telemetry
    for number, (step, written) in enumerate(zip(facts.steps, document["steps"], strict=True), 1):
        files[f"telemetry/{number:02d}"] = step.telemetry
        if len(facts.steps) > 1:  # one step's log is the transcript
            files[f"steps/{number:02d}.log"] = step.log
        del written["log"], written["telemetry"]
    files[AGENT] = _json({"schema": AGENT_SCHEMA, DIGEST: _digest(facts.candidate), **document})
    return files


def agent_from(read: Read) -> AgentFacts | None:
    """The facts that `agent_files` wrote; None where no agent ran. StoreError when they can't be read."""
    data = _maybe(read, AGENT)
    if data is None:
        return None
    document = records.read_document(data, AGENT_SCHEMA, _unreadable)
    candidate, known = _maybe(read, CANDIDATE), document.pop(DIGEST, "")
    # A patch that lost a piece may still be one, and would be graded as an agent's failure.
    if known and known != _digest(candidate):
        raise _unreadable(CANDIDATE)
    try:
        written, transcript = document.pop("steps"), read(TRANSCRIPT)
        steps = tuple(
            _step(
                step,
                log=read(f"steps/{number:02d}.log") if len(written) > 1 else transcript,
                telemetry=read(f"telemetry/{number:02d}"),
            )
            for number, step in enumerate(written, 1)
        )
        values = {
            **records.tupled(document),
            "steps": steps,
            "refused": tuple(_refused_from(one) for one in json.loads(read(EGRESS))),
            "log": transcript,
            "telemetry": steps[-1].telemetry if steps else read("telemetry/00"),
            "egress": _maybe(read, EGRESS_LOG) or b"",
            "candidate": candidate,
        }
        return built(AgentFacts, values)
    except (ConfigError, FileNotFoundError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise _unreadable(AGENT) from error


def _digest(candidate: bytes | None) -> str:
    return "" if candidate is None else hashlib.sha256(candidate).hexdigest()


def _step(step: Mapping[str, Any], *, log: bytes, telemetry: bytes) -> StepFacts:
    return built(StepFacts, {**step, "log": log, "telemetry": telemetry})


def _refused_from(one: Mapping[str, Any]) -> Refused:
    values = {"host": one["host"], "port": one["port"], "at": _time(one["at"]), "reason": one["reason"]}
    return built(Refused, values)


def trial_files(trials: Mapping[str, Facts]) -> dict[str, bytes]:
    """The files of the verifier's trials."""
    return {
        f"{TRIALS}/{name}/{file}": data
        for name, facts in trials.items()
        for file, data in records.facts_files(facts).items()
    }


def _refused(one: Refused) -> dict[str, object]:
    return {"host": one.host, "port": one.port, "at": one.at.isoformat(), "reason": one.reason}


def _maybe(read: Read, name: str) -> bytes | None:
    try:
        return read(name)
    except FileNotFoundError:
        return None


def _time(text: str | None) -> datetime | None:
    at = datetime.fromisoformat(text) if text else None
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at


def _unreadable(what: str) -> StoreError:
    return records.Unreadable(
        f"A stored cell holds no {what} that this berbench can read.", remedy="Run the experiment again."
    )


def _json(document: object) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=True) + "\n").encode("ascii")
