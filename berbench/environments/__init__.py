"""From manifests to the environment of a task: Dockerfile drafts, as-of arguments, image recipes.

Pure: takes snapshots and task documents, returns values. Builds happen behind the engine's door.
"""

from __future__ import annotations

from berbench.environments.arguments import (
    as_of_value,
    build_arguments,
    declared_arguments,
    matching_inputs,
    recipe,
)
from berbench.environments.drafts import ENVIRONMENT_GLOBS, Draft, draft
from berbench.environments.inputs import propose_inputs, propose_setup
from berbench.environments.installed import parse_installed
from berbench.environments.languages import language_image, language_of

__all__ = [
    "ENVIRONMENT_GLOBS",
    "Draft",
    "as_of_value",
    "build_arguments",
    "declared_arguments",
    "draft",
    "language_image",
    "language_of",
    "matching_inputs",
    "parse_installed",
    "propose_inputs",
    "propose_setup",
    "recipe",
]
