"""What an experiment comes to: configurations, their labels, how each is invoked, and the key of every cell."""

from berbench.matrix.keys import CELL_RECIPE, cell_inputs, cell_key, changed_inputs, task_inputs
from berbench.matrix.labels import block_of, check_effort, parse_label
from berbench.matrix.resolve import Chosen, Resolution, resolve

__all__ = [
    "CELL_RECIPE",
    "Chosen",
    "Resolution",
    "block_of",
    "cell_inputs",
    "cell_key",
    "changed_inputs",
    "check_effort",
    "parse_label",
    "resolve",
    "task_inputs",
]
