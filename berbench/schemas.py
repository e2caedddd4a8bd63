"""The documents that people write, and their JSON Schemas. Apart from `documents`: few verbs need all models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from berbench.documents import shown
from berbench.errors import UsageError
from berbench.model.cells import ExperimentDocument
from berbench.model.task import Config, Task, Validation
from berbench.model.tools import ToolDocument

DOCUMENTS: Mapping[str, type[BaseModel]] = {
    "config": Config,
    "experiment": ExperimentDocument,
    "task": Task,
    "tool": ToolDocument,
    "validation": Validation,
}


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a document by its name in DOCUMENTS. UsageError for another name."""
    if name not in DOCUMENTS:
        raise UsageError(
            f"There is no document {shown(name)!r}.", remedy=f"Name one of {', '.join(sorted(DOCUMENTS))}."
        )
    schema = DOCUMENTS[name].model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
