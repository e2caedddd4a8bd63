"""RSpec's own JSON report."""

from __future__ import annotations

import json
import re
from typing import Any

from berbench.evidence.reading import Reading, shorten
from berbench.model.trial import Outcome, TestResult

_OUTCOMES = {"passed": Outcome.PASSED, "failed": Outcome.FAILED, "pending": Outcome.SKIPPED}
_LOADING = re.compile(r"An error occurred while loading \./(?P<file>\S+?\.rb)\.")


def read_rspec(data: bytes, *, where: str = "report", truncated: bool = False) -> Reading:
    """Results by `file > full description`. A file that could not be loaded is an error by its path."""
    try:
        document = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        cut = " (it was cut at berbench's size limit)" if truncated else ""
        return Reading(complete=False, problems=(f"{where} is no JSON: {error}{cut}",))
    if not isinstance(document, dict) or not isinstance(document.get("examples"), list):
        return Reading(complete=False, problems=(f"{where} is no report of RSpec: it has no examples",))
    results = [_example(example) for example in document["examples"] if isinstance(example, dict)]
    messages = document.get("messages")
    texts = [str(text) for text in messages] if isinstance(messages, list) else []
    lost = [TestResult(file, Outcome.ERROR, file, shorten(text)) for text in texts if (file := _lost(text))]
    absent = sum(f"/{_lost(text)}" in _missing(text) for text in texts if _lost(text))
    nothing = bool(lost) and not results and absent == len(lost)
    summary = document.get("summary")
    outside = summary.get("errors_outside_of_examples_count") if isinstance(summary, dict) else 0
    return Reading((*results, *lost), bool(lost or outside) and not nothing, nothing=nothing)


def _example(example: dict[str, Any]) -> TestResult:
    file = str(example.get("file_path") or "").removeprefix("./")
    outcome = _OUTCOMES.get(str(example.get("status")), Outcome.ERROR)
    exception = example.get("exception")
    message = shorten(str(exception.get("message") or "")) if isinstance(exception, dict) else ""
    return TestResult(f"{file} > {example.get('full_description') or ''}", outcome, file, message)


def _lost(text: str) -> str:
    """The file that a message says could not be loaded, "" for other messages."""
    loading = _LOADING.search(text)
    return loading["file"] if loading else ""


def _missing(message: str) -> str:
    found = re.search(r"cannot load such file -- (\S+)", message)
    return found[1] if found else ""
